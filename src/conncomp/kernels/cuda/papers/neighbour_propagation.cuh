// Kernel A: neighbour propagation. Fills label[i] with the smallest index of i's component, or -1 for
// background. Every cell starts with its index (start_labels) and takes the lowest label among linked
// neighbours, until none changes (propagate). Cost: a sweep reads the values and labels of all neighbours; as
// many sweeps as the longest shortest path. Source: Hawick, Leist and Playne 2010, section 5.2.1; shapes of
// blocks: Maddix 2014.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

// Only a cell's own thread writes its label, and only a lower one.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024)
    propagate(CellGrid<rank> grid, Rule rule, int32_t width, int32_t height,
        const typename Rule::Value* __restrict__ values, Index* labels, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for_each_cell<Index>(grid, width, height, [&](const Cell<rank, Index>& cell) {
    const Index label = Concurrent::load(labels + cell.index);
    if (label < 0) return;
    const Index lowest = lowest_around(grid, rule, values, labels, cell, label);
    if (lowest == label) return;
    Concurrent::store(labels + cell.index, lowest);
    changed = true;
  });
  report_changes(last_change, sweep, changed);
}

}
