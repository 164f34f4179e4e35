// One Euler step of the equation of Cahn and Hilliard from one array to another, in two or three dimensions,
// by the scheme of core/cahn_hilliard.h. A thread owns kWidth columns, one load of 16 bytes, and marches
// along the first axis through `run` layers. Its registers hold the field of a few layers, one loaded ahead,
// and potentials of three layers of its columns and one more on either side, so that along a row no thread
// waits. With three axes, potentials of neighbouring rows come through shared memory; a block's first and
// last row only compute theirs. Cost: the field is read about once from main memory and written once;
// potentials are computed (kWidth + 2)/kWidth * (run + 2)/run times; noise draws a Philox block per four
// cells and axis, and one more.
#pragma once

#include "core/cahn_hilliard.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

// Along lines, and where rows exchange potentials.
constexpr int kFieldThreads = 128, kPlaneThreads = 256;
// Two-dimensional float32 without noise leaves registers for more layers on their way, and blocks.
template <class T, int kAxes, bool kNoise> constexpr bool kSlim = sizeof(T) == 4 && kAxes == 2 && !kNoise;
template <class T, int kAxes, bool kNoise> constexpr int kLayersAhead = kSlim<T, kAxes, kNoise> ? 2 : 1;
template <class T, bool kNoise> constexpr int kLineBlocks = kSlim<T, 2, kNoise> ? 5 : 4;
constexpr int kPlaneBlocks = 2;

// What kernels work on. Layout: cahn_hilliard.py.
struct Fields {
  FieldShape shape;
  int64_t replicas;
  int64_t groups;     // of kWidth columns
  int64_t run, runs;  // layers that a thread marches through, and how many such runs there are
  int64_t lanes;      // groups of a row of a block, and
  int64_t row_tiles;  // blocks along the rows, with three axes
  Bits64 seed, first;
  double cubic, linear, gradient, flux;
  Bits32 step;

  template <class T> FieldCoefficients<T> coefficients() const {
    return {T(cubic), T(linear), T(gradient), T(flux)};
  }
  Draws draws(int64_t replica) const { return {seed, Bits64(first + replica), step}; }
};

template <class T, int kCount> struct __align__(kCount * sizeof(T)) Pack {
  T value[kCount];
};

// The cells of a thread in a row, from two before the first to two after the last.
template <class T, int kWidth> struct Cells {
  T value[kWidth + 4];

  T& operator[](int k) { return value[k + 2]; }
  T operator[](int k) const { return value[k + 2]; }
};

template <int kWidth> struct CellColumns {
  int64_t middle, left, right;  // columns, of which `left` and `right` begin a pair

  CellColumns(int64_t first, int64_t columns)
      : middle(first),
        left(first == 0 ? columns - 2 : first - 2),
        right(first + kWidth == columns ? 0 : first + kWidth) {}

  template <class T> Cells<T, kWidth> load(const T* row) const {
    Cells<T, kWidth> cells;
    const auto mid = *reinterpret_cast<const Pack<T, kWidth>*>(row + middle);
    const auto before = *reinterpret_cast<const Pack<T, 2>*>(row + left);
    const auto after = *reinterpret_cast<const Pack<T, 2>*>(row + right);
    for (int k = 0; k < kWidth; ++k) cells[k] = mid.value[k];
    for (int k = 0; k < 2; ++k) {
      cells[k - 2] = before.value[k];
      cells[kWidth + k] = after.value[k];
    }
    return cells;
  }
  template <class T> void store(T* row, const Pack<T, kWidth>& cells) const {
    *reinterpret_cast<Pack<T, kWidth>*>(row + middle) = cells;
  }
};
// Rows of any length.
template <> struct CellColumns<1> {
  int64_t column[5];

  CellColumns(int64_t first, int64_t columns) {
    for (int k = 0; k < 5; ++k) {
      const int64_t x = first + k - 2;
      column[k] = x < 0 ? x + columns : x < columns ? x : x - columns;
    }
  }
  template <class T> Cells<T, 1> load(const T* row) const {
    Cells<T, 1> cells;
    for (int k = 0; k < 5; ++k) cells.value[k] = row[column[k]];
    return cells;
  }
  template <class T> void store(T* row, const Pack<T, 1>& cells) const { row[column[2]] = cells.value[0]; }
};

