// Barriers between the blocks of a launch: `wait` returns once all `parts` blocks have called it, and shows
// what others wrote before. A block's first thread raises a counter in global memory and polls it. Cost:
// about a microsecond. All blocks must run at once: the driver launches no more than fit, and cooperatively
// where other streams could keep some out.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

struct Barrier {
  uint32_t* arrived;  // how often a block was there; 0 at first
  uint32_t parts, wanted;

  void wait() {
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

// Uses the hardware barrier where the blocks form a cluster, which takes a third of a microsecond.
template <bool in_cluster> struct PartsBarrier : Barrier {
  PartsBarrier(uint32_t* arrived, uint32_t parts) : Barrier{arrived, parts, 0} {}

  void wait() {
    if constexpr (in_cluster)
      if (wait_for_cluster()) return;
    Barrier::wait();
  }
};

// A barrier of the whole grid, at which blocks can also combine a flag.
class GridBarrier {
 public:
  static constexpr int kWords = 4;  // of memory, 0 at first

  explicit GridBarrier(uint32_t* memory) : barrier_{memory, gridDim.x, 0}, raised_(memory + 1), turn_(0) {}

  void wait() { barrier_.wait(); }
  // From here on for this block alone: the other blocks have returned or will return.
  void go_on_alone() { barrier_.parts = 1; }

  // Whether any thread of the grid sets `flag`: one flag is cleared, one read and one raised, in turns.
  bool any(bool flag) {
    const bool is_raised = __syncthreads_or(flag);
    if (gridDim.x == 1) return is_raised;
    const int next = turn_ == 2 ? 0 : turn_ + 1;
    if (threadIdx.x == 0) {
      if (is_raised) Current::store(raised_ + turn_, uint32_t(1));
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

}
