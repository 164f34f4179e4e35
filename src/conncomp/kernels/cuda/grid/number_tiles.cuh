// Stage 3, for consecutive labels: points roots of tiles to those of components (settle_roots) and gathers
// their bits in the array's order (gather_roots), from which labels follow (core/root_bits.cuh). For a small
// item one block does all, which saves two launches (number_items).
#pragma once

#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/brick_tiles.cuh"

namespace conncomp {

// Points a brick's roots of tiles to components', complemented; keeps and returns the latter's bits.
template <class Index>
Bits settle_brick(const auto& tiles, Index* label, const BrickTable& table, int64_t number) {
  Bits roots = table.settled[number];
  const Bits tile_roots = table.roots[number];
  const uint32_t tile = uint32_t(number >> tiles.log_parts());
  Index* const parent = label + tiles.item_of(tile) * tiles.grid.cells_of_item();
  Index first = 0;
  if (tile_roots != 0)
    first = tiles.first_of(tiles.template corner_of<Index>(tile), int(number & (tiles.parts() - 1))).index;
  for (Bits unsettled = tile_roots; unsettled != 0; unsettled &= unsettled - 1) {
    const Index i = first + tiles.template distance<Index>(lowest(unsettled));
    if (settle_entry(parent, i) == i) roots |= lowest_bit(unsettled);
  }
  table.roots[number] = roots;
  return roots;
}

// The same for all bricks; counts the roots of components.
template <class Tiles, class Index>
__global__ void __launch_bounds__(kWordThreads) settle_roots(Tiles tiles, Index* label, BrickTable table) {
  follow_launch();
  if (table.is_elsewhere()) return;
  int count = 0;
  for (int64_t number = grid_thread(); number < table.bricks; number += grid_threads()) {
    const int roots = __popcll(settle_brick(tiles, label, table, number));
    if (!tiles.has_items()) {
      count += roots;
    } else {
      // The bricks of a warp are of one tile, and so of one item.
      const int64_t item = tiles.item_of(uint32_t(number >> tiles.log_parts()));
      const int of_warp = warp_sum(roots);
      if (lane() == 0 && of_warp > 0) Concurrent::fetch_add(table.components + item, int64_t(of_warp));
    }
  }
  if (tiles.has_items()) return;
  const int total = block_sum<kWordThreads>(count);
  if (threadIdx.x == 0) Concurrent::fetch_add(table.components, int64_t(total));
}

// The bits of roots of 32 elements along a row; rows count from the item on.
template <class Index, class Tiles>
uint32_t gather_word(const Tiles& tiles, const BrickTable& table, Index item, Index row, Index column) {
  using B = typename Tiles::B;
  constexpr int rank = Tiles::kRank;
  constexpr int kSide = B::kSide < kRootWord ? B::kSide : kRootWord;
  Cell<rank, Index> cell{};
  item += move_to_row(tiles.grid, rank - 1, row, cell);
  cell.move(tiles.grid, rank - 1, column * kRootWord);
  int bit = 0;  // of the first element, in its brick
  unrolled<Tiles::kAxes>([&](int a) { bit += int(cell.at[rank - 1 - a] & (B::kSide - 1)) << a * B::kLog; });
  uint32_t roots = 0;
  int64_t brick = tiles.number_of(cell);
  if (item > 0) brick += int64_t(item) * tiles.tiles_of_item() << tiles.log_parts();
#pragma unroll
  for (int x = 0; x < kRootWord; x += kSide) {
    if (cell.at[rank - 1] >= tiles.axis(0).length) break;
    roots |= uint32_t(table.roots[brick] >> bit & B::ones(kSide)) << x;
    cell.move(tiles.grid, rank - 1, kSide);
    const bool in_tile = (cell.at[rank - 1] & ((B::kSide << tiles.log[0]) - 1)) != 0;
    brick += in_tile ? 1 : tiles.parts() + 1 - (1 << tiles.log[0]);
  }
  return roots;
}

template <class Tiles, class Index>
__global__ void __launch_bounds__(kWordThreads)
    gather_roots(Tiles tiles, int64_t words, int64_t columns, int64_t chunk, BrickTable table,
        uint32_t* __restrict__ roots_of_word, int64_t* __restrict__ roots_in_chunk) {
  follow_launch();
  if (table.is_elsewhere()) return;
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int count = 0;
    for (int64_t word = begin + threadIdx.x; word < end; word += kWordThreads) {
      const uint32_t roots =
          gather_word<Index>(tiles, table, 0, Index(word) / Index(columns), Index(word) % Index(columns));
      roots_of_word[word] = roots;
      count += __popc(roots);
    }
    const int total = block_sum<kWordThreads>(count);
    if (threadIdx.x == 0) roots_in_chunk[part] = total;
  }
}

constexpr int kItemThreads = 1024, kMostWordsOfThread = 4;

// Settles the roots of an item, gathers and numbers its words, and counts its components: one block.
template <class Tiles, class Index>
__global__ void __launch_bounds__(kItemThreads) number_items(Tiles tiles, Index* label, int words_of_item,
    int columns, BrickTable table, uint32_t* __restrict__ roots_of_word, Index* __restrict__ number_of_word) {
  follow_launch();
  const Index item = Index(blockIdx.x);
  const int64_t bricks = int64_t(tiles.tiles_of_item()) << tiles.log_parts();
  for (int64_t k = threadIdx.x; k < bricks; k += kItemThreads)
    settle_brick(tiles, label, table, item * bricks + k);
  __syncthreads();
  const int of_thread = (words_of_item + kItemThreads - 1) / kItemThreads;
  const int first = int(threadIdx.x) * of_thread;
  const auto is_word = [&](int k) { return k < of_thread && first + k < words_of_item; };
  uint32_t roots[kMostWordsOfThread];
  int count = 0, components;
#pragma unroll
  for (int k = 0; k < kMostWordsOfThread; ++k) {
    const int word = first + k;
    roots[k] = is_word(k) ? gather_word<Index>(tiles, table, item, word / columns, word % columns) : 0;
    count += __popc(roots[k]);
  }
  int64_t word = int64_t(item) * words_of_item + first;
  Index number = Index(1 + block_scan<kItemThreads>(count, components));
#pragma unroll
  for (int k = 0; k < kMostWordsOfThread; ++k, ++word) {
    if (!is_word(k)) break;
    roots_of_word[word] = roots[k], number_of_word[word] = number;
    number += __popc(roots[k]);
  }
  if (threadIdx.x == 0) table.components[item] = components;
}

}
