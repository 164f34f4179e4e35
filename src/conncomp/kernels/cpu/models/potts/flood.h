// Clusters of chosen sites alone, 64 sites at a time, where bonds are dear to draw, as of vectors (states:
// patch_flood.h). Reached sites of a word wait until its turn; then they spread along the row, and reach the
// words around. The smallest site draws what becomes of the cluster. One thread a replica. Source: ours;
// updates: Wolff 1989; Weigel 2011, section III.
#pragma once

#include "cpu/core/bits.h"
#include "cpu/models/potts/cells.h"

namespace conncomp {

struct Members {
  int64_t word;
  Bits64 sites;
};

inline int64_t smallest_site(const Lattice& lattice, const std::vector<Members>& members) {
  Members first = members.front();
  for (const Members& some : members) {
    if (some.word > first.word) continue;
    first = {some.word, some.word < first.word ? some.sites : first.sites | some.sites};
  }
  return lattice.first_site(first.word) + std::countr_zero(first.sites);
}

class Flood {
 public:
  Flood(const Lattice& lattice, Cells& cells)
      : lattice_(lattice), cells_(cells), last_bit_(int((lattice.length[kRowAxis] - 1) % kWordSites)) {}

  // Visits the cluster of an unvisited site; returns its smallest. Members stay until the next grows.
  int64_t grow(const SitePlace& start) {
    members_.clear();
    reach(start.word, cells_[start.word], Bits64(1) << start.bit);
    while (!waiting_words_.empty()) {
      poll(kWordSites);
      const int64_t word = waiting_words_.back();
      waiting_words_.pop_back();
      spread(word);
    }
    return smallest_site(lattice_, members_);
  }
  const std::vector<Members>& members() const { return members_; }

 private:
  void reach(int64_t word, const Cells::Cell& cell, Bits64 sites) {
    sites &= ~cell.visited();
    if (sites == 0) return;
    if (cell.waiting() == 0) waiting_words_.push_back(word);
    cell.waiting() |= sites;
  }

  void spread(int64_t word) {
    const WordPlace place = place_of(lattice_, word);
    const Cells::Cell cell = cells_[word];
    const Bits64 along = cell.active(kRowAxis);
    // The bond that closes a row seems to lead behind its last site, where there is none.
    const Bits64 sites =
        spread_along(cell.waiting(), along) & lattice_.sites_of(place.column) & ~cell.visited();
    cell.waiting() = 0;
    cell.visited() |= sites;
    members_.push_back({word, sites});
    reach_along(place, sites, along);
    for (int axis = cells_.first_axis(); axis < kRowAxis; ++axis) {
      if (lattice_.length[axis] == 1) continue;
      const int64_t stride = word_stride(lattice_, axis);
      if (const Bits64 active = sites & cell.active(axis)) {
        const int64_t next = next_along(lattice_, place, axis, stride);
        reach(next, cells_[next], active);
      }
      if (const int64_t before = previous_along(lattice_, place, axis, stride); before >= 0) {
        const Cells::Cell cell_before = cells_[before];
        reach(before, cell_before, sites & cell_before.active(axis));
      }
    }
  }

  // The sites of a word to which bonds along the row, within it, lead from `sites`.
  static Bits64 spread_along(Bits64 sites, Bits64 bonds) {
    Bits64 right = bonds << 1, left = bonds;  // whether a site is joined to those so far before or behind
    for (int shift = 1; shift < kWordSites; shift *= 2) {
      sites |= (right & sites << shift) | (left & sites >> shift);
      right &= right << shift;
      left &= left >> shift;
    }
    return sites;
  }

  void reach_along(const WordPlace& place, Bits64 sites, Bits64 along) {
    const int64_t columns = lattice_.columns(), row = place.word - place.column;
    const bool ends = place.column + 1 == columns;
    const int last = ends ? last_bit_ : kWordSites - 1;
    if ((sites & along) >> last & 1) {
      const int64_t next = ends ? row : place.word + 1;
      reach(next, cells_[next], 1);
    }
    if (!(sites & 1) || (place.column == 0 && !lattice_.closes(kRowAxis))) return;
    const int64_t before = place.column > 0 ? place.word - 1 : row + columns - 1;
    const Bits64 end = Bits64(1) << (place.column > 0 ? kWordSites - 1 : last_bit_);
    const Cells::Cell cell_before = cells_[before];
    reach(before, cell_before, cell_before.active(kRowAxis) & end);
  }

  const Lattice lattice_;
  Cells& cells_;
  const int last_bit_;
  std::vector<int64_t> waiting_words_;  // those with sites that wait, each once
  std::vector<Members> members_;
};

}
