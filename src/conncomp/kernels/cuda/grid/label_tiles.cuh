// Stage 1: the components of each tile. A block takes a tile, each thread a brick of it.
//   read_foreground    finds foreground, and its value if it has one; else read_planes tries two bits
//   find_isolated      finds elements without neighbours, which need no more than a bit
//   unite_components   puts each component of a brick under one that it touches and that begins before it, by
//                      a store; other contacts become pairs. unite_links: for given links, unions at once
//   flatten            points all to their roots, and unites pairs, until no pair has two roots
//   mark_reaching      finds the roots whose components reach the border of the tile
//   write_entries      gives those entries among the labels, for stage 2; the others are settled
// A component stands where its first element is: only that node's entry in `parent` counts. Other bricks know
// a component by its elements in their halo, whose entries lead to it.
#pragma once

#include "cuda/core/root_bits.cuh"
#include "cuda/grid/halo.cuh"
#include "cuda/grid/sparse_tiles.cuh"
#include "cuda/grid/worklist.cuh"

namespace conncomp {

constexpr int kPairsOfBrick = 8;  // that there is room for, on average
// What a warp lists of given links; enough at the threshold of percolation.
constexpr int kNodesOfWarp = 576, kLinksOfWarp = 192;
constexpr int kLanesWithIsolated = 16;  // of a warp: with fewer, it does not pay to look for them

// The places of a brick with foreground there or near it, and those with more than one element of it.
template <int axes> struct Neighbours {
  using B = Brick<axes>;
  Bits some, several;

  void add(Bits elements, Bits several_elements) {
    several |= several_elements | (some & elements);
    some |= elements;
  }
  // The same with what is one step before and after along an axis, in neighbouring bricks too.
  Neighbours spread(int axis, const Neighbours& before, const Neighbours& after) const {
    Neighbours sum = *this;
    sum.add(B::ahead_across(some, axis, before.some), B::ahead_across(several, axis, before.several));
    sum.add(B::back_across(some, axis, after.some), B::back_across(several, axis, after.several));
    return sum;
  }
};

struct HalfWords {
  uint32_t word[2];
};

struct NodePair {
  uint16_t node, neighbour;  // the first element of a component, and any element of another one
};

// What the lanes of a warp share out: nodes and given links.
struct NodesAndLinks {
  NumberList<kNodesOfWarp> nodes;
  NumberList<kLinksOfWarp> links;

