// Numbers of the strong components of a directed graph in topological order.
//
// What: fills labels[v] with the number of v's component, of 0, 1, ..., so that no arc leads to a larger
// number: in the order of the longest path that leads away from the component, in arcs between components,
// and of its smallest vertex where these are the same. How: the search for the components lists those first
// that others have arcs to. So one pass over the vertices in that order finds all lengths, and a counting
// sort by them gives the numbers. Cost: what the search costs, and as much again for the lengths; the sort is
// three passes over the vertices. Beyond the labels two indices a vertex, and meanwhile what the search
// needs. Source: as tarjan.h.
#pragma once

#include "cpu/graph/tarjan.h"

namespace conncomp {

// Fills height[r], for every root r, with the number of arcs of the longest path that leads away from its
// component. Others than roots get 0. Rows that change meanwhile may give less.
template <class Pointer, class Vertex, class Index>
void measure_heights(const Rows<Pointer, Vertex> rows, const Index* roots, const Index* order,
                     Index* height) {
  for_each_index(rows.vertices, [=](int64_t v) { height[v] = 0; });
  for_each_in(0, rows.vertices, [=](int64_t i) {
    const Index v = order[i], root = roots[v];
    Index longest = height[root];
    rows.for_each_neighbour(v, [&, roots, height](int64_t u) {
      if (const Index target = roots[u]; target != root)
        longest = std::max(longest, Index(height[target] + 1));
    });
    height[root] = longest;
  });
}

// Replaces the height of every root by the number of its component; returns how many there are.
template <class Index>
int64_t number_by_height(const Index* roots, int64_t vertices, Index* height) {
  Buffer<Index> begin = Buffer<Index>::zeros(vertices + 1);  // of the numbers of each height
  for_each_in(0, vertices, [=, &begin](int64_t v) {
    if (roots[v] == Index(v)) ++begin[height[v] + 1];
  });
  int64_t components = 0;
  for_each_in(0, vertices, [&](int64_t h) { begin[h] = Index(components), components += begin[h + 1]; });
  for_each_in(0, vertices, [=, &begin](int64_t v) {
    if (roots[v] == Index(v)) height[v] = begin[height[v]]++;
  });
  return components;
}

// Returns the number of components. `labels` is memory that nobody else writes to.
template <class Pointer, class Vertex, class Index>
int64_t topological_labels(const Rows<Pointer, Vertex> rows, Index* labels) {
  Buffer<Index> order(rows.vertices), number(rows.vertices);
  tarjan_roots(rows, labels, order.data());
  measure_heights(rows, labels, order.data(), number.data());
  const int64_t components = number_by_height(labels, rows.vertices, number.data());
  for_each_index(rows.vertices, [=, &number](int64_t v) { labels[v] = number[labels[v]]; });
  return components;
}

}  // namespace conncomp
