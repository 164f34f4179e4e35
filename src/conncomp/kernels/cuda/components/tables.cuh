// What one does with labels, on the GPU: a table with a row for each label, filled in one pass.
//
// What: count_labels adds up the elements of each label. measure_labels fills words about each component:
// its first and last coordinates and the sums of its coordinates, for each axis, and the sums of their
// products, for each pair of axes, of which the upper halves follow. central_moments makes covariances of
// them. All sums are of integers, so they do not depend on the order. replace_labels looks labels up.
// combine_labels numbers the components of items, arrays that lie one after another, so that no two items
// share a number: one table has the rows of all, those of each item together.
// How: a warp reads 32 labels and adds up stretches of equal ones, not elements. Where all would add to
// the same row, few reach the table: count_labels lets the first labels that a block meets use a slot of
// shared memory, and in measure_labels a warp keeps the sums of one component (stretches.cuh).
// A label without a row, which none had when they were checked, is taken for background (rows.cuh).
// Cost: the labels read once. Memory: the table.
#pragma once

#include "core/atomics.h"
#include "cuda/components/rows.cuh"
#include "cuda/components/stretches.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kTableThreads = 256;
constexpr int kRows = 4;  // of labels that a warp reads at once, to hide latency
constexpr int kSlotBits = 10, kSlots = 1 << kSlotBits;

// How many labels a warp takes at once: of few fewer, so that all multiprocessors end at the same time; of
// many more, as a warp sends what it keeps at the end. As span_of in tables.py.
__device__ inline int64_t table_span(int64_t count) { return count >> 23 == 0 ? 256 : 1024; }

// The slot of a label, or -1 if another has it.
template <class Label>
__device__ inline int find_slot(Label* owners, Label label) {
  const int slot = int(uint32_t(label) * 2654435761u >> (32 - kSlotBits));
  Label owner = InBlock::load(owners + slot);
  if (owner < 0) owner = InBlock::compare_exchange(owners + slot, Label(-1), label);
  return owner < 0 || owner == label ? slot : -1;
}

// Adds up the elements of each label below `rows`, where read(i) is the label of an element. All threads of
// the grid call it.
template <class Label, class Read>
__device__ inline void add_sizes(int64_t count, Label background, int64_t rows, int64_t* sizes, Read&& read) {
  __shared__ Label owners[kSlots];
  __shared__ unsigned int counts[kSlots];  // of a block, whose share of any memory has fewer labels
  for (int slot = threadIdx.x; slot < kSlots; slot += kTableThreads) {
    owners[slot] = -1;
    counts[slot] = 0;
  }
  __syncthreads();
  const int64_t step = grid_threads() * kRows;
  for (int64_t begin = grid_thread() / kWarp * kWarp * kRows; begin < count; begin += step) {
    Label row[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int64_t i = begin + k * kWarp + lane();
      row[k] = i < count ? read(i) : background;
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const Label label = row[k];
      const auto [first, length] = stretch_of(label);
      if (!first || !has_row(label, background, rows)) continue;
      const int slot = find_slot(owners, label);
      if (slot < 0)
        Shared::fetch_add(sizes + label, int64_t(length));
      else
        InBlock::fetch_add(counts + slot, unsigned(length));
    }
  }
  __syncthreads();
  for (int slot = threadIdx.x; slot < kSlots; slot += kTableThreads)
    if (owners[slot] >= 0) Shared::fetch_add(sizes + owners[slot], int64_t(counts[slot]));
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    count_labels(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                 int64_t* sizes) {
  add_sizes(count, background, rows, sizes, [=](int64_t i) { return Shared::load(labels + i); });
}

// Label k of item n, which has `length` labels, becomes n * rows + k, and what has no row the background.
// Both arrays may be one.
template <class Label, class Combined>
__global__ void __launch_bounds__(kTableThreads)
    combine_labels(int64_t count, const Label* labels, int64_t length, Label background, int64_t rows,
                   Combined* combined) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = Shared::load(labels + i);
    const int64_t first_row = quotient(i, length) * rows;
    combined[i] = has_row(label, background, rows) ? Combined(first_row + label) : Combined(background);
  }
}

