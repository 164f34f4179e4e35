// The signature of a vertex in a directed graph: the smallest and the largest of its ancestors, the vertices
// known to reach it, and of its descendants, which it is known to reach. Along u -> v ancestors of u become
// some of v, and descendants of v some of u; so do what signatures tell of those, as in pointer jumping. Once
// no signature widens, a vertex whose smallest ancestor is its smallest descendant is in that one's strong
// component, and an arc whose ends differ joins two components. In the cycle 2 -> 0 -> 3 -> 2 every signature
// becomes (0..3, 0..3); with 3 -> 5, that of 5 becomes (0..5, 5..5). The largest are there for speed: where
// numbers rise along a path, only they jump; and they cut more arcs. Source: Alabandi, Sands, Biros and
// Burtscher 2023 (ECL-SCC), whose signatures hold the largest only.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

// Vertices from the smallest to the largest.
template <class Vertex> struct Range {
  Vertex low, high;

  bool operator==(const Range& other) const { return low == other.low && high == other.high; }
  void include(const Range& other, bool with_low = true, bool with_high = true) {
    if (with_low && other.low < low) low = other.low;
    if (with_high && other.high > high) high = other.high;
  }
};

template <class Vertex> struct Signature {
  Range<Vertex> ancestors, descendants;
};

// The halves of a signature by how they are passed on: ancestors along arcs, descendants against them.
enum Direction { kAlong, kAgainst };
constexpr int kDirections = 2;

// The signatures of all vertices, each four entries of an array.
template <class Vertex> struct Signatures {
  Vertex* entries;

  Vertex* half(Vertex v, int direction) const { return entries + 4 * int64_t(v) + 2 * direction; }
  Range<Vertex> range(Vertex v, int direction) const {
    Vertex ends[2];
    Current::load_all(half(v, direction), ends);
    return {ends[0], ends[1]};
  }
  // As they were a while ago, if others change them.
  Signature<Vertex> of(Vertex v) const {
    Vertex entry[4];
    Concurrent::load_all(half(v, kAlong), entry);
    return {{entry[0], entry[1]}, {entry[2], entry[3]}};
  }
  // Lets half of the signature of v, which has been seen, include more; returns whether it lacked anything.
  bool widen(Vertex v, int direction, const Range<Vertex>& seen, const Range<Vertex>& more) const {
    const bool lowers = more.low<seen.low, raises = more.high> seen.high;
    if (lowers) Current::fetch_min(half(v, direction), more.low);
    if (raises) Current::fetch_max(half(v, direction) + 1, more.high);
    return lowers | raises;
  }
  // All that is known of v is itself, or that it is in the component of a smaller vertex.
  void reset(Vertex v) const { put_into(v, v); }
  void put_into(Vertex v, Vertex component) const {
    for (int k = 0; k < 2 * kDirections; ++k) Concurrent::store(half(v, kAlong) + k, component);
  }
  // The smallest vertex whose component v is known to be in, if that is told: or else, v.
  Vertex component(Vertex v) const {
    const Vertex low = range(v, kAlong).low;
    return low == range(v, kAgainst).low ? low : v;
  }
  // Whether u -> v may be within a component that is not told yet, once signatures are final.
  bool may_join(Vertex u, Vertex v) const {
    const Signature<Vertex> u_signature = of(u), v_signature = of(v);
    return u_signature.ancestors.low != u_signature.descendants.low &&
           u_signature.ancestors == v_signature.ancestors &&
           u_signature.descendants == v_signature.descendants;
  }
};

// How what is known jumps. Together, the largest and smallest tell of each other: far along rising paths, but
// past vertices between. Apart is better in random order. By vertices, not arcs, where arcs are many.
enum class Jumps { kTogether, kApart, kByVertices };

// Passes what is known along arcs u -> v only, by one of adjacent lanes of the same u; returns whether
// anything may have changed. All lanes call.
template <int count, class Vertex>
bool pass_on(const Signatures<Vertex>& signatures, const Vertex (&u)[count], const Vertex (&v)[count]) {
  Signature<Vertex> u_signature[count], v_signature[count];
#pragma unroll
  for (int k = 0; k < count; ++k) u_signature[k] = signatures.of(u[k]), v_signature[k] = signatures.of(v[k]);
  bool changed = false;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    changed |= signatures.widen(v[k], kAlong, v_signature[k].ancestors, u_signature[k].ancestors);
    Range<Vertex> descendants = v_signature[k].descendants;
    const Range<Vertex>& seen = u_signature[k].descendants;
    if (!__any_sync(kAllLanes, descendants.low < seen.low || descendants.high > seen.high)) continue;
    const auto [is_first, length] = stretch_of(u[k]);
    descendants.low = over_stretch(descendants.low, length, [](Vertex a, Vertex b) { return a < b ? a : b; });
    descendants.high = over_stretch(descendants.high, length, larger<Vertex>);
    if (is_first) changed |= signatures.widen(u[k], kAgainst, seen, descendants);
  }
  return changed;
}

