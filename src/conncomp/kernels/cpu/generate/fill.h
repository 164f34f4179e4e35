// Fills arrays with random numbers, in parallel; entry k is number start + k of its purpose.
#pragma once

#include "core/philox.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// Lets out[k] = convert(bits of number start + k, k) for every k in [0, count).
template <class Bits, class Out>
void fill_random(Bits64 seed, Bits32 purpose, int64_t start, int64_t count, Out* out, auto&& convert) {
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

// Recursive-matrix (R-MAT, Kronecker) edges: the adjacency matrix is halved both ways `scale` times; below[q]
// is 2^32 times the probability that an edge falls into a quadrant up to q, in reading order. Source: D.
// Chakrabarti, Y. Zhan, C. Faloutsos 2004, "R-MAT: a recursive model for graph mining".
template <class Vertex>
void rmat(
    Bits64 seed, Bits32 purpose, int scale, const Bits64 below[3], int64_t count, Vertex* src, Vertex* dst) {
  for_each_index(count, [&](int64_t edge) {
    Vertex row = 0, column = 0;
    PhiloxBlock block;
    for (int level = 0; level < scale; ++level) {
      if (level % 4 == 0) block = philox(seed, Bits64(edge), Bits32(level / 4), purpose);
      const Bits64 bits = block.word[level % 4];
      const bool lower = bits >= below[1], right = bits >= below[lower ? 2 : 0];
      row = Vertex(2 * row + lower);
      column = Vertex(2 * column + right);
    }
    src[edge] = row;
    dst[edge] = column;
  });
}

}
