// Values of an image within components: sums, extremes and weighted centroids, as
// cpu/components/intensities.h, to the bit. A thread goes through the values of its runs (runs.cuh). After
// find_extremes, add_values, an axis a turn, adds up values and values times coordinates as whole numbers of
// 128 bits (core/fixed_point.h), in any order; write_intensities makes columns. For integers of up to 16 bits
// in two and three dimensions add_small_values does all at once, with squares. Cost: values read once for
// extremes and once for each axis. Memory: 4 + 2 n words per component.
#pragma once

#include "core/intensity.h"
#include "cuda/components/shapes.cuh"

#ifndef __CUDACC__
#include <cmath>
#endif

namespace conncomp {

constexpr int kIntensityThreads = 256;

// The complement of the key of the smallest value, and the key of the largest.
template <class Value> struct ExtremeKeys {
  using Key = typename Order<Value>::Key;

  const Value* values;
  uint64_t* extremes;
  int64_t component = 0;
  uint64_t low = 0, high = 0;

  void begin(int64_t next) { *this = {values, extremes, next}; }
  void add(int64_t index, int n) {
    for (int i = 0; i < n; ++i) meet(values[index + i]);
  }
  void meet(Value value) {
    const Key key = Order<Value>::key(value);
    low = larger(low, uint64_t(Key(~key)));
    high = larger(high, uint64_t(key));
  }
  void combine_lanes() {
    low = over_lanes(low, larger<uint64_t>);
    high = over_lanes(high, larger<uint64_t>);
  }
  void send() const {
    Concurrent::fetch_max(extremes + 2 * component, low);
    Concurrent::fetch_max(extremes + 2 * component + 1, high);
  }
};

// `extremes` has two words per component, zeros at first.
template <class Value>
__global__ void __launch_bounds__(kIntensityThreads)
    find_extremes(Runs runs, const Value* __restrict__ values, uint64_t* extremes) {
  follow_launch();
  ExtremeKeys<Value> keys{values, extremes};
  walk_runs(runs, Turn(1), keys);
}

// What find_extremes found, and the bits of the units of sums. Layout: intensities.py.
template <class Value> struct ValueRanges {
  using Key = typename Order<Value>::Key;

  const uint64_t* extremes;
  int64_t bits;

  Key low_key(int64_t row) const { return Key(~__ldg(extremes + 2 * row)); }
  Key high_key(int64_t row) const { return Key(__ldg(extremes + 2 * row + 1)); }
  Units<Value> units(int64_t row) const {
    if constexpr (kIsReal<Value>)
      return {Reach<Value>(low_key(row), high_key(row)).exponent, int(bits)};
    else
      return {};
  }
};

// The sum of values times coordinates along an axis; with the first axis, also of values.
template <class Value> struct ValueSum {
  static constexpr bool kHalved = kIsReal<Value> || sizeof(Value) == 8;

  const Value* values;
  ValueRanges<Value> ranges;
  const int64_t* boxes;  // first and last coordinates along each axis
  int64_t* table;        // of 2 (1 + ndim) words for each component
  int64_t ndim, axis;
  Coordinate coordinate;
  Units<Value> units;
  int64_t component = 0, corner = 0;
  Wide sum = 0, products = 0;

  void begin(int64_t next) {
    component = next;
    corner = boxes[2 * (component * ndim + axis)];
    units = ranges.units(component);
    sum = products = 0;
  }
  void add(int64_t index, int n) {
    // Sums of 32 halves, times up to 31, fit into 64 bits, unless somebody changes labels.
    uint64_t high = 0, low = 0, high_products = 0, low_products = 0;
    for (int i = 0; i < n; ++i) {
      const Halves halves = units.of(values[index + i]);
      low += uint64_t(halves.low);
      low_products += uint64_t(halves.low) * i;
      if constexpr (kHalved) {
        high += uint64_t(halves.high);
        high_products += uint64_t(halves.high) * i;
      }
    }
    const auto whole = [&](uint64_t high, uint64_t low) {
      const Wide above = kHalved ? Wide(__int128(int64_t(high))) << units.shift() : Wide(0);
      return above + Wide(__int128(int64_t(low)));
    };
    const Wide run = whole(high, low);
    sum += run;
    products += run * Wide(__int128(coordinate.of(index) - corner));
    if (coordinate.along) products += whole(high_products, low_products);
  }
  void combine_lanes() {
    sum = warp_sum(sum);
    products = warp_sum(products);
  }
  void send() const {
    int64_t* const words = table + 2 * component * (1 + ndim);
    if (axis == 0) add_wide(words, words + 1, sum);
    add_wide(words + 2 * (1 + axis), words + 2 * (1 + axis) + 1, products);
  }
};

// A turn for each axis; the extent is that of an item.
template <class Value>
__global__ void __launch_bounds__(kIntensityThreads)
    add_values(Runs runs, Extent extent, const Value* __restrict__ values, ValueRanges<Value> ranges,
        const int64_t* __restrict__ boxes, int64_t* table) {
  follow_launch();
  const Turn turn(int(extent.ndim));
  const Coordinate coordinate(turn.number, extent);
  ValueSum<Value> sum{values, ranges, boxes, table, extent.ndim, turn.number, coordinate, ranges.units(0)};
  walk_runs(runs, turn, sum);
}

// Makes the columns; sets `lost` if a sum does not fit its column.
template <class Value>
__global__ void __launch_bounds__(kIntensityThreads) write_intensities(const RunState* state, int64_t ndim,
    const int64_t* __restrict__ sizes, const int64_t* __restrict__ boxes, ValueRanges<Value> ranges,
    const int64_t* __restrict__ table, IntensityColumns<Value> columns, int64_t* lost) {
  follow_launch();
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const auto sum_at = [&](int64_t number) {
      const int64_t* const words = table + 2 * (row * (1 + ndim) + number);
      return __int128(wide_of(words[0], words[1]));
    };
    const Units<Value> units = ranges.units(row);
    const int64_t* const box = boxes + 2 * row * ndim;
    if (!columns.write(
            row, ranges.low_key(row), ranges.high_key(row), units, sizes[row], int(ndim), box, sum_at))
      Concurrent::store(lost, int64_t(1));
  }
}

