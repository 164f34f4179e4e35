// How marks of vertices spread along arcs, a bit each.
//
// What: a search marks what a queue leads to; to ask is to mark what leads to a marked vertex. Each is for
// one thread; nobody else writes the words that it marks. How: without branches that are hard to guess, and
// with rows asked for ahead.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"
#include "cpu/graph/rows.h"
#include "cpu/graph/trees.h"
#include "cpu/graph/vertex_bits.h"

namespace conncomp {

// Marks the targets of vertices in a queue, behind which these come.
template <class Pointer, class Vertex>
class Search {
 public:
  // From one vertex on, which is marked, until so many are in the queue.
  Search(const Rows<Pointer, Vertex> rows, VertexBits& marks, int64_t first, int64_t wanted)
      : rows_(rows), marks_(marks), wanted_(wanted), queue_(wanted + 1) {
    queue_[0] = Vertex(first);
  }

  // Whether the queue leads nowhere else.
  bool is_over() const { return next_ == height_; }

  // Ends as soon as so many arcs have been looked at, too; returns how many have been.
  int64_t run(int64_t most) {
    int64_t arcs = 0;
    for (; next_ < height_ && height_ < wanted_ && arcs < most; ++next_) {
      const auto later = [&](int64_t k) { return queue_[std::min(next_ + k, height_ - 1)]; };
      __builtin_prefetch(rows_.indptr + later(2 * kAhead));
      __builtin_prefetch(rows_.indices + rows_.begin(later(kAhead)));
      const int64_t begin = rows_.begin(queue_[next_]), end = rows_.begin(int64_t(queue_[next_]) + 1);
      height_ = mark_targets({begin, end}, height_);
      arcs += std::max<int64_t>(end - begin, 0);
    }
    return arcs;
  }

 private:
  static constexpr int64_t kAhead = 8;  // vertices on which a row is asked for

  // Marks the targets of some arcs, and puts those that were not marked behind others, but for the last ones.
  // Returns how many all are then.
  int64_t mark_targets(ArcRange arcs, int64_t height) {
    Vertex* const queue = queue_.data();
    for_each_in(arcs.begin, arcs.end, [&, this, rows = rows_, most = wanted_](int64_t arc) {
      const Vertex u = rows.target(arc);
      if (!is_vertex(u, rows.vertices)) [[unlikely]]
        return;
      const int64_t w = int64_t(u) / VertexBits::kWord;
      const uint64_t word = marks_.word(w), bit = uint64_t(1) << (uint64_t(u) % VertexBits::kWord);
      marks_.add(w, bit);
      queue[std::min(height, most)] = u;
      height += (word & bit) == 0;
    });
    return height;
  }

  const Rows<Pointer, Vertex> rows_;
  VertexBits& marks_;
  const int64_t wanted_;
  Buffer<Vertex> queue_;
  int64_t next_ = 0, height_ = 1;  // what has been looked at, and the queue
};

// Of vertices that are asked: how many they are, how many have been marked then, and the arcs of the others.
struct Tally {
  int64_t asked = 0, marked = 0, left = 0;
};

// Asks vertices that are not marked whether one of their targets is.
template <class Pointer, class Vertex>
class Asking {
 public:
  Asking(const Rows<Pointer, Vertex> rows, VertexBits& marks) : rows_(rows), marks_(marks.data()) {}

  // Asks the vertices of some words.
  template <bool upwards>
  Tally ask(int64_t begin, int64_t end) {
    Tally tally;
    for_each_in(begin, end, [&, this](int64_t k) {
      const int64_t w = upwards ? k : begin + end - 1 - k;
      uint64_t marks_of_word = 0;
      for_each_unmarked<upwards>(w, [&](uint64_t bit, ArcRange row) {
        const bool marks = leads_inside<upwards>(row);
        ++tally.asked, tally.marked += marks, tally.left += marks ? 0 : row.end - row.begin;
        marks_of_word |= marks ? bit : 0;
      });
      if (marks_of_word) Shared::store(marks_ + w, word(w) | marks_of_word);
    });
    return tally;
  }

 private:
  static constexpr int64_t kArcs = 4;       // of a row that are looked at without a branch
  static constexpr int64_t kFarther = 256;  // arcs on which a row is asked for

  uint64_t word(int64_t w) const { return Shared::load(marks_ + w); }

  // Calls body(bit, row) for the vertices of a word that are not marked and have arcs.
  template <bool upwards, class Body>
  void for_each_unmarked(int64_t w, Body body) const {
    const Rows<Pointer, Vertex> rows = rows_;
    const int64_t first = w * VertexBits::kWord, count = std::min(rows.vertices - first, VertexBits::kWord);
    poll(kArcs * VertexBits::kWord);
    uint64_t unmarked = ~word(w);
    if (count < VertexBits::kWord) unmarked &= (uint64_t(1) << count) - 1;
    for (uint64_t bit; unmarked; unmarked ^= bit) {
      bit = upwards ? unmarked & -unmarked : std::bit_floor(unmarked);
      const int64_t v = first + std::countr_zero(bit), begin = rows.begin(v), end = rows.begin(v + 1);
      ask_for(upwards ? end + kFarther : begin - kFarther);
      if (begin < end) body(bit, ArcRange{begin, end});
    }
  }

  // Whether one of some arcs leads to a marked vertex. From the end of the row that is nearer to the hub if
  // rows are in order, as vertices there are marked.
  template <bool from_first>
  bool leads_inside(ArcRange row) const {
    const Vertex* const nearest = rows_.indices + (from_first ? row.begin : row.end - 1);
    const auto is_marked_at = [=, this](int64_t k) {
      return is_marked(Shared::load(nearest + (from_first ? k : -k)));
    };
    const int64_t arcs = row.end - row.begin;
    int64_t k = 0;
    if (arcs >= kArcs) {
      bool any = false;
      for (; k < kArcs; ++k) any |= is_marked_at(k);
      if (any) return true;
    }
    for (; k < arcs; ++k) {
      if (is_marked_at(k)) return true;
      poll(1);
    }
    return false;
  }

  // What is no vertex is as the bit behind the last one, which is never set.
  bool is_marked(Vertex u) const {
    const int64_t v = int64_t(std::min(uint64_t(int64_t(u)), uint64_t(rows_.vertices)));
    return word(v / VertexBits::kWord) >> (v % VertexBits::kWord) & 1;
  }

  // Asks for what may lie anywhere.
  void ask_for(int64_t arc) const {
    __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(rows_.indices) + sizeof(Vertex) * arc));
  }

  const Rows<Pointer, Vertex> rows_;
  uint64_t* const marks_;  // of a VertexBits; through that, words were loaded more often
};

}  // namespace conncomp
