// The spanning forest of the least arc numbers: Kruskal's, in the order of the arcs, whose directions are
// ignored, whatever the number of threads. One thread unites the ends of each arc, and keeps the arc if they
// were apart. Two share this if arcs are many, or far from their neighbours in the list: one contracts, that
// is, gives both ends of the first arc of a vertex, which is in the forest, the number of a tree, and passes
// on arcs between trees; the other unites trees by these, a quarter as many as vertices, whose parents mostly
// fit a cache. After two arcs a vertex, most arcs are inside one tree; all threads then look for the others.
// Cost: each arc read once, with a random access. Source: Kruskal 1956, "On the shortest spanning subtree of
// a graph and the traveling salesman problem"; Jaiganesh and Burtscher 2018; first arcs: Borůvka 1926.
#pragma once

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Whether arcs to the smaller end may be left out, as an opposite one of equal weight comes before.
enum class Ends { kBoth, kSmaller };

template <class Vertex>
void visit_edge(int64_t arc, Vertex u, Vertex v, int64_t vertices, Ends ends, const auto& body) {
  if ((ends == Ends::kSmaller ? u < v : u != v) && is_vertex(u, vertices) && is_vertex(v, vertices))
    body(arc, u, v);
}

template <class Vertex> struct ListedArcs {
  const Vertex *src, *dst;
  int64_t vertices, arcs;

  bool is_local() const { return are_local(src, arcs, vertices); }

  void for_each_edge(int64_t begin, int64_t end, Ends ends, auto body) const {
    for_each_in(begin, end, [=, *this](int64_t arc) {
      visit_edge(arc, Concurrent::load(src + arc), Concurrent::load(dst + arc), vertices, ends, body);
    });
  }
};

template <class Pointer, class Vertex> struct RowArcs {
  Rows<Pointer, Vertex> rows;
  int64_t vertices = rows.vertices, arcs = rows.arcs;

  bool is_local() const { return true; }

  void for_each_edge(int64_t begin, int64_t end, Ends ends, auto body) const {
    if (begin >= end) return;
    for (int64_t u = rows.source(begin), arc = begin; u < vertices && arc < end; ++u) {
      const int64_t stop = std::min(end, rows.begin(u + 1));
      poll(1);
      for_each_in(arc, stop,
          [=, *this](int64_t i) { visit_edge(i, Vertex(u), rows.target(i), vertices, ends, body); });
      arc = std::max(arc, stop);
    }
  }
};

// It gains if arcs are in no order and parents beyond a cache, or with kManyArcs (notes-graph-cpu.md).
constexpr int64_t kFirstArcs = 2, kBeyondCaches = kAlwaysHelped ? 0 : 1 << 17,
                  kManyArcs = kAlwaysHelped ? 4 : 24;

// Numbers of arcs, ascending. An Index holds the numbers of all vertices and arcs.
template <class Index> struct ChosenArcs {
  Buffer<Index> arcs;
  int64_t count = 0;
};

// A bit for each arc. Threads set those of different words at the same time.
class ArcBits {
 public:
  explicit ArcBits(int64_t arcs) : count_(arcs / kWord + 1), words_(count_) {
    for_each_index(count_, [words = words_.data()](int64_t w) { words[w] = 0; });
  }

  void add(int64_t arc, bool chosen) { words_[arc / kWord] |= uint64_t(chosen) << arc % kWord; }

  template <class Index> [[gnu::noinline]] ChosenArcs<Index> listed() const {
    Buffer<Index> rank(count_);
    const int64_t count = rank_words(words_.data(), count_, rank.data());
    ChosenArcs<Index> chosen{Buffer<Index>(count), count};
    const auto list = [to = chosen.arcs.data(), words = words_.data(), rank = rank.data()](int64_t w) {
      Index* next = to + rank[w];
      for_each_bit(words[w], [&](int p) { *next++ = Index(w * kWord + p); });
    };
    for_each_index(count_, list, kWord / 8);
    return chosen;
  }

 private:
  int64_t count_;
  Buffer<uint64_t> words_;
};

// Unites the sets of u and v; returns whether they were apart. A call would take a tenth longer.
template <class Index> [[gnu::always_inline]] inline bool joins(Index* parent, Index u, Index v) {
  const Index above_u = parent[u], above_v = parent[v];
  if (above_u == above_v) return false;
  const Index a = find_from<Exclusive>(parent, u, above_u), b = find_from<Exclusive>(parent, v, above_v);
  parent[std::max(a, b)] = std::min(a, b);
  return a != b;
}

template <class Index> struct NumberedArc {
  Index u, v, arc;
};

