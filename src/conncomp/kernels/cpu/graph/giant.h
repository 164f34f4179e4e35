// The giant component of a graph of many arcs that lead far, by bits.
//
// What: marks vertices that are connected with a hub, and says whether these are so many that only the others
// need be united.
// How: a search from the hub along arcs marks a third of the vertices; it needs to read few rows, as those of
// hubs are long. From then on a sweep asks each vertex that is not marked whether one of its targets is, in
// the order of memory, by all threads; what it marks counts at once for the thread, and for those that begin
// with a piece later. So most vertices look at their first arcs only, and bits of all vertices are in a cache
// where parents of them are not. It is given up where the hub's component is small, and where the first
// vertices that are asked are mostly not marked; and not tried where most arcs lead to near vertices, as the
// search may then take as many steps as there are vertices. Cost: an arc or two looked at for each vertex, at
// its bit; a bit a vertex for each thread, and numbers of those that the search marks. Where it is given up,
// up to a tenth of the arcs have been looked at. Source: Beamer, Asanović and Patterson 2012,
// "Direction-optimizing breadth-first search"; a giant first: Slota, Rajamanickam and Madduri 2014, "BFS and
// coloring-based parallel algorithms for strongly connected components and related problems".
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "cpu/core/parallel.h"
#include "cpu/graph/marking.h"
#include "cpu/graph/rows.h"
#include "cpu/graph/vertex_bits.h"

namespace conncomp {

template <class Pointer, class Vertex>
class Giant {
 public:
  explicit Giant(const Rows<Pointer, Vertex> rows) : rows_(rows), marked_(rows.vertices) {}

  // Marks vertices; returns whether most arcs are theirs.
  bool search() {
    const RowSample sample = sample_rows(rows_);
    if (2 * sample.near > sample.rows) return false;
    int64_t left = search_from(sample.hub);
    for (int64_t before = 2 * rows_.arcs; !is_whole_ && left > rows_.arcs / kFew && left < before / 4 * 3;)
      before = left, left = sweep(sample.hub / VertexBits::kWord);
    return left <= rows_.arcs / 4;
  }

  const VertexBits& members() const { return marked_; }

 private:
  static constexpr int64_t kFew = 256;   // arcs, of which one is left to union-find
  static constexpr int64_t kTold = 16;   // words after which threads tell each other of them
  static constexpr int64_t kSeen = 32;   // arcs, of which one is looked at by the search
  static constexpr int64_t kPieces = 2;  // of a sweep, for each part of a loop
  static constexpr int kCopies = 32;     // of bits, which are 4 bytes a vertex

  // Marks vertices from the hub on: a third of them, or as many as few arcs show. Returns how many arcs have
  // not been looked at.
  int64_t search_from(int64_t hub) {
    marked_.add(hub / VertexBits::kWord, uint64_t(1) << (hub % VertexBits::kWord));
    Search<Pointer, Vertex> search(rows_, marked_, hub, rows_.vertices / 3 + 1);
    const int64_t seen = search.run(rows_.arcs / kSeen);
    is_whole_ = search.is_over();
    return rows_.arcs - seen;
  }

  // Asks all vertices that are not marked, those beside the word `middle` first. Returns how many arcs are
  // left, all of them if it is given up. Of several threads each has a copy of the marks, from before it
  // began with a piece, as lines of the cache that another one writes are waited for.
  int64_t sweep(int64_t middle) {
    const int64_t words = marked_.words();
    const int64_t wanted = kPieces * Parts(rows_.vertices + rows_.arcs, kGrain).parts;
    const int64_t length = std::max<int64_t>(words / wanted, 1);
    const auto pieces = [=](int64_t count) { return (count + length - 1) / length; };
    const int64_t above = pieces(words - middle), below = pieces(middle), both = 2 * std::min(above, below);
    const bool copies = num_threads() > 1 && num_threads() <= kCopies;
    std::atomic<int64_t> asked{0}, marked{0}, left{0};
    const auto in_vain = [&, this] { return asked >= rows_.vertices / 64 && marked < asked / 4; };
    parallel_for(above + below, [&](int64_t piece) {
      const bool upwards = piece < both ? piece % 2 == 0 : above > below;
      const int64_t begin = (piece < both ? piece / 2 : piece - both / 2) * length;
      const int64_t end = std::min(begin + length, upwards ? words - middle : middle);
      VertexBits copy = copies ? marked_.copy() : VertexBits();
      Asking<Pointer, Vertex> asking(rows_, copies ? copy : marked_);
      for (int64_t k = begin; k < end && !in_vain(); k += kTold) {
        const int64_t stop = std::min(k + kTold, end);
        const Tally tally = upwards ? asking.template ask<true>(middle + k, middle + stop)
                                    : asking.template ask<false>(middle - stop, middle - k);
        asked += tally.asked, marked += tally.marked, left += tally.left;
      }
      for (int64_t k = begin, w; copies && k < end; ++k)
        w = upwards ? middle + k : middle - 1 - k, marked_.put(w, copy.word(w));
    });
    return in_vain() ? rows_.arcs : left.load();
  }

  const Rows<Pointer, Vertex> rows_;
  VertexBits marked_;
  bool is_whole_ = false;  // whether the search has found a whole component
};

}  // namespace conncomp
