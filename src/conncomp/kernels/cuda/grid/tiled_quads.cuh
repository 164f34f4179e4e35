// Labels images of bytes with corners by union–find in tiles, a thread a quad of 2 x 2 elements: the default
// for those too small for bricks. A quad is whole if its foreground has one value, and then is one node, at
// its first element; else it is split, and each value is a node. A warp has a row of quads. label_quads makes
// runs of touching quads by ballots, puts each under one that it touches in the row above by a store, and
// unites the other needed contacts, and those of split quads value by value; join_quads does so where tiles
// meet; number_rows numbers words of bits of roots, unless each block of write_quads does, for small items;
// write_quads follows each node to its root. The bit of a root is set by label_quads, and cleared by whoever
// puts it under another. Parents and quads lie in the workspace, so values that change decide links only.
// Cost: 1 byte read, 4 or 8 written, and 1.5 written and read twice per element; several times that where
// most quads are split. Source: Oliveira and Lotufo 2010, as for elements; blocks: Grana, Borghesani and
// Cucchiara 2010; which contacts need no union is ours.
#pragma once

#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/word_bytes.cuh"

namespace conncomp {

constexpr int kQuadRows = 8;  // of a tile
constexpr int kQuadThreads = kQuadRows * kWarp;
constexpr int kTileWidth = 2 * kWarp, kTileHeight = 2 * kQuadRows;  // in elements
constexpr int kRootWordsOfRow = kTileWidth / kRootWord, kRootWordsOfTile = kTileHeight * kRootWordsOfRow;
constexpr int kWordsAtOnce = 4;                        // that a thread of number_rows has
constexpr int kBorderThreads = kWarp + 2 * kQuadRows;  // of a tile, in join_quads, or four times as many
constexpr int kMostBorderThreads = 4 * kBorderThreads;

// A quad: a bit for each element of its foreground, one for split, and the value of its foreground.
struct Quad {
  uint16_t code;

  int elements() const { return code & 15; }
  bool is_split() const { return code >> 4 & 1; }
  bool is_whole() const { return elements() != 0 && !is_split(); }
  bool has(int element) const { return code >> element & 1; }
  int row() const { return elements() & 3 ? 0 : 1; }
  int column() const { return elements() & (elements() & 3 ? 1 : 4) ? 0 : 1; }
  // The elements that may touch another quad, if both are whole and of one value.
  int elements_like(const Quad& other) const {
    return code >> 4 == other.code >> 4 && !is_split() ? elements() : 0;
  }
};

// An image, and what kernels keep, in rows of whole words. Layout: tiled_quads.py.
struct QuadTable {
  uint16_t* quad;
  int32_t* parent;          // of an element that is a node, in its item
  uint32_t* roots_of_word;  // null where roots are not numbered
  int32_t* number_of_word;
  int32_t* roots_of_tile;
  int64_t* components;
  int64_t item_stride;             // of values
  int32_t row_stride, stride;      // likewise
  int32_t height, width, columns;  // of an item, in elements; columns are words of a row
  int32_t tiles_of_row, tiles_of_item;
  uint32_t inverse_of_row;  // 2^32 over tiles_of_row, rounded up, or 0 for one
};

struct TileOfQuads {
  uint32_t item;
  int row, column;         // in tiles
  int first_row, first_x;  // in quads

  TileOfQuads(uint32_t number, const QuadTable& table) : item(0) {
    const uint32_t of_item = table.tiles_of_item, of_row = table.tiles_of_row;
    if (number >= of_item) item = number / of_item, number -= item * of_item;
    // Exact, as number x of_row is below 2^32.
    row = int(of_row == 1 ? number : __umulhi(number, table.inverse_of_row));
    column = int(number - row * of_row);
    first_row = row * kQuadRows;
    first_x = column * kWarp;
  }
};

struct QuadsOfItem : QuadTable {
  const uint8_t* values;

