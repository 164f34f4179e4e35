// ECL-SCC: fills roots[v] with the smallest vertex of v's strong component, for a list of arcs. Each vertex
// has a signature, its extremes (extremes.cuh), which blocks pass along arcs until nothing changes
// (ecl_scc_sweep). A vertex with two equal entries is in the component of that vertex. Arcs whose ends differ
// or are settled are dropped (ecl_scc_drop), the ends of others start anew (ecl_scc_start), until no arcs are
// left. Cost: arcs read once a sweep; two entries per vertex, and two lists of arcs. Source: Alabandi, Sands,
// Biros and Burtscher 2023.
#pragma once

#include "cuda/graph/extremes.cuh"
#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kEclSccThreads = 512;

// At first all vertices start with themselves; later, with `vertices` 0, the ends of arcs.
template <class Vertex>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads)) ecl_scc_start(
    int64_t vertices, int64_t arcs, const Vertex* __restrict__ sources, const Vertex* __restrict__ targets,
    Extremes<Vertex> extremes, int64_t* last_change, int64_t* kept, int64_t* components) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) extremes.reset(Vertex(v));
  for (int64_t arc = grid_thread(); vertices == 0 && arc < arcs; arc += grid_threads())
    for (int end = 0; end < 2; ++end) extremes.reset(end == 0 ? sources[arc] : targets[arc]);
  if (grid_thread() == 0) {
    start_sweeps(last_change);
    *kept = *components = 0;
  }
}

template <class Vertex>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads))
    ecl_scc_sweep(int64_t arcs, const Vertex* __restrict__ sources, const Vertex* __restrict__ targets,
        Extremes<Vertex> extremes, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  sweep_in_block([&] {
    bool changed_now = false;
    for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads())
      changed_now |= extremes.pass_along(sources[arc], targets[arc]);
    changed |= changed_now;
    return changed_now;
  });
  report_changes(last_change, sweep, changed);
}

// Copies the arcs whose ends are alike and not settled, in any order.
template <class Vertex>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads)) ecl_scc_drop(int64_t arcs,
    const Vertex* __restrict__ sources, const Vertex* __restrict__ targets, Extremes<Vertex> extremes,
    Vertex* __restrict__ kept_sources, Vertex* __restrict__ kept_targets, int64_t* kept) {
  for (int64_t row = grid_thread() - lane(); row < arcs; row += grid_threads()) {
    const int64_t arc = row + lane();
    const Vertex u = arc < arcs ? sources[arc] : 0, v = arc < arcs ? targets[arc] : 0;
    const bool keep = arc < arcs && extremes.may_join(u, v);
    const uint32_t all = __ballot_sync(kAllLanes, keep);
    int64_t place = 0;
    if (lane() == 0 && all) place = Concurrent::fetch_add(kept, int64_t(__popc(all)));
    place = __shfl_sync(kAllLanes, place, 0) + __popc(all & ~(kAllLanes << lane()));
    if (!keep) continue;
    kept_sources[place] = u;
    kept_targets[place] = v;
  }
}

// A vertex whose entries differ lost its last arc in a round that did not settle it: it is alone.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads))
    ecl_scc_finish(int64_t vertices, Extremes<Vertex> extremes, Index* __restrict__ roots) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    roots[v] = Index(extremes.component(Vertex(v)));
}

}
