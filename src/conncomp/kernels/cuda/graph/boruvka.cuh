// Spanning forests of a graph on the GPU, by rounds of Borůvka over a list of edges.
//
// What: sets a bit for each arc of the forest of the least keys; the directions of arcs are ignored. A key
// is a number that no two arcs share, so the forest is unique: the number of the arc (ArcNumbers), its rank
// in an order of all (RankedArcs), or its weight of 32 bits above its number (PackedWeights). How:
// list_edges_of_forest lists the arcs between different trees, with the roots of these and the key, and
// lowers the least key of each tree. In a round, edges that have the least key of either tree are chosen and
// unite their trees (choose_edges); then the edges that still lead from one tree to another are listed anew
// (keep_edges). The least keys of two rounds lie in two arrays, and one round clears what the next one
// needs. Where there are many arcs a vertex, those of keys up to a limit, which a sample shows (guess_limit),
// are gone through first: of the others, most have both ends in one tree by then. If every arc has an
// opposite one of the same weight, which a hash tells (weigh_both_ways), those from the larger end are left
// out, as their numbers are the larger ones. Cost: each arc read twice at most, with a search for both roots;
// each round at least halves the trees that have edges. Memory: two lists of edges, two keys and a parent for
// each vertex, a bit for each arc. Source: Borůvka 1926; lists of edges, lowered keys and searches that stand
// for the contraction of Fallin, Gonzalez, Seo and Burtscher 2023, "A High-Performance MST Implementation for
// GPUs" (ECL-MST), and the lighter edges first, after Osipov, Sanders and Singler 2009. Union–find of
// Jaiganesh and Burtscher 2018.
#pragma once

#include "core/union_find.h"
#include "core/weight_order.h"
#include "cuda/core/scan.cuh"
#include "cuda/core/sweeps.cuh"
#include "cuda/graph/check.cuh"
#include "cuda/papers/ecl.cuh"

namespace conncomp {

constexpr int kForestThreads = 256;
constexpr int kLimitSamples = 1024;
constexpr int kArcsOfWord = 32;

// Compressed sparse rows, of which a block takes kSpan arcs at a time.
template <class Pointer, class Vertex>
struct ForestRows {
  const Pointer* indptr;
  const Vertex* indices;
  int64_t vertices;

  struct Range {
    int64_t low, high;  // rows that the arcs of a span are in
  };
  __device__ Range range(int64_t begin, int64_t end) const {
    const int64_t low = source_of(indptr, 0, vertices, begin);
    return {low, source_of(indptr, low, vertices, end - 1) + 1};
  }
  __device__ int64_t source(Range range, int64_t arc) const {
    return source_of(indptr, range.low, range.high, arc);
  }
  __device__ int64_t target(int64_t arc) const { return int64_t(indices[arc]); }
};

// A list of arcs.
template <class Vertex>
struct ForestList {
  const Vertex *src, *dst;
  int64_t vertices;

  struct Range {};
  __device__ Range range(int64_t, int64_t) const { return {}; }
  __device__ int64_t source(Range, int64_t arc) const { return int64_t(src[arc]); }
  __device__ int64_t target(int64_t arc) const { return int64_t(dst[arc]); }
};

template <class Number>
struct ArcNumbers {
  using Key = Number;
  __device__ static ArcNumbers of(const void*, const void*, uint64_t, uint64_t, uint64_t) { return {}; }
  __device__ Key key(int64_t arc) const { return Key(arc); }
  __device__ int64_t arc(Key key) const { return int64_t(key); }
};

// `order` lists the arcs from the first to the last, `rank` has the place of each.
template <class Number>
struct RankedArcs {
  using Key = Number;
  const Number *rank, *order;
  __device__ static RankedArcs of(const void* rank, const void* order, uint64_t, uint64_t, uint64_t) {
    return {static_cast<const Number*>(rank), static_cast<const Number*>(order)};
  }
  __device__ Key key(int64_t arc) const { return rank[arc]; }
  __device__ int64_t arc(Key key) const { return int64_t(order[key]); }
};

struct PackedWeights {
  using Key = uint64_t;
  const uint32_t* weights;
  WeightOrder<uint32_t> order;
  __device__ static PackedWeights of(const void* weights, const void*, uint64_t minus_zero, uint64_t negative,
                                     uint64_t sign) {
    return {static_cast<const uint32_t*>(weights),
            {uint32_t(minus_zero), uint32_t(negative), uint32_t(sign)}};
  }
  __device__ Key key(int64_t arc) const { return uint64_t(order(weights[arc])) << 32 | uint32_t(arc); }
  __device__ int64_t arc(Key key) const { return int64_t(uint32_t(key)); }
};

// Between two trees, which had these roots when it was listed.
template <class Index, class Key>
struct ForestEdge {
  Key key;
  Index a, b;
};

// How many edges are in each of two lists, each number with a cache line to itself.
struct ForestCounters {
  EclCounter<int64_t> edges[2];
};

template <class Key>
constexpr Key kNoKey = Key(~Key(0));

template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    start_forest(int64_t vertices, int64_t words, Index* __restrict__ parent, Key* __restrict__ least,
                 uint32_t* __restrict__ chosen, int64_t* total) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    parent[v] = Index(v);
    least[v] = kNoKey<Key>;
  }
  for (int64_t w = grid_thread(); w < words; w += grid_threads()) chosen[w] = 0;
  if (grid_thread() == 0) *total = 0;
}

