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
// Cost: the array is read once and labels are written once; beyond that, two to four bits an element, and 4
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

constexpr int kTileThreads = 128;  // of a block at most: a thread for each bundle of a tile
constexpr int kPitch = kWord + 2;  // from word to word in shared memory: threads at one column use all banks
constexpr int kWordThreads = 256;  // a thread for each word
constexpr int kAtOnce = 4;         // bundles that a warp writes, or roots that a thread settles, at once
constexpr int kPairs = 8;          // that a thread may put off
constexpr int kHalvings = 3;       // of paths in a tile, before unions

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
      const uint32_t count = along(k);
      cell.move(grid, k, Index(tile % count) << log_of(k));
      tile /= count;
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

  // Words of a tile are numbered as they lie there.
  __device__ int word(int z, int y, int x) const { return (((z << log_y) + y) << log_x) + x; }
  __device__ int x_of(int word) const { return word & ((1 << log_x) - 1); }
  __device__ int y_of(int word) const { return word >> log_x & ((1 << log_y) - 1); }
  __device__ int z_of(int word) const { return rank > 2 ? word >> (log_x + log_y) : 0; }
  template <class Index>
  __device__ int word_of(const Cell<rank, Index>& cell) const {
    int z = 0;
    if constexpr (rank > 2) z = int(cell.at[rank - 3] & ((1 << log_z) - 1));
    return word(z, int(cell.at[rank - 2] & ((1 << log_y) - 1)), x_of(int(cell.at[rank - 1] / kWord)));
  }
  // The first cell of a word, and whether that is in the array.
  template <class Index>
  __device__ bool first_of(const Cell<rank, Index>& corner, int word, Cell<rank, Index>& cell) const {
    cell = corner;
    cell.move(grid, rank - 1, Index(x_of(word) * kWord));
    cell.move(grid, rank - 2, Index(y_of(word)));
    bool exists =
        cell.at[rank - 1] < grid.axes[rank - 1].length && cell.at[rank - 2] < grid.axes[rank - 2].length;
    if constexpr (rank > 2) {
      cell.move(grid, rank - 3, Index(z_of(word)));
      exists &= cell.at[rank - 3] < grid.axes[rank - 3].length;
    }
    return exists;
  }
  template <class Index>
  __device__ Index index_of(const Cell<rank, Index>& corner, int word) const {
    Index index = corner.index + Index(x_of(word) * kWord) +
                  Index(y_of(word)) * Index(grid.axes[rank - 2].index_stride);
    if constexpr (rank > 2) index += Index(z_of(word)) * Index(grid.axes[rank - 3].index_stride);
    return index;
  }

  // Bundles are numbered in the same way. Their rows lie at word_of_row(k) beside the first.
  __device__ int word_of_bundle(int bundle) const {
    const int rest = bundle >> log_x, high = log_y - 1;
    return word((rest >> high) * kDeep, (rest & ((1 << high) - 1)) * kHigh, x_of(bundle));
  }
  __device__ int word_of_row(int k) const { return word(k / kHigh, k % kHigh, 0); }

  // The number of a cell's word, counted along the array.
  template <class Index>
  __device__ Index number_in_array(const Cell<rank, Index>& cell) const {
    Index row = 0;
#pragma unroll
    for (int k = 0; k < rank - 1; ++k) row = row * Index(grid.axes[k].length) + cell.at[k];
    return row * Index((grid.axes[rank - 1].length + kWord - 1) / kWord) + cell.at[rank - 1] / kWord;
  }

  // Whether all elements that touch are neighbours.
  __device__ bool full() const { return grid.connectivity >= rank; }
  __device__ int width(int64_t x) const {
    const int64_t rest = grid.axes[rank - 1].length - x;
    return int(rest < kWord ? rest : kWord);
  }
};

// Pairs to be united, in shared memory. Threads come upon them at different times; if each united its own at
// once, the others of its warp would wait. There is room for a few pairs of each thread.
template <class Index>
struct Pairs {
  Index first[kPairs * kTileThreads], second[kPairs * kTileThreads];
  int count;

  __device__ int capacity() const { return kPairs * int(blockDim.x); }

