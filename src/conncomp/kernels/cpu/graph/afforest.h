// Connected components of a graph by union–find over its arcs, after trees are grown from few of them. The
// default on the CPU.
//
// What: the direction of arcs is ignored; nothing is assumed of it unless the caller says that the graph
// is symmetric. The result is a forest with a tree for each component, whose root is its smallest vertex.
// How: union–find branches on what it finds, mostly for the first time, and processors guess wrong. So most
// of the work is done in passes over the vertices that hardly branch. Each vertex starts under the smaller
// end of its first or last arc (start_trees), and each tree goes under the smallest tree that two arcs of
// some vertex of it show (hook_trees). A giant component is mostly one tree by now, or is after a
// sixteenth of the vertices is united with some neighbours. At last every arc unites its ends (sweep), of
// which one look at four parents tells that they are united. Where every arc is listed from both ends, the
// vertices of the giant component need not be visited at all: the arcs that leave it are seen from their
// other end.
// Cost: each arc read once, and a random access for it; in a symmetric graph with a giant component
// only a few arcs a vertex. No memory beyond the parents, which become the labels.
// Source: Sutton, Ben-Nun and Barak 2018, "Optimizing Parallel Graph Connectivity Computation via
// Subgraph Sampling"; start and union–find of Jaiganesh and Burtscher 2018; trees are hooked as by Shiloach
// and Vishkin 1982, "An O(log n) parallel connectivity algorithm".
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// With fewer arcs a vertex, to hook trees costs more than it spares.
constexpr int64_t kHookedDegree = 3;

// Calls body(v, begin, end) for every vertex and where its arcs begin and end, in parallel.
template <class Pointer, class Vertex, class Body>
void for_each_row(const Rows<Pointer, Vertex> rows, Body body) {
  const Parts parts(rows.vertices, kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t begin = rows.begin(parts.begin(part));
    for_each_in(parts.begin(part), parts.end(part), [&begin, rows, body](int64_t v) {
      const int64_t end = rows.begin(v + 1);
      body(v, begin, end);
      begin = end;
    });
  });
}

// The parent of u, or of v unless u is one of the vertices below `bound`: without a branch.
template <class Vertex, class Index>
Index parent_of(const Index* parent, Vertex u, int64_t bound, int64_t v) {
  return Shared::load(parent + (is_vertex(u, bound) ? int64_t(u) : v));
}

// Lets each vertex point to the smaller end of its first and last arc, or to itself.
template <class Pointer, class Vertex, class Index>
void start_trees(const Rows<Pointer, Vertex> rows, Index* parent) {
  using Unsigned = std::make_unsigned_t<Vertex>;  // in which negative numbers are large
  for_each_row(rows, [=](int64_t v, int64_t begin, int64_t end) {
    Unsigned start = Unsigned(v);
    if (begin < end) [[likely]]
      start = std::min({start, Unsigned(rows.target(begin)), Unsigned(rows.target(end - 1))});
    Shared::store(parent + v, Index(start));
  });
}

// Hooks the roots of a flat forest under smaller ones that arcs show. Of two links of one root the later
// store takes the earlier one back: then the trees stay apart until an arc is united. As what is stored is
// below its place and of the same component, it is a forest all the time.
template <class Pointer, class Vertex, class Index>
void hook_trees(const Rows<Pointer, Vertex> rows, bool symmetric, Index* parent) {
  for_each_row(rows, [=](int64_t v, int64_t begin, int64_t end) {
    if (begin >= end) return;
    const auto root_at = [=](int64_t arc) {
      return parent_of(parent, rows.target(arc), rows.vertices, v);
    };
    const Index root = Shared::load(parent + v);
    const Index second = root_at(std::min(begin + 1, end - 1)), last = root_at(std::max(begin, end - 2));
    const Index low = std::min(second, last);
    if (low < root) Shared::store(parent + root, low);
    // The other end of the arc may have no arc of its own that shows this tree.
    if (const Index high = std::max(second, last); !symmetric && high > root)
      Shared::store(parent + high, std::min(low, root));
  });
}

// The root that occurs most often in an evenly spread sample of a forest.
struct FrequentRoot {
  int64_t root;
  double share;  // of the sample
};

template <class Index>
FrequentRoot frequent_root(Index* parent, int64_t count) {
  constexpr int64_t kSamples = 512;
  std::vector<Index> sample;
  sample.reserve(kSamples);
  for (int64_t i = 0; i < kSamples; ++i)
    sample.push_back(find<Shared>(parent, Index(count / kSamples * i + count % kSamples * i / kSamples)));
  std::sort(sample.begin(), sample.end());
  Index best = sample[0];
  size_t most = 0;
  for (size_t first = 0, last; first < sample.size(); first = last) {
    for (last = first; last < sample.size() && sample[last] == sample[first];) ++last;
    if (last - first > most) most = last - first, best = sample[first];
  }
  return {best, double(most) / kSamples};
}

