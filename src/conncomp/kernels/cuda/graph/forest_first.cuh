// The first edges of a spanning forest, found in each vertex's own row. If rows are sorted and arcs weigh the
// same both ways (count_descents, weigh_both_ways), each vertex is united over the least edge of its row:
// with its smallest neighbour where keys are in order (unite_in_order), or, by weight, once all have chosen
// (choose_first, unite_first). A thread a vertex, a warp a long row. Cost: arcs read once for the checks, and
// up to once by choose_first. Source: boruvka.cuh, step 1.
#pragma once

#include "cuda/graph/forest_memory.cuh"

namespace conncomp {

constexpr int kLongForestRow = 32;  // from here on a row is the work of a warp
constexpr int kHubInFirst = 256;    // up to here, where the vertices of a warp may all have long ones
// Blocks of choose_first that leave a thread the registers it needs: more with vertices of 64 bits.
template <class Vertex>
constexpr int kChoosingBlocks = resident_blocks(kForestThreads) * (sizeof(Vertex) == 4 ? 4 : 3) / 4;

// Each of the vertices is a tree, no arc is chosen, and of rows nothing is known that speaks against them.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads) start_forest(
    int64_t vertices, int64_t words, int64_t imbalance, ForestMemory<Index, Key> memory, int64_t* total) {
  follow_launch();
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) memory.first_parent[v] = Index(v);
  for (int64_t w = grid_thread(); w < words; w += grid_threads()) memory.chosen[w] = 0;
  if (grid_thread() == 0) {
    memory.counters->edges[0].count = memory.counters->edges[1].count = 0;
    *memory.trees = *total = 0, memory.counters->has_hubs_outside = 0;
    memory.counters->has_far_parents = memory.counters->has_long_rows = 0;
    memory.counters->has_late_edges = 0;
    *memory.imbalance = uint64_t(imbalance), *memory.disorder = 0;
  }
}

// Adds to *disorder how many arcs lead to a smaller vertex than the arc before: 0 if rows are sorted.
template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kForestThreads) count_descents(int64_t vertices, int64_t arcs,
    const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, uint64_t* disorder) {
  follow_launch();
  int64_t descents = 0;
  const auto descends = [=](int64_t arc) { return arc > 0 && indices[arc] < indices[arc - 1]; };
#pragma unroll 4
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) descents += descends(arc);
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    if (indptr[v] < indptr[v + 1]) descents -= descends(int64_t(indptr[v]));
  descents = block_sum<kForestThreads>(descents);
  if (threadIdx.x == 0 && descents != 0) Concurrent::fetch_add(disorder, uint64_t(descents));
}

// Adds to *imbalance the hashes of arcs to larger vertices less others', and to *disorder as count_descents.
template <class Bits, class Pointer, class Vertex>
__global__ void __launch_bounds__(kForestThreads, kListingBlocks)
    weigh_both_ways(ForestRows<Pointer, Vertex> rows, int64_t arcs, const Bits* __restrict__ weights,
        WeightOrder<Bits> order, uint64_t key, uint64_t* imbalance, uint64_t* disorder) {
  follow_launch();
  const Pointer* __restrict__ indptr = rows.indptr;
  const Vertex* __restrict__ indices = rows.indices;
  uint64_t sum = 0, descents = 0;
  rows.visit_spans(arcs, [&](int64_t begin, int64_t end, const auto& sources) {
    for (int64_t row = begin; row < end; row += kListedAtOnce * kForestThreads) {
      Vertex target[kListedAtOnce], target_before[kListedAtOnce];
      Bits weight[kListedAtOnce];
#pragma unroll
      for (int k = 0; k < kListedAtOnce; ++k) {
        const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
        if (arc >= end) continue;
        target[k] = indices[arc], target_before[k] = indices[arc > 0 ? arc - 1 : 0];
        weight[k] = weights[arc];
      }
#pragma unroll
      for (int k = 0; k < kListedAtOnce; ++k) {
        const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
        const int64_t u = arc < end ? sources.source(arc) : -1, v = int64_t(target[k]);
        if (u < 0) continue;
        descents += target[k] < target_before[k] && arc > int64_t(indptr[u]);
        const uint64_t low = uint64_t(u < v ? u : v), high = uint64_t(u < v ? v : u);
        const uint64_t ends = sizeof(Vertex) == 4 ? low << 32 | high : mix(low ^ key) + high;
        const uint64_t hash = mix(mix(ends ^ key) + uint64_t(order(weight[k])));
        if (u != v) sum += u < v ? hash : uint64_t(0) - hash;
      }
    }
  });
  sum = block_sum<kForestThreads>(sum);
  descents = block_sum<kForestThreads>(descents);
  if (threadIdx.x == 0) {
    Concurrent::fetch_add(imbalance, sum);
    if (descents != 0) Concurrent::fetch_add(disorder, descents);
  }
}

