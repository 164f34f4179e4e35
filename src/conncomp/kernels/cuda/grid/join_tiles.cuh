// Stage 2: unites components across the borders of tiles, in their entries among the labels. Where foreground
// is compared by value (join_tiles), a thread takes a brick at a tile's border and its halo in other tiles;
// entries of what a component touches are found once the block's pairs are known (entry_of). Of given links
// (join_links) each that leaves a tile is a pair of elements, whose entries are looked for. Outer axes,
// beyond three, always lead to other tiles; bricks beside each other there are compared by layers
// (join_outside).
#pragma once

#include "core/union_find.h"
#include "cuda/grid/brick_tiles.cuh"
#include "cuda/grid/halo.cuh"
#include "cuda/grid/worklist.cuh"

namespace conncomp {

constexpr int kJoinThreads = 128;  // a thread for each brick at the border of a tile
constexpr int kPairsOfJoin = 4;    // that there is room for, on average

// WholeLayers for bricks that the end of the array may cut off.
template <int axes> struct CutLayers {
  int of_brick_before[axes], of_brick[axes];

  template <class Tiles> CutLayers(const Tiles& tiles, const auto& first) {
    constexpr int rank = Tiles::kRank;
    constexpr int kSide = Brick<axes>::kSide;
    unrolled<axes>([&](int a) {
      of_brick_before[a] = first.at[rank - 1 - a] == 0 ? int((tiles.axis(a).length - 1) % kSide) : kSide - 1;
      of_brick[a] = tiles.length(first, a) - 1;
    });
  }
  int last_before(int a) const { return of_brick_before[a]; }
  int last(int a) const { return of_brick[a]; }
};

struct TileBeside {
  int64_t first;  // the number of its first brick; -1 if there is no such tile, or none of its elements
                  // equals any of the tile
  Comparison comparison;  // of the elements of both
};

template <class Index> struct ElementPair {
  Index entry, neighbour;  // the entry of a component, or one of its elements, and any element of another one
};

// Finds and unites the entries of elements. Cells count from the first item.
template <class Rule, class Tiles, class Index> struct Entries {
  static constexpr int kRank = Tiles::kRank, kAxes = Tiles::kAxes;
  using B = Brick<kAxes>;
  using Value = typename Rule::Value;
  using Cell = conncomp::Cell<kRank, Index>;

  const Tiles& tiles;
  const Value* values;
  Index* label;
  const BrickTable& table;

  auto values_of(const Cell& first) const {
    return tiles.values_at(values + first.offset, tiles.inside(first));
  }

  // An element: its brick's first cell, tile, number and bit, and the index of its item's first element.
  struct Place {
    Cell cell;
    int64_t tile, number;
    int bit;
    Index first_of_item;
  };
  Place place_of(Index element) const {
    Cell cell{};
    int bit = 0;
    Index quotient = element;
#pragma unroll
    for (int k = kRank - 1; k >= 0; --k) {
      const Index length = Index(tiles.grid.axes[k].length);
      Index at = tiles.is_outermost(k) ? quotient : quotient % length;
      quotient /= length;
      if (kRank - 1 - k < kAxes) {
        bit |= int(at & (B::kSide - 1)) << (kRank - 1 - k) * B::kLog;
        at &= ~Index(B::kSide - 1);
      }
      cell.move(tiles.grid, k, at);
    }
    int64_t tile = tiles.tile_of(cell);
    Index first_of_item = 0;
    if (tiles.has_items()) {
      tile += quotient * int64_t(tiles.tiles_of_item());
      first_of_item = Index(quotient * tiles.grid.cells_of_item());
      cell.move_to_item(tiles.grid, quotient);
    }
    return {cell, tile, (tile << tiles.log_parts()) + tiles.brick_of(cell), bit, first_of_item};
  }
  Index entry_at(const Place& at) const {
    return at.cell.index +
           tiles.template distance<Index>(first_of_component(at.cell, at.tile, at.number, at.bit));
  }
  Index entry_of(Index element, Index& first_of_item) const {
    const Place place = place_of(element);
    first_of_item = place.first_of_item;
    return entry_at(place);
  }
  // The first element of the component of a brick that an element is in.
  int first_of_component(const Cell& cell, int64_t tile, int64_t number, int bit) const {
    if constexpr (!Rule::kTransitive) {
      return table.first_of_component(number, bit);
    } else {
      Bits foreground = table.foreground[number];
      if constexpr (!Rule::kOneValue) {
        const Comparison comparison = table.comparison[tile];
        if (comparison == Comparison::kPlanes) foreground &= table.planes_of(number).equal_to(Bits(1) << bit);
        if (comparison == Comparison::kValues) {
          // The elements of its value, and itself, whatever a second reading gives.
          const auto brick = values_of(cell);
          foreground = brick.equal_to(*brick.at(bit), foreground) | Bits(1) << bit;
        }
      }
      const auto links = links_of_brick(
          Rule{}, tiles, table, values, cell, number, tiles.inside(cell), foreground, Comparison::kNone);
      return lowest(component_of(links, Bits(1) << bit));
    }
  }
  void unite_with(Index entry, Index neighbour) const {
    Index first_of_item;
    const Index entry_of_neighbour = entry_of(neighbour, first_of_item);
    unite<Concurrent>(
        label + first_of_item, Index(entry - first_of_item), Index(entry_of_neighbour - first_of_item));
  }
};

template <class Rule, class Tiles, class Index> struct TileJoin : Entries<Rule, Tiles, Index> {
  using Base = Entries<Rule, Tiles, Index>;
  using Base::kRank, Base::kAxes, Base::tiles, Base::values, Base::table, Base::values_of;
  using typename Base::B, typename Base::Cell, typename Base::Value;
  static constexpr int kOuter = kRank - kAxes;
  static constexpr bool kOneValue = Rule::kOneValue;
  static constexpr int kSides = B::kSteps;  // of tiles, with itself
  using Halo = conncomp::Halo<kAxes>;
  using Pair = ElementPair<Index>;
  // The most tiles of a block's bricks: a tile has at least 1, 14 or 28 bricks at borders.
  static constexpr int kTiles = kAxes == 1 ? kJoinThreads : kJoinThreads / (kAxes == 2 ? 14 : 28) + 2;

  PairList<Pair, kJoinThreads, kPairsOfJoin>& pairs;

  int connectivity() const { return int(tiles.grid.connectivity); }
  const Frame<Value>& frame_of(uint32_t tile) const {
    return static_cast<const Frame<Value>*>(table.frame)[tile];
  }
  // Moves a cell by steps of `width` elements along an axis; false if nothing is there.
  bool move(Cell& cell, int k, int steps, int width) const {
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
  // How elements of two tiles are compared: by planes if both have the same ones.
  Comparison comparison(uint32_t tile, uint32_t neighbour) const {
    if constexpr (Rule::kOneValue) return Comparison::kNone;
    const Comparison a = table.comparison[tile], b = table.comparison[neighbour];
    if constexpr (kHasPlanes<Value>)
      if (a == Comparison::kPlanes && b == a && frame_of(tile) == frame_of(neighbour)) return a;
    return a == Comparison::kNone && b == a ? a : Comparison::kValues;
  }
  bool may_equal(uint32_t tile, uint32_t neighbour) const {
    return Rule::kOneValue || comparison(tile, neighbour) != Comparison::kNone ||
           frame_of(tile).base == frame_of(neighbour).base;
  }

  TileBeside beside(uint32_t tile, int step) const {
    uint32_t quotient = tile, neighbour = 0, stride = 1;
    bool exists = true;
#pragma unroll
    for (int k = kRank - 1; k >= 0; --k) {
      const uint32_t count = tiles.along(k);
      uint32_t at = tiles.is_outermost(k) ? quotient : quotient % count;
      quotient /= count;
      if (kRank - 1 - k < kAxes) {
        const int by = B::step(step, kRank - 1 - k);
        const bool wraps = by < 0 ? at == 0 : by > 0 && at + 1 == count;
        exists &= !wraps || tiles.grid.axes[k].periodic;
        at = !wraps ? at + uint32_t(by) : by < 0 ? count - 1 : 0;
      }
      neighbour += at * stride;
      stride *= count;
    }
    if (tiles.has_items()) neighbour += quotient * stride;
    if (!exists || !may_equal(tile, neighbour)) return {-1, Comparison::kNone};
    return {int64_t(neighbour) << tiles.log_parts(), comparison(tile, neighbour)};
  }
  // The halo of a brick in other tiles, and how it is compared; `beside` has the tiles at all steps.
  Halo halo(const Cell& first, int brick, const TileBeside* beside, const Bits* of_brick,
      Comparison& comparison) const {
    const CutLayers<kAxes> layers(tiles, first);
    // By axis: places in their tiles of the bricks before, here and after, and codes of steps to these.
    int place[kAxes][3], code[kAxes][3];
    unrolled<kAxes>([&](int a) {
      const int last = (1 << tiles.log[a]) - 1, at = tiles.place(brick, a);
      const int64_t length = tiles.axis(a).length, first_along = first.at[kRank - 1 - a];
      const int last_of_all = int((length - 1) >> B::kLog) & last;
      const bool ends = at == last || first_along + B::kSide >= length;
      place[a][0] = at > 0 ? at - 1 : first_along == 0 ? last_of_all : last;
      place[a][1] = at;
      place[a][2] = ends ? 0 : at + 1;
      code[a][0] = at > 0 ? 0 : -B::unit(a);
      code[a][1] = 0;
      code[a][2] = ends ? B::unit(a) : 0;
#pragma unroll
      for (int& brick_at : place[a]) brick_at <<= tiles.log_before(a);
    });
    Halo halo{};
    comparison = Comparison::kNone;
    halo.for_each_brick([&](int a, const int (&steps)[3]) {
      int neighbour = 0, step = B::kNoStep;
      unrolled<kAxes>([&](int k) {
        neighbour += place[k][steps[k] + 1];
        step += code[k][steps[k] + 1];
      });
      if (step == B::kNoStep || beside[step].first < 0) return;
      if (beside[step].comparison > comparison) comparison = beside[step].comparison;
      halo.add(a, steps, of_brick[beside[step].first + neighbour], layers);
    });
    return halo;
  }

  template <class Bricks>
  void read_halos(Bricks& bricks, int brick, int64_t number, const TileBeside* beside) const {
    const int thread = int(threadIdx.x);
    const Bits* of_brick = table.foreground;
#pragma unroll 1
    for (int source = 0;; ++source) {
      bricks.halo[source][thread] =
          halo(bricks.first[thread], brick, beside, of_brick, bricks.comparison[thread]);
      if (source + 1 == Bricks::kSources || bricks.comparison[thread] != Comparison::kPlanes) break;
      of_brick = table.planes + source * table.bricks;
      bricks.plane[source % kPlanes][thread] = of_brick[number];
    }
  }
  // Joins a component with what it touches in the halo: pairs are listed, or united if they have no room. All
  // lanes call, with 0 for no component, each warp once with its `last` ones, when the block's pairs are
  // united: one copy of this code.
  template <class Bricks> void join(const Bricks& bricks, int thread, Bits component, bool last) const {
    const Cell& first = bricks.first[thread];
    const Comparison comparison = bricks.comparison[thread];
    Halo halo = bricks.halo[0][thread];
    if (Bricks::kSources > 1 && comparison == Comparison::kPlanes) {
      unrolled<kPlanes>([&](int k) {
        halo = halo.with(bricks.halo[1 + k][thread], (bricks.plane[k][thread] & component) != 0);
      });
    }
    const Index entry = first.index + tiles.template distance<Index>(lowest(component));
    const auto distance_to = [&](int word, int bit, auto&& stride) {
      return tiles.distance_across(first, [&](int a) { return Halo::distance(word, bit, a); }, stride);
    };
    Halo contacts = halo.touched_by(component, connectivity(), [&](int word, auto elements) {
      if (Rule::kOneValue || comparison != Comparison::kValues) return elements;
      // Comparing with one value is enough: equality is transitive.
      const Value of_component = *values_of(first).at(lowest(component));
      for (auto untested = elements; untested != 0; untested &= untested - 1)
        if (!(values[first.offset + distance_to(word, lowest(untested),
                                        [](auto& axis) { return axis.value_stride; })] == of_component))
          elements &= ~lowest_bit(untested);
      return elements;
    });
#pragma unroll
    for (int word = 0; word < Halo::kWords; ++word)
      contacts.word[word] = Halo::without_next(word, contacts.word[word], connectivity());
    if constexpr (kOuter > 0) join_outside(first, component, entry);
    bool all_listed = false;
    for (int k = 0, stored = 0;;) {
      bool has_pair, unites;
      Pair pair{};
      if (all_listed) {
        unites = has_pair = k < stored;
        if (has_pair) pair = pairs.pair[k];
        k += kJoinThreads;
      } else {
        const int word = contacts.word[0] == 0 ? Halo::kWords - 1 : 0;
        auto& bits = contacts.word[word];
        has_pair = bits != 0;
        if (has_pair) {
          pair = {entry, first.index + distance_to(word, lowest(bits),
                                           [](auto& axis) { return Index(axis.index_stride); })};
          bits &= bits - 1;
        }
        unites = has_pair && !pairs.add(pair);
      }
      if (!__any_sync(kAllLanes, has_pair)) {
        if (all_listed || !last) return;
        all_listed = true;
        __syncthreads();
        k = int(threadIdx.x), stored = pairs.stored();
        continue;
      }
      if (unites) this->unite_with(pair.entry, pair.neighbour);
      __syncwarp();
    }
  }
  // The same for bricks beside it along the outer axes, and those around these. Steps along two outer axes
  // are digits of base 3: the first four of nine lead back, the last four are looked at from there. Each
  // brick at a step, and the 26 around it, is compared with the component: elements touch if they differ
  // along at most `connectivity` axes; steps use some, and the component is dilated by the others. An example
  // with four axes and connectivity 2, a step of -1 along the outer axis:
  //
  //   component    touches in the brick in the      touches in the next brick along x: two steps,
  //                same place: one step, one left   none left, from its last layer to the first one
  //    . . . .         . # . #                          . . . .
  //    . # . #         # # # #                          # . . .
  //    . . . .         . # . #                          . . . .
  //    . . . #         . . # #                          # . . .
  void join_outside(const Cell& first, Bits component, Index entry) const {
    const CutLayers<kAxes> layers(tiles, first);
    const uint32_t tiles_before =
        !tiles.has_items() ? 0 : uint32_t(first.index / tiles.grid.cells_of_item()) * tiles.tiles_of_item();
    const uint32_t tile = tiles_before + tiles.tile_of(first);
    int steps = 1;
    for (int k = 0; k < kOuter; ++k) steps *= 3;
    for (int outer = 0; outer < steps / 2; ++outer) {
      Cell beside = first;
      bool inside = true;
      int outer_moves = 0;
#pragma unroll
      for (int k = 0, code = outer; k < kOuter; ++k, code /= 3) {
        const int by = code % 3 - 1;
        outer_moves += by != 0;
        inside &= move(beside, kOuter - 1 - k, by, 1);
      }
      if (!inside || outer_moves > connectivity()) continue;
      for (int step = 0; step < B::kSteps; ++step) {
        Cell neighbour = beside;
        bool exists = true;
        int moves = outer_moves, along = 0, shift = 0;
        Bits facing = component;
        unrolled<kAxes>([&](int a) {
          const int by = B::step(step, a), last = layers.last(a);
          moves += by != 0;
          exists &= move(neighbour, kRank - 1 - a, by, B::kSide);
          if (by == 0) along |= 1 << a;
          if (by < 0) shift += B::stride(a) * layers.last_before(a);
          if (by > 0) shift -= B::stride(a) * last;
          if (by != 0) facing &= B::layer(a, by < 0 ? 0 : last);
        });
        if (!exists || facing == 0 || moves > connectivity()) continue;
        const uint32_t tile_of_neighbour = tiles_before + tiles.tile_of(neighbour);
        if (!may_equal(tile, tile_of_neighbour)) continue;
        facing = B::dilated(facing, along, connectivity() - moves);
        const int64_t number = (int64_t(tile_of_neighbour) << tiles.log_parts()) + tiles.brick_of(neighbour);
        Bits touched = (shift < 0 ? facing >> -shift : facing << shift) & table.foreground[number];
        if (!Rule::kOneValue && comparison(tile, tile_of_neighbour) != Comparison::kNone)
          touched = values_of(neighbour).equal_to(*values_of(first).at(lowest(component)), touched);
        for (Bits contacts = B::without_next(touched); contacts != 0; contacts &= contacts - 1) {
          const Index other = neighbour.index + tiles.template distance<Index>(lowest(contacts));
          if (!pairs.add({entry, other})) this->unite_with(entry, other);
        }
      }
    }
  }
};

// What a block keeps of its bricks: where they are, and halos of foreground and planes.
template <class Join> struct BricksToJoin {
  static constexpr int kSources = kHasPlanes<typename Join::Value> && !Join::kOneValue ? 1 + kPlanes : 1;
  typename Join::Cell first[kJoinThreads];
  typename Join::Halo halo[kSources][kJoinThreads];
  Bits plane[kPlanes][kSources > 1 ? kJoinThreads : 1];
  Comparison comparison[kJoinThreads];  // with the halo
};

// The k-th brick of a tile that may have another tile's before it: with two axes the first row and both ends
// of others; with three the first plane, of others outer rows and ends of inner ones; else all.
template <class Tiles> int brick_to_join(const Tiles& tiles, const auto& corner, int k) {
  constexpr int rank = Tiles::kRank;
  if (rank == 1 || rank > 3) return k;
  const auto last = [&](int a) {  // of those that are in the array
    const int64_t bricks_after = (tiles.axis(a).length - 1 - corner.at[rank - 1 - a]) >> Tiles::B::kLog;
    return int(bricks_after < (1 << tiles.log[a]) - 1 ? bricks_after : (1 << tiles.log[a]) - 1);
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

// A thread for each of the `each` bricks of a tile at borders, of `count` tiles.
template <class Rule, class Tiles, class Index>
void join_bricks(const Tiles& tiles, int64_t count, int64_t each, const typename Rule::Value* values,
    Index* label, const BrickTable& table, uint32_t block) {
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes;
  using Join = TileJoin<Rule, Tiles, Index>;
  __shared__ BricksToJoin<Join> bricks;
  __shared__ TileBeside beside[Join::kSides * Join::kTiles];
  __shared__ WarpList list_of_warp[kJoinThreads / kWarp];
  __shared__ PairList<typename Join::Pair, kJoinThreads, kPairsOfJoin> pairs;
  const Join join{{tiles, values, label, table}, pairs};
  const int thread = int(threadIdx.x), first_of_warp = thread - lane();
  if (thread == 0) pairs.count = 0;

  // In 32 bits: block * kJoinThreads bricks, whole tiles and some over, belong to blocks before.
  const uint32_t of_tile = uint32_t(each), bricks_over = block % of_tile * kJoinThreads;
  const uint32_t first_tile = block / of_tile * kJoinThreads + bricks_over / of_tile;
  const uint32_t first_in_tile = bricks_over % of_tile;
  const uint32_t tile = first_tile + (first_in_tile + thread) / of_tile;
  const uint32_t last = first_tile + (first_in_tile + blockDim.x - 1) / of_tile;
  const uint32_t tiles_of_block = (last < uint32_t(count) ? last + 1 : uint32_t(count)) - first_tile;
  for (int at = thread; at < int(tiles_of_block) * Join::kSides; at += int(blockDim.x))
    beside[at] = join.beside(first_tile + at / Join::kSides, at % Join::kSides);
  __syncthreads();
  Bits touching = 0;
  BrickLinks<kAxes> links{0, join.connectivity(), Comparison::kNone, {}};
  bricks.comparison[thread] = Comparison::kNone;
  if (tile < uint32_t(count)) {
    const auto corner = tiles.template corner_of<Index>(tile);
    const int brick = brick_to_join(tiles, corner, int((first_in_tile + thread) % of_tile));
    Cell<rank, Index> first = tiles.first_of(corner, brick);
    if (tiles.has_items()) first.move_to_item(tiles.grid, tiles.item_of(tile));
    bricks.first[thread] = first;
    const int64_t number = (int64_t(tile) << tiles.log_parts()) + brick;
    links.foreground = table.foreground[number];
    if (links.foreground != 0) {
      join.read_halos(bricks, brick, number, beside + (tile - first_tile) * Join::kSides);
      touching = links.foreground &
                 (Join::kOuter > 0 ? ~Bits(0) : bricks.halo[0][thread].touching(join.connectivity()));
    }
    if constexpr (!Rule::kOneValue) {
      links.comparison = table.comparison[tile];
      if (links.comparison == Comparison::kPlanes) links.planes = table.planes_of(number);
      if (touching != 0 && links.one_by_one())
        links = join.values_of(first).equal_links(links.foreground, tiles.neighbours());
    }
  }
  __syncthreads();
  list_of_warp[thread / kWarp].template for_each_component<true>([&](auto&& use) { use(links); }, touching,
      kBits, [](Bits, int) {},
      [&](Bits component, int lane_of_brick, int, bool last) {
        join.join(bricks, first_of_warp + lane_of_brick, component, last);
      });
}

// Blocks take turns where a volume may be labelled elsewhere, as in label_tiles.
template <class Rule, class Tiles, class Index, bool in_turns = false>
__global__ void __launch_bounds__(kJoinThreads, Tiles::kRank < 3 && resident_blocks(kJoinThreads) > 8 ? 9 : 8)
    join_tiles(Tiles tiles, int64_t count, int64_t each, const typename Rule::Value* __restrict__ values,
        Index* label, BrickTable table) {
  follow_launch();
  if (table.is_elsewhere()) return;
  if constexpr (in_turns) {
    const int64_t blocks = (count * each + kJoinThreads - 1) / kJoinThreads;
    for (int64_t k; (k = next_turn(table.elsewhere + BrickTable::kTurns + 1)) < blocks;)
      join_bricks<Rule>(tiles, count, each, values, label, table, uint32_t(k));
  } else {
    join_bricks<Rule>(tiles, count, each, values, label, table, blockIdx.x);
  }
}

// Links that leave a tile: all, or only those that do not cross the end of an axis.
enum class Leaving { kAll, kWithinArray };

// On the same grid, unites the given links of a brick that leave its tile.
template <class Rule, class Tiles, class Index, Leaving which = Leaving::kAll>
__global__ void __launch_bounds__(kJoinThreads) join_links(Tiles tiles, int64_t count, int64_t each,
    const typename Rule::Value* __restrict__ values, Index* label, BrickTable table) {
  follow_launch();
  using B = typename Tiles::B;
  constexpr int rank = Tiles::kRank;
  __shared__ PairList<ElementPair<Index>, kJoinThreads, kPairsOfJoin> pairs;
  const Entries<Rule, Tiles, Index> entries{tiles, values, label, table};
  const auto unite_pair = [&](const ElementPair<Index>& pair) {
    Index first_of_item;
    entries.unite_with(entries.entry_of(pair.entry, first_of_item), pair.neighbour);
  };
  if (threadIdx.x == 0) pairs.count = 0;
  __syncthreads();
  const int64_t k = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count * each) {
    const uint32_t tile = uint32_t(k / each);
    const auto corner = tiles.template corner_of<Index>(tile);
    const int brick = brick_to_join(tiles, corner, int(k - int64_t(tile) * each));
    Cell<rank, Index> first = tiles.first_of(corner, brick);
    if (tiles.has_items()) first.move_to_item(tiles.grid, tiles.item_of(tile));
    const int64_t number = (int64_t(tile) << tiles.log_parts()) + brick;
    Rule{}.for_each_step(tiles, table, number, [&](int step, Bits linked) {
      if constexpr (which == Leaving::kWithinArray) linked &= ~tiles.over_ends(first, step);
      for (linked &= tiles.leaving(first, brick, step); linked != 0; linked &= linked - 1) {
        const int bit = lowest(linked);
        const auto along = [&](int a) { return B::coordinate(bit, a) + B::step(step, a); };
        const Index neighbour = first.index + tiles.distance_across(first, along,
                                                  [](auto& axis) { return Index(axis.index_stride); });
        const Index element = first.index + tiles.template distance<Index>(bit);
        const ElementPair<Index> pair{element, neighbour};
        if (!pairs.add(pair)) unite_pair(pair);
      }
    });
  }
  __syncthreads();
  pairs.for_each(unite_pair);
}

}
