// Sixteen numbers in a register of AVX-512.
#pragma once

#include <cstdint>

#ifdef __AVX512F__
#include <immintrin.h>

namespace conncomp {

constexpr int kLanes = 16;

inline __m512i counted_from(int32_t first) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(_mm512_set1_epi32(first), lanes);
}

}  // namespace conncomp
#endif
