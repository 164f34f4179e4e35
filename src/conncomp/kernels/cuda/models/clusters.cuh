// Clusters whose labels are known: their new states, and their sizes. For any labelling of any lattice.
//
// A label is the smallest site of its cluster in its replica. What happens to a cluster follows from random
// numbers of that site (core/spins.h), so that each word is updated by itself. Cost: a label is read for each
// site, and a Philox call made for each change of label along a row.
#pragma once

#include "cuda/models/spins.cuh"

namespace conncomp {

// Which clusters may flip: with `chosen`, those whose label's bit is set there, each with a probability; else
// all get a new state, any of q.
struct Choice {
  uint32_t* chosen;  // a bit for each site; null if all
  int64_t words;     // of a replica
  Bits64 p_flip;
  bool always;

  // The new state of a cluster.
  __device__ int state_of(const Draws& draws, int64_t replica, int64_t root, int states, int old) const {
    if (chosen == nullptr) return draw_any_state(draws, root, states);
    const ClusterDraw draw = draw_cluster(draws, root);
    const bool may_flip = chosen[replica * words + root / 32] >> root % 32 & 1;
    return may_flip && (always || draw.decision < p_flip) ? draw.another_state(states, old) : old;
  }
};

// The tiles that a lattice is cut into, with a chosen site in each.
struct ChoiceTiles {
  int64_t edge[kLatticeAxes];

  __device__ int64_t count(const Lattice& lattice) const {
    int64_t tiles = 1;
    for (int k = 0; k < kLatticeAxes; ++k) tiles *= lattice.length[k] / edge[k];
    return tiles;
  }
  __device__ int64_t chosen_site(const Lattice& lattice, const Draws& draws, int64_t tile) const {
    Bits64 sites = 1;
    for (int k = 0; k < kLatticeAxes; ++k) sites *= Bits64(edge[k]);
    int64_t within = int64_t(below(half(draws(kChosenSite, Bits64(tile)), 0), sites)), site = 0, stride = 1;
    for (int k = kLatticeAxes - 1; k >= 0; --k) {
      const int64_t tiles = lattice.length[k] / edge[k];
      site += stride * (tile % tiles * edge[k] + within % edge[k]);
      tile /= tiles;
      within /= edge[k];
      stride *= lattice.length[k];
    }
    return site;
  }
};

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    choose_clusters(Replicas replicas, ChoiceTiles tiles, const Index* __restrict__ label, Choice choice) {
  const int64_t count = tiles.count(replicas.lattice), replica = replicas.replica();
  label = replicas.at_replica(label, replicas.lattice.sites());
  const int64_t part = blockIdx.x % replicas.parts, step = int64_t(replicas.parts) * blockDim.x;
  for (int64_t tile = part * blockDim.x + threadIdx.x; tile < count; tile += step) {
    const int64_t root = label[tiles.chosen_site(replicas.lattice, replicas.draws(), tile)];
    Shared::fetch_or(choice.chosen + replica * choice.words + root / 32, 1u << root % 32);
  }
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    flip_clusters(Replicas replicas, const Bits64* __restrict__ spins, const Index* __restrict__ label,
                  Choice choice, Bits64* __restrict__ new_spins) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t replica = replicas.replica(), words = lattice.words();
  spins = replicas.at_replica(spins, replicas.words_of_states());
  new_spins = replicas.at_replica(new_spins, replicas.words_of_states());
  label = replicas.at_replica(label, lattice.sites());
  replicas.for_each_word([&](int64_t word) {
    const int64_t column = word % lattice.columns();
    const int64_t first = word / lattice.columns() * lattice.length[kRowAxis] + column * kWordSites;
    for (int k = 0; k < lattice.planes; ++k) new_spins[k * words + word] = 0;
    Index root = -1;
    int state = 0;
    for (Bits64 sites = lattice.sites_of(column); sites != 0; sites &= sites - 1) {
      const int bit = __ffsll((long long)sites) - 1;
      const Index next = label[first + bit];
      if (next != root) {
        root = next;
        state = choice.state_of(draws, replica, root, lattice.states,
                                state_of(spins + word, words, lattice.planes, bit));
      }
      set_state(new_spins + word, words, lattice.planes, state, Bits64(1) << bit);
    }
  });
}

// The bonds of each site as bits of a byte, as conncomp.label_bonds takes them.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    spread_bonds(Replicas replicas, const Bits64* __restrict__ bonds, uint8_t* __restrict__ bonds_of_site) {
  const Lattice& lattice = replicas.lattice;
  const int64_t words = lattice.words();
  bonds = replicas.at_replica(bonds, words * replicas.axes);
  bonds_of_site = replicas.at_replica(bonds_of_site, lattice.sites());
  replicas.for_each_word([&](int64_t word) {
    const int64_t column = word % lattice.columns();
    const int64_t first = word / lattice.columns() * lattice.length[kRowAxis] + column * kWordSites;
    for (Bits64 sites = lattice.sites_of(column); sites != 0; sites &= sites - 1) {
      const int bit = __ffsll((long long)sites) - 1;
      int site_bonds = 0;
      for (int k = 0; k < replicas.axes; ++k) site_bonds |= int(bonds[k * words + word] >> bit & 1) << k;
      bonds_of_site[first + bit] = uint8_t(site_bonds);
    }
  });
}

// The sizes of clusters, each at its label.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    measure_clusters(Replicas replicas, const Index* __restrict__ label, Index* size) {
  const Lattice& lattice = replicas.lattice;
  label = replicas.at_replica(label, lattice.sites());
  size = replicas.at_replica(size, lattice.sites());
  replicas.for_each_word([&](int64_t word) {
    const int64_t column = word % lattice.columns();
    const int64_t first = word / lattice.columns() * lattice.length[kRowAxis] + column * kWordSites;
    const int sites = __popcll(lattice.sites_of(column));
    Index root = label[first];
    int run = 0;
    for (int bit = 0; bit < sites; ++bit) {
      const Index next = label[first + bit];
      if (next != root) {
        Shared::fetch_add(size + root, Index(run));
        root = next;
        run = 0;
      }
      ++run;
    }
    Shared::fetch_add(size + root, Index(run));
  });
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sum_clusters(Replicas replicas, const Index* __restrict__ size, Records records) {
  const Lattice& lattice = replicas.lattice;
  const int64_t replica = replicas.replica(), sites = lattice.sites();
  size = replicas.at_replica(size, sites);
  const int64_t part = blockIdx.x % replicas.parts, step = int64_t(replicas.parts) * blockDim.x;
  SizeSums sums{};
  for (int64_t site = part * blockDim.x + threadIdx.x; site < sites; site += step)
    if (size[site] != 0) sums.add(Bits64(size[site]));
  sums.add_block(records, replica);
}

}  // namespace conncomp
