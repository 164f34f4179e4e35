// Connected components of a graph on the GPU: blocks of vertices in shared memory, then a sample of what is
// left, then the rest of the arcs outside the giant component. The default.
//
// What: as in ecl.cuh, for compressed sparse rows.
// How: a block of threads takes as many consecutive vertices as fit into its shared memory and unites there
// what lies inside (unite_blocks): no access to global memory but one coalesced read of the arcs. Vertices
// in a row that are joined one to the next, as in meshes, become one tree by bit arithmetic. A vertex that
// is its own root then is put under a smaller neighbour elsewhere, if it has one. A bit for each vertex
// says whether arcs to smaller vertices are left over (open). Next, every open vertex is united with one
// neighbour elsewhere (sample_arcs), and the component that most vertices are in by now, the giant, is
// guessed (guess_giant). The last arcs (unite_rest, and unite_long for rows that are listed, to be shared
// among all blocks) are gone through in the cheaper of two ways: those of the open vertices; or all those of
// the vertices outside the giant, which also sees the arcs that lead into it. The second way needs every arc
// to be listed from both ends. Rows longer than kTaken are taken up to there by unite_blocks, so that no hub
// holds up its block, and up to kChunk where few arcs stay in the block. Cost: one read of indptr and the
// first arcs of each row, two of the parents; further arcs where order is not local and there is no giant.
// One bit a vertex, and at most 4 or 8 bytes for every kMidRow arcs. Source: the sampling is of Sutton,
// Ben-Nun and Barak 2018 (Afforest), the union–find and the start under a smaller neighbour of Jaiganesh and
// Burtscher 2018 (ECL-CC); the blocks are ours.
#pragma once

#include "core/union_find.h"
#include "core/warp.cuh"
#include "graph/ecl.cuh"

namespace conncomp {

constexpr int kLocalThreads = 1024;
constexpr int kTaken = 16;    // the longest row that unite_blocks and sample_arcs go through to its end
constexpr int kChunk = 4;     // how many arcs a thread of unite_blocks loads at once
constexpr int kShort = 4;     // the longest row that sample_arcs finishes
constexpr int kLowRow = 32;   // the longest row that is one thread's work
constexpr int kMidRow = 128;  // the longest row that is a warp's
constexpr int kHub = 4096;    // the longest row that is a block's
constexpr int kGuessers = 256;

// What is known of the arcs that are left over.
template <class Index>
struct Rest {
  int64_t rows;   // how many rows of more than kMidRow arcs are listed
  int64_t parts;  // and how many parts of rows of more than kHub
  int64_t arcs;   // of open vertices, about
  Index giant;
  bool skip_giant;
};

// kHub arcs of a longer row.
template <class Index>
struct Part {
  Index vertex, number;
};

// Threads of a warp whose `active` is set unite v and u, but not if these have the same parents as those of
// the thread before, as they mostly have in meshes.
template <class Access, class Index>
__device__ void unite_once(bool active, Index* parent, Index v, Index u) {
  Index a = -1, b = -1;
  if (active) {
    a = Access::load(parent + v);
    b = Access::load(parent + u);
  }
  const Index a_before = __shfl_up_sync(kAllLanes, a, 1), b_before = __shfl_up_sync(kAllLanes, b, 1);
  if (a != b && (lane() == 0 || a != a_before || b != b_before))
    hook<Access>(parent, find_from<Access>(parent, v, a), find_from<Access>(parent, u, b));
}

// Dynamic shared memory: `span` local parents, which is a multiple of 32, and two words for every 32.
template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kLocalThreads, resident_blocks(kLocalThreads))
    unite_blocks(int64_t vertices, int64_t span, const Pointer* __restrict__ indptr,
                 const Vertex* __restrict__ indices, Index* parent, uint32_t* __restrict__ open,
                 Rest<Index>* rest, int64_t* components) {
  CONNCOMP_DYNAMIC_SHARED(int, local_parent);
  uint32_t* const crossing = reinterpret_cast<uint32_t*>(local_parent + span);  // has arcs out of the block
  uint32_t* const more = crossing + span / kWarp;  // has arcs that were not taken, or more than one crossing
  const int64_t base = blockIdx.x * span;
  const int size = int(vertices - base < span ? vertices - base : span);
  if (grid_thread() == 0) *rest = Rest<Index>{0, 0, 0, 0, false}, *components = 0;
  for (int i = threadIdx.x; i < size; i += kLocalThreads) local_parent[i] = i;
  __syncthreads();

  bool scattered = false;  // whether arcs that stay in the block are few
  for (int row = int(threadIdx.x) - lane(); row < size; row += kLocalThreads) {
    const int i = row + lane();
    const Pointer begin = i < size ? indptr[base + i] : 0;
    const Pointer degree = i < size ? indptr[base + i + 1] - begin : 0;
    const int most = scattered ? kChunk : kTaken;
    const int taken = degree < most ? int(degree) : most;
    int crossings = 0, inside = 0;
    Index elsewhere = 0;
    for (int first = 0; __any_sync(kAllLanes, first < taken); first += kChunk) {
      int target[kChunk];  // in the block, or i for no arc to unite
#pragma unroll
      for (int k = 0; k < kChunk; ++k) {
        target[k] = i;
        if (first + k >= taken) continue;
        const Vertex there = indices[begin + first + k] - Vertex(base);
        if (there >= 0 && there < size) {
          ++inside;
          if (!symmetric || there < i) target[k] = int(there);
        } else if (!symmetric || there < 0) {
          if (crossings++ == 0) elsewhere = Index(base + there);
        }
      }
      // Vertices joined to the one before them: each run of them in the warp gets its first one as the root.
      bool joined = false;
#pragma unroll
      for (int k = 0; k < kChunk; ++k)
        if (target[k] == i - 1 && lane() > 0) joined = true, target[k] = i;
      const uint32_t run = __ballot_sync(kAllLanes, joined);
      if (joined) {
        const int start = row + 31 - __clz(int(~run & ((2u << lane()) - 1)));
        if (InBlock::compare_exchange(local_parent + i, i, start) != i)
          unite<InBlock>(local_parent, i, start);
      }
      __syncwarp();
      for (;;) {
        int next = i;
#pragma unroll
        for (int k = 0; k < kChunk; ++k)
          if (next == i && target[k] != i) next = target[k], target[k] = i;
        if (!__any_sync(kAllLanes, next != i)) break;
        unite_once<InBlock>(next != i, local_parent, i, next);
      }
    }
    if (row < kLocalThreads) scattered = 16 * warp_sum(inside) < warp_sum(taken);
    if (symmetric && crossings > 0) Shared::store(parent + base + i, elsewhere);
    const uint32_t some = __ballot_sync(kAllLanes, crossings > 0);
    const uint32_t several = __ballot_sync(kAllLanes, crossings > 1 || degree > taken);
    if (lane() == 0) crossing[row / kWarp] = some, more[row / kWarp] = several;
  }
  __syncthreads();

  for (int row = int(threadIdx.x) - lane(); row < size; row += kLocalThreads) {
    const int i = row + lane();
    const bool crosses = crossing[row / kWarp] >> lane() & 1;
    bool left = more[row / kWarp] >> lane() & 1;
    if (i < size) {
      const int root = find<InBlock, Jump::kNone>(local_parent, i);
      // A root that has just been put under a vertex elsewhere stays there.
      const bool moved = symmetric && root == i && crosses;
      if (!moved) {
        Shared::store(parent + base + i, Index(base + root));
        left |= crosses;
      }
    }
    const uint32_t word = __ballot_sync(kAllLanes, left);
    if (lane() == 0) open[(base + row) / kWarp] = word;
  }
}

