// The active bonds of an update: drawn when a word of sites is first touched, and kept.
#pragma once

#include <optional>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/potts/active_bonds.h"

namespace conncomp {

// What is known of a word: its update, visited and waiting sites, active bonds from `first_axis` on.
class Cells {
 public:
  static int first_axis(const Lattice& lattice) {
    int axis = 0;
    while (axis < kRowAxis && lattice.length[axis] == 1 && !lattice.closes(axis)) ++axis;
    return axis;
  }
  static int words_of_cell(const Lattice& lattice) { return kBonds + kLatticeAxes - first_axis(lattice); }
  static int64_t memory(const Lattice& lattice) { return lattice.words() * words_of_cell(lattice); }

  Cells(const Lattice& lattice, const Draws& draws, Bits64 probability, const Bits64* spins, Bits64 update,
      Bits64* cells)
      : Cells(lattice, update, cells) {
    draws_ = draws;
    probability_ = probability;
    spins_ = spins;
  }
  // Cells of a replica whose active bonds have another source.
  Cells(const Lattice& lattice, const BondSource& source, int64_t replica, Bits64 update, Bits64* cells)
      : Cells(lattice, update, cells) {
    source_ = &source;
    replica_ = replica;
  }

  class Cell {
   public:
    Bits64& visited() const { return words_[kVisited]; }
    Bits64& waiting() const { return words_[kWaiting]; }
    Bits64 active(int axis) const { return words_[kBonds + axis - first_axis_]; }

   private:
    friend class Cells;
    Cell(Bits64* words, int first_axis) : words_(words), first_axis_(first_axis) {}

    Bits64* const words_;
    const int first_axis_;
  };

  int first_axis() const { return first_axis_; }
  Cell operator[](int64_t word) {
    Bits64* const cell = cells_ + word * words_of_cell_;
    if (cell[kUpdate] != update_) fill(word, cell);
    return {cell, first_axis_};
  }

 private:
  enum { kUpdate, kVisited, kWaiting, kBonds };

  Cells(const Lattice& lattice, Bits64 update, Bits64* cells)
      : lattice_(lattice),
        update_(update),
        cells_(cells),
        first_axis_(first_axis(lattice)),
        words_of_cell_(words_of_cell(lattice)) {}

  [[gnu::noinline]] void fill(int64_t word, Bits64* cell) const {
    const WordPlace place = place_of(lattice_, word);
    for (int axis = first_axis_; axis < kLatticeAxes; ++axis) {
      Bits64* const bonds = cell + kBonds + axis - first_axis_;
      if (source_)
        (*source_)(replica_, word, 1, axis, bonds);
      else
        *bonds = activate_word(
            draws_, Bits64(word), axis, probability_, satisfied_bonds(lattice_, spins_, place, axis));
    }
    cell[kVisited] = cell[kWaiting] = 0;
    cell[kUpdate] = update_;
  }

  const Lattice lattice_;
  Draws draws_{};
  Bits64 probability_ = 0;
  const Bits64* spins_ = nullptr;
  const BondSource* source_ = nullptr;
  int64_t replica_ = 0;
  const Bits64 update_;
  Bits64* const cells_;
  const int first_axis_, words_of_cell_;
};

// Memory of cells or patches; replicas have numbers from 1 on, and cells of another number are empty.
class CellMemory {
 public:
  CellMemory(int64_t of_replica, int64_t parts) : parts_(parts), words_(of_replica * parts) {
    for_each_index(of_replica * parts, [&](int64_t i) { words_[i] = 0; });
  }

  // Calls body(replica, number, cells) for each replica, in parallel; always with the same size of cells.
  static void for_each_replica(
      std::optional<CellMemory>& memory, int64_t of_replica, int64_t replicas, auto&& body) {
    const Parts parts(replicas, 1);
    if (!memory || memory->parts_ < parts.parts) memory.emplace(of_replica, parts.parts);
    const Bits64 before = memory->numbers_;
    memory->numbers_ += Bits64(replicas);
    parallel_for(parts.parts, [&](int64_t part) {
      for (int64_t replica = parts.begin(part); replica < parts.end(part); ++replica)
        body(replica, before + Bits64(replica) + 1, memory->words_.data() + part * of_replica);
    });
  }

 private:
  int64_t parts_;
  Buffer<Bits64> words_;
  Bits64 numbers_ = 0;
};

inline void set_state(const Lattice& lattice, Bits64* spins, int64_t word, Bits64 sites, int state) {
  for (int k = 0; k < lattice.planes; ++k) {
    Bits64& digits = spins[k * lattice.words() + word];
    digits = state >> k & 1 ? digits | sites : digits & ~sites;
  }
}

struct ChoiceRule {
  ChoiceTiles tiles;
  bool certain;  // or else `flip` is the probability
  Bits64 flip;

  bool flips(const ClusterDraw& draw) const { return certain || draw.decision < flip; }
};

}
