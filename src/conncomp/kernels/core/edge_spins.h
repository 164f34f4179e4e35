// The Ising model on any edges, H = -sum of J s s - sum of h s: which bonds an update makes active.
//
// Layout. Spins are words as those of a lattice with one row (core/spins.h): bit v % 64 of word v / 64 is the
// spin of vertex v, 1 for down. Couplings J and fields h are int32, whole numbers of a unit that the model
// has; without an array all are kWhole, a ferromagnet's.
//
// Bonds. A bond with J > 0 is satisfied by equal spins, one with J < 0 by different ones, and is then active
// with probability 1 - exp(-2 beta |J|): a number u says so if -ln u < 2 beta |J|, where both sides are
// integers (Logarithm, core/spin_glass.h). So a probability is off by a relative 2^-26 at most, plus 2^-32.
// Replicas of any temperatures share the couplings. A field is a bond to a ghost, a spin that is always up: a
// cluster with an active bond to the ghost stays as it is.
//
// Random numbers are philox(seed, index | replica << 40, step, purpose):
//
//   kEdgeBond     word e % 4 of block e / 4: of bond e
//   kGhostBond    word v % 4 of block v / 4: of the bond from vertex v to the ghost
//   kCoin         as in core/spins.h: a cluster's spins change by the coin of its smallest vertex
//   kChosenSite   likewise: whose cluster changes in the update of Wolff
//
// Sources: P. W. Kasteleyn, C. M. Fortuin, J. Phys. Soc. Jpn. 26, 11 (1969); for fields R. B. Griffiths, J.
// Math. Phys. 8, 484 (1967), and J. Kent-Dobias, J. P. Sethna, Phys. Rev. E 98, 063306 (2018).
#pragma once

#include "core/spin_glass.h"

namespace conncomp {

constexpr int32_t kWhole = 1 << 29;
constexpr int kEdgesOfBlock = 4;  // as many numbers as a block of Philox has

// The bonds of a model, and the fields of its vertices. Either may be missing: coupling where all are kWhole.
struct EdgeBonds {
  int64_t count;
  const int32_t *u, *v;  // below the number of vertices
  const int32_t *coupling, *field;

  CONNCOMP_ANYWHERE int32_t coupling_of(int64_t edge) const {
    return coupling == nullptr ? kWhole : coupling[edge];
  }
};

CONNCOMP_ANYWHERE inline bool is_down(const Bits64* spins, int64_t vertex) {
  return spins[vertex / kWordSites] >> vertex % kWordSites & 1;
}

// How much a bond or field of this strength lowers the energy, in half units; 0 where it is not satisfied.
CONNCOMP_ANYWHERE inline int32_t satisfied_weight(int32_t coupling, bool differ) {
  if (coupling < 0) return differ ? -coupling : 0;
  return differ ? 0 : coupling;
}

// Whether a satisfied bond of this strength is active, with the number u.
CONNCOMP_ANYWHERE inline bool is_active(int32_t weight, Bits32 u, const Logarithm& logarithm,
                                        const GlassTemperature& temperature) {
  return temperature * logarithm(u) < int64_t(weight);
}

}  // namespace conncomp
