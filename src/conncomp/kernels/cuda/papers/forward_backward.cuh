// Strong components by forward and backward searches that divide a graph. Fills roots[v] with the smallest
// vertex of v's strong component, for a list of arcs. Vertices are in classes, at first one, and no component
// is in two. A round trims vertices without arcs to, or from, others of their class: each is a component
// (divide_mark, divide_trim). In each class the smallest other vertex starts a search along arcs and one
// against them (divide_seek, divide_sweep). What both reach is its component; what one reaches, or none, are
// three new classes (divide_split, divide_move). Cost: each round sweeps over all arcs as often as its
// longest search has levels; a path in order takes half as many rounds as vertices. Six entries per vertex.
// Source: Fleischer, Hendrickson and Pinar 2000; on the GPU Barnat, Bauch, Brim and Češka 2011, to which
// Maddix 2014 refers.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kDividing = 256;  // threads
// By arcs of its class, then by searches.
constexpr uint32_t kReached = 1, kReaching = 2, kReachedAndReaching = 3;
// Classes whose smallest vertices are sought: new ones by their bits, 0 to 2, and present ones.
constexpr int kPresent = 3, kKinds = 4;

// Begins a round; in the first all vertices are in one class.
template <class Vertex>
__global__ void __launch_bounds__(kDividing) divide_start(int64_t vertices, int64_t round,
    Vertex* __restrict__ classes, uint32_t* __restrict__ reached, Vertex* __restrict__ smallest,
    int64_t* last_change, int64_t* left, int64_t* components) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (round == 0) classes[v] = 0;
    reached[v] = 0;
    for (int kind = 0; kind < kKinds; ++kind) smallest[kind * vertices + v] = Vertex(vertices - 1);
  }
  if (grid_thread() != 0) return;
  start_sweeps(last_change);
  *left = *components = 0;
}

inline bool set_bit(uint32_t* entry, uint32_t bit) {
  if (Concurrent::load(entry) & bit) return false;
  Concurrent::fetch_or(entry, bit);
  return true;
}

template <class Vertex> bool is_inside(const Vertex* classes, Vertex u, Vertex v) {
  return u != v && classes[u] >= 0 && classes[u] == classes[v];
}

template <class Vertex>
__global__ void __launch_bounds__(kDividing) divide_mark(int64_t arcs, const Vertex* __restrict__ sources,
    const Vertex* __restrict__ targets, const Vertex* __restrict__ classes, uint32_t* reached) {
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) {
    const Vertex u = sources[arc], v = targets[arc];
    if (!is_inside(classes, u, v)) continue;
    set_bit(reached + u, kReaching);
    set_bit(reached + v, kReached);
  }
}

// Settles vertices that lack one kind of arc, and finds the smallest other vertex of each class.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kDividing) divide_trim(int64_t vertices, Vertex* __restrict__ classes,
    uint32_t* __restrict__ reached, Vertex* smallest, Index* __restrict__ roots) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (classes[v] < 0) continue;
    if (reached[v] == kReachedAndReaching) {
      Concurrent::fetch_min(smallest + kPresent * vertices + classes[v], Vertex(v));
    } else {
      roots[v] = Index(v);
      classes[v] = -1;
    }
    reached[v] = 0;
  }
}

// Names each class by its smallest vertex, and starts both searches there.
template <class Vertex>
__global__ void __launch_bounds__(kDividing) divide_seek(int64_t vertices, Vertex* __restrict__ classes,
    uint32_t* __restrict__ reached, const Vertex* __restrict__ smallest) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (classes[v] < 0) continue;
    classes[v] = smallest[kPresent * vertices + classes[v]];
    if (classes[v] == Vertex(v)) reached[v] = kReachedAndReaching;
  }
}

template <class Vertex>
__global__ void __launch_bounds__(kDividing)
    divide_sweep(int64_t arcs, const Vertex* __restrict__ sources, const Vertex* __restrict__ targets,
        const Vertex* __restrict__ classes, uint32_t* reached, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) {
    const Vertex u = sources[arc], v = targets[arc];
    if (!is_inside(classes, u, v)) continue;
    if (Concurrent::load(reached + u) & kReached) changed |= set_bit(reached + v, kReached);
    if (Concurrent::load(reached + v) & kReaching) changed |= set_bit(reached + u, kReaching);
  }
  report_changes(last_change, sweep, changed);
}

// Settles what both searches reached, and finds the smallest vertex of each new class.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kDividing) divide_split(int64_t vertices, Vertex* __restrict__ classes,
    const uint32_t* __restrict__ reached, Vertex* smallest, Index* __restrict__ roots, int64_t* left) {
  bool is_left = false;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    if (classes[v] < 0) continue;
    if (reached[v] == kReachedAndReaching) {
      roots[v] = Index(classes[v]);
      classes[v] = -1;
    } else {
      Concurrent::fetch_min(smallest + reached[v] * vertices + classes[v], Vertex(v));
      is_left = true;
    }
  }
  if (__syncthreads_or(is_left) && threadIdx.x == 0) Concurrent::store(left, int64_t(1));
}

template <class Vertex>
__global__ void __launch_bounds__(kDividing) divide_move(int64_t vertices, Vertex* __restrict__ classes,
    const uint32_t* __restrict__ reached, const Vertex* __restrict__ smallest) {
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads())
    if (classes[v] >= 0) classes[v] = smallest[reached[v] * vertices + classes[v]];
}

}
