// Connected components of a graph by hooking trees along edges: after Soman, as Wang corrects it. Fills
// parent[v] with the smallest vertex of v's component, for a list of edges.
//
// Every vertex starts as a tree. A sweep gives every edge a thread. If both ends have one parent, the edge is
// marked and never looked at again; if not, the root of one end is hooked under that of the other
// (soman_hook). Even sweeps hook the larger root under the smaller, odd ones the smaller under the larger, so
// that a root between many others is what they are hooked under in the next sweep. Then all vertices are
// pointed to their roots (soman_jump), over more and more levels, until every edge is marked. Or vertices are
// pointed to their roots once, after that, and until then edges follow parents to the roots (kFollows). As
// roots may then be any vertex of their tree, at last its members lower the entry of the root to the smallest
// of them (soman_lower) and take over what is there (soman_finish).
// Rules (Hook): that is kRoots. Soman's stores to a parent, whatever it is (kParents); after jumps that is a
// root, and without them his sweeps do not end. Wang's stores to that parent and to the end below it (kEnds).
// Without jumps parents may then lead round in a circle, which soman_check looks for before anybody follows
// them; and in any case edges may be marked whose ends are in different trees, so soman_send_back unmarks
// them after the jumps. Of several stores to an entry in a sweep any wins, or (kOutermost) the smallest where
// the larger root is hooked, the largest where the smaller one is. No lost updates: what a marked edge has
// done is kept in parents only. Wang's stores to ends that are not roots replace the one link of a vertex to
// a tree to which only marked edges lead, and it is lost if another store to the same root wins. By kRoots a
// sweep stores to entries that were roots before it, so nothing older is replaced. An edge that stores is not
// marked in that sweep, so it still joins its ends in the next, where it is marked or stores again; so Wang's
// stagnant trees are sent back. An edge that follows parents may be marked for a store of this sweep that is
// then replaced: the edge that stored it is not marked, and still joins what was joined. No cycles: all roots
// that get a parent in a sweep get a smaller one, or all a larger one. By kEnds, too, if trees are flat:
// leaves get roots, and no root gets a leaf. Cost: a sweep reads a byte of every edge, the ends and two
// parents of those not marked, and all vertices, with two random accesses each and more where trees were
// hooked in chains. Source: Wang 2013, "An Implementation of Connected Component Algorithm on GPU"; Soman,
// Kothapalli and Narayanan 2010, "A Fast GPU Algorithm for Graph Connectivity".
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kSomanThreads = 256;

// The root that a vertex had at some moment of this sweep, or before it.
template <bool kFollows, class Index>
__device__ inline Index soman_root(const Index* parent, Index v) {
  Index ancestor = Shared::load(parent + v);
  if constexpr (kFollows)
    for (Index next; (next = Shared::load(parent + ancestor)) != ancestor; ancestor = next) {
    }
  return ancestor;
}

enum class Hook { kRoots, kParents, kEnds };

// Stores a parent to an entry; `lowers` says that all stores of the sweep are to lower theirs.
template <bool kOutermost, class Index>
__device__ inline void soman_store(Index* entry, Index target, bool lowers) {
  if constexpr (!kOutermost)
    Shared::store(entry, target);
  else if (lowers)
    Shared::fetch_min(entry, target);
  else
    Shared::fetch_max(entry, target);
}

template <Hook kHook, bool kFollows, bool kOutermost, class Vertex, class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_hook(const int64_t* __restrict__ edges, const Vertex* __restrict__ src,
               const Vertex* __restrict__ dst, uint8_t* __restrict__ marked, Index* parent,
               int64_t* last_change, int64_t sweep) {
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
    // By kRoots most edges of a hub come too late, or with less: they need not queue for its entry.
    const Index held = kHook == Hook::kRoots ? Shared::load(parent + child) : child;
    const bool stores = kOutermost ? (target < held) == larger_is_child && target != held : held == child;
    if (stores) soman_store<kOutermost>(parent + child, target, larger_is_child);
    if (kHook == Hook::kEnds) soman_store<kOutermost>(parent + (child == a ? u : v), target, larger_is_child);
    unmarked = true;
  }
  report_changes(last_change, sweep, unmarked);
}

// Only the thread of a vertex stores to its entry, so nothing that is lower in the tree is put back.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_jump(int64_t vertices, Index* parent, int64_t* last_change, int64_t sweep) {
  if (!has_changed(last_change, sweep)) return;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    Index ancestor = Shared::load(parent + v);
    for (Index parent_of_ancestor; (parent_of_ancestor = Shared::load(parent + ancestor)) != ancestor;
         ancestor = parent_of_ancestor)
      Shared::store(parent + v, parent_of_ancestor);
  }
}

// Whether parents lead from a vertex round in a circle: Brent's search, in steps of about the path and
// circle.
template <class Index>
__device__ inline bool soman_circles(const Index* parent, Index v) {
  Index passed = v;
  for (int64_t steps = 1, next_mark = 1;; ++steps) {
    const Index above = Shared::load(parent + v);
    if (above == v) return false;
    if (above == passed) return true;
    v = above;
    if (steps == next_mark) {
      passed = v;
      next_mark *= 2;
    }
  }
}

// Counts the vertices whose parents lead round in a circle.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_check(int64_t vertices, const Index* parent, int64_t* circling) {
  int circling_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    circling_of_thread += soman_circles(parent, Index(v));
  add_for_block(circling_of_thread, circling);
}

// Unmarks the edges between stagnant trees, all of which are flat; if there are any, sweep 0 is due.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_send_back(const int64_t* __restrict__ edges, const Vertex* __restrict__ src,
                    const Vertex* __restrict__ dst, uint8_t* __restrict__ marked, const Index* parent,
                    int64_t* last_change) {
  bool unmarked = false;
  for (int64_t edge = grid_thread(), end = *edges; edge < end; edge += grid_threads()) {
    if (Shared::load(parent + Index(src[edge])) == Shared::load(parent + Index(dst[edge]))) continue;
    marked[edge] = 0;
    unmarked = true;
  }
  report_changes(last_change, -1, unmarked);
}

// Lowers the entry of each root to the smallest member of its tree. What a root does after that, as it has
// got a parent, changes nothing: the entry of the smallest member holds the root.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_lower(int64_t vertices, Index* parent) {
  for (int64_t first = grid_thread() - lane(); first < vertices; first += grid_threads()) {
    const int64_t v = first + lane();
    const Index root = v < vertices ? Shared::load(parent + v) : Index(-1);
    // Of the lanes with the same root the first has the smallest vertex.
    const bool smallest = lane() == __ffs(int(__match_any_sync(kAllLanes, root))) - 1;
    if (smallest && v < vertices && Index(v) < Shared::load(parent + root))
      Shared::fetch_min(parent + root, Index(v));
  }
}

// Points every vertex to the smallest of its tree, and counts these. The former root points to that already,
// and stays.
template <class Index>
__global__ void __launch_bounds__(kSomanThreads, resident_blocks(kSomanThreads))
    soman_finish(int64_t vertices, Index* parent, int64_t* components) {
  int roots_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    const Index root = Shared::load(parent + v), lowest = Shared::load(parent + root);
    const Index smallest = lowest < root ? lowest : root;
    if (smallest != root) Shared::store(parent + v, smallest);
    roots_of_thread += smallest == Index(v);
  }
  add_for_block(roots_of_thread, components);
}

}  // namespace conncomp