// Unites every open vertex with a neighbour elsewhere, or with all and closes it if its row is short.
template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    sample_arcs(int64_t vertices, int64_t span, const Pointer* __restrict__ indptr,
                const Vertex* __restrict__ indices, Index* parent, uint32_t* __restrict__ open,
                Rest<Index>* rest) {
  int64_t arcs_left = 0;
  for (int64_t word = grid_thread() / kWarp; word * kWarp < vertices; word += grid_threads() / kWarp) {
    const uint32_t bits = open[word];
    if (bits == 0) continue;
    const int64_t base = word * kWarp / span * span, v = word * kWarp + lane();
    Pointer arc = 0, end = 0, degree = 0;
    if (bits >> lane() & 1) {
      arc = indptr[v];
      end = indptr[v + 1];
      degree = end - arc;
      if (degree > kTaken) end = arc + kTaken;
    }
    const auto next_elsewhere = [&](Pointer from) {
      for (; from < end; ++from) {
        const int64_t target = indices[from];
        if (target < base || (!symmetric && target >= base + span)) break;
      }
      return from;
    };
    bool found;
    do {
      arc = next_elsewhere(arc);
      found = arc < end;
      unite_once<Shared>(found, parent, Index(v), found ? Index(indices[arc]) : Index(v));
      ++arc;
    } while (__any_sync(kAllLanes, found && degree <= kShort));
    // Of a longer row, unite_blocks may have seen the first arcs only.
    const bool left = degree > kShort;
    if (left) arcs_left += degree;
    const uint32_t still = __ballot_sync(kAllLanes, left);
    __syncwarp();  // all have read the word
    if (lane() == 0) open[word] = still;
  }
  arcs_left = warp_sum(arcs_left);
  if (lane() == 0 && arcs_left > 0) Shared::fetch_add(&rest->arcs, arcs_left);
}

