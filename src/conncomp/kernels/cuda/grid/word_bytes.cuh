// What the four bytes of a word are, all at once.
#pragma once

#include "core/links.h"

namespace conncomp {

constexpr uint32_t kEachByte = 0x01010101u;

// The bytes of a word that are not 0: of each the highest bit; and these as four bits.
__device__ inline uint32_t bytes_set(uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}
__device__ inline int bits_of_bytes(uint32_t bytes) { return int((bytes >> 7) * 0x01020408u >> 24); }

struct alignas(16) SixteenBytes {
  uint32_t word[4];
};

// The bits that any of some values has, and that all have.
struct BitsOfValues {
  uint32_t any = 0, all = ~0u;

  // Of bytes: those of each of the four places of a word as of one.
  __device__ BitsOfValues of_bytes() const {
    return {(any | any >> 16 | any >> 8 | any >> 24) & 255, all & all >> 16 & all >> 8 & all >> 24 & 255};
  }
  // Else all bits are set in all of none.
  __device__ bool has_any() const { return all <= any; }
};

// The values of 32 elements of a row, as bytes; 0 where the row has ended.
struct BytesOfWord {
  static constexpr int kElements = 32;
  uint32_t bytes[kElements / 4];
  int left;  // so many elements of the row there are, or more

  __device__ BytesOfWord(const uint8_t* at, int64_t stride, int left) : left(left) {
    if (stride == 1 && left >= kElements && reinterpret_cast<size_t>(at) % 16 == 0) {
      const auto* const loaded = reinterpret_cast<const SixteenBytes*>(at);
      const SixteenBytes low = loaded[0], high = loaded[1];
#pragma unroll
      for (int k = 0; k < 4; ++k) bytes[k] = low.word[k], bytes[k + 4] = high.word[k];
    } else {
#pragma unroll
      for (int k = 0; k < kElements / 4; ++k) {
        bytes[k] = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (4 * k + j < left) bytes[k] |= uint32_t(at[int64_t(4 * k + j) * stride]) << 8 * j;
      }
    }
  }
  // The elements that are foreground, whose bits `of_values` gets.
  __device__ uint32_t foreground(const Background<uint8_t>& background, BitsOfValues& of_values) const {
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k) {
      uint32_t kept = background.present ? bytes_set(bytes[k] ^ background.value * kEachByte) : 0x80808080u;
      const int after = 4 * k + 4 - left;  // bytes that are none of the row's
      if (after > 0) kept = after < 4 ? kept & (~0u >> 8 * after) : 0;
      elements |= uint32_t(bits_of_bytes(kept)) << 4 * k;
      const uint32_t whole = (kept >> 7) * 255;
      of_values.any |= bytes[k] & whole, of_values.all &= bytes[k] | ~whole;
    }
    return elements;
  }
  // The elements whose value has a bit.
  __device__ uint32_t with_bit(int bit) const {
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k)
      elements |= uint32_t(bits_of_bytes(bytes[k] << (7 - bit) & 0x80808080u)) << 4 * k;
    return elements;
  }
};

}  // namespace conncomp
