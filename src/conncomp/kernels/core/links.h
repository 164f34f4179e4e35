// The link rules: structs that say whether two elements one step apart are linked, mutually. A rule has
// Value, the type of the array's elements, and Site, what is read of one, once, by site(values, offset);
// is_background(site), whether it is in no component; and linked(values, from, to, axis, forward), whether
// two sites are linked, `to` one step from `from`, which is foreground: axis, from the last one, and
// direction are those of bonds, across faces. kTransitive: two elements linked to a third one are linked
// wherever they are neighbours. kDense: a link is likely where others connect its ends, too. kOneValue, asked
// of transitive rules: all neighbouring foreground is linked. To add a rule: a struct here, a line in RULES
// of cuda/grid/image.py and one in bindings/link_rules.cpp; the CPU links 64 elements at once (link_words.h).
#pragma once

#include "core/platform.h"

namespace conncomp {

// A 16-bit floating-point number, for comparison only.
struct Half {
  uint16_t bits;

  friend bool operator==(Half a, Half b) {
    const unsigned magnitude = (a.bits | b.bits) & 0x7fffu;
    return magnitude == 0 || (a.bits == b.bits && (a.bits & 0x7fffu) <= 0x7c00u);  // zeros; NaN
  }

  double real() const {
    const uint64_t sign = uint64_t(bits >> 15) << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
      const double magnitude = double(fraction) / (1 << 24);
      return sign ? -magnitude : magnitude;
    }
    constexpr uint64_t kDoubleBias = 1023, kBias = 15;
    const uint64_t moved = exponent == 31 ? 2047 : exponent + (kDoubleBias - kBias);
    const uint64_t all = sign | moved << 52 | fraction << 42;
    double number;
    memcpy(&number, &all, sizeof(number));
    return number;
  }
};

// The background of an array of values, if any. NaN stands for all NaNs.
template <class T> struct Background {
  T value;
  bool present;

  bool is(T element) const { return present && (value == value ? element == value : !(element == element)); }
};

template <class T> struct Equal {
  using Value = T;
  using Site = T;
  static constexpr bool kTransitive = true, kDense = true, kOneValue = false;
  Background<T> background;

  Site site(const T* values, int64_t offset) const { return values[offset]; }
  bool is_background(Site site) const { return background.is(site); }
  bool linked(T a, T b) const { return a == b; }
  // What equals foreground is foreground.
  bool linked(const T*, Site from, Site to, int, bool) const { return linked(from, to); }
};

// Elements above a threshold are linked, others background: for the bricks of a GPU.
template <class T> struct Above {
  using Value = T;
  static constexpr bool kTransitive = true, kDense = true, kOneValue = true;
  T threshold;

  bool is_foreground(T value) const { return value > threshold; }
};

// How a tolerance compares: integers as unsigned, the sign bit turned; reals as float64.
template <class T> struct Distance {
  T limit, turn;  // turn: the highest bit if the values are signed

  bool within(T a, T b) const {
    a ^= turn;
    b ^= turn;
    const T difference = a < b ? b - a : a - b;
    return difference <= limit;
  }
};
struct RealDistance {
  double limit;

  bool within(double a, double b) const {
    const double difference = a - b;
    // Infinities are equal, but their difference is NaN. Without branches, which are not vectorised.
    return int(a == b) | (int(difference <= limit) & int(difference >= -limit));
  }
};
template <> struct Distance<float> : RealDistance {};
template <> struct Distance<double> : RealDistance {};
template <> struct Distance<Half> : RealDistance {
  bool within(Half a, Half b) const { return RealDistance::within(a.real(), b.real()); }
};

template <class T> struct Within {
  using Value = T;
  using Site = T;
  static constexpr bool kTransitive = false, kDense = true;
  Background<T> background;
  Distance<T> distance;

  Site site(const T* values, int64_t offset) const { return values[offset]; }
  bool is_background(Site site) const { return background.is(site); }
  bool linked(T a, T b) const { return distance.within(a, b); }
  bool linked(const T*, Site from, Site to, int, bool) const {
    return linked(from, to) && !background.is(to);
  }
};

// A bit of the byte at a site's offset joins it to the next along an axis, in a plane for each axis or one.
struct Bonds {
  using Value = uint8_t;
  using Site = int64_t;  // the offset
  static constexpr bool kTransitive = false, kDense = false;
  static constexpr int kMostAxes = 6;
  int64_t plane[kMostAxes];  // where the bytes of each axis begin; axes are counted from the last one
  uint8_t mask[kMostAxes];   // the bits of a byte that are of an axis

  Site site(const uint8_t*, int64_t offset) const { return offset; }
  bool is_background(Site) const { return false; }
  bool linked(const uint8_t* bonds, Site from, Site to, int axis, bool forward) const {
    return (bonds[plane[axis] + (forward ? from : to)] & mask[axis]) != 0;
  }
};

}
