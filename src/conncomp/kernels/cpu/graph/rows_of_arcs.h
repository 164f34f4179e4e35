// Compressed sparse rows of a list of arcs, by all threads: a counting sort for each range of vertices whose
// rows fit into a cache. Where neighbouring arcs have near sources, as mostly, each range notes the blocks
// with its sources; else each thread first moves the arcs of its part to their ranges. Cost: each arc read
// twice, moved at most once (4 bytes and a target each), and written once, in streams.
#pragma once

#include "core/key_hash.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Fills `indptr` if the sources never decrease; returns whether they do. Mostly a few show that they do not.
bool find_rows(const Integer auto* src, int64_t arcs, int64_t vertices, int64_t* indptr) {
  constexpr int64_t kSamples = 64;
  const auto sample = [=](int64_t k) { return Concurrent::load(src + (arcs - 1) / kSamples * k); };
  for (int64_t k = 1; k <= kSamples && arcs > 0; ++k)
    if (sample(k) < sample(k - 1)) return false;
  const Parts parts(arcs, kGrain);
  std::atomic<bool> sorted{true};
  parallel_for(parts.parts, [&](int64_t part) {
    constexpr int64_t kBlock = 512;
    const int64_t begin = parts.begin(part), end = parts.end(part);
    int64_t row = begin > 0 ? std::clamp<int64_t>(Concurrent::load(src + begin - 1), -1, vertices) : -1;
    for (int64_t i = begin; i < end && sorted; i += kBlock) {
      bool rises = true;
      for_each_in(i, std::min(i + kBlock, end), [&](int64_t arc) {
        const int64_t source = Concurrent::load(src + arc);
        rises &= source >= row && is_vertex(source, vertices);
        for (; rises && row < source; ++row) Concurrent::store(indptr + row + 1, arc);
      });
      if (!rises) sorted = false;
    }
    if (part + 1 == parts.parts && sorted)
      for_each_in(row + 1, vertices + 1, [=](int64_t v) { indptr[v] = arcs; });
  });
  return sorted;
}

