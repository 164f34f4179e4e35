// Connected components of an array by propagation within blocks: Kernel B.
//
// What: fills label[i] with the smallest index of i's component, or -1 where there is background.
// How: every cell starts with its index (start_labels). A round takes the lowest label among a cell's
// neighbours of equal value, as Kernel A does, and then lets these labels propagate within a block of cells,
// in shared memory, until none there changes (propagate_in_blocks). Rounds go on until none changes at all.
// Blocks extend along the last two axes; which neighbours in the block a cell is connected to is found once
// a round and kept beside the labels, a bit each.
// Cost: a label goes about one block a round; each round reads the values and labels of all neighbours. No
// memory beyond the labels.
// Source: Hawick, Leist and Playne 2010, section 5.2.2 and Algorithm 6; the shapes of blocks and several
// cells a thread are after Maddix 2014.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

// The neighbours in the block that have the value of its cell at x, y: bit 3 * (dy + 1) + dx + 1 speaks of
// the one that is dx and dy further.
template <class Value, int rank, class Index>
__device__ inline uint16_t links_in_block(const Grid<rank>& grid, const BlockOfCells<rank, Index>& block,
                                          const Cell<rank, Index>& cell, int x, int y,
                                          const Value* __restrict__ values) {
  const Value* here = values + cell.offset;
  uint16_t links = 0;
#pragma unroll
  for (int bit = 0; bit < 9; ++bit) {
    const int dy = bit / 3 - 1, dx = bit % 3 - 1, moves = (dy != 0) + (dx != 0);
    const bool inside = x + dx >= 0 && x + dx < block.columns && y + dy >= 0 && y + dy < block.rows;
    if (moves == 0 || moves > grid.connectivity || !inside) continue;
    const int64_t further = dy * grid.axes[rank - 2].value_stride + dx * grid.axes[rank - 1].value_stride;
    links |= uint16_t((here[further] == here[0]) << bit);
  }
  return links;
}

// Shared memory: an Index and 16 bits for each cell of a block.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(1024)
    propagate_in_blocks(Grid<rank> grid, int32_t width, int32_t height, const Value* __restrict__ values,
                        Index* label, int64_t round, int64_t* last_change) {
  CONNCOMP_DYNAMIC_SHARED(Index, local);
  uint16_t* links = reinterpret_cast<uint16_t*>(local + width * height);
  bool changed = false;
  for_each_block<Index>(grid, width, height, [&](const BlockOfCells<rank, Index>& block) {
    block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>& cell, int x, int y) {
      const Index mine = Shared::load(label + cell.index);
      Index lowest = mine;
      if (mine >= 0)
        for_each_neighbour(grid, cell, [&](Index index, int64_t offset) {
          if (!(values[offset] == values[cell.offset])) return;
          const Index other = Shared::load(label + index);
          if (other < lowest) lowest = other;
        });
      changed |= lowest < mine;
      InBlock::store(local + y * width + x, lowest);
      links[y * width + x] = mine < 0 ? uint16_t(0) : links_in_block(grid, block, cell, x, y, values);
    });
    __syncthreads();
    bool lowered;
    do {
      lowered = false;
      block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>&, int x, int y) {
        Index* here = local + y * width + x;
        const Index mine = InBlock::load(here);
        Index lowest = mine;
        for (unsigned int rest = links[y * width + x]; rest != 0; rest &= rest - 1) {
          const int bit = __ffs(int(rest)) - 1;
          const Index other = InBlock::load(here + (bit / 3 - 1) * width + bit % 3 - 1);
          if (other < lowest) lowest = other;
        }
        if (lowest == mine) return;
        InBlock::store(here, lowest);
        lowered = true;
      });
    } while (__syncthreads_or(lowered));
    block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>& cell, int x, int y) {
      const Index lowest = InBlock::load(local + y * width + x);
      if (lowest < Shared::load(label + cell.index)) Shared::store(label + cell.index, lowest);
    });
  });
  report_change(changed, round, last_change);
}

}  // namespace conncomp
