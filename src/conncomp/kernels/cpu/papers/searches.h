// The searches of Hawick, Leist and Playne 2010, on one thread, over arcs that are seen from both ends.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Rows and those of opposite arcs, unless symmetric, by a counting sort; both may change, and are checked.
template <class Pointer, class Vertex, class Index> class BothEnds {
 public:
  BothEnds(const Rows<Pointer, Vertex> rows, bool symmetric) : rows_(rows), symmetric_(symmetric) {
    if (symmetric) return;
    indptr_ = Buffer<int64_t>(rows.vertices + 1);
    indices_ = Buffer<Index>(rows.arcs);
    // Arcs whose target is no vertex leave unused places at the end.
    int64_t source = 0;
    group_by_key(
        rows.arcs, rows.vertices, [&](int64_t arc) { return int64_t(rows.target(arc)); },
        [&](int64_t arc) {  // asked for in ascending order
          for (; source + 1 < rows.vertices && rows.begin(source + 1) <= arc; ++source) poll(1);
          return source;
        },
        indptr_.data(), indices_.data(), rows.arcs);
  }

  int64_t vertices() const { return rows_.vertices; }

  // Calls body(u) for every u that has an arc to or from v; for some twice.
  void for_each_neighbour(int64_t v, auto&& body) const {
    rows_.for_each_neighbour(v, body);
    if (!symmetric_)
      Rows<int64_t, Index>{indptr_.data(), indices_.data(), rows_.vertices, rows_.arcs}.for_each_neighbour(
          v, body);
  }

 private:
  const Rows<Pointer, Vertex> rows_;
  const bool symmetric_;
  Buffer<int64_t> indptr_;
  Buffer<Index> indices_;
};

// One breadth-first search after another: Kernel 3, section 4.3.3. Fills private roots[v] with the smallest
// vertex of v's component, at which a search starts, as smaller ones have been reached before.
template <class Index> void bfs_roots(const auto& graph, Index* roots) {
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

// Recolours neighbours, with a stack in place of the paper's recursion: Algorithm 1, section 4.2. Fills
// private colour[v] with the smallest vertex of v's component. In ascending order, a vertex that has kept its
// number gives it to neighbours of larger colours, and these to theirs. Smaller colours were given away
// before, so a vertex is on the stack once.
template <class Index> void recolouring_roots(const auto& graph, Index* colour) {
  Buffer<Index> stack(graph.vertices());
  int64_t height = 0;
  for_each_in(0, graph.vertices(), [=](int64_t v) { colour[v] = Index(v); });
  for_each_in(0, graph.vertices(), [&](int64_t v) {
    const auto recolour = [&, smaller = Index(v)](int64_t u) {
      if (colour[u] <= smaller) return;
      colour[u] = smaller;
      stack[height++] = Index(u);
    };
    if (colour[v] != Index(v)) return;
    for (graph.for_each_neighbour(v, recolour); height > 0;)
      graph.for_each_neighbour(stack[--height], recolour);
  });
}

}
