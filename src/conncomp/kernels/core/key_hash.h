// Hashes keys to slots of tables: the highest bits of their product with an odd factor (Dietzfelbinger et al.
// 1997), drawn at the start, lest a file's keys all want one slot: 160,000 took 51 s.
#pragma once

#include "core/platform.h"

namespace conncomp {

struct KeyHash {
  uint64_t factor;

  // One of 2^bits slots, bits from 1 to 63.
  int64_t slot(uint64_t key, int bits) const { return int64_t(key * factor >> (64 - bits)); }
};

// A bijection of 64 bits that leaves no order: the last steps of SplitMix64 (Steele et al. 2014).
constexpr uint64_t scrambled(uint64_t x) {
  x = (x ^ x >> 30) * uint64_t(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * uint64_t(0x94d049bb133111eb);
  return x ^ x >> 31;
}
// All of its steps: another bijection, which changes 0, too.
constexpr uint64_t mix(uint64_t x) { return scrambled(x + uint64_t(0x9e3779b97f4a7c15)); }

}
