// Union–find on an array of parents: a root is its own parent, every other entry points to a smaller
// index of its set. The root of a set is therefore its smallest member, whatever the order of the
// unions and the number of threads (design contract 1).
//
// `find` halves the path it walks by intermediate pointer jumping, and `unite` hooks the larger root
// under the smaller one by compare-and-swap: Jaiganesh and Burtscher 2018, section 3. Only roots are
// hooked and only entries that have stopped being roots are shortened, so a shortening store cannot
// undo a link.
#pragma once

#include <utility>

#include "core/atomics.h"

namespace conncomp {

template <class Access, class Index>
inline Index find(Index* parent, Index v) {
  Index current = Access::load(parent + v);
  if (current == v) return v;
  for (Index previous = v;;) {
    const Index next = Access::load(parent + current);
    if (next == current) return current;
    Access::store(parent + previous, next);
    previous = current;
    current = next;
  }
}

template <class Access, class Index>
inline void unite(Index* parent, Index a, Index b) {
  // Two members of a set often have the same parent: one look each.
  if (Access::load(parent + a) == Access::load(parent + b)) return;
  a = find<Access>(parent, a);
  b = find<Access>(parent, b);
  while (a != b) {
    if (a < b) std::swap(a, b);
    if (Access::replace(parent + a, a, b)) return;
    a = find<Access>(parent, a);
  }
}

}  // namespace conncomp
