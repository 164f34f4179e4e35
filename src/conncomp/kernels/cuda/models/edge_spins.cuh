// Spins on any edges: updates of Swendsen and Wang, and of Wolff, by union-find (core/edge_spins.h). A thread
// draws four bonds from a block of Philox and unites the ends of active ones; a bit for each vertex says
// whether its cluster, if a root, stays; a warp then finds a word's roots and writes its spins. Cost: a
// random read of a bit of spins for each end of a bond; two of parents and a compare-and-swap for an active
// bond; 4 bytes and two bits a vertex. Source: ours.
#pragma once

#include "core/edge_vectors.h"
#include "cuda/models/clusters.cuh"

namespace conncomp {

// Bonds with what draws them, as edge_spins.py lays it out: a temperature of each replica, or null.
struct DrawnEdges {
  EdgeBonds bonds;
  const GlassTemperature* temperatures;
  Logarithm logarithm;

  // Of a bond, or a field, of this strength, given a block of numbers.
  bool active(int32_t weight, const PhiloxBlock& block, int k, const GlassTemperature& temperature) const {
    return temperatures != nullptr && weight > 0 && is_active(weight, block.word[k], logarithm, temperature);
  }
};

// Calls body(first, block) for each four of `count` things, with their numbers, if any are drawn.
void for_each_four(
    const Replicas& replicas, const DrawnEdges& edges, Purpose purpose, int64_t count, auto&& body) {
  const Draws draws = replicas.draws();
  const bool drawn = edges.temperatures != nullptr;
  const GlassTemperature temperature =
      drawn ? edges.temperatures[replicas.replica()] : GlassTemperature{0, 0};
  replicas.for_each((count + kEdgesOfBlock - 1) / kEdgesOfBlock, [&](int64_t k) {
    const PhiloxBlock numbers = drawn ? draws(purpose, Bits64(k)) : PhiloxBlock{};
    const int64_t first = k * kEdgesOfBlock, left = count - first;
    body(first, left < kEdgesOfBlock ? int(left) : kEdgesOfBlock, numbers, temperature);
  });
}

// Draws bonds; unites their ends, if there are parents, and marks them, if there are `active_bonds`.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    draw_edges(Replicas replicas, DrawnEdges edges, const typename Kind::Spin* __restrict__ spins,
        int32_t* parent, uint8_t* __restrict__ active_bonds, Records records) {
  const Kind kind(replicas.lattice);
  const auto move = kind.move(replicas.draws());
  spins = replicas.at_replica(spins, Kind::length(replicas.lattice));
  if (parent != nullptr) parent = replicas.at_replica(parent, replicas.lattice.sites());
  if (active_bonds != nullptr) active_bonds = replicas.at_replica(active_bonds, edges.bonds.count);
  int64_t satisfied = 0, active = 0;
  const auto draw = [&](int64_t first, int count, const PhiloxBlock& numbers,
                        const GlassTemperature& temperature) {
    int32_t u[kEdgesOfBlock], v[kEdgesOfBlock], coupling[kEdgesOfBlock], weight[kEdgesOfBlock];
    // All ends are on their way before the first one is looked at.
#pragma unroll
    for (int k = 0; k < kEdgesOfBlock; ++k) {
      u[k] = k < count ? edges.bonds.u[first + k] : 0;
      v[k] = k < count ? edges.bonds.v[first + k] : 0;
    }
#pragma unroll
    for (int k = 0; k < kEdgesOfBlock; ++k) {
      coupling[k] = k < count ? edges.bonds.coupling_of(first + k) : 0;
      weight[k] = k < count ? kind.weight(move, spins, u[k], v[k], coupling[k]) : 0;
    }
#pragma unroll
    for (int k = 0; k < kEdgesOfBlock; ++k) {
      const bool is = edges.active(weight[k], numbers, k, temperature);
      if constexpr (Kind::kCounted) satisfied += kind.satisfied(weight[k], spins, u[k], v[k], coupling[k]);
      active += is;
      if (active_bonds != nullptr && k < count) active_bonds[first + k] = uint8_t(is);
      if (is && parent != nullptr) unite<Concurrent>(parent, u[k], v[k]);
    }
  };
  for_each_four(replicas, edges, kEdgeBond, edges.bonds.count, draw);
  if (records.record == nullptr) return;
  if (Kind::kCounted) records.add_block(replicas.replica(), kSatisfied, satisfied);
  records.add_block(replicas.replica(), kActive, active);
}

