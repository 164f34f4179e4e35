// Finds the runs of labels as runs.cuh, by launches that depend only on the labels' shape, and can be
// recorded. There is room for `capacity` rows; the number of components is -1 if those are too few, or a
// label is not allowed. Without a batch, labels are counted as they are checked (count_allowed_runs). In a
// batch, the largest label gives the rows of an item (find_range, clear_rows), and a copy numbers labels
// apart (copy_and_count). Cost: labels read once; in a batch twice, and the copy written.
#pragma once

#include "cuda/components/shapes.cuh"

namespace conncomp {

// Layout: measures.py.
struct MeasureMemory {
  int64_t* bounds;  // the smallest and the largest label that each block of find_range has met
  int32_t* copy;    // label k of item n is n * item_rows + k there, and background is -1
  int64_t capacity, blocks;
};

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    find_range(int64_t count, const Label* __restrict__ labels, MeasureMemory memory) {
  follow_launch();
  __shared__ int64_t lows[kTableThreads], highs[kTableThreads];
  int64_t low = 0, high = -1;
  constexpr int kAtOnce = 16;
  for (int64_t begin = grid_thread(); begin < count; begin += grid_threads() * kAtOnce) {
    Label row[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t i = begin + k * grid_threads();
      row[k] = i < count ? Concurrent::load(labels + i) : Label(0);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      low = row[k] < low ? row[k] : low;
      high = row[k] > high ? row[k] : high;
    }
  }
  lows[threadIdx.x] = low, highs[threadIdx.x] = high;
  for (int half = kTableThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) >= half) continue;
    const int64_t other_low = lows[threadIdx.x + half], other_high = highs[threadIdx.x + half];
    if (other_low < lows[threadIdx.x]) lows[threadIdx.x] = other_low;
    if (other_high > highs[threadIdx.x]) highs[threadIdx.x] = other_high;
  }
  if (threadIdx.x == 0) memory.bounds[2 * blockIdx.x] = lows[0], memory.bounds[2 * blockIdx.x + 1] = highs[0];
}

// Labels are allowed from `lowest` on.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads)
    clear_rows(int64_t lowest, MeasureMemory memory, RunTable table) {
  follow_launch();
  __shared__ unsigned int high_of_all;  // plus one, and no more than there is room for
  if (threadIdx.x == 0) high_of_all = 0;
  __syncthreads();
  bool is_wrong = false;
  for (int64_t block = threadIdx.x; block < memory.blocks; block += kTableThreads) {
    const int64_t low = memory.bounds[2 * block], high = memory.bounds[2 * block + 1];
    if (low < lowest || high >= memory.capacity)
      is_wrong = true;
    else
      InBlock::fetch_max(&high_of_all, unsigned(high + 1));
  }
  is_wrong = __syncthreads_or(is_wrong);
  const int64_t all = int64_t(high_of_all) * table.items;
  const bool fits = !is_wrong && all <= memory.capacity;
  if (grid_thread() == 0) *table.state = {fits ? 0 : -1, 0, fits ? int64_t(high_of_all) : 0};
  for (int64_t row = grid_thread(); row < all && fits; row += grid_threads()) table.counts[row] = 0;
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    copy_and_count(int64_t count, const Label* __restrict__ labels, int64_t length, int64_t line_length,
        Label background, MeasureMemory memory, RunTable table) {
  follow_launch();
  const int64_t item_rows = table.state->item_rows;
  const auto copied = [=](int64_t i, Label label) {
    const int32_t row =
        has_row(label, background, item_rows) ? int32_t(quotient(i, length) * item_rows + label) : -1;
    memory.copy[i] = row;
    return row;
  };
  count_stretches(
      count, int32_t(-1), table.rows(), table.counts, [=](int64_t i) { return Concurrent::load(labels + i); },
      LineBegins(line_length), [](int) { return 1; }, copied);
}

// Labels have a row from `lowest` on, or else are not allowed. The table has no item rows yet.
template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    count_allowed_runs(LabelRows<Label> labels, int64_t lowest, int64_t length, RunTable table) {
  follow_launch();
  __shared__ unsigned int rows_of_block;
  if (threadIdx.x == 0) rows_of_block = 0;
  bool is_wrong = false;
  const int64_t rows = count_runs_of(labels, lowest, length, table.counts, is_wrong);
  if (rows > 0) InBlock::fetch_max(&rows_of_block, unsigned(rows));
  if (is_wrong) Concurrent::store(&table.state->components, int64_t(-1));
  __syncthreads();
  if (threadIdx.x == 0) Concurrent::fetch_max(&table.state->item_rows, int64_t(rows_of_block));
}

}
