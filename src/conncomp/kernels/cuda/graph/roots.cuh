// What kernels of graphs share: first and last steps of algorithms that lower labels: vertices get
// themselves, roots are counted; the tree that most vertices are in; loads of a thread at once.
#pragma once

#include "core/union_find.h"
#include "cuda/core/sweeps.cuh"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kRootsThreads = 256;
constexpr int kLoadedAtOnce = 4;

// Calls use(index, load(index)) for this thread's indices below `count`, after several loads at a time.
void visit_loaded(int64_t count, auto&& load, auto&& use) {
#pragma unroll 1
  for (int64_t begin = grid_thread(); begin < count; begin += kLoadedAtOnce * grid_threads()) {
    decltype(load(begin)) loaded[kLoadedAtOnce];
#pragma unroll
    for (int k = 0; k < kLoadedAtOnce; ++k)
      if (const int64_t index = begin + k * grid_threads(); index < count) loaded[k] = load(index);
#pragma unroll
    for (int k = 0; k < kLoadedAtOnce; ++k)
      if (const int64_t index = begin + k * grid_threads(); index < count) use(index, loaded[k]);
  }
}

template <class Value> void swap_values(Value& a, Value& b) {
  const Value other = a;
  a = b, b = other;
}

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
inline void add_for_block(int count, int64_t* total) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  InBlock::fetch_add(&sum, count);
  __syncthreads();
  if (threadIdx.x == 0) Concurrent::fetch_add(total, int64_t(sum));
}

template <class Index>
__global__ void __launch_bounds__(kRootsThreads, resident_blocks(kRootsThreads))
    count_components(int64_t vertices, const Index* __restrict__ roots, int64_t* components) {
  int roots_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) roots_of_thread += roots[v] == Index(v);
  add_for_block(roots_of_thread, components);
}

// Which tree of a forest most vertices are in, by the roots of a spread sample of them.
constexpr int kGuessers = 256;

template <class Index> struct GiantGuess {
  Index root;
  int votes;  // of kGuessers
};

// By one block of kGuessers, all of whose threads get the same.
auto guess_giant_tree(int64_t vertices, auto&& root_of) {
  using Index = decltype(root_of(vertices));
  __shared__ Index roots[kGuessers];
  __shared__ int winner;
  const int thread = int(threadIdx.x);
  if (thread == 0) winner = 0;
  roots[thread] = root_of(vertices * thread / kGuessers);
  __syncthreads();
  int votes = 0;
  for (int i = 0; i < kGuessers; ++i) votes += roots[i] == roots[thread];
  // With the thread's number, so that no two are equal.
  InBlock::fetch_max(&winner, votes * kGuessers + thread);
  __syncthreads();
  return GiantGuess<Index>{roots[winner % kGuessers], winner / kGuessers};
}

}
