// Local updates of spins on any edges: class by class, without neighbours, vertices are offered another spin
// given those around; so each is in detailed balance. Couplings may have any sign. Metropolis offers another
// of the q - 1 spins, and takes it with probability a min(1, exp(-beta dE)), a as in core/spins.h. The heat
// bath of two directions is that of core/spin_glass.h; of q states it takes the one whose energy, less the
// temperature times Gumbel's -ln(-ln u), is the lowest: each probability is off by 2^-25 at most. Random
// numbers: kMetropolis by vertex. Word 0 decides on an offer, or the heat bath of two directions; the second
// half which state is offered; word k % 4 of block k / 4 is for state k of the heat bath. Source: N.
// Metropolis et al. 1953; E. J. Gumbel 1954.
#pragma once

#include "core/edge_spins.h"

namespace conncomp {

struct EdgeArcs {
  const int64_t* begin;  // by vertex, one more than there are
  const int32_t *to, *coupling;

  int32_t coupling_of(int64_t arc) const { return coupling == nullptr ? kWhole : coupling[arc]; }
};

struct EdgeClass {
  const int32_t* vertices;
  int64_t count;
};

struct LocalUpdate {
  EdgeArcs arcs;
  const int32_t* field;  // null if there is none
  Logarithm logarithm;
  GlassTemperature temperature;
  GlassRule rule;
};

// Changes the bit of a vertex, whose word others may be changing, too.
template <class Access> inline void change_bit(Bits64* spins, int64_t vertex, bool is_set) {
  const Bits64 bit = Bits64(1) << vertex % kWordSites;
  Access::fetch_add(spins + vertex / kWordSites, is_set ? 0 - bit : bit);  // without a carry
}

template <class Access>
inline void offer_vertex(
    const UpDown&, const LocalUpdate& update, const Draws& draws, Bits64* spins, int64_t vertex) {
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

template <class Access>
inline int64_t gain_of_state(
    const States& kind, const LocalUpdate& update, const Bits64* spins, int64_t vertex, int state) {
  int64_t gain = update.field != nullptr && state == 0 ? update.field[vertex] : 0;
  for (int64_t arc = update.arcs.begin[vertex]; arc < update.arcs.begin[vertex + 1]; ++arc)
    if (kind.state<Access>(spins, update.arcs.to[arc]) == state) gain += update.arcs.coupling_of(arc);
  return gain;
}

template <class Access>
inline int draw_warm_state(
    const States& kind, const LocalUpdate& update, const Draws& draws, const Bits64* spins, int64_t vertex) {
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
inline void offer_vertex(
    const States& kind, const LocalUpdate& update, const Draws& draws, Bits64* spins, int64_t vertex) {
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

}
