// Sparse tiles: stages 1 and 4 of tiles with few elements of one value, for labels that are roots of images.
// A pair of elements has an entry in shared memory: the label of a root, or -1 - the pair that it is under.
// Words of bits say which pair before it that is (link); second links are listed and united (unite_second);
// pairs are pointed to their roots, and those in the outer layers mark them (flatten); then they get labels,
// and members of marked sets are listed for stage 4 (settle_all), which follows them to their root
// (follow_sparse_tile), as stage 2 may put that under another. Tiles that the image's end cuts off, or
// without room for something, are left to bricks. Cost: image read and labels written once, 4 bytes per
// listed element written and read; 35 instructions per element, 80 for one under another, 3 for four labels.
// Source: ours.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/brick_tiles.cuh"

namespace conncomp {

// The most elements of a warp's bricks; and of how many of these two may be beside others, and a few more.
constexpr int kMostOfWarp = 450, kElementsOfTwoBeside = 5, kFewBeside = 4;

// The pairs that pairs are put under, and second links; a pair is where its left element is or would be. One
// link does for what touches each other: n, the pair above, alone, unless what is on the left or right
// touches none of its elements; and on the left w, the pair there, or nw, above that.
struct PairLinks {
  using B = Brick<2>;
  static constexpr Bits kPairs = Bits(0x5555555555555555);
  Bits pairs, right_only;            // all, and those without their left element
  Bits up, left, up_left, up_right;  // the pair is put under the one there
  Bits second_up, second_right;      // links to others, of these