// Replaces every label but the background by its row of `table`.
template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    replace_labels(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                   const Label* __restrict__ table, Label* __restrict__ out) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = labels[i];
    out[i] = has_row(label, background, rows) ? table[label] : background;
  }
}

// One of the numbers that describe each component: how it follows from a stretch, and how it is added.
struct Cell {
  enum Kind { kLow, kHigh, kSum, kProduct, kNone };

  Kind kind = kNone;
  int64_t word, upper = 0;                // where in the component's row; the upper half, of a product
  bool k_along = false, l_along = false;  // whether the axes are the last, along which stretches lie
  int64_t k_length = 1, l_length = 1;
  int64_t k_lines = 1, l_lines = 1;  // from one coordinate to the next
  int64_t k_at = 0, l_at = 0;        // the coordinates of the line

  __device__ Cell(int64_t number, const Extent& extent) : word(number) {
    const int64_t ndim = extent.ndim;
    const int64_t pairs = ndim * (ndim + 1) / 2;
    if (number >= 3 * ndim + pairs) return;
    int64_t k = number % ndim, l = k;
    kind = Kind(number / ndim);
    if (number >= 3 * ndim) {
      kind = kProduct;
      upper = number + pairs;
      for (k = 0, l = number - 3 * ndim; l >= ndim - k; ++k) l -= ndim - k;
      l += k;
    }
    k_along = k == ndim - 1;
    l_along = l == ndim - 1;
    k_length = extent.length(k);
    l_length = extent.length(l);
    for (int64_t axis = k + 1; axis < ndim - 1; ++axis) k_lines *= extent.length(axis);
    for (int64_t axis = l + 1; axis < ndim - 1; ++axis) l_lines *= extent.length(axis);
  }

  __device__ void move_to(int64_t line) {
    const int64_t k_line = quotient(line, k_lines), l_line = quotient(line, l_lines);
    k_at = k_line - quotient(k_line, k_length) * k_length;
    l_at = l_line - quotient(l_line, l_length) * l_length;
  }

  // Of the n elements of a warp from `begin` on. The lanes of a warp have cells of all kinds: so there are
  // choices, but no branches that they would go through one after another.
  __device__ Wide of_stretch(int64_t begin, int n) const {
    const int pairs = n * (n - 1) / 2, squares = pairs * (2 * n - 1) / 3;
    const int64_t k_first = k_along ? begin : k_at, l_first = l_along ? begin : l_at;
    const int64_t k_sum = n * k_first + (k_along ? pairs : 0), l_sum = n * l_first + (l_along ? pairs : 0);
    // Along the line, of the sum of (begin + i)² the first factor is begin, and i * begin is left.
    const Wide product = Wide(k_first) * uint64_t(l_sum + (k_along ? pairs : 0)) + (k_along ? squares : 0);
    const int64_t single = kind == kLow ? k_first : kind == kHigh ? k_first + (k_along ? n - 1 : 0) : k_sum;
    return kind == kProduct ? product : Wide(single);
  }

  __device__ Wide combine(Wide a, Wide b) const {
    const Wide sum = a + b, low = int64_t(a) < int64_t(b) ? a : b, high = int64_t(a) < int64_t(b) ? b : a;
    return kind == kLow ? low : kind == kHigh ? high : sum;
  }

  __device__ void add(int64_t* row, Wide value) const {
    if (kind == kLow) Shared::fetch_min(row + word, int64_t(value));
    if (kind == kHigh) Shared::fetch_max(row + word, int64_t(value));
    if (kind == kSum) Shared::fetch_add(row + word, int64_t(value));
    if (kind == kProduct) add_wide(row + word, row + upper, value);
  }
};

