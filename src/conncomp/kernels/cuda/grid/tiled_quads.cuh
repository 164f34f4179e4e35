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

constexpr int kQuadRows = 16;  // of a tile, at most
constexpr int kTileWidth = 2 * kWarp, kRootWordsOfRow = kTileWidth / kRootWord;
constexpr int kBorderThreads = 64;  // of a tile, in join_quads

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

  __device__ static bool beside(int left, int right) {
    return corners ? (left & 10) && (right & 5) : (left >> 1 & right & 5) != 0;
  }
  __device__ static bool above(int upper, int lower) {
    return corners ? (upper & 12) && (lower & 3) : (upper >> 2 & lower & 3) != 0;
  }
  // Of a quad and the one to the right above.
  __device__ static bool rising(int lower, int upper) { return corners && lower & 2 && upper & 4; }

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
    if (!corners) return is_up && !(is_left && above(up_left, left) && beside(up_left, up)) ? kUp : 0;
    int contacts = is_up && !(is_left && rising(left, up)) ? kUp : 0;
    if (own & 1 && up_left & 8 && !(is_up && beside(up_left, up)) && !(is_left && above(up_left, left)))
      contacts |= kUpLeft;
    if (rising(own, up_right) && !(is_up && beside(up, up_right))) contacts |= kUpRight;
    return contacts;
  }
};

// Calls body(element, row, x, neighbour) for the links that the elements of a quad may have to elements
// before, in that quad or one so many rows and quads away.
template <bool corners, class Body>
__device__ inline void for_each_step_of_elements(const Quad& quad, Body&& body) {
  using S = Steps<2>;
#pragma unroll 1
  for (int number = 0; number < 4 * S::kNoStep; ++number) {
    const int element = number / S::kNoStep, step = number % S::kNoStep;
    const int y = element / 2 + S::step(step, 1), x = element % 2 + S::step(step, 0);
    if (!quad.has(element) || (!corners && S::step(step, 0) != 0 && S::step(step, 1) != 0)) continue;
    body(element, y >> 1, x >> 1, (y & 1) * 2 + (x & 1));
  }
}

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
  int elements = 0, value = 0;
  bool has_others = false;
#pragma unroll
  for (int k = 3; k >= 0; --k) {
    if (2 * row + k / 2 >= quads.height || 2 * x + k % 2 >= quads.width) continue;
    const int of_element = values.at(row, x, k);
    if (rule.is_background(uint8_t(of_element))) continue;
    has_others |= elements != 0 && of_element != value;
    value = of_element;
    elements |= 1 << k;
  }
  const bool is_split = has_others || (!corners && (elements == 6 || elements == 9));
  return {uint16_t(elements | is_split << 4 | value << 8)};
}

