// Moments of components up to the third power along each axis, of elements and of values, as
// cpu/components/moments.h. Those of elements are integer sums about the box's first coordinates;
// centre_moments makes columns of these and of central ones. Weighted moments and squared deviations are
// floating-point sums, whose last digits depend on the order. walk_runs (runs.cuh) adds up all powers of the
// last axis, and mostly of the one before; turns have those of the others. Sums have 64 bits for boxes where
// they fit (fits_64_bits), else 128. Items have four axes, those ahead of length 1. Cost: runs, and values,
// read once a turn.
#pragma once

#include "core/moments.h"
#include "cuda/components/runs.cuh"

namespace conncomp {

constexpr int kMomentThreads = 256;
constexpr int kMomentAxes = 4, kLastAxis = kMomentAxes - 1;

template <class Number> Number raised(Number x, int power) {
  const Number square = power > 1 ? x * x : Number(1);
  return power & 1 ? square * x : square;
}

struct Boxes {
  const int64_t* entries;
  int64_t ndim;

  // Along one of four axes; some ahead may not be axes of the items.
  int64_t first(int64_t component, int axis) const {
    const int64_t k = axis - (kMomentAxes - ndim);
    return k < 0 ? 0 : entries[2 * (component * ndim + k)];
  }
  // Whether moments about a first coordinate, or any element of the box, surely fit 64 bits.
  bool fits_64_bits(int64_t component) const {
    double bound = 1;
    for (int64_t k = component * ndim; k < (component + 1) * ndim; ++k) {
      const double span = double(entries[2 * k + 1] - entries[2 * k]);
      bound *= span * span * span * span;
    }
    return bound < 0x1p62;
  }
};

// A turn's powers of all axes but the last one and, if `rows` is kPowers, the one before.
template <int rows> struct MomentFactors {
  static constexpr int kAhead = rows > 1 ? kLastAxis - 1 : kLastAxis;

  int64_t length[kMomentAxes];
  int power[kAhead];

  MomentFactors(int64_t number, const Extent& extent) {
#pragma unroll
    for (int k = kLastAxis; k >= 0; --k) {
      length[k] = extent.length(k);
      if (k >= kAhead) continue;
      power[k] = int(number) % kPowers;
      number /= kPowers;
    }
  }

  // The product of the turn's powers; `place` gets the last coordinate, `beside` the offset of that before.
  template <class Number> Number of(int64_t index, int64_t& place, Number& beside, auto&& offset) const {
    Number product = 1;
    int64_t line = quotient(index, length[kLastAxis]);
    place = index - line * length[kLastAxis];
#pragma unroll
    for (int k = kLastAxis - 1; k >= 0; --k) {
      const int64_t next = quotient(line, length[k]), at = line - next * length[k];
      if (k >= kAhead)
        beside = Number(offset(k, at));
      else if (power[k] > 0)
        product *= raised(Number(offset(k, at)), power[k]);
      line = next;
    }
    return product;
  }
};

// A turn's sums: by powers of the coordinate before the last, in rows, and of the last.
template <class Sum, int rows> struct MomentSums {
  Sum sums[rows * kPowers] = {};

  void add_line(const Sum (&line)[kPowers], Sum factor, Sum beside) {
#pragma unroll
    for (int row = 0; row < rows; ++row, factor *= beside)
#pragma unroll
      for (int p = 0; p < kPowers; ++p) sums[row * kPowers + p] += factor * line[p];
  }
  void combine_lanes() {
#pragma unroll
    for (int i = 0; i < rows * kPowers; ++i) sums[i] = warp_sum(sums[i]);
  }
};

// Integer moments of the components for which they surely fit, or of the others.
template <class Sum, int rows> struct ElementMoments : MomentSums<Sum, rows> {
  using MomentSums<Sum, rows>::sums;
  static constexpr bool kIsWide = sizeof(Sum) > 8;

  Boxes boxes;
  int64_t* table;
  int64_t* has_wide;  // becomes 1 if there are wide ones; null if all components are meant
  int64_t number;     // of the turn
  MomentFactors<rows> factors;
  int64_t component = 0, origin[kMomentAxes] = {};
  bool is_meant = false;

  void begin(int64_t next) {
    component = next;
    is_meant = has_wide == nullptr || boxes.fits_64_bits(component) != kIsWide;
    if (!is_meant && !kIsWide) Concurrent::store(has_wide, int64_t(1));
#pragma unroll
    for (int k = 0; k < kMomentAxes; ++k) origin[k] = boxes.first(component, k);
#pragma unroll
    for (int i = 0; i < rows * kPowers; ++i) sums[i] = 0;
  }
  void add(int64_t index, int n) {
    if (!is_meant) return;
    const auto from_box = [&](int axis, int64_t place) { return Sum(place - origin[axis]); };
    int64_t place;
    Sum beside = 1;
    const Sum factor = factors.template of<Sum>(index, place, beside, from_box);
    const Sum x = from_box(kLastAxis, place);
    const uint64_t pairs = uint64_t(n * (n - 1) / 2), squares = pairs * uint64_t(2 * n - 1) / 3;
    const Sum line[kPowers] = {Sum(n), x * uint64_t(n) + pairs, (x * uint64_t(n) + 2 * pairs) * x + squares,
        ((x * uint64_t(n) + 3 * pairs) * x + 3 * squares) * x + pairs * pairs};
    this->add_line(line, factor, beside);
  }
  void send() const {
    if (!is_meant) return;
    int64_t* const words = table + 2 * (component * moments_of(int(boxes.ndim)) + number * rows * kPowers);
#pragma unroll
    for (int i = 0; i < rows * kPowers; ++i)
      if constexpr (kIsWide)
        add_wide(words + 2 * i, words + 2 * i + 1, sums[i]);
      else
        Concurrent::fetch_add(words + 2 * i, int64_t(sums[i]));
  }
};

// Adds to the moments, of two words each, of components that fit; sets `has_wide` for others.
template <int = 0>
__global__ void __launch_bounds__(kMomentThreads)
    add_small_moments(Runs runs, Extent extent, Boxes boxes, int64_t* table, int64_t* has_wide) {
  follow_launch();
  const Turn turn(int(moments_of(int(boxes.ndim) - 2)));
  ElementMoments<uint64_t, kPowers> moments{{}, boxes, table, has_wide, turn.number, {turn.number, extent}};
  walk_runs(runs, turn, moments);
}

// The others, if any; all if `has_wide` is null.
template <int = 0>
__global__ void __launch_bounds__(kMomentThreads)
    add_moments(Runs runs, Extent extent, Boxes boxes, int64_t* table, int64_t* has_wide) {
  follow_launch();
  if (has_wide != nullptr && Concurrent::load(has_wide) == 0) return;
  const Turn turn(int(moments_of(int(boxes.ndim) - 1)));
  ElementMoments<Wide, 1> moments{{}, boxes, table, has_wide, turn.number, {turn.number, extent}};
  walk_runs(runs, turn, moments);
}

template <int axes>
__global__ void __launch_bounds__(kMomentThreads) centre_moments_of_rows(
    const RunState* state, Boxes boxes, const int64_t* __restrict__ table, double* raw, double* central) {
  follow_launch();
  constexpr int64_t count = moments_of(axes);
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const int64_t* const words = table + 2 * row * count;
    double centred[count];
    if (boxes.fits_64_bits(row)) {
      uint64_t sums[count];
#pragma unroll
      for (int64_t i = 0; i < count; ++i) {
        sums[i] = uint64_t(words[2 * i]);
        raw[row * count + i] = double(int64_t(sums[i]));
      }
      centre_moments<int64_t>(sums, axes, centred);
    } else {
      Wide sums[count];
      for (int64_t i = 0; i < count; ++i) {
        sums[i] = wide_of(words[2 * i], words[2 * i + 1]);
        raw[row * count + i] = as_real(__int128(sums[i]));
      }
      centre_moments<__int128>(sums, axes, centred);
    }
#pragma unroll
    for (int64_t i = 0; i < count; ++i) central[row * count + i] = centred[i];
  }
}

