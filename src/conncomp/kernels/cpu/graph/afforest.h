// Connected components of a graph by union–find over its arcs, after trees are grown from few of them. The
// default on the CPU. The direction of arcs is ignored; nothing is assumed of it unless the caller says that
// the graph is symmetric. Labels are made of a forest with a tree for each component, whose root is its
// smallest vertex.
//
// Union–find branches on what it finds, mostly for the first time, and processors guess wrong. So most of the
// work is done in passes over the vertices that hardly branch. Each vertex starts under the smaller end of
// its first or last arc (start_trees). Grids, and graphs whose numbers come from a search, are one tree by
// these, which is seen before any is grown (start_as_one). Elsewhere, unless a giant component is mostly one
// tree already, each tree goes under a smaller one that two more arcs of some vertex of it show (hook_trees);
// if it is not by then, a sixteenth of the vertices is united with some neighbours. At last every arc unites
// its ends (sweep), of which one look at four parents tells that they are united; or, where hardly a vertex
// is outside the giant component, one look at a bit for each arc of some rows (sweep_around). Where every arc
// is listed from both ends, the vertices of the giant component need not be visited at all. A sparse graph of
// that kind is left to sparse_forest.h; in one of many arcs a giant is first sought by giant.h, around which
// around_giant.h labels, and all of the above is done only if there is none.
// Cost: each arc read once, and a random access for it; in a symmetric graph with a giant component, or where
// two arcs a vertex make one tree, only a few arcs a vertex. No memory beyond the parents, which become the
// labels, a bit a vertex, and what sparse_forest.h, giant.h and around_giant.h need. Source: Sutton, Ben-Nun
// and Barak 2018, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling"; start and
// union–find of Jaiganesh and Burtscher 2018; trees are hooked as by Shiloach and Vishkin 1982, "An O(log n)
// parallel connectivity algorithm".
#pragma once

#include "cpu/core/extremes.h"
#include "cpu/graph/around_giant.h"
#include "cpu/graph/giant.h"
#include "cpu/graph/sparse_forest.h"

namespace conncomp {

// With fewer arcs a vertex, to hook trees costs more than it spares.
constexpr int64_t kHookedDegree = 3;

// With fewer arcs a vertex, a giant is not sought by sweeps.
constexpr int64_t kSweptDegree = 7;

// Lets every entry from `first` on point to its root.
void flatten_from(int64_t first, auto* parent, int64_t count) {
  for_each_index(count - first, [=](int64_t i) { flatten_entry(parent, first + i); }, kParentWork);
}

// Whether each vertex but the first one has a smaller end of its first and last arc, so that all are one
// tree: known before anything is written; and where it is not so, mostly soon.
template <class Pointer, class Vertex>
[[gnu::noinline]] bool start_as_one(const Rows<Pointer, Vertex> rows) {
  constexpr int64_t kBlock = 512;
  const Parts parts((rows.vertices + kBlock - 1) / kBlock, kGrain / kVertexWork / kBlock);
  std::atomic<bool> is_one{true};
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t block = parts.begin(part); block < parts.end(part) && is_one; ++block) {
      const int64_t first = block * kBlock, last = std::min(first + kBlock, rows.vertices);
      bool roots = false;  // but for the first vertex
      int64_t begin = rows.begin(first);
      for_each_in(first, last, [&, rows](int64_t v) {
        const int64_t end = rows.begin(v + 1);
        roots |= smaller_end(rows, v, {begin, end}) == v && v > 0;
        begin = end;
      });
      if (roots) is_one = false;
    }
  });
  return is_one;
}

// Lets each vertex start under the smaller end of its first and last arc: under the root of that if a thread
// has both in its part, as lower entries of a part are flat already, and else under what is below the part.
// Then what is under other parts goes under roots, too.
template <class Pointer, class Vertex, class Index>
void start_trees(const Rows<Pointer, Vertex> rows, Index* parent) {
  Parts parts(rows.vertices, kGrain / kVertexWork);
  // Few, as ways to roots lead through them.
  parts.at_most(num_threads() == 1 || rows.vertices < kLongLoop ? num_threads() : 2 * num_threads());
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t first = parts.begin(part);
    int64_t begin = rows.begin(first);
    for_each_in(first, parts.end(part), [&begin, rows, parent, first](int64_t v) {
      const int64_t end = rows.begin(v + 1), low = smaller_end(rows, v, {begin, end});
      const int64_t outside = -int64_t(low < first);  // without a branch, which few graphs let be guessed
      Shared::store(parent + v, Index(low));
      const Index above = Shared::load(parent + (low ^ ((low ^ v) & outside)));
      Shared::store(parent + v, above);
      begin = end;
    });
  });
  if (parts.parts > 1) flatten_from(parts.end(0), parent, rows.vertices);
}

// Hooks the roots of a flat forest under smaller ones that arcs show. Of two links of one root the later
// store takes the earlier one back: then the trees stay apart until an arc is united. As what is stored is
// below its place and of the same component, it is a forest all the time.
template <class Pointer, class Vertex, class Index>
void hook_trees(const Rows<Pointer, Vertex> rows, Index* parent) {
  for_each_row(rows, [=](int64_t v, int64_t begin, int64_t end) {
    if (begin >= end) return;
    const auto root_at = [=](int64_t arc) { return parent_of(parent, rows.target(arc), rows.vertices, v); };
    const Index root = Shared::load(parent + v);
    const Index second = root_at(std::min(begin + 1, end - 1)), last = root_at(std::max(begin, end - 2));
    if (const Index low = std::min(second, last); low < root) Shared::store(parent + root, low);
  });
}

