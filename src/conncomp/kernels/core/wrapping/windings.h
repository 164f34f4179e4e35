// Which components of a torus close on themselves, and how: windings.
// Cut a torus open along its periodic axes. Seam links, across a cut, connect components of the open array
// some periods farther: their winding, -1, 0 or 1 along each periodic axis. A closed path of seam links whose
// windings sum up to w winds w times around the torus, and these windings of a component are a lattice of
// integer vectors. Three rows that are periodic, cut at their ends:
//      1 1 . . 2 2        open components 1 and 2. The seam link from 2 to 1 in the first row has winding 1,
//      . 1 . . 2 .        and closes no path: 2 lies left of 1, a period back. Were the . in the last row
//      . 1 1 . 2 .        set, 2 would be 1, and the link a closed path of winding 1: a ring.
// SeamTable names seam components by slots, WindingForest puts them under roots, each with its winding from
// there (Machta et al. 1996), and WindingLattices collects closed paths for each root; SeamWindings has all.
#pragma once

#include "core/atomics.h"
#include "core/key_hash.h"

namespace conncomp {

constexpr int kMostClosedAxes = 4;

struct Winding {
  int32_t along[kMostClosedAxes];

  Winding& operator+=(const Winding& other) {
    for (int k = 0; k < kMostClosedAxes; ++k) along[k] += other.along[k];
    return *this;
  }
  Winding& operator-=(const Winding& other) {
    for (int k = 0; k < kMostClosedAxes; ++k) along[k] -= other.along[k];
    return *this;
  }
  bool operator==(const Winding& other) const {
    int32_t differs = 0;
    for (int k = 0; k < kMostClosedAxes; ++k) differs |= along[k] ^ other.along[k];
    return differs == 0;
  }
  bool is_zero() const { return *this == Winding{}; }
};

// Slots for keys, by open addressing: a power of two of them, more than keys.
struct SeamTable {
  static constexpr int64_t kNoKey = -1;
  int64_t* key;  // of each slot
  int64_t slots;

  template <class Access> int32_t slot_of(int64_t wanted) const {
    int64_t slot = int64_t(scrambled(uint64_t(wanted))) & (slots - 1);
    for (;; slot = (slot + 1) & (slots - 1)) {
      int64_t seen = Access::load(key + slot);
      if (seen == kNoKey) seen = Access::compare_exchange(key + slot, kNoKey, wanted);
      if (seen == kNoKey || seen == wanted) return int32_t(slot);
    }
  }
};

struct Hook {
  int32_t parent;
  Winding winding;
};

// A forest whose nodes know their windings from the root. A node's `link` joined its tree to another, kNoLink
// for a root, and that link's `hook` says what it hangs under; one thread writes it, before the node is seen
// to hang by it. Paths are not shortened, as parent and winding would change at once. Of two roots that with
// the larger scrambled number hangs under the other, so that trees have logarithmic depth (Goel et al. 2014).
struct WindingForest {
  static constexpr int32_t kNoLink = -1;
  int32_t* link;
  Hook* hook;

  struct Place {
    int32_t root;
    Winding winding;  // from there
  };

  template <class Access> Place find(int32_t node) const {
    Place place{node, {}};
    for (int32_t up; (up = Access::load_published(link + place.root)) != kNoLink;) {
      place.winding += hook[up].winding;
      place.root = hook[up].parent;
    }
    return place;
  }

  // Unites the trees of two nodes, `winding` being that of the second as seen from the first.
  template <class Access> void unite(int32_t from, int32_t to, const Winding& winding, int32_t by) const {
    for (;;) {
      const Place a = find<Access>(from), b = find<Access>(to);
      if (a.root == b.root) return;
      const bool b_hangs = scrambled(uint64_t(a.root)) < scrambled(uint64_t(b.root));
      Winding up = closed_path(a, b, winding);
      if (!b_hangs) {
        Winding down{};
        down -= up;
        up = down;
      }
      hook[by] = {b_hangs ? a.root : b.root, up};
      if (Access::publish(link + (b_hangs ? b.root : a.root), kNoLink, by) == kNoLink) return;
    }
  }

