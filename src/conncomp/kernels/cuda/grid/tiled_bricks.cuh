// Connected components of an array on the GPU by union–find over bricks in tiles. The default for large
// arrays.
//
// What: fills label[i] with the smallest index of i's component or its number, or -1 or 0 where there is
// background.
// How: a block of threads takes a tile, and each thread of it a brick of 64 elements as a word of bits, whose
// components it finds by shifts (bricks.cuh). A component stands where its first element is, so that the
// smallest index is the root. It is put under one of another brick that it touches by a plain store; the
// others that it touches take a union in shared memory (label_tiles). What reaches no border of the tile is
// labelled with that: nothing but a bit is written for it, or its root if it is in several bricks. The others
// get an entry in global memory, where unions across tiles follow (join_tiles). Then each thread finds the
// components of its brick again, follows their entries to the roots and writes those (write_labels). For
// consecutive labels, roots of tiles are pointed to those of components before (settle_roots), whose bits are
// gathered in the order of the array (gather_roots): the label of a root follows from the number of bits
// before it (root_bits.cuh).
//
// The values and the labels may be memory that its owner changes meanwhile, and values of several kinds are
// read by each kernel anew. So no kernel takes for granted what another one found in them, or wrote to the
// labels: what an element is, and which words and shared memory an index leads to, follows from the masks,
// which are ours, and values that are read again only choose among foreground of the masks. An entry is
// followed only to a smaller index (union_find.h); in a component it may be one that was never written.
//
// Cost: the array is read once and labels are written once, values of several kinds in a tile are read again;
// beyond that, two bits an element, three for consecutive labels, and 4 or 8 bytes for each component of a
// brick that reaches the border of its tile, both written and read.
//
// Source: ours. Labelling blocks of pixels instead of pixels is Grana, Borghesani and Cucchiara 2010, and
// Allegretti, Bolelli and Grana 2020 on GPUs, with blocks of 2 x 2, whose pixels are connected always. The
// first union by a plain store is the start of ECL-CC (Jaiganesh and Burtscher 2018).
#pragma once

#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/bricks.cuh"
#include "cuda/grid/tiling.cuh"

namespace conncomp {

constexpr int kJoinThreads = 128;                  // a thread for each brick at the border of a tile
constexpr int kSomeAlone = 16;                     // lanes whose bricks have elements without neighbours
constexpr int kPairsInTile = 8, kPairsBeside = 4;  // that a thread may put off

// An array in tiles of bricks.
template <int rank, class Logs>
struct BrickTiles : Tiling<rank, Brick<(rank < 3 ? rank : 3)>::kLog, Logs> {
  using Base = Tiling<rank, Brick<(rank < 3 ? rank : 3)>::kLog, Logs>;
  using Base::axis, Base::grid, Base::kAxes, Base::log, Base::log_before, Base::place, Base::tile_of;
  static constexpr int kThreads = rank < 3 ? 128 : 256;  // a thread for each brick; at most so many
  using B = Brick<kAxes>;

  // The number of a cell's brick in its tile, and in the array.
  template <class Index>
  __device__ int brick_of(const Cell<rank, Index>& cell) const {
    int brick = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a)
      brick |= int(cell.at[rank - 1 - a] >> B::kLog & ((1 << log[a]) - 1)) << log_before(a);
    return brick;
  }
  template <class Index>
  __device__ int64_t number_of(const Cell<rank, Index>& cell) const {
    return (int64_t(tile_of(cell)) << Base::log_parts()) + brick_of(cell);
  }

  // Elements of a tile are numbered as they lie there, too.
  __device__ int shift(int a) const { return log_before(a) + a * B::kLog; }
  // How far one is from the first of its brick.
  __device__ int distance_in_tile(int bit) const {
    int found = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) found |= B::coordinate(bit, a) << shift(a);
    return found;
  }
  __device__ int node_of(int brick, int bit) const {
    int node = distance_in_tile(bit);
#pragma unroll
    for (int a = 0; a < kAxes; ++a) node |= place(brick, a) << (B::kLog + shift(a));
    return node;
  }
  __device__ int brick_of_node(int node) const {
    int brick = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a)
      brick |= (node >> (shift(a) + B::kLog) & ((1 << log[a]) - 1)) << log_before(a);
    return brick;
  }
  __device__ int bit_of_node(int node) const {
    int bit = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) bit |= (node >> shift(a) & (B::kSide - 1)) << a * B::kLog;
    return bit;
  }

  // How far an element is from the first one of its tile, or of its brick, in the array.
  template <class Index>
  __device__ Index index_of_node(int node) const {
    Index found = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a)
      found += Index(node >> shift(a) & ((1 << (log[a] + B::kLog)) - 1)) * Index(axis(a).index_stride);
    return found;
  }
  template <class Index>
  __device__ Index distance(int bit) const {
    Index found = Index(B::coordinate(bit, 0));
#pragma unroll
    for (int a = 1; a < kAxes; ++a) found += Index(B::coordinate(bit, a)) * Index(axis(a).index_stride);
    return found;
  }
  // The length of a brick along an axis, and which of its elements are in the array.
  template <class Index>
  __device__ int length(const Cell<rank, Index>& first, int a) const {
    const int64_t rest = axis(a).length - first.at[rank - 1 - a];
    return rest < 0 ? 0 : rest < B::kSide ? int(rest) : B::kSide;
  }
  template <class Index>
  __device__ Bits inside(const Cell<rank, Index>& first) const {
    Bits found = ~Bits(0);
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int here = length(first, a);
      found &= here == B::kSide ? ~Bits(0) : here == 0 ? 0 : B::layers(a, here);
    }
    return found;
  }
  template <class Value>
  __device__ BrickValues<Value, kAxes> values_at(const Value* first, Bits inside) const {
    int64_t strides[kAxes];
#pragma unroll
    for (int a = 0; a < kAxes; ++a) strides[a] = axis(a).value_stride;
    return {first, strides, inside};
  }
};