// The root that occurs most often among the targets of evenly spread arcs: its share is that of the arcs
// that lead to its tree.
template <class Pointer, class Vertex, class Index>
FrequentRoot frequent_root(const Rows<Pointer, Vertex> rows, Index* parent) {
  constexpr int64_t kSamples = 512;
  std::vector<Index> sample;
  sample.reserve(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t arc = rows.arcs / kSamples * i + rows.arcs % kSamples * i / kSamples;
    if (const Vertex u = rows.target(arc); is_vertex(u, rows.vertices))
      sample.push_back(find<Shared>(parent, Index(u)));
  }
  if (sample.empty()) return {-1, 0};
  const auto [root, times] = most_frequent(sample);
  return {root, double(times) / kSamples};
}

// Unites v with some neighbours, for the first vertices of blocks: a sixteenth of all, of whose rows and
// parents whole cache lines are used.
template <class Pointer, class Vertex, class Index>
void unite_some(const Rows<Pointer, Vertex> rows, Index* parent) {
  constexpr int64_t kUnited = std::max<int64_t>(kGrain / 1024, 1), kBlock = 16 * kUnited, kNeighbours = 4;
  const auto unite_block = [=](int64_t block) {
    poll(kUnited);
    for (int64_t v = block * kBlock; v < block * kBlock + kUnited; ++v) {
      const int64_t begin = rows.begin(v), end = std::min(begin + kNeighbours, rows.begin(v + 1));
      unite_row(rows, parent, v, Shared::load(parent + v), rows.vertices, {begin, end});
    }
  };
  for_each_index(rows.vertices / kBlock, unite_block, kBlock);
}

// Unites the ends of all arcs that may connect trees. If there is a `giant`, a root in a symmetric graph or
// else -1, the vertices that are under it are left out.
template <class Pointer, class Vertex, class Index>
void sweep(const Rows<Pointer, Vertex> rows, Index* parent, FrequentRoot giant) {
  const int64_t visited = rows.vertices + int64_t((1 - giant.share) * double(rows.arcs));
  for_each_piece(rows, visited, [=](int64_t begin, int64_t end, auto piece_of_row) {
    for_each_in(begin, end, [=](int64_t v) {
      const Index root = shorten(parent, v);
      if (root != giant.root) unite_row(rows, parent, v, root, rows.vertices, piece_of_row(v));
    });
  });
}

// Unites the ends of all arcs that may connect trees of a flat forest. That arcs are inside the tree of
// `giant`, to which hardly a vertex does not belong, is seen by its members, for some rows at once.
template <class Pointer, class Vertex, class Index>
void sweep_around(const Rows<Pointer, Vertex> rows, Index* parent, int64_t giant) {
  constexpr int64_t kRows = 16;
  const VertexBits members = members_of(giant, parent, rows.vertices);
  for_each_piece(rows, rows.vertices + rows.arcs, [&](int64_t begin, int64_t end, auto piece_of_row) {
    for (int64_t first = begin, last; first < end; first = last) {
      last = std::min(first + kRows, end);
      const bool inside = lead_inside(rows, {piece_of_row(first).begin, piece_of_row(last - 1).end}, members);
      for (int64_t v = first; v < last; ++v)
        if (!inside || !members.has(v))
          unite_row(rows, parent, v, shorten(parent, v), rows.vertices, piece_of_row(v));
    }
  });
}

// Connects the trees that have started, until each component is one. A graph is `sparse` if hooking trees
// costs more than it spares.
template <class Pointer, class Vertex, class Index>
void connect_trees(const Rows<Pointer, Vertex> rows, bool symmetric, bool sparse, Index* parent) {
  FrequentRoot giant{-1, 0};
  if (!sparse) {
    giant = frequent_root(rows, parent);
    if (giant.share < (symmetric ? 0.9 : 1)) {
      hook_trees(rows, parent);
      flatten(parent, rows.vertices);
      giant = frequent_root(rows, parent);
    }
    if (giant.share < 0.9) {
      unite_some(rows, parent);
      giant = frequent_root(rows, parent);
      if (!symmetric || giant.share < 0.5) flatten(parent, rows.vertices);
    }
    if (!symmetric && giant.share == 1) return sweep_around(rows, parent, giant.root);
    if (!symmetric || giant.share < 0.5) giant = {-1, 0};
  }
  sweep(rows, parent, giant);
}

// Fills labels, for a graph in CSR form, with the smallest vertex of each component, or with 0, 1, ... in the
// order of these; returns the number of components.
template <class Pointer, class Vertex, class Index>
int64_t label_components(const Rows<Pointer, Vertex> rows, bool symmetric, bool consecutive, Index* labels) {
  if (rows.vertices == 0) return 0;
  const bool sparse = rows.arcs / kHookedDegree < rows.vertices;
  if (symmetric && rows.arcs / kSweptDegree >= rows.vertices && rows.vertices > kGrain / 64) {
    Giant<Pointer, Vertex> giant(rows);
    if (giant.search()) {
      AroundGiant<Index> around(giant.members(), rows.vertices, labels);
      around.unite(rows);
      return around.label(consecutive);
    }
  }
  if (start_as_one(rows)) return label_as_one(labels, rows.vertices);
  if (symmetric && sparse) {
    SparseForest<Pointer, Vertex, Index>(rows, labels).grow();
  } else {
    start_trees(rows, labels);
    connect_trees(rows, symmetric, sparse, labels);
  }
  return label_forest(labels, rows.vertices, consecutive);
}

}  // namespace conncomp
