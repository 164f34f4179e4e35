// Lets every root claim the smallest index of its component, a bit whose rank is its number. Claims are
// complemented: the sign tells a root's, and the smallest index is the largest claim. Where bundles are in
// the order of indices, a root is the first run of its component, so most need not claim. Memory: one bit an
// element, and an index for 64.
#pragma once

#include "cpu/grid/run_marks.h"

namespace conncomp {

// The roots of a forest, which it flattens, as bit masks.
struct Roots {
  int64_t words;
  Buffer<uint64_t> masks;

  template <class Index>
  Roots(Index* parent, int64_t count) : words((count + kWord - 1) / kWord), masks(words) {
    const auto flatten_word = [&](int64_t w) {
      uint64_t mask = 0;
      for (int64_t i = w * kWord, end = std::min(i + kWord, count); i < end; ++i)
        mask |= uint64_t(flatten_entry(parent, i) == Index(i)) << i % kWord;
      masks[w] = mask;
    };
    for_each_index(words, flatten_word, kWord);
  }

  void for_each(auto&& body) const {
    const auto visit = [&](int64_t w) { for_each_bit(masks[w], [&](int p) { body(w * kWord + p); }); };
    for_each_index(words, visit, kWord);
  }

  void for_each_between(int64_t begin, int64_t end, auto&& body) const {
    for_each_in(begin / kWord, (end + kWord - 1) / kWord, [&](int64_t w) {
      const uint64_t from = w == begin / kWord ? ~below(int(begin % kWord)) : kAll;
      const uint64_t to = w == end / kWord ? below(int(end % kWord)) : kAll;
      for_each_bit(masks[w] & from & to, [&](int p) { body(w * kWord + p); });
    });
  }
};

// How many members of a set of numbers, given as bits, come before a number.
template <class Index> class Ranks {
 public:
  Ranks(const uint64_t* members, int64_t words) : members_(members), words_(words), rank_(words) {
    count_ = rank_words(members, words, rank_.data());
  }

  // Takes any number that the words hold, and the one after.
  int64_t before(int64_t i) const { return i / kWord < words_ ? before_member(i) : count_; }
  Index before_member(int64_t i) const {
    return rank_[i / kWord] + Index(std::popcount(members_[i / kWord] & below(i % kWord)));
  }

 private:
  const uint64_t* members_;
  int64_t words_, count_;
  Buffer<Index> rank_;
};

template <class Index> class Claims {
 public:
  explicit Claims(Runs<Index>& runs)
      : runs_(runs), masks_(runs.masks), bundles_(runs.bundles), parent_(runs.parent.data()) {}

  void number(const Numbering& numbering) {
    const Roots roots(parent_, runs_.count);
    // A root first claims no index at all: any is a larger claim.
    roots.for_each([&](int64_t i) { parent_[i] = std::numeric_limits<Index>::min(); });
    parallel_for(bundles_.parts.parts, [&](int64_t part) {
      bundles_.layers_whole ? claim_indices<Exclusive>(part) : claim_indices<Concurrent>(part);
    });
    const int64_t words = (bundles_.elements + kWord - 1) / kWord;
    Buffer<uint64_t> claimed(words);
    for_each_index(words, [&](int64_t w) { claimed[w] = 0; });
    parallel_for(bundles_.parts.parts, [&](int64_t part) {
      words_apart() ? mark_claimed<Exclusive>(roots, part, claimed.data())
                    : mark_claimed<Concurrent>(roots, part, claimed.data());
    });
    const Ranks<Index> ranks(claimed.data(), words);
    const int64_t item_elements = bundles_.elements / bundles_.items;
    Buffer<Index> before_item(bundles_.items);
    for_each_index(bundles_.items, [&](int64_t item) {
      const int64_t before = ranks.before(item * item_elements);
      numbering.counts[item] = ranks.before((item + 1) * item_elements) - before;
      before_item[item] = Index(numbering.consecutive() ? before : item * item_elements);
    });
    roots.for_each([&](int64_t i) {
      const Index index = ~parent_[i];
      const Index label = numbering.consecutive() ? ranks.before_member(index) + 1 : index;
      parent_[i] = ~Index(label - before_item[bundles_.items == 1 ? 0 : index / item_elements]);
    });
  }

 private:
  // Whether roots of two parts never claim indices of one word.
  bool words_apart() const {
    if (bundles_.parts.parts == 1) return true;
    return bundles_.layers_whole && bundles_.outer[bundles_.batch_axes].index_stride % kWord == 0;
  }

  template <class Access> void mark_claimed(const Roots& roots, int64_t part, uint64_t* claimed) const {
    const int64_t begin = bundles_.parts.begin(part), end = bundles_.parts.end(part);
    roots.for_each_between(runs_.first_of(begin), runs_.first_of(end), [&](int64_t i) {
      const Index index = ~parent_[i];
      if constexpr (std::is_same_v<Access, Exclusive>)
        claimed[index / kWord] |= uint64_t(1) << index % kWord;
      else
        Access::fetch_or(claimed + index / kWord, uint64_t(1) << index % kWord);
    });
  }

  template <class Access> void claim_indices(int64_t part) {
    const int64_t layer_words = bundles_.layer * bundles_.words;
    RunPlaces<Index> places(runs_);
    LargerClaims larger;
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      const int64_t first_word = bundle * bundles_.words;
      const Index first_of_layer = bundles_.in_order ? runs_.rank[first_word / layer_words * layer_words] : 0;
      if (!any_claims<Access>(bundle, first_of_layer)) return;
      places.face(bundle, place);
      for (int64_t w = 0; w < bundles_.words; ++w) {
        bundles_.poll_at(w);
        places.face_word(w);
        claim_word<Access>(
            places, masks_.start[first_word + w], runs_.rank[first_word + w], first_of_layer, larger);
      }
    });
    make<Access>(larger);
  }

  // Larger claims of roots than these have, which are few; made together, to predict branches.
  struct LargerClaims {
    static constexpr int kMost = 512;
    bool full() const { return count > kMost - kWord; }

    int count = 0;
    Index roots[kMost], claims[kMost];
  };
  template <class Access> void make(LargerClaims& larger) {
    for (int i = 0; i < larger.count; ++i) Access::fetch_max(&parent_[larger.roots[i]], larger.claims[i]);
    larger.count = 0;
  }