// Unites v, whose parent has just been seen to be `root`, with the ends below `bound` of arcs of it.
template <class Pointer, class Vertex, class Index>
void unite_row(const Rows<Pointer, Vertex> rows, Index* parent, int64_t v, Index root, int64_t bound,
               int64_t begin, int64_t end) {
  constexpr int kArcs = 4;
  for (; begin < end; begin += kArcs) {
    checkpoint(kArcs);
    Index differ = 0;
    for (int k = 0; k < kArcs; ++k)  // the last arc again, where a row is shorter
      differ |= root ^ parent_of(parent, rows.target(std::min(begin + k, end - 1)), bound, v);
    if (!differ) continue;
    for (int k = 0; k < kArcs; ++k) {
      // Loaded again: what was another vertex then is checked now.
      const Vertex u = rows.target(std::min(begin + k, end - 1));
      const Index above = parent_of(parent, u, bound, v);
      if (above != root && is_vertex(u, bound))
        root = hook<Shared>(parent, find<Shared>(parent, root), find_from<Shared>(parent, Index(u), above));
    }
  }
}

// Unites v with some neighbours, for the first vertices of blocks: a sixteenth of all, of whose rows and
// parents whole cache lines are used.
template <class Pointer, class Vertex, class Index>
void unite_some(const Rows<Pointer, Vertex> rows, Index* parent) {
  constexpr int64_t kBlock = 1024, kUnited = 64, kNeighbours = 4;
  for_each_index(rows.vertices / kBlock, [=](int64_t block) {
    checkpoint(kUnited);
    for (int64_t v = block * kBlock; v < block * kBlock + kUnited; ++v) {
      const int64_t begin = rows.begin(v), end = std::min(begin + kNeighbours, rows.begin(v + 1));
      unite_row(rows, parent, v, Shared::load(parent + v), rows.vertices, begin, end);
    }
  });
}

// Points v to its root, which is returned, while others hook roots: an entry that has been a root is not
// stored to.
template <class Index>
Index shorten(Index* parent, int64_t v) {
  const Index above = Shared::load(parent + v);
  Index root = Shared::load(parent + above);
  if (root == above) return root;
  for (Index next; (next = Shared::load(parent + root)) != root;) root = next;
  Shared::store(parent + v, root);
  return root;
}

// Unites the ends of all arcs that may connect trees. If there is a `giant`, a root in a symmetric graph or
// else -1, the vertices that are under it are left out. Parts are of equal numbers of arcs, so that a hub is
// everybody's work; there are so many as `visited` vertices and arcs are worth.
template <class Pointer, class Vertex, class Index>
void sweep(const Rows<Pointer, Vertex> rows, bool symmetric, Index* parent, Index giant, int64_t visited) {
  // An arc from a vertex that is left out is seen from its other end only, which may be the smaller one.
  const bool from_above = symmetric && giant < 0;
  Parts parts(rows.arcs, kGrain);
  parts.parts = std::min(parts.parts, Parts(visited, kGrain).parts);
  parallel_for(parts.parts, [=](int64_t part) {
    const int64_t first = parts.begin(part), stop = parts.end(part);
    if (first == stop) return;
    for_each_in(rows.source(first), rows.source(stop - 1) + 1, [=](int64_t v) {
      const Index root = shorten(parent, v);
      if (root != giant)
        unite_row(rows, parent, v, root, from_above ? v : rows.vertices, std::max(first, rows.begin(v)),
                  std::min(stop, rows.begin(v + 1)));
    });
  });
}

// Fills parent[v], for a graph in CSR form, with a smaller vertex of v's component, or with v if there is
// none.
template <class Pointer, class Vertex, class Index>
void grow_forest(const Rows<Pointer, Vertex> rows, bool symmetric, Index* parent) {
  const int64_t vertices = rows.vertices, arcs = rows.arcs;
  if (vertices == 0) return;
  FrequentRoot giant{-1, 0};
  start_trees(rows, parent);
  flatten(parent, vertices);
  if (arcs / kHookedDegree >= vertices) {
    hook_trees(rows, symmetric, parent);
    flatten(parent, vertices);
    const auto is_giant = [&] { return (giant = frequent_root(parent, vertices)).share >= 0.5; };
    if (symmetric && !is_giant()) {
      unite_some(rows, parent);
      if (!is_giant()) giant = {-1, 0};
    }
  }
  sweep(rows, symmetric, parent, Index(giant.root), vertices + int64_t((1 - giant.share) * double(arcs)));
}

// The same for a graph given as a list of arcs src[i] -> dst[i].
template <class Vertex, class Index>
void grow_forest_of_arcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices,
                         Index* parent) {
  for_each_index(vertices, [=](int64_t v) { parent[v] = Index(v); });
  const auto unite_all = [=]<class Access>(Access) {
    for_each_index(arcs, [=](int64_t i) {
      const Vertex v = Shared::load(src + i), u = Shared::load(dst + i);
      if (is_vertex(v, vertices) && is_vertex(u, vertices)) [[likely]]
        unite<Access>(parent, Index(v), Index(u));
    });
  };
  // Exclusive where there is too little for a second thread. (The number of threads wanted does not tell:
  // another caller may change it meanwhile.)
  if (Parts(arcs, kGrain).parts == 1)
    unite_all(Exclusive());
  else
    unite_all(Shared());
}

}  // namespace conncomp