  QuadsOfItem(const QuadTable& table, const uint8_t* values_of_all, uint32_t item)
      : QuadTable(table), values(values_of_all) {
    if (item == 0) return;
    const int64_t words = int64_t(height) * columns;
    values += item * item_stride;
    quad += item * int64_t((height + 1) / 2 * quads_of_row());
    parent += item * words * kRootWord;
    components += item;
    if (roots_of_word == nullptr) return;
    roots_of_word += item * words;
    if (roots_of_tile == nullptr) return;
    number_of_word += item * words;
    roots_of_tile += int64_t(item) * tiles_of_item;
  }
  int quads_of_row() const { return columns * (kRootWord / 2); }
  bool has(int row, int x) const { return row >= 0 && x >= 0 && 2 * row < height && 2 * x < width; }
  Quad quad_at(int row, int x) const { return {has(row, x) ? quad[row * quads_of_row() + x] : uint16_t(0)}; }
  int pitch() const { return columns * kRootWord; }
  // A whole quad's parent lies here, to be loaded early; only roots of tiles have their own entry.
  int slot(int row, int x) const { return 2 * row * pitch() + 2 * x; }
  int above_slot(int row, int x) const { return has(row, x) ? Concurrent::load(parent + slot(row, x)) : 0; }
  int node(int row, int x, const Quad& quad, int element) const {
    const int y = quad.is_split() ? element / 2 : quad.row();
    return (2 * row + y) * pitch() + 2 * x + (quad.is_split() ? element % 2 : quad.column());
  }

  // Called for each union: clears the bit of a root that no longer is one.
  void united(int root) {
    if (roots_of_word == nullptr) return;
    Concurrent::fetch_add(roots_of_word + root / kRootWord, 0u - (1u << root % kRootWord));
    if (roots_of_tile == nullptr) return;
    const int row = root / pitch(), column = root - row * pitch();
    Concurrent::fetch_add(roots_of_tile + row / kTileHeight * tiles_of_row + column / kTileWidth, -1);
  }
};

// How a whole quad touches those around, by elements of its value. Without branches: all threads ask.
struct QuadContacts {
  int own, left, up, up_left, up_right;

  static bool beside(int left, int right) { return ((left & 10) != 0) & ((right & 5) != 0); }
  static bool above(int upper, int lower) { return ((upper & 12) != 0) & ((lower & 3) != 0); }
  static bool rising(int lower, int upper) { return (lower << 1 & upper & 4) != 0; }

  bool touches_left() const { return beside(left, own); }

  // The quads above to unite with, so that these unions and the left quad connect all that touch. Not up if
  // left touches both; not up_left if up or left touches it too; not up_right if up touches both: what makes
  // up for a contact, if it is left out too, lies further to the left.
  enum Above { kUp = 1, kUpLeft = 2, kUpRight = 4 };
  int needed() const {
    const bool is_left = touches_left(), is_up = above(up, own), is_up_left = (up_left >> 3 & own & 1) != 0;
    return (is_up & !(is_left & rising(left, up)) ? kUp : 0) |
           (is_up_left & !(is_up & beside(up_left, up)) & !(is_left & above(up_left, left)) ? kUpLeft : 0) |
           (rising(own, up_right) & !(is_up & beside(up, up_right)) ? kUpRight : 0);
  }
  // The same, and the left quad as the lowest bit.
  int links() const { return needed() << 1 | touches_left(); }
};

// A quad and those around that it may be united with; values are bytes of a word.
struct QuadsAround {
  enum { kOwn, kLeft, kUp, kUpLeft, kUpRight, kQuads };
  Quad quad[kQuads];
  uint32_t values[kQuads];

