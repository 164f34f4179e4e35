// Spanning forests whose keys are the numbers of arcs, by one pass over the arcs. Each tree of the first
// round keeps a link: the least key that connects it with a tree of a smaller number, and one of these; keys
// of links are the forest. An edge climbs from its larger end along links of lesser keys until its ends meet,
// or becomes the link; a link of a larger key there becomes an edge again, between the ends reached. Given
// links 9-7 of key 5 and 7-2 of key 8, edge 9-4 of key 6 goes on to 7, as 5 < 6; there 7-4 takes the place of
// 7-2, and 4-2 of key 8 goes on. Keys connect trees for ever, so threads may follow old links, and leave
// shortcuts behind. Edges of too many steps are listed with the links for settle_edges. Cost: each arc read
// once, a few trees for each edge between two. Source: ours; links give way as in hook_lowest, larger ends
// first as in Rem's union-find (Dijkstra 1976).
#pragma once

#include "cuda/graph/forest_edges.cuh"

namespace conncomp {

constexpr int kLinkedAtOnce = 4;  // arcs that a thread looks at together
constexpr int kRowsOfThread = 2;  // that are short
// The blocks on each multiprocessor whose threads go through short rows.
constexpr int kLinkingBlocks = resident_blocks(kForestThreads) < 5 ? resident_blocks(kForestThreads) : 5;
constexpr int kStepsToShorten = 4;  // from here on an edge leaves shortcuts; many at once would be in turns

inline uint64_t link_of(uint32_t key, int32_t tree) { return uint64_t(key) << 32 | uint32_t(tree); }
inline uint32_t key_of(uint64_t link) { return uint32_t(link >> 32); }
inline int32_t tree_of(uint64_t link) { return int32_t(uint32_t(link)); }

// An edge on its way, of which each step waits for memory once.
class ClimbingEdge {
 public:
  bool is_under_way() const { return larger_ != smaller_; }
  int steps() const { return steps_; }
  void start(uint32_t key, int32_t a, int32_t b) {
    key_ = key, larger_ = a, smaller_ = b, steps_ = 0, is_at_end_ = false;
    before_larger_ = before_smaller_ = -1;
    put_larger_first();
  }
  ForestEdge<int32_t, uint32_t> stop() {
    const ForestEdge<int32_t, uint32_t> edge{key_, larger_, smaller_};
    smaller_ = larger_;
    return edge;
  }
  void step(TreeLinks* links) {
    uint64_t link_and_shortcut[2], link;
    if (is_at_end_) link = Concurrent::fetch_min(&links[larger_].link, link_of(key_, smaller_));
    if (!is_at_end_) Concurrent::load_all(&links[larger_].link, link_and_shortcut);
    ++steps_;
    if (!is_at_end_) {
      link = key_of(link_and_shortcut[1]) < key_ ? link_and_shortcut[1] : link_and_shortcut[0];
      is_at_end_ = key_of(link) >= key_;
      if (!is_at_end_) climb(link, links);
      return;
    }
    is_at_end_ = false;
    if (link == kNoLink) {
      smaller_ = larger_;
    } else if (key_of(link) < key_) {
      climb(link, links);
    } else {
      key_ = key_of(link), larger_ = tree_of(link), before_larger_ = -1;
      put_larger_first();
    }
  }

 private:
  // Moves the larger end to where a link leads, and leaves a shortcut at the tree before.
  void climb(uint64_t link, TreeLinks* links) {
    const uint32_t key = key_of(link);
    if (before_larger_ >= 0 && steps_ >= kStepsToShorten)
      Concurrent::store(&links[before_larger_].shortcut,
          link_of(key < key_to_larger_ ? key_to_larger_ : key, tree_of(link)));
    before_larger_ = larger_, key_to_larger_ = key, larger_ = tree_of(link);
    put_larger_first();
  }
  void put_larger_first() {
    if (larger_ >= smaller_) return;
    swap_values(larger_, smaller_);
    swap_values(before_larger_, before_smaller_);
    swap_values(key_to_larger_, key_to_smaller_);
  }

