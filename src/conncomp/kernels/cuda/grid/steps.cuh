// Steps to the elements around one, as numbers.
#pragma once

#include "core/platform.h"

namespace conncomp {

// The digits of base 3 of a step are how far it goes along each axis, and one. Those below kNoStep go to
// elements before, if axis 0 is the last one of an array.
template <int axes>
struct Steps {
  static constexpr int kSteps = axes == 1 ? 3 : axes == 2 ? 9 : 27, kNoStep = kSteps / 2;

  CONNCOMP_ANYWHERE static constexpr int unit(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }
  CONNCOMP_ANYWHERE static constexpr int step(int code, int axis) { return code / unit(axis) % 3 - 1; }
  CONNCOMP_ANYWHERE static constexpr int moves(int code) {
    int count = 0;
    for (int a = 0; a < axes; ++a) count += step(code, a) != 0;
    return count;
  }
};

}  // namespace conncomp
