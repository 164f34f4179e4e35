// Sizes, bounding boxes, centroids and second moments of components. measure_runs fills words about each
// component, of which write_columns makes columns; sums are integers, so in any order, and products have two
// words:
//
//    words in a plane   first y, x | last y, x | sums of y, x | yy, yx, xx | their upper halves | size
//
// walk_runs takes an axis or a pair of axes a turn; or all at once in two and three dimensions, where sums of
// squares have 64 bits. Cost: runs read once a turn.
#pragma once

#include "core/fixed_point.h"
#include "cuda/components/runs.cuh"

namespace conncomp {

constexpr int64_t kLargest = 0x7fffffffffffffff;

// The covariance of two coordinates of n elements: sum(x y) / n - sum(x) sum(y) / n², rounded once.
inline double covariance_of(int64_t n, Wide products, int64_t sum_x, int64_t sum_y) {
  return as_real(n * __int128(products) - __int128(sum_x) * sum_y) / (double(n) * double(n));
}

struct ShapeWords {
  int64_t* words;
  int64_t ndim;

  static int64_t pairs(int64_t ndim) { return ndim * (ndim + 1) / 2; }
  static int64_t count(int64_t ndim) { return 3 * ndim + 2 * pairs(ndim) + 1; }
  ShapeWords(int64_t* table, int64_t component, int64_t ndim)
      : words(table + component * count(ndim)), ndim(ndim) {}

  int64_t& first(int64_t k) const { return words[k]; }
  int64_t& last(int64_t k) const { return words[ndim + k]; }
  int64_t& sum(int64_t k) const { return words[2 * ndim + k]; }
  int64_t* product(int64_t k, int64_t l) const {  // k <= l
    return words + 3 * ndim + k * ndim - k * (k - 1) / 2 + l - k;
  }
  int64_t& size() const { return words[3 * ndim + 2 * pairs(ndim)]; }

  void add_product(int64_t k, int64_t l, Wide value) const {
    add_wide(product(k, l), product(k, l) + pairs(ndim), value);
  }
  double covariance(int64_t k, int64_t l) const {  // k <= l
    return covariance_of(size(), wide_of(*product(k, l), product(k, l)[pairs(ndim)]), sum(k), sum(l));
  }
};

// `further` words per component follow those of all, zeros at first.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads)
    begin_shapes(int64_t ndim, int64_t further, const RunState* state, int64_t* table) {
  follow_launch();
  const int64_t count = ShapeWords::count(ndim), words = state->components * count;
  for (int64_t k = grid_thread(); k < words + further * state->components; k += grid_threads())
    table[k] = k < words && k - quotient(k, count) * count < ndim ? kLargest : 0;
}

// A run's sums of a coordinate: of n elements from x on, x is added n times, and 1 to n - 1.
struct RunOfCoordinate {
  int64_t first, last, sum;
  Wide square;

  RunOfCoordinate(const Coordinate& coordinate, int64_t index, int n)
      : first(coordinate.of(index)), last(first), sum(first * n), square(Wide(first) * uint64_t(sum)) {
    if (!coordinate.along) return;
    const int pairs = n * (n - 1) / 2;
    last += n - 1;
    square += Wide(first) * uint64_t(2 * pairs) + pairs * (2 * n - 1) / 3;
    sum += pairs;
  }
};

struct AxisSum {
  int64_t* table;
  int64_t ndim, axis;
  Coordinate coordinate;
  int64_t component = 0, first = kLargest, last = 0, sum = 0, size = 0;
  Wide square = 0;

  void begin(int64_t next) { *this = {table, ndim, axis, coordinate, next}; }
  void add(int64_t index, int n) {
    const RunOfCoordinate run(coordinate, index, n);
    first = run.first < first ? run.first : first;
    last = run.last > last ? run.last : last;
    sum += run.sum;
    square += run.square;
    size += n;
  }
  void combine_lanes() {
    first = over_lanes(first, smaller<int64_t>);
    last = over_lanes(last, larger<int64_t>);
    sum = warp_sum(sum);
    size = warp_sum(size);
    square = warp_sum(square);
  }
  void send() const {
    const ShapeWords words(table, component, ndim);
    Concurrent::fetch_min(&words.first(axis), first);
    Concurrent::fetch_max(&words.last(axis), last);
    Concurrent::fetch_add(&words.sum(axis), sum);
    words.add_product(axis, axis, square);
    if (axis == 0) Concurrent::fetch_add(&words.size(), size);
  }
};

// The sum of products of coordinates along two axes; if runs lie along one, it is the second.
struct PairSum {
  int64_t* table;
  int64_t ndim, k, l;
  Coordinate first, second;
  int64_t component = 0;
  Wide sum = 0;

