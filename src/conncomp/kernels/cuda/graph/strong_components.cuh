// Strong components of a directed graph on the GPU: a search for the giant, then signatures. The default.
//
// What: fills roots[v] with the smallest vertex of v's strong component, and *components with their number,
// for a list of arcs. How: one launch (strong_components), in which all blocks meet after each step.
//   1. Where a vertex has far more arcs than most (choose_pivot), there may be a giant component around it.
//   Two
//      searches are run from there (giant_search.cuh). The vertices that both reach become one vertex, the
//      smallest of them. Arcs among them are dropped, and if the searches have come to their end, also arcs
//      between vertices that differ in who reaches them.
//   2. Signatures of the ends of arcs start anew, and widen until they are final (signatures.cuh): by some
//   sweeps
//      over the arcs, each block over a share of them until nothing changes there (settle_arcs). Where that
//      does not do, as in meshes with long paths, arcs are sorted by their ends, and only what has changed is
//      passed on (widening.cuh). Lists of about as many arcs as vertices are paths, for which there are two
//      ways to jump.
//   3. Arcs between components, and those of components that are told, are dropped (arc_lists.cuh). Steps 2
//   and 3
//      again until there are none.
// Cost: rounds of steps 2 and 3 are about the logarithm of the number of components on a path. Memory: 4
// words for each arc, 8 for each vertex, and some bits. The host never waits. Source: Fleischer, Hendrickson
// and Pinar 2000 for step 1, Alabandi, Sands, Biros and Burtscher 2023 (ECL-SCC) for step 2; bits, shares,
// marks and meetings are ours.
#pragma once

#include "cuda/graph/roots.cuh"
#include "cuda/graph/widening.cuh"

namespace conncomp {

// As many of a multiprocessor, on every kind of GPU, as leave a thread the registers that it needs.
constexpr int kStrongBlocks = resident_blocks(kStrongThreads) < 3 ? resident_blocks(kStrongThreads) : 3;
constexpr int kArcSweeps = 8;  // over the arcs, between two meetings

// Widens signatures by sweeps over the arcs, each block over its share; returns whether they are final
// after at most so many meetings. All blocks meet.
template <class Vertex>
__device__ inline bool settle_arcs(const ArcList<const Vertex>& arcs, const Signatures<Vertex>& signatures,
                                   Jumps jumps, int64_t most_meetings, GridMeeting& meeting) {
  const Share share(arcs.count, kSmallestShare);
  for (int meetings = 0; meetings < most_meetings; ++meetings) {
    bool changed = false;
    for (int sweep = 0; sweep < kArcSweeps; ++sweep) {
      bool sweep_changed = false;
      for (int64_t arc = share.begin + int(threadIdx.x); arc < share.end; arc += kStrongThreads)
        sweep_changed |= pass_along(signatures, arcs.sources[arc], arcs.targets[arc], jumps);
      changed |= sweep_changed;
      if (!__syncthreads_or(sweep_changed)) break;
    }
    if (!meeting.any(changed)) return true;
  }
  return false;
}

// The ends of arcs know themselves only. All blocks meet.
template <class Vertex>
__device__ inline void reset_ends(const ArcList<const Vertex>& arcs, const Signatures<Vertex>& signatures,
                                  GridMeeting& meeting) {
  for (int64_t arc = grid_thread(); arc < arcs.count; arc += grid_threads()) {
    signatures.reset(arcs.sources[arc]);
    signatures.reset(arcs.targets[arc]);
  }
  meeting.wait();
}

// The given arcs may be in the first list; the lists are memory for as many ends in each. All blocks run at
// the same time.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kStrongThreads, kStrongBlocks)
    strong_components(int64_t vertices, int64_t count, int64_t most_meetings, bool are_paths,
                      const Vertex* given_sources, const Vertex* given_targets, Vertex* first_list,
                      Vertex* second_list, Vertex* third_list, Vertex* fourth_list, int64_t* row_ends,
                      uint32_t* bits, uint32_t* words_of_searches, Vertex* signature_entries,
                      int64_t* sums_of_blocks, StrongState<Vertex>* state, Index* __restrict__ roots,
                      int64_t* components) {
  __shared__ Vertex queue_vertices[kStrongThreads / kWarp][2 * kWarp];
  __shared__ uint8_t queue_directions[kStrongThreads / kWarp][2 * kWarp];
  GridMeeting meeting(state->meeting);
  const Signatures<Vertex> signatures{signature_entries};
  const Searches<Vertex> searches{{words_of_searches}};
  const Vertex pivot = state->pivot;

  ArcList<const Vertex> arcs{given_sources, given_targets, count};
  ArcList<Vertex> next{third_list, fourth_list, 0}, spare{first_list, second_list, 0};
  const auto keep = [&](const auto& keeps, const auto& write) {
    const int64_t kept = keep_arcs(
        arcs, bits, sums_of_blocks, meeting, keeps,
        [&](Vertex u, Vertex v, int64_t place) { write(u, v, next.sources[place], next.targets[place]); });
    arcs = {next.sources, next.targets, kept};
    const ArcList<Vertex> full = next;
    next = spare, spare = full;
  };

  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) signatures.reset(Vertex(v));
  for (int64_t word = grid_thread(); word * kVerticesOfWord < vertices; word += grid_threads())
    words_of_searches[word] =
        pivot >= 0 && word == pivot / kVerticesOfWord ? kBoth << 2 * int(pivot % kVerticesOfWord) : 0;
  meeting.wait();
  if (pivot >= 0) {
    const bool is_complete = search(arcs, vertices, searches, bits, state, meeting);
    find_member(vertices, searches, state);
    meeting.wait();
    const Vertex member = Current::load(&state->member);
    for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
      if (searches.of(Vertex(v)) == kBoth) signatures.put_into(Vertex(v), member);
    keep(
        [&](Vertex u, Vertex v) {
          const uint32_t of_u = searches.of(u), of_v = searches.of(v);
          return is_complete ? of_u == of_v && of_u != kBoth : (of_u & of_v) != kBoth;
        },
        [&](Vertex u, Vertex v, Vertex& source, Vertex& target) {
          source = searches.of(u) == kBoth ? member : u;
          target = searches.of(v) == kBoth ? member : v;
        });
  }

