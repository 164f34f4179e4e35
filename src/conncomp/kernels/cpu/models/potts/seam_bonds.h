// Windings of the clusters of an update: what a forest of runs leaves over of the bonds over the ends of
// periodic axes, so that its roots are those of the open lattice.
//
// How: as for arrays (cpu/grid/windings.h), the names of open clusters being their roots. At last the bonds
// join the forest, which then is what it would have been with them from the beginning, as a root is the
// smallest run of its cluster. Cost: that of the lattice's surface; some 90 bytes a bond, for
// those alone that are active and join another pair of runs than the bond before.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/union_find.h"
#include "core/wrapping/windings.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/windings.h"
#include "cpu/models/potts/forest.h"
#include "cpu/models/potts/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// An active bond over the end of an axis, from the last site along it to the first one, a period farther.
template <class Index>
struct SeamBond {
  Index last, first;  // their runs
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
      : strips_(strips), bonds_(strips.count), first_number_(strips.count + 1) {}

  // Adds the bond of two runs of a replica; a strip's are added by one thread.
  void add(int64_t piece, Index last, Index first, int axis) { bonds_[piece].push_back({last, first, axis}); }

  // Joins the forest, and records along which axes, counted from `first_axis` on, clusters close on
  // themselves, and the highest rank of a cluster.
  void join(const Replicas& replicas, ForestMemory<Index>& memory, int first_axis, int64_t* records) {
    for (int64_t k = 0; k < strips_.count; ++k)
      first_number_[k + 1] = first_number_[k] + int64_t(bonds_[k].size());
    const int64_t bonds = first_number_.back();
    if (bonds == 0) return;
    const auto parents = [&](int64_t piece) {
      return RunForest<Index>(replicas.lattice, memory, strips_[piece].replica).parents();
    };
    // Each bond has two ends, and one lattice at most.
    const SeamTables tables(int64_t(std::bit_ceil(Bits64(2 * bonds + 1))), bonds, bonds, false);
    const SeamWindings& windings = tables.windings();
    find_windings(windings, strips_.count, [&](int64_t piece, const auto& unite) {
      const auto key_of = [&, parent = parents(piece), replica = strips_[piece].replica](Index run) {
        return SeamWindings::key_of(replica, int64_t(find<Shared>(parent, run)));
      };
      for_each_in(0, int64_t(bonds_[piece].size()), [&](int64_t i) {
        const SeamBond<Index>& bond = bonds_[piece][i];
        unite(key_of(bond.last), key_of(bond.first), bond.winding(), first_number_[piece] + i);
      });
    });
    for_each_in(0, windings.table.slots, [&](int64_t slot) {
      const WindingBasis* const basis = windings.basis_at(slot);
      if (basis == nullptr) return;
      int64_t* const record = records + windings.item_of(slot) * (kCounts + replicas.lattice.states);
      record[kWindingAxes] |= basis->axes() >> first_axis;
      record[kWindingRank] = std::max<int64_t>(record[kWindingRank], basis->rank());
    });
    parallel_for(strips_.count, [&](int64_t piece) {
      for_each_in(0, int64_t(bonds_[piece].size()), [&, parent = parents(piece)](int64_t i) {
        unite<Shared>(parent, bonds_[piece][i].last, bonds_[piece][i].first);
      });
    });
  }

 private:
  const Strips strips_;
  std::vector<std::vector<SeamBond<Index>>> bonds_;  // of each strip
  std::vector<int64_t> first_number_;                // of each strip's bonds, and how many there are
};

}  // namespace conncomp
