// Strong components by two depth-first searches at once, from both ends of the vertices.
//
// What: settles all vertices, as tarjan.h takes it, by two threads. Each search has ranks of its own, and
// leaves out what the other one has settled: a component is settled once all that lies behind it is, no
// matter by whom. They end where they meet. How: the first search goes through vertices upwards, the second
// one downwards. Either sees what the other has settled when it comes to a vertex that it has not visited
// itself. What it has on its own stack may be settled by the other one meanwhile: so both settle it, and what
// the second one says counts. That is right because the second search settles whole components only. It may
// leave out part of one only after the first has begun to settle that, so before it settles anything it waits
// until the first one is not in the middle of a component, and takes over what that has settled then. The
// first one never waits: it may leave out part of a component that the second one settles, and settle what is
// left of it as one of its own, which does not count. It ends the second one when it has come to its end.
// Cost: beyond that of the first search as much memory again, and a random access for each vertex that is
// visited. Where all is one component the second search gains nothing.
// Source: ours; searches that share what is settled are of Bloemen, Laarman and van de Pol 2016, "Multi-core
// on-the-fly SCC decomposition", and Lowe 2016, "Concurrent depth-first search algorithms based on Tarjan's
// algorithm".
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"
#include "cpu/graph/tarjan.h"

namespace conncomp {

// What two searches know of each other.
struct Meeting {
  std::atomic<int64_t> settled_below, settled_from;  // vertices that either has settled from its end on
  std::atomic<bool> is_settling{false};              // whether the first one is in the middle of a component
  std::atomic<bool> is_over{false};                  // whether the second one is to end

  explicit Meeting(int64_t vertices) : settled_below(0), settled_from(vertices) {}
};

// Ends the second search when the first one ends, in whatever way.
struct Ending {
  Meeting& meeting;
  bool of_first;
  ~Ending() {
    if (of_first) meeting.is_over.store(true, std::memory_order_relaxed);
  }
};

// What one of them knows of the other, which has a state of each vertex, too.
template <class Index>
class OtherSearch {
 public:
  static constexpr bool kExists = true;

  OtherSearch(Meeting& meeting, bool is_second, const Index* state, int64_t vertices)
      : meeting_(&meeting), is_second_(is_second), state_(state), vertices_(vertices) {}

  const Index* state() const { return state_; }
  Index load(int64_t v) const { return Shared::load_published(state_ + v); }

  // The i-th vertex of this search.
  int64_t vertex(int64_t i) const { return is_second_ ? vertices_ - 1 - i : i; }
  int64_t direction() const { return is_second_ ? -1 : 1; }

  // Says that so many vertices are settled; returns whether the others are not.
  bool reaches(int64_t vertices) const {
    if (is_second_) {
      meeting_->settled_from.store(vertices_ - vertices, std::memory_order_release);
      return !is_over() && meeting_->settled_below.load(std::memory_order_acquire) < vertices_ - vertices;
    }
    meeting_->settled_below.store(vertices, std::memory_order_release);
    return vertices < meeting_->settled_from.load(std::memory_order_acquire);
  }

  bool is_over() const { return is_second_ && meeting_->is_over.load(std::memory_order_relaxed); }

  // Settles a component.
  void settle(const Index* members, int64_t count, Index settled, Index* state) const {
    if (!is_second_) {
      if (count == 1) return Shared::store(state + members[0], settled);
      meeting_->is_settling.store(true, std::memory_order_relaxed);
      for_each_in(0, count, [=](int64_t i) {
        std::atomic_ref<Index>(state[members[i]]).store(settled, std::memory_order_release);
      });
      meeting_->is_settling.store(false, std::memory_order_release);
      return;
    }
    while (meeting_->is_settling.load(std::memory_order_acquire) && !is_over()) std::this_thread::yield();
    bool known = false;  // then of all members, unless arcs change meanwhile
    for_each_in(0, count,
                [&, this](int64_t i) { known |= SearchState<Index>::is_settled(load(members[i])); });
    for_each_in(0, count, [=, this](int64_t i) {
      const Index theirs = known ? load(members[i]) : settled;
      Shared::store(state + members[i], SearchState<Index>::is_settled(theirs) ? theirs : settled);
    });
  }

 private:
  Meeting* meeting_;
  bool is_second_;
  const Index* state_;
  int64_t vertices_;
};

template <class Index>
[[gnu::noinline]] Buffer<Index> copy_of(const Index* state, int64_t vertices) {
  Buffer<Index> copy(vertices);
  for_each_index(vertices, [state, data = copy.data()](int64_t v) { data[v] = state[v]; });
  return copy;
}

// Lets what the second search has settled count; returns the number of components. Where all vertices are
// one, none of them is settled.
template <class Index>
[[gnu::noinline]] int64_t take_over(const Index* known, int64_t vertices, Index* state) {
  using State = SearchState<Index>;
  const int64_t components = sum_over(vertices, [=](int64_t v) {
    if (State::is_settled(known[v])) state[v] = known[v];
    return state[v] == State::under(v);
  });
  return std::max<int64_t>(components, vertices > 0);
}

// As `search_strong`, of `settled` vertices, with the number of all components.
template <bool from_last, class Pointer, class Vertex, class Index>
int64_t search_from_both_ends(const Rows<Pointer, Vertex> rows, Index* state, int64_t settled) {
  using Search = StrongSearch<from_last, Pointer, Vertex, Index, OtherSearch<Index>>;
  const int64_t vertices = rows.vertices;
  Buffer<Index> other = copy_of(state, vertices);
  Meeting meeting(vertices);
  Search searches[] = {{rows, state, nullptr, {meeting, false, other.data(), vertices}},
                       {rows, other.data(), nullptr, {meeting, true, state, vertices}}};
  parallel_for(2, [&](int64_t which) {
    const Ending ending{meeting, which == 0};
    searches[which].run(settled);
  });
  return take_over(other.data(), vertices, state);
}

}  // namespace conncomp
