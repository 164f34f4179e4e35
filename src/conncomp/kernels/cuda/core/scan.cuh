// Sums over the threads of a block.
#pragma once

#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kFewWarps = 8;  // whose sums each thread adds up as fast as a warp scans them

// Returns the sum of `value` over the threads of the block before this one, and lets `total` be that of
// all. All threads of the block call it.
template <int threads, class Sum, class Value>
__device__ inline Sum block_scan(Value value, Sum& total) {
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

// Returns the sum of `value` over the threads of the block, at most `threads`, all of which call.
template <int threads, class Value>
__device__ inline Value block_sum(Value value) {
  constexpr int kWarps = threads / kWarp;
  __shared__ Value sums[kWarps];
  value = warp_sum(value);
  __syncthreads();  // the sums of an earlier call have been read
  if (lane() == 0) sums[threadIdx.x / kWarp] = value;
  __syncthreads();
  return warp_sum(lane() < int(blockDim.x) / kWarp ? sums[lane()] : Value(0));
}

// Returns the sum of the first values of an array. All threads of the block, as many as said, call it.
template <int threads, class Sum = int64_t>
__device__ inline Sum sum_of_first(int64_t count, const int64_t* values) {
  Sum sum = 0;
#pragma unroll 1
  for (int64_t k = threadIdx.x; k < count; k += threads) sum += Sum(values[k]);
  return block_sum<threads>(sum);
}

}  // namespace conncomp
