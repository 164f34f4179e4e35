// Kernel 1 of Hawick, Leist and Playne: fills labels[v] with the smallest vertex of v's component, for a list
// of edges. Every vertex starts with itself; a sweep gives every edge a thread, which lowers the higher label
// of its ends to the other, until a sweep changes nothing. Cost: a sweep reads all edges and two labels each;
// at most one sweep more than the longest shortest path has edges. Source: Hawick, Leist and Playne 2010,
// section 4.3.1 and Algorithm 2.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kMostEdgePropagationThreads = 512;

template <class Vertex, class Index>
__global__ void __launch_bounds__(kMostEdgePropagationThreads, resident_blocks(kMostEdgePropagationThreads))
    edge_propagation(const int64_t* __restrict__ edges, const Vertex* __restrict__ src,
        const Vertex* __restrict__ dst, Index* labels, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for (int64_t edge = grid_thread(), end = *edges; edge < end; edge += grid_threads())
    if (lower_higher<Concurrent>(labels, src[edge], dst[edge])) changed = true;
  report_changes(last_change, sweep, changed);
}

}
