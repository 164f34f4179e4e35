// Unit vectors as integers: spins of the XY and the Heisenberg model, and the bonds of Wolff's embedding. CPU
// and CUDA share it: no update has a floating-point number, hence contract 10.
// Spins. An angle (XY) is 16 bits, a clock with 65,536 hours: means differ from those of the XY model by
// exp(-2^31 / (beta J)) or so, as beta |J| is below 10^7. A direction (Heisenberg) is three signed numbers of
// 21 bits in a word, in units of 2^-19, drawn by Archimedes: the last component is uniform, so is the angle
// around it, of 17 bits.
// Embedding. An update draws a mirror, to which a unit vector r is normal. Spins have projections p = s.r,
// and reflections s - 2 p r; a bond is active with probability 1 - exp(min(0, -2 beta J p_i p_j)), and
// clusters of active bonds are reflected (Wolff 1989). For angles a mirror is a number c: a becomes c - a,
// with the projection sine of half the angle 2 a - c. For directions r has three numbers in units of 2^-30; a
// Newton step makes the rounded reflection a unit vector again.
// Numbers. Projections and components are in units of 2^-30, right to 2^-29; products of two of them in units
// of 2^-28, so that sums over 2^31 sites and four axes are integers of 64 bits. A probability exp(-x) is
// 2^-(y + f): y is a shift, and 2^-f a polynomial in units of 2^-31, right to 2^-27; x is in units of 2^-26.
// Random numbers, as in core/spins.h: kStart by site; kMirror with index 0; kVectorBond with index 16 word +
// site % 16 and the axis, whose number k of 32 bits is for the bond of the word's site 16 k + site % 16;
// kCoin and kChosenSite for which clusters are reflected.
#pragma once

#include "core/spins.h"

