// Which components touch, and in how many places, on the GPU.
//
// What: a table of keys, each for a pair of labels and a kind of contact, and how often it occurs; as in
// cpu/components/contacts.h, whose keys and steps these are.
// How: a thread looks at an element and, by each backward step, at a neighbour. A block counts the first keys
// that it meets in slots of shared memory, so that where labels are few, few additions meet in one place;
// what has no slot there, and in the end each slot, goes to a hash table in global memory (key_table.cuh).
// Where that has no room within reach, `full` is set, and the driver calls again with a larger one.
// A label without a row, which none had when they were checked, is taken for background (rows.cuh).
// Cost: the labels read once for each step, mostly from the caches. Memory: 16 bytes a slot of the table.
#pragma once

#include "core/atomics.h"
#include "cuda/components/key_table.cuh"
#include "cuda/components/rows.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kContactThreads = 256;
constexpr int kContactSlotBits = 10, kContactSlots = 1 << kContactSlotBits;
constexpr int64_t kNoKey = -1;

// How often each key occurs.
struct KeyCounts {
  KeyTable<int64_t> table;
  int64_t *counts, *full;

  __device__ void add(int64_t key, int64_t count) const {
    const int64_t slot = table.take(key);
    if (slot < 0)
      Shared::store(full, int64_t(1));
    else
      Shared::fetch_add(counts + slot, count);
  }
};

// A step back, as touching.py packs it.
struct PackedStep {
  int64_t offset, down, up, kind;
};

// `shape` has the lengths of `axes` axes, the first one that of items; `words` four of each step.
template <class Label>
__global__ void __launch_bounds__(kContactThreads)
    count_contacts(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                   int64_t axes, const int64_t* __restrict__ shape, int64_t periodic, int64_t num_steps,
                   const int64_t* __restrict__ words, int64_t kinds, int64_t bits, int64_t* keys,
                   int64_t* counts, int64_t* full) {
  __shared__ int64_t owners[kContactSlots];
  __shared__ unsigned int shares[kContactSlots];  // of a block, which has fewer than 2³² contacts
  for (int slot = threadIdx.x; slot < kContactSlots; slot += kContactThreads) {
    owners[slot] = kNoKey;
    shares[slot] = 0;
  }
  __syncthreads();
  const KeyCounts table{{int(bits), kNoKey, keys}, counts, full};
  const PackedStep* const steps = reinterpret_cast<const PackedStep*>(words);
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = Shared::load(labels + i);
    if (!has_row(label, background, rows)) continue;
    int64_t at_begin = 0, at_end = 0;
    for (int64_t k = axes - 1, above = i; k >= 0; --k) {
      const int64_t next = above / shape[k], coordinate = above - next * shape[k];
      at_begin |= int64_t(coordinate == 0) << k;
      at_end |= int64_t(coordinate == shape[k] - 1) << k;
      above = next;
    }
    for (int64_t s = 0; s < num_steps; ++s) {
      const PackedStep step = steps[s];
      const int64_t over_begin = at_begin & step.down, over_end = at_end & step.up;
      if ((over_begin | over_end) & ~periodic) continue;
      int64_t neighbour = i + step.offset, turn = 1;
      if (over_begin | over_end)
        for (int64_t k = axes - 1; k >= 0; --k) {
          turn *= shape[k];
          if (over_begin >> k & 1) neighbour += turn;
          if (over_end >> k & 1) neighbour -= turn;
        }
      const Label beside = Shared::load(labels + neighbour);
      if (beside == label || !has_row(beside, background, rows)) continue;
      const int64_t first = label < beside ? label : beside, second = label < beside ? beside : label;
      const int64_t key = (first * rows + second) * kinds + step.kind;
      const int64_t slot = hash_of_key(key, kContactSlotBits);
      int64_t owner = InBlock::load(owners + slot);
      if (owner == kNoKey) owner = InBlock::compare_exchange(owners + slot, kNoKey, key);
      if (owner == kNoKey || owner == key)
        InBlock::fetch_add(shares + slot, 1u);
      else
        table.add(key, 1);
    }
  }
  __syncthreads();
  for (int slot = threadIdx.x; slot < kContactSlots; slot += kContactThreads)
    if (owners[slot] != kNoKey) table.add(owners[slot], shares[slot]);
}

}  // namespace conncomp
