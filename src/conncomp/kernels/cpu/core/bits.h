// Sixty-four elements as one word: bit p of a mask stands for element p.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>  // a tenth of that, for files that are compiled without registers
#endif
#ifdef __aarch64__
#include <arm_neon.h>
#endif

namespace conncomp {

static_assert(std::endian::native == std::endian::little, "masks are packed for little-endian machines");

constexpr int kWord = 64, kHalf = 32;
constexpr uint64_t kAll = ~uint64_t(0);

constexpr uint64_t below(int p) { return (uint64_t(1) << p) - 1; }
constexpr uint64_t up_to(int p) { return kAll >> (kWord - 1 - p); }

constexpr uint64_t all_if(bool condition) { return condition ? kAll : 0; }

inline uint64_t pack(const uint8_t* flags) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags));
  return _mm256_test_epi8_mask(bytes, bytes);
#elif defined(__AVX2__)
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags));
  return uint32_t(_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7)));
#elif defined(__SSE2__)
  uint64_t mask = 0;
  for (int i = 0; i < kHalf; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + i));
    mask |= uint64_t(_mm_movemask_epi8(_mm_slli_epi16(bytes, 7))) << i;
  }
  return mask;
#elif defined(__aarch64__)
  // Each byte moves to its place among eight; three sums of neighbours put eight into a byte.
  const int8x16_t place = vcombine_s8(vcreate_s8(0x0706050403020100), vcreate_s8(0x0706050403020100));
  const uint8x16_t low = vshlq_u8(vld1q_u8(flags), place), high = vshlq_u8(vld1q_u8(flags + 16), place);
  const uint8x16_t pairs = vpaddq_u8(low, high), fours = vpaddq_u8(pairs, pairs);
  return vgetq_lane_u32(vreinterpretq_u32_u8(vpaddq_u8(fours, fours)), 0);
#else
  uint64_t mask = 0;
  for (int i = 0; i < kHalf / 8; ++i) {
    uint64_t bytes;
    std::memcpy(&bytes, flags + 8 * i, 8);
    mask |= (bytes * 0x0102040810204080u >> 56) << 8 * i;  // gathers the low bit of each byte
  }
  return mask;
#endif
}

// The mask of the p in [0, count) with predicate(p). Vectorised only if everything is inlined by force. A
// predicate on narrow integers should narrow its result, or it is vectorised as int.
[[gnu::always_inline, gnu::flatten]] inline uint64_t mask_where(int count, auto&& predicate) {
#ifdef __AVX512BW__
  // Compilers take the widest registers only in loops that fill them.
  if (count == kWord) {
    uint8_t flags[kWord];
    for (int p = 0; p < kWord; ++p) flags[p] = predicate(p);
    const __m512i bytes = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(bytes, bytes);
  }
#endif
  uint8_t flags[kHalf];
  const auto half = [&](int first) __attribute__((always_inline)) {
    for (int p = 0; p < kHalf; ++p) flags[p] = predicate(first + p);
    return pack(flags) << first;
  };
  if (count >= kHalf) return half(0) | half(count - kHalf);
  uint64_t mask = 0;
  for (int p = 0; p < count; ++p) mask |= uint64_t(predicate(p)) << p;
  return mask;
}

inline bool bit_at(const uint64_t* mask, int64_t p) { return mask[p / kWord] >> p % kWord & 1; }

// Packs the bits of a word at given places into the low ones; deposit is the way back.
//     places     . 1 1 . . 1 . .          bit 0 at the left
//     bits       1 1 . . 1 1 . .
//     extract    1 . 1 . . . . .
inline uint64_t extract(uint64_t bits, uint64_t places) {
#ifdef __BMI2__
  return _pext_u64(bits, places);
#else
  uint64_t packed = 0;
  for (int k = 0; places; places &= places - 1, ++k) packed |= (bits >> std::countr_zero(places) & 1) << k;
  return packed;
#endif
}
inline uint64_t deposit(uint64_t packed, uint64_t places) {
#ifdef __BMI2__
  return _pdep_u64(packed, places);
#else
  uint64_t bits = 0;
  for (; places; places &= places - 1, packed >>= 1) bits |= (packed & 1) << std::countr_zero(places);
  return bits;
#endif
}

// A word of a mask; bit p of `left` is that of element p - 1, bit p of `right` that of element p + 1.
struct ShiftedWord {
  uint64_t word, left, right;

  ShiftedWord(const uint64_t* mask, int64_t w, int64_t words)
      : word(mask[w]),
        left(word << 1 | (w > 0 ? mask[w - 1] >> (kWord - 1) : 0)),
        right(word >> 1 | (w + 1 < words ? mask[w + 1] << (kWord - 1) : 0)) {}
};

inline void for_each_bit(uint64_t mask, auto&& body) {
  for (; mask; mask &= mask - 1) body(std::countr_zero(mask));
}

#ifdef __AVX512F__
constexpr int kLanes = 16;

inline __m512i counted_from(int32_t first) {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_add_epi32(_mm512_set1_epi32(first), lanes);
}
#endif

}
