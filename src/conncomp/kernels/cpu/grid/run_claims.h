// Lets every root claim the smallest index of its component; one bit is set for each index claimed, and a
// component's number is the rank of its bit.
//
// Claims are kept complemented, so that an entry says by its sign whether it is a root's, and the smallest
// index is the largest claim. Where bundles are in the order of indices, most runs need not claim: a root is
// the first run of its component, and an element of smaller index than its own can only be in the root's own
// layer, for layers follow each other whole.
// Cost: parents are read twice, and written once; an index is found for each run that claims. Memory: one bit
// an element, and an index for 64.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "core/atomics.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/run_places.h"
#include "cpu/grid/run_table.h"

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

  // Calls body(i) for every root i, in parallel.
  template <class Body>
  void for_each(Body&& body) const {
    for_each_index(words, [&](int64_t w) { visit(w, body); }, kWord);
  }

  // The same by this thread alone.
  template <class Body>
  void for_each_alone(Body&& body) const {
    for_each_in(0, words, [&](int64_t w) { visit(w, body); });
  }

 private:
  template <class Body>
  void visit(int64_t w, Body& body) const {
    for_each_bit(masks[w], [&](int p) { body(w * kWord + p); });
  }
};

// How many members of a set of numbers, given as bits, come before a number.
template <class Index>
class Ranks {
 public:
  Ranks(const uint64_t* members, int64_t words) : members_(members), words_(words), rank_(words) {
    count_ = rank_words(members, words, rank_.data());
  }

  // Of any number that the words hold, and of the one after.
  int64_t before(int64_t i) const { return i / kWord < words_ ? before_member(i) : count_; }
  Index before_member(int64_t i) const {
    return rank_[i / kWord] + Index(std::popcount(members_[i / kWord] & below(i % kWord)));
  }

 private:
  const uint64_t* members_;
  int64_t words_, count_;
  Buffer<Index> rank_;
};

template <class Index>
class Claims {
 public:
  explicit Claims(Runs<Index>& runs)
      : runs_(runs), masks_(runs.masks), bundles_(runs.bundles), parent_(runs.parent.data()) {}

  void number(const Numbering& numbering) {
    const Roots roots(parent_, runs_.count);
    // A root first claims no index at all: any is smaller.
    roots.for_each([&](int64_t i) { parent_[i] = std::numeric_limits<Index>::min(); });
    parallel_for(bundles_.parts.parts, [&](int64_t part) {
      bundles_.layers_whole ? claim_indices<Exclusive>(part) : claim_indices<Shared>(part);
    });
    const int64_t words = (bundles_.elements + kWord - 1) / kWord;
    Buffer<uint64_t> claimed(words);
    for_each_index(words, [&](int64_t w) { claimed[w] = 0; });
    const auto claimed_bit = [this](int64_t i) { return uint64_t(1) << ~parent_[i] % kWord; };
    const auto claimed_word = [&, this](int64_t i) { return claimed.data() + ~parent_[i] / kWord; };
    // The number of threads is looked up once, as another caller may change it meanwhile.
    if (num_threads() == 1)
      roots.for_each_alone([&](int64_t i) { *claimed_word(i) |= claimed_bit(i); });
    else
      roots.for_each([&](int64_t i) { Shared::fetch_or(claimed_word(i), claimed_bit(i)); });
    const Ranks<Index> ranks(claimed.data(), words);
    const int64_t item_elements = bundles_.elements / bundles_.items;
    Buffer<Index> before_item(bundles_.items);
    for_each_index(bundles_.items, [&](int64_t item) {
      const int64_t before = ranks.before(item * item_elements);
      numbering.counts[item] = ranks.before((item + 1) * item_elements) - before;
      before_item[item] = Index(numbering.consecutive ? before : item * item_elements);
    });
    roots.for_each([&](int64_t i) {
      const Index index = ~parent_[i];
      const Index label = numbering.consecutive ? ranks.before_member(index) + 1 : index;
      parent_[i] = ~Index(label - before_item[bundles_.items == 1 ? 0 : index / item_elements]);
    });
  }

 private:
  template <class Access>
  void claim_indices(int64_t part) {
    const int64_t layer_words = bundles_.layer * bundles_.words;
    RunPlaces<Index> places(runs_);
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      const int64_t first_word = bundle * bundles_.words;
      const Index first_of_layer = bundles_.in_order ? runs_.rank[first_word / layer_words * layer_words] : 0;
      if (!any_claims<Access>(bundle, first_of_layer)) return;
      places.face(bundle, place);
      for (int64_t w = 0; w < bundles_.words; ++w) {
        bundles_.poll_at(w);
        places.face_word(w);
        Index run = runs_.rank[first_word + w] - 1;
        for_each_bit(masks_.start[first_word + w], [&](int bit) {
          const Index parent = Access::load(&parent_[++run]), root = parent < 0 ? run : parent;
          if (root >= first_of_layer) Access::fetch_max(&parent_[root], Index(~places.smallest_index(bit)));
        });
      }
    });
  }

  // Whether a run of a bundle is to claim: its root is in the layer. In most arrays few are.
  template <class Access>
  bool any_claims(int64_t bundle, Index first_of_layer) const {
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

}  // namespace conncomp
