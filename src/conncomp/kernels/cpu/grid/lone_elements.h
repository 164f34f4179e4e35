// Numbers components where elements without bonds, which are in no run, are components, too: the most of a
// lattice with few bonds. They get no entries in the forest; bits say that they are alone, and where
// components begin: lone elements, and the starts of first runs. How many begin before gives the number.
// Where components are called by their first elements, all bits count.
//     bonds        0-0   0 0-0-0 0       begins    1 . 1 1 . . 1
//                                        numbers   1   2 3     4
#pragma once

#include "cpu/grid/run_marks.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

template <class Index>
class LoneElements {
 public:
  static bool apply(const Bundles& bundles) { return bundles.in_order; }

  explicit LoneElements(Runs<Index>& runs)
      : runs_(runs), bundles_(runs.bundles), begins_(runs.words), before_(bundles_.count) {}

  void number(const Numbering& numbering) {
    parallel_for(bundles_.parts.parts, [&](int64_t part) { find_begins(part); });
    const int64_t components = count_by_item(bundles_, before_, numbering.counts);
    const int64_t item_rows = bundles_.count / bundles_.items;
    runs_.lone_before = Buffer<Index>(runs_.words);  // which says nothing of rows where none begins
    parallel_for(bundles_.parts.parts, [&](int64_t part) {
      bundles_.for_each(part, [&](int64_t row, const Coordinates&) {
        if (before_[row] == (row + 1 < bundles_.count ? before_[row + 1] : components)) return;
        const int64_t first = row / item_rows * item_rows;
        numbering.consecutive ? number_row(row, before_[row] - before_[first])
                              : index_row(row, Index((row - first) * bundles_.row_axis.length));
      });
    });
    runs_.lone_begins = std::move(begins_);
  }

 private:
  void find_begins(int64_t part) {
    const int64_t end = runs_.first_of(bundles_.parts.end(part));
    bundles_.for_each(part, [&](int64_t row, const Coordinates&) {
      Index components = 0;
      for_each_word(row, [&](int64_t word, int64_t w) {
        begins_[word] = ~runs_.masks.foreground[word] & up_to(runs_.masks.covered(w) - 1);
        components += Index(std::popcount(begins_[word]));
      });
      before_[row] = components;
      if (!runs_.has_root(row, end)) return;
      for_each_word(row, [&](int64_t word, int64_t) {
        const Index rank = runs_.rank[word];
        const uint64_t start = runs_.masks.start[word];
        const uint64_t roots = root_marks(runs_.parent.data() + rank, rank, std::popcount(start), end - rank);
        begins_[word] |= deposit(roots, start);
        before_[row] += Index(std::popcount(roots));
      });
    });
  }

  void number_row(int64_t row, Index before) {
    for_each_word(row, [&](int64_t word, int64_t) {
      runs_.lone_before[word] = before;
      number_roots(word, begins_[word], before + 1);
      before += Index(std::popcount(begins_[word]));
    });
  }

  // The same by the indices of elements, of which `before` are before the row.
  void index_row(int64_t row, Index before) {
    for_each_word(row, [&](int64_t word, int64_t w) {
      const Index first = before + Index(w * kWord);
      number_roots(word, kAll, first);
      runs_.lone_before[word] = first - 1;
      begins_[word] = kAll;
    });
  }

  void for_each_word(int64_t row, auto&& body) const {
    for (int64_t w = 0; w < bundles_.words; ++w) {
      bundles_.poll_at(w);
      body(row * bundles_.words + w, w);
    }
  }

  // Numbers the roots that start in a word by how many bits of `counted` come before them.
  void number_roots(int64_t word, uint64_t counted, Index first) {
    const uint64_t roots = begins_[word] & runs_.masks.foreground[word];
    number_marks_by_places(runs_.parent.data() + runs_.rank[word], extract(roots, runs_.masks.start[word]),
                           extract(roots, counted), first);
  }

  Runs<Index>& runs_;
  const Bundles& bundles_;
  Buffer<uint64_t> begins_;  // by word
  Buffer<Index> before_;     // by row: the components that begin in it, then in all before
};

}  // namespace conncomp
