// Windings of the components of an array on a GPU: a thread a seam link, or a slot of the table.
//
// The array has been labelled with all axes open. `unite_seams` unites open components, `close_seams`
// collects closed paths, and the others tell each open component at a seam the smallest of those that it is
// connected to: core/windings.h tells how. Their cost is that of the surface of the array, times the steps to
// neighbours.
#pragma once

#include "core/links.h"
#include "core/seams.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

// Adds the closed paths of a warp's links to the lattices of their components. Most links of a large
// component make the same path, and every lattice is read by all who add to it: so each warp adds a path
// once, unless it has added another one meanwhile.
struct PathsOfWarp {
  using Path = SeamWindings::Path;
  const SeamWindings& windings;
  Path last{SeamWindings::kNoRoot, {}};  // that has been added; the same in all lanes

  // All lanes call.
  __device__ void add(const Path& path) {
    bool waits = path.exists() && !(path == last);
    while (const unsigned int waiting = __ballot_sync(kAllLanes, waits)) {
      const int first = __ffs(int(waiting)) - 1;
      last.root = __shfl_sync(kAllLanes, path.root, first);
      for (int k = 0; k < kMostClosedAxes; ++k)
        last.winding.along[k] = __shfl_sync(kAllLanes, path.winding.along[k], first);
      if (lane() == first) windings.lattices.add<Shared>(path.root, path.winding);
      waits = waits && !(path == last);
    }
  }

  // Calls path_of(link) for each of `links`, and adds what that returns. All threads of a grid call.
  template <class PathOf>
  __device__ void add_all(int64_t links, PathOf&& path_of) {
    for (int64_t first = grid_thread() - lane(); first < links; first += grid_threads()) {
      const int64_t link = first + lane();
      add(link < links ? path_of(link) : Path{SeamWindings::kNoRoot, {}});
    }
  }
};

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
  PathsOfWarp{windings}.add_all(array.links(), [&](int64_t link) {
    SeamWindings::Path path{SeamWindings::kNoRoot, {}};
    with_slots(array, windings, link, [&](int32_t from, int32_t to, const Winding& winding) {
      path = windings.path_over<Shared>(from, to, winding);
    });
    return path;
  });
}

// Lets tables know nothing; what is smallest is not asked for.
__global__ void clear_seams(SeamWindings windings) {
  for (int64_t slot = grid_thread(); slot < windings.table.slots; slot += grid_threads()) {
    windings.table.key[slot] = SeamTable::kNoKey;
    windings.forest.link[slot] = WindingForest::kNoLink;
    windings.lattices.of_root[slot] = WindingLattices::kNone;
  }
  if (grid_thread() == 0) *windings.lattices.count = 0;
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
