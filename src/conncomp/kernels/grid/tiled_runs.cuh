// Connected components of an array on the GPU by union–find over runs in tiles. The default.
//
// What: fills label[i] with the smallest index of i's component or its number, or -1 or 0 where there is
// background.
// How: a block of threads takes a tile, and each thread of it a bundle of two rows of 32 elements, or of 2 x
// 2 rows in three dimensions, which it reads as words of bits (words.cuh). Where all foreground of a tile is
// of one value and all elements that touch are neighbours, the rows of a bundle are as one: a run of ones of
// all of them, joined by "or", is connected. In other tiles each row is for itself. A run is put under the
// first one that it touches in the rows before, by a plain store; the others that it touches take a union in
// shared memory (tile_runs). A run stands where its first element is, so that the smallest index is the root.
// Only entries of runs are written to global memory. Unions across tiles follow there, where the masks say
// that they can matter (join_tiles); then the roots of tiles are pointed to those of components
// (settle_roots), and every element gets the root of the root of its run (write_labels). For consecutive
// labels, roots of tiles get the number of their component in between (number_components, spread_numbers).
// Cost: the array is read once and labels are written once; beyond that, two to three bits an element, and 4
// or 8 bytes for each run are written and read.
// Source: ours. Pixels that need not be told apart are those of block-based labelling (Grana, Borghesani and
// Cucchiara 2010); words of runs are also in Hennequin, Lacassagne et al. 2018, and the first union by a
// plain store is the start of ECL-CC (Jaiganesh and Burtscher 2018).
#pragma once

#include "core/numbering.cuh"
#include "core/union_find.h"
#include "grid/cells.cuh"
#include "grid/words.cuh"

namespace conncomp {

constexpr int kTileThreads = 128;   // of a block at most: a thread for each bundle of a tile
constexpr int kPitch = kWord + 2;   // from word to word in shared memory: threads at one column use all banks
constexpr int kWordThreads = 256;   // a thread for each word
constexpr int kWordsOfTile = 4096;  // that are counted together
constexpr int kAtOnce = 4;          // bundles that a warp writes at once

// How an array is cut into tiles: 2^log_x words along the last axis, 2^log_y rows along the one before, and
// 2^log_z along the one before that, if there is one.
template <int rank>
struct Tiles {
  Grid<rank> grid;
  int32_t log_x, log_y, log_z;

  static constexpr int kHigh = 2, kDeep = rank > 2 ? 2 : 1;  // of a bundle, in rows
  static constexpr int kRows = kHigh * kDeep;

  __device__ int log_words() const { return log_x + log_y + log_z; }
  __device__ int words() const { return 1 << log_words(); }
  __device__ int bundles() const { return words() / kRows; }
  __device__ int log_of(int axis) const {
    return axis == rank - 1 ? log_x + 5 : axis == rank - 2 ? log_y : axis == rank - 3 ? log_z : 0;
  }
  __device__ uint32_t along(int axis) const {
    return uint32_t((grid.axes[axis].length - 1) >> log_of(axis)) + 1;
  }

  template <class Index>
  __device__ Cell<rank, Index> corner_of(uint32_t tile) const {
    Cell<rank, Index> cell{};
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      cell.move(grid, k, Index(tile % along(k)) << log_of(k));
      tile /= along(k);
    }
    return cell;
  }
  template <class Index>
  __device__ uint32_t tile_of(const Cell<rank, Index>& cell) const {
    uint32_t tile = 0;
#pragma unroll
    for (int k = 0; k < rank; ++k) tile = tile * along(k) + uint32_t(cell.at[k] >> log_of(k));
    return tile;
  }

