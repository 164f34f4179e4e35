// Configurations of percolation as words of bits, drawn as on the CPU; bricks.cuh then measures clusters,
// from link_words on, with PercolationSums, without labels. A site: a bit for its word, one for the
// foreground and one for each axis of links, written and read; entries as of arrays.
#pragma once

#include "core/percolation.h"
#include "cuda/models/bricks.cuh"

namespace conncomp {

// Draws the words of each replica, plane by plane, and counts what is there, if there are records.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) draw_configurations(Replicas replicas, Bits64 probability,
    bool certain, bool of_bonds, Bits64* __restrict__ words, Records records) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int planes = of_bonds ? replicas.axes : 1;
  words = replicas.at_replica(words, planes * lattice.words());
  int64_t elements = 0;
  replicas.for_each_word([&](int64_t word) {
    const WordPlace place = place_of(lattice, word);
    for (int plane = 0; plane < planes; ++plane) {
      const int axis = of_bonds ? kLatticeAxes - planes + plane : 0;
      const Bits64 wanted =
          of_bonds ? next_sites(lattice, place, axis).sites : lattice.sites_of(place.column);
      const Bits64 there =
          certain ? wanted : bernoulli(draws, Bits64(word), axis, probability, wanted, kOccupied);
      words[plane * lattice.words() + word] = there;
      elements += __popcll(there);
    }
  });
  if (records.record != nullptr) records.add_block(replicas.replica(), kElements, elements);
}

// Number, largest, sum of squared sizes as limbs, and a histogram; a thread counts the many of one site
// itself.
struct PercolationSums : SizeClasses<kSizeClassCount> {
  static constexpr bool kByPhase = false;
  int64_t clusters, largest, squares[2], singles;

  void add(Bits64 size, bool) {
    ++clusters;
    if (int64_t(size) > largest) largest = int64_t(size);
    const Bits64 square = size * size;
    squares[0] += int64_t(square & 0xffffffffu);
    squares[1] += int64_t(square >> 32 | __umul64hi(size, size) << 32);
    if (size == 1)
      ++singles;
    else
      count(size);
  }
  bool any() const { return clusters != 0; }
  void add_block(const Records& records, int64_t replica) const {
    records.add_block(replica, kNumber, clusters);
    for (int k = 0; k < 2; ++k) records.add_block(replica, kSizeSquares + k, squares[k]);
    records.add_block(replica, kSizeClasses, singles);
    records.raise(replica, kLargestSize, largest);
    __syncthreads();
    for (int k = int(threadIdx.x); k < kSizeClassCount; k += int(blockDim.x))
      records.add(replica, kSizeClasses + k, int64_t(counts[k]));
  }
};

}
