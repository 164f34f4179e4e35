// Strong components of a directed graph by one depth-first search, without recursion. Fills roots[v] with the
// smallest vertex of v's component and, if wanted, lists all vertices by components, after those of
// components that they have arcs to. The search ranks vertices as it enters them, and keeps for each the
// lowest rank that it is known to reach among unsettled ones. A vertex that it leaves is a root if it reaches
// no lower rank than its own; its component is then settled: the root, and the vertices left since it was
// entered. The states of the search, v being the vertex that it is at:
//
//    next start -- v unvisited --> enter: ranks v, and follows single arcs <-----------------------+
//        ^                           |                                                             |
//        | the path is empty         v          an arc to an unvisited u: v joins the path, v = u  |
//        |                         scan: the arcs of v that are left ------------------------------+
//        |                           |     ^
//        |                           v     | v has arcs left
//        +------------------------ back: settles v's component or leaves v; v = the end of the path
//
// A row with arcs left waits beside the path. If all vertices are entered when the search comes back to its
// start, the unsettled ones are one component. Cost: one thread; each arc read once, with a random access,
// prefetched unless most arcs lead near. Memory: an index per vertex, as the path and the vertices left share
// an array, and an index and two pointers per waiting row. Source: Tarjan 1972, "Depth-first search and
// linear graph algorithms"; lowest ranks in place of ranks, a bit that marks roots, the early end: Tarjan and
// Zwick 2024, "Finding strong components using depth-first search", and Fontana, Vigna and Zacchiroli 2024,
// "WebGraph: the next generation".
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// kUnvisited, then a rank, below kSettled, then the root. An Index must hold the number of vertices, too.
template <class Index> struct SearchState : Unlabelled<Index> {
  using Rank = std::make_unsigned_t<Index>;
  static constexpr Rank kUnvisited = ~Rank(0), kSettled = Rank(SearchState::kMark);
};

template <class Pointer, class Index> struct [[gnu::packed]] WaitingRow {
  std::make_unsigned_t<Index> vertex;
  std::make_unsigned_t<Pointer> begin, end;
};

template <class Pointer, class Index> struct SearchMemory {
  SearchMemory(int64_t vertices, bool far) : stack(vertices + 1), waiting(vertices), is_far(far) {}

  // From the bottom up the path, from the top down the unsettled vertices that the search has left.
  Buffer<std::make_unsigned_t<Index>> stack;
  Buffer<WaitingRow<Pointer, Index>> waiting;
  const bool is_far;  // whether arcs lead far, so that their targets are prefetched
};

struct VertexRange {
  int64_t first, count;
};

bool has_near_targets(const auto rows) {
  if (rows.vertices == 0) return true;
  return sample_rows(rows).is_near();
}

