// Metropolis: class by class (core/metropolis.h), so that threads update rows of their own.
#pragma once

#include "core/metropolis.h"
#include "cpu/core/bits.h"
#include "cpu/core/numbering.h"
#include "cpu/models/draws.h"
#include "cpu/models/rows.h"

namespace conncomp {

// Two states, 64 sites at once. With AVX2, chunks of 32 words are joined to 16: spins and those beside are
// gathered row by row, four or eight pairs at once. Classes of few sites go word by word, and without AVX2
// others pair by pair. Cost: some seven digits for 64 sites.
class FlipOffers {
 public:
  FlipOffers(
      const LatticeReplicas& replicas, Bits32 step, const Bits64* acceptance, int most_lost, Bits64* words)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        step_(step),
        acceptance_(acceptance),
        most_lost_(most_lost),
        words_(words) {
    for (int k = 0; k < kLatticeAxes; ++k) {
      if (lattice_.length[k] == 1) continue;
      ++axes_;
      whole_ = whole_ && lattice_.closes(k);
    }
    whole_ = whole_ && (axes_ == 2 || axes_ == 3);
  }

  // Offers flips to a class in a strip; spins and those beside are of `source`. Class 0 writes all words.
  void offer(const Strip& strip, int site_class, const Bits64* source) const {
    const Draws draws = replicas_.draws(strip.replica, step_);
    const Bits64* const acceptance = acceptance_ + strip.replica * (most_lost_ + 1);
    const int64_t columns = lattice_.columns();
    const Work work{strip, {strip.begin * columns, strip.end * columns},
        {draws, site_class, acceptance, most_lost_}, replicas_.spins(source, strip.replica),
        replicas_.spins(words_, strip.replica)};
    if (whole_) return axes_ == 2 ? offer<2, true>(work) : offer<3, true>(work);
    axes_ <= 2 ? offer<2, false>(work) : offer<4, false>(work);
  }

 private:
  struct Work {
    Strip strip;
    WordRange words;
    FlipOffer offer;
    const Bits64* source;
    Bits64* spins;

    Bits64 load(int64_t word) const { return Concurrent::load(source + word); }
    void store(int64_t word, Bits64 bits) const { Concurrent::store(spins + word, bits); }
  };

  template <int axes, bool whole> void offer(const Work& work) const {
    if (work.offer.site_class > 1) return offer_words<axes, whole>(work);
#ifdef __AVX2__
    offer_chunks<axes, whole>(work);
#else
    // Words may have no site of a class.
    if (work.source != work.spins)
      for_each_in(work.words.begin, work.words.end, [&](int64_t word) { work.store(word, work.load(word)); });
    for (int64_t pair = work.words.begin / kPairedWords * kPairs; pair < pairs_of(work.words.end); ++pair)
      offer_pair<axes, whole>(work, pair, work.words);
#endif
  }

  template <int axes, bool whole>
  void offer_pair(const Work& work, int64_t pair, const WordRange& words) const {
    poll(kWordSites);
    conncomp::offer_pair<axes, whole>(
        lattice_, work.offer, pair, words, [&](int64_t word) { return work.load(word); },
        [&](int64_t word, Bits64 bits) { work.store(word, bits); });
  }

  template <int axes, bool whole> void offer_words(const Work& work) const {
    const int64_t columns = lattice_.columns();
    const int site_class = work.offer.site_class;
    const bool is_last = site_class >> 1 & 1 << kRowAxis;
    for (RowPlace place(lattice_, work.strip.begin); place.row < work.strip.end; place.advance(lattice_))
      for_each_in(is_last ? columns - 1 : 0, columns, [&](int64_t column) {
        const int64_t word = place.row * columns + column;
        if (sites_of_class(lattice_, place.at, column, site_class) != 0)
          offer_pair<axes, whole>(work, pair_with(word), {word, word + 1});
      });
  }

#ifdef __AVX2__
  using Register = Bits64 __attribute__((vector_size(8 * MostLanes::kLanes)));
  static constexpr int kLanes = MostLanes::kLanes;

  struct Chunk {
    static constexpr int kMostSides = 2 * kLatticeAxes;
    alignas(64) Bits64 spins[kPairedWords], sites[kPairedWords], beside[kMostSides][kPairedWords],
        present[kMostSides][kPairedWords];
  };

