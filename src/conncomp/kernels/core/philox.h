// Philox 4x32-10: a bijection of 128-bit counters for each 64-bit key, so that any thread of any device
// computes number i for a purpose from (seed, purpose, i) alone. Salmon et al. 2011.
#pragma once

#include "core/platform.h"

namespace conncomp {

using Bits32 = unsigned int;
using Bits64 = unsigned long long;

// A counter {index (low, high), step, purpose}, or the words that it is mapped to.
struct PhiloxBlock {
  Bits32 word[4];
};

inline PhiloxBlock philox(Bits64 seed, PhiloxBlock x) {
  Bits32 key[2] = {Bits32(seed), Bits32(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const Bits64 a = Bits64(0xD2511F53u) * x.word[0], b = Bits64(0xCD9E8D57u) * x.word[2];
    x = {{Bits32(b >> 32) ^ x.word[1] ^ key[0], Bits32(b), Bits32(a >> 32) ^ x.word[3] ^ key[1], Bits32(a)}};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

inline PhiloxBlock philox(Bits64 seed, Bits64 index, Bits32 step, Bits32 purpose) {
  return philox(seed, PhiloxBlock{{Bits32(index), Bits32(index >> 32), step, purpose}});
}

inline void unpack(const PhiloxBlock& block, int k, Bits32& bits) { bits = block.word[k]; }
inline void unpack(const PhiloxBlock& block, int k, Bits64& bits) {
  bits = block.word[2 * k] | Bits64(block.word[2 * k + 1]) << 32;
}

// Uniform in [0, 1), with all the bits that the type can hold there.
inline float unit_interval(Bits32 bits) { return float(bits >> 8) * 0x1p-24f; }
inline double unit_interval(Bits64 bits) { return double(bits >> 11) * 0x1p-53; }

// Uniform in [0, high), up to a bias of high / 2^64: the upper half of a 128-bit product.
inline Bits64 below(Bits64 bits, Bits64 high) {
#ifdef __CUDA_ARCH__
  return __umul64hi(bits, high);
#else
  return Bits64((unsigned __int128)bits * high >> 64);
#endif
}

}