  // False if there is no room left.
  __device__ bool add(Index a, Index b) {
    const int at = InBlock::fetch_add(&count, 1);
    if (at >= capacity()) return false;
    first[at] = a;
    second[at] = b;
    return true;
  }
  // Calls body(a, b) for all pairs. All threads of the block call.
  template <class Body>
  __device__ void for_each(Body&& body) const {
    __syncthreads();
    const int stored = count < capacity() ? count : capacity();
    for (int begin = 0; begin < stored; begin += int(blockDim.x)) {
      const int k = begin + int(threadIdx.x);
      if (k < stored) body(first[k], second[k]);
      __syncwarp();
    }
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

// ------------------------------------------------------------------------------------------ steps to rows

// Calls body(steps, axes moved along) for rows beside a row: the coordinates along the axes but the last
// differ by one along at least one axis and at most `connectivity` axes. Steps are the digits of base 3, less
// one, of the numbers from `first` to `end`.
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

// What is linked in a tile: bundles, or rows for themselves. Both are called pieces here and are numbered
// along each axis.
struct Place {
  int z, y, x;
};
template <bool bundled, int rank>
struct Pieces {
  const Tiles<rank>& tiles;
  const uint32_t* fore;  // of the tile's words, in shared memory
  const uint32_t* starts;

  static constexpr int kHigh = bundled ? Tiles<rank>::kHigh : 1, kDeep = bundled ? Tiles<rank>::kDeep : 1;
  static constexpr int kOfThread = bundled ? 1 : Tiles<rank>::kRows;
  using Rows = Bundle<kHigh, kDeep>;

  __device__ int height() const { return (1 << tiles.log_y) / kHigh; }
  __device__ int width() const { return 1 << tiles.log_x; }
  __device__ int word(Place at) const { return tiles.word(at.z * kDeep, at.y * kHigh, at.x); }
  __device__ Place place_of(int word) const {
    return {tiles.z_of(word) / kDeep, tiles.y_of(word) / kHigh, tiles.x_of(word)};
  }
  __device__ bool contains(Place at) const {
    return at.z >= 0 && at.y >= 0 && at.y < height() && at.x >= 0 && at.x < width();
  }
  __device__ Rows rows(Place at) const {
    Rows found;
#pragma unroll
    for (int k = 0; k < Rows::kRows; ++k) found.row[k] = fore[word(at) + tiles.word(k / kHigh, k % kHigh, 0)];
    return found;
  }
  __device__ Runs runs(Place at, const Rows& rows) const {
    if constexpr (bundled)
      return runs_of_ones(rows.all());
    else
      return {rows.row[0], starts[word(at)]};
  }
  // Where a run stands: a row of the bundle, and the entry of its first element.
  __device__ uint16_t node(Place at, const Rows& rows, uint32_t run) const {
    const auto first = rows.first(run);
    return uint16_t((word(at) + tiles.word(first.row / kHigh, first.row % kHigh, 0)) * kPitch + first.x);
  }
  __device__ uint16_t node_at(Place at, int x) const {
    const Rows found = rows(at);
    return node(at, found, runs(at, found).run_of(1u << x));
  }
  // What a piece touches of the one at a distance, as far as bits tell.
  __device__ Touching touching(Place at, const Rows& mine, int dz, int dy, bool diagonal) const {
    const Place there{at.z + dz, at.y + dy, at.x};
    const auto beside = [&](int x) {
      return diagonal && x >= 0 && x < width() ? rows({there.z, there.y, x}).facing(-dz, -dy) : 0;
    };
    return touching_bits(mine.facing(dz, dy), rows(there).facing(-dz, -dy), beside(at.x - 1),
                         beside(at.x + 1), diagonal);
  }
};

// Links the runs of a tile in shared memory; `entries` get the first elements of runs in the rows of this
// thread. by_value(k, dz, dy, touching) leaves of what its k-th piece touches what is of the same value;
// all threads of a warp call it.
template <bool bundled, int rank, class ByValue>
__device__ inline void link_runs(const Pieces<bundled, rank>& pieces, int first_word, uint16_t* nodes,
                                 Pairs<uint16_t>& pairs, uint32_t (&entries)[Tiles<rank>::kRows],
                                 ByValue&& by_value) {
  using Set = Pieces<bundled, rank>;
  using Rows = typename Set::Rows;
  const Tiles<rank>& tiles = pieces.tiles;
  const int64_t connectivity = tiles.grid.connectivity;

  // Calls put(entry, entry) for the ends of a piece's words, where they touch words beside the one `there`.
  const auto put_corners = [&](Place at, Place there, const Touching& touched, auto&& put) {
    if (touched.before()) put(pieces.node_at(at, 0), pieces.node_at({there.z, there.y, at.x - 1}, kWord - 1));
    if (touched.after()) put(pieces.node_at(at, kWord - 1), pieces.node_at({there.z, there.y, at.x + 1}, 0));
  };

  // Whether a row goes on from the word to its left.
  const auto goes_on = [&](int k, Place at, const Runs& runs) {
    Touching beside{0, 0, 0};
    if (at.x > 0) beside.left = runs.fore & 1 & pieces.rows({at.z, at.y, at.x - 1}).all() >> (kWord - 1);
    return by_value(k, 0, 0, beside).left != 0;
  };

  // Each run under the first one that it touches in the piece before, whose elements all come before; what
  // else it touches is put off.
  constexpr int kZ = rank > 2 ? -1 : 0, kY = rank > 2 ? 0 : -1;
  bool late = false;  // there was no room for a pair
  const auto put_off = [&](uint16_t a, uint16_t b) { late |= !pairs.add(a, b); };
#pragma unroll 1
  for (int k = 0; k < Set::kOfThread; ++k) {
    const Place at = pieces.place_of(first_word + tiles.word_of_row(k)), left{at.z, at.y, at.x - 1};
    const Place before{at.z + kZ, at.y + kY, at.x};
    const Rows mine = pieces.rows(at);
    const Runs runs = pieces.runs(at, mine);
    Touching touched{0, 0, 0};
    Rows other{};
    Runs other_runs{0, 0};
    if (pieces.contains(before)) {
      touched = pieces.touching(at, mine, kZ, kY, connectivity > 1);
      other = pieces.rows(before);
      other_runs = pieces.runs(before, other);
    }
    touched = by_value(k, kZ, kY, touched);
    const uint32_t starts[] = {runs.starts};
    for_each_bit_together(starts, [&](int, uint32_t start) {
      const uint32_t run = runs.run_from(start);
      const auto first = mine.first(run);
      const uint16_t node = pieces.node(at, mine, run);
#pragma unroll
      for (int row = 0; row < Tiles<rank>::kRows; ++row)
        if (row == (bundled ? first.row : k)) entries[row] |= 1u << first.x;
      uint16_t under = node;
      for (uint32_t columns = touched.columns(run); columns != 0;) {
        const uint32_t its_run = other_runs.run_of(lowest_bit(columns));
        columns &= ~its_run;
        const uint16_t entry = pieces.node(before, other, its_run);
        if (under == node)
          under = entry;
        else
          put_off(node, entry);
      }
      nodes[node] = under;
    });
    put_corners(at, before, touched, put_off);
    // Two by two elements that are all set: those before connect what comes here.
    if (goes_on(k, at, runs) &&
        !((touched.straight & touched.left & 1) && pieces.rows(left).facing(kZ, kY) >> (kWord - 1)))
      put_off(pieces.node_at(at, 0), pieces.node_at(left, kWord - 1));
  }
  // That makes paths as long as the tile. Each round halves all of them.
  bool changed = true;
  for (int round = 0; __syncthreads_or(changed) && round < kHalvings; ++round) {
    changed = false;
    for_each_bit_together(entries, [&](int k, uint32_t bit) {
      const int node = (first_word + tiles.word_of_row(k)) * kPitch + lowest(bit);
      const uint16_t under = InBlock::load(nodes + node), next = InBlock::load(nodes + under);
      if (next == under) return;
      InBlock::store(nodes + node, next);
      changed = true;
    });
  }

  // What they touch of other pieces before, and all again if there was no room.
  const auto put_or_unite = [&](uint16_t a, uint16_t b) {
    if (!pairs.add(a, b)) unite<InBlock>(nodes, a, b);
  };
  const bool again = __any_sync(kAllLanes, late);
#pragma unroll 1
  for (int k = 0; k < Set::kOfThread; ++k) {
    const Place at = pieces.place_of(first_word + tiles.word_of_row(k)), left{at.z, at.y, at.x - 1};
    const Rows mine = pieces.rows(at);
    const Runs runs = pieces.runs(at, mine);
    for (int direction = again ? 0 : 1; direction < (rank > 2 ? 4 : 1); ++direction) {
      // The first one is that of above.
      const int dz = direction == 3 ? 0 : kZ;
      const int dy = direction == 0 ? kY : direction == 1 ? 1 : -1;
      const int moved = (dz != 0) + (dy != 0);
      if (moved > connectivity) continue;
      const Place there{at.z + dz, at.y + dy, at.x};
      Touching touched{0, 0, 0};
      Rows other{};
      Runs other_runs{0, 0};
      if (pieces.contains(there)) {
        touched = pieces.touching(at, mine, dz, dy, moved < connectivity);
        other = pieces.rows(there);
        other_runs = pieces.runs(there, other);
      }
      touched = by_value(k, dz, dy, touched);
      for_each_contact(runs, other_runs, touched, direction == 0, [&](uint32_t run, uint32_t its_run) {
        put_or_unite(pieces.node(at, mine, run), pieces.node(there, other, its_run));
      });
      put_corners(at, there, touched, put_or_unite);
    }
    if (again && goes_on(k, at, runs)) put_or_unite(pieces.node_at(at, 0), pieces.node_at(left, kWord - 1));
  }
  pairs.for_each([&](uint16_t a, uint16_t b) { unite<InBlock>(nodes, a, b); });
  __syncthreads();
}

// In two dimensions, blocks that run beside each other are worth more than registers.
template <int rank>
CONNCOMP_ANYWHERE constexpr int blocks_beside() {
  return rank > 2 ? 1 : resident_blocks(kTileThreads) < 10 ? resident_blocks(kTileThreads) : 10;
}

template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads, blocks_beside<rank>())
    tile_runs(Tiles<rank> tiles, const Value* __restrict__ values, Value ground, bool has_ground,
              Index* __restrict__ parent, uint32_t* fore_of_word, uint32_t* starts_of_word,
              uint8_t* mixed_tiles, Value* value_of_tile, uint32_t* __restrict__ tile_roots,
              int64_t* components) {
  using Cell = conncomp::Cell<rank, Index>;
  const Masks<Value> masks{fore_of_word, starts_of_word, mixed_tiles, value_of_tile};
  constexpr int kRows = Tiles<rank>::kRows;
  CONNCOMP_DYNAMIC_SHARED(uint32_t, fore);
  uint32_t* const starts = fore + tiles.words();
  uint16_t* const nodes = reinterpret_cast<uint16_t*>(starts + tiles.words());  // a parent for each element
  __shared__ Value value_of_warp[kTileThreads / kWarp];
  __shared__ bool has_value[kTileThreads / kWarp];
  __shared__ Pairs<uint16_t> pairs;

  const Grid<rank>& grid = tiles.grid;
  const int64_t stride = grid.axes[rank - 1].value_stride;
  const Cell corner = tiles.template corner_of<Index>(blockIdx.x);
  const int first_word = tiles.word_of_bundle(int(threadIdx.x));
  const int64_t words_before = int64_t(blockIdx.x) * tiles.words();
  if (grid_thread() == 0) *components = 0;
  if (threadIdx.x == 0) pairs.count = 0;

  // Rows as words.
  Cell cell[kRows];
  int width[kRows];
  bool in_chunks_all = sizeof(Value) == 1 && has_ground;
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    const bool exists = tiles.first_of(corner, first_word + tiles.word_of_row(k), cell[k]);
    width[k] = exists ? tiles.width(cell[k].at[rank - 1]) : 0;
    in_chunks_all &= in_chunks(values + cell[k].offset, stride, width[k]);
  }
  Seen<Value> seen{};
  const bool bytes = __all_sync(kAllLanes, in_chunks_all);
  if (bytes) {
    if constexpr (sizeof(Value) == 1) {
      Chunk chunks[kRows][kChunks];
#pragma unroll
      for (int k = 0; k < kRows; ++k)
#pragma unroll
        for (int c = 0; c < kChunks; ++c)
          chunks[k][c] = reinterpret_cast<const Chunk*>(values + cell[k].offset)[c];
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        fore[first_word + tiles.word_of_row(k)] = foreground_bytes(chunks[k], ground, seen);
    }
  } else {
    for (int k = 0; k < kRows; ++k) {
      const int word = first_word + tiles.word_of_row(k);
      Cell at;
      const bool exists = tiles.first_of(corner, word, at);
      const Runs runs = read_rows(values, at.offset, stride, exists ? tiles.width(at.at[rank - 1]) : 0,
                                  ground, has_ground, seen);
      fore[word] = runs.fore;
      starts[word] = runs.starts;
    }
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
  const bool bundled = !mixed && tiles.full();
  for (int k = 0; k < kRows; ++k) {
    const int word = first_word + tiles.word_of_row(k);
    masks.fore[words_before + word] = fore[word];
    if (bundled) continue;
    if (!mixed) {
      starts[word] = runs_of_ones(fore[word]).starts;
      continue;
    }
    if (bytes) {
      Cell at;
      tiles.first_of(corner, word, at);
      starts[word] = read_rows(values, at.offset, stride, kWord, ground, has_ground, seen).starts;
    }
    masks.starts[words_before + word] = starts[word];
  }
  __syncthreads();

  uint32_t entries[kRows] = {};
  if (bundled)
    link_runs(Pieces<true, rank>{tiles, fore, starts}, first_word, nodes, pairs, entries,
              [](int, int, int, const Touching& touched) { return touched; });
  else
    link_runs(Pieces<false, rank>{tiles, fore, starts}, first_word, nodes, pairs, entries,
              [&](int k, int dz, int dy, const Touching& touched) {
                if (!mixed) return touched;
                Cell at;
                tiles.first_of(corner, first_word + tiles.word_of_row(k), at);
                // In a row itself it is one element that each thread compares.
                if (dz == 0 && dy == 0)
                  return touching_values(touched, values + at.offset, values + at.offset, stride);
                int64_t step = dy * grid.axes[rank - 2].value_stride;
                if constexpr (rank > 2) step += dz * grid.axes[rank - 3].value_stride;
                return touching_rows(touched, values, at.offset, step, stride);
              });

  // The roots, as indices of the array. What is left of the entries are roots.
  for_each_bit_together(entries, [&](int k, uint32_t bit) {
    const int word = first_word + tiles.word_of_row(k), node = word * kPitch + lowest(bit);
    const int root = find<InBlock, Jump::kNone>(nodes, uint16_t(node));
    parent[tiles.index_of(corner, word) + lowest(bit)] =
        tiles.index_of(corner, root / kPitch) + root % kPitch;
    if (root == node) return;
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      if (row == k) entries[row] ^= bit;
  });
#pragma unroll
  for (int k = 0; k < kRows; ++k) {
    Cell at;
    if (tiles.first_of(corner, first_word + tiles.word_of_row(k), at))
      tile_roots[tiles.number_in_array(at)] = entries[k];
  }
}

// ---------------------------------------------------------------------------------------- across tiles

// Unites the runs of a tile with those of tiles before, piece by piece: bundles with bundles of the same
// value, and rows where there is something else on either side, or the border of the array between.
template <bool bundled, class Value, int rank, class Index>
struct Joining {
  using Cell = conncomp::Cell<rank, Index>;
  static constexpr int kHigh = bundled ? Tiles<rank>::kHigh : 1, kDeep = bundled ? Tiles<rank>::kDeep : 1;
  using Rows = Bundle<kHigh, kDeep>;

