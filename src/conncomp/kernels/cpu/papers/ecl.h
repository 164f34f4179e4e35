// Union–find with intermediate pointer jumping: ECL-CC on the CPU. Fills parent[v] with the smallest vertex
// of v's component. With `symmetric`, only the larger end of an arc looks at it. Three phases over all
// vertices: every vertex starts under a smaller neighbour; each arc unites its ends; every vertex is pointed
// to its root. Variants are those of the paper and of cuda/graph/ecl.cuh (init, jump, finish). One thread
// runs the paper's serial code, without atomic operations. Without jumping (jump = 3) a search may visit
// every vertex. Source: Jaiganesh and Burtscher 2018, 3, 5.1.
#pragma once

#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"

namespace conncomp {

struct EclOptions {
  int init = 3, jump = 4, finish = 3;
};

// Calls body(i) for i in [0, count), `work` elements in all, by threads if `concurrent`.
void ecl_for_each(bool concurrent, int64_t count, int64_t work, auto body) {
  Parts parts(count, kGrain * count / std::max<int64_t>(work, 1));
  if (!concurrent) parts.at_most(1);
  parallel_for(parts.parts, [&](int64_t part) { for_each_in(parts.begin(part), parts.end(part), body); });
}

template <class Access> constexpr bool kConcurrent = std::is_same_v<Access, Concurrent>;

// Calls work(Exclusive()) or work(Concurrent()). Looks up the number of threads once: it may change.
void with_threads(auto&& work) {
  if (num_threads() == 1)
    work(Exclusive());
  else
    work(Concurrent());
}

// Calls body with the compile-time constant equal to `choice`, one of 1, ..., last.
template <int last> void with_choice(int choice, auto&& body) {
  if constexpr (last > 1)
    if (choice != last) return with_choice<last - 1>(choice, body);
  body(std::integral_constant<int, last>());
}

// Counts steps as work: without jumping, a path may be as long as the graph.
struct WatchedPath {
  void start() {}
  void step() { poll(1); }
};

template <class Pointer, class Vertex, class Index>
void ecl_start_rows(const Rows<Pointer, Vertex> rows, bool concurrent, int init, Index* parent) {
  ecl_for_each(concurrent, rows.vertices, rows.vertices + rows.arcs, [=](int64_t v) {
    Index start = Index(v);
    if (init == 2)
      rows.for_each_neighbour(v, [&](Vertex u) { start = std::min(start, Index(u)); });
    else if (init == 3)
      for (int64_t arc = rows.begin(v), end = rows.begin(v + 1); arc < end && start == Index(v); ++arc) {
        poll(1);
        const Vertex u = rows.target(arc);
        if (is_vertex(u, v)) start = Index(u);  // one of the v smaller vertices
      }
    parent[v] = start;
  });
}

template <class Access, int jump, class Pointer, class Vertex, class Index>
void ecl_unite_rows(const Rows<Pointer, Vertex> rows, bool symmetric, Index* parent) {
  ecl_for_each(kConcurrent<Access>, rows.vertices, rows.vertices + rows.arcs, [=](int64_t v) {
    Index root = find<Access, Jump(jump)>(parent, Index(v), WatchedPath());
    rows.for_each_neighbour(v, [&](Vertex u) {
      if (symmetric ? u < v : u != v)
        root = hook<Access>(parent, root, find<Access, Jump(jump)>(parent, Index(u), WatchedPath()));
    });
  });
}

template <class Access, class Vertex>
void ecl_for_each_edge(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, auto body) {
  ecl_for_each(kConcurrent<Access>, arcs, arcs, [=](int64_t arc) {
    const Vertex a = Concurrent::load(src + arc), b = Concurrent::load(dst + arc);
    if (a != b && is_vertex(a, vertices) && is_vertex(b, vertices)) body(std::min(a, b), std::max(a, b));
  });
}

template <class Access, int init, class Vertex, class Index>
void ecl_start_arcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, Index* parent) {
  ecl_for_each(kConcurrent<Access>, vertices, vertices, [=](int64_t v) { parent[v] = Index(v); });
  if constexpr (init > 1)
    ecl_for_each_edge<Access>(src, dst, arcs, vertices, [=](Vertex low, Vertex high) {
      if constexpr (init == 2)
        Access::fetch_min(parent + high, Index(low));
      else
        Access::compare_exchange(parent + high, Index(high), Index(low));
    });
}

template <class Access, int jump, class Vertex, class Index>
void ecl_unite_arcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, Index* parent) {
  ecl_for_each_edge<Access>(src, dst, arcs, vertices, [=](Vertex low, Vertex high) {
    const Index root = find<Access, Jump(jump)>(parent, Index(high), WatchedPath());
    hook<Access>(parent, root, find<Access, Jump(jump)>(parent, Index(low), WatchedPath()));
  });
}

template <class Access, class Index> void ecl_finish(int64_t vertices, int finish, Index* parent) {
  with_choice<3>(finish, [=](auto choice) {
    constexpr int variant = choice();
    ecl_for_each(kConcurrent<Access>, vertices, vertices, [=](int64_t v) {
      finish_path<Access, variant>(parent, Index(v), Access::load(parent + v), WatchedPath());
    });
  });
}

void ecl_roots(const auto rows, bool symmetric, EclOptions options, Integer auto* roots) {
  with_threads([=]<class Access>(Access) {
    ecl_start_rows(rows, kConcurrent<Access>, options.init, roots);
    with_choice<4>(options.jump, [=](auto jump) { ecl_unite_rows<Access, jump()>(rows, symmetric, roots); });
    ecl_finish<Access>(rows.vertices, options.finish, roots);
  });
}

template <class Vertex>
void ecl_roots_of_arcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices,
    EclOptions options, Integer auto* roots) {
  with_threads([=]<class Access>(Access) {
    with_choice<3>(
        options.init, [=](auto init) { ecl_start_arcs<Access, init()>(src, dst, arcs, vertices, roots); });
    with_choice<4>(
        options.jump, [=](auto jump) { ecl_unite_arcs<Access, jump()>(src, dst, arcs, vertices, roots); });
    ecl_finish<Access>(vertices, options.finish, roots);
  });
}

}
