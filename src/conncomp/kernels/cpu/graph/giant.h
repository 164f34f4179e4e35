// The giant component of a graph of many arcs that lead far, by bits: marks vertices connected with a hub,
// and says whether few others are left to unite. A search from the hub marks a third of the vertices from
// few, long rows. Then a sweep asks each vertex that is not marked whether one of its targets is, in the
// order of memory, by all threads; marks count at once for the thread, and for others that begin with a piece
// later. Given up where the hub's component is small, or the first vertices asked are mostly not marked; not
// tried where most arcs lead near. Cost: an arc or two a vertex; a bit a vertex and thread; where given up,
// up to a tenth of the arcs. Source: Beamer, Asanović and Patterson 2012, "Direction-optimizing breadth-first
// search"; Slota, Rajamanickam and Madduri 2014 (both_ways.h).
#pragma once

#include "cpu/graph/trees.h"

namespace conncomp {

// Both Search and Asking are for one thread, and nobody else writes the words that it marks.

template <class Pointer, class Vertex> class Search {
 public:
  // Starts from one marked vertex and ends when `wanted` are in the queue.
  Search(const Rows<Pointer, Vertex> rows, VertexBits& marks, int64_t first, int64_t wanted)
      : rows_(rows), marks_(marks), wanted_(wanted), queue_(wanted + 1) {
    queue_[0] = Vertex(first);
  }

  bool is_over() const { return next_ == height_; }

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
  static constexpr int64_t kAhead = 8;  // how many vertices ahead a row is prefetched

  // Marks the targets of arcs, and puts those that were not marked into the queue; returns its new height.
  int64_t mark_targets(ArcRange arcs, int64_t height) {
    Vertex* const queue = queue_.data();
    for_each_in(arcs.begin, arcs.end, [&, this, rows = rows_, most = wanted_](int64_t arc) {
      const Vertex u = rows.target(arc);
      if (!is_vertex(u, rows.vertices)) [[unlikely]]
        return;
      const int64_t w = int64_t(u) / kWord;
      const uint64_t word = marks_.word(w), bit = uint64_t(1) << (uint64_t(u) % kWord);
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
  int64_t next_ = 0, height_ = 1;  // of the queue
};

// Counts the vertices asked, those of them marked then, and the arcs of the others.
struct Tally {
  int64_t asked = 0, marked = 0, left = 0;
};

template <class Pointer, class Vertex> class Asking {
 public:
  Asking(const Rows<Pointer, Vertex> rows, VertexBits& marks) : rows_(rows), marks_(marks.data()) {}

  template <bool upwards> Tally ask(int64_t begin, int64_t end) {
    Tally tally;
    for_each_in(begin, end, [&, this](int64_t k) {
      const int64_t w = upwards ? k : begin + end - 1 - k;
      uint64_t marks_of_word = 0;
      for_each_unmarked<upwards>(w, [&](uint64_t bit, ArcRange row) {
        const bool marks = leads_inside<upwards>(row);
        ++tally.asked, tally.marked += marks, tally.left += marks ? 0 : row.end - row.begin;
        marks_of_word |= marks ? bit : 0;
      });
      if (marks_of_word) Concurrent::store(marks_ + w, word(w) | marks_of_word);
    });
    return tally;
  }

 private:
  static constexpr int64_t kArcs = 4;       // of a row that are looked at without a branch
  static constexpr int64_t kFarther = 256;  // how many arcs ahead a row is prefetched

  uint64_t word(int64_t w) const { return Concurrent::load(marks_ + w); }

  template <bool upwards> void for_each_unmarked(int64_t w, auto body) const {
    const Rows<Pointer, Vertex> rows = rows_;
    const int64_t first = w * kWord, count = std::min<int64_t>(rows.vertices - first, kWord);
    poll(kArcs * kWord);
    uint64_t unmarked = ~word(w);
    if (count < kWord) unmarked &= below(int(count));  // of the last word maybe none
    for (uint64_t bit; unmarked; unmarked ^= bit) {
      bit = upwards ? unmarked & -unmarked : std::bit_floor(unmarked);
      const int64_t v = first + std::countr_zero(bit), begin = rows.begin(v), end = rows.begin(v + 1);
      prefetch(upwards ? end + kFarther : begin - kFarther);
      if (begin < end) body(bit, ArcRange{begin, end});
    }
  }

  // Whether an arc leads to a marked vertex, from the end nearer to the hub, if rows are in order.
  template <bool from_first> bool leads_inside(ArcRange row) const {
    const Vertex* const nearest = rows_.indices + (from_first ? row.begin : row.end - 1);
    const auto is_marked_at = [=, this](int64_t k) {
      return is_marked(Concurrent::load(nearest + (from_first ? k : -k)));
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

  // No vertex counts as the bit behind the last, which is never set.
  bool is_marked(Vertex u) const {
    const int64_t v = int64_t(std::min(uint64_t(int64_t(u)), uint64_t(rows_.vertices)));
    return word(v / kWord) >> (v % kWord) & 1;
  }

  // The address may lie anywhere.
  void prefetch(int64_t arc) const {
    __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(rows_.indices) + sizeof(Vertex) * arc));
  }

  const Rows<Pointer, Vertex> rows_;
  uint64_t* const marks_;  // of a VertexBits, through which words were loaded more often
};

template <class Pointer, class Vertex> class Giant {
 public:
  explicit Giant(const Rows<Pointer, Vertex> rows) : rows_(rows), marked_(rows.vertices) {}

  bool search() {
    const RowSample sample = sample_rows(rows_);
    if (sample.is_near()) return false;
    int64_t left = search_from(sample.hub);
    for (int64_t before = 2 * rows_.arcs; !is_whole_ && left > rows_.arcs / kFew && left < before / 4 * 3;)
      before = left, left = sweep(sample.hub / kWord);
    return left <= rows_.arcs / 4;
  }

  const VertexBits& members() const { return marked_; }

 private:
  static constexpr int64_t kFew = 256;   // arcs, of which one is left to union-find
  static constexpr int64_t kTold = 16;   // words after which threads share their tallies
  static constexpr int64_t kSeen = 32;   // arcs, of which the search looks at one
  static constexpr int64_t kPieces = 2;  // of a sweep, for each part of a loop
  static constexpr int kCopies = 32;     // at most, of a bit a vertex, which are 4 bytes a vertex

  // Marks a third of the vertices from the hub on, or as many as few arcs show; returns the arcs left.
  int64_t search_from(int64_t hub) {
    marked_.add(hub / kWord, uint64_t(1) << (hub % kWord));
    Search<Pointer, Vertex> search(rows_, marked_, hub, rows_.vertices / 3 + 1);
    const int64_t seen = search.run(rows_.arcs / kSeen);
    is_whole_ = search.is_over();
    return rows_.arcs - seen;
  }

  // Asks unmarked vertices, from `middle` on; returns the arcs left. Threads copy marks, for their caches.
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

// Labels around a giant component that bits tell. One member stands for all; only others have parents.
// Roots are bits, whose ranks give labels without a pass over all vertices. Arcs that leave the members
// must be listed from both ends.
template <class Index> class AroundGiant {
 public:
  // There is at least one member.
  AroundGiant(const VertexBits& members, int64_t vertices, Index* labels)
      : members_(members), vertices_(vertices), first_(members.first()), parent_(labels) {
    for_each_word([this](int64_t w) { for_each_other_of(w, [this](int64_t v) { parent_[v] = Index(v); }); });
  }

  template <class Pointer, class Vertex> void unite(const Rows<Pointer, Vertex> rows) {
    for_each_word([=, this](int64_t w) {
      for_each_other_of(w, [=, this](int64_t v) {
        if (v == first_) return;
        Index root = shorten(parent_, v);
        rows.for_each_neighbour(v, [&, this](Vertex u) {
          const Index end = members_.has(u) ? Index(first_) : Index(u);
          if (const Index above = Concurrent::load(parent_ + end); above != root)
            root = hook<Concurrent>(parent_, root, find_from<Concurrent>(parent_, end, above));
        });
      });
    });
  }

  int64_t label(Naming naming) {
    VertexBits roots(vertices_);
    for_each_word([&, this](int64_t w) {
      uint64_t bits = 0;
      for_each_other_of(
          w, [&, this](int64_t v) { bits |= uint64_t(shorten(parent_, v) == Index(v)) << (v % kWord); });
      roots.put(w, bits);
    });
    Buffer<Index> before(roots.words());  // each word, so many roots are
    const int64_t components = rank_words(roots.data(), roots.words(), before.data());
    const auto label_of = [&](int64_t root) {
      if (naming == Naming::kRoots) return Index(root);
      const int64_t w = root / kWord;
      return Index(before[w] + std::popcount(roots.word(w) & below(int(root % kWord))));
    };
    const Index of_giant = label_of(parent_[first_]);
    for_each_word([&, this](int64_t w) {
      const int64_t begin = w * kWord;
      std::array<Index, kWord> labels;
      labels.fill(of_giant);
      for_each_other_of(w, [&, this](int64_t v) { labels[v - begin] = label_of(parent_[v]); });
      std::copy_n(labels.begin(), std::min<int64_t>(vertices_ - begin, kWord), parent_ + begin);
    });
    return components;
  }

 private:
  void for_each_word(auto body) const {
    const auto polled = [body](int64_t w) {
      poll(kWord);
      body(w);
    };
    for_each_index((vertices_ + kWord - 1) / kWord, polled, kWord * kParentWork);
  }

  void for_each_other_of(int64_t w, auto body) const {
    const int64_t begin = w * kWord, count = std::min<int64_t>(vertices_ - begin, kWord);
    uint64_t left = ~members_.word(w);
    if (first_ / kWord == w) left |= uint64_t(1) << (first_ % kWord);
    for_each_bit(left & up_to(int(count) - 1), [&](int p) { body(begin + p); });
  }

  const VertexBits& members_;
  const int64_t vertices_, first_;
  Index* const parent_;  // of the others and of the first member, until they become labels
};

}