  // The brick, those beside it, and those above.
  PairLinks(Bits brick, Bits before, Bits after, const Bits (&above)[3], bool corners) {
    const Bits over = B::ahead_across(brick, 1, above[1]), a = brick & kPairs, b = brick >> 1 & kPairs;
    const Bits over_a = over & kPairs, over_b = over >> 1 & kPairs;
    const Bits w = B::ahead_across(brick, 0, before) & kPairs;
    const Bits nw = B::ahead_across(over, 0, B::ahead_across(before, 1, above[0])) & kPairs;
    const Bits ne = B::back_across(over, 0, B::ahead_across(after, 1, above[2])) >> 1 & kPairs;
    pairs = a | b, right_only = b & ~a;
    const Bits n = corners ? pairs & (over_a | over_b) : (a & over_a) | (b & over_b);
    const Bits on_left = corners ? a & (w | nw) & ~over_a : a & w;
    const Bits on_right = corners ? b & ne & ~over_b : 0;
    left = on_left & w, up_left = on_left & ~w;
    up = n & ~on_left, up_right = on_right & ~n & ~on_left;
    second_up = n & on_left & (corners ? ~Bits(0) : ~(over_a & nw));
    second_right = on_right & (on_left | n);
  }
  Bits all() const { return up | left | up_left | up_right; }
};

template <class Value, class Tiles> struct SparseMemory {
  static constexpr int kThreads = Tiles::kThreads, kWarps = kThreads / kWarp;
  static constexpr int kUnderOthers = 320, kSecond = 96;  // of a warp: room for pairs, and for second links
  alignas(16) int32_t entries[kThreads * kBits / 2];      // of each pair of the tile
  Bits foreground[kThreads];
  uint32_t reaching[2 * kThreads];  // of each brick: which roots have elements in the outer layers
  uint16_t under_others[kWarps][kUnderOthers + kSecond];
  // A pair, and << 16 another one.
  uint32_t second[kWarps][kSecond];
  ValueOfBlock<Value, kWarps> value;
};

// What a warp lists for stage 4, in place of planes: pairs, as first elements, and their roots'. The head has
// their number, and that of roots that are not listed.
template <class Tiles> struct ListToFollow {
  static constexpr int kOfPlane = Tiles::kThreads * int(sizeof(Bits) / sizeof(uint32_t));
  static constexpr int kNumbers = kPlanes * kOfPlane * kWarp / Tiles::kThreads, kRoom = kNumbers - 1;
  static constexpr int kTwo = 1 << 15;  // both elements of a pair are there; a node is less
  uint32_t* const numbers;

  ListToFollow(const BrickTable& table, int64_t tile, int warp)
      : numbers(
            reinterpret_cast<uint32_t*>(&table.plane(warp * kNumbers / kOfPlane, tile * Tiles::kThreads)) +
            warp * kNumbers % kOfPlane) {}
  static uint32_t both(int low, int high) { return uint32_t(low) | uint32_t(high) << 16; }
  static int low(uint32_t number) { return int(number & 0xffffu); }
  static int high(uint32_t number) { return int(number >> 16); }
  static int signed_high(uint32_t number) { return int32_t(number) >> 16; }

  uint32_t& head() const { return numbers[0]; }
  uint32_t& pair(int k) const { return numbers[1 + k]; }
};

// A thread's part in a tile. A pair is given by the node of its left element.
template <class Rule, class Tiles> struct SparseTile {
  using B = Brick<2>;
  using Value = typename Rule::Value;
  using Memory = SparseMemory<Value, Tiles>;
  static constexpr int kThreads = Memory::kThreads, kTogether = 4, kLast = B::kSide - 1;
  struct alignas(16) Four {
    int32_t label[kTogether];
  };
  struct alignas(8) Two {
    int32_t label[2];
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

  static int32_t entry_to(int pair) { return -1 - pair; }
  static int pair_of(int32_t entry) { return -1 - entry; }
  int32_t* entry_of(int pair) const { return entries + (pair >> 1); }
  int root_of(int pair, int32_t& entry) const {
    while ((entry = InBlock::load(entry_of(pair))) < 0) pair = pair_of(entry);
    return pair;
  }
  int word_of(int pair) const { return 2 * tiles.brick_of_node(pair) + tiles.bit_of_node(pair) / 32; }
  uint32_t bit_of(int pair) const { return 1u << tiles.bit_of_node(pair) % 32; }
  int side(int a) const { return B::kSide << tiles.log[a]; }
  int row_stride() const { return int(tiles.axis(1).index_stride); }

  // Whether the end of the image does not cut off the tile, and four labels can be written at once.
  bool fits(const int32_t* label) const {
    return reinterpret_cast<size_t>(label) % sizeof(Four) == 0 && row_stride() % kTogether == 0 &&
           corner.at[0] + side(1) <= tiles.axis(1).length && corner.at[1] + side(0) <= tiles.axis(0).length;
  }
  // The foreground of the brick of the tile so many steps from this one.
  Bits foreground_at(int x, int y) const {
    const bool exists = unsigned(tiles.place(brick, 0) + x) < 1u << tiles.log[0] &&
                        unsigned(tiles.place(brick, 1) + y) < 1u << tiles.log[1];
    return exists ? memory.foreground[brick + x + y * (1 << tiles.log[0])] : 0;
  }
  // The pairs of the brick in the outer layers of the tile.
  Bits rim() const {
    Bits places = 0;
    if (tiles.place(brick, 0) == 0) places |= B::layer(0, 0);
    if (tiles.place(brick, 0) == (1 << tiles.log[0]) - 1) places |= B::layer(0, kLast - 1);
    if (tiles.place(brick, 1) == 0) places |= B::layer(1, 0);
    if (tiles.place(brick, 1) == (1 << tiles.log[1]) - 1) places |= B::layer(1, kLast);
    return places & PairLinks::kPairs;
  }
  bool in_rim(int pair) const {
    const int x = pair & (side(0) - 1), y = pair >> tiles.shift(1);
    return x == 0 || x == side(0) - 2 || y == 0 || y == side(1) - 1;
  }
  // Calls body(bit, half, its place in the half) for some pairs of the brick.
  void for_each(Bits pairs, auto&& body) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      for (uint32_t bits = uint32_t(pairs >> 32 * half); bits != 0; bits &= bits - 1)
        body(lowest(bits), half, lowest_bit(bits));
      __syncwarp();
    }
  }
  int pair_at(int bit, int half) const { return origin + ((bit >> 3) + 4 * half) * side(0) + (bit & 7); }

