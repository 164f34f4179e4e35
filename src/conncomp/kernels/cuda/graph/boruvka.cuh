// Spanning forests of a graph on the GPU, by rounds of Borůvka over a list of edges.
//
// What: sets a bit for each arc of the forest of the least keys; the directions of arcs are ignored. A key is
// a number that no two arcs share, so the forest is unique: the number of the arc (ArcNumbers), its rank in
// an order of all (RankedArcs), or its weight of 32 bits above its number (PackedWeights). How:
//
// 1. Where each row is sorted (count_descents) and every arc has an opposite one of the same weight, which a
// hash tells (weigh_both_ways), a vertex has its least edge in its own row (choose_first), with which all
// vertices are united, without a list (unite_first). Arcs from the larger end are left out from there on, as
// their numbers are the larger ones.
//
// 2. Trees are numbered (number_trees, find_trees), as there are far fewer of them than vertices: what is
// kept for each lies close together. The arcs between different trees are listed with these and the key, and
// lower the least key of each tree (list_edges_of_forest). In a round (settle_edges), edges that have the
// least key of either tree are chosen, and put that one under the other; then the edges that still lead from
// one tree to another are listed anew. Where many lead to few trees, some lower keys first, so that most
// others need not.
//
// 3. Where there are many arcs a vertex, those of keys up to a limit, which a sample shows (guess_limit), go
// through step 2 first. Of the others, most have both ends in one tree by then, a giant one: what is left is
// in the rows of the vertices outside (list_edges_outside, list_edges_of_hubs).
//
// Cost: each arc read two or three times; each round at least halves the trees that have edges. Memory: two
// lists of edges, two keys and three numbers for each vertex, a bit for each arc.
// Source: Borůvka 1926; lists of edges, lowered keys and searches that stand for the contraction of Fallin,
// Gonzalez, Seo and Burtscher 2023, "A High-Performance MST Implementation for GPUs" (ECL-MST), and the
// lighter edges first, after Osipov, Sanders and Singler 2009. Union–find of Jaiganesh and Burtscher 2018, as
// is the start under the smallest neighbour.
#pragma once

#include "core/mix.h"
#include "core/union_find.h"
#include "core/vertices.h"
#include "core/weight_order.h"
#include "cuda/core/barrier.cuh"
#include "cuda/core/scan.cuh"
#include "cuda/graph/check.cuh"
#include "cuda/graph/ecl.cuh"
#include "cuda/graph/giant_guess.cuh"

namespace conncomp {

constexpr int kForestThreads = 256;
constexpr int kLimitSamples = 1024;
constexpr int kArcsOfWord = 32;
constexpr int kLongForestRow = 32;      // from here on a row is the work of a warp
constexpr int kHubInFirst = 256;        // up to here, where the vertices of a warp may all have long ones
constexpr int kHubOfForest = 4096;      // up to here
constexpr int kSettlingThreads = 1024;  // of one block on each multiprocessor
// Of a multiprocessor, on every kind of GPU.
constexpr int kOutsideThreads = 128;
constexpr int kOutsideBlocks = resident_blocks(kOutsideThreads) < 12 ? resident_blocks(kOutsideThreads) : 12;
constexpr int kHubBlocks = resident_blocks(kForestThreads) < 6 ? resident_blocks(kForestThreads) : 6;
// And those that have several arcs for each thread.
constexpr int kListingBlocks = resident_blocks(kForestThreads) < 4 ? resident_blocks(kForestThreads) : 4;
// As many that choose first edges as leave a thread the registers that it needs: with vertices of 64 bits
// more.
template <class Vertex>
constexpr int kChoosingBlocks = resident_blocks(kForestThreads) * (sizeof(Vertex) == 4 ? 4 : 3) / 4;
constexpr int64_t kFewEdges = 4096;    // up to here they are gone through by one block
constexpr int64_t kManyEdges = 8192;   // from here on,
constexpr int64_t kEdgesOfFirst = 16;  // of so many edges one lowers keys before the others
constexpr int kManyVotes = 4;          // of a warp's sample of edges
constexpr int kListedAtOnce = 2;       // edges that a thread has under way
constexpr int kSeenAtOnce = 8;         // arcs that a thread looks at together
constexpr int64_t kLightEdges = 8;     // that are gone through first, for each tree; many are within one
// And for each kLightVertices vertices, where the order of keys has nothing to do with that of vertices: so
// many edges, and the least of each vertex, join all but some hundredths of the vertices.
constexpr int64_t kLightOfVertices = 5;
constexpr int64_t kLightVertices = 4;
constexpr int64_t kTreesOfEdge = 8;  // from here on keys are cleared edge by edge
template <class Number>
constexpr int kStaged = (8 << 10) / int(sizeof(Number));  // numbers of chosen arcs in shared memory
constexpr int kNumberedAtOnce = 4;                        // vertices that a thread has under way

// Compressed sparse rows.
template <class Pointer, class Vertex>
struct ForestRows {
  const Pointer* indptr;
  const Vertex* indices;
  int64_t vertices;

