// Connected components of a graph in compressed sparse rows, as ecl.cuh fills them in. The default.
//
// 1. unite_blocks: a block unites consecutive vertices in shared memory, within a warp by pointer jumping;
//    roots then go under smaller neighbours elsewhere. Of rows it takes kTaken arcs, or kChunk where few stay
// 2. sample_arcs unites each vertex that is `open`, with arcs to smaller ones left, with its last neighbour,
//    and short rows at once; guess_giant guesses the largest component. In large graphs of some arcs a vertex
//    without local order half of the vertices suffice: others are postponed, all pointed to their roots
// 3. unite_remainder, and unite_long for listed rows, go through the arcs left of open vertices; or of those
//    outside the giant up to the first that leads there, if that is less and arcs are listed from both ends
// Cost: one read of indptr and the first arcs of rows, two of parents; more without local order or giant.
// Memory: a bit a vertex, 4 or 8 bytes for kMidRow arcs. Source: Sutton, Ben-Nun, Barak 2018 (Afforest) for
// sampling, Jaiganesh and Burtscher 2018 (ECL-CC) for starts; the blocks are ours.
#pragma once

#include "cuda/graph/ecl.cuh"

namespace conncomp {

constexpr int kLocalThreads = 1024;
constexpr int kTaken = 16;    // the longest row that unite_blocks goes through to its end
constexpr int kChunk = 4;     // how many arcs a thread of unite_blocks loads at once
constexpr int kShort = 4;     // the longest row that sample_arcs finishes
constexpr int kLowRow = 32;   // the longest row that is one thread's work
constexpr int kMidRow = 128;  // the longest row that is a warp's
constexpr int kHub = 4096;    // the longest row that is a block's

// The arcs that sample_arcs has left over.
template <class Index> struct Remainder {
  int64_t rows;       // how many rows of more than kMidRow arcs are listed
  int64_t parts;      // and how many parts of rows of more than kHub
  int64_t arcs;       // of open vertices, about
  int64_t postponed;  // how many open vertices have short rows
  Index giant;
  bool skip_giant;
};

// kHub arcs of a longer row.
template <class Index> struct Part {
  Index vertex, number;
};

// Whether 0 <= value < bound, by one comparison.
template <class T> bool within(T value, T bound) {
  return sizeof(T) == 4 ? uint32_t(value) < uint32_t(bound) : uint64_t(value) < uint64_t(bound);
}

// How two vertices are united: at their roots; so that the first is then put under the common root, too; or
// that, from parents without a search, which pays where trees are flat and most parents are roots.
enum class Uniting { kRoots, kRootsThenVertex, kParentsThenVertex };

// Threads whose `active` is set unite v and u, unless one is the parent of the other, or the thread before
// has the same two parents, as it mostly has in meshes. All lanes call.
template <class Access, Uniting uniting, class Index>
void unite_once(bool active, Index* parent, Index v, Index u) {
  Index a = -1, b = -1;
  if (active) {
    a = Access::load(parent + v);
    b = Access::load(parent + u);
  }
  const Index a_before = __shfl_up_sync(kAllLanes, a, 1), b_before = __shfl_up_sync(kAllLanes, b, 1);
  if (a != b && a != u && b != v && (lane() == 0 || a != a_before || b != b_before)) {
    const bool searches = uniting != Uniting::kParentsThenVertex;
    const Index root = hook_lowest<Access>(parent, searches ? find_from<Access>(parent, v, a) : a,
        searches ? find_from<Access>(parent, u, b) : b);
    if (uniting != Uniting::kRoots && root < a) Access::store(parent + v, root);
  }
}

template <int count, class Index> Index last_of(const Index (&target)[count]) {
  Index last = target[0];
#pragma unroll
  for (int k = 1; k < count; ++k) last = target[k] > last ? target[k] : last;
  return last;
}

template <int count, class Index> void remove(Index (&target)[count], Index removed) {
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (target[k] == removed) target[k] = -1;
}

// Unites v with the few targets that are not -1. Threads take their next one together.
template <class Access, Uniting uniting, int count, class Index>
void unite_all(Index* parent, Index v, Index (&target)[count]) {
  for (Index next; __any_sync(kAllLanes, (next = last_of(target)) >= 0); remove(target, next))
    unite_once<Access, uniting>(next >= 0, parent, v, next);
}

// Unites v and u: the path at the larger entry goes on, so that few threads wait at large roots. Source: Rem,
// in Dijkstra 1976.
template <class Index> void unite_paths(Index* parent, Index v, Index u) {
  const auto above = [parent](Index of) {
    const Index ancestor = Concurrent::load(parent + of);
    return leads_to(of, ancestor) ? ancestor : of;
  };
  Index low = above(v), high = above(u);
  Index below = u;  // the entry whose parent is `high`
  for (Index below_low = v; low != high;) {
    if (low > high) {
      const Index entry = below, ancestor = high;
      below = below_low, high = low;
      below_low = entry, low = ancestor;
    }
    if (high == below) {
      const Index seen = Concurrent::fetch_min(parent + high, low);
      if (!leads_to(high, seen) || seen == low) return;
      below = seen;
    } else {
      below = high;
    }
    high = above(below);
  }
}

// Whether few of the parents of 32 vertices are one, or lie beside each other.
template <class Index> bool are_scattered(Index parent) {
  const Index before = __shfl_up_sync(kAllLanes, parent, 1);
  return __popc(__ballot_sync(kAllLanes, parent == before || parent == before + 1)) < kWarp / 4;
}

// For 32 vertices of a block, a bit each.
struct Crossings {
  uint32_t crossing;    // has arcs out of the block
  uint32_t unfinished;  // has more of them than one, or arcs that were not taken
};

// Dynamic shared memory: Crossings for every 32 vertices of `span`, and a local parent each. A vertex starts
// under its first smaller neighbour outside the block, or its lowest: then trees are flat but, with many
// arcs, more vertices wait for one root.
template <bool symmetric, bool lowest, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kLocalThreads, resident_blocks(kLocalThreads)) unite_blocks(
    int64_t vertices, int64_t span, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
    Index* parent, uint32_t* __restrict__ open, Remainder<Index>* remainder, int64_t* components) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(Crossings, crossings_of);
  int* const local_parent = reinterpret_cast<int*>(crossings_of + span / kWarp);
  const int64_t base = blockIdx.x * span;
  const int size = int(vertices - base < span ? vertices - base : span);
  indptr += base, parent += base, open += base / kWarp;
  if (grid_thread() == 0) *remainder = Remainder<Index>{0, 0, 0, 0, 0, false}, *components = 0;
  for (int i = threadIdx.x; i < size; i += kLocalThreads) local_parent[i] = i;
  __syncthreads();

  bool scattered = false;  // whether arcs that stay in the block are few
  // Where the next row's arcs are is read while those of this one are united.
  Pointer begin_ahead = int(threadIdx.x) < size ? indptr[threadIdx.x] : 0;
  Pointer end_ahead = int(threadIdx.x) < size ? indptr[threadIdx.x + 1] : 0;
  for (int row = int(threadIdx.x) - lane(); row < size; row += kLocalThreads) {
    const int i = row + lane(), next = i + kLocalThreads;
    const Pointer begin = begin_ahead, degree = end_ahead - begin_ahead;
    begin_ahead = next < size ? indptr[next] : 0;
    end_ahead = next < size ? indptr[next + 1] : 0;
    const int most_arcs = scattered ? kChunk : kTaken;
    const int arcs_taken = degree < most_arcs ? int(degree) : most_arcs;
    int crossings = 0, arcs_outside = 0;
    Vertex outer_neighbour = 0;  // as from the block's first vertex
    for (int first = 0; __any_sync(kAllLanes, first < arcs_taken); first += kChunk) {
      int target[kChunk];  // in the block, or -1
      const bool has_crossed = crossings > 0;
#pragma unroll
      for (int k = kChunk - 1; k >= 0; --k) {
        const bool exists = first + k < arcs_taken;
        const Vertex neighbour = exists ? indices[begin + first + k] - Vertex(base) : Vertex(i);
        const bool stays = (symmetric || exists) && within(neighbour, Vertex(symmetric ? i : size));
        target[k] = stays ? int(neighbour) : -1;
        if (symmetric ? neighbour < 0 : exists && !stays) {
          ++crossings;
          if (!lowest && !has_crossed) outer_neighbour = neighbour;
        }
        if (lowest && neighbour < outer_neighbour) outer_neighbour = neighbour;
        if (row < kLocalThreads) arcs_outside += !within(neighbour, Vertex(size));
      }
      // With one smaller neighbour each in the row of the warp, threads find the first vertex of their tree.
      int predecessor = -1;
#pragma unroll
      for (int k = 0; k < kChunk; ++k)
        if ((symmetric || target[k] < i) && target[k] > predecessor) predecessor = target[k];
      const bool has_predecessor = predecessor >= row;
      if (__any_sync(kAllLanes, has_predecessor)) {
        int root = has_predecessor ? predecessor - row : lane();
#pragma unroll
        for (int reach = 1; reach < kWarp; reach *= 2) root = __shfl_sync(kAllLanes, root, root);
        root += row;
        if (has_predecessor) {
          remove(target, predecessor);
          if (InBlock::compare_exchange(local_parent + i, i, root) != i)
            unite<InBlock>(local_parent, i, root);
        }
        __syncwarp();
      }
      unite_all<InBlock, Uniting::kRoots>(local_parent, i, target);
    }
    if (row < kLocalThreads) scattered = 16 * warp_sum(arcs_outside) > 15 * warp_sum(arcs_taken);
    if (symmetric && crossings > 0) Concurrent::store(parent + i, Index(base + outer_neighbour));
    const uint32_t crossing = __ballot_sync(kAllLanes, crossings > 0);
    const uint32_t unfinished = __ballot_sync(kAllLanes, crossings > 1 || degree > arcs_taken);
    if (lane() == 0) crossings_of[row / kWarp] = Crossings{crossing, unfinished};
  }
  __syncthreads();

  for (int row = int(threadIdx.x) - lane(); row < size; row += kLocalThreads) {
    const int i = row + lane();
    const Crossings bits = crossings_of[row / kWarp];
    const bool crosses = bits.crossing >> lane() & 1;
    const int root = i < size ? find<InBlock, Jump::kNone>(local_parent, i) : i;
    __syncwarp();  // else each goes on as it leaves the loop
    // A root that has just been put under a vertex elsewhere stays there.
    const bool moved = symmetric && root == i && crosses;
    if (i < size && !moved) Concurrent::store(parent + i, Index(base + root));
    const uint32_t open_bits =
        __ballot_sync(kAllLanes, (bits.unfinished >> lane() & 1) || (crosses && !moved));
    if (lane() == 0) open[row / kWarp] = open_bits;
  }
}

