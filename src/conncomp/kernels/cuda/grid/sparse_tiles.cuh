// Sparse tiles: stages 1 and 4 in large images with few elements, each element by itself.
//
// What: labels the tiles that have few elements, all of one value, and says which tiles it has labelled; the
// stages of bricks (tiled_bricks.cuh) leave these out. For labels that are roots.
// How: a block takes one tile after another, with an entry in shared memory for each element: -1 where there
// is background, its index if it has no neighbour before it, and else -2 - node of one that it has, so that
// what is not negative ends a path:
//
//      foreground  . # # .     entries  -1  9 -11 -1     labels  -1 9 9 -1      (a row that begins at node 8)
//
//   link          words of bits say which neighbour before it an element is put under (LinksBefore); those
//                 that touch two sets are listed as pairs, by the warp
//   unite_pairs   of each pair one root is put under the other, by compare_exchange
//   flatten       elements that are under others, which warps list, are pointed to their roots; what is
//                 in the outer layers of the tile marks its root
//   settle        they get the labels of their roots; elements of marked sets are listed for stage 4, as
//                 stage 2 may put their root under another one
//   write         labels go from shared memory to the image, four at a time
// follow_sparse_tiles is stage 4: what has been listed is followed to its root.
//
// The image is asked first (sample_tiles): unless a sample of bricks has few elements, and few of them beside
// each other, no tile is tried. A tile that is cut off by the end of the image, or that has more of something
// than there is room for, is left to the stages of bricks.
//
// Cost: the image is read once and labels are written once, four bytes for each element that is listed, both
// written and read. Some 35 instructions for an element, 80 for one that is under another, 3 for four labels.
//
// Source: ours.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/brick_tiles.cuh"
#include "cuda/grid/write_labels.cuh"

namespace conncomp {

// Of the sample: one element of so many is foreground at most and at least, and of so many of these two are
// beside others.
constexpr int kMostOfOne = 7, kLeastOfOne = 64, kElementsOfTwoBeside = 5;

// The neighbours before elements that these are put under, and those that touch another set, too. Of
// neighbours that are neighbours of each other one is enough:
//
//    nw n ne      n alone, if there is one, as it touches the three others; else w or nw, and ne, which
//    w  e         touches neither. Where only faces connect: n, and w unless both touch nw
struct LinksBefore {
  using B = Brick<2>;
  Bits up, left, right;  // the neighbour is so many steps away, all in one
  Bits second;           // links to what is right of the one above, or where only faces connect, to the left

  // The brick, and those beside it, above it, and beside that.
  __device__ LinksBefore(Bits brick, Bits before, Bits after, const Bits (&above)[3], bool corners) {
    const Bits over = B::ahead_across(brick, 1, above[1]);
    const Bits n = over & brick, w = B::ahead_across(brick, 0, before) & brick;
    const Bits nw = B::ahead_across(over, 0, B::ahead_across(before, 1, above[0])) & brick;
    const Bits ne = B::back_across(over, 0, B::ahead_across(after, 1, above[2])) & brick;
    up = corners ? n | ((nw | ne) & ~w) : n;
    left = (corners ? w | nw : w) & ~n;
    right = corners ? ne & ~n & ~w & ~nw : 0;
    second = corners ? ne & ~n & (w | nw) : n & w & ~nw;
  }
  __device__ Bits all() const { return up | left | right; }
};

template <class Value, class Tiles>
struct SparseMemory {
  static constexpr int kThreads = Tiles::kThreads, kWarps = kThreads / kWarp;
  static constexpr int kUnderOthers = 160, kPairs = 48;  // of a warp: room for elements, and for pairs
  static constexpr uint32_t kNoPair = ~0u;
  alignas(16) int32_t entries[kThreads * kBits];  // of each node of the tile
  Bits foreground[kThreads];
  uint32_t reaching[2 * kThreads];  // of each brick: which roots have elements in the outer layers
  uint16_t under_others[kWarps][kUnderOthers];
  // The node of an element, and << 16 that of a neighbour; once they are united the root that is under
  // another one since, or kNoPair.
  uint32_t pair[kWarps][kPairs];
  ValueOfBlock<Value, kWarps> value;
};

// What a warp lists of a tile for stage 4, in the place of the planes of its values: elements, by their nodes
// and those of their roots in the tile. The head says how many there are, and how many roots are not listed.
template <class Tiles>
struct ListToFollow {
  static constexpr int kOfPlane = Tiles::kThreads * int(sizeof(Bits) / sizeof(uint32_t));
  static constexpr int kNumbers = kPlanes * kOfPlane * kWarp / Tiles::kThreads, kRoom = kNumbers - 1;
  uint32_t* const numbers;