  bool any_split() const {
    int codes = 0;
#pragma unroll
    for (int k = 0; k < kQuads; ++k) codes |= quad[k].code;
    return Quad{uint16_t(codes)}.is_split();
  }
  // Selects by quad: arrays in registers have no variable index.
  template <class T> static T select(int k, T left, T up, T up_left, T up_right) {
    return k == kLeft ? left : k == kUp ? up : k == kUpLeft ? up_left : up_right;
  }
  Quad quad_at(int k) const { return select(k, quad[1], quad[2], quad[3], quad[4]); }
  // The value of an element; and the elements of a quad that have it.
  uint32_t value(int element) const { return values[kOwn] >> 8 * element & 255; }
  int elements_of(int k, uint32_t value) const {
    const bool is_own = k == kOwn;
    const int elements = (is_own ? quad[kOwn] : quad_at(k)).elements();
    const uint32_t of_quad = is_own ? values[kOwn] : select(k, values[1], values[2], values[3], values[4]);
    return elements & ~bits_of_bytes(bytes_set(of_quad ^ value * kEachByte));
  }
  // The first of its own elements that has a value; and all first elements.
  int first_of(uint32_t value) const { return __ffs(elements_of(kOwn, value)) - 1; }
  int firsts() const {
    int firsts = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (quad[kOwn].has(k)) firsts |= 1 << first_of(value(k));
    return firsts;
  }
  // What each value is to be united with, as bits k - 1 of four at its first element; only of split quads.
  uint32_t links() const {
    uint32_t links = 0;
    int split = 0;
#pragma unroll
    for (int k = kLeft; k < kQuads; ++k) split |= (quad[k].is_split() | quad[kOwn].is_split()) << (k - 1);
#pragma unroll 1
    for (int unvisited = quad[kOwn].elements(); unvisited != 0;) {
      const int first = __ffs(unvisited) - 1;
      const uint32_t of = value(first);
      const QuadContacts contacts{elements_of(kOwn, of), elements_of(kLeft, of), elements_of(kUp, of),
          elements_of(kUpLeft, of), elements_of(kUpRight, of)};
      links |= uint32_t(contacts.links() & split) << 4 * first;
      unvisited &= ~contacts.own;
    }
    return links;
  }
  static int rows_to(int k) { return k <= kLeft ? 0 : -1; }
  static int quads_to(int k) { return k == kUpRight ? 1 : k == kUp || k == kOwn ? 0 : -1; }
};

// The values of a quad, as bytes of a word: all loaded before one is looked at, two at a time if they fit.
inline uint32_t values_of_quad(const QuadsOfItem& quads, int row, int x) {
  if (!quads.has(row, x)) return 0;
  const bool is_wide = 2 * x + 1 < quads.width, is_high = 2 * row + 1 < quads.height;
  const uint8_t* const first =
      quads.values + int64_t(2 * row) * quads.row_stride + int64_t(2 * x) * quads.stride;
  const uint8_t* const second = first + quads.row_stride;
  uint32_t values;
  if (is_wide && quads.stride == 1 &&
      ((reinterpret_cast<size_t>(quads.values) | quads.row_stride) & 1) == 0) {
    values = *reinterpret_cast<const uint16_t*>(first);
    if (is_high) values |= uint32_t(*reinterpret_cast<const uint16_t*>(second)) << 16;
  } else {
    values = first[0];
    if (is_wide) values |= uint32_t(first[quads.stride]) << 8;
    if (is_high) values |= uint32_t(second[0]) << 16;
    if (is_wide && is_high) values |= uint32_t(second[quads.stride]) << 24;
  }
  return values;
}

inline Quad quad_of_values(
    const QuadsOfItem& quads, const Background<uint8_t>& background, int row, int x, uint32_t values) {
  uint32_t foreground = background.present ? bytes_set(values ^ background.value * kEachByte) : 0x80808080u;
  foreground &= 2 * x + 1 < quads.width ? ~0u : 0x00ff00ffu;
  foreground &= 2 * row + 1 < quads.height ? ~0u : 0x0000ffffu;
  if (foreground == 0 || !quads.has(row, x)) return {0};
  const int elements = bits_of_bytes(foreground);
  const uint32_t value = values >> 8 * (__ffs(elements) - 1) & 255;
  const bool is_split = bytes_set(values ^ value * kEachByte) & foreground;
  return {uint16_t(uint32_t(elements) | uint32_t(is_split) << 4 | value << 8)};
}

// A block a tile, a thread a quad.
template <int = 0>
__global__ void __launch_bounds__(kQuadThreads, resident_blocks(kQuadThreads))
    label_quads(Equal<uint8_t> rule, const uint8_t* __restrict__ values, QuadTable table) {
  __shared__ int parent[kTileHeight * kTileWidth];
  __shared__ Quad quad_of[kQuadRows][kWarp];
  __shared__ uint32_t values_of[kQuadRows][kWarp];
  __shared__ uint16_t node_of[kQuadRows][kWarp];
  __shared__ uint32_t roots[kRootWordsOfTile];
  const int row = int(threadIdx.x / kWarp), x = int(threadIdx.x % kWarp);
  const TileOfQuads tile(blockIdx.x, table);
  const QuadsOfItem quads(table, values, tile.item);
  const int row_of_item = tile.first_row + row, x_of_item = tile.first_x + x;
  if (threadIdx.x < kRootWordsOfTile) roots[threadIdx.x] = 0;
  follow_launch();
  if (threadIdx.x == 0 && tile.row + tile.column == 0) *quads.components = 0;

  const uint32_t own_values = values_of_quad(quads, row_of_item, x_of_item);
  const Quad quad = quad_of_values(quads, rule.background, row_of_item, x_of_item, own_values);
  quad_of[row][x] = quad;
  values_of[row][x] = own_values;
  const bool any_split = __syncthreads_or(quad.is_split());

  const Quad up = row > 0 ? quad_of[row - 1][x] : Quad{0};
  const auto beside = [](int code, bool exists) { return exists ? Quad{uint16_t(code)} : Quad{0}; };
  const Quad left = beside(__shfl_up_sync(kAllLanes, int(quad.code), 1), x > 0),
             up_left = beside(__shfl_up_sync(kAllLanes, int(up.code), 1), x > 0),
             up_right = beside(__shfl_down_sync(kAllLanes, int(up.code), 1), x < kWarp - 1);
  const QuadContacts around{quad.is_split() ? 0 : quad.elements(), left.elements_like(quad),
      up.elements_like(quad), up_left.elements_like(quad), up_right.elements_like(quad)};
  const uint32_t up_to_here = kAllLanes >> (kWarp - 1 - x);
  const uint32_t starts = ~__ballot_sync(kAllLanes, around.touches_left());
  const int start = kWarp - 1 - __clz(int(starts & up_to_here));
  const uint32_t later = starts & ~up_to_here;
  const uint32_t run = (lowest_bit(later) - 1) & kAllLanes << start;  // to the end, if none is later
  const uint32_t in_first_row = __ballot_sync(kAllLanes, (quad.elements() & 3) != 0) & run;
  const int first = in_first_row ? lowest(in_first_row) : start;
  const auto place_of = [](int row, int x, int y, int column) {
    return (2 * row + y) * kTileWidth + 2 * x + column;
  };
  const int node = __shfl_sync(kAllLanes, place_of(row, x, quad.row(), quad.column()), first);
  node_of[row][x] = uint16_t(node);
  __syncthreads();

  // Puts a run under one of those above; the others are united with it later.
  int contacts = around.needed();
  const auto take_above = [&] {
    const int contact = contacts & -contacts;
    contacts -= contact;
    return int(node_of[row - 1][contact == QuadContacts::kUp       ? x
                                : contact == QuadContacts::kUpLeft ? x - 1
                                                                   : x + 1]);
  };
  const uint32_t touching = __ballot_sync(kAllLanes, contacts != 0) & run;
  if (touching ? x == lowest(touching) : x == first) parent[node] = touching ? take_above() : node;
  QuadsAround near{{quad, left, up, up_left, up_right}, {own_values}};
  uint32_t links = 0;
  int firsts = 0;
  if (any_split && near.any_split()) {
    const auto values_at = [&](const Quad& of, int k) {
      return of.elements() ? values_of[row + near.rows_to(k)][x + near.quads_to(k)] : 0;
    };
#pragma unroll
    for (int k = QuadsAround::kLeft; k < QuadsAround::kQuads; ++k)
      near.values[k] = values_at(near.quad[k], k);
    links = near.links();
    if (quad.is_split()) firsts = near.firsts();
  }
  const auto place = [&](int element) { return place_of(row, x, element / 2, element % 2); };
  const auto for_each_link = [&](auto&& body) {
#pragma unroll 1
    for (uint32_t unvisited = links; unvisited != 0; unvisited &= unvisited - 1) {
      const int link = lowest(unvisited), element = link / 4, k = link % 4 + 1;
      const int to_row = row + near.rows_to(k), to_x = x + near.quads_to(k);
      const Quad to = quad_of[to_row][to_x];
      const QuadsAround there{{to}, {values_of[to_row][to_x]}};
      const int first = there.first_of(near.value(element));
      body(quad.is_split() ? place(element) : node,
          to.is_split() ? place_of(to_row, to_x, first / 2, first % 2) : int(node_of[to_row][to_x]));
    }
  };
  const auto for_each_value = [&](auto&& body) {
#pragma unroll 1
    for (int unvisited = firsts; unvisited != 0; unvisited &= unvisited - 1)
      body(place(__ffs(unvisited) - 1));
  };
  for_each_value([&](int of_value) { parent[of_value] = of_value; });
  // The left quad's node may be a row lower.
  if (quad.is_split())
    for_each_link([&](int of_value, int neighbour) {
      if (neighbour < of_value) parent[of_value] = neighbour;
    });
  const auto move_up = [&](int node) {
    int above = InBlock::load(parent + node);
    for (int next; (next = InBlock::load(parent + above)) != above; above = next)
      InBlock::store(parent + node, next);
  };
  const auto flatten = [&] {
    if (quad.is_whole() && x == first) move_up(node);
    for_each_value(move_up);
  };
  // Most parents are roots still.
  const auto unite_parents = [&](int a, int b) {
    hook_lowest<InBlock>(parent, InBlock::load(parent + a), InBlock::load(parent + b));
  };
  __syncthreads();
  flatten();
  if (__syncthreads_or(contacts != 0 || any_split)) {
    while (__any_sync(kAllLanes, contacts != 0))
      if (contacts != 0) unite_parents(node, take_above());
    for_each_link(unite_parents);
    __syncthreads();
    flatten();
    __syncthreads();
  }

  const auto write_parent = [&](int at, int slot, bool may_be_root) {
    const uint32_t root = InBlock::load(parent + at);
    const int above = int(2 * tile.first_row + root / kTileWidth) * quads.pitch() +
                      int(2 * tile.first_x + root % kTileWidth);
    quads.parent[slot] = above;
    if (!may_be_root || int(root) != at) return;
    quads.parent[above] = above;
    if (table.roots_of_word != nullptr) InBlock::fetch_or(roots + root / kRootWord, 1u << root % kRootWord);
  };
  if (quads.has(row_of_item, x_of_item))
    quads.quad[row_of_item * quads.quads_of_row() + x_of_item] = quad.code;
  if (quad.is_whole()) write_parent(node, quads.slot(row_of_item, x_of_item), x == first);
  if (quad.is_split()) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
      if (quad.has(k))
        write_parent(place(near.first_of(near.value(k))), quads.node(row_of_item, x_of_item, quad, k), true);
  }
  if (table.roots_of_word == nullptr) return;
  __syncthreads();
  if (row > 0) return;
  int count = 0;
  for (int word = x; word < kRootWordsOfTile; word += kWarp) {
    const int y = 2 * tile.first_row + word / kRootWordsOfRow;
    const int column = tile.column * kRootWordsOfRow + word % kRootWordsOfRow;
    count += __popc(roots[word]);
    if (y < quads.height && column < quads.columns)
      quads.roots_of_word[y * quads.columns + column] = roots[word];
  }
  count = warp_sum(count);
  if (x == 0 && table.roots_of_tile != nullptr) table.roots_of_tile[blockIdx.x] = count;
}

