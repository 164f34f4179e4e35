// Strong components of a directed graph, the default: roots[v] becomes the smallest vertex of v's component.
// Takes a list of arcs, in two launches whose blocks meet after each step. A sample (pivot.cuh) chooses:
// 0. chains.cuh: where almost all vertices have few arcs, but one out, paths and cycles are contracted
// 1. cuts.cuh: else, where few arcs lead far, the order is cut; a round of extremes.cuh may follow
// 2. giant_search.cuh: from a vertex with far more arcs than most, two searches find its component
// 3. trimming.cuh: where arcs are few, vertices that none leads to, or that lead nowhere, are dropped
// 4. signatures.cuh: signatures widen, by sweeps over arcs or, on long paths, by vertices (widening.cuh)
// 5. arc_lists.cuh: arcs between components, and within told ones, are dropped; 4 again until none is left
// Cost: rounds of 4 and 5: the logarithm of the components on a path. Memory: 4 words an arc, 8 a vertex,
// bits. The host waits once a graph. Source: Fleischer, Hendrickson, Pinar 2000 for 2, Kahn 1962 for 3,
// Alabandi, Sands, Biros, Burtscher 2023 (ECL-SCC) for 4; the rest is ours.
#pragma once

#include "cuda/graph/cuts.cuh"
#include "cuda/graph/trimming.cuh"
#include "cuda/graph/widening.cuh"

namespace conncomp {

constexpr int kArcsAtOnce = 2;          // that a thread has under way
constexpr int64_t kArcsOfExtremes = 2;  // a vertex; with fewer there are paths, on which extremes creep
constexpr int kExtremeBarriers = 4;     // until extremes are given up
// Where neighbours lie side by side, and no more arcs than these are left.
constexpr int64_t kMostNear = int64_t(1) << 25;
constexpr int64_t kTwiceManyNear = 5;  // arcs for two vertices; with fewer, extremes creep
constexpr int kNearSweeps = 3;         // between two barriers, to and fro
constexpr int kNearExtremes = 96;      // barriers until extremes are given up there
constexpr int kArcSweeps = 8;          // over the arcs, between two barriers
constexpr int64_t kFewTrimmed = 256;   // of so many vertices one, so that arcs need not be listed anew

// Calls visit(arc) for this thread's arcs of a share, row by row of the block, forwards or backwards.
void visit_share(const Share& share, bool backwards, auto&& visit) {
  const int64_t rows = (share.end - share.begin + kStrongThreads - 1) / kStrongThreads;
#pragma unroll 1
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t arc = share.begin + (backwards ? rows - 1 - row : row) * kStrongThreads + int(threadIdx.x);
    if (arc < share.end) visit(arc);
  }
}

template <class Vertex>
CONNCOMP_PHASE bool sweep_with_jumps(
    ArcList<const Vertex> arcs, Share share, Signatures<Vertex> signatures, Jumps jumps) {
  bool changed = false;
#pragma unroll 1
  for (int64_t arc = share.begin + int(threadIdx.x); arc < share.end; arc += kStrongThreads)
    changed |= pass_along(signatures, arcs.sources[arc], arcs.targets[arc], jumps);
  return changed;
}

template <class Vertex>
CONNCOMP_PHASE bool sweep_then_jump(
    ArcList<const Vertex> arcs, Share share, Share share_of_vertices, Signatures<Vertex> signatures) {
  bool changed = false;
  visit_ends<kArcsAtOnce>(
      arcs, share, [&](const auto& u, const auto& v) { changed |= pass_on(signatures, u, v); });
  for (int64_t v = share_of_vertices.begin + int(threadIdx.x); v < share_of_vertices.end; v += kStrongThreads)
    changed |= jump(signatures, Vertex(v));
  return changed;
}

// Widens signatures by sweeps, a block each over its share; returns whether they are final after so many
// barriers, or more while all blocks settle. All blocks meet.
template <class Vertex>
CONNCOMP_PHASE bool settle_arcs(ArcList<const Vertex> arcs, int64_t vertices, Signatures<Vertex> signatures,
    Jumps jumps, int64_t most_barriers, GridBarrier& barrier) {
  const Share share(arcs.count, kSmallestShare), share_of_vertices(vertices);
  bool all_settle = false;
  for (int barriers = 0; barriers < most_barriers || all_settle; ++barriers) {
    bool changed = false;
    int sweep = 0;
#pragma unroll 1
    for (; sweep < kArcSweeps; ++sweep) {
      const bool sweep_changed = jumps == Jumps::kByVertices
                                     ? sweep_then_jump(arcs, share, share_of_vertices, signatures)
                                     : sweep_with_jumps(arcs, share, signatures, jumps);
      changed |= sweep_changed;
      if (!__syncthreads_or(sweep_changed)) break;
    }
    if (!barrier.any(changed)) return true;
    if (barriers + 1 >= most_barriers) all_settle = !barrier.any(sweep == kArcSweeps);
  }
  return false;
}

