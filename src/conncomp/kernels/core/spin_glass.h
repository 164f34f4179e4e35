// An Ising spin glass, H = -sum of J s s - sum of h s, 64 replicas at a time, on CPU and GPU (contract 9).
// Layout. Bit r % 64 of word [r / 64][site] is the spin of replica r, counted from the first of all, 1 for
// up; bits without a replica are 0. Sites are in C order. Every axis is a ring: bonds over an open border,
// and those of a site with itself, are absent. Bond (axis, site) leads to the next site along the axis. A
// sweep goes by colour, the sum over the axes of x % 2, modulo 2; or modulo 3 with a ring of odd length,
// whose last site has colour 2.
// Random numbers are philox(seed, site | group << 40, step, purpose | block << 16): kStart, 64 bits for the
// group's first spins; kGlassDigits, two digits a block, with bit r of replica r; kGlassNumber, with word r %
// 4 of block r / 4 of replica r.
// Bits. Where all bonds are ±J, `Levels` counts at each bit the neighbours that want the spin as it would be,
// and a number of 64 bits is compared digit by digit, as in core/spins.h, to the probability of the level and
// replica. Numbers. Other couplings are int32, so that fields are exact sums. A spin with the number u is
// flipped if -ln u > 2 beta s h, both integers (`Logarithm`): a probability is off by a relative 2^-26 at
// most, plus 2^-32, on all devices. Rounding couplings to units of at most 2^-29 h, h the largest field of a
// spin, adds a relative (2 axes + 1) 2^-29 beta h. Metropolis flips with probability 15/16 min(1, exp(-beta
// dE)), as core/spins.h tells why; the heat bath lets a spin be up with 1 / (1 + exp(-2 beta h)).
// Sources: S. V. Isakov, I. N. Zintchenko, T. F. Ronnow, M. Troyer, Comput. Phys. Commun. 192, 265 (2015); M.
// Weigel, T. Yavors'kii, Physics Procedia 15, 92 (2011).
#pragma once

#include "core/chances.h"
#include "core/spins.h"

namespace conncomp {

constexpr int kGroup = 64, kGlassDigitCount = 64;
// LOCAL_RULES of kernels/updates.py. Edges have this, Logarithm and GlassTemperature, too.
enum GlassRule : int32_t { kGlassMetropolis, kGlassHeatBath };

struct BitPlace {
  int64_t group;
  int bit;
};

// The replicas of a model. Layout: kernels/spin_glass.py.
struct GlassReplicas {
  Lattice lattice;
  int64_t first, count;  // replicas
  Bits64 seed;
  GlassRule rule;
  int32_t per_sample;  // replicas that share couplings

