// Moments of components up to the third power along each axis, on the GPU: of elements, and of values.
//
// What: as cpu/components/moments.h. Those of elements are sums of integers of 128 bits, about the first
// coordinates of the box, which no order can change; centre_moments makes columns of them, and those about
// the centroid. Moments weighted by values, and squared deviations of these, are sums of floating-point
// numbers, whose last digits depend on the order. How: walk_runs (runs.cuh), in turns: those of powers of all
// axes but the last, along which each thread adds up four. Items of fewer than four axes have axes of length
// 1 ahead. Cost: the runs, and values, read once for each turn.
#pragma once

#include "core/moments.h"
#include "cuda/components/runs.cuh"

namespace conncomp {

constexpr int kMomentThreads = 256;
constexpr int kMomentAxes = 4, kLastAxis = kMomentAxes - 1;

template <class Number>
__device__ inline Number raised(Number x, int power) {
  const Number square = power > 1 ? x * x : Number(1);
  return power & 1 ? square * x : square;
}

// The powers of all axes but the last of four moments, and the coordinates of a run along these.
struct MomentFactors {
  int64_t length[kMomentAxes];
  int power[kLastAxis];

  __device__ MomentFactors(int64_t number, const Extent& extent) {
#pragma unroll
    for (int k = kLastAxis; k >= 0; --k) {
      length[k] = extent.length(k);
      if (k == kLastAxis) continue;
      power[k] = int(number) % kPowers;
      number /= kPowers;
    }
  }

  // Returns the product of powers of coordinates, each less that of an origin as a Number, and lets `place`
  // be the last coordinate.
  template <class Number, class Offset>
  __device__ Number of(int64_t index, int64_t& place, Offset&& offset) const {
    Number product = 1;
    int64_t line = quotient(index, length[kLastAxis]);
    place = index - line * length[kLastAxis];
#pragma unroll
    for (int k = kLastAxis - 1; k >= 0; --k) {
      const int64_t next = quotient(line, length[k]);
      if (power[k] > 0) product *= raised(Number(offset(k, line - next * length[k])), power[k]);
      line = next;
    }
    return product;
  }
};

// Four moments of elements, as integers; boxes are first and last coordinates along four axes.
struct ElementMoments {
  const int64_t* boxes;
  int64_t* table;
  int64_t count, first;
  MomentFactors factors;
  int64_t component = 0;
  Wide sums[kPowers] = {};

  __device__ void begin(int64_t next) {
    component = next;
    for (Wide& sum : sums) sum = 0;
  }
  __device__ void add(int64_t index, int64_t n) {
    const int64_t* const box = boxes + 2 * kMomentAxes * component;
    const auto from_box = [&](int axis, int64_t place) { return __int128(place - box[2 * axis]); };
    int64_t place;
    const Wide factor = factors.of<Wide>(index, place, from_box);
    const Wide x = Wide(from_box(kLastAxis, place));
    const uint64_t sum = n * (n - 1) / 2, squares = sum * (2 * n - 1) / 3;
    sums[0] += factor * uint64_t(n);
    sums[1] += factor * (x * uint64_t(n) + sum);
    sums[2] += factor * ((x * uint64_t(n) + 2 * sum) * x + squares);
    sums[3] += factor * (((x * uint64_t(n) + 3 * sum) * x + 3 * squares) * x + sum * sum);
  }
  __device__ void combine_lanes() {
    for (Wide& sum : sums) sum = warp_sum(sum);
  }
  __device__ void send() const {
    int64_t* const words = table + 2 * (component * count + first);
#pragma unroll
    for (int p = 0; p < kPowers; ++p) add_wide(words + 2 * p, words + 2 * p + 1, sums[p]);
  }
};

// Adds to `count` moments of each component, of two words each; the extent is that of an item, of four axes.
template <int = 0>
__global__ void __launch_bounds__(kMomentThreads)
    add_moments(Runs runs, Extent extent, const int64_t* __restrict__ boxes, int64_t count, int64_t* table) {
  const Turn turn(int(count / kPowers));
  ElementMoments moments{boxes, table, count, turn.number * kPowers, MomentFactors(turn.number, extent)};
  walk_runs(runs, turn, moments);
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
      sums[i] = wide_of(words[0], words[1]);
      raw[row * count + i] = as_real(__int128(sums[i]));
    }
    centre_moments<__int128>(sums, axes, central + row * count);
  }
}

// Four moments of values, about origins of four axes.
template <class Value>
struct ValueMoments {
  const Value* values;
  const double* origins;
  double* table;
  int64_t count, first;
  MomentFactors factors;
  int64_t component = 0;
  double sums[kPowers] = {};

  __device__ void begin(int64_t next) {
    component = next;
    for (double& sum : sums) sum = 0;
  }
  __device__ void add(int64_t index, int n) {
    const double* const origin = origins + kMomentAxes * component;
    const auto from_origin = [&](int axis, int64_t place) { return double(place) - origin[axis]; };
    int64_t place;
    const double factor = factors.of<double>(index, place, from_origin);
    double of_run[kPowers] = {};
    for (int i = 0; i < n; ++i) {
      const double x = from_origin(kLastAxis, place + i);
      double term = double(values[index + i]);
#pragma unroll
      for (int p = 0; p < kPowers; ++p, term *= x) of_run[p] += term;
    }
#pragma unroll
    for (int p = 0; p < kPowers; ++p) sums[p] += factor * of_run[p];
  }
  __device__ void combine_lanes() {
    for (double& sum : sums) sum = warp_sum(sum);
  }
  __device__ void send() const {
#pragma unroll
    for (int p = 0; p < kPowers; ++p) Shared::fetch_add(table + component * count + first + p, sums[p]);
  }
};

// Adds values times powers of coordinates to `count` moments of each component.
template <class Value>
__global__ void __launch_bounds__(kMomentThreads)
    add_weighted_moments(Runs runs, Extent extent, const Value* __restrict__ values,
                         const double* __restrict__ origins, int64_t count, double* table) {
  const Turn turn(int(count / kPowers));
  ValueMoments<Value> moments{
      values, origins, table, count, turn.number * kPowers, MomentFactors(turn.number, extent)};
  walk_runs(runs, turn, moments);
}

// The squares of values less the mean of their component.
template <class Value>
struct SquaredDeviations {
  const Value* values;
  const double* means;
  double* sums;
  int64_t component = 0;
  double mean = 0, sum = 0;

  __device__ void begin(int64_t next) {
    component = next;
    mean = means[component];
    sum = 0;
  }
  __device__ void add(int64_t index, int n) {
    for (int i = 0; i < n; ++i) {
      const double deviation = double(values[index + i]) - mean;
      sum += deviation * deviation;
    }
  }
  __device__ void combine_lanes() { sum = warp_sum(sum); }
  __device__ void send() const { Shared::fetch_add(sums + component, sum); }
};

template <class Value>
__global__ void __launch_bounds__(kMomentThreads)
    add_squares(Runs runs, const Value* __restrict__ values, const double* __restrict__ means, double* sums) {
  SquaredDeviations<Value> deviations{values, means, sums};
  walk_runs(runs, Turn(1), deviations);
}

}  // namespace conncomp
