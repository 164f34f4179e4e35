// Components of a graph that grows: batches of edges unite trees of a forest (unite_edges); whether vertices
// are connected, roots and labels can be had at any time, also while other threads unite. What costs is the
// way to memory, so the parents of ends are prefetched long before, and their parents a while later (without
// that, batches of 2 million edges among 10 million vertices took 2.1 times as long). Every union hooks one
// root, so unions are counted there. Edges are checked where read, as they may change. Cost: about two random
// accesses an edge; labels a pass over the vertices. Source: Jaiganesh and Burtscher 2018; batches as in
// Dhulipala, Hong and Shun 2020, "ConnectIt".
#pragma once

#include <initializer_list>

#include "cpu/graph/trees.h"

namespace conncomp {

// Vertices between those whose parents are prefetched, those whose parents' parents are, and the one at work.
constexpr int64_t kVerticesAhead = 32;

// Counts unions, and at its end, even by an exception, subtracts them from the components.
class UnionCount {
 public:
  explicit UnionCount(int64_t* components) : components_(components) {}
  ~UnionCount() { Concurrent::fetch_add(components_, -unions_); }
  UnionCount(const UnionCount&) = delete;
  UnionCount& operator=(const UnionCount&) = delete;

  void united(auto) { ++unions_; }

 private:
  int64_t* const components_;
  int64_t unions_ = 0;
};

template <class Index> void start_forest(int64_t vertices, Index* parent) {
  for_each_index(vertices, [=](int64_t v) { parent[v] = Index(v); });
}

// Calls body(i) for i of [begin, end), prefetching parents of the vertices of `arrays`, and theirs.
template <class Vertex>
void for_each_ahead(int64_t begin, int64_t end, std::initializer_list<const Vertex*> arrays, int64_t vertices,
    const auto* parent, auto body) {
  if (vertices == 0) return for_each_in(begin, end, body);
  for_each_in(begin, end, [=](int64_t i) {
    const auto ask = [=](const Vertex* array, int64_t far, bool for_parent) {
      const Vertex seen = Concurrent::load(array + std::min(i + far, end - 1));
      const int64_t v = is_vertex(seen, vertices) ? int64_t(seen) : 0;
      __builtin_prefetch(parent + (for_parent ? v : int64_t(Concurrent::load(parent + v))));
    };
    for (const Vertex* array : arrays) {
      ask(array, 2 * kVerticesAhead, true);
      ask(array, kVerticesAhead, false);
    }
    body(i);
  });
}

template <class Vertex, class Index>
void unite_edges(const Vertex* src, const Vertex* dst, int64_t edges, int64_t vertices, Index* parent,
    int64_t* components) {
  const Parts parts(edges, kGrain);
  const auto unite_part = [=](int64_t part) {
    UnionCount unions(components);
    const auto unite_edge = [=, &unions](int64_t i) {
      const Vertex u = Concurrent::load(src + i), v = Concurrent::load(dst + i);
      if (is_vertex(u, vertices) && is_vertex(v, vertices)) [[likely]]
        unite<Concurrent>(parent, Index(u), Index(v), unions);
    };
    for_each_ahead(parts.begin(part), parts.end(part), {src, dst}, vertices, parent, unite_edge);
  };
  parallel_for(parts.parts, unite_part, Dealing::kQueue);
}

// Lets connected[i] be whether u[i] and v[i] are; false where one is no vertex.
template <class Vertex, class Index>
void compare_roots(
    const Vertex* u, const Vertex* v, int64_t pairs, int64_t vertices, Index* parent, bool* connected) {
  const Parts parts(pairs, kGrain);
  parallel_for(parts.parts, [=](int64_t part) {
    const auto compare = [=](int64_t i) {
      const Vertex a = Concurrent::load(u + i), b = Concurrent::load(v + i);
      connected[i] = is_vertex(a, vertices) && is_vertex(b, vertices) &&
                     in_one_set<Concurrent>(parent, Index(a), Index(b));
    };
    for_each_ahead(parts.begin(part), parts.end(part), {u, v}, vertices, parent, compare);
  });
}

// Lets roots[i] be the smallest vertex of the component of wanted[i]; -1 where that is no vertex.
template <class Vertex, class Index>
void list_roots(const Vertex* wanted, int64_t count, int64_t vertices, Index* parent, Index* roots) {
  const Parts parts(count, kGrain);
  parallel_for(parts.parts, [=](int64_t part) {
    const auto list = [=](int64_t i) {
      const Vertex v = Concurrent::load(wanted + i);
      roots[i] = is_vertex(v, vertices) ? find<Concurrent>(parent, Index(v)) : Index(-1);
    };
    for_each_ahead(parts.begin(part), parts.end(part), {wanted}, vertices, parent, list);
  });
}

// Points entries of a copy that were roots to their present roots, until none changes: then connected
// vertices lead to one root. Without it, of 5 and 7 connected, 5 -> 5 is copied, another thread hooks 5 under
// 2, and 7 -> 2 is copied: the copy separates them.
template <class Index, class Label> void follow_unions(Index* parent, int64_t vertices, Label* copy) {
  const Parts parts(vertices, kGrain);
  const auto ceased = [=](int64_t v) {
    return (copy[v] == Label(v)) & (Concurrent::load(parent + v) != Index(v));
  };
  for (bool hooked = true; hooked;) {
    hooked = false;
    parallel_for(parts.parts, [=, &hooked](int64_t part) {
      const int64_t begin = parts.begin(part), end = parts.end(part);
      bool any = false;  // as a rule none: without branches
      for_each_in(begin, end, [&any, ceased](int64_t v) { any |= ceased(v); });
      if (!any) return;
      for_each_in(begin, end, [=](int64_t v) {
        if (ceased(v)) copy[v] = Label(shorten(parent, v));
      });
      Concurrent::store(&hooked, true);
    });
  }
}

// Fills private `labels`, as label_forest; returns how many. Unions made meanwhile may be missing.
template <class Label>
int64_t label_copy(Integer auto* parent, int64_t vertices, Naming naming, Label* labels) {
  for_each_index(vertices, [=](int64_t v) { labels[v] = Label(shorten(parent, v)); });
  follow_unions(parent, vertices, labels);
  return label_forest(labels, vertices, naming);
}

// Union by size, link after link, by one thread: the larger tree's root stays, or that with `stays`; paths
// are halved. Nobody else writes. Source: Tarjan and van Leeuwen 1984.
inline void unite_by_size(
    const int32_t* u, const int32_t* v, int64_t links, int32_t stays, int32_t* parent, int32_t* sizes) {
  const auto root_of = [=](int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for_each_in(0, links, [=](int64_t k) {
    int32_t a = root_of(u[k]), b = root_of(v[k]);
    if (a == b) return;
    if (b == stays || (a != stays && sizes[a] < sizes[b])) std::swap(a, b);
    parent[b] = a;
    sizes[a] += sizes[b];
  });
}

}
