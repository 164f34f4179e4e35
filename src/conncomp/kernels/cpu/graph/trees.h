// Trees of vertices that arcs connect: how they start, and how arcs unite them.
//
// What: a forest of parents as of core/union_find.h, for rows that the caller may change (Rows); the parents
// are memory that nobody else writes to. How: without branches where it can be, as what arcs show is hard to
// guess.
#pragma once

#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Arcs of one row, from `begin` to before `end`.
struct ArcRange {
  int64_t begin, end;
};

// A root, and how much of a sample is under it.
struct FrequentRoot {
  int64_t root;
  double share;
};

// What a vertex costs in a pass over the vertices, in elements of an array: a random access or two.
constexpr int64_t kVertexWork = 8;

// Calls body(v, begin, end) for every vertex and where its arcs begin and end, in parallel.
template <class Pointer, class Vertex, class Body>
void for_each_row(const Rows<Pointer, Vertex> rows, Body body) {
  const Parts parts(rows.vertices, kGrain / kVertexWork);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t begin = rows.begin(parts.begin(part));
    for_each_in(parts.begin(part), parts.end(part), [&begin, rows, body](int64_t v) {
      const int64_t end = rows.begin(v + 1);
      body(v, begin, end);
      begin = end;
    });
  });
}

// The parent of u, or of v unless u is one of the vertices below `bound`: without a branch.
template <class Vertex, class Index>
Index parent_of(const Index* parent, Vertex u, int64_t bound, int64_t v) {
  return Shared::load(parent + (is_vertex(u, bound) ? int64_t(u) : v));
}

// Calls body(begin, end, piece_of_row), in parallel, for pieces of the graph, which have about as many arcs
// each, so that a hub is everybody's work: these vertices have arcs in it, and piece_of_row(v) are those of
// v. There are so many pieces as `visited` vertices and arcs are worth.
template <class Pointer, class Vertex, class Body>
void for_each_piece(const Rows<Pointer, Vertex> rows, int64_t visited, Body body) {
  Parts parts(rows.arcs, kGrain / kVertexWork);
  parts.at_most(Parts(visited, kGrain / kVertexWork).parts);
  if (rows.arcs == 0) return;
  parallel_for(parts.parts, [=](int64_t part) {
    const int64_t begin = parts.begin(part), end = parts.end(part);
    body(rows.source(begin), rows.source(end - 1) + 1, [=](int64_t v) -> ArcRange {
      return {std::max(begin, rows.begin(v)), std::min(end, rows.begin(v + 1))};
    });
  });
}

// The smaller end of the first and last arc of v, or v itself if neither is smaller.
template <class Pointer, class Vertex>
int64_t smaller_end(const Rows<Pointer, Vertex> rows, int64_t v, ArcRange row) {
  using Unsigned = std::make_unsigned_t<Vertex>;  // in which negative numbers are large
  Unsigned low = Unsigned(v);
  if (row.begin < row.end) [[likely]] {
    low = std::min(low, Unsigned(rows.target(row.begin)));
    low = std::min(low, Unsigned(rows.target(row.end - 1)));
  }
  return int64_t(low);
}

// Unites v, whose parent has just been seen to be `root`, with the ends below `bound` of a piece of its row.
template <class Pointer, class Vertex, class Index>
void unite_row(const Rows<Pointer, Vertex> rows, Index* parent, int64_t v, Index root, int64_t bound,
               ArcRange piece) {
  constexpr int kArcs = 4;
  const int64_t end = piece.end;
  for (int64_t begin = piece.begin; begin < end; begin += kArcs) {
    poll(kArcs);
    Index differ = 0;
    for (int k = 0; k < kArcs; ++k)  // the last arc again, where a row is shorter
      differ |= root ^ parent_of(parent, rows.target(std::min(begin + k, end - 1)), bound, v);
    if (!differ) continue;
    for (int k = 0; k < kArcs; ++k) {
      // Loaded again: what was another vertex then is checked now.
      const Vertex u = rows.target(std::min(begin + k, end - 1));
      const Index above = parent_of(parent, u, bound, v);
      if (above != root && is_vertex(u, bound))
        root = hook<Shared>(parent, root, find_from<Shared>(parent, Index(u), above));
    }
  }
}

// Points v to its root, which is returned, while others hook roots: an entry that has been a root is not
// stored to.
template <class Index>
Index shorten(Index* parent, int64_t v) {
  const Index above = Shared::load(parent + v);
  Index root = Shared::load(parent + above);
  if (root == above) return root;
  for (Index next; (next = Shared::load(parent + root)) != root;) root = next;
  Shared::store(parent + v, root);
  return root;
}

}  // namespace conncomp
