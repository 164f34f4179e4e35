// The runs that touch in words of two bundles, from the places of their contacts.
//
// How: who follows contacts is told of each as it is found, by a loop over bits, or, with AVX-512, eight at a
// time: places of bits become numbers, those become masks of the bits up to each, and runs are counted in all
// eight. How many contacts a word has cannot be foreseen, and a loop that ends elsewhere than foretold costs
// as much as three contacts; so pairs of runs are kept until there are many, and then followed one by one.
// Cost: for a word some 40 instructions, or 15 for each contact. Memory: some kilobytes.
#pragma once

#include <bit>
#include <cstdint>

#include "cpu/core/bits.h"
#include "cpu/core/run_forest.h"
#include "cpu/grid/run_marks.h"

namespace conncomp {

// One word of two bundles.
template <class Index>
struct WordPair {
  RunWord<Index> g, h;
};

// The contacts of a word, by kinds, as of Contacts.
struct WordContacts {
  uint64_t aligned, next, previous;

  uint64_t any() const { return aligned | next | previous; }
};

#ifdef __AVX512VPOPCNTDQ__
// Calls follow(run of g, run of h) for every contact, until the end of finish(). Forms with masks of all
// lanes are taken where GCC warns of what the others leave undefined.
template <class Index, class Follow>
class ContactPairs {
 public:
  static constexpr bool kKept = true;  // whether pairs are followed later

  explicit ContactPairs(Follow follow) : follow_(follow) {}

  void add(const WordPair<Index>& pair, WordContacts contacts) {
    // A place may have several contacts. Few do.
    while (contacts.any()) {
      const WordContacts added = {contacts.aligned, contacts.next & ~contacts.aligned,
                                  contacts.previous & ~(contacts.aligned | contacts.next)};
      add_places(pair, added.any(), added.next, added.previous & pair.h.start);
      contacts = {0, contacts.next & ~added.next, contacts.previous & ~added.previous};
    }
  }

  // Whether there is not enough room for another word.
  bool full() const { return count_ > kMost - 3 * kWord; }

  void finish() {
    for (int i = 0; i < count_; ++i) follow_(g_[i], h_[i]);
    count_ = 0;
  }

 private:
  static constexpr int kMost = 1024, kLanes = 8;

  // Adds the contacts of places, which lead to the run of h there, or to the next one, or to the one before.
  void add_places(const WordPair<Index>& pair, uint64_t places, uint64_t next, uint64_t before) {
    const __m512i numbers = places_of(places);
    const int count = std::popcount(places);
    next = extract(next, places), before = extract(before, places);
    alignas(64) uint8_t bytes[kWord];
    if (count > kLanes) _mm512_store_si512(bytes, numbers);
    __m128i eight = _mm512_maskz_extracti32x4_epi32(0xF, numbers, 0);
    for (int i = 0;;) {
      const __m512i places_after =
          _mm512_sub_epi64(_mm512_set1_epi64(kWord - 1), _mm512_maskz_cvtepu8_epi64(0xFF, eight));
      const __m512i up_to_place = _mm512_maskz_srlv_epi64(0xFF, _mm512_set1_epi64(-1), places_after);
      const auto runs_in = [&](const RunWord<Index>& word) {
        const __m512i starts = _mm512_and_si512(up_to_place, _mm512_set1_epi64(int64_t(word.start)));
        return _mm512_add_epi64(_mm512_popcnt_epi64(starts), _mm512_set1_epi64(int64_t(word.before) - 1));
      };
      const __m512i one = _mm512_set1_epi64(1);
      __m512i h = runs_in(pair.h);
      h = _mm512_mask_add_epi64(h, __mmask8(next >> i), h, one);
      h = _mm512_mask_sub_epi64(h, __mmask8(before >> i), h, one);
      put(runs_in(pair.g), g_ + count_ + i);
      put(h, h_ + count_ + i);
      if ((i += kLanes) >= count) break;
      eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i));
    }
    count_ += count;
  }

  static void put(__m512i runs, Index* to) {
    if constexpr (sizeof(Index) == 4)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi64_epi32(0xFF, runs));
    else
      _mm512_storeu_si512(to, runs);
  }

  const Follow follow_;
  int count_ = 0;
  Index g_[kMost], h_[kMost];
};
#else
template <class Index, class Follow>
class ContactPairs {
 public:
  static constexpr bool kKept = false;

  explicit ContactPairs(Follow follow) : follow_(follow) {}

  void add(const WordPair<Index>& pair, const WordContacts& contacts) {
    for_each_lowest(contacts.aligned, [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to)); });
    for_each_lowest(contacts.next, [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to) + 1); });
    for_each_lowest(contacts.previous,
                    [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to >> 1)); });
  }
  static constexpr bool full() { return false; }
  void finish() {}

 private:
  // Calls body(bits up to and including p) for every set bit p, lowest first.
  template <class Body>
  static void for_each_lowest(uint64_t mask, Body&& body) {
    for (; mask; mask &= mask - 1) body(mask ^ (mask - 1));
  }

  const Follow follow_;
};
#endif

}  // namespace conncomp
