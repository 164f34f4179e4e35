// Many words as one, in several registers: row k of a patch of bits is word k.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace conncomp {

template <int kWords> struct ManyWords {
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

  static ManyWords load(const unsigned long long* at) {
    ManyWords words;
    std::memcpy(words.part, at, sizeof words.part);
    return words;
  }
  void store(unsigned long long* at) const { std::memcpy(at, part, sizeof part); }
  [[gnu::always_inline]] static ManyWords make(auto&& of_part) {
    ManyWords words;
    for (int k = 0; k < kParts; ++k) words.part[k] = of_part(k);
    return words;
  }
  static ManyWords all(unsigned long long word) {
    return make([=](int) { return Part{} | word; });
  }

  ManyWords& operator|=(const ManyWords& other) {
    for (int k = 0; k < kParts; ++k) part[k] |= other.part[k];
    return *this;
  }
  ManyWords& operator&=(const ManyWords& other) {
    for (int k = 0; k < kParts; ++k) part[k] &= other.part[k];
    return *this;
  }
  friend ManyWords operator&(ManyWords a, const ManyWords& b) { return a &= b; }
  ManyWords& add(const ManyWords& bits, const ManyWords& mask) {
    for (int k = 0; k < kParts; ++k) {
#if defined(__AVX512F__)
      part[k] = Part(
          _mm512_ternarylogic_epi64(__m512i(part[k]), __m512i(bits.part[k]), __m512i(mask.part[k]), 0xF8));
#else
      part[k] |= bits.part[k] & mask.part[k];
#endif
    }
    return *this;
  }
  ManyWords without(const ManyWords& other) const {
    return make([&](int k) { return part[k] & ~other.part[k]; });
  }
  ManyWords operator<<(int shift) const {
    return make([&](int k) { return part[k] << shift; });
  }
  ManyWords operator>>(int shift) const {
    return make([&](int k) { return part[k] >> shift; });
  }
  // These bits, and all that links lead to from them, each link from a bit to the next one: an addition
  // carries from the lowest bit of a stretch of links to its end.
  //     links             . 1 1 1 . . 1 1 .
  //     bits              . . 1 . . . . 1 .
  //     links + bits      . 1 . . 1 . 1 . 1       of bits that have links
  //     with links        . . 1 1 1 . . 1 1       where these differ from it
  ManyWords carried(const ManyWords& links) const {
    return make([&](int k) {
      const Part sum = links.part[k] + (part[k] & links.part[k]);
#if defined(__AVX512F__)
      return Part(_mm512_ternarylogic_epi64(__m512i(part[k]), __m512i(sum), __m512i(links.part[k]), 0xF6));
#else
      return part[k] | (sum ^ links.part[k]);
#endif
    });
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

  ManyWords moved_on() const {
    ManyWords words;
    Part before{};
    for (int k = 0; k < kParts; before = part[k++]) {
#if defined(__AVX512F__)
      words.part[k] = Part(_mm512_maskz_alignr_epi64(0xFF, __m512i(part[k]), __m512i(before), 7));
#elif defined(__AVX2__)
      const __m256i middle = _mm256_permute2x128_si256(__m256i(before), __m256i(part[k]), 0x21);
      words.part[k] = Part(_mm256_alignr_epi8(__m256i(part[k]), middle, 8));
#else
      words.part[k] = before;
#endif
    }
    return words;
  }
  ManyWords moved_back() const {
    ManyWords words;
    for (int k = 0; k < kParts; ++k) {
      const Part behind = k + 1 < kParts ? part[k + 1] : Part{};
#if defined(__AVX512F__)
      words.part[k] = Part(_mm512_maskz_alignr_epi64(0xFF, __m512i(behind), __m512i(part[k]), 1));
#elif defined(__AVX2__)
      const __m256i middle = _mm256_permute2x128_si256(__m256i(part[k]), __m256i(behind), 0x21);
      words.part[k] = Part(_mm256_alignr_epi8(middle, __m256i(part[k]), 8));
#else
      words.part[k] = behind;
#endif
    }
    return words;
  }
};

}
