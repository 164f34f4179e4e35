// Connected components of a small array on the GPU by union–find in tiles, a thread an element. The default
// where bricks (tiled_bricks.cuh) would leave most of a GPU idle.
//
// What: fills label[i] with the smallest index of i's component or its number, or -1 or 0 where there is
// background.
// How: a block of threads takes a tile. Elements are put under the first ones of their runs along rows by
// ballots, runs of rows beside each other are united in shared memory, and each element gets the index of its
// root in the tile (label_elements). Those at borders of tiles are united with their neighbours
// (join_elements), and all are pointed to their roots (settle_elements). The bits of these are kept for
// consecutive labels, which follow from them (root_bits.cuh, number_elements).
//
// The values and the labels may be memory that its owner changes meanwhile: where a neighbour is background
// for another kernel, or a label was never written, it is followed only to smaller indices (union_find.h).
//
// Cost: values read once, those at borders again; labels written twice and read twice. Three kernels, five
// for consecutive labels: on few elements it is their latency that takes the time.
//
// Source: Oliveira and Lotufo 2010, "A study on connected components labeling algorithms using GPUs":
// union–find in tiles, then at their borders. Which contacts need no union is ours.
#pragma once

#include "core/neighbourhood.h"
#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/tiling.cuh"

namespace conncomp {

constexpr int kElementsOfTile = 512;  // at most

// Which unions the neighbours of an element call for that equal it, a bit for each step to one.
template <int axes>
struct Contacts : Steps<axes> {
  using S = Steps<axes>;

  // The steps to elements between one and its neighbour at a step: some of its moves, but not all.
  CONNCOMP_ANYWHERE static constexpr uint32_t between(int step) {
    uint32_t found = 0;
    for (int other = 0; other < S::kSteps; ++other) {
      bool some = other != step && other != S::kNoStep;
      for (int a = 0; a < axes; ++a) some &= S::step(other, a) == 0 || S::step(other, a) == S::step(step, a);
      if (some) found |= 1u << other;
    }
    return found;
  }
  // Steps to neighbours before such that unions with them, and with those that other elements find, connect
  // all neighbours that are equal. A diagonal one is not needed if an element between equals both; nor is one
  // straight along another axis than the rows, if the elements before both in their rows do, unless the row
  // begins.
  __device__ static uint32_t needed(uint32_t equal, int connectivity, bool row_begins) {
    constexpr uint32_t kLeft = 1u << (S::kNoStep - 1);
    uint32_t found = 0;
#pragma unroll
    for (int step = 0; step < S::kNoStep; ++step) {
      const int moves = S::moves(step);
      if (!(equal >> step & 1) || moves > connectivity) continue;
      if (moves > 1 && equal & between(step)) continue;
      if (moves == 1 && step != S::kNoStep - 1 && !row_begins && equal & kLeft && equal >> (step - 1) & 1)
        continue;
      found |= 1u << step;
    }
    return found;
  }
};

// A block a tile, a thread an element.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kElementsOfTile)
    label_elements(Tiling<rank, 0, GivenLogs> tiles, const Value* __restrict__ values, Value ground,
                   bool has_ground, Index* __restrict__ label, int64_t* components) {
  constexpr int kAxes = Tiling<rank, 0, GivenLogs>::kAxes;
  using S = Steps<kAxes>;
  __shared__ Value value_of[kElementsOfTile];
  __shared__ uint32_t fore_of_warp[kElementsOfTile / kWarp];
  __shared__ int nodes[kElementsOfTile];
  const int mine = int(threadIdx.x), first_of_warp = mine - lane();
  if (grid_thread() == 0) *components = 0;

  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const Cell<rank, Index> cell = tiles.first_of(corner, mine);
  const bool inside = tiles.has(cell);
  const Value value = inside ? values[cell.offset] : Value{};
  const bool fore = inside && !is_background(value, ground, has_ground);
  const uint32_t fores = __ballot_sync(kAllLanes, fore);
  if (lane() == 0) fore_of_warp[mine / kWarp] = fores;
  value_of[mine] = value;
  __syncthreads();

  const auto element_at = [&](int step) {
    int other = mine;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) other += S::step(step, a) * (1 << tiles.log_before(a));
    return other;
  };
  uint32_t equal = 0;
#pragma unroll
  for (int step = 0; step < S::kSteps; ++step) {
    bool there = fore;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int to = tiles.place(mine, a) + S::step(step, a);
      there &= to >= 0 && to < 1 << tiles.log[a];
    }
    const int other = element_at(step);
    if (there && fore_of_warp[other / kWarp] >> other % kWarp & 1 && value_of[other] == value)
      equal |= 1u << step;
  }
  // The elements of a run are put under its first one in the warp, and that under the one before.
  const bool linked = equal >> (S::kNoStep - 1) & 1;
  const uint32_t starts = ~__ballot_sync(kAllLanes, linked) | 1;
  const int start = first_of_warp + kWarp - 1 - __clz(int(starts & (kAllLanes >> (kWarp - 1 - lane()))));
  nodes[mine] = linked && start == mine ? mine - 1 : start;
  __syncthreads();
  for (uint32_t rest = Contacts<kAxes>::needed(equal, int(tiles.grid.connectivity), false) &
                       ((1u << (S::kNoStep - 1)) - 1);
       rest != 0; rest &= rest - 1)
    unite<InBlock>(nodes, mine, element_at(__ffs(int(rest)) - 1));
  __syncthreads();
  if (start == mine) InBlock::store(nodes + mine, find<InBlock>(nodes, mine));
  __syncthreads();
  if (inside) label[cell.index] = fore ? tiles.first_of(corner, nodes[start]).index : Index(-1);
}

