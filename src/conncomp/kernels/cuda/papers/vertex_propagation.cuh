// Connected components of a graph by lowering labels around vertices: Kernel 2 of Hawick, Leist and Playne.
//
// What: fills labels[v] with the smallest vertex of v's component, for compressed sparse rows that list every
// arc from both ends.
// How: every vertex is labelled with itself. A sweep gives every vertex a thread, which looks at the
// neighbours if the vertex is in the frontier: its label has been lowered in the sweep before. It lowers the
// neighbours' labels to its own, or its own to theirs; whatever it lowers is put in the next frontier. The
// two frontiers change places between sweeps, until one changes nothing.
// Cost: a sweep reads a byte for every vertex, and the arcs and the neighbours' labels of the frontier. There
// are at most as many sweeps as the longest of all shortest paths has edges, and one more. One thread looks
// at all neighbours of a vertex, so a hub holds up its warp.
// Source: Hawick, Leist and Playne 2010, section 4.3.2 and Algorithms 3 and 4. What they keep in shared and
// texture memory for the sake of its cache, the starts of rows and the arcs, the first-level cache holds.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kVertexPropagationThreads = 256;

template <class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kVertexPropagationThreads, resident_blocks(kVertexPropagationThreads))
    vertex_propagation(int64_t vertices, const Pointer* __restrict__ indptr,
                       const Vertex* __restrict__ indices, Index* labels, uint8_t* __restrict__ frontier,
                       uint8_t* next_frontier, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  const auto lower = [&](int64_t v, Index label) {
    Shared::fetch_min(labels + v, label);
    Shared::store(next_frontier + v, uint8_t(1));
    changed = true;
  };
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (!frontier[v]) continue;
    frontier[v] = 0;
    const Index label_before = Shared::load(labels + v);
    Index label = label_before;
    for (Pointer arc = indptr[v], end = indptr[v + 1]; arc < end; ++arc) {
      const Vertex w = indices[arc];
      const Index label_of_w = Shared::load(labels + w);
      if (label < label_of_w)
        lower(w, label);
      else if (label_of_w < label)
        label = label_of_w;
    }
    if (label < label_before) lower(v, label);
  }
  report_changes(last_change, sweep, changed);
}

}  // namespace conncomp