// A block a tile, a thread a quad.
template <bool corners, bool items>
__global__ void __launch_bounds__(kQuadRows* kWarp)
    label_quads(QuadTiles<items> tiles, Equal<uint8_t> rule, const uint8_t* __restrict__ values,
                QuadTable table) {
  follow_launch();
  using Contacts = QuadContacts<corners>;
  constexpr int kPlaces = 4 * kQuadRows * kWarp;
  // A node of a tile is its place there, in C order.
  __shared__ Quad quad_of[kQuadRows][kWarp];
  __shared__ int node_of[kQuadRows][kWarp], parent[kPlaces];
  __shared__ uint32_t roots[kPlaces / kRootWord];
  const int row = int(threadIdx.x) / kWarp, x = lane();
  const int64_t item = tiles.item_of(blockIdx.x);
  const QuadsOfItem quads(tiles, table, item);
  const QuadValues values_of_item(tiles, values, item);
  const Cell<2, int> corner = tiles.template corner_of<int>(blockIdx.x);
  const int row_of_item = corner.at[0] / 2 + row, x_of_item = corner.at[1] / 2 + x;
  if (threadIdx.x == 0 && tiles.begins_item(blockIdx.x)) *quads.table.components = 0;
  if (threadIdx.x < kPlaces / kRootWord) roots[threadIdx.x] = 0;

  const bool inside = quads.has(row_of_item, x_of_item);
  const Quad quad =
      inside ? read_quad<corners>(quads, rule, values_of_item, row_of_item, x_of_item) : Quad{0};
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
  node_of[row][x] = node;
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
  __syncthreads();
  for (; __any_sync(kAllLanes, contacts != 0);)
    if (contacts != 0) unite<InBlock>(parent, node, take_above());
  const auto node_at = [&](int row, int x, const Quad& quad, int element) {
    return quad.is_split() ? (2 * row + element / 2) * kTileWidth + 2 * x + element % 2 : node_of[row][x];
  };
  if (any_split) {
    for_each_step_of_elements<corners>(quad, [&](int element, int rows, int quads_away, int neighbour) {
      const int to_row = row + rows, to_x = x + quads_away;
      if (to_row < 0 || to_x < 0 || to_x >= kWarp) return;
      const Quad other = quad_of[to_row][to_x];
      if (!(quad.is_split() || other.is_split()) || !other.has(neighbour)) return;
      if (values_of_item.at(row_of_item, x_of_item, element) ==
          values_of_item.at(corner.at[0] / 2 + to_row, corner.at[1] / 2 + to_x, neighbour))
        unite<InBlock>(parent, node_at(row, x, quad, element), node_at(to_row, to_x, other, neighbour));
    });
  }
  __syncthreads();

  // Parents in the array, and bits of roots.
  const int corner_node = corner.at[0] * quads.pitch() + corner.at[1];
  const auto write_parent = [&](int node_of_item, int node_of_tile, bool may_be_root) {
    const int root = find<InBlock, Jump::kNone>(parent, node_of_tile);
    quads.table.parent[node_of_item] = corner_node + root / kTileWidth * quads.pitch() + root % kTileWidth;
    if (may_be_root && root == node_of_tile && table.roots_of_word != nullptr)
      InBlock::fetch_or(roots + root / kRootWord, 1u << root % kRootWord);
  };
  if (inside) quads.table.quad[row_of_item * quads.quads_of_row() + x_of_item] = quad.code;
  if (quad.is_whole()) {
    write_parent(quads.node(row_of_item, x_of_item, quad), node, x == first);
  } else if (quad.is_split()) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
      if (quad.has(k)) write_parent(quads.node(row_of_item, x_of_item, k), node_at(row, x, quad, k), true);
  }
  if (table.roots_of_word == nullptr) return;
  __syncthreads();
  if (row > 0) return;
  const int words = (2 << quads.log_rows) * kRootWordsOfRow;
  int count = 0;
  for (int word = x; word < words; word += kWarp) {
    const int y = corner.at[0] + word / kRootWordsOfRow;
    const int column = corner.at[1] / kRootWord + word % kRootWordsOfRow;
    count += __popc(roots[word]);
    if (y < quads.height && column < quads.table.columns)
      quads.table.roots_of_word[y * quads.table.columns + column] = roots[word];
  }
  count = warp_sum(count);
  if (x == 0) table.roots_of_tile[blockIdx.x] = count;
}

// So many threads a tile: for the quads of its first row, and those at both ends of the others.
template <bool corners, bool items>
__global__ void __launch_bounds__(2 * kBorderThreads)
    join_quads(QuadTiles<items> tiles, int64_t number_of_tiles, const uint8_t* __restrict__ values,
               QuadTable table) {
  follow_launch();
  using Contacts = QuadContacts<corners>;
  const uint32_t tile = uint32_t(grid_thread() / kBorderThreads);
  const int thread = int(threadIdx.x) % kBorderThreads, of_side = thread - kWarp;
  const int row = of_side < 0 ? 0 : of_side % kQuadRows;
  const int x = of_side < 0 ? thread : of_side < kQuadRows ? 0 : kWarp - 1;
  if (tile >= number_of_tiles || (of_side >= 0 && row == 0) || row >= 1 << tiles.log[1]) return;
  const int64_t item = tiles.item_of(tile);
  QuadsOfItem quads(tiles, table, item);
  const Cell<2, int> corner = tiles.template corner_of<int>(tile);
  const int row_of_item = corner.at[0] / 2 + row, x_of_item = corner.at[1] / 2 + x;
  const Quad quad = quads.quad_at(row_of_item, x_of_item);
  if (quad.elements() == 0) return;
  const Quad left = quads.quad_at(row_of_item, x_of_item - 1), up = quads.quad_at(row_of_item - 1, x_of_item),
             up_left = quads.quad_at(row_of_item - 1, x_of_item - 1),
             up_right = quads.quad_at(row_of_item - 1, x_of_item + 1),
             right = quads.quad_at(row_of_item, x_of_item + 1);
  const auto crosses = [&](int rows, int quads_away) {
    return row + rows < 0 || x + quads_away < 0 || x + quads_away >= kWarp;
  };
  const auto unite_with = [&](int rows, int quads_away, const Quad& other) {
    if (crosses(rows, quads_away))
      unite<Shared>(quads.table.parent, quads.node(row_of_item, x_of_item, quad),
                    quads.node(row_of_item + rows, x_of_item + quads_away, other), quads);
  };
  const Contacts around{quad.is_split() ? 0 : quad.elements(), left.elements_like(quad),
                        up.elements_like(quad), up_left.elements_like(quad), up_right.elements_like(quad)};
  const int contacts = around.needed();
  if (around.touches_left()) unite_with(0, -1, left);
  if (contacts & Contacts::kUp) unite_with(-1, 0, up);
  if (contacts & Contacts::kUpLeft) unite_with(-1, -1, up_left);
  if (contacts & Contacts::kUpRight) unite_with(-1, 1, up_right);

  if (!(quad.is_split() || left.is_split() || up.is_split() || up_left.is_split() || up_right.is_split() ||
        right.is_split()))
    return;
  const QuadValues values_of_item(tiles, values, item);
  const auto node_at = [&](int row, int x, const Quad& quad, int element) {
    return quad.is_split() ? quads.node(row, x, element) : quads.node(row, x, quad);
  };
  for_each_step_of_elements<corners>(quad, [&](int element, int rows, int quads_away, int neighbour) {
    if (!crosses(rows, quads_away)) return;
    const int to_row = row_of_item + rows, to_x = x_of_item + quads_away;
    const Quad other = quads.quad_at(to_row, to_x);
    if (!(quad.is_split() || other.is_split()) || !other.has(neighbour)) return;
    if (values_of_item.at(row_of_item, x_of_item, element) == values_of_item.at(to_row, to_x, neighbour))
      unite<Shared>(quads.table.parent, node_at(row_of_item, x_of_item, quad, element),
                    node_at(to_row, to_x, other, neighbour), quads);
  });
}

