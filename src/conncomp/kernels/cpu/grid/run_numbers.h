// The components of linked runs get their labels: numbers in the order of their smallest indices, or these
// indices. The label of a component, complemented and so negative, is left in the entry of one of its runs,
// to which the parents of the others lead.
//
// Which element of a component has the smallest index is known from the first bundle where it has runs, if
// bundles are in the order of indices and no two of them share a layer (FirstRuns). Otherwise runs claim
// indices (Claims).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

// Where runs are in the array.
template <class Index>
class RunPlaces {
 public:
  explicit RunPlaces(const Runs<Index>& runs) : masks_(runs.masks), bundles_(runs.bundles) {}

  // Turns to a bundle.
  void face(int64_t bundle, const Coordinates& place) {
    bundle_ = bundle;
    bundles_.members(place, numbers_);
    std::sort(numbers_.begin(), numbers_.end());
    rows_.clear();
    for (int64_t row : numbers_)
      rows_.push_back({bundles_.origin(row, &Axis::index_stride), masks_.row(row), 0, 0});
  }

  // The first row, in the order of indices.
  const uint64_t* first_row() const { return rows_[0].foreground; }

  // Turns to a word of the bundle.
  void face_word(int64_t w) {
    word_ = w;
    continued_ = masks_.continued(bundle_, w);
    uint64_t so_far = 0;
    for (Row& row : rows_) {
      row.word = row.foreground[w];
      row.so_far = so_far |= row.word;
    }
  }

  // The smallest index in the run that starts at a bit of the word. Where rows are in the order of indices,
  // it is in the first row that has an element of the run; no branch asks which one that is.
  [[gnu::always_inline]] int64_t smallest_index(int bit) const {
    const uint64_t breaks = ~continued_ & ~up_to(bit), end = breaks & (0 - breaks);
    const uint64_t run = (end - 1) & ~below(bit);  // its places in the word
    size_t k = 0;
    for (size_t i = 0; i + 1 < rows_.size(); ++i) k += !(rows_[i].so_far & run);
    const bool elsewhere = k > 0 && !breaks;  // the next word may have an element in a row before
    if (elsewhere || !bundles_.in_order) return smallest_index_of_rows(bit);
    return rows_[k].origin + word_ * kWord + std::countr_zero(rows_[k].word & run);
  }

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

// How the components of items are numbered.
struct Numbering {
  bool consecutive;  // or by index
  int64_t* counts;   // of components, by item
};

// Numbers components in the order of their first runs. The root of a component is its first run, by bundle
// and column. Where bundles are rows, the component's first element is the root's. A bundle of two rows has
// its elements of the upper row first, though:
//
//     upper   . . . 1 . 1     Three runs, of which a row below connects the left two. The left one is the
//     root, lower   1 . . . . 1     but the first element is that of the second. Only that one has the upper
//     row.
//
// So each component is marked at the one of its runs in this bundle that has its first element, and of the
// marks of a bundle those are numbered first whose runs have an element of the upper row. Marks are kept as
// bits: bit k of a word speaks of the k-th run that starts there.
template <class Index>
class FirstRuns {
 public:
  static bool apply(const Bundles& bundles) {
    return bundles.in_order && (!bundles.folded || bundles.layer == 1);
  }

  explicit FirstRuns(Runs<Index>& runs)
      : runs_(runs),
        masks_(runs.masks),
        bundles_(runs.bundles),
        parent_(runs.parent.data()),
        marks_(runs.words),
        upper_(bundles_.folded ? runs.words : 0),
        before_(bundles_.count) {}

  void number(const Numbering& numbering) {
    parallel_for(bundles_.parts.parts, [&](int64_t part) { mark_part(part); });
    const int64_t components = scan(
        bundles_.count, [&](int64_t g) { return before_[g]; },
        [&](int64_t g, int64_t before) { before_[g] = Index(before); });
    const int64_t item_bundles = bundles_.count / bundles_.items;
    for_each_index(bundles_.items, [&](int64_t item) {
      const int64_t next = (item + 1) * item_bundles;
      numbering.counts[item] =
          (next < bundles_.count ? before_[next] : components) - before_[item * item_bundles];
    });
    parallel_for(bundles_.parts.parts,
                 [&](int64_t part) { numbering.consecutive ? number_part(part) : index_part(part); });
  }

