// The Ising model on cells whose bonds are steps of -1, 0 or 1 along each axis, such as triangular lattices,
// or honeycombs as walls of bricks. A kind's word of bonds is then a word of links (tiled_bricks.cuh), of the
// site that the bond leads back from; kind 0, along the row, belongs to the site before. Then follow the
// stages of bricks.cuh. Cost: a bit a site and kind is written and read twice. Source: ours.
#pragma once

#include "cuda/models/bricks.cuh"

namespace conncomp {

// The kind of bonds that leads back along each step, by its code, or -1. Layout: cell_spins.py.
struct KindsOfSteps {
  int32_t kind[13];
};

template <class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads) link_cells(
    Tiles tiles, Replicas replicas, const Bits64* __restrict__ words, KindsOfSteps kinds, BrickTable table) {
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

}
