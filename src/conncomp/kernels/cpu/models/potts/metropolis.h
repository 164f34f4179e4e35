// Metropolis: sites are offered other states class by class (core/metropolis.h), no two of which are
// neighbours, so threads update rows of their own; two states: flip_offers.h. Source: N. Metropolis and
// others 1953.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/models/potts/flip_offers.h"

namespace conncomp {

class Metropolis {
 public:
  // Makes the spins `words` of those `before`. `acceptance` has the probability of losing so many satisfied
  // bonds, for each replica, from 0 to twice the axes; what gains bonds has that of 0.
  Metropolis(const Replicas& replicas, Bits32 step, const Bits64* acceptance, int most_lost,
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

  // Periodic axes of odd length, as bits.
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
      spin[k] = Shared::load(plane + word.word);
      sides = 0;
      for (int axis = 0; axis < kLatticeAxes; ++axis) {
        if (lattice_.length[axis] == 1) continue;
        for (const bool after : {false, true}) {
          const SpinsBeside side = spins_beside(lattice_, word, spin[k], axis, after,
                                                [=](int64_t w) { return Shared::load(plane + w); });
          beside[sides][k] = side.spins, present[sides++] = side.present;
        }
      }
    }
    const auto state_of = [&](const Bits64* digits_of, int p) {
      int state = 0;
      for (int k = 0; k < lattice_.planes; ++k) state |= int(digits_of[k] >> p & 1) << k;
      return state;
    };
    Bits64 flips[kMostPlanes] = {};
    int drawn = 0;
    for_each_bit(sites, [&](int p) {
      const int old_state = state_of(spin, p),
                new_state = ClusterDraw{choice[drawn], 0}.another_state(lattice_.states, old_state);
      int lost = 0;
      for (int i = 0; i < sides; ++i) {
        const int state = state_of(beside[i], p);
        lost += int(present[i] >> p & 1) * (int(state == old_state) - int(state == new_state));
      }
      if (chance[drawn] < accepted[std::max(lost, 0)])
        for (int k = 0; k < lattice_.planes; ++k) flips[k] |= Bits64((old_state ^ new_state) >> k & 1) << p;
      ++drawn;
    });
    for (int k = 0; k < lattice_.planes; ++k)
      if (flips[k]) Shared::store(planes + k * lattice_.words() + word.word, spin[k] ^ flips[k]);
  }

  const Replicas replicas_;
  const Lattice lattice_;
  const Strips strips_;
  const Bits32 step_;
  const Bits64* const acceptance_;
  const int most_lost_;
  const Bits64* const before_;
  Bits64* const words_;
};

}  // namespace conncomp
