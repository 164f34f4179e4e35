// The values of an image within components, on the GPU: sums, extremes, and centroids weighted by them.
//
// What: as cpu/components/intensities.h, to the bit: find_extremes finds the smallest and the largest value
// of each component; add_values adds up values, and values times coordinates, as whole numbers of 128 bits
// (core/fixed_point.h), which no order can change; write_intensities makes columns of them.
// How: a warp reads 32 labels and values, and combines those of each stretch of equal labels by shuffles. An
// extreme that the table has already is not sent there; of sums a warp keeps those of a component that it
// meets often (stretches.cuh). Cost: labels and values read twice. Memory: two words and 2 (1 + n) words for
// each component, in n dimensions.
#pragma once

#include "core/atomics.h"
#include "core/fixed_point.h"
#include "core/intensity.h"
#include "cuda/components/rows.cuh"
#include "cuda/components/stretches.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kIntensityThreads = 256;
constexpr int64_t kIntensitySpan = 1024;  // elements that a warp goes through at once

// Label k is the component places[k] - 1, or none where that is 0. `extremes` has two words for each: the
// complement of the key of the smallest value, and the key of the largest; it begins with zeros.
template <class Label, class Value>
__global__ void __launch_bounds__(kIntensityThreads)
    find_extremes(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                  const int64_t* __restrict__ places, const Value* __restrict__ values, uint64_t* extremes) {
  using Key = typename Order<Value>::Key;
  const auto larger = [](uint64_t a, uint64_t b) { return a < b ? b : a; };
  for (int64_t begin = grid_thread() / kWarp * kWarp; begin < count; begin += grid_threads()) {
    const int64_t i = begin + lane();
    const Label label = i < count ? Shared::load(labels + i) : background;
    const auto [first, length] = stretch_of(label);
    const Key key = i < count ? Order<Value>::key(values[i]) : Key(0);
    const uint64_t low = over_stretch(uint64_t(Key(~key)), length, larger);
    const uint64_t high = over_stretch(uint64_t(key), length, larger);
    const int64_t row = first && has_row(label, background, rows) ? places[label] - 1 : -1;
    if (row < 0) continue;
    if (Shared::load(extremes + 2 * row) < low) Shared::fetch_max(extremes + 2 * row, low);
    if (Shared::load(extremes + 2 * row + 1) < high) Shared::fetch_max(extremes + 2 * row + 1, high);
  }
}

// What find_extremes has found, and the bits of the units in which values are added up. Laid out as in
// intensities.py.
template <class Value>
struct ValueRanges {
  using Key = typename Order<Value>::Key;

  const uint64_t* extremes;
  int64_t bits;

  __device__ Key low_key(int64_t row) const { return Key(~__ldg(extremes + 2 * row)); }
  __device__ Key high_key(int64_t row) const { return Key(__ldg(extremes + 2 * row + 1)); }
  __device__ Units<Value> units(int64_t row) const {
    if constexpr (kIsReal<Value>)
      return {Reach<Value>(low_key(row), high_key(row)).exponent, int(bits)};
    else
      return {};
  }
};

// A sum of a component: that of the values, or that of values times coordinates along an axis.
struct WeightedSum {
  int64_t number, ndim, axis;  // number 0 is the sum of values
  int64_t length = 1, lines = 1, at = 0;

  __device__ WeightedSum(int64_t number, const Extent& extent)
      : number(number), ndim(extent.ndim), axis(number - 1) {
    if (axis < 0 || axis >= ndim) return;
    length = extent.length(axis);
    for (int64_t k = axis + 1; k < ndim - 1; ++k) lines *= extent.length(k);
  }

  __device__ bool exists() const { return number <= ndim; }
  __device__ void move_to(int64_t line) { at = line / lines % length; }

  // Of a stretch with so large sums of values and of values times lanes; lane 0 is at `begin` of its line.
  // The box of the component begins at box[2 * axis].
  __device__ Wide of_stretch(Wide sum, Wide products, int64_t begin, const int64_t* box) const {
    if (axis < 0) return sum;
    if (axis < ndim - 1) return sum * Wide(__int128(at - box[2 * axis]));
    return sum * Wide(__int128(begin - box[2 * axis])) + products;
  }

  __device__ Wide combine(Wide a, Wide b) const { return a + b; }
  __device__ void add(int64_t* row, Wide value) const {
    add_wide(row + 2 * number, row + 2 * number + 1, value);
  }
};

