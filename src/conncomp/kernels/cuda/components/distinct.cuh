// Which labels, of any numbers, an array has, and a number for each. collect_labels fills a hash table with
// labels, list_numbers one with labels and numbers, where translate_labels looks them up. A warp handles
// stretches of equal labels; a block remembers some labels of the table, so frequent ones cause no traffic.
// The first label marks empty slots, as any number may be a label. Cost: labels read once, and a look-up for
// each stretch. `full` is set if a label has no room within reach: the table is void.
#pragma once

#include "cuda/core/key_table.cuh"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kDistinctThreads = 256;
constexpr int kMemoryBits = 10, kMemory = 1 << kMemoryBits;  // labels that a block remembers

// `keys` has the first label in each slot.
template <class Label>
__global__ void __launch_bounds__(kDistinctThreads) collect_labels(int64_t count,
    const Label* __restrict__ labels, int64_t factor, int64_t bits, Label* keys, int64_t* full) {
  __shared__ Label remembered[kMemory];
  const Label first_label = Concurrent::load(labels);
  for (int place = threadIdx.x; place < kMemory; place += kDistinctThreads) remembered[place] = first_label;
  __syncthreads();
  const KeyTable<Label> table{{uint64_t(factor)}, int(bits), first_label, keys};
  bool is_full = false;
  for (int64_t begin = grid_thread() - lane(); begin < count; begin += grid_threads()) {
    const int64_t i = begin + lane();
    const Label label = i < count ? Concurrent::load(labels + i) : first_label;
    if (stretch_of(label).first && label != first_label) {
      Label* const memory = remembered + table.hash.slot(uint64_t(label), kMemoryBits);
      if (InBlock::load(memory) != label) {
        is_full = table.take(label) < 0;
        InBlock::store(memory, label);
      }
    }
    // A warp that has met a full table stops: finding out takes kMostProbes steps.
    if (__any_sync(kAllLanes, is_full)) break;
  }
  if (is_full) Concurrent::store(full, int64_t(1));
}

// Slots with a label and its number each; the first label has no slot. Layout: distinct.py.
template <class Label, class Number> struct NumberTable {
  KeyHash hash;
  int bits;  // of the number of slots
  Label* labels;
  Number* numbers;
  const Label* first_label;
  const Number* first_number;

  KeyTable<Label> slots() const { return {hash, bits, *first_label, labels}; }
};

// Puts distinct labels but the first into the table.
template <class Label, class Number>
__global__ void __launch_bounds__(kDistinctThreads)
    list_numbers(int64_t count, const Label* __restrict__ labels, const Number* __restrict__ numbers,
        NumberTable<Label, Number> table, int64_t* full) {
  const KeyTable<Label> slots = table.slots();
  for (int64_t i = 1 + grid_thread(); i < count; i += grid_threads()) {
    const int64_t slot = slots.take(labels[i]);
    if (slot < 0)
      Concurrent::store(full, int64_t(1));
    else
      table.numbers[slot] = numbers[i];
  }
}

// Uses the table of list_numbers. Unknown labels have the first number.
template <class Label, class Number>
__global__ void __launch_bounds__(kDistinctThreads) translate_labels(int64_t count,
    const Label* __restrict__ labels, NumberTable<Label, Number> table, Number* __restrict__ out) {
  const KeyTable<Label> slots = table.slots();
  const Number absent = *table.first_number;
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const int64_t slot = slots.find(Concurrent::load(labels + i));
    out[i] = slot < 0 ? absent : __ldg(table.numbers + slot);
  }
}

}