 private:
  // Calls body(word, w) for the words of a bundle, with checkpoints.
  template <class Body>
  void for_each_word(int64_t bundle, Body&& body) const {
    for (int64_t w = 0, word = bundle * bundles_.words; w < bundles_.words; ++w, ++word) {
      bundles_.checkpoint_at(w);
      body(word, w);
    }
  }

  // The runs k of a word, of `count` that start in it, that fulfil a condition; of runs before the end of the
  // part, of which there are `available`, more may be asked, as registers take 32 or 64.
  template <class Condition>
  static uint64_t runs_where(int count, int64_t available, Condition&& condition) {
    const int asked = count > kHalf ? kWord : kHalf;
    return mask_where(int(std::min<int64_t>(asked, available)), condition) &
           (count < kWord ? below(count) : kAll);
  }

  void mark_part(int64_t part) {
    const int64_t end = runs_.first_of(bundles_.parts.end(part));
    RunPlaces<Index> places(runs_);
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      Index components = 0;
      if (bundles_.folded) {
        places.face(bundle, place);
        find_upper(bundle, places.first_row());
      }
      const Index first = Index(runs_.first_of(bundle));
      for_each_word(bundle, [&](int64_t word, int64_t) {
        const Index rank = runs_.rank[word];
        const Index* parent = parent_ + rank;
        marks_[word] = 0;
        if (!masks_.start[word]) return;
        const int count = std::popcount(masks_.start[word]);
        const uint64_t roots =
            runs_where(count, end - rank, [&](int k) { return parent[k] == Index(rank + k); });
        marks_[word] = roots;
        components += std::popcount(roots);
        if (!bundles_.folded) return;
        // Runs of which a later bundle has told that they belong to a run of this one.
        const uint64_t joined =
            runs_where(count, end - rank, [&](int k) { return parent[k] >= first; }) & ~roots;
        for_each_bit(joined & upper_[word], [&](int k) { move_mark(bundle, first, word, k); });
      });
      before_[bundle] = components;
    });
  }

  // Finds which runs of a bundle have elements of the upper row, from the last word to the first: whether a
  // run does that goes on there is known by then.
  void find_upper(int64_t bundle, const uint64_t* upper_row) {
    bool next_word = false;  // whether the run that goes on in the next word does
    for (int64_t w = bundles_.words, word = (bundle + 1) * bundles_.words; w-- > 0;) {
      --word;
      const uint64_t start = masks_.start[word];
      if (!start) {
        next_word |= upper_row[w] != 0;
        continue;
      }
      // Every element of the upper row is carried down to the start of its run.
      uint64_t reached = upper_row[w] | uint64_t(next_word) << (kWord - 1), open = ~start >> 1;
      for (int step = 1; step < kWord; step *= 2) {
        reached |= open & reached >> step;
        open &= open >> step;
      }
      upper_[word] = extract(reached, start);
      next_word = reached & ~start & 1;
    }
  }

  // Moves the mark of a component from a root without the upper row to run k of a word, which has it; the
  // root then points to that run, as no other of the component may move the mark again. Only entries of the
  // bundle are read and written: of others, other threads move marks.
  void move_mark(int64_t bundle, Index first, int64_t word, int k) {
    const Index run = runs_.rank[word] + k;
    Index root = run, above = parent_[run];
    for (; above >= first && above < root; above = parent_[root]) root = above;
    parent_[run] = above < first ? above : root;
    if (above != root) return;  // the root is in an earlier bundle, or its mark has been moved
    const int64_t root_word = word_of(root, bundle);
    const uint64_t root_bit = uint64_t(1) << (root - runs_.rank[root_word]);
    if (upper_[root_word] & root_bit) return;
    marks_[root_word] &= ~root_bit;
    marks_[word] |= uint64_t(1) << k;
    parent_[root] = run;
    parent_[run] = run;
  }

  // The word of a bundle in which a run of it starts.
  int64_t word_of(Index run, int64_t bundle) const {
    const Index* begin = runs_.rank.data() + bundle * bundles_.words;
    return std::upper_bound(begin, begin + bundles_.words, run) - 1 - runs_.rank.data();
  }

  void number_part(int64_t part) {
    const int64_t item_bundles = bundles_.count / bundles_.items;
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates&) {
      Index number = before_[bundle] - before_[bundle / item_bundles * item_bundles] + 1;
      if (!bundles_.folded) {
        for_each_word(bundle, [&](int64_t word, int64_t) {
          for_each_bit(marks_[word], [&](int k) { parent_[runs_.rank[word] + k] = ~number++; });
        });
        return;
      }
      Index next[2] = {number, number};  // of runs without the upper row, and with it
      for_each_word(bundle, [&](int64_t word, int64_t) {
        next[0] += Index(std::popcount(marks_[word] & upper_[word]));
      });
      for_each_word(bundle, [&](int64_t word, int64_t) {
        for_each_bit(marks_[word],
                     [&](int k) { parent_[runs_.rank[word] + k] = ~next[upper_[word] >> k & 1]++; });
      });
    });
  }

  void index_part(int64_t part) {
    const int64_t item_elements = bundles_.elements / bundles_.items;
    RunPlaces<Index> places(runs_);
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      places.face(bundle, place);
      const int64_t first_index = bundles_.item(bundle) * item_elements;
      for_each_word(bundle, [&](int64_t word, int64_t w) {
        places.face_word(w);
        for_each_bit(deposit(marks_[word], masks_.start[word]), [&](int bit) {
          parent_[runs_.run_in(word, up_to(bit))] = ~Index(places.smallest_index(bit) - first_index);
        });
      });
    });
  }

  Runs<Index>& runs_;
  const Masks& masks_;
  const Bundles& bundles_;
  Index* const parent_;
  Buffer<uint64_t> marks_, upper_;
  Buffer<Index> before_;  // by bundle: the components that are marked in it, then in all before
};

