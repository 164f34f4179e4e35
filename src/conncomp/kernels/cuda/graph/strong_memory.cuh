// The memory that the kernels of strong components share.
#pragma once

#include "cuda/graph/arc_lists.cuh"
#include "cuda/graph/extremes.cuh"

namespace conncomp {

constexpr int kVerticesOfWord = 16;

constexpr int64_t kFewArcs = 16;  // for so many vertices one, so that trimming does not pay
constexpr int64_t kManyArcs = 4;  // a vertex, so that jumps by vertices cost less

// Where trimming pays, as far as numbers of arcs tell.
__device__ inline bool are_few(int64_t arcs, int64_t vertices) {
  return arcs > vertices / kFewArcs && arcs < kManyArcs * vertices;
}

// As many of a multiprocessor, on every kind of GPU, as leave a thread the registers that it needs.
constexpr int kStrongBlocks = resident_blocks(kStrongThreads) < 3 ? resident_blocks(kStrongThreads) : 3;

// Kernels that the host leaves out where they have nothing to do, rather than compile them.
constexpr int64_t kCutArcs = 1, kContractChains = 2;
constexpr int64_t kUniteMutual = 4;  // and chains are contracted

// Two bits for each vertex.
template <class Vertex>
struct BitPairs {
  uint32_t* words;

  __device__ uint32_t* word(Vertex v) const { return words + v / kVerticesOfWord; }
  __device__ static uint32_t pick(uint32_t word, Vertex v) {
    return word >> 2 * int(v % kVerticesOfWord) & 3;
  }
  __device__ uint32_t of(Vertex v) const { return pick(Shared::load(word(v)), v); }
  __device__ void add(Vertex v, uint32_t bits) const {
    Shared::fetch_or(word(v), bits << 2 * int(v % kVerticesOfWord));
  }
};

// What the blocks share beside arcs; 0 at first, but for the pivot and the member.
template <class Vertex>
struct StrongState {
  int64_t first_steps;  // the sum of those that have anything to do; the host reads it
  uint32_t barrier[GridBarrier::kWords];
  uint32_t barrier_of_first[GridBarrier::kWords];  // of the first step
  int64_t reaches[2];  // how often the even and the odd sweeps of searches have reached a vertex
  int64_t queued[3];   // how many vertices are trimmed in each of three levels in turns
  Vertex pivot;        // or -1
  Vertex member;       // the smallest of the giant as far as it is known, at first the pivot
  // Whether few arcs of a sample are long ones, of those that rise or of those that fall.
  int32_t may_be_cut;
  // Whether most arcs are long ones, so that neighbours are scattered in memory.
  int32_t are_scattered;
  // Whether few are, so that neighbours lie side by side.
  int32_t are_near;
  // Whether some vertices of a sample have no arcs in; and whether extremes are final.
  int32_t has_first, is_settled;
  int32_t are_in_spare;  // whether arcs that are left are in the spare list, not in the next one
  int64_t kept;          // arcs
};

// Whether an arc leads from v to u, where v has at most so many. Arcs lie in the order of rows.
template <class Pointer, class Vertex>
__device__ inline bool leads_back(const ArcList<const Vertex>& arcs, const Pointer* indptr, Vertex u,
                                  Vertex v, int64_t most_arcs) {
  const int64_t begin = indptr[v], end = indptr[v + 1];
  if (end - begin > most_arcs) return false;
  bool does = false;
  for (int64_t arc = begin; arc < end; ++arc) does |= arcs.targets[arc] == u;
  return does;
}

// The memory of strong_components. Laid out as in strong_components.py.
template <class Vertex>
struct StrongMemory {
  Vertex *spare_sources, *spare_targets;  // a list of as many arcs as are given, which these may be in
  Vertex *next_sources, *next_targets;    // another one, to which arcs that are kept are copied first
  int64_t* row_ends;                      // two of each vertex, and two more
  uint32_t* bits;                         // one of each arc, or of each vertex
  uint32_t* words_of_searches;            // two bits of each vertex
  Vertex* signatures;                     // four entries of each vertex
  int64_t* sums_of_blocks;                // three of each block
  StrongState<Vertex>* state;
};

// Extremes are where rows will end.
template <class Vertex>
__device__ inline Extremes<Vertex> extremes_in(const StrongMemory<Vertex>& memory) {
  return {reinterpret_cast<Vertex*>(memory.row_ends)};
}

// Arcs that are left, and two lists that they are copied to by turns.
template <class Vertex>
struct KeptArcs {
  ArcList<const Vertex> arcs;
  ArcList<Vertex> next, spare;

  __device__ KeptArcs(const ArcList<const Vertex>& arcs, const StrongMemory<Vertex>& memory)
      : arcs(arcs),
        next{memory.next_sources, memory.next_targets, 0},
        spare{memory.spare_sources, memory.spare_targets, 0} {}
  // All blocks meet.
  template <class Keeping>
  __device__ void keep(const StrongMemory<Vertex>& memory, GridBarrier& barrier, const Keeping& keeping) {
    const int64_t kept = keep_arcs(arcs, next, memory.bits, memory.sums_of_blocks, barrier, keeping);
    arcs = {next.sources, next.targets, kept};
    swap_values(next, spare);
  }
  // Tells strong_components which arcs are left, whose extremes are final.
  __device__ void tell(const StrongMemory<Vertex>& memory) const {
    memory.state->kept = arcs.count;
    memory.state->are_in_spare = arcs.sources == memory.spare_sources;
    memory.state->is_settled = 1;
  }
};

}  // namespace conncomp