// The forest by several threads: chunks go through `contract`, then `unite` while the next is contracted.
template <class Index> class Contraction {
 public:
  using Arc = NumberedArc<Index>;

  using Read = FunctionRef<int64_t(int64_t begin, int64_t end, Arc* to)>;

  Contraction(int64_t vertices, int64_t arcs, Read read)
      : vertices_(vertices),
        arcs_(arcs),
        read_(read),
        chosen_(arcs),
        tree_(vertices),
        parent_(vertices / 2 + 1) {
    for_each_index(vertices, [tree = tree_.data()](int64_t v) { tree[v] = kNone; });
    for_each_index(vertices / 2 + 1, [parent = parent_.data()](int64_t v) { parent[v] = Index(v); });
    for (Buffer<Arc>& between : between_) between = Buffer<Arc>(kChunk + 1);
  }

  ChosenArcs<Index> forest() {
    const int64_t chunks = (arcs_ + kChunk - 1) / kChunk,
                  first = std::min(kFirstArcs * vertices_ / kChunk + 1, chunks);
    for (int64_t chunk = 0; chunk <= first; ++chunk)
      parallel_for(2, [&](int64_t stage) {
        if (stage == 1 && chunk > 0) unite(chunk - 1);
        if (stage == 0 && chunk < first)
          for_each_block(chunk, [&](const Arc* arcs, int64_t count) { contract(chunk, arcs, count); });
      });
    if (first == chunks) return chosen_.listed<Index>();
    flatten(parent_.data(), trees_);
    for_each_index(vertices_, [tree = tree_.data(), parent = parent_.data()](int64_t v) {
      if (tree[v] != kNone) tree[v] = parent[tree[v]];
    });
    std::vector<std::vector<Arc>> left(chunks - first);
    parallel_for(chunks - first, [&](int64_t k) {
      std::vector<Arc> apart;
      for_each_block(first + k, [&apart, tree = tree_.data()](const Arc* arcs, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          if (const Index a = tree[arcs[i].u]; a != tree[arcs[i].v] || a == kNone) apart.push_back(arcs[i]);
      });
      left[k] = std::move(apart);
    });
    for (const std::vector<Arc>& apart : left) {
      contract(0, apart.data(), int64_t(apart.size()));
      unite(0);
    }
    return chosen_.listed<Index>();
  }

 private:
  static constexpr Index kNone = std::numeric_limits<Index>::max();
  static constexpr int64_t kChunk = std::max<int64_t>(kGrain, kWord);
  static constexpr int64_t kBlock = 256;  // arcs whose memory is prefetched together

  void for_each_block(int64_t chunk, auto body) const {
    std::array<Arc, kBlock> block;
    const int64_t end = std::min((chunk + 1) * kChunk, arcs_);
    for (int64_t begin = chunk * kChunk; begin < end; begin += kBlock)
      body(block.data(), read_(begin, std::min(begin + kBlock, end), block.data()));
  }

  void contract(int64_t chunk, const Arc* arcs, int64_t count) {
    Arc* to = between_[chunk % 2].data() + count_[chunk % 2];
    Index* const tree = tree_.data();
    for (int64_t i = 0; i < std::min(count, kBlock); ++i) {
      __builtin_prefetch(tree + arcs[i].u, 1);
      __builtin_prefetch(tree + arcs[i].v, 1);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto [u, v, arc] = arcs[i];
      const Index a = tree[u], b = tree[v];
      if (a != kNone && b != kNone) [[likely]] {
        *to = {a, b, arc};
        to += a != b;
      } else {
        tree[u] = tree[v] = a != kNone ? a : b != kNone ? b : trees_++;
        chosen_.add(arc, true);
      }
    }
    count_[chunk % 2] = to - between_[chunk % 2].data();
  }

  void unite(int64_t chunk) {
    for_each_in(0, count_[chunk % 2],
        [=, this, arcs = between_[chunk % 2].data(), parent = parent_.data()](
            int64_t i) { chosen_.add(arcs[i].arc, joins(parent, arcs[i].u, arcs[i].v)); });
    count_[chunk % 2] = 0;
  }

  const int64_t vertices_, arcs_;
  const Read read_;
  ArcBits chosen_;
  Index trees_ = 0;
  Buffer<Index> tree_;    // of each vertex
  Buffer<Index> parent_;  // of each tree
  std::array<Buffer<Arc>, 2> between_;
  std::array<int64_t, 2> count_{};
};

// Not inlined, as it is the same for all kinds of arcs.
template <class Index>
[[gnu::noinline]] ChosenArcs<Index> contracted_forest(
    int64_t vertices, int64_t arcs, typename Contraction<Index>::Read read) {
  return Contraction<Index>(vertices, arcs, read).forest();
}

template <class Index> ChosenArcs<Index> forest_in_order(const auto& arcs, Ends ends) {
  Buffer<Index> parents(arcs.vertices), chosen(std::min(arcs.vertices, arcs.arcs) + 1);
  for_each_in(0, arcs.vertices, [parent = parents.data()](int64_t v) { parent[v] = Index(v); });
  int64_t count = 0;  // local, so that it stays in a register
  // The place after the last arc is written in any case, without a branch.
  arcs.for_each_edge(
      0, arcs.arcs, ends, [&count, parent = parents.data(), to = chosen.data()](int64_t arc, auto u, auto v) {
        to[count] = Index(arc);
        count += joins(parent, Index(u), Index(v));
      });
  return {std::move(chosen), count};
}

template <class Index> ChosenArcs<Index> spanning_forest(const auto& arcs, Ends ends) {
  const bool contracts =
      helpers_wanted(arcs.arcs) && ((arcs.vertices >= kBeyondCaches && !arcs.is_local()) ||
                                       arcs.arcs / (kManyArcs * num_threads()) >= arcs.vertices);
  if (!contracts) return forest_in_order<Index>(arcs, ends);
  const auto read = [&arcs, ends](int64_t begin, int64_t end, NumberedArc<Index>* to) {
    int64_t count = 0;
    arcs.for_each_edge(begin, end, ends,
        [&count, to](int64_t arc, auto u, auto v) { to[count++] = {Index(u), Index(v), Index(arc)}; });
    return count;
  };
  return contracted_forest<Index>(arcs.vertices, arcs.arcs, read);
}

}