  // A word of a tile: its number there, and its first cell; whether that is in the array.
  __device__ int word(int z, int y, int x) const { return (((z << log_y) + y) << log_x) + x; }
  template <class Index>
  __device__ bool first_of(const Cell<rank, Index>& corner, int word, Cell<rank, Index>& cell) const {
    cell = corner;
    cell.move(grid, rank - 1, Index((word & ((1 << log_x) - 1)) * kWord));
    cell.move(grid, rank - 2, Index(word >> log_x & ((1 << log_y) - 1)));
    bool exists =
        cell.at[rank - 1] < grid.axes[rank - 1].length && cell.at[rank - 2] < grid.axes[rank - 2].length;
    if constexpr (rank > 2) {
      cell.move(grid, rank - 3, Index(word >> (log_x + log_y)));
      exists &= cell.at[rank - 3] < grid.axes[rank - 3].length;
    }
    return exists;
  }
  // The word of a cell in its tile.
  template <class Index>
  __device__ int word_of(const Cell<rank, Index>& cell) const {
    int z = 0;
    if constexpr (rank > 2) z = int(cell.at[rank - 3] & ((1 << log_z) - 1));
    return word(z, int(cell.at[rank - 2] & ((1 << log_y) - 1)),
                int(cell.at[rank - 1] / kWord) & ((1 << log_x) - 1));
  }
  // The first word of a bundle, whose others are at word(z, y, 0) beside it.
  __device__ int first_word_of_bundle(int bundle) const {
    const int rest = bundle >> log_x;
    return word((rest >> (log_y - 1)) * kDeep, (rest & ((1 << (log_y - 1)) - 1)) * kHigh,
                bundle & ((1 << log_x) - 1));
  }
  __device__ int row_of_bundle(int k) const { return word(k / kHigh, k % kHigh, 0); }
  __device__ int bundle_of_word(int word) const {
    int first = word & ~(1 << log_x);
    if constexpr (rank > 2) first &= ~(1 << (log_x + log_y));
    return first;
  }

  // The number of a cell's word, counted along the array.
  template <class Index>
  __device__ int64_t number_in_array(const Cell<rank, Index>& cell) const {
    int64_t row = 0;
#pragma unroll
    for (int k = 0; k < rank - 1; ++k) row = row * grid.axes[k].length + cell.at[k];
    return row * ((grid.axes[rank - 1].length + kWord - 1) / kWord) + cell.at[rank - 1] / kWord;
  }

  // Whether all elements that touch are neighbours.
  __device__ bool full() const { return grid.connectivity >= rank; }
  __device__ int width(int64_t x) const {
    const int64_t rest = grid.axes[rank - 1].length - x;
    return int(rest < kWord ? rest : kWord);
  }
};

// What is known of each tile, and of each word of it; a tile's words lie together.
template <class Value>
struct Masks {
  uint32_t* fore;
  uint32_t* starts;  // of runs, where foreground is of several values
  uint8_t* mixed;    // whether it is
  Value* value;      // which one it is otherwise

  __device__ Runs runs(int64_t word, bool is_mixed) const {
    return is_mixed ? Runs{fore[word], starts[word]} : runs_of_ones(fore[word]);
  }
};

// The first element of a run of a bundle, whose words are fore[row_of_bundle(k)]: its word and column.
struct Element {
  int word, x;
};
template <int rank>
__device__ inline Element first_element(const Tiles<rank>& tiles, const uint32_t* fore, uint32_t run) {
#pragma unroll
  for (int k = 0; k < Tiles<rank>::kRows - 1; ++k) {
    const uint32_t here = fore[tiles.row_of_bundle(k)] & run;
    if (here != 0) return {tiles.row_of_bundle(k), lowest(here)};
  }
  const int last = tiles.row_of_bundle(Tiles<rank>::kRows - 1);
  return {last, lowest(fore[last] & run)};
}

// ------------------------------------------------------------------------------------------ steps to rows

// Calls body(steps, axes moved along) for the rows whose coordinates along the axes but the last differ by at
// most one from those of a row, along `connectivity` axes at most; those of the first `codes` numbers of base
// 3, whose digits are the steps and one.
template <int rank, class Body>
__device__ inline void for_each_step(int first, int end, int64_t connectivity, Body&& body) {
  for (int code = first; code < end; ++code) {
    int step[rank - 1], rest = code, moved = 0;
#pragma unroll
    for (int k = rank - 2; k >= 0; --k) {
      step[k] = rest % 3 - 1;
      rest /= 3;
      moved += step[k] != 0;
    }
    if (moved > 0 && moved <= connectivity) body(step, moved);
  }
}
__device__ constexpr int power_of_3(int exponent) { return exponent == 0 ? 1 : 3 * power_of_3(exponent - 1); }

// Those before a row: the first step that is not 0 goes back.
template <int rank, class Body>
__device__ inline void for_each_row_before(int64_t connectivity, Body&& body) {
  for_each_step<rank>(0, power_of_3(rank - 1) / 2, connectivity, body);
}
template <int rank, class Body>
__device__ inline void for_each_row_around(int64_t connectivity, Body&& body) {
  for_each_step<rank>(0, power_of_3(rank - 1), connectivity, [&](const int* step, int) { body(step); });
}

// ------------------------------------------------------------------------------------------- in one tile

