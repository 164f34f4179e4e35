// The Ising model on lattices of any unit cell: updates of Swendsen and Wang, or of Wolff, by a forest of
// runs in words (core/cell_lattice.h).
//
// 1. A block takes a tile, a column of kTileRows words. A thread draws the bonds of its word and unites runs
// in shared memory; bonds that leave the tile are kept. 2. Kept bonds unite tiles in global memory. 3. If
// wanted, sizes are added up at roots. 4. A warp takes a word: runs find their roots, whose coins flip them.
// Cost: some 7 random words a kind of bonds and word; 4 bytes a site and 1 bit a site and kind are written.
// Source: ours.
#pragma once

#include "core/cell_lattice.h"
#include "cuda/models/clusters.cuh"

namespace conncomp {

constexpr int kTileRows = 64, kCellThreads = kTileRows;
constexpr int kNodeRow = kWordSites + 2;  // of two rows' nodes no two beside each other are in one bank

// Laid out as in cell_spins.py.
struct CellReplicas {
  CellLattice cells;
  int64_t tiles, words_blocks;  // blocks of a replica: by tiles; of a warp for each word
  int64_t first;                // the number of the first replica
  Bits64 seed;
  Bits32 step;

  __device__ Draws draws(int64_t replica) const { return {seed, Bits64(first + replica), step}; }
  template <class T>
  __device__ T* spins(T* words, int64_t replica) const {
    return words + replica * cells.lattice.words();
  }
};

// The word of a warp, of a replica; its row is -1 beyond the last one.
struct WarpWord {
  int64_t replica;
  CellWord word;