  void begin(Bits right_only) const {
    Four* to = reinterpret_cast<Four*>(entry_of(origin));
    int32_t index = first.index;
#pragma unroll
    for (int row = 0; row < B::kSide; ++row) {
      const uint32_t of_row = uint32_t(right_only >> row * B::kSide);
      Four own;
#pragma unroll
      for (int k = 0; k < kTogether; ++k) own.label[k] = index + 2 * k + int32_t(of_row >> 2 * k & 1);
      *to = own;
      to += side(0) / (2 * kTogether);
      index += row_stride();
    }
  }
  // Puts pairs under others and lists second links, from this lane's places in the lists on.
  void link(const PairLinks& links, int under_others, int second) const {
    for_each(links.all(), [&](int bit, int half, uint32_t place) {
      const int pair = pair_at(bit, half);
      const auto has = [&](Bits pairs) { return (uint32_t(pairs >> 32 * half) & place) != 0; };
      const int along = has(links.left | links.up_left) ? -2 : has(links.up_right) ? 2 : 0;
      *entry_of(pair) = entry_to(pair + along - (has(links.left) ? 0 : side(0)));
      memory.under_others[warp][under_others++] = uint16_t(pair);
    });
    for_each(links.second_up | links.second_right, [&](int bit, int half, uint32_t place) {
      const int pair = pair_at(bit, half);
      const int along = uint32_t(links.second_right >> 32 * half) & place ? 2 : 0;
      memory.second[warp][second++] = uint32_t(pair) | uint32_t(pair + along - side(0)) << 16;
    });
  }
  // Puts the root of one of two pairs under the other's; returns it, or -1 if they had one root.
  int unite(int pair, int other) const {
    for (;;) {
      int32_t entry, entry_of_root;
      pair = root_of(pair, entry);
      other = root_of(other, entry_of_root);
      if (pair == other) return -1;
      if (pair < other) {
        const int lower = pair;
        pair = other, other = lower;
        entry = entry_of_root;
      }
      if (InBlock::compare_exchange(entry_of(pair), entry, entry_to(other)) == entry) return pair;
    }
  }
  // Unites second links; appends roots that are put under others to the list, and returns its length.
  int unite_second(int second, int under_others) const {
    for (int begin = 0; begin < second; begin += kWarp) {
      const bool exists = begin + lane() < second;
      const uint32_t link = exists ? memory.second[warp][begin + lane()] : 0;
      const int under = exists ? unite(int(link & 0xffffu), int(link >> 16)) : -1;
      const uint32_t lanes = __ballot_sync(kAllLanes, under >= 0);
      if (under >= 0) {
        memory.under_others[warp][under_others + rank_in(lanes)] = uint16_t(under);
        // Its root will be marked instead.
        if (in_rim(under)) InBlock::fetch_add(memory.reaching + word_of(under), 0u - bit_of(under));
      }
      under_others += __popc(lanes);
    }
    __syncwarp();
    return under_others;
  }
  // Calls body(whether there is one, a listed pair), all lanes together.
  void for_each_under_others(int count, auto&& body) const {
    for (int begin = 0; begin < count; begin += kWarp) {
      const bool exists = begin + lane() < count;
      body(exists, exists ? memory.under_others[warp][begin + lane()] : 0);
    }
  }
  void flatten(int count) const {
    for_each_under_others(count, [&](bool exists, int pair) {
      int32_t entry;
      const int root = exists ? root_of(pair, entry) : 0;
      __syncwarp();  // else what follows is done once for each length of a path
      if (exists) InBlock::store(entry_of(pair), entry_to(root));
      if (exists && in_rim(pair)) InBlock::fetch_or(memory.reaching + word_of(root), bit_of(root));
      __syncwarp();
    });
  }
  bool starts_right(int pair) const {
    return !(memory.foreground[tiles.brick_of_node(pair)] >> tiles.bit_of_node(pair) & 1);
  }
  bool has_two(int pair) const {
    return (memory.foreground[tiles.brick_of_node(pair)] >> tiles.bit_of_node(pair) & 3) == 3;
  }
  // Gives a pair the label of its root, and lists it if that is marked; returns the number listed so far.
  int settle(int listed, bool exists, int pair) const {
    bool marked = false;
    int root = 0;
    if (exists) {
      root = pair_of(InBlock::load(entry_of(pair)));
      InBlock::store(entry_of(pair), InBlock::load(entry_of(root)));
      marked = memory.reaching[word_of(root)] & bit_of(root);
    }
    const uint32_t lanes = __ballot_sync(kAllLanes, marked);
    const int at = listed + rank_in(lanes);
    if (marked && at < list.kRoom)
      list.pair(at) =
          list.both(pair + starts_right(pair) + (has_two(pair) ? list.kTwo : 0), root + starts_right(root));
    return listed + __popc(lanes);
  }
  // The same for all of the warp, and for the marked roots of the brick.
  int settle_all(int count, Bits roots, Bits right_only, Bits two) const {
    int listed = 0;
    for_each_under_others(count, [&](bool exists, int pair) { listed = settle(listed, exists, pair); });
    const int own = __popcll(roots), up_to_lane = warp_scan(own);
    int at = listed + up_to_lane - own;
    for_each(roots, [&](int bit, int half, uint32_t place) {
      const int root = pair_at(bit, half) + ((uint32_t(right_only >> 32 * half) & place) != 0);
      const bool has_two = uint32_t(two >> 32 * half) & place;
      if (at < list.kRoom) list.pair(at) = list.both(root + (has_two ? list.kTwo : 0), root);
      ++at;
    });
    return listed + __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
  }

