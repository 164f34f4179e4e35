// What the threads of a warp do together.
#pragma once

#include "core/launch.cuh"

namespace conncomp {

// The sum of the values of all threads.
template <class Value>
__device__ inline Value warp_sum(Value value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

}  // namespace conncomp
