// Moments of components up to the third power along each axis, on the GPU: of elements, and of values.
//
// What: as cpu/components/moments.h. Those of elements are sums of integers of 128 bits, about the first
// coordinates of the box, which no order can change; centre_moments makes columns of them, and those about
// the centroid. Moments weighted by values, and squared deviations of these, are sums of floating-point
// numbers, whose last digits depend on the order. How: lanes of a warp have a moment each, 32 a launch, of
// stretches of equal labels along a line, of which the other coordinates are one factor (stretches.cuh).
// Items of fewer than four axes have axes of length 1 ahead. Cost: the labels read once for 32 moments.
#pragma once

#include "core/moments.h"
#include "cuda/components/tables.cuh"

namespace conncomp {

constexpr int kMomentThreads = 256;
constexpr int kMomentAxes = 4, kLastAxis = kMomentAxes - 1;

template <class Number>
__device__ inline Number raised(Number x, int power) {
  const Number square = power > 1 ? x * x : Number(1);
  return power & 1 ? square * x : square;
}

// A moment, and where the line is that it is added up along. Of number 4^axes and more there is none.
struct MomentCell {
  int64_t number, count;
  int power[kMomentAxes];
  int64_t length[kMomentAxes], at[kMomentAxes];

  __device__ MomentCell(int64_t number, int64_t count, const Extent& extent) : number(number), count(count) {
#pragma unroll
    for (int k = 0; k < kMomentAxes; ++k) {
      power[k] = int(number >> 2 * (kLastAxis - k) & 3);
      length[k] = extent.length(k);
      at[k] = 0;
    }
  }

  __device__ bool exists() const { return number < count; }
  __device__ void move_to(int64_t line) {
#pragma unroll
    for (int k = kLastAxis - 1; k >= 0; --k) {
      at[k] = line % length[k];
      line /= length[k];
    }
  }

  // Of the n elements from `begin` on; the box of the component begins at box[2 * axis].
  __device__ Wide of_stretch(int64_t begin, int64_t n, const int64_t* box) const {
    const auto from_box = [&](int axis, int64_t place) { return Wide(__int128(place - box[2 * axis])); };
    const Wide x = from_box(kLastAxis, begin), sum = n * (n - 1) / 2, squares = (n - 1) * n * (2 * n - 1) / 6;
    Wide moment = n;
    if (power[kLastAxis] == 1) moment = moment * x + sum;
    if (power[kLastAxis] == 2) moment = (moment * x + 2 * sum) * x + squares;
    if (power[kLastAxis] == 3) moment = ((moment * x + 3 * sum) * x + 3 * squares) * x + sum * sum;
#pragma unroll
    for (int k = 0; k < kLastAxis; ++k) moment *= raised(from_box(k, at[k]), power[k]);
    return moment;
  }

  // What sums of values times powers of the last coordinate are multiplied by.
  __device__ double factor(const double* origin) const {
    double factor = 1;
#pragma unroll
    for (int k = 0; k < kLastAxis; ++k) factor *= raised(double(at[k]) - origin[k], power[k]);
    return factor;
  }

  template <class Value>
  __device__ Value combine(Value a, Value b) const {
    return a + b;
  }
  __device__ void add(int64_t* row, Wide value) const {
    add_wide(row + 2 * number, row + 2 * number + 1, value);
  }
  __device__ void add(double* row, double value) const { Shared::fetch_add(row + number, value); }
};

// Adds to 32 moments of each component, those from `first` on, of `count`, of two words each. The extent is
// that of an item, `boxes` are first and last coordinates, both of four axes.
template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    add_moments(LabelRows<Label> labels, Extent extent, const int64_t* __restrict__ places,
                const int64_t* __restrict__ boxes, int64_t count, int64_t first, int64_t* table) {
  MomentCell cell(first + lane(), count, extent);
  Kept<> kept(table, 2 * count);
  int64_t line = -1;
  for_each_stretch_of_rows(labels, extent.length(kLastAxis), places,
                           [&](int64_t row, int64_t next_line, int64_t begin, int n) {
                             if (next_line != line) cell.move_to(line = next_line);
                             if (cell.exists())
                               kept.add(cell, row, cell.of_stretch(begin, n, boxes + 2 * kMomentAxes * row));
                           });
  kept.finish(cell);
}

// Makes columns of what was added up.
template <int axes>
__global__ void __launch_bounds__(kMomentThreads)
    centre_moments_of_rows(int64_t rows, const int64_t* __restrict__ table, double* raw, double* central) {
  constexpr int64_t count = moments_of(axes);
  for (int64_t row = grid_thread(); row < rows; row += grid_threads()) {
    Wide sums[count];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t* const words = table + 2 * (row * count + i);
      sums[i] = (Wide(uint64_t(words[1])) << 64) + uint64_t(words[0]);
      raw[row * count + i] = as_real(__int128(sums[i]));
    }
    centre_moments<__int128>(sums, axes, central + row * count);
  }
}

