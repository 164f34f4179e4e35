// Connected components of a graph by union–find over its arcs, after trees are grown from few of them: the
// default on the CPU. Directions are ignored; roots are the smallest vertices. Union–find mispredicts
// branches, so passes that hardly branch do most of the work (start_as_one, start_trees, hook_trees); then
// every arc unites its ends (sweep, sweep_around). Where every arc is listed from both ends, the giant
// component's vertices need no visit; sparse_forest.h takes sparse graphs of that kind, and with many arcs
// giant.h first seeks a giant. Cost: each arc read once, with a random access; far fewer in a symmetric graph
// with a giant; a bit a vertex. Source: Sutton et al. 2018 (Afforest); hooking: Shiloach, Vishkin 1982.
#pragma once

#include "cpu/core/extremes.h"
#include "cpu/graph/giant.h"
#include "cpu/graph/sparse_forest.h"

namespace conncomp {

// With fewer arcs a vertex, to hook trees costs more than it spares, and a giant is not sought by sweeps.
constexpr int64_t kHookedDegree = 3, kSweptDegree = 7;

void flatten_from(int64_t first, Integer auto* parent, int64_t count) {
  for_each_index(count - first, [=](int64_t i) { flatten_entry(parent, first + i); }, kParentWork);
}

// Whether each vertex but the first has a smaller end of its first and last arc: all are one tree.
[[gnu::noinline]] bool start_as_one(const auto rows) {
  constexpr int64_t kBlock = 512;
  const Parts parts((rows.vertices + kBlock - 1) / kBlock, kGrain / kVertexWork / kBlock);
  std::atomic<bool> is_one{true};
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t block = parts.begin(part); block < parts.end(part) && is_one; ++block) {
      const int64_t first = block * kBlock, last = std::min(first + kBlock, rows.vertices);
      int64_t begin = rows.begin(first);
      bool roots = false;
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

// Lets each vertex start under the root of its smaller end, or, below the part, under that, then a root.
template <class Index> void start_trees(const auto rows, Index* parent) {
  Parts parts(rows.vertices, kGrain / kVertexWork);
  // Few, as ways to roots lead through them.
  parts.at_most(num_threads() == 1 || rows.vertices < kLongLoop ? num_threads() : 2 * num_threads());
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t first = parts.begin(part);
    int64_t begin = rows.begin(first);
    for_each_in(first, parts.end(part), [&begin, rows, parent, first](int64_t v) {
      const int64_t end = rows.begin(v + 1), low = smaller_end(rows, v, {begin, end});
      const int64_t outside = -int64_t(low < first);  // without a branch, which few graphs let be guessed
      Concurrent::store(parent + v, Index(low));
      const Index above = Concurrent::load(parent + (low ^ ((low ^ v) & outside)));
      Concurrent::store(parent + v, above);
      begin = end;
    });
  });
  if (parts.parts > 1) flatten_from(parts.end(0), parent, rows.vertices);
}

// Hooks roots of a flat forest under smaller ones that arcs show; a later store may undo an earlier one.
template <class Index> void hook_trees(const auto rows, Index* parent) {
  for_each_row(rows, [=](int64_t v, int64_t begin, int64_t end) {
    if (begin >= end) return;
    const auto root_at = [=](int64_t arc) { return parent_of(parent, rows.target(arc), rows.vertices, v); };
    const Index root = Concurrent::load(parent + v);
    const Index second = root_at(std::min(begin + 1, end - 1)), last = root_at(std::max(begin, end - 2));
    if (const Index low = std::min(second, last); low < root) Concurrent::store(parent + root, low);
  });
}

template <class Pointer, class Vertex, class Index>
FrequentRoot frequent_root(const Rows<Pointer, Vertex> rows, Index* parent) {
  constexpr int64_t kSamples = 512;
  std::vector<Index> sample;
  for (int64_t i = 0; i < kSamples; ++i)
    if (const Vertex u = rows.target(spread(i, kSamples, rows.arcs)); is_vertex(u, rows.vertices))
      sample.push_back(find<Concurrent>(parent, Index(u)));
  if (sample.empty()) return {-1, 0};
  const auto [root, times] = most_frequent(sample);
  return {root, double(times) / kSamples};
}

// Unites v with some neighbours, for the first vertices of blocks: a sixteenth of all, in whole cache lines.
void unite_some(const auto rows, Integer auto* parent) {
  constexpr int64_t kUnited = std::max<int64_t>(kGrain / 1024, 1), kBlock = 16 * kUnited, kNeighbours = 4;
  const auto unite_block = [=](int64_t block) {
    poll(kUnited);
    for (int64_t v = block * kBlock; v < block * kBlock + kUnited; ++v) {
      const int64_t begin = rows.begin(v), end = std::min(begin + kNeighbours, rows.begin(v + 1));
      unite_row(rows, parent, v, Concurrent::load(parent + v), rows.vertices, {begin, end});
    }
  };
  for_each_index(rows.vertices / kBlock, unite_block, kBlock);
}

// Unites the ends of arcs that may connect trees; in a symmetric graph not of vertices under `giant`, or -1.
template <class Index> void sweep(const auto rows, Index* parent, FrequentRoot giant) {
  const int64_t visited = rows.vertices + int64_t((1 - giant.share) * double(rows.arcs));
  for_each_piece(rows, visited, [=](int64_t begin, int64_t end, auto piece_of_row) {
    for_each_in(begin, end, [=](int64_t v) {
      const Index root = shorten(parent, v);
      if (root != giant.root) unite_row(rows, parent, v, root, rows.vertices, piece_of_row(v));
    });
  });
}

// The same in a flat forest nearly all under `giant`, whose bits tell whether some rows' arcs are inside.
void sweep_around(const auto rows, Integer auto* parent, int64_t giant) {
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

// Connects the trees that have started. In a `sparse` graph hooking costs more than it spares.
void connect_trees(const auto rows, bool symmetric, bool sparse, Integer auto* parent) {
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

// Fills labels with the smallest vertex of each component, or 0, 1, ...; returns the number of components.
template <class Pointer, class Vertex, class Index>
int64_t label_components(const Rows<Pointer, Vertex> rows, bool symmetric, Naming naming, Index* labels) {
  if (rows.vertices == 0) return 0;
  const bool sparse = rows.arcs / kHookedDegree < rows.vertices;
  if (symmetric && rows.arcs / kSweptDegree >= rows.vertices && rows.vertices > kGrain / 64) {
    Giant<Pointer, Vertex> giant(rows);
    if (giant.search()) {
      AroundGiant<Index> around(giant.members(), rows.vertices, labels);
      around.unite(rows);
      return around.label(naming);
    }
  }
  if (start_as_one(rows)) return label_as_one(labels, rows.vertices);
  if (symmetric && sparse) {
    SparseForest<Pointer, Vertex, Index>(rows, labels).grow();
  } else {
    start_trees(rows, labels);
    connect_trees(rows, symmetric, sparse, labels);
  }
  return label_forest(labels, rows.vertices, naming);
}

}
