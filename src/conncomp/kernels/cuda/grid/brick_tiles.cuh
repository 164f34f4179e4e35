// An array as tiles of bricks: places of bricks and elements, and what kernels keep in global memory. A block
// has a tile, a thread a brick. In a tile, a brick's number is its thread, an element's node its place in C
// order, of 16 bits. An element has an index in its item.
#pragma once

#include "cuda/grid/brick_values.cuh"
#include "cuda/grid/tiling.cuh"

namespace conncomp {

template <int rank, class Logs> struct BrickTiles : Tiling<rank, Brick<(rank < 3 ? rank : 3)>::kLog, Logs> {
  using Base = Tiling<rank, Brick<(rank < 3 ? rank : 3)>::kLog, Logs>;
  using Base::axis, Base::grid, Base::kAxes, Base::log, Base::log_before, Base::place, Base::tile_of;
  static constexpr int kThreads = rank < 3 ? 128 : 256;  // a thread for each brick; at most so many
  using B = Brick<kAxes>;

  // The number of a cell's brick in its tile; and in the item.
  int brick_of(const auto& cell) const {
    int brick = 0;
    unrolled<kAxes>([&](int a) {
      brick |= int(cell.at[rank - 1 - a] >> B::kLog & ((1 << log[a]) - 1)) << log_before(a);
    });
    return brick;
  }
  int64_t number_of(const auto& cell) const {
    return (int64_t(tile_of(cell)) << Base::log_parts()) + brick_of(cell);
  }

  // Where the coordinate along an axis begins in the bits of a node.
  int shift(int a) const { return log_before(a) + a * B::kLog; }
  // The distance of an element's node from that of its brick's first one; and from that at a step.
  int distance_in_tile(int bit) const {
    int distance = 0;
    unrolled<kAxes>([&](int a) { distance |= B::coordinate(bit, a) << shift(a); });
    return distance;
  }
  int distance_back_in_tile(int step) const {
    int distance = 0;
    unrolled<kAxes>([&](int a) { distance -= B::step(step, a) * (1 << shift(a)); });
    return distance;
  }
  int node_of(int brick, int bit) const {
    int node = distance_in_tile(bit);
    unrolled<kAxes>([&](int a) { node |= place(brick, a) << (B::kLog + shift(a)); });
    return node;
  }
  int brick_of_node(int node) const {
    int brick = 0;
    unrolled<kAxes>(
        [&](int a) { brick |= (node >> (shift(a) + B::kLog) & ((1 << log[a]) - 1)) << log_before(a); });
    return brick;
  }
  int bit_of_node(int node) const {
    int bit = 0;
    unrolled<kAxes>([&](int a) { bit |= (node >> shift(a) & (B::kSide - 1)) << a * B::kLog; });
    return bit;
  }

  // The distance in the array of an element from the first one of its tile; of its brick.
  template <class Index> Index index_of_node(int node) const {
    Index index = 0;
    unrolled<kAxes>([&](int a) {
      index += Index(node >> shift(a) & ((1 << (log[a] + B::kLog)) - 1)) * Index(axis(a).index_stride);
    });
    return index;
  }
  template <class Index> Index distance(int bit) const {
    Index index = Index(B::coordinate(bit, 0));
#pragma unroll
    for (int a = 1; a < kAxes; ++a) index += Index(B::coordinate(bit, a)) * Index(axis(a).index_stride);
    return index;
  }
  // The same in units of a stride, for an element along(a) elements away; axes close on themselves.
  template <class Index>
  auto distance_across(const Cell<rank, Index>& first, auto&& along, auto&& stride) const {
    decltype(stride(axis(0))) sum = 0;
    unrolled<kAxes>([&](int a) {
      const int64_t at = first.at[rank - 1 - a], length = axis(a).length;
      int64_t to = at + along(a);
      if (to < 0) to += length;
      if (to >= length) to -= length;
      sum += Index(to - at) * stride(axis(a));
    });
    return sum;
  }
  // An axis's end from the brick's beginning: at most 0 for a brick beyond it.
  template <class Index> Index to_end(const Cell<rank, Index>& first, int a) const {
    return Index(axis(a).length) - first.at[rank - 1 - a];
  }
  // The length of a brick along an axis. Compare `to_end` with kSide, never this: the assembler of CUDA 12.8
  // to 13.3 makes one wrong instruction of both on GPUs of 9.0 (tests/kernels/test_clamps.py).
  template <class Index> int length(const Cell<rank, Index>& first, int a) const {
    const Index end = to_end(first, a);
    return end < 0 ? 0 : end < B::kSide ? int(end) : B::kSide;
  }
  template <class Index> Bits inside(const Cell<rank, Index>& first) const {
    Bits elements = ~Bits(0);
    unrolled<kAxes>([&](int a) {
      const Index end = to_end(first, a);
      elements &= end >= B::kSide ? ~Bits(0) : end <= 0 ? 0 : B::layers(a, int(end));
    });
    return elements;
  }
  template <class Value> BrickValues<Value, kAxes> values_at(const Value* first, Bits inside) const {
    return {first, [&](int a) { return axis(a).value_stride; }, inside};
  }

  // The elements that a step takes out of the tile, or across the end of a periodic axis.
  Bits leaving(const auto& first, int brick, int step) const {
    Bits elements = 0;
    unrolled<kAxes>([&](int a) {
      const int brick_length = length(first, a), move = B::step(step, a);
      const bool ends = to_end(first, a) <= B::kSide;
      if (move < 0 && place(brick, a) == 0) elements |= B::layer(a, 0);
      if (move > 0 && brick_length > 0 && (ends || place(brick, a) == (1 << log[a]) - 1))
        elements |= B::layer(a, brick_length - 1);
    });
    return elements;
  }
  // The elements whose neighbours at a step lie over an axis's end; of open axes only, if asked.
  Bits over_ends(const auto& first, int step, bool of_open = false) const {
    Bits elements = 0;
    unrolled<kAxes>([&](int a) {
      if (of_open && axis(a).periodic) return;
      const int brick_length = length(first, a), move = B::step(step, a);
      if (move < 0 && first.at[rank - 1 - a] == 0) elements |= B::layer(a, 0);
      if (move > 0 && brick_length > 0 && to_end(first, a) <= B::kSide)
        elements |= B::layer(a, brick_length - 1);
    });
    return elements;
  }
};

// The next number for a block that takes them in turn; all threads call.
inline int64_t next_turn(int32_t* next) {
  __shared__ int32_t number;
  __syncthreads();  // the last one is done, and has been read
  if (threadIdx.x == 0) number = Concurrent::fetch_add(next, 1);
  __syncthreads();
  return number;
}

// What kernels keep of each brick, numbered tile by tile, tile and item. Layout: tiled_bricks.py.
struct BrickTable {
  Bits* foreground;        // of a brick
  Bits* links;             // of a step and a brick: elements linked to the one there; null if by value
  Bits* settled;           // of a brick: first elements of components that need no entry among the labels
  Bits* roots;             // of a brick: first elements of the others, at last of all; null if not numbered
  Bits* planes;            // of a plane and a brick: bits of values; null if links are given
  Comparison* comparison;  // of a tile
  void* frame;             // of a tile: the Frame of its values, unless it is kValues
  Bits* first_digit;       // of a digit and a brick: see FirstDigits; null if by value
  bool* sparse;            // of a tile: whether sparse_tiles.cuh labelled it; null if none may be
  int32_t* elsewhere;      // whether row_tiles.cuh or bundle_tiles.cuh label the array; null if neither may
  int64_t* components;     // of an item
  int64_t bricks;

