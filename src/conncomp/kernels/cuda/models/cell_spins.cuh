// The Ising model on lattices of any unit cell: updates of Swendsen and Wang, or of Wolff, by a forest of
// runs in words (core/cell_lattice.h).
//
// 1. A block takes a tile, a column of kTileRows words. A thread draws its word's bonds and unites runs in
// shared memory. 2. Bonds that leave the tile, kept, unite tiles in global memory. 3. If wanted, sizes are
// added up at roots. 4. A warp takes a word: runs find their roots, whose coins flip them.
// Cost: some 7 random words a kind of bonds and word; 4 bytes a site and 1 bit a site and kind are written.
// Source: ours.
#pragma once

#include "core/cell_lattice.h"
#include "cuda/models/clusters.cuh"

namespace conncomp {

constexpr int kTileRows = 64, kCellThreads = kTileRows;
constexpr int kNodeRow = kWordSites + 2;  // of two rows' nodes no two beside each other are in one bank

// What threads count of bonds, of spins that are 1, and of sites.
struct CellCounts : BondCounts {
  int64_t ones, sites;

  void add_block(const Records& records, int64_t replica) const {
    if (records.record == nullptr) return;
    records.add_block(replica, kSatisfied, satisfied);
    records.add_block(replica, kActive, active);
    records.add_block(replica, kCounts, sites - ones);
    records.add_block(replica, kCounts + 1, ones);
  }
};

// Where runs start in the words of a replica, and behind these the bonds of each kind that leave tiles.
template <class Word> Word* starts_of(const Replicas& replicas, Word* runs) {
  return replicas.at_replica(runs, (replicas.axes + 1) * replicas.lattice.words());
}

inline int node_at(int row, int bit) { return row * kNodeRow + bit; }

// The bonds of a word that lead to sites of the tile, of rows from `first_row` on.
inline Bits64 near_bonds(const OtherSites& other, int shift, int64_t first_row) {
  if (other.row < first_row || other.row >= first_row + kTileRows) return 0;
  return (shift < 0 ? ~Bits64(0) << -shift : ~Bits64(0) >> shift) & ~other.wrapped;
}

template <class Index, bool measures>
__global__ void __launch_bounds__(kCellThreads) label_cell_tiles(Replicas replicas, CellLattice cells,
    const Bits64* __restrict__ spins, const Bits64* __restrict__ probability, Bits64* __restrict__ runs,
    Index* __restrict__ parent, Index* __restrict__ size, Records records) {
  __shared__ uint16_t nodes[kTileRows * kNodeRow];
  __shared__ Bits64 start_of_row[kTileRows];
  __shared__ int sizes[measures ? kTileRows * kNodeRow : 1];
  const Lattice& lattice = replicas.lattice;
  const int64_t replica = replicas.replica(), tile = blockIdx.x % replicas.parts,
                column = tile % lattice.columns(), first_row = tile / lattice.columns() * kTileRows;
  const int thread = int(threadIdx.x);
  const int64_t row = first_row + thread;
  const bool has_word = row < lattice.rows();
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, lattice.words());
  Bits64 *const starts = starts_of(replicas, runs), *const leaving = starts + lattice.words();
  parent = replicas.at_replica(parent, lattice.sites());
  for (int k = thread; k < kTileRows * kNodeRow; k += kCellThreads) {
    nodes[k] = uint16_t(k);
    if (measures) sizes[k] = 0;
  }
  CellCounts counts{};
  const CellWord word = cell_word(cells, has_word ? row : 0, column);
  const auto draw = [&](int kind, const OtherSites& other) {
    const Bits64 equal = satisfied_by(cells, spins, word, other);
    const Bits64 drawn = bernoulli(draws, Bits64(word.place.word), kind, probability[replica], equal);
    counts.satisfied += __popcll(equal);
    counts.active += __popcll(drawn);
    return drawn;
  };
  Bits64 own = 0;
  if (has_word) {
    const Bits64 along = draw(0, other_sites(cells, word, 0)), sites = lattice.sites_of(column);
    own = sites & ~(along << 1);
    starts[word.place.word] = own;
    leaving[word.place.word] = along & ~(sites >> 1);
  }
  start_of_row[thread] = own;
  __syncthreads();
  if (has_word)
    for (int kind = 1; kind < cells.kinds; ++kind) {
      const OtherSites other = other_sites(cells, word, kind);
      const Bits64 drawn = draw(kind, other);
      const int shift = cells.kind[kind].shift;
      const Bits64 near = drawn & near_bonds(other, shift, first_row);
      leaving[kind * lattice.words() + word.place.word] = drawn & ~near;
      if (near == 0) continue;
      const int beside = int(other.row - first_row);
      const Bits64 there = start_of_row[beside];
      Bits64 followed = followed_bonds(near, own, shift < 0 ? there << -shift : there >> shift);
      for (; followed != 0; followed &= followed - 1) {
        const int p = __ffsll((long long)followed) - 1;
        unite<InBlock>(nodes, uint16_t(node_at(thread, run_of(own, p))),
            uint16_t(node_at(beside, run_of(there, p + shift))));
      }
    }
  __syncthreads();
  const int64_t rows = lattice.rows() - first_row < kTileRows ? lattice.rows() - first_row : kTileRows;
  const Bits64 sites = lattice.sites_of(column);
  const auto site_of = [&](int node) {
    return Index((first_row + node / kNodeRow) * cells.row_sites() + column * kWordSites + node % kNodeRow);
  };
  for (int k = thread; k < int(rows) * kWordSites; k += kCellThreads) {
    const int at_row = k / kWordSites, bit = k % kWordSites;
    const Bits64 runs = start_of_row[at_row];
    if (!(runs >> bit & 1)) continue;
    const int node = node_at(at_row, bit), root = find<InBlock>(nodes, uint16_t(node));
    parent[site_of(node)] = site_of(root);
    if (measures) {
      const Bits64 after = bit == kWordSites - 1 ? 0 : runs >> (bit + 1) << (bit + 1);
      const int end = after != 0 ? __ffsll((long long)after) - 1 : __popcll(sites);
      InBlock::fetch_add(sizes + root, end - bit);
    }
  }
  if (measures) {
    __syncthreads();
    size = replicas.at_replica(size, lattice.sites());
    for (int k = thread; k < int(rows) * kWordSites; k += kCellThreads)
      if (start_of_row[k / kWordSites] >> k % kWordSites & 1) {
        const int node = node_at(k / kWordSites, k % kWordSites);
        size[site_of(node)] = Index(sizes[node]);
      }
  }
  if (has_word) counts.ones = __popcll(spins[word.place.word]), counts.sites = __popcll(sites);
  counts.add_block(records, replica);
}

