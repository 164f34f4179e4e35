// Sums, scans and stretches of equal values over the threads of a warp, and sums over a block.
#pragma once

#include "cuda/core/launch.cuh"

namespace conncomp {

template <class Value> Value plus(Value a, Value b) { return a + b; }
template <class Value> Value smaller(Value a, Value b) { return a < b ? a : b; }
template <class Value> Value larger(Value a, Value b) { return a < b ? b : a; }

// Combines the values of a warp, all of whose lanes get the result.
template <class Value> Value over_lanes(Value value, auto&& combine) {
  for (int step = kWarp / 2; step > 0; step /= 2)
    value = combine(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}
template <class Value> Value warp_sum(Value value) { return over_lanes(value, plus<Value>); }
inline uint64_t warp_or(uint64_t bits) {
  return over_lanes(bits, [](uint64_t a, uint64_t b) { return a | b; });
}

// Combines the values of the lanes of a warp up to this one.
template <class Value> Value warp_scan(Value value, auto&& combine) {
  for (int step = 1; step < kWarp; step *= 2) {
    const Value before = __shfl_up_sync(kAllLanes, value, step);
    if (lane() >= step) value = combine(value, before);
  }
  return value;
}
template <class Value> Value warp_scan(Value value) { return warp_scan(value, plus<Value>); }

// Whether a lane begins its stretch, and how many lanes of the stretch there are from it on.
struct Stretch {
  bool first;
  int length;
};

// The stretch of equal values of each lane; one also begins where `begins` is set, as at a line of an array.
template <class T> Stretch stretch_of(T value, bool begins = false) {
  const T left = __shfl_up_sync(kAllLanes, value, 1);
  const bool first = lane() == 0 || value != left || begins;
  const unsigned int later = __ballot_sync(kAllLanes, first) >> lane() >> 1;
  return {first, later ? __ffs(int(later)) : kWarp - lane()};
}

// Combines the values of a stretch; its first lane gets the result.
template <class T> T over_stretch(T value, int length, auto&& combine) {
  for (int step = 1; step < kWarp; step *= 2) {
    const T other = __shfl_down_sync(kAllLanes, value, step);
    if (step < length) value = combine(value, other);
  }
  return value;
}

// Collects items until each lane has one; `most` times 32 have room. All lanes call, and keep the count.
template <class Item, int most = 2> struct TasksOfWarp {
  Item item[most * kWarp];

  // Adds one item of each lane that `has` one; returns the new count.
  int push(int count, bool has, const Item& added) {
    const unsigned int lanes = __ballot_sync(kAllLanes, has);
    if (has) item[count + rank_in(lanes)] = added;
    return count + __popc(lanes);
  }
  // Calls body(item, true) while each lane has one; returns how many are left.
  int take(int count, auto&& body) {
    while (count >= kWarp) count = take_some(count, kWarp, body);
    return count;
  }
  // Calls body(item, whether there is one) for those left.
  void finish(int count, auto&& body) {
    if (count > 0) take_some(count, count, body);
  }
  int add(int count, bool has, const Item& added, auto&& body) { return take(push(count, has, added), body); }

 private:
  int take_some(int count, int taken, auto&& body) {
    __syncwarp();
    const Item of_lane = item[count - taken + lane()];
    __syncwarp();
    body(of_lane, lane() < taken);
    __syncwarp();  // else lanes stay apart until they have to meet
    return count - taken;
  }
};

constexpr int kFewWarps = 8;  // whose sums each thread adds up as fast as a warp scans them

// Returns the sum over earlier threads of the block, all of which call; `total` is the sum of all.
template <int threads, class Sum> Sum block_scan(auto value, Sum& total) {
  constexpr int kWarps = threads / kWarp;
  __shared__ Sum sums[kWarps];
  const Sum sum = warp_scan(Sum(value));
  __syncthreads();  // the sums of an earlier call have been read
  if (lane() == kWarp - 1) sums[threadIdx.x / kWarp] = sum;
  __syncthreads();
  if constexpr (kWarps > kFewWarps) {
    const Sum of_warp = lane() < kWarps ? sums[lane()] : Sum(0), up_to_warp = warp_scan(of_warp);
    total = __shfl_sync(kAllLanes, up_to_warp, kWarps - 1);
    return __shfl_sync(kAllLanes, up_to_warp - of_warp, int(threadIdx.x) / kWarp) + sum - Sum(value);
  }
  Sum before = 0;
  total = 0;
  for (int warp = 0; warp < kWarps; ++warp) {
    if (warp == int(threadIdx.x) / kWarp) before = total;
    total += sums[warp];
  }
  return before + sum - Sum(value);
}

// Returns the sum of `value` over the block, at most `threads` threads, all of which call it.
template <int threads, class Value> Value block_sum(Value value) {
  constexpr int kWarps = threads / kWarp;
  __shared__ Value sums[kWarps];
  value = warp_sum(value);
  __syncthreads();  // the sums of an earlier call have been read
  if (lane() == 0) sums[threadIdx.x / kWarp] = value;
  __syncthreads();
  return warp_sum(lane() < int(blockDim.x) / kWarp ? sums[lane()] : Value(0));
}

// Returns the sum of the first `count` values. The whole block calls.
template <int threads, class Sum = int64_t> Sum sum_of_first(int64_t count, const int64_t* values) {
  Sum sum = 0;
#pragma unroll 1
  for (int64_t k = threadIdx.x; k < count; k += threads) sum += Sum(values[k]);
  return block_sum<threads>(sum);
}

}
