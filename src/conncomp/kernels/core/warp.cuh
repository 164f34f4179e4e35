// What the threads of a warp do together.
#pragma once

#include "core/launch.cuh"

namespace conncomp {

// The bits that are set in any thread's word.
__device__ inline uint32_t warp_or(uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(kAllLanes, bits);
#else
  for (int step = kWarp / 2; step > 0; step /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
  return bits;
#endif
}

// The sum of `value` over this thread and those before it.
__device__ inline int warp_scan(int value) {
  for (int step = 1; step < kWarp; step *= 2) {
    const int before = __shfl_up_sync(kAllLanes, value, step);
    if (lane() >= step) value += before;
  }
  return value;
}

}  // namespace conncomp
