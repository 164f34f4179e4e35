// The first and the last step of the algorithms that lower labels: every vertex is given itself, and the
// vertices that have kept themselves are counted, which are the roots.
#pragma once

#include "cuda/core/sweeps.cuh"

namespace conncomp {

constexpr int kRootsThreads = 256;

template <class Index>
__global__ void __launch_bounds__(kRootsThreads, resident_blocks(kRootsThreads))
    start_alone(int64_t vertices, Index* __restrict__ roots, int64_t* components, int64_t* last_change) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) roots[v] = Index(v);
  if (grid_thread() == 0) {
    start_sweeps(last_change);
    *components = 0;
  }
}

// Adds the sum of `count` over a block to `total`. All its threads call it.
__device__ inline void add_for_block(int count, int64_t* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  InBlock::fetch_add(&sum, count);
  __syncthreads();
  if (threadIdx.x == 0) Shared::fetch_add(total, int64_t(sum));
}

template <class Index>
__global__ void __launch_bounds__(kRootsThreads, resident_blocks(kRootsThreads))
    count_components(int64_t vertices, const Index* __restrict__ roots, int64_t* components) {
  int roots_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) roots_of_thread += roots[v] == Index(v);
  add_for_block(roots_of_thread, components);
}

}  // namespace conncomp
