// Spins of the Potts model as bits, the bonds of its clusters, and the random numbers of its updates. CPU and
// CUDA share it: a trajectory is a function of (seed, parameters) alone (contract 9).
// Layout. A lattice has four axes; those that a model lacks come first, of length 1. Site x of a row, a line
// along the last axis, is bit x % 64 of word x / 64 of the row; bits beyond the row are 0. The states 0 ... q
// - 1 are binary, a plane for each digit, the lowest first: spins[plane * words + word] of a replica. Bond
// (site, axis) leads to the next site along the axis, from the last site of a periodic axis to the first: so
// an axis of length 2 has two bonds between its two sites, one of length 1 a bond from a site to itself.
// Bonds of one axis are words as those of a plane.
// Random numbers are philox(seed, index | replica << 40, step, draw), where `step` counts the updates of a
// model from 1, and a draw is purpose | axis << 8 | block << 16 (Purpose). A probability p is a number of 64
// bits, p * 2^64; what has it happens if the bits that are drawn are less.
// Metropolis. The sites of a class, no two neighbours, are offered another state at once, accepted with
// probability a min(1, exp(-beta dE)): each is in detailed balance. With q > 2 a is 1, as two sweeps lead
// from any spins to any. With q = 2 and a = 1 all spins would flip in every sweep at beta = 0, and there are
// closed cycles of flips at no cost; so a is 15/16, where no flip is certain: the energy of 16 x 16 critical
// spins then has an autocorrelation time of 6.8 sweeps, not 5.7.
#pragma once

#include "core/atomics.h"
#include "core/philox.h"

namespace conncomp {

constexpr int kLatticeAxes = 4, kRowAxis = kLatticeAxes - 1, kColumnAxis = kRowAxis - 1;
constexpr int kWordSites = 64, kReplicaShift = 40;

// The fields of a record (models/spins/measurements.py). Powers of sizes are limbs of 32 bits, summed apart.
enum RecordField {
  kSatisfied,
  kActive,
  kClusters,
  kLargest,
  kSquares,
  kFourths = 7,
  kWindingAxes = 12,  // a bit for each axis of the model along which a cluster wraps
  kWindingRank,
  kCounts
};

constexpr int kSquareLimbs = kFourths - kSquares, kFourthLimbs = kWindingAxes - kFourths;

// Number, largest, and sums of second and fourth powers of the sizes of clusters.
struct ClusterSums {
  int64_t clusters, largest, squares[kSquareLimbs], fourths[kFourthLimbs];

  void add(Bits64 size) {
    ++clusters;
    if (int64_t(size) > largest) largest = int64_t(size);
    const Bits64 low = size * size, high = below(size, size);
    squares[0] += int64_t(low & 0xffffffffu);
    squares[1] += int64_t(low >> 32);
    squares[2] += int64_t(high);
    // The square of high * 2^64 + low.
    const Bits64 square_high = below(low, low), square_low = low * low;
    const Bits64 cross = 2 * high * low, cross_high = below(2 * high, low);
    const Bits64 middle = square_high + cross, carry = middle < cross;
    fourths[0] += int64_t(square_low & 0xffffffffu);
    fourths[1] += int64_t(square_low >> 32);
    fourths[2] += int64_t(middle & 0xffffffffu);
    fourths[3] += int64_t(middle >> 32);
    fourths[4] += int64_t(high * high + cross_high + carry);
  }
};

// The index of a random number, and what it decides.
enum Purpose : Bits32 {
  kStart = 1,         // site: its first state, below(first 64 bits, q); step 0
  kBond,              // word, with the axis: which bonds of the word are active, by bernoulli
  kCluster,           // smallest site of a cluster: first 64 bits: its new state; last: whether it flips
  kChosenSite,        // tile: its chosen site, below(first 64 bits, sites of a tile)
  kMetropolis,        // site: first 64 bits: whether to accept; last: the new state
  kExchange,          // the colder one of a pair: first 64 bits: whether replicas exchange
  kCoin,              // smallest site of a cluster / 64, q = 2: bit site % 64 is the new state
  kFlipDigits,        // pair of joined words, with the class of sites, q = 2: digits (core/metropolis.h)
  kOccupied = 16,     // word, with the axis of bonds: which sites or bonds are there (percolation)
  kOrder,             // i / 2, step being the run: half i % 2 is number i of a permutation (percolation)
  kGlassDigits = 24,  // site, of a group of replicas: digits of a number (core/spin_glass.h)
  kGlassNumber,       // site, of a group of replicas: a number of each of four
  kCoupling,          // site, of a sample: first 64 bits: a coupling; last: if it is absent (models/disorder)
  kHoudayer,          // 0, first of two replicas: the site whose cluster they exchange (spin_glass/pairs)
  kField,             // site, of a sample: as a coupling, a random field
  kMirror = 32,       // 0, or site: a mirror of vectors (core/vector_spins.h, core/edge_vectors.h)
  kVectorBond,        // 16 word + site % 16, with the axis (core/vector_spins.h)
  kEdgeBond = 40,     // bond / 4 of a graph: word bond % 4: whether it is active (core/edge_spins.h)
  kGhostBond          // vertex / 4: word vertex % 4: whether its bond to the ghost is active
};

// Layout: lattice.py.
struct Lattice {
  int64_t length[kLatticeAxes];
  int32_t periodic;  // a bit for each axis
  int32_t states;    // q; of vectors of more than three components, how many these are
  int32_t planes;    // of words: as many as q - 1 has digits

