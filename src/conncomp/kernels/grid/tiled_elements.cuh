// Connected components of a small array on the GPU by union–find in tiles, a thread an element. The default
// where bricks (tiled_bricks.cuh) would leave most of a GPU idle.
//
// What: fills label[i] with the smallest index of i's component or its number, or -1 or 0 where there is
// background.
// How: a block of threads takes a tile. Elements are put under the first ones of their runs along rows by
// ballots, runs of rows beside each other are united in shared memory, and each element gets the index of its
// root in the tile (label_elements). Those at borders of tiles are united with their neighbours
// (join_elements), and all are pointed to their roots, whose bits are kept for consecutive labels
// (settle_elements), which follow from them (number_words, number_elements). Cost: values read once, those at
// borders again; labels written twice and read twice. Three kernels, five for consecutive labels: on few
// elements it is their latency that takes the time. Source: Oliveira and Lotufo 2010, "A study on connected
// components labeling algorithms using GPUs": union–find in tiles, then at their borders. One union for two
// runs that touch is ours.
#pragma once

#include "core/root_bits.cuh"
#include "core/union_find.h"
#include "grid/tiling.cuh"

namespace conncomp {

constexpr int kElementsOfTile = 1024;  // at most

// The elements of a tile in shared memory: which are foreground, and which are linked to the one before them
// in their row.
template <class Value>
struct TileOfElements {
  Value value[kElementsOfTile];
  uint32_t fore[kElementsOfTile / kWord], linked[kElementsOfTile / kWord];

  __device__ static bool bit(const uint32_t* words, int element) {
    return words[element / kWord] >> element % kWord & 1;
  }
  __device__ bool has(int element, Value wanted) const {
    return bit(fore, element) && value[element] == wanted;
  }
  __device__ bool is_linked(int element) const { return bit(linked, element); }
};

// A block a tile, a thread an element.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kElementsOfTile)
    label_elements(Tiling<rank, 0> tiles, const Value* __restrict__ values, Value ground, bool has_ground,
                   Index* __restrict__ label, int64_t* components) {
  constexpr int kAxes = Tiling<rank, 0>::kAxes, kLines = kAxes == 1 ? 1 : kAxes == 2 ? 3 : 9;
  __shared__ TileOfElements<Value> tile;
  __shared__ int nodes[kElementsOfTile];
  const int mine = int(threadIdx.x), warp = mine / kWarp;
  if (grid_thread() == 0) *components = 0;

  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const Cell<rank, Index> cell = tiles.first_of(corner, mine);
  bool inside = true;
#pragma unroll
  for (int k = 0; k < rank; ++k) inside &= cell.at[k] < tiles.grid.axes[k].length;
  const Value value = inside ? values[cell.offset] : Value{};
  const bool fore = inside && !is_background(value, ground, has_ground);
  const uint32_t fores = __ballot_sync(kAllLanes, fore);
  if (lane() == 0) tile.fore[warp] = fores;
  tile.value[mine] = value;
  __syncthreads();

  // Those of a run are put under the first one that is in the warp, or the last one before it.
  const int x = tiles.place(mine, 0);
  const bool linked = fore && x > 0 && tile.has(mine - 1, value);
  const uint32_t links = __ballot_sync(kAllLanes, linked);
  if (lane() == 0) tile.linked[warp] = links;
  const uint32_t starts = ~links & (kAllLanes >> (kWarp - 1 - lane()));
  nodes[mine] = warp * kWarp + kWarp - 1 - __clz(int(starts));
  __syncthreads();

  // Two runs that touch are united where the later one of the two begins to do so.
  const int connectivity = int(tiles.grid.connectivity);
#pragma unroll
  for (int line = 0; line < kLines / 2; ++line) {
    bool exists = fore;
    int moves = 0, straight = mine;
#pragma unroll
    for (int a = 1; a < kAxes; ++a) {
      const int by = (a == 1 ? line % 3 : line / 3) - 1, to = tiles.place(mine, a) + by;
      moves += by != 0;
      exists &= to >= 0 && to < 1 << tiles.log[a];
      straight += by * (1 << tiles.log_before(a));
    }
    if (!exists || moves > connectivity) continue;
    if (tile.has(straight, value)) {
      if (!linked || !tile.is_linked(straight)) unite<InBlock>(nodes, mine, straight);
    } else if (moves < connectivity) {
      if (x > 0 && !linked && tile.has(straight - 1, value)) unite<InBlock>(nodes, mine, straight - 1);
      if (x + 1 < 1 << tiles.log[0] && !tile.is_linked(mine + 1) && tile.has(straight + 1, value))
        unite<InBlock>(nodes, mine, straight + 1);
    }
  }
  __syncthreads();
  if (!inside) return;
  label[cell.index] = fore ? tiles.first_of(corner, find<InBlock>(nodes, mine)).index : Index(-1);
}

// The same grid.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kElementsOfTile)
    join_elements(Tiling<rank, 0> tiles, const Value* __restrict__ values, Index* label) {
  constexpr int kAxes = Tiling<rank, 0>::kAxes;
  const int mine = int(threadIdx.x);
  const Cell<rank, Index> cell = tiles.first_of(tiles.template corner_of<Index>(blockIdx.x), mine);
  bool inside = true, at_border = rank > kAxes;
#pragma unroll
  for (int k = 0; k < rank; ++k) inside &= cell.at[k] < tiles.grid.axes[k].length;
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    const int place = tiles.place(mine, a);
    at_border |=
        place == 0 || place + 1 == 1 << tiles.log[a] || cell.at[rank - 1 - a] + 1 == tiles.axis(a).length;
  }
  if (!inside || !at_border || Shared::load(label + cell.index) < 0) return;
  const Value value = values[cell.offset];
  for_each_neighbour(tiles.grid, cell, [&](Index index, int64_t offset) {
    if (index < cell.index && values[offset] == value) unite<Shared>(label, cell.index, index);
  });
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
  const int64_t in_block = block_sum<kWordThreads>(int64_t(lane() == 0 ? __popc(roots) : 0));
  if (roots_of_word != nullptr) {
    if (lane() == 0 && i < count) roots_of_word[i / kWord] = roots;
    if (threadIdx.x == 0) roots_in_chunk[blockIdx.x] = in_block;
  }
  if (threadIdx.x == 0) Shared::fetch_add(components, in_block);
}

template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    number_elements(int64_t count, Index* __restrict__ label, const uint32_t* __restrict__ roots_of_word,
                    const Index* __restrict__ number_of_word) {
  const int64_t i = grid_thread();
  if (i >= count) return;
  const LabelOfRoot<true, Index> label_of{count, 0, roots_of_word, number_of_word};
  const Index root = label[i];
  label[i] = root < 0 ? 0 : label_of(root);
}

}  // namespace conncomp
