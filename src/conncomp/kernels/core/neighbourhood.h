// Steps to the elements around one, as numbers: -1, 0 or 1 along each axis, plus one, are the digits of base
// 3 of a step's code; axis 0 is the last of an array. Codes are in the array's order, and the opposite step
// is kSteps - 1 - code. In two dimensions:
//       x: -1  0  1
//   y: -1   0  1  2
//       0   3  4  5     4 is no step; 1, 3, 5 and 7 lead across faces
//       1   6  7  8
#pragma once

#include "core/platform.h"

namespace conncomp {

// Without a loop: compilers unroll loops over steps before they look into this.
constexpr int power_of_3(int exponent) {
  return (exponent & 1 ? 3 : 1) * (exponent & 2 ? 9 : 1) * (exponent & 4 ? 81 : 1);
}

template <int axes> struct StepCodes {
  static constexpr int unit(int axis) { return power_of_3(axis); }
  static constexpr int kSteps = power_of_3(axes);
  static constexpr int kNoStep = kSteps / 2;
  static_assert(axes >= 1 && axes <= 6);

  static constexpr int step(int code, int axis) {
    const int digits = code / unit(axis);
    return (axis == axes - 1 ? digits : digits % 3) - 1;
  }
  static constexpr int highest_axis(int code) {
    int axis = 0;
    for (int a = 1; a < axes; ++a)
      if (step(code, a) != 0) axis = a;
    return axis;
  }
  static constexpr int moves(int code) {
    int count = 0;
    for (int a = 0; a < axes; ++a) count += step(code, a) != 0;
    return count;
  }
};

// The codes of the steps to neighbours, a bit for each. Layout: image.py.
template <int axes> struct Neighbourhood : StepCodes<axes> {
  using S = StepCodes<axes>;
  uint32_t bits[(S::kSteps + 31) / 32];

  bool has(int code) const { return bits[code / 32] >> code % 32 & 1; }
};

}