  template <int axes, bool whole> void offer_chunks(const Work& work) const {
    RowPlace place(lattice_, work.strip.begin);
    Chunk chunk{};
    Bits64 flips[kPairedWords];
    for (int64_t base = work.words.begin / kPairedWords * kPairedWords; base < work.words.end;
        base += kPairedWords) {
      poll(8 * kPairedWords);
      const ChunkRange words{base, int(std::max(work.words.begin - base, int64_t(0))),
          int(std::min<int64_t>(work.words.end - base, kPairedWords))};
      gather_sites(work, words, place, chunk);
      gather_spins(work, words, chunk);
      decide<axes, whole>(work.offer, pair_with(base), chunk, flips);
      for (int i = words.begin; i < words.end; ++i) work.store(base + i, chunk.spins[i] ^ flips[i]);
    }
  }

  struct ChunkRange {
    int64_t base;
    int begin, end;
  };

  // The sites of a class; the first word is of row `place`, which becomes that of the next word.
  void gather_sites(const Work& work, const ChunkRange& words, RowPlace& place, Chunk& chunk) const {
    const int64_t columns = lattice_.columns();
    std::fill_n(chunk.sites, kPairedWords, 0);
    for (int i = words.begin; i < words.end;) {
      const int64_t row_end = (place.row + 1) * columns - words.base;
      const int end = int(std::min<int64_t>(row_end, words.end));
      const Bits64 sites = sites_of_class(lattice_, place.at, 0, work.offer.site_class);
      std::fill(chunk.sites + i, chunk.sites + end, sites);
      if (end < row_end) return;
      if (columns > 1)
        chunk.sites[end - 1] = sites_of_class(lattice_, place.at, columns - 1, work.offer.site_class);
      place.advance(lattice_);
      i = end;
    }
  }

  void gather_spins(const Work& work, const ChunkRange& words, Chunk& chunk) const {
    for (int i = words.begin; i < words.end; ++i) chunk.spins[i] = work.load(words.base + i);
    int side = 0;
    for (int axis = 0; axis < kRowAxis; ++axis)
      if (lattice_.length[axis] > 1)
        for (const bool after : {false, true}) {
          gather_rows(work, words, axis, after, chunk.beside[side], chunk.present[side]);
          ++side;
        }
    if (lattice_.length[kRowAxis] > 1) gather_along(work, words, side, chunk);
  }

  void gather_rows(const Work& work, const ChunkRange& words, int axis, bool after, Bits64* beside,
      Bits64* present) const {
    const int64_t stride = word_stride(lattice_, axis), period = stride * lattice_.length[axis],
                  edge = after ? period - stride : stride;
    for (int begin = words.begin, end; begin < words.end; begin = end) {
      const int64_t place = (words.base + begin) % period, next = place < edge ? edge : period;
      end = int(std::min<int64_t>(words.end, begin + next - place));
      const bool around = (place >= edge) == after, absent = around && !lattice_.closes(axis);
      const int64_t step = around ? stride - period : stride, from = words.base + (after ? step : -step);
      for (int i = begin; i < end; ++i) beside[i] = absent ? 0 : work.load(from + i);
      if (!whole_) std::fill(present + begin, present + end, absent ? 0 : kAll);
    }
  }

  void gather_along(const Work& work, const ChunkRange& words, int side, Chunk& chunk) const {
    const Bits64* const spins = chunk.spins;
    Bits64 *const previous = chunk.beside[side], *const next = chunk.beside[side + 1];
    const int top = kWordSites - 1, last_bit = int((lattice_.length[kRowAxis] - 1) % kWordSites),
              last = words.end - 1;
    for (int i = words.begin; i < last; ++i) {
      previous[i + 1] = spins[i + 1] << 1 | spins[i] >> top;
      next[i] = spins[i] >> 1 | spins[i + 1] << top;
    }
    const int64_t columns = lattice_.columns(), of_row = (words.base + words.begin) % columns;
    const int64_t row = words.begin - of_row,
                  first = of_row == 0 ? row : row + columns;  // of rows that begin
    if (of_row != 0)
      previous[words.begin] = spins[words.begin] << 1 | work.load(words.base + words.begin - 1) >> top;
    if ((words.base + words.end) % columns != 0)
      next[last] = spins[last] >> 1 | work.load(words.base + words.end) << top;
    const auto ends = [&](auto&& begins_at, auto&& ends_at) {
      for (int64_t i = first; i < words.end; i += columns) begins_at(i);
      for (int64_t i = row + columns - 1; i < words.end; i += columns) ends_at(i);
    };
    const int64_t to_last = words.base + columns - 1, to_first = words.base - columns + 1;
    ends([&](int64_t i) { previous[i] = spins[i] << 1 | (work.load(to_last + i) >> last_bit & 1); },
        [&](int64_t i) { next[i] = spins[i] >> 1 | (work.load(to_first + i) & 1) << last_bit; });
    if (whole_) return;
    Bits64 *const before = chunk.present[side], *const after = chunk.present[side + 1];
    std::fill_n(before, kPairedWords, kAll);
    std::fill_n(after, kPairedWords, kAll);
    if (lattice_.closes(kRowAxis)) return;
    ends([&](int64_t i) { before[i] = ~Bits64(1); }, [&](int64_t i) { after[i] = ~(Bits64(1) << last_bit); });
  }

