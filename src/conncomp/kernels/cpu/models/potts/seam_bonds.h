// Windings of the clusters of an update: what a forest of runs leaves over of the bonds over the ends of
// periodic axes, so that its roots are those of the open lattice.
//
// How: as for arrays (core/windings.h, cpu/grid/windings.h), the names of open clusters being their roots. At
// last the bonds join the forest, which then is what it would have been with them from the beginning, as a
// root is the smallest run of its cluster. Cost: that of the lattice's surface; some 80 bytes a bond, for
// those alone that are active and join another pair of runs than the bond before.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/seams.h"
#include "cpu/core/buffer.h"
#include "cpu/grid/windings.h"
#include "cpu/models/potts/forest.h"
#include "cpu/models/potts/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// An active bond over the end of an axis, from the last site along it to the first one, a period farther.
template <class Index>
struct SeamBond {
  Index last, first;  // their runs
  int32_t from, to;   // the slots of their clusters
  int32_t axis;

  Winding winding() const {
    Winding winding{};
    winding.along[axis] = 1;
    return winding;
  }
};

template <class Index>
class SeamBonds {
 public:
  explicit SeamBonds(const Strips& strips)
      : strips_(strips), of_strip_(strips.count), first_number_(strips.count + 1) {}

  // Adds the bond of two runs of a replica; a strip's are added by one thread.
  void add(int64_t piece, Index last, Index first, int axis) {
    of_strip_[piece].push_back({last, first, 0, 0, axis});
  }

  // Joins the forest, and records along which axes, counted from `first_axis` on, clusters close on
  // themselves, and the highest rank of a cluster.
  void join(const Replicas& replicas, ForestMemory<Index>& memory, int first_axis, int64_t* records) {
    for (int64_t k = 0; k < strips_.count; ++k)
      first_number_[k + 1] = first_number_[k] + int64_t(of_strip_[k].size());
    const int64_t bonds = first_number_.back();
    if (bonds == 0) return;
    // Each bond has two ends, and one lattice at most.
    std::vector<int64_t> key(std::bit_ceil(Bits64(2 * bonds + 1)), SeamTable::kNoKey);
    std::vector<int32_t> link(key.size(), WindingForest::kNoLink),
        of_root(key.size(), WindingLattices::kNone);
    Buffer<Hook> hook(bonds);
    Buffer<WindingLattice> lattice(bonds);
    int32_t count = 0;
    const SeamWindings windings{{key.data(), int64_t(key.size())},
                                {link.data(), hook.data()},
                                {of_root.data(), lattice.data(), &count},
                                nullptr,
                                nullptr};
    for_each_bond(replicas, memory,
                  [&](SeamBond<Index>& bond, int64_t number, int64_t replica, Index* parent) {
                    const auto slot_of = [&](Index run) {
                      const Index root = find<Shared>(parent, run);
                      return windings.table.slot_of<Shared>(SeamWindings::key_of(replica, int64_t(root)));
                    };
                    bond.from = slot_of(bond.last);
                    bond.to = slot_of(bond.first);
                    windings.unite<Shared>(bond.from, bond.to, bond.winding(), number);
                  });
    close_paths(windings, of_strip_);
    for_each_in(0, int64_t(key.size()), [&](int64_t slot) {
      if (of_root[slot] == WindingLattices::kNone) return;
      const WindingBasis& basis = lattice[of_root[slot]].basis;
      int64_t* const record =
          records + (key[slot] >> SeamWindings::kItemShift) * (kCounts + replicas.lattice.states);
      record[kWindingAxes] |= basis.axes() >> first_axis;
      record[kWindingRank] = std::max<int64_t>(record[kWindingRank], basis.rank());
    });
    for_each_bond(replicas, memory, [&](SeamBond<Index>& bond, int64_t, int64_t, Index* parent) {
      unite<Shared>(parent, bond.last, bond.first);
    });
  }

 private:
  // Calls body(bond, number, replica, parents) for all, in parallel.
  template <class Body>
  void for_each_bond(const Replicas& replicas, ForestMemory<Index>& memory, Body&& body) {
    parallel_for(strips_.count, [&](int64_t piece) {
      const int64_t replica = strips_[piece].replica;
      Index* const parent = RunForest<Index>(replicas.lattice, memory, replica).parents();
      for_each_in(0, int64_t(of_strip_[piece].size()),
                  [&](int64_t i) { body(of_strip_[piece][i], first_number_[piece] + i, replica, parent); });
    });
  }

  const Strips strips_;
  std::vector<std::vector<SeamBond<Index>>> of_strip_;
  std::vector<int64_t> first_number_;  // of each strip's bonds, and how many there are
};

}  // namespace conncomp