// What is linked in a tile: bundles, or rows for themselves. Both are called pieces, are numbered along each
// axis, and know their words in shared memory.
struct Piece {
  int z, y, x;
};
template <bool bundled, int rank>
struct Pieces {
  const Tiles<rank>& tiles;
  const uint32_t* fore;
  const uint32_t* starts;

  static constexpr int kHigh = bundled ? Tiles<rank>::kHigh : 1, kDeep = bundled ? Tiles<rank>::kDeep : 1;
  static constexpr int kOfThread = bundled ? 1 : Tiles<rank>::kRows;

  __device__ int height() const { return (1 << tiles.log_y) / kHigh; }
  __device__ int width() const { return 1 << tiles.log_x; }
  __device__ int word(Piece at) const { return tiles.word(at.z * kDeep, at.y * kHigh, at.x); }
  __device__ Piece of_thread(int k) const {
    const int word = tiles.first_word_of_bundle(int(threadIdx.x)) + (bundled ? 0 : tiles.row_of_bundle(k));
    const int row = word >> tiles.log_x;
    return {(row >> tiles.log_y) / kDeep, (row & ((1 << tiles.log_y) - 1)) / kHigh, word & (width() - 1)};
  }

  // All rows of a piece, or those on one side, joined.
  __device__ uint32_t facing(Piece at, int side_z, int side_y) const {
    uint32_t found = 0;
#pragma unroll
    for (int z = 0; z < kDeep; ++z)
#pragma unroll
      for (int y = 0; y < kHigh; ++y)
        if ((side_z == 0 || z == (side_z < 0 ? 0 : kDeep - 1)) &&
            (side_y == 0 || y == (side_y < 0 ? 0 : kHigh - 1)))
          found |= fore[word(at) + tiles.word(z, y, 0)];
    return found;
  }
  __device__ Runs runs(Piece at) const {
    if constexpr (bundled)
      return runs_of_ones(facing(at, 0, 0));
    else
      return {fore[word(at)], starts[word(at)]};
  }
  // The first element of a run.
  __device__ Element first(Piece at, uint32_t run) const {
    if constexpr (bundled) {
      const Element found = first_element(tiles, fore + word(at), run);
      return {word(at) + found.word, found.x};
    } else {
      return {word(at), lowest(run)};
    }
  }
  __device__ uint16_t node(Piece at, uint32_t run) const {
    const Element found = first(at, run);
    return uint16_t(found.word * kPitch + found.x);
  }
  __device__ uint16_t node_at(Piece at, int x) const { return node(at, runs(at).run_of(x)); }
};

