// Strong components of a directed graph by one depth-first search, without recursion.
//
// What: fills roots[v] with the smallest vertex of v's strong component and, if it is wanted, lists all
// vertices so that those of a component lie together, and after those of the components that it has arcs to.
// How: vertices whose components are not yet settled lie on a stack, in the order in which the search has
// entered them; a vertex's place there is its rank. The stack is in stretches, which begin at the ranks of a
// second stack: what is known to be of one component is one stretch. An arc that leads to a lower rank makes
// one stretch of all from there on. Once the search has left the first vertex of the last stretch, that is a
// component. So the way back along a path looks at nothing but the rows that are not yet at their end; only
// these wait on a third stack. A vertex without arcs to unvisited or unsettled ones is never on any.
// One array holds the rank, then the root of each vertex.
// Cost: one thread; each arc read once, and a random access for it, which is asked for when its row
// is entered. Beyond the roots two indices a vertex, and an index and a pointer for each row that waits: what
// the path does not reach is never touched.
// Source: Tarjan 1972, "Depth-first search and linear graph algorithms"; stretches instead of lowest ranks
// are of Gabow 2000, "Path-based depth-first search for strong and biconnected components".
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// What a search knows of a vertex: kUnvisited, then its rank, which is below kSettled, then that it is under
// its root, when it is settled. An Index must hold the number of vertices, too, as else the last one would
// look unvisited once it is settled.
template <class Index>
struct SearchState : Unlabelled<Index> {
  using Rank = std::make_unsigned_t<Index>;
  static constexpr Rank kUnvisited = ~Rank(0), kSettled = Rank(SearchState::kMark);
};

// Whether the search goes through a row from its last arc to the first.
template <bool from_last, class Pointer, class Vertex, class Index>
class StrongSearch {
 public:
  // `state` is memory that nobody else writes to, as what is there leads the search. `order` may be nullptr.
  StrongSearch(const Rows<Pointer, Vertex> rows, Index* state, Index* order)
      : rows_(rows),
        state_(state),
        order_(order),
        stack_(rows.vertices),
        runs_(rows.vertices + 2),
        waiting_(rows.vertices) {}

  // Settles all vertices that are unvisited; `settled` are not. Returns the number of their components. If
  // that of all vertices is one, they keep what they have.
  int64_t run(int64_t settled) {
    unsettled_ = rows_.vertices - settled;
    for (int64_t begin = 0; unsettled_ > 0; begin += kStretch) {
      int64_t alone = 0;  // and not counted yet
      const auto count = [&] { unsettled_ -= alone, components_ += std::exchange(alone, 0); };
      for_each_in(begin, std::min(begin + kStretch, rows_.vertices), [&, this](int64_t v) {
        if (Rank(state_[v]) != State::kUnvisited) return;
        if (order_ || rows_.begin(v) < rows_.begin(v + 1)) {
          count();
          search(Index(v));
        } else {
          state_[v] = State::under(v);
          ++alone;
        }
      });
      count();
    }
    return components_;
  }

 private:
  using State = SearchState<Index>;
  using Rank = typename State::Rank;

  // A vertex whose row is not at its end: its rank, and where in the row to go on.
  struct [[gnu::packed]] Waiting {
    Index rank;
    Pointer place;
  };

  static constexpr int64_t kAhead = 16;   // arcs of a row whose targets are asked for
  static constexpr int64_t kBeside = 24;  // vertices on which a vertex is asked for
  static constexpr Rank kFew = 4;         // vertices of a component that are settled without a call
  static constexpr int64_t kVertex = 4;   // what a vertex costs, in arcs

