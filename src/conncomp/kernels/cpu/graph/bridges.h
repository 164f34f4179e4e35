// Bridges of an undirected graph by one depth-first search. parents[v] is the vertex from which v was
// entered, or -1; cut[v] the number of vertices on the smaller side of that link if it is a bridge, else 0.
// Vertices are ranked as they are entered, and keep the lowest rank that their links, and those of their
// descendants, lead to: a bridge if it is their own. Cost: one thread; each arc read once; 20 bytes a vertex.
// Source: Tarjan 1974, "A note on finding the bridges of a graph".
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/graph/rows.h"

namespace conncomp {

class BridgeSearch {
 public:
  using Links = Rows<int64_t, int32_t>;  // each link in the rows of both ends

  BridgeSearch(const Links links, int32_t* parents, int32_t* cut)
      : links_(links),
        parents_(parents),
        cut_(cut),
        ranks_(links.vertices),
        lowest_(links.vertices),
        entered_(links.vertices),
        places_(links.vertices) {}

  void run() {
    for_each_in(0, links_.vertices, [ranks = ranks_.data()](int64_t v) { ranks[v] = kUnvisited; });
    for_each_in(0, links_.vertices, [this](int64_t v) {
      if (ranks_[v] == kUnvisited) search(int32_t(v));
    });
  }

 private:
  static constexpr int32_t kUnvisited = -1;

  void search(int32_t start) {
    const int64_t first = count_;
    enter(start, -1);
    for (int32_t v = start; v >= 0;) {
      if (const int32_t u = next_unvisited(v); u >= 0) {
        enter(u, v);
        v = u;
      } else {
        v = leave(v);
      }
    }
    const int64_t size = count_ - first;
    for_each_in(first, count_, [size, cut = cut_, entered = entered_.data()](int64_t rank) {
      int32_t& side = cut[entered[rank]];
      side = std::min(side, int32_t(size) - side);
    });
  }

  void enter(int32_t v, int32_t parent) {
    parents_[v] = parent;
    ranks_[v] = lowest_[v] = int32_t(count_);
    places_[v] = links_.begin(v);
    entered_[count_++] = v;
  }

  // The next unvisited neighbour of v, or -1; takes ranks of others.
  int32_t next_unvisited(int32_t v) {
    const int64_t end = links_.begin(v + 1);
    int64_t& place = places_[v];
    poll(1);
    while (place < end) {
      const int64_t stretch = std::min(end, place + kStretch);
      poll(stretch - place);
      while (place < stretch) {
        const int32_t u = links_.target(place++);
        if (!is_vertex(u, links_.vertices) || u == parents_[v]) continue;
        if (ranks_[u] == kUnvisited) return u;
        lowest_[v] = std::min(lowest_[v], ranks_[u]);
      }
    }
    return -1;
  }

  int32_t leave(int32_t v) {
    const int32_t parent = parents_[v];
    const bool is_bridge = parent >= 0 && lowest_[v] == ranks_[v];
    cut_[v] = is_bridge ? int32_t(count_) - ranks_[v] : 0;
    if (parent >= 0) lowest_[parent] = std::min(lowest_[parent], lowest_[v]);
    return parent;
  }

  const Links links_;
  int32_t* const parents_;
  int32_t* const cut_;
  Buffer<int32_t> ranks_, lowest_, entered_;
  Buffer<int64_t> places_;  // where in its row the search goes on
  int64_t count_ = 0;       // of vertices that were entered
};

}
