// The giant strong component of a directed graph of many arcs: settles that of one vertex, if it is large, as
// tarjan.h takes it, by all threads in the order of memory, where a search would wait for memory twice a
// vertex. A bit says whether a vertex is reached, another whether it reaches. Sweeps mark the targets of
// reached vertices, then those of them with a marked target, until a sweep marks none. Given up where the
// first sweeps mark few; not tried where most arcs lead near. Cost: each arc looked at some times, with a bit
// mostly in a cache. Source: Fleischer, Hendrickson and Pinar 2000, "On identifying strongly connected
// components in parallel"; Slota, Rajamanickam and Madduri 2014, "BFS and coloring-based parallel algorithms
// for strongly connected components and related problems".
#pragma once

#include "cpu/graph/pieces.h"
#include "cpu/graph/trimming.h"

namespace conncomp {

template <class Pointer, class Vertex> class BothWays {
 public:
  explicit BothWays(const Rows<Pointer, Vertex> rows)
      : rows_(rows), reached_(rows.vertices), reaching_(rows.vertices), done_(reached_.words()) {}

  bool search(int64_t pivot) {
    reached_.set(pivot);
    if (!sweep([this](int64_t w) { return pass_on(w); })) return false;
    reaching_.set(pivot);
    return sweep([this](int64_t w) { return look_for_reaching(w); });
  }

  uint64_t members(int64_t w) const { return reached_.word(w) & reaching_.word(w); }
  int64_t words() const { return reached_.words(); }

 private:
  static constexpr int kMostSweeps = 32;    // each way
  static constexpr int64_t kMostLooks = 6;  // each way, at each arc

  // Whether so many marks after so many sweeps promise few more sweeps.
  bool promises(int sweeps, int64_t marks) const {
    if (sweeps == 2) return marks >= std::min<int64_t>(16, rows_.vertices / 8);
    if (sweeps == 4) return marks >= rows_.vertices / 64;
    return sweeps < kMostSweeps;
  }

  struct Tally {
    int64_t vertices = 0, arcs = 0;
  };

  // Calls visit(w) for words upwards and downwards until nothing is marked; returns whether that was soon.
  bool sweep(auto visit) {
    int64_t looks = 0, marks = 1;
    for (int turn = 0; promises(turn, marks) && looks <= kMostLooks * rows_.arcs; ++turn) {
      const Parts parts(words(), kGrain / kWord);
      std::vector<Tally> tallies(parts.parts);
      parallel_for(parts.parts, [&](int64_t part) {
        const int64_t begin = parts.begin(part), end = parts.end(part);
        Tally sum;
        for_each_in(begin, end, [&, turn](int64_t i) {
          const Tally more = visit(turn % 2 ? begin + end - 1 - i : i);
          sum.vertices += more.vertices, sum.arcs += more.arcs;
        });
        tallies[part] = sum;
      });
      const int64_t before = marks;
      for (const Tally& sum : tallies) marks += sum.vertices, looks += sum.arcs;
      if (marks == before) return true;
    }
    return false;
  }

  Tally pass_on(int64_t w) {
    Tally tally;
    for (uint64_t left; (left = reached_.word(w) & ~done_[w]) != 0;) {
      done_[w] |= left;
      for (; left; left &= left - 1) {
        ++tally.vertices;
        rows_.for_each_neighbour(vertex(w, left), [&](int64_t u) {
          ++tally.arcs;
          if (!reached_.has(u)) reached_.set(u);
        });
      }
    }
    return tally;
  }

  Tally look_for_reaching(int64_t w) {
    Tally tally;
    for (uint64_t left = reached_.word(w) & ~reaching_.word(w); left; left &= left - 1) {
      const int64_t v = vertex(w, left);
      for (int64_t begin = rows_.begin(v), end = rows_.begin(v + 1); begin < end; begin += kArcs) {
        poll(kArcs);
        tally.arcs += std::min(kArcs, end - begin);
        if (!any_reaches(begin, std::min(begin + kArcs, end))) continue;
        ++tally.vertices;
        reaching_.add(w, left & -left);
        break;
      }
    }
    return tally;
  }

  static constexpr int64_t kArcs = 8;  // looked at without a branch

  bool any_reaches(int64_t begin, int64_t end) const {
    bool any = false;
    for (int64_t arc = begin; arc < end; ++arc) {
      const Vertex u = rows_.target(arc);
      const bool exists = is_vertex(u, rows_.vertices);
      any |= exists & reaching_.has(exists ? int64_t(u) : 0);
    }
    return any;
  }

  static int64_t vertex(int64_t w, uint64_t bits) { return w * kWord + std::countr_zero(bits); }

  const Rows<Pointer, Vertex> rows_;
  VertexBits reached_, reaching_;
  std::vector<uint64_t> done_;  // whose targets are marked
};

// Settles the giant's vertices, makes others kUnvisited; returns how many. With none, states stay.
template <class Pointer, class Vertex, class Index>
int64_t settle_giant(const Rows<Pointer, Vertex> rows, Index* state) {
  using State = SearchState<Index>;
  const RowSample sample = sample_rows(rows);
  if (sample.is_near()) return 0;
  BothWays<Pointer, Vertex> giant(rows);
  if (!giant.search(sample.hub)) return 0;
  int64_t first = 0;
  while (giant.members(first) == 0) ++first;
  const Index settled = State::under(first * kWord + std::countr_zero(giant.members(first)));
  std::atomic<int64_t> count{0};
  const auto settle = [&](int64_t w) {
    const uint64_t members = giant.members(w);
    const int64_t begin = w * kWord, end = std::min(begin + kWord, rows.vertices);
    for (int64_t v = begin; v < end; ++v)
      state[v] = members >> (v - begin) & 1 ? settled : Index(State::kUnvisited);
    count.fetch_add(std::popcount(members), std::memory_order_relaxed);
  };
  for_each_index(giant.words(), settle, kWord);
  return count;
}

// With fewer arcs a vertex no giant is sought: the first sweeps mark too few.
constexpr int64_t kFewArcs = 3;

// Settles all vertices, by pieces, or with `sweeps` after those alone or a giant (64 bits: a giant only).
template <class Index> int64_t settle_all(const auto rows, bool sweeps, Index* state) {
  Index* const no_order = nullptr;
  const bool has_few_arcs = rows.arcs <= kFewArcs * rows.vertices;
  sweeps &= rows.vertices > kGrain / 64;
  int64_t alone = 0, of_giant = 0;
  if constexpr (sizeof(Index) <= sizeof(int32_t)) {
    if (sweeps)
      if (const int64_t components = settle_pieces(rows, state)) return components;
    if (sweeps && has_few_arcs) alone = settle_trimmed(rows, state);
  }
  if (sweeps && !has_few_arcs) of_giant = settle_giant(rows, state);
  const int64_t settled = alone + of_giant;
  if (settled == 0) forget_all(state, rows.vertices);
  return alone + (of_giant > 0) + search_strong(rows, state, settled, no_order);
}

}