  int64_t first_group() const { return first / kGroup; }
  int64_t groups() const { return (first + count + kGroup - 1) / kGroup - first_group(); }
  int begin(int64_t group) const { return group == 0 ? int(first % kGroup) : 0; }
  int end(int64_t group) const {
    const int64_t last = first % kGroup + count - group * kGroup;
    return last < kGroup ? int(last) : kGroup;
  }
  Bits64 bits(int64_t group) const {
    return (~Bits64(0) >> (kGroup - end(group))) & (~Bits64(0) << begin(group));
  }
  int64_t replica(int64_t group, int bit) const { return group * kGroup + bit - first % kGroup; }
  BitPlace place(int64_t replica) const {
    const int64_t bit = first % kGroup + replica;
    return {bit / kGroup, int(bit % kGroup)};
  }
  Draws draws(int64_t group, Bits32 step) const { return {seed, Bits64(first_group() + group), step}; }
};

inline int glass_colours(const Lattice& lattice) {
  for (int axis = 0; axis < kLatticeAxes; ++axis)
    if (lattice.is_odd_ring(axis)) return 3;
  return 2;
}

struct ColouredSites {
  int32_t begin, end;
};
inline ColouredSites sites_of_colour(
    const Lattice& lattice, int colours, int colour, const int32_t (&row)[kRowAxis]) {
  for (int axis = 0; axis < kRowAxis; ++axis)
    colour -= lattice.is_odd_ring(axis) && row[axis] == lattice.length[axis] - 1 ? 2 : row[axis] & 1;
  colour = (colour % colours + colours) % colours;
  const int32_t length = int32_t(lattice.length[kRowAxis]), odd = lattice.is_odd_ring(kRowAxis);
  if (colour < 2) return {colour, length - odd};
  return {length - odd, length};
}
inline int32_t most_of_colour(const Lattice& lattice) { return int32_t((lattice.length[kRowAxis] + 1) / 2); }
inline void place_row(const Lattice& lattice, Bits32 number, int32_t (&row)[kRowAxis]) {
  for (int axis = kRowAxis - 1; axis >= 0; --axis) {
    row[axis] = 0;
    if (lattice.length[axis] == 1) continue;
    const Bits32 length = Bits32(lattice.length[axis]), lines = number / length;
    row[axis] = int32_t(number - lines * length);
    number = lines;
  }
}

// A site and its neighbours along the model's axes. Index: of one or several.
template <int axes, class Index> struct GlassSite {
  Index site, next[axes], previous[axes];
};
template <int axes>
inline GlassSite<axes, int32_t> glass_site(
    const Lattice& lattice, const int32_t (&row)[kRowAxis], int32_t x) {
  GlassSite<axes, int32_t> place{0, {}, {}};
  for (int axis = 0; axis < kRowAxis; ++axis)
    place.site = (place.site + row[axis]) * int32_t(lattice.length[axis + 1]);
  place.site += x;
  int32_t stride = 1;
  for (int axis = axes - 1; axis >= 0; --axis) {
    const int of_lattice = kLatticeAxes - axes + axis;
    const int32_t at = of_lattice == kRowAxis ? x : row[of_lattice < kRowAxis ? of_lattice : 0];
    const int32_t length = int32_t(lattice.length[of_lattice]), around = (length - 1) * stride;
    place.next[axis] = place.site + (at + 1 < length ? stride : -around);
    place.previous[axis] = place.site + (at > 0 ? -stride : around);
    stride *= length;
  }
  return place;
}

// Words of spins and, of bonds from there along an axis, which are negative; bond(axis, site): which exist.
template <class T, class Index>
concept SpinsAndBonds = requires(const T& words, Index site) {
  words.spin(site);
  words.negative(0, site);
};

template <int axes, bool whole, class Word> struct GlassUpdate {
  static constexpr int kMiddle = kMiddleLevel<axes, whole>, kKinds = kMiddle + 1;
  Word flips_if, otherwise;  // new spins, where what is decided by chance happens, and where not
  Chances<kKinds, Word> chances;

  template <class Index>
  GlassUpdate(const GlassSite<axes, Index>& place, const SpinsAndBonds<Index> auto& words, GlassRule rule) {
    const Word spin = words.spin(place.site), ones = spin | ~spin;
    // Metropolis counts satisfied bonds, the heat bath neighbours that want the spin up.
    const Word reference = rule == kGlassMetropolis ? ~spin : ones ^ ones;
    Levels<2 * kMiddle, Word> levels(ones);
#pragma unroll
    for (int axis = 0; axis < axes; ++axis) {
      add(levels, words.spin(place.next[axis]) ^ words.negative(axis, place.site) ^ reference, words, axis,
          place.site);
      add(levels, words.spin(place.previous[axis]) ^ words.negative(axis, place.previous[axis]) ^ reference,
          words, axis, place.previous[axis]);
    }
    if (rule == kGlassMetropolis) {
      flips_if = ~spin;
      otherwise = spin;
      chances = chances_to_lose<kMiddle>(levels);
    } else {
      flips_if = levels.at_least[kMiddle + 1];
      otherwise = ~flips_if;
      chances.kind[0] = levels.exactly(kMiddle);
#pragma unroll
      for (int k = 1; k < kKinds; ++k)
        chances.kind[k] = levels.exactly(kMiddle + k) | levels.exactly(kMiddle - k);
    }
  }
  Word spins(Word happened) const { return (flips_if & happened) | (otherwise & ~happened); }

 private:
  static void add(Levels<2 * kMiddle, Word>& levels, Word wish, const auto& words, int axis, auto from) {
    if constexpr (whole) {
      levels.add(wish);
    } else {
      const Word bond = words.bond(axis, from);
      levels.add(wish & bond);
      levels.add(wish | ~bond);
    }
  }
};

// Decides what no digit before `block` has. `table` has the digits of all kinds, a row a digit.
template <int kinds>
inline Bits64 decide(const Draws& draws, int32_t site, int block, const Chances<kinds, Bits64>& chances,
    const Bits64* table, Outcome<Bits64> outcome) {
  for (; outcome.undecided != 0 && 2 * block < kGlassDigitCount; ++block) {
    const PhiloxBlock bits = draws(kGlassDigits, Bits64(site), 0, block);
    for (int k = 0; k < 2; ++k)
      outcome.compare(chances.digit(table + (2 * block + k) * kinds), half(bits, k));
  }
  return outcome.happened;
}

// -ln((u + 1/2) / 2^32) in units of 2^-27, by tables of ln(1 + i / 128) and its inverse, and three terms.
constexpr int kLogarithmPlaces = 128;
struct Logarithm {
  const Bits32* table;  // for each place both

