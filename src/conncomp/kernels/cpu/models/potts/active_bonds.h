// Draws the active bonds of rows, and counts them. Models other than Potts' pass a source of bonds.
#pragma once

#include "cpu/models/draws.h"
#include "cpu/models/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// Writes the active bonds of `count` words of a row, from `word` on, along an axis.
using BondSource = FunctionRef<void(int64_t replica, int64_t word, int64_t count, int axis, Bits64* bonds)>;

class ActiveBonds {
 public:
  // Counts bonds in `tally`, unless null. With a source all else that decides on bonds is unused.
  ActiveBonds(const LatticeReplicas& replicas, int64_t replica, const Bits64* words, Bits32 step,
      Bits64 probability, SpinTally* tally, const BondSource* source)
      : lattice_(replicas.lattice),
        replica_(replica),
        spins_(source ? nullptr : replicas.spins(words, replica)),
        draws_(replicas.draws(replica, step)),
        probability_(probability),
        tally_(tally),
        source_(source),
        between_(lattice_.columns()) {}

  const Lattice& lattice() const { return lattice_; }
  const Bits64* spins() const { return spins_; }

  void offer_along(int64_t row, Bits64* bonds) const {
    source_ ? (*source_)(replica_, row * lattice_.columns(), lattice_.columns(), kRowAxis, bonds)
            : equal_along(lattice_, spins_, row, 1, bonds);
  }
  void offer_between(int64_t g, int64_t h, int64_t owner, int axis, Bits64* bonds) const {
    source_ ? (*source_)(replica_, owner * lattice_.columns(), lattice_.columns(), axis, bonds)
            : equal_sites(lattice_, spins_, g, h, 1, bonds);
  }

  void activate(int64_t row, int axis, int64_t rows, Bits64* bonds) const {
    const int64_t columns = lattice_.columns();
    if (tally_) tally_->satisfied += count_bits(bonds, rows * columns);
    if (!source_) conncomp::activate(draws_, row * columns, axis, probability_, rows * columns, bonds);
    if (tally_) tally_->active += count_bits(bonds, rows * columns);
  }
  // The active bonds between rows g and h, of row `owner`; until the next call.
  const Bits64* between(int64_t g, int64_t h, int64_t owner, int axis) {
    offer_between(g, h, owner, axis, between_.data());
    activate(owner, axis, 1, between_.data());
    return between_.data();
  }

 private:
  const Lattice lattice_;
  const int64_t replica_;
  const Bits64* const spins_;
  const Draws draws_;
  const Bits64 probability_;
  SpinTally* const tally_;
  const BondSource* const source_;
  std::vector<Bits64> between_;
};

// The active bonds of a few rows within one slab, none of which leads around.
class ChunkBonds {
 public:
  void draw(const ActiveBonds& active, const Strip& slab, int64_t begin, int64_t end) {
    const Lattice& lattice = active.lattice();
    const int64_t rows = end - begin, columns = lattice.columns();
    along_.resize(rows * columns);
    for (int64_t row = begin; row < end; ++row)
      active.offer_along(row, along_.data() + (row - begin) * columns);
    active.activate(begin, kRowAxis, rows, along_.data());
    for (int axis = 0; axis < kRowAxis; ++axis) {
      if (lattice.length[axis] == 1) continue;
      before_[axis].assign(rows * columns, 0);
      for (RowPlace place(lattice, begin); place.row < end; place.advance(lattice))
        if (const int64_t g = row_before(lattice, place, axis); g >= slab.begin)
          active.offer_between(g, place.row, g, axis, before_[axis].data() + (place.row - begin) * columns);
      active.activate(begin - row_stride(lattice, axis), axis, rows, before_[axis].data());
    }
  }

  // Along the rows; to the rows, from those before along another axis.
  const Bits64* along() const { return along_.data(); }
  const Bits64* before(int axis) const { return before_[axis].data(); }

 private:
  std::vector<Bits64> along_, before_[kRowAxis];
};

}