  bool closes(int axis) const { return periodic >> axis & 1; }
  bool is_odd_ring(int axis) const { return closes(axis) && length[axis] % 2 == 1 && length[axis] > 1; }
  int64_t columns() const { return (length[kRowAxis] + kWordSites - 1) / kWordSites; }
  int64_t rows() const { return length[0] * length[1] * length[2]; }
  int64_t words() const { return rows() * columns(); }
  int64_t sites() const { return rows() * length[kRowAxis]; }
  int64_t first_site(int64_t word) const {
    return word / columns() * length[kRowAxis] + word % columns() * kWordSites;
  }
  Bits64 sites_of(int64_t column) const {
    const int64_t behind = length[kRowAxis] - column * kWordSites;
    return behind < kWordSites ? (Bits64(1) << behind) - 1 : ~Bits64(0);
  }
};

// What names a random number besides its index and purpose. `replica` counts from the first of all.
struct Draws {
  Bits64 seed, replica;
  Bits32 step;

  PhiloxBlock operator()(Purpose purpose, Bits64 index, int axis = 0, int block = 0) const {
    return philox(
        seed, index | replica << kReplicaShift, step, purpose | Bits32(axis) << 8 | Bits32(block) << 16);
  }
};

inline Bits64 half(const PhiloxBlock& block, int k) {
  Bits64 bits;
  unpack(block, k, bits);
  return bits;
}

// Which of the `wanted` bits are set, each with `probability`; `blocks` blocks may have been used. Draws
// 64 numbers by digits from the highest, two halves a block, until all differ from the probability: a bit
// is set once a 0 is drawn where that has 1, not if a 1 is where it has 0. 64 bonds take about 7 digits.
inline Bits64 bernoulli(const Draws& draws, Bits64 word, int axis, Bits64 probability, Bits64 wanted,
    Purpose purpose = kBond, int blocks = 0) {
  Bits64 set = 0, undecided = wanted;
  for (int block = blocks; undecided != 0 && probability != 0; ++block) {
    const PhiloxBlock bits = draws(purpose, word, axis, block);
    for (int k = 0; k < 2; ++k, probability <<= 1) {
      const Bits64 drawn = half(bits, k);
      const bool digit = probability >> 63;
      if (digit) set |= undecided & ~drawn;
      undecided &= digit ? drawn : ~drawn;
    }
  }
  return set;
}

struct WordPlace {
  int64_t word, at[kRowAxis], column;
};
template <class Count>  // has room for the number of words
inline WordPlace place_as(const Lattice& lattice, Count word) {
  Count row = word / Count(lattice.columns());
  WordPlace place{int64_t(word), {}, int64_t(word - row * Count(lattice.columns()))};
  for (int k = kRowAxis - 1; k >= 0; --k) {
    if (lattice.length[k] == 1) continue;
    const Count lines = row / Count(lattice.length[k]);
    place.at[k] = int64_t(row - lines * Count(lattice.length[k]));
    row = lines;
  }
  return place;
}
inline WordPlace place_of(const Lattice& lattice, int64_t word) {
  // Divisions of 64 bits take several times as long.
  return lattice.words() >> 32 == 0 ? place_as(lattice, Bits32(word)) : place_as(lattice, word);
}

// How many words a step along an axis before the last one moves.
inline int64_t word_stride(const Lattice& lattice, int axis) {
  int64_t stride = lattice.columns();
  for (int k = kRowAxis - 1; k > axis; --k) stride *= lattice.length[k];
  return stride;
}
// The word of the next, or previous, row along an axis of such a stride; or -1.
inline int64_t next_along(const Lattice& lattice, const WordPlace& place, int axis, int64_t stride) {
  if (place.at[axis] + 1 < lattice.length[axis]) return place.word + stride;
  return lattice.closes(axis) ? place.word - place.at[axis] * stride : -1;
}
inline int64_t previous_along(const Lattice& lattice, const WordPlace& place, int axis, int64_t stride) {
  if (place.at[axis] > 0) return place.word - stride;
  return lattice.closes(axis) ? place.word + (lattice.length[axis] - 1) * stride : -1;
}

// The bits of the next sites along an axis, each at the bit of its site; and the sites that have one.
struct NextSites {
  int64_t word;  // along an axis before the last one, or with the next site of the last bit
  int last;      // along the last axis: that bit; else -1
  Bits64 sites;

