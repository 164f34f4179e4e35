// A 16-bit floating-point number, for comparison only.
#pragma once

#include "core/platform.h"

#ifndef __CUDACC_RTC__
#include <cstring>
#endif

namespace conncomp {

struct Half {
  uint16_t bits;

  CONNCOMP_ANYWHERE friend bool operator==(Half a, Half b) {
    const unsigned magnitude = (a.bits | b.bits) & 0x7fffu;
    return magnitude == 0 || (a.bits == b.bits && (a.bits & 0x7fffu) <= 0x7c00u);  // zeros; NaN
  }

  // The same number.
  CONNCOMP_ANYWHERE double real() const {
    const uint64_t sign = uint64_t(bits >> 15) << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) {
      const double magnitude = double(fraction) / (1 << 24);
      return sign ? -magnitude : magnitude;
    }
    constexpr uint64_t kDoubleBias = 1023, kBias = 15;
    const uint64_t moved = exponent == 31 ? 2047 : exponent + (kDoubleBias - kBias);
    const uint64_t all = sign | moved << 52 | fraction << 42;
    double number;
    memcpy(&number, &all, sizeof(number));
    return number;
  }
};

}  // namespace conncomp