  const Tiles<rank>& tiles;
  const Value* values;
  Index* parent;
  const Masks<Value>& masks;
  uint32_t tile;
  Pairs<Index>& pairs;

  // A piece: its first cell, and the number of its first word.
  struct Piece {
    Cell cell;
    uint32_t tile;
    int64_t word;
    bool mixed;
  };
  __device__ Piece piece_at(const Cell& cell) const {
    const uint32_t in = tiles.tile_of(cell);
    return {cell, in, (int64_t(in) << tiles.log_words()) + tiles.word_of(cell), bool(masks.mixed[in])};
  }
  __device__ Rows rows(const Piece& at) const {
    Rows found;
#pragma unroll
    for (int k = 0; k < Rows::kRows; ++k)
      found.row[k] = masks.fore[at.word + tiles.word(k / kHigh, k % kHigh, 0)];
    return found;
  }
  __device__ Runs runs(const Piece& at, const Rows& rows) const {
    return bundled ? runs_of_ones(rows.all()) : masks.runs(at.word, at.mixed);
  }
  // The piece at so many steps along each axis but the last; false if there is none.
  __device__ bool move(const Cell& cell, const int* step, Cell& there, bool& wraps) const {
    there = cell;
    wraps = false;
#pragma unroll
    for (int k = 0; k < rank - 1; ++k) {
      if (step[k] == 0) continue;
      const Index length = Index(tiles.grid.axes[k].length);
      Index to = cell.at[k] + step[k] * (k == rank - 2 ? kHigh : k == rank - 3 ? kDeep : 1);
      if (to < 0 || to >= length) {
        if (!tiles.grid.axes[k].periodic) return false;
        wraps = true;
        to = to < 0 ? length - 1 : Index(0);
      }
      there.move(tiles.grid, k, to - cell.at[k]);
    }
    return true;
  }
  // Whether two pieces are for this way of joining.
  __device__ bool takes(const Piece& mine, const Piece& other, bool wraps) const {
    return bundled == (tiles.full() && !mine.mixed && !other.mixed && !wraps);
  }
  // Whether two elements are of the same value, if both are foreground.
  __device__ bool same_value(const Piece& mine, int64_t my_offset, const Piece& other, int64_t offset) const {
    if (mine.mixed || other.mixed) return !bundled && values[my_offset] == values[offset];
    return mine.tile == other.tile || masks.value[mine.tile] == masks.value[other.tile];
  }
  static __device__ uint32_t facing(const Rows& rows, const int* step, int sign) {
    return rows.facing(rank > 2 ? sign * step[rank > 2 ? rank - 3 : 0] : 0, sign * step[rank - 2]);
  }