// Lets *limit be the key below which about so many of kLimitSamples arcs are. One block.
template <class Keys>
__global__ void __launch_bounds__(kLimitSamples)
    guess_limit(int64_t arcs, int64_t wanted, const void* weights, const void* order, uint64_t minus_zero,
                uint64_t negative, uint64_t sign, typename Keys::Key* limit) {
  using Key = typename Keys::Key;
  __shared__ Key sample[kLimitSamples];
  const Keys keys = Keys::of(weights, order, minus_zero, negative, sign);
  const int thread = int(threadIdx.x);
  const int64_t arc = arcs / kLimitSamples * thread + arcs % kLimitSamples * thread / kLimitSamples;
  const Key key = sample[thread] = keys.key(arc);
  __syncthreads();
  int64_t smaller = 0;
  for (int i = 0; i < kLimitSamples; ++i) smaller += sample[i] < key;
  if (smaller == wanted) *limit = key;
}

// Adds to *imbalance a hash of each arc to a larger vertex, and subtracts that of each other one.
template <class Bits, class Pointer, class Vertex>
__global__ void __launch_bounds__(kForestThreads)
    weigh_both_ways(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
                    const Vertex* __restrict__ indices, const Bits* __restrict__ weights, Bits minus_zero,
                    Bits negative, Bits sign, uint64_t key, uint64_t* imbalance) {
  const ForestRows<Pointer, Vertex> rows{indptr, indices, vertices};
  const WeightOrder<Bits> order{minus_zero, negative, sign};
  uint64_t sum = 0;
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan) {
    const int64_t end = begin + kSpan < arcs ? begin + kSpan : arcs;
    const auto range = rows.range(begin, end);
    for (int64_t arc = begin + threadIdx.x; arc < end; arc += kForestThreads) {
      const int64_t u = rows.source(range, arc), v = rows.target(arc);
      const uint64_t ends = mix(uint64_t(u < v ? u : v) ^ key) + uint64_t(u < v ? v : u);
      const uint64_t hash = mix(mix(ends) + uint64_t(order(weights[arc])));
      if (u != v) sum += u < v ? hash : uint64_t(0) - hash;
    }
  }
  sum = block_sum<kForestThreads>(sum);
  if (threadIdx.x == 0) Shared::fetch_add(imbalance, sum);
}

// Puts the edges of a block's threads at the end of a list. All its threads call it.
template <class Edge>
__device__ inline void append(bool wanted, const Edge& edge, Edge* list, int64_t* count) {
  __shared__ int64_t room;
  int total;
  const int before = block_scan<kForestThreads>(wanted, total);
  if (threadIdx.x == 0 && total > 0) room = Shared::fetch_add(count, int64_t(total));
  __syncthreads();
  if (wanted) list[room + before] = edge;
}

template <class Key>
__device__ inline void lower(Key* least, Key key) {
  if (key < Shared::load(least)) Shared::fetch_min(least, key);
}

// Lists an edge, unless its ends are in one tree, and lowers the least keys of its trees. All threads of the
// block call it; returns whether the edge is listed.
template <class Index, class Key>
__device__ inline bool list_between_trees(bool exists, ForestEdge<Index, Key> edge, Index* parent, Key* least,
                                          ForestEdge<Index, Key>* list, int64_t* count) {
  if (exists) {
    edge.a = find<Shared>(parent, edge.a);
    edge.b = find<Shared>(parent, edge.b);
    exists = edge.a != edge.b;
  }
  if (exists) {
    lower(least + edge.a, edge.key);
    lower(least + edge.b, edge.key);
  }
  append(exists, edge, list, count);
  return exists;
}

// Which keys list_edges_of_forest takes.
enum KeyRange { kAllKeys, kKeysToLimit, kKeysAboveLimit };

