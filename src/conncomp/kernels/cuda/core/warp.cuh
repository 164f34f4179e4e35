// What the threads of a warp do together.
#pragma once

#include "cuda/core/launch.cuh"

namespace conncomp {

// The sum of the values of all threads.
template <class Value>
__device__ inline Value warp_sum(Value value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// The sum of the values of the threads up to this one.
__device__ inline int warp_scan(int value) {
  for (int step = 1; step < kWarp; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, value, step);
    if (lane() >= step) value += before;
  }
  return value;
}

// How many lanes from this one on belong to its stretch, a bit being set for the first lane of each.
__device__ inline int stretch_length(unsigned int firsts) {
  const unsigned int later = firsts >> lane() >> 1;
  return later ? __ffs(int(later)) : kWarp - lane();
}

// Combines what the lanes of a stretch have; its first lane gets that of all.
template <class T, class Combine>
__device__ inline T over_stretch(T value, int length, Combine&& combine) {
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_down_sync(kAllLanes, value, step);
    if (step < length) value = combine(value, other);
  }
  return value;
}

}  // namespace conncomp
