// Measures a replica for its record: the fields of core/spins.h.
#pragma once

#include <bit>
#include <vector>

#include "core/spins.h"

namespace conncomp {

// The clusters of a piece of work. Sizes are below 2^40.
struct ClusterTally : ClusterSums {
  ClusterTally() : ClusterSums{} {}

  void add(int64_t size) {
    if (size >= int64_t(1) << 16) return ClusterSums::add(Bits64(size));
    // Both powers fit into a word.
    ++clusters;
    if (size > largest) largest = size;
    const Bits64 square = Bits64(size) * Bits64(size), fourth = square * square;
    squares[0] += int64_t(square);
    fourths[0] += int64_t(fourth & 0xffffffff);
    fourths[1] += int64_t(fourth >> 32);
  }

  void add_to(int64_t* record) const {
    Concurrent::fetch_add(record + kClusters, clusters);
    Concurrent::fetch_max(record + kLargest, largest);
    for (int k = 0; k < kSquareLimbs; ++k) Concurrent::fetch_add(record + kSquares + k, squares[k]);
    for (int k = 0; k < kFourthLimbs; ++k) Concurrent::fetch_add(record + kFourths + k, fourths[k]);
  }
};

inline int64_t count_bits(const Bits64* words, int64_t count) {
  int64_t bits = 0;
  for (int64_t w = 0; w < count; ++w) bits += std::popcount(words[w]);
  return bits;
}

struct SpinTally {
  int64_t satisfied = 0, active = 0;
  std::vector<int64_t> counts;

  explicit SpinTally(const Lattice& lattice) : counts(lattice.states) {}

  void add_rows(const Lattice& lattice, const Bits64* spins, int64_t begin, int64_t end) {
    const int64_t columns = lattice.columns();
    if (lattice.planes == 1) {
      const int64_t ones = count_bits(spins + begin * columns, (end - begin) * columns);
      counts[0] += (end - begin) * lattice.length[kRowAxis] - ones;
      counts[1] += ones;
      return;
    }
    for (int64_t word = begin * columns; word < end * columns; ++word)
      add_states(spins + word, lattice.words(), lattice.sites_of(word % columns), lattice.planes - 1, 0);
  }

  void add_to(int64_t* record) const {
    Concurrent::fetch_add(record + kSatisfied, satisfied);
    Concurrent::fetch_add(record + kActive, active);
    for (size_t state = 0; state < counts.size(); ++state)
      Concurrent::fetch_add(record + kCounts + state, counts[state]);
  }

 private:
  // Counts sites by digits from `plane` down, `words` apart; skips values that are no state (changed spins).
  void add_states(const Bits64* digits, int64_t words, Bits64 sites, int plane, size_t state) {
    if (sites == 0 || state >= counts.size()) return;
    if (plane < 0) {
      counts[state] += std::popcount(sites);
      return;
    }
    const Bits64 digit = digits[plane * words];
    add_states(digits, words, sites & ~digit, plane - 1, state);
    add_states(digits, words, sites & digit, plane - 1, state | size_t(1) << plane);
  }
};

}
