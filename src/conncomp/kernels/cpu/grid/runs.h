// Labels an array by its runs, on bits. The default on the CPU.
//
// What: rows become bit masks (masks.h), and runs of connected elements, not elements, are united. Rows that
// always touch are bundled and treated as one (bundles.h). Where two bundles touch is found 64 elements
// at a time (contacts.h), which leaves about one union for each two runs side by side.
// How: 1. Runs are counted, and so numbered, and become a forest of one vertex each.
//      2. Parts of the array are linked, each on its own; then, with compare-and-swap, what crosses parts.
//      3. Each root claims its component's smallest index; one bit is set for each index claimed, and a
//         component's number is the rank of its bit.
//      4. Every label is written once (expand.h).
// Cost: the input is read once where all foreground is of one value, a few times where values must be
// compared; the output is written once. Memory: one index a run, of which there are at most one an element
// (half, or a quarter in bundles, if all foreground is of one value), and half a byte an element for masks.
// Source: ours, from runs (He, Chao and Suzuki 2008), 2 x 2 blocks (Grana, Borghesani and Cucchiara 2010) and
// the union-find of Jaiganesh and Burtscher 2018.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/contacts.h"
#include "cpu/grid/expand.h"
#include "cpu/grid/masks.h"

namespace conncomp {

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

template <class Index>
class Runs {
 public:
  // Takes masks that have been read.
  explicit Runs(const Masks& masks) : masks_(masks), bundles_(masks.bundles) {
    const int64_t words = bundles_.count * bundles_.words;
    rank_ = Buffer<Index>(words);
    runs_ = rank_words(masks_.start.data(), words, rank_.data());
    parent_ = Buffer<Index>(runs_);
    before_item_ = Buffer<Index>(bundles_.items);
  }

  // Unites the runs that touch; Finder is one of contacts.h.
  template <class Finder>
  void link(const Finder& finder) {
    const int64_t parts = bundles_.parts.parts;
    parallel_for(parts, [&](int64_t part) {
      for_each_in(runs_before(bundles_.parts.begin(part) * bundles_.words),
                  runs_before(bundles_.parts.end(part) * bundles_.words),
                  [&](int64_t run) { parent_[run] = Index(run); });
      link_part<Exclusive>(finder, part, true);
    });
    if (parts > 1) parallel_for(parts, [&](int64_t part) { link_part<Shared>(finder, part, false); });
  }