// Lets clusters stay that an active bond joins to the ghost; without parents, satisfied fields are counted.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads) draw_ghosts(Replicas replicas, DrawnEdges edges,
    const typename Kind::Spin* __restrict__ spins, int32_t* parent, Bits64* stays, Records records) {
  const Kind kind(replicas.lattice);
  const auto move = kind.move(replicas.draws());
  spins = replicas.at_replica(spins, Kind::length(replicas.lattice));
  if (parent != nullptr) {
    parent = replicas.at_replica(parent, replicas.lattice.sites());
    stays = replicas.at_replica(stays, replicas.lattice.words());
  }
  int64_t satisfied = 0;
  const auto draw = [&](int64_t first, int count, const PhiloxBlock& numbers,
                        const GlassTemperature& temperature) {
    for (int k = 0; k < count; ++k) {
      const int32_t field = edges.bonds.field[first + k], weight = kind.weight(move, spins, first + k, field);
      if constexpr (Kind::kCounted) satisfied += kind.satisfied(weight, spins, first + k, field);
      if (parent == nullptr || !edges.active(weight, numbers, k, temperature)) continue;
      const int32_t root = find<Concurrent>(parent, int32_t(first + k));
      const Bits64 bit = Bits64(1) << root % kWordSites;
      if (!(Concurrent::load(stays + root / kWordSites) & bit))
        Concurrent::fetch_or(stays + root / kWordSites, bit);
    }
  };
  for_each_four(replicas, edges, kGhostBond, replicas.lattice.sites(), draw);
  if (Kind::kCounted && records.record != nullptr)
    records.add_block(replicas.replica(), kSatisfied, satisfied);
}