// A thread, or several that share contacts where tiles are few, for each quad of a tile's first row and both
// ends of the others.
template <int = 0>
__global__ void __launch_bounds__(kMostBorderThreads, 4)
    join_quads(const uint8_t* __restrict__ values, QuadTable table) {
  const int border = int(threadIdx.x) % kBorderThreads, part = int(threadIdx.x) / kBorderThreads;
  const int of_side = border - kWarp;
  const int row_of_tile = of_side < 0 ? 0 : of_side % kQuadRows;
  const int x_of_tile = of_side < 0 ? border : of_side < kQuadRows ? 0 : kWarp - 1;
  const TileOfQuads tile(blockIdx.x, table);
  QuadsOfItem quads(table, values, tile.item);
  const int row = tile.first_row + row_of_tile, x = tile.first_x + x_of_tile;
  if ((of_side >= 0 && row_of_tile == 0) || !quads.has(row, x)) return;
  follow_launch();
  const Quad quad = quads.quad_at(row, x), left = quads.quad_at(row, x - 1), up = quads.quad_at(row - 1, x),
             up_left = quads.quad_at(row - 1, x - 1), up_right = quads.quad_at(row - 1, x + 1);
  const int above_own = quads.above_slot(row, x), above_left = quads.above_slot(row, x - 1),
            above_up = quads.above_slot(row - 1, x), above_up_left = quads.above_slot(row - 1, x - 1),
            above_up_right = quads.above_slot(row - 1, x + 1);
  const QuadContacts around{quad.is_split() ? 0 : quad.elements(), left.elements_like(quad),
      up.elements_like(quad), up_left.elements_like(quad), up_right.elements_like(quad)};
  QuadsAround near{{quad, left, up, up_left, up_right}, {}};
  uint32_t links = uint32_t(around.links()) << 4 * (__ffs(quad.elements() | 16) - 1);
  if (near.any_split()) {
#pragma unroll
    for (int k = QuadsAround::kOwn; k < QuadsAround::kQuads; ++k)
      near.values[k] = values_of_quad(quads, row + near.rows_to(k), x + near.quads_to(k));
    links |= near.links();
  }
  const auto across = [&](int k) {
    const int to_x = x_of_tile + near.quads_to(k);
    return uint32_t(row_of_tile + near.rows_to(k) < 0 || to_x < 0 || to_x >= kWarp) << (k - 1);
  };
  const int parts = int(blockDim.x) / kBorderThreads;
  const uint32_t shared = parts == 1 ? 15 : 1 << part;
  links &= 0x1111 *
           ((across(near.kLeft) | across(near.kUp) | across(near.kUpLeft) | across(near.kUpRight)) & shared);
  // Whoever hooks a parent finds whether it is a root. One copy, as code that runs once is slow to fetch.
  int own = above_own;
#pragma unroll 1
  for (; links != 0; links &= links - 1) {
    const int link = lowest(links), element = link / 4, k = link % 4 + 1;
    int other = near.select(k, above_left, above_up, above_up_left, above_up_right);
    if (const Quad to = near.quad_at(k); to.is_split()) {
      const int like = __ffs(near.elements_of(k, near.value(element))) - 1;
      other =
          Concurrent::load(quads.parent + quads.node(row + near.rows_to(k), x + near.quads_to(k), to, like));
    }
    if (quad.is_split()) own = Concurrent::load(quads.parent + quads.node(row, x, quad, element));
    own = hook_lowest<Concurrent>(quads.parent, own, other, quads);
  }
}