// The same grid.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kElementsOfTile)
    join_elements(Tiling<rank, 0, GivenLogs> tiles, const Value* __restrict__ values, Index* label) {
  constexpr int kAxes = Tiling<rank, 0, GivenLogs>::kAxes;
  using S = Steps<kAxes>;
  const int mine = int(threadIdx.x);
  const Cell<rank, Index> cell = tiles.first_of(tiles.template corner_of<Index>(blockIdx.x), mine);
  bool at_border = rank > kAxes;
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    const int place = tiles.place(mine, a);
    const bool ends = place + 1 == 1 << tiles.log[a] || cell.at[rank - 1 - a] + 1 == tiles.axis(a).length;
    at_border |= place == 0 || ends;
  }
  if (!tiles.has(cell) || !at_border || Shared::load(label + cell.index) < 0) return;
  const Value value = values[cell.offset];
  if constexpr (rank > kAxes) {
    for_each_neighbour(tiles.grid, cell, [&](Index index, int64_t offset) {
      if (index < cell.index && values[offset] == value) unite<Shared>(label, cell.index, index);
    });
  } else {
    uint32_t equal = 0;
    const auto neighbour = [&](int step, Cell<rank, Index>& other) {
      bool exists = true;
#pragma unroll
      for (int a = 0; a < kAxes; ++a) {
        const GridAxis& axis = tiles.axis(a);
        Index to = cell.at[rank - 1 - a] + S::step(step, a);
        if (to < 0 || to >= axis.length) {
          exists &= bool(axis.periodic);
          to = to < 0 ? Index(axis.length - 1) : Index(0);
        }
        other.move(tiles.grid, rank - 1 - a, to - cell.at[rank - 1 - a]);
      }
      return exists;
    };
#pragma unroll
    for (int step = 0; step < S::kSteps; ++step) {
      Cell<rank, Index> other = cell;
      if (neighbour(step, other) && values[other.offset] == value) equal |= 1u << step;
    }
    const bool row_begins = cell.at[rank - 1] == 0;
    for (uint32_t rest = Contacts<kAxes>::needed(equal, int(tiles.grid.connectivity), row_begins); rest != 0;
         rest &= rest - 1) {
      Cell<rank, Index> other = cell;
      neighbour(__ffs(int(rest)) - 1, other);
      unite<Shared>(label, cell.index, other.index);
    }
  }
}

// A thread an element. `roots_of_word`, if it is not null, gets the bits of the roots, and `roots_in_chunk`
// how many there are in those of a block.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    settle_elements(int64_t count, Index* label, uint32_t* __restrict__ roots_of_word,
                    int64_t* __restrict__ roots_in_chunk, int64_t* components) {
  const int64_t i = grid_thread();
  const Index above = i < count ? Shared::load(label + i) : Index(-1);
  const Index root = above < 0 ? above : find_from<Shared, Jump::kNone>(label, Index(i), above);
  if (root != above) Shared::store(label + i, root);
  const uint32_t roots = __ballot_sync(kAllLanes, root == Index(i));
  const int in_block = block_sum<kWordThreads>(int(root == Index(i)));
  if (roots_of_word != nullptr) {
    if (lane() == 0 && i < count) roots_of_word[i / kWord] = roots;
    if (threadIdx.x == 0) roots_in_chunk[blockIdx.x] = in_block;
  }
  if (threadIdx.x == 0) Shared::fetch_add(components, int64_t(in_block));
}

template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    number_elements(int64_t count, Index* label, const uint32_t* __restrict__ roots_of_word,
                    const Index* __restrict__ number_of_word) {
  const int64_t i = grid_thread();
  if (i >= count) return;
  const LabelOfRoot<true, Index> label_of{count, 0, roots_of_word, number_of_word};
  const Index root = Shared::load(label + i);  // once; what is looked up for it is `root` modulo `count`
  Shared::store(label + i, root < 0 ? Index(0) : label_of(root));
}

}  // namespace conncomp
