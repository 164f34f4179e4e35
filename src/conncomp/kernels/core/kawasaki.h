// Kawasaki dynamics of the Ising model, 64 pairs of spins at a time, for CPU and CUDA (contract 9).
// Lattices have three axes; the square one has its two last. Steps to neighbours are the opposites of these
// and (0, 1, 0), (0, 0, 1); (1, 0, 0) but on the square lattice; and (1, 1, 1) on the body-centred one, whose
// primitive vectors the axes are.
// Words. The lattice is cut into up to 64 equal domains, parts[k] of them along axis k. A word holds the
// sites at one place of all domains, both in C order; bits beyond are 0. So the neighbours of a word's sites
// are one word, too, turned by a domain where the step leaves the domains:
//      a row of 16 sites in two domains      a b c d e f g h | i j k l m n o p
//      its words, of two bits each           ai  bj  ck  dl  em  fn  go  hp
//      the neighbours to the right of hp     ia: the word of the first place, turned
// Classes. Bond (x, x + d) of direction d is in the class of phi(x), which is linear in x. Two bonds of a
// class share no site, and no neighbour of one's is in the other, as phi is 0 for no two steps but d - d:
//   square, cubic, d = e_p     x_p + 2 (x_q + x_r) mod 4
//   body-centred, d = e_p      x_p + 2 x_r mod 4  and  x_q mod 2,    q and r the axes after p, in a circle
//                 d = (1,1,1)  2 x_0 + 3 x_2 mod 4  and  x_1 + x_2 mod 2
// Lengths of domains are multiples of 4, so phi is one for all sites of a word. Classes are numbered
// (direction, first residue, second residue), in C order. Each of a sweep's substeps, as many as classes,
// draws its class and attempts three of four of its pairs: different spins exchange with probability min(1,
// exp(-dE/T)), where dE = 4 J (satisfied - (z - 1)), if `satisfied` of the 2 (z - 1) bonds of a pair to
// others are. No exchange changes the dE of another: hence detailed balance, and any pair can exchange alone.
// Were all attempted, two lone spins a multiple of four sites apart would move alike for ever.
// Random numbers as in core/spins.h, `step` being the sweep: kStart by site, a key (spins of the smallest are
// up); kClass by substep, below(first 64 bits, classes); kAcceptance by word, the substep as an axis, 64 bits
// for each site, digit by digit. A replica's acceptance is a byte for each binary digit, from the highest;
// bit k is that of loss k, dE = 4 J (k + 1): 3/4 exp(-dE/T). An exchange is accepted if its number is below
// that, or 3/4 without a loss.
#pragma once

#include "core/spins.h"

namespace conncomp {

constexpr Purpose kClass = Purpose(16), kAcceptance = Purpose(17);
constexpr int kExchangeAxes = 3, kDigits = 64;
enum LatticeKind : int32_t { kSquare, kSimpleCubic, kBodyCentred };

constexpr int first_direction(int kind) { return kind == kSquare ? 1 : 0; }
constexpr int end_direction(int kind) { return kind == kBodyCentred ? 4 : 3; }
constexpr int directions(int kind) { return end_direction(kind) - first_direction(kind); }
constexpr int classes_of_direction(int kind) { return kind == kBodyCentred ? 8 : 4; }
constexpr int class_count(int kind) { return directions(kind) * classes_of_direction(kind); }
constexpr int step_along(int direction, int axis) { return direction == 3 || direction == axis; }

template <class T>
concept ReadableWords = requires(const T& words) { words.load(0); };
template <class T>
concept WritableWords = requires(const T& words) { words.store(0, words.load(0)); };

// Words of spins that Access, such as Concurrent, reads and writes.
template <class Access, class Word = Bits64> struct WordsOf {
  Word* words;

  Bits64 load(int32_t word) const { return Access::load(words + word); }
  void store(int32_t word, Bits64 bits) const { Access::store(words + word, bits); }
};

// Layout: kernels/exchange.py.
struct ExchangeLattice {
  int32_t length[kExchangeAxes];  // of a domain
  int32_t parts[kExchangeAxes];   // domains along the axis
  int32_t stride[kExchangeAxes];  // of domains along the axis, in bits
  LatticeKind kind;
  Bits64 first[kExchangeAxes], later[kExchangeAxes];  // the first domains along the axis, and all others
  Bits64 last[kExchangeAxes];                         // the last domains along the axis

