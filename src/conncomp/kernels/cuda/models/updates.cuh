// Which updates a launch makes, where it makes many, and the records of those that measure; and what blocks
// count that keep the spins of a lattice.
#pragma once

#include "cuda/models/spins.cuh"

namespace conncomp {

// Counters of replicas are so far from each other that waiting for one is not waiting for others.
constexpr int kCounterStride = 32;

// Laid out as in replicas.py.
struct Updates {
  int32_t count, every, before;  // each `every`-th measures; so many are made since the last one that did
  int64_t record_stride;         // from one record of all replicas to the next

  __device__ bool measures(int32_t update) const { return (update + before) % every == 0; }
  __device__ Records records_of(const Records& records, int32_t update) const {
    return {records.record + (update + before) / every * record_stride, records.length};
  }
};

// Counts the sites in each state, of words that have been dealt to threads.
template <class ForEachWord>
__device__ inline void add_states_of_words(const Lattice& lattice, const Bits64* spins, int64_t replica,
                                           const Records& records, ForEachWord&& for_each_word) {
  for (int state = 1; state < lattice.states; ++state) {
    int32_t count = 0;
    for_each_word([&](int32_t word) {
      Bits64 sites = ~Bits64(0);  // beyond a row are zeros, of which such a state has not all
      for (int k = 0; k < lattice.planes; ++k) {
        const Bits64 digits = spins[k * lattice.words() + word];
        sites &= state >> k & 1 ? digits : ~digits;
      }
      count += __popcll(sites);
    });
    count = warp_sum(count);
    if (lane() != 0) continue;
    records.add(replica, kCounts + state, count);
    records.add(replica, kCounts, -int64_t(count));
  }
}

}  // namespace conncomp