  Jumps jumps = Jumps::kTogether;
  while (arcs.count > 0) {
    bool is_final = settle_arcs(arcs, signatures, jumps, most_meetings, meeting);
    if (!is_final && are_paths) {
      jumps = jumps == Jumps::kTogether ? Jumps::kApart : Jumps::kTogether;
      reset_ends(arcs, signatures, meeting);
      is_final = settle_arcs(arcs, signatures, jumps, most_meetings, meeting);
    }
    if (!is_final) {
      // Nothing is kept in the next list yet.
      const EndsOfVertices<Vertex> rows[kDirections] = {{row_ends, next.sources},
                                                        {row_ends + vertices, next.targets}};
      sort_ends(arcs, vertices, rows, sums_of_blocks, meeting);
      open_vertices(vertices, rows, bits, words_of_searches);
      meeting.wait();
      WorkQueue<Vertex> queue{queue_vertices[threadIdx.x / kWarp], queue_directions[threadIdx.x / kWarp], 0};
      Widening<Vertex> widening(vertices, signatures, rows, bits, words_of_searches, queue);
      settle_vertices(widening, meeting);
    }
    keep([&](Vertex u, Vertex v) { return !signatures.is_told(u) && signatures.are_equal(u, v); },
         [&](Vertex u, Vertex v, Vertex& source, Vertex& target) {
           source = u, target = v;
           signatures.reset(u);
           signatures.reset(v);
         });
  }

  int roots_of_thread = 0;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    // The member that stands for the giant may be in the component of a smaller vertex.
    const Vertex root = signatures.component(signatures.component(Vertex(v)));
    roots[v] = Index(root);
    roots_of_thread += root == Vertex(v);
  }
  add_for_block(roots_of_thread, components);
}

}  // namespace conncomp
