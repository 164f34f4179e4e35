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

}  // namespace conncomp
