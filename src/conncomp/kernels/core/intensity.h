// Columns of the values of an image within components, from sums of whole numbers.
#pragma once

#include "core/fixed_point.h"

namespace conncomp {

template <class Value> constexpr auto given_sum() {
  if constexpr (kIsReal<Value>)
    return double();
  else if constexpr (Value(-1) < Value(0))
    return int64_t();
  else
    return uint64_t();
}
template <class Value> using GivenSum = decltype(given_sum<Value>());

template <class Value> struct IntensityColumns {
  GivenSum<Value>* sums;
  double* means;
  Value *minima, *maxima;
  double* centroids;

  // Writes the row of a component of that size. sum_at(0) is the sum of its values, sum_at(1 + k) that of
  // values times coordinates along axis k, from box[2 * k] on. Returns whether the sum fits its column.
  bool write(int64_t row, typename Order<Value>::Key low_key, typename Order<Value>::Key high_key,
      const Units<Value>& units, int64_t size, int axes, const int64_t* box, auto&& sum_at) const {
    const Value low = Order<Value>::value(low_key), high = Order<Value>::value(high_key);
    const auto sum = sum_at(0);
    bool fits = true, finite = true;
    means[row] = units.mean(sum, size);
    if constexpr (kIsReal<Value>) {
      finite = Reach<Value>(low_key, high_key).finite;
      sums[row] = finite ? units.total(sum) : double(low) + double(high);
      if (!finite) means[row] = sums[row];
    } else {
      sums[row] = GivenSum<Value>(sum);
      fits = decltype(sum)(sums[row]) == sum;
    }
    minima[row] = high != high ? high : low;
    maxima[row] = low != low ? low : high;
#pragma unroll 1
    for (int k = 0; k < axes; ++k) {
      const double offset = as_real(sum_at(1 + k)) / as_real(sum);
      centroids[row * axes + k] =
          finite ? double(box[2 * k]) + offset : bits_as<double>(uint64_t(0x7ff8000000000000));
    }
    return fits;
  }
};

}
