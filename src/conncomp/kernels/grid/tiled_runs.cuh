// Connected components of an array on the GPU by union–find over runs in tiles. The default.
//
// What: fills label[i] with the smallest index of i's component or its number, or -1 or 0 where there is
// background.
// How: a block of threads takes a tile of 32 columns, a row of them each thread. Rows become masks of bits,
// by ballots: which elements are foreground, and which start a run, an element that does not equal the one
// before. Where a run of one row touches a run of a row before it is bit arithmetic, too, if all foreground
// of the tile is of one value. A run is put under the first run that it touches in the row before it, by a
// plain store; what else it touches takes a union in shared memory, once for each pair of runs (tile_runs).
// Only starts of runs are written to global memory. Unions across tiles follow there, where the masks say
// that they can matter (join_tiles); then the roots of tiles are pointed to those of components
// (settle_roots), and every element gets the root of the root of its run (write_labels). For consecutive
// labels, roots of tiles get the number of their component in between (number_components, spread_numbers).
// A start bit says for the first element of a row of a tile whether it differs from the last one of the tile
// before; its run starts there in any case.
// Cost: the array is read once and labels are written once; beyond that, three bits an element, and 4 or 8
// bytes for each run are written and read.
// Source: ours. Runs by ballots are also in Hennequin, Lacassagne et al. 2018, and the first union by a plain
// store is the start of ECL-CC (Jaiganesh and Burtscher 2018).
#pragma once

#include "core/numbering.cuh"
#include "core/union_find.h"
#include "core/warp.cuh"
#include "grid/cells.cuh"

namespace conncomp {

constexpr int kMaxRows = 256;       // of a tile
constexpr int kPitch = kWarp + 1;   // from row to row in shared memory: threads at one column use all banks
constexpr int kRowsAtOnce = 8;      // whose elements a warp loads before it looks at them
constexpr int kWordThreads = 256;   // a thread for each word of 32 elements
constexpr int kWordsOfTile = 4096;  // that are counted together

// How an array is cut into tiles: 2^log_y rows along the last axis but one, 2^log_z along the one before.
struct Tiling {
  int32_t log_y, log_z;
};

template <int rank>
struct Tiles {
  Grid<rank> grid;
  Tiling shape;

  __device__ int rows() const { return 1 << (shape.log_y + shape.log_z); }
  __device__ int64_t columns() const { return (grid.axes[rank - 1].length + kWarp - 1) / kWarp; }
  __device__ int log_of(int axis) const {
    return axis == rank - 2 ? shape.log_y : axis == rank - 3 ? shape.log_z : 0;
  }

  // How far row `t` of a tile is from the first one, in strides.
  __device__ int64_t value_step(int t) const {
    int64_t step = (t & ((1 << shape.log_y) - 1)) * grid.axes[rank - 2].value_stride;
    if constexpr (rank > 2) step += (t >> shape.log_y) * grid.axes[rank - 3].value_stride;
    return step;
  }
  __device__ int64_t index_step(int t) const {
    int64_t step = (t & ((1 << shape.log_y) - 1)) * grid.axes[rank - 2].index_stride;
    if constexpr (rank > 2) step += (t >> shape.log_y) * grid.axes[rank - 3].index_stride;
    return step;
  }

  // The first cell of row `t` of tile `number`; false if that is outside the array.
  template <class Index>
  __device__ bool first_of(int64_t number, int t, Cell<rank, Index>& cell) const {
    cell = Cell<rank, Index>{};
    cell.move(grid, rank - 1, Index(number % columns() * kWarp));
    number /= columns();
    bool exists = true;
#pragma unroll
    for (int k = rank - 2; k >= 0; --k) {
      const int64_t along = (grid.axes[k].length + (1 << log_of(k)) - 1) >> log_of(k);
      const int64_t at = (number % along << log_of(k)) + (t & ((1 << log_of(k)) - 1));
      number /= along;
      t >>= log_of(k);
      if (at < grid.axes[k].length)
        cell.move(grid, k, Index(at));
      else
        exists = false;
    }
    return exists;
  }

