// Windings of the components of an array on a GPU: a thread a seam link, or a slot of the table.
//
// The array has been labelled with all axes open. `unite_seams` unites open components, `close_seams`
// collects closed paths, and the others tell each open component at a seam the smallest of those that it is
// connected to: core/windings.h tells how. Their cost is that of the surface of the array, times the steps to
// neighbours.
#pragma once

#include "core/links.h"
#include "core/seams.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

template <class Rule, class Label>
__global__ void unite_seams(Seams seams, const SeamBox* __restrict__ box, SeamWindings windings, Rule rule,
                            const typename Rule::Value* __restrict__ values,
                            const Label* __restrict__ labels) {
  for (int64_t i = grid_thread(); i < seams.items * seams.links; i += grid_threads())
    windings.unite<Shared>(seams, box, i, rule, values, labels);
}

template <class Rule, class Label>
__global__ void close_seams(Seams seams, const SeamBox* __restrict__ box, SeamWindings windings, Rule rule,
                            const typename Rule::Value* __restrict__ values,
                            const Label* __restrict__ labels) {
  for (int64_t i = grid_thread(); i < seams.items * seams.links; i += grid_threads())
    windings.close<Shared>(seams, box, i, rule, values, labels);
}

__global__ void tell_smallest(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads())
    windings.tell_smallest<Shared>(int32_t(i));
}
__global__ void ask_smallest(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads())
    windings.ask_smallest<Shared>(int32_t(i));
}

}  // namespace conncomp
