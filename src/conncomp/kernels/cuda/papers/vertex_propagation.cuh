// Kernel 2 of Hawick, Leist and Playne: fills labels[v] with the smallest vertex of v's component, for rows
// that list every arc from both ends. Every vertex starts with itself. A sweep gives every vertex a thread,
// which looks at the neighbours if its label has been lowered in the sweep before (the frontier); it lowers
// their labels to its own, or its own to theirs, and puts what it lowers in the next frontier. Cost: a sweep
// reads a byte per vertex, and the arcs and neighbours' labels of the frontier; at most one sweep more than
// the longest shortest path has edges. One thread has all neighbours of a vertex, so a hub holds up its warp.
// Source: Hawick, Leist and Playne 2010, section 4.3.2 and Algorithms 3 and 4; their texture cache is the
// read-only first-level cache here.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kMostVertexPropagationThreads = 512;

// What a block keeps of its rows: nothing, where each begins, or nothing of rows of like lengths.
enum class RowsOfBlock { kCached, kShared, kSorted };

// A byte per vertex of the frontier, and of the next one. Layout: hawick_graphs.py.
struct Frontiers {
  uint8_t *now, *next;
};

// `sorted` lists vertices by degree, for kSorted.
template <RowsOfBlock rows, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(
    kMostVertexPropagationThreads, resident_blocks(kMostVertexPropagationThreads))
    vertex_propagation(int64_t vertices, const Pointer* __restrict__ indptr,
        const Vertex* __restrict__ indices, const int64_t* __restrict__ sorted, Index* labels,
        Frontiers frontiers, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  const auto lower = [&](int64_t v, Index label) {
    Concurrent::fetch_min(labels + v, label);
    Concurrent::store(frontiers.next + v, uint8_t(1));
    changed = true;
  };
  const auto lower_around = [&](int64_t v, Pointer arc, Pointer end) {
    frontiers.now[v] = 0;
    const Index label_before = Concurrent::load(labels + v);
    Index label = label_before;
    for (; arc < end; ++arc) {
      const Vertex w = indices[arc];
      const Index label_of_w = Concurrent::load(labels + w);
      if (label < label_of_w)
        lower(w, label);
      else if (label_of_w < label)
        label = label_of_w;
    }
    if (label < label_before) lower(v, label);
  };
  if constexpr (rows == RowsOfBlock::kShared) {
    __shared__ Pointer starts[kMostVertexPropagationThreads];
    const int thread = threadIdx.x, last = blockDim.x - 1;
    // All threads of a block take as many steps, as barriers follow.
    for (int64_t first = grid_thread() - thread; first < vertices; first += grid_threads()) {
      const int64_t v = first + thread;
      if (v < vertices) starts[thread] = indptr[v];
      __syncthreads();
      if (v < vertices && frontiers.now[v]) {
        const bool next_is_there = thread < last && v + 1 < vertices;
        lower_around(v, starts[thread], next_is_there ? starts[thread + 1] : indptr[v + 1]);
      }
      __syncthreads();
    }
  } else {
    for (int64_t i = grid_thread(); i < vertices; i += grid_threads()) {
      const int64_t v = rows == RowsOfBlock::kSorted ? sorted[i] : i;
      if (frontiers.now[v]) lower_around(v, indptr[v], indptr[v + 1]);
    }
  }
  report_changes(last_change, sweep, changed);
}

}
