// Sweeps over the data until one changes nothing, without the host asking after each. Sweep i, one launch or
// several, is due if sweep i - 1 has changed anything. `last_change`, the last sweep that has, never falls;
// before sweep i it is i - 1, or lower once a sweep has changed nothing. So all threads of sweep i get one
// answer, and barriers may follow. Later sweeps are empty: the host launches several before it asks
// (sweeps.py). Source of the flag in shared memory: Hawick et al. 2010, section 4.3.1.
#pragma once

#include "core/atomics.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

// One thread calls it before sweep 0, which is due if `due`, or if a change is reported for sweep -1.
inline void start_sweeps(int64_t* last_change, bool due = true) { *last_change = due ? -1 : -2; }

// Whether a sweep has changed anything so far; reports of the present launch may be missing.
inline bool has_changed(const int64_t* last_change, int64_t sweep) {
  return Concurrent::load(last_change) >= sweep;
}

inline bool is_due(const int64_t* last_change, int64_t sweep) { return has_changed(last_change, sweep - 1); }

inline void report_change(int64_t* last_change, int64_t sweep) { Concurrent::store(last_change, sweep); }

// Called by all threads of a block: whether this one has changed something.
inline void report_changes(int64_t* last_change, int64_t sweep, bool changed) {
  if (__syncthreads_or(changed) && threadIdx.x == 0) report_change(last_change, sweep);
}

// Lowers the higher of two labels to the other; returns whether they differed.
template <class Memory, class Label, class Place> bool lower_higher(Label* labels, Place u, Place v) {
  const Label a = Memory::load(labels + u), b = Memory::load(labels + v);
  if (a == b) return false;
  if (a < b)
    Memory::fetch_min(labels + v, a);
  else
    Memory::fetch_min(labels + u, b);
  return true;
}

// Calls sweep() by all threads of a block, with barriers between, until it returns false to all of them.
void sweep_in_block(auto&& sweep) {
  while (__syncthreads_or(sweep())) {
  }
}

}