  int32_t words() const { return length[0] * length[1] * length[2]; }
  int domains() const { return parts[0] * parts[1] * parts[2]; }
  Bits64 all_domains() const { return ~Bits64(0) >> (64 - domains()); }

  // The bits of the next, or previous, domain along an axis, each at the bit of its domain.
  Bits64 bits_of_next(int axis, Bits64 bits) const {
    const int way = stride[axis], back = way * (parts[axis] - 1);
    return (bits >> way & ~last[axis]) | (bits << back & last[axis]);
  }
  Bits64 bits_of_previous(int axis, Bits64 bits) const {
    const int way = stride[axis], back = way * (parts[axis] - 1);
    return (bits << way & later[axis]) | (bits >> back & first[axis]);
  }
};

// The surroundings of a word: where steps of -1 to 2 along each axis lead.
struct Surroundings {
  const ExchangeLattice& lattice;
  int32_t word;
  int32_t way[kExchangeAxes][4];  // to add to the word, for steps of -1, 0, 1, 2
  int32_t turn[kExchangeAxes];    // a bit for each of them: whether it leaves the domain

  Surroundings(const ExchangeLattice& lattice, const int32_t (&at)[kExchangeAxes])
      : lattice(lattice), word((at[0] * lattice.length[1] + at[1]) * lattice.length[2] + at[2]) {
    int32_t unit = 1;
    for (int axis = kExchangeAxes - 1; axis >= 0; --axis) {
      const int32_t length = lattice.length[axis];
      turn[axis] = 0;
      for (int step = -1; step <= 2; ++step) {
        const int32_t to = at[axis] + step, around = to < 0 ? length : to >= length ? -length : 0;
        way[axis][step + 1] = (step + around) * unit;
        turn[axis] |= (around != 0) << (step + 1);
      }
      unit *= length;
    }
  }

