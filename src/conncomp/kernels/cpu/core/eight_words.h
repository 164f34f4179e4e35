// Eight words as one, in as many registers as that takes: row k of a patch of bits is word k.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace conncomp {

struct EightWords {
  static constexpr int kWords = 8;
#if defined(__AVX512F__)
  static constexpr int kOfPart = 8;
#elif defined(__AVX2__)
  static constexpr int kOfPart = 4;
#else
  static constexpr int kOfPart = 1;
#endif
  static constexpr int kParts = kWords / kOfPart;
  using Part = unsigned long long __attribute__((vector_size(8 * kOfPart)));

  Part part[kParts];

  static EightWords load(const unsigned long long* at) {
    EightWords words;
    std::memcpy(words.part, at, sizeof words.part);
    return words;
  }
  void store(unsigned long long* at) const { std::memcpy(at, part, sizeof part); }
  static EightWords all(unsigned long long word) {
    EightWords words;
    for (int k = 0; k < kParts; ++k) words.part[k] = Part{} | word;
    return words;
  }

  EightWords& operator|=(const EightWords& other) {
    for (int k = 0; k < kParts; ++k) part[k] |= other.part[k];
    return *this;
  }
  EightWords& operator&=(const EightWords& other) {
    for (int k = 0; k < kParts; ++k) part[k] &= other.part[k];
    return *this;
  }
  friend EightWords operator&(EightWords a, const EightWords& b) { return a &= b; }
  EightWords without(const EightWords& other) const {
    EightWords words;
    for (int k = 0; k < kParts; ++k) words.part[k] = part[k] & ~other.part[k];
    return words;
  }
  EightWords operator<<(int shift) const {
    EightWords words;
    for (int k = 0; k < kParts; ++k) words.part[k] = part[k] << shift;
    return words;
  }
  EightWords operator>>(int shift) const {
    EightWords words;
    for (int k = 0; k < kParts; ++k) words.part[k] = part[k] >> shift;
    return words;
  }
  bool any() const {
    Part any = part[0];
    for (int k = 1; k < kParts; ++k) any |= part[k];
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask(__m512i(any), __m512i(any)) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256(__m256i(any), __m256i(any));
#else
    return any[0] != 0;
#endif
  }

  // Each row in the place of the next one, or of the previous one; and a row of 0.
  EightWords moved_on() const {
    EightWords words;
#if defined(__AVX512F__)
    words.part[0] = Part(_mm512_maskz_alignr_epi64(0xFF, __m512i(part[0]), _mm512_setzero_si512(), 7));
#elif defined(__AVX2__)
    constexpr int kUp = 0x90;  // 0, 0, 1, 2
    const __m256i low = _mm256_permute4x64_epi64(__m256i(part[0]), kUp),
                  high = _mm256_permute4x64_epi64(__m256i(part[1]), kUp),
                  carried = _mm256_permute4x64_epi64(__m256i(part[0]), 0xFF);
    words.part[0] = Part(_mm256_blend_epi32(low, _mm256_setzero_si256(), 3));
    words.part[1] = Part(_mm256_blend_epi32(high, carried, 3));
#else
    words.part[0] = Part{};
    for (int k = 1; k < kParts; ++k) words.part[k] = part[k - 1];
#endif
    return words;
  }
  EightWords moved_back() const {
    EightWords words;
#if defined(__AVX512F__)
    words.part[0] = Part(_mm512_maskz_alignr_epi64(0xFF, _mm512_setzero_si512(), __m512i(part[0]), 1));
#elif defined(__AVX2__)
    constexpr int kDown = 0xF9;  // 1, 2, 3, 3
    const __m256i low = _mm256_permute4x64_epi64(__m256i(part[0]), kDown),
                  high = _mm256_permute4x64_epi64(__m256i(part[1]), kDown),
                  carried = _mm256_permute4x64_epi64(__m256i(part[1]), 0);
    words.part[0] = Part(_mm256_blend_epi32(low, carried, 0xC0));
    words.part[1] = Part(_mm256_blend_epi32(high, _mm256_setzero_si256(), 0xC0));
#else
    for (int k = 1; k < kParts; ++k) words.part[k - 1] = part[k];
    words.part[kParts - 1] = Part{};
#endif
    return words;
  }
};

}  // namespace conncomp
