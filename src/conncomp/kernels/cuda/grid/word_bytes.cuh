// What the four bytes of a word are, all at once.
#pragma once

#include "core/platform.h"

namespace conncomp {

constexpr uint32_t kEachByte = 0x01010101u;

// The bytes of a word that are not 0: of each the highest bit; and these as four bits.
__device__ inline uint32_t bytes_set(uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}
__device__ inline int bits_of_bytes(uint32_t bytes) { return int((bytes >> 7) * 0x01020408u >> 24); }

}  // namespace conncomp