  __device__ explicit WarpWord(const CellReplicas& replicas) : replica(blockIdx.x / replicas.words_blocks) {
    const int64_t columns = replicas.cells.lattice.columns(),
                  number = blockIdx.x % replicas.words_blocks * (blockDim.x / kWarp) + threadIdx.x / kWarp;
    word.row = number < replicas.cells.lattice.words() ? number / columns : -1;
    if (word.row >= 0) word = cell_word(replicas.cells, word.row, number % columns);
  }
  __device__ int64_t first(const CellReplicas& replicas) const {
    return word.row * replicas.cells.row_sites() + word.place.column * kWordSites;
  }
};

__device__ inline int node_at(int row, int bit) { return row * kNodeRow + bit; }

// The bonds of a word that lead to sites of the tile, of rows from `first_row` on.
__device__ inline Bits64 near_bonds(const OtherSites& other, int shift, int64_t first_row) {
  if (other.row < first_row || other.row >= first_row + kTileRows) return 0;
  return (shift < 0 ? ~Bits64(0) << -shift : ~Bits64(0) >> shift) & ~other.wrapped;
}

template <class Index, bool measures>
__global__ void __launch_bounds__(kCellThreads)
    label_cell_tiles(CellReplicas replicas, const Bits64* __restrict__ spins,
                     const Bits64* __restrict__ probability, Bits64* __restrict__ starts,
                     Bits64* __restrict__ leaving, Index* __restrict__ parent, Index* __restrict__ size,
                     Records records) {
  __shared__ uint16_t nodes[kTileRows * kNodeRow];
  __shared__ Bits64 start_of_row[kTileRows];
  __shared__ int sizes[measures ? kTileRows * kNodeRow : 1];
  const CellLattice& cells = replicas.cells;
  const Lattice& lattice = cells.lattice;
  const int64_t replica = blockIdx.x / replicas.tiles, tile = blockIdx.x % replicas.tiles,
                column = tile % lattice.columns(), first_row = tile / lattice.columns() * kTileRows;
  const int thread = int(threadIdx.x);
  const int64_t row = first_row + thread;
  const bool has_word = row < lattice.rows();
  const Draws draws = replicas.draws(replica);
  spins = replicas.spins(spins, replica);
  starts = replicas.spins(starts, replica);
  leaving += replica * cells.kinds * lattice.words();
  parent += replica * lattice.sites();
  for (int k = thread; k < kTileRows * kNodeRow; k += kCellThreads) {
    nodes[k] = uint16_t(k);
    if (measures) sizes[k] = 0;
  }
  int64_t satisfied = 0, active = 0;
  CellWord word = cell_word(cells, has_word ? row : 0, column);
  const auto draw = [&](int kind, const OtherSites& other) {
    const Bits64 equal = satisfied_by(cells, spins, word, other);
    const Bits64 drawn = bernoulli(draws, Bits64(word.place.word), kind, probability[replica], equal);
    satisfied += __popcll(equal);
    active += __popcll(drawn);
    return drawn;
  };
  Bits64 own = 0;
  if (has_word) {
    const Bits64 along = draw(0, other_sites(cells, word, 0)), sites = lattice.sites_of(column);
    own = run_starts(lattice, column, along);
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
    size += replica * lattice.sites();
    for (int k = thread; k < int(rows) * kWordSites; k += kCellThreads)
      if (start_of_row[k / kWordSites] >> k % kWordSites & 1) {
        const int node = node_at(k / kWordSites, k % kWordSites);
        size[site_of(node)] = Index(sizes[node]);
      }
  }
  if (records.record == nullptr) return;
  const int64_t ones = has_word ? __popcll(spins[word.place.word]) : 0;
  records.add_block(replica, kSatisfied, satisfied);
  records.add_block(replica, kActive, active);
  records.add_block(replica, kCounts, has_word ? __popcll(sites) - ones : 0);
  records.add_block(replica, kCounts + 1, ones);
}

// Unites over the borders of tiles; a warp takes 32 words, a lane each.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sew_cell_tiles(CellReplicas replicas, const Bits64* __restrict__ starts,
                   const Bits64* __restrict__ leaving, Index* parent, int64_t replica_count) {
  const CellLattice& cells = replicas.cells;
  const int64_t words = cells.lattice.words(), columns = cells.lattice.columns(),
                step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < words * replica_count; k += step) {
    const int64_t replica = k / words, number = k % words;
    const CellWord word = cell_word(cells, number / columns, number % columns);
    Index* const forest = parent + replica * cells.lattice.sites();
    for (int kind = 0; kind < cells.kinds; ++kind) {
      const Bits64 active = leaving[(replica * cells.kinds + kind) * words + number];
      if (active == 0) continue;
      for_each_followed(cells, starts + replica * words, word, other_sites(cells, word, kind), active,
                        [&](int64_t u, int64_t d) { unite<Shared>(forest, Index(u), Index(d)); });
    }
  }
}

// Adds the sizes of tiles' components to those of their roots.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    add_cell_sizes(CellReplicas replicas, const Bits64* __restrict__ starts, Index* parent, Index* size) {
  const WarpWord warp(replicas);
  if (warp.word.row < 0) return;
  const Bits64 runs = replicas.spins(starts, warp.replica)[warp.word.place.word];
  parent += warp.replica * replicas.cells.lattice.sites();
  size += warp.replica * replicas.cells.lattice.sites();
  for (int bit = lane(); bit < kWordSites; bit += kWarp) {
    if (!(runs >> bit & 1)) continue;
    const Index site = Index(warp.first(replicas) + bit), root = find<Shared>(parent, site);
    if (root == site) continue;
    if (const Index count = Shared::load(size + site); count != 0) Shared::fetch_add(size + root, count);
  }
}

// Records the sizes of clusters, that is of roots.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sum_cell_sizes(CellReplicas replicas, const Bits64* __restrict__ starts, const Index* __restrict__ parent,
                   const Index* __restrict__ size, Records records) {
  const WarpWord warp(replicas);
  SizeSums sums{};
  if (warp.word.row >= 0) {
    const Bits64 runs = replicas.spins(starts, warp.replica)[warp.word.place.word];
    const int64_t base = warp.replica * replicas.cells.lattice.sites();
    for (int bit = lane(); bit < kWordSites; bit += kWarp) {
      const int64_t site = warp.first(replicas) + bit;
      if ((runs >> bit & 1) && parent[base + site] == Index(site)) sums.add(Bits64(size[base + site]));
    }
  }
  sums.add_block(records, warp.replica);
}