// Adds values times powers of coordinates to 32 moments of each component; `origins` are of four axes.
template <class Label>
__global__ void __launch_bounds__(kMomentThreads)
    add_weighted_moments(LabelRows<Label> labels, Extent extent, const int64_t* __restrict__ places,
                         const double* __restrict__ values, const double* __restrict__ origins, int64_t count,
                         int64_t first_moment, double* table) {
  const int64_t length = extent.length(kLastAxis), size = table_span(labels.count);
  const int64_t step = grid_threads() / kWarp * size;
  const auto plus = [](double a, double b) { return a + b; };
  MomentCell cell(first_moment + lane(), count, extent);
  Kept<double, double> kept(table, count);
  int64_t line = -1;
  for (int64_t span = grid_thread() / kWarp * size; span < labels.count; span += step) {
    const int64_t end = span + size < labels.count ? span + size : labels.count;
    for (int64_t i = span + lane(); i - lane() < end; i += kWarp) {
      const int64_t lane_line = i / length, place = i - lane_line * length;
      const Label label = i < end ? labels.load(i) : labels.background;
      const auto [first, lane_length] = stretch_of(label, place == 0);
      const int64_t own_row = labels.has_row(label) ? places[label] - 1 : -1;
      double x = 0, sums[kPowers] = {};
      if (own_row >= 0) {
        x = double(place) - origins[kMomentAxes * own_row + kLastAxis];
        sums[0] = values[i];
      }
#pragma unroll
      for (int p = 1; p < kPowers; ++p) sums[p] = sums[p - 1] * x;
#pragma unroll
      for (int p = 0; p < kPowers; ++p) sums[p] = over_stretch(sums[p], lane_length, plus);
      for (unsigned int lanes = __ballot_sync(kAllLanes, first && own_row >= 0); lanes; lanes &= lanes - 1) {
        const int source = __ffs(int(lanes)) - 1;
        const int64_t row = __shfl_sync(kAllLanes, own_row, source);
        const int64_t stretch_line = __shfl_sync(kAllLanes, lane_line, source);
        double along = 0;
#pragma unroll
        for (int p = 0; p < kPowers; ++p) {
          const double sum = __shfl_sync(kAllLanes, sums[p], source);
          if (cell.power[kLastAxis] == p) along = sum;
        }
        if (stretch_line != line) cell.move_to(line = stretch_line);
        if (cell.exists()) kept.add(cell, row, along * cell.factor(origins + kMomentAxes * row));
      }
    }
  }
  kept.finish(cell);
}

// Adds up the squares of values less the mean of their component.
template <class Label>
__global__ void __launch_bounds__(kMomentThreads)
    add_squares(LabelRows<Label> labels, const int64_t* __restrict__ places,
                const double* __restrict__ values, const double* __restrict__ means, double* sums) {
  for (int64_t i = grid_thread(); i - lane() < labels.count; i += grid_threads()) {
    const Label label = i < labels.count ? labels.load(i) : labels.background;
    const auto [first, length] = stretch_of(label);
    const int64_t row = labels.has_row(label) ? places[label] - 1 : -1;
    const double deviation = row < 0 ? 0 : values[i] - means[row];
    const double sum = over_stretch(deviation * deviation, length, [](double a, double b) { return a + b; });
    if (first && row >= 0) Shared::fetch_add(sums + row, sum);
  }
}

}  // namespace conncomp
