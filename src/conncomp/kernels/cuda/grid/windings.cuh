// Windings of the components of an array labelled with all axes open: a thread a seam link or a slot of the
// table. unite_seams unites open components, close_seams collects closed paths (core/wrapping/windings.h).
// tell_smallest tells each root the smallest of its open components; list_windings lists the lattices of
// those that wrap, and count_left_out how many numbers below some bounds are left out; mark_axes marks what
// the host found; record_windings records it for models. Cost: that of the array's surface, times the steps
// to neighbours.
#pragma once

#include "core/links.h"
#include "core/wrapping/seams.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

// Adds the closed paths of a warp's links to lattices. Most links of a large component make one path, and
// adding reads the lattice, so each warp adds a path once between others.
struct PathsOfWarp {
  using Path = SeamWindings::Path;
  const SeamWindings& windings;
  Path last{};  // that has been added; the same in all lanes

  // All lanes call.
  void add(const Path& path) {
    bool waits = path.exists() && !(path == last);
    while (const unsigned int waiting = __ballot_sync(kAllLanes, waits)) {
      const int first = lowest(waiting);
      last.root = __shfl_sync(kAllLanes, path.root, first);
      for (int k = 0; k < kMostClosedAxes; ++k)
        last.winding.along[k] = __shfl_sync(kAllLanes, path.winding.along[k], first);
      if (lane() == first) windings.lattices.add<Concurrent>(path.root, path.winding);
      waits = waits && !(path == last);
    }
  }

  // Adds path_of(link) for all `links`. The whole grid calls.
  void add_all(int64_t links, auto&& path_of) {
    for (int64_t first = grid_thread() - lane(); first < links; first += grid_threads()) {
      const int64_t link = first + lane();
      add(link < links ? path_of(link) : Path{});
    }
  }
};

template <int = 0> __global__ void clear_seams(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads()) windings.clear(i);
  if (grid_thread() == 0) *windings.lattices.count = 0;
}

// A seam link, by the keys of its ends; kNoKey if there is none.
struct KeyedLink {
  int64_t from = SeamTable::kNoKey, to = SeamTable::kNoKey;
  Winding winding{};

  bool exists() const { return from != SeamTable::kNoKey; }
  bool operator==(const KeyedLink& other) const {
    return from == other.from && to == other.to && winding == other.winding;
  }
  // The link of a lane, for all lanes, which call together.
  KeyedLink from_lane(int lane) const {
    KeyedLink link{__shfl_sync(kAllLanes, from, lane), __shfl_sync(kAllLanes, to, lane), {}};
    for (int k = 0; k < kMostClosedAxes; ++k)
      link.winding.along[k] = __shfl_sync(kAllLanes, winding.along[k], lane);
    return link;
  }
};

// Unites the ends of all links, link_of(number), and keeps them for close_seams. A warp leaves out repeated
// links, lest large components wait at few addresses. The whole grid calls.
void unite_links(const SeamWindings& windings, int64_t links, auto&& link_of) {
  KeyedLink last;  // that one of the warp's lanes had; the same in all
  for (int64_t first = grid_thread() - lane(); first < links; first += grid_threads()) {
    const int64_t number = first + lane();
    const KeyedLink link = number < links ? link_of(number) : KeyedLink{};
    const bool is_new = link.exists() && !(link == last);
    const unsigned int lanes = __ballot_sync(kAllLanes, is_new);
    if (lanes != 0) last = link.from_lane(lowest(lanes));
    SeamLink united{SeamLink::kNone, SeamLink::kNone, {}};
    if (is_new) united = windings.unite<Concurrent>(link.from, link.to, link.winding, number);
    if (number < links) windings.kept[number] = united;
    __syncwarp();
  }
}

template <class Rule, class Label>
__global__ void unite_seams(SeamArray<Rule, Label> array, SeamWindings windings) {
  unite_links(windings, array.links(), [&](int64_t link) {
    const int64_t item = array.seams.item_of(link), link_of_item = link - item * array.seams.links;
    const SeamBox& box = array.seams.box_of(array.box, link_of_item);
    KeyedLink keyed;
    const auto every = [](int64_t, int64_t) { return true; };
    array.with_link(item, box, end_of(array.seams, box, link_of_item), every,
        [&](int64_t from, int64_t to) { keyed = {from, to, box.winding()}; });
    return keyed;
  });
}

