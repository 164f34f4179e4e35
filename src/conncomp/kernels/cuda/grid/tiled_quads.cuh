// Connected components of images of bytes on the GPU by union–find in tiles, a thread 2 x 2 elements. The
// default for those that are too small for bricks (tiled_bricks.cuh) to give work to all of a GPU.
//
// What: as tiled_elements.cuh, for two axes that are both open, and neighbours across faces or corners, too.
// How: a quad is 2 x 2 elements; it is whole if its foreground is of one value and connected in it, and then
// a single node, at its first element. A tile is 32 quads wide, so that a warp has a row of quads.
//
//    a quad   0 1      label_quads   quads beside each other in a row that touch are a run, by ballots; the run
//             2 3                    is put under one that it touches in the row above, by a store; what else
//                                    it touches there is united. Contacts of which others make up are left out
//                      join_quads    the same contacts where tiles meet, in global memory
//                      number_rows   for consecutive labels: bits of roots become numbers of words
//                      write_quads   each quad follows its node's parents to the root, and writes four labels
//
// Elements of a quad that is not whole, which in masks with corners there are none of, are nodes each, and
// their links to elements beside are united one by one. A root's bit is set by label_quads, and taken back by
// who hooks it elsewhere, so that no further kernel looks for roots.
// Values are read once, but for those of quads that are not whole. Parents and what quads hold lie in the
// workspace, so that nobody changes them meanwhile; values that change decide links only.
//
// Cost: 1 byte read and 4 or 8 written for each element, and beside 1.5 bytes written and twice read. Three
// kernels, four for consecutive labels.
//
// Source: Oliveira and Lotufo 2010, as for elements; blocks of 2 x 2 in place of elements are of Grana,
// Borghesani and Cucchiara 2010. Which contacts need no union is ours.
#pragma once

#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/tiling.cuh"

namespace conncomp {

constexpr int kQuadRows = 32;  // of a tile, at most
constexpr int kTileWidth = 2 * kWarp, kRootWordsOfRow = kTileWidth / kRootWord;
constexpr int kBorderThreads = kWarp + 2 * kQuadRows;  // of a tile, in join_quads

template <bool items>
using QuadTiles = Tiling<2, 1, GivenLogs<items>>;

// What a quad holds: a bit for each element of its foreground, whether it is split, that is not whole, and the
// value of its foreground.
struct Quad {
  uint16_t code;

  __device__ int elements() const { return code & 15; }
  __device__ bool is_split() const { return code >> 4 & 1; }
  __device__ bool is_whole() const { return elements() != 0 && !is_split(); }
  __device__ bool has(int element) const { return code >> element & 1; }
  // The row and the column of its first element.
  __device__ int row() const { return elements() & 3 ? 0 : 1; }
  __device__ int column() const { return elements() >> 2 * row() & 1 ? 0 : 1; }
  // The elements that may touch a whole quad, if both are whole.
  __device__ int elements_like(const Quad& other) const {
    return code >> 4 == other.code >> 4 && !is_split() ? elements() : 0;
  }
};

// Laid out as in tiled_quads.py. What is of an element or a word of roots is padded to whole words in rows.
struct QuadTable {
  uint16_t* quad;
  int32_t* parent;          // of an element that is a node, in its item
  uint32_t* roots_of_word;  // null where roots are not numbered
  int32_t* number_of_word;
  int32_t* roots_of_tile;
  int64_t* components;
  int64_t columns;  // words of a row
};

// An item's part of the table, and where things are in it.
struct QuadsOfItem {
  QuadTable table;
  int height, width, tiles_of_row, log_rows;  // in elements and tiles; of the rows of quads of a tile