// What tiles know of each other: the foreground of each brick, a tile's bricks lying together, whether it is
// of several values in a tile, and which one it is otherwise.
template <class Value>
struct Masks {
  const Bits* fore;
  const uint8_t* mixed;
  const Value* value;
};

// Pairs to be united, in shared memory. Threads come upon them at different times; if each united its own at
// once, the others of its warp would wait. There is room for a few pairs of each thread.
template <class Pair, int threads, int each>
struct Pairs {
  Pair pair[each * threads];
  int count;

  __device__ int capacity() const { return each * int(blockDim.x); }

  // False if there is no room left.
  __device__ bool add(const Pair& added) {
    const int at = InBlock::fetch_add(&count, 1);
    if (at < capacity()) pair[at] = added;
    return at < capacity();
  }
  // Calls body(pair) for all pairs. All threads of the block call, and no one adds any more.
  template <class Body>
  __device__ void for_each(Body&& body) const {
    const int stored = count < capacity() ? count : capacity();
    for (int begin = 0; begin < stored; begin += int(blockDim.x)) {
      const int k = begin + int(threadIdx.x);
      if (k < stored) body(pair[k]);
      __syncwarp();
    }
  }
};

// ------------------------------------------------------------------------------------------ in one tile

// Which elements of a brick touch others outside of its tile, or could.
template <class Tiles, class Index>
__device__ inline Bits border_of_tile(const Tiles& tiles, const Cell<Tiles::kRank, Index>& first, int brick) {
  constexpr int rank = Tiles::kRank;
  using B = typename Tiles::B;
  Bits found = 0;
#pragma unroll
  for (int k = 0; k < rank; ++k) {
    const GridAxis& axis = tiles.grid.axes[k];
    const int a = rank - 1 - k;
    if (a >= Tiles::kAxes) {
      if (axis.length > 1) found = ~Bits(0);
      continue;
    }
    const int place = tiles.place(brick, a), here = tiles.length(first, a);
    const bool ends = int64_t(first.at[k]) + B::kSide >= axis.length;
    if (place == 0 && (first.at[k] > 0 || axis.periodic)) found |= B::layer(a, 0);
    if (ends ? axis.periodic && here > 0 : place == (1 << tiles.log[a]) - 1) found |= B::layer(a, here - 1);
  }
  return found;
}

// What is around a brick in its tile.
template <class Tiles>
__device__ inline auto around_in_tile(const Tiles& tiles, int brick, const Bits* fore) {
  constexpr int kAxes = Tiles::kAxes;
  const WholeLayers layers{Tiles::B::kSide};
  Around<kAxes> found{};
  found.for_each_brick([&](int a, const int (&steps)[3]) {
    bool exists = true;
    int there = brick;
#pragma unroll
    for (int k = 0; k < kAxes; ++k) {
      const int to = tiles.place(brick, k) + steps[k];
      exists &= to >= 0 && to < 1 << tiles.log[k];
      there += steps[k] * (1 << tiles.log_before(k));
    }
    if (exists) found.add(a, steps, fore[there], layers);
  });
  return found;
}

// The elements of each brick that have no foreground around them in the tile. All threads of a block call
// together; there is room for as many as axes for each of them.
template <class Tiles, class Crowd>
__device__ inline Bits alone_in_tile(const Tiles& tiles, int brick, Bits fore, Crowd* crowds) {
  Crowd here{fore, 0};
#pragma unroll
  for (int a = 0; a < Tiles::kAxes; ++a, crowds += blockDim.x) {
    crowds[brick] = here;
    __syncthreads();
    const int by = 1 << tiles.log_before(a), place = tiles.place(brick, a);
    here = here.spread(a, place > 0 ? crowds[brick - by] : Crowd{},
                       place + 1 < 1 << tiles.log[a] ? crowds[brick + by] : Crowd{});
  }
  __syncthreads();
  return fore & ~here.several;
}

// Those elements of a word around a brick that have the value of a component. The brick's values begin at
// `first`.
template <class Value, class Tiles, class Word>
__device__ inline Word equal_around(const Tiles& tiles, const Value* first, Bits component, int word,
                                    Word touched) {
  constexpr int kAxes = Tiles::kAxes;
  const Value value = *tiles.values_at(first, 0).at(lowest(component));
  Word found = 0;
#pragma unroll 1
  for (Word rest = touched; rest != 0; rest &= rest - 1) {
    const Value* there = first;
#pragma unroll
    for (int a = 0; a < kAxes; ++a)
      there += Around<kAxes>::distance(word, lowest(rest), a) * tiles.axis(a).value_stride;
    if (*there == value) found |= lowest_bit(rest);
  }
  return found;
}

// Calls body(distance in the tile) for the elements of a component by which other bricks know of it: those in
// the last layers, or in two dimensions, if all foreground is of one value, where its runs along these layers
// start.
template <class Tiles, class Body>
__device__ inline void for_each_known(const Tiles& tiles, Bits component, bool mixed, Body&& body) {
  constexpr int kAxes = Tiles::kAxes, kLast = Tiles::B::kSide - 1;
  if constexpr (kAxes == 2) {
    uint32_t row = uint32_t(component >> 7 * 8), column = Around<2>::layer(0, component >> 7);
    if (!mixed) {
      row &= ~(row << 1) | 1u << kLast;  // all may be asked for the last one
      column &= ~(column << 1);
    }
    for (uint32_t rest = row | column << 8; rest != 0; rest &= rest - 1) {
      const int k = lowest(rest);
      body(k < 8 ? (kLast << tiles.shift(1)) + k : ((k - 8) << tiles.shift(1)) + kLast);
    }
  } else {
    Bits last = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) last |= Brick<kAxes>::layer(a, kLast);
    for (Bits rest = component & last; rest != 0; rest &= rest - 1)
      body(tiles.distance_in_tile(lowest(rest)));
  }
}

