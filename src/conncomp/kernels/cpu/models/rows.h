// The rows of a lattice: their places, neighbours and bonds; and the pieces of work that they are.
#pragma once

#include <thread>
#include <vector>

#include "core/spins.h"
#include "cpu/core/parallel.h"

namespace conncomp {

struct LatticeReplicas {
  Lattice lattice;
  Bits64 seed, first;
  int64_t count;

  Draws draws(int64_t replica, Bits32 step) const { return {seed, first + Bits64(replica), step}; }
  int64_t words(int planes) const { return planes * lattice.words(); }
  template <class Word> Word* spins(Word* words, int64_t replica) const {
    return words + replica * this->words(lattice.planes);
  }
};

struct RowPlace {
  int64_t row, at[kRowAxis];

  RowPlace(const Lattice& lattice, int64_t row) : row(row) {
    for (int k = kRowAxis - 1; k >= 0; --k) {
      at[k] = row % lattice.length[k];
      row /= lattice.length[k];
    }
  }
  void advance(const Lattice& lattice) {
    ++row;
    for (int k = kRowAxis - 1; k >= 0 && ++at[k] == lattice.length[k]; --k) at[k] = 0;
  }
};

inline int64_t row_stride(const Lattice& lattice, int axis) {
  int64_t stride = 1;
  for (int k = kRowAxis - 1; k > axis; --k) stride *= lattice.length[k];
  return stride;
}

// The row before along an axis before the last one, from which a bond leads inside the lattice; or -1.
inline int64_t row_before(const Lattice& lattice, const RowPlace& place, int axis) {
  return place.at[axis] > 0 ? place.row - row_stride(lattice, axis) : -1;
}
// The first row along the axis, to which a bond leads around the lattice from the last one; or -1.
inline int64_t row_around(const Lattice& lattice, const RowPlace& place, int axis) {
  if (!lattice.closes(axis) || place.at[axis] + 1 < lattice.length[axis]) return -1;
  return place.row - place.at[axis] * row_stride(lattice, axis);
}

inline void equal_sites(const Lattice& lattice, const Bits64* spins, int64_t row, int64_t other_row,
    int64_t rows, Bits64* equal) {
  const int64_t columns = lattice.columns(), words = rows * columns;
  std::fill_n(equal, words, ~Bits64(0));
  for (int k = 0; k < lattice.planes; ++k) {
    const Bits64 *const plane = spins + k * lattice.words(), *const g = plane + row * columns,
                        *const h = plane + other_row * columns;
    for (int64_t w = 0; w < words; ++w) equal[w] &= ~(g[w] ^ h[w]);
  }
  const Bits64 sites = lattice.sites_of(columns - 1);
  for (int64_t w = columns - 1; w < words; w += columns) equal[w] &= sites;
}

// Writes which sites hold the spin of the next along the row: as if rows never ended, then at ends.
inline void equal_along(
    const Lattice& lattice, const Bits64* spins, int64_t row, int64_t rows, Bits64* equal) {
  const int64_t columns = lattice.columns(), words = rows * columns;
  const int last = int((lattice.length[kRowAxis] - 1) % kWordSites);
  std::fill_n(equal, words, ~Bits64(0));
  for (int k = 0; k < lattice.planes; ++k) {
    const Bits64* const g = spins + k * lattice.words() + row * columns;
    for (int64_t w = 0; w + 1 < words; ++w) equal[w] &= ~(g[w] ^ (g[w] >> 1 | g[w + 1] << (kWordSites - 1)));
  }
  const Bits64 sites = lattice.sites_of(columns - 1) & ~(lattice.closes(kRowAxis) ? 0 : Bits64(1) << last);
  for (int64_t w = columns - 1; w < words; w += columns) {
    equal[w] = sites;
    for (int k = 0; k < lattice.planes; ++k) {
      const Bits64* const g = spins + k * lattice.words() + row * columns + w;
      equal[w] &= ~(*g ^ (*g >> 1 | (g[1 - columns] & 1) << last));
    }
  }
}

inline void satisfied_bonds(
    const Lattice& lattice, const Bits64* spins, int64_t row, int64_t rows, int axis, Bits64* bonds) {
  if (axis == kRowAxis) return equal_along(lattice, spins, row, rows, bonds);
  const int64_t stride = row_stride(lattice, axis), period = stride * lattice.length[axis];
  for (int64_t g = row, end; g < row + rows; g = end) {
    const int64_t at = g % period;
    const bool around = at + stride >= period;
    end = std::min(row + rows, g - at + (around ? period : period - stride));
    Bits64* const out = bonds + (g - row) * lattice.columns();
    if (around && !lattice.closes(axis))
      std::fill_n(out, (end - g) * lattice.columns(), Bits64(0));
    else
      equal_sites(lattice, spins, g, around ? g + stride - period : g + stride, end - g, out);
  }
}

struct Strip {
  int64_t replica, begin, end;
};

// Calls body(begin, end) for a strip's rows, some thousand sites or one long row at a time.
void for_each_chunk(const Lattice& lattice, const Strip& strip, auto&& body) {
  constexpr int64_t kWords = 128;
  const int64_t rows = std::max<int64_t>(kWords / lattice.columns(), 1);
  for (int64_t begin = strip.begin; begin < strip.end; begin += rows) {
    const int64_t end = std::min(begin + rows, strip.end);
    poll((end - begin) * lattice.length[kRowAxis]);
    body(begin, end);
  }
}

struct Strips {
  int64_t rows, per_replica, count;

  explicit Strips(const LatticeReplicas& replicas) : rows(replicas.lattice.rows()) {
    const int64_t threads = num_threads(), sites = replicas.lattice.sites();
    const int64_t wanted = threads == 1 ? 1 : (8 * threads + replicas.count - 1) / replicas.count;
    per_replica = std::clamp<int64_t>(std::min(sites / kGrain, rows), 1, wanted);
    count = per_replica * replicas.count;
  }

  Strip operator[](int64_t piece) const {
    const int64_t k = piece % per_replica;
    return {piece / per_replica, begin(k), begin(k + 1)};
  }
  Strip with_row(int64_t replica, int64_t row) const {
    int64_t k = row * per_replica / rows;
    while (begin(k) > row) --k;
    while (begin(k + 1) <= row) ++k;
    return {replica, begin(k), begin(k + 1)};
  }

  void for_each(auto&& body) const {
    parallel_for(count, [&](int64_t piece) { body((*this)[piece]); });
  }

 private:
  int64_t begin(int64_t k) const { return rows / per_replica * k + std::min(k, rows % per_replica); }
};

// Slabs: consecutive strips of a replica that one thread takes in order, so that it may change those before.
class Slabs {
 public:
  explicit Slabs(const Strips& strips) : strips_(strips), owner_(strips.count), begin_(strips.count) {}

  // The slab up to the end of a strip, which a thread takes by calling this once.
  Strip take(int64_t piece) {
    const std::thread::id self = std::this_thread::get_id();
    const bool goes_on =
        piece % strips_.per_replica > 0 && owner_[piece - 1].load(std::memory_order_relaxed) == self;
    begin_[piece] = goes_on ? begin_[piece - 1] : strips_[piece].begin;
    owner_[piece].store(self, std::memory_order_relaxed);
    return (*this)[piece];
  }
  Strip operator[](int64_t piece) const {
    const Strip strip = strips_[piece];
    return {strip.replica, begin_[piece], strip.end};
  }

 private:
  const Strips strips_;
  std::vector<std::atomic<std::thread::id>> owner_;
  std::vector<int64_t> begin_;
};

}
