// Numbers components in the order of their first runs, bundles being rows, or two rows alone in a layer. The
// root of a component is its first run, by bundle and column. In a bundle of two rows another run may have
// its first element:
//     upper  . . . 1 . 1      a row below connects the left two of the three runs: the left one is the root,
//     but the lower  1 . . . . 1      second one has the first element
// So each component is marked at its run in this bundle that has its first element, and the marks of runs
// with an element of the upper row are numbered first. Bit k of marks is the k-th run that starts.
#pragma once

#include "cpu/grid/contacts.h"
#include "cpu/grid/run_marks.h"

namespace conncomp {

template <class Index> class FirstRuns {
 public:
  static bool apply(const Bundles& bundles) {
    return bundles.in_order && (!bundles.folded || (bundles.layer == 1 && bundles.members_most <= 2));
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
    components_ = Index(count_by_item(bundles_, before_, numbering.counts));
    parallel_for(bundles_.parts.parts,
        [&](int64_t part) { numbering.consecutive() ? number_part(part) : index_part(part); });
  }

 private:
  // Calls body(word, w) for words with `chosen`, which are found before, to predict branches; with polls.
  void for_each_word(int64_t bundle, const Buffer<uint64_t>& chosen, auto&& body) const {
    for (int64_t begin = 0; begin < bundles_.words; begin += kWord) {
      bundles_.poll_at(begin);
      const int64_t first = bundle * bundles_.words + begin,
                    count = std::min<int64_t>(kWord, bundles_.words - begin);
      uint64_t chosen_words = 0;
      for (int64_t k = 0; k < count; ++k) chosen_words |= uint64_t(chosen[first + k] != 0) << k;
      for_each_bit(chosen_words, [&](int k) { body(first + k, begin + k); });
    }
  }

  void mark_part(int64_t part) {
    const int64_t end = runs_.first_of(bundles_.parts.end(part));
    RunPlaces<Index> places(runs_);
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      Index components = 0;
      before_[bundle] = 0;
      if (!runs_.has_root(bundle, end)) return;
      if (bundles_.folded) {
        places.face(bundle, place);
        find_upper(bundle, places.first_row());
      }
      const Index first = Index(runs_.first_of(bundle));
      for (int64_t w = 0; w < bundles_.words; w += kStretchWords) {
        bundles_.poll_at(w);
        std::fill_n(marks_.data() + bundle * bundles_.words + w, std::min(kStretchWords, bundles_.words - w),
            uint64_t(0));
      }
      for_each_word(bundle, masks_.start, [&](int64_t word, int64_t) {
        const Index rank = runs_.rank[word];
        const int count = std::popcount(masks_.start[word]);
        const uint64_t roots = root_marks(parent_ + rank, rank, count, end - rank);
        marks_[word] = roots;
        components += std::popcount(roots);
        if (!bundles_.folded) return;
        // Runs that later bundles have joined to a run of this one.
        const uint64_t joined = marks_from(parent_ + rank, first, count, end - rank) & ~roots;
        for_each_bit(joined & upper_[word], [&](int k) { move_mark(bundle, first, word, k); });
      });
      before_[bundle] = components;
    });
  }

  bool marked(int64_t bundle) const {
    return before_[bundle] < (bundle + 1 < bundles_.count ? before_[bundle + 1] : components_);
  }

  // Finds which runs of a bundle have elements of the upper row, from the last word to the first.
  void find_upper(int64_t bundle, const uint64_t* upper_row) {
    bool next_word = false;  // whether the run that goes on in the next word does
    const int64_t first = bundle * bundles_.words;
    for (int64_t end = bundles_.words, begin; end > 0; end = begin) {
      begin = (end - 1) / kStretchWords * kStretchWords;
      bundles_.poll_at(begin);
      for (int64_t w = end; w-- > begin;) {
        const uint64_t start = masks_.start[first + w];
        const uint64_t last = last_in_fields(start);
        const uint64_t has = any_in_fields(upper_row[w], last) | uint64_t(next_word) << (kWord - 1);
        const uint64_t of_runs = extract(has, last);
        const int before = ~start & 1;  // whether the first of these runs has started before
        upper_[first + w] = of_runs >> before;
        next_word = before & of_runs;
      }
    }
  }

  // Moves a mark to run k of a word, to which the root then points, within the bundle, as others move others.
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

  int64_t word_of(Index run, int64_t bundle) const {
    const Index* begin = runs_.rank.data() + bundle * bundles_.words;
    return std::upper_bound(begin, begin + bundles_.words, run) - 1 - runs_.rank.data();
  }

  void number_part(int64_t part) {
    const int64_t item_bundles = bundles_.count / bundles_.items;
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates&) {
      if (!marked(bundle)) return;
      const Index number = before_[bundle] - before_[bundle / item_bundles * item_bundles] + 1;
      bundles_.folded ? number_by_rows(bundle, number) : number_in_order(bundle, number);
    });
  }

  void number_in_order(int64_t bundle, Index number) {
    for_each_word(bundle, marks_, [&](int64_t word, int64_t) {
      Index* const entries = parent_ + runs_.rank[word];
      const uint64_t marks = marks_[word];
      number_marks(entries, marks, number);
      number += Index(std::popcount(marks));
    });
  }

  void number_by_rows(int64_t bundle, Index upper_number) {
    Index lower_number = upper_number;
    for_each_word(bundle, marks_,
        [&](int64_t word, int64_t) { lower_number += Index(std::popcount(marks_[word] & upper_[word])); });
    for_each_word(bundle, marks_, [&](int64_t word, int64_t) {
      Index* const entries = parent_ + runs_.rank[word];
      const uint64_t marks = marks_[word], upper = upper_[word];
      number_marks(entries, marks, upper, upper_number, lower_number);
      upper_number += Index(std::popcount(marks & upper));
      lower_number += Index(std::popcount(marks & ~upper));
    });
  }

  void index_part(int64_t part) {
    const int64_t item_elements = bundles_.elements / bundles_.items;
    RunPlaces<Index> places(runs_);
    bundles_.for_each(part, [&](int64_t bundle, const Coordinates& place) {
      if (!marked(bundle)) return;
      places.face(bundle, place);
      const int64_t first_index = bundles_.item(bundle) * item_elements;
      for_each_word(bundle, marks_, [&](int64_t word, int64_t w) {
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
  Index components_ = 0;
};

// Numbers components where elements without bonds, in no run, are components, too: most of a lattice with few
// bonds. They have no entries in the forest; bits say that they are alone, and where components begin: lone
// elements, and starts of first runs. How many begin before is the number. Where components are called by
// their first elements, all bits count.
//     bonds        0-0   0 0-0-0 0       begins    1 . 1 1 . . 1
//                                        numbers   1   2 3     4
template <class Index> class LoneElements {
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
        numbering.consecutive() ? number_row(row, before_[row] - before_[first])
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

}
