// Sweeps over the data until one changes nothing, without the host asking after each.
//
// What: sweep i, a launch of a kernel or several, knows whether sweep i - 1 changed anything.
// How: three flags take turns. Sweep i reads that of i - 1 and has nothing to do if it is down, raises its
// own if it changes something, and lowers that of i + 1. The sweeps after the last are empty launches, so
// the host may launch several before it asks for the flag of the latest. The flag of sweep -1 is up at the
// start.
// Cost: a barrier a sweep, and at most one store a block.
// Source: Hawick, Leist and Playne 2010, section 4.3.1, for the flag in the memory of the block.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kSweepFlags = 3;

struct alignas(128) SweepFlag {
  int32_t raised;
};

__device__ inline int32_t* flag_of(SweepFlag* flags, int64_t sweep) {
  return &flags[(sweep + kSweepFlags) % kSweepFlags].raised;
}

// One thread calls it before the first sweep.
__device__ inline void start_sweeps(SweepFlag* flags, bool due) {
  for (int64_t sweep = -1; sweep < kSweepFlags - 1; ++sweep) *flag_of(flags, sweep) = sweep < 0 && due;
}

// Whether a sweep has changed anything so far, in launches before this one.
__device__ inline bool changes(SweepFlag* flags, int64_t sweep) {
  return Shared::load(flag_of(flags, sweep)) != 0;
}

__device__ inline void raise(SweepFlag* flags, int64_t sweep) {
  Shared::store(flag_of(flags, sweep), int32_t(1));
}

// Whether there is something to do: asked by all threads at the begin of a sweep's first launch.
__device__ inline bool begin_sweep(SweepFlag* flags, int64_t sweep) {
  if (grid_thread() == 0) *flag_of(flags, sweep + 1) = 0;
  return changes(flags, sweep - 1);
}

// Told by all threads of a block whether they changed anything.
__device__ inline void end_sweep(SweepFlag* flags, int64_t sweep, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0) raise(flags, sweep);
}

}  // namespace conncomp