// Adds to 32 sums of each component, those from `first_sum` on, of 2 (1 + ndim) words in `table`. The extent
// is that of an item, `boxes` are first and last coordinates along each axis.
template <class Label, class Value>
__global__ void __launch_bounds__(kIntensityThreads)
    add_values(LabelRows<Label> labels, Extent extent, const int64_t* __restrict__ places,
               const Value* __restrict__ values, ValueRanges<Value> ranges, const int64_t* __restrict__ boxes,
               int64_t first_sum, int64_t* table) {
  constexpr bool halved = kIsReal<Value> || sizeof(Value) == 8;
  const int64_t ndim = extent.ndim, length = extent.length(ndim - 1);
  const int64_t step = grid_threads() / kWarp * kIntensitySpan;
  const auto plus = [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); };
  WeightedSum cell(first_sum + lane(), extent);
  Kept<> kept(table, 2 * (1 + ndim));
  int64_t line = -1;
  for (int64_t span = grid_thread() / kWarp * kIntensitySpan; span < labels.count; span += step) {
    const int64_t end = span + kIntensitySpan < labels.count ? span + kIntensitySpan : labels.count;
    for (int64_t begin = span; begin < end; begin += kWarp) {
      const int64_t i = begin + lane(), lane_line = i / length, lane_begin = i - lane_line * length;
      const Label label = i < end ? labels.load(i) : labels.background;
      const auto [first, lane_length] = stretch_of(label, lane_begin == 0);
      const int64_t own_row = labels.has_row(label) ? places[label] - 1 : -1;
      Halves halves{0, 0};
      int shift = 0;
      if (own_row >= 0) {
        const Units<Value> units = ranges.units(own_row);
        halves = units.of(values[i]);
        shift = units.shift();
      }
      const auto times_lane = [](int64_t half) { return int64_t(uint64_t(half) * uint64_t(lane())); };
      int64_t high = 0, high_products = 0;
      if constexpr (halved) {
        high = over_stretch(halves.high, lane_length, plus);
        high_products = over_stretch(times_lane(halves.high), lane_length, plus);
      }
      const int64_t low = over_stretch(halves.low, lane_length, plus);
      const int64_t low_products = over_stretch(times_lane(halves.low), lane_length, plus);
      for (unsigned int lanes = __ballot_sync(kAllLanes, first && own_row >= 0); lanes; lanes &= lanes - 1) {
        const int source = __ffs(int(lanes)) - 1;
        const auto from_source = [&](auto value) { return __shfl_sync(kAllLanes, value, source); };
        const auto whole = [&](int64_t high, int64_t low) {
          const Wide above = halved ? Wide(__int128(from_source(high))) << from_source(shift) : Wide(0);
          return above + Wide(__int128(from_source(low)));
        };
        const int64_t row = from_source(own_row), stretch_line = from_source(lane_line);
        const Wide sum = whole(high, low), products = whole(high_products, low_products);
        if (stretch_line != line) cell.move_to(line = stretch_line);
        const int64_t zero = from_source(lane_begin) - source;  // the coordinate of lane 0, in this line
        if (cell.exists()) kept.add(cell, row, cell.of_stretch(sum, products, zero, boxes + 2 * row * ndim));
      }
    }
  }
  kept.finish(cell);
}

// Makes the columns of what was added up; `lost` becomes 1 if a sum does not fit what it is given as.
template <class Value>
__global__ void __launch_bounds__(kIntensityThreads)
    write_intensities(int64_t count, int64_t ndim, const int64_t* __restrict__ sizes,
                      const int64_t* __restrict__ boxes, ValueRanges<Value> ranges,
                      const int64_t* __restrict__ table, IntensityColumns<Value> columns, int32_t* lost) {
  for (int64_t row = grid_thread(); row < count; row += grid_threads()) {
    const auto sum_at = [&](int64_t number) {
      const int64_t* const words = table + 2 * (row * (1 + ndim) + number);
      return __int128((Wide(uint64_t(words[1])) << 64) + uint64_t(words[0]));
    };
    const Units<Value> units = ranges.units(row);
    const int64_t* const box = boxes + 2 * row * ndim;
    if (!columns.write(row, ranges.low_key(row), ranges.high_key(row), units, sizes[row], int(ndim), box,
                       sum_at))
      Shared::store(lost, 1);
  }
}

}  // namespace conncomp