  // Calls visit(begin, end, sources) for the spans of a block, which all its threads do: sources.source(arc)
  // is that of one of their arcs.
  template <class Visit>
  __device__ void visit_spans(int64_t arcs, Visit&& visit) const {
    SpansOfBlock<Pointer>(indptr, vertices, arcs).visit([&](const Span& span) {
      SpanSources<Vertex> sources;
      sources.note(indptr, span, AnyRow());
      visit(span.begin, span.end, sources);
    });
  }
  __device__ int64_t target(int64_t arc) const { return int64_t(indices[arc]); }
  // The arc of the least key from u to v, in a sorted row; -1 if there is none.
  template <class Keys>
  __device__ int64_t least_arc(const Keys& keys, int64_t u, int64_t v) const {
    int64_t low = indptr[u], high = indptr[u + 1];
    const int64_t end = high;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (target(middle) < v)
        low = middle + 1;
      else
        high = middle;
    }
    int64_t least = -1;
    for (; low < end && target(low) == v; ++low)
      if (least < 0 || keys.key(low) < keys.key(least)) least = low;
    return least;
  }
};

// A list of arcs.
template <class Vertex>
struct ForestList {
  const Vertex *src, *dst;
  int64_t vertices;

  template <class Visit>
  __device__ void visit_spans(int64_t arcs, Visit&& visit) const {
    for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan)
      visit(begin, begin + kSpan < arcs ? begin + kSpan : arcs, *this);
  }
  __device__ int64_t source(int64_t arc) const { return int64_t(src[arc]); }
  __device__ int64_t target(int64_t arc) const { return int64_t(dst[arc]); }
};

template <class Number>
struct ArcNumbers {
  using Key = Number;
  static constexpr bool kInOrder = true;  // whether keys rise with the numbers of arcs
  __device__ Key key(int64_t arc) const { return Key(arc); }
  __device__ int64_t arc(Key key) const { return int64_t(key); }
};

// `order` lists the arcs from the first to the last, `rank` has the place of each.
template <class Number>
struct RankedArcs {
  using Key = Number;
  static constexpr bool kInOrder = false;
  const Number *rank, *order;
  __device__ Key key(int64_t arc) const { return rank[arc]; }
  __device__ int64_t arc(Key key) const { return int64_t(order[key]); }
};

struct PackedWeights {
  using Key = uint64_t;
  static constexpr bool kInOrder = false;
  const uint32_t* weights;
  WeightOrder<uint32_t> order;
  __device__ Key key(int64_t arc) const { return uint64_t(order(weights[arc])) << 32 | uint32_t(arc); }
  __device__ int64_t arc(Key key) const { return int64_t(uint32_t(key)); }
};

// Between two trees, which had these roots when it was listed.
template <class Index, class Key>
struct ForestEdge {
  Key key;
  Index a, b;
};

// What the blocks share: how many edges are in each of two lists, each number with a cache line to itself,
// and where they meet.
struct ForestCounters {
  EclCounter<int64_t> edges[2];
  uint32_t barrier[GridBarrier::kWords];
  uint32_t has_hubs_outside;
};

// The memory of a forest. Laid out as in boruvka.py.
template <class Index, class Key>
struct ForestMemory {
  Index* first_parent;                       // of each vertex, in the first round
  Index* tree;                               // of each vertex: its number, from when trees are numbered
  Index* parent;                             // of each tree
  uint32_t* chosen;                          // a bit of each arc
  Key *least, *other_least;                  // of each tree: the least key of its edges
  ForestEdge<Index, Key>*list, *other_list;  // of edges between trees, with room for all arcs
  ForestCounters* counters;
  int64_t* trees;       // how many there are after the first round
  Key* limit;           // of the edges that are gone through first
  uint64_t* imbalance;  // 0 if each arc has an opposite one of the same weight
  uint64_t* disorder;   // 0 if each row is sorted
  Index* giant;         // the tree that most vertices are in
};

template <class Key>
constexpr Key kNoKey = Key(~Key(0));

// Each vertex is a tree, no arc is chosen, and of rows nothing is known that speaks against them.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    start_forest(int64_t vertices, int64_t words, int64_t imbalance, ForestMemory<Index, Key> memory,
                 int64_t* total) {
  follow_launch();
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) memory.first_parent[v] = Index(v);
  for (int64_t w = grid_thread(); w < words; w += grid_threads()) memory.chosen[w] = 0;
  if (grid_thread() == 0) {
    memory.counters->edges[0].count = memory.counters->edges[1].count = 0;
    *memory.trees = *total = 0, memory.counters->has_hubs_outside = 0;
    *memory.imbalance = uint64_t(imbalance), *memory.disorder = 0;
  }
}