// Moments of values about the first coordinates of boxes, or about the centroids that given ones imply.
template <class Value, int rows> struct ValueMoments : MomentSums<double, rows> {
  using MomentSums<double, rows>::sums;
  const Value* values;
  Boxes boxes;
  const double* about;
  double* table;
  int64_t number;  // of the turn
  MomentFactors<rows> factors;
  int64_t component = 0;
  double origin[kMomentAxes] = {};

  int64_t first_of(int64_t component) const { return component * moments_of(int(boxes.ndim)); }
  void begin(int64_t next) {
    component = next;
    const double* const known = about == nullptr ? nullptr : about + first_of(component);
#pragma unroll
    for (int k = 0; k < kMomentAxes; ++k) {
      origin[k] = double(boxes.first(component, k));
      if (known != nullptr && k >= kMomentAxes - boxes.ndim)
        origin[k] += known[moments_of(kLastAxis - k)] / known[0];
    }
#pragma unroll
    for (int i = 0; i < rows * kPowers; ++i) sums[i] = 0;
  }
  void add(int64_t index, int n) {
    const auto from_origin = [&](int axis, int64_t place) { return double(place) - origin[axis]; };
    int64_t place;
    double beside = 1, factor = factors.template of<double>(index, place, beside, from_origin);
    double of_run[kPowers] = {};
    for (int i = 0; i < n; ++i) {
      const double x = from_origin(kLastAxis, place + i);
      double term = double(values[index + i]);
#pragma unroll
      for (int p = 0; p < kPowers; ++p, term *= x) of_run[p] += term;
    }
    this->add_line(of_run, factor, beside);
  }
  void send() const {
    double* const sums_of_all = table + first_of(component) + number * rows * kPowers;
#pragma unroll
    for (int i = 0; i < rows * kPowers; ++i) Concurrent::fetch_add(sums_of_all + i, sums[i]);
  }
};

