// From roots to consecutive labels on the GPU, in place.
//
// What: labels[i] holds the root of i, which is the smallest index of its component, or -1 for
// background; it becomes `first` plus the number of roots below that root, or 0 for background.
// How: the roots in each tile of kTile indices are counted (count_roots), the counts are summed
// (sum_tiles), and each root gets its number, complemented so that it cannot be taken for a root
// (number_roots). The others fetch the number of their root (fetch_numbers); then the roots' own are
// complemented back (complement_roots).
// The labels may be memory that its owner changes meanwhile: an entry is read once and is looked up only if
// it is in the array.
// Cost: labels read four times and written once, and a random access for each; 8 bytes a tile.
#pragma once

#include "cuda/core/launch.cuh"
#include "cuda/core/scan.cuh"

namespace conncomp {

constexpr int kNumberingThreads = 256;
constexpr int kTile = 4096;

template <class Index>
__global__ void __launch_bounds__(kNumberingThreads)
    count_roots(int64_t count, const Index* __restrict__ labels, int64_t* __restrict__ roots_in_tile) {
  for (int64_t tile = blockIdx.x; tile * kTile < count; tile += gridDim.x) {
    int mine = 0;
    const int64_t begin = tile * kTile, end = begin + kTile < count ? begin + kTile : count;
    for (int64_t i = begin + threadIdx.x; i < end; i += kNumberingThreads) mine += labels[i] == Index(i);
    const int total = block_sum<kNumberingThreads>(mine);
    if (threadIdx.x == 0) roots_in_tile[tile] = total;
  }
}

// Replaces each tile's count by the sum of those before it; their sum is `components`. One block.
__global__ void __launch_bounds__(kNumberingThreads)
    sum_tiles(int64_t tiles, int64_t* __restrict__ roots_in_tile, int64_t* __restrict__ components) {
  int64_t before = 0;
  for (int64_t begin = 0; begin < tiles; begin += kNumberingThreads) {
    const int64_t tile = begin + threadIdx.x;
    const int mine = tile < tiles ? int(roots_in_tile[tile]) : 0;
    int total;
    const int sum = block_scan<kNumberingThreads>(mine, total);
    if (tile < tiles) roots_in_tile[tile] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0) *components = before;
}

template <class Index>
__global__ void __launch_bounds__(kNumberingThreads)
    number_roots(int64_t count, Index first, const int64_t* __restrict__ roots_before, Index* labels) {
  for (int64_t tile = blockIdx.x; tile * kTile < count; tile += gridDim.x) {
    int64_t number = first + roots_before[tile];
    const int64_t begin = tile * kTile, end = begin + kTile < count ? begin + kTile : count;
    for (int64_t row = begin; row < end; row += kNumberingThreads) {
      const int64_t i = row + threadIdx.x;
      const bool root = i < end && labels[i] == Index(i);
      int total;
      const int before = block_scan<kNumberingThreads>(root, total);
      if (root) labels[i] = ~Index(number + before);
      number += total;
    }
  }
}

template <class Index>
__global__ void __launch_bounds__(kNumberingThreads) fetch_numbers(int64_t count, Index* labels) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Index root = labels[i];
    if (uint64_t(root) < uint64_t(count)) labels[i] = ~labels[root];
  }
}

template <class Index>
__global__ void __launch_bounds__(kNumberingThreads) complement_roots(int64_t count, Index* labels) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads())
    if (labels[i] < 0) labels[i] = ~labels[i];
}

}  // namespace conncomp