// A block a tile. `reaching_of_brick` may be null.
template <class Value, class Tiles, class Index>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 7 : 3)
    label_tiles(Tiles tiles, const Value* __restrict__ values, Value ground, bool has_ground,
                Index* __restrict__ parent, Bits* fore_of_brick, Bits* inner_of_brick,
                Bits* reaching_of_brick, uint8_t* mixed_tiles, Value* value_of_tile, int64_t* components) {
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes, kThreads = Tiles::kThreads;
  CONNCOMP_DYNAMIC_SHARED(uint16_t, nodes);  // a parent for each element
  __shared__ Bits fore[kThreads];
  __shared__ Around<kAxes> around[kThreads];
  // Of each brick: roots of components that reach no border of the tile, and other roots in the tile.
  __shared__ uint32_t inner[2 * kThreads], reaching[2 * kThreads];
  __shared__ Findings findings_of_warp[kThreads / kWarp];
  __shared__ Value value_of_warp[kThreads / kWarp];
  __shared__ bool has_value[kThreads / kWarp];
  struct Pair {
    uint16_t mine, other;
  };
  __shared__ Pairs<Pair, kThreads, kPairsInTile> pairs;

  const int brick = int(threadIdx.x), first_of_warp = brick - lane();
  Findings& findings = findings_of_warp[brick / kWarp];
  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const Cell<rank, Index> first = tiles.first_of(corner, brick);
  const auto mine = tiles.values_at(values + first.offset, tiles.inside(first));
  if (grid_thread() == 0) *components = 0;
  if (brick == 0) pairs.count = 0;

  // Its foreground; is it of one value only, in the whole tile?
  Seen<Value> seen{};
  const Bits my_fore = mine.foreground(ground, has_ground, seen);
  fore[brick] = my_fore;
  reaching[2 * brick] = reaching[2 * brick + 1] = inner[2 * brick] = inner[2 * brick + 1] = 0;
  const uint32_t with_value = __ballot_sync(kAllLanes, seen.any);
  if (lane() == 0) has_value[brick / kWarp] = with_value != 0;
  if (with_value != 0 && lane() == __ffs(int(with_value)) - 1) value_of_warp[brick / kWarp] = seen.value;
  __syncthreads();
  // Lane k compares the value of warp k.
  const bool there = lane() < int(blockDim.x) / kWarp && has_value[lane()];
  const uint32_t warps = __ballot_sync(kAllLanes, there);
  const Value value = value_of_warp[warps == 0 ? 0 : __ffs(int(warps)) - 1];
  seen.differ |= (there && !(value_of_warp[lane()] == value)) || (seen.any && !(seen.value == value));
  const bool mixed = __syncthreads_or(seen.differ);
  const int connectivity = int(tiles.grid.connectivity);
  Links<kAxes> links{my_fore, connectivity, false, {}};
  if (mixed) links = mine.links(my_fore, connectivity);
  around[brick] = around_in_tile(tiles, brick, fore);

  // Elements that are connected with no other one are components. It pays to find them first if there are
  // many; in a tile of several values only those that this takes no more values for.
  const Bits border = border_of_tile(tiles, first, brick);
  Bits alone = 0;
  if (mixed) {
    alone = my_fore & ~links.with_neighbour() & Brick<kAxes>::interior() & ~border;
  } else if (rank <= kAxes) {
    const uint32_t with_several = __ballot_sync(kAllLanes, __popcll(my_fore & ~links.with_neighbour()) > 1);
    if (__syncthreads_or(__popc(with_several) >= kSomeAlone))
      alone = alone_in_tile(tiles, brick, my_fore, reinterpret_cast<Crowd<kAxes>*>(nodes)) & ~border;
  }
  __syncwarp();

  // Components, each under one that it touches and that begins before it; what else it touches is put off.
  // Other bricks know of it by its elements in the last layers.
  Bits firsts = 0, at_border = 0;
  bool again = false;
  for (;; again = true) {
    const auto each = [&](Bits component, int) {
      firsts |= lowest_bit(component);
      if (component & border) at_border |= lowest_bit(component);
    };
    findings.for_each_component(links, my_fore & ~alone, kBits, each, [&](Bits component, int its_lane, int) {
      const int its_brick = first_of_warp + its_lane, origin = tiles.node_of(its_brick, 0);
      const int node = origin + (component != 0 ? tiles.distance_in_tile(lowest(component)) : 0);
      const auto touched = around[its_brick].touched_by(component, connectivity, [&](int word, auto found) {
        if (!mixed) return found;
        return equal_around(tiles, values + tiles.first_of(corner, its_brick).offset, component, word, found);
      });
      uint16_t under = uint16_t(node);
#pragma unroll
      for (int word = 0; word < Around<kAxes>::kWords; ++word) {
        auto rest = Around<kAxes>::without_next(word, touched.word[word], connectivity);
        for (; __any_sync(kAllLanes, rest != 0); rest &= rest - 1) {
          if (rest != 0) {
            int bit = lowest(rest), other = origin;
            if (kAxes == 2 && !mixed) bit = around[its_brick].start_of_run(bit);
#pragma unroll
            for (int a = 0; a < kAxes; ++a)
              other += Around<kAxes>::distance(word, bit, a) * (1 << tiles.shift(a));
            if (again)
              unite<InBlock>(nodes, uint16_t(node), uint16_t(other));
            else if (under == node && other < node)
              under = uint16_t(other);
            else
              pairs.add({uint16_t(node), uint16_t(other)});
          }
          __syncwarp();
        }
      }
      if (again) return;
      for_each_known(tiles, component, mixed, [&](int by) { nodes[origin + by] = uint16_t(node); });
      __syncwarp();
      if (component != 0) nodes[node] = under;
    });
    __syncthreads();
    if (again || pairs.count <= pairs.capacity()) break;
    // There was no room for all: they are united at once, now that all are known.
  }
  // All components are pointed to their roots, and of each pair of different roots one is put under the
  // other, until there is no such pair: a store that another one overwrites is made up for in the next round.
  constexpr int kAtBorder = 1 << 15;
  const auto node_at = [&](int bit) {
    return tiles.node_of(brick, bit) | (at_border >> bit & 1 ? kAtBorder : 0);
  };
  const int noted = findings.note(firsts, node_at);
  for (bool changed = true; changed;) {
    findings.for_each_noted(noted, firsts, node_at, [&](int node) {
      node &= ~kAtBorder;
      // Others on the path do the same, so that it grows shorter on the way.
      uint16_t above = InBlock::load(nodes + node);
      for (uint16_t next; (next = InBlock::load(nodes + above)) != above; above = next)
        InBlock::store(nodes + node, next);
    });
    __syncthreads();
    changed = false;
    pairs.for_each([&](const Pair& pair) {
      // The other element may not be the first one of its component.
      const uint16_t a = InBlock::load(nodes + pair.mine),
                     b = InBlock::load(nodes + InBlock::load(nodes + pair.other));
      if (again || a == b) return;
      InBlock::store(nodes + (a < b ? b : a), a < b ? a : b);
      changed = true;
    });
    changed = __syncthreads_or(changed);
  }

  // Which roots reach the border?
  findings.for_each_noted(noted, firsts, node_at, [&](int node) {
    if (!(node & kAtBorder)) return;
    const int root = InBlock::load(nodes + (node & ~kAtBorder)), place = tiles.bit_of_node(root);
    InBlock::fetch_or(reaching + 2 * tiles.brick_of_node(root) + place / kWord, 1u << place % kWord);
  });
  __syncthreads();
  // Their components get entries: their index in the array, or that of the root in the tile. What is in
  // another place than its root and reaches no border gets its label, complemented.
  findings.for_each_noted(noted, firsts, node_at, [&](int node) {
    node &= ~kAtBorder;
    const int root = InBlock::load(nodes + node), place = tiles.bit_of_node(root);
    const int half = 2 * tiles.brick_of_node(root) + place / kWord;
    const bool reaches = reaching[half] >> place % kWord & 1;
    if (root == node && !reaches) {
      InBlock::fetch_or(inner + half, 1u << place % kWord);
      return;
    }
    const Index index = corner.index + tiles.template index_of_node<Index>(root);
    parent[corner.index + tiles.template index_of_node<Index>(node)] = reaches ? index : Index(~index);
  });
  __syncwarp();
  const int64_t number = int64_t(blockIdx.x) * tiles.parts() + brick;
  fore_of_brick[number] = my_fore;
  inner_of_brick[number] = alone | inner[2 * brick] | Bits(inner[2 * brick + 1]) << kWord;
  if (reaching_of_brick != nullptr)
    reaching_of_brick[number] = reaching[2 * brick] | Bits(reaching[2 * brick + 1]) << kWord;
  if (brick == 0) {
    mixed_tiles[blockIdx.x] = mixed;
    value_of_tile[blockIdx.x] = value;
  }
}