// Links the runs of a tile in shared memory. touching(piece, dz, dy, diagonal) tells what a piece touches of
// the one at that distance, joined(piece) whether it goes on from the piece to its left.
template <bool bundled, int rank, class Touch, class Joined>
__device__ inline void link_runs(const Pieces<bundled, rank>& pieces, uint16_t* nodes, Touch&& touching,
                                 Joined&& joined) {
  using Set = Pieces<bundled, rank>;
  const int64_t connectivity = pieces.tiles.grid.connectivity;

  // Each run under the first one that it touches in the piece above.
  for (int k = 0; k < Set::kOfThread; ++k) {
    const Piece at = pieces.of_thread(k), above{at.z, at.y - 1, at.x};
    const Runs mine = pieces.runs(at);
    const Touching touched = at.y > 0 ? touching(at, 0, -1, connectivity > 1) : Touching{0, 0, 0};
    const Runs other = at.y > 0 ? pieces.runs(above) : Runs{0, 0};
    for (uint32_t starts = mine.starts; starts != 0; starts &= starts - 1) {
      const uint32_t run = mine.run_from(starts & (0 - starts)), columns = touched.columns(run);
      const uint16_t node = pieces.node(at, run);
      nodes[node] = columns == 0 ? node : pieces.node(above, other.run_of(lowest(columns)));
    }
  }
  // That makes paths as long as the tile is high. Each round halves all of them.
  for (bool changed = true; __syncthreads_or(changed);) {
    changed = false;
    for (int k = 0; k < Set::kOfThread; ++k) {
      const Piece at = pieces.of_thread(k);
      const Runs mine = pieces.runs(at);
      for (uint32_t starts = mine.starts; starts != 0; starts &= starts - 1) {
        const uint16_t node = pieces.node(at, mine.run_from(starts & (0 - starts)));
        const uint16_t under = InBlock::load(nodes + node), next = InBlock::load(nodes + under);
        if (next == under) continue;
        InBlock::store(nodes + node, next);
        changed = true;
      }
    }
  }

  // What else they touch: further runs above, those of other pieces before, and across the ends of words.
  for (int k = 0; k < Set::kOfThread; ++k) {
    const Piece at = pieces.of_thread(k);
    const Runs mine = pieces.runs(at);
    if (mine.fore == 0) continue;
    bool left_implied = false;
    for (int direction = 0; direction < (rank > 2 ? 4 : 1); ++direction) {
      const int dz = direction == 0 ? 0 : -1, dy = direction == 0 ? -1 : direction - 2;
      const int moved = (dz != 0) + (dy != 0);
      const Piece there{at.z + dz, at.y + dy, at.x};
      if (moved > connectivity || there.z < 0 || there.y < 0 || there.y >= pieces.height()) continue;
      const Touching touched = touching(at, dz, dy, moved < connectivity);
      const Runs other = pieces.runs(there);
      uint32_t runs_left = other.fore & touched.columns(mine.fore) ? mine.starts : 0;
      for (; runs_left != 0; runs_left &= runs_left - 1) {
        const uint32_t run = mine.run_from(runs_left & (0 - runs_left));
        uint32_t columns = touched.columns(run);
        if (direction == 0 && columns != 0) columns &= ~other.run_of(lowest(columns));
        while (columns != 0) {
          const uint32_t its_run = other.run_of(lowest(columns));
          columns &= ~its_run;
          unite<InBlock>(nodes, pieces.node(at, run), pieces.node(there, its_run));
        }
      }
      // Elements straight above connect those across the corner.
      if ((touched.left & ~touched.straight) & 1)
        unite<InBlock>(nodes, pieces.node_at(at, 0), pieces.node_at({there.z, there.y, at.x - 1}, kWord - 1));
      if ((touched.right & ~touched.straight) >> (kWord - 1))
        unite<InBlock>(nodes, pieces.node_at(at, kWord - 1), pieces.node_at({there.z, there.y, at.x + 1}, 0));
      if (direction == 0) left_implied = touched.straight & touched.left & 1;
    }
    if (at.x > 0 && (mine.fore & 1) && joined(at)) {
      const Piece left{at.z, at.y, at.x - 1};
      if (!left_implied || !(pieces.facing(left, 0, -1) >> (kWord - 1)))
        unite<InBlock>(nodes, pieces.node_at(at, 0), pieces.node_at(left, kWord - 1));
    }
  }
  __syncthreads();
}

