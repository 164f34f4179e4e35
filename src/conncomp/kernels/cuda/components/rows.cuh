// Which labels have a row in a table, counts of them with few increments in memory, and the lengths of axes.
// Labels may change after the check: a kernel reads each once, and looks it up only if it has a row.
#pragma once

#include "core/atomics.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

// The quotient of two non-negative numbers: 64-bit divisions take several times as long.
inline int64_t quotient(int64_t a, int64_t b) {
  return (a | b) >> 32 == 0 ? int64_t(uint32_t(a) / uint32_t(b)) : a / b;
}

template <class Label> bool has_row(Label label, Label background, int64_t rows) {
  return label != background && uint64_t(label) < uint64_t(rows);
}

// The labels of an array; those below `rows` have a row. Layout: rows.py.
template <class Label> struct LabelRows {
  const Label* entries;
  int64_t count, rows;
  Label background;

  Label load(int64_t i) const { return Concurrent::load(entries + i); }
  bool has_row(Label label) const { return conncomp::has_row(label, background, rows); }
};

// The lengths of the axes of an array, or of an item. Layout: rows.py.
struct Extent {
  const int64_t* lengths;
  int64_t ndim;

  int64_t length(int64_t axis) const { return __ldg(lengths + axis); }
};

constexpr int kTableThreads = 256;
constexpr int kWordsOfThread = 4;  // of labels that a warp reads at once, to hide latency
constexpr int kSlotBits = 10, kSlots = 1 << kSlotBits;

// A block's counts of labels with slots. All threads clear, and after a barrier call for_each or send.
template <class Label> struct CountSlots {
  Label owners[kSlots];
  unsigned int counts[kSlots];

  void clear() {
    for (int slot = threadIdx.x; slot < kSlots; slot += kTableThreads) {
      owners[slot] = -1;
      counts[slot] = 0;
    }
  }
  // Whether a label has a slot, which it takes if none has.
  bool take(int slot, Label label) {
    Label owner = InBlock::load(owners + slot);
    if (owner < 0) owner = InBlock::compare_exchange(owners + slot, Label(-1), label);
    return owner < 0 || owner == label;
  }
  // The slot of a label, or -1 if another has it.
  int find(Label label) {
    const int slot = int(uint32_t(label) * 2654435761u >> (32 - kSlotBits));
    return take(slot, label) ? slot : -1;
  }
  // Adds to the count of a label in its slot, or in memory.
  void add(Label label, int amount, int64_t* counts_of_all) {
    const int slot = find(label);
    if (slot < 0)
      Concurrent::fetch_add(counts_of_all + label, int64_t(amount));
    else
      InBlock::fetch_add(counts + slot, unsigned(amount));
  }
  void send(int64_t* counts_of_all) const {
    for_each([=](int, Label label, int64_t sum) { Concurrent::fetch_add(counts_of_all + label, sum); });
  }
  // Calls visit(slot, label, count) for each used slot.
  void for_each(auto&& visit) const {
    for (int slot = threadIdx.x; slot < kSlots; slot += kTableThreads)
      if (owners[slot] >= 0) visit(slot, owners[slot], int64_t(counts[slot]));
  }
};

struct TakenAsRead {
  template <class Label> Label operator()(int64_t, Label label) const { return label; }
};

// Adds amount(length) to the count of each label below `rows` for each stretch of it. taken(i, read(i)) is
// the label of an element; begins(i) says whether something new begins there; several are read before one is
// taken. The whole grid calls.
template <class Label, class Taken = TakenAsRead>
void count_stretches(int64_t count, Label background, int64_t rows, int64_t* counts, auto&& read,
    auto&& begins, auto&& amount, Taken&& taken = Taken()) {
  __shared__ CountSlots<Label> slots;
  slots.clear();
  __syncthreads();
  const int64_t step = grid_threads() * kWordsOfThread;
  for (int64_t begin = grid_thread() / kWarp * kWarp * kWordsOfThread; begin < count; begin += step) {
    decltype(read(begin)) words[kWordsOfThread];
#pragma unroll
    for (int k = 0; k < kWordsOfThread; ++k) {
      const int64_t i = begin + k * kWarp + lane();
      if (i < count) words[k] = read(i);
    }
#pragma unroll
    for (int k = 0; k < kWordsOfThread; ++k) {
      const int64_t i = begin + k * kWarp + lane();
      const Label label = i < count ? Label(taken(i, words[k])) : background;
      const auto [first, length] = stretch_of(label, begins(begin + k * kWarp + lane()));
      if (first && has_row(label, background, rows)) slots.add(label, amount(length), counts);
    }
  }
  __syncthreads();
  slots.send(counts);
}

}