  __device__ ListToFollow(const BrickTable& table, int64_t tile, int warp)
      : numbers(
            reinterpret_cast<uint32_t*>(&table.plane(warp * kNumbers / kOfPlane, tile * Tiles::kThreads)) +
            warp * kNumbers % kOfPlane) {}
  __device__ static uint32_t both(int low, int high) { return uint32_t(low) | uint32_t(high) << 16; }
  __device__ static int low(uint32_t number) { return int(number & 0xffffu); }
  __device__ static int high(uint32_t number) { return int(number >> 16); }

  __device__ uint32_t& head() const { return numbers[0]; }
  __device__ uint32_t& element(int k) const { return numbers[1 + k]; }
};

// A thread's part in a tile, and the brick that it has.
template <class Rule, class Tiles>
struct SparseTile {
  using B = Brick<2>;
  using Value = typename Rule::Value;
  using Memory = SparseMemory<Value, Tiles>;
  static constexpr int kThreads = Memory::kThreads, kTogether = 4;
  struct alignas(16) Four {
    int32_t label[kTogether];
  };

  const Tiles& tiles;
  const BrickTable& table;
  Memory& memory;
  const uint32_t tile;

  int32_t* const entries = memory.entries;
  const int brick = int(threadIdx.x), warp = brick / kWarp;
  const Cell<2, int32_t> corner = tiles.template corner_of<int32_t>(tile);
  const Cell<2, int32_t> first = tiles.first_of(corner, brick);
  const int origin = tiles.node_of(brick, 0);
  const ListToFollow<Tiles> list{table, tile, warp};

  // Not negative: the label of a root. Otherwise that of the entry's node.
  __device__ static int32_t entry_to(int node) { return -2 - node; }
  __device__ static int node_of(int32_t entry) { return -2 - entry; }
  // The root that an element leads to, and its entry.
  __device__ int root_of(int node, int32_t& entry) const {
    while ((entry = InBlock::load(entries + node)) < -1) node = node_of(entry);
    return node;
  }
  // Returns its root.
  __device__ int point_to_root(int node) const {
    int32_t entry;
    const int root = root_of(node, entry);
    InBlock::store(entries + node, entry_to(root));
    return root;
  }
  __device__ int word_of(int node) const {
    return 2 * tiles.brick_of_node(node) + tiles.bit_of_node(node) / 32;
  }
  __device__ uint32_t bit_of(int node) const { return 1u << tiles.bit_of_node(node) % 32; }
  __device__ int side(int a) const { return B::kSide << tiles.log[a]; }
  __device__ int row_stride() const { return int(tiles.axis(1).index_stride); }