// Writes the new spins: clusters flip by their coins or, with `chosen`, only that of a drawn site.
template <class Index, bool chosen>
__global__ void __launch_bounds__(kSpinThreads)
    flip_cells(CellReplicas replicas, const Bits64* __restrict__ spins, const Bits64* __restrict__ starts,
               Index* parent, Bits64* __restrict__ new_spins) {
  const WarpWord warp(replicas);
  if (warp.word.row < 0) return;
  const CellLattice& cells = replicas.cells;
  const int64_t number = warp.word.place.word;
  const Draws draws = replicas.draws(warp.replica);
  starts = replicas.spins(starts, warp.replica);
  parent += warp.replica * cells.lattice.sites();
  const Bits64 runs = starts[number];
  Index flipped = 0;
  if (chosen) {
    const int64_t site = int64_t(below(half(draws(kChosenSite, 0), 0), Bits64(cells.lattice.sites()))),
                  row = site / cells.row_sites(), at = site % cells.row_sites();
    const Bits64 start = starts[row * cells.lattice.columns() + at / kWordSites];
    flipped = find<Shared>(parent, Index(site - at % kWordSites + run_of(start, int(at % kWordSites))));
  }
  Bits64 changed = 0;
  for (int half_word = 0; half_word < 2; ++half_word) {
    const int bit = half_word * kWarp + lane();
    bool flips = false;
    if (runs >> bit & 1) {
      const Index root = find<Shared>(parent, Index(warp.first(replicas) + bit));
      flips = chosen ? root == flipped : (draw_coins(draws, root / kWordSites) >> root % kWordSites & 1) != 0;
    }
    changed |= Bits64(__ballot_sync(kAllLanes, flips)) << half_word * kWarp;
  }
  // What a run's first site does, all its sites do.
  Bits64 word = 0;
  for (int half_word = 0; half_word < 2; ++half_word) {
    const int run = run_of(runs, half_word * kWarp + lane());
    word |= Bits64(__ballot_sync(kAllLanes, run >= 0 && (changed >> run & 1))) << half_word * kWarp;
  }
  if (lane() == 0)
    replicas.spins(new_spins, warp.replica)[number] =
        replicas.spins(spins, warp.replica)[number] ^ (word & cells.lattice.sites_of(warp.word.place.column));
}

// Writes the bonds that an update draws, of each kind, or only counts what the spins tell.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    draw_cell_bonds(CellReplicas replicas, const Bits64* __restrict__ spins,
                    const Bits64* __restrict__ probability, Bits64* __restrict__ bonds, Records records) {
  const CellLattice& cells = replicas.cells;
  const WarpWord warp(replicas);
  int64_t satisfied = 0, ones = 0, sites = 0;
  if (warp.word.row >= 0) {
    const Bits64* const own = replicas.spins(spins, warp.replica);
    const int64_t words = cells.lattice.words(), number = warp.word.place.word;
    for (int kind = lane(); kind < cells.kinds; kind += kWarp) {
      const Bits64 equal = satisfied_by(cells, own, warp.word, other_sites(cells, warp.word, kind));
      satisfied += __popcll(equal);
      if (bonds != nullptr)
        bonds[(warp.replica * cells.kinds + kind) * words + number] =
            bernoulli(replicas.draws(warp.replica), Bits64(number), kind, probability[warp.replica], equal);
    }
    if (lane() == 0) {
      ones = __popcll(own[number]);
      sites = __popcll(cells.lattice.sites_of(warp.word.place.column));
    }
  }
  if (records.record == nullptr) return;
  records.add_block(warp.replica, kSatisfied, satisfied);
  records.add_block(warp.replica, kCounts, sites - ones);
  records.add_block(warp.replica, kCounts + 1, ones);
}

}  // namespace conncomp
