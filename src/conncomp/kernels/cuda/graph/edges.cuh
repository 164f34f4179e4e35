// Compressed sparse rows: whether they are a graph, and lists of their arcs and edges. A block takes spans of
// arcs (spans.cuh). Indices and indptr are read once by each kernel.
#pragma once

#include "core/key_hash.h"
#include "cuda/graph/spans.cuh"

namespace conncomp {

constexpr int kCheckThreads = 256;

// Whether rows are a graph, and symmetric: hashes of arcs u -> v, u < v, less those of v -> u leave 0 if all
// are listed from both ends. The key is drawn, so others look so with a probability of 2^-64.
struct GraphCheck {
  int64_t smallest, largest;
  int64_t wrong;  // 1 if indptr is
  uint64_t imbalance;
};

// Calls visit(exists, source, arc) as visit_span does, for all arcs.
template <class Vertex>
void visit_arcs(const Integer auto* indptr, int64_t vertices, int64_t arcs, auto&& visit) {
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan)
    visit_span<Vertex>(indptr, Span(indptr, vertices, arcs, begin), AnyRow(), visit);
}

template <class Pointer>
__global__ void __launch_bounds__(kCheckThreads)
    check_pointers(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr, GraphCheck* check) {
  bool wrong = grid_thread() == 0 && (indptr[0] != 0 || int64_t(indptr[vertices]) != arcs);
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) wrong |= indptr[v + 1] < indptr[v];
  if (wrong) Concurrent::store(&check->wrong, int64_t(1));
}

template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kCheckThreads) check_indices(int64_t vertices, int64_t arcs,
    const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, uint64_t key, GraphCheck* check) {
  int64_t smallest = 0, largest = -1;
  uint64_t imbalance = 0;
  visit_arcs<Vertex>(indptr, vertices, arcs, [&](bool exists, int64_t u, int64_t arc) {
    if (!exists) return;
    const int64_t v = indices[arc];
    if (v < smallest) smallest = v;
    if (v > largest) largest = v;
    if (u < v) imbalance += mix(mix(uint64_t(u) ^ key) + uint64_t(v));
    if (u > v) imbalance -= mix(mix(uint64_t(v) ^ key) + uint64_t(u));
  });
  smallest = over_lanes(smallest, smaller<int64_t>), largest = over_lanes(largest, larger<int64_t>);
  imbalance = warp_sum(imbalance);
  if (lane() != 0) return;
  Concurrent::fetch_min(&check->smallest, smallest);
  Concurrent::fetch_max(&check->largest, largest);
  Concurrent::fetch_add(&check->imbalance, imbalance);
}

// sources[arc] becomes the vertex that an arc leaves; where it leads is in the rows already.
template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kCheckThreads) list_sources(
    int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr, Vertex* __restrict__ sources) {
  follow_launch();
  visit_arcs<Vertex>(indptr, vertices, arcs, [=](bool exists, int64_t source, int64_t arc) {
    if (exists) sources[arc] = Vertex(source);
  });
}

// list_edges writes the ends of arcs that are no loops, or those to smaller vertices; adds them to *edges.
constexpr int kEdgesThreads = 256;

template <bool symmetric, class Pointer, class Vertex>
__global__ void __launch_bounds__(kEdgesThreads) list_edges(int64_t vertices, int64_t arcs,
    const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Vertex* __restrict__ src,
    Vertex* __restrict__ dst, int64_t* edges) {
  __shared__ int64_t room;
  visit_arcs<Vertex>(indptr, vertices, arcs, [&](bool exists, int64_t u, int64_t arc) {
    const int64_t v = exists ? int64_t(indices[arc]) : 0;
    const bool keep = exists && (symmetric ? v < u : v != u);
    int kept;
    const int before = block_scan<kEdgesThreads>(keep, kept);
    if (threadIdx.x == 0) room = Concurrent::fetch_add(edges, int64_t(kept));
    __syncthreads();
    if (!keep) return;
    src[room + before] = Vertex(u);
    dst[room + before] = Vertex(v);
  });
}

}