  auto& numbers() { return nodes; }
};

// Of a brick, in dynamic shared memory: at first what is around elements, by axis; then a node of each.
template <int axes> union BrickNodes {
  Neighbours<axes> neighbours[axes];
  uint16_t parent[kBits];
};

template <class Rule, class Tiles> struct TileMemory {
  static constexpr int kThreads = Tiles::kThreads, kWarps = kThreads / kWarp;
  using Value = typename Rule::Value;
  Bits foreground[kThreads];
  // Planes, until components are united; then first elements that reach the border, or are settled.
  union {
    Bits plane[kPlanes][kThreads];
    struct {
      uint32_t reaching[2 * kThreads], settled[2 * kThreads];
    };
  };
  typename Either<Rule::kTransitive, WarpList, NodesAndLinks>::Type list[kWarps];
  Halo<Tiles::kAxes> halo[Rule::kTransitive ? kThreads : 1];
  Halo<Tiles::kAxes> halo_of_plane[kPlanes][kHasPlanes<Value> && Rule::kTransitive ? kThreads : 1];
  Bits differing;  // bits of values, of which foreground has both
  ValueOfBlock<Value, kWarps> value;
  PairList<NodePair, Rule::kTransitive ? kThreads : 1, kPairsOfBrick> pairs;
  HalfWords first_digit[Rule::kTransitive ? 1 : kFirstDigits][Rule::kTransitive ? 1 : kThreads];
};

template <class Rule, class Tiles, class Index> struct TileLabelling {
  static constexpr int kRank = Tiles::kRank, kAxes = Tiles::kAxes;
  using B = Brick<kAxes>;
  using Value = typename Rule::Value;

  const Tiles& tiles;
  const Rule& rule;
  const Value* values;  // of the item
  const BrickTable& table;
  TileMemory<Rule, Tiles>& memory;
  BrickNodes<kAxes>* dynamic_memory;
  const uint32_t tile_number;

  uint16_t* const parent = dynamic_memory->parent;  // of each node of the tile
  const int brick = int(threadIdx.x);
  const Cell<kRank, Index> corner = tiles.template corner_of<Index>(tile_number);
  const Cell<kRank, Index> first = tiles.first_of(corner, brick);
  Bits foreground = 0;
  ValuesMet<Value> met = {};                  // in the brick
  Comparison comparison = Comparison::kNone;  // of the foreground of the tile
  Frame<Value> frame = {};                    // of its values, unless they are compared one by one

  int64_t number() const { return int64_t(tile_number) * tiles.parts() + brick; }  // in the table
  auto& list() const { return memory.list[brick / kWarp]; }
  int connectivity() const { return int(tiles.grid.connectivity); }

  void read_foreground() {
    if constexpr (!Rule::kTransitive) {
      foreground = table.foreground[number()];
    } else {
      const auto brick_values = tiles.values_at(values + first.offset, tiles.inside(first));
      if constexpr (Rule::kOneValue)
        foreground = brick_values.where([&](const Value& value) { return rule.is_foreground(value); });
      else
        foreground = brick_values.foreground(rule.background, met);
    }
  }

  // Finds how values are compared. All threads call it, and the next one.
  void compare() {
    memory.foreground[brick] = foreground;
    if constexpr (!Rule::kTransitive) {
      comparison = Comparison::kValues;
    } else if constexpr (Rule::kOneValue) {
      __syncthreads();
    } else {
      frame.base = memory.value.common(met);
      if (__syncthreads_or(met.several)) read_planes();
    }
  }

  // Tells the values of a tile apart by two bits, if these are enough.
  void read_planes() {
    comparison = Comparison::kValues;
    if constexpr (kHasPlanes<Value>) {
      const auto brick_values = tiles.values_at(values + first.offset, tiles.inside(first));
      Value bits = met.any ? Value(met.differing | (met.value ^ frame.base)) : Value(0);
      if constexpr (sizeof(Value) == 1) bits = brick_values.differing(foreground, frame.base);
      const Bits differing = sizeof(Value) > 4 ? warp_or(Bits(bits)) : warp_or(uint32_t(bits));
      if (lane() == 0) InBlock::fetch_or(&memory.differing, differing);
      __syncthreads();
      frame = frame_of(frame.base, Value(memory.differing));
      Bits strangers;
      const ValuePlanes planes = brick_values.planes(frame, strangers);
      if (__syncthreads_or((foreground & strangers) != 0)) return;
      comparison = Comparison::kPlanes;
      unrolled<kPlanes>([&](int k) { table.plane(k, number()) = memory.plane[k][brick] = planes.plane[k]; });
      __syncthreads();
    }
  }

  // The elements of the brick that may touch others outside of the tile.
  Bits border_of_tile() const {
    Bits border = 0;
    unrolled<kRank>([&](int k) {
      const GridAxis& axis = tiles.grid.axes[k];
      const int a = kRank - 1 - k;
      if (a >= kAxes) {
        if (axis.length > 1) border = ~Bits(0);
        return;
      }
      const int place = tiles.place(brick, a), length = tiles.length(first, a);
      const bool ends = tiles.to_end(first, a) <= B::kSide;
      if (place == 0 && (first.at[k] > 0 || axis.periodic)) border |= B::layer(a, 0);
      if (ends ? axis.periodic && length > 0 : place == (1 << tiles.log[a]) - 1)
        border |= B::layer(a, length - 1);
    });
    return border;
  }

  // The elements with no foreground around them, or along axes alone. All threads call.
  Bits without_foreground_around(Neighbours<kAxes>* neighbours) const {
    Bits several = 0;
    Neighbours<kAxes> sum{foreground, 0};
#pragma unroll
    for (int a = 0; a < kAxes; ++a, neighbours += blockDim.x) {
      if (connectivity() == 1) sum = {foreground, 0};
      neighbours[brick] = sum;
      __syncthreads();
      const int by = 1 << tiles.log_before(a), place = tiles.place(brick, a);
      sum = sum.spread(a, place > 0 ? neighbours[brick - by] : Neighbours<kAxes>{},
          place + 1 < 1 << tiles.log[a] ? neighbours[brick + by] : Neighbours<kAxes>{});
      several |= sum.several;
    }
    __syncthreads();
    return foreground & ~several;
  }

  // Pays only if there are many; with several values, finds only those that need no more values.
  Bits find_isolated(const auto& links, Bits border) const {
    const Bits single = foreground & ~links.with_neighbour();
    if (comparison != Comparison::kNone) return single & B::interior() & ~border;
    if (kRank > kAxes) return 0;
    const bool has_several = __popcll(single) > 1;
    const uint32_t with_several = __ballot_sync(kAllLanes, has_several);
    if (!__syncthreads_or(__popc(with_several) >= kLanesWithIsolated)) return 0;
    return ~border & without_foreground_around(dynamic_memory->neighbours);
  }

  Halo<kAxes> halo_in_tile(const Bits* of_brick) const {
    const WholeLayers layers{B::kSide};
    Halo<kAxes> halo{};
    halo.for_each_brick([&](int a, const int (&steps)[3]) {
      bool exists = true;
      int neighbour = brick;
      unrolled<kAxes>([&](int k) {
        const int to = tiles.place(brick, k) + steps[k];
        exists &= to >= 0 && to < 1 << tiles.log[k];
        neighbour += steps[k] * (1 << tiles.log_before(k));
      });
      if (exists) halo.add(a, steps, of_brick[neighbour], layers);
    });
    return halo;
  }
  void make_halos() const {
    memory.halo[brick] = halo_in_tile(memory.foreground);
    if constexpr (kHasPlanes<Value>)
      if (comparison == Comparison::kPlanes) {
#pragma unroll 1
        for (int k = 0; k < kPlanes; ++k) memory.halo_of_plane[k][brick] = halo_in_tile(memory.plane[k]);
      }
  }
  // The halo of a brick where it may have the value of a component.
  Halo<kAxes> halo_of(int brick_of_component, Bits component) const {
    Halo<kAxes> halo = memory.halo[brick_of_component];
    if constexpr (kHasPlanes<Value>)
      if (comparison == Comparison::kPlanes) {
#pragma unroll
        for (int k = 0; k < kPlanes; ++k)
          halo = halo.with(memory.halo_of_plane[k][brick_of_component],
              (memory.plane[k][brick_of_component] & component) != 0);
      }
    return halo;
  }

  // The elements of a halo's word that have a component's value; the brick's values begin at `of_brick`.
  template <class Word>
  Word equal_in_halo(const Value* of_brick, Bits component, int word, Word touched) const {
    const Value of_component = *tiles.values_at(of_brick, 0).at(lowest(component));
    Word equal = 0;
#pragma unroll 1
    for (Word untested = touched; untested != 0; untested &= untested - 1) {
      const Value* in_halo = of_brick;
      unrolled<kAxes>([&](int a) {
        in_halo += Halo<kAxes>::distance(word, lowest(untested), a) * tiles.axis(a).value_stride;
      });
      if (*in_halo == of_component) equal |= lowest_bit(untested);
    }
    return equal;
  }

  // Calls body(distance in the tile) for the elements by which other bricks know a component: in the last
  // layers; in two dimensions, unless compared by value, where runs there start.
  void for_each_in_halos(Bits component, auto&& body) const {
    constexpr int kLast = B::kSide - 1;
    if constexpr (kAxes == 2) {
      uint32_t row = uint32_t(component >> 7 * 8), column = Halo<2>::layer(0, component >> 7);
      if (comparison != Comparison::kValues) {
        row &= ~(row << 1) | 1u << kLast;  // all may be asked for the last one
        column &= ~(column << 1);
      }
      for (uint32_t starts = row | column << 8; starts != 0; starts &= starts - 1) {
        const int k = lowest(starts);
        body(k < 8 ? (kLast << tiles.shift(1)) + k : ((k - 8) << tiles.shift(1)) + kLast);
      }
    } else {
      Bits last = 0;
      unrolled<kAxes>([&](int a) { last |= B::layer(a, kLast); });
      for (Bits elements = component & last; elements != 0; elements &= elements - 1)
        body(tiles.distance_in_tile(lowest(elements)));
    }
  }

  // First elements of the brick's components, and of those that reach the border of the tile.
  struct FirstElements {
    Bits all, at_border;

    void add(Bits component, Bits border) {
      all |= lowest_bit(component);
      if (component & border) at_border |= lowest_bit(component);
    }
  };

  static constexpr int kAtBorder = 1 << 15;  // a node is less

  // The first elements of a warp's bricks as nodes, with kAtBorder for those at the tile's border.
  struct ListedNodes {
    const TileLabelling& tile;
    FirstElements firsts;
    int count;

    int code(int bit) const {
      return tile.tiles.node_of(tile.brick, bit) | (firsts.at_border >> bit & 1 ? kAtBorder : 0);
    }
    // Calls body(node, whether it reaches the border), in any lane.
    void for_each(auto&& body) const {
      tile.list().numbers().for_each(
          count, firsts.all, [&](int bit) { return code(bit); },
          [&](int node) { body(node & ~kAtBorder, (node & kAtBorder) != 0); });
    }
  };
  // Puts a component of any lane's brick under an earlier one that it touches; other contacts are listed, or
  // united `at_once`, once all components are known.
  void unite_component(Bits component, int lane_of_brick, bool at_once) const {
    const int brick_of_component = brick - lane() + lane_of_brick;
    const int origin = tiles.node_of(brick_of_component, 0);
    const int node = origin + (component != 0 ? tiles.distance_in_tile(lowest(component)) : 0);
    const Halo<kAxes> halo = halo_of(brick_of_component, component);
    const auto touched = halo.touched_by(component, connectivity(), [&](int word, auto elements) {
      if (Rule::kOneValue || comparison != Comparison::kValues) return elements;
      const Value* of_brick = values + tiles.first_of(corner, brick_of_component).offset;
      return equal_in_halo(of_brick, component, word, elements);
    });
    uint16_t under = uint16_t(node);
#pragma unroll
    for (int word = 0; word < Halo<kAxes>::kWords; ++word) {
      auto contacts = Halo<kAxes>::without_next(word, touched.word[word], connectivity());
      for (; __any_sync(kAllLanes, contacts != 0); contacts &= contacts - 1) {
        if (contacts != 0) {
          int bit = lowest(contacts), neighbour = origin;
          if (kAxes == 2 && comparison != Comparison::kValues) bit = halo.start_of_run(bit);
          unrolled<kAxes>(
              [&](int a) { neighbour += Halo<kAxes>::distance(word, bit, a) * (1 << tiles.shift(a)); });
          if (at_once)
            unite<InBlock>(parent, uint16_t(node), uint16_t(neighbour));
          else if (under == node && neighbour < node)
            under = uint16_t(neighbour);
          else
            memory.pairs.add({uint16_t(node), uint16_t(neighbour)});
        }
        __syncwarp();
      }
    }
    if (at_once) return;
    for_each_in_halos(component, [&](int distance) { parent[origin + distance] = uint16_t(node); });
    __syncwarp();
    if (component != 0) parent[node] = under;
  }

  // Returns true if pairs had no room: then all are united at once, and none is left.
  bool unite_components(const auto& links, Bits elements, Bits border, FirstElements& firsts) {
    for (bool at_once = false;; at_once = true) {
      list().for_each_component([&](auto&& use) { use(links); }, elements, kBits,
          [&](Bits component, int) { firsts.add(component, border); },
          [&](Bits component, int lane_of_brick, int, bool) {
            unite_component(component, lane_of_brick, at_once);
          });
      __syncthreads();
      if (at_once || memory.pairs.count <= memory.pairs.capacity()) return at_once;
    }
  }

  // The elements linked to another brick of the tile, where the masks, which may be older, have both.
  Bits linked_in_tile(int step, Bits linked, Bits inside) const {
    linked &= foreground & ~B::stays(step, inside) & ~tiles.leaving(first, brick, step);
    if (B::moves(step) == 1) {
#pragma unroll
      for (int a = 0; a < kAxes; ++a)
        if (B::step(step, a) != 0 && linked != 0)
          linked &= memory.foreground[brick - (1 << tiles.log_before(a))] >> B::stride(a) * (B::kSide - 1);
      return linked;
    }
    const int origin = tiles.node_of(brick, 0);
    for (Bits untested = linked; untested != 0; untested &= untested - 1) {
      const int neighbour =
          origin + tiles.distance_in_tile(lowest(untested)) - tiles.distance_back_in_tile(step);
      if (!(memory.foreground[tiles.brick_of_node(neighbour)] >> tiles.bit_of_node(neighbour) & 1))
        linked &= ~lowest_bit(untested);
    }
    return linked;
  }

  // The node of an element's component, where links are given.
  int node_of_component(int brick_of_element, int bit) const {
    const int half = bit / 32;
    int first_bit = 0;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k)
      first_bit |= int(memory.first_digit[k][brick_of_element].word[half] >> bit % 32 & 1) << k;
    return tiles.node_of(brick_of_element, first_bit);
  }