// Unites over the borders of tiles; a warp takes 32 words, a lane each.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sew_cell_tiles(CellLattice cells, const Bits64* __restrict__ runs, Index* parent, int64_t replicas) {
  const int64_t words = cells.lattice.words(), columns = cells.lattice.columns();
  for (int64_t k = grid_thread(); k < words * replicas; k += grid_threads()) {
    const int64_t replica = k / words, number = k % words;
    const CellWord word = cell_word(cells, number / columns, number % columns);
    Index* const forest = parent + replica * cells.lattice.sites();
    const Bits64* const starts = runs + replica * (cells.kinds + 1) * words;
    for (int kind = 0; kind < cells.kinds; ++kind) {
      const Bits64 active = starts[(kind + 1) * words + number];
      if (active == 0) continue;
      for_each_followed(cells, starts, word, other_sites(cells, word, kind), active,
          [&](int64_t u, int64_t d) { unite<Concurrent>(forest, Index(u), Index(d)); });
    }
  }
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    add_cell_sizes(Replicas replicas, const Bits64* __restrict__ starts, Index* parent, Index* size) {
  const Lattice& lattice = replicas.lattice;
  starts = starts_of(replicas, starts);
  parent = replicas.at_replica(parent, lattice.sites());
  size = replicas.at_replica(size, lattice.sites());
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(lattice, word);
    for (int k = 0; k < SitesOfWarp::kEach; ++k) {
      if (!(starts[word] >> sites.bit(k) & 1)) continue;
      const Index site = Index(sites.site(k)), root = find<Concurrent>(parent, site);
      if (root == site) continue;
      if (const Index count = Concurrent::load(size + site); count != 0)
        Concurrent::fetch_add(size + root, count);
    }
  });
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sum_cell_sizes(Replicas replicas, const Bits64* __restrict__ starts, const Index* __restrict__ parent,
        const Index* __restrict__ size, Records records) {
  const Lattice& lattice = replicas.lattice;
  starts = starts_of(replicas, starts);
  parent = replicas.at_replica(parent, lattice.sites());
  size = replicas.at_replica(size, lattice.sites());
  SizeSums sums{};
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(lattice, word);
    for (int k = 0; k < SitesOfWarp::kEach; ++k) {
      const int64_t site = sites.site(k);
      if (starts[word] >> sites.bit(k) & 1 && parent[site] == Index(site)) sums.add(Bits64(size[site]));
    }
  });
  sums.add_block(records, replicas.replica());
}

