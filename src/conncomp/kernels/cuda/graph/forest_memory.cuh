// What the kernels of spanning forests (boruvka.cuh) share: graphs, keys of arcs, edges between trees,
// memory.
#pragma once

#include "core/fixed_point.h"
#include "cuda/core/barrier.cuh"
#include "cuda/graph/ecl.cuh"
#include "cuda/graph/edges.cuh"

namespace conncomp {

constexpr int kForestThreads = 256;
constexpr int kArcsOfWord = 32;
// The blocks on each multiprocessor, of every kind of GPU, whose threads have several arcs each.
constexpr int kListingBlocks = resident_blocks(kForestThreads) < 4 ? resident_blocks(kForestThreads) : 4;
constexpr int kListedAtOnce = 2;         // edges that a thread has under way
constexpr int kSeenAtOnce = 8;           // arcs that a thread looks at together
constexpr int64_t kShortForestRow = 16;  // up to here a row is the work of one thread

template <class Pointer, class Vertex> struct ForestRows {
  const Pointer* indptr;
  const Vertex* indices;
  int64_t vertices;

  // Calls visit(begin, end, sources) for the spans of a block; sources.source(arc) is that of one of their
  // arcs. The whole block calls.
  void visit_spans(int64_t arcs, auto&& visit) const {
    visit_spans_of_block(indptr, vertices, arcs, [&](const Span& span) {
      SpanSources<Vertex> sources;
      sources.note(indptr, span, AnyRow());
      visit(span.begin, span.end, sources);
    });
  }
  int64_t target(int64_t arc) const { return int64_t(indices[arc]); }
  bool is_short(int64_t u) const { return int64_t(indptr[u + 1]) - int64_t(indptr[u]) <= kShortForestRow; }
  // The first arc of u that leads elsewhere; -1 if there is none.
  int64_t first_edge(int64_t u) const {
    const int64_t end = indptr[u + 1];
    for (int64_t arc = indptr[u]; arc < end; ++arc)
      if (target(arc) != u && is_vertex(target(arc), vertices)) return arc;
    return -1;
  }
  // The arc of the least key from u to v, in a sorted row; -1 if there is none.
  int64_t least_arc(const auto& keys, int64_t u, int64_t v) const {
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

template <class Vertex> struct ForestList {
  const Vertex *src, *dst;
  int64_t vertices;

  void visit_spans(int64_t arcs, auto&& visit) const {
    for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan)
      visit(begin, begin + kSpan < arcs ? begin + kSpan : arcs, *this);
  }
  int64_t source(int64_t arc) const { return int64_t(src[arc]); }
  int64_t target(int64_t arc) const { return int64_t(dst[arc]); }
  bool is_short(int64_t) const { return false; }
};

template <class Number> struct ArcNumbers {
  using Key = Number;
  static constexpr bool kInOrder = true;  // whether keys rise with the numbers of arcs
  Key key(int64_t arc) const { return Key(arc); }
  // No key of an arc that weighs as much, and has this number or a larger one, is less.
  Key least_key(int64_t, int64_t number) const { return Key(number); }
  int64_t arc(Key key) const { return int64_t(key); }
};

// `order` lists the arcs from the first to the last, `rank` has the place of each.
template <class Number> struct RankedArcs {
  using Key = Number;
  static constexpr bool kInOrder = false;
  const Number *rank, *order;
  Key key(int64_t arc) const { return rank[arc]; }
  Key least_key(int64_t, int64_t) const { return 0; }
  int64_t arc(Key key) const { return int64_t(order[key]); }
};

struct PackedWeights {
  using Key = uint64_t;
  static constexpr bool kInOrder = false;
  const uint32_t* weights;
  WeightOrder<uint32_t> order;
  Key key(int64_t arc) const { return least_key(arc, arc); }
  Key least_key(int64_t arc, int64_t number) const {
    return uint64_t(order(weights[arc])) << 32 | uint32_t(number);
  }
  int64_t arc(Key key) const { return int64_t(uint32_t(key)); }
};

// Between two trees, which had these roots when it was listed.
template <class Index, class Key> struct ForestEdge {
  Key key;
  Index a, b;
};

// Where the first round puts a vertex: its parent, before paths are shortened, and its tree.
struct alignas(8) FirstParent {
  int32_t parent, tree;
};

// Where a tree leads to (forest_links.cuh): a key above the number of a tree, each.
struct alignas(16) TreeLinks {
  uint64_t link, shortcut;
};
constexpr uint64_t kNoLink = ~uint64_t(0);

// What blocks share: two lists' lengths, a cache line each; where they meet; what is outside, or late.
struct ForestCounters {
  EclCounter<int64_t> edges[2];
  uint32_t barrier[GridBarrier::kWords];
  uint32_t has_hubs_outside, many_are_outside, has_far_parents, has_long_rows, has_late_edges;
};

// The memory of a forest. Layout: boruvka.py.
template <class Index, class Key> struct ForestMemory {
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
  Index* giant;         // the tree that most arcs lead to
  FirstParent* first;   // of each vertex, where trees are linked
  TreeLinks* links;     // of each tree, likewise
};

// Whether trees are linked, and not gone through in rounds.
template <class Keys, class Index>
constexpr bool kAreLinked = Keys::kInOrder && sizeof(typename Keys::Key) == 4 && sizeof(Index) == 4;

template <class Key> constexpr Key kNoKey = Key(~Key(0));

inline void choose_arc(uint32_t* chosen, int64_t arc) {
  Concurrent::fetch_or(chosen + arc / kArcsOfWord, uint32_t(1) << arc % kArcsOfWord);
}

// Sets what many threads set, by few stores: those of all would be in turns.
inline void set_flag(uint32_t* flag) {
  if (Concurrent::load(flag) == 0) Concurrent::store(flag, uint32_t(1));
}

// Adds to a number of entries; returns the first one of this thread. The whole block calls.
template <int threads> int64_t place_for(int of_thread, int64_t* entries) {
  __shared__ int64_t room;
  int total;
  const int64_t place = block_scan<threads>(of_thread, total);
  if (threadIdx.x == 0 && total > 0) room = Concurrent::fetch_add(entries, int64_t(total));
  __syncthreads();
  return place + room;
}

}
