// Marks of the runs of a word, as bits, and their entries, without mispredicted branches.
#pragma once

#include "cpu/grid/run_table.h"

namespace conncomp {

#ifdef __AVX512VPOPCNTDQ__
alignas(64) constexpr std::array<uint8_t, kWord> kPlacesOfBits = [] {
  std::array<uint8_t, kWord> places{};
  for (int p = 0; p < kWord; ++p) places[p] = uint8_t(p);
  return places;
}();

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
template <class Index> void store_eight(__m512i numbers, Index* to) {
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

template <class Index> uint64_t root_marks(const Index* entries, Index first, int count, int64_t available) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4)
    return marks_where(entries, count, [first](__m512i parents, int k) {
      return _mm512_cmpeq_epi32_mask(parents, counted_from(first + k));
    });
#endif
  return entries_where(count, available, [=](int k) { return entries[k] == Index(first + k); });
}

template <class Index> uint64_t marks_from(const Index* entries, Index least, int count, int64_t available) {
#ifdef __AVX512F__
  if constexpr (sizeof(Index) == 4)
    return marks_where(entries, count,
        [least](__m512i parents, int) { return _mm512_cmpge_epi32_mask(parents, _mm512_set1_epi32(least)); });
#endif
  return entries_where(count, available, [=](int k) { return entries[k] >= least; });
}

template <class Index> void number_marks(Index* entries, uint64_t marks, Index next) {
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

// Finds the indices that elements of runs have.
template <class Index> class RunPlaces {
 public:
  explicit RunPlaces(const Runs<Index>& runs) : masks_(runs.masks), bundles_(runs.bundles) {}

  void face(int64_t bundle, const Coordinates& place) {
    bundle_ = bundle;
    bundles_.members(place, numbers_);
    std::sort(numbers_.begin(), numbers_.end());
    rows_.clear();
    for (int64_t row : numbers_)
      rows_.push_back({bundles_.origin(row, &Axis::index_stride), masks_.row(row), 0, 0});
  }

  const uint64_t* first_row() const { return rows_[0].foreground; }

  void face_word(int64_t w) {
    word_ = w;
    continued_ = masks_.continued(bundle_, w);
    uint64_t so_far = 0;
    for (Row& row : rows_) {
      row.word = row.foreground[w];
      row.so_far = so_far |= row.word;
    }
  }

  // The smallest index in the run that starts at a bit: in its column, or in its first row; no branch.
  [[gnu::always_inline]] int64_t smallest_index(int bit) const {
    if (bundles_.columns_in_order) {
      size_t k = 0;
      while (!(rows_[k].word >> bit & 1)) ++k;  // a start is foreground of some row
      return rows_[k].origin + (word_ * kWord + bit) * bundles_.row_axis.index_stride;
    }
    const uint64_t breaks = ~continued_ & ~up_to(bit), end = breaks & (0 - breaks);
    const uint64_t run = (end - 1) & ~below(bit);  // its places in the word
    size_t k = 0;
    for (size_t i = 0; i + 1 < rows_.size(); ++i) k += !(rows_[i].so_far & run);
    const bool elsewhere = k > 0 && !breaks;  // the next word may have an element in a row before
    if (elsewhere || !bundles_.in_order) return smallest_index_of_rows(bit);
    return rows_[k].origin + word_ * kWord + std::countr_zero(rows_[k].word & run);
  }

#ifdef __AVX512VPOPCNTDQ__
  // The same of all runs of a word, eight at a time, where rows are in order; up to a multiple of eight.
  void smallest_indices(uint64_t starts, Index* indices) const {
    constexpr int kEight = 8;
    const __m512i one = _mm512_set1_epi64(1), goes_on = _mm512_set1_epi64(int64_t(continued_));
    alignas(64) uint8_t bits[kWord];
    _mm512_store_si512(bits, places_of(starts));
    const int count = std::popcount(starts);
    for (int k = 0; k < count; k += kEight) {
      const __m512i bit =
          _mm512_maskz_cvtepu8_epi64(0xFF, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bits + k)));
      const __m512i first = _mm512_maskz_sllv_epi64(0xFF, one, bit), before = _mm512_sub_epi64(first, one);
      const __m512i no_breaks = _mm512_or_si512(goes_on, _mm512_or_si512(first, before));
      // An addition to the places without breaks carries to the lowest break, so all below it are kept.
      const __m512i up_to_break = _mm512_xor_si512(_mm512_add_epi64(no_breaks, one), no_breaks);
      const __m512i run = _mm512_and_si512(no_breaks, _mm512_maskz_andnot_epi64(0xFF, before, up_to_break));
      __m512i places = _mm512_and_si512(run, _mm512_set1_epi64(int64_t(rows_[0].word)));
      __m512i origin = _mm512_set1_epi64(rows_[0].origin);
      for (size_t i = 1; i < rows_.size(); ++i) {
        const __mmask8 none = _mm512_testn_epi64_mask(run, _mm512_set1_epi64(int64_t(rows_[i - 1].so_far)));
        places = _mm512_mask_and_epi64(places, none, run, _mm512_set1_epi64(int64_t(rows_[i].word)));
        origin = _mm512_mask_mov_epi64(origin, none, _mm512_set1_epi64(rows_[i].origin));
      }
      const __m512i below_first = _mm512_maskz_andnot_epi64(0xFF, places, _mm512_sub_epi64(places, one));
      const __m512i column =
          _mm512_add_epi64(_mm512_popcnt_epi64(below_first), _mm512_set1_epi64(word_ * kWord));
      store_eight(_mm512_add_epi64(origin, column), indices + k);
    }
    // The last run may go on in the next word, with an element in a row before.
    const int last = kWord - 1 - std::countl_zero(starts);
    if (count && !(~continued_ & ~up_to(last))) indices[count - 1] = Index(smallest_index(last));
  }
#endif

 private:
  struct Row {
    int64_t origin;  // the index of the first element
    const uint64_t* foreground;
    uint64_t word, so_far;  // of the foreground: of the row, and of all rows up to it
  };

  int64_t smallest_index_of_rows(int bit) const {
    int64_t smallest = bundles_.elements;
    for (const Row& row : rows_) {
      const int64_t p = first_in_run(row.foreground, bit);
      if (p >= 0) smallest = std::min(smallest, row.origin + p * bundles_.row_axis.index_stride);
      if (p >= 0 && bundles_.in_order) break;
    }
    return smallest;
  }

  // The first foreground element of a row in the run of its bundle that starts at a bit of the word; or -1.
  int64_t first_in_run(const uint64_t* foreground, int bit) const {
    int64_t w = word_;
    uint64_t candidates = foreground[w] & ~below(bit), breaks = ~continued_ & ~up_to(bit);
    while (!breaks && !candidates && ++w < bundles_.words) {
      candidates = foreground[w];
      breaks = ~masks_.continued(bundle_, w);
    }
    // The lowest candidate counts, unless the run breaks before it.
    const uint64_t first = candidates & (0 - candidates), end = breaks & (0 - breaks);
    return candidates && (!breaks || first < end) ? w * kWord + std::countr_zero(candidates) : -1;
  }

  const Masks& masks_;
  const Bundles& bundles_;
  int64_t bundle_ = 0, word_ = 0;
  uint64_t continued_ = 0;  // where runs go on in the word
  std::vector<int64_t> numbers_;
  std::vector<Row> rows_;
};

}
