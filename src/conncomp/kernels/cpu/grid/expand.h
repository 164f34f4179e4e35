// Expands labels of runs to labels of elements, 64 at a time.
#pragma once

#include <algorithm>
#include <array>

#include "cpu/core/bits.h"

namespace conncomp {

// `expand` may read so many labels beyond the last; it also reads the one before the first.
constexpr int kSlack = 16;

// Labels of elements in no run: how many begin up to each.
template <class Index> struct CountedLabels {
  uint64_t begins;
  Index before;

  Index operator()(int p) const { return before + Index(std::popcount(begins & up_to(p))); }
};

template <class Index> struct OneLabel {
  Index label;

  Index operator()(int) const { return label; }
};

#ifdef __AVX512VPOPCNTDQ__
template <class Index> __m512i broadcast(Index value) {
  return sizeof(Index) == 4 ? _mm512_set1_epi32(int(value)) : _mm512_set1_epi64(value);
}

// For each element of `mask` the entry of `table` at the number of its bits; `empty` for others.
template <class Index> __m512i permute(__m512i table, __m512i bits, uint64_t mask, __m512i empty) {
  if constexpr (sizeof(Index) == 4)
    return _mm512_mask_permutexvar_epi32(empty, __mmask16(mask), _mm512_popcnt_epi32(bits), table);
  else
    return _mm512_mask_permutexvar_epi64(empty, __mmask8(mask), _mm512_popcnt_epi64(bits), table);
}

// For each element of a register the bits of elements up to it, without the first.
template <class Index>
alignas(64) constexpr std::array<Index, 64 / sizeof(Index)> kAfterFirst = [] {
  std::array<Index, 64 / sizeof(Index)> bits;
  for (int p = 0; p < int(bits.size()); ++p) bits[p] = Index(up_to(p) & ~uint64_t(1));
  return bits;
}();

template <class Index> __m512i labels_from(OneLabel<Index> labels, int) { return broadcast(labels.label); }
template <class Index> __m512i labels_from(CountedLabels<Index> labels, int p) {
  const __m512i up_to_each =
      _mm512_or_si512(_mm512_load_si512(kAfterFirst<Index>.data()), broadcast(Index(1)));
  const __m512i begins = _mm512_and_si512(broadcast(Index(labels.begins >> p)), up_to_each);
  const __m512i first = broadcast(Index(labels.before + std::popcount(labels.begins & below(p))));
  if constexpr (sizeof(Index) == 4)
    return _mm512_add_epi32(first, _mm512_popcnt_epi32(begins));
  else
    return _mm512_add_epi64(first, _mm512_popcnt_epi64(begins));
}

// Calls put(p, labels) with registers of labels of the runs ahead, permuted by the starts so far.
template <class Index>
[[gnu::always_inline]] inline void expand_registers(
    uint64_t foreground, uint64_t start, const Index* label, auto others, auto&& put) {
  const __m512i after_first = _mm512_load_si512(kAfterFirst<Index>.data());
  for (int p = 0; p < kWord; p += kAfterFirst<Index>.size()) {
    const __m512i ahead = _mm512_loadu_si512(label + std::popcount(start & up_to(p)));
    const __m512i starts = _mm512_and_si512(broadcast(Index(start >> p)), after_first);
    const __m512i complements = _mm512_xor_si512(ahead, broadcast(Index(-1)));
    put(p, permute<Index>(complements, starts, foreground >> p, labels_from(others, p)));
  }
}
#elif defined(__AVX2__)
// For each pattern of starts among eight elements: byte p counts those at 1 ... p.
constexpr std::array<uint64_t, 256> kStartsBefore = [] {
  std::array<uint64_t, 256> table{};
  for (int starts = 0; starts < 256; ++starts)
    for (int p = 1; p < 8; ++p)
      table[starts] |= uint64_t(std::popcount(unsigned(starts & up_to(p) & ~1u))) << 8 * p;
  return table;
}();

inline __m256i labels_from(OneLabel<int32_t> labels, int) { return _mm256_set1_epi32(labels.label); }
inline __m256i labels_from(CountedLabels<int32_t> labels, int p) {
  const __m256i first = _mm256_set1_epi32(labels.before + std::popcount(labels.begins & up_to(p)));
  const int64_t counts = int64_t(kStartsBefore[labels.begins >> p & 255]);
  return _mm256_add_epi32(first, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(counts)));
}