// Words of 32 vertices that sample_arcs takes: all; every kStride-th, or the others; or few of those that a
// block has united and half of the scattered ones, the rest of which are postponed.
enum Stage { kAllWords, kFewWords, kOtherWords, kHalfOfScattered };
constexpr int kStride = 8;
constexpr int64_t kOnePostponed = int64_t(1) << 40, kMostPostponed = 8;

// One of `share` words, a power of two, spread so that each warp comes upon some.
template <unsigned share> bool is_one_of(int64_t word) {
  return uint32_t(word) * 0x9e3779b1u < uint32_t(-1) / share;
}

// Unites every open vertex with its last neighbour, which joins most, as the first are often near each other;
// or with all of them, and closes it, where a warp has short rows only.
template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads)) sample_arcs(int64_t vertices,
    int64_t span, int64_t stage, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
    Index* parent, uint32_t* __restrict__ open, Remainder<Index>* remainder) {
  follow_launch();
  const int step = stage == kFewWords ? kStride : 1;
  __shared__ int64_t left_of_block;
  if (threadIdx.x == 0) left_of_block = 0;
  __syncthreads();
  int64_t arcs_left = 0;  // and from kOnePostponed on vertices postponed, for want of registers
  for (int64_t word = grid_thread() / kWarp * step; word * kWarp < vertices;
      word += grid_threads() / kWarp * step) {
    if (stage == kOtherWords && word % kStride == 0) continue;
    const uint32_t bits = open[word];
    if (bits == 0) continue;
    const int64_t base = word * kWarp / span * span, v = word * kWarp + lane();
    const bool is_open = bits >> lane() & 1;
    const Index start = v < vertices ? Concurrent::load(parent + v) : Index(-1);
    const bool postpones = stage == kHalfOfScattered && __popc(bits) > kWarp / 4 && are_scattered(start);
    if (postpones) arcs_left += is_open ? kOnePostponed + kShort : 0;
    if (postpones && !is_one_of<2>(word)) continue;
    Pointer begin = 0, degree = 0;
    if (is_open) {
      begin = indptr[v];
      degree = indptr[v + 1] - begin;
    }
    if (postpones) {
      Index neighbour = degree > 0 ? Index(indices[begin + degree - 1]) : start;
      if (neighbour == start && degree > 1) neighbour = Index(indices[begin + degree - 2]);
      if (is_open) unite_paths(parent, Index(v), neighbour);
      __syncwarp();
      continue;
    }
    if (__any_sync(kAllLanes, degree > kShort)) {
      arcs_left += degree;
      // Few words suffice for trees that blocks have made.
      const Index start_of_first = __shfl_sync(kAllLanes, start, __ffs(int(bits)) - 1);
      if (stage == kHalfOfScattered && !is_one_of<8>(word) &&
          __all_sync(kAllLanes, !is_open || start == start_of_first))
        continue;
      const Index neighbour = degree > 0 ? Index(indices[begin + degree - 1]) : Index(v);
      if (stage == kFewWords || stage == kOtherWords) {
        if (degree > 0) unite_paths(parent, Index(v), neighbour);
        __syncwarp();
      } else {
        unite_once<Concurrent, Uniting::kRootsThenVertex>(degree > 0, parent, Index(v), neighbour);
      }
      continue;
    }
    Index target[kShort];
#pragma unroll
    for (int k = 0; k < kShort; ++k) {
      target[k] = k < degree ? Index(indices[begin + k]) : Index(-1);
      if (target[k] >= base && (symmetric || target[k] < base + span)) target[k] = -1;
    }
    // Most vertices started under one of them.
    remove(target, start);
    unite_all<Concurrent, Uniting::kParentsThenVertex>(parent, Index(v), target);
    if (lane() == 0) open[word] = 0;
  }
  // A hub alone may have more than 2^31; and all warps would queue at the counters.
  const int64_t left_of_warp = warp_sum(arcs_left);
  if (lane() == 0) InBlock::fetch_add(&left_of_block, left_of_warp);
  __syncthreads();
  if (threadIdx.x != 0 || left_of_block == 0) return;
  Concurrent::fetch_add(&remainder->arcs, left_of_block % kOnePostponed);
  Concurrent::fetch_add(&remainder->postponed, left_of_block / kOnePostponed);
}