template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    tile_runs(Tiles<rank> tiles, const Value* __restrict__ values, Value ground, bool has_ground,
              Index* __restrict__ parent, uint32_t* fore_of_word, uint32_t* starts_of_word,
              uint8_t* mixed_tiles, Value* value_of_tile, uint32_t* __restrict__ tile_roots) {
  const Masks<Value> masks{fore_of_word, starts_of_word, mixed_tiles, value_of_tile};
  using Cell = conncomp::Cell<rank, Index>;
  constexpr int kRows = Tiles<rank>::kRows;
  CONNCOMP_DYNAMIC_SHARED(uint32_t, fore);
  uint32_t* const starts = fore + tiles.words();
  uint16_t* const nodes = reinterpret_cast<uint16_t*>(starts + tiles.words());  // a parent for each element
  __shared__ Value value_of_warp[kTileThreads / kWarp];
  __shared__ bool has_value[kTileThreads / kWarp];

  const Grid<rank>& grid = tiles.grid;
  const int64_t stride = grid.axes[rank - 1].value_stride;
  const Cell corner = tiles.template corner_of<Index>(blockIdx.x);
  const int first_word = tiles.first_word_of_bundle(int(threadIdx.x));
  const int64_t words_before = int64_t(blockIdx.x) * tiles.words();

  // Rows as words.
  Seen<Value> seen{};
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const int word = first_word + tiles.row_of_bundle(k);
    Cell cell;
    const bool exists = tiles.first_of(corner, word, cell);
    const uint32_t found = exists ? foreground(values + cell.offset, stride, tiles.width(cell.at[rank - 1]),
                                               ground, has_ground, seen)
                                  : 0;
    fore[word] = masks.fore[words_before + word] = found;
  }

  // Is there one value only?
  const uint32_t with_value = __ballot_sync(kAllLanes, seen.any);
  if (lane() == 0) has_value[threadIdx.x / kWarp] = with_value != 0;
  if (with_value != 0 && lane() == lowest(with_value)) value_of_warp[threadIdx.x / kWarp] = seen.value;
  __syncthreads();
  for (int warp = 0; warp < int(blockDim.x) / kWarp; ++warp)
    if (has_value[warp]) seen.add(value_of_warp[warp]);
  const bool mixed = __syncthreads_or(seen.differ);
  if (threadIdx.x == 0) {
    masks.mixed[blockIdx.x] = mixed;
    masks.value[blockIdx.x] = seen.value;
  }

  uint32_t roots[kRows] = {};
  const auto link = [&](auto pieces, auto&& touching, auto&& joined) {
    link_runs(pieces, nodes, touching, joined);
    for (int k = 0; k < pieces.kOfThread; ++k) {
      const Piece at = pieces.of_thread(k);
      const Runs mine = pieces.runs(at);
      for (uint32_t rest = mine.starts; rest != 0; rest &= rest - 1) {
        const Element first = pieces.first(at, mine.run_from(rest & (0 - rest)));
        const int node = first.word * kPitch + first.x;
        const int root = find<InBlock, Jump::kNone>(nodes, uint16_t(node));
        Cell mine_at, root_at;
        tiles.first_of(corner, first.word, mine_at);
        tiles.first_of(corner, root / kPitch, root_at);
        parent[mine_at.index + first.x] = root_at.index + root % kPitch;
        if (root == node)
#pragma unroll
          for (int row = 0; row < kRows; ++row)
            if (first.word == first_word + tiles.row_of_bundle(row)) roots[row] |= 1u << first.x;
      }
    }
  };
  const auto bits = [&](const auto& pieces) {
    return [&](Piece at, int dz, int dy, bool diagonal) {
      const Piece there{at.z + dz, at.y + dy, at.x};
      const bool before = diagonal && at.x > 0, after = diagonal && at.x + 1 < pieces.width();
      return touching_bits(pieces.facing(at, dz, dy), pieces.facing(there, -dz, -dy),
                           before ? pieces.facing({there.z, there.y, at.x - 1}, -dz, -dy) : 0,
                           after ? pieces.facing({there.z, there.y, at.x + 1}, -dz, -dy) : 0, diagonal);
    };
  };
  if (!mixed && tiles.full()) {
    const Pieces<true, rank> bundles{tiles, fore, starts};
    __syncthreads();
    link(bundles, bits(bundles),
         [&](Piece at) { return bool(bundles.facing({at.z, at.y, at.x - 1}, 0, 0) >> (kWord - 1)); });
  } else {
    const Pieces<false, rank> rows{tiles, fore, starts};
    for (int k = 0; k < kRows; ++k) {
      const int word = first_word + tiles.row_of_bundle(k);
      Cell cell;
      starts[word] = runs_of_ones(fore[word]).starts;
      if (!mixed) continue;
      if (tiles.first_of(corner, word, cell))
        starts[word] =
            starts_of_values(values + cell.offset, stride, tiles.width(cell.at[rank - 1]), fore[word]);
      masks.starts[words_before + word] = starts[word];
    }
    __syncthreads();
    const auto joined = [&](Piece at) { return bool(fore[rows.word(at) - 1] >> (kWord - 1)); };
    if (!mixed) {
      link(rows, bits(rows), joined);
    } else {
      const auto row_at = [&](Piece at) {
        Cell cell;
        tiles.first_of(corner, rows.word(at), cell);
        return values + cell.offset;
      };
      link(
          rows,
          [&](Piece at, int dz, int dy, bool diagonal) {
            const Piece there{at.z + dz, at.y + dy, at.x};
            const int other = rows.word(there);
            const bool before = diagonal && at.x > 0, after = diagonal && at.x + 1 < rows.width();
            return touching_values(fore[rows.word(at)], row_at(at), fore[other], row_at(there),
                                   before ? fore[other - 1] : 0, after ? fore[other + 1] : 0, stride,
                                   diagonal);
          },
          [&](Piece at) {
            const Value* const row = row_at(at);
            return joined(at) && row[0] == row[-stride];
          });
    }
  }

#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    Cell cell;
    if (tiles.first_of(corner, first_word + tiles.row_of_bundle(k), cell))
      tile_roots[tiles.number_in_array(cell)] = roots[k];
  }
}

// ---------------------------------------------------------------------------------------- across tiles