  static int highest_bit(Bits64 x) {
#ifdef __CUDA_ARCH__
    return 63 - __clzll((long long)x);
#else
    return 63 - __builtin_clzll(x);
#endif
  }
  Bits32 operator()(Bits32 u) const {
    constexpr Bits64 kLnTwo = 2977044472u;  // in units of 2^-32, rounded
    const Bits64 x = Bits64(u) << 1 | 1;    // in units of 2^-33
    const int power = highest_bit(x);
    const Bits32 fraction = Bits32(x << (32 - power)), place = fraction >> 25;
    const Bits64 w = (fraction & 0x1ffffff) * Bits64(table[2 * place + 1]) >> 32, square = w * w >> 32,
                 cube = (square * w >> 32) * 0x55555555u >> 32;
    const Bits64 ln = Bits64(power) * kLnTwo + table[2 * place] + w - (square >> 1) + cube;
    return Bits32((33 * kLnTwo - ln) >> 5);
  }
};

// A temperature as a factor: half of it times 2^27, in the units of fields, is factor / 2^shift.
struct GlassTemperature {
  Bits32 factor, shift;

  int64_t operator*(Bits32 logarithm) const { return int64_t(Bits64(logarithm) * factor >> shift); }
};

// Whether Metropolis, with -ln a in units of 2^-27 and the number u, takes what costs half of its energy.
constexpr Bits32 kLn16By15 = 8662214;
inline bool is_taken(int64_t lost, Bits32 u, Bits32 minus_ln_a, const Logarithm& logarithm,
    const GlassTemperature& temperature) {
  if (minus_ln_a == 0 && lost <= 0) return true;
  const Bits32 minus_ln = logarithm(u);
  return minus_ln >= minus_ln_a && lost <= temperature * (minus_ln - minus_ln_a);
}

inline bool spin_in_field(GlassRule rule, bool up, int64_t field, Bits32 u, const Logarithm& logarithm,
    const GlassTemperature& temperature) {
  if (rule == kGlassHeatBath) {
    const Bits32 a = logarithm(~u), b = logarithm(u);
    const int64_t bound = a > b ? temperature * (a - b) : -(temperature * (b - a));
    // Whether the field is above half of T ln(u / (1 - u)), or equal where that is negative.
    return field != bound ? field > bound : u >> 31 == 0;
  }
  return up != is_taken(up ? field : -field, u, kLn16By15, logarithm, temperature);
}

// Couplings and fields of all samples, each in units of its own.
struct GlassCouplings {
  const int32_t* couplings;  // sample, axis, site
  const int32_t* fields;     // sample, site; or null
};

template <int axes>
inline Bits64 spins_in_fields(const GlassReplicas& replicas, int64_t group,
    const GlassSite<axes, int32_t>& place, const auto& words, const GlassCouplings& numbers,
    const Logarithm& logarithm, const GlassTemperature* temperatures, const auto& draw) {
  const int64_t sites = replicas.lattice.sites();
  Bits64 wishes[2 * axes];
  for (int axis = 0; axis < axes; ++axis) {
    wishes[2 * axis] = words.spin(place.next[axis]);
    wishes[2 * axis + 1] = words.spin(place.previous[axis]);
  }
  const Bits64 spins = words.spin(place.site);
  Bits64 changed = 0;
  int64_t sample = -1;
  int32_t coupling[2 * axes], own = 0;
  PhiloxBlock block{};
  const int end = replicas.end(group), begin = replicas.begin(group);
  for (int bit = begin; bit < end; ++bit) {
    const int64_t replica = replicas.replica(group, bit);
    if (sample < 0 || replica >= (sample + 1) * replicas.per_sample) {
      sample = replica / replicas.per_sample;
      const int32_t* const at = numbers.couplings + sample * axes * sites;
      for (int axis = 0; axis < axes; ++axis) {
        coupling[2 * axis] = at[axis * sites + place.site];
        coupling[2 * axis + 1] = at[axis * sites + place.previous[axis]];
      }
      own = numbers.fields == nullptr ? 0 : numbers.fields[sample * sites + place.site];
    }
    if (bit == begin || bit % 4 == 0) block = draw(bit / 4);
    int64_t field = own;
#pragma unroll
    for (int k = 0; k < 2 * axes; ++k) field += wishes[k] >> bit & 1 ? coupling[k] : -coupling[k];
    const bool up = spin_in_field(
        replicas.rule, spins >> bit & 1, field, block.word[bit % 4], logarithm, temperatures[replica]);
    changed |= Bits64(up) << bit;
  }
  return changed;
}

template <int axes>
inline int64_t gain_of_site(const GlassReplicas& replicas, int64_t replica, int bit,
    const GlassSite<axes, int32_t>& place, const auto& words, const GlassCouplings& numbers) {
  const int64_t sites = replicas.lattice.sites(), sample = replica / replicas.per_sample;
  const bool up = words.spin(place.site) >> bit & 1;
  const int32_t* const at = numbers.couplings + sample * axes * sites;
  int64_t gain = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const int64_t coupling = at[axis * sites + place.site];
    gain += (words.spin(place.next[axis]) >> bit & 1) == up ? coupling : -coupling;
  }
  if (numbers.fields != nullptr)
    gain += up ? numbers.fields[sample * sites + place.site] : -numbers.fields[sample * sites + place.site];
  return gain;
}

}
