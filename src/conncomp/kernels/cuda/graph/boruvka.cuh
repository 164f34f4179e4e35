// Spanning forests by rounds of Borůvka: sets a bit for each arc of the forest of least keys, whatever the
// directions of arcs. Keys differ: numbers of arcs, ranks in an order, or weights of 32 bits above numbers.
// 1. forest_first.cuh: where rows are sorted and arcs weigh the same both ways, each vertex is united over
// the least edge of its own row, and arcs from larger ends are left out.
// 2. forest_trees.cuh, forest_edges.cuh: trees are numbered, and edges between them listed, which lower the
// least key of both; rounds (settle_edges) choose these. Where keys are the numbers of few arcs a vertex,
// forest_links.cuh takes one pass over the arcs instead.
// 3. forest_outside.cuh: where arcs are many, those below a sampled limit go through 2 first and make a giant
// tree; the others are in the rows of vertices outside.
// Cost: arcs read two or three times; a round halves the trees with edges. Memory: two lists of edges, two
// keys and three numbers a vertex (four, five with links), a bit an arc. Source: Borůvka 1926; Fallin,
// Gonzalez, Seo and Burtscher 2023 (ECL-MST); Osipov, Sanders and Singler 2009 for lighter edges first;
// Jaiganesh and Burtscher 2018.
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

struct Worker {
  int64_t thread, threads;
};

// Chooses edges of least keys, and puts each tree under the one that its edge leads to; of two that choose
// the same edge, the smaller stays a root. Keys differ, so there are no circles.
template <class Index, class Key>
void choose_edges(const auto& keys, const ForestEdge<Index, Key>* list, int64_t count, const Key* least,
    const Worker& worker, Index* parent, uint32_t* chosen) {
  for (int64_t first = worker.thread; first < count; first += kListedAtOnce * worker.threads) {
    ForestEdge<Index, Key> edges[kListedAtOnce];
    bool of_a[kListedAtOnce], of_b[kListedAtOnce];
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k)
      if (first + k * worker.threads < count) edges[k] = list[first + k * worker.threads];
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k) {
      const bool exists = first + k * worker.threads < count;
      of_a[k] = exists && Concurrent::load(least + edges[k].a) == edges[k].key;
      of_b[k] = exists && Concurrent::load(least + edges[k].b) == edges[k].key;
    }
#pragma unroll
    for (int k = 0; k < kListedAtOnce; ++k) {
      const Index a = edges[k].a, b = edges[k].b;
      if (of_a[k] || of_b[k]) choose_arc(chosen, keys.arc(edges[k].key));
      if (of_a[k] && !(of_b[k] && a < b)) Concurrent::store(parent + a, b);
      if (of_b[k] && !(of_a[k] && b < a)) Concurrent::store(parent + b, a);
    }
  }
}

// The tree that many of a sample of edges lead to, or -1, the same in all blocks. It need not choose an edge:
// all of a giant's would queue to lower its key.
template <class Index, class Key>
Index busiest_tree(const ForestEdge<Index, Key>* list, int64_t count, Index* parent) {
  __shared__ Index busiest;
  if (threadIdx.x < kWarp) {
    const ForestEdge<Index, Key> edge = list[count / kWarp * lane()];
    const Index tree_of_edge = lane() % 2 ? edge.a : edge.b;
    const Index root = root_above(parent, tree_of_edge, Concurrent::load(parent + tree_of_edge));
    int votes = 0;
    for (int k = 0; k < kWarp; ++k) votes += __shfl_sync(kAllLanes, root, k) == root;
    const int most = over_lanes(votes, larger<int>);
    const int winner = __ffs(int(__ballot_sync(kAllLanes, votes == most))) - 1;
    const Index tree = __shfl_sync(kAllLanes, root, winner);
    if (threadIdx.x == 0) busiest = most >= kManyVotes ? tree : Index(-1);
  }
  __syncthreads();
  const Index tree = busiest;
  __syncthreads();
  return tree;
}

// Goes through rounds until lists are empty, and no tree has a key. Of many edges some lower keys first, to
// spare the others. Late rounds clear only keys of listed trees, and at last one block goes on alone. All
// blocks run at once. Keys in other_least are of listed edges.
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
          Concurrent::store(least + edges[k].a, kNoKey<Key>);
          Concurrent::store(least + edges[k].b, kNoKey<Key>);
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
    swap_values(list, other_list);
    swap_values(least, other_least);
    other_is_clear = are_few;
  }
  if (!other_is_clear) clear_other();
}

template <class Number>
__global__ void __launch_bounds__(kForestThreads) count_chosen(int64_t words, int64_t chunk,
    const uint32_t* __restrict__ chosen, int64_t* __restrict__ chosen_in_chunk, int64_t* total) {
  follow_launch();
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int64_t count = 0;
    for (int64_t w = begin + threadIdx.x; w < end; w += kForestThreads) count += __popc(chosen[w]);
    count = block_sum<kForestThreads>(count);
    if (threadIdx.x == 0) {
      chosen_in_chunk[part] = count;
      Concurrent::fetch_add(total, count);
    }
  }
}

// Writes the numbers of the chosen arcs in order, as far as there is room, as rows may change.
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

}
