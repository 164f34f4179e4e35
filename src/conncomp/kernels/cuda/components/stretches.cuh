// Stretches of equal labels that a warp meets, and sums of what they add to the rows of a table.
//
// A warp has 32 consecutive labels, and adds up stretches of equal ones, not elements. Where all would add to
// the same row, that of a component much larger than the others, few reach the table: a warp keeps the sums
// of one component, each lane one of its words, as long as it meets that component often.
#pragma once

#include "core/atomics.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

using Wide = unsigned __int128;

// Adds to a number of 128 bits in two words, of which nobody reads one before all have added.
__device__ inline void add_wide(int64_t* low, int64_t* high, Wide value) {
  const uint64_t before = Shared::fetch_add(reinterpret_cast<uint64_t*>(low), uint64_t(value));
  const bool carry = before + uint64_t(value) < before;
  const int64_t above = int64_t(uint64_t(value >> 64) + carry);
  if (above) Shared::fetch_add(high, above);
}

// What a lane has of the component that its warp keeps. A cell says how two values are combined and how one
// is added to a row of the table, which has so many words.
template <class Value = Wide, class Word = int64_t>
struct Kept {
  // A component is given up for another once it was met so many times less often.
  static constexpr int kFirstScore = 2, kHighestScore = 16;

  Word* table;
  int64_t words, row = -1;
  Value value = 0;
  int score = 0;

  __device__ Kept(Word* table, int64_t words) : table(table), words(words) {}

  template <class Cell>
  __device__ void add(const Cell& cell, int64_t next_row, Value next) {
    if (next_row == row) {
      value = cell.combine(value, next);
      score = score < kHighestScore ? score + 1 : score;
    } else if (score > 0) {
      cell.add(table + next_row * words, next);
      --score;
    } else {
      finish(cell);
      row = next_row;
      value = next;
      score = kFirstScore;
    }
  }

  template <class Cell>
  __device__ void finish(const Cell& cell) const {
    if (row >= 0) cell.add(table + row * words, value);
  }
};

}  // namespace conncomp
