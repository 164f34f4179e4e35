// Blocks of a cluster, which run at the same time on multiprocessors beside each other: how they wait for
// each other and use each other's shared memory. GPUs have clusters from compute capability 9.0 on. A kernel
// says how many blocks there are by `CONNCOMP_CLUSTER(blocks)`; of one block all this is what a block has
// anyway.
//
// Cost: a barrier takes a fifth of a microsecond, where one of a whole grid (barrier.cuh) takes one; another
// block's shared memory is some 200 cycles away, global memory 700.
#pragma once

#include "cuda/core/launch.cuh"

// For other GPUs such kernels are compiled, but not launched.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CONNCOMP_CLUSTER(blocks) __cluster_dims__(blocks)
#else
#define CONNCOMP_CLUSTER(blocks)
#endif

namespace conncomp {

template <int blocks>
__device__ inline int block_of_cluster() {
  return blocks == 1 ? 0 : int(blockIdx.x % blocks);
}

// Says that this thread has come: what it wrote is seen by who has waited for the cluster.
template <int blocks>
__device__ inline void come_to_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  __syncwarp();  // a warp comes as one: in parts it ends as by an illegal instruction
  if (blocks > 1) __cluster_barrier_arrive();
#endif
}
// Waits until all threads of all blocks have come.
template <int blocks>
__device__ inline void wait_for_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  if (blocks > 1)
    __cluster_barrier_wait();
  else
#endif
    __syncthreads();
}
template <int blocks>
__device__ inline void meet_cluster() {
  come_to_cluster<blocks>();
  wait_for_cluster<blocks>();
}

// Where another block has what lies at `here` in the shared memory of this one. The other one must have
// begun, and must not have ended: there is a barrier ahead of such accesses, and one after them.
template <class T>
__device__ inline T* in_block_of_cluster(T* here, int block) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  return static_cast<T*>(__cluster_map_shared_rank(here, unsigned(block)));
#else
  return here;
#endif
}

}  // namespace conncomp