  int32_t word_at(const int (&step)[kExchangeAxes]) const {
    return word + way[0][step[0] + 1] + way[1][step[1] + 1] + way[2][step[2] + 1];
  }
  // The bits of the word at a step, each at the bit of the site from which the step leads there.
  Bits64 seen(const int (&step)[kExchangeAxes], Bits64 bits) const {
    for (int axis = 0; axis < kExchangeAxes; ++axis)
      if (step[axis] != 0 && turn[axis] >> (step[axis] + 1) & 1)
        bits = step[axis] > 0 ? lattice.bits_of_next(axis, bits) : lattice.bits_of_previous(axis, bits);
    return bits;
  }
  Bits64 sent(const int (&step)[kExchangeAxes], Bits64 bits) const {
    for (int axis = 0; axis < kExchangeAxes; ++axis)
      if (step[axis] != 0 && turn[axis] >> (step[axis] + 1) & 1) bits = lattice.bits_of_previous(axis, bits);
    return bits;
  }
};

// Three bits of a number at each place of a word, and the sum of seven bits at each.
struct ThreeBits {
  Bits64 one, two, four;
};
inline Bits64 majority(Bits64 a, Bits64 b, Bits64 c) { return (a & b) | (c & (a ^ b)); }
inline ThreeBits sum_of_seven(const Bits64 (&bits)[7]) {
  const Bits64 first = bits[0] ^ bits[1] ^ bits[2], second = bits[3] ^ bits[4] ^ bits[5];
  const Bits64 a = majority(bits[0], bits[1], bits[2]), b = majority(bits[3], bits[4], bits[5]),
               c = majority(first, second, bits[6]);
  return {first ^ second ^ bits[6], a ^ b ^ c, majority(a, b, c)};
}

inline Bits64 accept(const Draws& draws, Bits64 word, int substep, Bits64 losing, const ThreeBits& loss,
    const uint8_t* acceptance, Bits64 wanted) {
  const auto choose = [](Bits64 which, Bits64 yes, Bits64 no) { return (which & yes) | (~which & no); };
  // 3/4 is 0.11 in binary: without a loss two digits decide.
  PhiloxBlock block = draws(kAcceptance, word, substep);
  Bits64 accepted = wanted & ~losing & ~(half(block, 0) & half(block, 1)), undecided = wanted & losing;
  for (int digit = 0; undecided != 0 && digit < kDigits; digit += 2) {
    if (digit != 0) block = draws(kAcceptance, word, substep, digit / 2);
    for (int k = 0; k < 2; ++k) {
      const Bits32 digits = acceptance[digit + k];
      const auto digit_at_loss = [digits](int number) { return Bits64(0) - Bits64(digits >> number & 1); };
      const Bits64 low = choose(loss.two, choose(loss.one, digit_at_loss(3), digit_at_loss(2)),
                       choose(loss.one, digit_at_loss(1), digit_at_loss(0))),
                   high = choose(
                       loss.two, digit_at_loss(6), choose(loss.one, digit_at_loss(5), digit_at_loss(4)));
      const Bits64 probability = choose(loss.four, high, low), drawn = half(block, k);
      accepted |= undecided & probability & ~drawn;
      undecided &= ~(probability ^ drawn);
    }
  }
  return accepted;
}

// Exchanges pairs whose first sites are those of a word.
template <int kind, int direction>
inline void exchange_word(const ExchangeLattice& lattice, const WritableWords auto& words,
    const int32_t (&at)[kExchangeAxes], const Draws& draws, int substep, const uint8_t* acceptance) {
  constexpr int kOthers = 2 * directions(kind) - 1;  // neighbours of a site but for its partner
  const Surroundings around(lattice, at);
  const int partner[kExchangeAxes] = {
      step_along(direction, 0), step_along(direction, 1), step_along(direction, 2)};
  const Bits64 spins = words.load(around.word);
  const int32_t partner_word = around.word_at(partner);
  const Bits64 partner_bits = words.load(partner_word);
  const Bits64 differ = (spins ^ around.seen(partner, partner_bits)) & lattice.all_domains();
  if (differ == 0) return;
  ThreeBits satisfied[2];
#pragma unroll
  for (int side = 0; side < 2; ++side) {
    // As many 1 as 0 bits are added for z < 8, so that with a loss k both sides sum to 8 + k.
    Bits64 bits[7] = {};
    int count = 0;
#pragma unroll
    for (int d = first_direction(kind); d < end_direction(kind); ++d)
#pragma unroll
      for (int sign = -1; sign <= 1; sign += 2) {
        if (d == direction && (sign > 0) == (side == 0)) continue;
        const int step[kExchangeAxes] = {side * partner[0] + sign * step_along(d, 0),
            side * partner[1] + sign * step_along(d, 1), side * partner[2] + sign * step_along(d, 2)};
        const Bits64 unlike = spins ^ around.seen(step, words.load(around.word_at(step)));
        bits[count++] = side == 0 ? ~unlike : unlike;
      }
#pragma unroll
    for (int k = kOthers; k < kOthers + (7 - kOthers) / 2; ++k) bits[k] = ~Bits64(0);
    satisfied[side] = sum_of_seven(bits);
  }
  const Bits64 carry_of_one = satisfied[0].one & satisfied[1].one,
               carry_of_two = majority(satisfied[0].two, satisfied[1].two, carry_of_one);
  const ThreeBits loss{satisfied[0].one ^ satisfied[1].one,
      satisfied[0].two ^ satisfied[1].two ^ carry_of_one,
      satisfied[0].four ^ satisfied[1].four ^ carry_of_two};
  const Bits64 losing = majority(satisfied[0].four, satisfied[1].four, carry_of_two);
  const Bits64 exchanged = accept(draws, Bits64(around.word), substep, losing, loss, acceptance, differ);
  if (exchanged == 0) return;
  words.store(around.word, spins ^ exchanged);
  words.store(partner_word, partner_bits ^ around.sent(partner, exchanged));
}

// The `number`-th word of a class of bonds along a direction, as a place in its domain.
template <int kind, int direction>
inline void place_in_class(
    const ExchangeLattice& lattice, int residues, int32_t number, int32_t (&at)[kExchangeAxes]) {
  constexpr bool kTwoResidues = kind == kBodyCentred, kDiagonal = direction == 3;
  constexpr int p = kDiagonal ? 2 : direction, q = kDiagonal ? 1 : (direction + 1) % 3, r = 3 - p - q;
  const int first = kTwoResidues ? residues >> 1 : residues, second = residues & 1;
  int32_t count[kExchangeAxes] = {lattice.length[0], lattice.length[1], lattice.length[2]};
  count[p] /= 4;
  if (kTwoResidues) count[q] /= 2;
  const int32_t row = number / count[2];
  at[2] = number - row * count[2];
  at[0] = row / count[1];
  at[1] = row - at[0] * count[1];
  if (kDiagonal) {
    at[p] = 4 * at[p] + ((2 * at[r] - first) & 3);
    at[q] = 2 * at[q] + ((second ^ at[p]) & 1);
  } else {
    if (kTwoResidues) at[q] = 2 * at[q] + second;
    at[p] = 4 * at[p] + ((first - 2 * (at[r] + (kTwoResidues ? 0 : at[q]))) & 3);
  }
}
template <int kind> inline int32_t words_of_class(const ExchangeLattice& lattice) {
  return lattice.words() / classes_of_direction(kind);
}

template <int kind> inline int draw_class(const Draws& draws, int substep) {
  return int(below(half(draws(kClass, Bits64(substep)), 0), Bits64(class_count(kind))));
}

template <int kind, int direction>
inline void exchange_in_class(const ExchangeLattice& lattice, const WritableWords auto& words, int residues,
    int32_t number, const Draws& draws, int substep, const uint8_t* acceptance) {
  int32_t at[kExchangeAxes];
  place_in_class<kind, direction>(lattice, residues, number, at);
  exchange_word<kind, direction>(lattice, words, at, draws, substep, acceptance);
}

template <int number> struct Direction {
  static constexpr int value = number;
};
template <int kind> inline void with_direction(int class_number, auto&& body) {
  constexpr int kFirst = first_direction(kind), kEach = classes_of_direction(kind);
  const int direction = kFirst + class_number / kEach, residues = class_number % kEach;
  if (kFirst == 0 && direction == 0) return body(Direction<0>(), residues);
  if (direction == 1) return body(Direction<1>(), residues);
  if (direction == 2) return body(Direction<2>(), residues);
  if constexpr (kind == kBodyCentred) body(Direction<3>(), residues);
}

template <int kind>
inline void for_each_unsatisfied(
    const ExchangeLattice& lattice, const ReadableWords auto& words, int32_t word, auto&& body) {
  const int32_t row = word / lattice.length[2];
  const int32_t at[kExchangeAxes] = {
      row / lattice.length[1], row % lattice.length[1], word % lattice.length[2]};
  const Surroundings around(lattice, at);
  const Bits64 spins = words.load(word);
#pragma unroll
  for (int d = first_direction(kind); d < end_direction(kind); ++d) {
    const int step[kExchangeAxes] = {step_along(d, 0), step_along(d, 1), step_along(d, 2)};
    body((spins ^ around.seen(step, words.load(around.word_at(step)))) & lattice.all_domains());
  }
}

}