// Numbers words and counts roots. A block for each row of tiles.
template <int = 0> __global__ void __launch_bounds__(kWordThreads) number_rows(QuadTable table) {
  const int bands = table.tiles_of_item / table.tiles_of_row, band = int(blockIdx.x) % bands;
  const QuadsOfItem quads(table, nullptr, blockIdx.x / bands);
  const int words = kTileHeight * quads.columns, begin = band * words;
  const int of_item = quads.height * quads.columns;
  const int end = begin + words < of_item ? begin + words : of_item;
  follow_launch();
  int before = 0;
  for (int tile = int(threadIdx.x); tile < band * quads.tiles_of_row; tile += kWordThreads)
    before += quads.roots_of_tile[tile];
  int number = 1 + block_sum<kWordThreads>(before);
  for (int first = begin; first < end; first += kWordsAtOnce * kWordThreads) {
    const int word = first + kWordsAtOnce * int(threadIdx.x);
    int roots[kWordsAtOnce], roots_of_thread = 0;
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k)
      roots[k] = word + k < end ? __popc(quads.roots_of_word[word + k]) : 0;
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) roots_of_thread += roots[k];
    int total, in_words = number + block_scan<kWordThreads>(roots_of_thread, total);
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      if (word + k < end) quads.number_of_word[word + k] = in_words;
      in_words += roots[k];
    }
    number += total;
  }
  if (threadIdx.x == 0 && band == bands - 1) *quads.components = number - 1;
}