// The first block guesses `giant` by a sample, takes back ecl_finish's counts between stages, and chooses the
// cheaper way. If many vertices are postponed, all blocks point vertices to roots.
template <bool symmetric, class Index>
__global__ void __launch_bounds__(kGuessers, resident_blocks(kGuessers)) guess_giant(
    int64_t vertices, int64_t arcs, Index* parent, Remainder<Index>* remainder, int64_t* components) {
  follow_launch();
  if (blockIdx.x == 0) {
    const GiantGuess<Index> guess =
        guess_giant_tree(vertices, [=](int64_t v) { return find<Lowering<Concurrent>>(parent, Index(v)); });
    if (threadIdx.x == 0) {
      const double share_outside = 1 - double(guess.votes) / kGuessers;
      remainder->giant = guess.root;
      *components = 0;
      remainder->skip_giant =
          symmetric && double(remainder->arcs) > share_outside * double(arcs) + double(vertices);
    }
  }
  if (remainder->postponed > vertices / kMostPostponed) point_to_roots<3>(vertices, parent);
}

// Unites v, below `root`, with the neighbours first, first + step, ... of its row, or the smaller of them,
// until it is in `giant` (or -1): an arc that neither end goes through has both ends there.
template <class Pointer, class Vertex, class Index>
void unite_row(Index v, Index root, Index giant, bool only_smaller, Pointer begin, Pointer end, int first,
    int step, const Vertex* __restrict__ indices, Index* parent) {
  const Vertex* target = indices + begin + first;
  for (Pointer arcs_left = end - begin - first; arcs_left > 0 && root != giant;
      arcs_left -= kChunk * step, target += kChunk * step) {
    Index neighbour[kChunk], ancestor[kChunk];
#pragma unroll
    for (int k = 0; k < kChunk; ++k) {
      neighbour[k] = arcs_left > k * step ? Index(target[k * step]) : v;
      if (only_smaller && neighbour[k] > v) neighbour[k] = v;
    }
#pragma unroll
    for (int k = 0; k < kChunk; ++k)
      ancestor[k] = neighbour[k] == v ? root : Concurrent::load(parent + neighbour[k]);
#pragma unroll
    for (int k = 0; k < kChunk; ++k)
      if (ancestor[k] != root)
        root =
            hook_lowest<Concurrent>(parent, root, find_from<Concurrent>(parent, neighbour[k], ancestor[k]));
  }
}

