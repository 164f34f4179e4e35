// Swendsen and Wang: active bonds make a forest of runs (forest.h), whose roots draw states. 1. Each thread
// takes a strip of rows, a few of which at a time get their active bonds, runs, and unions with rows before.
// Strips one after the other are one slab. 2. Bonds between slabs are drawn and followed, with
// compare-and-swap. 3. If windings are measured, bonds over the ends of axes are followed only now
// (SeamBonds). 4. Lengths of runs are added up at the roots, if clusters are measured, and strips flip
// (run_clusters.h). Source: ours; R. H. Swendsen and J.-S. Wang, Phys. Rev. Lett. 58, 86 (1987).
#pragma once

#include "cpu/grid/windings.h"
#include "cpu/models/potts/active_bonds.h"
#include "cpu/models/run_clusters.h"

namespace conncomp {

// Windings of clusters: bonds over the ends of periodic axes are left over, so that roots name the clusters
// of the open lattice (cpu/grid/windings.h); at last they join the forest. Cost: some 90 bytes for each
// active bond that joins another pair of runs than the bond before.

// An active bond over the end of an axis, from the last site to the first one, a period farther.
template <class Index> struct SeamBond {
  Index last, first;  // their runs
  int32_t axis;

  Winding winding() const {
    Winding winding{};
    winding.along[axis] = 1;
    return winding;
  }
};

template <class Index> class SeamBonds {
 public:
  explicit SeamBonds(const Strips& strips)
      : strips_(strips), bonds_(strips.count), first_number_(strips.count + 1) {}

  void add(int64_t piece, Index last, Index first, int axis) { bonds_[piece].push_back({last, first, axis}); }

  // Joins the forest, and records along which axes, from `first_axis` on, clusters wrap, and their rank.
  void join(const LatticeReplicas& replicas, ForestMemory<Index>& memory, int first_axis, int64_t* records) {
    for (int64_t k = 0; k < strips_.count; ++k)
      first_number_[k + 1] = first_number_[k] + int64_t(bonds_[k].size());
    const int64_t bonds = first_number_.back();
    if (bonds == 0) return;
    const auto parents = [&](int64_t piece) {
      return RunForest<Index>(replicas.lattice, memory, strips_[piece].replica).parents();
    };
    const auto unite_bonds = [&](int64_t piece, const auto& unite) {
      const auto key_of = [&, parent = parents(piece), replica = strips_[piece].replica](Index run) {
        return SeamWindings::key_of(replica, int64_t(find<Concurrent>(parent, run)));
      };
      for_each_in(0, int64_t(bonds_[piece].size()), [&](int64_t i) {
        const SeamBond<Index>& bond = bonds_[piece][i];
        unite(key_of(bond.last), key_of(bond.first), bond.winding(), first_number_[piece] + i);
      });
    };
    wind_links(bonds, strips_.count, unite_bonds, [&](int64_t replica, const WindingBasis& basis) {
      int64_t* const record = records + replica * (kCounts + replicas.lattice.states);
      record[kWindingAxes] |= basis.axes() >> first_axis;
      record[kWindingRank] = std::max<int64_t>(record[kWindingRank], basis.rank());
    });
    parallel_for(strips_.count, [&](int64_t piece) {
      for_each_in(0, int64_t(bonds_[piece].size()), [&, parent = parents(piece)](int64_t i) {
        unite<Concurrent>(parent, bonds_[piece][i].last, bonds_[piece][i].first);
      });
    });
  }

 private:
  const Strips strips_;
  std::vector<std::vector<SeamBond<Index>>> bonds_;  // of each strip
  std::vector<int64_t> first_number_;                // of each strip's bonds, and of all
};

template <class Index> class SwendsenWang : public RunClusters<Index> {
 public:
  // `record` may be nullptr. With `wrapping` bonds over ends are left to `wind`; `source` replaces words.
  SwendsenWang(const LatticeReplicas& replicas, ForestMemory<Index>& memory, const Bits64* words, Bits32 step,
      const Bits64* probabilities, int64_t* record, bool wrapping, const BondSource* source = nullptr)
      : RunClusters<Index>(replicas, memory, step, record),
        words_(words),
        probabilities_(probabilities),
        wrapping_(wrapping),
        source_(source),
        seam_bonds_(strips_) {}

  void label() {
    this->for_each_strip([this](auto&&... of) { label_strip(of...); });
    if (strips_.per_replica > 1) this->for_each_strip([this](auto&&... of) { sew_strip(of...); });
  }

  void wind(int first_axis) { seam_bonds_.join(replicas_, memory_, first_axis, record_); }

 private:
  ActiveBonds active_bonds(const Strip& strip, SpinTally& tally) const {
    const Bits64 probability = source_ ? 0 : probabilities_[strip.replica];
    return {replicas_, strip.replica, words_, step_, probability, record_ ? &tally : nullptr, source_};
  }

  void label_strip(int64_t piece, RunForest<Index>& forest, SpinTally& tally) {
    const Strip slab = slabs_.take(piece);
    ActiveBonds active = active_bonds(slab, tally);
    ChunkBonds bonds;
    const auto draw = [&](int64_t begin, int64_t end) {
      bonds.draw(active, slab, begin, end);
      if (record_ && !source_) tally.add_rows(lattice_, active.spins(), begin, end);
      return bonds.along();
    };
    this->make_runs(piece, forest, draw, [&](const RowPlace& place, int64_t word, bool closes) {
      join_rows_of_slab(piece, place, word, active, bonds, forest);
      if (closes && wrapping_)
        seam_bonds_.add(piece, forest.last_run(place.row), forest.first_run(place.row), kRowAxis);
      else if (closes)
        forest.close_row(place.row);
    });
  }

  // Unites a row with the rows of its slab before it, and with those around the lattice.
  [[gnu::always_inline]] void join_rows_of_slab(int64_t piece, const RowPlace& place, int64_t word,
      ActiveBonds& active, const ChunkBonds& bonds, RunForest<Index>& forest) {
    const int64_t first_row = slabs_[piece].begin;
    RowBefore before[kRowAxis];
    int count = 0;
    for (int axis = kRowAxis - 1; axis >= 0; --axis)
      if (const int64_t g = row_before(lattice_, place, axis); g >= first_row)
        before[count++] = {g, bonds.before(axis) + word};
    if (count == 1) forest.template adopt_row<1>(before, place.row);
    if (count == 2) forest.template adopt_row<2>(before, place.row);
    if (count == 3) forest.template adopt_row<3>(before, place.row);
    for (int axis = kRowAxis - 1; axis >= 0; --axis) {
      const int64_t g = row_around(lattice_, place, axis);
      if (g < first_row) continue;
      const Bits64* const around = active.between(g, place.row, place.row, axis);
      if (wrapping_)
        leave_for_winding(piece, forest, g, place.row, axis, around);
      else if (g < place.row)
        forest.join_rows(g, place.row, around);
    }
  }

  void leave_for_winding(
      int64_t piece, const RunForest<Index>& forest, int64_t g, int64_t row, int axis, const Bits64* bonds) {
    forest.for_each_contact(
        g, row, bonds, [&](Index first, Index last) { seam_bonds_.add(piece, last, first, axis); });
  }

  void sew_strip(int64_t piece, RunForest<Index>& forest, SpinTally& tally) {
    const Strip strip = strips_[piece], slab = slabs_[piece];
    ActiveBonds active = active_bonds(strip, tally);
    const auto sew = [&](int64_t g, int64_t h, int64_t owner, int axis) {
      if (g < 0 || g >= slab.begin) return;
      const bool goes_around = owner == h;
      poll(lattice_.length[kRowAxis]);
      const Bits64* const bonds = active.between(g, h, owner, axis);
      if (wrapping_ && goes_around)
        leave_for_winding(piece, forest, g, h, axis, bonds);
      else
        forest.sew_rows(g, h, bonds, sewn_[piece]);
    };
    for (RowPlace place(lattice_, strip.begin); place.row < strip.end; place.advance(lattice_)) {
      poll(1);
      for (int axis = 0; axis < kRowAxis; ++axis) {
        const int64_t g = row_before(lattice_, place, axis);
        sew(g, place.row, g, axis);
        sew(row_around(lattice_, place, axis), place.row, place.row, axis);
      }
    }
  }

  using Base = RunClusters<Index>;
  using Base::replicas_, Base::lattice_, Base::strips_, Base::memory_, Base::step_, Base::record_;
  using Base::slabs_, Base::sewn_;

  const Bits64* const words_;
  const Bits64* const probabilities_;
  const bool wrapping_;
  const BondSource* const source_;
  SeamBonds<Index> seam_bonds_;
};

}
