// The active bonds of rows of a replica: drawn where they are asked for, and counted.
#pragma once

#include <vector>

#include "cpu/models/draws.h"
#include "cpu/models/potts/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// Draws bonds between equal spins, in one thread.
struct ActiveBonds {
  const Lattice& lattice;
  const Bits64* spins;
  Draws draws;
  Bits64 probability;
  SpinTally* tally;  // to which they are added; null if nobody asks

  // Of the bonds that rows from `row` on have along an axis, those that are active, given those that are
  // satisfied.
  void activate(int64_t row, int axis, int64_t rows, Bits64* bonds) const {
    const int64_t columns = lattice.columns();
    if (tally) tally->satisfied += count_bits(bonds, rows * columns);
    conncomp::activate(draws, row * columns, axis, probability, rows * columns, bonds);
    if (tally) tally->active += count_bits(bonds, rows * columns);
  }
  // Those between rows g and h, one of which, the `owner`, they belong to.
  void between(int64_t g, int64_t h, int64_t owner, int axis, Bits64* bonds) const {
    equal_sites(lattice, spins, g, h, bonds);
    activate(owner, axis, 1, bonds);
  }
};

// The bonds of a few rows of a strip, as far as both ends are in the strip, and none leads around.
struct ChunkBonds {
  std::vector<Bits64> along, before[kRowAxis];  // along the rows; to them, from the rows before along an axis

  void draw(const ActiveBonds& active, const Strip& strip, int64_t begin, int64_t end) {
    const Lattice& lattice = active.lattice;
    const int64_t rows = end - begin, columns = lattice.columns();
    along.resize(rows * columns);
    for (int64_t row = begin; row < end; ++row)
      equal_along(lattice, active.spins, row, along.data() + (row - begin) * columns);
    active.activate(begin, kRowAxis, rows, along.data());
    for (int axis = 0; axis < kRowAxis; ++axis) {
      if (lattice.length[axis] == 1) continue;
      before[axis].assign(rows * columns, 0);
      for (RowPlace place(lattice, begin); place.row < end; place.advance(lattice))
        if (const int64_t g = row_before(lattice, place, axis); g >= strip.begin)
          equal_sites(lattice, active.spins, g, place.row,
                      before[axis].data() + (place.row - begin) * columns);
      active.activate(begin - row_stride(lattice, axis), axis, rows, before[axis].data());
    }
  }
};

}  // namespace conncomp