  // The index of the run of an element: its first one is in this row, or anywhere in its bundle.
  __device__ Index index_of(const Piece& at, int x) const {
    if (at.mixed || !tiles.full()) return at.cell.index + masks.runs(at.word, at.mixed).start_of(x);
    const int64_t y = at.cell.at[rank - 2] & 1, z = rank > 2 ? at.cell.at[rank > 2 ? rank - 3 : 0] & 1 : 0;
    const int64_t word = at.word - tiles.word(int(z), int(y), 0);
    Bundle<Tiles<rank>::kHigh, Tiles<rank>::kDeep> all;
#pragma unroll
    for (int k = 0; k < all.kRows; ++k) all.row[k] = masks.fore[word + tiles.word_of_row(k)];
    const auto first = all.first(runs_of_ones(all.all()).run_of(1u << x));
    Index index = at.cell.index + first.x;
    index += Index(first.row % Tiles<rank>::kHigh - y) * Index(tiles.grid.axes[rank - 2].index_stride);
    if constexpr (rank > 2)
      index += Index(first.row / Tiles<rank>::kHigh - z) * Index(tiles.grid.axes[rank - 3].index_stride);
    return index;
  }
  // The same for an element given by its index, or that of one in the first row of its bundle.
  __device__ Index entry_of(Index element) const {
    Cell cell{};
    int x = 0;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      const Index length = Index(tiles.grid.axes[k].length);
      Index at = element % length;
      element /= length;
      if (k == rank - 1) {
        x = int(at % kWord);
        at -= x;
      }
      cell.move(tiles.grid, k, at);
    }
    return index_of(piece_at(cell), x);
  }
  __device__ void unite_elements(Index a, Index b) const { unite<Shared>(parent, entry_of(a), entry_of(b)); }
  // Elements are given by column, in the first row of their pieces.
  __device__ void put_off(const Piece& mine, int x, const Piece& other, int its_x) const {
    const Index a = mine.cell.index + x, b = other.cell.index + its_x;
    if (!pairs.add(a, b)) unite_elements(a, b);
  }

