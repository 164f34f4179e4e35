// Arcs as the caller keeps and may change them: numbers are loaded once and checked, rows cut (contract 5).
#pragma once

#include <cstdlib>

#include "core/union_find.h"
#include "cpu/core/helper_account.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

inline int64_t spread(int64_t i, int64_t samples, int64_t count) {
  return count / samples * i + count % samples * i / samples;
}

inline bool are_near(uint64_t v, uint64_t u, int64_t distance) {
  return std::max(v, u) - std::min(v, u) < uint64_t(distance);
}

template <class Vertex> bool are_local(const Vertex* src, int64_t arcs, int64_t vertices) {
  constexpr int64_t kSamples = 64, kNear = kAlwaysHelped ? 8 : 512;  // vertices over the distance
  int64_t near = 0;
  for (int64_t i = 0; i < kSamples && arcs > 1; ++i) {
    const Vertex* const arc = src + (arcs - 1) / kSamples * i;
    near += are_near(Concurrent::load(arc), Concurrent::load(arc + 1), vertices / kNear);
  }
  return near > kSamples / 4 * 3;
}

template <class Pointer, class Vertex> struct Rows {
  const Pointer* indptr;  // of vertices + 1
  const Vertex* indices;
  int64_t vertices, arcs;

  // Where the arcs of v begin; for v = vertices, where all end.
  int64_t begin(int64_t v) const { return bounded(Concurrent::load(indptr + v)); }

  int64_t bounded(Pointer place) const { return int64_t(std::min(uint64_t(int64_t(place)), uint64_t(arcs))); }

  // Where the arcs of v begin and end; the processor guesses that they are in bounds, and waits for less.
  void guess_bounds(int64_t v, int64_t& first, int64_t& behind) const {
    first = int64_t(Concurrent::load(indptr + v)), behind = int64_t(Concurrent::load(indptr + v + 1));
    if (uint64_t(first) > uint64_t(arcs) || uint64_t(behind) > uint64_t(arcs)) [[unlikely]] {
      poll(1);  // so that compilers make a branch of it
      first = behind = 0;
    }
  }

  int64_t source(int64_t arc) const {
    int64_t low = 0, high = vertices;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (begin(middle) <= arc ? low : high) = middle;
    }
    return low;
  }

  Vertex target(int64_t arc) const { return Concurrent::load(indices + arc); }

  void for_each_neighbour(int64_t v, auto&& body) const {
    for_each_in(begin(v), begin(v + 1), [&](int64_t arc) {
      const Vertex u = target(arc);
      if (is_vertex(u, vertices)) [[likely]]
        body(u);
    });
  }
};

// Samples first arcs of evenly spread rows: how many lead near, and the end with the most arcs.
struct RowSample {
  static constexpr int64_t kSamples = 64;
  int64_t rows = 0, near = 0, hub = 0;

  bool is_near() const { return 2 * near > rows; }
};

template <class Pointer, class Vertex> RowSample sample_rows(const Rows<Pointer, Vertex> rows) {
  constexpr int64_t kSamples = RowSample::kSamples;
  RowSample sample;
  int64_t most = -1;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t v = rows.vertices / kSamples * i, begin = rows.begin(v);
    if (begin >= rows.begin(v + 1)) continue;
    const Vertex u = rows.target(begin);
    if (!is_vertex(u, rows.vertices)) continue;
    ++sample.rows;
    sample.near += std::abs(int64_t(u) - v) < rows.vertices / kSamples;
    if (const int64_t arcs = rows.begin(int64_t(u) + 1) - rows.begin(u); arcs > most)
      sample.hub = u, most = arcs;
  }
  return sample;
}

}
