// The acyclic graph of the components of a directed graph.
//
// What: rows of the distinct arcs between components of different labels, in ascending order of the targets.
// How: the vertices are grouped by component. The targets of a component's arcs are gathered, each once: a
// mark tells which component met a target last. Then they are sorted or, where they are many, listed by their
// marks. Cost: each arc read once, and two random accesses for it; a sort of each row. An index and 8 bytes a
// vertex, and an index a component and an arc, of which only what is filled is touched.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/core/buffer.h"
#include "cpu/core/counting_sort.h"
#include "cpu/graph/rows.h"

namespace conncomp {

template <class Index>
struct Condensation {
  Buffer<int64_t> indptr;
  Buffer<Index> indices;
};

// So many marks are read in the time that sorting takes for a target.
constexpr int64_t kMarksRead = 64;

// Lists the targets that are marked by a component, itself aside, of which there are `count`.
template <class Index>
void list_marked(const Index* met_by, int64_t components, Index component, Index* targets, int64_t count) {
  int64_t listed = 0;
  for_each_in(0, components, [=, &listed](int64_t d) {
    if (met_by[d] == component && d != component && listed < count) targets[listed++] = Index(d);
  });
}

// `labels`, of [0, components), is memory that nobody else writes to.
template <class Pointer, class Vertex, class Index>
Condensation<Index> condense(const Rows<Pointer, Vertex> rows, const Index* labels, int64_t components) {
  Buffer<int64_t> begin(components + 1);
  Buffer<Index> members(rows.vertices), met_by(components);
  group_by_key(
      rows.vertices, components, [=](int64_t v) { return int64_t(labels[v]); }, [](int64_t v) { return v; },
      begin.data(), members.data(), rows.vertices);
  Condensation<Index> graph{Buffer<int64_t>(components + 1), Buffer<Index>(rows.arcs)};
  int64_t* const indptr = graph.indptr.data();
  Index* const indices = graph.indices.data();
  for_each_in(0, components, [&](int64_t c) { met_by[c] = Index(c); });
  int64_t arcs = indptr[0] = 0;
  for_each_in(0, components, [&](int64_t c) {
    for_each_in(begin[c], begin[c + 1], [&](int64_t i) {
      rows.for_each_neighbour(members[i], [&](int64_t u) {
        const Index target = labels[u];
        if (target == Index(c) || met_by[target] == Index(c) || arcs == rows.arcs) return;
        met_by[target] = Index(c);
        indices[arcs++] = target;
      });
    });
    indptr[c + 1] = arcs;
    if (arcs - indptr[c] > components / kMarksRead)
      list_marked(met_by.data(), components, Index(c), indices + indptr[c], arcs - indptr[c]);
    else
      std::sort(indices + indptr[c], indices + arcs);
  });
  return graph;
}

}  // namespace conncomp
