// Marks of the runs of a word, as bits, and their entries: 10 or so in noise. Registers of 16 with masks take
// these at once, where branches would be mispredicted.
#pragma once

#include <algorithm>
#include <array>

#include "cpu/core/bits.h"

namespace conncomp {

#ifdef __AVX512VPOPCNTDQ__
alignas(64) constexpr std::array<uint8_t, kWord> kPlacesOfBits = [] {
  std::array<uint8_t, kWord> places{};
  for (int p = 0; p < kWord; ++p) places[p] = uint8_t(p);
  return places;
}();

// The places of the bits of a word, as consecutive bytes.
inline __m512i places_of(uint64_t bits) {
  return _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kPlacesOfBits.data()));
}
#endif

#ifdef __AVX512F__
inline __m512i complement(__m512i numbers) { return _mm512_xor_si512(numbers, _mm512_set1_epi32(-1)); }

// The entries for which marks_of(entries, k) has bits: sixteen from the k-th on, by twos, without a loop.
uint64_t marks_where(const int32_t* entries, int count, auto&& marks_of) {
  const uint64_t there = count < kWord ? below(count) : kAll;
  const auto marks_at = [&](int k) {
    return uint64_t(marks_of(_mm512_maskz_loadu_epi32(__mmask16(there >> k), entries + k), k)) << k;
  };
  uint64_t marks = 0;
  for (int k = 0; k < count; k += 2 * kLanes) marks |= marks_at(k) | marks_at(k + kLanes);
  return marks & there;
}
#endif

#ifdef __AVX512VPOPCNTDQ__
template <class Index>
void store_eight(__m512i numbers, Index* to) {
  if constexpr (sizeof(Index) == 4)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi64_epi32(0xFF, numbers));
  else
    _mm512_storeu_si512(to, numbers);
}
#endif

// The entries k below `count` that fulfil a condition; of the `available` ones registers take 32 or 64.
uint64_t entries_where(int count, int64_t available, auto&& condition) {
  const int asked = count > kHalf ? kWord : kHalf;
  return mask_where(int(std::min<int64_t>(asked, available)), condition) &
         (count < kWord ? below(count) : kAll);
}

template <class Index>
uint64_t root_marks(const Index* entries, Index first, int count, int64_t available) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4)
    return marks_where(entries, count, [first](__m512i parents, int k) {
      return _mm512_cmpeq_epi32_mask(parents, counted_from(first + k));
    });
#endif
  return entries_where(count, available, [=](int k) { return entries[k] == Index(first + k); });
}

template <class Index>
uint64_t marks_from(const Index* entries, Index least, int count, int64_t available) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4)
    return marks_where(entries, count, [least](__m512i parents, int) {
      return _mm512_cmpge_epi32_mask(parents, _mm512_set1_epi32(least));
    });
#endif
  return entries_where(count, available, [=](int k) { return entries[k] >= least; });
}

// Numbers the marked entries, complemented, from one number on.
template <class Index>
void number_marks(Index* entries, uint64_t marks, Index next) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4) {
    for (; marks; marks >>= kLanes, entries += kLanes) {
      const __mmask16 marked = __mmask16(marks);
      const __m512i numbers = _mm512_maskz_expand_epi32(marked, counted_from(next));
      _mm512_mask_storeu_epi32(entries, marked, complement(numbers));
      next += std::popcount(unsigned(marked));
    }
    return;
  }
#endif
  const int count = std::popcount(marks);
  if (!(marks & (marks + 1)))  // the first `count` entries: a loop without branches
    for (int k = 0; k < count; ++k) entries[k] = ~(next + k);
  else
    for_each_bit(marks, [=](int k) mutable { entries[k] = ~next++; });
}

// The same, but those of `upper` from one number on, others from another.
template <class Index>
void number_marks(Index* entries, uint64_t marks, uint64_t upper, Index next_upper, Index next_lower) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4) {
    for (; marks; marks >>= kLanes, upper >>= kLanes, entries += kLanes) {
      const __mmask16 uppers = __mmask16(marks & upper), lowers = __mmask16(marks & ~upper);
      const __m512i of_uppers = _mm512_maskz_expand_epi32(uppers, counted_from(next_upper));
      const __m512i numbers = _mm512_mask_expand_epi32(of_uppers, lowers, counted_from(next_lower));
      _mm512_mask_storeu_epi32(entries, __mmask16(marks), complement(numbers));
      next_upper += std::popcount(unsigned(uppers));
      next_lower += std::popcount(unsigned(lowers));
    }
    return;
  }
#endif
  for_each_bit(marks, [=](int k) mutable {
    const Index is_upper = upper >> k & 1;
    entries[k] = ~(is_upper ? next_upper : next_lower);
    next_upper += is_upper;
    next_lower += 1 - is_upper;
  });
}

// The same, each by the place of one of as many bits, counted from one number on.
template <class Index>
void number_marks_by_places(Index* entries, uint64_t marks, uint64_t bits, Index first) {
#ifdef __AVX512VPOPCNTDQ__
  if constexpr (sizeof(Index) == 4) {
    alignas(64) uint8_t places[kWord + kLanes];
    _mm512_store_si512(places, places_of(bits));
    for (const uint8_t* next = places; marks; marks >>= kLanes, entries += kLanes) {
      const __mmask16 marked = __mmask16(marks);
      const __m512i ahead =
          _mm512_maskz_cvtepu8_epi32(0xFFFF, _mm_loadu_si128(reinterpret_cast<const __m128i*>(next)));
      const __m512i numbers =
          _mm512_maskz_expand_epi32(marked, _mm512_add_epi32(ahead, _mm512_set1_epi32(first)));
      _mm512_mask_storeu_epi32(entries, marked, complement(numbers));
      next += std::popcount(unsigned(marked));
    }
    return;
  }
#endif
  for_each_bit(marks, [=](int k) mutable {
    entries[k] = ~(first + Index(std::countr_zero(bits)));
    bits &= bits - 1;
  });
}

}  // namespace conncomp