  // The word of 32 elements that a cell is in.
  template <class Index>
  __device__ int64_t word_of(const Cell<rank, Index>& cell) const {
    int64_t number = 0;
    int t = 0;
#pragma unroll
    for (int k = 0; k <= rank - 2; ++k) {
      const int64_t along = (grid.axes[k].length + (1 << log_of(k)) - 1) >> log_of(k);
      number = number * along + (int64_t(cell.at[k]) >> log_of(k));
      t = (t << log_of(k)) + int(cell.at[k] & ((1 << log_of(k)) - 1));
    }
    return (number * columns() + cell.at[rank - 1] / kWarp) * rows() + t;
  }
};

// A word of 32 elements of a row.
struct Runs {
  uint32_t fore, starts;

  // Which run an element is in: where that starts.
  __device__ int start_of(int x) const {
    return 31 - __clz(int((starts | (fore & 1)) & (kAllLanes >> (31 - x))));
  }
  // Which elements belong to the run of the one before.
  __device__ uint32_t joined() const { return fore & ~starts; }
};

// Where elements of one word equal those of another: above them, and one to the left and to the right.
struct Touching {
  uint32_t straight, left, right;

  // Leaves one contact for each two runs that touch.
  __device__ Touching once(const Runs& mine, const Runs& other) const {
    Touching found;
    found.straight = straight & ~(straight << 1 & mine.joined() & other.joined());
    found.left = left & mine.starts & ~straight;
    found.right = right & ~straight & ~(mine.joined() >> 1);
    return found;
  }
};

// Calls shuffle, which takes values of four and eight bytes, with a value of any type.
template <class Value, class Shuffle>
__device__ inline Value shuffled(Value value, Shuffle&& shuffle) {
  if constexpr (sizeof(Value) < 4)
    return Value(shuffle(int(value)));
  else if constexpr (sizeof(Value) == 8 && Value(0.5) == Value(0))
    return Value(shuffle((unsigned long long)(value)));
  else
    return shuffle(value);
}
template <class Shuffle>
__device__ inline Half shuffled(Half value, Shuffle&& shuffle) {
  return Half{uint16_t(shuffle(int(value.bits)))};
}

template <class Value>
__device__ inline Value from_lane_before(Value value) {
  return shuffled(value, [](auto bits) { return __shfl_up_sync(kAllLanes, bits, 1); });
}
template <class Value>
__device__ inline Value from_lane_after(Value value) {
  return shuffled(value, [](auto bits) { return __shfl_down_sync(kAllLanes, bits, 1); });
}

// The offsets to the rows before a row, as steps along the axes but the last; those along the last but
// `kept` axes are 0. Calls body(steps, axes moved along).
template <int rank, class Body>
__device__ inline void for_each_row_before(int64_t connectivity, int kept, Body&& body) {
  int codes = 1;
  for (int k = 0; k < kept; ++k) codes *= 3;
  // In the first half of the numbers of base 3, the first digit that is not 1 is 0: a step back.
  for (int code = 0; code < codes / 2; ++code) {
    int step[rank - 1] = {}, rest = code, moved = 0;
#pragma unroll
    for (int k = rank - 2; k >= 0; --k) {
      if (rank - 2 - k >= kept) continue;
      step[k] = rest % 3 - 1;
      rest /= 3;
      moved += step[k] != 0;
    }
    if (moved <= connectivity) body(step, moved);
  }
}

// What the rows of a tile in shared memory touch of each other, if all their foreground is of one value.
__device__ inline Touching touching_bits(uint32_t fore, uint32_t other, bool diagonal) {
  return {fore & other, diagonal ? fore & other << 1 : 0, diagonal ? fore & other >> 1 : 0};
}

// The same for one row of any values: each lane of a warp has one element of it, and one of the other.
template <class Value>
__device__ inline Touching touching_values(bool fore, Value mine, bool other_exists, Value other,
                                           bool diagonal) {
  const Value before = from_lane_before(other), after = from_lane_after(other);
  const uint32_t exists = __ballot_sync(kAllLanes, other_exists);
  Touching found;
  found.straight = __ballot_sync(kAllLanes, fore && other_exists && mine == other);
  found.left = __ballot_sync(kAllLanes, diagonal && fore && (exists << 1 >> lane() & 1) && mine == before);
  found.right = __ballot_sync(kAllLanes, diagonal && fore && (exists >> 1 >> lane() & 1) && mine == after);
  return found;
}

template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kMaxRows)
    tile_runs(Tiles<rank> tiles, const Value* __restrict__ values, Value ground, bool has_ground,
              Index* __restrict__ parent, Runs* __restrict__ runs, uint32_t* __restrict__ tile_roots) {
  CONNCOMP_DYNAMIC_SHARED(int, nodes);  // a parent for each element; those of starts are used
  __shared__ Runs rows[kMaxRows];
  __shared__ Value value_of_warp[kMaxRows / kWarp];
  __shared__ bool has_value[kMaxRows / kWarp];

  const Grid<rank>& grid = tiles.grid;
  const GridAxis& line = grid.axes[rank - 1];
  const int t = int(threadIdx.x), count = tiles.rows();
  Cell<rank, Index> corner, mine;
  tiles.first_of(int64_t(blockIdx.x), 0, corner);
  const bool exists = tiles.first_of(int64_t(blockIdx.x), t, mine);
  const uint32_t existing = __ballot_sync(kAllLanes, exists);
  const int64_t x0 = mine.at[rank - 1];
  const int width = int(line.length - x0 < kWarp ? line.length - x0 : kWarp);
  // Where the element before the first one of each row lies, from there.
  const bool has_before = x0 > 0 || line.periodic;
  const int64_t before_first = x0 > 0 ? -line.value_stride : (line.length - 1) * line.value_stride;

  // Rows as masks.
  Runs my_runs{0, 0};
  Value seen{};
  bool any = false, differ = false;
  for (int first = 0; first < kWarp; first += kRowsAtOnce) {
    Value value[kRowsAtOnce], outside[kRowsAtOnce];
    bool here[kRowsAtOnce];
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      const int64_t offset = corner.offset + tiles.value_step(t - lane() + first + k);
      here[k] = (existing >> (first + k) & 1) && lane() < width;
      value[k] = here[k] ? values[offset + lane() * line.value_stride] : Value{};
      outside[k] = here[k] && lane() == 0 && has_before ? values[offset + before_first] : Value{};
    }
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      const bool fore = here[k] && !is_background(value[k], ground, has_ground);
      Value before = from_lane_before(value[k]);
      if (lane() == 0) before = outside[k];
      const bool joined = fore && (lane() > 0 || has_before) && value[k] == before;
      const uint32_t fores = __ballot_sync(kAllLanes, fore);
      const uint32_t starts = __ballot_sync(kAllLanes, fore && !joined);
      if (lane() == first + k) my_runs = Runs{fores, starts};
      if (fore) {
        differ |= any && !(value[k] == seen);
        if (!any) seen = value[k];
        any = true;
      }
    }
  }
  const int64_t word = int64_t(blockIdx.x) * count + t;
  runs[word] = my_runs;
  rows[t] = my_runs;
  const uint32_t with_value = __ballot_sync(kAllLanes, any);
  if (lane() == 0) has_value[t / kWarp] = with_value != 0;
  if (with_value != 0 && lane() == __ffs(int(with_value)) - 1) value_of_warp[t / kWarp] = seen;
  __syncthreads();
  for (int warp = 0; warp < (count + kWarp - 1) / kWarp; ++warp)
    if (any && has_value[warp]) differ |= !(value_of_warp[warp] == seen);
  const bool one_value = !__syncthreads_or(differ);

  // What each row touches of a row before it in the tile.
  const int y = t & ((1 << tiles.shape.log_y) - 1), z = t >> tiles.shape.log_y;
  const auto touching = [&](int other, bool inside, int64_t offset, bool diagonal) {
    if (one_value) return touching_bits(my_runs.fore, inside ? rows[other].fore : 0, diagonal);
    Touching found{0, 0, 0};
    for (int r = 0; r < kWarp; ++r) {
      const int64_t at = __shfl_sync(kAllLanes, (long long)(mine.offset), r) + lane() * line.value_stride;
      const int64_t step = __shfl_sync(kAllLanes, (long long)(offset), r);
      const bool both = __shfl_sync(kAllLanes, int(inside && exists), r) && lane() < width;
      const bool fore = __shfl_sync(kAllLanes, my_runs.fore, r) >> lane() & 1;
      const Value value = both ? values[at] : Value{}, above = both ? values[at + step] : Value{};
      const Touching row = touching_values(both && fore, value, both, above, diagonal);
      if (lane() == r) found = row;
    }
    return found;
  };

  // Each run under the first one it touches in the row before.
  const bool row_before = y > 0;
  const bool next_rows = grid.connectivity > 1;
  const Touching above = touching(t - 1, row_before, -grid.axes[rank - 2].value_stride, next_rows);
  const Runs before = row_before ? rows[t - 1] : Runs{0, 0};
  uint32_t used = 0;
  for (uint32_t starts = my_runs.starts | (my_runs.fore & 1); starts != 0; starts &= starts - 1) {
    const int x = __ffs(int(starts)) - 1;
    const int more = __ffs(int(~(my_runs.joined() >> x >> 1))) - 1;  // elements of the run beside the first
    const uint32_t touched = above.straight & (kAllLanes >> (31 - more)) << x;
    int under = t * kPitch + x;
    if (touched != 0) {
      used |= touched & (0 - touched);
      under = (t - 1) * kPitch + before.start_of(__ffs(int(touched)) - 1);
    }
    nodes[t * kPitch + x] = under;
  }
  // That makes paths as long as the tile is high. Each round halves all of them.
  for (bool changed = true; __syncthreads_or(changed);) {
    changed = false;
    for (uint32_t starts = my_runs.starts | (my_runs.fore & 1); starts != 0; starts &= starts - 1) {
      const int node = t * kPitch + __ffs(int(starts)) - 1;
      const int under = InBlock::load(nodes + node), next = InBlock::load(nodes + under);
      if (next == under) continue;
      InBlock::store(nodes + node, next);
      changed = true;
    }
  }

  // What else they touch.
  const auto unite_runs = [&](uint32_t contacts, int shift, const Runs& others, int other) {
    for (; contacts != 0; contacts &= contacts - 1) {
      const int x = __ffs(int(contacts)) - 1;
      unite<InBlock>(nodes, t * kPitch + my_runs.start_of(x), other * kPitch + others.start_of(x + shift));
    }
  };
  const auto unite_rows = [&](Touching found, const Runs& others, int other, uint32_t done) {
    found = found.once(my_runs, others);
    unite_runs(found.straight & ~done, 0, others, other);
    unite_runs(found.left, -1, others, other);
    unite_runs(found.right, 1, others, other);
  };
  unite_rows(above, before, t - 1, used);
  if constexpr (rank > 2) {
    for (int dy = -1; dy <= 1; ++dy) {
      const int moved = 1 + (dy != 0);
      if (moved > grid.connectivity || tiles.shape.log_z == 0) continue;
      const int other = t + ((dy - (1 << tiles.shape.log_y)));
      const bool inside = z > 0 && y + dy >= 0 && y + dy < 1 << tiles.shape.log_y;
      const int64_t offset = dy * grid.axes[rank - 2].value_stride - grid.axes[rank - 3].value_stride;
      // A row that is beyond the array has no foreground, but also no values.
      const bool real = inside && mine.at[rank - 2] + dy < grid.axes[rank - 2].length;
      const Touching found = touching(other, real, offset, moved < grid.connectivity);
      if (real) unite_rows(found, rows[other], other, 0);
    }
  }
  __syncthreads();

  // The roots, as indices of the array.
  uint32_t my_roots = 0;
  for (int r = 0; r < kWarp; ++r) {
    const uint32_t starts = __shfl_sync(kAllLanes, my_runs.starts | (my_runs.fore & 1), r);
    bool is_root = false;
    if (starts >> lane() & 1) {
      const int node = (t - lane() + r) * kPitch + lane();
      const int root = find<InBlock, Jump::kNone>(nodes, node), row = root / kPitch;
      parent[corner.index + Index(tiles.index_step(t - lane() + r)) + lane()] =
          corner.index + Index(tiles.index_step(row)) + Index(root % kPitch);
      is_root = root == node;
    }
    const uint32_t roots = __ballot_sync(kAllLanes, is_root);
    if (lane() == r) my_roots = roots;
  }
  if (exists) tile_roots[int64_t(mine.index) / line.length * tiles.columns() + x0 / kWarp] = my_roots;
}

