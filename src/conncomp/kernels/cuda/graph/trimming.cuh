// Vertices that no arc leads to, or from, once those before them are gone: strong components of their own.
// Each vertex awaits as many arcs as lead to it; those that await none are queued. From each a thread takes
// the arcs away, and what awaits none then goes on in its block's shared memory for some steps, before all
// blocks meet and share out what they have queued. Levels of the queue lie one behind the other:
//
//      0 -> 1 -> 2 -> 4      awaited: 0 1 2 1 1      level 0 of the queue: 0
//      0 -> 3 -> 2           steps of its block: 0, then 1 and 3, then 2, then 4
//
// Thin levels, a barrier for few vertices, end it. Cost: an atomic addition an arc, and one to take it away;
// a barrier for kLocalSteps vertices of the longest path. Source: Kahn 1962; McLendon, Hendrickson, Plimpton
// and Rauchwerger 2005.
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

template <class Vertex>
struct LocalQueue {
  Vertex vertices[kStrongThreads];
  int count;
};

template <class Vertex>
class Trimming {
 public:
  // Along the arcs of these rows, or against them; `awaited` and `queue` have an entry a vertex.
  __device__ Trimming(const EndsOfVertices<Vertex>& rows, int64_t vertices, Vertex* awaited, Vertex* queue,
                      int64_t (&queued)[3], LocalQueue<Vertex>& local)
      : rows_(rows), vertices_(vertices), awaited_(awaited), queue_(queue), queued_(queued), local_(local) {}

  // Trims what wide levels reach; the rows lead to the `ends` of arcs. All blocks meet.
  __device__ int64_t run(int64_t arcs, const Vertex* starts, const Vertex* ends, GridBarrier& barrier) {
    if (grid_thread() < 3) queued_[grid_thread()] = 0;
    visit_of_grid(vertices_, [&](int64_t v) { awaited_[v] = 0; });
    meet(barrier);
    visit_of_grid(arcs, [&](int64_t arc) {
      if (starts[arc] != ends[arc]) Current::fetch_add(awaited_ + ends[arc], Vertex(1));
    });
    meet(barrier);
    queue_first();
    for (int level = 0; end_of_level(level, barrier); ++level) {
      const Share share(end_ - begin_);
      for (int64_t first = begin_ + share.begin; first < begin_ + share.end; first += kStrongThreads)
        go_on_from(first, begin_ + share.end);
    }
    return end_;
  }

 private:
  // Goes on to the queued level, if worthwhile. Of three counters one is added to, one read, one cleared for
  // the next.
  __device__ bool end_of_level(int level, GridBarrier& barrier) {
    barrier.wait();
    begin_ = end_;
    end_ += Current::load(queued_ + level % 3);
    turn_ = (level + 1) % 3;
    if (grid_thread() == 0) Current::store(queued_ + (level + 2) % 3, int64_t(0));
    return end_ > begin_ + (level < kPatience ? 0 : kThinLevel);
  }
  // The vertices that await none, but for those whose rows are empty.
  __device__ void queue_first() {
    __shared__ int64_t room;
    const Share share(vertices_);
    visit_rows(share, [&](int64_t row) {
      const int64_t v = row + int(threadIdx.x);
      const bool is_first =
          v < share.end && awaited_[v] == 0 && rows_.begin(Vertex(v)) < rows_.end(Vertex(v));
      int total;
      const int before = scan_of_block(is_first, total);
      if (threadIdx.x == 0 && total > 0) room = Current::fetch_add(queued_, int64_t(total));
      __syncthreads();
      if (is_first) queue_[room + before] = Vertex(v);
    });
  }
  __device__ void queue_for_all(Vertex v) {
    queue_[end_ + Current::fetch_add(queued_ + turn_, int64_t(1))] = v;
  }
  __device__ void queue_for_block(Vertex v) {
    const int place = InBlock::fetch_add(&local_.count, 1);
    if (place < kStrongThreads)
      local_.vertices[place] = v;
    else
      queue_for_all(v);
  }
  // Goes through vertices of the queue and those that they release. All threads of a block call.
  __device__ void go_on_from(int64_t first, int64_t end) {
    int count = int(end - first < kStrongThreads ? end - first : kStrongThreads);
    Vertex v = int(threadIdx.x) < count ? queue_[first + threadIdx.x] : Vertex(-1);
    for (int step = 0; count > 0; ++step) {
      if (threadIdx.x == 0) local_.count = 0;
      __syncthreads();
      if (step == kLocalSteps) {
        if (v >= 0) queue_for_all(v);
        return;
      }
      release_from(v);
      __syncthreads();
      count = local_.count < kStrongThreads ? local_.count : kStrongThreads;
      v = int(threadIdx.x) < count ? local_.vertices[threadIdx.x] : Vertex(-1);
      __syncthreads();
    }
  }
  // By all threads of a warp, each with a trimmed vertex or -1.
  __device__ void release_from(Vertex v) {
    const int64_t begin = v < 0 ? 0 : rows_.begin(v);
    int64_t end = v < 0 ? 0 : rows_.end(v);
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
  __device__ void release(Vertex v, int64_t begin, int64_t end, int step) {
#pragma unroll 1
    for (; begin < end; begin += kReleasedAtOnce * step) {
      Vertex target[kReleasedAtOnce], awaited[kReleasedAtOnce];
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        target[k] = begin + k * step < end ? rows_.ends[begin + k * step] : v;
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        awaited[k] = target[k] == v ? Vertex(0) : Current::fetch_add(awaited_ + target[k], Vertex(-1));
#pragma unroll
      for (int k = 0; k < kReleasedAtOnce; ++k)
        if (awaited[k] == 1) queue_for_block(target[k]);
    }
  }

  const EndsOfVertices<Vertex> rows_;
  const int64_t vertices_;
  Vertex *const awaited_, *const queue_;
  int64_t (&queued_)[3];
  LocalQueue<Vertex>& local_;
  int64_t begin_ = 0, end_ = 0;  // the level of the queue
  int turn_ = 0;                 // the counter that is added to
};

template <class Vertex>
CONNCOMP_PHASE int64_t trim(Trimming<Vertex> trimming, int64_t arcs, const Vertex* starts, const Vertex* ends,
                            GridBarrier& barrier) {
  return trimming.run(arcs, starts, ends, barrier);
}

// Whether any of a sample of vertices, one of each group of neighbours, has no arc in. All blocks meet.
template <class Vertex>
__device__ inline bool has_first(ArcList<const Vertex> arcs, int64_t vertices, Vertex* awaited,
                                 GridBarrier& barrier) {
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
    if (arcs.sources[arc] != v) Shared::store(awaited + group, Vertex(1));
  });
  meet(barrier);
  bool is_first = false;
  visit_of_grid(groups, [&](int64_t group) { is_first |= awaited[group] == 0; });
  return barrier.any(is_first);
}

}  // namespace conncomp
