// Union–find on an array of parents: a root is its own parent, every other entry points to a smaller index of
// its set. So the root is the smallest member, whatever the order of unions and the threads (contract 1).
// `unite` hooks the larger root by compare-and-swap. Only roots are hooked and only entries that have stopped
// being roots are shortened, so a shortening store cannot undo a link. `hook_lowest` may change such an
// entry's parent, which a store may undo; but it also unites both parents, so nothing is lost. The owner may
// change the array meanwhile: only a smaller index is followed (leads_to), so no path leaves the array or
// goes on for ever, and writes stay below their entry. Source: Jaiganesh and Burtscher 2018.
#pragma once

#include "core/atomics.h"

namespace conncomp {

// Multiple: all entries of the path point to the root. Single: the first. Intermediate: each skips the next.
// Leading: the first points to what has been reached, so that all who follow one long path take larger steps.
enum class Jump { kMultiple = 1, kSingle, kNone, kIntermediate, kLeading };

// Told of every path and every step; counts none.
struct Uncounted {
  void start() {}
  void step() {}
};

// Told of every union, by the entry that is no root any more; counts none.
struct Unreported {
  void united(auto) {}
};
template <class Unions> constexpr bool kAreReported = true;
template <> inline constexpr bool kAreReported<Unreported> = false;

// Whether an entry has a parent other than itself: as unsigned numbers, so that none are negative.
template <class Index> inline bool leads_to(Index entry, Index parent) {
  return sizeof(Index) == 4 ? uint32_t(parent) < uint32_t(entry) : uint64_t(parent) < uint64_t(entry);
}

template <class Access, Jump jump = Jump::kIntermediate, class Index, class Path = Uncounted>
inline Index find_from(Index* parent, Index v, Index current, Path&& path = Path()) {
  path.start();
  if (!leads_to(v, current)) return v;
  path.step();
  const Index first = current;
  for (Index previous = v;;) {
    const Index next = Access::load(parent + current);
    if (!leads_to(current, next)) break;
    path.step();
    if constexpr (jump == Jump::kIntermediate) {
      Access::store(parent + previous, next);
      previous = current;
    }
    if constexpr (jump == Jump::kLeading) Access::store(parent + v, next);
    current = next;
  }
  if constexpr (jump == Jump::kSingle)
    if (current != first) Access::store(parent + v, current);
  if constexpr (jump == Jump::kMultiple)
    // No entry on the path has moved below `current` before it points there, however others shorten it.
    for (Index next; (next = Access::load(parent + v)) > current && leads_to(v, next); v = next)
      Access::store(parent + v, current);
  return current;
}

template <class Access, Jump jump = Jump::kIntermediate, class Index, class Path = Uncounted>
inline Index find(Index* parent, Index v, Path&& path = Path()) {
  return find_from<Access, jump>(parent, v, Access::load(parent + v), path);
}

// Unites the sets of two entries that were roots a moment ago; returns the root of both as it was then. An
// entry with a parent meanwhile first gives way to it without a search; where many unite one large set, a
// search is faster. Two branches: threads of a warp take turns, and finish a grid 1.5 times sooner.
template <class Access, class Index, class Unions = Unreported>
inline Index hook(Index* parent, Index a, Index b, Unions&& unions = Unions()) {
  for (bool searches = false; a != b; searches = true) {
    if (a < b) {
      const Index seen = Access::compare_exchange(parent + b, b, a);
      if (!leads_to(b, seen)) return unions.united(b), a;
      b = searches ? find_from<Access>(parent, b, seen) : seen;
    } else {
      const Index seen = Access::compare_exchange(parent + a, a, b);
      if (!leads_to(a, seen)) return unions.united(a), b;
      a = searches ? find_from<Access>(parent, a, seen) : seen;
    }
  }
  return a;
}

// The same, of any entries, in fewer turns where many unite one set: an entry keeps the smallest parent
// given, and who finds one goes on with its root. Two turns do for most, where half of compare_exchange is in
// vain. Each lost root is reported once, but reports need not connect all that is united, as a replaced
// parent is united later: 5-4 links 5 to 4; 5-3 replaces that by 3, and has to unite 4 and 3; 5-1 links 3 to
// 1, 4-1 links 4 to 1, and 5-3 finds 4 and 3 united: reports 5-4, 5-1 and 4-1 leave out 3. Source: Playne and
// Hawick 2018; Allegretti et al. 2020.
template <class Access, class Index, class Unions = Unreported>
inline Index hook_lowest(Index* parent, Index a, Index b, Unions&& unions = Unions()) {
  while (a != b) {
    const Index low = a < b ? a : b, high = a < b ? b : a;
    const Index seen = Access::fetch_min(parent + high, low);
    if (!leads_to(high, seen)) return unions.united(high), low;
    b = find<Access, Jump::kLeading>(parent, seen);
    if (seen == low) return b;
    a = low;
  }
  return a;
}

template <class Access, class Index, class Unions = Unreported>
inline void unite_from(
    Index* parent, Index a, Index above_a, Index b, Index above_b, Unions&& unions = Unions()) {
  if (above_a == above_b) return;  // as those of two members of a set often are
  a = find_from<Access>(parent, a, above_a), b = find_from<Access>(parent, b, above_b);
  if constexpr (sizeof(Index) >= kLeastMinimum && !kAreReported<Unions>)
    hook_lowest<Access>(parent, a, b, unions);
  else
    hook<Access>(parent, a, b, unions);
}

template <class Access, class Index, class Unions = Unreported>
inline void unite(Index* parent, Index a, Index b, Unions&& unions = Unions()) {
  unite_from<Access>(parent, a, Access::load(parent + a), b, Access::load(parent + b), unions);
}

// Whether a and b are in one set, while others unite: the first root must still be one after the second.
template <class Access, class Index> inline bool in_one_set(Index* parent, Index a, Index b) {
  for (;;) {
    a = find<Access>(parent, a);
    b = find<Access>(parent, b);
    if (a == b) return true;
    if (!leads_to(a, Access::load(parent + a))) return false;
  }
}

// Access, but a store never raises an entry.
template <class Access> struct Lowering : Access {
  template <class T> static void store(T* at, T value) { Access::fetch_min(at, value); }
};

// Points v, whose parent has just been `current`, to its root, which it returns, when all is united. finish =
// 1: intermediate jumping, which only lowers entries, lest it undo others' stores, 2: multiple, 3: single.
template <class Access, int finish, class Index, class Path = Uncounted>
inline Index finish_path(Index* parent, Index v, Index current, Path&& path = Path()) {
  static_assert(finish >= 1 && finish <= 3);
  if constexpr (finish == 1) {
    const Index root = find_from<Lowering<Access>, Jump::kIntermediate>(parent, v, current, path);
    Lowering<Access>::store(parent + v, root);
    return root;
  } else {
    return find_from<Access, finish == 2 ? Jump::kMultiple : Jump::kSingle>(parent, v, current, path);
  }
}

inline bool is_vertex(auto v, int64_t vertices) {
  return uint64_t(int64_t(v)) < uint64_t(vertices);  // negative ones are large
}

}
