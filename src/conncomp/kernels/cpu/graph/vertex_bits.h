// Sets of vertices, a bit each: those of a million vertices fit a second-level cache, where numbers of them
// do not.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/graph/trees.h"

namespace conncomp {

// A bit for each vertex, and one more. Threads set them at the same time.
class VertexBits {
 public:
  static constexpr int64_t kWord = 64;

  VertexBits() = default;
  explicit VertexBits(int64_t vertices) : words_(size_t(vertices / kWord + 1)) {}

  // While others set bits.
  VertexBits copy() const {
    VertexBits copy(words() * kWord - 1);
    for (int64_t w = 0; w < words(); ++w) copy.put(w, word(w));
    return copy;
  }

  uint64_t* data() { return words_.data(); }
  int64_t words() const { return int64_t(words_.size()); }
  uint64_t word(int64_t w) const { return Shared::load(words_.data() + w); }
  bool has(int64_t v) const { return word(v / kWord) >> (v % kWord) & 1; }
  void set(int64_t v) { Shared::fetch_or(words_.data() + v / kWord, uint64_t(1) << (v % kWord)); }
  // By the only thread that sets bits of this word.
  void add(int64_t w, uint64_t bits) { put(w, word(w) | bits); }
  void put(int64_t w, uint64_t bits) { Shared::store(words_.data() + w, bits); }
  // Those of a word, none of which is set then.
  uint64_t take(int64_t w) {
    const uint64_t bits = word(w);
    put(w, 0);
    return bits;
  }
  // The first vertex, of which there is one.
  int64_t first() const {
    int64_t w = 0;
    while (word(w) == 0) ++w;
    return w * kWord + std::countr_zero(word(w));
  }

 private:
  std::vector<uint64_t> words_;
};

// The vertices that are under a root of a flat forest.
VertexBits members_of(int64_t root, const auto* parent, int64_t vertices) {
  VertexBits members(vertices);
  for_each_index(members.words(), [&, parent](int64_t w) {
    const int64_t first = VertexBits::kWord * w, count = std::min(vertices - first, VertexBits::kWord);
    uint64_t bits = 0;
    for (int64_t k = 0; k < count; ++k) bits |= uint64_t(Shared::load(parent + first + k) == root) << k;
    members.add(w, bits);
  });
  return members;
}

// Whether arcs lead to members alone, or to vertices that do not exist.
template <class Pointer, class Vertex>
bool lead_inside(const Rows<Pointer, Vertex> rows, ArcRange arcs, const VertexBits& members) {
  bool all = true;  // without a branch
  for_each_in(arcs.begin, arcs.end, [&](int64_t arc) {
    const Vertex u = rows.target(arc);
    const bool exists = is_vertex(u, rows.vertices);
    all &= !exists | members.has(exists ? int64_t(u) : 0);
  });
  return all;
}

}  // namespace conncomp
