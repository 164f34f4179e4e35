// Ids to numbers 0, 1, ... in the order in which 64-bit ids first come, in batches of places: 2 r has the
// left id of row r, 2 r + 1 the right one. take_slots puts ids into a hash table (key_table.cuh) and finds
// where each comes first, list_firsts writes that for numbering.cuh, number_ids numbers places; fill_table
// makes a table anew. A slot has the scrambled id and a word, its number or, from kUnknown on, its first
// place in the batch. If 4 has number 0 and 3 has number 1:
//   ids of the batch      7   9   9   4   7   3
//   words of their slots  +0  +1  +1  0   +0  1          after take_slots; + stands for kUnknown
//   found                 +a  +b  +b  0   +a  1          + and the slot, or the number that is known
//   list_firsts           0   1   1  -1   0  -1          7 and 9 are new, and first at 0 and 1
//   numbering, number_ids 1 2 2 0 1 0, then 2 3 3 0 2 1
// The smallest place wins in any order of threads. A bijection with a word drawn for each table scrambles
// ids, so nobody can choose ids of one slot. Key 0 marks free slots; its one id finds no room, and the next
// table has another word. Cost: a random access per place, three for new ids.
#pragma once

#include "cuda/core/key_table.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kInterningThreads = 256;
constexpr uint32_t kUnknown = uint32_t(1) << 31;  // words from here on are no numbers
constexpr uint64_t kFreeSlot = 0;

struct alignas(16) IdSlot {
  uint64_t key;
  uint32_t word, unused;
};

inline uint64_t* key_of(IdSlot* slot) { return &slot->key; }

struct IdTable {
  uint64_t drawn, factor;
  int64_t bits;  // of the number of slots
  IdSlot* slots;

  // The slot of an id, which the id takes if it has none; -1 if there is no room within reach.
  int64_t take(uint64_t id) const {
    const uint64_t key = mix(id ^ drawn);
    if (key == kFreeSlot) return -1;
    return KeyTable<uint64_t, IdSlot>{{factor}, int(bits), kFreeSlot, slots}.take(key);
  }
};

// The ids of rows; `right` is null if rows have one.
struct IdRows {
  const uint64_t* left;
  const uint64_t* right;

  // Its owner may change an id: only its number depends on it.
  uint64_t operator[](int64_t place) const {
    if (!right) return Concurrent::load(left + place);
    return Concurrent::load((place & 1 ? right : left) + place / 2);
  }
};

// found[place] becomes the id's number, or kUnknown and its slot. Sets *full if one finds no room.
template <int = 0>
__global__ void __launch_bounds__(kInterningThreads)
    take_slots(int64_t places, IdRows ids, IdTable table, uint32_t* __restrict__ found, int64_t* full) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const int64_t slot = table.take(ids[place]);
    if (slot < 0) {
      Concurrent::store(full, int64_t(1));
      return;
    }
    uint32_t* const word = &table.slots[slot].word;
    const uint32_t seen = Concurrent::load(word), here = kUnknown + uint32_t(place);
    if (here < seen) Concurrent::fetch_min(word, here);
    found[place] = seen < kUnknown ? seen : kUnknown + uint32_t(slot);
  }
}

// roots[place] becomes the id's first place, or -1 if it has a number.
template <int = 0>
__global__ void __launch_bounds__(kInterningThreads) list_firsts(int64_t places,
    const uint32_t* __restrict__ found, const IdSlot* __restrict__ slots, int32_t* __restrict__ roots) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const uint32_t seen = found[place];
    roots[place] = seen < kUnknown ? -1 : int32_t(slots[seen - kUnknown].word - kUnknown);
  }
}

// `counts` has the new ids, from 1, at their places. Each place gets its id's number, after `known` ids, left
// and right in the halves of `numbers`; new ids are listed.
template <int = 0>
__global__ void __launch_bounds__(kInterningThreads)
    number_ids(int64_t places, IdRows ids, int64_t known, const uint32_t* __restrict__ found, IdSlot* slots,
        const int32_t* __restrict__ counts, int32_t* __restrict__ numbers, uint64_t* __restrict__ new_ids) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const uint32_t seen = found[place];
    int32_t number = int32_t(seen);
    if (seen >= kUnknown) {
      const int32_t count = counts[place];
      number = int32_t(known) + count - 1;
      // The word is that of the first place until the thread of this place changes it.
      uint32_t* const word = &slots[seen - kUnknown].word;
      if (Concurrent::load(word) == kUnknown + uint32_t(place)) {
        new_ids[count - 1] = ids[place];
        Concurrent::store(word, uint32_t(number));
      }
    }
    numbers[ids.right ? (place & 1) * (places / 2) + place / 2 : place] = number;
  }
}

// Puts ids with their numbers into an empty table. Sets *full if one finds no room.
template <int = 0>
__global__ void __launch_bounds__(kInterningThreads)
    fill_table(int64_t count, const uint64_t* __restrict__ ids, IdTable table, int64_t* full) {
  for (int64_t number = grid_thread(); number < count; number += grid_threads()) {
    const int64_t slot = table.take(ids[number]);
    if (slot < 0) {
      Concurrent::store(full, int64_t(1));
      return;
    }
    Concurrent::store(&table.slots[slot].word, uint32_t(number));
  }
}

}
