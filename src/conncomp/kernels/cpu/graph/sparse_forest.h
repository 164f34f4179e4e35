// A forest for a sparse graph that lists every arc from both ends, such as a map of roads.
//
// What: fills parent[v] with a smaller vertex of v's component, or with v if there is none. How: each vertex
// starts under the smaller end of its first or last arc. Along a chain that is all: only vertices that may
// have a second smaller neighbour are marked, and their arcs to smaller vertices unite their ends.
// Cost: two passes over the vertices, and a visit to the marked ones: fewer than one in ten of a map whose
// roads bend. A bit for each vertex beyond the parents. Source: start and union–find of Jaiganesh and
// Burtscher 2018.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"
#include "cpu/graph/trees.h"

namespace conncomp {

template <class Pointer, class Vertex, class Index>
void grow_sparse_forest(const Rows<Pointer, Vertex> rows, Index* parent) {
  constexpr int64_t kWord = 64;
  const int64_t words = (rows.vertices + kWord - 1) / kWord;
  Buffer<uint64_t> buffer(words);
  uint64_t* const marked = buffer.data();
  const Parts parts(words, kGrain / kWord);
  parallel_for(parts.parts, [=](int64_t part) {
    for_each_in(parts.begin(part), parts.end(part), [=](int64_t w) {
      const int64_t first = w * kWord, stop = std::min(first + kWord, rows.vertices);
      poll(kWord);
      uint64_t word = 0;
      int64_t begin = rows.begin(first);
      for (int64_t v = first; v < stop; ++v) {
        const int64_t end = rows.begin(v + 1);
        word |= uint64_t(start_tree(rows, parent, v, {begin, end})) << (v - first);
        begin = end;
      }
      marked[w] = word;
    });
  });
  flatten(parent, rows.vertices);
  for_each_piece(rows, rows.arcs, [=](int64_t begin, int64_t end, auto piece_of_row) {
    for_each_in(begin / kWord, (end + kWord - 1) / kWord, [=](int64_t w) {
      for (uint64_t word = marked[w]; word; word &= word - 1)
        if (const int64_t v = w * kWord + std::countr_zero(word); v >= begin && v < end)
          unite_row(rows, parent, v, shorten(parent, v), v, piece_of_row(v));
    });
  });
}

}  // namespace conncomp
