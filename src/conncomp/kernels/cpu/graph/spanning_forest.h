// The spanning forest of the least arc numbers: Kruskal's, in the order of the arcs.
//
// What: the arcs that connect what no arc before them connects, in ascending order: one tree for each
// component. The directions of arcs are ignored. It does not depend on the number of threads.
// How: on one thread, each arc unites its ends, and is kept if they were apart. For several, the arcs are cut
// into as many parts, each with a forest of its own: an arc that is not in the forest of its part closes a
// cycle with arcs before it, and is in no forest of the whole. Then the forests are joined in pairs: the arcs
// of the later one are gone through in their order as if they came after the earlier one.
// Cost: each arc is read once, with a random access for it; a pass over the vertices for each pair. Memory:
// the parents and an arc number for each vertex, for each part; there are no more parts than arcs a vertex,
// or two. Source: Kruskal 1956, "On the shortest spanning subtree of a graph and the traveling salesman
// problem"; union–find of Jaiganesh and Burtscher 2018.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/edges.h"

namespace conncomp {

// A part has so many arcs a vertex: it unites almost all vertices anew, as does the joining, which is more
// work than its share of few arcs.
constexpr int64_t kPartDegree = 24;

// Numbers of arcs, in ascending order. An Index holds the numbers of all vertices and of all arcs.
template <class Index>
struct ChosenArcs {
  Buffer<Index> arcs;
  int64_t count = 0;
};

// Unites the sets of u and v, for one thread; returns whether they were apart. A call for each arc would take
// a tenth longer.
template <class Index>
[[gnu::always_inline]] inline bool joins(Index* parent, Index u, Index v) {
  const Index above_u = parent[u], above_v = parent[v];
  if (above_u == above_v) return false;
  const Index a = find_from<Exclusive>(parent, u, above_u), b = find_from<Exclusive>(parent, v, above_v);
  parent[std::max(a, b)] = std::min(a, b);
  return a != b;
}

// The forest of some of the arcs, which come in ascending order.
template <class Index>
class PartForest {
 public:
  PartForest() = default;
  PartForest(int64_t vertices, int64_t arcs)
      : parent_(vertices), chosen_{Buffer<Index>(std::min(vertices, arcs) + 1)} {
    for_each_in(0, vertices, [parent = parent_.data()](int64_t v) { parent[v] = Index(v); });
  }

  // The place after the last arc is written in any case, without a branch: there is one more than arcs.
  void add(int64_t arc, int64_t u, int64_t v) {
    chosen_.arcs[chosen_.count] = Index(arc);
    chosen_.count += joins(parent_.data(), Index(u), Index(v));
  }

  ChosenArcs<Index>& chosen() { return chosen_; }

 private:
  Buffer<Index> parent_;
  ChosenArcs<Index> chosen_;
};

// The forest of the arcs that add(forest, begin, end) adds, for those of numbers from `begin` to before
// `end`, and add_some(forest, chosen) for those chosen before: whatever the arcs are kept in.
template <class Index>
ChosenArcs<Index> forest_of_parts(int64_t vertices, int64_t arcs,
                                  FunctionRef<void(PartForest<Index>&, int64_t, int64_t)> add,
                                  FunctionRef<void(PartForest<Index>&, const ChosenArcs<Index>&)> add_some) {
  const int64_t most = arcs / (kPartDegree * std::max<int64_t>(vertices, 1));
  Parts parts(arcs, kGrain);
  parts.at_most(std::min<int64_t>(std::max<int64_t>(most, 1), num_threads()));
  std::vector<PartForest<Index>> forests(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    PartForest<Index> forest(vertices, arcs);
    add(forest, parts.begin(part), parts.end(part));
    forests[part] = std::move(forest);
  });
  for (int64_t step = 1; step < parts.parts; step *= 2)
    parallel_for((parts.parts + 2 * step - 1) / (2 * step), [&](int64_t pair) {
      const int64_t earlier = 2 * step * pair, later = earlier + step;
      if (later >= parts.parts) return;
      PartForest<Index> forest = std::move(forests[earlier]);
      PartForest<Index> added = std::move(forests[later]);
      add_some(forest, added.chosen());
      forests[earlier] = std::move(forest);
    });
  return std::move(forests[0].chosen());
}

template <class Index, class Arcs>
ChosenArcs<Index> spanning_forest(const Arcs& arcs, Ends ends) {
  using Forest = PartForest<Index>;
  const auto adding_to = [](Forest& forest) {
    return [&forest](int64_t arc, auto u, auto v) { forest.add(arc, u, v); };
  };
  return forest_of_parts<Index>(
      arcs.vertices, arcs.arcs,
      [&](Forest& forest, int64_t begin, int64_t end) {
        Forest own = std::move(forest);  // which the compiler keeps in registers
        arcs.for_each_edge(begin, end, ends, adding_to(own));
        forest = std::move(own);
      },
      [&](Forest& forest, const ChosenArcs<Index>& chosen) {
        arcs.for_each_edge_of(chosen.arcs.data(), chosen.count, adding_to(forest));
      });
}

}  // namespace conncomp