namespace conncomp {

// Units of what is measured, of projections and of directions, as powers of two.
constexpr int kMeasureBits = 28, kProjectionBits = 30, kDirectionBits = 19, kDirectionWidth = 21;
constexpr int kBondBlocks = 16;  // Philox blocks of a word's bonds along an axis

// The fields of a record after those of core/spins.h, of which the first one has the sum of products.
constexpr int kProjectedLimbs = 3;
enum VectorField {
  kAlong = kCounts,                   // by axis: sums of products of spins that a bond joins
  kCurrents = kAlong + kLatticeAxes,  // by axis, three: sums of components of their cross products
  kMagnetisation = kCurrents + 3 * kLatticeAxes,  // three: sums of components
  kVortices = kMagnetisation + 3,                 // of two axes: of both signs
  kProjected,  // sum of squares of clusters' sums of projections, in limbs as sizes are
  kVectorFields = kProjected + kProjectedLimbs
};

// The upper half of `factor` times a product of projections, at most `most` and shifted by `left`, shifted
// back by `right`, is 2 beta |J| / ln 2 times the product, in units of 2^-26.
struct BondStrength {
  Bits32 factor, most;
  int32_t left, right;
};

// Adds the square of a cluster's sum of projections, rounded to 2^-16, as three limbs of 32 bits.
inline void add_square(int64_t sum, int64_t (&limbs)[kProjectedLimbs]) {
  constexpr int kShift = kProjectionBits - 16;
  const Bits64 size = ((sum < 0 ? 0 - Bits64(sum) : Bits64(sum)) + (1 << (kShift - 1))) >> kShift,
               low = Bits32(size), high = size >> 32, cross = 2 * low * high + (low * low >> 32);
  limbs[0] += int64_t(Bits32(low * low));
  limbs[1] += int64_t(Bits32(cross));
  limbs[2] += int64_t(high * high + (cross >> 32));
}

inline Bits32 upper(Bits32 a, Bits32 b) { return Bits32(Bits64(a) * b >> 32); }

// The sine, in units of 2^-30, of an angle up to a quarter turn, given its square, both in units of 2^-31.
// Coefficient k is in units of 2^-(31 + k), as an upper half is half of a product.
inline int32_t sine_of_quarter(Bits32 angle, Bits32 square) {
  Bits32 sum = 5506309u - upper(235834u, square);
  sum = 80430268u - upper(sum, square);
  sum = 684554253u - upper(sum, square);
  sum = 2774394665u - upper(sum, square);
  sum = 3373259426u - upper(sum, square);
  return int32_t(upper(sum, angle));
}
// sin(2 pi u / 2^17) in units of 2^-30.
inline int32_t sine(Bits32 u) {
  constexpr Bits32 kHalfTurn = 1 << 16;
  const Bits32 within = u & (kHalfTurn - 1), back = kHalfTurn - within, angle = within < back ? within : back;
  const int32_t value = sine_of_quarter(angle << 16, 2 * angle * angle);
  return u & kHalfTurn ? -value : value;
}

// 2^-(f / 2^32) in units of 2^-31.
inline Bits32 power_below_one(Bits32 f) {
  Bits32 sum = 2774097u - upper(246920u, f);
  sum = 20609764u - upper(sum, f);
  sum = 119183791u - upper(sum, f);
  sum = 515881616u - upper(sum, f);
  sum = 1488522224u - upper(sum, f);
  return (Bits32(1) << 31) - upper(sum, f);
}

// The largest integer whose square is at most n, which is below 2^62.
inline Bits32 square_root(Bits64 n) {
  Bits64 root = 0;
  for (Bits64 bit = Bits64(1) << 30; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= n) root |= bit;
  return Bits32(root);
}

inline Bits32 magnitude(int32_t number) { return number < 0 ? 0 - Bits32(number) : Bits32(number); }

// Whether a bond between such projections is active, given its random number and the coupling's sign.
inline bool is_active(int32_t p, int32_t q, const BondStrength& strength, int32_t negative, Bits32 drawn) {
  constexpr int kWhole = 26;
  constexpr Bits32 kSign = Bits32(1) << 31;
  const Bits32 product = upper(magnitude(p), magnitude(q)),
               x = upper((product < strength.most ? product : strength.most) << strength.left,
                       strength.factor) >>
                   strength.right,
               whole = x >> kWhole,
               inactive = power_below_one(x << (32 - kWhole)) >> (whole < 31 ? whole : 31);
  // Where signs differ no number is as large.
  return drawn >> 1 >= (inactive | (Bits32(p ^ q ^ negative) & kSign));
}

// What is measured of vectors in units of 2^-30: products of two, components of cross products, and of one.
template <int n> struct Cartesian {
  int32_t of[n];
};
template <int n> inline int32_t product_of(const Cartesian<n>& a, const Cartesian<n>& b) {
  int64_t sum = 0;
  for (int k = 0; k < n; ++k) sum += int64_t(a.of[k]) * b.of[k];
  return int32_t(sum >> 32);
}
template <int n> inline int32_t cross_of(const Cartesian<n>& a, const Cartesian<n>& b, int k) {
  const int i = n == 2 || k == 2 ? 0 : k + 1, j = n == 2 ? 1 : k == 0 ? 2 : k - 1;
  return int32_t((int64_t(a.of[i]) * b.of[j] - int64_t(a.of[j]) * b.of[i]) >> 32);
}
inline int32_t measured_component(int32_t component) {
  constexpr int kShift = kProjectionBits - kMeasureBits;
  return (component + (1 << (kShift - 1))) >> kShift;
}

struct Vector3 {
  int32_t of[3];
};
inline Vector3 draw_direction(const PhiloxBlock& block) {
  constexpr int64_t kOne = int64_t(1) << kProjectionBits, kRound = kOne / 2;
  const int32_t last = int32_t(block.word[0]) >> 1;
  const int64_t radius = square_root(Bits64(kOne * kOne - int64_t(last) * last));
  const Bits32 quarter = 1 << 15, angle = block.word[1] >> 15;
  const auto along = [&](Bits32 u) { return int32_t((radius * sine(u) + kRound) >> kProjectionBits); };
  return {{along(angle + quarter), along(angle), last}};
}

struct Angle {
  using Spin = uint16_t;
  struct Mirror {
    Bits32 twice;
  };
  static constexpr int kComponents = 2, kRotations = 1;
  static constexpr bool kHasVortices = true;