// The ends of arcs know themselves only, by signatures or extremes. All blocks meet.
template <class Vertex>
CONNCOMP_PHASE void reset_ends(ArcList<const Vertex> arcs, auto known, GridBarrier& barrier) {
  visit_of_grid(arcs.count, [=](int64_t arc) {
    known.reset(arcs.sources[arc]);
    known.reset(arcs.targets[arc]);
  });
  meet(barrier);
}

// Which arcs cut_arcs keeps. One type, as each copy of keep_arcs takes time to compile.
template <class Vertex> struct KeepingUncut {
  const Vertex* pieces;  // by their first vertices; null where extremes tell
  Extremes<Vertex> extremes;

  bool keeps(Vertex u, Vertex v) const {
    return pieces ? u != v && pieces[u] == pieces[v] : extremes.may_join(u, v);
  }
  static void write(Vertex u, Vertex v, Vertex& source, Vertex& target) { source = u, target = v; }
};

// Passes extremes along arcs, each block in its share; returns whether they become final. All blocks meet.
template <class Vertex>
bool settle_extremes(const ArcList<const Vertex>& arcs, const Extremes<Vertex>& extremes, bool are_near,
    GridBarrier& barrier) {
  // What an arc tells its ends of each other needs nothing to be read.
  visit_of_grid(arcs.count, [&](int64_t arc) { extremes.join(arcs.sources[arc], arcs.targets[arc]); });
  meet(barrier);
  const Share share(arcs.count, kSmallestShare);
  const int most_sweeps = are_near ? kNearSweeps : kArcSweeps;
  bool backwards = false;
  for (int barriers = 0; barriers < (are_near ? kNearExtremes : kExtremeBarriers); ++barriers) {
    bool changed = false;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      bool sweep_changed = false;
      visit_share(share, backwards,
          [&](int64_t arc) { sweep_changed |= extremes.pass_along(arcs.sources[arc], arcs.targets[arc]); });
      changed |= sweep_changed;
      backwards = are_near && !backwards;
      if (!__syncthreads_or(sweep_changed)) break;
    }
    if (!barrier.any(changed)) return true;
  }
  return false;
}

// Rounds of extremes, one of scattered neighbours, until no arcs are left or one is given up. All blocks
// meet.
template <class Vertex>
void drop_by_extremes(int64_t vertices, ArcList<const Vertex> arcs, bool are_near,
    const StrongMemory<Vertex>& memory, GridBarrier& barrier) {
  const Extremes<Vertex> extremes = extremes_in(memory);
  KeptArcs<Vertex> left(arcs, memory);
  if (arcs.sources == left.next.sources) swap_values(left.next, left.spare);
  visit_of_grid(vertices, [=](int64_t v) { extremes.reset(Vertex(v)); });
  meet(barrier);
  while (left.arcs.count > 0 && settle_extremes(left.arcs, extremes, are_near, barrier)) {
    left.keep(memory, barrier, KeepingUncut<Vertex>{nullptr, extremes});
    if (grid_thread() == 0) left.tell(memory);
    if (!are_near) return;
    reset_ends(left.arcs, extremes, barrier);
  }
  // What a round that is given up has told is not final.
  reset_ends(left.arcs, extremes, barrier);
}

