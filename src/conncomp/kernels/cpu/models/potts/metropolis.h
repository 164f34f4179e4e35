// The update of Metropolis: sites are offered other states class by class (core/metropolis.h).
//
// How: no two sites of a class are neighbours, so that a class can be updated by any number of threads, each
// of which writes the rows of its own; flips of two states are in flip_offers.h, of more a site is updated at
// a time. Source: N. Metropolis and others 1953, in the order of a checkerboard.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/models/potts/flip_offers.h"

namespace conncomp {

class Metropolis {
 public:
  // Makes the spins `words` of those `before`. `acceptance` has, for each replica and each number of
  // satisfied bonds lost, from 0 to twice the axes of the model, the probability to accept that; what gains
  // bonds has that of 0.
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
      // The first class finds its neighbours as they were, and writes all words.
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

  // The neighbouring words of a word, in one direction each: of each plane, and which sites have the
  // neighbour.
  struct Side {
    int64_t word;
    int shift;  // 0: the bits of the word; 1 and -1: of the next and the last site along the row
    Bits64 present;
  };

  Bits64 digits(const Bits64* plane, Bits64 spin, const Side& side, int last) const {
    const Bits64 beside = Shared::load(plane + side.word);
    if (side.shift == 0) return beside;
    return side.shift > 0 ? spin >> 1 | (beside & 1) << last : spin << 1 | (beside >> last_of(side.word) & 1);
  }
  int last_of(int64_t word) const {
    const int64_t columns = lattice_.columns();
    return (word + 1) % columns ? kWordSites - 1 : int((lattice_.length[kRowAxis] - 1) % kWordSites);
  }

  int sides_of(const RowPlace& place, int64_t column, Side* sides) const {
    const int64_t columns = lattice_.columns(), row = place.row * columns;
    const Bits64 sites = lattice_.sites_of(column);
    int count = 0;
    for (int axis = 0; axis < kRowAxis; ++axis) {
      const int64_t length = lattice_.length[axis], stride = row_stride(lattice_, axis);
      if (length == 1) continue;
      for (int step = -1; step <= 1; step += 2) {
        int64_t to = place.at[axis] + step;
        if ((to < 0 || to == length) && !lattice_.closes(axis)) continue;
        to = to < 0 ? length - 1 : to == length ? 0 : to;
        sides[count++] = {(place.row + (to - place.at[axis]) * stride) * columns + column, 0, sites};
      }
    }
    if (lattice_.length[kRowAxis] == 1) return count;
    const bool first = column == 0, last = column + 1 == columns, closes = lattice_.closes(kRowAxis);
    sides[count++] = {last ? row : row + column + 1, 1,
                      sites & ~(last && !closes ? Bits64(1) << last_of(row + column) : 0)};
    sides[count++] = {first ? row + columns - 1 : row + column - 1, -1, sites & ~Bits64(first && !closes)};
    return count;
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
    const int64_t word = place.row * lattice_.columns() + column,
                  first_site = place.row * lattice_.length[kRowAxis] + column * kWordSites;
    Bits64* const planes = replicas_.spins(words_, replica);
    Bits64 index[kWordSites], chance[kWordSites] = {}, choice[kWordSites];
    int count = 0;
    for_each_bit(sites, [&](int p) { index[count++] = Bits64(first_site + p); });
    draw_all(draws, kMetropolis, index, count, chance, choice);

    Side sides[kMostSides];
    Bits64 spin[kMostPlanes], beside[kMostSides][kMostPlanes];
    const int side_count = sides_of(place, column, sides), last = last_of(word);
    for (int k = 0; k < lattice_.planes; ++k) {
      Bits64* const plane = planes + k * lattice_.words();
      spin[k] = Shared::load(plane + word);
      for (int i = 0; i < side_count; ++i) beside[i][k] = digits(plane, spin[k], sides[i], last);
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
      for (int i = 0; i < side_count; ++i) {
        const int state = state_of(beside[i], p), present = int(sides[i].present >> p & 1);
        lost += present * (int(state == old_state) - int(state == new_state));
      }
      if (chance[drawn] < accepted[std::max(lost, 0)])
        for (int k = 0; k < lattice_.planes; ++k) flips[k] |= Bits64((old_state ^ new_state) >> k & 1) << p;
      ++drawn;
    });
    for (int k = 0; k < lattice_.planes; ++k)
      if (flips[k]) Shared::store(planes + k * lattice_.words() + word, spin[k] ^ flips[k]);
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
