// Models on any edges, H = -sum of J e(s, s') - sum of h e(s, up): which bonds an update makes active. Kinds
// of spins are structs: UpDown (Ising, e = s s'), States and TwoStates (Potts, e = 1 for equal states), and
// in core/edge_vectors.h vectors (e = s.s'). They tell the weight of a bond: how much lower the energy is, in
// half units, than if what an update does were done to one end only; twice as large for Potts.
// Layout. Spins of up to 255 states are words as those of a lattice with one row (core/spins.h); of two
// states 1 is down. Couplings J and fields h are int32 in units of the model; else all are kWhole.
// Bonds. A bond is active with probability 1 - exp(-2 beta w) if its weight w is above 0: if -ln u < 2 beta
// w, both integers (Logarithm, core/spin_glass.h), so that a probability is off by a relative 2^-26 at most,
// plus 2^-32. Of Ising w is |J| where a bond is satisfied. A field is a bond to a ghost, always up or of
// state 0: a cluster with an active bond to it stays. For couplings of Potts below 0, two states are drawn
// (kMirror of index 0), and the vertices in them are spins of an Ising model: its clusters exchange the two
// states. Random numbers: word e % 4 of block e / 4 of kEdgeBond is for bond e, of kGhostBond so for the
// vertex's bond to the ghost; others are as in core/spins.h, by vertex.
// Sources: P. W. Kasteleyn, C. M. Fortuin 1969; for fields R. B. Griffiths, J. Math. Phys. 8, 484 (1967), and
// J. Kent-Dobias, J. P. Sethna, Phys. Rev. E 98, 063306 (2018); for two states J.-S. Wang, R. H. Swendsen, R.
// Kotecky, Phys. Rev. Lett. 63, 109 (1989).
#pragma once

#include "core/spin_glass.h"

namespace conncomp {

constexpr int32_t kWhole = 1 << 29;
constexpr int kEdgesOfBlock = 4;  // as many numbers as a block of Philox has

// The bonds of a model, and the fields of its vertices. Without couplings all are kWhole.
struct EdgeBonds {
  int64_t count;
  const int32_t *u, *v;  // below the number of vertices
  const int32_t *coupling, *field;

  int32_t coupling_of(int64_t edge) const { return coupling == nullptr ? kWhole : coupling[edge]; }
};

// Access is Concurrent where other threads change other bits of the word.
template <class Access = Exclusive> inline bool is_down(const Bits64* spins, int64_t vertex) {
  return Access::load(spins + vertex / kWordSites) >> vertex % kWordSites & 1;
}

inline int32_t satisfied_weight(int32_t coupling, bool differ) {
  if (coupling < 0) return differ ? -coupling : 0;
  return differ ? 0 : coupling;
}

inline bool is_active(
    int32_t weight, Bits32 u, const Logarithm& logarithm, const GlassTemperature& temperature) {
  return temperature * logarithm(u) < int64_t(weight);
}

// Spins of which is counted what is satisfied, and states, as bonds are drawn.
struct CountedSpins {
  using Spin = Bits64;
  struct Move {};  // what an update draws that all clusters have in common
  static constexpr bool kCounted = true;

  Move move(const Draws&) const { return {}; }
  int32_t satisfied(int32_t weight, const Spin*, int64_t, int64_t, int32_t) const { return weight; }
  int32_t satisfied(int32_t weight, const Spin*, int64_t, int32_t) const { return weight; }
};

struct UpDown : CountedSpins {
  explicit UpDown(const Lattice&) {}
  static int64_t length(const Lattice& lattice) { return lattice.words(); }
  int32_t weight(const Move&, const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    return satisfied_weight(coupling, is_down(spins, u) != is_down(spins, v));
  }
  int32_t weight(const Move&, const Spin* spins, int64_t vertex, int32_t field) const {
    return satisfied_weight(field, is_down(spins, vertex));
  }
  Bits64 staying(const Draws& draws, int64_t word) const { return ~draw_coins(draws, word); }
  Bits64 in_state(const Spin* spins, int64_t word, int state) const {
    return state == 0 ? ~spins[word] : spins[word];
  }
};

struct States : CountedSpins {
  int32_t states, planes;
  int64_t words;

  explicit States(const Lattice& lattice)
      : states(lattice.states), planes(lattice.planes), words(lattice.words()) {}
  static int64_t length(const Lattice& lattice) { return lattice.words() * lattice.planes; }
  template <class Access = Exclusive> int state(const Spin* spins, int64_t vertex) const {
    int state = 0;
    for (int plane = 0; plane < planes; ++plane)
      state |= int(is_down<Access>(spins + plane * words, vertex)) << plane;
    return state;
  }
  int32_t weight(const Move&, const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    return satisfied_weight(coupling, state(spins, u) != state(spins, v));
  }
  int32_t weight(const Move&, const Spin* spins, int64_t vertex, int32_t field) const {
    return satisfied_weight(field, state(spins, vertex) != 0);
  }
  Bits64 staying(const Draws&, int64_t) const { return 0; }
  Bits64 in_state(const Spin* spins, int64_t word, int state) const {
    return bits_in_state(spins + word, words, planes, state);
  }
  int new_state(const Move&, const Draws& draws, int64_t root, bool chosen, int old) const {
    if (!chosen) return draw_any_state(draws, root, states);
    return draw_cluster(draws, root).another_state(states, old);
  }
};

struct TwoStates : States {
  struct Move {
    int first, second;

    bool has(int state) const { return state == first || state == second; }
  };

  using States::States;
  Move move(const Draws& draws) const {
    const PhiloxBlock block = draws(kMirror, 0);
    const int first = int(below(half(block, 0), Bits64(states)));
    return {first, int((Bits64(first) + 1 + below(half(block, 1), Bits64(states - 1))) % Bits64(states))};
  }
  int32_t weight(const Move& move, const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    const int of_u = state(spins, u), of_v = state(spins, v);
    return move.has(of_u) && move.has(of_v) ? satisfied_weight(coupling, of_u != of_v) : 0;
  }
  int32_t weight(const Move& move, const Spin* spins, int64_t vertex, int32_t field) const {
    return move.has(0) && move.has(state(spins, vertex)) ? satisfied(0, spins, vertex, field) : 0;
  }
  int32_t satisfied(int32_t, const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    return States::weight({}, spins, u, v, coupling);
  }
  int32_t satisfied(int32_t, const Spin* spins, int64_t vertex, int32_t field) const {
    return States::weight({}, spins, vertex, field);
  }
  Bits64 staying(const Draws& draws, int64_t word) const { return ~draw_coins(draws, word); }
  int new_state(const Move& move, const Draws&, int64_t, bool, int old) const {
    return move.has(old) ? move.first + move.second - old : old;
  }
};

}
