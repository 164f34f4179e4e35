// Connected components by union–find with intermediate pointer jumping: ECL-CC. Fills parent[v] with the
// smallest vertex of v's component, for rows or a list of arcs, of any directions. With `symmetric` every arc
// is listed from both ends, and only its larger end looks at it. ecl_init starts vertices alone (init = 1),
// under the smallest neighbour (2) or the first smaller one (3). Arcs unite their ends: vertices of at most
// 16 arcs by a thread each (ecl_low), of at most 352 by a warp (ecl_mid), others by a block (ecl_high);
// ecl_low lists the latter two from both sides of one worklist. ecl_finish points vertices to their roots.
// `jump` (union_find.h) and `finish` (finish_path) say which pointers jump. Cost: about one read of the arcs,
// and a few random accesses each; a hub without a smaller neighbour takes long to start. Source: Jaiganesh
// and Burtscher 2018, sections 3 and 5.1.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kEclThreads = 256;
constexpr int kLowDegree = 16, kMidDegree = 352;
constexpr int kSeenAtStart = 4, kUnitedAtOnce = 8;

// A counter with a cache line to itself: readers beside it would queue with its writers.
template <class Index> struct alignas(128) EclCounter {
  Index count;
};

// Vertices of middle degree, from the left of the worklist, and high ones, from the right: put in, and taken.
template <class Index> struct EclWorklist {
  EclCounter<Index> mid, mid_taken, high, high_taken;
};

// Counts paths, those that have steps, and their lengths.
struct PathTally {
  int64_t paths = 0, walked = 0, steps = 0, longest = 0, length = 0;
  void start() { ++paths, length = 0; }
  void step() {
    ++steps;
    if (++length == 1) ++walked;
    if (length > longest) longest = length;
  }
};

// Adds what a thread counted to {paths, steps, longest, walked}.
inline void report(const Uncounted&, int64_t*) {}
inline void report(const PathTally& tally, int64_t* total) {
  Concurrent::fetch_add(total, tally.paths);
  Concurrent::fetch_add(total + 1, tally.steps);
  Concurrent::fetch_max(total + 2, tally.longest);
  Concurrent::fetch_add(total + 3, tally.walked);
}

template <int init, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    ecl_init(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Index* __restrict__ parent, EclWorklist<Index>* worklist, int64_t* components) {
  follow_launch();
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    Index start = Index(v);
    if constexpr (init > 1)
      for (Pointer arc = indptr[v], end = indptr[v + 1]; arc < end && (init == 2 || start == Index(v));
          arc += kSeenAtStart) {
        Index neighbour[kSeenAtStart];
#pragma unroll
        for (int k = 0; k < kSeenAtStart; ++k)
          neighbour[k] = end - arc > k ? Index(indices[arc + k]) : Index(v);
#pragma unroll
        for (int k = 0; k < kSeenAtStart; ++k)
          if ((init == 2 || start == Index(v)) && neighbour[k] < start) start = neighbour[k];
      }
    parent[v] = start;
  }
  if (grid_thread() == 0) *worklist = EclWorklist<Index>{{0}, {0}, {0}, {0}}, *components = 0;
}

template <class Path> constexpr bool kAreCounted = true;
template <> constexpr bool kAreCounted<Uncounted> = false;

// Takes the first of the vertices that are there; -1 is none.
template <int count, class Index> Index take_first(Index (&vertex)[count]) {
  Index first = -1;
#pragma unroll
  for (int k = count - 1; k >= 0; --k) first = vertex[k] >= 0 ? vertex[k] : first;
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (vertex[k] == first) vertex[k] = -1;
  return first;
}

// Unites v, whose parent is `ancestor`, with the neighbours first, first + step, ... of its row. A warp takes
// its next ones together, so that none waits. The parent is skipped, unless paths are counted.
template <int jump, bool symmetric, class Pointer, class Vertex, class Index, class Path>
void ecl_unite(Index v, Index ancestor, Pointer begin, Pointer end, int first, int step,
    const Vertex* __restrict__ indices, Index* parent, Path& path) {
  Index root = find_from<Concurrent, Jump(jump)>(parent, v, ancestor, path);
  const Vertex* target = indices + begin + first;
  for (Pointer arcs_left = end - begin - first; arcs_left > 0;
      arcs_left -= kUnitedAtOnce * step, target += kUnitedAtOnce * step) {
    // Read at once, as what parents bring into the cache may drive out what is left of a row.
    Index neighbour[kUnitedAtOnce];
#pragma unroll
    for (int k = 0; k < kUnitedAtOnce; ++k) {
      const Index u = arcs_left > k * step ? Index(target[k * step]) : v;
      const bool may_join = (symmetric ? u < v : u != v) && (kAreCounted<Path> || u != ancestor);
      neighbour[k] = may_join ? u : Index(-1);
    }
    for (Index next; (next = take_first(neighbour)) >= 0;)
      root = hook<Concurrent>(parent, root, find<Concurrent, Jump(jump)>(parent, next, path));
  }
}

