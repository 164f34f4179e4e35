// Sizes, bounding boxes, centroids and moments of labels whose number nobody knows yet, without a word from
// the host.
//
// What: as tables.cuh, in launches that depend on the shape of the labels only, so that they can be made
// again. How: the largest label says how many rows there are (find_range, clear_rows); there is room for
// `capacity` of them, and where more are needed, or a label is not allowed, nothing is measured and the
// number of components is -1. Labels are numbered apart in a copy, which nobody else changes, and counted
// (copy_and_count); the labels that occur are listed (count_present, list_present), their cells are summed up
// (measure_labels of tables.cuh) and written as columns, once the host has made arrays of as many rows
// (write_columns).
// Cost: labels read twice and their copy written once and read once. Memory: 4 bytes a label, and 32 bytes
// and the cells for each row.
#pragma once

#include "cuda/components/tables.cuh"
#include "cuda/core/scan.cuh"

namespace conncomp {

constexpr int64_t kLargest = 0x7fffffffffffffff;

// What the kernels tell each other.
struct MeasureState {
  int64_t components;  // or -1
  int64_t item_rows;   // as many as the largest label needs
};

// Laid out as in measures.py.
struct MeasureMemory {
  int64_t* bounds;    // the smallest and the largest label that each block of find_range has met
  int32_t* copy;      // label k of item n is n * item_rows + k there, and background is -1
  int64_t* sizes;     // of each row
  int64_t* ends;      // how many rows up to each occur, where it does
  int64_t* in_block;  // how many occur in the share of each block
  int64_t* present;   // the rows that occur
  int64_t* table;     // of cells, a row for each of these
  MeasureState* state;
  int64_t capacity, words, blocks, items;

  // All rows; 0 where they have no room.
  __device__ int64_t rows() const { return state->item_rows * items; }
};

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    find_range(int64_t count, const Label* __restrict__ labels, MeasureMemory memory) {
  follow_launch();
  __shared__ int64_t lows[kTableThreads], highs[kTableThreads];
  int64_t low = 0, high = -1;
  for (int64_t begin = grid_thread(); begin < count; begin += grid_threads() * kRows) {
    Label row[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int64_t i = begin + k * grid_threads();
      row[k] = i < count ? Shared::load(labels + i) : Label(0);
    }
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
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
__global__ void __launch_bounds__(kTableThreads) clear_rows(int64_t lowest, MeasureMemory memory) {
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
  const int64_t all = int64_t(high_of_all) * memory.items;
  const bool fits = !is_wrong && all <= memory.capacity;
  if (grid_thread() == 0) *memory.state = {fits ? 0 : -1, fits ? int64_t(high_of_all) : 0};
  for (int64_t row = grid_thread(); row < all && fits; row += grid_threads()) memory.sizes[row] = 0;
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    copy_and_count(int64_t count, const Label* __restrict__ labels, int64_t length, Label background,
                   MeasureMemory memory) {
  follow_launch();
  const int64_t item_rows = memory.state->item_rows;
  add_sizes(count, int32_t(-1), memory.rows(), memory.sizes, [=](int64_t i) {
    const Label label = Shared::load(labels + i);
    const int32_t row =
        has_row(label, background, item_rows) ? int32_t(quotient(i, length) * item_rows + label) : -1;
    memory.copy[i] = row;
    return row;
  });
}

// The rows of a block.
struct RowShare {
  int64_t begin, end;

  __device__ explicit RowShare(int64_t rows) {
    const int64_t size = (rows + gridDim.x - 1) / gridDim.x;
    begin = size * blockIdx.x < rows ? size * blockIdx.x : rows;
    end = begin + size < rows ? begin + size : rows;
  }
};

template <int = 0>
__global__ void __launch_bounds__(kTableThreads) count_present(MeasureMemory memory) {
  follow_launch();
  const RowShare share(memory.rows());
  int present = 0;
  for (int64_t row = share.begin + threadIdx.x; row < share.end; row += kTableThreads)
    present += memory.sizes[row] > 0;
  present = block_sum<kTableThreads>(present);
  if (threadIdx.x == 0) memory.in_block[blockIdx.x] = present;
}

// Lists the rows that occur, and begins their cells, of which the first `ndim` are minima.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads) list_present(int64_t ndim, MeasureMemory memory) {
  follow_launch();
  const RowShare share(memory.rows());
  int64_t place = sum_of_first<kTableThreads>(blockIdx.x, memory.in_block);
  for (int64_t begin = share.begin; begin < share.end; begin += kTableThreads) {
    const int64_t row = begin + threadIdx.x;
    const bool occurs = row < share.end && memory.sizes[row] > 0;
    int total;
    const int64_t number = place + block_scan<kTableThreads>(occurs, total);
    place += total;
    if (!occurs) continue;
    memory.ends[row] = number + 1;
    memory.present[number] = row;
    int64_t* const cells = memory.table + number * memory.words;
    for (int64_t k = 0; k < memory.words; ++k) cells[k] = k < ndim ? kLargest : 0;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0 && memory.state->components >= 0)
    memory.state->components = place;
}

// A row for each label that occurs. Laid out as in measures.py.
struct MeasureColumns {
  int64_t *labels, *sizes, *boxes, *batch;
  double *centroids, *moments;  // of these none, where they are not wanted
};

// The extent is that of the batch.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads)
    write_columns(int64_t ndim, Extent batch, MeasureMemory memory, MeasureColumns columns) {
  follow_launch();
  const int64_t components = memory.state->components, item_rows = memory.state->item_rows;
  for (int64_t number = grid_thread(); number < components; number += grid_threads()) {
    const int64_t row = memory.present[number], size = memory.sizes[row], first = number * ndim;
    const int64_t* const cells = memory.table + number * memory.words;
    int64_t item = row / item_rows;
    columns.labels[number] = row - item * item_rows;
    columns.sizes[number] = size;
    for (int64_t axis = batch.ndim - 1; axis >= 0; --axis) {
      columns.batch[number * batch.ndim + axis] = item % batch.length(axis);
      item /= batch.length(axis);
    }
    for (int64_t k = 0; k < ndim; ++k) {
      columns.boxes[2 * (first + k)] = cells[k];
      columns.boxes[2 * (first + k) + 1] = cells[ndim + k] + 1;
      columns.centroids[first + k] = double(cells[2 * ndim + k]) / double(size);
    }
    for (int64_t k = 0; columns.moments != nullptr && k < ndim * ndim; ++k)
      columns.moments[first * ndim + k] = covariance(cells, ndim, k / ndim, k % ndim, size);
  }
}

}  // namespace conncomp