// Unites runs across the borders of tiles; a block a tile, a thread a row.
template <class Value, int rank, class Index>
__global__ void __launch_bounds__(kMaxRows) join_tiles(Tiles<rank> tiles, const Value* __restrict__ values,
                                                       Index* parent, const Runs* __restrict__ runs) {
  const Grid<rank>& grid = tiles.grid;
  const GridAxis& line = grid.axes[rank - 1];
  const int t = int(threadIdx.x);
  Cell<rank, Index> mine;
  const bool exists = tiles.first_of(int64_t(blockIdx.x), t, mine);
  const Index x0 = mine.at[rank - 1];
  const int width = int(line.length - x0 < kWarp ? line.length - x0 : kWarp);
  const Runs my_runs = runs[int64_t(blockIdx.x) * tiles.rows() + t];

  // The tile before along the row, and its last column.
  const bool has_before = x0 > 0 || line.periodic;
  const Index back = x0 > 0 ? Index(kWarp) : -Index((line.length - 1) / kWarp * kWarp);
  const int last = x0 > 0 ? kWarp - 1 : int((line.length - 1) % kWarp);
  Cell<rank, Index> cell_before = mine;
  cell_before.move(grid, rank - 1, -back);
  const Runs runs_before = exists && has_before ? runs[tiles.word_of(cell_before)] : Runs{0, 0};
  const bool last_fore = runs_before.fore >> last & 1, first_fore = my_runs.fore & 1;
  const bool joined = first_fore && !(my_runs.starts & 1);
  if (joined) unite<Shared>(parent, mine.index, cell_before.index + Index(runs_before.start_of(last)));

  for_each_row_before<rank>(grid.connectivity, rank - 1, [&](const int* step, int moved) {
    // The row there, if there is one, and whether tile_runs has compared it.
    Cell<rank, Index> there = mine;
    bool valid = exists, inside = true;
#pragma unroll
    for (int k = 0; k < rank - 1; ++k) {
      if (step[k] == 0) continue;
      const Index length = Index(grid.axes[k].length);
      Index to = mine.at[k] + step[k];
      if (to < 0 || to >= length) {
        valid &= bool(grid.axes[k].periodic);
        inside = false;
        to = to < 0 ? length - 1 : Index(0);
      }
      inside &= (to >> tiles.log_of(k)) == (mine.at[k] >> tiles.log_of(k));
      there.move(grid, k, to - mine.at[k]);
    }
    const bool diagonal = moved < grid.connectivity;
    const Runs other = valid ? runs[tiles.word_of(there)] : Runs{0, 0};

    // Diagonal neighbours across the border to the tile before.
    if (valid && diagonal && has_before) {
      Cell<rank, Index> there_before = there;
      there_before.move(grid, rank - 1, -back);
      const int64_t step_back = (Index(last) - back) * line.value_stride;
      if (first_fore && !joined) {
        const Runs other_before = runs[tiles.word_of(there_before)];
        const Value value = values[mine.offset];
        if ((other_before.fore >> last & 1) && value == values[there.offset + step_back] &&
            !((other.fore & 1) && value == values[there.offset]))
          unite<Shared>(parent, mine.index, there_before.index + Index(other_before.start_of(last)));
      }
      if (last_fore && !joined && (other.fore & 1)) {
        const Value value = values[mine.offset + step_back];
        if (value == values[there.offset] && !(value == values[there.offset + step_back]))
          unite<Shared>(parent, cell_before.index + Index(runs_before.start_of(last)), there.index);
      }
    }

    // All 32 elements of rows that lie in another tile, row by row of the warp.
    const uint32_t near = diagonal ? other.fore | other.fore << 1 | other.fore >> 1 : other.fore;
    uint32_t open = __ballot_sync(kAllLanes, valid && !inside && (my_runs.fore & near) != 0);
    for (; open != 0; open &= open - 1) {
      const int r = __ffs(int(open)) - 1;
      const Runs upper{__shfl_sync(kAllLanes, other.fore, r), __shfl_sync(kAllLanes, other.starts, r)};
      const Runs lower{__shfl_sync(kAllLanes, my_runs.fore, r), __shfl_sync(kAllLanes, my_runs.starts, r)};
      const int64_t at = __shfl_sync(kAllLanes, (long long)(mine.offset), r) + lane() * line.value_stride;
      const int64_t to = __shfl_sync(kAllLanes, (long long)(there.offset), r) + lane() * line.value_stride;
      const Index from = Index(__shfl_sync(kAllLanes, (long long)(mine.index), r));
      const Index into = Index(__shfl_sync(kAllLanes, (long long)(there.index), r));
      const bool in_row = lane() < width;
      const Value value = in_row ? values[at] : Value{}, above = in_row ? values[to] : Value{};
      const bool diagonals = __shfl_sync(kAllLanes, int(diagonal), r);
      const Touching found =
          touching_values(bool(lower.fore >> lane() & 1), value, in_row, above, diagonals).once(lower, upper);
      const Index run = from + Index(lower.fore >> lane() & 1 ? lower.start_of(lane()) : 0);
      if (found.straight >> lane() & 1) unite<Shared>(parent, run, into + Index(upper.start_of(lane())));
      if (found.left >> lane() & 1) unite<Shared>(parent, run, into + Index(upper.start_of(lane() - 1)));
      if (found.right >> lane() & 1) unite<Shared>(parent, run, into + Index(upper.start_of(lane() + 1)));
    }
  });
}