  // Writes the label of every element, and the number of components of every item.
  template <class Label>
  void label(bool consecutive, Label* labels, int64_t* counts) {
    const Roots roots(parent_.data(), runs_);
    bundles_.in_order && !bundles_.folded && consecutive ? number_in_order(roots, counts)
                                                         : number_by_index(roots, consecutive, counts);
    const Index background = consecutive ? 0 : -1;
    parallel_for(bundles_.parts.parts, [&](int64_t part) {
      std::vector<int64_t> rows;
      bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
        bundles_.members(place, rows);
        write_bundle(bundle, rows, labels, background);
      });
    });
  }

 private:
  // ---- links ----------------------------------------------------------------------------------------

  // Links the bundles of a part with their neighbours inside the same part, or outside it.
  template <class Access, class Finder>
  void link_part(Finder finder, int64_t part, bool within_part) {
    const int64_t begin = bundles_.parts.begin(part), end = bundles_.parts.end(part);
    const int64_t last = bundles_.row_axis.length - 1;
    Coordinates neighbour_place(bundles_.outer.size());
    bundles_.for_each(part, [&](int64_t g, const Coordinates& place) {
      if (within_part && bundles_.row_axis.periodic && bundles_.neighbours.connected) {
        finder.face(g, g, place, place, bundles_.no_step);
        if (finder.touch(last, 0)) unite<Access>(parent_.data(), run_at(g, last), run_at(g, 0));
      }
      for (const Offset& offset : bundles_.neighbours.offsets) {
        const int64_t h = bundles_.neighbour(place, offset, neighbour_place);
        if (h < 0 || within_part != (begin <= h && h < end)) continue;
        finder.face(g, h, place, neighbour_place, offset);
        link_bundles<Access>(finder, g, h);
        if (!bundles_.row_axis.periodic) continue;
        if (offset.next && finder.touch(last, 0))
          unite<Access>(parent_.data(), run_at(g, last), run_at(h, 0));
        if (offset.previous && finder.touch(0, last))
          unite<Access>(parent_.data(), run_at(g, 0), run_at(h, last));
      }
    });
  }

  // Links two neighbouring bundles, word by word. g_after and h_after are where runs go on in the next word,
  // whose bit 0 tells whether they leave this one. Of aligned contacts, a union is left out where both runs
  // go on from the element before. (As a function of their own the three loops take 7 % longer on noise.)
  //
  //     g        1 1 1 1 0 1        aligned contacts     x x x x . x
  //     h        1 1 1 1 1 1        both continued       . 1 1 1 . .
  //                                 unions               x . . . . x
  template <class Access, class Finder>
  void link_bundles(const Finder& finder, int64_t g, int64_t h) {
    uint64_t g_continued = masks_.continued(g, 0), h_continued = masks_.continued(h, 0);
    int64_t g_word = g * bundles_.words, h_word = h * bundles_.words;
    for (int64_t w = 0; w < bundles_.words; ++w, ++g_word, ++h_word) {
      bundles_.checkpoint_at(w);
      const uint64_t g_after = masks_.continued(g, w + 1), h_after = masks_.continued(h, w + 1);
      const Continuations continued{g_continued, h_continued, g_continued >> 1 | g_after << (kWord - 1),
                                    h_continued >> 1 | h_after << (kWord - 1)};
      Contacts contacts = finder.contacts(w, continued);
      while (contacts.aligned) {
        const int p = std::countr_zero(contacts.aligned);
        unite<Access>(parent_.data(), run_in(g_word, up_to(p)), run_in(h_word, up_to(p)));
        // The pair stays the same up to the next place where either run breaks.
        const uint64_t breaks = ~(continued.g & continued.h) & ~up_to(p), first_break = breaks & (0 - breaks);
        contacts.aligned &= 0 - first_break;
      }
      for_each_bit(contacts.next, [&](int p) {
        unite<Access>(parent_.data(), run_in(g_word, up_to(p)), run_in(h_word, up_to(p)) + 1);
      });
      for_each_bit(contacts.previous, [&](int p) {
        unite<Access>(parent_.data(), run_in(g_word, up_to(p)), run_in(h_word, below(p)));
      });
      g_continued = g_after;
      h_continued = h_after;
    }
  }

  // The number of runs before a word, of the words of all bundles; the word after the last has all before it.
  Index runs_before(int64_t word) const {
    return word < bundles_.count * bundles_.words ? rank_[word] : Index(runs_);
  }

  // The last run that starts before a word or at one of the bits of it that are given.
  Index run_in(int64_t word, uint64_t bits) const {
    return rank_[word] + Index(std::popcount(masks_.start[word] & bits)) - 1;
  }
  Index run_at(int64_t bundle, int64_t p) const {
    return run_in(bundle * bundles_.words + p / kWord, up_to(p % kWord));
  }

  // ---- numbering ------------------------------------------------------------------------------------

  // Numbering leaves in every root's entry the complement of its component's number, or index, among all of
  // the array, and in before_item_ how many numbers, or indices, are those of the items before.

  // Where runs are in the order of indices, so are roots.
  void number_in_order(const Roots& roots, int64_t* counts) {
    const Ranks<Index> ranks(roots.masks.data(), roots.words);
    roots.for_each([&](int64_t i) { parent_[i] = ~Index(ranks.before_member(i) + 1); });
    const int64_t words = bundles_.count / bundles_.items * bundles_.words;  // of an item
    count_components(ranks, [&](int64_t item) { return runs_before(item * words); }, counts);
  }

  void number_by_index(const Roots& roots, bool consecutive, int64_t* counts) {
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
    const int64_t elements = bundles_.elements / bundles_.items;  // of an item
    count_components(ranks, [&](int64_t item) { return item * elements; }, counts);
    if (consecutive)
      roots.for_each([&](int64_t i) { parent_[i] = ~Index(ranks.before_member(~parent_[i]) + 1); });
    else
      for_each_index(bundles_.items, [&](int64_t item) { before_item_[item] = Index(item * elements); });
  }

  // Counts the components of items; first_of(item) is the first number that may be ranked of its components.
  template <class FirstOf>
  void count_components(const Ranks<Index>& ranks, FirstOf&& first_of, int64_t* counts) {
    for_each_index(bundles_.items, [&](int64_t item) {
      const int64_t before = ranks.before(first_of(item));
      before_item_[item] = Index(before);
      counts[item] = ranks.before(first_of(item + 1)) - before;
    });
  }

  // The rows of a bundle, in ascending order: the index of the first element of each, and its foreground.
  struct MemberRow {
    int64_t origin;
    const uint64_t* foreground;
  };
  class MemberRows {
   public:
    void read(const Masks& masks, const Coordinates& place) {
      masks.bundles.members(place, numbers_);
      std::sort(numbers_.begin(), numbers_.end());
      rows_.clear();
      for (int64_t row : numbers_)
        rows_.push_back({masks.bundles.origin(row, &Axis::index_stride), masks.row(row)});
    }
    const MemberRow* begin() const { return rows_.data(); }
    const MemberRow* end() const { return rows_.data() + rows_.size(); }

   private:
    std::vector<int64_t> numbers_;
    std::vector<MemberRow> rows_;
  };

  // Lets every run of a part lower the index that its root claims: the smallest of the component when all
  // parts are done. Claims are kept complemented, so that an entry says by its sign whether it is a root's,
  // and the smallest index is the largest claim.
  //
  // Most runs need not claim. A root is the first run of its component, so where runs are in the order of
  // indices, its own first element is the smallest. Where bundles are in that order, an element of smaller
  // index can only be in the root's own layer, for layers follow each other whole:
  //
  //     row 0   . . . 1     Two runs of one bundle, which rows below connect. The left one is the first, and
  //     row 1   1 . . .     the root; but the right one has the smallest index, 3.
  template <class Access>
  void claim_indices(int64_t part) {
    const int64_t layer_words = bundles_.layer * bundles_.words;
    MemberRows members;
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      members.read(masks_, place);
      const int64_t first_word = bundle * bundles_.words;
      const Index first_of_layer = bundles_.in_order ? rank_[first_word / layer_words * layer_words] : 0;
      for (int64_t begin = 0; begin < bundles_.words; begin += kStretchWords) {
        const int64_t end = std::min(begin + kStretchWords, bundles_.words);
        checkpoint((end - begin) * kWord);
        for (int64_t w = begin; w < end; ++w) claim_word<Access>(bundle, w, first_of_layer, members);
      }
    });
  }

  // Claims for the runs that start in a word, if their roots are not before the layer.
  template <class Access>
  void claim_word(int64_t bundle, int64_t w, Index first_of_layer, const MemberRows& members) {
    const uint64_t continued = masks_.continued(bundle, w), after = masks_.continued(bundle, w + 1);
    const uint64_t goes_on = continued >> 1 | after << (kWord - 1);
    const int64_t word = bundle * bundles_.words + w;
    Index run = rank_[word] - 1;
    for_each_bit(masks_.start[word], [&](int bit) {
      const Index parent = Access::load(&parent_[++run]), root = parent < 0 ? run : parent;
      if (root < (bundles_.in_order && !bundles_.folded ? run : first_of_layer)) return;
      const bool one_wide = bundles_.in_order && !(goes_on >> bit & 1);
      const int64_t index =
          one_wide ? smallest_index(w, bit, members) : smallest_index(bundle, w, bit, continued, members);
      Access::fetch_max(&parent_[root], Index(~index));
    });
  }

  // The smallest index in a run that is only at `bit` of word w, where rows are in the order of indices.
  [[gnu::always_inline]] int64_t smallest_index(int64_t w, int bit, const MemberRows& members) const {
    const MemberRow* row = members.begin();
    while (row + 1 < members.end() && !(row->foreground[w] >> bit & 1)) ++row;
    return row->origin + w * kWord + bit;
  }
  // The smallest index in the run that starts at `bit` of word w. Where rows are in the order of indices, it
  // is in the first row that has an element of the run.
  [[gnu::always_inline]] int64_t smallest_index(int64_t bundle, int64_t w, int bit, uint64_t continued,
                                                const MemberRows& members) const {
    int64_t smallest = bundles_.elements;
    for (const MemberRow& row : members) {
      const int64_t p = first_in_run(row.foreground, bundle, w, bit, continued);
      if (p >= 0) smallest = std::min(smallest, row.origin + p * bundles_.row_axis.index_stride);
      if (p >= 0 && bundles_.in_order) break;
    }
    return smallest;
  }

  // The first foreground element of a row in the run of its bundle that starts at `bit` of word w, which goes
  // on at the bits `continued`; or -1.
  int64_t first_in_run(const uint64_t* foreground, int64_t bundle, int64_t w, int bit,
                       uint64_t continued) const {
    uint64_t candidates = foreground[w] & ~below(bit), breaks = ~continued & ~up_to(bit);
    while (!breaks && !candidates && ++w < bundles_.words) {
      candidates = foreground[w];
      breaks = ~masks_.continued(bundle, w);
    }
    // The lowest candidate counts, unless the run breaks before it.
    const uint64_t first = candidates & (0 - candidates), end = breaks & (0 - breaks);
    return candidates && (!breaks || first < end) ? w * kWord + std::countr_zero(candidates) : -1;
  }

  // ---- labels ---------------------------------------------------------------------------------------

  // Writes the labels of a bundle, some thousand elements at a time: first those of its runs, from the one
  // before on, then those of its elements.
  template <class Label>
  void write_bundle(int64_t bundle, const std::vector<int64_t>& rows, Label* labels, Index background) const {
    constexpr int64_t kBlock = 32;
    Index run_labels[kBlock * kWord + 1 + kSlack];
    const int64_t first_word = bundle * bundles_.words;
    const Index before_item = before_item_[bundles_.item(bundle)];
    for (int64_t begin = 0; begin < bundles_.words; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, bundles_.words);
      checkpoint((end - begin) * kWord * int64_t(rows.size()));
      const Index before = rank_[first_word + begin] - 1, after = runs_before(first_word + end);
      run_labels[0] = 0;
      for (Index run = std::max<Index>(before, 0); run < after; ++run) {
        const Index root = parent_[run];
        run_labels[run - before] = parent_[root < 0 ? run : root] + before_item;
      }
      std::fill_n(run_labels + (after - before), kSlack, Index(0));
      for (int64_t row : rows) {
        Label* out = labels + bundles_.origin(row, &Axis::index_stride);
        for (int64_t w = begin; w < end; ++w)
          write_word(row, w, masks_.start[first_word + w], run_labels + rank_[first_word + w] - 1 - before,
                     background, out + w * kWord * bundles_.row_axis.index_stride);
      }
    }
  }

  template <class Label>
  void write_word(int64_t row, int64_t w, uint64_t start, const Index* run_labels, Index background,
                  Label* out) const {
    const uint64_t foreground = masks_.row(row)[w];
    const int64_t stride = bundles_.row_axis.index_stride;
    const int count = masks_.covered(w);
    if constexpr (std::is_same_v<Label, Index>)
      if (count == kWord && stride == 1) return expand(foreground, start, run_labels, background, out);
    Index word[kWord];
    expand(foreground, start, run_labels, background, word);
    for (int p = 0; p < count; ++p) out[p * stride] = Label(word[p]);
  }

  const Masks& masks_;
  const Bundles& bundles_;
  Buffer<Index> rank_;         // by bundle and word: the number of runs before
  Buffer<Index> parent_;       // by run
  Buffer<Index> before_item_;  // by item: the numbers, or indices, of the items before
  int64_t runs_;
};

