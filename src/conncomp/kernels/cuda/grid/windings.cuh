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

// Calls body(from, to, winding) with the slots of the ends of a link, if there is one.
template <class Rule, class Label, class Body>
__device__ inline void with_slots(const SeamArray<Rule, Label>& array, const SeamWindings& windings,
                                  int64_t link, Body&& body) {
  const int64_t item = link / array.seams.links, of_item = link - item * array.seams.links;
  const SeamBox& box = array.seams.box_of(array.box, of_item);
  array.with_link(item, box, end_of(array.seams, box, of_item), [&](int64_t from, int64_t to) {
    const int32_t slot = windings.table.slot_of<Shared>(from);
    body(slot, from == to ? slot : windings.table.slot_of<Shared>(to), box.winding());
  });
}

template <class Rule, class Label>
__global__ void unite_seams(SeamArray<Rule, Label> array, SeamWindings windings) {
  for (int64_t i = grid_thread(); i < array.links(); i += grid_threads())
    with_slots(array, windings, i, [&](int32_t from, int32_t to, const Winding& winding) {
      windings.unite<Shared>(from, to, winding, i);
    });
}

template <class Rule, class Label>
__global__ void close_seams(SeamArray<Rule, Label> array, SeamWindings windings) {
  for (int64_t i = grid_thread(); i < array.links(); i += grid_threads())
    with_slots(array, windings, i, [&](int32_t from, int32_t to, const Winding& winding) {
      windings.close<Shared>(from, to, winding);
    });
}

__global__ void tell_smallest(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads())
    windings.tell_smallest<Shared>(i);
}
__global__ void ask_smallest(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads())
    windings.ask_smallest<Shared>(i);
}

}  // namespace conncomp