// ---------------------------------------------------------------------------------------- across tiles

// How a brick meets those around it if it may be cut off by the end of the array.
template <int axes>
struct LayersAtBorder {
  int last_before[axes], last[axes];

  template <class Tiles, class Index>
  __device__ LayersAtBorder(const Tiles& tiles, const Cell<Tiles::kRank, Index>& first) {
    constexpr int rank = Tiles::kRank;
    constexpr int kSide = Brick<axes>::kSide;
#pragma unroll
    for (int a = 0; a < axes; ++a) {
      last_before[a] = first.at[rank - 1 - a] == 0 ? int((tiles.axis(a).length - 1) % kSide) : kSide - 1;
      last[a] = tiles.length(first, a) - 1;
    }
  }
  __device__ int before(int a) const { return last_before[a]; }
  __device__ int mine(int a) const { return last[a]; }
};

// A tile beside another one, or the same one where an axis closes on itself.
struct TileBeside {
  int64_t first;  // the number of its first brick; -1 if there is no such tile, or none of its elements
                  // equals any of the tile
  bool mixed;     // whether the elements of both may be of several values
};

template <class Index>
struct PairInArray {
  Index mine, other;  // the entry of a component, and any element of another one
};

template <class Value, class Tiles, class Index>
struct Joining {
  static constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes, kOuter = rank - kAxes;
  static constexpr int kSides = Brick<kAxes>::kSteps;  // of tiles, with itself
  using B = Brick<kAxes>;
  using Around = conncomp::Around<kAxes>;
  using Cell = conncomp::Cell<rank, Index>;
  using Pair = PairInArray<Index>;
  // A block has bricks of so many tiles at most, as a tile has 1, 14 or 28 of them at its borders at least.
  static constexpr int kTiles = kAxes == 1 ? kJoinThreads : kJoinThreads / (kAxes == 2 ? 14 : 28) + 2;

  const Tiles& tiles;
  const Value* values;
  Index* parent;
  const Masks<Value>& masks;
  Pairs<Pair, kJoinThreads, kPairsBeside>& pairs;

