// The giant component of a graph of many arcs that lead far, by bits.
//
// What: marks vertices that are connected with a hub, and says whether these are so many that only the others
// need be united. How: a search from the hub along arcs marks a third of the vertices; it needs to read few
// rows, as those of hubs are long. From then on a sweep asks each vertex that is not marked whether one of
// its targets is, in the order of memory, by all threads; what it marks counts at once for the thread, and
// for those that begin with a piece later. So most vertices look at their first arcs only, and bits of all
// vertices are in a cache where parents of them are not. It is given up where the hub's component is small,
// and where the first vertices that are asked are mostly not marked; and not tried where most arcs lead to
// near vertices, as the search may then take as many steps as there are vertices. Cost: an arc or two looked
// at for each vertex, at its bit; a bit a vertex for each thread, and numbers of those that the search marks.
// Where it is given up, up to a tenth of the arcs have been looked at. Source: Beamer, Asanović and Patterson
// 2012, "Direction-optimizing breadth-first search"; a giant first: Slota, Rajamanickam and Madduri 2014,
// "BFS and coloring-based parallel algorithms for strongly connected components and related problems".
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/graph/vertex_bits.h"

namespace conncomp {

// How marks of vertices spread along arcs: a search marks what a queue leads to; to ask is to mark what leads
// to a marked vertex. Each is for one thread, and nobody else writes the words that it marks. Without
// branches that are hard to guess, and with rows asked for ahead.

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