  // The winding of the path from root to root over a link, from its first end on.
  static Winding closed_path(const Place& a, const Place& b, const Winding& link) {
    Winding sum = a.winding;
    sum += link;
    sum -= b.winding;
    return sum;
  }
};

// Lattices in Hermite normal form: row k, if not 0, begins in column k with a positive number; those above
// are from 0 to one less. Equal lattices have equal bases: (2, 4), (3, 1) have (1, 7), (0, 10).
struct WindingBasis {
  int64_t row[kMostClosedAxes][kMostClosedAxes];

  bool has(const auto& winding) const {
    int64_t left[kMostClosedAxes];
    for (int k = 0; k < kMostClosedAxes; ++k) left[k] = winding[k];
    for (int r = 0; r < kMostClosedAxes; ++r) {
      if (left[r] == 0) continue;
      if (row[r][r] == 0 || left[r] % row[r][r] != 0) return false;
      const int64_t times = left[r] / row[r][r];
      for (int k = r; k < kMostClosedAxes; ++k) left[k] -= times * row[r][k];
    }
    return true;
  }

  void add(const auto& winding) {
    int64_t left[kMostClosedAxes];
    for (int k = 0; k < kMostClosedAxes; ++k) left[k] = winding[k];
    for (int r = 0; r < kMostClosedAxes; ++r) {
      // Euclid's algorithm on the row and what is left; where there was no row, what is left becomes it.
      while (left[r] != 0) {
        const int64_t times = row[r][r] / left[r];
        for (int k = r; k < kMostClosedAxes; ++k) {
          const int64_t remainder = row[r][k] - times * left[k];
          row[r][k] = left[k];
          left[k] = remainder;
        }
      }
      const int64_t sign = row[r][r] < 0 ? -1 : 1;
      for (int k = r; k < kMostClosedAxes; ++k) row[r][k] *= sign;
    }
    for (int r = 1; r < kMostClosedAxes; ++r) {
      const int64_t pivot = row[r][r];
      if (pivot == 0) continue;
      for (int above = 0; above < r; ++above) {
        int64_t times = row[above][r] / pivot;
        if (row[above][r] - times * pivot < 0) --times;
        for (int k = r; k < kMostClosedAxes; ++k) row[above][k] -= times * row[r][k];
      }
    }
  }

  int axes() const {
    int axes = 0;
    for (int r = 0; r < kMostClosedAxes; ++r)
      for (int k = r; k < kMostClosedAxes; ++k) axes |= int(row[r][k] != 0) << k;
    return axes;
  }
  int rank() const {
    int rank = 0;
    for (int r = 0; r < kMostClosedAxes; ++r) rank += row[r][r] != 0;
    return rank;
  }
};

// A lattice that several threads add to: `version` is odd while one changes it, and larger afterwards.
struct WindingLattice {
  int32_t version, unused;
  WindingBasis basis;
};

struct WindingLattices {
  static constexpr int32_t kNone = -1, kBeingMade = -2;
  int32_t* number_at_root;
  WindingLattice* lattice;
  int32_t* count;

  template <class Access> void add(int32_t root, const Winding& winding) const {
    WindingLattice& shared = lattice[claim<Access>(root)];
    for (;;) {
      const int32_t version = Access::load_published(&shared.version);
      if (version % 2 != 0) continue;
      WindingBasis basis = {};
      for (int r = 0; r < kMostClosedAxes; ++r)
        for (int k = r; k < kMostClosedAxes; ++k)
          basis.row[r][k] = Access::load_published(&shared.basis.row[r][k]);
      // What was read is one basis if nobody has begun to change it meanwhile.
      if (Access::load_published(&shared.version) != version) continue;
      if (basis.has(winding.along)) return;
      if (Access::publish(&shared.version, version, version + 1) != version) continue;
      basis.add(winding.along);
      for (int r = 0; r < kMostClosedAxes; ++r)
        for (int k = r; k < kMostClosedAxes; ++k) Access::store(&shared.basis.row[r][k], basis.row[r][k]);
      Access::publish(&shared.version, version + 1, version + 2);
      return;
    }
  }

