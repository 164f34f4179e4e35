// Divides clusters that are larger than wanted, by raising the threshold within them only.
//
// What: the largest clusters of single linkage with `most` members at most, where links of equal weight fall
// together, and for each the weight whose links would have made it too large.
// How: links of a maximum spanning forest, the heaviest first, unite trees in two forests. In `whole` all do.
// In the other one those do whose tree in `whole`, once all links of that weight are in it, is not too large;
// a tree that is stays so. Cost: a few random accesses a link. Memory: 12 bytes a vertex.
// Source: Gower and Ross 1969, "Minimum spanning trees and single linkage cluster analysis".
#pragma once

#include "core/union_find.h"
#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// `parent`, whose entries are roots at first, becomes the forest of the clusters; divided[root] is set for
// those that were divided. Ends of links are vertices, and weights descend.
inline void divide_clusters(const int32_t* u, const int32_t* v, const double* weights, int64_t links,
                            int64_t vertices, int64_t most, int32_t* parent, double* divided) {
  Buffer<int32_t> whole(vertices), sizes(vertices);
  for_each_in(0, vertices, [w = whole.data(), s = sizes.data()](int64_t i) {
    w[i] = int32_t(i);
    s[i] = 1;
  });
  const auto root_of = [](int32_t* forest, int32_t i) { return find<Exclusive>(forest, i); };
  for (int64_t first = 0, end = 0; first < links; first = end) {
    while (end < links && weights[end] == weights[first]) ++end;
    for_each_in(first, end, [&](int64_t i) {
      const int32_t a = root_of(whole.data(), u[i]), b = root_of(whole.data(), v[i]);
      if (a == b) return;
      const int32_t size = sizes[a] + sizes[b];
      sizes[hook<Exclusive>(whole.data(), a, b)] = size;
    });
    for_each_in(first, end, [&](int64_t i) {
      const int32_t a = root_of(parent, u[i]), b = root_of(parent, v[i]);
      if (sizes[root_of(whole.data(), u[i])] <= most) {
        hook<Exclusive>(parent, a, b);
        return;
      }
      for (const int32_t root : {a, b})
        if (divided[root] != divided[root]) divided[root] = weights[i];
    });
  }
}

}  // namespace conncomp
