// Strong components of a directed graph by one depth-first search, without recursion. The default on the CPU.
//
// What: fills roots[v] with the smallest vertex of v's strong component and, if it is wanted, lists all
// vertices so that those of a component lie together, and after those of the components that it has arcs to.
// How: vertices are ranked in the order in which the search enters them, among those whose components are not
// yet settled. Each keeps the lowest rank that its arcs, and those of the vertices entered from it, lead to.
// Where that is its own rank, all that were entered since and are not settled make up its component.
// One array holds the rank, then the lowest rank, then the root of each vertex. Vertices on the path of the
// search and those set aside, which it has left before their component is settled, are never the same: the
// path grows from the front of a second array, and the others from its end. Whether a vertex reaches below
// its own rank is a bit beside the place in its row where the search goes on, so ranks need no room.
// Cost: one thread; each arc read once, and a random access for it, which is asked for when its row
// is entered. Beyond the roots an index and 8 bytes a vertex: what the path does not reach is never touched.
// Source: Tarjan 1972, "Depth-first search and linear graph algorithms"; the one array and the stacks in one
// are of Pearce 2016, "A space-efficient algorithm for finding strongly connected components".
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Whether the search goes through a row from its last arc to the first.
template <bool from_last, class Pointer, class Vertex, class Index>
class StrongSearch {
 public:
  // `roots` is memory that nobody else writes to: what is there leads the search. `order` may be nullptr.
  StrongSearch(const Rows<Pointer, Vertex> rows, Index* roots, Index* order)
      : rows_(rows),
        state_(roots),
        order_(order),
        stack_(rows.vertices),
        places_(rows.vertices),
        aside_(rows.vertices) {}

  void run() {
    for_each_index(rows_.vertices, [=, state = state_](int64_t v) { state[v] = Index(kUnvisited); });
    for_each_in(0, rows_.vertices, [this](int64_t v) {
      if (Rank(state_[v]) == kUnvisited) search(Index(v));
    });
    for_each_index(rows_.vertices, [=, state = state_](int64_t v) { state[v] &= Index(~kSettled); });
  }

 private:
  // Of a vertex: its rank or a lower one while its component is not settled, then kSettled + root. So it is
  // below a rank only if its component is not settled. An Index must hold the number of vertices, too, as
  // else the last vertex would look unvisited once it is settled.
  using Rank = std::make_unsigned_t<Index>;
  static constexpr Rank kUnvisited = ~Rank(0), kSettled = ~(kUnvisited >> 1);
  static constexpr int64_t kAhead = 16;  // arcs of a row whose targets are asked for

  struct Visit {
    Index vertex;
    Rank low;            // the lowest rank that is reached
    bool lowered;        // whether that is below its own
    int64_t begin, end;  // what is left of its row

    void lower(Rank rank) {
      if (rank < low) low = rank, lowered = true;
    }
  };

  void search(Index start) {
    for (Visit visit = enter(start);;) {
      if (const int64_t u = next_unvisited(visit); u >= 0) {
        suspend(visit);
        visit = enter(Index(u));
      } else {
        const Rank low = leave(visit);
        if (height_ == 0) return;
        visit = resume();
        visit.lower(low);
      }
    }
  }

  Visit enter(Index v) {
    const int64_t begin = rows_.begin(v), end = rows_.begin(v + 1);
    for (int64_t arc = begin; arc < std::min(end, begin + kAhead); ++arc)
      if (const Vertex u = rows_.target(arc); is_vertex(u, rows_.vertices)) {
        __builtin_prefetch(state_ + u, 1);
        __builtin_prefetch(rows_.indptr + u);
      }
    state_[v] = Index(unsettled_);
    return {v, Rank(unsettled_++), false, begin, end};
  }

  // The target of the next arc that leads to an unvisited vertex, or -1; ranks of others are taken.
  int64_t next_unvisited(Visit& visit) {
    while (visit.begin < visit.end) {
      int64_t stretch = std::min(visit.end - visit.begin, kStretch);
      poll(stretch);
      while (stretch-- > 0) {
        const Vertex u = rows_.target(from_last ? --visit.end : visit.begin++);
        if (!is_vertex(u, rows_.vertices)) [[unlikely]]
          continue;
        const Rank rank = Rank(state_[u]);
        if (rank == kUnvisited) return int64_t(u);
        visit.lower(rank);
      }
    }
    return -1;
  }

  void suspend(const Visit& visit) {
    state_[visit.vertex] = Index(visit.low);
    stack_[height_] = visit.vertex;
    places_[height_++] = (from_last ? visit.end : visit.begin) << 1 | int64_t(visit.lowered);
  }

  Visit resume() {
    poll(1);
    const Index v = stack_[--height_];
    const int64_t place = places_[height_];
    const int64_t begin = from_last ? rows_.begin(v) : place >> 1;
    const int64_t end = from_last ? place >> 1 : rows_.begin(v + 1);
    return {v, Rank(state_[v]), (place & 1) != 0, begin, end};
  }

  // Settles the component of a vertex that reaches no lower rank, or sets the vertex aside. Returns the rank
  // that it lets the vertex before it reach.
  Rank leave(const Visit& visit) {
    if (visit.lowered) {
      state_[visit.vertex] = Index(visit.low);
      stack_[--aside_] = visit.vertex;
      return visit.low;
    }
    const int64_t begin = aside_;
    aside_ += unsettled_ - int64_t(visit.low) - 1;
    unsettled_ = int64_t(visit.low);
    Index root = visit.vertex;
    for_each_in(begin, aside_,
                [&root, stack = stack_.data()](int64_t i) { root = std::min(root, stack[i]); });
    const Index settled = Index(kSettled | Rank(root));
    state_[visit.vertex] = settled;
    for_each_in(begin, aside_,
                [settled, state = state_, stack = stack_.data()](int64_t i) { state[stack[i]] = settled; });
    if (order_) {
      order_[listed_++] = visit.vertex;
      for_each_in(begin, aside_, [this](int64_t i) { order_[listed_++] = stack_[i]; });
    }
    return kUnvisited;
  }

  const Rows<Pointer, Vertex> rows_;
  Index* const state_;
  Index* const order_;
  Buffer<Index> stack_;
  Buffer<int64_t> places_;  // of the vertices on the path: where in its row to go on, and `lowered`
  int64_t height_ = 0;      // of the path
  int64_t aside_;           // where the vertices that are set aside begin
  int64_t unsettled_ = 0;
  int64_t listed_ = 0;
};

// Rows as short as those of meshes are gone through from the last arc, which leads farthest: on meshes in
// order that takes up to a sixth less, elsewhere the same. Longer rows of near vertices take a fifth more
// that way.
constexpr int64_t kShortRow = 4;

// Fills roots, and `order` unless it is nullptr.
template <class Pointer, class Vertex, class Index>
void search_strong(const Rows<Pointer, Vertex> rows, Index* roots, Index* order) {
  if (rows.arcs <= kShortRow * rows.vertices)
    StrongSearch<true, Pointer, Vertex, Index>(rows, roots, order).run();
  else
    StrongSearch<false, Pointer, Vertex, Index>(rows, roots, order).run();
}

template <class Pointer, class Vertex, class Index>
void tarjan_roots(const Rows<Pointer, Vertex> rows, Index* roots) {
  search_strong(rows, roots, static_cast<Index*>(nullptr));
}

}  // namespace conncomp