// Unites runs across the borders of tiles; a block a tile.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    join_tiles(Tiles<rank> tiles, const Value* __restrict__ values, Index* parent, uint32_t* fore_of_word,
               uint32_t* starts_of_word, uint8_t* mixed_tiles, Value* value_of_tile) {
  const Masks<Value> masks{fore_of_word, starts_of_word, mixed_tiles, value_of_tile};
  using Cell = conncomp::Cell<rank, Index>;
  const Grid<rank>& grid = tiles.grid;
  const GridAxis& line = grid.axes[rank - 1];
  const Cell corner = tiles.template corner_of<Index>(blockIdx.x);
  const Value my_value = masks.value[blockIdx.x];
  const bool my_mixed = masks.mixed[blockIdx.x];

  // A word, with its first cell and the tile that it is in.
  struct Word {
    Cell first;
    uint32_t tile;
    int64_t number;
    bool mixed;
  };
  const auto word_at = [&](const Cell& cell) {
    const uint32_t tile = tiles.tile_of(cell);
    return Word{cell, tile, (int64_t(tile) << tiles.log_words()) + tiles.word_of(cell),
                bool(masks.mixed[tile])};
  };
  // Where the run of an element stands.
  const auto index_of = [&](const Word& word, int x) {
    if (word.mixed || !tiles.full())
      return Index(word.first.index + masks.runs(word.number, word.mixed).start_of(x));
    const int local = tiles.word_of(word.first), base = tiles.bundle_of_word(local);
    const uint32_t* const fore = masks.fore + (word.number - local + base);
    uint32_t all = 0;
#pragma unroll
    for (int k = 0; k < Tiles<rank>::kRows; ++k) all |= fore[tiles.row_of_bundle(k)];
    const Element found = first_element(tiles, fore, runs_of_ones(all).run_of(x));
    // From this row of the bundle to that one.
    const int from = local - base;
    Index index = word.first.index + found.x;
    index += Index((found.word >> tiles.log_x & 1) - (from >> tiles.log_x & 1)) *
             Index(grid.axes[rank - 2].index_stride);
    if constexpr (rank > 2) {
      const int log = tiles.log_x + tiles.log_y;
      index += Index((found.word >> log & 1) - (from >> log & 1)) * Index(grid.axes[rank - 3].index_stride);
    }
    return index;
  };
  const auto same_value = [&](const Word& other, int64_t my_offset, int64_t other_offset) {
    if (my_mixed || other.mixed) return values[my_offset] == values[other_offset];
    return other.tile == blockIdx.x || masks.value[other.tile] == my_value;
  };
  // The cell so many rows further along each axis but the last; false if there is none.
  const auto move = [&](const Cell& cell, const int* step, Cell& there, bool& wraps) {
    there = cell;
    wraps = false;
#pragma unroll
    for (int k = 0; k < rank - 1; ++k) {
      if (step[k] == 0) continue;
      const Index length = Index(grid.axes[k].length);
      Index to = cell.at[k] + step[k];
      if (to < 0 || to >= length) {
        if (!grid.axes[k].periodic) return false;
        wraps = true;
        to = to < 0 ? length - 1 : Index(0);
      }
      there.move(grid, k, to - cell.at[k]);
    }
    return true;
  };

  // Elements of the first column with those of the tile to the left, wherever along the other axes they
  // touch.
  if (corner.at[rank - 1] > 0 || line.periodic) {
    const Index back = corner.at[rank - 1] > 0 ? Index(kWord) : -Index((line.length - 1) / kWord * kWord);
    const int last = corner.at[rank - 1] > 0 ? kWord - 1 : int((line.length - 1) % kWord);
    const int64_t to_last = (int64_t(last) - back) * line.value_stride;
    for (int row = int(threadIdx.x); row < tiles.words() >> tiles.log_x; row += int(blockDim.x)) {
      Cell cell;
      if (!tiles.first_of(corner, row << tiles.log_x, cell)) continue;
      const Word mine = word_at(cell);
      if (!(masks.fore[mine.number] & 1)) continue;
      // What is at a step: of the first column, and of the last one to the left.
      const auto like_mine = [&](const Word& other, int bit, int64_t offset) {
        return (masks.fore[other.number] >> bit & 1) && same_value(other, cell.offset, offset);
      };
      const auto left_of = [&](Cell there) {
        there.move(grid, rank - 1, -back);
        return word_at(there);
      };
      const Word left = left_of(cell);
      if (like_mine(left, last, cell.offset + to_last)) {
        // The row above may connect them already.
        int up[rank] = {};
        up[rank - 2] = -1;
        Cell there;
        bool wraps;
        if (move(cell, up, there, wraps) && !wraps && like_mine(word_at(there), 0, there.offset) &&
            like_mine(left_of(there), last, there.offset + to_last))
          continue;
        unite<Shared>(parent, index_of(mine, 0), index_of(left, last));
        continue;
      }
      for_each_row_around<rank>(grid.connectivity - 1, [&](const int* step) {
        Cell there;
        bool wraps;
        if (!move(cell, step, there, wraps)) return;
        const Word other = left_of(there);
        if (like_mine(other, last, there.offset + to_last) && !like_mine(word_at(there), 0, there.offset))
          unite<Shared>(parent, index_of(mine, 0), index_of(other, last));
      });
    }
  }

  // Words with those of rows before that lie in other tiles.
  for (int number = int(threadIdx.x); number < tiles.words(); number += int(blockDim.x)) {
    Cell cell;
    if (!tiles.first_of(corner, number, cell)) continue;
    for_each_row_before<rank>(grid.connectivity, [&](const int* step, int moved) {
      Cell there;
      bool wraps;
      if (!move(cell, step, there, wraps)) return;
      if (!wraps && tiles.tile_of(there) == blockIdx.x) return;
      const Word mine = word_at(cell), other = word_at(there);
      const int x = number & ((1 << tiles.log_x) - 1);
      const bool diagonal = moved < grid.connectivity;
      const uint32_t my_fore = masks.fore[mine.number], fore = masks.fore[other.number];
      const uint32_t before = diagonal && x > 0 ? masks.fore[other.number - 1] : 0;
      const uint32_t after = diagonal && x + 1 < 1 << tiles.log_x ? masks.fore[other.number + 1] : 0;
      Touching touched;
      if (my_mixed || other.mixed)
        touched = touching_values(my_fore, values + cell.offset, fore, values + there.offset, before, after,
                                  line.value_stride, diagonal);
      else if (same_value(other, 0, 0))
        touched = touching_bits(my_fore, fore, before, after, diagonal);
      else
        return;
      touched = touched.once(masks.runs(mine.number, my_mixed), masks.runs(other.number, other.mixed));
      for_each_bit(touched.straight,
                   [&](int at) { unite<Shared>(parent, index_of(mine, at), index_of(other, at)); });
      for_each_bit(touched.left | touched.right, [&](int at) {
        for (int side = -1; side <= 1; side += 2) {
          if (!((side < 0 ? touched.left : touched.right) >> at & 1)) continue;
          Cell beside = there;
          beside.move(grid, rank - 1, Index((at + side) >> 5) * kWord);  // of the next word, if it is beyond
          unite<Shared>(parent, index_of(mine, at), index_of(word_at(beside), (at + side) & (kWord - 1)));
        }
      });
    });
  }
}

