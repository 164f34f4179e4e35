// The union–find of core/union_find.h under many threads.
#pragma once

#include "core/union_find.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

// Unites the ends of every edge. Without `linked` it does so wrongly: between the look at a root and the
// store that hooks it, another thread may have hooked it elsewhere, and that link is lost.
template <class Index, Jump jump, bool linked = true>
__global__ void unite_edges(Index* parent, const Index* edges, int64_t count) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Index a = find<Concurrent, jump>(parent, edges[2 * i]),
                b = find<Concurrent, jump>(parent, edges[2 * i + 1]);
    if (linked)
      hook<Concurrent>(parent, a, b);
    else if (a != b && Concurrent::load(parent + max(a, b)) == max(a, b))
      Concurrent::store(parent + max(a, b), min(a, b));
  }
}

template <class Index> __global__ void unite_edges_default(Index* parent, const Index* edges, int64_t count) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads())
    unite<Concurrent>(parent, edges[2 * i], edges[2 * i + 1]);
}

struct CountedUnions {
  int64_t* count;

  template <class Index> void united(Index) { Concurrent::fetch_add(count, int64_t(1)); }
};

template <class Index>
__global__ void unite_edges_lowest(Index* parent, const Index* edges, int64_t count, int64_t* unions) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads())
    hook_lowest<Concurrent>(
        parent, Concurrent::load(parent + edges[2 * i]), edges[2 * i + 1], CountedUnions{unions});
}

// Each entry is written by its own thread alone: while another one halves the path, its late store could
// put a grandparent back where the root is already.
template <class Index> __global__ void find_roots(Index* parent, int64_t count) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads())
    Concurrent::store(parent + i, find<Concurrent, Jump::kNone>(parent, Index(i)));
}

}