  __device__ auto values_of(const Cell& first) const {
    return tiles.values_at(values + first.offset, tiles.inside(first));
  }
  __device__ int connectivity() const { return int(tiles.grid.connectivity); }
  __device__ Links<kAxes> links(const Cell& first, Bits fore, bool mixed) const {
    if (mixed) return values_of(first).links(fore, connectivity());
    return {fore, connectivity(), false, {}};
  }
  // Moves a cell so many steps of `width` elements along an axis; false if there is nothing.
  __device__ bool move(Cell& cell, int k, int steps, int width) const {
    if (steps == 0) return true;
    const GridAxis& axis = tiles.grid.axes[k];
    int64_t to = int64_t(cell.at[k]) + steps * width;
    if (to < 0 || to >= axis.length) {
      if (!axis.periodic) return false;
      to = to < 0 ? (axis.length - 1) / width * width : 0;
    }
    cell.move(tiles.grid, k, Index(to - cell.at[k]));
    return true;
  }
  // Whether elements of two tiles may be of one value.
  __device__ bool may_equal(uint32_t tile, uint32_t other) const {
    return masks.mixed[tile] || masks.mixed[other] || masks.value[tile] == masks.value[other];
  }

  // The tile one step from another one, as in `Steps`.
  __device__ TileBeside beside(uint32_t tile, int step) const {
    uint32_t rest = tile, other = 0, stride = 1;
    bool exists = true;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      const uint32_t count = tiles.along(k);
      uint32_t at = rest % count;
      rest /= count;
      if (rank - 1 - k < kAxes) {
        const int by = B::step(step, rank - 1 - k);
        const bool wraps = by < 0 ? at == 0 : by > 0 && at + 1 == count;
        exists &= !wraps || tiles.grid.axes[k].periodic;
        at = !wraps ? at + uint32_t(by) : by < 0 ? count - 1 : 0;
      }
      other += at * stride;
      stride *= count;
    }
    if (!exists || !may_equal(tile, other)) return {-1, false};
    return {int64_t(other) << tiles.log_parts(), masks.mixed[tile] || masks.mixed[other]};
  }
  // What is around a brick in other tiles, and whether it may be of other values. `beside` has the tiles at
  // all steps.
  __device__ Around around(const Cell& first, int brick, const TileBeside* beside, bool& mixed) const {
    const LayersAtBorder<kAxes> layers(tiles, first);
    // Along each axis: where the brick before, this one and the one after are in their tile, and how far
    // the code of the step to that tile is from that of none.
    int place[kAxes][3], code[kAxes][3];
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int last = (1 << tiles.log[a]) - 1, at = tiles.place(brick, a);
      const int64_t length = tiles.axis(a).length, here = first.at[rank - 1 - a];
      const int last_of_all = int((length - 1) >> B::kLog) & last;
      const bool ends = at == last || here + B::kSide >= length;
      place[a][0] = at > 0 ? at - 1 : here == 0 ? last_of_all : last;
      place[a][1] = at;
      place[a][2] = ends ? 0 : at + 1;
      code[a][0] = at > 0 ? 0 : -B::unit(a);
      code[a][1] = 0;
      code[a][2] = ends ? B::unit(a) : 0;
#pragma unroll
      for (int& there : place[a]) there <<= tiles.log_before(a);
    }
    Around found{};
    mixed = false;
    found.for_each_brick([&](int a, const int (&steps)[3]) {
      int there = 0, step = B::kNoStep;
#pragma unroll
      for (int k = 0; k < kAxes; ++k) {
        there += place[k][steps[k] + 1];
        step += code[k][steps[k] + 1];
      }
      if (step == B::kNoStep || beside[step].first < 0) return;
      mixed |= beside[step].mixed;
      found.add(a, steps, masks.fore[beside[step].first + there], layers);
    });
    return found;
  }
  // How far an element around a brick is from its first one, by a stride for each axis.
  template <class Stride>
  __device__ auto distance(const Cell& first, int word, int bit, Stride&& stride) const {
    decltype(stride(tiles.axis(0))) found = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int64_t at = first.at[rank - 1 - a], length = tiles.axis(a).length;
      int64_t to = at + Around::distance(word, bit, a);
      if (to < 0) to += length;
      if (to >= length) to -= length;
      found += Index(to - at) * stride(tiles.axis(a));
    }
    return found;
  }

  // The entry of an element.
  __device__ Index entry_of(Index element) const {
    Cell cell{};
    int bit = 0;
    Index rest = element;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      const Index length = Index(tiles.grid.axes[k].length);
      Index at = rest % length;
      rest /= length;
      if (rank - 1 - k < kAxes) {
        bit |= int(at & (B::kSide - 1)) << (rank - 1 - k) * B::kLog;
        at &= ~Index(B::kSide - 1);
      }
      cell.move(tiles.grid, k, at);
    }
    Bits fore = masks.fore[tiles.number_of(cell)];
    if (masks.mixed[tiles.tile_of(cell)]) {
      const auto brick = values_of(cell);
      fore = brick.equal_to(*brick.at(bit), fore) | Bits(1) << bit;  // whatever the second reading gives
    }
    const Links<kAxes> links{fore, connectivity(), false, {}};
    return cell.index + tiles.template distance<Index>(lowest(links.component_of(Bits(1) << bit)));
  }
  __device__ void unite_pair(const Pair& pair) const {
    unite<Shared>(parent, pair.mine, entry_of(pair.other));
  }
  __device__ void put_off(Index mine, Index other) const {
    const Pair pair{mine, other};
    if (!pairs.add(pair)) unite_pair(pair);
  }

  // A component of a brick with what it touches around.
  __device__ void join(const Cell& first, const Around& around, bool mixed, Bits component) const {
    const Index entry = first.index + tiles.template distance<Index>(lowest(component));
    const Around touched = around.touched_by(component, connectivity(), [&](int word, auto found) {
      if (!mixed) return found;
      const Value value = *values_of(first).at(lowest(component));
      for (auto rest = found; rest != 0; rest &= rest - 1)
        if (!(values[first.offset + distance(first, word, lowest(rest),
                                             [](auto& axis) { return axis.value_stride; })] == value))
          found &= ~lowest_bit(rest);
      return found;
    });
#pragma unroll
    for (int word = 0; word < Around::kWords; ++word)
      for (auto rest = Around::without_next(word, touched.word[word], connectivity()); rest != 0;
           rest &= rest - 1)
        put_off(entry, first.index + distance(first, word, lowest(rest),
                                              [](auto& axis) { return Index(axis.index_stride); }));
    if constexpr (kOuter > 0) join_outside(first, component, entry);
  }
  // The same with bricks beside it along the axes that bricks do not have, and those around these.
  __device__ void join_outside(const Cell& first, Bits component, Index entry) const {
    const LayersAtBorder<kAxes> layers(tiles, first);
    const uint32_t tile = tiles.tile_of(first);
    int steps = 1;
    for (int k = 0; k < kOuter; ++k) steps *= 3;
    for (int outer = 0; outer < steps / 2; ++outer) {
      Cell beside = first;
      bool inside = true;
      int outer_moves = 0;
#pragma unroll
      for (int k = 0, rest = outer; k < kOuter; ++k, rest /= 3) {
        const int by = rest % 3 - 1;
        outer_moves += by != 0;
        inside &= move(beside, kOuter - 1 - k, by, 1);
      }
      if (!inside || outer_moves > connectivity()) continue;
      for (int step = 0; step < B::kSteps; ++step) {
        Cell there = beside;
        bool exists = true;
        int moves = outer_moves, along = 0, shift = 0;
        Bits facing = component;
#pragma unroll
        for (int a = 0; a < kAxes; ++a) {
          const int by = B::step(step, a), last = layers.mine(a);
          moves += by != 0;
          exists &= move(there, rank - 1 - a, by, B::kSide);
          if (by == 0) along |= 1 << a;
          if (by < 0) shift += B::stride(a) * layers.before(a);
          if (by > 0) shift -= B::stride(a) * last;
          if (by != 0) facing &= B::layer(a, by < 0 ? 0 : last);
        }
        if (!exists || facing == 0 || moves > connectivity()) continue;
        const uint32_t other = tiles.tile_of(there);
        if (!may_equal(tile, other)) continue;
        facing = B::dilated(facing, along, connectivity() - moves);
        Bits touched = (shift < 0 ? facing >> -shift : facing << shift) & masks.fore[tiles.number_of(there)];
        if (masks.mixed[tile] || masks.mixed[other])
          touched = values_of(there).equal_to(*values_of(first).at(lowest(component)), touched);
        for (Bits rest = B::without_next(touched); rest != 0; rest &= rest - 1)
          put_off(entry, there.index + tiles.template distance<Index>(lowest(rest)));
      }
    }
  }
};