// Calls body(index) for each root of a tile in a word, words being numbered along the array.
template <class Index, class Body>
__device__ inline void for_each_root(uint32_t roots, int64_t word, int64_t columns, int64_t length,
                                     Body&& body) {
  if (roots == 0) return;
  const Index row = Index(word) / Index(columns);
  const Index first = row * Index(length) + (Index(word) - row * Index(columns)) * kWord;
  for (; roots != 0; roots &= roots - 1) body(Index(first + (__ffs(int(roots)) - 1)));
}

// Points the roots of tiles to those of components, which are counted: all, and those of each kWordsOfTile.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    settle_roots(int64_t words, int64_t columns, int64_t length, const uint32_t* __restrict__ tile_roots,
                 Index* parent, int64_t* __restrict__ roots_in_tile) {
  for (int64_t tile = blockIdx.x; tile * kWordsOfTile < words; tile += gridDim.x) {
    const int64_t begin = tile * kWordsOfTile,
                  end = begin + kWordsOfTile < words ? begin + kWordsOfTile : words;
    int mine = 0, total;
    for (int64_t word = begin + threadIdx.x; word < end; word += kWordThreads)
      for_each_root<Index>(tile_roots[word], word, columns, length, [&](Index i) {
        const Index root = find<Shared, Jump::kNone>(parent, i);
        if (root == i)
          ++mine;
        else
          Shared::store(parent + i, root);
      });
    block_scan<kWordThreads>(mine, total);
    if (threadIdx.x == 0) roots_in_tile[tile] = total;
  }
}