template <class Vertex> class RowsOfArcs {
 public:
  RowsOfArcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices)
      : src_(src), dst_(dst), arcs_(arcs), vertices_(vertices), parts_(arcs, kGrain) {
    parts_.at_most(num_threads());
    bits_ = std::max<int>(std::bit_width(uint64_t(vertices) / kRanges), kFewestBits);
    ranges_ = (vertices >> bits_) + 1;
  }

  // `indptr` has an entry more than there are vertices.
  void fill(int64_t* indptr, Vertex* indices) const {
    const bool local = are_local(src_, arcs_, vertices_);
    // Alone, one step does where the written rows fit into a cache.
    if (parts_.parts == 1 && (local || vertices_ < kRanges << kFewestBits)) {
      group_by_key(
          arcs_, vertices_, [this](int64_t i) { return Concurrent::load(src_ + i); },
          [this](int64_t i) { return Concurrent::load(dst_ + i); }, indptr, indices, arcs_);
      return;
    }
    if (local && fill_from_blocks(indptr, indices)) return;
    std::vector<int64_t> begin(ranges_ * parts_.parts + 1);  // of the arcs of each range in each part
    parallel_for(parts_.parts, [&](int64_t part) { count(part, begin.data() + 1); });
    for (size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    Buffer<Moved> moved(arcs_);
    take_pages(moved.data(), arcs_);
    parallel_for(parts_.parts, [&](int64_t part) { move(part, begin.data(), moved.data()); });
    parallel_for(ranges_, [&](int64_t range) {
      sort(range, begin[range * parts_.parts], begin[(range + 1) * parts_.parts], moved.data(), indptr,
          indices);
    });
    indptr[vertices_] = begin.back();
  }

 private:
  static constexpr int64_t kRanges = 512;
  static constexpr int kFewestBits = kAlwaysHelped ? 4 : 10;  // few where small inputs come in many parts

  // Arcs of a block; there are many blocks for each range, as those on its borders are gone through twice.
  static constexpr int64_t kBlock = kAlwaysHelped ? 4 : 1024;
  static constexpr int kBlockBits = kAlwaysHelped ? 4 : 13;  // of the vertices in a range

  struct Moved {
    uint32_t row;
    Vertex target;
  };

  struct Range {
    int64_t first, rows;
  };
  Range range_at(int64_t range) const {
    const int64_t first = range << kBlockBits;
    return {first, std::min(vertices_ - first, int64_t(1) << kBlockBits)};
  }

  // Calls body(row, arc) for the arcs of a block whose sources are in a range.
  void for_each_in_block(int64_t block, Range range, auto body) const {
    const Vertex* const src = src_;
    poll(kBlock);
    const int64_t end = std::min((block + 1) * kBlock, arcs_);
    for (int64_t i = block * kBlock; i < end; ++i)
      if (const uint64_t row = uint64_t(Concurrent::load(src + i)) - uint64_t(range.first);
          row < uint64_t(range.rows))
        body(int64_t(row), i);
  }

  std::pair<int64_t, int64_t> ranges_of(int64_t block) const {
    const Vertex* const begin = src_ + block * kBlock;
    Vertex low = *begin, high = low;
    for (int64_t i = 1, count = std::min(kBlock, arcs_ - block * kBlock); i < count; ++i) {
      const Vertex v = begin[i];  // read once, as many at a time as a register holds
      low = std::min(low, v), high = std::max(high, v);
    }
    const auto range = [this](int64_t v) { return std::clamp<int64_t>(v, 0, vertices_ - 1) >> kBlockBits; };
    return {range(low), range(high)};
  }

  bool fill_from_blocks(int64_t* indptr, Vertex* indices) const {
    const int64_t blocks = (arcs_ + kBlock - 1) / kBlock, ranges = ((vertices_ - 1) >> kBlockBits) + 1;
    std::vector<std::pair<int64_t, int64_t>> ranges_of_block(blocks);
    for_each_index(blocks, [&](int64_t block) { ranges_of_block[block] = ranges_of(block); }, kBlock);
    int64_t visits = 0;
    for (const auto& [low, high] : ranges_of_block) visits += high - low + 1;
    if (visits > 2 * blocks + ranges) return false;
    // The blocks of each range, and the start of its arcs.
    std::vector<int64_t> begin(ranges + 2), block_of(visits), first(ranges + 1);
    for (const auto& [low, high] : ranges_of_block)
      for (int64_t range = low; range <= high; ++range) ++begin[range + 2];
    for (int64_t range = 0; range < ranges; ++range) begin[range + 2] += begin[range + 1];
    for (int64_t block = 0; block < blocks; ++block)
      for (auto [range, high] = ranges_of_block[block]; range <= high; ++range)
        block_of[begin[range + 1]++] = block;
    parallel_for(ranges, [&](int64_t range) {
      int64_t count = 0;
      for (int64_t k = begin[range]; k < begin[range + 1]; ++k) {
        const auto [low, high] = ranges_of_block[block_of[k]];
        if (low == high)
          count += std::min(kBlock, arcs_ - block_of[k] * kBlock);
        else
          for_each_in_block(block_of[k], range_at(range), [&count](int64_t, int64_t) { ++count; });
      }
      first[range + 1] = count;
    });
    for (int64_t range = 0; range < ranges; ++range)
      first[range + 1] = std::min(first[range] + first[range + 1], arcs_);
    parallel_for(ranges, [&](int64_t range) {
      const Range vertices = range_at(range);
      const int64_t end = first[range + 1];
      std::vector<int64_t> next(vertices.rows);
      for (int64_t k = begin[range]; k < begin[range + 1]; ++k)
        for_each_in_block(block_of[k], vertices, [next = next.data()](int64_t row, int64_t) { ++next[row]; });
      // Sources that change meanwhile are left out where there is no room.
      for (int64_t row = 0, sum = first[range]; row < vertices.rows; ++row) {
        indptr[vertices.first + row] = sum;
        sum = std::min(sum + std::exchange(next[row], sum), end);
      }
      for (int64_t k = begin[range]; k < begin[range + 1]; ++k)
        for_each_in_block(block_of[k], vertices, [=, dst = dst_, next = next.data()](int64_t row, int64_t i) {
          if (next[row] < end) indices[next[row]++] = Concurrent::load(dst + i);
        });
    });
    indptr[vertices_] = first[ranges];
    return true;
  }

  void count(int64_t part, int64_t* counts) const {
    std::vector<int64_t> of_range(ranges_);
    for_each_in(parts_.begin(part), parts_.end(part), [&, this](int64_t i) {
      if (const Vertex v = Concurrent::load(src_ + i); is_vertex(v, vertices_)) ++of_range[v >> bits_];
    });
    for (int64_t range = 0; range < ranges_; ++range) counts[range * parts_.parts + part] = of_range[range];
  }

  // Moves a part's arcs to their ranges; sources that changed are left out without room.
  void move(int64_t part, const int64_t* begin, Moved* moved) const {
    std::vector<std::pair<int64_t, int64_t>> room(ranges_);
    for (int64_t range = 0; range < ranges_; ++range) {
      const int64_t* const first = begin + range * parts_.parts + part;
      room[range] = {first[0], first[1]};
    }
    const uint32_t in_range = (uint32_t(1) << bits_) - 1;
    for_each_in(parts_.begin(part), parts_.end(part), [&, this](int64_t i) {
      const Vertex v = Concurrent::load(src_ + i);
      if (!is_vertex(v, vertices_)) return;
      auto& [next, end] = room[v >> bits_];
      if (next < end) moved[next++] = {uint32_t(v) & in_range, Concurrent::load(dst_ + i)};
    });
  }

  void sort(
      int64_t range, int64_t begin, int64_t end, const Moved* moved, int64_t* indptr, Vertex* indices) const {
    const int64_t first = range << bits_, rows = std::min(vertices_ - first, int64_t(1) << bits_);
    std::vector<int64_t> next(size_t(1) << bits_);
    for_each_in(begin, end, [&](int64_t i) { ++next[moved[i].row]; });
    for_each_in(0, rows, [&, sum = begin](int64_t row) mutable {
      indptr[first + row] = sum;
      sum += std::exchange(next[row], sum);
    });
    for_each_in(begin, end, [&](int64_t i) { indices[next[moved[i].row]++] = moved[i].target; });
  }

  const Vertex *const src_, *const dst_;
  const int64_t arcs_, vertices_;
  Parts parts_;
  int bits_;
  int64_t ranges_;
};

