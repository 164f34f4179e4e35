// Union–find on an array of parents: a root is its own parent, every other entry points to a smaller
// index of its set. The root of a set is therefore its smallest member, whatever the order of the
// unions and the number of threads (design contract 1).
//
// `find` shortens the path it walks in one of four ways; halving it by intermediate pointer jumping is
// the default. `unite` hooks the larger root under the smaller one by compare-and-swap. Only roots are
// hooked and only entries that have stopped being roots are shortened, so a shortening store cannot
// undo a link.
//
// Source: Jaiganesh and Burtscher 2018, section 3 and, for the ways of jumping, section 5.1.
#pragma once

#include "core/atomics.h"

namespace conncomp {

// Multiple: every entry of the path points to the root. Single: the first one does. Intermediate: every
// one skips the next.
enum class Jump { kMultiple = 1, kSingle, kNone, kIntermediate };

// Told of every path and of every step along it; this one counts none.
struct Uncounted {
  CONNCOMP_ANYWHERE void start() {}
  CONNCOMP_ANYWHERE void step() {}
};

template <class Access, Jump jump = Jump::kIntermediate, class Index, class Path = Uncounted>
CONNCOMP_ANYWHERE inline Index find(Index* parent, Index v, Path&& path = Path()) {
  path.start();
  Index current = Access::load(parent + v);
  if (current == v) return v;
  path.step();
  const Index first = current;
  for (Index previous = v;;) {
    const Index next = Access::load(parent + current);
    if (next == current) break;
    path.step();
    if constexpr (jump == Jump::kIntermediate) {
      Access::store(parent + previous, next);
      previous = current;
    }
    current = next;
  }
  if constexpr (jump == Jump::kSingle)
    if (current != first) Access::store(parent + v, current);
  if constexpr (jump == Jump::kMultiple)
    // Others may have shortened the path meanwhile, but no entry on it has moved below `current`
    // before it points there.
    for (Index next; (next = Access::load(parent + v)) > current; v = next)
      Access::store(parent + v, current);
  return current;
}

// Unites the sets of two roots, or entries that were roots; returns the root of both as it was then.
template <class Access, Jump jump = Jump::kIntermediate, class Index, class Path = Uncounted>
CONNCOMP_ANYWHERE inline Index hook(Index* parent, Index a, Index b, Path&& path = Path()) {
  while (a != b) {
    const Index low = a < b ? a : b, high = a < b ? b : a;
    const Index seen = Access::compare_exchange(parent + high, high, low);
    if (seen == high) return low;
    a = find<Access, jump>(parent, seen, path);
    b = low;
  }
  return a;
}

template <class Access, class Index>
CONNCOMP_ANYWHERE inline void unite(Index* parent, Index a, Index b) {
  // Two members of a set often have the same parent: one look each.
  if (Access::load(parent + a) == Access::load(parent + b)) return;
  hook<Access>(parent, find<Access>(parent, a), find<Access>(parent, b));
}

}  // namespace conncomp