  // The trees at both ends, and those that led to them, by which keys.
  int32_t larger_ = 0, smaller_ = 0, before_larger_, before_smaller_;
  uint32_t key_, key_to_larger_, key_to_smaller_;
  int steps_;
  bool is_at_end_;
};

// Links trees by this thread's edges k from tree source(k) to its target's, or -1. Late ones are listed.
void link_trees(const ForestMemory<int32_t, uint32_t>& memory, int most_steps,
    FirstParent (&of_target)[kLinkedAtOnce], auto&& source, auto&& key) {
  const auto take = [&](ClimbingEdge& climbing) {
    bool exists = false;
#pragma unroll
    for (int k = 0; k < kLinkedAtOnce; ++k) {
      const int32_t other = of_target[k].tree;
      if (exists || other < 0) continue;
      of_target[k].tree = -1, exists = other != source(k);
      if (exists) climbing.start(key(k), other, source(k));
    }
    return exists;
  };
  ClimbingEdge climbing;
  while (climbing.is_under_way() || take(climbing)) {
    if (climbing.steps() < most_steps) {
      climbing.step(memory.links);
    } else {
      const ForestEdge<int32_t, uint32_t> late = climbing.stop();
      set_flag(&memory.counters->has_late_edges);
      lower_both(memory.least, late, int32_t(-1));
      memory.list[Concurrent::fetch_add(&memory.counters->edges[0].count, int64_t(1))] = late;
    }
  }
}

// Links trees by edges of short rows, a thread each; chooses the edges that unite_in_order left to it.
template <class Keys, class Pointer, class Vertex>
__global__ void __launch_bounds__(kForestThreads, kLinkingBlocks)
    link_short_rows(ForestRows<Pointer, Vertex> rows, Keys keys, int64_t far, int64_t most_steps,
        ForestMemory<int32_t, uint32_t> memory) {
  follow_launch();
  const bool may_choose = memory.counters->has_far_parents;
  if (*memory.trees == 1 && !may_choose) return;
#pragma unroll 1
  for (int i = 0; i < kRowsOfThread; ++i) {
    const int64_t u = (int64_t(blockIdx.x) * kRowsOfThread + i) * kForestThreads + int(threadIdx.x);
    if (u >= rows.vertices) break;
    const int64_t begin = rows.indptr[u], length = int64_t(rows.indptr[u + 1]) - begin;
    if (length > kShortForestRow) {
      set_flag(&memory.counters->has_long_rows);
      continue;
    }
    const Vertex* const row = rows.indices + begin;
    const uint32_t first_key = keys.key(begin);
    const int32_t tree = memory.first[u].tree;
#pragma unroll 1
    for (int first = 0; first < int(length); first += kLinkedAtOnce) {
      Vertex target[kLinkedAtOnce];
      FirstParent of_target[kLinkedAtOnce];
#pragma unroll
      for (int k = 0; k < kLinkedAtOnce; ++k)
        target[k] = first + k < int(length) ? row[first + k] : Vertex(u);
#pragma unroll
      for (int k = 0; k < kLinkedAtOnce; ++k) {
        of_target[k] = {-1, -1};
        if (target[k] > Vertex(u) && is_vertex(int64_t(target[k]), rows.vertices))
          of_target[k] = memory.first[target[k]];
      }
      if (may_choose) {
#pragma unroll
        for (int k = 0; k < kLinkedAtOnce; ++k)
          if (of_target[k].parent == int32_t(u) && int64_t(target[k]) - u >= far &&
              (first + k == 0 || row[first + k - 1] != target[k]))
            choose_arc(memory.chosen, begin + first + k);
      }
      link_trees(
          memory, int(most_steps), of_target, [&](int) { return tree; },
          [&](int k) { return first_key + uint32_t(first + k); });
    }
  }
}

// Links trees by the other edges of a graph, or all: in spans of arcs.
template <class Arcs, class Keys>
__global__ void __launch_bounds__(kForestThreads, kListingBlocks)
    link_edges(Arcs graph, int64_t arcs, Keys keys, int64_t only_long_rows, int64_t far, int64_t most_steps,
        ForestMemory<int32_t, uint32_t> memory) {
  follow_launch();
  const bool from_smaller_end = *memory.imbalance == 0;
  if (grid_thread() == 0)
    for (uint32_t& word : memory.counters->barrier) word = 0;
  const bool may_choose = memory.counters->has_far_parents;
  if (*memory.trees == 1 && !may_choose) return;
  if (only_long_rows && !memory.counters->has_long_rows) return;
  __shared__ uint16_t wanted[kSpan];
  __shared__ int number;
  graph.visit_spans(arcs, [&](int64_t begin, int64_t end, const auto& sources) {
    gather_wanted(
        begin, end, wanted, &number, [](int64_t) { return true; },
        [&](int64_t arc) {
          const int64_t u = sources.source(arc), v = graph.target(arc);
          return (from_smaller_end ? u < v : u != v) && is_vertex(u, graph.vertices) &&
                 is_vertex(v, graph.vertices) && !(only_long_rows && graph.is_short(u));
        });
    for (int first = int(threadIdx.x); first < number; first += kLinkedAtOnce * kForestThreads) {
      int64_t arcs_of_thread[kLinkedAtOnce];
      FirstParent of_source[kLinkedAtOnce], of_target[kLinkedAtOnce];
#pragma unroll
      for (int k = 0; k < kLinkedAtOnce; ++k) {
        const int place = first + k * kForestThreads;
        const int64_t arc = place < number ? begin + wanted[place] : -1;
        const int64_t v = arc < 0 ? -1 : graph.target(arc);
        arcs_of_thread[k] = arc, of_source[k] = of_target[k] = {-1, -1};
        if (!is_vertex(v, graph.vertices)) continue;  // any more, if the rows change meanwhile
        const int64_t u = sources.source(arc);
        of_source[k] = memory.first[u], of_target[k] = memory.first[v];
        if (may_choose && of_target[k].parent == u && v - u >= far &&
            !(arc > 0 && graph.target(arc - 1) == v))
          choose_arc(memory.chosen, arc);
      }
      link_trees(
          memory, int(most_steps), of_target, [&](int k) { return of_source[k].tree; },
          [&](int k) { return keys.key(arcs_of_thread[k]); });
    }
  });
}

// Chooses the edges of links; or lists the links, if edges are left, and returns true. All threads call.
template <int threads> bool choose_links(const auto& keys, const ForestMemory<int32_t, uint32_t>& memory) {
  const int64_t trees = *memory.trees == 1 ? 0 : *memory.trees;  // one has no link
  const bool are_listed = memory.counters->has_late_edges;
  for (int64_t first = int64_t(blockIdx.x) * threads; first < trees; first += int64_t(gridDim.x) * threads) {
    const int64_t tree = first + int(threadIdx.x);
    const uint64_t link = tree < trees ? memory.links[tree].link : kNoLink;
    const bool exists[1] = {link != kNoLink};
    const ForestEdge<int32_t, uint32_t> edge[1] = {{key_of(link), int32_t(tree), tree_of(link)}};
    if (are_listed)
      list_and_lower<threads>(exists, edge, memory.least, memory.list, &memory.counters->edges[0].count);
    else if (exists[0])
      choose_arc(memory.chosen, keys.arc(key_of(link)));
  }
  return are_listed;
}

}
