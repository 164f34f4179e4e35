// Vertices that are strong components alone, as no arc leads to them or none leads away, again and again:
// settled, as tarjan.h takes it, in a graph of few arcs that lead far, where a search would wait for memory
// twice a vertex. Bits say whether a vertex is left, has an arc to one that is left, and has one from such a
// vertex. Arcs between vertices left are copied, and each turn reads them in the order of memory, at bits in
// a cache, without mispredicted branches. It ends where a turn leaves nearly as many; not tried where most
// arcs lead near, few vertices have none, or arcs are many. Cost: some nanoseconds an arc and turn; two
// indices an arc and two bits a vertex and thread. Source: McLendon and others 2005, "Finding strongly
// connected components in distributed graphs".
#pragma once

#include "cpu/graph/tarjan.h"
#include "cpu/graph/trees.h"

namespace conncomp {

class TrimmedArcs {
 public:
  TrimmedArcs(int64_t vertices, int64_t arcs)
      : vertices_(vertices), left_(vertices), arcs_(arcs), sides_(std::min(num_threads(), kMostSides)) {
    for_each_side([=](Side& side, int64_t) { side = Side(vertices); });
    for_each_index(left_.words(), [this](int64_t w) { left_.put(w, ~uint64_t(0)); });
  }

  template <class Index> int64_t settle(Index* state) const {
    using State = SearchState<Index>;
    const auto settle_word = [this, state](int64_t w) {
      const uint64_t left = left_.word(w);
      const int64_t begin = w * kWord, end = std::min(begin + kWord, vertices_);
      for (int64_t v = begin; v < end; ++v)
        state[v] = left >> (v - begin) & 1 ? Index(State::kUnvisited) : State::under(v);
      return int64_t(std::popcount(left));
    };
    return vertices_ - sum_over<kWord>(left_.words(), settle_word);
  }

 protected:
  static constexpr int kMostSides = 8;  // as each has bits of all vertices

  struct Arc {
    int32_t source, target;
  };
  // A thread's vertices with arcs from and to them, and its range of copies; no cache lines are shared.
  struct alignas(64) Side {
    VertexBits from, to;
    ArcRange arcs{0, 0};
    int64_t most = 0;
    explicit Side(int64_t vertices = 0) : from(vertices), to(vertices) {}

    void mark_from(int64_t v, bool has_arcs) { mark(from, v, has_arcs); }
    void mark_to(int64_t v, bool has_arcs) { mark(to, v, has_arcs); }

   private:
    static void mark(VertexBits& bits, int64_t v, bool is_so) {
      bits.add(v / kWord, uint64_t(is_so) << (v % kWord));
    }
  };

  void for_each_side(FunctionRef<void(Side&, int64_t)> body) {
    parallel_for(int64_t(sides_.size()), [&](int64_t number) { body(sides_[number], number); });
  }
  int64_t first_word(int64_t number) const { return left_.words() * number / int64_t(sides_.size()); }

  void keep_vertices() {
    const auto keep_word = [this](int64_t w) {
      uint64_t from = 0, to = 0;
      for (Side& side : sides_) from |= side.from.take(w), to |= side.to.take(w);
      left_.put(w, left_.word(w) & from & to);
    };
    for_each_index(left_.words(), keep_word, kWord / 8);
  }

  void keep_in_turns(int64_t before) {
    constexpr int64_t kLeastShare = 8, kMostTurns = 16;
    for (int64_t turn = 0;; ++turn) {
      if (turn > 0) keep_arcs();
      keep_vertices();
      int64_t kept = 0;
      for (const Side& side : sides_) kept += side.arcs.end - side.arcs.begin;
      if (kept > before - before / kLeastShare || turn == kMostTurns || kept < vertices_ / 64) return;
      before = kept;
    }
  }

  void keep(Side& side, Arc arc, bool is_kept) {
    arcs_[side.arcs.end] = arc;
    side.arcs.end += is_kept;
    side.mark_from(arc.source, is_kept), side.mark_to(arc.target, is_kept);
  }

  const int64_t vertices_;
  VertexBits left_;
  Buffer<Arc> arcs_;
  std::vector<Side> sides_;

 private:
  void keep_arcs() {
    for_each_side([this](Side& side, int64_t) {
      const ArcRange arcs = side.arcs;
      side.arcs.end = arcs.begin;
      for_each_in(arcs.begin, arcs.end, [&side, this](int64_t i) {
        const Arc arc = arcs_[i];
        keep(side, arc, left_.has(arc.source) & left_.has(arc.target));
      });
    });
  }
};

template <class Pointer, class Vertex> class Trimming : public TrimmedArcs {
 public:
  explicit Trimming(const Rows<Pointer, Vertex> rows) : TrimmedArcs(rows.vertices, rows.arcs), rows_(rows) {}

  void run() {
    look_at_rows();
    keep_vertices();
    copy_arcs();
    keep_in_turns(rows_.arcs);
  }

 private:
  void look_at_rows() {
    for_each_side([this](Side& side, int64_t number) {
      const int64_t first = first_word(number) * kWord, behind = first_word(number + 1) * kWord;
      for_each_in(first, std::min(behind, rows_.vertices),
          [&, this](int64_t v) { side.mark_from(v, rows_.begin(v) < rows_.begin(v + 1)); });
      const int64_t count = int64_t(sides_.size());
      for_each_in(rows_.arcs * number / count, rows_.arcs * (number + 1) / count, [&, this](int64_t arc) {
        const Vertex u = rows_.target(arc);
        const bool exists = is_vertex(u, rows_.vertices);
        side.mark_to(exists ? int64_t(u) : 0, exists);
      });
    });
  }

  void copy_arcs() {
    int64_t begin = 0;
    for (size_t number = 0; number < sides_.size(); ++number) {
      const int64_t end = rows_.begin(std::min(first_word(int64_t(number) + 1) * kWord, rows_.vertices));
      sides_[number].arcs = {begin, begin};
      sides_[number].most = begin = std::max(begin, end);
    }
    for_each_side([this](Side& side, int64_t number) {
      for_each_in(first_word(number), first_word(number + 1), [&, this](int64_t w) {
        poll(kWord);
        for (uint64_t bits = left_.word(w); bits; bits &= bits - 1)
          copy_row(side, w * kWord + std::countr_zero(bits));
      });
    });
  }

  void copy_row(Side& side, int64_t v) {
    const int64_t begin = rows_.begin(v), most = begin + side.most - side.arcs.end;
    for_each_in(begin, std::min(rows_.begin(v + 1), most), [&, this](int64_t arc) {
      const Vertex u = rows_.target(arc);
      const int64_t target = is_vertex(u, rows_.vertices) ? int64_t(u) : v;
      keep(side, {int32_t(v), int32_t(target)}, (target != v) & left_.has(target));
    });
  }

  const Rows<Pointer, Vertex> rows_;
};

bool promises_trimming(const auto rows) {
  constexpr int64_t kSamples = RowSample::kSamples, kArcsOfFour = 5;
  if (rows.arcs / kArcsOfFour > rows.vertices / 4) return false;
  const RowSample sample = sample_rows(rows);
  return kSamples / 8 < sample.rows && sample.rows <= kSamples - kSamples / 8 &&
         sample.near <= sample.rows / 2;
}

// Settles vertices found alone, makes others kUnvisited; returns how many. Without any, states stay.
template <class Pointer, class Vertex>
int64_t settle_trimmed(const Rows<Pointer, Vertex> rows, Integer auto* state) {
  if (!promises_trimming(rows)) return 0;
  Trimming<Pointer, Vertex> trimming(rows);
  trimming.run();
  return trimming.settle(state);
}

}