  template <class Tiles>
  __device__ QuadsOfItem(const Tiles& tiles, const QuadTable& whole, int64_t item)
      : table(whole),
        height(int(tiles.axis(1).length)),
        width(int(tiles.axis(0).length)),
        tiles_of_row(int(tiles.along(1))),
        log_rows(tiles.log[1]) {
    const int64_t words = height * table.columns;
    table.quad += item * quads();
    table.parent += item * words * kRootWord;
    table.components += item;
    if (table.roots_of_word == nullptr) return;
    table.roots_of_word += item * words;
    table.number_of_word += item * words;
    table.roots_of_tile += item * int64_t(tiles.tiles_of_item());
  }
  __device__ int quads_of_row() const { return (width + 1) / 2; }
  __device__ int quads() const { return (height + 1) / 2 * quads_of_row(); }
  __device__ bool has(int row, int x) const {
    return row >= 0 && x >= 0 && 2 * row < height && x < quads_of_row();
  }
  __device__ Quad quad_at(int row, int x) const {
    return {has(row, x) ? table.quad[row * quads_of_row() + x] : uint16_t(0)};
  }
  __device__ int pitch() const { return int(table.columns) * kRootWord; }
  // The node of an element, and of a whole quad.
  __device__ int node(int row, int x, int element) const {
    return (2 * row + element / 2) * pitch() + 2 * x + element % 2;
  }
  __device__ int node(int row, int x, const Quad& quad) const {
    return (2 * row + quad.row()) * pitch() + 2 * x + quad.column();
  }

  // Told of unions: takes back the bit of a root that is none any more.
  __device__ void united(int root) {
    if (table.roots_of_word == nullptr) return;
    Shared::fetch_add(table.roots_of_word + root / kRootWord, 0u - (1u << root % kRootWord));
    const int row = root / pitch(), column = root - row * pitch();
    Shared::fetch_add(
        table.roots_of_tile + (row >> (log_rows + 1)) * tiles_of_row + column / kTileWidth, -1);
  }
};

// How a whole quad touches those around, by the elements that they hold of its value.
template <bool corners>
struct QuadContacts {
  int own, left, up, up_left, up_right;

  // Words of bits without branches: what is decided here is decided in every thread.
  __device__ static bool beside(int left, int right) {
    return corners ? bool(((left & 10) != 0) & ((right & 5) != 0)) : (left >> 1 & right & 5) != 0;
  }
  __device__ static bool above(int upper, int lower) {
    return corners ? bool(((upper & 12) != 0) & ((lower & 3) != 0)) : (upper >> 2 & lower & 3) != 0;
  }
  // Of a quad and the one to the right above.
  __device__ static bool rising(int lower, int upper) { return (lower << 1 & upper & 4) != 0; }

  __device__ bool touches_left() const { return beside(left, own); }

  // Which of the quads above, a bit each, it is to be united with, such that those unions and that with the
  // quad to the left connect all that touch. A contact is left out if two others, or without corners three,
  // make up for it; of those that are left out themselves the ones that do lie further to the left.
  //
  //    up_left  up  up_right        corners: up if left touches both; up_left if up or left touches it, too;
  //       left  own                 up_right if up touches both
  enum Above { kUp = 1, kUpLeft = 2, kUpRight = 4 };
  __device__ int needed() const {
    const bool is_left = touches_left(), is_up = above(up, own);
    if (!corners) return is_up & !(is_left & above(up_left, left) & beside(up_left, up)) ? kUp : 0;
    const bool is_up_left = (up_left >> 3 & own & 1) != 0;
    return (is_up & !(is_left & rising(left, up)) ? kUp : 0) |
           (is_up_left & !(is_up & beside(up_left, up)) & !(is_left & above(up_left, left)) ? kUpLeft : 0) |
           (rising(own, up_right) & !(is_up & beside(up, up_right)) ? kUpRight : 0);
  }
};

// The values of an item's elements.
struct QuadValues {
  const uint8_t* values;
  int64_t row_stride, stride;

