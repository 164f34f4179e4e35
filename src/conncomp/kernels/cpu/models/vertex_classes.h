// Classes of vertices no two of which are neighbours, so that those of a class can change at once.
//
// What: the number of a class for each vertex. How: one vertex after another takes the first class that no
// neighbour before it is in, so that a graph of two parts whose vertices follow neighbours has two. Cost: a
// look at each arc, by one thread; at most one class more than the largest degree. Source: D. J. A. Welsh
// and M. B. Powell, An upper bound for the chromatic number of a graph (1967).
#pragma once

#include <cstdint>
#include <vector>

#include "core/edge_local.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// Returns how many classes there are.
inline int64_t classify_vertices(const EdgeArcs& arcs, int64_t vertices, int32_t* class_of) {
  std::vector<int64_t> taken;  // by class: the last vertex that has a neighbour in it
  for (int64_t vertex = 0; vertex < vertices; ++vertex) {
    poll(arcs.begin[vertex + 1] - arcs.begin[vertex] + 1);
    for (int64_t arc = arcs.begin[vertex]; arc < arcs.begin[vertex + 1]; ++arc)
      if (arcs.to[arc] < vertex) taken[class_of[arcs.to[arc]]] = vertex;
    int32_t first = 0;
    while (first < int32_t(taken.size()) && taken[first] == vertex) ++first;
    if (first == int32_t(taken.size())) taken.push_back(-1);
    class_of[vertex] = first;
  }
  return int64_t(taken.size());
}

}  // namespace conncomp