// The k-th of the bricks of a tile that may have one of another tile before them, at a step: with two axes
// those of the first row, and the first and the last one of the others; with three those of the first plane,
// and of the others the first row, the last one, and the first and the last one of those between. With more
// axes all have.
template <class Tiles, class Index>
__device__ inline int brick_to_join(const Tiles& tiles, const Cell<Tiles::kRank, Index>& corner, int k) {
  constexpr int rank = Tiles::kRank;
  if (rank == 1 || rank > 3) return k;
  const auto last = [&](int a) {  // of those that are in the array
    const int64_t rest = (tiles.axis(a).length - 1 - corner.at[rank - 1 - a]) >> Tiles::B::kLog;
    return int(rest < (1 << tiles.log[a]) - 1 ? rest : (1 << tiles.log[a]) - 1);
  };
  const int width = 1 << tiles.log[0], height = 1 << tiles.log[1], beside = tiles.log[0] == 0 ? 1 : 2;
  int before = 0;
  if (rank == 3) {
    if (k < width * height) return k;
    k -= width * height;
    const int of_plane = height == 1 ? width : 2 * width + (height - 2) * beside;
    before = (k / of_plane + 1) * width * height;
    k %= of_plane;
    if (k >= width && k < 2 * width) return before + last(1) * width + k - width;
    if (k >= width) k -= width;
  }
  if (k < width) return before + k;
  k -= width;
  return before + (k / beside + 1) * width + (k % beside == 0 ? 0 : last(0));
}

// A thread for each of the `each` bricks of a tile at borders; `count` tiles.
template <class Value, class Tiles, class Index>
__global__ void __launch_bounds__(kJoinThreads, Tiles::kRank < 3 && resident_blocks(kJoinThreads) > 8 ? 9 : 8)
    join_tiles(Tiles tiles, int64_t count, int64_t each, const Value* __restrict__ values, Index* parent,
               const Bits* fore_of_brick, const uint8_t* mixed_tiles, const Value* value_of_tile) {
  constexpr int rank = Tiles::kRank;
  using Join = Joining<Value, Tiles, Index>;
  const Masks<Value> masks{fore_of_brick, mixed_tiles, value_of_tile};
  // Of the brick of each thread.
  __shared__ Cell<rank, Index> first_of[kJoinThreads];
  __shared__ typename Join::Around around[kJoinThreads];
  __shared__ TileBeside beside[Join::kSides * Join::kTiles];
  __shared__ bool mixed_around[kJoinThreads];
  __shared__ Findings findings_of_warp[kJoinThreads / kWarp];
  __shared__ Pairs<typename Join::Pair, kJoinThreads, kPairsBeside> pairs;
  const Join joining{tiles, values, parent, masks, pairs};
  const int mine = int(threadIdx.x), first_of_warp = mine - lane();
  if (mine == 0) pairs.count = 0;

  const int64_t k = int64_t(blockIdx.x) * blockDim.x + mine;
  const uint32_t first_tile = uint32_t((k - mine) / each), tile = uint32_t(k / each);
  const int64_t last = (k - mine + blockDim.x - 1) / each;
  const uint32_t tiles_here = uint32_t((last < count ? last + 1 : count) - first_tile);
  for (int at = mine; at < int(tiles_here) * Join::kSides; at += int(blockDim.x))
    beside[at] = joining.beside(first_tile + at / Join::kSides, at % Join::kSides);
  __syncthreads();
  Bits fore = 0, rest = 0;
  mixed_around[mine] = false;
  if (k < count * each) {
    const auto corner = tiles.template corner_of<Index>(tile);
    const int brick = brick_to_join(tiles, corner, int(k - int64_t(tile) * each));
    first_of[mine] = tiles.first_of(corner, brick);
    fore = masks.fore[(int64_t(tile) << tiles.log_parts()) + brick];
    if (fore != 0) {
      around[mine] = joining.around(first_of[mine], brick, beside + (tile - first_tile) * Join::kSides,
                                    mixed_around[mine]);
      rest = fore & (Join::kOuter > 0 ? ~Bits(0) : around[mine].touching(joining.connectivity()));
    }
  }
  const bool mixed = rest != 0 && masks.mixed[tile];
  const auto links = joining.links(first_of[mine], fore, mixed);
  __syncthreads();
  findings_of_warp[mine / kWarp].for_each_component(
      links, rest, kBits, [](Bits, int) {},
      [&](Bits component, int its_lane, int) {
        const int its = first_of_warp + its_lane;
        if (component != 0) joining.join(first_of[its], around[its], mixed_around[its], component);
      });
  __syncthreads();
  pairs.for_each([&](const typename Join::Pair& pair) { joining.unite_pair(pair); });
}

