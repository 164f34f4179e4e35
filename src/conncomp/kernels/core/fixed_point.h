// Values as whole numbers, so that extremes and sums depend neither on order nor device: keys in the order of
// values (Order), and values in units whose sums are exact (Units). A real is rounded to a multiple of 2^(e -
// bits), 2^e above all magnitudes of its component: adding a constant twice leaves the multiple in the sum's
// last bits, then what was rounded away, both exactly (Rump, Ogita, Oishi 2008; units: Demmel and Nguyen
// 2015). At 80 bits a sum is as good as rounded once unless values cancel to 2^-27.
#pragma once

#include "core/platform.h"

#ifndef __CUDACC_RTC__
#include <cstring>
#endif

namespace conncomp {

template <class To, class From> inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

template <int bytes> constexpr auto unsigned_of() {
  if constexpr (bytes == 1)
    return uint8_t();
  else if constexpr (bytes == 2)
    return uint16_t();
  else if constexpr (bytes == 4)
    return uint32_t();
  else
    return uint64_t();
}

template <class Value> constexpr bool kIsReal = Value(0.5) != Value(0);

// NaN comes before or after all numbers, by its sign; -0 before 0.
template <class Value> struct Order {
  using Key = decltype(unsigned_of<int(sizeof(Value))>());
  static constexpr Key kSign = Key(Key(1) << (8 * sizeof(Key) - 1));
  static constexpr bool kSigned = Value(-1) < Value(0);

  static Key key(Value value) {
    const Key bits = bits_as<Key>(value);
    if constexpr (kIsReal<Value>)
      return bits & kSign ? Key(~bits) : Key(bits | kSign);
    else
      return kSigned ? Key(bits ^ kSign) : bits;
  }
  static Value value(Key key) {
    if constexpr (kIsReal<Value>)
      return bits_as<Value>(key & kSign ? Key(key ^ kSign) : Key(~key));
    else
      return bits_as<Value>(kSigned ? Key(key ^ kSign) : key);
  }
};

// A number as high * 2^shift + low.
struct Halves {
  int64_t high, low;
};

// A conversion of wide integers takes long.
inline double as_real(double sum) { return sum; }
inline double as_real(auto sum) { return int64_t(sum) == sum ? double(int64_t(sum)) : double(sum); }

inline double power_of_two(int exponent) { return bits_as<double>(uint64_t(exponent + 1023) << 52); }

// Integers in units of 1. Those of four bytes and less need no high half.
template <class Value, bool real = kIsReal<Value>> struct Units {
  static constexpr int kShift = 32;
  static int shift() { return kShift; }
  static Halves of(Value value) {
    if constexpr (sizeof(Value) < 8)
      return {0, int64_t(value)};
    else
      return {int64_t(value >> kShift), int64_t(uint32_t(value))};
  }
  static double total(auto sum) { return as_real(sum); }
  static double mean(auto sum, int64_t size) { return total(sum) / double(size); }
};

// Finite numbers of magnitudes below 2^exponent in units of 2^(exponent - bits), of 43 to 94 bits.
template <class Value> struct Units<Value, true> {
  static constexpr int kHighBits = 42;  // those of 64 values, times places of up to 63, fit into 64
  // Too large numbers are made smaller; what that rounds is far below a unit.
  static constexpr int kLarge = 960, kSmaller = 64;

  double scale, high, low;
  int exponent, bits;

  Units(int least_exponent, int bits)
      : scale(least_exponent > kLarge ? power_of_two(-kSmaller) : 1), bits(bits) {
    constexpr int kLeast = -1074, kDigits = 52;
    exponent = least_exponent < kLeast + bits ? kLeast + bits : least_exponent;
    const int above = exponent > kLarge ? exponent - kSmaller : exponent;
    high = 1.5 * power_of_two(above - kHighBits + kDigits);
    low = 1.5 * power_of_two(above - bits + kDigits);
  }

  int shift() const { return bits - kHighBits; }
  // Any numbers for a value not finite or too large, as changes meanwhile may make it.
  Halves of(Value value) const {
    const double number = double(value) * scale, rounded = number + high;
    const double remainder = (number - (rounded - high)) + low;
    return {int64_t(bits_as<uint64_t>(rounded) - bits_as<uint64_t>(high)),
        int64_t(bits_as<uint64_t>(remainder) - bits_as<uint64_t>(low))};
  }
  // Infinite for a sum beyond the largest number.
  double total(auto sum) const { return in_ones(as_real(sum)); }
  // Divides a finite total, as a quotient scaled below the normal numbers would be rounded again.
  double mean(auto sum, int64_t size) const {
    constexpr double kLargest = 0x1.fffffffffffffp1023;
    const double whole = total(sum);
    const bool finite = -kLargest <= whole && whole <= kLargest;
    return finite ? whole / double(size) : in_ones(as_real(sum) / double(size));
  }

 private:
  // In two steps, as the power need not be a normal number.
  double in_ones(double count) const {
    const int power = exponent - bits;
    return count * power_of_two(power / 2) * power_of_two(power - power / 2);
  }
};

template <class Value> class Reach {
 public:
  bool finite;
  int exponent;

  Reach(typename Order<Value>::Key low, typename Order<Value>::Key high) {
    constexpr int kNotFinite = 2047, kBias = 1022;
    const int low_exponent = biased(low), high_exponent = biased(high),
              largest = low_exponent < high_exponent ? high_exponent : low_exponent;
    finite = largest < kNotFinite;
    exponent = largest - kBias;
  }

 private:
  static int biased(typename Order<Value>::Key key) {
    return int(bits_as<uint64_t>(double(Order<Value>::value(key))) >> 52 & 2047);
  }
};

// Weights in order as unsigned numbers: signs turned, and other bits of negatives. Masks say the type.
template <class Bits> struct WeightOrder {
  Bits minus_zero;  // or 0
  Bits negative;    // bits turned in negative numbers, but for the sign
  Bits sign;        // the highest bit, or 0 where there is no sign

  Bits operator()(Bits bits) const {
    if (bits == minus_zero) bits = 0;
    const Bits is_negative = Bits(0) - (bits >> (8 * sizeof(Bits) - 1));
    return bits ^ ((is_negative & negative) | sign);
  }
};

}
