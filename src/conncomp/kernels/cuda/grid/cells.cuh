// The cells of an array, for kernels that give each cell to a thread. Neighbours are one step apart
// (core/neighbourhood.h), and a periodic axis closes on itself. Arrays come with 2, 3 or 6 axes, those ahead
// of length 1, so that loops are unrolled. A batch has several items of one shape, without links between.
#pragma once

#include "core/links.h"
#include "core/neighbourhood.h"
#include "cuda/core/sweeps.cuh"

namespace conncomp {

struct GridAxis {
  int64_t length;
  int64_t index_stride;  // in elements of the C-ordered array, which define indices
  int64_t value_stride;  // in elements of the caller's memory
  int64_t periodic;
};

// Layout: image.py.
template <int rank> struct CellGrid {
  GridAxis axes[rank];  // of an item
  int64_t items;
  int64_t item_stride;   // in elements of the caller's memory
  int64_t most_moves;    // along how many axes a step moves at most
  int64_t connectivity;  // the same, if the steps are all that move along so many axes; else 0
  Neighbourhood<rank> neighbours;

  int64_t cells_of_item() const { return axes[0].length * axes[0].index_stride; }
  int64_t cells() const { return items * cells_of_item(); }
};

template <int rank, class Index> struct Cell {
  Index at[rank];
  Index index;
  int64_t offset;  // of its value

  void move(const CellGrid<rank>& grid, int axis, Index steps) {
#pragma unroll
    for (int k = 0; k < rank; ++k)  // registers cannot be indexed
      if (k == axis) at[k] += steps;
    index += steps * Index(grid.axes[axis].index_stride);
    offset += steps * grid.axes[axis].value_stride;
  }
  void move_to_item(const CellGrid<rank>& grid, int64_t item) {
    index += Index(item * grid.cells_of_item());
    offset += item * grid.item_stride;
  }
};

// Moves a cell to the first of a row along an axis, rows counted in the array; returns the row's item.
template <class Index, int rank>
Index move_to_row(const CellGrid<rank>& grid, int along, int64_t row, Cell<rank, Index>& cell) {
  Index quotient = Index(row);  // there are no more rows than cells
#pragma unroll
  for (int k = rank - 1; k >= 0; --k) {
    if (k == along) continue;
    const Index length = Index(grid.axes[k].length);
    cell.move(grid, k, quotient % length);
    quotient /= length;
  }
  return quotient;
}
template <class Index, int rank>
Cell<rank, Index> first_of_row(const CellGrid<rank>& grid, int along, int64_t row) {
  Cell<rank, Index> cell{};
  cell.move_to_item(grid, move_to_row(grid, along, row, cell));
  return cell;
}

template <class Index> struct Neighbour {
  Index index;
  int64_t offset;  // of the value
  int axis;        // the first one that the step moves along, counted from the last one of the array
  bool forward;    // along it
};

// Visits the neighbours whose steps begin with those of `neighbour` along the axes before `axis`.
template <int axis, int rank, class Index>
void visit_neighbours(const CellGrid<rank>& grid, const Cell<rank, Index>& cell, int along, int direction,
    int moves, int code, Neighbour<Index> neighbour, auto&& body) {
  if constexpr (axis == rank) {
    if (moves > 0 && grid.neighbours.has(code)) body(neighbour);
  } else {
    const GridAxis& grid_axis = grid.axes[axis];
#pragma unroll(rank <= 3 ? 3 : 1)
    for (int step = -1; step <= 1; ++step) {
      if (axis == along && step != direction) continue;
      if (rank > 3 && step != 0 && moves == grid.most_moves) continue;
      Index to = cell.at[axis] + step;
      if (to < 0 || to >= grid_axis.length) {
        if (!grid_axis.periodic) continue;
        to = step < 0 ? Index(grid_axis.length - 1) : Index(0);
      }
      const Index moved = to - cell.at[axis];
      Neighbour<Index> next = neighbour;
      next.index += moved * Index(grid_axis.index_stride);
      next.offset += moved * grid_axis.value_stride;
      if (step != 0 && moves == 0) next.axis = rank - 1 - axis, next.forward = step > 0;
      visit_neighbours<axis + 1>(
          grid, cell, along, direction, moves + (step != 0), 3 * code + step + 1, next, body);
    }
  }
}

template <int rank, class Index>
void for_each_neighbour(const CellGrid<rank>& grid, const Cell<rank, Index>& cell, auto&& body) {
  visit_neighbours<0>(grid, cell, -1, 0, 0, 0, Neighbour<Index>{cell.index, cell.offset, 0, false}, body);
}

// Calls body(neighbour) for those that lie in `direction`, 1 or -1, along an axis.
template <int rank, class Index>
void for_each_neighbour_along(
    const CellGrid<rank>& grid, const Cell<rank, Index>& cell, int axis, int direction, auto&& body) {
  visit_neighbours<0>(
      grid, cell, axis, direction, 0, 0, Neighbour<Index>{cell.index, cell.offset, 0, false}, body);
}

// Whether a cell whose `site` has been read is linked to a neighbour; both are foreground.
template <class Rule, class Index>
bool linked_to(const Rule& rule, const typename Rule::Value* values, const typename Rule::Site& site,
    const Neighbour<Index>& neighbour) {
  return rule.linked(values, site, rule.site(values, neighbour.offset), neighbour.axis, neighbour.forward);
}

// A block of cells along the last two axes, which may end early at the border of the array.
template <int rank, class Index> struct BlockOfCells {
  Cell<rank, Index> first;
  int columns, rows;

  // Calls body(cell, x, y) for the cells of this thread: one, or several below each other.
  void for_each_of_thread(const CellGrid<rank>& grid, int width, auto&& body) const {
    const int x = int(threadIdx.x) % width;
    if (x >= columns) return;
    for (int y = int(threadIdx.x) / width; y < rows; y += int(blockDim.x) / width) {
      Cell<rank, Index> cell = first;
      cell.move(grid, rank - 2, Index(y));
      cell.move(grid, rank - 1, Index(x));
      body(cell, x, y);
    }
  }
};

// Calls body(first cell) for this block's parts of an array, side(k) cells long along each axis.
template <class Index, int rank> void for_each_part(const CellGrid<rank>& grid, auto&& side, auto&& body) {
  int64_t lengths[rank], parts = grid.items;
  for (int k = 0; k < rank; ++k) {
    lengths[k] = (grid.axes[k].length + side(k) - 1) / side(k);
    parts *= lengths[k];
  }
  for (int64_t number = blockIdx.x; number < parts; number += gridDim.x) {
    Cell<rank, Index> first{};
    int64_t quotient = number;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      first.move(grid, k, Index(quotient % lengths[k] * side(k)));
      quotient /= lengths[k];
    }
    first.move_to_item(grid, quotient);
    body(first);
  }
}