// `started`: whether every vertex that has a smaller neighbour was started under one.
template <int jump, bool symmetric, bool started, class Path, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    ecl_low(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Index* parent, Index* worklist, EclWorklist<Index>* counters, int64_t* tally) {
  follow_launch();
  Path path;
  for (int64_t v = grid_thread(); v < vertices; v += grid_threads()) {
    const Index ancestor = Concurrent::load(parent + v);
    if (symmetric && started && ancestor == Index(v)) continue;
    const Pointer begin = indptr[v], end = indptr[v + 1];
    if (end - begin <= kLowDegree)
      ecl_unite<jump, symmetric>(Index(v), ancestor, begin, end, 0, 1, indices, parent, path);
    else if (end - begin <= kMidDegree)
      worklist[Concurrent::fetch_add(&counters->mid.count, Index(1))] = Index(v);
    else
      worklist[vertices - 1 - Concurrent::fetch_add(&counters->high.count, Index(1))] = Index(v);
  }
  report(path, tally);
}

template <int jump, bool symmetric, class Path, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    ecl_mid(const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Index* parent,
        const Index* __restrict__ worklist, EclWorklist<Index>* counters, int64_t* tally) {
  follow_launch();
  const Index total = counters->mid.count;
  Path path;
  for (;;) {
    Index place = 0;
    if (lane() == 0) place = Concurrent::fetch_add(&counters->mid_taken.count, Index(1));
    place = __shfl_sync(kAllLanes, place, 0);
    if (place >= total) break;
    const Index v = worklist[place];
    ecl_unite<jump, symmetric>(
        v, Concurrent::load(parent + v), indptr[v], indptr[v + 1], lane(), kWarp, indices, parent, path);
  }
  report(path, tally);
}

template <int jump, bool symmetric, class Path, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    ecl_high(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Index* parent, const Index* __restrict__ worklist, EclWorklist<Index>* counters, int64_t* tally) {
  follow_launch();
  __shared__ Index next_place;
  const Index total = counters->high.count;
  Path path;
  for (;;) {
    if (threadIdx.x == 0) next_place = Concurrent::fetch_add(&counters->high_taken.count, Index(1));
    __syncthreads();
    const Index place = next_place;
    __syncthreads();
    if (place >= total) break;
    const Index v = worklist[vertices - 1 - place];
    ecl_unite<jump, symmetric>(v, Concurrent::load(parent + v), indptr[v], indptr[v + 1], int(threadIdx.x),
        int(blockDim.x), indices, parent, path);
  }
  report(path, tally);
}

// For a list of arcs, after ecl_init<1>: start under the smallest neighbour, or the first smaller one met.
template <int init, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads)) ecl_init_arcs(
    int64_t arcs, const Vertex* __restrict__ src, const Vertex* __restrict__ dst, Index* parent) {
  follow_launch();
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) {
    const Index a = Index(src[arc]), b = Index(dst[arc]);
    const Index low = a < b ? a : b, high = a < b ? b : a;
    if (low == high) continue;
    if constexpr (init == 2) {
      if (low < Concurrent::load(parent + high)) Concurrent::fetch_min(parent + high, low);
    } else if (Concurrent::load(parent + high) == high) {
      Concurrent::compare_exchange(parent + high, high, low);
    }
  }
}

template <int jump, class Path, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads)) ecl_arcs(int64_t arcs,
    const Vertex* __restrict__ src, const Vertex* __restrict__ dst, Index* parent, int64_t* tally) {
  follow_launch();
  Path path;
  for (int64_t arc = grid_thread(); arc < arcs; arc += grid_threads()) {
    const Index a = Index(src[arc]), b = Index(dst[arc]);
    if (a == b) continue;
    const Index root = find<Concurrent, Jump(jump)>(parent, a, path);
    hook<Concurrent>(parent, root, find<Concurrent, Jump(jump)>(parent, b, path));
  }
  report(path, tally);
}

// Points every vertex to its root; returns how many are this thread's. Parents come from afar, so several at
// once.
template <int finish, class Index> int point_to_roots(int64_t vertices, Index* parent) {
  int roots = 0;
  visit_loaded(
      vertices, [=](int64_t v) { return Concurrent::load(parent + v); },
      [&](int64_t v, Index ancestor) {
        roots += finish_path<Concurrent, finish>(parent, Index(v), ancestor) == Index(v);
      });
  return roots;
}

template <int finish, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    ecl_finish(int64_t vertices, Index* parent, int64_t* components) {
  follow_launch();
  add_for_block(point_to_roots<finish>(vertices, parent), components);
}

}