  Bits64 operator()(const Bits64* plane, Bits64 bits) const {
    return last < 0 ? plane[word] : bits >> 1 | (plane[word] & 1) << last;
  }
};
inline NextSites next_sites(const Lattice& lattice, const WordPlace& place, int axis) {
  const Bits64 sites = lattice.sites_of(place.column);
  if (axis < kRowAxis) {
    const int64_t next = next_along(lattice, place, axis, word_stride(lattice, axis));
    return next < 0 ? NextSites{place.word, -1, 0} : NextSites{next, -1, sites};
  }
  if (place.column + 1 < lattice.columns()) return {place.word + 1, kWordSites - 1, sites};
  const int last = int((lattice.length[kRowAxis] - 1) % kWordSites);
  const Bits64 closing = lattice.closes(kRowAxis) ? 0 : Bits64(1) << last;
  return {place.word - place.column, last, sites & ~closing};
}

inline Bits64 satisfied_bonds(
    const Lattice& lattice, const Bits64* spins, int64_t word, const NextSites& next) {
  Bits64 equal = next.sites;
  for (int k = 0; k < lattice.planes && equal != 0; ++k) {
    const Bits64* const plane = spins + k * lattice.words();
    equal &= ~(plane[word] ^ next(plane, plane[word]));
  }
  return equal;
}
inline Bits64 satisfied_bonds(const Lattice& lattice, const Bits64* spins, const WordPlace& place, int axis) {
  return satisfied_bonds(lattice, spins, place.word, next_sites(lattice, place, axis));
}

// Coins of sites from 64 * word on: for q = 2 the new states of clusters whose smallest sites they are.
inline Bits64 draw_coins(const Draws& draws, int64_t word) { return half(draws(kCoin, Bits64(word)), 0); }
// A cluster's new state in a Swendsen-Wang update: any of q > 2, and any of q.
inline int draw_one_of_several(const Draws& draws, int64_t root, int states) {
  return int(below(half(draws(kCluster, Bits64(root)), 0), Bits64(states)));
}
inline int draw_any_state(const Draws& draws, int64_t root, int states) {
  if (states == 2) return int(draw_coins(draws, root / kWordSites) >> root % kWordSites & 1);
  return draw_one_of_several(draws, root, states);
}

struct ClusterDraw {
  Bits64 state, decision;

  int another_state(int states, int old) const {
    return int((Bits64(old) + 1 + below(state, Bits64(states - 1))) % Bits64(states));
  }
};
inline ClusterDraw draw_cluster(const Draws& draws, int64_t root) {
  const PhiloxBlock block = draws(kCluster, Bits64(root));
  return {half(block, 0), half(block, 1)};
}

struct SitePlace {
  int64_t word;
  int bit;

  SitePlace(const Lattice& lattice, int64_t site) {
    const int64_t length = lattice.length[kRowAxis], x = site % length;
    word = site / length * lattice.columns() + x / kWordSites;
    bit = int(x % kWordSites);
  }
};
// The state at a bit of words, whose digits are `stride` words apart.
template <class Access = Exclusive>
inline int state_of(const Bits64* spins, int64_t stride, int planes, int bit) {
  int state = 0;
  for (int k = 0; k < planes; ++k) state |= int(Access::load(spins + k * stride) >> bit & 1) << k;
  return state;
}
inline Bits64 bits_in_state(const Bits64* spins, int64_t stride, int planes, int state) {
  Bits64 bits = ~Bits64(0);
  for (int k = 0; k < planes; ++k) bits &= state >> k & 1 ? spins[k * stride] : ~spins[k * stride];
  return bits;
}
inline int state_at(const Lattice& lattice, const Bits64* spins, const SitePlace& place) {
  return state_of(spins + place.word, lattice.words(), lattice.planes, place.bit);
}

// The tiles that a lattice is cut into, with a chosen site in each.
struct ChoiceTiles {
  int64_t length[kLatticeAxes];

  int64_t count(const Lattice& lattice) const {
    int64_t tiles = 1;
    for (int k = 0; k < kLatticeAxes; ++k) tiles *= lattice.length[k] / length[k];
    return tiles;
  }
  int64_t chosen_site(const Lattice& lattice, const Draws& draws, int64_t tile) const {
    Bits64 sites = 1;
    for (int64_t edge : length) sites *= Bits64(edge);
    int64_t in_tile = int64_t(below(half(draws(kChosenSite, Bits64(tile)), 0), sites)), site = 0, stride = 1;
    for (int k = kLatticeAxes - 1; k >= 0; --k) {
      const int64_t tiles = lattice.length[k] / length[k];
      site += (tile % tiles * length[k] + in_tile % length[k]) * stride;
      tile /= tiles;
      in_tile /= length[k];
      stride *= lattice.length[k];
    }
    return site;
  }
};

}
