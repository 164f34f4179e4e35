// Whether a number is that of a vertex.
#pragma once

#include "core/platform.h"

namespace conncomp {

template <class Vertex>
CONNCOMP_ANYWHERE inline bool is_vertex(Vertex v, int64_t vertices) {
  return uint64_t(int64_t(v)) < uint64_t(vertices);  // negative ones are large
}

}  // namespace conncomp