// Calls body(index) for each root of a tile in a word, words being numbered along the array.
template <class Index, class Body>
__device__ inline void for_each_root(uint32_t roots, int64_t word, int64_t columns, int64_t length,
                                     Body&& body) {
  const Index first = Index(word / columns * length + word % columns * kWarp);
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
__global__ void __launch_bounds__(kMaxRows)
    write_labels(Tiles<rank> tiles, Index* label, const Runs* __restrict__ runs) {
  const int t = int(threadIdx.x);
  Cell<rank, Index> corner, mine;
  tiles.first_of(int64_t(blockIdx.x), 0, corner);
  const uint32_t existing = __ballot_sync(kAllLanes, tiles.first_of(int64_t(blockIdx.x), t, mine));
  const Runs my_runs = runs[int64_t(blockIdx.x) * tiles.rows() + t];
  const int64_t rest = tiles.grid.axes[rank - 1].length - mine.at[rank - 1];
  for (int first = 0; first < kWarp; first += kRowsAtOnce) {
    Index index[kRowsAtOnce], found[kRowsAtOnce];
    bool fore[kRowsAtOnce];
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      const Runs row{__shfl_sync(kAllLanes, my_runs.fore, first + k),
                     __shfl_sync(kAllLanes, my_runs.starts, first + k)};
      index[k] = corner.index + Index(tiles.index_step(t - lane() + first + k));
      fore[k] = row.fore >> lane() & 1;
      found[k] = fore[k] ? Shared::load(label + index[k] + row.start_of(lane())) : Index(-1);
    }
    // All have read the starts of these rows before one is overwritten.
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (fore[k] && found[k] >= 0) found[k] = Shared::load(label + found[k]);
      // Background is -1, whose complement is 0; a number is complemented unless it is written already.
      if (consecutive && found[k] < 0) found[k] = ~found[k];
      if (lane() < rest && (existing >> (first + k) & 1)) Shared::store(label + index[k] + lane(), found[k]);
    }
  }
}

}  // namespace conncomp
