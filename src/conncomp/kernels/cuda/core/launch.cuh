// What every CUDA kernel here uses. Kernels that depend on no type are templates too (`template <int = 0>`,
// named `kernel<>`): a plain function is compiled into each module that includes it: most of the time of a
// first call.
#pragma once

#include "core/platform.h"

namespace conncomp {

constexpr int kWarp = 32;
constexpr unsigned int kAllLanes = 0xffffffffu;

// Blocks of `threads` that fill a multiprocessor, for __launch_bounds__ where latency is to be hidden.
#if __CUDA_ARCH__ == 750
constexpr int kResidentThreads = 1024;
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200
constexpr int kResidentThreads = 1536;
#else
constexpr int kResidentThreads = 2048;
#endif
constexpr int resident_blocks(int threads) { return kResidentThreads / threads; }

template <bool first, class A, class B> struct Either {
  using Type = A;
};
template <class A, class B> struct Either<false, A, B> {
  using Type = B;
};

// Blocks that form a cluster, which runs at once on neighbouring multiprocessors.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CONNCOMP_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CONNCOMP_CLUSTER(blocks)
#endif

// Waits for the launch before, and lets blocks of the next start early and wait here. Recorded kernels
// (recordings.py) begin with it, so each sees what all before it wrote.
inline void follow_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Waits for all threads of a cluster; false where the GPU has no clusters.
inline bool wait_for_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  return true;
#else
  return false;
#endif
}

// Calls body(0), ..., body(count - 1). Not a loop: NVRTC unrolls loops late, and until then it treats what
// they index as memory, and does not simplify by constants.
template <int count> constexpr void unrolled(auto&& body) {
  static_assert(count <= 6);
  if constexpr (count > 0) body(0);
  if constexpr (count > 1) body(1);
  if constexpr (count > 2) body(2);
  if constexpr (count > 3) body(3);
  if constexpr (count > 4) body(4);
  if constexpr (count > 5) body(5);
}

inline uint32_t warp_or(uint32_t bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int step = kWarp / 2; step > 0; step /= 2) bits |= __shfl_xor_sync(kAllLanes, bits, step);
  return bits;
#else
  return __reduce_or_sync(kAllLanes, bits);
#endif
}

inline int warp_sum(int number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (int step = kWarp / 2; step > 0; step /= 2) number += __shfl_xor_sync(kAllLanes, number, step);
  return number;
#else
  return __reduce_add_sync(kAllLanes, number);
#endif
}

inline int lane() { return int(threadIdx.x % kWarp); }

inline uint32_t lanes_up_to_this() {
#ifdef __CUDA_ARCH__
  uint32_t lanes;  // not to be worked out again for each row
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(lanes));
  return lanes;
#else
  return (2u << lane()) - 1;
#endif
}

// How many of some lanes come before this one.
inline int rank_in(uint32_t lanes) { return __popc(lanes & ((1u << lane()) - 1)); }

inline int lowest(uint64_t bits) { return __ffsll((long long)(bits)) - 1; }
inline int lowest(uint32_t bits) { return __ffs(int(bits)) - 1; }
inline uint64_t lowest_bit(uint64_t bits) { return bits & (0 - bits); }
inline uint32_t lowest_bit(uint32_t bits) { return bits & (0 - bits); }
// The place of the highest set bit, of which there is one.
inline int highest_bit(uint32_t bits) {
#ifdef __CUDA_ARCH__
  int place;
  asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(bits));
  return place;
#else
  return 31 - __clz(int(bits));
#endif
}

// A thread among all of a one-dimensional grid; kernels stride by the grid, so any grid does all work.
inline int64_t grid_thread() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
inline int64_t grid_threads() { return int64_t(gridDim.x) * blockDim.x; }

// Writes a number to pinned memory, which the host polls. Cost in a graph: a microsecond.
template <int = 0> __global__ void tell_number(const int64_t* __restrict__ number, int64_t* answer) {
  follow_launch();
  *static_cast<volatile int64_t*>(answer) = *number;
}

}
