// Where blocks wait for each other within a launch.
//
// What: `wait` returns once all `parts` blocks that share a barrier have called it, and what they wrote
// before is seen by all after. `any` also tells each of them whether one of them has raised its flag. How: a
// counter in global memory, which the first thread of a block raises and then watches. Flags have three
// places, taken in turns, so that one can be cleared while another is read and a third is raised.
// Cost: about a microsecond. All blocks have to run at the same time: the driver launches no more than do,
// and by a cooperative launch where other streams could keep some of them out.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

struct Barrier {
  uint32_t* arrived;  // how often a block was there; 0 at first
  uint32_t parts, wanted;

  __device__ void wait() {
    __syncthreads();
    if (parts == 1) return;
    wanted += parts;
    if (threadIdx.x == 0) {
      __threadfence();
      Current::fetch_add(arrived, uint32_t(1));
      // The counter may go round.
      while (int32_t(Current::load(arrived) - wanted) < 0) __nanosleep(20);
      __threadfence();
    }
    __syncthreads();
  }
};

// The barriers of blocks that share one. Those in one cluster wait by hardware, in a third of a microsecond.
template <bool in_cluster>
struct PartsBarrier : Barrier {
  __device__ PartsBarrier(uint32_t* arrived, uint32_t parts) : Barrier{arrived, parts, 0} {}

  __device__ void wait() {
    if constexpr (in_cluster)
      if (wait_for_cluster()) return;
    Barrier::wait();
  }
};

// The barriers of all blocks of a grid, at which they tell each other something.
class GridBarrier {
 public:
  static constexpr int kWords = 4;  // of memory, 0 at first

  __device__ explicit GridBarrier(uint32_t* memory)
      : barrier_{memory, gridDim.x, 0}, raised_(memory + 1), turn_(0) {}

  __device__ void wait() { barrier_.wait(); }
  // From here on, for this block alone: the others are to have returned or to return.
  __device__ void go_on_alone() { barrier_.parts = 1; }

  // Whether `flag` is set for a thread of any block.
  __device__ bool any(bool flag) {
    const bool is_raised = __syncthreads_or(flag);
    if (gridDim.x == 1) return is_raised;
    const int next = turn_ == 2 ? 0 : turn_ + 1;
    if (threadIdx.x == 0) {
      if (is_raised) Current::store(raised_ + turn_, uint32_t(1));
      // It was read last after the barrier before the previous one, which all blocks have left.
      if (blockIdx.x == 0) Current::store(raised_ + next, uint32_t(0));
    }
    barrier_.wait();
    const bool is_raised_anywhere = Current::load(raised_ + turn_) != 0;
    turn_ = next;
    return is_raised_anywhere;
  }

 private:
  Barrier barrier_;
  uint32_t* raised_;
  int turn_;
};

}  // namespace conncomp
