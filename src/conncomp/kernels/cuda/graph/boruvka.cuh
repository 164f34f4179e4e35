// Spanning forests of a graph on the GPU, by rounds of Borůvka over a list of edges.
//
// Sets a bit for each arc of the forest of the least keys, whatever the directions of arcs. No two arcs share
// a key, so the forest is unique: the number of the arc (ArcNumbers), its rank in an order of all
// (RankedArcs), or its weight of 32 bits above its number (PackedWeights).
// 1. (forest_first.cuh) Where each row is sorted (count_descents) and every arc has an opposite one of the
// same weight, which a hash tells (weigh_both_ways), a vertex has its least edge in its own row
// (choose_first), with which all vertices are united, without a list (unite_first). Arcs from the larger end
// are left out from there on, as their numbers are the larger ones.
// 2. (forest_trees.cuh, forest_edges.cuh) Trees are numbered (number_trees, find_trees), so that what is kept
// for each lies close together. The arcs between trees are listed with the key, and lower the least key of
// each tree (list_edges_of_forest). In a round (settle_edges), edges of the least key of either tree are
// chosen and put that one under the other; edges that still lead between trees are listed anew. Where many
// lead to few trees, some lower keys first, so that most others need not. Where keys are the numbers of few
// arcs a vertex, one pass over the arcs takes the place of lists and rounds (forest_links.cuh), but for edges
// that take it long.
// 3. (forest_outside.cuh) Where there are many arcs a vertex, those of keys up to a limit from a sample
// (guess_limit) go through step 2 first. Of the others, most have both ends in a giant tree by then: what is
// left is in the rows of the vertices outside (list_edges_outside, list_edges_of_hubs).
// Cost: each arc read two or three times; each round at least halves the trees that have edges. Memory: two
// lists of edges, two keys and three numbers a vertex, a bit an arc; where trees are linked, two links and
// two numbers a vertex besides. Source: Borůvka 1926; lists of edges, lowered keys and searches for
// contraction: Fallin, Gonzalez, Seo and Burtscher 2023 (ECL-MST); lighter edges first: Osipov, Sanders and
// Singler 2009; union–find and the start under the smallest neighbour: Jaiganesh and Burtscher 2018.
#pragma once

#include "cuda/graph/forest_first.cuh"
#include "cuda/graph/forest_links.cuh"
#include "cuda/graph/forest_outside.cuh"
#include "cuda/graph/forest_trees.cuh"

namespace conncomp {

constexpr int kSettlingThreads = 1024;  // of one block on each multiprocessor
constexpr int64_t kFewEdges = 4096;     // up to here they are gone through by one block
constexpr int64_t kManyEdges = 8192;    // from here on,
constexpr int64_t kEdgesOfFirst = 16;   // of so many edges one lowers keys before the others
constexpr int kManyVotes = 4;           // of a warp's sample of edges
constexpr int64_t kTreesOfEdge = 8;     // from here on keys are cleared edge by edge
template <class Number>
constexpr int kStaged = (8 << 10) / int(sizeof(Number));  // numbers of chosen arcs in shared memory

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
// run at the same time. A key that other_least has before is of an edge of this tree that is listed. Where
// trees are linked, there mostly are no edges, and it is done with the links.
template <class Keys, class Index>
__global__ void __launch_bounds__(kSettlingThreads, 1)
    settle_edges(int64_t arcs, Keys keys, ForestMemory<Index, typename Keys::Key> memory) {
  using Key = typename Keys::Key;
  ForestCounters* const counters = memory.counters;
  GridBarrier barrier(counters->barrier);
  if constexpr (kAreLinked<Keys, Index>) {
    if (memory.links) {
      if (!choose_links<kSettlingThreads>(keys, memory)) return;
      barrier.wait();
    }
  }
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
    if (count > arcs) count = arcs, other_is_clear = false;  // for which there was room
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

// Writes the numbers of the chosen arcs, in ascending order, as far as there is room: if rows change
// meanwhile, more may be chosen than a forest has. They are put side by side in shared memory first.
template <class Number>
__global__ void __launch_bounds__(kForestThreads)
    list_chosen(int64_t words, int64_t chunk, const uint32_t* __restrict__ chosen,
                const int64_t* __restrict__ chosen_in_chunk, int64_t room, Number* __restrict__ arcs) {
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
          if (before + first + k < room) arcs[before + first + k] = staged[k];
        __syncthreads();
      }
      before += total;
    }
  }
}

}  // namespace conncomp
