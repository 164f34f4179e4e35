// Values within components: sums, extremes, weighted centroids. A pass for extremes, one for sums of integers
// (core/fixed_point.h), independent of threads: reals in units set by the component's largest magnitude.
// Coordinates count from the box, to keep products small. Integers of up to two bytes need one pass.
#pragma once

#include "core/intensity.h"
#include "cpu/components/known_components.h"

namespace conncomp {

// The type of sums over words and over all.
template <class Value> constexpr bool kNarrow = std::is_integral_v<Value> && sizeof(Value) <= 2;
template <class Value> using SumOf = std::conditional_t<kNarrow<Value>, int64_t, __int128>;
// Components as measured before, with boxes as (axis, first and end).
struct MeasuredComponents {
  const int64_t *sizes, *boxes;
};

template <class Sum> struct WordSums {
  Sum values, products;
};

// Out of line, as the loops around have no registers left for this one.
template <class Value>
[[gnu::noinline]] WordSums<SumOf<Value>> sums_by_halves(
    const Value* values, const auto& places, const Units<Value>& units) {
  // Unsigned, as values that somebody changes meanwhile may be any.
  uint64_t high = 0, low = 0, high_products = 0, low_products = 0;
  places.for_each([&, values](int64_t p) {
    const Halves halves = units.of(values[p]);
    high += uint64_t(halves.high), high_products += uint64_t(halves.high) * uint64_t(p);
    low += uint64_t(halves.low), low_products += uint64_t(halves.low) * uint64_t(p);
  });
  const auto whole = [&](uint64_t high, uint64_t low) {
    return SumOf<Value>((unsigned __int128)(__int128(int64_t(high))) << units.shift()) + int64_t(low);
  };
  return {whole(high, low), whole(high_products, low_products)};
}

template <class Value>
inline WordSums<SumOf<Value>> sums_at(const Value* values, const auto& places, const Units<Value>& units) {
  if constexpr (sizeof(Value) <= 4 && !kIsReal<Value>) {
    using Small = std::conditional_t<kNarrow<Value>, int32_t, int64_t>;
    Small sum = 0, products = 0;
    places.for_each([&, values](int64_t p) {
      const Small value = values[p];
      sum += value;
      products += value * Small(p);
    });
    return {sum, products};
  } else {
    return sums_by_halves(values, places, units);
  }
}

template <class Value> struct StretchSums {
  Value low, high;
  int32_t values, products;
};

// A word's places, for a loop of vectors, and how many are too few for one.
constexpr std::array<int16_t, kWord> kPlaces = [] {
  std::array<int16_t, kWord> places{};
  for (int p = 0; p < kWord; ++p) places[p] = int16_t(p);
  return places;
}();
constexpr int64_t kFewPlaces = 8;

// Sums of `count` values of `room` readable ones: those behind count as the first, for equal steps.
template <int64_t room, class Value>
[[gnu::noinline]] StretchSums<Value> sums_of_stretch(const Value* values, int64_t count) {
  constexpr int32_t kMiddle = std::is_same_v<Value, uint16_t> ? 1 << 15 : 0;
  const int16_t first = int16_t(values[0] - kMiddle), end = int16_t(count);
  int16_t low = first, high = first;
  int32_t sum = 0, products = 0;
  for (int64_t p = 0; p < room; ++p) {
    const int16_t own = int16_t(values[p] - kMiddle), value = kPlaces[p] < end ? own : first;
    low = std::min(low, value), high = std::max(high, value);
    sum += value;
    products += int32_t(value) * kPlaces[p];
  }
  const auto places = [](int64_t n) { return int32_t(n * (n - 1) / 2); };
  sum += kMiddle * int32_t(count) - first * int32_t(room - count);
  products += kMiddle * places(count) - first * (places(room) - places(count));
  return {Value(low + kMiddle), Value(high + kMiddle), sum, products};
}

template <class Value> class Intensities {
  using Key = typename Order<Value>::Key;
  using Sum = SumOf<Value>;
  using UnsignedSum = std::conditional_t<kNarrow<Value>, uint64_t, unsigned __int128>;

 public:
  Intensities(const LabelledItems& items, const Value* values, const RowsOfLabels& rows,
      const MeasuredComponents& components, int bits)
      : values_(values),
        count_(items.labels.count()),
        axes_(int(items.shape.size())),
        bits_(bits),
        components_(components) {
    const auto no_state = [] { return 0; };
    if constexpr (kNarrow<Value>) {
      sums_ = make_table<UnsignedSum>(
          items, rows, kKeys + 1 + axes_, no_state,
          [this](int, auto& table, const auto& part) { this->add_all(table, part); },
          [](UnsignedSum& entry, UnsignedSum other, int64_t place) {
            entry = place < kKeys ? std::max(entry, other) : entry + other;
          });
      return;
    }
    const auto add = [](UnsignedSum& sum, UnsignedSum addend) { sum += addend; };
    const auto widen = [](Key& key, Key addend) { key = std::max(key, addend); };
    extremes_ = make_table<Key>(
        items, rows, 2, no_state,
        [this](int, auto& table, const auto& part) { this->add_keys(table.touch(part.row), part); }, widen);
    if constexpr (kIsReal<Value>) {
      exponents_ = Buffer<int>(rows.count());
      for_each_index(rows.count(), [&](int64_t row) {
        exponents_[row] = Reach<Value>(Key(~extremes_[row][0]), extremes_[row][1]).exponent;
      });
    }
    sums_ = make_table<UnsignedSum>(
        items, rows, 1 + axes_, no_state,
        [this](int, auto& table, const auto& part) { this->add_values(table.touch(part.row), part); }, add);
  }

  // Returns whether all sums fit their columns.
  bool write(int64_t rows, const IntensityColumns<Value>& columns) const {
    std::atomic<bool> fit{true};
    for_each_index(rows, [&](int64_t row) {
      if (!write_row(columns, row)) fit.store(false, std::memory_order_relaxed);
    });
    return fit;
  }

 private:
  // Keys begin with the complement of the smallest, as a table begins with zeros.
  static constexpr int kKeys = 2;
  void add_keys(auto* row, const auto& part) const {
    const Value* const word = values_ + part.index;
    Key low = std::numeric_limits<Key>::max(), high = 0;
    part.places.for_each([&, word](int64_t p) {
      const Key key = Order<Value>::key(word[p]);
      low = std::min(low, key), high = std::max(high, key);
    });
    widen(row, low, high);
  }

  template <class Entry> static void widen(Entry* row, Key low, Key high) {
    row[0] = std::max(row[0], Entry(Key(~low))), row[1] = std::max(row[1], Entry(high));
  }

  template <class Places> void add_all(RowTable<UnsignedSum>& table, const Part<Places>& part) const {
    UnsignedSum* const row = table.touch(part.row);
    if constexpr (std::is_same_v<Places, Stretch>) {
      const int64_t begin = part.places.begin, count = part.places.size(), from = part.index + begin;
      if (count >= kFewPlaces && from + kWord <= count_) {
        const Value* const values = values_ + from;
        const auto sums = count <= kWord / 2 ? sums_of_stretch<kWord / 2>(values, count)
                                             : sums_of_stretch<kWord>(values, count);
        widen(row, Order<Value>::key(sums.low), Order<Value>::key(sums.high));
        return add_sums(row + kKeys, part, {sums.values, sums.products + begin * sums.values});
      }
    }
    add_keys(row, part);
    add_values(row + kKeys, part);
  }

  void add_values(UnsignedSum* row, const auto& part) const {
    add_sums(row, part, sums_at(values_ + part.index, part.places, units_of(part.row)));
  }

  void add_sums(UnsignedSum* row, const auto& part, const WordSums<Sum>& sums) const {
    const auto [sum, products] = sums;
    const int64_t* const box = components_.boxes + 2 * part.row * axes_;
    const int last = axes_ - 1;
    row[0] += UnsignedSum(sum);
    for (int k = 0; k < last; ++k) row[1 + k] += UnsignedSum(sum) * UnsignedSum(part.place[k] - box[2 * k]);
    row[1 + last] += UnsignedSum(sum) * UnsignedSum(part.first - box[2 * last]) + UnsignedSum(products);
  }

  bool write_row(const IntensityColumns<Value>& columns, int64_t row) const {
    const auto write = [&](Key low, Key high, const UnsignedSum* sums) {
      const auto sum_at = [sums](int k) { return Sum(sums[k]); };
      return columns.write(row, low, high, units_of(row), components_.sizes[row], axes_,
          components_.boxes + 2 * row * axes_, sum_at);
    };
    if constexpr (kNarrow<Value>)
      return write(Key(~sums_[row][0]), Key(sums_[row][1]), sums_[row] + kKeys);
    else
      return write(Key(~extremes_[row][0]), extremes_[row][1], sums_[row]);
  }

  Units<Value> units_of(int64_t row) const {
    if constexpr (kIsReal<Value>)
      return {exponents_[row], bits_};
    else
      return {};
  }

  const Value* values_;
  int64_t count_;
  int axes_, bits_;
  MeasuredComponents components_;
  RowTable<Key> extremes_;
  Buffer<int> exponents_;       // above the magnitudes of floating-point values
  RowTable<UnsignedSum> sums_;  // of narrow values, behind their extremes
};

}
