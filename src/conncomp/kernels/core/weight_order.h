// The order of weights, as unsigned numbers: what is lighter gets the smaller one.
//
// How: the bits of a number that is not negative are ordered as the number is, be it an integer or of
// floating point; those of a negative one are, for two's complement, and the other way round for floating
// point. So the sign is turned, and the other bits of negative floating-point numbers. Both zeros get the
// same number. What is no number is put below or above all others, by its sign. The masks say what kind of
// numbers it is, so that kernels differ by the width of weights alone.
#pragma once

#include "core/platform.h"

namespace conncomp {

template <class Bits>
struct WeightOrder {
  Bits minus_zero;  // the bits of it, or 0 where there is none
  Bits negative;    // what is turned in negative numbers, but for the sign
  Bits sign;        // the highest bit, or 0 where there is no sign

  CONNCOMP_ANYWHERE Bits operator()(Bits bits) const {
    if (bits == minus_zero) bits = 0;
    const Bits is_negative = Bits(0) - (bits >> (8 * sizeof(Bits) - 1));
    return bits ^ ((is_negative & negative) | sign);
  }
};

}  // namespace conncomp
