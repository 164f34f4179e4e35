// The four bytes of a word, all at once.
#pragma once

#include "core/links.h"

namespace conncomp {

constexpr uint32_t kEachByte = 0x01010101u;

// The highest bit of each byte that is not 0; and these as four bits.
inline uint32_t bytes_set(uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}
inline int bits_of_bytes(uint32_t bytes) { return int((bytes >> 7) * 0x01020408u >> 24); }

struct alignas(16) SixteenBytes {
  uint32_t word[4];
};

// The bits that any of some values has, and that all have; of no values, `any` is 0 and `all` all bits.
struct BitsOfValues {
  uint32_t any = 0, all = ~0u;

  // The same of bytes, from those of the four places of a word.
  BitsOfValues of_bytes() const {
    return {(any | any >> 16 | any >> 8 | any >> 24) & 255, all & all >> 16 & all >> 8 & all >> 24 & 255};
  }
  bool has_any() const { return all <= any; }
};

// Background, if any, and the one value of foreground, told apart by a bit in which they differ.
struct OneByteValue {
  bool has_background, is_set;  // whether foreground has the bit
  int bit;
  uint32_t unset, step;  // in each byte the value without the bit, and by how much the other one is larger

  OneByteValue(const Background<uint8_t>& background, uint32_t value) : has_background(background.present) {
    const uint32_t other = has_background ? background.value : value;
    bit = other == value ? 0 : __ffs(int(other ^ value)) - 1;
    is_set = value >> bit & 1;
    const uint32_t low = is_set ? other : value;
    unset = low * kEachByte, step = (is_set ? value : other) - low;
  }
};

// The values of 32 elements of a row; beyond its end, that of the last one.
struct BytesOfWord {
  static constexpr int kElements = 32;
  uint32_t bytes[kElements / 4];
  int left;  // so many elements of the row there are, or more; one at least

  BytesOfWord(const uint8_t* at, int64_t stride, int left) : left(left) {
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
        for (int j = 0; j < 4; ++j) {
          const int element = 4 * k + j < left ? 4 * k + j : left - 1;
          bytes[k] |= uint32_t(at[int64_t(element) * stride]) << 8 * j;
        }
      }
    }
  }
  uint32_t of_row() const { return left < kElements ? (1u << left) - 1 : ~0u; }
  // The elements that are foreground; `of_values` gets the bits of their values.
  uint32_t foreground(const Background<uint8_t>& background, BitsOfValues& of_values) const {
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k) {
      const uint32_t kept =
          background.present ? bytes_set(bytes[k] ^ background.value * kEachByte) : 0x80808080u;
      elements |= uint32_t(bits_of_bytes(kept)) << 4 * k;
      const uint32_t whole = (kept >> 7) * 255;
      of_values.any |= bytes[k] & whole, of_values.all &= bytes[k] | ~whole;
    }
    return elements & of_row();
  }
  // The same if foreground has one value; else `differing` gets bits.
  uint32_t foreground(const OneByteValue& value, uint32_t& differing) const {
    uint32_t elements = 0;
#pragma unroll
    for (int k = kElements / 4 - 1; k >= 0; --k) {
      const uint32_t set = bytes[k] >> value.bit & kEachByte;
      differing |= bytes[k] ^ (set * value.step + value.unset);
      elements = elements << 4 | set * 0x10204080u >> 28;
    }
    if (!value.has_background) elements = ~0u;
    return (value.is_set || !value.has_background ? elements : ~elements) & of_row();
  }
  uint32_t unlike(uint8_t value) const {
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k) bits |= bytes[k] ^ value * kEachByte;
    return (bits | bits >> 16 | bits >> 8 | bits >> 24) & 255;
  }
  uint32_t with_bit(int bit) const {
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < kElements / 4; ++k)
      elements |= uint32_t(bits_of_bytes(bytes[k] << (7 - bit) & 0x80808080u)) << 4 * k;
    return elements;
  }
};

}