  // The first column with the last one of the tile to the left.
  __device__ void join_left(const Piece& mine, const Rows& my_rows) const {
    const GridAxis& line = tiles.grid.axes[rank - 1];
    const bool wraps_x = mine.cell.at[rank - 1] == 0;
    if (wraps_x && !line.periodic) return;
    const Index back = wraps_x ? -Index((line.length - 1) / kWord * kWord) : Index(kWord);
    const int last = wraps_x ? int((line.length - 1) % kWord) : kWord - 1;
    const auto left_of = [&](Cell there) {
      there.move(tiles.grid, rank - 1, -back);
      return piece_at(there);
    };
    // Whether rows of a piece, those on one side, have a value like mine in a column.
    const auto like_mine = [&](const Piece& other, int column, const int* step, int sign) {
      return (facing(rows(other), step, sign) >> column & 1) &&
             same_value(mine, mine.cell.offset, other, other.cell.offset + column * line.value_stride);
    };
    const Piece left = left_of(mine.cell);
    const int none[rank] = {};
    if ((my_rows.all() & 1) && takes(mine, left, false) && like_mine(left, last, none, 0)) {
      // Four elements that are all set: those above connect what comes here.
      int up[rank] = {};
      up[rank - 2] = -1;
      Cell there;
      bool wraps, implied = false;
      if (move(mine.cell, up, there, wraps) && !wraps)
        implied = (facing(my_rows, up, 1) & 1) && like_mine(piece_at(there), 0, up, -1) &&
                  like_mine(left, last, up, 1) && like_mine(left_of(there), last, up, -1);
      if (!implied) put_off(mine, 0, left, last);
    }
    for_each_row_around<rank>(tiles.grid.connectivity - 1, [&](const int* step) {
      Cell there;
      bool wraps;
      if (!(facing(my_rows, step, 1) & 1) || !move(mine.cell, step, there, wraps)) return;
      const Piece other = left_of(there);
      // Elements between the two connect them.
      if (takes(mine, other, wraps) && like_mine(other, last, step, -1) && !like_mine(left, last, step, 1) &&
          !like_mine(piece_at(there), 0, step, -1))
        put_off(mine, 0, other, last);
    });
  }

