// A forest for a sparse graph with every arc listed from both ends, such as a road map: fills parent[v] with
// a smaller vertex of v's component, or v. If numbers follow the map, each thread has a part of the vertices,
// which few arcs leave. Block by block, while rows are in a cache, each vertex starts under the root of the
// smaller end of its first or last arc; of vertices that may have a second smaller neighbour, differing pairs
// of roots are gathered, without a branch, and united. What leaves its part, and hubs, are postponed: all
// threads unite them last. If arcs lead far, all such are. Cost: a pass over rows and parents. Source of
// parts: Patwary et al. 2012, "Multi-core spanning forest algorithms using the disjoint-set data structure".
#pragma once

#include "cpu/graph/trees.h"

namespace conncomp {

template <class Pointer, class Vertex, class Index> class SparseForest {
 public:
  SparseForest(const Rows<Pointer, Vertex> rows, Index* parent)
      : rows_(rows), parent_(parent), words_((rows.vertices + kWord - 1) / kWord), postponed_(words_) {}

  void grow() {
    Parts parts(words_, kGrain / kVertexWork / kWord);
    if (num_threads() == 1) parts.at_most(1);
    if (parts.parts > 1 && !leads_near()) {
      parallel_for(parts.parts, [&, this](int64_t part) {
        for_each_block(
            parts, part, [this](int64_t first, int64_t last) { start_block<false>(0, first, last); });
      });
      postponed_vertices_ = rows_.vertices, postponed_arcs_ = rows_.arcs;
    } else {
      parallel_for(parts.parts, [&, this](int64_t part) { grow_part(parts, part); });
    }
    if (postponed_vertices_ > rows_.vertices / kMany) flatten(parent_, rows_.vertices);
    unite_postponed();
  }

 private:
  using Unsigned = std::make_unsigned_t<Vertex>;  // in which numbers below a part are large

  static constexpr int64_t kBlock = 16 * kWord;  // vertices, whose rows are read twice
  static constexpr int64_t kArcs = 3;            // that are looked at without a branch
  static constexpr int64_t kLongRow = 32;        // arcs, of which more are left to all threads
  static constexpr int64_t kMany = 16;           // with one postponed of so many, paths are shortened

  bool leads_near() const {
    const RowSample sample = sample_rows(rows_);
    return 2 * sample.near >= sample.rows;
  }

  void for_each_block(const Parts& parts, int64_t part, auto body) const {
    const int64_t end = std::min(parts.end(part) * kWord, rows_.vertices);
    for (int64_t first = parts.begin(part) * kWord; first < end; first += kBlock)
      body(first, std::min(first + kBlock, end));
  }

  void grow_part(const Parts& parts, int64_t part) {
    const int64_t begin = parts.begin(part) * kWord;
    for_each_block(parts, part, [=, this](int64_t first, int64_t last) {
      start_block<true>(begin, first, last);
      unite_block(begin, first, last);
    });
    leave_part(begin, std::min(parts.end(part) * kWord, rows_.vertices));
  }

  // Starts a block's vertices, and marks as postponed those that may have more smaller neighbours.
  template <bool under_root> [[gnu::noinline]] void start_block(int64_t part, int64_t first, int64_t last) {
    const Rows<Pointer, Vertex> rows = rows_;
    Index* const parent = parent_;
    poll(kBlock);
    int64_t row = rows.begin(first);
    for (int64_t v = first; v < last;) {
      uint64_t word = 0;
      const int64_t of_word = v, stop = std::min(v + kWord, last);
      for (; v < stop; ++v) {
        const int64_t end = rows.begin(v + 1);
        word = word >> 1 | uint64_t(start<under_root>(rows, parent, part, v, {row, end})) << (kWord - 1);
        row = end;
      }
      postponed_[of_word / kWord] = word >> (of_word + kWord - stop);
    }
  }

  // Lets v point to its smaller end's root, or itself if that is below; whether other arcs may lead lower.
  template <bool under_root>
  static bool start(const Rows<Pointer, Vertex> rows, Index* parent, int64_t part, int64_t v, ArcRange row) {
    const Unsigned offset = Unsigned(part), vertex = Unsigned(v);
    Unsigned low = vertex, high = vertex;
    if (row.begin < row.end) [[likely]] {
      const Unsigned first = Unsigned(rows.target(row.begin)), last = Unsigned(rows.target(row.end - 1));
      low = std::min(first, last);
      high = first ^ last ^ low;  // of minimum and maximum compilers make a branch
    }
    Index root = Index(std::min(Unsigned(low - offset), Unsigned(vertex - offset)) + offset);
    Concurrent::store(parent + v, root);
    if constexpr (under_root) {
      root = Concurrent::load(parent + root);
      if (const Index next = Concurrent::load(parent + root); next != root) [[unlikely]]
        root = find_from<Exclusive>(parent, root, next);
      Concurrent::store(parent + v, root);
    }
    return (row.end - row.begin + (high < vertex) > 2) | (low < offset);
  }

  // Unites marked vertices of a block with their arcs' ends; marked stay those with many, or below the part.
  void unite_block(int64_t part, int64_t first, int64_t last) {
    const Rows<Pointer, Vertex> rows = rows_;
    Index* const parent = parent_;
    const Unsigned offset = Unsigned(part);
    std::array<Index, kWord * kLongRow> vertices, roots;  // pairs, of roots that differ
    for (int64_t w = first / kWord; w * kWord < last; ++w) {
      uint64_t stay = 0;
      int64_t pairs = 0;
      for (uint64_t word = postponed_[w]; word; word &= word - 1) {
        const int64_t v = w * kWord + std::countr_zero(word), begin = rows.begin(v), end = rows.begin(v + 1);
        if (uint64_t(end - begin - 1) >= uint64_t(kLongRow)) [[unlikely]] {  // or none, if it has changed
          stay |= word & -word;
          continue;
        }
        const Index root = Concurrent::load(parent + v);
        const Unsigned place = Unsigned(Unsigned(v) - offset);  // in the part
        // The smaller of these two has been seen, or is below.
        const Unsigned front = Unsigned(rows.target(begin)), back = Unsigned(rows.target(end - 1));
        Unsigned low = std::min(front, back);
        const auto see = [&](Unsigned u) {
          const int64_t inside = int64_t(std::min(Unsigned(u - offset), place));
          vertices[pairs] = Index(v), roots[pairs] = Concurrent::load(parent + part + inside);
          pairs += roots[pairs] != root, low = std::min(low, u);
        };
        see(front ^ back ^ low);
        for (int64_t k = 1; k < kArcs; ++k) see(Unsigned(rows.target(std::min(begin + k, end - 1))));
        for (int64_t arc = begin + kArcs; arc < end - 1; ++arc) see(Unsigned(rows.target(arc)));
        stay |= low < offset ? word & -word : 0;
      }
      postponed_[w] = stay;
      for (int64_t i = 0; i < pairs; ++i) unite<Exclusive>(parent, vertices[i], roots[i]);
    }
  }

  // Puts roots of a part under smaller ends below it; such a vertex is done if it had one such arc.
  void leave_part(int64_t part, int64_t end) {
    const Unsigned offset = Unsigned(part);
    int64_t vertices = 0, arcs = 0;
    for (int64_t w = part / kWord; w * kWord < end; ++w) {
      poll(kWord);
      for (uint64_t word = postponed_[w]; word; word &= word - 1) {
        const int64_t v = w * kWord + std::countr_zero(word), first = rows_.begin(v),
                      last = rows_.begin(v + 1);
        Unsigned low = Unsigned(v);
        int64_t below = 0;
        for (int64_t arc = first; arc < std::min(last, first + kLongRow); ++arc) {
          const Unsigned u = Unsigned(rows_.target(arc));
          low = std::min(low, u), below += u < offset;
        }
        const bool leaves = low < offset && parent_[v] == Index(v);
        if (leaves) parent_[v] = Index(low);
        if (leaves && below == 1 && last - first <= kLongRow)
          postponed_[w] ^= word & -word;
        else
          ++vertices, arcs += last - first;
      }
    }
    postponed_vertices_ += vertices, postponed_arcs_ += arcs;
  }

  void unite_postponed() {
    for_each_piece(rows_, postponed_arcs_, [this](int64_t begin, int64_t end, auto piece_of_row) {
      for_each_in(begin / kWord, (end + kWord - 1) / kWord, [=, this](int64_t w) {
        for (uint64_t word = postponed_[w]; word; word &= word - 1)
          if (const int64_t v = w * kWord + std::countr_zero(word); v >= begin && v < end)
            unite_row(rows_, parent_, v, shorten(parent_, v), v, piece_of_row(v));
      });
    });
  }

  const Rows<Pointer, Vertex> rows_;
  Index* const parent_;
  const int64_t words_;
  Buffer<uint64_t> postponed_;  // vertices, a bit each
  std::atomic<int64_t> postponed_vertices_{0}, postponed_arcs_{0};
};

}
