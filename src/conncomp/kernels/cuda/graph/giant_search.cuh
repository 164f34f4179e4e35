// Which vertices a pivot reaches, and which reach it: those with both bits are in its strong component. A
// sweep goes through the arcs whose bit says that they may pass on something; later threads see what it has
// set. Where the frontier creeps, the search is given up, but what it has reached is true. Cost: a sweep
// reads the bits of arcs, the open arcs, and two random words for each. Source: Fleischer, Hendrickson and
// Pinar 2000; the bits are ours.
#pragma once

#include "cuda/graph/arc_lists.cuh"

namespace conncomp {

constexpr int kMostSweeps = 64;             // of a search
constexpr int64_t kReachedOfVertices = 16;  // until it has reached one in so many, it has to grow fast

constexpr uint32_t kForward = 1, kBackward = 2, kBoth = 3;

// Two searches from the pivot: which vertices it reaches, and which reach it.
template <class Vertex> struct Searches : BitPairs<Vertex> {
  using BitPairs<Vertex>::of;
  using BitPairs<Vertex>::add;

  // Passes bits along u -> v, and adds to `reaches`; returns whether it may have to do so again.
  bool pass_along(Vertex u, Vertex v, int& reaches) const {
    const uint32_t u_reach = of(u), v_reach = of(v);
    const uint32_t new_v_reach = u_reach & ~v_reach & kForward, new_u_reach = v_reach & ~u_reach & kBackward;
    if (new_v_reach) add(v, new_v_reach), ++reaches;
    if (new_u_reach) add(u, new_u_reach), ++reaches;
    return !((v_reach | new_v_reach) & kForward) || !((u_reach | new_u_reach) & kBackward);
  }
};

// Goes through the arcs whose bit is set, or all at first, and leaves the bits of those that have not passed
// on both searches; returns how often a vertex was reached.
template <class Vertex>
int sweep_searches(const ArcList<const Vertex>& arcs, const Searches<Vertex>& searches,
    uint32_t* bits_of_arcs, bool is_first) {
  const int64_t words = (arcs.count + kWarp - 1) / kWarp, step = grid_threads();
  int reaches = 0;
  for (int64_t base = grid_thread() - lane(); base < words; base += step) {
    const int64_t word = base + lane();
    uint32_t bits = word < words ? (is_first ? kAllLanes : bits_of_arcs[word]) : 0;
    const uint32_t bits_before = bits;
    for (uint32_t open = __ballot_sync(kAllLanes, bits != 0); open; open &= open - 1) {
      const int k = __ffs(int(open)) - 1;
      const int64_t arc = (base + k) * kWarp + lane();
      const bool is_open = (__shfl_sync(kAllLanes, bits, k) >> lane() & 1) && arc < arcs.count;
      const bool stays_open = is_open && searches.pass_along(arcs.sources[arc], arcs.targets[arc], reaches);
      const uint32_t left = __ballot_sync(kAllLanes, stays_open);
      if (lane() == k) bits = left;
    }
    if (word < words && (is_first || bits != bits_before)) bits_of_arcs[word] = bits;
  }
  return reaches;
}

// Searches from the pivot, which has both bits; returns whether the searches have come to their end.
template <class Vertex>
CONNCOMP_PHASE bool search(ArcList<const Vertex> arcs, int64_t vertices, Searches<Vertex> searches,
    uint32_t* bits_of_arcs, StrongState<Vertex>* state, GridBarrier& barrier) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const int reaches = sweep_searches(arcs, searches, bits_of_arcs, sweep == 0);
    const int64_t sum = sum_of_block(reaches);
    // Two sums take turns: nobody adds to the one that is read, so all blocks decide alike.
    if (threadIdx.x == 0 && sum > 0) Current::fetch_add(state->reaches + sweep % 2, sum);
    if (!barrier.any(reaches > 0)) return true;
    const int64_t reached = Current::load(state->reaches + sweep % 2) + 1;
    if (reached < vertices / kReachedOfVertices && reached >> sweep == 0) return false;
  }
  return false;
}

// Lets state->member be the smallest vertex that both searches have reached.
template <class Vertex>
void find_member(int64_t vertices, const Searches<Vertex>& searches, StrongState<Vertex>* state) {
  const int64_t words = (vertices + kVerticesOfWord - 1) / kVerticesOfWord;
  visit_of_grid(words, [&](int64_t word) {
    const uint32_t bits = searches.words[word], both = bits & bits >> 1 & 0x55555555;
    if (!both) return;
    const Vertex v = Vertex(word * kVerticesOfWord + (__ffs(int(both)) - 1) / 2);
    if (v < Current::load(&state->member)) Current::fetch_min(&state->member, v);
  });
}

}
