// Which updates a launch makes, where it makes many, and the records of those that measure.
#pragma once

#include "cuda/models/spins.cuh"

namespace conncomp {

// Counters of replicas are so far from each other that waiting for one is not waiting for others.
constexpr int kCounterStride = 32;

// Laid out as in replicas.py.
struct Updates {
  int32_t count, every, before;  // each `every`-th measures; so many are made since the last one that did
  int64_t record_stride;         // from one record of all replicas to the next

  __device__ bool measures(int32_t update) const { return (update + before) % every == 0; }
  __device__ Records records_of(const Records& records, int32_t update) const {
    return {records.record + (update + before) / every * record_stride, records.length};
  }
};

}  // namespace conncomp