  // Whether the tile is not cut off by the end of the image, and four labels can be written at once.
  __device__ bool fits(const int32_t* label) const {
    return reinterpret_cast<size_t>(label) % sizeof(Four) == 0 && row_stride() % kTogether == 0 &&
           corner.at[0] + side(1) <= tiles.axis(1).length && corner.at[1] + side(0) <= tiles.axis(0).length;
  }
  // The foreground of a brick of the tile so many steps from this one.
  __device__ Bits foreground_at(int x, int y) const {
    const bool exists = unsigned(tiles.place(brick, 0) + x) < 1u << tiles.log[0] &&
                        unsigned(tiles.place(brick, 1) + y) < 1u << tiles.log[1];
    return exists ? memory.foreground[brick + x + y * (1 << tiles.log[0])] : 0;
  }
  // The elements of the brick in the outer layers of the tile.
  __device__ Bits rim() const {
    Bits elements = 0;
#pragma unroll
    for (int a = 0; a < 2; ++a) {
      const int place = tiles.place(brick, a);
      if (place == 0) elements |= B::layer(a, 0);
      if (place == (1 << tiles.log[a]) - 1) elements |= B::layer(a, B::kSide - 1);
    }
    return elements;
  }
  __device__ bool in_rim(int node) const {
    const int x = node & (side(0) - 1), y = node >> tiles.shift(1);
    return x == 0 || x == side(0) - 1 || y == 0 || y == side(1) - 1;
  }
  // Calls body(bit, half, its place in the half) for some elements of the brick.
  template <class Body>
  __device__ void for_each(Bits elements, Body&& body) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      for (uint32_t bits = uint32_t(elements >> 32 * half); bits != 0; bits &= bits - 1)
        body(lowest(bits), half, lowest_bit(bits));
      __syncwarp();
    }
  }
  __device__ int node_at(int bit, int half) const {
    return origin + ((bit >> 3) + 4 * half) * side(0) + (bit & 7);
  }

  // Fills entries and lists of the warp, from places on that are this lane's.
  __device__ void link(Bits foreground, const LinksBefore& links, int under_others, int pairs,
                       int second) const {
    for_each(foreground, [&](int bit, int half, uint32_t element) {
      const int node = node_at(bit, half);
      const auto has = [&](Bits elements) { return (uint32_t(elements >> 32 * half) & element) != 0; };
      const bool under = has(links.all());
      const int steps =
          (has(links.right) ? 1 : 0) - (has(links.left) ? 1 : 0) - (has(links.up) ? side(0) : 0);
      entries[node] =
          under ? entry_to(node + steps) : first.index + ((bit >> 3) + 4 * half) * row_stride() + (bit & 7);
      if (under) memory.under_others[warp][under_others] = uint16_t(node);
      under_others += under;
    });
    for_each(links.second, [&](int bit, int half, uint32_t) {
      const int node = node_at(bit, half);
      memory.pair[warp][pairs++] = uint32_t(node) | uint32_t(node + second) << 16;
    });
  }
  // Puts the root of one of two elements under that of the other. Returns which one, or -1 if they had one.
  __device__ int unite(int node, int other) const {
    for (;;) {
      int32_t entry, entry_of_other;
      node = root_of(node, entry);
      other = root_of(other, entry_of_other);
      if (node == other) return -1;
      if (node < other) {
        const int lower = node;
        node = other, other = lower;
        entry = entry_of_other;
      }
      if (InBlock::compare_exchange(entries + node, entry, entry_to(other)) == entry) return node;
    }
  }
  // Returns how many roots have been put under others.
  __device__ int unite_pairs(int count) const {
    int united = 0;
    for (int k = lane(); k < count; k += kWarp) {
      const uint32_t pair = memory.pair[warp][k];
      const int under = unite(int(pair & 0xffffu), int(pair >> 16));
      memory.pair[warp][k] = under < 0 ? Memory::kNoPair : uint32_t(under);
      if (under < 0) continue;
      ++united;
      // Of what was a root in the outer layers, the root will be marked.
      if (in_rim(under)) InBlock::fetch_add(memory.reaching + word_of(under), 0u - bit_of(under));
    }
    __syncwarp();
    return united;
  }
  __device__ void flatten(int count, int pairs) const {
    const auto flatten_one = [&](int node) {
      const int root = point_to_root(node);
      if (in_rim(node)) InBlock::fetch_or(memory.reaching + word_of(root), bit_of(root));
    };
    for (int k = lane(); k < count; k += kWarp) flatten_one(int(memory.under_others[warp][k]));
    __syncwarp();
    for (int k = lane(); k < pairs; k += kWarp)
      if (memory.pair[warp][k] != Memory::kNoPair) flatten_one(int(memory.pair[warp][k]));
    __syncwarp();
  }
  // Gives an element under others the label of its root, and lists it if that is marked; returns how many
  // have been listed so far.
  __device__ int settle(int listed, bool exists, int node) const {
    bool marked = false;
    int root = 0;
    if (exists) {
      root = node_of(InBlock::load(entries + node));
      InBlock::store(entries + node, InBlock::load(entries + root));
      marked = memory.reaching[word_of(root)] & bit_of(root);
    }
    const uint32_t lanes = __ballot_sync(kAllLanes, marked);
    const int at = listed + __popc(lanes & ((1u << lane()) - 1));
    if (marked && at < list.kRoom) list.element(at) = list.both(node, root);
    return listed + __popc(lanes);
  }
  // The same for all of the warp, and for the roots of the brick that are marked.
  __device__ int settle_all(int count, int pairs, Bits roots) const {
    int listed = 0;
    for (int begin = 0; begin < count; begin += kWarp) {
      const int k = begin + lane();
      listed = settle(listed, k < count, k < count ? memory.under_others[warp][k] : 0);
    }
    for (int begin = 0; begin < pairs; begin += kWarp) {
      const int k = begin + lane();
      const uint32_t under = k < pairs ? memory.pair[warp][k] : Memory::kNoPair;
      listed = settle(listed, under != Memory::kNoPair, int(under));
    }
    const int own = __popcll(roots), up_to_lane = warp_scan(own);
    int at = listed + up_to_lane - own;
    for_each(roots, [&](int bit, int half, uint32_t) {
      const int node = node_at(bit, half);
      if (at < list.kRoom) list.element(at) = list.both(node, node);
      ++at;
    });
    return listed + __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
  }

  // Four entries of the tile; lanes beside each other have entries beside each other.
  __device__ Four& four(int k) const { return reinterpret_cast<Four*>(entries)[k * kThreads + brick]; }
  // All entries say that there is background, as they do after each call of `label`.
  __device__ void clear() const {
#pragma unroll
    for (int k = 0; k < kBits / kTogether; ++k) four(k) = Four{{-1, -1, -1, -1}};
  }
  __device__ void write(int32_t* label) const {
    const int of_row = side(0) / kTogether;
    int32_t* to = label + (corner.index + brick / of_row * row_stride() + brick % of_row * kTogether);
#pragma unroll
    for (int k = 0; k < kBits / kTogether; ++k) {
      const Four own = four(k);
      Shared::store_all(to, own.label);
      four(k) = Four{{-1, -1, -1, -1}};
      to += kThreads / of_row * row_stride();
    }
  }
  // Stage 2 looks at bricks at the border alone.
  __device__ void write_table(Bits foreground, const Value& value) const {
    if (rim() != 0) table.foreground[int64_t(tile) * kThreads + brick] = foreground;
    if (brick != 0) return;
    table.comparison[tile] = Comparison::kNone;
    static_cast<Frame<Value>*>(table.frame)[tile] = {value, Value{}};
  }

  // Labels the tile, if it is sparse. All threads call together.
  __device__ bool label(const Rule& rule, const Value* values, int32_t* label) const {
    if (!fits(label)) return false;
    ValuesMet<Value> met{};
    const Bits foreground = tiles.values_at(values + first.offset, ~Bits(0)).foreground(rule.background, met);
    memory.foreground[brick] = foreground;
    const Value value = memory.value.common(met);
    const bool corners = tiles.grid.connectivity > 1;
    const LinksBefore links(foreground, foreground_at(-1, 0), foreground_at(1, 0),
                            {foreground_at(-1, -1), foreground_at(0, -1), foreground_at(1, -1)}, corners);
    const int own = __popcll(links.all()), own_pairs = __popcll(links.second);
    const int up_to_lane = warp_scan(own | own_pairs << 16);
    const int of_warp = __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
    const int under_others = of_warp & 0xffff, pairs = of_warp >> 16;
    const bool has_room = under_others <= Memory::kUnderOthers && pairs <= Memory::kPairs;
    const Bits at_rim = foreground & rim(), roots = foreground & ~links.all();
    memory.reaching[2 * brick] = uint32_t(at_rim);
    memory.reaching[2 * brick + 1] = uint32_t(at_rim >> 32);
    if (has_room)
      link(foreground, links, (up_to_lane & 0xffff) - own, (up_to_lane >> 16) - own_pairs,
           corners ? 1 - side(0) : -1);
    if (__syncthreads_or(met.several || !has_room)) {
      clear();
      return false;
    }
    int settled = __popcll(roots) - unite_pairs(pairs);
    __syncthreads();
    flatten(under_others, pairs);
    __syncthreads();
    const Bits marked = memory.reaching[2 * brick] | Bits(memory.reaching[2 * brick + 1]) << 32;
    const int listed = settle_all(under_others, pairs, roots & marked);
    settled = warp_sum(settled - __popcll(roots & marked));
    if (lane() == 0) list.head() = list.both(listed, settled);
    if (__syncthreads_or(listed > list.kRoom)) {
      clear();
      return false;
    }
    write(label);
    write_table(foreground, value);
    return true;
  }
};