  // unite_components for given links: threads find their bricks' components and publish each element's first
  // one, which is returned; lanes of a warp share out links to other bricks, and unite them.
  FirstDigits unite_links(const auto& links, Bits elements, Bits border, ListedNodes& nodes) {
    const Bits single = elements & ~links.with_neighbour();
    elements &= ~single;
    FirstDigits digits = FirstDigits::of_each(foreground & ~elements);
    const int origin = tiles.node_of(brick, 0);
    const auto add_node = [&](bool adds, int bit, bool at_border) {
      const int node = origin + (adds ? tiles.distance_in_tile(bit) : 0);
      if (adds) parent[node] = uint16_t(node);
      nodes.count = list().numbers().append(nodes.count, adds, node | (at_border ? kAtBorder : 0));
    };
    nodes.firsts = {single, single & border};
    for (Bits unlisted = single; __any_sync(kAllLanes, unlisted != 0); unlisted &= unlisted - 1)
      add_node(unlisted != 0, lowest(unlisted), (lowest_bit(unlisted) & border) != 0);
    for (Bits component = lowest_bit(elements); __any_sync(kAllLanes, elements != 0);) {
      component = links.grown(component);
      const bool whole = links.with_linked(component) == component && elements != 0;
      add_node(whole, lowest(component), (component & border) != 0);
      if (whole) {
        nodes.firsts.add(component, border);
        digits.add(component, lowest(component));
        elements &= ~component;
        component = lowest_bit(elements);
      }
    }
    if (nodes.count > kNodesOfWarp) nodes.count = kUnlisted;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) memory.first_digit[k][brick] = {digits.low(k), digits.high(k)};
    __syncthreads();
    const Bits inside = tiles.inside(first);
    const int first_of_warp = brick - lane();
    rule.for_each_step(tiles, table, number(), [&](int step, Bits linked) {
      linked = linked_in_tile(step, linked, inside);
      const auto code = [&](int bit) { return lane() << 6 | bit; };
      auto& links_of_warp = list().links;
      links_of_warp.for_each(links_of_warp.list(linked, code), linked, code, [&](int of_element) {
        const int brick_of_element = first_of_warp + (of_element >> 6), bit = of_element & (kBits - 1);
        const int neighbour = tiles.node_of(brick_of_element, bit) - tiles.distance_back_in_tile(step);
        unite<InBlock>(parent, uint16_t(node_of_component(brick_of_element, bit)),
            uint16_t(node_of_component(tiles.brick_of_node(neighbour), tiles.bit_of_node(neighbour))));
      });
    });
    __syncthreads();
    return digits;
  }

  void list_nodes(ListedNodes& nodes) const {
    nodes.count = list().numbers().list(nodes.firsts.all, [&](int bit) { return nodes.code(bit); });
  }

  // Overwritten stores are repeated.
  void flatten(const ListedNodes& nodes, bool pairs_done) const {
    for (int k = 0; k < 2; ++k) memory.reaching[2 * brick + k] = memory.settled[2 * brick + k] = 0;
    for (bool changed = true; changed;) {
      nodes.for_each([&](int node, bool) {
        // All on the path do so, and shorten it.
        uint16_t above = InBlock::load(parent + node);
        for (uint16_t next; (next = InBlock::load(parent + above)) != above; above = next)
          InBlock::store(parent + node, next);
      });
      __syncthreads();
      changed = false;
      if constexpr (Rule::kTransitive) {
        memory.pairs.for_each([&](const NodePair& pair) {
          // The neighbour may not be the first element of its component.
          const uint16_t a = InBlock::load(parent + pair.node),
                         b = InBlock::load(parent + InBlock::load(parent + pair.neighbour));
          if (pairs_done || a == b) return;
          InBlock::store(parent + (a < b ? b : a), a < b ? a : b);
          changed = true;
        });
        changed = __syncthreads_or(changed);
      }
    }
  }

  int word_of(int node) const { return 2 * tiles.brick_of_node(node) + tiles.bit_of_node(node) / kRootWord; }
  uint32_t bit_of(int node) const { return 1u << tiles.bit_of_node(node) % kRootWord; }

  void mark_reaching(const ListedNodes& nodes) const {
    nodes.for_each([&](int node, bool at_border) {
      if (!at_border) return;
      const int root = InBlock::load(parent + node);
      InBlock::fetch_or(memory.reaching + word_of(root), bit_of(root));
    });
    __syncthreads();
  }

  // Components at the border get an entry: their root's index in the tile. Others apart from their root get
  // its label, complemented.
  void write_entries(const ListedNodes& nodes, Index* label) const {
    nodes.for_each([&](int node, bool) {
      const int root = InBlock::load(parent + node);
      const bool reaches = memory.reaching[word_of(root)] & bit_of(root);
      if (root == node && !reaches) {
        InBlock::fetch_or(memory.settled + word_of(root), bit_of(root));
        return;
      }
      const Index index = corner.index + tiles.template index_of_node<Index>(root);
      label[corner.index + tiles.template index_of_node<Index>(node)] = reaches ? index : Index(~index);
    });
    __syncwarp();
  }

  static Bits two_words(const uint32_t* words) { return words[0] | Bits(words[1]) << kRootWord; }

  void write_first_digits(const FirstDigits& digits) const {
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) table.first_digit[k * table.bricks + number()] = digits.digit[k];
  }

  void write_table(Bits isolated) const {
    table.foreground[number()] = foreground;
    table.settled[number()] = isolated | two_words(memory.settled + 2 * brick);
    if (table.roots != nullptr) table.roots[number()] = two_words(memory.reaching + 2 * brick);
    if (brick == 0) {
      table.comparison[tile_number] = comparison;
      if constexpr (Rule::kTransitive && !Rule::kOneValue)
        static_cast<Frame<Value>*>(table.frame)[tile_number] = frame;
    }
  }
};

