// Connected components of a graph by lowering labels around vertices: Kernel 2 of Hawick, Leist and Playne.
// Fills labels[v] with the smallest vertex of v's component, for compressed sparse rows that list every arc
// from both ends.
//
// Every vertex is labelled with itself. A sweep gives every vertex a thread, which looks at the neighbours if
// the vertex is in the frontier: its label has been lowered in the sweep before. It lowers the neighbours'
// labels to its own, or its own to theirs; whatever it lowers is put in the next frontier. The two frontiers
// change places between sweeps, until one changes nothing.
// Cost: a sweep reads a byte for every vertex, and the arcs and the neighbours' labels of the frontier; at
// most as many sweeps as the longest of all shortest paths has edges, and one more. One thread looks at all
// neighbours of a vertex, so a hub holds up its warp. Source: Hawick, Leist and Playne 2010, section 4.3.2
// and Algorithms 3 and 4. Arcs, which they read through a texture for its cache, are read-only here, for the
// first-level cache. The starts of rows are read through it or kept in shared memory, as theirs.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kMostVertexPropagationThreads = 512;

// What a block knows of the rows of its threads: kCached, nothing; kShared, where each begins, and so where
// the one before ends; kSorted, nothing, but they are rows of about the same length.
enum class RowsOfBlock { kCached, kShared, kSorted };

// A byte for each vertex that is in the frontier, and for each that is put in the next one. Laid out as in
// vertex_propagation.py.
struct Frontiers {
  uint8_t *now, *next;
};

// `sorted` lists the vertices by degree, for kSorted only.
template <RowsOfBlock rows, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kMostVertexPropagationThreads,
                                  resident_blocks(kMostVertexPropagationThreads))
    vertex_propagation(int64_t vertices, const Pointer* __restrict__ indptr,
                       const Vertex* __restrict__ indices, const int64_t* __restrict__ sorted, Index* labels,
                       Frontiers frontiers, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  const auto lower = [&](int64_t v, Index label) {
    Shared::fetch_min(labels + v, label);
    Shared::store(frontiers.next + v, uint8_t(1));
    changed = true;
  };
  const auto lower_around = [&](int64_t v, Pointer arc, Pointer end) {
    frontiers.now[v] = 0;
    const Index label_before = Shared::load(labels + v);
    Index label = label_before;
    for (; arc < end; ++arc) {
      const Vertex w = indices[arc];
      const Index label_of_w = Shared::load(labels + w);
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
    // All threads of a block go as many steps, so that barriers may follow.
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

}  // namespace conncomp
