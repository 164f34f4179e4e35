// Which components touch, and in how many places: keys and steps are those of cpu/components/contacts.h. A
// thread looks at an element and, by each backward step, at a neighbour; the first thread of a stretch of
// equal keys counts all. A block counts the first keys of a span in shared memory, and sends these, and other
// keys at once, to a global hash table (key_table.cuh). Without room within reach `full` is set, and the
// driver retries with a larger one. A label that has lost its row is background (rows.cuh). Cost: labels read
// once for each step, mostly from caches. Memory: 16 bytes per slot.
#pragma once

#include "cuda/components/rows.cuh"
#include "cuda/core/key_table.cuh"

namespace conncomp {

constexpr int64_t kContactSpan = 2048;
constexpr int64_t kNoKey = -1;

// How often each key occurs. Layout: contacts.py.
struct KeyCounts {
  KeyTable<int64_t> table;
  int64_t *counts, *full;

  void add(int64_t key, int64_t count) const {
    const int64_t slot = table.take(key);
    if (slot < 0)
      Concurrent::store(full, int64_t(1));
    else
      Concurrent::fetch_add(counts + slot, count);
  }
};

// A step back, as touching.py packs it.
struct PackedStep {
  int64_t offset, down, up, kind;
};

// Steps back, periodic axes as bits, and the number of kinds. Layout: contacts.py.
struct ContactSteps {
  const PackedStep* steps;
  int64_t count, kinds, periodic;

  PackedStep operator[](int64_t number) const {
    const PackedStep* const step = steps + number;
    return {__ldg(&step->offset), __ldg(&step->down), __ldg(&step->up), __ldg(&step->kind)};
  }
};

// The ends of axes that an element is at, as bits.
struct AtEnds {
  int64_t begin = 0, end = 0;

  template <class Place> AtEnds(Place i, const Extent& extent) {
    for (int64_t k = extent.ndim - 1; k >= 0; --k) {
      const Place length = Place(extent.length(k)), above = i / length, coordinate = i - above * length;
      begin |= int64_t(coordinate == 0) << k;
      end |= int64_t(coordinate == length - 1) << k;
      i = above;
    }
  }
};

// The first axis of the extent is that of items. A Place can number all labels.
template <class Label, class Place>
__global__ void __launch_bounds__(kTableThreads)
    count_contacts(LabelRows<Label> labels, Extent extent, ContactSteps steps, KeyCounts table) {
  __shared__ CountSlots<int64_t> of_block;
  for (int64_t span = blockIdx.x * kContactSpan; span < labels.count; span += gridDim.x * kContactSpan) {
    of_block.clear();
    if (__syncthreads_or(Concurrent::load(table.full) != 0)) return;
    for (int64_t i = span + threadIdx.x; i - threadIdx.x < span + kContactSpan; i += kTableThreads) {
      const Label label = i < labels.count ? labels.load(i) : labels.background;
      const bool exists = i < labels.count && labels.has_row(label);
      if (!__any_sync(kAllLanes, exists)) continue;
      const AtEnds at(Place(exists ? i : 0), extent);
      for (int64_t s = 0; s < steps.count; ++s) {
        const PackedStep step = steps[s];
        const int64_t over_begin = at.begin & step.down, over_end = at.end & step.up;
        int64_t key = kNoKey;
        if (exists && !((over_begin | over_end) & ~steps.periodic)) {
          int64_t neighbour = i + step.offset, turn = 1;
          if (over_begin | over_end)
            for (int64_t k = extent.ndim - 1; k >= 0; --k) {
              turn *= extent.length(k);
              if (over_begin >> k & 1) neighbour += turn;
              if (over_end >> k & 1) neighbour -= turn;
            }
          const Label beside = labels.load(neighbour);
          if (beside != label && labels.has_row(beside)) {
            const int64_t first = label < beside ? label : beside, second = label < beside ? beside : label;
            key = (first * labels.rows + second) * steps.kinds + step.kind;
          }
        }
        const auto [is_first, length] = stretch_of(key);
        if (!is_first || key == kNoKey) continue;
        const int slot = int(table.table.hash.slot(uint64_t(key), kSlotBits));
        if (of_block.take(slot, key))
          InBlock::fetch_add(of_block.counts + slot, unsigned(length));  // a span has fewer than 2³² contacts
        else
          table.add(key, length);
      }
    }
    __syncthreads();
    of_block.for_each([&](int, int64_t key, int64_t count) { table.add(key, count); });
    __syncthreads();
  }
}

}