  // A piece, if there is one, with those of rows before that lie in other tiles. All threads of a warp call.
  __device__ void join_before(bool exists, const Piece& mine, const Rows& my_rows) const {
    const Grid<rank>& grid = tiles.grid;
    const int64_t stride = grid.axes[rank - 1].value_stride;
    for_each_row_before<rank>(grid.connectivity, [&](const int* step, int moved) {
      Cell there;
      bool wraps;
      const uint32_t my_fore = facing(my_rows, step, 1);
      Touching touched{0, 0, 0};
      Piece other{};
      Rows its_rows{};
      const auto beside = [&](int side) {
        Piece next = other;
        next.word += side;
        next.cell.move(grid, rank - 1, Index(side * kWord));
        return next;
      };
      if (exists && my_fore != 0 && move(mine.cell, step, there, wraps)) {
        other = piece_at(there);
        const bool by_value = mine.mixed || other.mixed;
        if ((other.tile != tile || wraps) && takes(mine, other, wraps) &&
            (by_value || same_value(mine, 0, other, 0))) {
          const int x = tiles.x_of(tiles.word_of(mine.cell));
          const bool diagonal = moved < grid.connectivity;
          its_rows = rows(other);
          touched = touching_bits(
              my_fore, facing(its_rows, step, -1), diagonal && x > 0 ? facing(rows(beside(-1)), step, -1) : 0,
              diagonal && x + 1 < 1 << tiles.log_x ? facing(rows(beside(1)), step, -1) : 0, diagonal);
          if (by_value)
            touched = touching_values(touched, values + mine.cell.offset, values + there.offset, stride);
        }
      }
      const bool touches = (touched.straight | touched.left | touched.right) != 0;
      for_each_contact(
          touches ? runs(mine, my_rows) : Runs{0, 0}, touches ? runs(other, its_rows) : Runs{0, 0}, touched,
          false, [&](uint32_t run, uint32_t its_run) { put_off(mine, lowest(run), other, lowest(its_run)); });
      if (touched.before()) put_off(mine, 0, beside(-1), kWord - 1);
      if (touched.after()) put_off(mine, kWord - 1, beside(1), 0);
    });
  }

  __device__ Piece piece_of(const Cell& corner, int piece, bool& exists) const {
    const int word = bundled ? tiles.word_of_bundle(piece) : piece;
    Cell cell;
    exists &= tiles.first_of(corner, word, cell);
    return {cell, tile, (int64_t(tile) << tiles.log_words()) + word, bool(masks.mixed[tile])};
  }
  __device__ void join(const Cell& corner) const {
    const int pieces = tiles.words() / Rows::kRows, columns = 1 << tiles.log_x, lefts = pieces / columns;
    for (int k = int(threadIdx.x); k < lefts; k += int(blockDim.x)) {
      bool exists = true;
      const Piece mine = piece_of(corner, k * columns, exists);
      if (!exists) continue;
      const Rows my_rows = rows(mine);
      if (my_rows.all() != 0) join_left(mine, my_rows);
    }
    __syncwarp();
    // In two dimensions, only pieces of the first row have a row before in another tile. Threads that had no
    // piece of the first column come first.
    const int tops = rank == 2 ? columns : pieces;
    for (int begin = 0; begin < tops; begin += int(blockDim.x)) {
      const int k = begin + (int(threadIdx.x) + lefts) % int(blockDim.x);
      bool exists = k < tops;
      const Piece mine = piece_of(corner, exists ? k : 0, exists);
      join_before(exists, mine, exists ? rows(mine) : Rows{});
    }
  }
};

// Whether some pieces of a tile must be joined as rows. All threads of the block call.
template <class Value, int rank, class Index>
__device__ inline bool joins_rows(const Tiles<rank>& tiles, const Masks<Value>& masks,
                                  const Cell<rank, Index>& corner) {
  bool found = !tiles.full() || masks.mixed[blockIdx.x];
#pragma unroll
  for (int k = 0; k < rank; ++k) found |= bool(tiles.grid.axes[k].periodic);
  if (!found)
    for (int code = int(threadIdx.x); code < power_of_3(rank); code += int(blockDim.x)) {
      Cell<rank, Index> there = corner;
      bool exists = true;
      int rest = code;
#pragma unroll
      for (int k = 0; k < rank; ++k) {
        there.move(tiles.grid, k, Index(rest % 3 - 1) << tiles.log_of(k));
        rest /= 3;
        exists &= there.at[k] >= 0 && there.at[k] < tiles.grid.axes[k].length;
      }
      if (exists) found |= bool(masks.mixed[tiles.tile_of(there)]);
    }
  return __syncthreads_or(found);
}

// A block a tile.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    join_tiles(Tiles<rank> tiles, const Value* __restrict__ values, Index* parent, uint32_t* fore_of_word,
               uint32_t* starts_of_word, uint8_t* mixed_tiles, Value* value_of_tile) {
  const Masks<Value> masks{fore_of_word, starts_of_word, mixed_tiles, value_of_tile};
  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  __shared__ Pairs<Index> pairs;
  if (threadIdx.x == 0) pairs.count = 0;
  const bool by_rows = joins_rows(tiles, masks, corner);
  if (tiles.full() && !masks.mixed[blockIdx.x])
    Joining<true, Value, rank, Index>{tiles, values, parent, masks, blockIdx.x, pairs}.join(corner);
  const Joining<false, Value, rank, Index> rows{tiles, values, parent, masks, blockIdx.x, pairs};
  if (by_rows) rows.join(corner);
  pairs.for_each([&](Index a, Index b) { rows.unite_elements(a, b); });
}