  void begin(int64_t next) { *this = {table, ndim, k, l, first, second, next}; }
  void add(int64_t index, int n) {
    sum += Wide(first.of(index)) * uint64_t(RunOfCoordinate(second, index, n).sum);
  }
  void combine_lanes() { sum = warp_sum(sum); }
  void send() const { ShapeWords(table, component, ndim).add_product(k, l, sum); }
};

// A turn for each axis and each pair; the extent is that of an item.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads) measure_runs(Runs runs, Extent extent, int64_t* table) {
  follow_launch();
  const int64_t ndim = extent.ndim;
  const Turn turn(int(ShapeWords::pairs(ndim)));
  if (turn.number < ndim) {
    AxisSum sum{table, ndim, turn.number, Coordinate(turn.number, extent)};
    walk_runs(runs, turn, sum);
    return;
  }
  int64_t k = 0, l = turn.number - ndim;
  for (; l >= ndim - 1 - k; ++k) l -= ndim - 1 - k;
  l += k + 1;
  PairSum sum{table, ndim, k, l, Coordinate(k, extent), Coordinate(l, extent)};
  walk_runs(runs, turn, sum);
}

template <int axes> struct SumsOfAxes {
  static constexpr int kLast = axes - 1;

  int64_t* table;
  ItemAxes<axes> item;
  int64_t component = 0, size = 0, first[axes] = {}, last[axes] = {}, sum[axes] = {};
  int64_t products[axes][axes] = {};  // of which those above the diagonal, and on it, are used

  void begin(int64_t next) {
    component = next;
    size = 0;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      first[k] = kLargest;
      last[k] = sum[k] = 0;
#pragma unroll
      for (int l = k; l < axes; ++l) products[k][l] = 0;
    }
  }
  void add(int64_t index, int n) {
    int64_t at[axes];
    item.locate(index, at);
    const int64_t x = at[kLast], pairs = n * (n - 1) / 2, line = x * n + pairs;
    size += n;
    last[kLast] = larger(last[kLast], x + n - 1);
    sum[kLast] += line;
    products[kLast][kLast] += x * (line + pairs) + pairs * (2 * n - 1) / 3;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      first[k] = smaller(first[k], at[k]);
      if (k == kLast) continue;
      last[k] = larger(last[k], at[k]);
      sum[k] += at[k] * n;
      products[k][kLast] += at[k] * line;
#pragma unroll
      for (int l = k; l < kLast; ++l) products[k][l] += at[k] * at[l] * n;
    }
  }
  void combine_lanes() {
    size = warp_sum(size);
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      first[k] = over_lanes(first[k], smaller<int64_t>);
      last[k] = over_lanes(last[k], larger<int64_t>);
      sum[k] = warp_sum(sum[k]);
#pragma unroll
      for (int l = k; l < axes; ++l) products[k][l] = warp_sum(products[k][l]);
    }
  }
  void send() const {
    const ShapeWords words(table, component, axes);
    Concurrent::fetch_add(&words.size(), size);
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      Concurrent::fetch_min(&words.first(k), first[k]);
      Concurrent::fetch_max(&words.last(k), last[k]);
      Concurrent::fetch_add(&words.sum(k), sum[k]);
#pragma unroll
      for (int l = k; l < axes; ++l) Concurrent::fetch_add(words.product(k, l), products[k][l]);
    }
  }
};

// As measure_runs, where the square of the longest axis times the elements has 63 bits.
template <int axes>
__global__ void __launch_bounds__(kTableThreads)
    measure_runs_at_once(Runs runs, Extent extent, int64_t* table) {
  follow_launch();
  SumsOfAxes<axes> sums{table, ItemAxes<axes>(extent)};
  walk_runs(runs, Turn(1), sums);
}

// A row for each component. Layout: shapes.py.
struct ShapeColumns {
  int64_t *labels, *sizes, *boxes, *batch;
  double *centroids, *moments;  // of these none, where they are not wanted
};

template <int = 0>
__global__ void __launch_bounds__(kTableThreads)
    write_columns(int64_t ndim, Extent batch, RunTable rows, int64_t* table, ShapeColumns columns) {
  follow_launch();
  const int64_t components = rows.state->components, item_rows = rows.state->item_rows;
  for (int64_t number = grid_thread(); number < components; number += grid_threads()) {
    const ShapeWords words(table, number, ndim);
    const int64_t row = rows.present[number], size = words.size(), first = number * ndim;
    int64_t item = batch.ndim > 0 ? quotient(row, item_rows) : 0;
    columns.labels[number] = row - item * item_rows;
    columns.sizes[number] = size;
    for (int64_t axis = batch.ndim - 1; axis >= 0; --axis) {
      columns.batch[number * batch.ndim + axis] = item % batch.length(axis);
      item /= batch.length(axis);
    }
    for (int64_t k = 0; k < ndim; ++k) {
      columns.boxes[2 * (first + k)] = words.first(k);
      columns.boxes[2 * (first + k) + 1] = words.last(k) + 1;
      columns.centroids[first + k] = double(words.sum(k)) / double(size);
    }
    for (int64_t k = 0; columns.moments != nullptr && k < ndim; ++k) {
      double* const moments = columns.moments + first * ndim;
      for (int64_t l = k; l < ndim; ++l)
        moments[k * ndim + l] = moments[l * ndim + k] = words.covariance(k, l);
    }
  }
}

}