  template <class Tiles>
  __device__ QuadValues(const Tiles& tiles, const uint8_t* values, int64_t item)
      : values(values + item * tiles.grid.item_stride),
        row_stride(tiles.axis(1).value_stride),
        stride(tiles.axis(0).value_stride) {}
  __device__ uint8_t at(int row, int x, int element) const {
    return values[(2 * row + element / 2) * row_stride + (2 * x + element % 2) * stride];
  }
};

template <bool corners>
__device__ inline Quad read_quad(const QuadsOfItem& quads, const Equal<uint8_t>& rule,
                                 const QuadValues& values, int row, int x) {
  // All are loaded before one is looked at.
  bool is_foreground[4];
  uint8_t of_element[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    is_foreground[k] = 2 * row + k / 2 < quads.height && 2 * x + k % 2 < quads.width;
    of_element[k] = is_foreground[k] ? values.at(row, x, k) : uint8_t(0);
  }
  int elements = 0, value = 0;
#pragma unroll
  for (int k = 3; k >= 0; --k) {
    is_foreground[k] = is_foreground[k] && !rule.is_background(of_element[k]);
    elements |= int(is_foreground[k]) << k;
    value = is_foreground[k] ? of_element[k] : value;
  }
  bool is_split = !corners && ((elements == 6) | (elements == 9));
#pragma unroll
  for (int k = 1; k < 4; ++k) is_split |= is_foreground[k] & (of_element[k] != value);
  return {uint16_t(elements | int(is_split) << 4 | value << 8)};
}

// Calls body(element, row, x, neighbour) for links of the elements of a quad to elements before, in that quad
// or one so many rows and quads away, such that these links and those of other elements connect all that are
// linked. linked(element, row, x, neighbour) says whether the two are, with row and x as for the body.
template <bool corners, class Linked, class Body>
__device__ inline void for_each_link_of_elements(const Quad& quad, Linked&& linked, Body&& body) {
  enum { kUpLeft = 1, kUp = 2, kUpRight = 4, kLeft = 8 };  // a bit for each step
#pragma unroll 1
  for (int element = 0; element < 4; ++element) {
    if (!quad.has(element)) continue;
    const auto at = [&](int step, auto&& call) {
      const int y = element / 2 - (step < 3 ? 1 : 0), x = element % 2 + (step < 3 ? step : 0) - 1;
      return call(element, y >> 1, x >> 1, (y & 1) * 2 + (x & 1));
    };
    int links = 0;
#pragma unroll 1
    for (int step = 0; step < 4; ++step) links |= at(step, linked) ? 1 << step : 0;
    const bool is_square = (links & (kUpLeft | kUp | kLeft)) == (kUpLeft | kUp | kLeft);
    if (links & kUp) links &= ~(kUpLeft | kUpRight);
    if (links & kLeft) links &= ~kUpLeft;
    if (is_square) links &= ~kUp;
#pragma unroll 1
    for (links &= corners ? 15 : kUp | kLeft; links != 0; links &= links - 1)
      at(__ffs(links) - 1, body);
  }
}

// A tile's place: its item, and the first row and column of its quads there.
struct TileOfQuads {
  int64_t item;
  int row, x;