  // Four labels a lane, a row a warp.
  void write(int32_t* label) const {
    constexpr int kOfBrick = B::kSide / Memory::kWarps;  // rows that a warp has of a brick
    const int x = lane() * kTogether;
    const Two* from = reinterpret_cast<const Two*>(entry_of(warp * side(0) + x));
    const auto* rows = reinterpret_cast<const uint8_t*>(memory.foreground + x / B::kSide) + warp;
    int32_t* to = label + (corner.index + warp * row_stride() + x);
#pragma unroll
    for (int k = 0; k < kBits / kTogether; ++k) {
      const Two of_pairs = from[k * Memory::kWarps * side(0) / kTogether];
      const int brick_row = k / kOfBrick, row = k % kOfBrick * Memory::kWarps;
      const uint32_t elements =
          uint32_t(rows[(brick_row << tiles.log[0]) * B::kSide + row]) >> (x & kTogether);
      Four own;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) own.label[j] = elements >> j & 1 ? of_pairs.label[j / 2] : -1;
      Concurrent::store_all(to, own.label);
      to += Memory::kWarps * row_stride();
    }
  }
  // Stage 2 looks only at bricks at the border.
  void write_table(Bits foreground, const Value& value) const {
    if (rim() != 0) table.foreground[int64_t(tile) * kThreads + brick] = foreground;
    if (brick != 0) return;
    table.comparison[tile] = Comparison::kNone;
    static_cast<Frame<Value>*>(table.frame)[tile] = {value, Value{}};
  }

  // Whether the warp's bricks have too many elements, or too many beside each other.
  static bool is_crowded(Bits foreground) {
    const int own_beside = __popcll(foreground & ~B::without_next(foreground));
    const int both = warp_sum(__popcll(foreground) | own_beside << 16), all = both & 0xffff;
    return all > kMostOfWarp || kElementsOfTwoBeside * ((both >> 16) - kFewBeside) > 2 * all;
  }
  // Labels the tile if there is room; `met` are the values of the brick. All threads call together.
  bool label(Bits foreground, ValuesMet<Value> met, int32_t* label) const {
    if (!fits(label)) return false;
    memory.foreground[brick] = foreground;
    const Value value = memory.value.common(met);
    const bool corners = tiles.grid.connectivity > 1;
    const PairLinks links(foreground, foreground_at(-1, 0), foreground_at(1, 0),
        {foreground_at(-1, -1), foreground_at(0, -1), foreground_at(1, -1)}, corners);
    const int own = __popcll(links.all()), own_second = __popcll(links.second_up | links.second_right);
    const int up_to_lane = warp_scan(own | own_second << 16);
    const int of_warp = __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
    int under_others = of_warp & 0xffff;
    const int second = of_warp >> 16, linked = under_others;
    const bool has_room = under_others <= Memory::kUnderOthers && second <= Memory::kSecond;
    const Bits at_rim = links.pairs & rim(), roots = links.pairs & ~links.all();
    memory.reaching[2 * brick] = uint32_t(at_rim);
    memory.reaching[2 * brick + 1] = uint32_t(at_rim >> 32);
    begin(links.right_only);
    if (has_room) link(links, (up_to_lane & 0xffff) - own, (up_to_lane >> 16) - own_second);
    if (__syncthreads_or(met.several || !has_room)) return false;
    under_others = unite_second(second, under_others);
    __syncthreads();
    flatten(under_others);
    __syncthreads();
    const Bits marked = memory.reaching[2 * brick] | Bits(memory.reaching[2 * brick + 1]) << 32;
    const Bits two = foreground & foreground >> 1;
    const int listed = settle_all(under_others, roots & marked, links.right_only, two);
    const int settled = warp_sum(__popcll(roots) - __popcll(roots & marked)) - (under_others - linked);
    if (lane() == 0) list.head() = list.both(listed, settled);
    if (__syncthreads_or(listed > list.kRoom)) return false;
    write(label);
    write_table(foreground, value);
    return true;
  }
};

}