template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    unite_remainder(int64_t vertices, const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices,
        Index* parent, const uint32_t* __restrict__ open, Remainder<Index>* remainder,
        Index* __restrict__ long_rows, Part<Index>* __restrict__ parts) {
  follow_launch();
  const bool skip_giant = remainder->skip_giant, only_smaller = symmetric && !skip_giant;
  if (!skip_giant && remainder->arcs == 0) return;
  const Index giant = skip_giant ? find<Concurrent>(parent, remainder->giant) : Index(-1);
  for (int64_t word = grid_thread() / kWarp; word * kWarp < vertices; word += grid_threads() / kWarp) {
    const uint32_t bits = skip_giant ? kAllLanes : open[word];
    if (bits == 0) continue;
    const int64_t v = word * kWarp + lane();
    const bool is_left = v < vertices && (bits >> lane() & 1);
    Pointer begin = 0, end = 0;
    Index root = is_left ? Concurrent::load(parent + v) : giant;
    if (skip_giant) {  // most vertices are in it, at one step or two from its root
      if (root != giant && leads_to(Index(v), root)) root = Concurrent::load(parent + root);
      if (__all_sync(kAllLanes, root == giant)) continue;
    }
    if (is_left) {
      root = find<Concurrent>(parent, Index(v));
      if (root != giant) {
        begin = indptr[v];
        end = indptr[v + 1];
      }
    }
    const Pointer degree = end - begin;
    if (degree > kHub) {
      const Index count = Index((degree - 1) / kHub + 1);
      const int64_t first = Concurrent::fetch_add(&remainder->parts, int64_t(count));
      for (Index k = 0; k < count; ++k) parts[first + k] = Part<Index>{Index(v), k};
    } else if (degree > kMidRow) {
      long_rows[Concurrent::fetch_add(&remainder->rows, int64_t(1))] = Index(v);
    } else if (degree <= kLowRow) {
      unite_row(Index(v), root, giant, only_smaller, begin, end, 0, 1, indices, parent);
    }
    uint32_t middle = __ballot_sync(kAllLanes, degree > kLowRow && degree <= kMidRow);
    for (; middle != 0; middle &= middle - 1) {
      const int owner = __ffs(int(middle)) - 1;
      unite_row(Index(word * kWarp + owner), __shfl_sync(kAllLanes, root, owner), giant, only_smaller,
          __shfl_sync(kAllLanes, begin, owner), __shfl_sync(kAllLanes, end, owner), lane(), kWarp, indices,
          parent);
    }
  }
}

