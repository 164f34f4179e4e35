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

// The bits that any thread has.
__device__ inline uint64_t warp_or(uint64_t bits) {
  for (int step = kWarp / 2; step > 0; step /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
  return bits;
}

// The sum of the values of the threads up to this one.
template <class Value>
__device__ inline Value warp_scan(Value value) {
  for (int step = 1; step < kWarp; step *= 2) {
    const Value before = __shfl_up_sync(kAllLanes, value, step);
    if (lane() >= step) value += before;
  }
  return value;
}

// Of a lane: whether its stretch begins there, and how many lanes from it on belong to the stretch.
struct Stretch {
  bool first;
  int length;
};

// The stretch of equal values that each lane is in; where something else begins, such as a line of an array,
// a stretch does, too.
template <class T>
__device__ inline Stretch stretch_of(T value, bool begins = false) {
  const T left = __shfl_up_sync(kAllLanes, value, 1);
  const bool first = lane() == 0 || value != left || begins;
  const unsigned int later = __ballot_sync(kAllLanes, first) >> lane() >> 1;
  return {first, later ? __ffs(int(later)) : kWarp - lane()};
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