  static Register load_register(const Bits64* at) {
    Register loaded;
    std::memcpy(&loaded, at, sizeof loaded);
    return loaded;
  }

  static void store_register(Bits64* at, Register stored) { std::memcpy(at, &stored, sizeof stored); }

  template <int axes, bool whole>
  static void decide(
      const FlipOffer& offer, int64_t pair, const Chunk& chunk, Bits64 (&flips)[kPairedWords]) {
    using Bonds = SatisfiedBonds<axes, whole, Register>;
    constexpr int kRegisters = 2;
    for (int at = 0; at < kPairs; at += kRegisters * kLanes) {
      Chances<Bonds::kMiddle + 1, Register> chances[kRegisters];
      Outcome<Register> outcome[kRegisters];
      for (int k = 0; k < kRegisters; ++k) {
        const auto joined = [&](auto&& of_words) {
          return join_words(of_words(at + k * kLanes), of_words(at + k * kLanes + kPairs));
        };
        const auto sites = [&](int i) { return load_register(chunk.sites + i); };
        Bonds bonds(~Register{});
        for (int side = 0; side < 2 * axes; ++side)
          bonds.add(joined([&](int i) {
            return ~(load_register(chunk.spins + i) ^ load_register(chunk.beside[side] + i)) & sites(i);
          }),
              joined([&](int i) { return load_register(chunk.present[side] + i) & sites(i); }));
        chances[k] = bonds.chances();
        outcome[k] = {Register{}, joined(sites)};
      }
      draw_digits<axes, whole>(offer, pair + at, chances, outcome);
      for (int k = 0; k < kRegisters; ++k) {
        store_register(flips + at + k * kLanes, bits_of_first(outcome[k].happened));
        store_register(flips + at + k * kLanes + kPairs, bits_of_second(outcome[k].happened));
      }
    }
    for (int i = 0; i < kPairedWords; ++i) flips[i] &= chunk.sites[i];
  }

  // Decides the pairs of two registers, from `pair` on, by two blocks of each at a time.
  template <int axes, bool whole, int kinds>
  static void draw_digits(const FlipOffer& offer, int64_t pair, const Chances<kinds, Register> (&chances)[2],
      Outcome<Register> (&outcome)[2]) {
    using Lanes = MostLanes;
    Acceptance<axes, whole> acceptance(offer);
    Bits64 index[2 * kLanes];
    for (int k = 0; k < 2 * kLanes; ++k) index[k] = Bits64(pair + k) | offer.draws.replica << kReplicaShift;
    const Register none{};
    for (int block = 0;; block += 2) {
      const Register left = outcome[0].undecided | outcome[1].undecided;
      if (std::memcmp(&left, &none, sizeof left) == 0) return;
      BlockLanes<4, Lanes> lanes;  // of the first and the second register, then of their next blocks
      for (int k = 0; k < 4; ++k) {
        lanes.word[0][k] = Lanes::load(index + k % 2 * kLanes);
        lanes.word[1][k] = Lanes::upper(lanes.word[0][k]);
        lanes.word[2][k] = Lanes::all(offer.draws.step);
        lanes.word[3][k] = Lanes::all(kFlipDigits | offer.site_class << 8 | (block + k / 2) << 16);
      }
      lanes.encrypt(offer.draws.seed);
      for (int digit = 0; digit < 4; ++digit) {
        Bits64 digits[kinds];
        acceptance.take(digits);
        for (int k = 0; k < 2; ++k)
          outcome[k].compare(chances[k].digit(digits), Register(lanes.half(digit / 2 * 2 + k, digit % 2)));
      }
    }
  }
#endif

  const LatticeReplicas replicas_;
  const Lattice lattice_;
  int axes_ = 0;       // longer than 1
  bool whole_ = true;  // whether these all close, and are two or three
  const Bits32 step_;
  const Bits64* const acceptance_;
  const int most_lost_;
  Bits64* const words_;
};

class Metropolis {
 public:
  // `acceptance` has the probability of losing so many bonds, from 0 to twice the axes, for each replica.
  Metropolis(const LatticeReplicas& replicas, Bits32 step, const Bits64* acceptance, int most_lost,
      const Bits64* before, Bits64* words)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        strips_(replicas),
        step_(step),
        acceptance_(acceptance),
        most_lost_(most_lost),
        before_(before),
        words_(words) {}

