// New states and sizes of clusters, for any labelling of any lattice. A label is its cluster's smallest site
// in the replica, whose random numbers (core/spins.h) decide. Cost: a label and a Philox call a site.
#pragma once

#include "core/union_find.h"
#include "core/vector_spins.h"
#include "cuda/models/spins.cuh"

namespace conncomp {

// The sites of a word, two for each lane of a warp.
struct SitesOfWarp {
  static constexpr int kEach = kWordSites / kWarp;
  Bits64 sites;
  int64_t first;

  SitesOfWarp(const Lattice& lattice, int64_t word)
      : sites(lattice.sites_of(word % lattice.columns())), first(lattice.first_site(word)) {}

  int bit(int k) const { return k * kWarp + lane(); }
  bool has(int k) const { return sites >> bit(k) & 1; }
  int64_t site(int k) const { return first + bit(k); }
  // The word of what is true of the sites: of bit(k), `holds(k)`.
  Bits64 gather(auto&& holds) const {
    Bits64 word = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k) word |= Bits64(__ballot_sync(kAllLanes, holds(k))) << k * kWarp;
    return word;
  }
};

// Calls body(whether there is a site, site) for a warp's words; all lanes call.
void for_each_site_of_warp(const Replicas& replicas, auto&& body) {
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(replicas.lattice, word);
#pragma unroll
    for (int k = 0; k < SitesOfWarp::kEach; ++k) body(sites.has(k), sites.site(k));
  });
}

// Which clusters may flip: with `chosen`, those whose label's bit is set, with a probability; else all.
struct Choice {
  uint32_t* chosen;  // a bit for each site; null if all
  int64_t words;     // of a replica
  Bits64 p_flip;
  bool always;

  int state_of(const Draws& draws, int64_t replica, int64_t root, int states, int old) const {
    if (chosen == nullptr) return draw_any_state(draws, root, states);
    const ClusterDraw draw = draw_cluster(draws, root);
    const bool may_flip = chosen[replica * words + root / 32] >> root % 32 & 1;
    return may_flip && (always || draw.decision < p_flip) ? draw.another_state(states, old) : old;
  }
};

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    choose_clusters(Replicas replicas, ChoiceTiles tiles, const Index* __restrict__ label, Choice choice) {
  const int64_t replica = replicas.replica();
  label = replicas.at_replica(label, replicas.lattice.sites());
  replicas.for_each(tiles.count(replicas.lattice), [&](int64_t tile) {
    const int64_t root = label[tiles.chosen_site(replicas.lattice, replicas.draws(), tile)];
    Concurrent::fetch_or(choice.chosen + replica * choice.words + root / 32, 1u << root % 32);
  });
}

// A warp a word, a lane two of its sites. Labels that are not settled are parents, and lead to the root.
template <class Index, bool settled>
__global__ void __launch_bounds__(kSpinThreads)
    flip_clusters(Replicas replicas, const Bits64* __restrict__ spins, Index* __restrict__ label,
        Choice choice, Bits64* __restrict__ new_spins) {
  follow_launch();
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t replica = replicas.replica(), words = lattice.words();
  spins = replicas.at_replica(spins, replicas.words_of_states());
  new_spins = replicas.at_replica(new_spins, replicas.words_of_states());
  label = replicas.at_replica(label, lattice.sites());
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(lattice, word);
    Index root[SitesOfWarp::kEach];
    int state[SitesOfWarp::kEach];
#pragma unroll
    for (int k = 0; k < SitesOfWarp::kEach; ++k)
      root[k] = sites.has(k) ? Concurrent::load(label + sites.site(k)) : Index(-1);
    if constexpr (!settled) {
#pragma unroll
      for (int k = 0; k < SitesOfWarp::kEach; ++k)
        if (root[k] >= 0) root[k] = find_from<Concurrent, Jump::kNone>(label, Index(sites.site(k)), root[k]);
    }
#pragma unroll
    for (int k = 0; k < SitesOfWarp::kEach; ++k) {
      const int old = state_of(spins + word, words, lattice.planes, sites.bit(k));
      state[k] = root[k] < 0 ? 0 : choice.state_of(draws, replica, root[k], lattice.states, old);
    }
    for (int plane = 0; plane < lattice.planes; ++plane) {
      const Bits64 digits = sites.gather([&](int k) { return state[k] >> plane & 1; });
      if (lane() == 0) new_spins[plane * words + word] = digits;
    }
  });
}

// The bonds of each site as bits of a byte, as conncomp.label_bonds takes them.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    spread_bonds(Replicas replicas, const Bits64* __restrict__ bonds, uint8_t* __restrict__ bonds_of_site) {
  follow_launch();
  const Lattice& lattice = replicas.lattice;
  const int64_t words = lattice.words();
  bonds = replicas.at_replica(bonds, words * replicas.axes);
  bonds_of_site = replicas.at_replica(bonds_of_site, lattice.sites());
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(lattice, word);
#pragma unroll
    for (int k = 0; k < SitesOfWarp::kEach; ++k) {
      int site_bonds = 0;
      for (int axis = 0; axis < replicas.axes; ++axis)
        site_bonds |= int(bonds[axis * words + word] >> sites.bit(k) & 1) << axis;
      if (sites.has(k)) bonds_of_site[sites.site(k)] = uint8_t(site_bonds);
    }
  });
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads) clear_sizes(Replicas replicas, Index* __restrict__ size) {
  follow_launch();
  size = replicas.at_replica(size, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) { size[site] = 0; });
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    measure_clusters(Replicas replicas, const Index* __restrict__ label, Index* size) {
  follow_launch();
  label = replicas.at_replica(label, replicas.lattice.sites());
  size = replicas.at_replica(size, replicas.lattice.sites());
  for_each_site_of_warp(replicas, [&](bool exists, int64_t site) {
    const Index root = exists ? label[site] : Index(-1);
    const Stretch stretch = stretch_of(root);
    if (stretch.first && root >= 0) Concurrent::fetch_add(size + root, Index(stretch.length));
  });
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads)
    sum_clusters(Replicas replicas, const Index* __restrict__ size, Records records) {
  follow_launch();
  size = replicas.at_replica(size, replicas.lattice.sites());
  SizeSums sums{};
  replicas.for_each_site([&](int64_t site) {
    if (size[site] != 0) sums.add(Bits64(size[site]));
  });
  sums.add_block(records, replicas.replica());
}

// Adds the squares of sums, so many a site, to the records, as limbs from a field on.
template <int sums_of_site>
__global__ void __launch_bounds__(kSpinThreads)
    square_sums(Replicas replicas, const int64_t* __restrict__ sums, Records records, int32_t field) {
  sums = replicas.at_replica(sums, sums_of_site * replicas.lattice.sites());
  int64_t limbs[kProjectedLimbs] = {};
  replicas.for_each_site([&](int64_t site) {
    for (int k = 0; k < sums_of_site; ++k) add_square(sums[sums_of_site * site + k], limbs);
  });
  for (int k = 0; k < kProjectedLimbs; ++k) records.add_block(replicas.replica(), field + k, limbs[k]);
}

}