// Lets *limit be the key below which the light edges are, as a sorted sample has it, or kNoKey where all are.
// One block. Source of the sort: Batcher 1968.
template <class Keys>
__global__ void __launch_bounds__(kLimitSamples)
    guess_limit(int64_t vertices, int64_t arcs, int64_t edges, const int64_t* trees, Keys keys,
                typename Keys::Key* limit) {
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

// Adds to *disorder how often an arc leads to a smaller vertex than the arc before does, but where rows
// begin: it stays 0 if each row is sorted.
template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kForestThreads)
    count_descents(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
                   const Vertex* __restrict__ indices, uint64_t* disorder) {
  follow_launch();
  int64_t descents = 0;
  const auto descends = [=](int64_t arc) { return arc > 0 && indices[arc] < indices[arc - 1]; };
#pragma unroll 4
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) descents += descends(arc);
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    if (indptr[v] < indptr[v + 1]) descents -= descends(int64_t(indptr[v]));
  descents = block_sum<kForestThreads>(descents);
  if (threadIdx.x == 0 && descents != 0) Shared::fetch_add(disorder, uint64_t(descents));
}

// Adds to *imbalance a hash of each arc to a larger vertex, and subtracts that of each other one; and to
// *disorder, how many arcs lead to a smaller vertex than the arc before in their row.
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
    Shared::fetch_add(imbalance, sum);
    if (descents != 0) Shared::fetch_add(disorder, descents);
  }
}

// The least edge of a vertex, as far as it is known.
template <class Vertex, class Key>
struct LeastEdge {
  Key key = kNoKey<Key>;
  Vertex end = -1;

  __device__ void include(Key candidate_key, Vertex candidate_end) {
    if (candidate_key < key) key = candidate_key, end = candidate_end;
  }
};

__device__ inline void choose_arc(uint32_t* chosen, int64_t arc) {
  Shared::fetch_or(chosen + arc / kArcsOfWord, uint32_t(1) << arc % kArcsOfWord);
}

// Lets ends[v] be the other end of the least edge of v, which is chosen if it goes by the number that it has
// in the row of v; or v where it has none, its row is too long for a warp to look for it, or nothing is known
// of rows.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads, kChoosingBlocks<Vertex>)
    choose_first(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
                 Keys keys, const uint64_t* imbalance, const uint64_t* disorder, Index* __restrict__ ends,
                 uint32_t* chosen) {
  using Key = typename Keys::Key;
  follow_launch();
  const bool is_known = *imbalance == 0 && *disorder == 0;
  for (int64_t row = grid_thread() - lane(); row < vertices; row += grid_threads()) {
    const int64_t v = row + lane();
    const bool exists = is_known && v < vertices;
    const int64_t begin = exists ? int64_t(indptr[v]) : 0;
    int64_t end = exists ? int64_t(indptr[v + 1]) : 0;
    if (!Keys::kInOrder && end - begin > kHubInFirst) end = begin;
    LeastEdge<Vertex, Key> least;
    const auto look_at = [&, keys](int64_t arc, int64_t source) {
      const Vertex target = indices[arc];
      const bool is_edge = target != source && is_vertex(target, vertices);
      if (is_edge) least.include(keys.key(arc), target);
      return is_edge;
    };
    if (Keys::kInOrder || end - begin < kLongForestRow)
      for (int64_t arc = begin; arc < end; ++arc)
        if (look_at(arc, v) && Keys::kInOrder) break;
    if (!Keys::kInOrder)
      for (uint32_t open = __ballot_sync(kAllLanes, end - begin >= kLongForestRow); open; open &= open - 1) {
        const int worker = __ffs(int(open)) - 1;
        const int64_t row_end = __shfl_sync(kAllLanes, end, worker);
        const LeastEdge<Vertex, Key> least_of_lane = least;
        least = {};
#pragma unroll 4
        for (int64_t arc = __shfl_sync(kAllLanes, begin, worker) + lane(); arc < row_end; arc += kWarp)
          look_at(arc, row + worker);
        for (int step = kWarp / 2; step > 0; step /= 2)
          least.include(__shfl_xor_sync(kAllLanes, least.key, step),
                        __shfl_xor_sync(kAllLanes, least.end, step));
        if (lane() != worker) least = least_of_lane;
      }
    if (v < vertices) ends[v] = least.end < 0 ? Index(v) : Index(least.end);
    if (int64_t(least.end) > v) choose_arc(chosen, keys.arc(least.key));
  }
}

