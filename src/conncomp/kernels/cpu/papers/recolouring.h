// Connected components of a graph by recolouring neighbours, with a stack: Algorithm 1 of Hawick, Leist and
// Playne, their reference on one thread. Fills colour[v] with the smallest vertex of v's component; the graph
// lists every arc from both ends, in one pair of rows or in two (BothEnds).
//
// Every vertex begins with its number as a colour. In ascending order, one that has kept its colour gives it
// to the neighbours of larger colours, these to theirs, and so on. The paper calls a procedure for each
// neighbour, as deep as the longest path; here neighbours wait on a stack of the graph's own size. A
// neighbour of a smaller colour, whose colour the paper takes over, is never met: it would have given its
// colour away before. So a vertex gets one other colour at most, and is on the stack once. Cost: one thread;
// each arc read once from both ends, and a random access for each. An entry a vertex for the stack, and what
// BothEnds needs. Source: Hawick, Leist and Playne 2010, section 4.2, Algorithm 1.
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// `colour` is memory that nobody else writes to: what is there says which vertices go on the stack.
template <class Graph, class Index>
void recolouring_roots(const Graph& graph, Index* colour) {
  Buffer<Index> stack(graph.vertices());
  int64_t height = 0;
  for_each_in(0, graph.vertices(), [=](int64_t v) { colour[v] = Index(v); });
  for_each_in(0, graph.vertices(), [&](int64_t v) {
    const auto recolour = [&, smaller = Index(v)](int64_t u) {
      if (colour[u] <= smaller) return;
      colour[u] = smaller;
      stack[height++] = Index(u);
    };
    if (colour[v] != Index(v)) return;
    for (graph.for_each_neighbour(v, recolour); height > 0;)
      graph.for_each_neighbour(stack[--height], recolour);
  });
}

}  // namespace conncomp
