// Bonds of spins activated site by site, as Weigel does. Fills bonds_of_site[i] with a bit for each axis
// whose bond at site i is active, and counts possible and active bonds: those of activate_bonds. A thread
// takes one site, four in a square, or a column of four; one alone has little to do while memory is awaited.
// Cost: half a Philox call or more per bond between equal spins. Source: Weigel 2011, section II.A.
#pragma once

#include "cuda/models/spins.cuh"

namespace conncomp {

// The next site in a direction along an axis of some stride, or -1; `at` is the site's place there.
inline int64_t next_site(
    const Lattice& lattice, int64_t site, int axis, int64_t at, int64_t stride, int direction) {
  const int64_t length = lattice.length[axis], to = at + direction;
  if (to >= 0 && to < length) return site + direction * stride;
  return lattice.closes(axis) ? site - direction * (length - 1) * stride : -1;
}

inline bool is_active(const Draws& draws, const SitePlace& place, int axis, Bits64 probability) {
  return bernoulli(draws, Bits64(place.word), axis, probability, Bits64(1) << place.bit) != 0;
}

template <int height, int width>
__global__ void __launch_bounds__(kSpinThreads) activate_sites(Replicas replicas,
    const Bits64* __restrict__ spins, const Bits64* __restrict__ probability,
    uint8_t* __restrict__ bonds_of_site, Records records, bool count_active) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t replica = replicas.replica();
  const Bits64 active_with = probability[replica];
  spins = replicas.at_replica(spins, replicas.words_of_states());
  bonds_of_site = replicas.at_replica(bonds_of_site, lattice.sites());
  const int64_t rows = lattice.length[kRowAxis - 1], columns = lattice.length[kRowAxis];
  const int64_t across = (columns + width - 1) / width, down = (rows + height - 1) / height;
  const int64_t patches = lattice.rows() / rows * down * across;
  int64_t satisfied = 0, active = 0;
  replicas.for_each(patches, [&](int64_t patch) {
    const int64_t plane = patch / across / down;
    const int64_t first_row = patch / across % down * height, first_column = patch % across * width;
#pragma unroll
    for (int k = 0; k < height * width; ++k) {
      const int64_t row = first_row + k / width, column = first_column + k % width;
      if (row >= rows || column >= columns) continue;
      const int64_t site = (plane * rows + row) * columns + column;
      const SitePlace place(lattice, site);
      const int state = state_at(lattice, spins, place);
      int site_bonds = 0;
      int64_t stride = 1, quotient = site;
      for (int axis = kRowAxis; axis >= kLatticeAxes - replicas.axes; --axis) {
        const int64_t length = lattice.length[axis];
        const int64_t next = next_site(lattice, site, axis, quotient % length, stride, 1);
        quotient /= length;
        stride *= length;
        if (next < 0 || state_at(lattice, spins, {lattice, next}) != state) continue;
        ++satisfied;
        if (!is_active(draws, place, axis, active_with)) continue;
        ++active;
        site_bonds |= 1 << (axis - (kLatticeAxes - replicas.axes));
      }
      bonds_of_site[site] = uint8_t(site_bonds);
    }
  });
  if (records.record == nullptr) return;
  records.add_block(replica, kSatisfied, satisfied);
  if (count_active) records.add_block(replica, kActive, active);
}

}
