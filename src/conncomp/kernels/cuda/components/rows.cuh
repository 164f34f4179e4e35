// Which labels have a row in a table, and how long the axes of their array are.
//
// Labels are checked once, and then read again by each kernel. They may be memory that its owner changes
// meanwhile: so a kernel reads each of them once, and looks it up in nothing unless it has a row there.
#pragma once

#include "core/atomics.h"

namespace conncomp {

// The quotient of two numbers that are not negative: divisions of 64 bits take several times as long.
__device__ inline int64_t quotient(int64_t a, int64_t b) {
  return (a | b) >> 32 == 0 ? int64_t(uint32_t(a) / uint32_t(b)) : a / b;
}

// Whether a label is that of a component.
template <class Label>
__device__ inline bool has_row(Label label, Label background, int64_t rows) {
  return label != background && uint64_t(label) < uint64_t(rows);
}

// The labels of an array, of which those below `rows` have one. Laid out as in rows.py.
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
