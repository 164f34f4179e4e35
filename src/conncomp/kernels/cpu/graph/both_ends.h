// A graph whose arcs are seen from both ends: its rows and, unless these list every arc from both ends
// themselves, the rows of the opposite arcs, which are made by a counting sort.
//
// Memory: where opposite rows are made, 8 bytes a vertex and an index of a vertex for each arc. They are of
// this call alone; the graph's own rows may change, so both are read with the checks of Rows.
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/core/counting_sort.h"
#include "cpu/graph/rows.h"

namespace conncomp {

template <class Pointer, class Vertex, class Index>
class BothEnds {
 public:
  BothEnds(const Rows<Pointer, Vertex> rows, bool symmetric) : rows_(rows), symmetric_(symmetric) {
    if (symmetric) return;
    indptr_ = Buffer<int64_t>(rows.vertices + 1);
    indices_ = Buffer<Index>(rows.arcs);
    // Arcs whose target is no vertex leave places at the end that no row has.
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

  // Calls body(u) for every u that has an arc to v or from v; for some twice.
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

}  // namespace conncomp