// The label of the first root of each word, and how many roots an item has. A block for the rows of the array
// that a row of tiles has.
template <bool items>
__global__ void __launch_bounds__(kWordThreads) number_rows(QuadTiles<items> tiles, QuadTable table) {
  follow_launch();
  const int bands = int(tiles.along(0)), band = int(blockIdx.x) % bands;
  const QuadsOfItem quads(tiles, table, blockIdx.x / bands);
  int before = 0;
  for (int tile = int(threadIdx.x); tile < band * quads.tiles_of_row; tile += kWordThreads)
    before += quads.table.roots_of_tile[tile];
  int number = 1 + block_sum<kWordThreads>(before);
  const int64_t words = (2 << quads.log_rows) * quads.table.columns, begin = band * words;
  const int64_t all = quads.height * quads.table.columns, end = begin + words < all ? begin + words : all;
  for (int64_t first = begin; first < end; first += kWordThreads) {
    const int64_t word = first + threadIdx.x;
    int total;
    const int roots = word < end ? __popc(quads.table.roots_of_word[word]) : 0;
    const int in_words = block_scan<kWordThreads>(roots, total);
    if (word < end) quads.table.number_of_word[word] = number + in_words;
    number += total;
  }
  if (threadIdx.x == 0 && band == bands - 1) *quads.table.components = number - 1;
}

// The grid and the threads of label_quads.
template <bool consecutive, class Label, bool items>
__global__ void __launch_bounds__(kQuadRows* kWarp)
    write_quads(QuadTiles<items> tiles, Label* __restrict__ labels, QuadTable table) {
  follow_launch();
  const int64_t item = tiles.item_of(blockIdx.x);
  const QuadsOfItem quads(tiles, table, item);
  labels += item * tiles.grid.cells_of_item();
  const Cell<2, int> corner = tiles.template corner_of<int>(blockIdx.x);
  const int row = corner.at[0] / 2 + int(threadIdx.x) / kWarp, x = corner.at[1] / 2 + lane();
  const bool inside = quads.has(row, x);
  const Quad quad = quads.quad_at(row, x);
  int roots = 0;
  const auto label_of = [&](int node) {
    const int root = find<Shared, Jump::kNone>(quads.table.parent, node);
    roots += root == node;
    if constexpr (consecutive) {
      return Label(label_of_bit(quads.table.roots_of_word, quads.table.number_of_word, root / kRootWord,
                                root % kRootWord));
    } else {
      const int y = root / quads.pitch();
      return Label(y) * quads.width + (root - y * quads.pitch());
    }
  };
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
  const bool fits = quads.width % 2 == 0 && reinterpret_cast<size_t>(labels) % (2 * sizeof(Label)) == 0;
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
    if (!inside || 2 * row + k / 2 >= quads.height) continue;
    Label* const at = labels + int64_t(2 * row + k / 2) * quads.width + 2 * x;
    if (fits) {
      const Label pair[2] = {label[k], label[k + 1]};
      Shared::store_all(at, pair);
    } else {
      Shared::store(at, label[k]);
      if (2 * x + 1 < quads.width) Shared::store(at + 1, label[k + 1]);
    }
  }
  if constexpr (!consecutive) {
    const int total = block_sum<kQuadRows * kWarp>(roots);
    if (threadIdx.x == 0) Shared::fetch_add(quads.table.components, int64_t(total));
  }
}

}  // namespace conncomp
