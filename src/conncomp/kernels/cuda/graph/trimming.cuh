// Vertices that no arc leads to, or from, once those before them are gone: strong components of their own.
// Each vertex awaits as many arcs as lead to it; those that await none are queued. From each a thread takes
// the arcs away; what awaits none then goes on in its block's shared memory for some steps, before all blocks
// meet and share out the queue. Levels of the queue lie one behind the other:
//      0 -> 1 -> 2 -> 4      awaited: 0 1 2 1 1      level 0 of the queue: 0
//      0 -> 3 -> 2           steps of its block: 0, then 1 and 3, then 2, then 4
// Thin levels, a barrier for few vertices, end it. Cost: an atomic addition an arc, and one to take it away;
// a barrier for kLocalSteps vertices of the longest path. Source: Kahn 1962; McLendon et al. 2005.
#pragma once

#include "cuda/graph/giant_search.cuh"

namespace conncomp {

constexpr int kLocalSteps = 16;                // of a block, between two barriers
constexpr int kReleasedAtOnce = 4;             // by arcs that a thread has under way
constexpr int kPatience = 4;                   // levels before thin ones end it
constexpr int64_t kThinLevel = 128;            // vertices
constexpr int64_t kSampledVertices = 1 << 16;  // at most: each of a smaller graph
constexpr int64_t kLongTrimmedRow = 32;        // from here on a row is the work of a warp
constexpr int64_t kHubOfTrimming = 4096;       // arcs, with which a row would hold up all: it is left out

template <class Vertex> struct LocalQueue {
  Vertex vertices[kStrongThreads];
  int count;
};

template <class Vertex> struct Trimming {
  EndsOfVertices<Vertex> rows;  // of the arcs along which it trims, or against them
  int64_t vertices;
  Vertex *awaits, *queue;  // an entry a vertex each
  int64_t (&queued)[3];
  LocalQueue<Vertex>& local;
  int64_t level_begin = 0, level_end = 0;  // in the queue
  int turn = 0;                            // the counter that is added to

  // Trims what wide levels reach; the rows lead to the `ends` of arcs. All blocks meet.
  int64_t run(int64_t arcs, const Vertex* starts, const Vertex* ends, GridBarrier& barrier) {
    if (grid_thread() < 3) queued[grid_thread()] = 0;
    visit_of_grid(vertices, [&](int64_t v) { awaits[v] = 0; });
    meet(barrier);
    visit_of_grid(arcs, [&](int64_t arc) {
      if (starts[arc] != ends[arc]) Current::fetch_add(awaits + ends[arc], Vertex(1));
    });
    meet(barrier);
    queue_first();
    for (int level = 0; end_of_level(level, barrier); ++level) {
      const Share share(level_end - level_begin);
      for (int64_t first = level_begin + share.begin; first < level_begin + share.end;
          first += kStrongThreads)
        go_on_from(first, level_begin + share.end);
    }
    return level_end;
  }

  // Goes on to the queued level, if worthwhile. Of three counters one is added to, one read, one cleared.
  bool end_of_level(int level, GridBarrier& barrier) {
    barrier.wait();
    level_begin = level_end;
    level_end += Current::load(queued + level % 3);
    turn = (level + 1) % 3;
    if (grid_thread() == 0) Current::store(queued + (level + 2) % 3, int64_t(0));
    return level_end > level_begin + (level < kPatience ? 0 : kThinLevel);
  }
  // The vertices that await none, but for those whose rows are empty.
  void queue_first() {
    __shared__ int64_t room;
    const Share share(vertices);
    visit_rows(share, [&](int64_t row) {
      const int64_t v = row + int(threadIdx.x);
      const bool is_first = v < share.end && awaits[v] == 0 && rows.begin(Vertex(v)) < rows.end(Vertex(v));
      int total;
      const int before = scan_of_block(is_first, total);
      if (threadIdx.x == 0 && total > 0) room = Current::fetch_add(queued, int64_t(total));
      __syncthreads();
      if (is_first) queue[room + before] = Vertex(v);
    });
  }
  void queue_for_all(Vertex v) { queue[level_end + Current::fetch_add(queued + turn, int64_t(1))] = v; }
  void queue_for_block(Vertex v) {
    const int place = InBlock::fetch_add(&local.count, 1);
    if (place < kStrongThreads)
      local.vertices[place] = v;
    else
      queue_for_all(v);
  }
  // Goes through vertices of the queue and those that they release. The whole block calls.
  void go_on_from(int64_t first, int64_t end) {
    int count = int(end - first < kStrongThreads ? end - first : kStrongThreads);
    Vertex v = int(threadIdx.x) < count ? queue[first + threadIdx.x] : Vertex(-1);
    for (int step = 0; count > 0; ++step) {
      if (threadIdx.x == 0) local.count = 0;
      __syncthreads();
      if (step == kLocalSteps) {
        if (v >= 0) queue_for_all(v);
        return;
      }
      release_from(v);
      __syncthreads();
      count = local.count < kStrongThreads ? local.count : kStrongThreads;
      v = int(threadIdx.x) < count ? local.vertices[threadIdx.x] : Vertex(-1);
      __syncthreads();
    }
  }
  // By a whole warp, each with a trimmed vertex or -1.
  void release_from(Vertex v) {
    const int64_t begin = v < 0 ? 0 : rows.begin(v);
    int64_t end = v < 0 ? 0 : rows.end(v);
    if (end - begin >= kHubOfTrimming) end = begin;
    const bool is_long = end - begin >= kLongTrimmedRow;
    uint32_t open = __ballot_sync(kAllLanes, is_long);
    // Short rows, each by its thread; then the long ones, one after the other.
    Vertex source = v;
    int64_t first = is_long ? end : begin, last = end;
    for (int step = 1;; step = kWarp) {
      release(source, first, last, step);
      if (!open) return;
      const int worker = __ffs(int(open)) - 1;
      open &= open - 1;
      source = __shfl_sync(kAllLanes, v, worker);
      first = __shfl_sync(kAllLanes, begin, worker) + lane(), last = __shfl_sync(kAllLanes, end, worker);
    }
  }
  // Takes every step-th of the arcs of v away, and queues what awaits none then.
  void release(Vertex v, int64_t begin, int64_t end, int step) {
#pragma unroll 1
    for (; begin < end; begin += kReleasedAtOnce * step) {
      Vertex target[kReleasedAtOnce], awaited[kReleasedAtOnce];
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        target[k] = begin + k * step < end ? rows.ends[begin + k * step] : v;
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        awaited[k] = target[k] == v ? Vertex(0) : Current::fetch_add(awaits + target[k], Vertex(-1));
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        if (awaited[k] == 1) queue_for_block(target[k]);
    }
  }
};

template <class Vertex>
CONNCOMP_PHASE int64_t trim(
    Trimming<Vertex> trimming, int64_t arcs, const Vertex* starts, const Vertex* ends, GridBarrier& barrier) {
  return trimming.run(arcs, starts, ends, barrier);
}

// Whether any of a sample of vertices, one of each group of neighbours, has no arc in. All blocks meet.
template <class Vertex>
bool has_first(ArcList<const Vertex> arcs, int64_t vertices, Vertex* awaited, GridBarrier& barrier) {
  int shift = 0;
  while (vertices >> shift > kSampledVertices) ++shift;
  const int64_t groups = vertices >> shift;
  visit_of_grid(groups, [=](int64_t group) { awaited[group] = 0; });
  meet(barrier);
  // Which one of a group changes from group to group, as meshes have rows of equal lengths.
  const uint32_t mask = (uint32_t(1) << shift) - 1;
  visit_of_grid(arcs.count, [=](int64_t arc) {
    const Vertex v = arcs.targets[arc], group = v >> shift;
    if ((uint32_t(v) ^ uint32_t(group) * 2654435761u >> 16) & mask || group >= groups) return;
    if (arcs.sources[arc] != v) Concurrent::store(awaited + group, Vertex(1));
  });
  meet(barrier);
  bool is_first = false;
  visit_of_grid(groups, [&](int64_t group) { is_first |= awaited[group] == 0; });
  return barrier.any(is_first);
}

}
