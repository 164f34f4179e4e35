// Which vertices a pivot reaches, and which reach it: those with both are in its strong component.
//
// How: each vertex has a bit for either search, and each arc one that says whether it may still pass on
// anything. A sweep goes through these arcs; what it has set, later threads of it see. Where the frontier
// creeps, the search is given up; what it has reached is true all the same. Cost: a sweep reads the bits of
// arcs, the arcs that have work left, and two random words of two bits a vertex for each. Source: Fleischer,
// Hendrickson and Pinar 2000; the bits are ours.
#pragma once

#include "cuda/graph/strong_memory.cuh"

namespace conncomp {

constexpr int kSamples = 8;                 // arcs that each thread looks at when a pivot is chosen
constexpr int kFewLong = 4;                 // of these, so that cuts may be found
constexpr int64_t kMutualRow = 8;           // that is looked through for an arc back
constexpr int kFarSamples = 16;             // of so many one is long at most where neighbours are near
constexpr int kMostSweeps = 64;             // of a search
constexpr int64_t kFewArcs = 16;            // for so many vertices one, so that trimming does not pay
constexpr int64_t kManyArcs = 4;            // a vertex, so that jumps by vertices cost less
constexpr int64_t kReachedOfVertices = 16;  // until it has reached one in so many, it has to grow fast

// Which searches have reached a vertex.
constexpr uint32_t kForward = 1, kBackward = 2, kBoth = 3;

// Where trimming pays, as far as numbers of arcs tell.
__device__ inline bool are_few(int64_t arcs, int64_t vertices) {
  return arcs > vertices / kFewArcs && arcs < kManyArcs * vertices;
}

// Which arc is the sample-th of kSampled that are spread over a list, with equal steps; and with unequal
// ones, as arcs may repeat with a period that divides equal ones.
constexpr int64_t kSampled = kSamples * kStrongThreads;
__device__ inline int64_t sampled_arc(int64_t arcs, int64_t sample) {
  return arcs / kSampled * sample + arcs % kSampled * sample / kSampled;
}
__device__ inline int64_t shifted_arc(int64_t arcs, int64_t sample) {
  const int64_t step = arcs / kSampled, shift = uint32_t(sample) * 2654435761u >> 16;
  return sampled_arc(arcs, sample) + (step == 0 ? 0 : shift % step);
}

// What a sample of arcs is held against.
struct SampleLimits {
  int64_t least_hub;       // the length of a row around which there may be a giant
  int64_t long_arc;        // how far an arc leads that few of may cross a cut
  int64_t least_chained;   // vertices, where chains are contracted or mutual arcs
  int64_t most_of_chains;  // arcs, where chains are contracted and few are mutual
  int64_t most_ends;  // of the sample, that lead to vertices without arcs out, where there are long chains
};

// Chooses the target of a sample of arcs that has the longest row; none, if there is no hub. Without rows, it
// is the target of an arc in the middle. By the same sample it tells which step is the first: where few arcs
// are long, cuts are looked for (cuts.cuh), or else, where chains are long, or many arcs mutual, these are
// contracted (chains.cuh). One block of kStrongThreads.
template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kStrongThreads)
    choose_pivot(int64_t vertices, ArcList<const Vertex> arcs, const Pointer* __restrict__ indptr,
                 SampleLimits limits, StrongState<Vertex>* state, int64_t* components) {
  follow_launch();
  constexpr int64_t kLongest = 0x7fffffff;
  __shared__ unsigned long long longest;  // and in its lower half the number of the sample
  if (threadIdx.x == 0) longest = 0;
  unsigned long long longest_of_thread = 0;
  int rising = 0, falling = 0;  // those that are long
  int ends = 0, mutual = 0;     // targets without arcs out, and those with an arc back
  __syncthreads();
  for (int k = 0; k < kSamples && arcs.count > 0; ++k) {
    const int64_t sample = k * kStrongThreads + int(threadIdx.x), arc = shifted_arc(arcs.count, sample);
    const Vertex u = arcs.sources[arc], v = arcs.targets[arc];
    rising += int64_t(v) - u >= limits.long_arc, falling += int64_t(u) - v >= limits.long_arc;
    if (!indptr) continue;
    ends += indptr[v] == indptr[v + 1], mutual += leads_back(arcs, indptr, u, v, kMutualRow);
    const Vertex hub = arcs.targets[sampled_arc(arcs.count, sample)];
    const int64_t degree = indptr[hub + 1] - indptr[hub];
    const int64_t shown = degree < kLongest ? degree : kLongest;
    const auto row = (unsigned long long)(shown << 32 | sample);
    if (degree >= limits.least_hub && row > longest_of_thread) longest_of_thread = row;
  }
  if (longest_of_thread > 0) InBlock::fetch_max(&longest, longest_of_thread);
  rising = block_sum<kStrongThreads>(rising), falling = block_sum<kStrongThreads>(falling);
  ends = block_sum<kStrongThreads>(ends), mutual = block_sum<kStrongThreads>(mutual);
  if (threadIdx.x != 0) return;
  *components = 0;
  *state = StrongState<Vertex>{0,
                               {},
                               {},
                               {},
                               {},
                               -1,
                               -1,
                               rising <= kFewLong || falling <= kFewLong,
                               rising + falling > kSampled / 2,
                               rising + falling <= kSampled / kFarSamples,
                               0,
                               0,
                               0,
                               arcs.count};
  if (arcs.count > 0 && (!indptr || longest > 0))
    state->pivot = state->member =
        arcs.targets[sampled_arc(arcs.count, indptr ? longest & 0xffffffff : kSampled / 2)];
  // Cuts are faster for chains of pairs side by side.
  const bool are_mutual = mutual > (state->may_be_cut ? kSampled * 3 / 4 : kSampled / 4);
  const bool are_chains =
      longest == 0 && vertices >= limits.least_chained &&
      (are_mutual || (arcs.count <= limits.most_of_chains && ends <= limits.most_ends && !state->may_be_cut));
  if (are_chains) state->pivot = -1;
  const bool are_cut = state->may_be_cut || (state->pivot < 0 && are_few(arcs.count, vertices));
  state->first_steps = arcs.count == 0 ? 0
                       : are_chains    ? kContractChains + (are_mutual ? kUniteMutual : 0)
                       : are_cut       ? kCutArcs
                                       : 0;
}