// Labels masks that have been read; Finder is one of contacts.h.
template <class Finder, class Label>
void label_masks(const Masks& masks, const Finder& finder, bool consecutive, Label* labels, int64_t* counts) {
  const auto label = [&](auto&& runs) {
    runs.link(finder);
    runs.label(consecutive, labels, counts);
  };
  // Indices are as narrow as the array allows, whatever its labels are.
  if (masks.bundles.elements > std::numeric_limits<int32_t>::max())
    label(Runs<int64_t>(masks));
  else
    label(Runs<int32_t>(masks));
}

// Writes the label of every element to `labels`, and the number of components of every item to `counts`.
// `data` is the array that Rule, one of core/links.h, reads.
template <class Rule, class Label>
void label_runs(const void* data, const Rule& rule, const Grid& grid, bool consecutive, Label* labels,
                int64_t* counts) {
  if (rule.background.present && rule.background.value == rule.background.value) {
    const Bundles bundles(grid, grid.full());
    Masks masks(bundles);
    if (masks.read_one_value(data, rule.background.value))
      return label_masks(masks, OneValue(masks), consecutive, labels, counts);
  }
  const Bundles rows(grid, false);
  Masks masks(rows);
  masks.read_values(data, rule);
  label_masks(masks, LinkedValues<Rule>(masks, data, rule), consecutive, labels, counts);
}

template <class Label>
void label_runs(const void* data, const Bonds& bonds, const Grid& grid, bool consecutive, Label* labels,
                int64_t* counts) {
  const Bundles rows(grid, false);
  Masks masks(rows);
  masks.read_bonds(data, bonds);
  label_masks(masks, JoinedSites(masks, data, bonds), consecutive, labels, counts);
}

}  // namespace conncomp