// Whether every arc is listed from both ends, equally often: a pass adds a 64-bit hash of (u, v) for every
// arc u -> v with u < v and subtracts it for v -> u: zero if so, otherwise with a chance of 2^-64. The key is
// drawn, so that no file can fake it. A sort would take several times as long as the components.
bool is_mirrored(const auto rows, uint64_t key) {
  return sum_over(rows.vertices, [=](int64_t u) {
    uint64_t sum = 0;
    rows.for_each_neighbour(u, [&](int64_t v) {
      if (u < v) sum += mix(mix(uint64_t(u) ^ key) + uint64_t(v));
      if (u > v) sum -= mix(mix(uint64_t(v) ^ key) + uint64_t(u));
    });
    return sum;
  }) == 0;
}

// Numbers the vertices that have arcs 0, 1, ... in place; returns their old numbers, ascending.
template <class Vertex>
std::vector<int64_t> compact_ids(Vertex* src, Vertex* dst, int64_t arcs, int64_t vertices) {
  std::vector<uint64_t> words(vertices / kWord + 1);
  std::vector<int64_t> rank(words.size());
  const auto mark = [&](Vertex v) {
    const uint64_t bit = uint64_t(1) << (v % kWord);
    if (!(Concurrent::load(&words[v / kWord]) & bit)) Concurrent::fetch_or(&words[v / kWord], bit);
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

}
