// An array as tiles, a block each, and tiles as parts, a thread each.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

// Logarithms of a tile's parts by axis, known at a launch or compiled in; whether there may be items.
template <bool items> struct GivenLogs {
  static constexpr bool kItems = items;
  int32_t log[3];

  int operator[](int axis) const { return log[axis]; }
  int before(int axis) const { return (axis > 0 ? log[0] : 0) + (axis > 1 ? log[1] : 0); }
};
template <int log0, int log1, int log2> struct FixedLogs {
  static constexpr bool kItems = false;
  int32_t log[3];  // is not read

  constexpr int operator[](int axis) const { return axis == 0 ? log0 : axis == 1 ? log1 : log2; }
  constexpr int before(int axis) const { return (axis > 0 ? log0 : 0) + (axis > 1 ? log1 : 0); }
};

// A tile has 2^log[a] parts along axis a, from the last one on, each 2^part_log long; one element along axes
// beyond three. Tiles are in C order, item by item; kernels add item_of(tile) items to pointers. Layout:
// tiling.py.
template <int rank, int part_log, class Logs> struct Tiling {
  CellGrid<rank> grid;
  Logs log;

  static constexpr int kRank = rank;
  static constexpr int kAxes = rank < 3 ? rank : 3;
  using Step = StepCodes<kAxes>;  // within a tile

  const GridAxis& axis(int a) const { return grid.axes[rank - 1 - a]; }
  int log_parts() const { return log[0] + log[1] + log[2]; }
  int parts() const { return 1 << log_parts(); }
  int log_of(int k) const { return rank - 1 - k < kAxes ? log[rank - 1 - k] + part_log : 0; }
  uint32_t along(int k) const { return uint32_t((grid.axes[k].length - 1) >> log_of(k)) + 1; }

  uint32_t tiles_of_item() const {
    uint32_t tiles = 1;
    unrolled<rank>([&](int k) { tiles *= along(k); });
    return tiles;
  }
  bool has_items() const { return Logs::kItems && grid.items > 1; }
  int64_t item_of(uint32_t tile) const { return has_items() ? tile / tiles_of_item() : 0; }

  // Whether the rest of a number along an axis needs no division.
  static constexpr bool is_outermost(int k) { return k == 0 && !Logs::kItems; }
  bool begins_item(uint32_t tile) const { return has_items() ? tile % tiles_of_item() == 0 : tile == 0; }

  // Whether a step within a tile leads to a neighbour; and all that do, by code.
  bool has_step(int code) const {
    return grid.neighbours.has(StepCodes<rank>::kNoStep - Step::kNoStep + code);
  }
  uint32_t neighbours() const {
    constexpr int kFirst = StepCodes<rank>::kNoStep - Step::kNoStep,
                  kWords = (StepCodes<rank>::kSteps + 31) / 32;
    const uint32_t low = grid.neighbours.bits[kFirst / 32] >> kFirst % 32;
    constexpr int kNext = kFirst / 32 + 1 < kWords ? kFirst / 32 + 1 : 0;
    constexpr bool kSplit = kFirst % 32 + Step::kSteps > 32;
    const uint32_t bits = kSplit ? low | grid.neighbours.bits[kNext] << (32 - kFirst % 32) % 32 : low;
    return bits & ((1u << Step::kSteps) - 1);
  }

  template <class Index> Cell<rank, Index> corner_of(uint32_t tile) const {
    Cell<rank, Index> cell{};
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      const uint32_t count = along(k), at = is_outermost(k) ? tile : tile % count;
      cell.move(grid, k, Index(at) << log_of(k));
      tile /= count;
    }
    return cell;
  }
  uint32_t tile_of(const auto& cell) const {
    uint32_t tile = 0;
    unrolled<rank>([&](int k) { tile = tile * along(k) + uint32_t(cell.at[k] >> log_of(k)); });
    return tile;
  }

  // Whether a cell is in the array, whose end may cut off its tile.
  bool has(const auto& cell) const {
    bool inside = true;
    unrolled<rank>([&](int k) { inside &= cell.at[k] < grid.axes[k].length; });
    return inside;
  }

  // Parts of a tile are numbered as they lie there, from its corner.
  int log_before(int a) const { return log.before(a); }
  int place(int part, int a) const { return part >> log_before(a) & ((1 << log[a]) - 1); }
  template <class Index> Cell<rank, Index> first_of(Cell<rank, Index> corner, int part) const {
    unrolled<kAxes>([&](int a) { corner.move(grid, rank - 1 - a, Index(place(part, a)) << part_log); });
    return corner;
  }
};

}