  template <class Tiles>
  __device__ TileOfQuads(const Tiles& tiles, uint32_t tile) : item(tiles.item_of(tile)) {
    const Cell<2, int> corner = tiles.template corner_of<int>(tile);
    row = int(uint32_t(corner.at[0]) / 2);
    x = int(uint32_t(corner.at[1]) / 2);
  }
};

// A block a tile, a thread a quad. Dynamic shared memory: a parent for each element of a tile.
template <bool corners, bool items>
__global__ void __launch_bounds__(kQuadRows* kWarp)
    label_quads(QuadTiles<items> tiles, Equal<uint8_t> rule, const uint8_t* __restrict__ values,
                QuadTable table) {
  using Contacts = QuadContacts<corners>;
  // A node of a tile is its place there, in C order.
  CONNCOMP_DYNAMIC_SHARED(int, parent);
  __shared__ Quad quad_of[kQuadRows][kWarp];
  __shared__ uint16_t node_of[kQuadRows][kWarp];
  __shared__ uint32_t roots[2 * kQuadRows * kRootWordsOfRow];
  const int row = int(threadIdx.x / kWarp), x = lane();
  const TileOfQuads tile(tiles, blockIdx.x);
  const QuadsOfItem quads(tiles, table, tile.item);
  const QuadValues values_of_item(tiles, values, tile.item);
  const int row_of_item = tile.row + row, x_of_item = tile.x + x;
  if (x < 2 * kRootWordsOfRow) roots[row * 2 * kRootWordsOfRow + x] = 0;
  const bool inside = quads.has(row_of_item, x_of_item);
  follow_launch();
  if (threadIdx.x == 0 && tiles.begins_item(blockIdx.x)) *quads.table.components = 0;

  const Quad quad = read_quad<corners>(quads, rule, values_of_item, row_of_item, x_of_item);
  quad_of[row][x] = quad;
  const bool any_split = __syncthreads_or(quad.is_split());

  // Runs, and of each the first of its nodes.
  const Quad up = row > 0 ? quad_of[row - 1][x] : Quad{0};
  const auto like = [&](int code, bool exists) {
    return exists ? Quad{uint16_t(code)}.elements_like(quad) : 0;
  };
  const Contacts around{quad.is_split() ? 0 : quad.elements(),
                        like(__shfl_up_sync(kAllLanes, int(quad.code), 1), x > 0), up.elements_like(quad),
                        like(__shfl_up_sync(kAllLanes, int(up.code), 1), x > 0),
                        like(__shfl_down_sync(kAllLanes, int(up.code), 1), x < kWarp - 1)};
  const uint32_t up_to_here = kAllLanes >> (kWarp - 1 - x);
  const uint32_t starts = ~__ballot_sync(kAllLanes, around.touches_left());
  const int start = kWarp - 1 - __clz(int(starts & up_to_here));
  const uint32_t later = starts & ~up_to_here;
  const uint32_t run = (later ? (later & (0 - later)) - 1 : kAllLanes) & kAllLanes << start;
  const uint32_t in_first_row = __ballot_sync(kAllLanes, (quad.elements() & 3) != 0) & run;
  const int first = in_first_row ? __ffs(int(in_first_row)) - 1 : start;
  const int place = (2 * row + quad.row()) * kTileWidth + 2 * x + quad.column();
  const int node = __shfl_sync(kAllLanes, place, first);
  node_of[row][x] = uint16_t(node);
  __syncthreads();

  // A run is put under one of those above, and what else it touches is united with it.
  int contacts = around.needed();
  const auto take_above = [&] {
    const int contact = contacts & -contacts;
    contacts -= contact;
    return node_of[row - 1][contact == Contacts::kUp ? x : contact == Contacts::kUpLeft ? x - 1 : x + 1];
  };
  const uint32_t touching = __ballot_sync(kAllLanes, contacts != 0) & run;
  if (touching ? x == __ffs(int(touching)) - 1 : x == first)
    parent[node] = touching ? take_above() : node;
  if (quad.is_split()) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = (2 * row + k / 2) * kTileWidth + 2 * x + k % 2;
      parent[at] = at;
    }
  }
  // Paths are halved by all who are on them, as each moves up.
  const auto flatten_runs = [&] {
    if (x != first) return;
    int above = InBlock::load(parent + node);
    for (int next; (next = InBlock::load(parent + above)) != above; above = next)
      InBlock::store(parent + node, next);
  };
  __syncthreads();
  flatten_runs();
  if (__syncthreads_or(contacts != 0 || any_split)) {
    while (__any_sync(kAllLanes, contacts != 0))
      if (contacts != 0) unite<InBlock>(parent, node, int(take_above()));
    const auto node_at = [&](int row, int x, const Quad& quad, int element) {
      return quad.is_split() ? (2 * row + element / 2) * kTileWidth + 2 * x + element % 2 : node_of[row][x];
    };
    if (any_split) {
      for_each_link_of_elements<corners>(
          quad,
          [&](int element, int rows, int quads_away, int neighbour) {
            const int to_row = row + rows, to_x = x + quads_away;
            return to_row >= 0 && to_x >= 0 && to_x < kWarp && quad_of[to_row][to_x].has(neighbour) &&
                   values_of_item.at(row_of_item, x_of_item, element) ==
                       values_of_item.at(tile.row + to_row, tile.x + to_x, neighbour);
          },
          [&](int element, int rows, int quads_away, int neighbour) {
            const int to_row = row + rows, to_x = x + quads_away;
            const Quad other = quad_of[to_row][to_x];
            if (quad.is_split() || other.is_split())
              unite<InBlock>(parent, node_at(row, x, quad, element), node_at(to_row, to_x, other, neighbour));
          });
    }
    __syncthreads();
    flatten_runs();
    __syncthreads();
  }

  // Parents in the array, and bits of roots.
  const int corner_node = 2 * tile.row * quads.pitch() + 2 * tile.x;
  const auto write_parent = [&](int node_of_item, int root, bool is_root) {
    quads.table.parent[node_of_item] = corner_node + root / kTileWidth * quads.pitch() + root % kTileWidth;
    if (is_root && table.roots_of_word != nullptr)
      InBlock::fetch_or(roots + root / kRootWord, 1u << root % kRootWord);
  };
  if (inside) quads.table.quad[row_of_item * quads.quads_of_row() + x_of_item] = quad.code;
  if (quad.is_whole()) {
    const int root = InBlock::load(parent + node);
    write_parent(quads.node(row_of_item, x_of_item, quad), root, x == first && root == node);
  } else if (quad.is_split()) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      if (!quad.has(k)) continue;
      const int at = (2 * row + k / 2) * kTileWidth + 2 * x + k % 2;
      const int root = find<InBlock, Jump::kNone>(parent, at);
      write_parent(quads.node(row_of_item, x_of_item, k), root, root == at);
    }
  }
  if (table.roots_of_word == nullptr) return;
  __syncthreads();
  if (row > 0) return;
  const int words = (2 << quads.log_rows) * kRootWordsOfRow;
  int count = 0;
  for (int word = x; word < words; word += kWarp) {
    const int y = 2 * tile.row + word / kRootWordsOfRow;
    const int column = 2 * tile.x / kRootWord + word % kRootWordsOfRow;
    count += __popc(roots[word]);
    if (y < quads.height && column < quads.table.columns)
      quads.table.roots_of_word[y * quads.table.columns + column] = roots[word];
  }
  count = warp_sum(count);
  if (x == 0) table.roots_of_tile[blockIdx.x] = count;
}