// Lets vertices be roots, unless it only counts states, and says which stay: with `chosen`, all so far.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    begin_edges(Replicas replicas, const typename Kind::Spin* __restrict__ spins,
        int32_t* __restrict__ parent, Bits64* __restrict__ stays, bool chosen, Records records) {
  const Kind kind(replicas.lattice);
  const Draws draws = replicas.draws();
  const int64_t words = replicas.lattice.words();
  spins = replicas.at_replica(spins, Kind::length(replicas.lattice));
  if (parent != nullptr) {
    int32_t* const own = replicas.at_replica(parent, replicas.lattice.sites());
    replicas.for_each_site([=](int64_t vertex) { own[vertex] = int32_t(vertex); });
    stays = replicas.at_replica(stays, words);
  }
  const bool counts = Kind::kCounted && records.record != nullptr;
  int64_t left = 0;  // sites that are in none of the states so far
  replicas.for_each_word([&](int64_t word) {
    if (parent != nullptr) stays[word] = chosen ? ~Bits64(0) : kind.staying(draws, word);
    if (counts) left += __popcll(replicas.lattice.sites_of(word));
  });
  if constexpr (Kind::kCounted) {
    if (!counts) return;
    const int last = replicas.lattice.states - 1;
    for (int state = 0; state < last; ++state) {
      int64_t equal = 0;
      replicas.for_each_word([&](int64_t word) {
        equal += __popcll(kind.in_state(spins, word, state) & replicas.lattice.sites_of(word));
      });
      left -= equal;
      records.add_block(replicas.replica(), kCounts + state, equal);
    }
    records.add_block(replicas.replica(), kCounts + last, left);
  }
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    choose_edge_cluster(Replicas replicas, int32_t* parent, Bits64* stays) {
  if (threadIdx.x != 0 || blockIdx.x % replicas.parts != 0) return;
  const int64_t vertices = replicas.lattice.sites();
  const auto vertex = int32_t(below(half(replicas.draws()(kChosenSite, 0), 0), Bits64(vertices)));
  const int32_t root = find<Concurrent>(replicas.at_replica(parent, vertices), vertex);
  replicas.at_replica(stays, replicas.lattice.words())[root / kWordSites] &=
      ~(Bits64(1) << root % kWordSites);
}

struct FlippedWord {
  const SitesOfWarp& sites;
  int64_t word;
  int32_t root[SitesOfWarp::kEach];
  bool flips[SitesOfWarp::kEach];
};
// Writes the new spins of a word's vertices, given what the update draws; all lanes call.
inline void write_word(
    const UpDown&, const Draws&, bool, const FlippedWord& of, const Bits64* spins, Bits64* new_spins) {
  const Bits64 flipped = of.sites.gather([&](int k) { return of.flips[k]; });
  if (lane() == 0) new_spins[of.word] = spins[of.word] ^ flipped;
}
template <class Kind>
void write_word(const Kind& kind, const Draws& draws, bool chosen, const FlippedWord& of,
    const typename Kind::Spin* spins, typename Kind::Spin* new_spins) {
  const auto move = kind.move(draws);
  int state[SitesOfWarp::kEach];
#pragma unroll
  for (int k = 0; k < SitesOfWarp::kEach; ++k) {
    const int old = of.sites.has(k) ? kind.state(spins, of.sites.site(k)) : 0;
    state[k] = of.flips[k] ? kind.new_state(move, draws, of.root[k], chosen, old) : old;
  }
  for (int plane = 0; plane < kind.planes; ++plane) {
    const Bits64 digits = of.sites.gather([&](int k) { return state[k] >> plane & 1; });
    if (lane() == 0) new_spins[plane * kind.words + of.word] = digits;
  }
}
template <class Vectors>
void write_word(const Embedded<Vectors>& kind, const Draws& draws, bool, const FlippedWord& of,
    const typename Vectors::Spin* spins, typename Vectors::Spin* new_spins) {
  const auto mirror = kind.move(draws);
#pragma unroll
  for (int k = 0; k < SitesOfWarp::kEach; ++k) {
    if (!of.sites.has(k)) continue;
    const auto spin = spins[of.sites.site(k)];
    new_spins[of.sites.site(k)] = of.flips[k] ? kind.vectors.reflected(mirror, spin) : spin;
  }
}

// Writes the new spins; parents are roots from then on, and sizes, if there are such, 0.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads) flip_edges(Replicas replicas,
    const typename Kind::Spin* __restrict__ spins, int32_t* parent, const Bits64* __restrict__ stays,
    bool chosen, int32_t* __restrict__ size, typename Kind::Spin* __restrict__ new_spins) {
  const int64_t words = replicas.lattice.words(), vertices = replicas.lattice.sites();
  const Kind kind(replicas.lattice);
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, Kind::length(replicas.lattice));
  stays = replicas.at_replica(stays, words);
  new_spins = replicas.at_replica(new_spins, Kind::length(replicas.lattice));
  parent = replicas.at_replica(parent, vertices);
  if (size != nullptr) size = replicas.at_replica(size, vertices);
  replicas.for_each_word_of_warp([&](int64_t word) {
    const SitesOfWarp sites(replicas.lattice, word);
    FlippedWord of{sites, word, {}, {}};
#pragma unroll
    for (int k = 0; k < SitesOfWarp::kEach; ++k) {
      of.flips[k] = false;
      if (!sites.has(k)) continue;
      const int32_t vertex = int32_t(sites.site(k)), root = find<Concurrent, Jump::kNone>(parent, vertex);
      of.root[k] = root;
      of.flips[k] = !(stays[root / kWordSites] >> root % kWordSites & 1);
      if (size == nullptr) continue;
      size[vertex] = 0;
      if (root != vertex) Concurrent::store(parent + vertex, root);
    }
    write_word(kind, draws, chosen, of, spins, new_spins);
  });
}

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    start_edges(Replicas replicas, typename Kind::Spin* __restrict__ spins) {
  const Kind kind(replicas.lattice);
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) { spins[site] = kind.vectors.start(draws, Bits64(site)); });
}

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads) count_edge_vectors(
    Replicas replicas, EdgeBonds bonds, const typename Kind::Spin* __restrict__ spins, Records records) {
  const Kind kind(replicas.lattice);
  spins = replicas.at_replica(spins, replicas.lattice.sites());
  int64_t products = 0, sums[Kind::kComponents] = {};
  replicas.for_each(bonds.count, [&](int64_t edge) {
    products += kind.product(spins, bonds.u[edge], bonds.v[edge], bonds.coupling_of(edge));
  });
  replicas.for_each_site([&](int64_t site) {
    const auto vector = kind.vectors.components(spins[site]);
#pragma unroll
    for (int k = 0; k < Kind::kComponents; ++k) sums[k] += measured_component(vector.of[k]);
    if (bonds.field != nullptr) products += kind.ghost_product(spins, site, bonds.field[site]);
  });
  records.add_block(replicas.replica(), kSatisfied, products);
  for (int k = 0; k < Kind::kComponents; ++k) records.add_block(replicas.replica(), kCounts + k, sums[k]);
}

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads) offer_edges(Replicas replicas, DrawnEdges edges,
    EdgeArcs arcs, int32_t rule, EdgeClass together, typename Kind::Spin* spins) {
  const Kind kind(replicas.lattice);
  const Draws draws = replicas.draws();
  const LocalUpdate update{
      arcs, edges.bonds.field, edges.logarithm, edges.temperatures[replicas.replica()], GlassRule(rule)};
  spins = replicas.at_replica(spins, Kind::length(replicas.lattice));
  replicas.for_each(together.count,
      [&](int64_t k) { offer_vertex<Concurrent>(kind, update, draws, spins, together.vertices[k]); });
}

// Labels of the clusters of the bonds whose byte in `active` is set, as ActiveEdges of
// cpu/models/structure.h: each site is a root before, and settles after. Cost: two random reads of parents an
// active bond, one a site.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    join_active_bonds(Replicas replicas, int64_t count, const int32_t* __restrict__ u,
        const int32_t* __restrict__ v, const uint8_t* __restrict__ active, int32_t* label) {
  label = replicas.at_replica(label, replicas.lattice.sites());
  active = replicas.at_replica(active, count);
  replicas.for_each(count, [&](int64_t bond) {
    if (active[bond]) unite<Concurrent>(label, u[bond], v[bond]);
  });
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) settle_labels(Replicas replicas, int32_t* label) {
  label = replicas.at_replica(label, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) {
    const int32_t root = find<Concurrent, Jump::kNone>(label, int32_t(site));
    if (root != site) Concurrent::store(label + site, root);
  });
}

}