// A block a tile, a thread one quad or several of a column; one where blocks number words.
template <LabelKind kind, class Label>
__global__ void __launch_bounds__(kQuadThreads) write_quads(Label* __restrict__ labels, QuadTable table) {
  constexpr bool kInBlock = kind == LabelKind::kNumbersOfBlock, kRoots = kind == LabelKind::kRoots;
  constexpr Label kBackground = kRoots ? -1 : 0;
  const TileOfQuads tile(blockIdx.x, table);
  const QuadsOfItem quads(table, nullptr, tile.item);
  labels += int64_t(tile.item) * quads.height * quads.width;
  const int x = tile.first_x + int(threadIdx.x % kWarp);
  const bool fits = quads.width % 2 == 0 && reinterpret_cast<size_t>(labels) % (2 * sizeof(Label)) == 0;
  follow_launch();
  int count = 0;
  // One root for a whole quad, and one for each element of a split one.
  const auto find_roots = [&](int row, const Quad& quad, int above, int (&roots)[4]) {
    const auto root_above = [&](int node, int above) {
      const int root = find<Concurrent, Jump::kLeading>(quads.parent, above);
      count += root == node;
      return root;
    };
    if (quad.is_whole()) roots[0] = root_above(quads.node(row, x, quad, 0), above);
    if (!quad.is_split()) return;
    // Elements of one value have one parent.
    int above_of[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      above_of[k] = quad.has(k) ? Concurrent::load(quads.parent + quads.node(row, x, quad, k)) : -1;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (!quad.has(k)) continue;
      bool is_first = true;
#pragma unroll
      for (int j = 0; j < k; ++j)
        if (above_of[j] == above_of[k]) roots[k] = roots[j], is_first = false;
      if (is_first) roots[k] = root_above(quads.node(row, x, quad, k), above_of[k]);
    }
  };
  const auto write = [&](int row, const Quad& quad, const int (&roots)[4], auto&& label_of) {
    Label label[4] = {kBackground, kBackground, kBackground, kBackground};
    if (quad.is_whole()) {
      const Label of_quad = label_of(roots[0]);
#pragma unroll
      for (int k = 0; k < 4; ++k) label[k] = quad.has(k) ? of_quad : kBackground;
    } else if (quad.is_split()) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (quad.has(k)) label[k] = label_of(roots[k]);
    }
    Label* const first = labels + 2 * row * quads.width + 2 * x;
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      if (2 * row + k / 2 >= quads.height) break;
      Label* const at = first + k / 2 * quads.width;
      if (fits) {
        const Label pair[2] = {label[k], label[k + 1]};
        Concurrent::store_all(at, pair);
      } else {
        Concurrent::store(at, label[k]);
        if (2 * x + 1 < quads.width) Concurrent::store(at + 1, label[k + 1]);
      }
    }
  };
  const int first_row = tile.first_row + int(threadIdx.x / kWarp), end = tile.first_row + kQuadRows;
  int roots[4];
  if constexpr (kInBlock) {
    __shared__ NumberedWords<kQuadThreads> words;
    const Quad quad = quads.quad_at(first_row, x);
    const int above = quads.above_slot(first_row, x);
    const int words_of_item = quads.height * quads.columns;
    const auto loaded = words.load(quads.roots_of_word, words_of_item);
    find_roots(first_row, quad, above, roots);
    const int components = words.count(loaded, words_of_item);
    if (threadIdx.x == 0 && tile.row + tile.column == 0) *quads.components = components;
    if (quads.has(first_row, x))
      write(first_row, quad, roots, [&](int root) { return Label(words.label(root)); });
  } else {
    for (int row = first_row; row < end; row += int(blockDim.x / kWarp)) {
      if (!quads.has(row, x)) break;
      const Quad quad = quads.quad_at(row, x);
      find_roots(row, quad, quads.above_slot(row, x), roots);
      write(row, quad, roots, [&](int root) {
        if constexpr (kRoots) {
          if (quads.pitch() == quads.width) return Label(root);
          const int y = root / quads.pitch();
          return Label(y) * quads.width + (root - y * quads.pitch());
        } else {
          return Label(
              label_of_bit(quads.roots_of_word, quads.number_of_word, root / kRootWord, root % kRootWord));
        }
      });
    }
  }
  if constexpr (kRoots) {
    const int total = block_sum<kQuadThreads>(count);
    if (threadIdx.x == 0) Concurrent::fetch_add(quads.components, int64_t(total));
  }
}

}
