// Connected components of a graph by union–find over its arcs, sampled first. The default on the CPU.
//
// What: the direction of arcs is ignored; nothing is assumed of it unless the caller says that the graph
// is symmetric.
// How: every vertex is united with its first two neighbours, which joins most of a large component, and
// all paths are flattened. The rest of the arcs then mostly connect vertices that already have the same
// root, which one look at their parents tells. Where every arc is listed from both ends, the vertices of
// the largest component need not be visited at all: it is guessed from a sample, and the arcs that leave
// it are seen from their other end.
// Cost: each arc read once, and one random access for it; in a symmetric graph with a giant component
// only a few arcs a vertex. No memory beyond the parents, which become the labels.
// Source: Sutton, Ben-Nun and Barak 2018, "Optimizing Parallel Graph Connectivity Computation via
// Subgraph Sampling"; union–find of Jaiganesh and Burtscher 2018.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"

namespace conncomp {

constexpr int kSampledNeighbours = 2;

// The root that occurs most often in an evenly spread sample of flattened parents.
template <class Index>
Index frequent_root(const Index* parent, int64_t count) {
  constexpr int64_t kSamples = 1024;
  std::vector<Index> sample;
  for (int64_t i = 0; i < kSamples; ++i) sample.push_back(parent[count * i / kSamples]);
  std::sort(sample.begin(), sample.end());
  Index best = sample[0];
  for (size_t first = 0, last, most = 0; first < sample.size(); first = last) {
    for (last = first; last < sample.size() && sample[last] == sample[first];) ++last;
    if (last - first > most) most = last - first, best = sample[first];
  }
  return best;
}

// Calls work(Access()) with Shared access, or with Exclusive where there is too little for a second thread.
// (The number of threads wanted does not tell: another caller may change it meanwhile.)
template <class Work>
void with_access(int64_t vertices, int64_t arcs, Work&& work) {
  if (Parts(std::max(vertices, arcs), kGrain).parts == 1)
    work(Exclusive());
  else
    work(Shared());
}

// Unites the ends of arc v -> u, if there is such a vertex.
template <class Access, class Vertex, class Index>
void unite_arc(Index* roots, int64_t vertices, Index v, Vertex u) {
  if (is_vertex(u, vertices)) [[likely]]
    unite<Access>(roots, v, Index(u));
}

// Fills roots[v], for a graph in CSR form, with the smallest vertex of v's component.
template <class Pointer, class Vertex, class Index>
void find_roots(const Rows<Pointer, Vertex> rows, bool symmetric, Index* roots) {
  const int64_t vertices = rows.vertices, arcs = rows.arcs;
  if (vertices == 0) return;
  with_access(vertices, arcs, [=]<class Access>(Access) {
    for_each_index(vertices, [=](int64_t v) { roots[v] = Index(v); });
    for (int k = 0; k < kSampledNeighbours; ++k)
      for_each_index(vertices, [=](int64_t v) {
        const int64_t arc = rows.begin(v) + k;
        if (arc < rows.begin(v + 1)) unite_arc<Access>(roots, vertices, Index(v), rows.target(arc));
      });
    flatten(roots, vertices);
    const Index giant = symmetric ? frequent_root(roots, vertices) : Index(-1);
    // Parts are of equal numbers of arcs, so that a hub is everybody's work.
    const Parts parts(arcs, kGrain);
    parallel_for(parts.parts, [=](int64_t part) {
      const int64_t end = parts.end(part);
      int64_t v = rows.source(parts.begin(part));
      // Never before the part, nor after its end.
      for (int64_t begin = std::max(parts.begin(part), rows.begin(v) + kSampledNeighbours); v < vertices;
           ++v) {
        const int64_t row_end = rows.begin(v + 1);
        if (Access::load(roots + v) != giant)
          for_each_in(begin, std::min(end, row_end),
                      [=](int64_t arc) { unite_arc<Access>(roots, vertices, Index(v), rows.target(arc)); });
        if (row_end >= end) break;
        begin = std::max(begin, row_end + kSampledNeighbours);
        checkpoint(1);
      }
    });
  });
  flatten(roots, vertices);
}

// The same for a graph given as a list of arcs src[i] -> dst[i].
template <class Vertex, class Index>
void find_roots_of_arcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, Index* roots) {
  for_each_index(vertices, [=](int64_t v) { roots[v] = Index(v); });
  with_access(vertices, arcs, [=]<class Access>(Access) {
    for_each_index(arcs, [=](int64_t i) {
      const Vertex v = Shared::load(src + i);
      if (is_vertex(v, vertices)) [[likely]]
        unite_arc<Access>(roots, vertices, Index(v), Shared::load(dst + i));
    });
  });
  flatten(roots, vertices);
}

}  // namespace conncomp