// A component's words, zeros at first: complement of the smallest value's key, the largest's key, sums of
// values, of squares, and of values times coordinates.
template <int axes> struct SmallWords {
  static constexpr int kCount = 4 + axes;
  int64_t* words;

  SmallWords(int64_t* table, int64_t component) : words(table + component * kCount) {}
  uint64_t* extremes() const { return reinterpret_cast<uint64_t*>(words); }
  int64_t& sum() const { return words[2]; }
  int64_t& squares() const { return words[3]; }
  int64_t& product(int axis) const { return words[4 + axis]; }
};

template <class Value, int axes> struct SmallValueSums {
  using Keys = ExtremeKeys<Value>;
  static constexpr int kLast = axes - 1;

  const Value* values;
  int64_t* table;
  ItemAxes<axes> item;
  int64_t component = 0, sum = 0, squares = 0, products[axes] = {};
  Keys keys = {};

  void begin(int64_t next) { *this = {values, table, item, next}; }
  void add(int64_t index, int n) {
    int64_t at[axes], squares_of_run = 0;
    item.locate(index, at);
    int of_run = 0, line = 0, low = values[index], high = low;
    for (int i = 0; i < n; ++i) {
      const int value = values[index + i];
      low = value < low ? value : low;
      high = value > high ? value : high;
      of_run += value;
      line += value * i;
      squares_of_run += int64_t(value) * value;
    }
    keys.meet(Value(low));
    keys.meet(Value(high));
    sum += of_run;
    squares += squares_of_run;
    products[kLast] += line;
#pragma unroll
    for (int k = 0; k < axes; ++k) products[k] += at[k] * of_run;
  }
  void combine_lanes() {
    keys.combine_lanes();
    sum = warp_sum(sum);
    squares = warp_sum(squares);
#pragma unroll
    for (int k = 0; k < axes; ++k) products[k] = warp_sum(products[k]);
  }
  void send() const {
    const SmallWords<axes> words(table, component);
    Concurrent::fetch_max(words.extremes(), keys.low);
    Concurrent::fetch_max(words.extremes() + 1, keys.high);
    Concurrent::fetch_add(&words.sum(), sum);
    Concurrent::fetch_add(&words.squares(), squares);
#pragma unroll
    for (int k = 0; k < axes; ++k) Concurrent::fetch_add(&words.product(k), products[k]);
  }
};

// All sums have 63 bits.
template <class Value, int axes>
__global__ void __launch_bounds__(kIntensityThreads)
    add_small_values(Runs runs, Extent extent, const Value* __restrict__ values, int64_t* table) {
  follow_launch();
  SmallValueSums<Value, axes> sums{values, table, ItemAxes<axes>(extent)};
  walk_runs(runs, Turn(1), sums);
}

template <class Value, int axes> struct ShapesAndValues {
  SumsOfAxes<axes> shapes;
  SmallValueSums<Value, axes> values;

  void begin(int64_t next) {
    shapes.begin(next);
    values.begin(next);
  }
  void add(int64_t index, int n) {
    shapes.add(index, n);
    values.add(index, n);
  }
  void combine_lanes() {
    shapes.combine_lanes();
    values.combine_lanes();
  }
  void send() const {
    shapes.send();
    values.send();
  }
};