// --------------------------------------------------------------------------------------- roots of tiles

// Points roots of tiles, the `roots_of_brick`, to those of components, complemented; counts the latter, and
// leaves them in place of the former.
template <class Tiles, class Index>
__global__ void __launch_bounds__(kWordThreads)
    settle_roots(Tiles tiles, int64_t bricks, const Bits* __restrict__ inner_of_brick, Bits* roots_of_brick,
                 Index* parent, int64_t* components) {
  int mine = 0;
  for (int64_t number = grid_thread(); number < bricks; number += grid_threads()) {
    Bits roots = inner_of_brick[number];
    const Bits reaching = roots_of_brick[number];
    Index first = 0;
    if (reaching != 0)
      first = tiles
                  .first_of(tiles.template corner_of<Index>(uint32_t(number >> tiles.log_parts())),
                            int(number & (tiles.parts() - 1)))
                  .index;
    for (Bits rest = reaching; rest != 0; rest &= rest - 1) {
      const Index i = first + tiles.template distance<Index>(lowest(rest));
      Index root = i;
      // Others may be settled already.
      for (Index above; (above = Shared::load(parent + root)) < root; root = above)
        if (above < 0) {
          root = ~above;
          break;
        }
      Shared::store(parent + i, Index(~root));
      if (root == i) roots |= lowest_bit(rest);
    }
    mine += __popcll(roots);
    roots_of_brick[number] = roots;
  }
  const int total = block_sum<kWordThreads>(mine);
  if (threadIdx.x == 0) Shared::fetch_add(components, int64_t(total));
}

// The roots of components, a bit for each element, in words of 32 along rows of the array; and how many there
// are in each chunk of so many words. `columns` words are a row.
template <class Tiles, class Index>
__global__ void __launch_bounds__(kWordThreads)
    gather_roots(Tiles tiles, int64_t words, int64_t columns, int64_t chunk,
                 const Bits* __restrict__ roots_of_brick, uint32_t* __restrict__ roots_of_word,
                 int64_t* __restrict__ roots_in_chunk) {
  using B = typename Tiles::B;
  constexpr int rank = Tiles::kRank;
  constexpr int kSide = B::kSide < kWord ? B::kSide : kWord;
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int mine = 0;
    for (int64_t word = begin + threadIdx.x; word < end; word += kWordThreads) {
      Cell<rank, Index> cell = first_of_row<Index>(tiles.grid, rank - 1, word / columns);
      cell.move(tiles.grid, rank - 1, Index(word % columns) * kWord);
      int bit = 0;  // of the first element, in its brick
#pragma unroll
      for (int a = 0; a < Tiles::kAxes; ++a)
        bit += int(cell.at[rank - 1 - a] & (B::kSide - 1)) << a * B::kLog;
      uint32_t roots = 0;
      int64_t brick = tiles.number_of(cell);
#pragma unroll
      for (int x = 0; x < kWord; x += kSide) {
        if (cell.at[rank - 1] >= tiles.axis(0).length) break;
        roots |= uint32_t(roots_of_brick[brick] >> bit & B::ones(kSide)) << x;
        cell.move(tiles.grid, rank - 1, kSide);
        // The next one is beside it, or in the tile beside.
        const bool in_tile = (cell.at[rank - 1] & ((B::kSide << tiles.log[0]) - 1)) != 0;
        brick += in_tile ? 1 : tiles.parts() + 1 - (1 << tiles.log[0]);
      }
      roots_of_word[word] = roots;
      mine += __popc(roots);
    }
    const int total = block_sum<kWordThreads>(mine);
    if (threadIdx.x == 0) roots_in_chunk[part] = total;
  }
}

// ---------------------------------------------------------------------------------------------- labels

// Spreads eight bits, so that they are four apart.
__device__ inline uint32_t spread(uint32_t bits) {
  bits = (bits | bits << 12) & 0x000f000fu;
  bits = (bits | bits << 6) & 0x03030303u;
  return (bits | bits << 3) & 0x11111111u;
}

