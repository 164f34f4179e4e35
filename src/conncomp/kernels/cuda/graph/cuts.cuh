// Cuts of the order of vertices that arcs cross one way only: strong components lie on one side, so arcs over
// cuts are dropped. Each vertex notes the largest that a rising arc, and that a falling one, joins it with;
// how far the vertices before a cut reach tells whether it is crossed both ways. Vertices between two cuts
// are a piece, as drawn in cpu/graph/pieces.h. A few arcs from end to end leave all in one piece, which
// choose_pivot tells from a sample. Cost: arcs read once, with an atomic function for those that reach
// further; three words a vertex. Source: ours.
#pragma once

#include "cuda/graph/arc_lists.cuh"

namespace conncomp {

constexpr int kNotedAtOnce = 4;  // arcs that a thread has under way

// The largest value, from 0 on, of a block's threads up to this one, and of `all`. Called, to compile faster.
template <class Value> CONNCOMP_PHASE Value scan_largest(Value value, Value& all) {
  constexpr int kWarps = kStrongThreads / kWarp;
  __shared__ Value largest[kWarps];
  value = warp_scan(value, larger<Value>);
  __syncthreads();  // those of an earlier call have been read
  if (lane() == kWarp - 1) largest[threadIdx.x / kWarp] = value;
  __syncthreads();
  const Value of_warps = warp_scan(lane() < kWarps ? largest[lane()] : Value(0), larger<Value>);
  all = __shfl_sync(kAllLanes, of_warps, kWarps - 1);
  const int warp = int(threadIdx.x) / kWarp;
  return warp == 0 ? value : larger(value, __shfl_sync(kAllLanes, of_warps, warp - 1));
}

template <class Vertex> class Pieces {
 public:
  // There is memory for three vertices each, and for three of each block.
  Pieces(int64_t vertices, Vertex* memory, int64_t* of_blocks)
      : vertices_(vertices),
        farthest_{memory, memory + vertices},
        first_(memory + 2 * vertices),
        of_blocks_(of_blocks) {}

  const Vertex* first() const { return first_; }

  // Finds the pieces; returns whether there are several. All blocks meet.
  bool find(const ArcList<const Vertex>& arcs, GridBarrier& barrier) {
    visit_of_grid(vertices_, [&](int64_t v) { farthest_[kRising][v] = farthest_[kFalling][v] = 0; });
    meet(barrier);
    note_farthest(arcs);
    meet(barrier);
    const Share share(vertices_);
    reach_of_share(share);
    meet(barrier);
    cut(share);
    meet(barrier);
    const Vertex open = largest_of_blocks(kFirst, blockIdx.x);
#pragma unroll 1
    for (int64_t v = share.begin + int(threadIdx.x); v < share.end; v += kStrongThreads)
      if (first_[v] == 0) first_[v] = open;
    const bool are_several = largest_of_blocks(kFirst, gridDim.x) > 0;
    meet(barrier);
    return are_several;
  }

 private:
  enum { kRising, kFalling, kFirst };  // what blocks tell each other

  // Where lanes side by side leave the same vertex, one notes what all know of rising arcs.
  void note_farthest(const ArcList<const Vertex>& arcs) const {
    visit_ends<kNotedAtOnce>(arcs, Share(arcs.count, kSmallestShare), [&](const auto& u, const auto& v) {
#pragma unroll
      for (int k = 0; k < kNotedAtOnce; ++k) {
        const auto [is_first, length] = stretch_of(u[k]);
        const Vertex high = over_stretch(v[k], length, larger<Vertex>);
        if (is_first && high > u[k]) note(kRising, u[k], high);
        if (u[k] > v[k]) note(kFalling, v[k], u[k]);
      }
    });
  }
  void note(int way, Vertex v, Vertex far) const {
    if (Concurrent::load(farthest_[way] + v) < far) Current::fetch_max(farthest_[way] + v, far);
  }
  Vertex reach_before(int way, int64_t v, int64_t end) const {
    return v > 0 && v < end ? farthest_[way][v - 1] : Vertex(0);
  }
  void tell(int what, int64_t value) const {
    if (threadIdx.x == 0) of_blocks_[int64_t(gridDim.x) * what + blockIdx.x] = value;
  }
  Vertex largest_of_blocks(int what, int64_t count) const {
    Vertex value = 0, all;
#pragma unroll 1
    for (int64_t block = threadIdx.x; block < count; block += kStrongThreads)
      value = larger(value, Vertex(of_blocks_[int64_t(gridDim.x) * what + block]));
    scan_largest(value, all);
    return all;
  }
  void reach_of_share(const Share& share) const {
    Vertex reach[2] = {0, 0};
#pragma unroll 1
    for (int64_t v = share.begin + int(threadIdx.x); v < share.end; v += kStrongThreads)
      for (int way = kRising; way <= kFalling; ++way)
        reach[way] = larger(reach[way], reach_before(way, v, share.end));
    for (int way = kRising; way <= kFalling; ++way) {
      Vertex all;
      scan_largest(reach[way], all);
      tell(way, all);
    }
  }
  // Where pieces begin; 0 as long as the share has no cut.
  void cut(const Share& share) const {
    Vertex reach[2], first = 0;
    for (int way = kRising; way <= kFalling; ++way) reach[way] = largest_of_blocks(way, blockIdx.x);
    visit_rows(share, [&](int64_t row) {
      const int64_t v = row + int(threadIdx.x);
      bool is_crossed = true;
      for (int way = kRising; way <= kFalling; ++way) {
        Vertex all;
        const Vertex before = scan_largest(reach_before(way, v, share.end), all);
        is_crossed &= larger(reach[way], before) >= v;
        reach[way] = larger(reach[way], all);
      }
      Vertex last;
      const Vertex begin = scan_largest(v < share.end && !is_crossed ? Vertex(v) : Vertex(0), last);
      if (v < share.end) first_[v] = larger(first, begin);
      first = larger(first, last);
    });
    tell(kFirst, first);
  }

  const int64_t vertices_;
  Vertex *const farthest_[2], *const first_;
  int64_t* const of_blocks_;
};

}