// Unites all vertices with the given ends of their least edges, and chooses those that are not known to be
// chosen by a smaller end. Where keys rise with the numbers of arcs, an end is the smallest neighbour, so
// that no two edges lead a vertex to different parents: one that is smaller than all its neighbours is put
// where the neighbour is.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads)
    unite_first(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
                Keys keys, const Index* __restrict__ ends, Index* parent, uint32_t* chosen) {
  follow_launch();
  const ForestRows<Pointer, Vertex> rows{indptr, indices, vertices};
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    const int64_t u = ends[v];
    if (u == v) continue;
    if constexpr (Keys::kInOrder) {
      const Index above = u < v ? Index(u) : ends[u];
      // If the rows have changed meanwhile, it may be a larger one, which is no parent.
      if (above < v) Shared::store(parent + v, above);
    } else {
      unite<Shared>(parent, Index(v), Index(u));
    }
    // Few vertices choose each other where keys are in order, so that to look costs more than it saves.
    if (v < u || (!Keys::kInOrder && ends[u] == v)) continue;
    const int64_t arc = rows.least_arc(keys, u, v);
    if (arc >= 0) choose_arc(chosen, arc);
  }
}

// Adds to a number of entries, and returns the first of those of this thread. All threads of the block call
// it.
template <int threads>
__device__ inline int64_t place_for(int of_thread, int64_t* entries) {
  __shared__ int64_t room;
  int total;
  const int64_t place = block_scan<threads>(of_thread, total);
  if (threadIdx.x == 0 && total > 0) room = Shared::fetch_add(entries, int64_t(total));
  __syncthreads();
  return place + room;
}

// Numbers the trees of the first round, so that what is kept for each lies close together; each of them is
// one of its own, without a key. In the entries of other vertices than roots nothing is written yet.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    number_trees(int64_t vertices, ForestMemory<Index, Key> memory) {
  follow_launch();
  constexpr int64_t kAtOnce = kNumberedAtOnce * kForestThreads;
  for (int64_t begin = blockIdx.x * kAtOnce; begin < vertices; begin += gridDim.x * kAtOnce) {
    bool is_root[kNumberedAtOnce];
    int of_thread = 0;
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k) {
      const int64_t v = begin + k * kForestThreads + int(threadIdx.x);
      is_root[k] = v < vertices && memory.first_parent[v] == Index(v);
      of_thread += is_root[k];
    }
    int64_t tree = place_for<kForestThreads>(of_thread, memory.trees);
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k) {
      if (!is_root[k]) continue;
      memory.tree[begin + k * kForestThreads + int(threadIdx.x)] = Index(tree);
      memory.parent[tree] = Index(tree);
      memory.least[tree] = memory.other_least[tree] = kNoKey<Key>;
      ++tree;
    }
  }
}

// Gives each vertex the number of its root. Where keys are in order, paths may be as long as the graph, and
// lead down: those of smaller vertices are mostly flat already. Elsewhere they are halved on the way.
template <class Keys, class Index>
__global__ void __launch_bounds__(kForestThreads)
    find_trees(int64_t vertices, ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  constexpr Jump kJump = Keys::kInOrder ? Jump::kSingle : Jump::kIntermediate;
  const int64_t step = grid_threads();
  for (int64_t first = grid_thread(); first < vertices; first += kNumberedAtOnce * step) {
    Index above[kNumberedAtOnce], root[kNumberedAtOnce];
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k)
      if (first + k * step < vertices) above[k] = Shared::load(memory.first_parent + first + k * step);
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k)
      if (first + k * step < vertices)
        root[k] = find_from<Shared, kJump>(memory.first_parent, Index(first + k * step), above[k]);
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k) {
      const int64_t v = first + k * step;
      if (v < vertices && root[k] != Index(v)) memory.tree[v] = memory.tree[root[k]];
    }
  }
}

// Finds the root of each tree, unless all edges have been gone through: where parents of the first round
// were. Nobody writes parents, so that those that most paths lead to stay in the first-level caches.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads) find_roots(ForestMemory<Index, Key> memory) {
  follow_launch();
  if (*memory.limit == kNoKey<Key>) return;
  const int64_t trees = *memory.trees;
  const Index* __restrict__ parent = memory.parent;
  for (int64_t tree = grid_thread(); tree < trees; tree += grid_threads()) {
    Index root = Index(tree);
    for (Index above; (above = parent[root]) != root;) root = above;
    memory.first_parent[tree] = root;
  }
}

// Gives each vertex the root of its tree.
template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    find_trees_again(int64_t vertices, ForestMemory<Index, Key> memory) {
  follow_launch();
  if (*memory.limit == kNoKey<Key>) return;
  const Index* __restrict__ root = memory.first_parent;
#pragma unroll 4
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) memory.tree[v] = root[memory.tree[v]];
}

