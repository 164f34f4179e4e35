// What one does with labels, on the GPU: a table with a row for each label, filled in one pass.
//
// What: count_labels adds up the elements of each label. replace_labels looks labels up. combine_labels
// numbers the components of items, arrays that lie one after another, so that no two items share a number:
// one table has the rows of all, those of each item together. How: a warp reads 32 labels and adds up
// stretches of equal ones, not elements (slots.cuh). A label without a row, which none had when they were
// checked, is taken for background (rows.cuh). Cost: the labels read once. Memory: the table.
#pragma once

#include "core/atomics.h"
#include "cuda/components/rows.cuh"
#include "cuda/components/slots.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    count_labels(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                 int64_t* sizes) {
  count_stretches(
      count, background, rows, sizes, [=](int64_t i) { return Shared::load(labels + i); },
      [](int64_t) { return false; }, [](int length) { return length; });
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

}  // namespace conncomp
