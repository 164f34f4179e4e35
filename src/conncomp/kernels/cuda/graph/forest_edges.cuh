// Lists of the edges between trees of a spanning forest, which lower the least keys of both. A block notes
// the wanted arcs of a span in shared memory, and lists these, so that all threads have some. Cost: each arc
// read once, each edge written once. Source: boruvka.cuh, step 2.
#pragma once

#include "cuda/graph/forest_memory.cuh"

namespace conncomp {

// Puts edges of a block's threads at the end of a list. All its threads call it.
template <int threads, int count, class Edge>
void append(const bool (&wanted)[count], const Edge (&edges)[count], Edge* list, int64_t* listed) {
  int of_thread = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) of_thread += wanted[k];
  int64_t place = place_for<threads>(of_thread, listed);
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (wanted[k]) list[place++] = edges[k];
}

// Edges that a warp appends to a list, 32 at a time, if there is room: rows may change meanwhile.
template <class Edge> struct WarpOfEdges {
  Edge *waiting, *list;  // the former with room for those of two warps
  int64_t room;
  int64_t* listed;
  int number = 0;

  // By a whole warp.
  void put(bool wanted, const Edge& edge) {
    const uint32_t all = __ballot_sync(kAllLanes, wanted);
    if (wanted) waiting[number + __popc(all & ~(kAllLanes << lane()))] = edge;
    number += __popc(all);
    __syncwarp();
    if (number >= kWarp) write(kWarp);
  }
  void finish() { write(number); }
  void write(int count) {
    number -= count;
    int64_t place = 0;
    if (lane() == 0 && count > 0) place = Concurrent::fetch_add(listed, int64_t(count));
    place = __shfl_sync(kAllLanes, place, 0) + lane();
    if (lane() < count && place < room) list[place] = waiting[number + lane()];
    __syncwarp();
  }
};

// Puts numbers of a warp's threads at the end of a list in shared memory.
inline void push_by_warp(bool wanted, uint16_t entry, uint16_t* entries, int* number) {
  const uint32_t all = __ballot_sync(kAllLanes, wanted);
  int place = 0;
  if (lane() == 0 && all) place = InBlock::fetch_add(number, __popc(all));
  place = __shfl_sync(kAllLanes, place, 0) + __popc(all & ~(kAllLanes << lane()));
  if (wanted) entries[place] = entry;
}

template <class Key> void lower(Key* least, Key key) {
  if (key < Concurrent::load(least)) Concurrent::fetch_min(least, key);
}

// Lowers the least keys of both trees, but for that of one, which need not choose an edge.
template <class Index, class Key>
void lower_both(Key* least, const ForestEdge<Index, Key>& edge, Index skipped) {
  if (edge.a != skipped) lower(least + edge.a, edge.key);
  if (edge.b != skipped) lower(least + edge.b, edge.key);
}

// The root of an entry, whose parent has just been seen, while nobody unites trees. Paths are halved.
template <class Index> Index root_above(Index* parent, Index entry, Index above) {
  while (above != entry) {
    const Index next = Concurrent::load(parent + above);
    if (next == above) break;
    Concurrent::store(parent + entry, next);
    entry = above, above = next;
  }
  return above;
}

// Lets edges lead from root to root; `exists` becomes whether these differ.
template <int count, class Index, class Key>
void look_for_roots(bool (&exists)[count], ForestEdge<Index, Key> (&edges)[count], Index* parent) {
  Index above_a[count], above_b[count];
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (exists[k])
      above_a[k] = Concurrent::load(parent + edges[k].a), above_b[k] = Concurrent::load(parent + edges[k].b);
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (!exists[k]) continue;
    edges[k].a = root_above(parent, edges[k].a, above_a[k]);
    edges[k].b = root_above(parent, edges[k].b, above_b[k]);
    exists[k] = edges[k].a != edges[k].b;
  }
}

// Lists edges, and lowers the least keys of their trees except `skipped`. The whole block calls.
template <int threads, int count, class Index, class Key>
void list_and_lower(const bool (&exists)[count], const ForestEdge<Index, Key> (&edges)[count], Key* least,
    ForestEdge<Index, Key>* list, int64_t* listed, Index skipped = -1) {
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (exists[k]) lower_both(least, edges[k], skipped);
  append<threads>(exists, edges, list, listed);
}