// Puts edges of a block's threads at the end of a list. All its threads call it.
template <int threads, int count, class Edge>
__device__ inline void append(const bool (&wanted)[count], const Edge (&edges)[count], Edge* list,
                              int64_t* listed) {
  int of_thread = 0;
#pragma unroll
  for (int k = 0; k < count; ++k) of_thread += wanted[k];
  int64_t place = place_for<threads>(of_thread, listed);
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (wanted[k]) list[place++] = edges[k];
}

// Edges that a warp puts at the end of a list, 32 at a time, as far as there is room: if rows change
// meanwhile, an arc may come twice.
template <class Edge>
class WarpOfEdges {
 public:
  // `waiting` has room for those of two warps.
  __device__ WarpOfEdges(Edge* waiting, Edge* list, int64_t room_of_list, int64_t* listed)
      : waiting_(waiting), list_(list), room_of_list_(room_of_list), listed_(listed) {}
  // By all threads of the warp.
  __device__ void put(bool wanted, const Edge& edge) {
    const uint32_t all = __ballot_sync(kAllLanes, wanted);
    if (wanted) waiting_[number_ + __popc(all & ~(kAllLanes << lane()))] = edge;
    number_ += __popc(all);
    __syncwarp();
    if (number_ >= kWarp) write(kWarp);
  }
  // The last of them.
  __device__ void finish() { write(number_); }

 private:
  __device__ void write(int count) {
    number_ -= count;
    int64_t place = 0;
    if (lane() == 0 && count > 0) place = Shared::fetch_add(listed_, int64_t(count));
    place = __shfl_sync(kAllLanes, place, 0) + lane();
    if (lane() < count && place < room_of_list_) list_[place] = waiting_[number_ + lane()];
    __syncwarp();
  }

  Edge *waiting_, *list_;
  int64_t room_of_list_, *listed_;
  int number_ = 0;
};

// Puts numbers of a warp's threads at the end of a list in shared memory.
__device__ inline void push_by_warp(bool wanted, uint16_t entry, uint16_t* entries, int* number) {
  const uint32_t all = __ballot_sync(kAllLanes, wanted);
  int place = 0;
  if (lane() == 0 && all) place = InBlock::fetch_add(number, __popc(all));
  place = __shfl_sync(kAllLanes, place, 0) + __popc(all & ~(kAllLanes << lane()));
  if (wanted) entries[place] = entry;
}

template <class Key>
__device__ inline void lower(Key* least, Key key) {
  if (key < Shared::load(least)) Shared::fetch_min(least, key);
}

// Lowers the least keys of both trees, but for that of one, which need not choose an edge.
template <class Index, class Key>
__device__ inline void lower_both(Key* least, const ForestEdge<Index, Key>& edge, Index skipped) {
  if (edge.a != skipped) lower(least + edge.a, edge.key);
  if (edge.b != skipped) lower(least + edge.b, edge.key);
}

// The root of an entry, whose parent has just been seen, while nobody unites trees. Paths are halved.
template <class Index>
__device__ inline Index root_above(Index* parent, Index entry, Index above) {
  while (above != entry) {
    const Index next = Shared::load(parent + above);
    if (next == above) break;
    Shared::store(parent + entry, next);
    entry = above, above = next;
  }
  return above;
}

// Lets edges lead from root to root, and tells which of them lead to another tree. The parents of all are
// under way at the same time.
template <int count, class Index, class Key>
__device__ inline void look_for_roots(bool (&exists)[count], ForestEdge<Index, Key> (&edges)[count],
                                      Index* parent) {
  Index above_a[count], above_b[count];
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (exists[k])
      above_a[k] = Shared::load(parent + edges[k].a), above_b[k] = Shared::load(parent + edges[k].b);
#pragma unroll
  for (int k = 0; k < count; ++k) {
    if (!exists[k]) continue;
    edges[k].a = root_above(parent, edges[k].a, above_a[k]);
    edges[k].b = root_above(parent, edges[k].b, above_b[k]);
    exists[k] = edges[k].a != edges[k].b;
  }
}

// Lists edges, and lowers the least keys of their trees, but for that of one, which need not choose an edge.
// All threads of the block call it.
template <int threads, int count, class Index, class Key>
__device__ inline void list_and_lower(const bool (&exists)[count],
                                      const ForestEdge<Index, Key> (&edges)[count], Key* least,
                                      ForestEdge<Index, Key>* list, int64_t* listed, Index skipped = -1) {
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (exists[k]) lower_both(least, edges[k], skipped);
  append<threads>(exists, edges, list, listed);
}

// The tree that most vertices are in, which have the numbers of roots. One block.
template <class Index>
__global__ void __launch_bounds__(kGuessers)
    guess_giant_of_forest(int64_t vertices, const Index* __restrict__ tree, Index* giant) {
  follow_launch();
  const GiantGuess<Index> guess = guess_giant_tree(vertices, [=](int64_t v) { return tree[v]; });
  if (threadIdx.x == 0) *giant = guess.root;
}

