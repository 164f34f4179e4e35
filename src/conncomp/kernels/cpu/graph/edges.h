// Arcs in the order of their numbers, be they listed or in rows.
//
// As in rows.h, what the caller changes meanwhile is checked: only ends that are vertices are shown, and
// every arc of a range at most once, in ascending order.
#pragma once

#include "cpu/graph/rows.h"

namespace conncomp {

// Whether arcs from the larger end to the smaller one may be left out: each has an opposite one that comes
// before it, and weighs as much where there are weights.
enum class Ends { kBoth, kSmaller };

// Calls body(arc, u, v) for an arc u -> v that is no loop, and may be needed.
template <class Vertex, class Body>
void visit_edge(int64_t arc, Vertex u, Vertex v, int64_t vertices, Ends ends, const Body& body) {
  if ((ends == Ends::kSmaller ? u < v : u != v) && is_vertex(u, vertices) && is_vertex(v, vertices))
    body(arc, u, v);
}

template <class Vertex>
struct ListedArcs {
  const Vertex *src, *dst;
  int64_t vertices, arcs;

  bool is_local() const { return are_local(src, arcs, vertices); }

  // Calls body(arc, u, v) for the arcs from `begin` to before `end`, but for loops.
  void for_each_edge(int64_t begin, int64_t end, Ends ends, auto body) const {
    for_each_in(begin, end, [=, *this](int64_t arc) {
      visit_edge(arc, Shared::load(src + arc), Shared::load(dst + arc), vertices, ends, body);
    });
  }
};

template <class Pointer, class Vertex>
struct RowArcs {
  Rows<Pointer, Vertex> rows;
  int64_t vertices = rows.vertices, arcs = rows.arcs;

  bool is_local() const { return true; }

  void for_each_edge(int64_t begin, int64_t end, Ends ends, auto body) const {
    if (begin >= end) return;
    for (int64_t u = rows.source(begin), arc = begin; u < vertices && arc < end; ++u) {
      const int64_t stop = std::min(end, rows.begin(u + 1));
      poll(1);
      for_each_in(arc, stop,
                  [=, *this](int64_t i) { visit_edge(i, Vertex(u), rows.target(i), vertices, ends, body); });
      arc = std::max(arc, stop);
    }
  }
};

}  // namespace conncomp
