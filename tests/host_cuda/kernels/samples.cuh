// Kernels with which the executor itself is tested.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

// Every thread of a three-dimensional grid writes its own index, and how often it was there.
__global__ void indices(int* count, int* warp_lane) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = int(blockIdx.z * blockDim.z + threadIdx.z);
  const int i = int((z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x) + x;
  atomicAdd(&count[i], 1);
  const int in_block = int((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
  warp_lane[i] = in_block % warpSize;
}

// Writes what each shuffle of 32 values gives, for one warp.
template <class T> __global__ void shuffles(const T* values, const int* sources, int width, T* out) {
  const int lane = int(threadIdx.x);
  const T value = values[lane];
  const int source = sources[lane];
  out[lane] = __shfl_sync(kAllLanes, value, source, width);
  out[32 + lane] = __shfl_up_sync(kAllLanes, value, 3, width);
  out[64 + lane] = __shfl_down_sync(kAllLanes, value, 3, width);
  out[96 + lane] = __shfl_xor_sync(kAllLanes, value, 5, width);
  out[128 + lane] = __shfl_sync(kAllLanes, value, source);
}

// Votes among the lanes of `mask` in every warp.
__global__ void votes(unsigned mask, const int* values, unsigned* out) {
  const int i = int(grid_thread());
  if (!(mask >> lane() & 1)) return;
  out[6 * i] = __ballot_sync(mask, values[i] > 1);
  out[6 * i + 1] = unsigned(__any_sync(mask, values[i] > 1));
  out[6 * i + 2] = unsigned(__all_sync(mask, values[i] > 1));
  out[6 * i + 3] = __match_any_sync(mask, values[i]);
  out[6 * i + 4] = __reduce_add_sync(mask, unsigned(values[i]));
  out[6 * i + 5] = unsigned(__reduce_min_sync(mask, -values[i]));
}

__global__ void block_votes(const int* values, int* out) {
  const int i = int(grid_thread());
  out[3 * i] = __syncthreads_or(values[i] > 2);
  out[3 * i + 1] = __syncthreads_and(values[i] > 0);
  out[3 * i + 2] = __syncthreads_count(values[i] > 1);
}

__global__ void arithmetic(unsigned x, unsigned y, unsigned shift, unsigned long long* out) {
  const unsigned long long both = (unsigned long long)(y) << 32 | x;
  int i = 0;
  for (const unsigned long long value :
      {(unsigned long long)__popc(x), (unsigned long long)__popcll(both), (unsigned long long)__ffs(int(x)),
          (unsigned long long)__ffsll((long long)both), (unsigned long long)__clz(int(x)),
          (unsigned long long)__clzll((long long)both), (unsigned long long)__brev(x), __brevll(both),
          (unsigned long long)__byte_perm(x, y, 0x6145), (unsigned long long)__umulhi(x, y),
          __umul64hi(both, both), (unsigned long long)__funnelshift_l(x, y, shift),
          (unsigned long long)__funnelshift_r(x, y, shift), (unsigned long long)__funnelshift_lc(x, y, shift),
          (unsigned long long)__funnelshift_rc(x, y, shift), (unsigned long long)max(x, y)})
    out[i++] = value;
}

template <class T> __global__ void atomics(T* out, const T* values) {
  const T value = values[grid_thread()];
  atomicAdd(&out[0], value);
  atomicMin(&out[1], value);
  atomicMax(&out[2], value);
  atomicOr(&out[3], value);
  atomicAnd(&out[4], value);
  atomicXor(&out[5], value);
  atomicAdd(&out[6], atomicExch(&out[7], value));
  for (T seen = Concurrent::load(&out[8]), held; (held = atomicCAS(&out[8], seen, seen + value)) != seen;)
    seen = held;
}

__global__ void add_floats(float* sum, double* exact, const float* values) {
  atomicAdd(sum, values[grid_thread()]);
  atomicAdd(exact, double(values[grid_thread()]));
}

// Reverses each block's part of an array.
template <class T, bool dynamic> __global__ void reverse(const T* in, T* out) {
  __shared__ T fixed[256];
  CONNCOMP_DYNAMIC_SHARED(T, sized);
  T* const tile = dynamic ? sized : fixed;
  tile[threadIdx.x] = in[grid_thread()];
  __syncthreads();
  out[grid_thread()] = tile[blockDim.x - 1 - threadIdx.x];
}

// What shared memory holds at first.
__global__ void untouched(unsigned* out) {
  __shared__ unsigned fixed[4];
  CONNCOMP_DYNAMIC_SHARED(unsigned, sized);
  for (int i = 0; i < 4; ++i) {
    out[8 * blockIdx.x + i] = fixed[i]++;
    out[8 * blockIdx.x + 4 + i] = sized[i]++;
  }
}

struct Line {
  int64_t slope;
  int32_t offset;
  uint8_t negate;
};

__global__ void evaluate(Line line, const int32_t* x, int64_t* y, int64_t count, float unused) {
  if (unused != 0.5f) return;
  for (int64_t i = grid_thread(); i < count; i += grid_threads())
    y[i] = (line.negate ? -1 : 1) * (line.slope * x[i] + line.offset);
}

// The order in which threads come by.
__global__ void order(int* next, int* out) {
  for (int i = 0; i < 4; ++i) atomicAdd(next + 1, 1);
  out[atomicAdd(next, 1)] = int(grid_thread());
}

// Every block waits for all others to have begun.
__global__ void meet(int* begun, int blocks) {
  if (threadIdx.x == 0) atomicAdd(begun, 1);
  while (Concurrent::load(begun) < blocks) __nanosleep(100);
}

// ------------------------------------------------------------- what is forbidden, one kind a kernel

__global__ void divergent_barrier(int odd_ones) {
  if (odd_ones || threadIdx.x % 2 == 0) __syncthreads();
}

__global__ void two_barriers() {
  if (threadIdx.x % 2 == 0)
    __syncthreads();
  else
    __syncthreads();
}

__global__ void exited_lane() {
  if (threadIdx.x == 5) return;
  __syncwarp();
}

__global__ void left_out() { __syncwarp(0xfffffffeu); }

__global__ void partial_warp() { __ballot_sync(kAllLanes, 1); }

__global__ void other_collective() {
  if (threadIdx.x < 16)
    __any_sync(kAllLanes, 1);
  else
    __all_sync(kAllLanes, 1);
}

__global__ void other_mask() { __syncwarp(threadIdx.x < 16 ? kAllLanes : 0xffff0001u); }

// ------------------------------------------- mistakes, each of which has a twin without it (right = true)

template <bool right> __global__ void barrier_bug(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  if (right) __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

template <bool right> __global__ void warp_bug(const int* in, int* out) {
  __shared__ int tile[256];
  tile[threadIdx.x] = in[threadIdx.x];
  if (right)
    __syncwarp();
  else
    __any_sync(kAllLanes, 1);  // orders nothing
  out[threadIdx.x] = tile[threadIdx.x ^ 31];
}

template <bool right> __global__ void store_bug(int* flag) {
  if (right)
    Concurrent::store(flag, 1);
  else
    *flag = 1;
}

template <bool right> __global__ void global_bug(int* out, int count) {
  for (int i = int(grid_thread()); right ? i < count : i <= count; i += int(grid_threads())) out[i] = i;
}

template <bool right> __global__ void dynamic_bug(int* out) {
  CONNCOMP_DYNAMIC_SHARED(int, tile);
  tile[threadIdx.x + (right ? 0 : 1)] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

template <bool right> __global__ void static_bug(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x + (right ? 0 : 1)] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

// The last block to finish adds up what all have written.
template <bool right> __global__ void fence_bug(int* part, int* finished, int* sum) {
  part[blockIdx.x] = int(blockIdx.x);
  if (right) __threadfence();
  const bool last = atomicAdd(finished, 1) == int(gridDim.x) - 1;
  if (!last) return;
  if (right) __threadfence();
  for (unsigned i = 0; i < gridDim.x; ++i) *sum += part[i];
}

}
