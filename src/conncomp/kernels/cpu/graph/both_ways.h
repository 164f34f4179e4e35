// The giant strong component of a directed graph of many arcs, by searches both ways, in sweeps.
//
// What: settles the component of one vertex, if it is large, as tarjan.h takes it: what is left costs that
// search little. So a graph in which most vertices are of one component is read in the order of memory, by
// all threads, and not in that of a search, which waits for memory twice a vertex. How: a bit a vertex says
// whether the vertex is reached, another one whether it reaches. Sweeps over the vertices, in order, mark the
// targets of those that are reached, then those of them that have a marked target, until a sweep marks none;
// vertices that are marked in a sweep count in the rest of it. Rows are not needed of the arcs that lead to a
// vertex. It is given up where the first sweeps mark few, and not tried where most arcs lead to near
// vertices, as a search is as fast there. Cost: each arc looked at some times, with a bit that mostly is in a
// cache; 2 bits a vertex. Source: Fleischer, Hendrickson and Pinar 2000, "On identifying strongly connected
// components in parallel"; one giant first, as Slota, Rajamanickam and Madduri 2014, "BFS and coloring-based
// parallel algorithms for strongly connected components and related problems".
#pragma once

#include "cpu/graph/pieces.h"
#include "cpu/graph/trimming.h"

namespace conncomp {

template <class Pointer, class Vertex>
class BothWays {
 public:
  explicit BothWays(const Rows<Pointer, Vertex> rows)
      : rows_(rows), reached_(rows.vertices), reaching_(rows.vertices), done_(reached_.words()) {}

  // Whether the component of `pivot` is known now, and may be worth it.
  bool search(int64_t pivot) {
    reached_.set(pivot);
    if (!sweep([this](int64_t w) { return pass_on(w); })) return false;
    reaching_.set(pivot);
    return sweep([this](int64_t w) { return look_for_reaching(w); });
  }

  // Of the component: those of 64 vertices.
  uint64_t members(int64_t w) const { return reached_.word(w) & reaching_.word(w); }
  int64_t words() const { return reached_.words(); }

 private:
  static constexpr int kMostSweeps = 32;    // each way
  static constexpr int64_t kMostLooks = 6;  // each way, at each arc

  // Whether so many marks after so many sweeps promise that there are not many more sweeps.
  bool promises(int sweeps, int64_t marks) const {
    if (sweeps == 2) return marks >= std::min<int64_t>(16, rows_.vertices / 8);
    if (sweeps == 4) return marks >= rows_.vertices / 64;
    return sweeps < kMostSweeps;
  }

  // The vertices that were marked, and the arcs that were looked at.
  struct Tally {
    int64_t vertices = 0, arcs = 0;
  };

  // Calls visit(w) for all words, in turns upwards and downwards, until nothing is marked. Returns whether
  // that is soon.
  bool sweep(auto visit) {
    int64_t looks = 0, marks = 1;
    for (int turn = 0; promises(turn, marks) && looks <= kMostLooks * rows_.arcs; ++turn) {
      const Parts parts(words(), kGrain / VertexBits::kWord);
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

  // Marks the targets of reached vertices.
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

  // Marks vertices, of those that are reached, with a target that reaches the pivot.
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

  static int64_t vertex(int64_t w, uint64_t bits) { return w * VertexBits::kWord + std::countr_zero(bits); }

  const Rows<Pointer, Vertex> rows_;
  VertexBits reached_, reaching_;
  std::vector<uint64_t> done_;  // whose targets are marked
};

// Lets state[v] be kUnvisited, or for v of the giant that it is settled; returns how many are. If none is, it
// leaves states as they are.
template <class Pointer, class Vertex, class Index>
int64_t settle_giant(const Rows<Pointer, Vertex> rows, Index* state) {
  using State = SearchState<Index>;
  const RowSample sample = sample_rows(rows);
  if (2 * sample.near > sample.rows) return 0;
  BothWays<Pointer, Vertex> giant(rows);
  if (!giant.search(sample.hub)) return 0;
  int64_t first = 0;
  while (giant.members(first) == 0) ++first;
  const Index settled = State::under(first * VertexBits::kWord + std::countr_zero(giant.members(first)));
  std::atomic<int64_t> count{0};
  const auto settle = [&](int64_t w) {
    const uint64_t members = giant.members(w);
    const int64_t begin = w * VertexBits::kWord, end = std::min(begin + VertexBits::kWord, rows.vertices);
    for (int64_t v = begin; v < end; ++v)
      state[v] = members >> (v - begin) & 1 ? settled : Index(State::kUnvisited);
    count.fetch_add(std::popcount(members), std::memory_order_relaxed);
  };
  for_each_index(giant.words(), settle, VertexBits::kWord);
  return count;
}

// Arcs a vertex up to which a giant is not sought: the first sweeps mark too few vertices there.
constexpr int64_t kFewArcs = 3;

// Settles all vertices, as `search_strong`, by pieces of their order, or first those that sweeps find, if
// they may be tried: vertices that are components of their own in a graph of few arcs, else the giant
// component. Where labels need 64 bits, only the giant is sought, to compile less.
template <class Pointer, class Vertex, class Index>
int64_t settle_all(const Rows<Pointer, Vertex> rows, bool sweeps, Index* state) {
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

}  // namespace conncomp
