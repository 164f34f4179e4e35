// The active bonds of an update where clusters ask for them, many words at a time: drawn when a patch is
// first touched, and kept. Memory, of a few replicas for each thread: (4 + axes) words a row and column of
// patches, which are 6 bits a site of two long axes, 5 bytes of a chain, and more where a row has fewer than
// 64 sites: 24 bytes of 4 x 4.
//
// Patches. A patch has the words of 8 or 16 rows that follow each other along the last axis but one, one
// above the other; the last ones along that axis may have fewer.
#pragma once

#include <iterator>

#include "cpu/core/many_words.h"
#include "cpu/models/potts/cells.h"

namespace conncomp {

constexpr int kColumnAxis = kRowAxis - 1;

// How many rows a patch has where rows are few, and else: those of two registers, which work at the same
// time.
constexpr int kFewPatchRows = 8, kMostPatchRows = std::max(8, 2 * ManyWords<8>::kOfPart);

// Where a patch is: its number, first word and rows, the coordinates of the first row, and the column.
struct PatchPlace {
  int64_t patch;
  WordPlace first;
  int rows;

  WordPlace at(const Lattice& lattice, int row) const {
    WordPlace place = first;
    place.word += row * lattice.columns();
    place.at[kColumnAxis] += row;
    return place;
  }
};

template <int kRows>
class Patches {
 public:
  Patches(const Lattice& lattice, const Draws& draws, Bits64 probability, const Bits64* spins, Bits64 update,
          Bits64* patches)
      : lattice_(lattice),
        draws_(draws),
        probability_(probability),
        spins_(spins),
        update_(update),
        patches_(patches),
        groups_(groups(lattice)),
        words_of_patch_(words_of_patch(lattice)) {}

  // How many words the patches of a replica take.
  static int64_t memory(const Lattice& lattice) {
    return lattice.length[0] * lattice.length[1] * groups(lattice) * lattice.columns() *
           words_of_patch(lattice);
  }

  int64_t patch_with(int64_t word) const {
    const int64_t columns = lattice_.columns(), row = word / columns,
                  line = row / lattice_.length[kColumnAxis];
    const int64_t group = row % lattice_.length[kColumnAxis] / kRows;
    return (line * groups_ + group) * columns + word % columns;
  }
  PatchPlace place_of(int64_t patch) const {
    const int64_t columns = lattice_.columns(), groups = patch / columns, line = groups / groups_,
                  at = groups % groups_ * kRows;
    const int64_t length = lattice_.length[kColumnAxis], column = patch % columns;
    const WordPlace first{(line * length + at) * columns + column,
                          {line / lattice_.length[1], line % lattice_.length[1], at},
                          column};
    return {patch, first, int(std::min<int64_t>(length - at, kRows))};
  }
  // The next or the previous patch along an axis, around the lattice if need be.
  int64_t beside(const PatchPlace& place, int axis, bool after) const {
    const int64_t columns = lattice_.columns();
    int64_t at = place.first.column, length = columns, stride = 1;
    if (axis < kRowAxis) {
      at = axis == kColumnAxis ? place.first.at[axis] / kRows : place.first.at[axis];
      length = axis == kColumnAxis ? groups_ : lattice_.length[axis];
      stride = axis == kColumnAxis ? columns : groups_ * columns * (axis == 0 ? lattice_.length[1] : 1);
    }
    if (after) return place.patch + (at + 1 < length ? stride : -at * stride);
    return place.patch + (at > 0 ? -stride : (length - 1) * stride);
  }

  // What is known of a patch in this update, words of rows each: which sites have been visited, which
  // wait, and whose bonds along an axis are active; and the last cluster that came, of none 0.
  class Patch {
   public:
    Bits64& last_cluster() const { return words_[1]; }
    PatchPlace place(int64_t patch) const {
      const auto at = [&](int k) { return int64_t(words_[k]); };
      return {patch, {at(2), {at(3), at(4), at(5)}, at(6)}, int(words_[7])};
    }
    Bits64* visited() const { return words_ + kRows; }
    Bits64* waiting() const { return words_ + 2 * kRows; }
    // Those between rows of a patch are there once more, without those that lead out of it.
    Bits64* active(int axis) const { return words_ + (4 + kRowAxis - axis) * kRows; }
    Bits64* inner() const { return words_ + 3 * kRows; }

   private:
    friend class Patches;
    explicit Patch(Bits64* words) : words_(words) {}

    Bits64* const words_;
  };
  Patch operator[](int64_t patch) {
    const Patch bits(patches_ + patch * words_of_patch_);
    if (bits.words_[0] != update_) fill(place_of(patch), bits);
    return bits;
  }

 private:
  static int64_t groups(const Lattice& lattice) { return (lattice.length[kColumnAxis] + kRows - 1) / kRows; }
  // The first axis that is longer than 1, or the last one.
  static int first_axis(const Lattice& lattice) {
    int axis = 0;
    while (axis < kRowAxis && lattice.length[axis] == 1) ++axis;
    return axis;
  }
  static int words_of_patch(const Lattice& lattice) {
    return (4 + kLatticeAxes - first_axis(lattice)) * kRows;
  }

  [[gnu::noinline]] void fill(const PatchPlace& place, const Patch& patch) const {
    std::fill_n(patch.words_, words_of_patch_, 0);
    EightBonds offered[kLatticeAxes * kRows / 8];
    int count = 0;
    for (int axis = first_axis(lattice_); axis < kLatticeAxes; ++axis) {
      if (axis < kRowAxis && lattice_.length[axis] == 1) continue;
      Bits64* const bonds = patch.active(axis);
      offer(place, axis, bonds);
      for (int row = 0; row < kRows; row += 8)
        offered[count++] = {Bits64(place.at(lattice_, row).word), lattice_.columns(), axis, bonds + row};
    }
    int k = 0;
    for (; k + 1 < count; k += 2) activate_both(draws_, offered[k], offered[k + 1], probability_);
    if (k < count) activate_eight(draws_, offered[k], probability_);
    if (lattice_.length[kColumnAxis] > 1)
      std::copy_n(patch.active(kColumnAxis), place.rows - 1, patch.inner());
    const WordPlace& first = place.first;
    const int64_t header[] = {int64_t(update_), 0,           first.word,   first.at[0],
                              first.at[1],      first.at[2], first.column, place.rows};
    std::copy_n(header, std::size(header), patch.words_);
  }

  // The satisfied bonds of the rows of a patch along an axis: but for that along which rows follow each other
  // the next sites are as far apart as rows are.
  void offer(const PatchPlace& place, int axis, Bits64* bonds) const {
    const int64_t columns = lattice_.columns();
    NextSites next = next_sites(lattice_, place.first, axis);
    for (int row = 0; row < place.rows; ++row, next.word += columns) {
      const int64_t word = place.first.word + row * columns;
      if (axis == kColumnAxis && row + 1 == place.rows)
        next = next_sites(lattice_, place.at(lattice_, row), axis);
      bonds[row] = satisfied_bonds(lattice_, spins_, word, next);
    }
  }

  const Lattice lattice_;
  const Draws draws_;
  const Bits64 probability_;
  const Bits64* const spins_;
  const Bits64 update_;
  Bits64* const patches_;
  const int64_t groups_;
  const int words_of_patch_;
};

}  // namespace conncomp
