// Sweeps of spin glasses on the CPU (core/spin_glass.h). Threads share the rows of all groups, colour by
// colour. Where bonds are ±J, four sites are updated together, a word of a register each: with AVX2 one
// Philox draws eight digits of all, and the fifth of words undecided then goes site by site. Cost: 32 ns for
// the 64 spins of a word on two cores in use, and 1,400 to 2,300 where couplings are numbers.
#pragma once

#include <bit>

#include "core/spin_glass.h"
#include "cpu/core/parallel.h"
#include "cpu/models/draws.h"

namespace conncomp {

#ifdef __AVX2__
constexpr int kSitesTogether = 4;
using Together = Bits64 __attribute__((vector_size(8 * kSitesTogether)));
struct IndexTogether {
  int32_t site[kSitesTogether];
};
#endif

template <int axes> struct GlassWords {
  const Bits64 *spins, *negatives, *bonds;
  int64_t sites;

  Bits64 spin(int32_t site) const { return spins[site]; }
  Bits64 negative(int axis, int32_t site) const { return negatives[axis * sites + site]; }
  Bits64 bond(int axis, int32_t site) const { return bonds[axis * sites + site]; }
#ifdef __AVX2__
  Together spin(const IndexTogether& index) const { return gather(spins, index); }
  Together negative(int axis, const IndexTogether& index) const {
    return gather(negatives + axis * sites, index);
  }
  Together bond(int axis, const IndexTogether& index) const { return gather(bonds + axis * sites, index); }

 private:
  static Together gather(const Bits64* words, const IndexTogether& index) {
    return Together{words[index.site[0]], words[index.site[1]], words[index.site[2]], words[index.site[3]]};
  }
#endif
};

// ±J: which bonds are negative and, if not null, exist; `table` has each group's digits, of all chances.
struct GlassBits {
  const Bits64 *negatives, *bonds, *table;
};
// Couplings as numbers, with the temperatures of replicas and the table of `Logarithm`.
struct GlassNumbers {
  GlassCouplings couplings;
  const GlassTemperature* temperatures;
  Logarithm logarithm;
};

class SpinGlassEngine {
 public:
  SpinGlassEngine(const GlassReplicas& replicas, int axes)
      : replicas_(replicas), axes_(axes), sites_(replicas.lattice.sites()) {}

  void start(Bits64* words) const {
    parallel_for(replicas_.groups(), [&](int64_t group) {
      const Draws draws = replicas_.draws(group, 0);
      const Bits64 bits = replicas_.bits(group);
      for_each_in(0, sites_,
          [&](int64_t site) { words[group * sites_ + site] = half(draws(kStart, Bits64(site)), 0) & bits; });
    });
  }

  void sweep_bits(Bits64* words, Bits32 step, const GlassBits& bits) const {
    with_axes([&](auto axes) {
      if (bits.bonds == nullptr) return sweep_bits<axes.value, true>(words, step, bits);
      sweep_bits<axes.value, false>(words, step, bits);
    });
  }
  void sweep_numbers(Bits64* words, Bits32 step, const GlassNumbers& numbers) const {
    with_axes([&](auto axes) { sweep_numbers<axes.value>(words, step, numbers); });
  }

  void count_bits(const Bits64* words, const GlassBits& bits, int64_t* record) const {
    with_axes([&](auto axes) {
      count<axes.value>(record, [&](int64_t group, const auto& place, int64_t (&counts)[2][kGroup]) {
        const GlassWords<axes.value> at = words_of<axes.value>(words, bits, group);
        const Bits64 spin = at.spin(place.site);
        for (int axis = 0; axis < axes.value; ++axis) {
          Bits64 unsatisfied = spin ^ at.spin(place.next[axis]) ^ at.negative(axis, place.site);
          if (bits.bonds != nullptr) unsatisfied &= at.bond(axis, place.site);
          for (int bit = 0; bit < kGroup; ++bit) counts[0][bit] += int64_t(unsatisfied >> bit & 1);
        }
        for (int bit = 0; bit < kGroup; ++bit) counts[1][bit] += int64_t(spin >> bit & 1);
      });
    });
  }
  void count_numbers(const Bits64* words, const GlassCouplings& numbers, int64_t* record) const {
    with_axes([&](auto axes) {
      count<axes.value>(record, [&](int64_t group, const auto& place, int64_t (&counts)[2][kGroup]) {
        const GlassWords<axes.value> at = words_of<axes.value>(words, {}, group);
        for (int bit = replicas_.begin(group); bit < replicas_.end(group); ++bit) {
          const int64_t replica = replicas_.replica(group, bit);
          counts[0][bit] += gain_of_site(replicas_, replica, bit, place, at, numbers);
          counts[1][bit] += int64_t(at.spin(place.site) >> bit & 1);
        }
      });
    });
  }

