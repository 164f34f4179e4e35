// From compressed sparse rows to a list of edges, for algorithms that give an edge a thread.
//
// What: fills src and dst with the ends of all arcs but loops, in about their order; if `symmetric` says
// that every arc is listed from both ends, of those that lead to a smaller vertex. *edges, 0 before, becomes
// their number.
// How: a block takes kSpan arcs at a time, finds their sources by searching indptr, and gets room for those
// that it keeps, kEdgesThreads at a time.
// Cost: the arcs read and the list written once; an atomic access for kEdgesThreads arcs.
#pragma once

#include "cuda/core/scan.cuh"
#include "cuda/graph/check.cuh"

namespace conncomp {

constexpr int kEdgesThreads = 256;

template <bool symmetric, class Pointer, class Vertex>
__global__ void __launch_bounds__(kEdgesThreads)
    list_edges(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
               const Vertex* __restrict__ indices, Vertex* __restrict__ src, Vertex* __restrict__ dst,
               int64_t* edges) {
  __shared__ int64_t room;
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan) {
    visit_span<Vertex>(indptr, Span(indptr, vertices, arcs, begin), AnyRow(),
                       [&](bool exists, int64_t u, int64_t arc) {
                         const int64_t v = exists ? int64_t(indices[arc]) : 0;
                         const bool keep = exists && (symmetric ? v < u : v != u);
                         int kept;
                         const int before = block_scan<kEdgesThreads>(keep, kept);
                         if (threadIdx.x == 0) room = Shared::fetch_add(edges, int64_t(kept));
                         __syncthreads();
                         if (!keep) return;
                         src[room + before] = Vertex(u);
                         dst[room + before] = Vertex(v);
                       });
  }
}

}  // namespace conncomp
