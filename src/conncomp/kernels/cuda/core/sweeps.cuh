// Sweeps over the data until one changes nothing, without the host asking after each.
//
// Sweep i, one launch or several, has something to do if sweep i - 1 has changed anything. `last_change` is
// the number of the last sweep that has, and never falls: before sweep i it is i - 1, or lower once a sweep
// has changed nothing. So every thread that asks in sweep i gets the same answer, and barriers may follow.
// Sweeps after the last are empty launches, so the host may launch several before it asks (sweeps.py).
// Cost: a barrier a launch, and at most one store a block. Source: Hawick, Leist and Playne 2010, section
// 4.3.1, for the flag in the memory of the block.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

// One thread calls it before sweep 0, which has something to do if `due`; if not, a later report for sweep -1
// lets it have.
__device__ inline void start_sweeps(int64_t* last_change, bool due = true) { *last_change = due ? -1 : -2; }

// Whether a sweep has changed anything so far. What was reported in this launch may be missing.
__device__ inline bool has_changed(const int64_t* last_change, int64_t sweep) {
  return Shared::load(last_change) >= sweep;
}

__device__ inline bool is_due(const int64_t* last_change, int64_t sweep) {
  return has_changed(last_change, sweep - 1);
}

// By one thread: the sweep has changed something.
__device__ inline void report_change(int64_t* last_change, int64_t sweep) {
  Shared::store(last_change, sweep);
}

// By all threads of a block: whether this one has changed something.
__device__ inline void report_changes(int64_t* last_change, int64_t sweep, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0) report_change(last_change, sweep);
}

// Sweeps over what one block has: calls sweep() by all its threads, with barriers between the calls, until it
// has returned false, that it changed nothing, to each of them.
template <class Sweep>
__device__ inline void sweep_in_block(Sweep&& sweep) {
  while (__syncthreads_or(sweep())) {
  }
}

}  // namespace conncomp