// A block, whose threads have a brick each of the sample; `count` tiles.
template <class Rule, class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads)
    sample_tiles(Tiles tiles, Rule rule, const typename Rule::Value* __restrict__ values, BrickTable table,
                 int64_t count) {
  follow_launch();
  constexpr int kThreads = Tiles::kThreads, kAll = kThreads * kBits;
  const int thread = int(threadIdx.x);
  const uint32_t tile = uint32_t((2 * thread + 1) * count / (2 * kThreads));
  const auto first = tiles.first_of(tiles.template corner_of<int32_t>(tile), thread * 37 % tiles.parts());
  const Bits elements =
      tiles.values_at(values + first.offset, tiles.inside(first)).where([&](const auto& value) {
        return !rule.background.is(value);
      });
  const int own_beside = __popcll(elements & ~Brick<2>::without_next(elements));
  const int both = block_sum<kThreads>(__popcll(elements) | own_beside << 16);
  if (thread != 0) return;
  const int all = both & 0xffff, beside = both >> 16;
  const bool is_sparse =
      kMostOfOne * all <= kAll && kLeastOfOne * all >= kAll && kElementsOfTwoBeside * beside <= 2 * all;
  table.written[0] = is_sparse ? kBySparseTiles : 0;
  table.written[1] = 0;
  table.components[0] = 0;  // the tile that does it otherwise may be written
}