// A block each for the listed rows and parts of rows, as vertices of most arcs often come first.
template <bool symmetric, class Pointer, class Vertex, class Index>
__global__ void __launch_bounds__(kEclThreads, resident_blocks(kEclThreads))
    unite_long(const Pointer* __restrict__ indptr, const Vertex* __restrict__ indices, Index* parent,
        const Remainder<Index>* remainder, const Index* __restrict__ long_rows,
        const Part<Index>* __restrict__ parts) {
  follow_launch();
  const int64_t rows = remainder->rows, jobs = rows + remainder->parts;
  const bool skip_giant = remainder->skip_giant;
  for (int64_t i = blockIdx.x; i < jobs; i += gridDim.x) {
    const Part<Index> part = i < rows ? Part<Index>{long_rows[i], 0} : parts[i - rows];
    const Index v = part.vertex, root = find<Concurrent>(parent, v);
    const Index giant = skip_giant ? find<Concurrent>(parent, remainder->giant) : Index(-1);
    const Pointer begin = indptr[v] + Pointer(part.number) * kHub, end = indptr[v + 1];
    unite_row(v, root, giant, symmetric && !skip_giant, begin,
        end - begin < kHub ? end : Pointer(begin + kHub), int(threadIdx.x), kEclThreads, indices, parent);
  }
}

}
