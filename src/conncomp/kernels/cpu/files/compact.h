// Numbers the vertices that have arcs 0, 1, ... in ascending order, by a table of presence: a bit for
// every vertex and the count of bits before each word. Time linear in arcs and vertices; a quarter of a
// byte for each vertex.
#pragma once

#include <cstdint>
#include <vector>

#include "core/atomics.h"
#include "cpu/core/bits.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// Renumbers src and dst in place; returns the old numbers.
template <class Vertex>
std::vector<int64_t> compact_ids(Vertex* src, Vertex* dst, int64_t arcs, int64_t vertices) {
  std::vector<uint64_t> words(vertices / kWord + 1);
  std::vector<int64_t> rank(words.size());
  const auto mark = [&](Vertex v) {
    const uint64_t bit = uint64_t(1) << (v % kWord);
    if (!(Shared::load(&words[v / kWord]) & bit)) Shared::fetch_or(&words[v / kWord], bit);
  };
  for_each_index(arcs, [&](int64_t i) { mark(src[i]), mark(dst[i]); });
  std::vector<int64_t> ids(rank_words(words.data(), int64_t(words.size()), rank.data()));
  for_each_index(int64_t(words.size()), [&](int64_t w) {
    int64_t next = rank[w];
    for_each_bit(words[w], [&](int p) { ids[next++] = w * kWord + p; });
  });
  const auto number = [&](Vertex v) {
    return Vertex(rank[v / kWord] + std::popcount(words[v / kWord] & below(v % kWord)));
  };
  for_each_index(arcs, [&](int64_t i) { src[i] = number(src[i]), dst[i] = number(dst[i]); });
  return ids;
}

}  // namespace conncomp
