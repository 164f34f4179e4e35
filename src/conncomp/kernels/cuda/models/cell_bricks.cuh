// The Ising model on cells whose bonds are steps of -1, 0 or 1 along each axis, such as triangular lattices,
// or honeycombs as walls of bricks. The word of bonds of a kind is then a word of links as tiled_bricks.cuh
// has them, of the site that the bond leads back from; kind 0, along the row, belongs to the site before. The
// stages after are those of bricks.cuh. Cost: a bit a site and kind is written and read twice. Source: ours.
#pragma once

#include "core/cell_lattice.h"
#include "cuda/models/bricks.cuh"

namespace conncomp {

// Draws the active bonds of all kinds, the axes of `replicas`, and counts them, satisfied ones and spins.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    draw_cell_words(Replicas replicas, CellLattice cells, const Bits64* __restrict__ spins,
                    const Bits64* __restrict__ probability, Bits64* __restrict__ bonds, Records records) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t replica = replicas.replica(), words = lattice.words();
  const Bits64 active_with = probability[replica];
  spins = replicas.at_replica(spins, words);
  bonds = replicas.at_replica(bonds, words * replicas.axes);
  int64_t satisfied = 0, active = 0, ones = 0, sites = 0;
  replicas.for_each_word_of_bonds([&](int64_t number, int kind) {
    CellWord word{place_of(lattice, number), 0};
    const Bits64 equal = satisfied_by(cells, spins, word, other_sites(cells, word, kind));
    const Bits64 drawn = bernoulli(draws, Bits64(number), kind, active_with, equal);
    satisfied += __popcll(equal);
    active += __popcll(drawn);
    bonds[kind * words + number] = drawn;
    if (kind != 0) return;
    ones += __popcll(spins[number]);
    sites += __popcll(lattice.sites_of(word.place.column));
  });
  if (records.record == nullptr) return;
  records.add_block(replica, kSatisfied, satisfied);
  records.add_block(replica, kActive, active);
  records.add_block(replica, kCounts, sites - ones);
  records.add_block(replica, kCounts + 1, ones);
}

// The kind of bonds that leads back along each step, by its code, or -1. Laid out as in cell_bricks.py.
struct KindsOfSteps {
  int32_t kind[13];
};

template <class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads)
    link_cells(Tiles tiles, Replicas replicas, const Bits64* __restrict__ words, KindsOfSteps kinds,
               BrickTable table) {
  const int64_t plane_words = replicas.lattice.words(), of_item = replicas.axes * plane_words;
  const auto link = [&](int64_t number, int64_t item, Bits inside, auto&& rows) {
    table.foreground[number] = inside;
    Bits* word = table.links + number;
#pragma unroll
    for (int step = 0; step < Tiles::B::kNoStep; ++step) {
      if (!tiles.has_step(step)) continue;
      const int kind = kinds.kind[step];
      const Bits64* const plane = words + item * of_item + kind * plane_words;
      Bits linked = 0;
      if (inside != 0) linked = kind == 0 ? rows.before_in_row(plane) : rows.bits_of(plane);
      *word = linked & inside;
      word += table.bricks;
    }
  };
  for_each_brick<Index>(tiles, replicas.lattice, table, link);
}

// Lets spins change where their cluster has a coin of 1, which `new_spins` has.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    change_spins(Replicas replicas, const Bits64* __restrict__ spins, Bits64* __restrict__ new_spins) {
  const int64_t words = replicas.lattice.words();
  spins = replicas.at_replica(spins, words);
  new_spins = replicas.at_replica(new_spins, words);
  replicas.for_each_word([&](int64_t word) { new_spins[word] ^= spins[word]; });
}

}  // namespace conncomp