#ifdef __AVX512VPOPCNTDQ__
  void find_larger(const RunPlaces<Index>& places, uint64_t starts, Index run, Index first_of_layer,
      LargerClaims& larger) const {
    Index indices[kWord];
    places.smallest_indices(starts, indices);
    const int count = std::popcount(starts);
    for (int k = 0; k < count; k += kLanes) {
      const __mmask16 there = __mmask16(below(std::min(count - k, kLanes)));
      const __m512i parents = _mm512_maskz_loadu_epi32(there, parent_ + run + k);
      const __mmask16 is_root = _mm512_movepi32_mask(parents);  // its entry is negative
      const __m512i roots = _mm512_mask_mov_epi32(parents, is_root, counted_from(run + k));
      const __m512i claims = complement(_mm512_loadu_si512(indices + k));
      const __mmask16 in_layer =
          _mm512_mask_cmpge_epi32_mask(there, roots, _mm512_set1_epi32(first_of_layer));
      const __m512i claimed = _mm512_mask_i32gather_epi32(claims, in_layer, roots, parent_, sizeof(Index));
      const __mmask16 are_larger = _mm512_mask_cmpgt_epi32_mask(in_layer, claims, claimed);
      _mm512_storeu_si512(larger.roots + larger.count, _mm512_maskz_compress_epi32(are_larger, roots));
      _mm512_storeu_si512(larger.claims + larger.count, _mm512_maskz_compress_epi32(are_larger, claims));
      larger.count += std::popcount(unsigned(are_larger));
    }
  }
#endif

  template <class Access>
  void claim_word(const RunPlaces<Index>& places, uint64_t starts, Index run, Index first_of_layer,
      LargerClaims& larger) {
#ifdef __AVX512VPOPCNTDQ__
    if constexpr (sizeof(Index) == 4)
      if (bundles_.in_order) {
        find_larger(places, starts, run, first_of_layer, larger);
        if (larger.full()) make<Access>(larger);
        return;
      }
#endif
    for_each_bit(starts, [&](int bit) {
      const Index parent = Access::load(&parent_[run]), root = parent < 0 ? run : parent;
      if (root >= first_of_layer) Access::fetch_max(&parent_[root], Index(~places.smallest_index(bit)));
      ++run;
    });
  }

  // Whether a run of a bundle is to claim, with its root in the layer; in most arrays few are.
  template <class Access> bool any_claims(int64_t bundle, Index first_of_layer) const {
    for (int64_t run = runs_.first_of(bundle), end = runs_.first_of(bundle + 1); run < end; ++run) {
      const Index parent = Access::load(&parent_[run]);
      if (parent < 0 || parent >= first_of_layer) return true;
    }
    return false;
  }

  Runs<Index>& runs_;
  const Masks& masks_;
  const Bundles& bundles_;
  Index* const parent_;
};

}