 private:
  // The number of a root's lattice, which the first to ask makes, empty.
  template <class Access> int32_t claim(int32_t root) const {
    int32_t number = Access::load_published(number_at_root + root);
    if (number == kNone && Access::compare_exchange(number_at_root + root, kNone, kBeingMade) == kNone) {
      number = Access::fetch_add(count, int32_t(1));
      lattice[number] = {};
      Access::publish(number_at_root + root, kBeingMade, number);
      return number;
    }
    while (number < 0) number = Access::load_published(number_at_root + root);
    return number;
  }
};

// A seam link: the slots of its ends, kNone without a link, and its winding.
struct SeamLink {
  static constexpr int32_t kNone = -1;
  int32_t from, to;
  int8_t along[kMostClosedAxes];

  bool exists() const { return from != kNone; }
  Winding winding() const {
    Winding winding;
    for (int k = 0; k < kMostClosedAxes; ++k) winding.along[k] = along[k];
    return winding;
  }
};

// Nodes are slots of open components. First all links are united; then each tells if it closes a path.
struct SeamWindings {
  static constexpr int kItemShift = 40;
  static constexpr int64_t kNoSmallest = int64_t(~uint64_t(0) >> 1);
  SeamTable table;
  WindingForest forest;
  WindingLattices lattices;
  int64_t* smallest;  // the smallest key of each root's tree, then of each node's; or null
  SeamLink* kept;     // each link by its number, for kernels that close paths; or null

  void clear(int64_t slot) const {
    table.key[slot] = SeamTable::kNoKey;
    forest.link[slot] = WindingForest::kNoLink;
    lattices.number_at_root[slot] = WindingLattices::kNone;
    if (smallest != nullptr) smallest[slot] = kNoSmallest;
  }

  static int64_t key_of(int64_t item, int64_t label) { return item << kItemShift | label; }
  int64_t item_of(int64_t slot) const { return table.key[slot] >> kItemShift; }

  template <class Access>
  SeamLink unite(int64_t from, int64_t to, const Winding& winding, int64_t number) const {
    SeamLink link;
    link.from = table.slot_of<Access>(from);
    link.to = from == to ? link.from : table.slot_of<Access>(to);
    for (int k = 0; k < kMostClosedAxes; ++k) link.along[k] = int8_t(winding.along[k]);
    if (link.from != link.to) forest.unite<Access>(link.from, link.to, winding, int32_t(number));
    return link;
  }

  struct Path {
    int32_t root = -1;
    Winding winding{};

    bool exists() const { return root >= 0; }
    bool operator==(const Path& other) const { return root == other.root && winding == other.winding; }
  };

  template <class Access> Path path_over(const SeamLink& link) const {
    const auto a = forest.find<Access>(link.from);
    const auto b = link.from == link.to ? a : forest.find<Access>(link.to);
    const Winding path = WindingForest::closed_path(a, b, link.winding());
    return a.root == b.root && !path.is_zero() ? Path{a.root, path} : Path{};
  }

  // The lattice of a slot that is the root of a component that wraps; else null.
  const WindingBasis* basis_at(int64_t slot) const {
    const int32_t number = lattices.number_at_root[slot];
    return number < 0 ? nullptr : &lattices.lattice[number].basis;
  }

  // For each slot, once all are united: tells the root; then asks it.
  template <class Access> void tell_smallest(int64_t slot) const {
    if (table.key[slot] == SeamTable::kNoKey) return;
    Access::fetch_min(smallest + forest.find<Access>(int32_t(slot)).root, table.key[slot]);
  }
  template <class Access> void ask_smallest(int64_t slot) const {
    if (table.key[slot] == SeamTable::kNoKey || forest.link[slot] == WindingForest::kNoLink) return;
    smallest[slot] = smallest[forest.find<Access>(int32_t(slot)).root];
  }
  // Whether the key of a slot that has asked is not its component's smallest.
  bool is_left_out(int64_t slot) const {
    return table.key[slot] != SeamTable::kNoKey && table.key[slot] != smallest[slot];
  }
};

}
