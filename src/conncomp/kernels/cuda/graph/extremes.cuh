// The smallest vertex known to reach each vertex of a directed graph, and the smallest that it is known to
// reach: one side of signatures (signatures.cuh), in half of the bytes. Arcs pass on what is known of their
// ends, and of these two, as in pointer jumping. Once nothing changes, a vertex with two equal entries is in
// that one's strong component, and an arc whose ends differ joins two components. Cost: two random accesses
// an arc and sweep, more where something changes. Source: Alabandi, Sands, Biros and Burtscher 2023
// (ECL-SCC), with the largest vertices and stores that may be lost; here atomic minima.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

// Lowers an entry that has been seen; returns whether the value is below that.
template <class Vertex> bool lower(Vertex* entry, Vertex seen, Vertex value) {
  if (value >= seen) return false;
  Concurrent::fetch_min(entry, value);
  return true;
}

// Two entries of every vertex, side by side.
template <class Vertex> struct Extremes {
  Vertex* entries;

  struct Pair {
    Vertex ancestor, descendant;

    bool is_told() const { return ancestor == descendant; }
  };
  Vertex* ancestor(Vertex v) const { return entries + 2 * int64_t(v); }
  Vertex* descendant(Vertex v) const { return entries + 2 * int64_t(v) + 1; }
  // As they were a while ago, if others change them.
  Pair of(Vertex v) const {
    Vertex pair[2];
    Concurrent::load_all(ancestor(v), pair);
    return {pair[0], pair[1]};
  }
  void reset(Vertex v) const { put_into(v, v); }
  void put_into(Vertex v, Vertex component) const {
    Concurrent::store(ancestor(v), component);
    Concurrent::store(descendant(v), component);
  }
  // The smallest vertex of its component, once entries are final: v itself, if it is not told.
  Vertex component(Vertex v) const {
    const Pair pair = of(v);
    return pair.is_told() ? pair.ancestor : v;
  }
  // Whether u -> v may be within a component that is not told yet, once entries are final.
  bool may_join(Vertex u, Vertex v) const {
    const Pair u_pair = of(u), v_pair = of(v);
    return !u_pair.is_told() && u_pair.ancestor == v_pair.ancestor && u_pair.descendant == v_pair.descendant;
  }
  // What the arc u -> v alone tells.
  void join(Vertex u, Vertex v) const {
    if (u < v) Concurrent::fetch_min(ancestor(v), u);
    if (v < u) Concurrent::fetch_min(descendant(u), v);
  }
  // Passes what is known along u -> v, and to ancestors and descendants; whether anything may have changed.
  bool pass_along(Vertex u, Vertex v) const {
    const Pair u_pair = of(u), v_pair = of(v);
    const Vertex above = u_pair.ancestor == u ? u : Concurrent::load(ancestor(u_pair.ancestor));
    const Vertex below = v_pair.descendant == v ? v : Concurrent::load(descendant(v_pair.descendant));
    bool changed = lower(ancestor(u), u_pair.ancestor, above);
    changed |= lower(ancestor(v), v_pair.ancestor, above);
    changed |= lower(descendant(u), u_pair.descendant, below);
    changed |= lower(descendant(v), v_pair.descendant, below);
    // An entry is at most its vertex, so that only a larger vertex may know less.
    const auto tell = [&](Vertex* entry, Vertex w, Vertex value) {
      changed |= value < w && lower(entry, Concurrent::load(entry), value);
    };
    tell(descendant(u_pair.ancestor), u_pair.ancestor, below);
    if (v_pair.ancestor != u_pair.ancestor) tell(descendant(v_pair.ancestor), v_pair.ancestor, below);
    tell(ancestor(v_pair.descendant), v_pair.descendant, above);
    if (u_pair.descendant != v_pair.descendant) tell(ancestor(u_pair.descendant), u_pair.descendant, above);
    return changed;
  }
};

}
