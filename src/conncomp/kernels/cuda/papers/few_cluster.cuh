// Weigel's few-cluster update: grows the cluster of one chosen site in each tile along its wave front, and
// fills new_spins with the spins after an update in which these clusters may flip. A block grows the cluster
// of its tile's site through the lattice (grow_clusters): new sites wait in a queue with a place for each
// site; a thread takes one, draws its bonds to equal spins, and claims the sites behind active ones, each for
// the first tile. Tiles whose fronts meet are united (settle_growths). A cluster then flips or not, as its
// smallest site decides (flip_growths). Unlike the paper's, spins do not flip during growth: two chosen sites
// may share a cluster, and parts that decided apart would tear it. Blocks share queues as memory requires.
// Cost: two Philox calls per site of a cluster, an atomic access per active bond, two barriers a round.
// Source: Weigel 2011, section III (point 3 and equation 27).
#pragma once

#include "cuda/models/clusters.cuh"
#include "cuda/papers/site_bonds.cuh"

namespace conncomp {

// Layout: few_cluster.py. Seeds are numbered by replica and tile.
template <class Index> struct Growths {
  Index* owner;   // of each site: the seed that has claimed it, or -1
  Index* above;   // of each seed: a forest of those in one cluster
  Index* lowest;  // the smallest site of its part, or of the cluster once that is settled
  Index* queue;   // for each block, a place for each site
  int64_t seeds, owners;
};

template <class Index> __global__ void __launch_bounds__(kSpinThreads) reset_growths(Growths<Index> growths) {
  const int64_t thread = grid_thread(), threads = grid_threads();
  for (int64_t i = thread; i < growths.owners; i += threads) growths.owner[i] = -1;
  for (int64_t i = thread; i < growths.seeds; i += threads) {
    growths.above[i] = Index(i);
    growths.lowest[i] = Index(growths.owners);
  }
}

template <class Index> struct Growth {
  const Growths<Index>& growths;
  Index seed;
  Index* owner;

  // Claims a site, or unites the clusters if another seed has it. Returns whether it is new.
  bool claim(int64_t site) const {
    Index held = Current::load(owner + site);
    if (held == Index(-1)) held = Current::compare_exchange(owner + site, Index(-1), seed);
    if (held == Index(-1)) return true;
    if (held != seed) unite<Concurrent>(growths.above, seed, held);
    return false;
  }
};

// Calls body(site, axis, neighbour) for the bonds of a site with those after it and before it.
void for_each_bond_at(const Lattice& lattice, int64_t site, auto&& body) {
  int64_t stride = 1, quotient = site;
  for (int axis = kRowAxis; axis >= 0; --axis) {
    const int64_t length = lattice.length[axis], at = quotient % length;
    if (length > 1) {
      const int64_t next = next_site(lattice, site, axis, at, stride, 1);
      const int64_t before = next_site(lattice, site, axis, at, stride, -1);
      if (next >= 0) body(site, axis, next);
      if (before >= 0) body(before, axis, before);
    }
    quotient /= length;
    stride *= length;
  }
}

template <class Index>
__global__ void __launch_bounds__(1024) grow_clusters(Replicas replicas, ChoiceTiles tiles,
    Growths<Index> growths, const Bits64* __restrict__ all_spins, const Bits64* __restrict__ probability) {
  const Lattice& lattice = replicas.lattice;
  const int64_t sites = lattice.sites(), tiles_of_lattice = tiles.count(lattice);
  Index* const queue = growths.queue + blockIdx.x * sites;
  __shared__ int64_t put;
  for (int64_t seed = blockIdx.x; seed < growths.seeds; seed += gridDim.x) {
    const int64_t replica = seed / tiles_of_lattice;
    const Draws draws{replicas.seed, Bits64(replicas.first + replica), replicas.step};
    const Bits64* const spins = all_spins + replica * replicas.words_of_states();
    const Growth<Index> growth{growths, Index(seed), growths.owner + replica * sites};
    if (threadIdx.x == 0) {
      const int64_t site = tiles.chosen_site(lattice, draws, seed % tiles_of_lattice);
      const bool is_new = growth.claim(site);
      queue[0] = Index(site);
      InBlock::store(&put, int64_t(is_new));
    }
    Index lowest = Index(growths.owners);
    for (int64_t taken = 0;;) {
      __syncthreads();
      const int64_t waiting = InBlock::load(&put);
      __syncthreads();  // before more are put
      if (taken == waiting) break;
      for (int64_t i = taken + threadIdx.x; i < waiting; i += blockDim.x) {
        const int64_t site = queue[i];
        const int state = state_at(lattice, spins, {lattice, site});
        if (Index(site) < lowest) lowest = Index(site);
        for_each_bond_at(lattice, site, [&](int64_t bond, int axis, int64_t neighbour) {
          if (state_at(lattice, spins, {lattice, neighbour}) != state) return;
          if (!is_active(draws, {lattice, bond}, axis, probability[replica])) return;
          if (growth.claim(neighbour)) queue[InBlock::fetch_add(&put, int64_t(1))] = Index(neighbour);
        });
      }
      taken = waiting;
    }
    if (lowest < Index(growths.owners)) Concurrent::fetch_min(growths.lowest + seed, lowest);
  }
}

// Gives the root of each cluster's seeds the smallest site of all.
template <class Index>
__global__ void __launch_bounds__(kSpinThreads) settle_growths(Growths<Index> growths) {
  for (int64_t seed = grid_thread(); seed < growths.seeds; seed += grid_threads()) {
    const Index root = find<Concurrent, Jump::kNone>(growths.above, Index(seed));
    if (root != Index(seed))
      Concurrent::fetch_min(growths.lowest + root, Concurrent::load(growths.lowest + seed));
  }
}

template <class Index>
__global__ void __launch_bounds__(kSpinThreads) flip_growths(Replicas replicas, Growths<Index> growths,
    Choice choice, const Bits64* __restrict__ spins, Bits64* __restrict__ new_spins) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t words = lattice.words();
  spins = replicas.at_replica(spins, replicas.words_of_states());
  new_spins = replicas.at_replica(new_spins, replicas.words_of_states());
  const Index* const owner = replicas.at_replica(growths.owner, lattice.sites());
  replicas.for_each_word([&](int64_t word) {
    const int64_t column = word % lattice.columns();
    const int64_t first = lattice.first_site(word);
    for (int k = 0; k < lattice.planes; ++k) new_spins[k * words + word] = 0;
    for (Bits64 sites = lattice.sites_of(column); sites != 0; sites &= sites - 1) {
      const int bit = __ffsll((long long)sites) - 1;
      int state = state_of(spins + word, words, lattice.planes, bit);
      if (const Index seed = owner[first + bit]; seed >= 0) {
        const Index root = find<Concurrent, Jump::kNone>(growths.above, seed);
        const ClusterDraw draw = draw_cluster(draws, growths.lowest[root]);
        if (choice.always || draw.decision < choice.p_flip) state = draw.another_state(lattice.states, state);
      }
      set_state(new_spins + word, words, lattice.planes, state, Bits64(1) << bit);
    }
  });
}

}
