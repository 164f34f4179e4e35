// Components of a graph that grows: a forest of parents that batches of edges are united in.
//
// What: a forest as of core/union_find.h, in memory of the library's own, and the number of its trees. Edges
// unite trees (unite_edges); whether two vertices are connected (compare_roots), the root of some
// (list_roots) and labels of all (label_copy) can be had at any time, also while other threads unite. How:
// union-find on entries that are shared, by all threads if a batch is large. What costs is the way to memory:
// so the parents of an edge's ends are asked for long before it is united, and the parents of these a while
// later. Every union hooks one root, for good, so that unions are counted where roots are hooked. Edges are
// the caller's, who may change them meanwhile: they are held against the number of vertices wherever they are
// read. Cost: a batch its edges, about two random accesses each; labels one pass over the vertices, which are
// pointed to their roots by the way. Without the looks ahead, batches of 2 million edges among 10 million
// vertices took 2.1 times as long on one core.
// Source: the union-find of Jaiganesh and Burtscher 2018; batches as in Dhulipala, Hong and Shun 2020,
// "ConnectIt: A Framework for Static and Incremental Parallel Graph Connectivity Algorithms".
#pragma once

#include <initializer_list>

#include "cpu/core/numbering.h"
#include "cpu/graph/trees.h"

namespace conncomp {

// How many vertices there are between those whose parents are asked for, those whose parents' parents are,
// and the one that is at work.
constexpr int64_t kVerticesAhead = 32;

// Counts unions, and takes them from the number of components when it ends, also by an exception.
class UnionCount {
 public:
  explicit UnionCount(int64_t* components) : components_(components) {}
  ~UnionCount() { Shared::fetch_add(components_, -unions_); }
  UnionCount(const UnionCount&) = delete;
  UnionCount& operator=(const UnionCount&) = delete;

  template <class Index>
  void united(Index) {
    ++unions_;
  }

 private:
  int64_t* const components_;
  int64_t unions_ = 0;
};

// Lets every vertex be a component.
template <class Index>
void start_forest(int64_t vertices, Index* parent) {
  for_each_index(vertices, [=](int64_t v) { parent[v] = Index(v); });
}

// Calls body(i) for every i of [begin, end), in order, once the parents of the vertices that each of `arrays`
// has there have been asked for, and their parents.
template <class Vertex, class Index, class Body>
void for_each_ahead(int64_t begin, int64_t end, std::initializer_list<const Vertex*> arrays, int64_t vertices,
                    const Index* parent, Body body) {
  if (vertices == 0) return for_each_in(begin, end, body);
  for_each_in(begin, end, [=](int64_t i) {
    const auto ask = [=](const Vertex* array, int64_t far, bool for_parent) {
      const Vertex seen = Shared::load(array + std::min(i + far, end - 1));
      const int64_t v = is_vertex(seen, vertices) ? int64_t(seen) : 0;
      __builtin_prefetch(parent + (for_parent ? v : int64_t(Shared::load(parent + v))));
    };
    for (const Vertex* array : arrays) {
      ask(array, 2 * kVerticesAhead, true);
      ask(array, kVerticesAhead, false);
    }
    body(i);
  });
}

// Unites the ends of edges, all of them vertices if they are as they were when they were checked.
template <class Vertex, class Index>
void unite_edges(const Vertex* src, const Vertex* dst, int64_t edges, int64_t vertices, Index* parent,
                 int64_t* components) {
  const Parts parts(edges, kGrain);
  const auto unite_part = [=](int64_t part) {
    UnionCount unions(components);
    const auto unite_edge = [=, &unions](int64_t i) {
      const Vertex u = Shared::load(src + i), v = Shared::load(dst + i);
      if (is_vertex(u, vertices) && is_vertex(v, vertices)) [[likely]]
        unite<Shared>(parent, Index(u), Index(v), unions);
    };
    for_each_ahead(parts.begin(part), parts.end(part), {src, dst}, vertices, parent, unite_edge);
  };
  parallel_for(parts.parts, unite_part, Dealing::kQueue);
}

// Lets connected[i] be whether u[i] and v[i] are; false where one of them is no vertex.
template <class Vertex, class Index>
void compare_roots(const Vertex* u, const Vertex* v, int64_t pairs, int64_t vertices, Index* parent,
                   bool* connected) {
  const Parts parts(pairs, kGrain);
  parallel_for(parts.parts, [=](int64_t part) {
    const auto compare = [=](int64_t i) {
      const Vertex a = Shared::load(u + i), b = Shared::load(v + i);
      connected[i] =
          is_vertex(a, vertices) && is_vertex(b, vertices) && in_one_set<Shared>(parent, Index(a), Index(b));
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
      const Vertex v = Shared::load(wanted + i);
      roots[i] = is_vertex(v, vertices) ? find<Shared>(parent, Index(v)) : Index(-1);
    };
    for_each_ahead(parts.begin(part), parts.end(part), {wanted}, vertices, parent, list);
  });
}

// Points the entries of a copy that were roots when they were copied to their roots now, until all of them
// are roots still. Then of two vertices that were connected before the copy both lead to what is a root now,
// and so to the same one. Without it, say 5 and 7 have been connected, copied are 5 -> 5, then, when another
// thread has hooked 5 under 2, 7 -> 2: the copy tells that they are not.
template <class Index, class Label>
void follow_unions(Index* parent, int64_t vertices, Label* copy) {
  const Parts parts(vertices, kGrain);
  const auto ceased = [=](int64_t v) {
    return (copy[v] == Label(v)) & (Shared::load(parent + v) != Index(v));
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
      Shared::store(&hooked, true);
    });
  }
}

// Fills `labels`, which nobody else writes to, as label_forest does; returns the number of components. Where
// others unite meanwhile, they hold some of these unions, and all that were made before.
template <class Index, class Label>
int64_t label_copy(Index* parent, int64_t vertices, bool consecutive, Label* labels) {
  for_each_index(vertices, [=](int64_t v) { labels[v] = Label(shorten(parent, v)); });
  follow_unions(parent, vertices, labels);
  return label_forest(labels, vertices, consecutive);
}

// Union by size, one link after another: the root of the larger tree stays the root, and of trees of one size
// that of the first end; a tree with the vertex `stays` in it keeps that. Paths are halved. Cost: one thread;
// O(log n) a link at most. Source: Tarjan and van Leeuwen 1984, "Worst-case analysis of set union
// algorithms". `parent`, whose entries are vertices, and the sizes of roots are memory that nobody else
// writes to. Ends of links are vertices; `stays` is one, or -1.
inline void unite_by_size(const int32_t* u, const int32_t* v, int64_t links, int32_t stays, int32_t* parent,
                          int32_t* sizes) {
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

}  // namespace conncomp
