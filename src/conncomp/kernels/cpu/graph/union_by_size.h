// Union by size, one link after another, where the root that stays matters.
//
// What: of two trees the root of the larger one stays the root, and of trees of one size that of the first
// end. A tree with the vertex `stays` in it keeps that for its root.
// How: paths are halved. Cost: one thread; O(log n) a link at most, as trees are no deeper.
// Source: Tarjan and van Leeuwen 1984, "Worst-case analysis of set union algorithms".
#pragma once

#include <cstdint>
#include <utility>

#include "cpu/core/interrupt.h"

namespace conncomp {

// `parent`, whose entries are vertices, and the sizes of roots are memory that nobody else writes to. Ends of
// links are vertices; `stays` is one, or -1.
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