// `from_last`: rows are read from the last arc to the first.
template <bool from_last, class Pointer, class Vertex, class Index> class StrongSearch {
 public:
  using Memory = SearchMemory<Pointer, Index>;

  // Nobody else may write to `state`, which leads the search. `order` may be nullptr.
  StrongSearch(
      const Rows<Pointer, Vertex> rows, VertexRange range, Index* state, Index* order, Memory& memory)
      : rows_(rows),
        first_(range.first),
        count_(range.count),
        state_(state + range.first),
        order_(order),
        path_(memory.stack.data()),
        waiting_(memory.waiting.data()),
        prefetches_(!from_last || memory.is_far) {}

  // Settles all vertices, of which `settled` are already; returns the number of components. All vertices in
  // one component stay unsettled, unless they are listed.
  [[gnu::noinline]] int64_t run(int64_t settled) {
    Index* const state = state_;
    const Pointer* const indptr = rows_.indptr + first_;
    const Vertex* const indices = rows_.indices;
    const Target first = Target(first_), count = Target(count_);
    Rank* const bottom = path_;
    Rank* const behind_left = path_ + count_ + 1;
    const Rank listed = order_ ? ~Rank(0) : 0;  // with an order settle() is called for every root
    const Rank last = Rank(count_ - settled);
    const bool prefetches = prefetches_;
    Waiting* waiting = waiting_;
    // The path's end, the begin of the vertices left, and the lowest rank that their first reaches.
    Rank *path = bottom, *left = behind_left;
    Rank reached = listed;
    Rank v, rank, low;     // rank: of v or, if that is no root, more; low: the lowest that v reaches
    Rank given = 0, base;  // the last rank, and that of the start
    Rank seen;             // the rank of an arc's target
    Place begin, end;      // the arcs of v that are left
    *path++ = kWaits;

    const auto settle_root = [&] {
      if (reached >= rank) {
        left = settle(v, rank, left);
        reached = listed | (left == behind_left ? 0 : Rank(state[*left]));
      } else {
        state[v] = State::under(int64_t(first) + v);
      }
    };
    const auto leave = [&] { *--left = v, reached = listed | low; };

    for (Rank start = 0; given < last; ++start) {
      if (start % kStretch == 0) [[unlikely]]
        poll(kStretch);
      if (Rank(state[start]) != State::kUnvisited) continue;
      v = start, base = given + 1;

    enter:
      rank = low = ++given;
      state[v] = Index(rank);
      guess_bounds(indptr, v, begin, end);
      if (end - begin == 1) {
        const Target u = Target(Concurrent::load(indices + begin)) - first;
        if (u >= count || Rank(state[u]) != State::kUnvisited) goto scan;
        *path++ = v;
        v = Rank(u), rank = low = ++given;
        state[v] = Index(rank);
        guess_bounds(indptr, v, begin, end);
        if (end - begin == 1) {
          const Chain chain = follow_chain(v, path, given);
          given += Rank(chain.path - path);
          v = chain.last, path = chain.path;
          rank = low = given;
          guess_bounds(indptr, v, begin, end);
        }
      }
      if ((given & (kPolled - 2)) == 0) [[unlikely]]  // sees one of two consecutive ranks
        poll(4 * kPolled);
      __builtin_prefetch(at(state, int64_t(v) + kBeside), 1);
      __builtin_prefetch(at(indptr, int64_t(v) + kBeside));
      __builtin_prefetch(at(indices, int64_t(begin) + 2 * kBeside));
      if (prefetches) prefetch_targets(begin, end);

    scan:
      for (; begin < end; low = std::min(low, seen)) {
        const Place arc = from_last ? --end : begin++;
        if (arc % kStretch == 0) [[unlikely]]
          poll(kStretch);
        const Target u = Target(Concurrent::load(indices + arc)) - first;
        seen = u < count ? Rank(state[u]) : State::kSettled;
        if (seen == State::kUnvisited) {
          // A last arc is read at once, and waits only if it leads to an unvisited vertex, too.
          if (end - begin == 1) {
            const Target other = Target(Concurrent::load(indices + begin)) - first;
            seen = other < count ? Rank(state[other]) : State::kSettled;
            if (seen != State::kUnvisited) low = std::min(low, seen), begin = end;
          }
          state[v] = Index(low);
          const Rank entry = v | (low == rank ? 0 : kNoRoot);
          *path = entry;
          if (begin < end) *waiting++ = {entry, begin, end}, *path = kWaits;
          ++path;
          v = Rank(u);
          goto enter;
        }
      }

      // back:
      if (low == rank) {
        settle_root();
      } else {
        leave();
        if (low == base && given == last) {
          settle_rest(path, left);
          break;
        }
      }
      Rank above;
      while ((above = *--path) != kWaits) {
        v = above & ~kNoRoot, rank = Rank(state[v]);
        if (rank > low || above != v) {
          low = std::min(low, rank);
          leave();
        } else {
          low = rank;
          settle_root();
        }
      }
      if (path != bottom) {
        --waiting;
        above = waiting->vertex, begin = waiting->begin, end = waiting->end;
        v = above & ~kNoRoot, rank = Rank(state[v]);
        low = std::min(low, rank);
        if (above != v) rank = State::kSettled;
        goto scan;
      }
      ++path;
    }
    return int64_t(last) - merged_;
  }

 private:
  using State = SearchState<Index>;
  using Rank = typename State::Rank;
  using Place = std::make_unsigned_t<Pointer>;
  using Target = std::make_unsigned_t<Vertex>;
  using Waiting = WaitingRow<Pointer, Index>;

  static constexpr Rank kNoRoot = State::kSettled;  // marks a vertex of the path that reaches a lower one
  static constexpr Rank kWaits = ~Rank(0);          // stands in the path for a vertex whose row waits
  static constexpr int64_t kAhead = 16;             // arcs of a row whose targets are prefetched
  static constexpr int64_t kBeside = 24;            // how many vertices ahead one is prefetched
  static constexpr Rank kPolled = 1 << 12;          // vertices between polls

  void guess_bounds(const Pointer* indptr, Rank v, Place& begin, Place& end) const {
    begin = Place(Concurrent::load(indptr + v)), end = Place(Concurrent::load(indptr + v + 1));
    if (end > uint64_t(rows_.arcs)) [[unlikely]] {
      poll(1);  // so that compilers make a branch of it
      begin = end = 0;
    }
    if (begin > end) [[unlikely]] {
      poll(1);
      begin = end;
    }
  }

  struct Chain {
    Rank last;
    Rank* path;
  };

  // Follows single arcs to unvisited vertices. Guesses that each step is as long as the last one, so that the
  // processor need not wait for loads.
  [[gnu::noinline]] Chain follow_chain(Rank v, Rank* path, Rank rank) {
    const Pointer* const indptr = rows_.indptr + first_;
    Index* const state = state_;
    for (Rank step = 1;; poll(4)) {
      Place begin, end;
      guess_bounds(indptr, v, begin, end);
      if (begin + 1 != end) return {v, path};
      const Target u = Target(rows_.target(begin)) - Target(first_);
      if (u >= uint64_t(count_) || Rank(state[u]) != State::kUnvisited) return {v, path};
      __builtin_prefetch(at(state, int64_t(v) + kBeside), 1);
      __builtin_prefetch(at(indptr, int64_t(v) + kBeside));
      __builtin_prefetch(at(rows_.indices, int64_t(begin) + 2 * kBeside));
      *path++ = v;
      Rank next = v + step, guess = next;
      asm("" : "+r"(guess));  // hides from compilers that a right guess equals the target
      if (guess != Rank(u)) [[unlikely]] {
        asm volatile("");  // so that they make a branch of it
        step = Rank(u) - v, next = Rank(u);
      }
      v = next;
      state[v] = Index(++rank);
    }
  }

  void prefetch_targets(Place begin, Place end) const {
    const Place from = from_last ? (end - begin > kAhead ? end - kAhead : begin) : begin + 1;
    const Place behind = from_last ? end : std::min<Place>(end + 1, begin + kAhead);
    for (Place arc = from; arc + 1 < behind; ++arc) {
      const int64_t v = int64_t(uint64_t(int64_t(rows_.target(arc))) - uint64_t(first_));
      __builtin_prefetch(at(state_, v), 1);
      __builtin_prefetch(at(rows_.indptr + first_, v));
    }
  }

  // An address that may lie anywhere.
  template <class T> static const void* at(const T* array, int64_t i) {
    return reinterpret_cast<const void*>(uintptr_t(array) + sizeof(T) * uintptr_t(i));
  }

  // Settles the component of a root: those left that reach its rank. Returns where the others begin.
  [[gnu::noinline]] Rank* settle(Rank v, Rank rank, Rank* left) {
    Rank* const end = path_ + count_ + 1;
    Rank* const begin = left;
    Rank root = v;
    for (; left < end && Rank(state_[*left]) >= rank; ++left) root = std::min(root, *left);
    settle_under(root, v);
    for_each_in(0, left - begin, [&](int64_t i) { settle_under(root, begin[i]); });
    merged_ += left - begin;
    return left;
  }

  void settle_under(Rank root, Rank v) {
    state_[v] = State::under(first_ + int64_t(root));
    if (order_) order_[listed_++] = Index(first_ + int64_t(v));
  }

  [[gnu::noinline]] void settle_rest(Rank* path, Rank* left) {
    Rank* const bottom = path_ + 1;
    const int64_t others = path_ + count_ + 1 - left;
    merged_ += path - bottom + others - 1;
    if (path - bottom + others == rows_.vertices && !order_) return;
    Waiting* waiting = waiting_;
    for_each_in(0, path - bottom, [&](int64_t i) {
      const Rank entry = bottom[i] == kWaits ? (waiting++)->vertex : bottom[i];
      bottom[i] = entry & ~kNoRoot;
    });
    Rank root = *left;
    for_each_in(0, path - bottom, [&](int64_t i) { root = std::min(root, bottom[i]); });
    for_each_in(0, others, [&](int64_t i) { root = std::min(root, left[i]); });
    for_each_in(0, path - bottom, [&](int64_t i) { settle_under(root, bottom[i]); });
    for_each_in(0, others, [&](int64_t i) { settle_under(root, left[i]); });
  }

  const Rows<Pointer, Vertex> rows_;
  const int64_t first_, count_;
  Index* const state_;  // of the first vertex
  Index* const order_;
  Rank* const path_;
  Waiting* const waiting_;
  const bool prefetches_;
  int64_t merged_ = 0;  // settled vertices other than roots
  int64_t listed_ = 0;
};