// Completes what is known of v by its ancestors and descendants; returns whether anything may have changed. A
// vertex in the component of a smaller one, outside its own range, keeps that: no arcs would tell it of a new
// start.
template <class Vertex> bool jump(const Signatures<Vertex>& signatures, Vertex v) {
  const Signature<Vertex> v_signature = signatures.of(v);
  if (v_signature.ancestors.high < v) return false;
  Range<Vertex> ancestors = signatures.of(v_signature.ancestors.low).ancestors;
  ancestors.include(signatures.of(v_signature.ancestors.high).ancestors);
  Range<Vertex> descendants = signatures.of(v_signature.descendants.low).descendants;
  descendants.include(signatures.of(v_signature.descendants.high).descendants);
  const bool changed = signatures.widen(v, kAlong, v_signature.ancestors, ancestors);
  return signatures.widen(v, kAgainst, v_signature.descendants, descendants) || changed;
}

// Passes what is known along u -> v, to the ancestors of u and the descendants of v; returns whether anything
// may have changed.
template <class Vertex>
bool pass_along(const Signatures<Vertex>& signatures, Vertex u, Vertex v, Jumps jumps) {
  const bool together = jumps == Jumps::kTogether;
  const Signature<Vertex> u_signature = signatures.of(u), v_signature = signatures.of(v);
  const Vertex low_ancestor = u_signature.ancestors.low, high_ancestor = u_signature.ancestors.high;
  const Vertex low_descendant = v_signature.descendants.low, high_descendant = v_signature.descendants.high;
  // All loads are under way before the first is waited for.
  const auto other = [&](Vertex w, Vertex end, const Signature<Vertex>& of_end) {
    return w == end ? of_end : signatures.of(w);
  };
  const Signature<Vertex> low_ancestor_signature = other(low_ancestor, u, u_signature),
                          high_ancestor_signature = other(high_ancestor, u, u_signature),
                          low_descendant_signature = other(low_descendant, v, v_signature),
                          high_descendant_signature = other(high_descendant, v, v_signature);
  // The ancestors of an ancestor are some of u as well, and the descendants of a descendant some of v.
  Range<Vertex> ancestors = u_signature.ancestors, descendants = v_signature.descendants;
  ancestors.include(low_ancestor_signature.ancestors, true, together);
  ancestors.include(high_ancestor_signature.ancestors, together, true);
  descendants.include(low_descendant_signature.descendants, true, together);
  descendants.include(high_descendant_signature.descendants, together, true);
  bool changed = signatures.widen(u, kAlong, u_signature.ancestors, ancestors);
  changed |= signatures.widen(v, kAlong, v_signature.ancestors, ancestors);
  changed |= signatures.widen(u, kAgainst, u_signature.descendants, descendants);
  changed |= signatures.widen(v, kAgainst, v_signature.descendants, descendants);
  // What reaches u reaches the descendants of v, and what v reaches is reached by the ancestors of u.
  const auto tell = [&](Vertex w, int direction, const Range<Vertex>& seen, const Range<Vertex>& known,
                        bool with_low, bool with_high) {
    Range<Vertex> more = seen;
    more.include(known, with_low, with_high);
    changed |= signatures.widen(w, direction, seen, more);
  };
  if (low_ancestor != u)
    tell(low_ancestor, kAgainst, low_ancestor_signature.descendants, descendants, true, together);
  if (high_ancestor != u)
    tell(high_ancestor, kAgainst, high_ancestor_signature.descendants, descendants, together, true);
  if (low_descendant != v)
    tell(low_descendant, kAlong, low_descendant_signature.ancestors, ancestors, true, together);
  if (high_descendant != v)
    tell(high_descendant, kAlong, high_descendant_signature.ancestors, ancestors, together, true);
  return changed;
}

}
