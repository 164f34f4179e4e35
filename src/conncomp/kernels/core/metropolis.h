// Metropolis for two states, 64 sites at a time; and its classes of sites for any states. The rule is in
// core/spins.h. Sites of a class are no neighbours: those of an even, or odd, sum of coordinates, but along a
// periodic axis of odd length the last site, which has the parity of its neighbour: class parity | 2 << axis.
// A class has at most one of two sites beside each other, so two words share the digits drawn: of 32
// consecutive words, word k and word k + 16 are joined in one.
//      first word, sites of the class     a . b . . c . d        bit 0 at the left
//      second word                        . e . f . g h .
//      joined                             a e b f c g d h
// Bonds to neighbours are counted for 64 sites at once; sites that lose equally many by a flip share Chances.
#pragma once

#include "core/chances.h"
#include "core/spins.h"

namespace conncomp {

constexpr Bits64 kEvenSites = 0x5555555555555555;
constexpr int kPairs = 16, kPairedWords = 2 * kPairs;

// The first word of a pair; the pair that has a word; and how many pairs so many words have.
inline int64_t first_of_pair(int64_t pair) { return pair / kPairs * kPairedWords + pair % kPairs; }
inline int64_t pair_with(int64_t word) { return word / kPairedWords * kPairs + word % kPairs; }
inline int64_t pairs_of(int64_t words) { return (words + kPairedWords - 1) / kPairedWords * kPairs; }

template <class Word> inline Word join_words(Word first, Word second) {
  return ((first | first >> 1) & kEvenSites) | ((second | second << 1) & ~kEvenSites);
}
template <class Word> inline Word bits_of_first(Word joined) {
  return (joined & kEvenSites) | (joined & kEvenSites) << 1;
}
template <class Word> inline Word bits_of_second(Word joined) {
  return (joined & ~kEvenSites) | (joined & ~kEvenSites) >> 1;
}

inline Bits64 sites_of_class(
    const Lattice& lattice, const int64_t (&at)[kRowAxis], int64_t column, int site_class) {
  int odd = site_class & 1, ends = 0;
  for (int k = 0; k < kRowAxis; ++k) {
    odd ^= int(at[k] & 1);
    if (lattice.is_odd_ring(k) && at[k] == lattice.length[k] - 1) ends |= 2 << k;
  }
  if ((site_class & ~1 & ~(2 << kRowAxis)) != ends) return 0;
  Bits64 last = 0;
  if (lattice.is_odd_ring(kRowAxis) && column + 1 == lattice.columns())
    last = Bits64(1) << (lattice.length[kRowAxis] - 1) % kWordSites;
  const bool at_end = site_class >> 1 & 1 << kRowAxis;
  return lattice.sites_of(column) & (at_end ? last : ~last) & (odd ? ~kEvenSites : kEvenSites);
}

// Where the sites of a word have a neighbour on a side, and its spins, each at the bit of its site.
struct SpinsBeside {
  Bits64 spins, present;
};
// After or before them along an axis longer than 1. Load(word) is a word of spins.
inline SpinsBeside spins_beside(
    const Lattice& lattice, const WordPlace& place, Bits64 spin, int axis, bool after, const auto& load) {
  const Bits64 sites = lattice.sites_of(place.column);
  if (axis < kRowAxis) {
    const int64_t stride = word_stride(lattice, axis);
    const int64_t beside =
        after ? next_along(lattice, place, axis, stride) : previous_along(lattice, place, axis, stride);
    return beside < 0 ? SpinsBeside{0, 0} : SpinsBeside{load(beside), sites};
  }
  const int last = int((lattice.length[kRowAxis] - 1) % kWordSites);
  const int64_t columns = lattice.columns(), row = place.word - place.column;
  const bool closes = lattice.closes(kRowAxis);
  if (after) {
    if (place.column + 1 < columns) return {spin >> 1 | load(place.word + 1) << (kWordSites - 1), sites};
    return {spin >> 1 | (load(row) & 1) << last, closes ? sites : sites & ~(Bits64(1) << last)};
  }
  if (place.column > 0) return {spin << 1 | load(place.word - 1) >> (kWordSites - 1), sites};
  return {spin << 1 | (load(row + columns - 1) >> last & 1), closes ? sites : sites & ~Bits64(1)};
}

// Satisfied bonds of the sites of a class, counted at the bits of joined words, or of registers of these.
template <int axes, bool whole, class Word> struct SatisfiedBonds {
  static constexpr int kMiddle = kMiddleLevel<axes, whole>;
  Levels<2 * kMiddle, Word> levels;

  explicit SatisfiedBonds(Word ones) : levels(ones) {}
  void add(Word satisfied, Word present) {
    if constexpr (whole) {
      levels.add(satisfied);
    } else {
      levels.add(satisfied & present);
      levels.add(satisfied | ~present);
    }
  }
  Chances<kMiddle + 1, Word> chances() const { return chances_to_lose<kMiddle>(levels); }
};

struct FlipOffer {
  Draws draws;
  int site_class;
  const Bits64* acceptance;
  int most_lost;
};

template <int axes, bool whole> struct Acceptance {
  static constexpr int kKinds = kMiddleLevel<axes, whole> + 1;
  Bits64 left[kKinds];

  explicit Acceptance(const FlipOffer& offer) {
#pragma unroll
    for (int k = 0; k < kKinds; ++k) {
      const int lost = whole ? 2 * k : k;
      left[k] = lost <= offer.most_lost ? offer.acceptance[lost] : 0;
    }
  }
  void take(Bits64 (&digits)[kKinds]) {
#pragma unroll
    for (int k = 0; k < kKinds; ++k) {
      digits[k] = 0 - (left[k] >> 63);
      left[k] <<= 1;
    }
  }
};

template <int axes, bool whole, int kinds>
inline Bits64 decide_flips(
    const FlipOffer& offer, int64_t pair, const Chances<kinds, Bits64>& chances, Bits64 offered) {
  Acceptance<axes, whole> acceptance(offer);
  Outcome<Bits64> outcome{0, offered};
  for (int block = 0; outcome.undecided != 0; ++block) {
    const PhiloxBlock bits = offer.draws(kFlipDigits, Bits64(pair), offer.site_class, block);
    for (int k = 0; k < 2; ++k) {
      Bits64 digits[kinds];
      acceptance.take(digits);
      outcome.compare(chances.digit(digits), half(bits, k));
    }
  }
  return outcome.happened;
}

struct WordRange {
  int64_t begin, end;
};

// Offers flips to a pair's words within a range. Calls Store(word, spins) for words with sites of the class.
template <int axes, bool whole>
inline void offer_pair(const Lattice& lattice, const FlipOffer& offer, int64_t pair, const WordRange& words,
    const auto& load, const auto& store) {
  WordPlace place[2];
  Bits64 spin[2] = {0, 0}, sites[2] = {0, 0};
  for (int k = 0; k < 2; ++k) {
    const int64_t word = first_of_pair(pair) + k * kPairs;
    if (word < words.begin || word >= words.end) continue;
    place[k] = place_of(lattice, word);
    sites[k] = sites_of_class(lattice, place[k].at, place[k].column, offer.site_class);
    if (sites[k] != 0) spin[k] = load(word);
  }
  const Bits64 offered = join_words(sites[0], sites[1]);
  if (offered == 0) return;
  SatisfiedBonds<axes, whole, Bits64> bonds(~Bits64(0));
  int sides = 0;
  for (int axis = 0; axis < kLatticeAxes; ++axis) {
    if (lattice.length[axis] == 1) continue;
    for (int after = 0; after < 2; ++after, ++sides) {
      Bits64 satisfied[2] = {0, 0}, present[2] = {0, 0};
      for (int k = 0; k < 2; ++k) {
        if (sites[k] == 0) continue;
        const SpinsBeside beside = spins_beside(lattice, place[k], spin[k], axis, after != 0, load);
        satisfied[k] = ~(spin[k] ^ beside.spins) & sites[k];
        present[k] = beside.present & sites[k];
      }
      bonds.add(join_words(satisfied[0], satisfied[1]), join_words(present[0], present[1]));
    }
  }
  for (; sides < 2 * axes; ++sides) bonds.add(0, 0);
  const Bits64 flips = decide_flips<axes, whole>(offer, pair, bonds.chances(), offered);
  if (sites[0] != 0) store(place[0].word, spin[0] ^ (bits_of_first(flips) & sites[0]));
  if (sites[1] != 0) store(place[1].word, spin[1] ^ (bits_of_second(flips) & sites[1]));
}

}