  // All that changes is local, so that it can stay in registers.
  void search(Index start) {
    const Rows<Pointer, Vertex> rows = rows_;
    Index* const state = state_;
    Index* const stack = stack_.data();
    Index* run = runs_.data();
    Waiting* waiting = waiting_.data();
    // Stretches of the stack begin at `first`, `first` + 1, ..., `last`, and where the runs before say.
    Rank first = 0, last = Rank(-1);
    // The height of the stack, the visited vertex, its rank, the lowest one that its arcs lead to, and what
    // is left of its row.
    Rank height = 0, rank, low;
    Index v;
    int64_t begin, end;
    bool behind_one_arc = false;  // whether the search has come by a vertex's only arc

    // Lets the last arc of a row not wait, unless it leads to an unvisited vertex.
    const auto take_last_arc = [&] {
      const Vertex u = rows.target(begin);
      const Rank seen = is_vertex(u, rows.vertices) ? Rank(state[u]) : State::kSettled;
      if (seen != State::kUnvisited) low = std::min(low, seen), begin = end;
    };
    const auto drop_run = [&] { last = Rank(*--run), first = Rank(*--run); };
    // Makes stretches of all vertices that are on the stack from `from` on.
    const auto add_stretches = [&](Rank from) {
      if (from != last + 1) {
        *run++ = Index(first), *run++ = Index(last);
        first = from;
      }
      last = height - 1;
    };
    // Puts the vertex on the stack, unless it is there, and makes one stretch of all from the lowest rank on.
    const auto put_on_stack = [&] {
      if (rank == height) {
        stack[height++] = v;
        if (low == rank) return add_stretches(rank);
      }
      if (last <= low) return;
      while (first > low) drop_run();
      last = std::min(last, low);
    };
    const auto enter = [&](Index entered) {
      poll(kVertex);
      v = entered, rank = low = height;
      state[v] = Index(rank);
      rows.guess_bounds(v, begin, end);
      const bool on_a_chain = begin + 1 == end;
      if (on_a_chain && behind_one_arc) {
        const Chain chain = follow_chain(v, height);
        v = chain.last, height = chain.height;
        if (height > rank) add_stretches(rank);
        rank = low = height;
        rows.guess_bounds(v, begin, end);
      }
      behind_one_arc = on_a_chain;
      ask_for(v, begin, end);
    };
    const auto settle_last_stretch = [&] {
      if (height - last > kFew || order_) {
        settle(last, height);
      } else {
        Index root = stack[last];
        for (Rank i = last + 1; i < height; ++i) root = std::min(root, stack[i]);
        for (Rank i = last; i < height; ++i) state[stack[i]] = State::under(root);
        unsettled_ -= int64_t(height - last);
        ++components_;
      }
      height = last--;
      if (height == first && height > 0) drop_run();
    };

    for (enter(start);;) {
    scan:
      while (begin < end) {
        const int64_t arc = from_last ? --end : begin++;
        if (arc % kStretch == 0) [[unlikely]]
          poll(kStretch);
        const Vertex u = rows.target(arc);
        if (!is_vertex(u, rows.vertices)) [[unlikely]]
          continue;
        const Rank seen = Rank(state[u]);
        if (seen == State::kUnvisited) {
          if (end - begin == 1) take_last_arc();
          put_on_stack();
          if (begin < end) *waiting++ = {Index(rank), Pointer(from_last ? end : begin)};
          enter(Index(u));
          goto scan;
        }
        low = std::min(low, seen);
      }
      if (low == rank && rank == height) {
        settle_alone(v);
      } else {
        put_on_stack();
        if (last == 0 && int64_t(height) == unsettled_) break;
      }
      if (waiting == waiting_.data()) break;
      rank = low = Rank((--waiting)->rank);
      while (last > rank && last < height) settle_last_stretch();
      v = stack[rank], behind_one_arc = false;
      const int64_t next = rows.bounded(waiting->place);
      begin = from_last ? rows.begin(v) : next, end = from_last ? next : rows.begin(v + 1);
    }
    while (height > 0) settle_last_stretch();
  }

  struct Chain {
    Index last;
    Rank height;  // of the stack
  };

  // Goes on from an entered vertex as long as there is a single arc and that leads to an unvisited vertex,
  // which is entered. Those before the last one are on the stack then. The processor guesses that each step
  // is as the last one, and goes on with the vertex there while it still loads the target: a chain in the
  // order of memory does not wait for its loads.
  [[gnu::noinline]] Chain follow_chain(Index v, Rank height) {
    const Rows<Pointer, Vertex> rows = rows_;
    Index* const state = state_;
    Index* const stack = stack_.data();
    for (Rank step = 1;; poll(kVertex)) {
      int64_t begin, end;
      rows.guess_bounds(v, begin, end);
      if (begin + 1 != end) return {v, height};
      const Vertex u = rows.target(begin);
      if (!is_vertex(u, rows.vertices) || Rank(state[u]) != State::kUnvisited) return {v, height};
      ask_beside(v, begin);
      stack[height++] = v;
      Rank next = Rank(v) + step, guess = next;
      asm("" : "+r"(guess));  // or compilers know that a right guess is the target, and take that
      if (guess != Rank(u)) [[unlikely]] {
        asm volatile("");  // so that they make a branch of it
        step = Rank(u) - Rank(v), next = Rank(u);
      }
      v = Index(next);
      state[v] = Index(height);
    }
  }

