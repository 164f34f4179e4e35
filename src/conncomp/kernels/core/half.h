// A 16-bit floating-point number, for comparison only.
#pragma once

#include "core/platform.h"

namespace conncomp {

struct Half {
  uint16_t bits;

  CONNCOMP_ANYWHERE friend bool operator==(Half a, Half b) {
    const unsigned magnitude = (a.bits | b.bits) & 0x7fffu;
    return magnitude == 0 || (a.bits == b.bits && (a.bits & 0x7fffu) <= 0x7c00u);  // zeros; NaN
  }
};

}  // namespace conncomp
