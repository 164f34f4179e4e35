// Kernel 3 of Hawick, Leist and Playne: one breadth-first search after another. Fills roots[v] with the
// smallest vertex of v's component, for rows that list every arc from both ends. A search starts at the first
// vertex without a root, the smallest of its component (bfs_seek). A sweep gives every vertex a thread; those
// of the frontier give their root to neighbours that have none, and put them in the next frontier
// (bfs_sweep). Cost: as many sweeps, of two launches, as a component has levels; each reads a byte per
// vertex, and all together each arc once. Source: Hawick, Leist and Playne 2010, section 4.3.3, after Harish
// and Narayanan 2007.
#pragma once

#include "cuda/core/sweeps.cuh"

namespace conncomp {

constexpr int kBfsThreads = 256, kMostBfsThreads = 512;
constexpr int kSeekThreads = 1024, kSoughtByThread = 8;

// Where the next search may start at the earliest, and the number started.
struct BfsSearches {
  int64_t first_candidate, started;
};

template <class Index>
__global__ void __launch_bounds__(kBfsThreads)
    bfs_start(int64_t vertices, Index* __restrict__ roots, uint8_t* __restrict__ frontier,
        uint8_t* __restrict__ next_frontier, BfsSearches* searches, int64_t* last_change) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    roots[v] = -1;
    frontier[v] = next_frontier[v] = 0;
  }
  if (grid_thread() == 0) {
    start_sweeps(last_change, false);
    *searches = BfsSearches{0, 0};
  }
}

template <class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kMostBfsThreads, resident_blocks(kMostBfsThreads)) bfs_sweep(
    int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Index* roots,
    uint8_t* __restrict__ frontier, uint8_t* next_frontier, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool reached = false;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (!frontier[v]) continue;
    frontier[v] = 0;
    const Index root = Concurrent::load(roots + v);
    for (Pointer arc = indptr[v], end = indptr[v + 1]; arc < end; ++arc) {
      const Vertex w = indices[arc];
      if (Concurrent::load(roots + w) >= 0) continue;
      Concurrent::store(roots + w, root);  // as do all others that reach it in this sweep
      Concurrent::store(next_frontier + w, uint8_t(1));
      reached = true;
    }
  }
  report_changes(last_change, sweep, reached);
}

// Starts the next search if the present one has ended. One block of kSeekThreads.
template <class Index>
__global__ void __launch_bounds__(kSeekThreads) bfs_seek(int64_t vertices, Index* roots,
    uint8_t* next_frontier, BfsSearches* searches, int64_t* last_change, int64_t sweep) {
  __shared__ int64_t source;
  if (has_changed(last_change, sweep)) return;
  int64_t begin = searches->first_candidate;
  if (threadIdx.x == 0) source = vertices;
  __syncthreads();
  for (bool is_found = false; begin < vertices && !is_found; begin += kSeekThreads * kSoughtByThread) {
    int64_t candidate = vertices;
    for (int i = 0; i < kSoughtByThread; ++i) {
      const int64_t v = begin + i * kSeekThreads + threadIdx.x;
      if (v < candidate && roots[v] < 0) candidate = v;
    }
    if (candidate < vertices) InBlock::fetch_min(&source, candidate);
    is_found = __syncthreads_or(candidate < vertices);
  }
  if (threadIdx.x != 0) return;
  searches->first_candidate = source;
  if (source == vertices) return;
  ++searches->started;
  roots[source] = Index(source);
  next_frontier[source] = 1;
  report_change(last_change, sweep);
}

}