  void compare_pairs(const Bits64* words, const int32_t* pairs, int64_t count, uint8_t* differ) const {
    parallel_for(count, [&](int64_t pair) {
      const BitPlace a = replicas_.place(pairs[2 * pair]), b = replicas_.place(pairs[2 * pair + 1]);
      const Bits64 *const of_a = words + a.group * sites_, *const of_b = words + b.group * sites_;
      uint8_t* const out = differ + pair * sites_;
      for_each_in(0, sites_, [=](int64_t k) { out[k] = uint8_t((of_a[k] >> a.bit ^ of_b[k] >> b.bit) & 1); });
    });
  }
  void flip_pairs(Bits64* words, const int32_t* pair_of, const uint8_t* flips) const {
    parallel_for(replicas_.groups(), [&](int64_t group) {
      Bits64* const spins = words + group * sites_;
      for (int bit = replicas_.begin(group); bit < replicas_.end(group); ++bit) {
        const int32_t pair = pair_of[replicas_.replica(group, bit)];
        if (pair < 0) continue;
        const uint8_t* const of_pair = flips + pair * sites_;
        for_each_in(0, sites_, [=](int64_t k) { spins[k] ^= Bits64(of_pair[k] != 0) << bit; });
      }
    });
  }

 private:
  // The cost of an update of a word, in steps of a simple loop.
  static constexpr int64_t kWordCost = 64;

  void with_axes(auto&& body) const {
    if (axes_ == 1) return body(std::integral_constant<int, 1>());
    if (axes_ == 2) return body(std::integral_constant<int, 2>());
    if (axes_ == 3) return body(std::integral_constant<int, 3>());
    body(std::integral_constant<int, 4>());
  }

  template <int axes>
  GlassWords<axes> words_of(const Bits64* words, const GlassBits& bits, int64_t group) const {
    const int64_t bonds = group * axes * sites_;
    return {words + group * sites_, bits.negatives == nullptr ? nullptr : bits.negatives + bonds,
        bits.bonds == nullptr ? nullptr : bits.bonds + bonds, sites_};
  }

  void for_each_row(int colours, int colour, auto&& body) const {
    const Lattice& lattice = replicas_.lattice;
    const int64_t rows = lattice.rows(), length = lattice.length[kRowAxis];
    const Parts parts(replicas_.groups() * rows, std::max<int64_t>(kGrain / kWordCost / length, 1));
    parallel_for(parts.parts, [&](int64_t part) {
      for (int64_t k = parts.begin(part); k < parts.end(part); ++k) {
        poll(kWordCost * length / 2);
        int32_t row[kRowAxis];
        place_row(lattice, Bits32(k % rows), row);
        const ColouredSites sites = sites_of_colour(lattice, colours, colour, row);
        body(k / rows, row, sites.begin, sites.end);
      }
    });
  }
  void for_each_colour(auto&& body) const {
    const int colours = glass_colours(replicas_.lattice);
    for (int colour = 0; colour < colours; ++colour) for_each_row(colours, colour, body);
  }