// So many threads a tile: for the quads of its first row, and those at both ends of the others.
template <bool corners, bool items>
__global__ void __launch_bounds__(kBorderThreads)
    join_quads(QuadTiles<items> tiles, const uint8_t* __restrict__ values, QuadTable table) {
  using Contacts = QuadContacts<corners>;
  const int of_side = int(threadIdx.x) - kWarp;
  const int row = of_side < 0 ? 0 : of_side % kQuadRows;
  const int x = of_side < 0 ? lane() : of_side < kQuadRows ? 0 : kWarp - 1;
  if ((of_side >= 0 && row == 0) || row >= 1 << tiles.log[1]) return;
  const TileOfQuads tile(tiles, blockIdx.x);
  QuadsOfItem quads(tiles, table, tile.item);
  const int row_of_item = tile.row + row, x_of_item = tile.x + x;
  follow_launch();
  const Quad quad = quads.quad_at(row_of_item, x_of_item), left = quads.quad_at(row_of_item, x_of_item - 1),
             up = quads.quad_at(row_of_item - 1, x_of_item),
             up_left = quads.quad_at(row_of_item - 1, x_of_item - 1),
             up_right = quads.quad_at(row_of_item - 1, x_of_item + 1),
             right = quads.quad_at(row_of_item, x_of_item + 1);
  const auto crosses = [&](int rows, int quads_away) {
    return row + rows < 0 || x + quads_away < 0 || x + quads_away >= kWarp;
  };
  // Those of parents that are roots no more are found by who hooks them.
  const auto unite_nodes = [&](int a, int b) {
    hook<Shared>(quads.table.parent, Shared::load(quads.table.parent + a), Shared::load(quads.table.parent + b),
                 quads);
  };
  const auto unite_with = [&](int rows, int quads_away, const Quad& other) {
    if (crosses(rows, quads_away))
      unite_nodes(quads.node(row_of_item, x_of_item, quad),
                  quads.node(row_of_item + rows, x_of_item + quads_away, other));
  };
  const Contacts around{quad.is_split() ? 0 : quad.elements(), left.elements_like(quad),
                        up.elements_like(quad), up_left.elements_like(quad), up_right.elements_like(quad)};
  const int contacts = around.needed();
  if (around.touches_left()) unite_with(0, -1, left);
  if (contacts & Contacts::kUp) unite_with(-1, 0, up);
  if (contacts & Contacts::kUpLeft) unite_with(-1, -1, up_left);
  if (contacts & Contacts::kUpRight) unite_with(-1, 1, up_right);

  if (!((quad.code | left.code | up.code | up_left.code | up_right.code | right.code) >> 4 & 1)) return;
  const QuadValues values_of_item(tiles, values, tile.item);
  const auto node_at = [&](int row, int x, const Quad& quad, int element) {
    return quad.is_split() ? quads.node(row, x, element) : quads.node(row, x, quad);
  };
  for_each_link_of_elements<corners>(
      quad,
      [&](int element, int rows, int quads_away, int neighbour) {
        const int to_row = row_of_item + rows, to_x = x_of_item + quads_away;
        return quads.quad_at(to_row, to_x).has(neighbour) &&
               values_of_item.at(row_of_item, x_of_item, element) ==
                   values_of_item.at(to_row, to_x, neighbour);
      },
      [&](int element, int rows, int quads_away, int neighbour) {
        const int to_row = row_of_item + rows, to_x = x_of_item + quads_away;
        const Quad other = quads.quad_at(to_row, to_x);
        if (crosses(rows, quads_away) && (quad.is_split() || other.is_split()))
          unite_nodes(node_at(row_of_item, x_of_item, quad, element),
                      node_at(to_row, to_x, other, neighbour));
      });
}

