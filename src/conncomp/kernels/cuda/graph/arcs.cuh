// From compressed sparse rows to a list of arcs.
//
// What: sources[arc] becomes the vertex that an arc leaves; where it leads is in the rows already.
// How: a block takes kSpan arcs at a time and finds their vertices by searching indptr.
// Cost: the sources written once; about ten reads of indptr an arc, from the first-level cache.
#pragma once

#include "cuda/graph/check.cuh"

namespace conncomp {

template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kCheckThreads)
    list_sources(int64_t vertices, int64_t arcs, const Pointer* __restrict__ indptr,
                 Vertex* __restrict__ sources) {
  for (int64_t begin = blockIdx.x * kSpan; begin < arcs; begin += gridDim.x * kSpan) {
    const int64_t end = begin + kSpan < arcs ? begin + kSpan : arcs;
    const int64_t low = source_of(indptr, 0, vertices, begin);
    const int64_t high = source_of(indptr, low, vertices, end - 1) + 1;
    for (int64_t arc = begin + threadIdx.x; arc < end; arc += kCheckThreads)
      sources[arc] = Vertex(source_of(indptr, low, high, arc));
  }
}

}  // namespace conncomp