// `rows` is kPowers, or 1 for items of one axis.
template <class Value, int rows>
__global__ void __launch_bounds__(kMomentThreads) add_weighted_moments(Runs runs, Extent extent,
    const Value* __restrict__ values, Boxes boxes, const double* about, double* table) {
  follow_launch();
  const Turn turn(int(moments_of(int(boxes.ndim) - (rows > 1 ? 2 : 1))));
  ValueMoments<Value, rows> moments{{}, values, boxes, about, table, turn.number, {turn.number, extent}};
  walk_runs(runs, turn, moments);
}

constexpr uint64_t kNan = 0x7ff8000000000000;

template <int axes>
__global__ void __launch_bounds__(kMomentThreads)
    normalize_moments(const RunState* state, const double* __restrict__ central, double* out) {
  follow_launch();
  constexpr int64_t count = moments_of(axes);
  for (int64_t i = grid_thread(); i < state->components * count; i += grid_threads()) {
    int order = 0;
    for (int64_t powers = i % count; powers > 0; powers /= kPowers) order += int(powers % kPowers);
    const double size = central[i - i % count];
    // Weights may make negative sizes, whose roots are no numbers.
    const double third = size < 0 ? bits_as<double>(kNan) : cbrt(size);
    const double root = axes == 1 ? size : axes == 2 ? sqrt(size) : axes == 3 ? third : sqrt(sqrt(size));
    double unit = size;
    for (int k = 0; k < order / axes; ++k) unit *= size;
    for (int k = 0; k < order % axes; ++k) unit *= root;
    out[i] = order < 2 ? bits_as<double>(kNan) : central[i] / unit;
  }
}