// The index of the first element of a word, words being numbered along the array.
template <class Index>
__device__ inline Index first_of_word(int64_t word, int64_t columns, int64_t length) {
  const Index row = Index(word) / Index(columns);
  return row * Index(length) + (Index(word) - row * Index(columns)) * kWord;
}

// Points the roots of tiles to those of components, which are counted: all, and those of each chunk of so
// many words. If `moved` is not null, it gets those that are none of a component, and tile_roots keeps the
// others.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    settle_roots(int64_t words, int64_t columns, int64_t length, int64_t chunk, uint32_t* tile_roots,
                 uint32_t* moved, Index* parent, int64_t* __restrict__ roots_in_chunk, int64_t* components) {
  for (int64_t number = blockIdx.x; number * chunk < words; number += gridDim.x) {
    const int64_t begin = number * chunk, end = begin + chunk < words ? begin + chunk : words;
    int mine = 0, total;
    for (int64_t word = begin + threadIdx.x; word < end; word += kWordThreads) {
      const uint32_t roots = tile_roots[word];
      const Index first = roots != 0 ? first_of_word<Index>(word, columns, length) : 0;
      uint32_t gone = 0;
      for (uint32_t rest = roots; rest != 0;) {
        // The parents of several are loaded at once: they come from afar.
        int x[kAtOnce];
        Index above[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k, rest &= rest - 1) {
          x[k] = rest != 0 ? lowest(rest) : -1;
          if (rest != 0) above[k] = Shared::load(parent + first + x[k]);
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const Index i = first + x[k];
          if (x[k] < 0 || above[k] == i) continue;
          Shared::store(parent + i, find_from<Shared, Jump::kNone>(parent, i, above[k]));
          gone |= 1u << x[k];
        }
      }
      mine += __popc(roots & ~gone);
      if (moved == nullptr) continue;
      moved[word] = gone;
      tile_roots[word] = roots & ~gone;
    }
    block_scan<kWordThreads>(mine, total);
    if (threadIdx.x != 0) continue;
    roots_in_chunk[number] = total;
    Shared::fetch_add(components, int64_t(total));
  }
}

// Calls body(index) for each element of a word that has its bit set.
template <class Index, class Body>
__device__ inline void for_each_element(uint32_t bits, int64_t word, int64_t columns, int64_t length,
                                        Body&& body) {
  if (bits == 0) return;
  const Index first = first_of_word<Index>(word, columns, length);
  for (; bits != 0; bits &= bits - 1) body(Index(first + lowest(bits)));
}

// Gives each root of a component its number, complemented, in the order of the array.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    number_components(int64_t words, int64_t columns, int64_t length, int64_t chunk,
                      const uint32_t* __restrict__ roots_of_word, const int64_t* __restrict__ roots_before,
                      Index* __restrict__ parent) {
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int64_t number = 1 + roots_before[part];
    for (int64_t row = begin; row < end; row += kWordThreads) {
      const int64_t word = row + threadIdx.x;
      const uint32_t roots = word < end ? roots_of_word[word] : 0;
      int total;
      int64_t next = number + block_scan<kWordThreads>(__popc(roots), total);
      for_each_element<Index>(roots, word, columns, length, [&](Index i) { parent[i] = ~Index(next++); });
      number += total;
    }
  }
}

// Gives the roots of tiles that are none of a component the number of theirs.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    spread_numbers(int64_t words, int64_t columns, int64_t length, const uint32_t* __restrict__ moved,
                   Index* parent) {
  for (int64_t word = grid_thread(); word < words; word += grid_threads())
    for_each_element<Index>(moved[word], word, columns, length, [&](Index i) {
      Shared::store(parent + i, Shared::load(parent + Shared::load(parent + i)));
    });
}

// Reads what the entry of a run says: the root of its tile, or what stands for that.
template <class Index>
__device__ inline Index root_or_label(const Index* label, Index entry) {
  return Shared::load(label + entry);
}
// The label of a run from that: a root's entry is its label, or complemented, from the start. A number is
// complemented unless it is written already.
template <bool consecutive, class Index>
__device__ inline Index final_label(const Index* label, Index found) {
  if (found >= 0) found = Shared::load(label + found);
  return consecutive && found < 0 ? Index(~found) : found;
}

// How far rows of a bundle are from its first one.
template <int rank, class Index>
struct RowSteps {
  Index step[Tiles<rank>::kRows];

  __device__ explicit RowSteps(const Grid<rank>& grid) {
#pragma unroll
    for (int k = 0; k < Tiles<rank>::kRows; ++k) {
      step[k] = Index(k % Tiles<rank>::kHigh) * Index(grid.axes[rank - 2].index_stride);
      if constexpr (rank > 2)
        step[k] += Index(k / Tiles<rank>::kHigh) * Index(grid.axes[rank - 3].index_stride);
    }
  }
};

// What a thread of write_labels knows of a bundle: its words, the index of its first element, and how much of
// it is in the array, as columns + 64 * (a bit for each row).
template <int rank, class Index>
struct BundleToWrite {
  Runs runs[Tiles<rank>::kRows];
  Index first;
  int extent;
};

