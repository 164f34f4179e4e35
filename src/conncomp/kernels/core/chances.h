// Chances at the bits of words or registers. Levels count bits in thermometer code, Chances say which bits
// have which kind of probability, and Outcome compares digits as they are drawn (core/spins.h).
#pragma once

#include "core/philox.h"

namespace conncomp {

// A number from 0 to `most` at each bit of a word: where it is at least k.
template <int most, class Word> struct Levels {
  Word at_least[most + 2];

  explicit Levels(Word ones) {
    at_least[0] = ones;
    for (int k = 1; k < most + 2; ++k) at_least[k] = ones ^ ones;
  }
  void add(Word bits) {
#pragma unroll
    for (int k = most; k >= 1; --k) at_least[k] |= at_least[k - 1] & bits;
  }
  Word exactly(int k) const { return at_least[k] & ~at_least[k + 1]; }
};

// With `whole` all bonds exist, and a level is one; else half of one, which absent bonds count.
template <int axes, bool whole> constexpr int kMiddleLevel = whole ? axes : 2 * axes;

// `kind[k]` are the bits whose probability is that of kind k.
template <int kinds, class Word> struct Chances {
  Word kind[kinds];

  Word digit(const Bits64* of_kinds) const {
    Word digit = kind[0] & of_kinds[0];
#pragma unroll
    for (int k = 1; k < kinds; ++k) digit |= kind[k] & of_kinds[k];
    return digit;
  }
};
template <class Word> struct Outcome {
  Word happened, undecided;

  void compare(Word probability, Word drawn) {
    happened |= undecided & probability & ~drawn;
    undecided &= ~(probability ^ drawn);
  }
};

// The chances of sites that lose so many satisfied bonds, or halves, by a flip; kind 0 loses none.
template <int middle, class Word>
inline Chances<middle + 1, Word> chances_to_lose(const Levels<2 * middle, Word>& satisfied) {
  Chances<middle + 1, Word> chances;
  chances.kind[0] = ~satisfied.at_least[middle + 1];
#pragma unroll
  for (int k = 1; k <= middle; ++k) chances.kind[k] = satisfied.exactly(middle + k);
  return chances;
}

}
