// The memory of kernels of strong components, and what all blocks do with lists of arcs. keep_arcs keeps
// some, in order: blocks count theirs, a bit an arc, and write them behind earlier blocks'. sort_ends sorts
// ends by vertices: rows are counted, summed, and filled in any order; a list by sources has its rows
// (rows_in_order). Cost: arcs read twice and written once, and a bit each; two atomic additions an end.
#pragma once

#include "cuda/core/barrier.cuh"
#include "cuda/graph/extremes.cuh"
#include "cuda/graph/signatures.cuh"

namespace conncomp {

constexpr int kStrongThreads = 512;
constexpr int64_t kSmallestShare = 4096;  // of arcs, that a block takes

template <class Vertex> struct ArcList {
  Vertex *sources, *targets;
  int64_t count;
};

// The consecutive arcs, or vertices, that are the work of a block: a multiple of the threads of a warp.
struct Share {
  int64_t begin, end;

  explicit Share(int64_t count, int64_t smallest = kWarp) {
    // In words, fewer than 2^32 wherever arcs have room: a division of 64 bits is long.
    const uint32_t words = uint32_t((count + kWarp - 1) / kWarp);
    const int64_t fair = int64_t((words + gridDim.x - 1) / gridDim.x) * kWarp;
    const int64_t size = fair < smallest ? smallest : fair;
    begin = size * blockIdx.x < count ? size * blockIdx.x : count;
    end = begin + size < count ? begin + size : count;
  }
};

// Calls visit(index) for this thread's indices below `count`; unrolled, it took half the compile time.
void visit_of_grid(int64_t count, auto&& visit) {
#pragma unroll 1
  for (int64_t index = grid_thread(); index < count; index += grid_threads()) visit(index);
}

// Calls visit(row) by all threads of a block for each row of its share, of an index a thread.
void visit_rows(const Share& share, auto&& visit) {
#pragma unroll 1
  for (int64_t row = share.begin; row < share.end; row += kStrongThreads) visit(row);
}

// Calls visit(u, v) by whole warps for several arcs of a share each; behind its end these are the last arc.
template <int count, class Vertex>
void visit_ends(const ArcList<const Vertex>& arcs, const Share& share, auto&& visit) {
  for (int64_t row = share.begin + int(threadIdx.x) - lane(); row < share.end;
      row += count * kStrongThreads) {
    Vertex u[count], v[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int64_t place = row + k * kStrongThreads + lane(),
                    arc = place < share.end ? place : share.end - 1;
      u[k] = arcs.sources[arc], v[k] = arcs.targets[arc];
    }
    visit(u, v);
  }
}

// Called, not inlined, as copies are a sixth of what cut_arcs takes to compile.
template <int = 0> CONNCOMP_PHASE void meet(GridBarrier& barrier) { barrier.wait(); }
template <int = 0> CONNCOMP_PHASE int64_t sum_of_block(int64_t value) {
  return block_sum<kStrongThreads>(value);
}
template <int = 0> CONNCOMP_PHASE int scan_of_block(int value, int& total) {
  return block_scan<kStrongThreads>(value, total);
}

// The sum over the blocks before, and in `total` over all. All blocks meet. Called, to compile faster.
template <int = 0>
CONNCOMP_PHASE int64_t grid_scan(
    int64_t value, int64_t& total, int64_t* sums_of_blocks, GridBarrier& barrier) {
  value = sum_of_block(value);
  if (threadIdx.x == 0) sums_of_blocks[blockIdx.x] = value;
  barrier.wait();
  int64_t before = 0, after = 0;
#pragma unroll 1
  for (unsigned int block = threadIdx.x; block < gridDim.x; block += kStrongThreads)
    (block < blockIdx.x ? before : after) += sums_of_blocks[block];
  before = sum_of_block(before);
  total = before + sum_of_block(after);
  return before;
}

// Copies arcs that keeping.keeps(u, v) in order, by keeping.write(); returns their number. All blocks meet.
template <class Vertex>
CONNCOMP_PHASE int64_t keep_arcs(ArcList<const Vertex> arcs, ArcList<Vertex> kept_arcs,
    uint32_t* bits_of_arcs, int64_t* sums_of_blocks, GridBarrier& barrier, auto keeping) {
  const Share share(arcs.count, kSmallestShare);
  int64_t kept_by_thread = 0;
  visit_rows(share, [&](int64_t row) {
    const int64_t arc = row + int(threadIdx.x);
    const bool keep = arc < share.end && keeping.keeps(arcs.sources[arc], arcs.targets[arc]);
    const uint32_t bits = __ballot_sync(kAllLanes, keep);
    if (lane() == 0 && arc < share.end) bits_of_arcs[arc / kWarp] = bits;
    kept_by_thread += keep;
  });
  int64_t all;
  int64_t before = grid_scan(kept_by_thread, all, sums_of_blocks, barrier);
  visit_rows(share, [&](int64_t row) {
    const int64_t arc = row + int(threadIdx.x);
    const bool keep = arc < share.end && bits_of_arcs[arc / kWarp] >> lane() & 1;
    int kept_in_row;
    const int64_t place = before + block_scan<kStrongThreads>(keep, kept_in_row);
    if (keep)
      keeping.write(arcs.sources[arc], arcs.targets[arc], kept_arcs.sources[place], kept_arcs.targets[place]);
    before += kept_in_row;
  });
  barrier.wait();
  return all;
}

// Arcs by their ends: those of v, along or against them, lead to ends[begin(v)] and so on.
template <class Vertex> struct EndsOfVertices {
  const int64_t *begins, *row_ends;
  const Vertex* ends;

  int64_t begin(Vertex v) const { return begins[v]; }
  int64_t end(Vertex v) const { return row_ends[v]; }
};

// From the lengths of rows to where they begin. All blocks meet.
inline void add_up(int64_t vertices, int64_t* lengths, int64_t* sums_of_blocks, GridBarrier& barrier) {
  const Share share(vertices);
  int64_t sum = 0, all;
#pragma unroll 1
  for (int64_t v = share.begin + int(threadIdx.x); v < share.end; v += kStrongThreads) sum += lengths[v];
  int64_t before = grid_scan(sum, all, sums_of_blocks, barrier);
  visit_rows(share, [&](int64_t row) {
    const int64_t v = row + int(threadIdx.x);
    const int length = v < share.end ? int(lengths[v]) : 0;
    int length_of_row;
    const int64_t begin = before + scan_of_block(length, length_of_row);
    if (v < share.end) lengths[v] = begin;
    before += length_of_row;
  });
  meet(barrier);
}

// Sorts the ends of arcs by where they start; rows begin where those before end. All blocks meet.
template <class Vertex>
CONNCOMP_PHASE EndsOfVertices<Vertex> sort_ends(int64_t arcs, const Vertex* starts, const Vertex* ends,
    int64_t vertices, int64_t* begins, Vertex* sorted, int64_t* sums_of_blocks, GridBarrier& barrier) {
  int64_t* const row_ends = begins + 1;
  visit_of_grid(vertices + 1, [=](int64_t v) { begins[v] = 0; });
  meet(barrier);
  visit_of_grid(arcs, [=](int64_t arc) { Current::fetch_add(row_ends + starts[arc], int64_t(1)); });
  meet(barrier);
  add_up(vertices, row_ends, sums_of_blocks, barrier);
  visit_of_grid(
      arcs, [=](int64_t arc) { sorted[Current::fetch_add(row_ends + starts[arc], int64_t(1))] = ends[arc]; });
  meet(barrier);
  return {begins, row_ends, sorted};
}

// The rows of a list in the order of its sources. All blocks meet.
template <class Vertex>
CONNCOMP_PHASE EndsOfVertices<Vertex> rows_in_order(
    ArcList<const Vertex> arcs, int64_t vertices, int64_t* begins, int64_t* row_ends, GridBarrier& barrier) {
  visit_of_grid(vertices, [=](int64_t v) { begins[v] = row_ends[v] = 0; });
  meet(barrier);
  visit_of_grid(arcs.count, [=](int64_t arc) {
    const Vertex u = arcs.sources[arc];
    if (arc == 0 || arcs.sources[arc - 1] != u) begins[u] = arc;
    if (arc + 1 == arcs.count || arcs.sources[arc + 1] != u) row_ends[u] = arc + 1;
  });
  meet(barrier);
  return {begins, row_ends, arcs.targets};
}

constexpr int kVerticesOfWord = 16;

constexpr int64_t kFewArcs = 16;  // for so many vertices one, so that trimming does not pay
constexpr int64_t kManyArcs = 4;  // a vertex, so that jumps by vertices cost less

// Where trimming pays, as far as numbers of arcs tell.
inline bool are_few(int64_t arcs, int64_t vertices) {
  return arcs > vertices / kFewArcs && arcs < kManyArcs * vertices;
}

// As many of a multiprocessor, on every kind of GPU, as leave a thread the registers that it needs.
constexpr int kStrongBlocks = resident_blocks(kStrongThreads) < 3 ? resident_blocks(kStrongThreads) : 3;

// Kernels that the host leaves out where they have nothing to do, rather than compile them.
constexpr int64_t kCutArcs = 1, kContractChains = 2;
constexpr int64_t kUniteMutual = 4;  // and chains are contracted

// Two bits for each vertex.
template <class Vertex> struct BitPairs {
  uint32_t* words;

  uint32_t* word(Vertex v) const { return words + v / kVerticesOfWord; }
  static uint32_t pick(uint32_t word, Vertex v) { return word >> 2 * int(v % kVerticesOfWord) & 3; }
  uint32_t of(Vertex v) const { return pick(Concurrent::load(word(v)), v); }
  void add(Vertex v, uint32_t bits) const {
    Concurrent::fetch_or(word(v), bits << 2 * int(v % kVerticesOfWord));
  }
};

// What the blocks share beside arcs; 0 at first, but for the pivot and the member.
template <class Vertex> struct StrongState {
  int64_t first_steps;  // the sum of those that have anything to do; the host reads it
  uint32_t barrier[GridBarrier::kWords];
  uint32_t barrier_of_first[GridBarrier::kWords];  // of the first step
  int64_t reaches[2];     // how often the even and the odd sweeps of searches have reached a vertex
  int64_t queued[3];      // how many vertices are trimmed in each of three levels in turns
  Vertex pivot;           // or -1
  Vertex member;          // the smallest of the giant as far as it is known, at first the pivot
  int32_t may_be_cut;     // whether few arcs of a sample are long ones that rise, or that fall
  int32_t are_scattered;  // whether most are long, so that neighbours are scattered in memory
  int32_t are_near;       // whether few are, so that neighbours lie side by side
  int32_t has_first;      // whether some vertices of a sample have no arcs in
  int32_t is_settled;     // whether extremes are final
  int32_t are_in_spare;   // whether arcs that are left are in the spare list, not in the next one
  int64_t kept;           // arcs
};

// Whether an arc leads from v to u, where v has at most so many. Arcs lie in the order of rows.
template <class Vertex>
bool leads_back(
    const ArcList<const Vertex>& arcs, const Integer auto* indptr, Vertex u, Vertex v, int64_t most_arcs) {
  const int64_t begin = indptr[v], end = indptr[v + 1];
  if (end - begin > most_arcs) return false;
  bool does = false;
  for (int64_t arc = begin; arc < end; ++arc) does |= arcs.targets[arc] == u;
  return does;
}

// The memory of strong_components. Layout: strong_components.py.
template <class Vertex> struct StrongMemory {
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
template <class Vertex> Extremes<Vertex> extremes_in(const StrongMemory<Vertex>& memory) {
  return {reinterpret_cast<Vertex*>(memory.row_ends)};
}

// Arcs that are left, and two lists that they are copied to by turns.
template <class Vertex> struct KeptArcs {
  ArcList<const Vertex> arcs;
  ArcList<Vertex> next, spare;

  KeptArcs(const ArcList<const Vertex>& arcs, const StrongMemory<Vertex>& memory)
      : arcs(arcs),
        next{memory.next_sources, memory.next_targets, 0},
        spare{memory.spare_sources, memory.spare_targets, 0} {}
  // All blocks meet.
  void keep(const StrongMemory<Vertex>& memory, GridBarrier& barrier, const auto& keeping) {
    const int64_t kept = keep_arcs(arcs, next, memory.bits, memory.sums_of_blocks, barrier, keeping);
    arcs = {next.sources, next.targets, kept};
    swap_values(next, spare);
  }
  // Tells strong_components which arcs are left, whose extremes are final.
  void tell(const StrongMemory<Vertex>& memory) const {
    memory.state->kept = arcs.count;
    memory.state->are_in_spare = arcs.sources == memory.spare_sources;
    memory.state->is_settled = 1;
  }
};

}
