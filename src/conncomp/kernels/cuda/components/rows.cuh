// Which labels have a row in a table.
//
// Labels are checked once, and then read again by each kernel. They may be memory that its owner changes
// meanwhile: so a kernel reads each of them once, and looks it up in nothing unless it has a row there.
#pragma once

#include "core/atomics.h"

namespace conncomp {

// Whether a label is that of a component.
template <class Label>
__device__ inline bool has_row(Label label, Label background, int64_t rows) {
  return label != background && uint64_t(label) < uint64_t(rows);
}

}  // namespace conncomp