inline int64_t wrapped(int64_t at, int64_t length) {
  return at < 0 ? at + length : at < length ? at : at - length;
}

// The random fluxes from the cells of a thread, of a row of the replica, along an axis.
template <class T, int kWidth>
void draw_fluxes(const Draws& draws, const FieldShape& shape, T by, int64_t row, int64_t first, int axis,
    T (&flux)[kWidth]) {
  const PhiloxBlock block = draws(kFaceFlux, row * shape.quads() + first / kQuad, axis);
  for (int k = 0; k < kWidth; ++k) {
    // Without an index that only a run tells, which would put the block into memory.
    Bits32 word = block.word[k];
    for (int at = k + kWidth; at < kQuad; at += kWidth)
      if (first % kQuad + k == at) word = block.word[at];
    flux[k] = by * T(odd_integer(word));
  }
}

// A thread's layers around z, the one that it writes next; a step shifts all by a layer. A value is used
// kAhead steps after it was loaded.
//
//   layers       z - 1      z          z + 1     z + 2     ...  z + 2 + kAhead
//   values                  middle     after     queue[0]  ...  queue[kAhead]
//   potentials   nu_before  nu_middle  nu_after
template <class T, int kWidth, int kAhead> struct LayerWindow {
  Cells<T, kWidth> middle, after, queue[kAhead + 1];
  T nu_before[kWidth], nu_middle[kWidth + 2], nu_after[kWidth + 2];  // the latter with the sides

  void shift_values() {
    middle = after;
    after = queue[0];
    for (int k = 0; k < kAhead; ++k) queue[k] = queue[k + 1];
  }
  void shift_potentials() {
    for (int k = 0; k < kWidth; ++k) nu_before[k] = nu_middle[k + 1];
    for (int k = 0; k < kWidth + 2; ++k) nu_middle[k] = nu_after[k];
  }
};

// Where a thread marches, from a column and a layer on; its place in the block, and whether it writes.
struct LayerPath {
  int64_t first, row, begin;
  bool owns;
  int lane_row, lane;
};