// Gives each root of a component its number, complemented, in the order of the array.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    number_components(int64_t words, int64_t columns, int64_t length, const uint32_t* __restrict__ tile_roots,
                      const int64_t* __restrict__ roots_before, Index* parent) {
  for (int64_t tile = blockIdx.x; tile * kWordsOfTile < words; tile += gridDim.x) {
    const int64_t begin = tile * kWordsOfTile,
                  end = begin + kWordsOfTile < words ? begin + kWordsOfTile : words;
    int64_t number = 1 + roots_before[tile];
    for (int64_t row = begin; row < end; row += kWordThreads) {
      const int64_t word = row + threadIdx.x;
      const uint32_t roots = word < end ? tile_roots[word] : 0;
      int mine = 0, total;
      for_each_root<Index>(roots, word, columns, length, [&](Index i) { mine += parent[i] == i; });
      int64_t next = number + block_scan<kWordThreads>(mine, total);
      for_each_root<Index>(roots, word, columns, length, [&](Index i) {
        if (parent[i] == i) parent[i] = ~Index(next++);
      });
      number += total;
    }
  }
}

// Gives the roots of tiles the numbers of their components.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    spread_numbers(int64_t words, int64_t columns, int64_t length, const uint32_t* __restrict__ tile_roots,
                   Index* parent) {
  for (int64_t word = grid_thread(); word < words; word += grid_threads())
    for_each_root<Index>(tile_roots[word], word, columns, length, [&](Index i) {
      const Index root = Shared::load(parent + i);
      // The root itself has its number already; that of another may have been replaced by its own.
      if (root >= 0) Shared::store(parent + i, Shared::load(parent + root));
    });
}

// Writes the label of every element; a block a tile. Runs and roots of tiles keep theirs where others look
// them up: a root's entry is its label, or complemented, from the start.
template <bool consecutive, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    write_labels(Tiles<rank> tiles, Index* label, uint32_t* fore_of_word, uint32_t* starts_of_word,
                 uint8_t* mixed_tiles) {
  const Masks<uint8_t> masks{fore_of_word, starts_of_word, mixed_tiles, nullptr};
  using Cell = conncomp::Cell<rank, Index>;
  constexpr int kRows = Tiles<rank>::kRows;
  const Cell corner = tiles.template corner_of<Index>(blockIdx.x);
  const bool mixed = masks.mixed[blockIdx.x], bundled = !mixed && tiles.full();
  // The bundles of this warp: a lane loads the words of one, and then all write them, one after another.
  const int first_word = tiles.first_word_of_bundle(int(threadIdx.x));
  const int64_t words_before = int64_t(blockIdx.x) * tiles.words();
  Runs runs[kRows];
#pragma unroll
  for (int k = 0; k < kRows; ++k)
    runs[k] = masks.runs(words_before + first_word + tiles.row_of_bundle(k), mixed);

  for (int first = 0; first < kWarp; first += kAtOnce) {
    Index at[kAtOnce][kRows], found[kAtOnce][kRows];
    uint32_t exists = 0;
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      const int word = tiles.first_word_of_bundle(int(threadIdx.x) - lane() + first + b);
      Runs row[kRows];
      uint32_t all = 0;
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        row[k].fore = __shfl_sync(kAllLanes, runs[k].fore, first + b);
        row[k].starts = bundled ? 0 : __shfl_sync(kAllLanes, runs[k].starts, first + b);
        all |= row[k].fore;
        Cell cell;
        const bool here = tiles.first_of(corner, word + tiles.row_of_bundle(k), cell);
        at[b][k] = cell.index + lane();
        if (here && lane() < tiles.width(cell.at[rank - 1])) exists |= 1u << (b * kRows + k);
        found[b][k] = -1;
      }
      if (bundled) {
        if (all >> lane() & 1) {
          const uint32_t run = runs_of_ones(all).run_of(lane());
          Index where = 0;
#pragma unroll
          for (int k = kRows - 1; k >= 0; --k)
            if ((row[k].fore & run) != 0) where = at[b][k] - lane() + lowest(row[k].fore & run);
          const Index root = Shared::load(label + where);
#pragma unroll
          for (int k = 0; k < kRows; ++k)
            if (row[k].fore >> lane() & 1) found[b][k] = root;
        }
      } else {
#pragma unroll
        for (int k = 0; k < kRows; ++k)
          if (row[k].fore >> lane() & 1)
            found[b][k] = Shared::load(label + at[b][k] - lane() + row[k].start_of(lane()));
      }
    }
    // All have read the starts of these runs before one is overwritten.
    __syncwarp();
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b)
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        if (found[b][k] >= 0) found[b][k] = Shared::load(label + found[b][k]);
        // Background is -1, whose complement is 0; a number is complemented unless it is written already.
        if (consecutive && found[b][k] < 0) found[b][k] = ~found[b][k];
        if (exists >> (b * kRows + k) & 1) Shared::store(label + at[b][k], found[b][k]);
      }
  }
}

}  // namespace conncomp