template <class Value> struct SquaredDeviations {
  const Value* values;
  const double* means;
  double* sums;
  int64_t component = 0;
  double mean = 0, sum = 0;

  void begin(int64_t next) {
    component = next;
    mean = means[component];
    sum = 0;
  }
  void add(int64_t index, int n) {
    for (int i = 0; i < n; ++i) {
      const double deviation = double(values[index + i]) - mean;
      sum += deviation * deviation;
    }
  }
  void combine_lanes() { sum = warp_sum(sum); }
  void send() const { Concurrent::fetch_add(sums + component, sum); }
};

template <class Value>
__global__ void __launch_bounds__(kMomentThreads)
    add_squares(Runs runs, const Value* __restrict__ values, const double* __restrict__ means, double* sums) {
  follow_launch();
  SquaredDeviations<Value> deviations{values, means, sums};
  walk_runs(runs, Turn(1), deviations);
}

// Variances of components along principal axes, the eigenvalues of covariances, the largest first, and those
// of inertia tensors: by the formula in two dimensions, by some ten Jacobi rotations in three (Golub and Van
// Loan, 8.5). A thread a component.

// Zeroes the entry of two axes of a symmetric matrix; `other` is the third axis.
template <int p, int q, int other> void rotate(double (&a)[3][3]) {
  const double entry = a[p][q];
  if (a[p][p] + entry == a[p][p] && a[q][q] + entry == a[q][q]) {
    a[p][q] = 0;
    return;
  }
  const double slope = (a[q][q] - a[p][p]) / (2 * entry);
  const double tangent = (slope < 0 ? -1 : 1) / (fabs(slope) + sqrt(slope * slope + 1));
  const double cosine = 1 / sqrt(tangent * tangent + 1), sine = tangent * cosine;
  a[p][p] -= tangent * entry;
  a[q][q] += tangent * entry;
  a[p][q] = 0;
  double& first = p < other ? a[p][other] : a[other][p];
  double& second = q < other ? a[q][other] : a[other][q];
  const double before = first;
  first = cosine * before - sine * second;
  second = sine * before + cosine * second;
}

inline void order(double& larger, double& smaller) {
  const double low = larger < smaller ? larger : smaller;
  larger = larger < smaller ? smaller : larger;
  smaller = low;
}

template <int axes>
__global__ void __launch_bounds__(kTableThreads) write_variances(const RunState* state,
    const double* __restrict__ covariances, double* variances, double* moments_of_inertia) {
  follow_launch();
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const double* const given = covariances + row * axes * axes;
    double values[axes];
    if constexpr (axes == 2) {
      const double mean = (given[0] + given[3]) / 2, half = (given[0] - given[3]) / 2;
      const double root = sqrt(half * half + given[1] * given[1]);
      values[0] = mean + root;
      values[1] = mean - root;
    } else {
      constexpr int kMostSweeps = 12;
      double a[3][3];
#pragma unroll
      for (int i = 0; i < 9; ++i) a[i / 3][i % 3] = given[i];
      for (int sweep = 0; sweep < kMostSweeps && (a[0][1] != 0 || a[0][2] != 0 || a[1][2] != 0); ++sweep) {
        rotate<0, 1, 2>(a);
        rotate<0, 2, 1>(a);
        rotate<1, 2, 0>(a);
      }
#pragma unroll
      for (int k = 0; k < axes; ++k) values[k] = a[k][k];
      order(values[0], values[1]);
      order(values[1], values[2]);
      order(values[0], values[1]);
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      values[k] = values[k] < 0 ? 0 : values[k];
      variances[row * axes + k] = values[k];
      sum += values[k];
    }
#pragma unroll
    for (int k = 0; k < axes; ++k) moments_of_inertia[row * axes + k] = sum - values[axes - 1 - k];
  }
}

}