// Calls visit(row, line, begin, n) in all lanes of a warp, one stretch after another, for the n elements from
// `begin` on of a line that are of a row; label k is the row ends[k] - 1. Lines have so many elements.
template <class Label, class Visit>
__device__ inline void for_each_stretch_of_rows(const LabelRows<Label>& labels, int64_t length,
                                                const int64_t* __restrict__ ends, Visit&& visit) {
  const int64_t size = table_span(labels.count), step = grid_threads() / kWarp * size;
  for (int64_t span = grid_thread() / kWarp * size; span < labels.count; span += step) {
    const int64_t end = span + size < labels.count ? span + size : labels.count;
    const auto read = [&](int64_t i) { return i < end ? labels.load(i) : labels.background; };
    Label next = read(span + lane());
    for (int64_t begin = span; begin < end; begin += kWarp) {
      const int64_t i = begin + lane(), lane_line = quotient(i, length), lane_begin = i - lane_line * length;
      const Label label = next;
      next = read(i + kWarp);  // which takes a while
      const auto [first, lane_length] = stretch_of(label, lane_begin == 0);
      const int64_t lane_row = first && labels.has_row(label) ? ends[label] - 1 : -1;
      for (unsigned int lanes = __ballot_sync(kAllLanes, lane_row >= 0); lanes; lanes &= lanes - 1) {
        const int source = __ffs(int(lanes)) - 1;
        const int64_t row = __shfl_sync(kAllLanes, lane_row, source);
        const int64_t stretch_line = __shfl_sync(kAllLanes, lane_line, source);
        const int64_t stretch_begin = __shfl_sync(kAllLanes, lane_begin, source);
        visit(row, stretch_line, stretch_begin, __shfl_sync(kAllLanes, lane_length, source));
      }
    }
  }
}

// Fills 32 cells of each row, those from `first_cell` on. Label k is the component ends[k] - 1; the
// extent is that of an item.
template <class Label>
__global__ void __launch_bounds__(kTableThreads, resident_blocks(kTableThreads) > 4 ? 4 : 1)
    measure_labels(LabelRows<Label> labels, Extent extent, const int64_t* __restrict__ ends,
                   int64_t first_cell, int64_t words, int64_t* table) {
  follow_launch();
  Cell cell(first_cell + lane(), extent);
  Kept<> kept(table, words);
  int64_t line = -1;
  for_each_stretch_of_rows(labels, extent.length(extent.ndim - 1), ends,
                           [&](int64_t row, int64_t next_line, int64_t begin, int n) {
                             if (next_line != line) cell.move_to(line = next_line);
                             kept.add(cell, row, cell.of_stretch(begin, n));
                           });
  kept.finish(cell);
}

// The covariance of two coordinates of a component of n elements, of which there is a row of cells:
// sum(x y) / n - sum(x) sum(y) / n², rounded once.
__device__ inline double covariance(const int64_t* cells, int64_t ndim, int64_t a, int64_t b, __int128 n) {
  const int64_t k = a < b ? a : b, l = a < b ? b : a, pairs = ndim * (ndim + 1) / 2;
  const int64_t* const sums = cells + 2 * ndim;
  const int64_t* const product = cells + 3 * ndim + k * ndim - k * (k - 1) / 2 + l - k;
  const Wide whole = (Wide(product[pairs]) << 64) + uint64_t(product[0]);
  const __int128 difference = n * __int128(whole) - __int128(sums[k]) * sums[l];
  return double(difference) / (double(n) * double(n));
}

template <int = 0>
__global__ void __launch_bounds__(kTableThreads)
    central_moments(int64_t rows, int64_t ndim, const int64_t* __restrict__ sizes, int64_t words,
                    const int64_t* __restrict__ table, double* __restrict__ moments) {
  const int64_t entries = ndim * ndim;
  for (int64_t i = grid_thread(); i < rows * entries; i += grid_threads()) {
    const int64_t row = i / entries;
    moments[i] = covariance(table + row * words, ndim, i % entries / ndim, i % ndim, sizes[row]);
  }
}

}  // namespace conncomp
