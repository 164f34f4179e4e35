// Runs of rows as the vertices of a forest, for arrays (grid/run_links.h) and lattices (models/forest.h). A
// run is a maximal stretch of linked elements of a row. Runs are numbered by rows and words; a word knows
// where runs start, and how many start before it:
//     start, word by word    1 . . 1 . 1 | . . 1 . . . | 1 1 . . . .
//     before                 0             3             4
//     run                    0     1   2       3         4 5
// A run's first contact with a row before gives it that run's parent, without a search: FirstContacts.
#pragma once

#include <algorithm>

#include "cpu/core/bits.h"

namespace conncomp {

template <class Index> struct RunWord {
  uint64_t start;
  Index before;

  // The last run that starts before the word or at one of the given bits.
  Index run_in(uint64_t bits) const { return before + Index(std::popcount(start & bits)) - 1; }
};

// The contacts of a row with another, word by word, that are the first of their run.
class FirstContacts {
 public:
  uint64_t operator()(uint64_t start, uint64_t contacts) {
    // From the first bit of each run to its lowest contact, a subtraction borrows:
    //     start            1 . . . 1 . . . 1 . .
    //     contacts         . . 1 1 . . . . 1 . 1
    //     marks            . . 1 1 . . . 1 1 . 1      contacts, and the last bit of each run
    //     marks - start    1 1 . 1 1 1 1 . . . 1
    //     first            . . 1 . . . . . 1 . .      contacts of marks that the subtraction has cleared
    const uint64_t heads = start | uint64_t(orphan_);
    const uint64_t marks = contacts | start >> 1 | uint64_t(1) << (kWord - 1);
    const int highest = std::bit_width(start) - 1;
    orphan_ = (start || orphan_) && (contacts >> std::max(highest, 0)) == 0;
    return marks & ~(marks - heads) & contacts;
  }

 private:
  bool orphan_ = false;  // whether the run that leads out of the word before has had no contact yet
};

}
