// Whether compressed sparse rows are a graph, and whether it is symmetric: one pass over them.
//
// What: the smallest and the largest index, whether indptr decreases, does not start with 0 or does not end
// with `arcs`, and a sum over all arcs that is 0 if every arc is listed from both ends.
// How: a block takes a span of arcs at a time (spans.cuh). The sum adds
// hash(u, v) for every arc u -> v with u < v and subtracts it for every arc v -> u. The key of the hash is
// drawn anew for each call, so no graph can be made to look symmetric; one that is not does so with a
// probability of about 2^-64.
// Cost: indices and indptr read once.
#pragma once

#include "core/atomics.h"
#include "core/mix.h"
#include "cuda/graph/spans.cuh"

namespace conncomp {

constexpr int kCheckThreads = 256;

struct GraphCheck {
  int64_t smallest, largest;
  int64_t wrong;  // 1 if indptr is
  uint64_t imbalance;
};

template <class Pointer>
__global__ void __launch_bounds__(kCheckThreads)
    check_pointers(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr, GraphCheck* check) {
  bool wrong = grid_thread() == 0 && (indptr[0] != 0 || int64_t(indptr[vertices]) != arcs);
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) wrong |= indptr[v + 1] < indptr[v];
  if (wrong) Shared::store(&check->wrong, int64_t(1));
}

template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kCheckThreads)
    check_indices(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
                  const Vertex* __restrict__ indices, uint64_t key, GraphCheck* check) {
  int64_t smallest = 0, largest = -1;
  uint64_t imbalance = 0;
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan)
    visit_span<Vertex>(indptr, Span(indptr, vertices, arcs, begin), AnyRow(),
                       [&](bool exists, int64_t u, int64_t arc) {
                         if (!exists) return;
                         const int64_t v = indices[arc];
                         if (v < smallest) smallest = v;
                         if (v > largest) largest = v;
                         if (u < v) imbalance += mix(mix(uint64_t(u) ^ key) + uint64_t(v));
                         if (u > v) imbalance -= mix(mix(uint64_t(v) ^ key) + uint64_t(u));
                       });
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const int64_t s = __shfl_xor_sync(kAllLanes, smallest, step);
    const int64_t l = __shfl_xor_sync(kAllLanes, largest, step);
    smallest = s < smallest ? s : smallest;
    largest = l > largest ? l : largest;
    imbalance += __shfl_xor_sync(kAllLanes, imbalance, step);
  }
  if (lane() != 0) return;
  Shared::fetch_min(&check->smallest, smallest);
  Shared::fetch_max(&check->largest, largest);
  Shared::fetch_add(&check->imbalance, imbalance);
}

}  // namespace conncomp