// Writes the labels of a row of each lane's brick, those that are `wanted`: four bits of `numbers` for each
// say which one of `labels` it is. Those of a lane are kWarp apart. Lanes beside each other write to
// addresses beside each other, so many labels at once.
template <int together, class B, class Index>
__device__ inline void write_row(Index* label, Index first, uint32_t numbers, uint32_t wanted,
                                 const Index* labels) {
#pragma unroll
  for (int step = 0; step < B::kRow / together; ++step) {
    int source = lane();
    Index to = first;
    uint32_t its_numbers = numbers, its_wanted = wanted;
    if constexpr (together < B::kRow) {
      const int from = (lane() + step * kWarp) * together, x = from % B::kRow;
      source = from / B::kRow;
      to = Index(__shfl_sync(kAllLanes, first, source)) + x;
      its_numbers = __shfl_sync(kAllLanes, numbers, source) >> 4 * x;
      its_wanted = __shfl_sync(kAllLanes, wanted, source) >> x;
    }
    Index its[together];
#pragma unroll
    for (int k = 0; k < together; ++k) its[k] = labels[(its_numbers >> 4 * k & 15) * kWarp + source];
    constexpr uint32_t kWhole = (1u << together) - 1;
    if ((its_wanted & kWhole) == kWhole) {
      Shared::store_all(label + to, its);
    } else {
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (its_wanted >> k & 1) Shared::store(label + to + k, its[k]);
    }
  }
}

// A block a tile.
template <class Value, bool consecutive, class Tiles, class Index>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 8 : 3)
    write_labels(Tiles tiles, const Value* __restrict__ values, Index* label,
                 const Bits* __restrict__ fore_of_brick, const Bits* __restrict__ inner_of_brick,
                 const uint8_t* __restrict__ mixed_tiles, int64_t columns,
                 const uint32_t* __restrict__ roots_of_word, const Index* __restrict__ number_of_word,
                 int64_t* components) {
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes, kThreads = Tiles::kThreads;
  using B = Brick<kAxes>;
  // Labels of the background and of up to 15 components of each brick, in turn for the bricks of a warp.
  constexpr int kAtOnce = 15;
  __shared__ Index labels_of_warp[kThreads / kWarp][(1 + kAtOnce) * kWarp];
  __shared__ Findings findings_of_warp[kThreads / kWarp];

  const int brick = int(threadIdx.x), first_of_warp = brick - lane();
  Index* const labels = labels_of_warp[brick / kWarp];
  const int64_t bricks_before = int64_t(blockIdx.x) * tiles.parts();
  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const Cell<rank, Index> first = tiles.first_of(corner, brick);
  const Bits fore = fore_of_brick[bricks_before + brick], inside = tiles.inside(first);
  const int connectivity = int(tiles.grid.connectivity);
  Links<kAxes> links{fore, connectivity, false, {}};
  if (mixed_tiles[blockIdx.x])
    links = tiles.values_at(values + first.offset, inside).links(fore, connectivity);
  labels[lane()] = consecutive ? 0 : -1;
  // Four labels can be written at once where their address fits.
  bool fits = reinterpret_cast<size_t>(label) % 16 == 0;
#pragma unroll
  for (int k = 0; k < rank - 1; ++k) fits &= (tiles.grid.axes[k].index_stride & 3) == 0;

  const LabelOfRoot<consecutive, Index> label_of{tiles.axis(0).length, columns, roots_of_word,
                                                 number_of_word};
  int roots = __popcll(inner_of_brick[bricks_before + brick]);
  Bits rest = fore;
  bool more = true;
  for (bool begins = true; more; begins = false) {
    Bits digit[4] = {};  // of the number of each element's component, from 1
    rest = findings_of_warp[brick / kWarp].for_each_component(
        links, rest, kAtOnce,
        [&](Bits component, int number) {
#pragma unroll
          for (int k = 0; k < 4; ++k) digit[k] |= (number + 1) >> k & 1 ? component : 0;
        },
        [&](Bits component, int its_lane, int number) {
          if (component == 0) return;
          const int its_brick = first_of_warp + its_lane, bit = lowest(component);
          const Index entry =
              corner.index + tiles.template index_of_node<Index>(tiles.node_of(its_brick, bit));
          Index found = entry;
          bool written = false;
          if (!(inner_of_brick[bricks_before + its_brick] >> bit & 1)) {
            Index above = Shared::load(label + entry);
            if constexpr (consecutive) {
              // It is the root, complemented, or that in the tile, whose entry is that or is overwritten by
              // the label. Neither comes after the entry.
              if (above >= 0) {
                above = Shared::load(label + (above < entry ? above : entry));
                written = above >= 0;
              }
              if (written)
                found = above;
              else if (~above < entry)
                found = ~above;
            } else if (above < 0) {
              found = ~above;
            } else {
              // Entries on the way may be overwritten, by the label, which is the root that they lead to.
              for (; leads_to(found, above); above = Shared::load(label + found)) found = above;
              roots += found == entry;
            }
          }
          labels[(number + 1) * kWarp + its_lane] = written ? found : label_of(found);
        });
    more = __any_sync(kAllLanes, rest != 0);
    __syncwarp();
    // Entries of components that follow must be read before they are overwritten.
    const Bits numbered = digit[0] | digit[1] | digit[2] | digit[3];
    Bits wanted = inside & (begins ? numbered | ~fore : numbered);
    constexpr int kRowsAtOnce = 8 / B::kRow;
#pragma unroll 1
    for (int row = 0; row < B::kRows; row += kRowsAtOnce) {
      uint32_t numbers = 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        numbers |= spread(uint32_t(digit[k]) & 0xffu) << k;
        digit[k] >>= 8;
      }
#pragma unroll
      for (int next = 0; next < kRowsAtOnce; ++next) {
        const Index at = first.index + tiles.template distance<Index>((row + next) * B::kRow);
        if (fits)
          write_row<4, B>(label, at, numbers, uint32_t(wanted), labels);
        else
          write_row<1, B>(label, at, numbers, uint32_t(wanted), labels);
        if constexpr (kRowsAtOnce > 1) numbers >>= 4 * B::kRow;
        wanted >>= B::kRow;
      }
    }
    __syncwarp();
  }
  if constexpr (!consecutive) {
    const int total = block_sum<kThreads>(roots);
    if (brick == 0) Shared::fetch_add(components, int64_t(total));
  }
}

}  // namespace conncomp
