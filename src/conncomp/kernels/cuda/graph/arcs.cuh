// From compressed sparse rows to a list of arcs.
//
// What: sources[arc] becomes the vertex that an arc leaves; where it leads is in the rows already.
// How: a block takes a span of arcs at a time (spans.cuh). Cost: the sources written once, and indptr read.
#pragma once

#include "cuda/graph/check.cuh"

namespace conncomp {

template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kCheckThreads)
    list_sources(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
                 Vertex* __restrict__ sources) {
  follow_launch();
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan)
    visit_span<Vertex>(indptr, Span(indptr, vertices, arcs, begin), AnyRow(),
                       [=](bool exists, int64_t source, int64_t arc) {
                         if (exists) sources[arc] = Vertex(source);
                       });
}

}  // namespace conncomp
