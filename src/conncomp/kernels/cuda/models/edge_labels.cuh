// Labels of the clusters that active bonds make among any sites, on a GPU: as cpu/models/edge_labels.h.
//
// How: union-find in global memory, a bond a thread; then each site looks for its root. Cost: two random
// reads of parents an active bond, one a site. Source: ours; core/union_find.h.
#pragma once

#include "cuda/models/clusters.cuh"

namespace conncomp {

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) begin_labels(Replicas replicas, int32_t* __restrict__ label) {
  label = replicas.at_replica(label, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) { label[site] = int32_t(site); });
}

// Unites the ends of active bonds, of which a byte for each replica and bond says which these are.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    join_active_bonds(Replicas replicas, int64_t count, const int32_t* __restrict__ u,
                      const int32_t* __restrict__ v, const uint8_t* __restrict__ active, int32_t* label) {
  label = replicas.at_replica(label, replicas.lattice.sites());
  active = replicas.at_replica(active, count);
  const int64_t part = blockIdx.x % replicas.parts, step = int64_t(replicas.parts) * blockDim.x;
  for (int64_t bond = part * blockDim.x + threadIdx.x; bond < count; bond += step)
    if (active[bond]) unite<Shared>(label, u[bond], v[bond]);
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) settle_labels(Replicas replicas, int32_t* label) {
  label = replicas.at_replica(label, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) {
    const int32_t root = find<Shared, Jump::kNone>(label, int32_t(site));
    if (root != site) Shared::store(label + site, root);
  });
}

}  // namespace conncomp