// Notes which arcs of a span are wanted, in shared memory, and how many. The whole block calls.
void gather_wanted(
    int64_t begin, int64_t end, uint16_t* wanted, int* number, auto&& may_be, auto&& is_wanted) {
  __syncthreads();  // those of an earlier span have been read
  if (threadIdx.x == 0) *number = 0;
  __syncthreads();
  for (int64_t row = begin; row < end; row += kSeenAtOnce * kForestThreads) {
    bool exists[kSeenAtOnce];
#pragma unroll
    for (int k = 0; k < kSeenAtOnce; ++k) {
      const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
      exists[k] = arc < end && may_be(arc);
    }
#pragma unroll
    for (int k = 0; k < kSeenAtOnce; ++k)
      if (exists[k]) exists[k] = is_wanted(row + k * kForestThreads + int(threadIdx.x));
#pragma unroll
    for (int k = 0; k < kSeenAtOnce; ++k) {
      const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
      push_by_warp(exists[k], uint16_t(arc - begin), wanted, number);
    }
  }
  __syncthreads();
}

enum KeyRange { kAllKeys, kKeysToLimit, kKeysAboveLimit };

// Lists the edges between trees, from smaller ends if larger ones list the same.
template <class Arcs, class Keys, class Index>
__global__ void __launch_bounds__(kForestThreads, kListingBlocks) list_edges_of_forest(
    Arcs graph, int64_t arcs, Keys keys, int64_t key_range, ForestMemory<Index, typename Keys::Key> memory) {
  using Key = typename Keys::Key;
  follow_launch();
  const bool from_smaller_end = *memory.imbalance == 0;
  const Index* const tree = memory.tree;
  const Key bound = key_range == kAllKeys ? Key(0) : *memory.limit;
  if (grid_thread() == 0)
    for (uint32_t& word : memory.counters->barrier) word = 0;
  if (*memory.trees == 1) return;
  if (key_range == kKeysAboveLimit && (bound == kNoKey<Key> || (from_smaller_end && *memory.disorder == 0)))
    return;
  __shared__ uint16_t wanted[kSpan];
  __shared__ int number;
  // Where keys are in order, those up to the limit are the first ones.
  if (Keys::kInOrder && key_range == kKeysToLimit && bound < Key(arcs)) arcs = int64_t(bound) + 1;
  graph.visit_spans(arcs, [&](int64_t begin, int64_t end, const auto& sources) {
    gather_wanted(
        begin, end, wanted, &number,
        [&](int64_t arc) {
          return key_range == kAllKeys || (keys.key(arc) <= bound) == (key_range == kKeysToLimit);
        },
        [&](int64_t arc) {
          const int64_t u = sources.source(arc), v = graph.target(arc);
          return (from_smaller_end ? u < v : u != v) && is_vertex(u, graph.vertices) &&
                 is_vertex(v, graph.vertices);
        });
    for (int first = 0; first < number; first += kListedAtOnce * kForestThreads) {
      ForestEdge<Index, Key> edges[kListedAtOnce];
      bool exists[kListedAtOnce];
#pragma unroll
      for (int k = 0; k < kListedAtOnce; ++k) {
        const int place = first + k * kForestThreads + int(threadIdx.x);
        exists[k] = place < number;
        if (!exists[k]) continue;
        const int64_t arc = begin + wanted[place], u = sources.source(arc), v = graph.target(arc);
        exists[k] = is_vertex(v, graph.vertices);  // still, if the rows change meanwhile
        if (exists[k]) edges[k] = {keys.key(arc), tree[u], tree[v]};
      }
#pragma unroll
      for (int k = 0; k < kListedAtOnce; ++k) exists[k] = exists[k] && edges[k].a != edges[k].b;
      list_and_lower<kForestThreads>(
          exists, edges, memory.least, memory.list, &memory.counters->edges[0].count);
    }
  });
}

}
