// Kernel C: propagation along rows. Fills label[i] with the smallest index of i's component, or -1 for
// background. Every cell starts with its index (start_labels). A sweep has passes forward and backward along
// each axis, in which a thread carries the lowest label along a row of cells, as long as they are linked, and
// looks at cells of other rows that are neighbours of the cell it leaves (propagate_along). On a periodic
// axis, the first cell looks at the last. Sweeps go on until none changes. Cost: a pass reads values and
// labels once, and those of other rows where edges and corners connect; as many sweeps as a path has bends.
// Source: Hawick, Leist and Playne 2010, section 5.2.3 and Algorithm 7.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

constexpr int kRowThreads = 64;

// `__grid_constant__` spares each thread a copy of the grid, whose axes are indexed.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kRowThreads)
    propagate_along(const __grid_constant__ CellGrid<rank> grid, Rule rule, int32_t axis, int32_t direction,
        const typename Rule::Value* __restrict__ values, Index* labels, int64_t* last_change, int64_t sweep) {
  using Site = typename Rule::Site;
  const int64_t length = grid.axes[axis].length, rows = grid.cells() / length;
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for (int64_t row = grid_thread(); row < rows; row += grid_threads()) {
    Cell<rank, Index> cell = first_of_row<Index>(grid, axis, row);
    if (direction < 0) cell.move(grid, axis, Index(length - 1));
    Index index_behind = -1, label_behind = -1;
    Site site_behind{};
    for (int64_t n = 0; n < length; ++n) {
      if (n > 0) cell.move(grid, axis, Index(direction));
      const Site site = rule.site(values, cell.offset);
      const Index label = Concurrent::load(labels + cell.index);
      Index lowest = label;
      if (label >= 0)
        for_each_neighbour_along(grid, cell, axis, -direction, [&](const Neighbour<Index>& neighbour) {
          const bool behind = neighbour.index == index_behind;
          const Site neighbour_site = behind ? site_behind : rule.site(values, neighbour.offset);
          if (!rule.linked(values, site, neighbour_site, neighbour.axis, neighbour.forward)) return;
          lowest = lower_label(lowest, behind ? label_behind : Concurrent::load(labels + neighbour.index));
        });
      if (lowest < label) {
        Concurrent::store(labels + cell.index, lowest);
        changed = true;
      }
      index_behind = cell.index, label_behind = lowest, site_behind = site;
    }
  }
  report_changes(last_change, sweep, changed);
}

}