// Drops arcs over cuts, and tells whether to trim. A round of extremes takes half of the bytes of signatures
// where nothing is to be trimmed and neighbours are scattered; where many near ones are left, all rounds do.
// A launch of its own, for its registers. All blocks run at once.
template <class Vertex>
__global__ void __launch_bounds__(kStrongThreads, kStrongBlocks)
    cut_arcs(int64_t vertices, ArcList<const Vertex> arcs, StrongMemory<Vertex> memory) {
  StrongState<Vertex>* const state = memory.state;
  if (!(state->first_steps & kCutArcs)) return;
  GridBarrier barrier(state->barrier_of_first);
  const ArcList<Vertex> next{memory.next_sources, memory.next_targets, 0};
  const bool are_many = 2 * arcs.count >= kTwiceManyNear * vertices;
  // Signatures are not there yet: their memory is that of pieces.
  if (state->may_be_cut) {
    Pieces<Vertex> pieces(vertices, memory.signatures, memory.sums_of_blocks);
    if (pieces.find(arcs, barrier)) {
      const KeepingUncut<Vertex> keeping{pieces.first(), extremes_in(memory)};
      const int64_t kept = keep_arcs(arcs, next, memory.bits, memory.sums_of_blocks, barrier, keeping);
      if (kept < arcs.count) arcs = {next.sources, next.targets, kept};
      if (grid_thread() == 0) state->kept = kept;
    }
  }
  if (state->pivot >= 0 || !are_few(arcs.count, vertices)) return;
  const bool has = has_first(arcs, vertices, memory.signatures, barrier);
  if (grid_thread() == 0) state->has_first = has;
  const bool are_near = state->are_near && has && are_many && arcs.count <= kMostNear;
  const bool are_scattered = state->are_scattered && !has && arcs.count >= kArcsOfExtremes * vertices;
  if (are_near || are_scattered) drop_by_extremes(vertices, arcs, are_near, memory, barrier);
}

// What is known of components at first: by extremes, or by the searches.
template <class Vertex>
CONNCOMP_PHASE void start_signatures(int64_t vertices, Signatures<Vertex> signatures,
    Searches<Vertex> searches, Vertex member, const StrongMemory<Vertex>& memory) {
  const Extremes<Vertex> extremes = extremes_in(memory);
  const bool is_settled = memory.state->is_settled;
  visit_of_grid(vertices, [&](int64_t vertex) {
    const Vertex v = Vertex(vertex);
    signatures.put_into(v, is_settled ? extremes.component(v) : searches.of(v) == kBoth ? member : v);
  });
}

// Which arcs strong_components keeps, by what has told of components: one type, to compile keep_arcs once.
enum class ToldBy { kSearches, kTrimming, kSignatures };
template <class Vertex> struct Keeping {
  ToldBy told_by;
  Searches<Vertex> searches;
  bool is_complete;  // whether the searches came to their end
  Vertex member;     // that stands for what both have reached
  const Vertex* awaited;
  Signatures<Vertex> signatures;

  bool keeps(Vertex u, Vertex v) const {
    if (told_by == ToldBy::kSignatures) return signatures.may_join(u, v);
    if (told_by == ToldBy::kTrimming) return u != v && awaited[u] != 0 && awaited[v] != 0;
    const uint32_t u_reach = searches.of(u), v_reach = searches.of(v);
    return is_complete ? u_reach == v_reach && u_reach != kBoth : (u_reach & v_reach) != kBoth;
  }
  void write(Vertex u, Vertex v, Vertex& source, Vertex& target) const {
    source = u, target = v;
    if (told_by == ToldBy::kSearches) {
      if (searches.of(u) == kBoth) source = member;
      if (searches.of(v) == kBoth) target = member;
    } else if (told_by == ToldBy::kSignatures) {
      signatures.reset(u);
      signatures.reset(v);
    }
  }
};