// The label of the first root of each word, and how many roots an item has. A block for the rows of the array
// that a row of tiles has.
template <bool items>
__global__ void __launch_bounds__(kWordThreads) number_rows(QuadTiles<items> tiles, QuadTable table) {
  const uint32_t bands = tiles.along(0), band = blockIdx.x % bands;
  const QuadsOfItem quads(tiles, table, blockIdx.x / bands);
  follow_launch();
  int before = 0;
  for (uint32_t tile = threadIdx.x; tile < band * quads.tiles_of_row; tile += kWordThreads)
    before += quads.table.roots_of_tile[tile];
  int number = 1 + block_sum<kWordThreads>(before);
  const int words = (2 << quads.log_rows) * int(quads.table.columns), begin = int(band) * words;
  const int all = quads.height * int(quads.table.columns), end = begin + words < all ? begin + words : all;
  for (int first = begin; first < end; first += kWordThreads) {
    const int word = first + int(threadIdx.x);
    int total;
    const int roots = word < end ? __popc(quads.table.roots_of_word[word]) : 0;
    const int in_words = block_scan<kWordThreads>(roots, total);
    if (word < end) quads.table.number_of_word[word] = number + in_words;
    number += total;
  }
  if (threadIdx.x == 0 && band == bands - 1) *quads.table.components = number - 1;
}

// What write_quads writes: roots, or consecutive labels, for which words were numbered before or, where an
// item has few of them, are by each block for itself.
enum class QuadLabels { kRoots, kNumbered, kNumbering };
constexpr int kFewWords = 2048;

