// Connected components of a graph by one breadth-first search after another, with a plain queue: what Kernel
// 3 of Hawick, Leist and Playne does, on the CPU.
//
// What: fills roots[v] with the smallest vertex of v's component. The graph lists every arc from both ends,
// in one pair of rows or in two (BothEnds). How: a search starts at the first vertex without a root, which is
// the smallest of its component, as all smaller vertices have been reached by searches before. A vertex that
// is reached gets the root and joins the queue, once: so the vertices of all searches fit into a queue of as
// many places. Cost: one thread; each arc read once from both ends, and a random access for each. An entry a
// vertex for the queue, and what BothEnds needs. Source: Hawick, Leist and Playne 2010, section 4.3.3.
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// `roots` is memory that nobody else writes to: what is there says which vertices join the queue.
template <class Graph, class Index>
void bfs_roots(const Graph& graph, Index* roots) {
  Buffer<Index> queue(graph.vertices());
  int64_t taken = 0, joined = 0;
  for_each_in(0, graph.vertices(), [=](int64_t v) { roots[v] = -1; });
  for_each_in(0, graph.vertices(), [&](int64_t v) {
    const auto reach = [&, root = Index(v)](int64_t u) {
      if (roots[u] >= 0) return;
      roots[u] = root;
      queue[joined++] = Index(u);
    };
    for (reach(v); taken < joined;) graph.for_each_neighbour(queue[taken++], reach);
  });
}

}  // namespace conncomp
