// Structure factors of spins at the smallest wave vectors: sums over sites, and over clusters, of a spin
// times cos(k.r) and sin(k.r), of a state or of each component. The wave vector of a periodic axis of L cells
// is the reciprocal vector over L: the phase of a site is 2 pi (x + f) / L, of cell x and the site's place f
// in it. Vectors may have a wave without one, for magnetisations. Each state has a number, 1 there, else 0;
// two states one, 1 and -1. Cosines, sines and spins are in units of 2^-30, sums in units of 2^-28 or, of
// clusters, of 2^-30: integers of 64 bits over fewer than 2^31 sites. Source: U. Wolff 1990.
#pragma once

#include "core/edge_vectors.h"

namespace conncomp {

constexpr int32_t kOneOfStructure = int32_t(1) << kProjectionBits;
constexpr int kMostWaves = kLatticeAxes + 1;

// Layout: kernels/structure.py.
struct Phase {
  int32_t cosine, sine;
};
struct Wave {
  int64_t stride, length;  // how many sites farther the next cell along the axis is; cells along it
  const Phase* phases;     // by cell along the axis, and by site of a cell
};
struct Waves {
  int64_t row;  // sites of a row, along the last axis
  int32_t cell, count;
  Wave wave[kMostWaves];

  bool is_along_row(int k) const { return wave[k].stride == cell && wave[k].length * cell == row; }
  Phase at(int k, int64_t site) const {
    const Wave& of = wave[k];
    const Bits32 place = Bits32(site);  // of fewer than 2^31, which is divided sooner
    if (is_along_row(k)) return of.phases[place % Bits32(row)];
    const Bits32 at = place / Bits32(of.stride) % Bits32(of.length), within = cell == 1 ? 0 : place % cell;
    return of.phases[int64_t(at) * cell + within];
  }
};

inline int64_t waved(int32_t value, int32_t phase) {
  constexpr int kShift = 2 * kProjectionBits - kMeasureBits;
  return (int64_t(value) * phase + (int64_t(1) << (kShift - 1))) >> kShift;
}
inline int64_t waved_in_cluster(int32_t value, int32_t phase) {
  return (int64_t(value) * phase + (int64_t(1) << (kProjectionBits - 1))) >> kProjectionBits;
}

struct WavedStates {
  using Spin = Bits64;
  struct Mirror {};
  const Lattice lattice;

  explicit WavedStates(const Lattice& lattice) : lattice(lattice) {}
  static int64_t length(const Lattice& lattice) { return lattice.words() * lattice.planes; }
  static int components(const Lattice& lattice) { return lattice.states == 2 ? 1 : lattice.states; }
  int64_t row_of(int64_t site) const {
    return Bits32(site) / Bits32(lattice.length[kRowAxis]) * lattice.columns();
  }
  int64_t place_of(int64_t site) const { return Bits32(site) % Bits32(lattice.length[kRowAxis]); }
  int32_t value_at(const Spin* row, int64_t place, int component) const {
    const Spin* word = row + place / kWordSites;
    int state = 0;
    for (int plane = 0; plane < lattice.planes; ++plane, word += lattice.words())
      state |= int(*word >> place % kWordSites & 1) << plane;
    if (lattice.states == 2) return kOneOfStructure - 2 * state * kOneOfStructure;
    return state == component ? kOneOfStructure : 0;
  }
  int32_t value(const Spin* spins, int64_t site, int component) const {
    return value_at(spins + row_of(site), place_of(site), component);
  }
  Mirror mirror(const Draws&) const { return {}; }
  // The spins of a cluster are equal.
  int32_t projection(const Mirror&, const Spin*, int64_t) const { return kOneOfStructure; }
};

template <class Vectors> struct WavedVectors {
  using Spin = typename Vectors::Spin;
  using Mirror = typename Vectors::Mirror;
  const Vectors vectors;

  explicit WavedVectors(const Lattice& lattice) : vectors(lattice) {}
  static int64_t length(const Lattice& lattice) { return lattice.sites(); }
  static int components(const Lattice& lattice) {
    return Vectors::kComponents < 4 ? Vectors::kComponents : lattice.states;
  }
  int32_t value(const Spin* spins, int64_t site, int component) const {
    return vectors.components(spins[site]).of[component];
  }
  Mirror mirror(const Draws& draws) const { return vectors.mirror(draws, 0); }
  int32_t projection(const Mirror& mirror, const Spin* spins, int64_t site) const {
    return vectors.projection(mirror, spins[site]);
  }
};

}
