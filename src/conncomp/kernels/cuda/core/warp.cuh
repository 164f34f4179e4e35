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

// What lanes of a warp come upon, few at a time, until there is something for each of them to do. All lanes
// call together, and keep how many items there are; up to `most` times 32 have room.
template <class Item, int most = 2>
struct TasksOfWarp {
  Item item[most * kWarp];

  // Adds one of each lane that has one; returns how many there are then.
  __device__ int push(int count, bool has, const Item& added) {
    const unsigned int lanes = __ballot_sync(kAllLanes, has);
    if (has) item[count + __popc(lanes & ((1u << lane()) - 1))] = added;
    return count + __popc(lanes);
  }
  // Calls body(item, true) while there is one for each lane; returns how many are left.
  template <class Body>
  __device__ int take(int count, Body&& body) {
    while (count >= kWarp) count = take_some(count, kWarp, body);
    return count;
  }
  // Calls body(item, whether there is one) for those that are left.
  template <class Body>
  __device__ void finish(int count, Body&& body) {
    if (count > 0) take_some(count, count, body);
  }
  template <class Body>
  __device__ int add(int count, bool has, const Item& added, Body&& body) {
    return take(push(count, has, added), body);
  }

 private:
  template <class Body>
  __device__ int take_some(int count, int taken, Body&& body) {
    __syncwarp();
    const Item of_lane = item[count - taken + lane()];
    __syncwarp();
    body(of_lane, lane() < taken);
    __syncwarp();  // else lanes stay apart until they have to meet
    return count - taken;
  }
};

}  // namespace conncomp