  void sweep() const {
    const bool two_states = lattice_.states == 2;
    const FlipOffers flips(replicas_, step_, acceptance_, most_lost_, words_);
    if (!two_states)
      for_each_index(replicas_.count * replicas_.words(lattice_.planes),
          [from = before_, to = words_](int64_t w) { to[w] = from[w]; });
    for (int number = 0; number < 2 << kLatticeAxes; ++number) {
      if (number >> 1 & ~odd_axes()) continue;
      // The first class reads its neighbours as they were, and writes all words.
      const Bits64* const source = number == 0 ? before_ : words_;
      strips_.for_each([&](const Strip& strip) {
        two_states ? flips.offer(strip, number, source) : update(strip, number);
      });
    }
  }

 private:
  static constexpr int kMostPlanes = 8, kMostSides = 2 * kLatticeAxes;

  int odd_axes() const {
    int axes = 0;
    for (int k = 0; k < kLatticeAxes; ++k)
      if (lattice_.is_odd_ring(k)) axes |= 1 << k;
    return axes;
  }

  void update(const Strip& strip, int number) const {
    for (RowPlace place(lattice_, strip.begin); place.row < strip.end; place.advance(lattice_))
      for_each_in(0, lattice_.columns(), [&](int64_t column) {
        if (const Bits64 sites = sites_of_class(lattice_, place.at, column, number))
          update_word(strip.replica, place, column, sites);
      });
  }

  void update_word(int64_t replica, const RowPlace& place, int64_t column, Bits64 sites) const {
    poll(kWordSites);
    const Draws draws = replicas_.draws(replica, step_);
    const Bits64* const accepted = acceptance_ + replica * (most_lost_ + 1);
    const int64_t first_site = place.row * lattice_.length[kRowAxis] + column * kWordSites;
    const WordPlace word{
        place.row * lattice_.columns() + column, {place.at[0], place.at[1], place.at[2]}, column};
    Bits64* const planes = replicas_.spins(words_, replica);
    Bits64 index[kWordSites], chance[kWordSites] = {}, choice[kWordSites];
    int count = 0;
    for_each_bit(sites, [&](int p) { index[count++] = Bits64(first_site + p); });
    draw_all(draws, kMetropolis, index, count, chance, choice);

    Bits64 spin[kMostPlanes], beside[kMostSides][kMostPlanes], present[kMostSides];
    int sides = 0;
    for (int k = 0; k < lattice_.planes; ++k) {
      const Bits64* const plane = planes + k * lattice_.words();
      spin[k] = Concurrent::load(plane + word.word);
      sides = 0;
      for (int axis = 0; axis < kLatticeAxes; ++axis) {
        if (lattice_.length[axis] == 1) continue;
        for (const bool after : {false, true}) {
          const SpinsBeside side = spins_beside(
              lattice_, word, spin[k], axis, after, [=](int64_t w) { return Concurrent::load(plane + w); });
          beside[sides][k] = side.spins, present[sides++] = side.present;
        }
      }
    }
    Bits64 flips[kMostPlanes] = {};
    int drawn = 0;
    for_each_bit(sites, [&](int p) {
      const int old_state = state_of(spin, 1, lattice_.planes, p),
                new_state = ClusterDraw{choice[drawn], 0}.another_state(lattice_.states, old_state);
      int lost = 0;
      for (int i = 0; i < sides; ++i) {
        const int state = state_of(beside[i], 1, lattice_.planes, p);
        lost += int(present[i] >> p & 1) * (int(state == old_state) - int(state == new_state));
      }
      if (chance[drawn] < accepted[std::max(lost, 0)])
        for (int k = 0; k < lattice_.planes; ++k) flips[k] |= Bits64((old_state ^ new_state) >> k & 1) << p;
      ++drawn;
    });
    for (int k = 0; k < lattice_.planes; ++k)
      if (flips[k]) Concurrent::store(planes + k * lattice_.words() + word.word, spin[k] ^ flips[k]);
  }

  const LatticeReplicas replicas_;
  const Lattice lattice_;
  const Strips strips_;
  const Bits32 step_;
  const Bits64* const acceptance_;
  const int most_lost_;
  const Bits64* const before_;
  Bits64* const words_;
};

}
