// The domains of fields: components of cells above a threshold, and of others. mark_phases writes the former
// as bits; then bricks.cuh follows, from link_words on, with DomainSums, without labels or waiting for the
// host. Bytes a cell, of float32: four read, and bits.
#pragma once

#include "core/cahn_hilliard.h"
#include "cuda/models/bricks.cuh"

namespace conncomp {

constexpr int kWordsAtOnce = 4;  // of a warp, so that more loads are on their way

// A warp takes consecutive words, `columns` of which are a row of `length` cells.
template <class T>
__global__ void __launch_bounds__(kSpinThreads) mark_phases(int64_t words, int64_t columns, int64_t length,
    double threshold, const T* __restrict__ field, Bits64* __restrict__ phase) {
  const T level = T(threshold);
  for (int64_t first = grid_thread() / kWarp * kWordsAtOnce; first < words;
      first += grid_threads() / kWarp * kWordsAtOnce) {
    int64_t row = first / columns, column = first - row * columns;
    bool above[2 * kWordsAtOnce];
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int64_t x = column * kWordSites + half * kWarp + lane();
        above[2 * k + half] = first + k < words && x < length && field[row * length + x] > level;
      }
      if (++column == columns) column = 0, ++row;
    }
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const Bits low = __ballot_sync(kAllLanes, above[2 * k]),
                 high = __ballot_sync(kAllLanes, above[2 * k + 1]);
      if (lane() == k && first + k < words) phase[first + k] = low | high << kWarp;
    }
  }
}

// For each phase: number, largest, cells, sum of squares, and a histogram of sizes.
struct DomainSums : SizeClasses<kPhases * 64> {
  static constexpr bool kByPhase = true;
  static constexpr int kClasses = 64;
  int64_t domains[kPhases], largest[kPhases], cells[kPhases], squares[kPhases];

  void add(Bits64 size, bool above) {
    const int phase = above ? 0 : 1;
#pragma unroll
    for (int k = 0; k < kPhases; ++k) {  // so that all stay in registers
      if (k != phase) continue;
      ++domains[k];
      if (int64_t(size) > largest[k]) largest[k] = int64_t(size);
      cells[k] += int64_t(size);
      squares[k] += int64_t(size * size);
    }
    count(size, phase * kClasses);
  }
  bool any() const { return domains[0] + domains[1] != 0; }
  void add_block(const Records& records, int64_t replica) const {
    for (int k = 0; k < kPhases; ++k) {
      records.add_block(replica, kDomains + k, domains[k]);
      records.add_block(replica, kPhaseCells + k, cells[k]);
      records.add_block(replica, kDomainSquares + k, squares[k]);
      records.raise(replica, kLargestDomain + k, largest[k]);
    }
    __syncthreads();
    const int classes = int(records.length - kDomainClasses) / kPhases;
    for (int k = int(threadIdx.x); k < kPhases * classes; k += int(blockDim.x))
      records.add(replica, kDomainClasses + k, int64_t(counts[k / classes * kClasses + k % classes]));
  }
};

}
