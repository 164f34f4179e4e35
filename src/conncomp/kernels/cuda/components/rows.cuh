// Which labels have a row in a table, and the lengths of axes. Labels are checked once and then read by each
// kernel, while their owner may change them: a kernel reads each label once, and looks it up only if it has a
// row.
#pragma once

#include "core/atomics.h"

namespace conncomp {

// The quotient of two non-negative numbers: 64-bit divisions take several times as long.
__device__ inline int64_t quotient(int64_t a, int64_t b) {
  return (a | b) >> 32 == 0 ? int64_t(uint32_t(a) / uint32_t(b)) : a / b;
}

// Whether a label is that of a component.
template <class Label>
__device__ inline bool has_row(Label label, Label background, int64_t rows) {
  return label != background && uint64_t(label) < uint64_t(rows);
}

// The labels of an array; those below `rows` have a row. Laid out as in rows.py.
template <class Label>
struct LabelRows {
  const Label* entries;
  int64_t count, rows;
  Label background;

  __device__ Label load(int64_t i) const { return Shared::load(entries + i); }
  __device__ bool has_row(Label label) const { return conncomp::has_row(label, background, rows); }
};

// The lengths of the axes of an array, or of an item. Laid out as in rows.py.
struct Extent {
  const int64_t* lengths;
  int64_t ndim;

  __device__ int64_t length(int64_t axis) const { return __ldg(lengths + axis); }
};

}  // namespace conncomp