// Blocks as many as run at once; `count` tiles.
template <class Rule, class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, 6)
    label_sparse_tiles(Tiles tiles, Rule rule, const typename Rule::Value* __restrict__ values,
                       int32_t* __restrict__ label, BrickTable table, int64_t count) {
  follow_launch();
  if (!table.written[0]) return;
  __shared__ SparseMemory<typename Rule::Value, Tiles> memory;
  int left = 0;
  SparseTile<Rule, Tiles>{tiles, table, memory, 0}.clear();
  for (int64_t tile = blockIdx.x; tile < count; tile += gridDim.x) {
    const SparseTile<Rule, Tiles> part{tiles, table, memory, uint32_t(tile)};
    const bool written = part.label(rule, values, label);
    if (threadIdx.x == 0) table.written[2 + tile] = written;
    left += !written;
  }
  if (threadIdx.x == 0 && left > 0) Shared::fetch_add(table.written + 1, left);
}

constexpr int kFollowThreads = 256;

// Half a warp the list of one.
template <class Tiles>
__global__ void __launch_bounds__(kFollowThreads)
    follow_sparse_tiles(Tiles tiles, int32_t* label, BrickTable table, int64_t count) {
  follow_launch();
  if (table.written[0] != kBySparseTiles) return;
  constexpr int kOfList = kWarp / 2, kLists = Tiles::kThreads / kWarp;
  using List = ListToFollow<Tiles>;
  const int thread = int(threadIdx.x) % kOfList;
  int roots = 0;
  for (int64_t k = grid_thread() / kOfList; k < count * kLists; k += grid_threads() / kOfList) {
    const int64_t tile = k / kLists;
    if (!table.is_written(tile)) continue;
    const List list{table, tile, int(k % kLists)};
    const uint32_t head = list.head();
    const int32_t corner = tiles.template corner_of<int32_t>(uint32_t(tile)).index;
    const auto index_of = [&](int node) { return corner + tiles.template index_of_node<int32_t>(node); };
    if (thread == 0) roots += List::high(head);
    for (int at = thread; at < List::low(head); at += kOfList) {
      const uint32_t element = list.element(at);
      const int node = List::low(element), root_of_tile = List::high(element);
      const int32_t entry = index_of(root_of_tile), root = follow_entry<false>(label, entry).root;
      if (root != entry) Shared::store(label + index_of(node), root);
      roots += root == entry && node == root_of_tile;
    }
  }
  roots = block_sum<kFollowThreads>(roots);
  if (threadIdx.x == 0) Shared::fetch_add(table.components, int64_t(roots));
}

}  // namespace conncomp
