// Stage 0, where not all equal neighbours of a connectivity are linked: links as words of bits.
//
// A thread takes an element and asks the rule for its links along the backward steps to neighbours, one after
// the other; a warp's answers are half a word of its brick, by ballot. So any rule and any neighbourhood
// become the same thing for the stages after: a word for each brick and step. For example, the bonds of a
// lattice of 8 x 8 sites are two words, of the steps up and left.
// Cost: values are read once for each step, by threads beside each other; a word is written for each brick
// and step.
#pragma once

#include "cuda/grid/brick_tiles.cuh"

namespace conncomp {

constexpr int kLinkThreads = 256;

template <class Rule, class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads)
    link_bricks(Tiles tiles, Rule rule, const typename Rule::Value* __restrict__ values, BrickTable table) {
  using B = typename Tiles::B;
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes;
  static_assert(rank == kAxes, "all neighbours are at steps within bricks or to bricks beside");
  const int64_t elements = table.bricks * kBits;
  for (int64_t k = grid_thread(); k < elements; k += grid_threads()) {
    const int64_t number = k / kBits;
    const int bit = int(k % kBits);
    const uint32_t tile = uint32_t(number >> tiles.log_parts());
    Cell<rank, Index> cell =
        tiles.first_of(tiles.template corner_of<Index>(tile), int(number & (tiles.parts() - 1)));
#pragma unroll
    for (int a = 0; a < kAxes; ++a) cell.move(tiles.grid, rank - 1 - a, Index(B::coordinate(bit, a)));
    cell.offset += tiles.item_of(tile) * tiles.grid.item_stride;
    const bool inside = tiles.has(cell);
    typename Rule::Site site{};
    if (inside) site = rule.site(values, cell.offset);
    const bool foreground = inside && !rule.is_background(site);

    const auto write = [&](Bits* words, bool bit_is_set) {
      const uint32_t half = __ballot_sync(kAllLanes, bit_is_set);
      if (lane() == 0) reinterpret_cast<uint32_t*>(words + number)[bit / kWarp] = half;
    };
    write(table.foreground, foreground);
    Bits* words = table.links;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step) {
      if (!tiles.has_step(step)) continue;
      int64_t offset = cell.offset;
      bool exists = foreground;
      int axis = 0;
#pragma unroll
      for (int a = 0; a < kAxes; ++a) {
        const int by = B::step(step, a);
        if (by == 0) continue;
        axis = a;
        const GridAxis& grid_axis = tiles.axis(a);
        int64_t to = int64_t(cell.at[rank - 1 - a]) + by;
        if (to < 0 || to >= grid_axis.length) {
          exists &= bool(grid_axis.periodic);
          to = to < 0 ? grid_axis.length - 1 : 0;
        }
        offset += (to - cell.at[rank - 1 - a]) * grid_axis.value_stride;
      }
      const bool linked = exists && rule.linked(values, site, rule.site(values, offset), axis, false);
      write(words, linked);
      words += table.bricks;
    }
  }
}

}  // namespace conncomp