// Words of values are behind those of shapes of all components.
template <class Value, int axes>
__global__ void __launch_bounds__(kIntensityThreads)
    measure_runs_and_values(Runs runs, Extent extent, const Value* __restrict__ values, int64_t* table) {
  follow_launch();
  const ItemAxes<axes> item(extent);
  int64_t* const sums = table + runs.state->components * ShapeWords::count(axes);
  ShapesAndValues<Value, axes> measures{{table, item}, {values, sums, item}};
  walk_runs(runs, Turn(1), measures);
}

// Writes standard deviation, minimum and maximum as real numbers, one behind those of all.
template <class Value>
void write_reals(const IntensityColumns<Value>& columns, int64_t row, int64_t components, int64_t size,
    int64_t sum, int64_t squares, double* reals) {
  const __int128 deviation = __int128(size) * squares - __int128(sum) * sum;
  reals[row] = sqrt(as_real(deviation)) / double(size);
  reals[components + row] = double(columns.minima[row]);
  reals[2 * components + row] = double(columns.maxima[row]);
}

// As write_intensities, with deviations, minima and maxima as reals; the table has words `ahead`.
template <class Value, int axes>
__global__ void __launch_bounds__(kIntensityThreads)
    write_small_intensities(const RunState* state, int64_t ahead, const int64_t* __restrict__ sizes,
        const int64_t* __restrict__ boxes, int64_t* table, IntensityColumns<Value> columns, double* reals) {
  follow_launch();
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const SmallWords<axes> words(table + ahead * state->components, row);
    const int64_t* const box = boxes + 2 * row * axes;
    const int64_t sum = words.sum(), size = sizes[row];
    const auto sum_at = [&](int number) {
      return __int128(number == 0 ? sum : words.product(number - 1) - box[2 * (number - 1)] * sum);
    };
    const ValueRanges<Value> ranges{words.extremes(), 0};
    columns.write(row, ranges.low_key(0), ranges.high_key(0), Units<Value>{}, size, axes, box, sum_at);
    write_reals(columns, row, state->components, size, sum, words.squares(), reals);
  }
}

// Quantiles of values within components, as cpu/components/moments.h. list_keys lists values' keys with the
// component above or, for 64-bit keys, beside; the host sorts them, and write_quantiles looks at places.
// Cost: values read once, and a sort. Memory: 8 or 16 bytes per element.
template <class Value> struct KeyList {
  static constexpr bool kIsPacked = sizeof(Value) < 8;
  static constexpr int kKeyBits = 32;

  const Value* values;
  int64_t* next;
  uint64_t *keys, *owners;
  int64_t component = 0;

  void begin(int64_t following) { component = following; }
  void add(int64_t index, int n) {
    const int64_t place = Concurrent::fetch_add(next + component, int64_t(n));
    for (int i = 0; i < n; ++i) {
      const uint64_t key = Order<Value>::key(values[index + i]);
      keys[place + i] = kIsPacked ? uint64_t(component) << kKeyBits | key : key;
      if (!kIsPacked) owners[place + i] = uint64_t(component);
    }
  }
  void combine_lanes() {}
  void send() const {}
};

// `next` has where each component's values begin, and gets where they end.
template <class Value>
__global__ void __launch_bounds__(kTableThreads)
    list_keys(Runs runs, const Value* __restrict__ values, int64_t* next, uint64_t* keys, uint64_t* owners) {
  follow_launch();
  KeyList<Value> list{values, next, keys, owners};
  walk_runs(runs, Turn(1), list);
}

template <class Value>
__global__ void __launch_bounds__(kTableThreads) write_quantiles(const RunState* state,
    const int64_t* __restrict__ sizes, const int64_t* __restrict__ ends, const uint64_t* __restrict__ keys,
    double fraction, double* quantiles) {
  follow_launch();
  using Key = typename Order<Value>::Key;
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const int64_t size = sizes[row];
    if (size == 0) continue;  // labels have changed since they were counted
    const auto ranked = [&](int64_t rank) {
      return double(Order<Value>::value(Key(keys[ends[row] - size + rank])));
    };
    const double place = fraction * double(size - 1), first = ranked(0), last = ranked(size - 1);
    const int64_t below = int64_t(place), above = below + 1 < size ? below + 1 : size - 1;
    const double part = place - double(below), low = ranked(below), high = ranked(above);
    double between = part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
    if (part == 0.5) between = (low + high) / 2;
    if (part == 0 || above == below) between = low;
    // NaN sorts before all numbers, or after them.
    quantiles[row] = first != first ? first : last != last ? last : between;
  }
}

}