template <class T, int kAxes, int kWidth, bool kNoise>
void march(const Fields& fields, const Draws& draws, const LayerPath& path, T* exchange,
    const T* __restrict__ field, T* __restrict__ next) {
  const int64_t first = path.first, row = path.row, begin = path.begin;
  const FieldShape& shape = fields.shape;
  const FieldCoefficients<T> by = fields.coefficients<T>();
  const CellColumns<kWidth> columns(first, shape.columns);
  const int64_t front = wrapped(row - 1, shape.rows), back = wrapped(row + 1, shape.rows);
  const int64_t end = begin + fields.run < shape.layers ? begin + fields.run : shape.layers;
  const auto row_at = [&](int64_t layer, int64_t y) { return (layer * shape.rows + y) * shape.columns; };
  const auto load = [&](int64_t layer, int64_t y) { return columns.load(field + row_at(layer, y)); };
  // With three axes: potentials of a block's layer, one buffer being read while the other is written.
  const int64_t plane = int64_t(kPlaneThreads) * kWidth;
  const auto exchanged = [&](int64_t layer, int y) {
    return exchange + ((layer - begin) & 1) * plane + (int64_t(y) * fields.lanes + path.lane) * kWidth;
  };

  T flux_before[kWidth] = {};
  if (kNoise && path.owns) {
    const int64_t layer = wrapped(begin - 1, shape.layers);
    draw_fluxes(draws, shape, by.flux, layer * shape.rows + row, first, kAxes - 1, flux_before);
  }
  constexpr int kAhead = kLayersAhead<T, kAxes, kNoise>;
  const auto next_of = [&](int64_t layer) { return layer + 1 == shape.layers ? 0 : layer + 1; };
  int64_t ahead = wrapped(begin - 1, shape.layers), furthest = next_of(ahead);
  LayerWindow<T, kWidth, kAhead> window;
  const auto& [middle, after, queue, nu_before, nu_middle, nu_after] = window;
  window.middle = load(wrapped(begin - 2, shape.layers), row);
  window.after = load(ahead, row);
  for (int k = 0; k < kAhead; ++k, furthest = next_of(furthest)) window.queue[k] = load(furthest, row);
  for (int k = 0; k < kWidth + 2; ++k) window.nu_middle[k] = window.nu_after[k] = 0;
#pragma unroll 4
  for (int64_t z = begin - 2; z < end; ++z) {
    window.queue[kAhead] = load(furthest, row);
    window.shift_potentials();
    Cells<T, kWidth> to_front, to_back;
    if constexpr (kAxes == 3) {
      to_front = load(ahead, front);
      to_back = load(ahead, back);
    }
    for (int k = -1; k < kWidth + 1; ++k) {
      T sum = after[k - 1] + after[k + 1];
      if constexpr (kAxes == 3) sum = sum + (to_front[k] + to_back[k]);
      window.nu_after[k + 1] = scaled_potential<kAxes>(by, after[k], sum + (middle[k] + queue[0][k]));
    }
    if constexpr (kAxes == 3) {
      for (int k = 0; k < kWidth; ++k) exchanged(z + 1, path.lane_row)[k] = nu_after[k + 1];
    }
    if (z >= begin && path.owns) {
      const int64_t line = z * shape.rows + row;
      Pack<T, kWidth> result;
      T flux[kWidth], to_side[kWidth], before_side[kWidth], flux_after[kWidth];
      T first_flux = 0;
      if constexpr (kNoise) {
        draw_fluxes(draws, shape, by.flux, line, first, 0, flux);
        T of_left[1];
        draw_fluxes(draws, shape, by.flux, line, wrapped(first - 1, shape.columns), 0, of_left);
        first_flux = of_left[0];
        if constexpr (kAxes == 3) {
          draw_fluxes(draws, shape, by.flux, line, first, 1, to_side);
          draw_fluxes(draws, shape, by.flux, z * shape.rows + front, first, 1, before_side);
        }
        draw_fluxes(draws, shape, by.flux, line, first, kAxes - 1, flux_after);
      }
      for (int k = 0; k < kWidth; ++k) {
        T sum = nu_middle[k] + nu_middle[k + 2];
        if constexpr (kAxes == 3)
          sum = sum + (exchanged(z, path.lane_row - 1)[k] + exchanged(z, path.lane_row + 1)[k]);
        sum = sum + (nu_before[k] + nu_after[k + 1]);
        if constexpr (kNoise) {
          T divergence = (k == 0 ? first_flux : flux[k - 1]) - flux[k];
          if constexpr (kAxes == 3) divergence = divergence + (before_side[k] - to_side[k]);
          divergence = divergence + (flux_before[k] - flux_after[k]);
          flux_before[k] = flux_after[k];
          result.value[k] = advanced<kAxes>(middle[k], nu_middle[k + 1], sum, divergence);
        } else {
          result.value[k] = advanced<kAxes>(middle[k], nu_middle[k + 1], sum);
        }
      }
      columns.store(next + row_at(z, row), result);
    }
    if constexpr (kAxes == 3) __syncthreads();  // the layer z was read, that of z + 1 is written
    window.shift_values();
    ahead = next_of(ahead);
    furthest = next_of(furthest);
  }
}

template <class T, int kWidth, bool kNoise>
__global__ void __launch_bounds__(kFieldThreads, (kLineBlocks<T, kNoise>))
    advance_lines(Fields fields, const T* __restrict__ field, T* __restrict__ next) {
  int64_t task = grid_thread();
  const int64_t group = task % fields.groups;
  task /= fields.groups;
  const int64_t run = task % fields.runs, replica = task / fields.runs;
  if (replica >= fields.replicas) return;
  const int64_t cells = replica * fields.shape.cells();
  const LayerPath path{group * kWidth, 0, run * fields.run, true, 0, 0};
  march<T, 2, kWidth, kNoise>(fields, fields.draws(replica), path, nullptr, field + cells, next + cells);
}

