// What records have of the windings of clusters, once they are known: a thread a slot of the table.
#pragma once

#include "core/seams.h"
#include "cuda/models/spins.cuh"

namespace conncomp {

// Sets, in the record of each item, a bit for each axis of the model along which a cluster closes on itself,
// and in the next field the highest rank of a cluster. `axis` has the axis that each closed one is.
struct ClosedAxes {
  int32_t axis[kMostClosedAxes];
};
__global__ void record_windings(SeamWindings windings, ClosedAxes closed, Records records, int32_t field) {
  for (int64_t slot = grid_thread(); slot < windings.table.slots; slot += grid_threads()) {
    const int32_t number = windings.lattices.of_root[slot];
    if (number < 0) continue;
    const WindingBasis& basis = windings.lattices.lattice[number].basis;
    int64_t axes = 0;
    for (int k = 0; k < kMostClosedAxes; ++k)
      if (basis.axes() >> k & 1) axes |= int64_t(1) << closed.axis[k];
    int64_t* const record =
        records.record + (windings.table.key[slot] >> SeamWindings::kItemShift) * records.length + field;
    Shared::fetch_or(record, axes);
    Shared::fetch_max(record + 1, int64_t(basis.rank()));
  }
}

}  // namespace conncomp