template <class Arcs, class Keys, class Index, class First, class Second>
__global__ void __launch_bounds__(kForestThreads)
    list_edges_of_forest(int64_t vertices, int64_t arcs, const First* first, const Second* second,
                         const void* weights, const void* order, uint64_t minus_zero, uint64_t negative,
                         uint64_t sign, int64_t key_range, const typename Keys::Key* limit,
                         const uint64_t* imbalance, Index* parent, typename Keys::Key* least,
                         ForestEdge<Index, typename Keys::Key>* list, ForestCounters* counters,
                         int64_t* last_change) {
  using Key = typename Keys::Key;
  const Arcs graph{first, second, vertices};
  const Keys keys = Keys::of(weights, order, minus_zero, negative, sign);
  const bool from_smaller_end = *imbalance == 0;
  const Key bound = key_range == kAllKeys ? Key(0) : *limit;
  if (grid_thread() == 0) start_sweeps(last_change);
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan) {
    const int64_t end = begin + kSpan < arcs ? begin + kSpan : arcs;
    const auto range = graph.range(begin, end);
    for (int64_t row = begin; row < end; row += kForestThreads) {
      const int64_t arc = row + threadIdx.x;
      ForestEdge<Index, Key> edge{0, 0, 0};
      bool exists = arc < end;
      if (exists) {
        edge.key = keys.key(arc);
        exists = key_range == kAllKeys || (edge.key <= bound) == (key_range == kKeysToLimit);
      }
      if (exists) {
        const int64_t u = graph.source(range, arc), v = graph.target(arc);
        edge.a = Index(u), edge.b = Index(v);
        exists = from_smaller_end ? u < v : u != v;
      }
      list_between_trees(exists, edge, parent, least, list, &counters->edges[0].count);
    }
  }
}

// The edges of the least keys are chosen and unite their trees; `other_least` is cleared for the next round,
// as is the number of edges of the other list.
template <class Keys, class Index>
__global__ void __launch_bounds__(kForestThreads)
    choose_edges(int64_t round, const void* weights, const void* order, uint64_t minus_zero,
                 uint64_t negative, uint64_t sign,
                 const ForestEdge<Index, typename Keys::Key>* __restrict__ list,
                 const typename Keys::Key* least, typename Keys::Key* other_least, Index* parent,
                 uint32_t* chosen, ForestCounters* counters) {
  using Key = typename Keys::Key;
  const Keys keys = Keys::of(weights, order, minus_zero, negative, sign);
  const int64_t count = counters->edges[round % 2].count;
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const ForestEdge<Index, Key> edge = list[i];
    Shared::store(other_least + edge.a, kNoKey<Key>);
    Shared::store(other_least + edge.b, kNoKey<Key>);
    if (least[edge.a] != edge.key && least[edge.b] != edge.key) continue;
    const int64_t arc = keys.arc(edge.key);
    Shared::fetch_or(chosen + arc / kArcsOfWord, uint32_t(1) << arc % kArcsOfWord);
    unite<Shared>(parent, edge.a, edge.b);
  }
  if (grid_thread() == 0) counters->edges[1 - round % 2].count = 0;
}

// Lists the edges between trees anew.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    keep_edges(int64_t round, const ForestEdge<Index, Key>* __restrict__ list,
               ForestEdge<Index, Key>* __restrict__ other_list, Key* other_least, Index* parent,
               ForestCounters* counters, int64_t* last_change) {
  const int64_t count = counters->edges[round % 2].count;
  bool listed = false;
  for (int64_t begin = int64_t(blockIdx.x) * kForestThreads; begin < count; begin += grid_threads()) {
    const int64_t i = begin + threadIdx.x;
    const bool exists = i < count;
    listed |= list_between_trees(exists, exists ? list[i] : ForestEdge<Index, Key>{0, 0, 0}, parent,
                                 other_least, other_list, &counters->edges[1 - round % 2].count);
  }
  report_changes(last_change, round, listed);
}

// Counts the chosen arcs of each chunk of words, and all of them.
template <class Number>
__global__ void __launch_bounds__(kForestThreads)
    count_chosen(int64_t words, int64_t chunk, const uint32_t* __restrict__ chosen,
                 int64_t* __restrict__ chosen_in_chunk, int64_t* total) {
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int64_t count = 0;
    for (int64_t w = begin + threadIdx.x; w < end; w += kForestThreads) count += __popc(chosen[w]);
    count = block_sum<kForestThreads>(count);
    if (threadIdx.x == 0) {
      chosen_in_chunk[part] = count;
      Shared::fetch_add(total, count);
    }
  }
}

// Writes the numbers of the chosen arcs, in ascending order.
template <class Number>
__global__ void __launch_bounds__(kForestThreads)
    list_chosen(int64_t words, int64_t chunk, const uint32_t* __restrict__ chosen,
                const int64_t* __restrict__ chosen_in_chunk, Number* __restrict__ arcs) {
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    int64_t before = sum_of_first<kForestThreads>(part, chosen_in_chunk);
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    for (int64_t row = begin; row < end; row += kForestThreads) {
      const int64_t w = row + threadIdx.x;
      uint32_t bits = w < end ? chosen[w] : 0;
      int total;
      int64_t place = before + block_scan<kForestThreads>(__popc(bits), total);
      for (; bits; bits &= bits - 1) arcs[place++] = Number(w * kArcsOfWord + __ffs(int(bits)) - 1);
      before += total;
    }
  }
}

}  // namespace conncomp