  template <int axes, bool whole> void sweep_bits(Bits64* words, Bits32 step, const GlassBits& bits) const {
    constexpr int kKinds = GlassUpdate<axes, whole, Bits64>::kKinds;
    for_each_colour([&](int64_t group, const int32_t (&row)[kRowAxis], int32_t x, int32_t end) {
      const Draws draws = replicas_.draws(group, step);
      const GlassWords<axes> at = words_of<axes>(words, bits, group);
      const Bits64 present = replicas_.bits(group), *const table =
                                                        bits.table + group * kGlassDigitCount * kKinds;
      Bits64* const spins = words + group * sites_;
#ifdef __AVX2__
      for (; x + 2 * (kSitesTogether - 1) < end; x += 2 * kSitesTogether)
        update_together<axes, whole>(replicas_, row, x, at, draws, present, table, spins);
#endif
      for (; x < end; x += 2) {
        const auto place = glass_site<axes>(replicas_.lattice, row, x);
        const GlassUpdate<axes, whole, Bits64> update(place, at, replicas_.rule);
        spins[place.site] =
            update.spins(decide(draws, place.site, 0, update.chances, table, {0, present})) & present;
      }
    });
  }

#ifdef __AVX2__
  template <int axes, bool whole>
  static void update_together(const GlassReplicas& replicas, const int32_t (&row)[kRowAxis], int32_t x,
      const GlassWords<axes>& at, const Draws& draws, Bits64 bits, const Bits64* table, Bits64* spins) {
    constexpr int kKinds = GlassUpdate<axes, whole, Bits64>::kKinds, kBlocks = 4;
    GlassSite<axes, IndexTogether> place;
    for (int k = 0; k < kSitesTogether; ++k) {
      const auto one = glass_site<axes>(replicas.lattice, row, x + 2 * k);
      place.site.site[k] = one.site;
      for (int axis = 0; axis < axes; ++axis) {
        place.next[axis].site[k] = one.next[axis];
        place.previous[axis].site[k] = one.previous[axis];
      }
    }
    const GlassUpdate<axes, whole, Together> update(place, at, replicas.rule);
    BlockLanes<kBlocks> lanes;  // a register a block, a lane a site
    for (int k = 0; k < kBlocks; ++k) {
      const Bits64 index = draws.replica << kReplicaShift;
      lanes.word[0][k] =
          __m256i(Together{} + (index | Bits64(place.site.site[0]))) + _mm256_setr_epi64x(0, 2, 4, 6);
      lanes.word[1][k] = _mm256_set1_epi64x(int64_t(index >> 32));
      lanes.word[2][k] = _mm256_set1_epi64x(draws.step);
      lanes.word[3][k] = _mm256_set1_epi64x(kGlassDigits | k << 16);
    }
    lanes.encrypt(draws.seed);
    Outcome<Together> outcome{Together{}, Together{} + bits};
    for (int digit = 0; digit < 2 * kBlocks; ++digit)
      outcome.compare(
          update.chances.digit(table + digit * kKinds), Together(lanes.half(digit / 2, digit % 2)));
    for (int k = 0; k < kSitesTogether; ++k) {
      if (outcome.undecided[k] == 0) continue;
      Chances<kKinds, Bits64> chances;
      for (int kind = 0; kind < kKinds; ++kind) chances.kind[kind] = update.chances.kind[kind][k];
      outcome.happened[k] = decide(
          draws, place.site.site[k], kBlocks, chances, table, {outcome.happened[k], outcome.undecided[k]});
    }
    const Together spins_now = update.spins(outcome.happened);
    for (int k = 0; k < kSitesTogether; ++k) spins[place.site.site[k]] = spins_now[k] & bits;
  }
#endif

  template <int axes> void sweep_numbers(Bits64* words, Bits32 step, const GlassNumbers& numbers) const {
    for_each_colour([&](int64_t group, const int32_t (&row)[kRowAxis], int32_t x, int32_t end) {
      const Draws draws = replicas_.draws(group, step);
      const GlassWords<axes> at = words_of<axes>(words, {}, group);
      for (; x < end; x += 2) {
        const auto place = glass_site<axes>(replicas_.lattice, row, x);
        words[group * sites_ + place.site] = spins_in_fields(replicas_, group, place, at, numbers.couplings,
            numbers.logarithm, numbers.temperatures,
            [&](int block) { return draws(kGlassNumber, Bits64(place.site), 0, block); });
      }
    });
  }

  // Sums over the sites what body(group, place, counts) adds to the counts of the bits of a group.
  template <int axes> void count(int64_t* record, auto&& body) const {
    const Lattice& lattice = replicas_.lattice;
    parallel_for(replicas_.groups(), [&](int64_t group) {
      int64_t counts[2][kGroup] = {};
      for (int64_t k = 0; k < lattice.rows(); ++k) {
        poll(kWordCost * lattice.length[kRowAxis]);
        int32_t row[kRowAxis];
        place_row(lattice, Bits32(k), row);
        for (int32_t x = 0; x < lattice.length[kRowAxis]; ++x)
          body(group, glass_site<axes>(lattice, row, x), counts);
      }
      for (int bit = replicas_.begin(group); bit < replicas_.end(group); ++bit)
        for (int field = 0; field < 2; ++field)
          record[2 * replicas_.replica(group, bit) + field] += counts[field][bit];
    });
  }

  const GlassReplicas replicas_;
  const int axes_;
  const int64_t sites_;
};

}