// Where keys are numbers of arcs, and rows known: puts each vertex under its smallest neighbour, or where
// that goes, if all are larger, and chooses the edge by its number in the smaller one's row. Of two that
// choose each other, the smaller stays a root; so nothing written is read. Edges of vertices `far` apart are
// left to link_edges and link_short_rows.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads)
    unite_in_order(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Keys keys, int64_t far, ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  const ForestRows<Pointer, Vertex> rows{indptr, indices, vertices};
  const bool is_known = *memory.disorder == 0;
  bool has_far_parent = false;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    int64_t above = v, arc = is_known ? rows.first_edge(v) : -1;
    const int64_t u = arc < 0 ? v : rows.target(arc);
    if (u < v) {
      above = u;
      if (v - u < far)
        arc = rows.least_arc(keys, u, v);
      else
        arc = -1, has_far_parent = true;
    } else if (u > v) {
      const int64_t back = rows.first_edge(u);
      if (back >= 0) above = rows.target(back);
    }
    // If the rows have changed meanwhile, it may be a larger one, which is no parent.
    memory.first_parent[v] = Index(above < v ? above : v);
    if (arc >= 0) choose_arc(memory.chosen, arc);
  }
  if (has_far_parent) set_flag(&memory.counters->has_far_parents);
}

// The least edge of a vertex, as far as it is known.
template <class Vertex, class Key> struct LeastEdge {
  Key key = kNoKey<Key>;
  Vertex end = -1;

  void include(Key candidate_key, Vertex candidate_end) {
    if (candidate_key < key) key = candidate_key, end = candidate_end;
  }
};

// By weight: ends[v] becomes the other end of v's least edge, chosen if v is the smaller end; v itself, if it
// has none, its row is too long for a warp, or nothing is known of rows.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads, kChoosingBlocks<Vertex>) choose_first(int64_t vertices,
    const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Keys keys,
    const uint64_t* imbalance, const uint64_t* disorder, Index* __restrict__ ends, uint32_t* chosen) {
  using Key = typename Keys::Key;
  follow_launch();
  const bool is_known = *imbalance == 0 && *disorder == 0;
  for (int64_t row = grid_thread() - lane(); row < vertices; row += grid_threads()) {
    const int64_t v = row + lane();
    const bool exists = is_known && v < vertices;
    const int64_t begin = exists ? int64_t(indptr[v]) : 0;
    int64_t end = exists ? int64_t(indptr[v + 1]) : 0;
    if (end - begin > kHubInFirst) end = begin;
    LeastEdge<Vertex, Key> least;
    const auto look_at = [&, keys](int64_t arc, int64_t source) {
      const Vertex target = indices[arc];
      if (target != source && is_vertex(target, vertices)) least.include(keys.key(arc), target);
    };
    if (end - begin < kLongForestRow)
      for (int64_t arc = begin; arc < end; ++arc) look_at(arc, v);
    for (uint32_t open = __ballot_sync(kAllLanes, end - begin >= kLongForestRow); open; open &= open - 1) {
      const int worker = __ffs(int(open)) - 1;
      const int64_t row_end = __shfl_sync(kAllLanes, end, worker);
      const LeastEdge<Vertex, Key> least_of_lane = least;
      least = {};
#pragma unroll 4
      for (int64_t arc = __shfl_sync(kAllLanes, begin, worker) + lane(); arc < row_end; arc += kWarp)
        look_at(arc, row + worker);
      for (int step = kWarp / 2; step > 0; step /= 2)
        least.include(
            __shfl_xor_sync(kAllLanes, least.key, step), __shfl_xor_sync(kAllLanes, least.end, step));
      if (lane() != worker) least = least_of_lane;
    }
    if (v < vertices) ends[v] = least.end < 0 ? Index(v) : Index(least.end);
    if (int64_t(least.end) > v) choose_arc(chosen, keys.arc(least.key));
  }
}

// Unites vertices over their least edges, and chooses those that no smaller end has chosen.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads)
    unite_first(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Keys keys, const Index* __restrict__ ends, Index* parent, uint32_t* chosen) {
  follow_launch();
  const ForestRows<Pointer, Vertex> rows{indptr, indices, vertices};
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    const int64_t u = ends[v];
    if (u == v) continue;
    unite<Concurrent>(parent, Index(v), Index(u));
    if (v < u || ends[u] == v) continue;
    const int64_t arc = rows.least_arc(keys, u, v);
    if (arc >= 0) choose_arc(chosen, arc);
  }
}

}