// Lets `giant` be the root that most of a spread sample of vertices have, and chooses the way to go through
// the arcs that are left: outside the giant if that is expected to be less work. One block.
template <bool symmetric, class Index>
__global__ void __launch_bounds__(kGuessers)
    guess_giant(int64_t vertices, int64_t arcs, Index* parent, Rest<Index>* rest) {
  __shared__ Index roots[kGuessers];
  __shared__ int most;
  const int me = int(threadIdx.x);
  if (me == 0) most = 0;
  roots[me] = find<Shared>(parent, Index(vertices * me / kGuessers));
  __syncthreads();
  int equals = 0;
  for (int i = 0; i < kGuessers; ++i) equals += roots[i] == roots[me];
  // With the thread's number, so that no two are equal.
  InBlock::fetch_max(&most, equals * kGuessers + me);
  __syncthreads();
  if (me == 0) {
    const double outside = 1 - double(most / kGuessers) / kGuessers;
    rest->giant = roots[most % kGuessers];
    rest->skip_giant = symmetric && double(rest->arcs) > outside * double(arcs) + double(vertices);
  }
}

// Unites v, whose root is given, with its neighbours first, first + step, ..., or the smaller ones of them.
template <class Pointer, class Vertex, class Index>
__device__ void unite_row(Index v, Index root, bool only_smaller, Pointer first, Pointer end, Pointer step,
                          const Vertex* __restrict__ indices, Index* parent) {
  for (Pointer arc = first; arc < end; arc += step) {
    const Index other = Index(indices[arc]);
    if (!only_smaller || other < v) root = hook<Shared>(parent, root, find<Shared>(parent, other));
  }
}

template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    unite_rest(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
               Index* parent, const uint32_t* __restrict__ open, Rest<Index>* rest,
               Index* __restrict__ long_rows, Part<Index>* __restrict__ parts) {
  const bool skip_giant = rest->skip_giant, only_smaller = symmetric && !skip_giant;
  if (!skip_giant && rest->arcs == 0) return;
  for (int64_t word = grid_thread() / kWarp; word * kWarp < vertices; word += grid_threads() / kWarp) {
    const uint32_t bits = skip_giant ? kAllLanes : open[word];
    if (bits == 0) continue;
    const int64_t v = word * kWarp + lane();
    Pointer begin = 0, end = 0;
    Index root = 0;
    if (v < vertices && (bits >> lane() & 1)) {
      root = find<Shared>(parent, Index(v));
      if (!skip_giant || root != find<Shared>(parent, rest->giant)) {
        begin = indptr[v];
        end = indptr[v + 1];
      }
    }
    const Pointer degree = end - begin;
    if (degree > kHub) {
      const Index count = Index((degree + kHub - 1) / kHub);
      const int64_t first = Shared::fetch_add(&rest->parts, int64_t(count));
      for (Index k = 0; k < count; ++k) parts[first + k] = Part<Index>{Index(v), k};
    } else if (degree > kMidRow) {
      long_rows[Shared::fetch_add(&rest->rows, int64_t(1))] = Index(v);
    } else if (degree <= kLowRow) {
      unite_row(Index(v), root, only_smaller, begin, end, Pointer(1), indices, parent);
    }
    uint32_t middle = __ballot_sync(kAllLanes, degree > kLowRow && degree <= kMidRow);
    for (; middle != 0; middle &= middle - 1) {
      const int owner = __ffs(int(middle)) - 1;
      const Pointer first = __shfl_sync(kAllLanes, begin, owner) + lane();
      const Pointer last = __shfl_sync(kAllLanes, end, owner);
      unite_row(Index(word * kWarp + owner), __shfl_sync(kAllLanes, root, owner), only_smaller, first, last,
                Pointer(kWarp), indices, parent);
    }
  }
}

// The rows that are listed, and the parts of rows: a block each. In many graphs the vertices of most arcs
// come first, and one warp would go through the rows of all of them.
template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    unite_long(const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Index* parent,
               const Rest<Index>* rest, const Index* __restrict__ long_rows,
               const Part<Index>* __restrict__ parts) {
  const int64_t rows = rest->rows, all = rows + rest->parts;
  const bool skip_giant = rest->skip_giant;
  for (int64_t i = blockIdx.x; i < all; i += gridDim.x) {
    const Part<Index> part = i < rows ? Part<Index>{long_rows[i], 0} : parts[i - rows];
    const Index v = part.vertex, root = find<Shared>(parent, v);
    if (skip_giant && root == find<Shared>(parent, rest->giant)) continue;
    const Pointer begin = indptr[v] + Pointer(part.number) * kHub, end = indptr[v + 1];
    unite_row(v, root, symmetric && !skip_giant, Pointer(begin + threadIdx.x),
              end - begin < kHub ? end : Pointer(begin + kHub), Pointer(kEclThreads), indices, parent);
  }
}

}  // namespace conncomp