// Which keys list_edges_of_forest takes.
enum KeyRange { kAllKeys, kKeysToLimit, kKeysAboveLimit };

// Lists the edges between trees, from their smaller ends; if arcs from larger ends are not known to be the
// same, from both. Where rows are known, list_edges_outside lists those above the limit.
template <class Arcs, class Keys, class Index>
__global__ void __launch_bounds__(kForestThreads, kListingBlocks)
    list_edges_of_forest(Arcs graph, int64_t arcs, Keys keys, int64_t key_range,
                         ForestMemory<Index, typename Keys::Key> memory) {
  using Key = typename Keys::Key;
  follow_launch();
  const bool from_smaller_end = *memory.imbalance == 0;
  const Index* const tree = memory.tree;
  const Key bound = key_range == kAllKeys ? Key(0) : *memory.limit;
  if (grid_thread() == 0)
    for (uint32_t& word : memory.counters->barrier) word = 0;
  if (key_range == kKeysAboveLimit && (bound == kNoKey<Key> || (from_smaller_end && *memory.disorder == 0)))
    return;
  __shared__ uint16_t wanted[kSpan];
  __shared__ int number;
  // Where keys are in order, those up to the limit are the first ones.
  if (Keys::kInOrder && key_range == kKeysToLimit && bound < Key(arcs)) arcs = int64_t(bound) + 1;
  graph.visit_spans(arcs, [&](int64_t begin, int64_t end, const auto& sources) {
    __syncthreads();  // those of an earlier span have been read
    if (threadIdx.x == 0) number = 0;
    __syncthreads();
    for (int64_t row = begin; row < end; row += kSeenAtOnce * kForestThreads) {
      bool exists[kSeenAtOnce];
#pragma unroll
      for (int k = 0; k < kSeenAtOnce; ++k) {
        const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
        exists[k] =
            arc < end && (key_range == kAllKeys || (keys.key(arc) <= bound) == (key_range == kKeysToLimit));
      }
#pragma unroll
      for (int k = 0; k < kSeenAtOnce; ++k) {
        if (!exists[k]) continue;
        const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
        const int64_t u = sources.source(arc), v = graph.target(arc);
        exists[k] = (from_smaller_end ? u < v : u != v) && is_vertex(u, graph.vertices) &&
                    is_vertex(v, graph.vertices);
      }
#pragma unroll
      for (int k = 0; k < kSeenAtOnce; ++k) {
        const int64_t arc = row + k * kForestThreads + int(threadIdx.x);
        push_by_warp(exists[k], uint16_t(arc - begin), wanted, &number);
      }
    }
    __syncthreads();
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
      list_and_lower<kForestThreads>(exists, edges, memory.least, memory.list,
                                     &memory.counters->edges[0].count);
    }
  });
}

// The edges of keys above the limit where rows are known: all have an end outside the giant tree, so only
// rows of such vertices are read. An edge into the giant may be listed by its larger end then, by the number
// that its smaller end has for it.
template <class Keys, class Pointer, class Vertex, class Index>
struct OutsideEdges {
  using Edge = ForestEdge<Index, typename Keys::Key>;
  ForestRows<Pointer, Vertex> rows;
  int64_t arcs;
  Keys keys;
  ForestMemory<Index, typename Keys::Key> memory;

  __device__ bool are_wanted() const {
    return *memory.imbalance == 0 && *memory.disorder == 0 && *memory.limit != kNoKey<typename Keys::Key>;
  }
  __device__ bool is_outside(int64_t v) const { return memory.tree[v] != *memory.giant; }
  // Lists those of the arcs of a warp's threads that lead from u.
  __device__ void list(bool exists, int64_t u, int64_t arc, WarpOfEdges<Edge>& warp) const {
    Edge edge{0, 0, 0};
    if (exists) {
      const int64_t v = rows.target(arc);
      exists = u != v && is_vertex(v, rows.vertices);
      if (exists) edge.a = memory.tree[u], edge.b = memory.tree[v];
      exists = exists && edge.a != edge.b && (u < v || edge.b == *memory.giant);
      const int64_t number = exists && v < u ? rows.least_arc(keys, v, u) : arc;
      exists = exists && number >= 0;
      if (exists) edge.key = keys.key(number), exists = edge.key > *memory.limit;
    }
    if (exists) lower_both(memory.least, edge, *memory.giant);
    warp.put(exists, edge);
  }
  __device__ WarpOfEdges<Edge> warp(Edge (*waiting)[2 * kWarp]) const {
    return {waiting[threadIdx.x / kWarp], memory.list, arcs, &memory.counters->edges[0].count};
  }
};