// Short rows, as of meshes, are read from the last arc: up to a sixth faster; longer ones a fifth slower.
constexpr int64_t kShortRow = 4;

// Settles kUnvisited vertices of a range, and lists them in `order`, if any (StrongSearch::run).
template <class Pointer, class Vertex, class Index>
int64_t search_range(const Rows<Pointer, Vertex> rows, VertexRange range, int64_t settled, Index* state,
    Index* order, SearchMemory<Pointer, Index>& memory) {
  if (rows.arcs <= kShortRow * rows.vertices)
    return StrongSearch<true, Pointer, Vertex, Index>(rows, range, state, order, memory).run(settled);
  return StrongSearch<false, Pointer, Vertex, Index>(rows, range, state, order, memory).run(settled);
}

template <class Pointer, class Vertex, class Index>
int64_t search_strong(const Rows<Pointer, Vertex> rows, Index* state, int64_t settled, Index* order) {
  SearchMemory<Pointer, Index> memory(rows.vertices, !has_near_targets(rows));
  return search_range(rows, {0, rows.vertices}, settled, state, order, memory);
}

template <class Index> void forget_all(Index* state, int64_t vertices) {
  for_each_index(vertices, [=](int64_t v) { state[v] = Index(SearchState<Index>::kUnvisited); });
}