  // From here on `elsewhere` of a volume has the next tiles to label, join and write, for few blocks.
  static constexpr int kTurns = 2;

  bool is_elsewhere() const { return elsewhere != nullptr && elsewhere[0]; }
  Bits& plane(int k, int64_t number) const { return planes[k * bricks + number]; }
  ValuePlanes planes_of(int64_t number) const {
    ValuePlanes values;
    unrolled<kPlanes>([&](int k) { values.plane[k] = plane(k, number); });
    return values;
  }
  FirstDigits first_digits(int64_t number) const {
    FirstDigits digits;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) digits.digit[k] = __ldg(first_digit + k * bricks + number);
    return digits;
  }
  int first_of_component(int64_t number, int bit) const {
    int first = 0;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k)
      first |= int(__ldg(first_digit + k * bricks + number) >> bit & 1) << k;
    return first;
  }
};

// A brick's links by Equal or Above, or GivenLinks, which link_bricks.cuh makes of any rule.
template <class T, class Tiles>
BrickLinks<Tiles::kAxes> links_of_brick(const Equal<T>&, const Tiles& tiles, const BrickTable& table,
    const T* values, const auto& first, int64_t number, Bits inside, Bits foreground, Comparison comparison) {
  if (comparison == Comparison::kValues)
    return tiles.values_at(values + first.offset, inside).equal_links(foreground, tiles.neighbours());
  BrickLinks<Tiles::kAxes> links{foreground, int(tiles.grid.connectivity), comparison, {}};
  if (kHasPlanes<T> && comparison == Comparison::kPlanes) links.planes = table.planes_of(number);
  return links;
}

template <class T, class Tiles, class Index>
BrickLinks<Tiles::kAxes> links_of_brick(const Above<T>&, const Tiles& tiles, const BrickTable&, const T*,
    const Cell<Tiles::kRank, Index>&, int64_t, Bits, Bits foreground, Comparison) {
  return {foreground, int(tiles.grid.connectivity), Comparison::kNone, {}};
}

// Links given as words, along steps that move along `most_moves` axes at most.
template <int most_moves> struct GivenLinks {
  using Value = uint8_t;
  static constexpr bool kTransitive = false, kOneValue = false;

  // Calls body(step, elements linked to the one there) for the backward steps to neighbours.
  template <class Tiles>
  static void for_each_step(const Tiles& tiles, const BrickTable& table, int64_t number, auto&& body) {
    const Bits* word = table.links + number;
#pragma unroll
    for (int step = 0; step < Tiles::B::kNoStep; ++step) {
      if (Tiles::B::moves(step) > most_moves || !tiles.has_step(step)) continue;
      body(step, *word);
      word += table.bricks;
    }
  }
};

template <int most_moves, class Tiles, class Index>
GivenBrickLinks<Tiles::kAxes> links_of_brick(const GivenLinks<most_moves>& given, const Tiles& tiles,
    const BrickTable& table, const uint8_t*, const Cell<Tiles::kRank, Index>&, int64_t number, Bits inside,
    Bits foreground, Comparison) {
  using B = typename Tiles::B;
  GivenBrickLinks<Tiles::kAxes> brick{{foreground, 0, Comparison::kValues, {}}};
  given.for_each_step(tiles, table, number, [&](int step, Bits linked) {
    // Values may have changed since the masks were made: both ends are foreground of the masks.
    brick.back[step] = linked & B::stays(step, inside) & foreground & foreground << B::distance_back(step);
  });
  return brick;
}

}
