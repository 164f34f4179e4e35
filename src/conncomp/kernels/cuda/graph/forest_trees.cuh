// The trees of a spanning forest: their numbers after the first round, the tree of each vertex, and the one
// that most arcs lead to. Cost: each vertex read twice, and once more where some edges went first. Source:
// boruvka.cuh, step 2.
#pragma once

#include "cuda/graph/forest_memory.cuh"

namespace conncomp {

constexpr int kNumberedAtOnce = 4;  // vertices that a thread has under way
constexpr int kNearlyAllGuesses = kGuessers - kGuessers / 64;

// Numbers the trees of the first round, each a root without a key. Writes to the entries of roots only.
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

// Gives each vertex its root's number. Where keys are in order, paths may be as long as the graph: steps
// double, so all blocks run at once. Linked trees keep numbers with first parents.
template <class Keys, class Index>
__global__ void __launch_bounds__(kForestThreads, resident_blocks(kForestThreads))
    find_trees(int64_t vertices, ForestMemory<Index, typename Keys::Key> memory) {
  follow_launch();
  if constexpr (kAreLinked<Keys, Index>)
    if (memory.links && *memory.trees == 1 && !memory.counters->has_far_parents) return;  // all is done
  constexpr Jump kJump = Keys::kInOrder ? Jump::kLeading : Jump::kIntermediate;
  const int64_t step = grid_threads();
  for (int64_t first = grid_thread(); first < vertices; first += kNumberedAtOnce * step) {
    Index above[kNumberedAtOnce], root[kNumberedAtOnce];
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k)
      if (first + k * step < vertices) above[k] = Concurrent::load(memory.first_parent + first + k * step);
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k)
      if (first + k * step < vertices)
        root[k] = find_from<Concurrent, kJump>(memory.first_parent, Index(first + k * step), above[k]);
    Index tree[kNumberedAtOnce];
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k)
      if (first + k * step < vertices) tree[k] = memory.tree[root[k]];
#pragma unroll
    for (int k = 0; k < kNumberedAtOnce; ++k) {
      const int64_t v = first + k * step;
      if (v >= vertices) continue;
      if constexpr (kAreLinked<Keys, Index>) {
        if (memory.links) {
          memory.first[v] = {above[k], tree[k]};
          if (root[k] == Index(v)) memory.links[tree[k]] = {kNoLink, kNoLink};
          continue;
        }
      }
      if (root[k] != Index(v)) memory.tree[v] = tree[k];
    }
  }
}

// Writes the root of each tree where first parents were, unless all edges are done. Parents are only read.
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

template <class Index, class Key>
__global__ void __launch_bounds__(kForestThreads)
    find_trees_again(int64_t vertices, ForestMemory<Index, Key> memory) {
  follow_launch();
  if (*memory.limit == kNoKey<Key>) return;
  const Index* __restrict__ root = memory.first_parent;
#pragma unroll 4
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) memory.tree[v] = root[memory.tree[v]];
}

// The tree that most of a sample of arcs lead to, and whether many lead elsewhere. One block.
template <class Vertex, class Index, class Key>
__global__ void __launch_bounds__(kGuessers) guess_giant_of_forest(
    int64_t vertices, int64_t arcs, const Vertex* __restrict__ indices, ForestMemory<Index, Key> memory) {
  follow_launch();
  const GiantGuess<Index> guess = guess_giant_tree(arcs, [&](int64_t arc) {
    const int64_t v = indices[arc];
    return is_vertex(v, vertices) ? memory.tree[v] : Index(0);
  });
  if (threadIdx.x == 0) {
    *memory.giant = guess.root;
    memory.counters->many_are_outside = guess.votes < kNearlyAllGuesses;
  }
}

}