void expand_vectors(uint64_t foreground, uint64_t start, const int32_t* label, auto others, int32_t* out) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i complement = _mm256_set1_epi32(-1);
  for (int p = 0; p < kWord; p += 8) {
    const int starts = start >> p & 255, set = foreground >> p & 255;
    const __m256i ahead = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(label + (starts & 1)));
    const __m256i permutation = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(int64_t(kStartsBefore[starts])));
    const __m256i run_label = _mm256_xor_si256(_mm256_permutevar8x32_epi32(ahead, permutation), complement);
    const __m256i mask = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(set), bit), bit);
    const __m256i labels = _mm256_blendv_epi8(labels_from(others, p), run_label, mask);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + p), labels);
    label += std::popcount(unsigned(starts));
  }
}
#elif defined(__aarch64__)
// For each pattern of starts at the second to the fourth of four elements: the bytes of each element's label.
constexpr std::array<std::array<uint8_t, 16>, 8> kLabelBytes = [] {
  std::array<std::array<uint8_t, 16>, 8> table{};
  for (int starts = 0; starts < 8; ++starts)
    for (int byte = 0; byte < 16; ++byte)
      table[starts][byte] = uint8_t(4 * std::popcount(starts & below(byte / 4)) + byte % 4);
  return table;
}();

inline int32x4_t labels_from(OneLabel<int32_t> labels, int) { return vdupq_n_s32(labels.label); }
inline int32x4_t labels_from(CountedLabels<int32_t> labels, int p) {
  int32_t counted[4];
  for (int k = 0; k < 4; ++k) counted[k] = labels(p + k);
  return vld1q_s32(counted);
}

void expand_vectors(uint64_t foreground, uint64_t start, const int32_t* label, auto others, int32_t* out) {
  const uint32x4_t bit = vcombine_u32(vcreate_u32(0x0000000200000001), vcreate_u32(0x0000000800000004));
  uint64_t counts = start - (start >> 1 & 0x5555555555555555);                  // of starts, in each two bits
  counts = (counts & 0x3333333333333333) + (counts >> 2 & 0x3333333333333333);  // and in each four
  for (int p = 0; p < kWord; p += 4) {
    const int32x4_t ahead = vld1q_s32(label + (start >> p & 1));
    const uint8x16_t bytes = vld1q_u8(kLabelBytes[start >> p >> 1 & 7].data());
    const uint8x16_t permuted = vqtbl1q_u8(vreinterpretq_u8_s32(ahead), bytes);
    const uint32x4_t mask = vtstq_u32(vdupq_n_u32(uint32_t(foreground >> p)), bit);
    const int32x4_t run_label = vmvnq_s32(vreinterpretq_s32_u8(permuted));
    vst1q_s32(out + p, vbslq_s32(mask, run_label, labels_from(others, p)));
    label += counts >> p & 15;
  }
}
#endif

template <class Index>
void expand_mixed(uint64_t foreground, uint64_t start, const Index* label, auto others, Index* out) {
#ifdef __AVX512VPOPCNTDQ__
  return expand_registers(foreground, start, label, others,
      [out](int p, __m512i labels) { _mm512_storeu_si512(out + p, labels); });
#elif defined(__AVX2__) || defined(__aarch64__)
  if constexpr (sizeof(Index) == 4) return expand_vectors(foreground, start, label, others, out);
#endif
  for (int p = 0; p < kWord; ++p) {
    label += start >> p & 1;
    out[p] = foreground >> p & 1 ? ~*label : others(p);
  }
}

// Writes a label for each bit of `foreground`, else `others`. `label` is at the complement, and moves on.
template <class Index>
void expand(uint64_t foreground, uint64_t start, const Index* label, OneLabel<Index> others, Index* out) {
#ifdef __AVX512VPOPCNTDQ__
  // A word of one label only would be mispredicted, and would not save much.
  expand_mixed(foreground, start, label, others, out);
#else
  if (!foreground) {
    std::fill_n(out, kWord, others.label);
  } else if (foreground == kAll && start <= 1) {
    std::fill_n(out, kWord, Index(~label[start]));
  } else {
    expand_mixed(foreground, start, label, others, out);
  }
#endif
}
template <class Index>
void expand(
    uint64_t foreground, uint64_t start, const Index* label, CountedLabels<Index> others, Index* out) {
  expand_mixed(foreground, start, label, others, out);
}

template <class Index>
void expand(uint64_t foreground, uint64_t start, const Index* label, Index background, Index* out) {
  expand(foreground, start, label, OneLabel<Index>{background}, out);
}

}