  // Asks for what is known of the targets of a row, but for the one that comes first, and for their rows; and
  // for what follows in memory, as the search comes to near vertices soon where neighbours are near.
  void ask_for(int64_t v, int64_t begin, int64_t end) const {
    ask_beside(v, begin);
    const int64_t from = from_last ? std::max(begin, end - kAhead) : begin + 1;
    const int64_t to = from_last ? end - 1 : std::min(end, begin + kAhead);
    for (int64_t arc = from; arc < to; ++arc) ask_for_row(int64_t(rows_.target(arc)));
  }

  void ask_beside(int64_t v, int64_t begin) const {
    ask_for_row(v + kBeside);
    __builtin_prefetch(at(rows_.indices, begin + 2 * kBeside));
  }

  void ask_for_row(int64_t v) const {
    __builtin_prefetch(at(state_, v), 1);
    __builtin_prefetch(at(rows_.indptr, v));
  }

  // An address that may lie anywhere.
  template <class T>
  static const void* at(const T* array, int64_t i) {
    return reinterpret_cast<const void*>(uintptr_t(array) + sizeof(T) * uintptr_t(i));
  }

  void settle_alone(Index v) {
    state_[v] = State::under(v);
    --unsettled_, ++components_;
    if (order_) order_[listed_++] = v;
  }

  // Settles the component that lies on the stack from `begin` to before `end`.
  [[gnu::noinline]] void settle(Rank begin, Rank end) {
    unsettled_ -= int64_t(end - begin), ++components_;
    if (int64_t(end - begin) == rows_.vertices && !order_) return;
    const Index* const stack = stack_.data();
    Index root = stack[begin];
    for (Rank i = begin + 1; i < end; ++i) root = std::min(root, stack[i]);
    const Index settled = State::under(root);
    for (Rank i = begin; i < end; ++i) {
      if (i % kStretch == 0) [[unlikely]]
        poll(2 * kStretch);
      state_[stack[i]] = settled;
      if (order_) order_[listed_++] = stack[i];
    }
  }

  const Rows<Pointer, Vertex> rows_;
  Index* const state_;
  Index* const order_;
  Buffer<Index> stack_;  // vertices that are not settled
  Buffer<Index> runs_;   // of stretches of the stack, but for the last run: the first one and the last one
  Buffer<Waiting> waiting_;
  int64_t unsettled_ = 0, components_ = 0;
  int64_t listed_ = 0;
};

// Rows as short as those of meshes are gone through from the last arc, which leads farthest: on meshes in
// order that takes up to a sixth less, elsewhere the same. Longer rows of near vertices take a fifth more
// that way.
constexpr int64_t kShortRow = 4;

template <class Pointer, class Vertex>
bool has_short_rows(const Rows<Pointer, Vertex> rows) {
  return rows.arcs <= kShortRow * rows.vertices;
}

// Settles all vertices whose state is kUnvisited, as `settled` are not, and lists them in `order` unless it
// is nullptr. Returns the number of their components, as StrongSearch::run.
template <class Pointer, class Vertex, class Index>
int64_t search_strong(const Rows<Pointer, Vertex> rows, Index* state, int64_t settled, Index* order) {
  if (has_short_rows(rows))
    return StrongSearch<true, Pointer, Vertex, Index>(rows, state, order).run(settled);
  return StrongSearch<false, Pointer, Vertex, Index>(rows, state, order).run(settled);
}

template <class Index>
void forget_all(Index* state, int64_t vertices) {
  for_each_index(vertices, [=](int64_t v) { state[v] = Index(SearchState<Index>::kUnvisited); });
}

// Replaces what is known of vertices, all of which are settled, by labels 0, 1, ... in the order of the
// roots, or by roots. Of one component nothing needs to be known.
template <class Index>
void label_settled(Index* state, int64_t vertices, int64_t components, bool consecutive) {
  using State = SearchState<Index>;
  if (components == 1) return for_each_index(vertices, [=](int64_t v) { state[v] = 0; });
  if (components == vertices) return for_each_index(vertices, [=](int64_t v) { state[v] = Index(v); });
  if (!consecutive) return for_each_index(vertices, [=](int64_t v) { state[v] = State::parent(state[v]); });
  label_in_order(state, vertices);
}

// Fills roots, and `order` unless it is nullptr.
template <class Pointer, class Vertex, class Index>
void tarjan_roots(const Rows<Pointer, Vertex> rows, Index* roots, Index* order) {
  forget_all(roots, rows.vertices);
  const int64_t components = search_strong(rows, roots, 0, order);
  label_settled(roots, rows.vertices, components, false);
}

}  // namespace conncomp
