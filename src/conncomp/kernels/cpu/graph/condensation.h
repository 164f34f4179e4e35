// The acyclic graph of components: rows of distinct arcs, by ascending targets. All threads keep the arcs
// between components, mostly few; rows are sorted or, where long, listed by bits. Cost: 24 bytes a component.
#pragma once

#include "cpu/graph/rows_of_arcs.h"
#include "cpu/graph/trees.h"

namespace conncomp {

template <class Index> struct Condensation {
  Buffer<int64_t> indptr;
  Buffer<Index> indices;
};

// Bits read in the time that sorting takes for a target.
constexpr int64_t kMarksRead = kAlwaysHelped ? 8 : 512;

template <class Index>
int64_t make_distinct(Index* row, int64_t arcs, int64_t components, VertexBits& marks) {
  if (arcs <= components / kMarksRead + 1) {
    if (!std::is_sorted(row, row + arcs)) std::sort(row, row + arcs);
    return std::unique(row, row + arcs) - row;
  }
  if (marks.words() == 0) marks = VertexBits(components);
  for_each_in(0, arcs, [&](int64_t i) {
    const int64_t w = row[i] / kWord;
    marks.add(w, uint64_t(1) << row[i] % kWord);
  });
  int64_t listed = 0;
  for_each_in(0, marks.words(),
      [&](int64_t w) { for_each_bit(marks.take(w), [&](int p) { row[listed++] = Index(w * kWord + p); }); });
  return listed;
}

// The distinct arcs of rows. No other thread may write to their memory.
template <class Index> Condensation<Index> distinct_arcs(const Rows<int64_t, Index> rows, Index* indices) {
  Buffer<int64_t> kept(rows.vertices);
  const Parts parts(rows.vertices, kGrain / kVertexWork);
  parallel_for(parts.parts, [&](int64_t part) {
    VertexBits marks;
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t c) {
      const int64_t begin = rows.begin(c);
      kept[c] = make_distinct(indices + begin, rows.begin(c + 1) - begin, rows.vertices, marks);
    });
  });
  Condensation<Index> graph{Buffer<int64_t>(rows.vertices + 1)};
  int64_t* const indptr = graph.indptr.data();
  indptr[rows.vertices] = scan(
      rows.vertices, [&](int64_t c) { return kept[c]; },
      [=](int64_t c, int64_t before) { indptr[c] = before; });
  graph.indices = Buffer<Index>(indptr[rows.vertices]);
  for_each_row(rows, [=, to = graph.indices.data()](int64_t c, int64_t begin, int64_t) {
    std::copy(indices + begin, indices + begin + (indptr[c + 1] - indptr[c]), to + indptr[c]);
  });
  return graph;
}

template <class Index> struct Between {
  Buffer<Index> from, to;
  int64_t count;
};

template <class Pointer, class Vertex, class Index>
Between<Index> arcs_between(const Rows<Pointer, Vertex> rows, const Index* labels) {
  const Parts parts(rows.arcs, kGrain);
  Between<Index> between{Buffer<Index>(rows.arcs), Buffer<Index>(rows.arcs), 0};
  std::vector<int64_t> counts(parts.parts);
  parallel_for(rows.arcs ? parts.parts : 0, [&](int64_t part) {
    const int64_t begin = parts.begin(part), end = parts.end(part);
    int64_t count = 0, arc = begin;
    for_each_in(rows.source(begin), rows.source(end - 1) + 1,
        [=, &arc, &count, from = between.from.data() + begin, to = between.to.data() + begin](int64_t v) {
          const Index own = labels[v];
          const int64_t first = arc;
          arc = std::max(arc, std::min(end, rows.begin(v + 1)));
          int64_t next = count;
          for_each_in(first, arc, [=, &next](int64_t i) {
            const Vertex u = rows.target(i);
            const Index label = labels[is_vertex(u, rows.vertices) ? int64_t(u) : v];
            from[next] = own, to[next] = label;
            next += label != own;
          });
          count = next;
        });
    counts[part] = count;
  });
  // Where all arcs are between components, none is moved.
  for (int64_t part = 0; part < parts.parts; between.count += counts[part++])
    for (Index* const ends : {between.from.data(), between.to.data()})
      if (const Index* const first = ends + parts.begin(part); first != ends + between.count)
        std::copy(first, first + counts[part], ends + between.count);
  return between;
}

template <class Index>
Condensation<Index> condense(const auto rows, const Index* labels, int64_t components) {
  Between<Index> between = arcs_between(rows, labels);
  Buffer<int64_t> indptr(components + 1);
  if (!find_rows(between.from.data(), between.count, components, indptr.data())) {
    Buffer<Index> targets(between.count);
    RowsOfArcs<Index>(between.from.data(), between.to.data(), between.count, components)
        .fill(indptr.data(), targets.data());
    between.to = std::move(targets);
  }
  Index* const targets = between.to.data();
  return distinct_arcs(Rows<int64_t, Index>{indptr.data(), targets, components, between.count}, targets);
}

}