// Writes the labels of a warp's bundles whose rows are as one. Half a warp writes a bundle, a lane two
// columns of it: if both are foreground, they are of one run.
template <bool consecutive, int rank, class Index>
__device__ inline void write_bundles(const Tiles<rank>& tiles, Index* label,
                                     const BundleToWrite<rank, Index>& mine) {
  constexpr int kRows = Tiles<rank>::kRows;
  const RowSteps<rank, Index> rows(tiles.grid);
  const int x = lane() % (kWarp / 2) * 2;
  // The two labels can be written at once where their address fits.
  const bool fits = reinterpret_cast<size_t>(label) % (2 * sizeof(Index)) == 0;
  for (int first = lane() / (kWarp / 2); first < kWarp; first += 2 * kAtOnce) {
    Index at[kAtOnce], found[kAtOnce];
    int extent[kAtOnce];
    uint32_t fore[kAtOnce][kRows];
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      const int source = first + 2 * b;
      at[b] = Index(__shfl_sync(kAllLanes, mine.first, source));
      extent[b] = __shfl_sync(kAllLanes, mine.extent, source);
      uint32_t all = 0;
#pragma unroll
      for (int k = 0; k < kRows; ++k) all |= fore[b][k] = __shfl_sync(kAllLanes, mine.runs[k].fore, source);
      found[b] = -1;
      const uint32_t columns = all & 3u << x;
      if (columns != 0) {
        const uint32_t run = runs_of_ones(all).run_of(lowest_bit(columns));
        Index entry = 0;
#pragma unroll
        for (int k = kRows - 1; k >= 0; --k)
          if ((fore[b][k] & run) != 0) entry = rows.step[k] + lowest(fore[b][k] & run);
        found[b] = root_or_label(label, Index(at[b] + entry));
      }
    }
    // All have read the entries of these runs before one is overwritten.
    __syncwarp();
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      const Index number = final_label<consecutive>(label, found[b]), ground = consecutive ? 0 : -1;
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        const Index to = at[b] + rows.step[k] + x;
        const int columns = extent[b] >> (6 + k) & 1 ? (extent[b] & 63) - x : 0;
        const Index one = fore[b][k] >> x & 1 ? number : ground, two = fore[b][k] >> x & 2 ? number : ground;
        if (columns > 1 && fits && to % 2 == 0) {
          Shared::store_both(label + to, one, two);
        } else {
          if (columns > 0) Shared::store(label + to, one);
          if (columns > 1) Shared::store(label + to + 1, two);
        }
      }
    }
  }
}

// The same where each row is for itself: a lane writes one column.
template <bool consecutive, int rank, class Index>
__device__ inline void write_rows(const Tiles<rank>& tiles, Index* label,
                                  const BundleToWrite<rank, Index>& mine) {
  constexpr int kRows = Tiles<rank>::kRows;
  const RowSteps<rank, Index> rows(tiles.grid);
  for (int first = 0; first < kWarp; first += kAtOnce) {
    Index at[kAtOnce], found[kAtOnce][kRows];
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      at[b] = Index(__shfl_sync(kAllLanes, mine.first, first + b));
#pragma unroll
      for (int k = 0; k < kRows; ++k) {
        const Runs row{__shfl_sync(kAllLanes, mine.runs[k].fore, first + b),
                       __shfl_sync(kAllLanes, mine.runs[k].starts, first + b)};
        found[b][k] = -1;
        if (row.fore >> lane() & 1)
          found[b][k] = root_or_label(label, Index(at[b] + rows.step[k] + row.start_of(lane())));
      }
    }
    __syncwarp();
#pragma unroll
    for (int b = 0; b < kAtOnce; ++b) {
      const int extent = __shfl_sync(kAllLanes, mine.extent, first + b);
#pragma unroll
      for (int k = 0; k < kRows; ++k)
        if (lane() < (extent & 63) && (extent >> (6 + k) & 1))  // background is -1, whose complement is 0
          Shared::store(label + at[b] + rows.step[k] + lane(), final_label<consecutive>(label, found[b][k]));
    }
  }
}

// A block a tile.
template <bool consecutive, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    write_labels(Tiles<rank> tiles, Index* label, uint32_t* fore_of_word, uint32_t* starts_of_word,
                 uint8_t* mixed_tiles) {
  const Masks<uint8_t> masks{fore_of_word, starts_of_word, mixed_tiles, nullptr};
  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const bool mixed = masks.mixed[blockIdx.x];
  const int first_word = tiles.word_of_bundle(int(threadIdx.x));
  BundleToWrite<rank, Index> mine;
  mine.first = tiles.index_of(corner, first_word);
  mine.extent = 0;
#pragma unroll
  for (int k = 0; k < Tiles<rank>::kRows; ++k) {
    const int word = first_word + tiles.word_of_row(k);
    mine.runs[k] = masks.runs(int64_t(blockIdx.x) * tiles.words() + word, mixed);
    Cell<rank, Index> cell;
    if (tiles.first_of(corner, word, cell)) mine.extent |= tiles.width(cell.at[rank - 1]) | 64 << k;
  }
  if (!mixed && tiles.full())
    write_bundles<consecutive>(tiles, label, mine);
  else
    write_rows<consecutive>(tiles, label, mine);
}

}  // namespace conncomp
