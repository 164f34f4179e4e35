// Which vertex the searches for a giant start from, and which kernel comes first, by a sample of some
// thousand arcs, in one block. A file of its own: launched while strong_components is being compiled, it
// tells whether there is more to compile. Source: ours.
#pragma once

#include "cuda/graph/arc_lists.cuh"
#include "cuda/graph/edges.cuh"

namespace conncomp {

constexpr int kSamples = 8;        // arcs that each thread looks at
constexpr int kFewLong = 4;        // of these, so that cuts may be found
constexpr int64_t kMutualRow = 8;  // that is looked through for an arc back
constexpr int kFarSamples = 16;    // of so many one is long at most where neighbours are near

// The sample-th of kSampled arcs spread over a list, by equal steps; or unequal ones, as arcs may repeat.
constexpr int64_t kSampled = kSamples * kStrongThreads;
inline int64_t sampled_arc(int64_t arcs, int64_t sample) {
  return arcs / kSampled * sample + arcs % kSampled * sample / kSampled;
}
inline int64_t shifted_arc(int64_t arcs, int64_t sample) {
  const int64_t step = arcs / kSampled;
  const uint32_t shift = uint32_t(sample) * 2654435761u >> 16;  // of 16 bits
  return sampled_arc(arcs, sample) + (step == 0 ? 0 : step > shift ? shift : shift % uint32_t(step));
}

// What a sample of arcs is held against.
struct SampleLimits {
  int64_t least_hub;       // the length of a row around which there may be a giant
  int64_t long_arc;        // how far an arc leads that few of may cross a cut
  int64_t least_chained;   // vertices, where chains are contracted or mutual arcs
  int64_t most_of_chains;  // arcs, where chains are contracted and few are mutual
  int64_t most_ends;  // of the sample, that lead to vertices without arcs out, where there are long chains
};

// Chooses the target of a sample of arcs with the longest row, if that is a hub's, or without rows one in the
// middle; and the first step: cuts where few arcs are long, chains where they are long or many arcs mutual.
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
  StrongState<Vertex> first{};
  first.pivot = first.member = -1, first.kept = arcs.count;
  first.may_be_cut = rising <= kFewLong || falling <= kFewLong;
  first.are_scattered = rising + falling > kSampled / 2;
  first.are_near = rising + falling <= kSampled / kFarSamples;
  *state = first;
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

}