// The roots of a forest, which it flattens, as bit masks.
struct Roots {
  int64_t words;
  Buffer<uint64_t> masks;

  template <class Index>
  Roots(Index* parent, int64_t count) : words((count + kWord - 1) / kWord), masks(words) {
    for_each_index(words, [&](int64_t w) {
      uint64_t mask = 0;
      for (int64_t i = w * kWord, end = std::min(i + kWord, count); i < end; ++i)
        mask |= uint64_t(flatten_entry(parent, i) == Index(i)) << i % kWord;
      masks[w] = mask;
    });
  }

  // Calls body(i) for every root i, in parallel.
  template <class Body>
  void for_each(Body&& body) const {
    for_each_index(words, [&](int64_t w) { for_each_bit(masks[w], [&](int p) { body(w * kWord + p); }); });
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

// Lets every root claim the smallest index of its component; one bit is set for each index claimed, and a
// component's number is the rank of its bit.
//
// Claims are kept complemented, so that an entry says by its sign whether it is a root's, and the smallest
// index is the largest claim. Where bundles are in the order of indices, most runs need not claim: a root is
// the first run of its component, and an element of smaller index than its own can only be in the root's own
// layer, for layers follow each other whole.
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
    roots.for_each([&](int64_t i) {
      const Index index = ~parent_[i];
      Shared::fetch_or(&claimed[index / kWord], uint64_t(1) << index % kWord);
    });
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
      places.face(bundle, place);
      const int64_t first_word = bundle * bundles_.words;
      const Index first_of_layer = bundles_.in_order ? runs_.rank[first_word / layer_words * layer_words] : 0;
      for (int64_t w = 0; w < bundles_.words; ++w) {
        bundles_.checkpoint_at(w);
        places.face_word(w);
        Index run = runs_.rank[first_word + w] - 1;
        for_each_bit(masks_.start[first_word + w], [&](int bit) {
          const Index parent = Access::load(&parent_[++run]), root = parent < 0 ? run : parent;
          if (root >= first_of_layer) Access::fetch_max(&parent_[root], Index(~places.smallest_index(bit)));
        });
      }
    });
  }

  Runs<Index>& runs_;
  const Masks& masks_;
  const Bundles& bundles_;
  Index* const parent_;
};

template <class Index>
void number_components(Runs<Index>& runs, const Numbering& numbering) {
  if (FirstRuns<Index>::apply(runs.bundles))
    FirstRuns<Index>(runs).number(numbering);
  else
    Claims<Index>(runs).number(numbering);
}

}  // namespace conncomp
