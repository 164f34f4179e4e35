// Arcs in the order of their numbers, be they listed or in rows.
//
// As in rows.h, what the caller changes meanwhile is checked: only ends that are vertices are shown, and
// every arc of a range at most once, in ascending order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu/graph/rows.h"

namespace conncomp {

// Whether arcs from the larger end to the smaller one may be left out: each has an opposite one that comes
// before it, and weighs as much where there are weights.
enum class Ends { kBoth, kSmaller };

// The vertices from `first` to before `behind`.
struct Span {
  int64_t first, behind;

  bool has(int64_t v) const { return uint64_t(v) - uint64_t(first) < uint64_t(behind - first); }
  Span with(Span other) const { return {std::min(first, other.first), std::max(behind, other.behind)}; }
};

// A span of the vertices among some numbers; others make it wider at most.
template <class Vertex>
Span span_of(const Vertex* numbers, int64_t count, int64_t vertices) {
  std::make_unsigned_t<Vertex> first = -1, last = 0;  // in which negative numbers are large
  for_each_in(0, count, [&first, &last, numbers](int64_t i) {
    const std::make_unsigned_t<Vertex> v = Shared::load(numbers + i);
    first = std::min(first, v), last = std::max(last, v);
  });
  if (uint64_t(first) >= uint64_t(vertices)) return {vertices, 0};
  return {int64_t(first), std::min(int64_t(last), vertices - 1) + 1};
}

// Calls body(arc, u, v) for an arc u -> v of a span that is no loop, and may be needed.
template <class Vertex, class Body>
void visit_edge(int64_t arc, Vertex u, Vertex v, Span span, Ends ends, const Body& body) {
  if ((ends == Ends::kSmaller ? u < v : u != v) && span.has(int64_t(u)) && span.has(int64_t(v)))
    body(arc, u, v);
}

template <class Vertex>
struct ListedArcs {
  const Vertex *src, *dst;
  int64_t vertices, arcs;

  // Calls body(arc, u, v) for the arcs of a span from `begin` to before `end`, but for loops.
  template <class Body>
  void for_each_edge(int64_t begin, int64_t end, Span span, Ends ends, Body body) const {
    for_each_in(begin, end, [=, *this](int64_t arc) {
      visit_edge(arc, Shared::load(src + arc), Shared::load(dst + arc), span, ends, body);
    });
  }
  template <class Body>
  void for_each_edge(int64_t begin, int64_t end, Ends ends, Body body) const {
    for_each_edge(begin, end, Span{0, vertices}, ends, body);
  }

  // Where the ends of arcs from `begin` to before `end` lie, and maybe others; {vertices, 0} if there are
  // none.
  Span span(int64_t begin, int64_t end) const {
    return span_of(src + begin, end - begin, vertices).with(span_of(dst + begin, end - begin, vertices));
  }

  // The same for some arcs, in ascending order.
  template <class Arc, class Body>
  void for_each_edge_of(const Arc* chosen, int64_t count, Body body) const {
    for_each_in(0, count, [=, *this](int64_t i) {
      const int64_t arc = chosen[i];
      visit_edge(arc, Shared::load(src + arc), Shared::load(dst + arc), Span{0, vertices}, Ends::kBoth, body);
    });
  }
};

template <class Pointer, class Vertex>
struct RowArcs {
  Rows<Pointer, Vertex> rows;
  int64_t vertices = rows.vertices, arcs = rows.arcs;

  template <class Body>
  void for_each_edge(int64_t begin, int64_t end, Ends ends, Body body) const {
    for_each_edge(begin, end, Span{0, vertices}, ends, body);
  }
  template <class Body>
  void for_each_edge(int64_t begin, int64_t end, Span span, Ends ends, Body body) const {
    if (begin >= end) return;
    for (int64_t u = rows.source(begin), arc = begin; u < vertices && arc < end; ++u) {
      const int64_t stop = std::min(end, rows.begin(u + 1));
      poll(1);
      for_each_in(arc, stop,
                  [=, *this](int64_t i) { visit_edge(i, Vertex(u), rows.target(i), span, ends, body); });
      arc = std::max(arc, stop);
    }
  }

  Span span(int64_t begin, int64_t end) const {
    const Span targets = span_of(rows.indices + begin, end - begin, vertices);
    return begin < end ? targets.with({rows.source(begin), rows.source(end - 1) + 1}) : targets;
  }

  template <class Arc, class Body>
  void for_each_edge_of(const Arc* chosen, int64_t count, Body body) const {
    int64_t u = 0;
    for_each_in(0, count, [=, *this, &u](int64_t i) {
      const int64_t arc = chosen[i];
      for (; u + 1 < vertices && rows.begin(u + 1) <= arc; ++u) poll(1);
      visit_edge(arc, Vertex(u), rows.target(arc), Span{0, vertices}, Ends::kBoth, body);
    });
  }
};

}  // namespace conncomp
