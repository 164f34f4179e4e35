// Exchanges of spins on the CPU (core/kawasaki.h). Threads share the words of a class and meet after each
// substep, or replicas run side by side. One thread writes a word that no other reads meanwhile.
#pragma once

#include "core/kawasaki.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/draws.h"

namespace conncomp {

class KawasakiEngine {
 public:
  KawasakiEngine(const ExchangeLattice& lattice, Bits64 seed, Bits64 first, int64_t replicas)
      : lattice_(lattice), seed_(seed), first_(first), replicas_(replicas) {}

  void start(const int64_t* up, Bits64* words) const {
    const int64_t sites = int64_t(lattice_.words()) * lattice_.domains();
    // The lowest digits of a key are its site, so that no two are equal.
    const int digits = 64 - std::countl_zero(Bits64(sites - 1));
    parallel_for(replicas_, [&](int64_t replica) {
      const Draws draws = draws_of(replica, 0);
      Buffer<Bits64> keys(sites);
      for (int64_t begin = 0; begin < sites; begin += kWordSites) {
        poll(kKeyCost * kWordSites);
        const int64_t count = std::min<int64_t>(sites - begin, kWordSites);
        Bits64 index[kWordSites], first[kWordSites], last[kWordSites];
        std::iota(index, index + count, Bits64(begin));
        draw_all(draws, kStart, index, count, first, last);
        for (int64_t k = 0; k < count; ++k) keys[begin + k] = first[k] >> digits << digits | index[k];
      }
      const Bits64 largest = key_of_rank(keys.data(), sites, up[replica] - 1);
      Bits64* const spins = words + replica * lattice_.words();
      for_each_in(0, sites, [&](int64_t site) {
        if (keys[site] > largest) return;
        const Place place = place_of(site);
        spins[place.word] |= Bits64(1) << place.bit;
      });
    });
  }

  void sweep(const Bits64* words, Bits64* new_words, Bits32 step, const uint8_t* acceptance) const {
    const int64_t all = replicas_ * lattice_.words();
    for_each_index(all, [&](int64_t word) { new_words[word] = Concurrent::load(words + word); });
    with_kind([&](auto kind) { sweep_kind<kind.value>(new_words, step, acceptance); });
  }

  void count_unsatisfied(const Bits64* words, int64_t* counts) const {
    with_kind([&](auto kind) {
      parallel_for(replicas_, [&](int64_t replica) {
        const WordsOf<Concurrent, const Bits64> spins{words + replica * lattice_.words()};
        int64_t count = 0;
        for_each_in(0, lattice_.words(), [&](int64_t word) {
          for_each_unsatisfied<kind.value>(
              lattice_, spins, int32_t(word), [&](Bits64 bits) { count += std::popcount(bits); });
        });
        counts[replica] = count;
      });
    });
  }

 private:
  // The cost of an exchange of a word, and of a key, in steps of a simple loop.
  static constexpr int64_t kWordCost = 64, kKeyCost = 8;

  // The key of a rank, digit by digit from the highest, of those keys that have the digits before.
  static Bits64 key_of_rank(const Bits64* keys, int64_t size, int64_t rank) {
    constexpr int kBase = 8, kNumbers = 1 << kBase;
    std::vector<Bits64> alike, next;
    for (int shift = 64 - kBase; size > 1; shift -= kBase) {
      const auto digit = [shift](Bits64 key) { return key >> shift & (kNumbers - 1); };
      int64_t count[kNumbers] = {};
      for_each_in(0, size, [&](int64_t k) { ++count[digit(keys[k])]; });
      Bits64 number = 0;
      for (; rank >= count[number]; ++number) rank -= count[number];
      next.clear();
      for_each_in(0, size, [&](int64_t k) {
        if (digit(keys[k]) == number) next.push_back(keys[k]);
      });
      alike.swap(next);
      keys = alike.data();
      size = int64_t(alike.size());
    }
    return keys[0];
  }

  struct Place {
    int64_t word;
    int bit;
  };
  Place place_of(int64_t site) const {
    int64_t at[kExchangeAxes];
    for (int axis = kExchangeAxes - 1; axis >= 0; --axis) {
      const int64_t length = int64_t(lattice_.length[axis]) * lattice_.parts[axis];
      at[axis] = site % length;
      site /= length;
    }
    Place place{0, 0};
    for (int axis = 0; axis < kExchangeAxes; ++axis) {
      place.word = place.word * lattice_.length[axis] + at[axis] % lattice_.length[axis];
      place.bit = place.bit * lattice_.parts[axis] + int(at[axis] / lattice_.length[axis]);
    }
    return place;
  }

  Draws draws_of(int64_t replica, Bits32 step) const { return {seed_, first_ + Bits64(replica), step}; }

  void with_kind(auto&& body) const {
    if (lattice_.kind == kSquare) return body(std::integral_constant<int, kSquare>());
    if (lattice_.kind == kSimpleCubic) return body(std::integral_constant<int, kSimpleCubic>());
    body(std::integral_constant<int, kBodyCentred>());
  }

  template <int kind> void sweep_kind(Bits64* words, Bits32 step, const uint8_t* acceptance) const {
    const int32_t count = words_of_class<kind>(lattice_);
    const bool side_by_side = replicas_ >= num_threads() || kWordCost * count < kGrain;
    const auto sweep_replica = [&](int64_t replica) {
      const Draws draws = draws_of(replica, step);
      const WordsOf<Concurrent> spins{words + replica * lattice_.words()};
      for (int substep = 0; substep < class_count(kind); ++substep)
        with_direction<kind>(draw_class<kind>(draws, substep), [&](auto direction, int residues) {
          const auto exchange = [&](int64_t number) {
            exchange_in_class<kind, direction.value>(
                lattice_, spins, residues, int32_t(number), draws, substep, acceptance + replica * kDigits);
          };
          const auto exchange_part = [&](int64_t begin, int64_t end) {
            poll(kWordCost * (end - begin));
            for (int64_t number = begin; number < end; ++number) exchange(number);
          };
          if (side_by_side) return for_each_piece(0, count, exchange_part);
          const Parts parts(count, std::max<int64_t>(kGrain / kWordCost / 4, 1));
          parallel_for(parts.parts,
              [&](int64_t part) { for_each_piece(parts.begin(part), parts.end(part), exchange_part); });
        });
    };
    if (side_by_side) return parallel_for(replicas_, sweep_replica);
    for (int64_t replica = 0; replica < replicas_; ++replica) sweep_replica(replica);
  }

  static void for_each_piece(int64_t begin, int64_t end, auto&& body) {
    constexpr int64_t kPiece = 1 << 12;
    for (; begin < end; begin += kPiece) body(begin, std::min(begin + kPiece, end));
  }

  const ExchangeLattice lattice_;
  const Bits64 seed_, first_;
  const int64_t replicas_;
};

}