// Lists the edges outside, but for those of hubs. A block gathers the vertices of its stretches that are
// outside, and a warp goes through the rows of 32 of them as if they were one.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kOutsideThreads, kOutsideBlocks)
    list_edges_outside(ForestRows<Pointer, Vertex> rows, int64_t arcs, Keys keys,
                       ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  const OutsideEdges<Keys, Pointer, Vertex, Index> edges{rows, arcs, keys, memory};
  if (!edges.are_wanted()) return;
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
      if (length > kHubOfForest) length = 0, Shared::store(&memory.counters->has_hubs_outside, uint32_t(1));
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

// Lists the edges of hubs outside.
template <class Keys, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kForestThreads, kHubBlocks)
    list_edges_of_hubs(ForestRows<Pointer, Vertex> rows, int64_t arcs, Keys keys,
                       ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  const OutsideEdges<Keys, Pointer, Vertex, Index> edges{rows, arcs, keys, memory};
  if (!edges.are_wanted() || memory.counters->has_hubs_outside == 0) return;
  __shared__ ForestEdge<Index, typename Keys::Key> waiting[kForestThreads / kWarp][2 * kWarp];
  auto warp = edges.warp(waiting);
  const auto is_hub_outside = [&](int64_t v) {
    return int64_t(rows.indptr[v + 1]) - int64_t(rows.indptr[v]) > kHubOfForest && edges.is_outside(v);
  };
  SpansOfBlock<Pointer>(rows.indptr, rows.vertices, arcs).visit([&](const Span& span) {
    visit_span<Vertex>(rows.indptr, span, is_hub_outside,
                       [&](bool exists, int64_t u, int64_t arc) { edges.list(exists, u, arc, warp); });
  });
  warp.finish();
}

// A thread, among those that share the work of a round.
struct Worker {
  int64_t thread, threads;
};

// The edges of the least keys are chosen, and each tree that has such a key is put under the one that its
// edge leads to; of two that choose the same edge, the smaller one stays a root. Keys differ, so there are no
// circles.
template <class Keys, class Index, class Key>
__device__ inline void choose_edges(const Keys& keys, const ForestEdge<Index, Key>* list, int64_t count,
                                    const Key* least, const Worker& worker, Index* parent, uint32_t* chosen) {
  for (int64_t first = worker.thread; first < count; first += kListedAtOnce * worker.threads) {
    ForestEdge<Index, Key> edges[kListedAtOnce];
    bool of_a[kListedAtOnce], of_b[kListedAtOnce];
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k)
      if (first + k * worker.threads < count) edges[k] = list[first + k * worker.threads];
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k) {
      const bool exists = first + k * worker.threads < count;
      of_a[k] = exists && Shared::load(least + edges[k].a) == edges[k].key;
      of_b[k] = exists && Shared::load(least + edges[k].b) == edges[k].key;
    }
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k) {
      const Index a = edges[k].a, b = edges[k].b;
      if (of_a[k] || of_b[k]) choose_arc(chosen, keys.arc(edges[k].key));
      if (of_a[k] && !(of_b[k] && a < b)) Shared::store(parent + a, b);
      if (of_b[k] && !(of_a[k] && b < a)) Shared::store(parent + b, a);
    }
  }
}

// The tree that many of a sample of edges lead to, or -1, while no trees are united: so that all blocks find
// the same one. All edges of a giant tree would lower the same key, one after the other; the other trees
// choose theirs, and that is enough.
template <class Index, class Key>
__device__ inline Index busiest_tree(const ForestEdge<Index, Key>* list, int64_t count, Index* parent) {
  __shared__ Index busiest;
  if (threadIdx.x < kWarp) {
    const ForestEdge<Index, Key> edge = list[count / kWarp * lane()];
    const Index tree_of_edge = lane() % 2 ? edge.a : edge.b;
    const Index root = root_above(parent, tree_of_edge, Shared::load(parent + tree_of_edge));
    int votes = 0;
    for (int k = 0; k < kWarp; ++k) votes += __shfl_sync(kAllLanes, root, k) == root;
    int most = votes;
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(kAllLanes, most, step);
      if (other > most) most = other;
    }
    const int winner = __ffs(int(__ballot_sync(kAllLanes, votes == most))) - 1;
    const Index tree = __shfl_sync(kAllLanes, root, winner);
    if (threadIdx.x == 0) busiest = most >= kManyVotes ? tree : Index(-1);
  }
  __syncthreads();
  const Index tree = busiest;
  __syncthreads();
  return tree;
}