template <int = 0> __global__ void close_seams(SeamWindings windings, int64_t links) {
  PathsOfWarp{windings}.add_all(links, [&](int64_t i) {
    const SeamLink link = windings.kept[i];
    return link.exists() ? windings.path_over<Concurrent>(link) : SeamWindings::Path{};
  });
}

template <int = 0> __global__ void tell_smallest(SeamWindings windings) {
  for (int64_t i = grid_thread(); i < windings.table.slots; i += grid_threads())
    windings.tell_smallest<Concurrent>(i);
}

struct ListedWinding {
  int64_t first;  // its smallest key
  WindingBasis basis;
};

// Lists components that wrap, by lattice; `read` gets their number and open components' counts.
template <int = 0>
__global__ void list_windings(SeamWindings windings, const int64_t* __restrict__ open_counts, int64_t items,
    int64_t* read, ListedWinding* winding) {
  if (grid_thread() == 0) read[0] = *windings.lattices.count;
  for (int64_t item = grid_thread(); item < items; item += grid_threads()) read[1 + item] = open_counts[item];
  for (int64_t slot = grid_thread(); slot < windings.table.slots; slot += grid_threads()) {
    windings.ask_smallest<Concurrent>(slot);
    if (const WindingBasis* const basis = windings.basis_at(slot))
      winding[windings.lattices.number_at_root[slot]] = {windings.smallest[slot], *basis};
  }
}

// Counts keys left out for smaller ones: at between[k] those from bound[k - 1] to below bound[k].
template <int = 0>
__global__ void count_left_out(
    SeamWindings windings, const int64_t* __restrict__ bound, int64_t bounds, int64_t* between) {
  for (int64_t first = grid_thread() - lane(); first < windings.table.slots; first += grid_threads()) {
    const int64_t slot = first + lane();
    int64_t place = -1;
    if (slot < windings.table.slots && windings.is_left_out(slot)) {
      const int64_t key = windings.table.key[slot];
      int64_t low = 0, high = bounds;  // the bounds before `low` are not above the key
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (bound[middle] <= key)
          low = middle + 1;
        else
          high = middle;
      }
      place = low;
    }
    // Most of a warp lie between the same two bounds.
    while (const unsigned int waiting = __ballot_sync(kAllLanes, place >= 0)) {
      const int leader = lowest(waiting);
      const bool same = place == __shfl_sync(kAllLanes, place, leader) && place >= 0;
      const int lanes = __popc(__ballot_sync(kAllLanes, same));
      if (lane() == leader) Concurrent::fetch_add(between + place, int64_t(lanes));
      if (same) place = -1;
    }
  }
}

// Marks the axes, of `ndim`, along which components wrap, given their rows and bases.
template <int = 0>
__global__ void mark_axes(const int64_t* __restrict__ row, int64_t rows, const int64_t* __restrict__ basis,
    int64_t ndim, bool* axes) {
  for (int64_t i = grid_thread(); i < rows * ndim; i += grid_threads()) {
    const int64_t component = i / ndim, axis = i - component * ndim;
    bool wraps = false;
    for (int64_t k = 0; k < ndim; ++k) wraps |= basis[(component * ndim + k) * ndim + axis] != 0;
    axes[row[component] * ndim + axis] = wraps;
  }
}

struct ClosedAxes {
  int32_t axis[kMostClosedAxes];
};
// The records of items. Laid out as Records in cuda/models/spins.cuh.
struct ItemRecords {
  int64_t* first;
  int64_t length;
};
// Records by item the model's axes along which a component closes, as bits, and the highest rank.
template <int = 0>
__global__ void record_windings(
    SeamWindings windings, ClosedAxes closed, ItemRecords records, int32_t field) {
  for (int64_t slot = grid_thread(); slot < windings.table.slots; slot += grid_threads()) {
    const WindingBasis* const basis = windings.basis_at(slot);
    if (basis == nullptr) continue;
    int64_t axes = 0;
    for (int k = 0; k < kMostClosedAxes; ++k)
      if (basis->axes() >> k & 1) axes |= int64_t(1) << closed.axis[k];
    int64_t* const record = records.first + windings.item_of(slot) * records.length;
    Concurrent::fetch_or(record + field, axes);
    Concurrent::fetch_max(record + field + 1, int64_t(basis->rank()));
  }
}

}
