// Strong components of a directed graph by ECL-SCC.
//
// What: fills roots[v] with the smallest vertex of v's strong component, for a list of arcs.
// How: each vertex has a signature, the smallest vertex known to reach it and the smallest that it is known
// to reach, at first itself. Along every arc, what is known is passed on, and what is known of these two
// vertices, as in pointer jumping (ecl_scc_sweep); a block goes through its arcs until nothing changes there,
// and sweeps of all blocks follow each other until none changes anything. Then a vertex with two equal
// entries is in the component of that vertex. Arcs whose ends differ, or are told, are dropped
// (ecl_scc_drop), the ends of others start anew (ecl_scc_start), and all is done again until no arcs are
// left. The paper keeps the largest vertices, and stores them without atomic accesses, so that a store may be
// lost until it is made again; here the smallest ones, by atomic minima. Cost: arcs read once a sweep, two
// random accesses for each, and two or more where there is something to pass on. Two entries a vertex, and
// two lists of arcs. Source: Alabandi, Sands, Biros and Burtscher 2023.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kEclSccThreads = 512;

// The two entries of every vertex. Laid out as in ecl_scc.py.
template <class Vertex>
struct Extremes {
  Vertex *ancestors, *descendants;
};

// Lowers an entry that has been seen; returns whether the value is below that.
template <class Vertex>
__device__ inline bool lower(Vertex* entry, Vertex seen, Vertex value) {
  if (value >= seen) return false;
  Shared::fetch_min(entry, value);
  return true;
}

// Passes what is known along the arc u -> v, and on to the ancestors and descendants of both; returns whether
// that may have changed anything.
template <class Vertex>
__device__ inline bool pass_extremes(const Extremes<Vertex>& extremes, Vertex u, Vertex v) {
  Vertex *const ancestors = extremes.ancestors, *const descendants = extremes.descendants;
  const Vertex extremes_of_u[2] = {Shared::load(ancestors + u), Shared::load(descendants + u)};
  const Vertex extremes_of_v[2] = {Shared::load(ancestors + v), Shared::load(descendants + v)};
  const Vertex ancestor = extremes_of_u[0] == u ? u : Shared::load(ancestors + extremes_of_u[0]);
  const Vertex descendant = extremes_of_v[1] == v ? v : Shared::load(descendants + extremes_of_v[1]);
  bool changed = lower(ancestors + u, extremes_of_u[0], ancestor);
  changed |= lower(ancestors + v, extremes_of_v[0], ancestor);
  changed |= lower(descendants + u, extremes_of_u[1], descendant);
  changed |= lower(descendants + v, extremes_of_v[1], descendant);
  // An entry is at most its vertex, so that only a larger vertex may know less.
  const auto tell = [&](Vertex* entries, Vertex w, Vertex value) {
    changed |= value < w && lower(entries + w, Shared::load(entries + w), value);
  };
  tell(descendants, extremes_of_u[0], descendant);
  if (extremes_of_v[0] != extremes_of_u[0]) tell(descendants, extremes_of_v[0], descendant);
  tell(ancestors, extremes_of_v[1], ancestor);
  if (extremes_of_u[1] != extremes_of_v[1]) tell(ancestors, extremes_of_u[1], ancestor);
  return changed;
}

// Before the first round all vertices are made to know themselves only; before the others, for which
// `vertices` is 0, the ends of arcs.
template <class Vertex>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads))
    ecl_scc_start(int64_t vertices, int64_t arcs, const Vertex* __restrict__ sources,
                  const Vertex* __restrict__ targets, Extremes<Vertex> extremes, int64_t* last_change,
                  int64_t* kept, int64_t* components) {
  Vertex *const ancestors = extremes.ancestors, *const descendants = extremes.descendants;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    ancestors[v] = descendants[v] = Vertex(v);
  for (int64_t arc = grid_thread(); vertices == 0 && arc < arcs; arc += grid_threads())
    for (int end = 0; end < 2; ++end) {
      const Vertex v = end == 0 ? sources[arc] : targets[arc];
      Shared::store(ancestors + v, v);
      Shared::store(descendants + v, v);
    }
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
      changed_now |= pass_extremes(extremes, sources[arc], targets[arc]);
    changed |= changed_now;
    return changed_now;
  });
  report_changes(last_change, sweep, changed);
}

// Copies the arcs whose ends are alike and not told, in any order.
template <class Vertex>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads))
    ecl_scc_drop(int64_t arcs, const Vertex* __restrict__ sources, const Vertex* __restrict__ targets,
                 const Vertex* __restrict__ ancestors, const Vertex* __restrict__ descendants,
                 Vertex* __restrict__ kept_sources, Vertex* __restrict__ kept_targets, int64_t* kept) {
  for (int64_t row = grid_thread() - lane(); row < arcs; row += grid_threads()) {
    const int64_t arc = row + lane();
    const Vertex u = arc < arcs ? sources[arc] : 0, v = arc < arcs ? targets[arc] : 0;
    const bool keep = arc < arcs && ancestors[u] != descendants[u] && ancestors[u] == ancestors[v] &&
                      descendants[u] == descendants[v];
    const uint32_t all = __ballot_sync(kAllLanes, keep);
    int64_t place = 0;
    if (lane() == 0 && all) place = Shared::fetch_add(kept, int64_t(__popc(all)));
    place = __shfl_sync(kAllLanes, place, 0) + __popc(all & ~(kAllLanes << lane()));
    if (!keep) continue;
    kept_sources[place] = u;
    kept_targets[place] = v;
  }
}

// A vertex whose entries differ has lost its last arc in a round that did not tell it: it is alone.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kEclSccThreads, resident_blocks(kEclSccThreads))
    ecl_scc_finish(int64_t vertices, const Vertex* __restrict__ ancestors,
                   const Vertex* __restrict__ descendants, Index* __restrict__ roots) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    roots[v] = ancestors[v] == descendants[v] ? Index(ancestors[v]) : Index(v);
}

}  // namespace conncomp