// Calls body(block of cells) for those of this block of threads.
template <class Index, int rank>
void for_each_block(const CellGrid<rank>& grid, int width, int height, auto&& body) {
  const auto side = [=](int k) { return k == rank - 1 ? width : k == rank - 2 ? height : 1; };
  for_each_part<Index>(grid, side, [&](const Cell<rank, Index>& first) {
    BlockOfCells<rank, Index> block{first, 0, 0};
    const int64_t columns = grid.axes[rank - 1].length - block.first.at[rank - 1];
    const int64_t rows = grid.axes[rank - 2].length - block.first.at[rank - 2];
    block.columns = int(columns < width ? columns : width);
    block.rows = int(rows < height ? rows : height);
    body(block);
  });
}

template <class Index, int rank>
void for_each_cell(const CellGrid<rank>& grid, int width, int height, auto&& body) {
  for_each_block<Index>(grid, width, height, [&](const BlockOfCells<rank, Index>& block) {
    block.for_each_of_thread(grid, width, [&](const Cell<rank, Index>& cell, int, int) { body(cell); });
  });
}

// Gives every cell its index as a label, or -1 for background; sweeps may follow.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024)
    start_labels(CellGrid<rank> grid, Rule rule, int32_t width, int32_t height,
        const typename Rule::Value* __restrict__ values, Index* __restrict__ label, int64_t* last_change) {
  for_each_cell<Index>(grid, width, height, [&](const Cell<rank, Index>& cell) {
    label[cell.index] = rule.is_background(rule.site(values, cell.offset)) ? Index(-1) : cell.index;
  });
  if (grid_thread() == 0) start_sweeps(last_change);
}

// The lower of two labels; background, -1, which changing values may bring, is the highest.
template <class Index> Index lower_label(Index a, Index b) {
  const bool first = sizeof(Index) == 4 ? uint32_t(a) < uint32_t(b) : uint64_t(a) < uint64_t(b);
  return first ? a : b;
}

// The lowest of a cell's label, which is no background, and those of the neighbours that it is linked to.
template <class Rule, int rank, class Index>
Index lowest_around(const CellGrid<rank>& grid, const Rule& rule, const typename Rule::Value* values,
    const Index* labels, const Cell<rank, Index>& cell, Index label) {
  const auto site = rule.site(values, cell.offset);
  for_each_neighbour(grid, cell, [&](const Neighbour<Index>& neighbour) {
    if (linked_to(rule, values, site, neighbour))
      label = lower_label(label, Concurrent::load(labels + neighbour.index));
  });
  return label;
}

}
