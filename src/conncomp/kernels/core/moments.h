// Moves moments to another origin, by the binomials: exact modulo a power of two.
#pragma once

#include "core/fixed_point.h"

#ifndef __CUDACC__
#include <cmath>
#endif

namespace conncomp {

constexpr int kPowers = 1 << 2;  // 0 to 3, along each axis; the last axis comes first in memory

constexpr int64_t moments_of(int axes) { return int64_t(1) << 2 * axes; }

template <class Sum> inline void move_origin(Sum* moments, int axes, int axis, Sum by) {
  const int64_t stride = moments_of(axes - 1 - axis), blocks = moments_of(axis);
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t i = 0; i < stride; ++i) {
      Sum* const m = moments + block * kPowers * stride + i;
      const Sum size = m[0], first = m[stride], second = m[2 * stride];
      m[stride] = first - by * size;
      m[2 * stride] = second - by * (2 * first - by * size);
      m[3 * stride] -= by * (3 * second - by * (3 * first - by * size));
    }
}

// Moves integer moments to the element next to the centroid, and writes those about the centroid itself.
template <class Signed, class Sum> inline void centre_moments(Sum* sums, int axes, double* out) {
  // Far from all indices only if somebody changes labels meanwhile.
  constexpr double kFar = 0x1p62;
  for (int k = 0; k < axes; ++k) {
    const double mean = double(Signed(sums[moments_of(axes - 1 - k)])) / double(Signed(sums[0]));
    move_origin(sums, axes, k, Sum(Signed(-kFar < mean && mean < kFar ? nearbyint(mean) : 0)));
  }
  for (int64_t i = 0; i < moments_of(axes); ++i) out[i] = as_real(Signed(sums[i]));
  for (int k = 0; k < axes; ++k)
    if (out[0] > 0) move_origin(out, axes, k, out[moments_of(axes - 1 - k)] / out[0]);
}

}
