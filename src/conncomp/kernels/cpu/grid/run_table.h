// The runs of an array, numbered in the order of bundles and words (core/run_forest.h), as a forest.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/core/run_forest.h"
#include "cpu/grid/masks.h"

namespace conncomp {

template <class Index> struct Runs {
  const Masks& masks;
  const Bundles& bundles;
  int64_t words;       // of all bundles
  Buffer<Index> rank;  // by word: the runs that start before it
  int64_t count;
  Buffer<Index> parent;  // by run
  // Per word, with lone elements (first_runs.h): where components begin, and how many before.
  Buffer<uint64_t> lone_begins;
  Buffer<Index> lone_before;

  explicit Runs(const Masks& masks)
      : masks(masks),
        bundles(masks.bundles),
        words(bundles.count * bundles.words),
        rank(words),
        count(rank_words(masks.start.data(), words, rank.data())),
        parent(count) {}

  int64_t before(int64_t word) const { return word < words ? rank[word] : count; }
  int64_t first_of(int64_t bundle) const { return before(bundle * bundles.words); }
  bool blank(int64_t bundle, int64_t count = 1) const { return first_of(bundle) == first_of(bundle + count); }

  // Whether a component begins in a bundle, as in few. Runs up to `part_end` may be read by registers.
  bool has_root(int64_t bundle, int64_t part_end) const {
    constexpr int64_t kFew = 8;
    const int64_t first = first_of(bundle), end = first_of(bundle + 1);
    const int64_t readable = end - first < kFew ? end : part_end;
    for (int64_t run = first; run < end; run += kHalf) {
      const Index* const parent = this->parent.data() + run;
      const uint64_t roots = mask_where(
          int(std::min<int64_t>(kHalf, readable - run)), [=](int k) { return parent[k] == Index(run + k); });
      if (roots & below(int(std::min<int64_t>(kHalf, end - run)))) return true;
    }
    return false;
  }

  RunWord<Index> at(int64_t word) const { return {masks.start[word], rank[word]}; }
  Index run_in(int64_t word, uint64_t bits) const { return at(word).run_in(bits); }
  Index run_at(int64_t bundle, int64_t p) const {
    return run_in(bundle * bundles.words + p / kWord, up_to(p % kWord));
  }
};

struct Numbering {
  Naming naming;
  int64_t* counts;  // of components, by item

  bool consecutive() const { return naming == Naming::kNumbers; }
};
// Turns components of each bundle into those before; fills `counts` of items, returns how many there are.
template <class Index> int64_t count_by_item(const Bundles& bundles, Buffer<Index>& before, int64_t* counts) {
  const int64_t components = scan(
      bundles.count, [&](int64_t g) { return before[g]; },
      [&](int64_t g, int64_t sum) { before[g] = Index(sum); });
  const int64_t item_bundles = bundles.count / bundles.items;
  for_each_index(bundles.items, [&](int64_t item) {
    const int64_t next = (item + 1) * item_bundles;
    counts[item] = (next < bundles.count ? before[next] : components) - before[item * item_bundles];
  });
  return components;
}

}