// Goes round by round until no edge leads from one tree to another: then both lists are empty, and no tree
// has a key. Where there are many edges, some lower keys first: the keys of most others are no lower then,
// which they see without atomic functions. In the lists of late rounds there are few of the trees, whose keys
// alone are cleared then, and the last rounds are those of one block, which waits for no other. All blocks
// run at the same time.
template <class Keys, class Index>
__global__ void __launch_bounds__(kSettlingThreads, 1)
    settle_edges(int64_t arcs, Keys keys, ForestMemory<Index, typename Keys::Key> memory) {
  using Key = typename Keys::Key;
  ForestCounters* const counters = memory.counters;
  GridBarrier barrier(counters->barrier);
  Worker worker{grid_thread(), grid_threads()};
  ForestEdge<Index, Key>*list = memory.list, *other_list = memory.other_list;
  Key *least = memory.least, *other_least = memory.other_least;
  const int64_t trees = *memory.trees;
  const auto clear_other = [&] {
    for (int64_t tree = worker.thread; tree < trees; tree += worker.threads) other_least[tree] = kNoKey<Key>;
  };
  bool other_is_clear = true;
  int now = 0;
  for (int64_t count; (count = Current::load(&counters->edges[now].count)) > 0; now = 1 - now) {
    if (count <= kFewEdges && worker.threads > kSettlingThreads) {
      if (blockIdx.x > 0) return;
      worker.threads = kSettlingThreads;
      barrier.go_on_alone();
    }
    if (count > arcs) count = arcs;  // for which there was room
    choose_edges(keys, list, count, least, worker, memory.parent, memory.chosen);
    if (!other_is_clear) clear_other();
    barrier.wait();
    const bool are_few = count < trees / kTreesOfEdge;
    int64_t* const other_count = &counters->edges[1 - now].count;
    const Index skipped = count <= kFewEdges ? Index(-1) : busiest_tree(list, count, memory.parent);
    int64_t done = 0, end = count < kManyEdges ? count : count / kEdgesOfFirst;
    for (;;) {
      for (int64_t begin = done + worker.thread - threadIdx.x; begin < end;
           begin += kListedAtOnce * worker.threads) {
        ForestEdge<Index, Key> edges[kListedAtOnce];
        bool exists[kListedAtOnce];
#pragma unroll
        for (int k = 0; k < kListedAtOnce; ++k) {
          const int64_t i = begin + k * worker.threads + int(threadIdx.x);
          exists[k] = i < end;
          if (exists[k]) edges[k] = list[i];
        }
#pragma unroll
        for (int k = 0; k < kListedAtOnce; ++k) {
          if (!are_few || !exists[k]) continue;
          Shared::store(least + edges[k].a, kNoKey<Key>);
          Shared::store(least + edges[k].b, kNoKey<Key>);
        }
        look_for_roots(exists, edges, memory.parent);
        list_and_lower<kSettlingThreads>(exists, edges, other_least, other_list, other_count, skipped);
      }
      if (end == count) break;
      barrier.wait();
      done = end, end = count;
    }
    barrier.wait();
    // Nobody adds to it before the next barrier but one.
    if (worker.thread == 0) Current::store(&counters->edges[now].count, int64_t(0));
    ForestEdge<Index, Key>* const full = other_list;
    other_list = list, list = full;
    Key* const lowered = other_least;
    other_least = least, least = lowered;
    other_is_clear = are_few;
  }
  if (!other_is_clear) clear_other();
}

// Counts the chosen arcs of each chunk of words, and all of them.
template <class Number>
__global__ void __launch_bounds__(kForestThreads)
    count_chosen(int64_t words, int64_t chunk, const uint32_t* __restrict__ chosen,
                 int64_t* __restrict__ chosen_in_chunk, int64_t* total) {
  follow_launch();
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

// Writes the numbers of the chosen arcs, in ascending order. They are put side by side in shared memory
// first.
template <class Number>
__global__ void __launch_bounds__(kForestThreads)
    list_chosen(int64_t words, int64_t chunk, const uint32_t* __restrict__ chosen,
                const int64_t* __restrict__ chosen_in_chunk, Number* __restrict__ arcs) {
  follow_launch();
  __shared__ Number staged[kStaged<Number>];
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    int64_t before = sum_of_first<kForestThreads>(part, chosen_in_chunk);
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    for (int64_t row = begin; row < end; row += kForestThreads) {
      const int64_t w = row + threadIdx.x;
      const uint32_t bits = w < end ? chosen[w] : 0;
      int total;
      const int place = block_scan<kForestThreads>(__popc(bits), total);
      for (int first = 0; first < total; first += kStaged<Number>) {
        int at = place - first;
        for (uint32_t left = bits; left; left &= left - 1, ++at)
          if (at >= 0 && at < kStaged<Number>) staged[at] = Number(w * kArcsOfWord + __ffs(int(left)) - 1);
        __syncthreads();
        for (int k = int(threadIdx.x); k < kStaged<Number> && first + k < total; k += kForestThreads)
          arcs[before + first + k] = staged[k];
        __syncthreads();
      }
      before += total;
    }
  }
}

}  // namespace conncomp