template <class Rule, class Tiles> union TileOrSparse {
  struct {
    TileMemory<Rule, Tiles> memory;
    BrickNodes<Tiles::kAxes> nodes[Tiles::kThreads];
  } tile;
  SparseMemory<typename Rule::Value, Tiles> sparse;
};

template <bool may_be_sparse, class Rule, class Tiles, class Index>
void label_tile(const Tiles& tiles, const Rule& rule, const typename Rule::Value* values, Index* label,
    const BrickTable& table, uint32_t number) {
  const int brick = int(threadIdx.x);
  const int64_t item = tiles.item_of(number);
  values += item * tiles.grid.item_stride;
  label += item * tiles.grid.cells_of_item();
  TileMemory<Rule, Tiles>* memory;
  BrickNodes<Tiles::kAxes>* nodes_of_bricks;
  SparseMemory<typename Rule::Value, Tiles>* sparse_memory = nullptr;
  if constexpr (may_be_sparse) {
    __shared__ TileOrSparse<Rule, Tiles> either;
    memory = &either.tile.memory, nodes_of_bricks = either.tile.nodes, sparse_memory = &either.sparse;
  } else {
    CONNCOMP_DYNAMIC_SHARED(BrickNodes<Tiles::kAxes>, nodes_of_tile);
    __shared__ TileMemory<Rule, Tiles> memory_of_tile;
    memory = &memory_of_tile, nodes_of_bricks = nodes_of_tile;
  }
  if (brick == 0 && tiles.begins_item(number)) table.components[item] = 0;

  TileLabelling<Rule, Tiles, Index> tile{tiles, rule, values, table, *memory, nodes_of_bricks, number};
  tile.read_foreground();
  if constexpr (may_be_sparse) {
    const SparseTile<Rule, Tiles> sparse{tiles, table, *sparse_memory, number};
    const bool is_sparse = !__syncthreads_or(sparse.is_crowded(tile.foreground));
    // Marked as unlikely, so that the code of bricks stays together.
    const bool labelled = __builtin_expect(is_sparse, 0) && sparse.label(tile.foreground, tile.met, label);
    if (brick == 0) table.sparse[number] = labelled;
    if (labelled) return;
  }
  if (brick == 0) memory->pairs.count = 0;
  if (brick == 0) memory->differing = 0;
  tile.compare();
  const auto links = links_of_brick(rule, tiles, table, values, tile.first, tile.number(),
      tiles.inside(tile.first), tile.foreground, tile.comparison);
  if constexpr (Rule::kTransitive) tile.make_halos();
  const Bits border = tile.border_of_tile(), isolated = tile.find_isolated(links, border);
  __syncwarp();

  typename TileLabelling<Rule, Tiles, Index>::ListedNodes nodes{tile, {}, 0};
  bool pairs_done = true;
  if constexpr (Rule::kTransitive) {
    // A copy of all this for each kind of links: one copy takes 5 % longer.
    links.with_fewest([&](const auto& fewest) {
      pairs_done = tile.unite_components(fewest, tile.foreground & ~isolated, border, nodes.firsts);
    });
    tile.list_nodes(nodes);
  } else {
    tile.write_first_digits(tile.unite_links(links, tile.foreground & ~isolated, border, nodes));
  }
  tile.flatten(nodes, pairs_done);
  tile.mark_reaching(nodes);
  tile.write_entries(nodes, label);
  tile.write_table(isolated);
}

// A block a tile. Where the array may be labelled elsewhere, a tile of two axes may be sparse, and few blocks
// take tiles of three axes in turn. Dynamic shared memory: two bytes per element, unless tiles may be sparse.
template <class Rule, class Tiles, class Index, bool may_be_elsewhere = false>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 7 : 3) label_tiles(Tiles tiles,
    Rule rule, const typename Rule::Value* __restrict__ values, Index* __restrict__ label, BrickTable table) {
  follow_launch();
  if constexpr (may_be_elsewhere)
    if (table.is_elsewhere()) return;
  if constexpr (may_be_elsewhere && Tiles::kRank == 3) {
    const int64_t count = table.bricks / tiles.parts();
    for (int64_t k; (k = next_turn(table.elsewhere + BrickTable::kTurns)) < count;)
      label_tile<false>(tiles, rule, values, label, table, uint32_t(k));
  } else {
    label_tile<may_be_elsewhere>(tiles, rule, values, label, table, blockIdx.x);
  }
}

}