// Writes the new spins: clusters flip by their coins or, with `chosen`, only that of a drawn site.
template <class Index, bool chosen>
__global__ void __launch_bounds__(kSpinThreads)
    flip_cells(Replicas replicas, const Bits64* __restrict__ spins, const Bits64* __restrict__ starts,
        Index* parent, Bits64* __restrict__ new_spins) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, lattice.words());
  starts = starts_of(replicas, starts);
  new_spins = replicas.at_replica(new_spins, lattice.words());
  parent = replicas.at_replica(parent, lattice.sites());
  Index flipped = 0;
  if (chosen) {
    const int64_t site = int64_t(below(half(draws(kChosenSite, 0), 0), Bits64(lattice.sites())));
    const SitePlace place(lattice, site);
    flipped = find<Concurrent>(parent, Index(site - place.bit + run_of(starts[place.word], place.bit)));
  }
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(lattice, word);
    const Bits64 runs = starts[word];
    const Bits64 changed = sites.gather([&](int k) {
      if (!(runs >> sites.bit(k) & 1)) return false;
      const Index root = find<Concurrent>(parent, Index(sites.site(k)));
      return chosen ? root == flipped : (draw_coins(draws, root / kWordSites) >> root % kWordSites & 1) != 0;
    });
    // What a run's first site does, all its sites do.
    const Bits64 flips = sites.gather([&](int k) {
      const int run = run_of(runs, sites.bit(k));
      return run >= 0 && (changed >> run & 1);
    });
    if (lane() == 0) new_spins[word] = spins[word] ^ (flips & sites.sites);
  });
}

// Draws the bonds of all kinds, as axes of `replicas`, if wanted; counts all, satisfied ones and spins.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    draw_cell_words(Replicas replicas, CellLattice cells, const Bits64* __restrict__ spins,
        const Bits64* __restrict__ probability, Bits64* __restrict__ bonds, Records records) {
  const Lattice& lattice = replicas.lattice;
  spins = replicas.at_replica(spins, lattice.words());
  CellCounts counts{};
  draw_words_of_bonds(replicas, 0, probability, bonds, counts, [&](int64_t number, int kind) {
    const CellWord word{place_of(lattice, number), 0};
    if (kind == 0) {
      counts.ones += __popcll(spins[number]);
      counts.sites += __popcll(lattice.sites_of(word.place.column));
    }
    return satisfied_by(cells, spins, word, other_sites(cells, word, kind));
  });
  counts.add_block(records, replicas.replica());
}

}
