// Labels as arguments.
#pragma once

#include "bindings/bindings.h"
#include "cpu/components/stretches.h"

namespace conncomp {

inline LabelArray label_array(const AnyVector& labels, int64_t background) {
  return with_integers(
      labels, [&](const auto* data) { return LabelArray(data, int64_t(labels.size()), background); });
}

}
