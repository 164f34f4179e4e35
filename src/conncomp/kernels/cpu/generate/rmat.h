// Recursive-matrix (R-MAT, Kronecker) edges: the adjacency matrix is halved both ways `scale` times, and
// each edge falls into a quadrant with given probabilities. Each edge has its own random numbers.
//
// D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004.
#pragma once

#include <cstdint>

#include "core/philox.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// below[q] is 2^32 times the probability of a quadrant up to q, in the order of reading.
template <class Vertex>
void rmat(Bits64 seed, Bits32 purpose, int scale, const Bits64 below[3], int64_t count, Vertex* src,
          Vertex* dst) {
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

}  // namespace conncomp
