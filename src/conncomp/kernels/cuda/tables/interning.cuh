// Ids to numbers on the GPU: 0, 1, ... in the order in which ids first come.
//
// What: ids of 64 bits come in batches of places: of rows with a left and a right id, place 2 r is that of
// the left id of row r, and 2 r + 1 that of the right one. take_slots puts the ids of a batch into a hash
// table and finds where each one comes first; list_firsts says so of every place, for numbering.cuh to count;
// with these counts number_ids gives every place the number of its id. fill_table makes a table anew, from
// the ids.
// How: the table has the scrambled id of a slot (key_table.cuh), and one word that is either the number of
// the id or, from kPlaces on, the first place of the batch at which it is:
//
//   ids of the batch      7   9   9   4   7   3          4 has number 0, 3 has number 1: they came before
//   places                0   1   2   3   4   5
//   words of their slots  +0  +1  +1  0   +0  1          after take_slots; + stands for kPlaces
//   list_firsts           0   1   1  -1   0  -1          7 and 9 are new, and first at 0 and 1
//   numbering             1   2   2   0   1   0
//   number_ids            2   3   3   0   2   1          two numbers are taken
//
// The smallest place wins whatever the order of threads, so that numbers do not depend on it. Ids are
// scrambled by a bijection, with a word that is drawn for each process, so that nobody can choose ids that
// want one slot. The key 0, which marks free slots, has the slot after the last. Cost: five random accesses
// a place.
#pragma once

#include "core/mix.h"
#include "cuda/core/key_table.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kInterningThreads = 256;
constexpr uint32_t kPlaces = uint32_t(1) << 31;  // words of slots from here on are places
constexpr uint64_t kFreeSlot = 0;

// The hash table of a batch, by value.
struct IdTable {
  uint64_t drawn, factor;
  int64_t bits;  // of the number of slots
  uint64_t* keys;
  uint32_t* words;  // one more than there are slots

  // The slot of an id, which it takes if it has none; -1 if there is no room within reach.
  __device__ int64_t take(uint64_t id) const {
    const uint64_t key = mix(id ^ drawn);
    if (key == kFreeSlot) return int64_t(1) << bits;
    return KeyTable<uint64_t>{{factor}, int(bits), kFreeSlot, keys}.take(key);
  }
};

// The ids of rows. `right` is null where rows have one id.
struct IdRows {
  const uint64_t* left;
  const uint64_t* right;

  // An id may be changed by its owner meanwhile: nothing but its number depends on it.
  __device__ uint64_t operator[](int64_t place) const {
    if (!right) return Shared::load(left + place);
    return Shared::load((place & 1 ? right : left) + place / 2);
  }
};

// `slots` gets the slot of each place. *full is set if one had no room; then the table says nothing.
__global__ void __launch_bounds__(kInterningThreads)
    take_slots(int64_t places, IdRows ids, IdTable table, uint32_t* __restrict__ slots, int64_t* full) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const int64_t slot = table.take(ids[place]);
    if (slot < 0) {
      Shared::store(full, int64_t(1));
      return;
    }
    slots[place] = uint32_t(slot);
    const uint32_t word = kPlaces + uint32_t(place);
    if (word < Shared::load(table.words + slot)) Shared::fetch_min(table.words + slot, word);
  }
}

// roots[place] becomes the first place of the id, or -1 where the id has a number already.
__global__ void __launch_bounds__(kInterningThreads)
    list_firsts(int64_t places, const uint32_t* __restrict__ slots, const uint32_t* __restrict__ words,
                int32_t* __restrict__ roots) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const uint32_t word = words[slots[place]];
    roots[place] = word < kPlaces ? -1 : int32_t(word - kPlaces);
  }
}

// numbers[place], which counts the new ids from 1 and is 0 for the others, becomes the number of the id,
// where `known` ids came before. New ids are listed in their order. Where there is a right id, numbers of
// left and right ones go to the two halves of `out`.
__global__ void __launch_bounds__(kInterningThreads)
    number_ids(int64_t places, IdRows ids, int64_t known, const uint32_t* __restrict__ slots, uint32_t* words,
               const int32_t* __restrict__ counts, int32_t* __restrict__ out,
               uint64_t* __restrict__ new_ids) {
  for (int64_t place = grid_thread(); place < places; place += grid_threads()) {
    const int32_t count = counts[place];
    uint32_t* const word = words + slots[place];
    const uint32_t seen = Shared::load(word);
    // Of a known id nobody changes the word in this launch; that of a new one is changed at its first place.
    const int32_t number = count == 0 ? int32_t(seen) : int32_t(known) + count - 1;
    out[ids.right ? (place & 1) * (places / 2) + place / 2 : place] = number;
    if (count > 0 && seen == kPlaces + uint32_t(place)) {
      new_ids[count - 1] = ids[place];
      Shared::store(word, uint32_t(number));
    }
  }
}

// Puts ids with their numbers 0, 1, ... into an empty table. *full is set if one had no room.
__global__ void __launch_bounds__(kInterningThreads)
    fill_table(int64_t count, const uint64_t* __restrict__ ids, IdTable table, int64_t* full) {
  for (int64_t number = grid_thread(); number < count; number += grid_threads()) {
    const int64_t slot = table.take(ids[number]);
    if (slot < 0) {
      Shared::store(full, int64_t(1));
      return;
    }
    Shared::store(table.words + slot, uint32_t(number));
  }
}

}  // namespace conncomp
