// Whether every arc of a graph is listed from both ends, equally often. One pass adds a 64-bit hash of (u, v)
// for every arc u -> v with u < v and subtracts it for every arc v -> u: zero if so, and otherwise zero with
// a chance of 2^-64. The caller draws the key of the hash, so that no file can be made to look as if it were.
// An exact answer would take a sort, and a multiple of the time that it takes to find the components.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mix.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/rows.h"

namespace conncomp {

template <class Pointer, class Vertex>
bool is_mirrored(const Rows<Pointer, Vertex> rows, uint64_t key) {
  const Parts parts(rows.vertices, kGrain);
  std::vector<uint64_t> sums(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    uint64_t sum = 0;
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t u) {
      rows.for_each_neighbour(u, [&](int64_t v) {
        if (u < v) sum += mix(mix(uint64_t(u) ^ key) + uint64_t(v));
        if (u > v) sum -= mix(mix(uint64_t(v) ^ key) + uint64_t(u));
      });
    });
    sums[part] = sum;
  });
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total == 0;
}

}  // namespace conncomp
