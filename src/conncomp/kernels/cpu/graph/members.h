// The vertices of one tree of a forest, a bit each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/atomics.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"
#include "cpu/graph/trees.h"

namespace conncomp {

// A root, and how much of a sample is under it.
struct FrequentRoot {
  int64_t root;
  double share;
};

// The vertices of one tree of a flat forest, a bit each: those of a million vertices fit a second-level
// cache, where their parents do not.
class Members {
 public:
  template <class Index>
  Members(Index* parent, int64_t vertices, int64_t root) : words_(size_t(vertices / kWord + 1)) {
    for_each_index(vertices / kWord + 1, [=, this](int64_t word) {
      const int64_t first = kWord * word, count = std::min(vertices - first, kWord);
      uint64_t bits = 0;
      for (int64_t k = 0; k < count; ++k) bits |= uint64_t(Shared::load(parent + first + k) == root) << k;
      words_[size_t(word)] = bits;
    });
  }

  bool has(int64_t v) const { return words_[size_t(v / kWord)] >> (v % kWord) & 1; }

  // Whether arcs lead to members alone, or to vertices that do not exist.
  template <class Pointer, class Vertex>
  bool has_targets(const Rows<Pointer, Vertex> rows, ArcRange arcs) const {
    uint64_t all = 1;  // without a branch
    for_each_in(arcs.begin, arcs.end, [&all, rows, words = words_.data()](int64_t arc) {
      const Vertex u = rows.target(arc);
      const bool exists = is_vertex(u, rows.vertices);
      const uint64_t v = exists ? uint64_t(u) : 0;
      all &= words[v / kWord] >> (v % kWord) | uint64_t(!exists);
    });
    return all & 1;
  }

 private:
  static constexpr int64_t kWord = 64;
  std::vector<uint64_t> words_;
};

}  // namespace conncomp