// Two searches from the pivot: which vertices it reaches, and which reach it.
template <class Vertex>
struct Searches : BitPairs<Vertex> {
  using BitPairs<Vertex>::of;
  using BitPairs<Vertex>::add;

  // Passes them along the arc u -> v, and adds to `reaches`; returns whether it may have to do so again.
  __device__ bool pass_along(Vertex u, Vertex v, int& reaches) const {
    const uint32_t u_reach = of(u), v_reach = of(v);
    const uint32_t new_v_reach = u_reach & ~v_reach & kForward, new_u_reach = v_reach & ~u_reach & kBackward;
    if (new_v_reach) add(v, new_v_reach), ++reaches;
    if (new_u_reach) add(u, new_u_reach), ++reaches;
    return !((v_reach | new_v_reach) & kForward) || !((u_reach | new_u_reach) & kBackward);
  }
};

// Goes through the arcs whose bit is set, or all in the first sweep, and leaves the bits of those that the
// searches have not passed both; returns how often they have reached a vertex.
template <class Vertex>
__device__ inline int sweep_searches(const ArcList<const Vertex>& arcs, const Searches<Vertex>& searches,
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

// Searches from the pivot, which has both bits already; returns whether the searches have come to their end.
template <class Vertex>
CONNCOMP_PHASE bool search(ArcList<const Vertex> arcs, int64_t vertices, Searches<Vertex> searches,
                           uint32_t* bits_of_arcs, StrongState<Vertex>* state, GridBarrier& barrier) {
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const int reaches = sweep_searches(arcs, searches, bits_of_arcs, sweep == 0);
    const int64_t sum = block_sum<kStrongThreads>(int64_t(reaches));
    // Of two sums in turns, nobody adds to the one that is read, so that all blocks decide alike.
    if (threadIdx.x == 0 && sum > 0) Current::fetch_add(state->reaches + sweep % 2, sum);
    if (!barrier.any(reaches > 0)) return true;
    const int64_t reached = Current::load(state->reaches + sweep % 2) + 1;
    if (reached < vertices / kReachedOfVertices && reached >> sweep == 0) return false;
  }
  return false;
}

// Lets state->member be the smallest vertex that both searches have reached.
template <class Vertex>
__device__ inline void find_member(int64_t vertices, const Searches<Vertex>& searches,
                                   StrongState<Vertex>* state) {
  const int64_t words = (vertices + kVerticesOfWord - 1) / kVerticesOfWord;
  visit_of_grid(words, [&](int64_t word) {
    const uint32_t bits = searches.words[word], both = bits & bits >> 1 & 0x55555555;
    if (!both) return;
    const Vertex v = Vertex(word * kVerticesOfWord + (__ffs(int(both)) - 1) / 2);
    if (v < Current::load(&state->member)) Current::fetch_min(&state->member, v);
  });
}

}  // namespace conncomp