// A block a tile of rows, with one more on each side, and run.
template <class T, int kWidth, bool kNoise>
__global__ void __launch_bounds__(kPlaneThreads, kPlaneBlocks)
    advance_planes(Fields fields, const T* __restrict__ field, T* __restrict__ next) {
  CONNCOMP_DYNAMIC_SHARED(T, exchange);
  const int64_t tiles = (fields.groups + fields.lanes - 1) / fields.lanes;
  int64_t task = blockIdx.x;
  const int64_t tile = task % tiles;
  task /= tiles;
  const int64_t row_tile = task % fields.row_tiles;
  task /= fields.row_tiles;
  const int64_t run = task % fields.runs, replica = task / fields.runs;
  const int rows = int(kPlaneThreads / fields.lanes), lane_row = int(threadIdx.x / fields.lanes),
            lane = int(threadIdx.x % fields.lanes);
  const int64_t group = tile * fields.lanes + lane, row = row_tile * (rows - 2) + lane_row - 1;
  const bool owns = group < fields.groups && lane_row > 0 && lane_row < rows - 1 && row < fields.shape.rows;
  // What is beyond the rows or columns works on what is there and writes nothing.
  const int64_t column = (group < fields.groups ? group : 0) * kWidth,
                y = (row + fields.shape.rows) % fields.shape.rows;
  const int64_t cells = replica * fields.shape.cells();
  const LayerPath path{column, y, run * fields.run, owns, lane_row, lane};
  march<T, 3, kWidth, kNoise>(fields, fields.draws(replica), path, exchange, field + cells, next + cells);
}

template <class T>
__global__ void __launch_bounds__(kFieldThreads)
    start_field(Fields fields, double mean, double scale, T* field) {
  const FieldShape& shape = fields.shape;
  const int64_t quads = shape.quads(), of_replica = shape.layers * shape.rows * quads;
  for (int64_t i = grid_thread(); i < fields.replicas * of_replica; i += grid_threads()) {
    const int64_t replica = i / of_replica, quad = i - replica * of_replica, row = quad / quads;
    const int64_t first = (quad - row * quads) * kQuad;
    const PhiloxBlock block = fields.draws(replica)(kFieldStart, quad);
    T* const out = field + replica * shape.cells() + row * shape.columns;
    for (int k = 0; k < kQuad; ++k)
      if (first + k < shape.columns) out[first + k] = T(mean) + T(scale) * T(odd_integer(block.word[k]));
  }
}

// Adds what FieldTally has to the records, which are `length` apart; `parts` blocks share a replica.
template <class T, int kAxes>
__global__ void __launch_bounds__(kFieldThreads) measure_field(Fields fields, FieldGauge gauge, int64_t parts,
    const T* __restrict__ field, int64_t* record, int64_t length) {
  const FieldShape& shape = fields.shape;
  const int64_t replica = blockIdx.x / parts, part = blockIdx.x % parts, layer = shape.layer();
  field += replica * shape.cells();
  FieldTally tally{};
  const int64_t quads = shape.quads(), lines = shape.layers * shape.rows;
  for (int64_t i = part * blockDim.x + threadIdx.x; i < lines * quads; i += parts * blockDim.x) {
    const int64_t line = i / quads, first = (i - line * quads) * kQuad;
    const bool is_last = line % shape.rows + 1 == shape.rows, ends = line >= lines - shape.rows;
    const T *const row = field + line * shape.columns,
                   *const behind = row + (ends ? layer - shape.cells() : layer),
                   *const below = kAxes == 2 ? behind : row + shape.columns - (is_last ? layer : 0);
    T cell = row[first];
    for (int64_t x = first; x < first + kQuad && x < shape.columns; ++x) {
      T next[kFieldAxes] = {row[x + 1 < shape.columns ? x + 1 : 0], below[x]};
      if (kAxes == 3) next[2] = behind[x];
      tally.template add_cell<kAxes>(cell, next, gauge);
      cell = next[0];
    }
  }
  for (int k = 0; k < kFieldEntries; ++k) {
    const int64_t sum = block_sum<kFieldThreads>(tally.entry[k]);
    if (threadIdx.x == 0 && sum != 0) Concurrent::fetch_add(record + replica * length + k, sum);
  }
}

}
