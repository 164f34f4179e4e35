// Edges of a spanning forest above a limit of keys, from a sample that guess_limit sorts in a block. Once
// lighter edges have made a giant tree, only rows of vertices outside are read: by warps, 32 rows as one
// (list_edges_outside), and long ones by blocks (list_edges_of_hubs). Of a tree's edges into the giant only
// the least counts; keys of others are not even looked for. Cost: each arc of a vertex outside read once.
// Source: boruvka.cuh, step 3; the sort: Batcher 1968.
#pragma once

#include "cuda/graph/forest_edges.cuh"

namespace conncomp {

constexpr int kLimitSamples = 1024;
// Per multiprocessor, on every kind of GPU.
constexpr int kOutsideThreads = 128;
constexpr int kOutsideBlocks = resident_blocks(kOutsideThreads) < 12 ? resident_blocks(kOutsideThreads) : 12;
constexpr int kHubBlocks = resident_blocks(kForestThreads) < 6 ? resident_blocks(kForestThreads) : 6;
constexpr int64_t kHubOfForest = 4096;  // arcs of a row, up to which a warp reads it
constexpr int64_t kLongRows = 32;       // from so many arcs a vertex on rows are long
constexpr int64_t kLightEdges = 8;      // that are gone through first, for each tree; many are within one
// Or, where keys have nothing to do with vertices, so many for kLightVertices: they join almost all.
constexpr int64_t kLightOfVertices = 5;
constexpr int64_t kLightVertices = 4;

// Lets *limit be the key above the light edges, by a sorted sample, or kNoKey where all are light. One block.
template <class Keys>
__global__ void __launch_bounds__(kLimitSamples) guess_limit(int64_t vertices, int64_t arcs, int64_t edges,
    const int64_t* trees, Keys keys, typename Keys::Key* limit) {
  using Key = typename Keys::Key;
  follow_launch();
  __shared__ Key sample[kLimitSamples];
  const int thread = int(threadIdx.x);
  sample[thread] = keys.key(arcs / kLimitSamples * thread + arcs % kLimitSamples * thread / kLimitSamples);
  __syncthreads();
  for (int length = 2; length <= kLimitSamples; length *= 2)
    for (int step = length / 2; step > 0; step /= 2) {
      const int other = thread ^ step;
      const Key key = sample[thread], other_key = sample[other];
      const bool wants_smaller = (thread < other) == ((thread & length) == 0);
      __syncthreads();
      sample[thread] = wants_smaller == (key < other_key) ? key : other_key;
      __syncthreads();
    }
  const int64_t light = Keys::kInOrder ? kLightEdges * *trees : kLightOfVertices * vertices / kLightVertices;
  const int64_t wanted = light * kLimitSamples / edges;
  if (thread == 0) *limit = wanted < kLimitSamples ? sample[wanted] : kNoKey<Key>;
}

// The edges above the limit where rows are known: each has an end outside the giant tree. One into the giant
// may be listed by its larger end, under the number that its smaller end has for it.
template <class Keys, class Pointer, class Vertex, class Index> struct OutsideEdges {
  using Edge = ForestEdge<Index, typename Keys::Key>;
  ForestRows<Pointer, Vertex> rows;
  int64_t arcs;
  Keys keys;
  ForestMemory<Index, typename Keys::Key> memory;

  bool are_wanted() const {
    return *memory.imbalance == 0 && *memory.disorder == 0 && *memory.limit != kNoKey<typename Keys::Key>;
  }
  // How many arcs the rows have that a warp reads.
  int64_t most_of_warp() const {
    return memory.counters->many_are_outside && arcs > kLongRows * rows.vertices ? 0 : kHubOfForest;
  }
  bool is_outside(int64_t v) const { return memory.tree[v] != *memory.giant; }
  // Lists those of the arcs of a warp's threads that lead from u.
  void list(bool exists, int64_t u, int64_t arc, WarpOfEdges<Edge>& warp) const {
    Edge edge{0, 0, 0};
    if (exists) {
      const int64_t v = rows.target(arc);
      exists = u != v && is_vertex(v, rows.vertices);
      if (exists) edge.a = memory.tree[u], edge.b = memory.tree[v];
      exists = exists && edge.a != edge.b && find_key(u, v, arc, edge);
    }
    if (exists) lower_both(memory.least, edge, *memory.giant);
    warp.put(exists, edge);
  }
  // Finds the key of an edge; returns whether to list it. Keeps least keys into the giant for the next round.
  bool find_key(int64_t u, int64_t v, int64_t arc, Edge& edge) const {
    const bool is_to_giant = edge.b == *memory.giant;
    auto* const least = memory.other_least + edge.a;
    if (u > v) {
      if (!is_to_giant || keys.least_key(arc, int64_t(rows.indptr[v])) >= Concurrent::load(least))
        return false;
      arc = rows.least_arc(keys, v, u);
      if (arc < 0) return false;
    }
    edge.key = keys.key(arc);
    if (edge.key <= *memory.limit) return false;
    if (!is_to_giant) return true;
    return edge.key < Concurrent::load(least) && edge.key < Concurrent::fetch_min(least, edge.key);
  }
  WarpOfEdges<Edge> warp(Edge (*waiting)[2 * kWarp]) const {
    return {waiting[threadIdx.x / kWarp], memory.list, arcs, &memory.counters->edges[0].count};
  }
};

// Lists the edges outside but hubs': blocks gather vertices, and a warp takes 32 of their rows as one.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kOutsideThreads, kOutsideBlocks)
    list_edges_outside(ForestRows<Pointer, Vertex> rows, int64_t arcs, Keys keys,
        ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  const OutsideEdges<Keys, Pointer, Vertex, Index> edges{rows, arcs, keys, memory};
  const int64_t most_of_warp = edges.most_of_warp();
  if (!edges.are_wanted() || most_of_warp == 0) return;
  __shared__ ForestEdge<Index, typename Keys::Key> waiting[kOutsideThreads / kWarp][2 * kWarp];
  auto warp = edges.warp(waiting);
  constexpr int kStretch = kSeenAtOnce * kOutsideThreads;
  __shared__ uint16_t outside[kStretch];
  __shared__ int number;
  for (int64_t begin = int64_t(blockIdx.x) * kStretch; begin < rows.vertices;
      begin += int64_t(gridDim.x) * kStretch) {
    __syncthreads();  // those of an earlier stretch have been read
    if (threadIdx.x == 0) number = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSeenAtOnce; ++k) {
      const int64_t v = begin + k * kOutsideThreads + int(threadIdx.x);
      push_by_warp(v < rows.vertices && edges.is_outside(v), uint16_t(v - begin), outside, &number);
    }
    __syncthreads();
    for (int first = int(threadIdx.x) - lane(); first < number; first += kOutsideThreads) {
      const bool is_one = first + lane() < number;
      const int64_t v = begin + (is_one ? outside[first + lane()] : 0);
      const int64_t row = is_one ? int64_t(rows.indptr[v]) : 0;
      int64_t length = is_one ? int64_t(rows.indptr[v + 1]) - row : 0;
      if (length > most_of_warp)
        length = 0, Concurrent::store(&memory.counters->has_hubs_outside, uint32_t(1));
      const int end = warp_scan(int(length)), all = __shfl_sync(kAllLanes, end, kWarp - 1);
      for (int at = lane(); at - lane() < all; at += kWarp) {
        // The first row that ends beyond.
        int owner = 0;
        for (int step = kWarp / 2; step > 0; step /= 2)
          if (__shfl_sync(kAllLanes, end, owner + step - 1) <= at) owner += step;
        const int64_t u = __shfl_sync(kAllLanes, v, owner), arc_of_row = __shfl_sync(kAllLanes, row, owner);
        const int place = at - __shfl_sync(kAllLanes, end - int(length), owner);
        edges.list(at < all, u, arc_of_row + place, warp);
      }
    }
  }
  warp.finish();
}

// Lists the edges of hubs outside, or of all vertices outside.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads, kHubBlocks)
    list_edges_of_hubs(ForestRows<Pointer, Vertex> rows, int64_t arcs, Keys keys,
        ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  const OutsideEdges<Keys, Pointer, Vertex, Index> edges{rows, arcs, keys, memory};
  const int64_t most_of_warp = edges.most_of_warp();
  if (!edges.are_wanted() || (most_of_warp > 0 && memory.counters->has_hubs_outside == 0)) return;
  __shared__ ForestEdge<Index, typename Keys::Key> waiting[kForestThreads / kWarp][2 * kWarp];
  auto warp = edges.warp(waiting);
  const auto is_hub_outside = [&](int64_t v) {
    return int64_t(rows.indptr[v + 1]) - int64_t(rows.indptr[v]) > most_of_warp && edges.is_outside(v);
  };
  visit_spans_of_block(rows.indptr, rows.vertices, arcs, [&](const Span& span) {
    visit_span<Vertex>(rows.indptr, span, is_hub_outside,
        [&](bool exists, int64_t u, int64_t arc) { edges.list(exists, u, arc, warp); });
  });
  warp.finish();
}

}
