// Kernel B: propagation within blocks. Fills label[i] with the smallest index of i's component, or -1 for
// background. Every cell starts with its index (start_labels). A sweep takes the lowest label among linked
// neighbours, as Kernel A, and lets labels propagate within a block of cells along the last two axes in
// shared memory, until none changes (propagate_in_blocks); links within the block are kept as bits. Cost: a
// label goes about one block a sweep; each reads the values and labels of all neighbours. Source: Hawick,
// Leist and Playne 2010, section 5.2.2 and Algorithm 6; shapes of blocks and several cells a thread: Maddix
// 2014.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

using PlaneSteps = StepCodes<2>;

// The neighbours in the block that the cell at x, y is linked to, by codes of PlaneSteps.
template <class Rule, int rank, class Index>
uint16_t links_in_block(const CellGrid<rank>& grid, const Rule& rule, const BlockOfCells<rank, Index>& block,
    const Cell<rank, Index>& cell, int x, int y, const typename Rule::Value* __restrict__ values) {
  const auto site = rule.site(values, cell.offset);
  uint16_t links = 0;
#pragma unroll
  for (int code = 0; code < PlaneSteps::kSteps; ++code) {
    const int dy = PlaneSteps::step(code, 1), dx = PlaneSteps::step(code, 0);
    const bool inside = x + dx >= 0 && x + dx < block.columns && y + dy >= 0 && y + dy < block.rows;
    if (!inside || !grid.neighbours.has(StepCodes<rank>::kNoStep - PlaneSteps::kNoStep + code)) continue;
    Neighbour<Index> neighbour{cell.index, cell.offset, dy != 0 ? 1 : 0, code > PlaneSteps::kNoStep};
    neighbour.offset += dy * grid.axes[rank - 2].value_stride + dx * grid.axes[rank - 1].value_stride;
    links |= uint16_t(linked_to(rule, values, site, neighbour) << code);
  }
  return links;
}

// Shared memory: an Index and 16 bits per cell of a block.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024)
    propagate_in_blocks(CellGrid<rank> grid, Rule rule, int32_t width, int32_t height,
        const typename Rule::Value* __restrict__ values, Index* labels, int64_t* last_change, int64_t sweep) {
  CONNCOMP_DYNAMIC_SHARED(Index, block_labels);
  uint16_t* links = reinterpret_cast<uint16_t*>(block_labels + width * height);
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for_each_block<Index>(grid, width, height, [&](const BlockOfCells<rank, Index>& block) {
    block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>& cell, int x, int y) {
      const Index label = Concurrent::load(labels + cell.index);
      const Index lowest = label < 0 ? label : lowest_around(grid, rule, values, labels, cell, label);
      changed |= lowest < label;
      InBlock::store(block_labels + y * width + x, lowest);
      links[y * width + x] = label < 0 ? uint16_t(0) : links_in_block(grid, rule, block, cell, x, y, values);
    });
    __syncthreads();
    sweep_in_block([&] {
      bool lowered = false;
      block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>&, int x, int y) {
        Index* place = block_labels + y * width + x;
        const Index label = InBlock::load(place);
        Index lowered_label = label;
        for (unsigned int codes = links[y * width + x]; codes != 0; codes &= codes - 1) {
          const int code = lowest(codes);
          const int distance = PlaneSteps::step(code, 1) * width + PlaneSteps::step(code, 0);
          lowered_label = lower_label(lowered_label, InBlock::load(place + distance));
        }
        if (lowered_label == label) return;
        InBlock::store(place, lowered_label);
        lowered = true;
      });
      return lowered;
    });
    block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>& cell, int x, int y) {
      const Index lowest = InBlock::load(block_labels + y * width + x);
      if (lowest < Concurrent::load(labels + cell.index)) Concurrent::store(labels + cell.index, lowest);
    });
  });
  report_changes(last_change, sweep, changed);
}

}
