// From a list of arcs to compressed sparse rows: a counting sort by source that keeps the order of the
// arcs of a vertex. Time and memory linear in arcs and vertices; nothing beyond the result.
#pragma once

#include <algorithm>
#include <cstdint>

namespace conncomp {

template <class Key, class Value>
void group_by_source(const Key* src, const Value* dst, int64_t arcs, int64_t vertices, int64_t* indptr,
                     Value* indices) {
  // indptr[v + 1] runs from the first arc of v to the one after its last while the arcs are placed.
  std::fill_n(indptr, vertices + 1, 0);
  for (int64_t i = 0; i < arcs; ++i)
    if (int64_t(src[i]) + 2 <= vertices) ++indptr[src[i] + 2];
  for (int64_t v = 2; v <= vertices; ++v) indptr[v] += indptr[v - 1];
  for (int64_t i = 0; i < arcs; ++i) indices[indptr[src[i] + 1]++] = dst[i];
}

}  // namespace conncomp
