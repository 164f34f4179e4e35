// Trees of vertices, as of core/union_find.h, for rows that may change, and sets of vertices.
#pragma once

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

struct ArcRange {
  int64_t begin, end;
};

struct FrequentRoot {
  int64_t root;
  double share;
};

// The cost of a vertex in a pass, in elements of an array: a random access or two.
constexpr int64_t kVertexWork = 8;

void for_each_row(const auto rows, auto body) {
  const Parts parts(rows.vertices, kGrain / kVertexWork);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t begin = rows.begin(parts.begin(part));
    for_each_in(parts.begin(part), parts.end(part), [&begin, rows, body](int64_t v) {
      const int64_t end = rows.begin(v + 1);
      body(v, begin, end);
      begin = end;
    });
  });
}

// The parent of u, or of v unless u is a vertex below `bound`: without a branch.
template <class Index> Index parent_of(const Index* parent, auto u, int64_t bound, int64_t v) {
  return Concurrent::load(parent + (is_vertex(u, bound) ? int64_t(u) : v));
}

// Calls body(begin, end, piece_of_row) for pieces of about as many arcs, worth `visited` at most.
void for_each_piece(const auto rows, int64_t visited, auto body) {
  Parts parts(rows.arcs, kGrain / kVertexWork);
  parts.at_most(Parts(visited, kGrain / kVertexWork).parts);
  if (rows.arcs == 0) return;
  parallel_for(parts.parts, [=](int64_t part) {
    const int64_t begin = parts.begin(part), end = parts.end(part);
    body(rows.source(begin), rows.source(end - 1) + 1, [=](int64_t v) -> ArcRange {
      return {std::max(begin, rows.begin(v)), std::min(end, rows.begin(v + 1))};
    });
  });
}

// The smaller end of the first and last arc of v, or v if neither is smaller.
template <class Pointer, class Vertex>
int64_t smaller_end(const Rows<Pointer, Vertex> rows, int64_t v, ArcRange row) {
  using Unsigned = std::make_unsigned_t<Vertex>;  // in which negative numbers are large
  Unsigned low = Unsigned(v);
  if (row.begin < row.end) [[likely]] {
    low = std::min(low, Unsigned(rows.target(row.begin)));
    low = std::min(low, Unsigned(rows.target(row.end - 1)));
  }
  return int64_t(low);
}

// Unites v, whose parent has just been `root`, with the ends below `bound` of a piece of its row.
template <class Pointer, class Vertex, class Index>
void unite_row(
    const Rows<Pointer, Vertex> rows, Index* parent, int64_t v, Index root, int64_t bound, ArcRange piece) {
  constexpr int kArcs = 4;
  const int64_t end = piece.end;
  for (int64_t begin = piece.begin; begin < end; begin += kArcs) {
    poll(kArcs);
    Index differ = 0;
    for (int k = 0; k < kArcs; ++k)  // the last arc again, where a row is shorter
      differ |= root ^ parent_of(parent, rows.target(std::min(begin + k, end - 1)), bound, v);
    if (!differ) continue;
    for (int k = 0; k < kArcs; ++k) {
      // Loaded again, and so checked again.
      const Vertex u = rows.target(std::min(begin + k, end - 1));
      const Index above = parent_of(parent, u, bound, v);
      if (above != root && is_vertex(u, bound))
        root = hook<Concurrent>(parent, root, find_from<Concurrent>(parent, Index(u), above));
    }
  }
}

// Points v to its root, which it returns, while others hook roots: no store to an entry that was a root.
template <class Index> Index shorten(Index* parent, int64_t v) {
  const Index above = Concurrent::load(parent + v);
  Index root = Concurrent::load(parent + above);
  if (root == above) return root;
  for (Index next; (next = Concurrent::load(parent + root)) != root;) root = next;
  Concurrent::store(parent + v, root);
  return root;
}

// A bit for each vertex, and one more. Threads set them at the same time.
class VertexBits {
 public:
  VertexBits() = default;
  explicit VertexBits(int64_t vertices) : words_(size_t(vertices / kWord + 1)) {}

  VertexBits copy() const {
    VertexBits copy(words() * kWord - 1);
    for (int64_t w = 0; w < words(); ++w) copy.put(w, word(w));
    return copy;
  }

  uint64_t* data() { return words_.data(); }
  int64_t words() const { return int64_t(words_.size()); }
  uint64_t word(int64_t w) const { return Concurrent::load(words_.data() + w); }
  bool has(int64_t v) const { return word(v / kWord) >> (v % kWord) & 1; }
  void set(int64_t v) { Concurrent::fetch_or(words_.data() + v / kWord, uint64_t(1) << (v % kWord)); }
  // Only one thread may add to a word.
  void add(int64_t w, uint64_t bits) { put(w, word(w) | bits); }
  void put(int64_t w, uint64_t bits) { Concurrent::store(words_.data() + w, bits); }
  uint64_t take(int64_t w) {
    const uint64_t bits = word(w);
    put(w, 0);
    return bits;
  }
  int64_t first() const {
    int64_t w = 0;
    while (word(w) == 0) ++w;
    return w * kWord + std::countr_zero(word(w));
  }

 private:
  std::vector<uint64_t> words_;
};

VertexBits members_of(int64_t root, const Integer auto* parent, int64_t vertices) {
  VertexBits members(vertices);
  for_each_index(members.words(), [&, parent](int64_t w) {
    const int64_t first = kWord * w, count = std::min<int64_t>(vertices - first, kWord);
    uint64_t bits = 0;
    for (int64_t k = 0; k < count; ++k) bits |= uint64_t(Concurrent::load(parent + first + k) == root) << k;
    members.add(w, bits);
  });
  return members;
}

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

}