// All blocks run at the same time.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kStrongThreads, kStrongBlocks)
    strong_components(int64_t vertices, ArcList<const Vertex> given, int64_t most_barriers, bool are_paths,
        bool are_in_order, StrongMemory<Vertex> memory, Index* __restrict__ roots, int64_t* components) {
  __shared__ Vertex queue_vertices[kStrongThreads / kWarp][kQueued];
  __shared__ uint8_t queue_directions[kStrongThreads / kWarp][kQueued];
  __shared__ LocalQueue<Vertex> local_queue;
  int64_t *const row_ends = memory.row_ends, *const sums_of_blocks = memory.sums_of_blocks;
  uint32_t *const bits = memory.bits, *const words_of_searches = memory.words_of_searches;
  StrongState<Vertex>* const state = memory.state;
  GridBarrier barrier(state->barrier);
  const Signatures<Vertex> signatures{memory.signatures};
  const Searches<Vertex> searches{{words_of_searches}};
  const Vertex pivot = state->pivot;

  KeptArcs<Vertex> left(given, memory);
  ArcList<const Vertex>& arcs = left.arcs;
  ArcList<Vertex>& next = left.next;
  Keeping<Vertex> keeping{ToldBy::kSearches, searches, true, 0, memory.signatures, signatures};
  const auto keep = [&](ToldBy told_by) {
    keeping.told_by = told_by;
    left.keep(memory, barrier, keeping);
  };

  if (state->kept < arcs.count) {
    if (!state->are_in_spare) swap_values(next, left.spare);
    arcs = {left.spare.sources, left.spare.targets, state->kept};
  }

  visit_of_grid((vertices + kVerticesOfWord - 1) / kVerticesOfWord, [=](int64_t word) {
    words_of_searches[word] =
        pivot >= 0 && word == pivot / kVerticesOfWord ? kBoth << 2 * int(pivot % kVerticesOfWord) : 0;
  });
  barrier.wait();
  Vertex member = 0;
  bool is_complete = true;
  if (pivot >= 0) {
    is_complete = search(arcs, vertices, searches, bits, state, barrier);
    find_member(vertices, searches, state);
    barrier.wait();
    member = Current::load(&state->member);
    keeping.is_complete = is_complete, keeping.member = member;
    keep(ToldBy::kSearches);
  }

  // Two lists of vertices lie where signatures will. After a search given up, arcs that left the giant leave
  // its member.
  const auto trim_rows = [&](const EndsOfVertices<Vertex>& rows, const Vertex* starts, const Vertex* ends) {
    const Trimming<Vertex> trimming{
        rows, vertices, memory.signatures, memory.signatures + vertices, state->queued, local_queue};
    if (trim(trimming, arcs.count, starts, ends, barrier) < vertices / kFewTrimmed) return;
    keep(ToldBy::kTrimming);
  };
  const int64_t untrimmed = arcs.count;
  if (are_few(untrimmed, vertices) && (pivot >= 0 || (state->has_first && !state->is_settled)))
    trim_rows(are_in_order && is_complete
                  ? rows_in_order(arcs, vertices, row_ends, row_ends + vertices, barrier)
                  : sort_ends(arcs.count, arcs.sources, arcs.targets, vertices, row_ends, next.sources,
                        sums_of_blocks, barrier),
        arcs.sources, arcs.targets);
  if (arcs.count > vertices / kFewArcs && arcs.count <= untrimmed / 2)
    trim_rows(sort_ends(arcs.count, arcs.targets, arcs.sources, vertices, row_ends, next.sources,
                  sums_of_blocks, barrier),
        arcs.targets, arcs.sources);

  start_signatures(vertices, signatures, searches, member, memory);
  barrier.wait();
  // Chains leave long paths of small knots, on which jumps together would creep.
  const bool are_apart = state->first_steps & kContractChains;
  if (are_apart) most_barriers = int64_t(1) << 62;
  Jumps jumps = are_apart ? Jumps::kApart : Jumps::kTogether;
  while (arcs.count > 0) {
    const Jumps first_jumps = arcs.count >= kManyArcs * vertices ? Jumps::kByVertices : jumps;
    bool is_final = settle_arcs(arcs, vertices, signatures, first_jumps, most_barriers, barrier);
    if (!is_final && are_paths) {
      jumps = jumps == Jumps::kTogether ? Jumps::kApart : Jumps::kTogether;
      reset_ends(arcs, signatures, barrier);
      is_final = settle_arcs(arcs, vertices, signatures, jumps, most_barriers, barrier);
    }
    if (!is_final) {
      // Nothing is kept in the next list yet.
      const EndsOfVertices<Vertex> rows[kDirections] = {
          sort_ends(arcs.count, arcs.sources, arcs.targets, vertices, row_ends, next.sources, sums_of_blocks,
              barrier),
          sort_ends(arcs.count, arcs.targets, arcs.sources, vertices, row_ends + vertices + 1, next.targets,
              sums_of_blocks, barrier)};
      open_vertices(vertices, rows, bits, words_of_searches);
      barrier.wait();
      WorkQueue<Vertex> queue{queue_vertices[threadIdx.x / kWarp], queue_directions[threadIdx.x / kWarp], 0};
      const Widening<Vertex> widening{
          Share(vertices), signatures, {rows[kAlong], rows[kAgainst]}, bits, {words_of_searches}, queue};
      settle_vertices(widening, barrier);
    }
    keep(ToldBy::kSignatures);
  }

  int roots_of_thread = 0;
  visit_of_grid(vertices, [&](int64_t v) {
    // The member that stands for the giant may be in the component of a smaller vertex.
    const Vertex root = signatures.component(signatures.component(Vertex(v)));
    roots[v] = Index(root);
    roots_of_thread += root == Vertex(v);
  });
  add_for_block(roots_of_thread, components);
}

}