// The label of the first root of each word of an item, in shared memory. All threads of the block call it;
// those of the item's first tile say how many roots the item has.
__device__ inline void number_words_of_item(const QuadsOfItem& quads, bool says, int* number_of_word) {
  const int words = quads.height * int(quads.table.columns);
  const int each = (words + int(blockDim.x) - 1) / int(blockDim.x), begin = int(threadIdx.x) * each;
  int roots = 0;
#pragma unroll 4
  for (int k = 0; k < each; ++k) {
    if (begin + k >= words) continue;
    number_of_word[begin + k] = roots;
    roots += __popc(quads.table.roots_of_word[begin + k]);
  }
  int unused;
  const int number = 1 + block_scan<kQuadRows * kWarp>(roots, unused);
  for (int k = 0; k < each; ++k)
    if (begin + k < words) number_of_word[begin + k] += number;
  if (says && threadIdx.x == blockDim.x - 1) *quads.table.components = number + roots - 1;
  __syncthreads();
}

// A block a tile, a thread one quad or several of a column.
template <QuadLabels kind, class Label, bool items>
__global__ void __launch_bounds__(kQuadRows* kWarp)
    write_quads(QuadTiles<items> tiles, Label* __restrict__ labels, QuadTable table) {
  constexpr bool consecutive = kind != QuadLabels::kRoots;
  __shared__ int numbers[kind == QuadLabels::kNumbering ? kFewWords : 1];
  const TileOfQuads tile(tiles, blockIdx.x);
  const QuadsOfItem quads(tiles, table, tile.item);
  labels += tile.item * tiles.grid.cells_of_item();
  const int x = tile.x + lane();
  const bool fits = quads.width % 2 == 0 && reinterpret_cast<size_t>(labels) % (2 * sizeof(Label)) == 0;
  follow_launch();
  if constexpr (kind == QuadLabels::kNumbering)
    number_words_of_item(quads, tiles.begins_item(blockIdx.x), numbers);
  int roots = 0;
  const auto label_of = [&](int node) {
    const int root = find<Shared, Jump::kNone>(quads.table.parent, node);
    roots += root == node;
    if constexpr (consecutive) {
      const int* const number_of_word =
          kind == QuadLabels::kNumbering ? numbers : quads.table.number_of_word;
      return Label(
          label_of_bit(quads.table.roots_of_word, number_of_word, root / kRootWord, root % kRootWord));
    } else {
      const int y = root / quads.pitch();
      return Label(y) * quads.width + (root - y * quads.pitch());
    }
  };
  const int end = tile.row + (1 << quads.log_rows);
  for (int row = tile.row + int(threadIdx.x / kWarp); row < end; row += int(blockDim.x / kWarp)) {
    if (!quads.has(row, x)) break;
    const Quad quad = quads.quad_at(row, x);
    Label label[4];
    const Label background = consecutive ? 0 : -1;
    const Label of_quad = quad.is_whole() ? label_of(quads.node(row, x, quad)) : background;
#pragma unroll
    for (int k = 0; k < 4; ++k) label[k] = quad.has(k) ? of_quad : background;
    if (quad.is_split()) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (quad.has(k)) label[k] = label_of(quads.node(row, x, k));
    }
    Label* const first = labels + int64_t(2 * row) * quads.width + 2 * x;
#pragma unroll
    for (int k = 0; k < 4; k += 2) {
      if (2 * row + k / 2 >= quads.height) break;
      Label* const at = first + k / 2 * quads.width;
      if (fits) {
        const Label pair[2] = {label[k], label[k + 1]};
        Shared::store_all(at, pair);
      } else {
        Shared::store(at, label[k]);
        if (2 * x + 1 < quads.width) Shared::store(at + 1, label[k + 1]);
      }
    }
  }
  if constexpr (!consecutive) {
    const int total = block_sum<kQuadRows * kWarp>(roots);
    if (threadIdx.x == 0) Shared::fetch_add(quads.table.components, int64_t(total));
  }
}

}  // namespace conncomp
