// Soman's hooking of trees along edges, as Wang corrects it. Fills parent[v] with the smallest vertex of v's
// component, for a list of edges. Every vertex starts as a tree. A sweep gives every edge a thread
// (soman_hook): if both ends have one parent it marks the edge for good, else it hooks the root of one end
// under that of the other, the larger in even sweeps, the smaller in odd ones. Vertices are pointed to their
// roots (soman_jump) each sweep, or once at the end (kFollows); at last the smallest member replaces the root
// (soman_lower, soman_finish). Hook: kRoots stores to roots. kParents, Soman's, stores to any parent and ends
// only with jumps. kEnds, Wang's, stores to the parent and the end below it: without jumps parents may form
// circles (soman_check), and edges between trees may be marked, as a store may replace a tree's only link
// (soman_send_back). Of several stores any wins, or (kOutermost) the outermost; an edge that stores is not
// marked in that sweep, so it joins its ends in the next. There are no cycles: roots get smaller parents in a
// sweep, or all larger ones; by kEnds only if trees are flat. Cost: a sweep reads a byte per edge, ends and
// parents of unmarked ones, and all vertices. Source: Wang 2013, "An Implementation of Connected Component
// Algorithm on GPU"; Soman, Kothapalli and Narayanan 2010, "A Fast GPU Algorithm for Graph Connectivity".
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kSomanThreads = 256;

// The root of a vertex at some moment of this sweep, or before it.
template <bool kFollows, class Index> Index soman_root(const Index* parent, Index v) {
  Index ancestor = Concurrent::load(parent + v);
  if constexpr (kFollows)
    for (Index next; (next = Concurrent::load(parent + ancestor)) != ancestor; ancestor = next) {
    }
  return ancestor;
}

enum class Hook { kRoots, kParents, kEnds };

// Stores a parent; `lowers` says that all stores of the sweep lower their entries.
template <bool kOutermost, class Index> void soman_store(Index* entry, Index target, bool lowers) {
  if constexpr (!kOutermost)
    Concurrent::store(entry, target);
  else if (lowers)
    Concurrent::fetch_min(entry, target);
  else
    Concurrent::fetch_max(entry, target);
}

template <Hook kHook, bool kFollows, bool kOutermost, class Vertex, class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads)) soman_hook(
    const int64_t* __restrict__ edges, const Vertex* __restrict__ src, const Vertex* __restrict__ dst,
    uint8_t* __restrict__ marked, Index* parent, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  const bool larger_is_child = sweep % 2 == 0;
  bool unmarked = false;
  for (int64_t edge = grid_thread(), end = *edges; edge < end; edge += grid_threads()) {
    if (marked[edge]) continue;
    const Index u = Index(src[edge]), v = Index(dst[edge]);
    const Index a = soman_root<kFollows>(parent, u), b = soman_root<kFollows>(parent, v);
    if (a == b) {
      marked[edge] = 1;
      continue;
    }
    const Index child = (a > b) == larger_is_child ? a : b, target = child == a ? b : a;
    // By kRoots most edges of a hub come too late or with less, and need not queue for its entry.
    const Index held = kHook == Hook::kRoots ? Concurrent::load(parent + child) : child;
    const bool stores = kOutermost ? (target < held) == larger_is_child && target != held : held == child;
    if (stores) soman_store<kOutermost>(parent + child, target, larger_is_child);
    if (kHook == Hook::kEnds) soman_store<kOutermost>(parent + (child == a ? u : v), target, larger_is_child);
    unmarked = true;
  }
  report_changes(last_change, sweep, unmarked);
}

// Only a vertex's own thread stores to its entry, so nothing lower is put back.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_jump(int64_t vertices, Index* parent, int64_t* last_change, int64_t sweep) {
  if (!has_changed(last_change, sweep)) return;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    Index ancestor = Concurrent::load(parent + v);
    for (Index parent_of_ancestor; (parent_of_ancestor = Concurrent::load(parent + ancestor)) != ancestor;
        ancestor = parent_of_ancestor)
      Concurrent::store(parent + v, parent_of_ancestor);
  }
}

// Whether parents lead from a vertex into a circle: Brent's search.
template <class Index> bool soman_circles(const Index* parent, Index v) {
  Index passed = v;
  for (int64_t steps = 1, next_mark = 1;; ++steps) {
    const Index above = Concurrent::load(parent + v);
    if (above == v) return false;
    if (above == passed) return true;
    v = above;
    if (steps == next_mark) {
      passed = v;
      next_mark *= 2;
    }
  }
}

template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_check(int64_t vertices, const Index* parent, int64_t* circling) {
  int circling_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    circling_of_thread += soman_circles(parent, Index(v));
  add_for_block(circling_of_thread, circling);
}

// Unmarks the edges between stagnant trees, which are flat; sweep 0 is due if there are any.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads)) soman_send_back(
    const int64_t* __restrict__ edges, const Vertex* __restrict__ src, const Vertex* __restrict__ dst,
    uint8_t* __restrict__ marked, const Index* parent, int64_t* last_change) {
  bool unmarked = false;
  for (int64_t edge = grid_thread(), end = *edges; edge < end; edge += grid_threads()) {
    if (Concurrent::load(parent + Index(src[edge])) == Concurrent::load(parent + Index(dst[edge]))) continue;
    marked[edge] = 0;
    unmarked = true;
  }
  report_changes(last_change, -1, unmarked);
}

// Lowers the entry of each root to its smallest member; the smallest member's entry holds the root.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_lower(int64_t vertices, Index* parent) {
  for (int64_t first = grid_thread() - lane(); first < vertices; first += grid_threads()) {
    const int64_t v = first + lane();
    const Index root = v < vertices ? Concurrent::load(parent + v) : Index(-1);
    const bool smallest = lane() == __ffs(int(__match_any_sync(kAllLanes, root))) - 1;
    if (smallest && v < vertices && Index(v) < Concurrent::load(parent + root))
      Concurrent::fetch_min(parent + root, Index(v));
  }
}

// Points every vertex to the smallest of its tree, and counts these; the former root does already.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_finish(int64_t vertices, Index* parent, int64_t* components) {
  int roots_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    const Index root = Concurrent::load(parent + v), lowest = Concurrent::load(parent + root);
    const Index smallest = lowest < root ? lowest : root;
    if (smallest != root) Concurrent::store(parent + v, smallest);
    roots_of_thread += smallest == Index(v);
  }
  add_for_block(roots_of_thread, components);
}

}
