// Local updates of spins on any edges: a vertex is offered another spin, given those of its neighbours.
//
// Order. Vertices change class by class, no two of a class being neighbours: given all others they are
// independent, and each is in detailed balance. Couplings may have any sign, and fields may be there.
//
// Rules. Metropolis' offers another spin, any of the other q - 1, which is taken with probability
// a min(1, exp(-beta dE)): a is 15/16 of two states and 1 of more, as core/spins.h tells why. The heat bath
// draws a spin with the probability that it has given the neighbours. Of two directions it is that of
// core/spin_glass.h. Of q states the one is taken whose energy, less the temperature times a number of
// Gumbel's distribution, is the lowest: that number is -ln(-ln u), as one logarithm of the other, so that
// each probability is off by 2^-25 at most.
//
// Random numbers, index being the vertex's bit in the words, which is the vertex in a graph:
//
//   kMetropolis   word 0: whether what is offered is taken, and the heat bath of two directions; the second
//                 half: which of the other states is offered; of the heat bath of states word k % 4 of block
//                 k / 4 is the number of state k
//
// Source: N. Metropolis and others, J. Chem. Phys. 21, 1087 (1953); E. J. Gumbel, Statistical Theory of
// Extreme Values (1954), for the maximum.
#pragma once

#include "core/edge_spins.h"

namespace conncomp {

// The arcs of a graph by the vertex that they leave, both ways of each bond. A bond of a vertex to itself has
// none, as its energy is the same for all spins.
struct EdgeArcs {
  const int64_t* begin;  // by vertex, one more than there are
  const int32_t *to, *coupling;

  CONNCOMP_ANYWHERE int32_t coupling_of(int64_t arc) const {
    return coupling == nullptr ? kWhole : coupling[arc];
  }
};

// Which vertices change at once, as no two of them are neighbours.
struct EdgeClass {
  const int32_t* vertices;
  int64_t count;
};

// What decides the new spins of a replica.
struct LocalUpdate {
  EdgeArcs arcs;
  const int32_t* field;  // null if there is none
  Logarithm logarithm;
  GlassTemperature temperature;
  int32_t rule;  // a GlassRule
};

// Changes the bit of a vertex, whose word others may be changing, too.
template <class Access>
CONNCOMP_ANYWHERE inline void change_bit(Bits64* spins, int64_t vertex, bool is_set) {
  const Bits64 bit = Bits64(1) << vertex % kWordSites;
  Access::fetch_add(spins + vertex / kWordSites, is_set ? 0 - bit : bit);  // without a carry
}

template <class Access>
CONNCOMP_ANYWHERE inline void offer_vertex(const UpDown&, const LocalUpdate& update, const Draws& draws,
                                           Bits64* spins, int64_t vertex) {
  int64_t field = update.field == nullptr ? 0 : update.field[vertex];
  for (int64_t arc = update.arcs.begin[vertex]; arc < update.arcs.begin[vertex + 1]; ++arc) {
    const int64_t coupling = update.arcs.coupling_of(arc);
    field += is_down<Access>(spins, update.arcs.to[arc]) ? -coupling : coupling;
  }
  const bool up = !is_down<Access>(spins, vertex);
  const Bits32 u = draws(kMetropolis, Bits64(vertex)).word[0];
  if (spin_in_field(update.rule, up, field, u, update.logarithm, update.temperature) != up)
    change_bit<Access>(spins, vertex, !up);
}

// How much lower the energy is if a vertex has a state, not counting that of all.
template <class Access>
CONNCOMP_ANYWHERE inline int64_t gain_of_state(const States& kind, const LocalUpdate& update,
                                               const Bits64* spins, int64_t vertex, int state) {
  int64_t gain = update.field != nullptr && state == 0 ? update.field[vertex] : 0;
  for (int64_t arc = update.arcs.begin[vertex]; arc < update.arcs.begin[vertex + 1]; ++arc)
    if (kind.state<Access>(spins, update.arcs.to[arc]) == state) gain += update.arcs.coupling_of(arc);
  return gain;
}

// The state that the heat bath draws.
template <class Access>
CONNCOMP_ANYWHERE inline int draw_warm_state(const States& kind, const LocalUpdate& update,
                                             const Draws& draws, const Bits64* spins, int64_t vertex) {
  PhiloxBlock block{};
  int64_t highest = 0;
  int drawn = 0;
  for (int state = 0; state < kind.states; ++state) {
    if (state % 4 == 0) block = draws(kMetropolis, Bits64(vertex), 0, state / 4);
    const Bits32 gumbel = update.logarithm(update.logarithm(block.word[state % 4]));
    const int64_t value =
        gain_of_state<Access>(kind, update, spins, vertex, state) + update.temperature * gumbel;
    if (state != 0 && value <= highest) continue;
    highest = value;
    drawn = state;
  }
  return drawn;
}

template <class Access>
CONNCOMP_ANYWHERE inline void offer_vertex(const States& kind, const LocalUpdate& update, const Draws& draws,
                                           Bits64* spins, int64_t vertex) {
  const int old = kind.state<Access>(spins, vertex);
  int state = old;
  if (update.rule == kGlassHeatBath) {
    state = draw_warm_state<Access>(kind, update, draws, spins, vertex);
  } else {
    const PhiloxBlock block = draws(kMetropolis, Bits64(vertex));
    const int other =
        int((Bits64(old) + 1 + below(half(block, 1), Bits64(kind.states - 1))) % Bits64(kind.states));
    const int64_t lost = gain_of_state<Access>(kind, update, spins, vertex, old) -
                         gain_of_state<Access>(kind, update, spins, vertex, other);
    const Bits32 minus_ln_a = kind.states == 2 ? kLn16By15 : 0;
    if (is_taken(lost, block.word[0], minus_ln_a, update.logarithm, update.temperature)) state = other;
  }
  for (int plane = 0; plane < kind.planes; ++plane)
    if ((old ^ state) >> plane & 1) change_bit<Access>(spins + plane * kind.words, vertex, old >> plane & 1);
}

}  // namespace conncomp