  static Spin first() { return 0; }  // along the first axis
  static Mirror mirror(const PhiloxBlock& block) { return {block.word[0] >> 16}; }
  static Spin start(const PhiloxBlock& block) { return Spin(block.word[0] >> 16); }
  static int32_t projection(const Mirror& mirror, Spin spin) { return sine(2 * Bits32(spin) - mirror.twice); }
  static Spin reflected(const Mirror& mirror, Spin spin) { return Spin(mirror.twice - spin); }
  static Cartesian<2> components(Spin spin) {
    constexpr Bits32 kQuarter = 1 << 15;
    return {{sine(2 * Bits32(spin) + kQuarter), sine(2 * Bits32(spin))}};
  }
  // How often angles turn around a plaquette, without its sign.
  static int vorticity(Spin a, Spin b, Spin c, Spin d) {
    const int turned = int16_t(b - a) + int16_t(c - b) + int16_t(d - c) + int16_t(a - d);
    return (turned < 0 ? -turned : turned) >> 16;
  }
};

struct UnitVector {
  using Spin = uint64_t;
  using Mirror = Vector3;
  static constexpr int kComponents = 3, kRotations = 3;
  static constexpr bool kHasVortices = false;

  static int32_t number(Spin spin, int k) {
    constexpr int kAbove = 64 - kDirectionWidth;
    return int32_t(int64_t(spin << (kAbove - kDirectionWidth * k)) >> kAbove);
  }
  static Spin of_numbers(int32_t x, int32_t y, int32_t z) {
    constexpr Spin kMask = (Spin(1) << kDirectionWidth) - 1;
    return (Spin(Bits32(x)) & kMask) | (Spin(Bits32(y)) & kMask) << kDirectionWidth |
           (Spin(Bits32(z)) & kMask) << 2 * kDirectionWidth;
  }
  static Spin first() { return of_numbers(1 << kDirectionBits, 0, 0); }
  static Mirror mirror(const PhiloxBlock& block) { return draw_direction(block); }
  static Spin start(const PhiloxBlock& block) {
    constexpr int kShift = kProjectionBits - kDirectionBits, kRound = 1 << (kShift - 1);
    const Vector3 drawn = draw_direction(block);
    return of_numbers(
        (drawn.of[0] + kRound) >> kShift, (drawn.of[1] + kRound) >> kShift, (drawn.of[2] + kRound) >> kShift);
  }
  static int32_t projection(const Mirror& mirror, Spin spin) {
    int64_t sum = 0;
    for (int k = 0; k < 3; ++k) sum += int64_t(number(spin, k)) * mirror.of[k];
    return int32_t(sum >> kDirectionBits);
  }
  static Spin reflected(const Mirror& mirror, Spin spin) {
    constexpr int kShift = 2 * kProjectionBits - kDirectionBits - 1, kSquared = 2 * kDirectionBits;
    const int64_t p = projection(mirror, spin);
    int32_t at[3];
    int64_t excess = -(int64_t(1) << kSquared);
    for (int k = 0; k < 3; ++k) {
      at[k] = number(spin, k) - int32_t((p * mirror.of[k] + (int64_t(1) << (kShift - 1))) >> kShift);
      excess += int64_t(at[k]) * at[k];
    }
    for (int k = 0; k < 3; ++k)
      at[k] -= int32_t((at[k] * excess + (int64_t(1) << kSquared)) >> (kSquared + 1));
    return of_numbers(at[0], at[1], at[2]);
  }
  static Cartesian<3> components(Spin spin) {
    constexpr int kUnits = 1 << (kProjectionBits - kDirectionBits);
    return {{number(spin, 0) * kUnits, number(spin, 1) * kUnits, number(spin, 2) * kUnits}};
  }
  static int vorticity(Spin, Spin, Spin, Spin) { return 0; }
};

}
