// A hash of 64 bits: the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection in which every bit
// of the result depends on every bit of x.
#pragma once

#include "core/platform.h"

namespace conncomp {

CONNCOMP_ANYWHERE constexpr uint64_t mix(uint64_t x) {
  x += uint64_t(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * uint64_t(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * uint64_t(0x94d049bb133111eb);
  return x ^ x >> 31;
}

}  // namespace conncomp
