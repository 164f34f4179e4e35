// Structure factors: sums of core/structure.h over all sites, and squares of those over clusters. A thread
// goes through sites once for each component. Of clusters, stretches of one label add to two numbers there,
// squared and summed at last. Cost: a table entry and two products a site and wave; of clusters two atomic
// additions a stretch, and 16 bytes a site. Source: ours.
#pragma once

#include "core/structure.h"
#include "cuda/models/clusters.cuh"

namespace conncomp {

// Adds to the records, from a field on, sums by component, wave, cosine and sine.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads) add_waves(Replicas replicas, Waves waves,
    const typename Kind::Spin* __restrict__ spins, Records records, int32_t field) {
  const Lattice& lattice = replicas.lattice;
  const Kind kind(lattice);
  spins = replicas.at_replica(spins, Kind::length(lattice));
  for (int component = 0; component < Kind::components(lattice); ++component) {
    int64_t cosine[kMostWaves] = {}, sine[kMostWaves] = {};
    replicas.for_each_site([&](int64_t site) {
      const int32_t value = kind.value(spins, site, component);
#pragma unroll
      for (int k = 0; k < kMostWaves; ++k) {
        if (k >= waves.count) continue;
        const Phase phase = waves.at(k, site);
        cosine[k] += waved(value, phase.cosine);
        sine[k] += waved(value, phase.sine);
      }
    });
#pragma unroll
    for (int k = 0; k < kMostWaves; ++k) {
      if (k >= waves.count) continue;
      records.add_block(replicas.replica(), field++, cosine[k]);
      records.add_block(replicas.replica(), field++, sine[k]);
    }
  }
}

// The label that most of 32 sites of a replica have, spread over it; all lanes of a warp call.
inline int32_t common_label(const int32_t* label, int64_t sites) {
  const int32_t own = label[sites * lane() / kWarp];
  int count = 0;
  for (int k = 0; k < kWarp; ++k) count += __shfl_sync(kAllLanes, own, k) == own;
  return int32_t(over_lanes(int64_t(count) << 32 | own, larger<int64_t>));
}

// Adds a wave of each site to two numbers at its label; blocks first add up those of the largest cluster.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    add_cluster_waves(Replicas replicas, Waves waves, int32_t wave,
        const typename Kind::Spin* __restrict__ spins, const int32_t* __restrict__ label, int64_t* sums) {
  const Lattice& lattice = replicas.lattice;
  const Kind kind(lattice);
  const auto mirror = kind.mirror(replicas.draws());
  spins = replicas.at_replica(spins, Kind::length(lattice));
  label = replicas.at_replica(label, lattice.sites());
  sums = replicas.at_replica(sums, 2 * lattice.sites());
  const int32_t common = common_label(label, lattice.sites());
  int64_t cosine_of_common = 0, sine_of_common = 0;
  for_each_site_of_warp(replicas, [&](bool exists, int64_t site) {
    int32_t root = exists ? label[site] : -1;
    int64_t cosine = 0, sine = 0;
    if (exists) {
      const Phase phase = waves.at(wave, site);
      const int32_t value = kind.projection(mirror, spins, site);
      cosine = waved_in_cluster(value, phase.cosine);
      sine = waved_in_cluster(value, phase.sine);
    }
    if (root == common) {
      cosine_of_common += cosine;
      sine_of_common += sine;
      root = -1;
    }
    const Stretch stretch = stretch_of(root);
    cosine = over_stretch(cosine, stretch.length, plus<int64_t>);
    sine = over_stretch(sine, stretch.length, plus<int64_t>);
    if (!stretch.first || root < 0) return;
    Concurrent::fetch_add(sums + 2 * int64_t(root), cosine);
    Concurrent::fetch_add(sums + 2 * int64_t(root) + 1, sine);
  });
  cosine_of_common = block_sum<kMostSpinThreads>(cosine_of_common);
  sine_of_common = block_sum<kMostSpinThreads>(sine_of_common);
  if (threadIdx.x != 0) return;
  Concurrent::fetch_add(sums + 2 * int64_t(common), cosine_of_common);
  Concurrent::fetch_add(sums + 2 * int64_t(common) + 1, sine_of_common);
}

}
