// Lattices of any unit cell, whose spins of two states are bits: which bonds a word of 64 sites has. Site s
// of the b sites of cell x of a row, a line of cells along the last axis, is bit (b x + s) % 64 of word (b x
// + s) / 64 of the row. The honeycomb lattice, b = 2, is then a wall of bricks:
//      row 1     A - B - A - B - A - B           bonds along the row are one kind, from a site to the next;
//                    |       |       |           those between rows another one, from site A of a cell to
//      row 0         A - B - A - B - A - B       site B of the row before
// A kind of bonds leads from some sites of each cell by `step` along the axes before the last one, and by
// `shift` sites along the row, from the later row to the earlier one, but over the ends of axes. Kind 0 is
// that along the row, with step 0 and shift 1. A bond is satisfied by equal spins, else by different ones if
// the coupling is negative, or over an antiperiodic end. Clusters are a forest of runs, stretches of sites in
// a word that active bonds of kind 0 join. One bond is followed for each stretch in which neither run breaks.
// Random numbers are those of core/spins.h: kBond by word, with the kind for the axis, and kCoin.
#pragma once

#include "core/spins.h"

namespace conncomp {

constexpr int kMostKinds = 16, kMostCellSites = 8;

struct BondKind {
  int32_t step[kRowAxis], shift;
  Bits64 sites[kMostCellSites];  // of a word that begins at a cell's site of this number
};

// Layout: kernels/cells.py.
struct CellLattice {
  Lattice lattice;       // of sites: its rows are those of cells, and b times as long
  int32_t antiperiodic;  // a bit for each axis, which is periodic, too
  int32_t cell;          // b
  int32_t kinds;
  int32_t negative;  // whether the coupling is
  BondKind kind[kMostKinds];

  int64_t row_sites() const { return lattice.length[kRowAxis]; }
};

struct CellWord {
  WordPlace place;
  int64_t row;
};
inline CellWord cell_word(const CellLattice& cells, int64_t row, int64_t column) {
  CellWord word{{row * cells.lattice.columns() + column, {}, column}, row};
  for (int k = kRowAxis - 1; k >= 0; --k) {
    const int64_t length = cells.lattice.length[k];
    if (length == 1) continue;
    word.place.at[k] = row % length;
    row /= length;
  }
  return word;
}

// Where bonds of a kind lead from the sites of a word: bit p to site (begin + p) % row_sites().
struct OtherSites {
  int64_t row, begin;
  Bits64 sites, wrapped, opposite;  // which have one; over the row's end; satisfied by different spins
};
inline OtherSites other_sites(const CellLattice& cells, const CellWord& word, int number) {
  const Lattice& lattice = cells.lattice;
  const BondKind& kind = cells.kind[number];
  const int64_t length = cells.row_sites(), first = word.place.column * kWordSites + kind.shift;
  bool exists = true, differ = cells.negative != 0;
  OtherSites other{0, 0, 0, 0, 0};
  for (int k = 0; k < kRowAxis; ++k) {
    int64_t at = word.place.at[k] + kind.step[k];
    if (at < 0 || at >= lattice.length[k]) {
      exists = exists && lattice.closes(k);
      differ = differ != (cells.antiperiodic >> k & 1);
      at += at < 0 ? lattice.length[k] : -lattice.length[k];
    }
    other.row = other.row * lattice.length[k] + at;
  }
  if (first < 0) other.wrapped = ~(~Bits64(0) << -first);
  if (length - first < kWordSites) other.wrapped |= ~Bits64(0) << (first < length ? length - first : 0);
  other.begin = first < 0 ? first + length : first >= length ? first - length : first;
  if (other.begin < 0) other.begin += length;  // a row of one cell, from its last site to the first one
  other.opposite = (differ ? ~Bits64(0) : 0) ^ (cells.antiperiodic >> kRowAxis & 1 ? other.wrapped : 0);
  const int phase = cells.cell == 1 ? 0 : int(word.place.column * kWordSites % cells.cell);
  if (exists) other.sites = lattice.sites_of(word.place.column) & kind.sites[phase];
  if (!lattice.closes(kRowAxis)) other.sites &= ~other.wrapped;
  return other;
}

inline Bits64 bits_from(const CellLattice& cells, const Bits64* row, int64_t begin) {
  const int64_t column = begin / kWordSites, columns = cells.lattice.columns(), length = cells.row_sites();
  const int shift = int(begin % kWordSites);
  Bits64 bits = row[column] >> shift;
  if (shift != 0 && column + 1 < columns) bits |= row[column + 1] << (kWordSites - shift);
  for (int64_t known = length - begin; known < kWordSites; known += length) bits |= row[0] << known;
  return bits;
}

// The sites of a word whose bond of a kind is satisfied. `spins` are all of a replica.
inline Bits64 satisfied_by(
    const CellLattice& cells, const Bits64* spins, const CellWord& word, const OtherSites& other) {
  if (other.sites == 0) return 0;
  const Bits64 beside = bits_from(cells, spins + other.row * cells.lattice.columns(), other.begin);
  return ~(spins[word.place.word] ^ beside ^ other.opposite) & other.sites;
}

// The first bit of the run of bit p; -1 if it is before bit 0.
inline int run_of(Bits64 starts, int p) {
  const Bits64 before = starts & (~Bits64(0) >> (kWordSites - 1 - p));
#ifdef __CUDACC__
  return kWordSites - 1 - __clzll((long long)before);
#else
  return before == 0 ? -1 : kWordSites - 1 - __builtin_clzll(before);
#endif
}
inline Bits64 followed_bonds(Bits64 active, Bits64 starts, Bits64 other_starts) {
  return active & (~(active << 1) | starts | other_starts);
}

// Calls body(run, run at the other end), by first sites, for bonds to follow. `starts` has all words.
inline void for_each_followed(const CellLattice& cells, const Bits64* starts, const CellWord& word,
    const OtherSites& other, Bits64 active, auto&& body) {
  const int64_t length = cells.row_sites(), columns = cells.lattice.columns();
  const Bits64* const row = starts + other.row * columns;
  const Bits64 own = starts[word.place.word], there = bits_from(cells, row, other.begin);
  const int64_t first = word.row * length + word.place.column * kWordSites;
  Bits64 followed = followed_bonds(active, own, there);
  for (; followed != 0; followed &= followed - 1) {
#ifdef __CUDACC__
    const int p = __ffsll((long long)followed) - 1;
#else
    const int p = __builtin_ctzll(followed);
#endif
    int64_t to = other.begin + run_of(there, p);
    if (to < other.begin) {  // the run starts in the word before
      const int64_t at = (other.begin + p) % length, column = at / kWordSites;
      to = column * kWordSites + run_of(row[column], int(at % kWordSites));
    } else {
      while (to >= length) to -= length;
    }
    body(first + run_of(own, p), other.row * length + to);
  }
}

}
