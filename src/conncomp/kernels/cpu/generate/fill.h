// Fills arrays with random numbers, in parallel; entry k is number start + k for its purpose.
#pragma once

#include <cstdint>

#include "core/philox.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// Lets out[k] = convert(bits of number start + k, k) for every k in [0, count).
template <class Bits, class Out, class Convert>
void fill_random(Bits64 seed, Bits32 purpose, int64_t start, int64_t count, Out* out, Convert&& convert) {
  constexpr int kNumbers = sizeof(PhiloxBlock) / sizeof(Bits);
  const int64_t first = start / kNumbers, skip = start % kNumbers;
  for_each_index((skip + count + kNumbers - 1) / kNumbers, [&](int64_t b) {
    const PhiloxBlock block = philox(seed, Bits64(first + b), 0, purpose);
    const int64_t begin = b * kNumbers - skip;
    for (int i = 0; i < kNumbers; ++i) {
      if (begin + i < 0 || begin + i >= count) continue;
      Bits bits;
      unpack(block, i, bits);
      out[begin + i] = Out(convert(bits, begin + i));
    }
  });
}

}  // namespace conncomp