// Turns settled vertices into labels 0, 1, ... by roots, or into roots. A single component may be unsettled.
template <class Index> void label_settled(Index* state, int64_t vertices, int64_t components, Naming naming) {
  using State = SearchState<Index>;
  if (components == 1) return for_each_index(vertices, [=](int64_t v) { state[v] = 0; });
  if (components == vertices) return for_each_index(vertices, [=](int64_t v) { state[v] = Index(v); });
  if (naming == Naming::kRoots)
    return for_each_index(vertices, [=](int64_t v) { state[v] = State::parent(state[v]); });
  label_in_order(state, vertices);
}

template <class Index> void tarjan_roots(const auto rows, Index* roots, Index* order) {
  forget_all(roots, rows.vertices);
  const int64_t components = search_strong(rows, roots, 0, order);
  label_settled(roots, rows.vertices, components, Naming::kRoots);
}

// Fills height[r], for every root r, with the arcs of the longest path away; others get 0.
template <class Index>
void measure_heights(const auto rows, const Index* roots, const Index* order, Index* height) {
  for_each_index(rows.vertices, [=](int64_t v) { height[v] = 0; });
  for_each_in(0, rows.vertices, [=](int64_t i) {
    const Index v = order[i], root = roots[v];
    Index longest = height[root];
    rows.for_each_neighbour(v, [&, roots, height](int64_t u) {
      if (const Index target = roots[u]; target != root)
        longest = std::max(longest, Index(height[target] + 1));
    });
    height[root] = longest;
  });
}

// Replaces the height of every root by its component's number; returns how many there are.
template <class Index> int64_t number_by_height(const Index* roots, int64_t vertices, Index* height) {
  Buffer<Index> begin = Buffer<Index>::zeros(vertices + 1);  // of the numbers of each height
  for_each_in(0, vertices, [=, &begin](int64_t v) {
    if (roots[v] == Index(v)) ++begin[height[v] + 1];
  });
  int64_t components = 0;
  for_each_in(0, vertices, [&](int64_t h) { begin[h] = Index(components), components += begin[h + 1]; });
  for_each_in(0, vertices, [=, &begin](int64_t v) {
    if (roots[v] == Index(v)) height[v] = begin[height[v]]++;
  });
  return components;
}

// Returns the number of components. `labels` is memory that nobody else writes to.
template <class Index> int64_t topological_labels(const auto rows, Index* labels) {
  Buffer<Index> order(rows.vertices), number(rows.vertices);
  tarjan_roots(rows, labels, order.data());
  measure_heights(rows, labels, order.data(), number.data());
  const int64_t components = number_by_height(labels, rows.vertices, number.data());
  for_each_index(rows.vertices, [=, &number](int64_t v) { labels[v] = number[labels[v]]; });
  return components;
}

}
