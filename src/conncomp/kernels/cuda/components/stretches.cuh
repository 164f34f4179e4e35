// Stretches of equal labels that a warp meets, and sums of what they add to the rows of a table.
//
// A warp has 32 consecutive labels, and adds up stretches of equal ones, not elements. Where all would add to
// the same row, that of a component much larger than the others, few reach the table: a warp keeps the sums
// of one component, each lane one of its words, as long as it meets that component often, and beside it those
// of the last two others.
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
struct Kept {
  // A component is given up for another once it was met so many times less often.
  static constexpr int kFirstScore = 2, kHighestScore = 16;

  // Beside it, those of the last few others that it met.
  static constexpr int kOthers = 2;

  int64_t* table;
  int64_t words, row = -1, other_row[kOthers] = {-1, -1};
  Wide value = 0, other_value[kOthers] = {};
  int score = 0;
  bool last = false;  // which of the others was put there last

  __device__ Kept(int64_t* table, int64_t words) : table(table), words(words) {}

  template <class Cell>
  __device__ void add(const Cell& cell, int64_t next_row, Wide next) {
    if (next_row == row) {
      value = cell.combine(value, next);
      score = score < kHighestScore ? score + 1 : score;
    } else if (next_row == other_row[0]) {
      other_value[0] = cell.combine(other_value[0], next);
    } else if (next_row == other_row[1]) {
      other_value[1] = cell.combine(other_value[1], next);
    } else if (score > 0) {
      last = !last;
      if (last)  // registers cannot be indexed
        put(cell, other_row[1], other_value[1], next_row, next);
      else
        put(cell, other_row[0], other_value[0], next_row, next);
      --score;
    } else {
      put(cell, row, value, next_row, next);
      score = kFirstScore;
    }
  }

  template <class Cell>
  __device__ void finish(const Cell& cell) const {
    send(cell, row, value);
    send(cell, other_row[0], other_value[0]);
    send(cell, other_row[1], other_value[1]);
  }

 private:
  template <class Cell>
  __device__ void send(const Cell& cell, int64_t to, Wide sent) const {
    if (to >= 0) cell.add(table + to * words, sent);
  }
  template <class Cell>
  __device__ void put(const Cell& cell, int64_t& place, Wide& kept_value, int64_t next_row, Wide next) const {
    send(cell, place, kept_value);
    place = next_row;
    kept_value = next;
  }
};

}  // namespace conncomp
