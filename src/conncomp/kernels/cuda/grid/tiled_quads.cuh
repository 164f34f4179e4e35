// Connected components of images of bytes on the GPU by union–find in tiles, a thread 2 x 2 elements. The
// default for those that are too small for bricks (tiled_bricks.cuh) to give work to all of a GPU.
//
// What: as tiled_elements.cuh, for two axes that are both open, and neighbours across faces or corners, too.
// How: a quad is 2 x 2 elements; it is whole if its foreground is of one value and connected in it, and then
// a single node, at its first element. A tile is 32 quads wide, so that a warp has a row of quads; a region is
// so many tiles that one multiprocessor has room for a parent of each of its elements.
//
//    a quad   0 1     label_quads   quads beside each other in a row that touch are a run, by ballots; a run is
//             2 3                   put under one that it touches in the row above, by a store; what else it
//                                   touches there is united. Contacts of which others make up are left out
//                     join_tiles_of_quads   the same contacts where the tiles of a region meet, in shared memory
//                     join_regions  and where regions meet, in global memory
//                     number_rows   for consecutive labels: bits of roots become numbers of words
//                     write_quads   each quad follows its node's parents to the root, and writes four labels
//
// Elements of a quad that is not whole, which in masks with corners there are none of, are nodes each, and
// their links to elements beside are united one by one. A root's bit is set by label_quads, and taken back by
// who puts it under another one, so that no further kernel looks for roots.
// Values are read once, but for those of quads that are not whole. Parents and what quads hold lie in the
// workspace, so that nobody changes them meanwhile; values that change decide links only.
//
// Cost: 1 byte read and 4 or 8 written for each element, and beside 1.5 bytes written and twice read. Three
// kernels, one more for several regions and one for consecutive labels.
//
// Source: Oliveira and Lotufo 2010, as for elements; blocks of 2 x 2 in place of elements are of Grana,
// Borghesani and Cucchiara 2010. Which contacts need no union is ours.
#pragma once

#include "core/links.h"
#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"

namespace conncomp {

constexpr int kQuadRows = 16;  // of a tile, at most
constexpr int kTileWidth = 2 * kWarp, kRootWordsOfRow = kTileWidth / kRootWord;
constexpr int kRegionThreads = 1024;

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
  __device__ int column() const { return elements() & (elements() & 3 ? 1 : 4) ? 0 : 1; }
  // The elements that may touch another quad, if both are whole.
  __device__ int elements_like(const Quad& other) const {
    return code >> 4 == other.code >> 4 && !is_split() ? elements() : 0;
  }
};

// An image, and what the kernels tell each other. Laid out as in tiled_quads.py. What is of an element or a
// word of roots is padded to whole words in rows.
struct QuadTable {
  uint16_t* quad;
  int32_t* parent;          // of an element that is a node, in its item
  uint32_t* roots_of_word;  // null where roots are not numbered
  int32_t* number_of_word;
  int32_t* roots_of_tile;
  int64_t* components;
  int64_t item_stride, row_stride, stride;  // of values
  int32_t height, width, columns;           // of an item, in elements; columns are words of a row
  int32_t log_rows;                         // of the rows of quads of a tile
  int32_t log_region;                       // of the length of a region, in elements
  int32_t tiles_of_row, tiles_of_item, regions_of_row, regions_of_item;
};

// A part of an item, a tile or a region, by its number among all of the array. They are numbered as they lie in
// their item, and items one after the other.
struct PartOfItem {
  uint32_t item;
  int row, column;  // in parts

  __device__ PartOfItem(uint32_t number, uint32_t parts_of_row, uint32_t parts_of_item) : item(0) {
    if (number >= parts_of_item) item = number / parts_of_item, number -= item * parts_of_item;
    row = int(number / parts_of_row);
    column = int(number - row * parts_of_row);
  }
};

// The table of an item, and its values.
struct QuadsOfItem : QuadTable {
  const uint8_t* values;

  __device__ QuadsOfItem(const QuadTable& table, const uint8_t* values_of_all, uint32_t item)
      : QuadTable(table), values(values_of_all) {
    if (item == 0) return;
    const int64_t words = int64_t(height) * columns;
    values += item * item_stride;
    quad += item * int64_t((height + 1) / 2 * quads_of_row());
    parent += item * words * kRootWord;
    components += item;
    if (roots_of_word == nullptr) return;
    roots_of_word += item * words;
    number_of_word += item * words;
    roots_of_tile += int64_t(item) * tiles_of_item;
  }
  __device__ int quads_of_row() const { return (width + 1) / 2; }
  __device__ bool has(int row, int x) const {
    return row >= 0 && x >= 0 && 2 * row < height && 2 * x < width;
  }
  __device__ Quad quad_at(int row, int x) const {
    return {has(row, x) ? quad[row * quads_of_row() + x] : uint16_t(0)};
  }
  __device__ uint8_t value_at(int row, int x, int element) const {
    return values[(2 * row + element / 2) * row_stride + (2 * x + element % 2) * stride];
  }
  __device__ int pitch() const { return columns * kRootWord; }
  // The node of an element of a quad.
  __device__ int node(int row, int x, const Quad& quad, int element) const {
    const int y = quad.is_split() ? element / 2 : quad.row();
    return (2 * row + y) * pitch() + 2 * x + (quad.is_split() ? element % 2 : quad.column());
  }

  // Told of unions: takes back the bit of a root that is none any more.
  __device__ void united(int root) {
    if (roots_of_word == nullptr) return;
    Shared::fetch_add(roots_of_word + root / kRootWord, 0u - (1u << root % kRootWord));
    const int row = root / pitch(), column = root - row * pitch();
    Shared::fetch_add(roots_of_tile + (row >> (log_rows + 1)) * tiles_of_row + column / kTileWidth, -1);
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

// Reads a quad. All its values are loaded before one is looked at, two at a time where they fit.
template <bool corners>
__device__ inline Quad read_quad(const QuadsOfItem& quads, const Equal<uint8_t>& rule, int row, int x) {
  if (!quads.has(row, x)) return {0};
  const bool is_wide = 2 * x + 1 < quads.width, is_high = 2 * row + 1 < quads.height;
  const uint8_t* const first = quads.values + 2 * row * quads.row_stride + 2 * x * quads.stride;
  const uint8_t* const second = first + quads.row_stride;
  uint8_t value[4] = {};
  if (is_wide && quads.stride == 1 && ((reinterpret_cast<size_t>(quads.values) | quads.row_stride) & 1) == 0) {
    const uint16_t upper = *reinterpret_cast<const uint16_t*>(first);
    const uint16_t lower = is_high ? *reinterpret_cast<const uint16_t*>(second) : uint16_t(0);
    value[0] = uint8_t(upper), value[1] = uint8_t(upper >> 8);
    value[2] = uint8_t(lower), value[3] = uint8_t(lower >> 8);
  } else {
    value[0] = first[0];
    if (is_wide) value[1] = first[quads.stride];
    if (is_high) value[2] = second[0];
    if (is_wide && is_high) value[3] = second[quads.stride];
  }
  int elements = 0, of_first = 0;
#pragma unroll
  for (int k = 3; k >= 0; --k) {
    const bool is_foreground = !rule.is_background(value[k]);
    elements |= int(is_foreground) << k;
    of_first = is_foreground ? value[k] : of_first;
  }
  elements &= (is_wide ? 15 : 5) & (is_high ? 15 : 3);
  bool is_split = !corners && ((elements == 6) | (elements == 9));
#pragma unroll
  for (int k = 0; k < 4; ++k) is_split |= (elements >> k & 1) & (value[k] != of_first);
  return {uint16_t(elements | int(is_split) << 4 | of_first << 8)};
}

// A block a tile, a thread a quad. Dynamic shared memory: a parent for each element of a tile.
template <bool corners>
__global__ void __launch_bounds__(kQuadRows* kWarp, resident_blocks(kQuadRows* kWarp))
    label_quads(Equal<uint8_t> rule, const uint8_t* __restrict__ values, QuadTable table) {
  using Contacts = QuadContacts<corners>;
  // A node of a tile is its place there, in C order.
  CONNCOMP_DYNAMIC_SHARED(int, parent);
  __shared__ Quad quad_of[kQuadRows][kWarp];
  __shared__ uint16_t node_of[kQuadRows][kWarp];
  __shared__ uint32_t roots[2 * kQuadRows * kRootWordsOfRow];
  const int row = int(threadIdx.x / kWarp), x = int(threadIdx.x % kWarp);
  const PartOfItem tile(blockIdx.x, table.tiles_of_row, table.tiles_of_item);
  const QuadsOfItem quads(table, values, tile.item);
  const int first_row = tile.row << quads.log_rows, first_x = tile.column * kWarp;
  const int row_of_item = first_row + row, x_of_item = first_x + x;
  if (x < 2 * kRootWordsOfRow) roots[row * 2 * kRootWordsOfRow + x] = 0;
  follow_launch();
  if (threadIdx.x == 0 && tile.row + tile.column == 0) *quads.components = 0;

  const Quad quad = read_quad<corners>(quads, rule, row_of_item, x_of_item);
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
  const uint32_t run = ((later & (0 - later)) - 1) & kAllLanes << start;  // to the end, if none is later
  const uint32_t in_first_row = __ballot_sync(kAllLanes, (quad.elements() & 3) != 0) & run;
  const int first = in_first_row ? __ffs(int(in_first_row)) - 1 : start;
  const auto place_of = [](int row, int x, int y, int column) {
    return (2 * row + y) * kTileWidth + 2 * x + column;
  };
  const int node = __shfl_sync(kAllLanes, place_of(row, x, quad.row(), quad.column()), first);
  node_of[row][x] = uint16_t(node);
  __syncthreads();

  // A run is put under one of those above, and what else it touches is united with it.
  int contacts = around.needed();
  const auto take_above = [&] {
    const int contact = contacts & -contacts;
    contacts -= contact;
    return int(
        node_of[row - 1][contact == Contacts::kUp ? x : contact == Contacts::kUpLeft ? x - 1 : x + 1]);
  };
  const uint32_t touching = __ballot_sync(kAllLanes, contacts != 0) & run;
  if (touching ? x == __ffs(int(touching)) - 1 : x == first)
    parent[node] = touching ? take_above() : node;
  const auto node_at = [&](int row, int x, int element) {
    return quad_of[row][x].is_split() ? place_of(row, x, element / 2, element % 2) : int(node_of[row][x]);
  };
  // So is each element of a split quad, and of those that are linked to it.
  const auto for_each_split_link = [&](auto&& body) {
    for_each_link_of_elements<corners>(
        quad,
        [&](int element, int rows, int quads_away, int neighbour) {
          const int to_row = row + rows, to_x = x + quads_away;
          return to_row >= 0 && to_x >= 0 && to_x < kWarp && quad_of[to_row][to_x].has(neighbour) &&
                 quads.value_at(row_of_item, x_of_item, element) ==
                     quads.value_at(first_row + to_row, first_x + to_x, neighbour);
        },
        [&](int element, int rows, int quads_away, int neighbour) {
          const int to_row = row + rows, to_x = x + quads_away;
          if (quad.is_split() || quad_of[to_row][to_x].is_split())
            body(node_at(row, x, element), node_at(to_row, to_x, neighbour));
        });
  };
  if (quad.is_split()) {
#pragma unroll
    for (int k = 0; k < 4; ++k) parent[place_of(row, x, k / 2, k % 2)] = place_of(row, x, k / 2, k % 2);
    for_each_split_link([&](int of_element, int neighbour) { parent[of_element] = neighbour; });
  }
  // Paths are halved by all who are on them, as each moves up.
  const auto move_up = [&](int node) {
    int above = InBlock::load(parent + node);
    for (int next; (next = InBlock::load(parent + above)) != above; above = next)
      InBlock::store(parent + node, next);
  };
  const auto flatten = [&] {
    if (quad.is_whole() && x == first) move_up(node);
    if (!quad.is_split()) return;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) move_up(place_of(row, x, k / 2, k % 2));
  };
  __syncthreads();
  flatten();
  if (__syncthreads_or(contacts != 0 || any_split)) {
    while (__any_sync(kAllLanes, contacts != 0))
      if (contacts != 0) unite<InBlock>(parent, node, take_above());
    if (any_split)
      for_each_split_link(
          [&](int of_element, int neighbour) { unite<InBlock>(parent, of_element, neighbour); });
    __syncthreads();
    flatten();
    __syncthreads();
  }

  // Parents in the array, and bits of roots.
  const auto write_parent = [&](int at, int element) {
    const int root = InBlock::load(parent + at);
    const int y = 2 * first_row + root / kTileWidth, column = 2 * first_x + root % kTileWidth;
    quads.parent[quads.node(row_of_item, x_of_item, quad, element)] = y * quads.pitch() + column;
    if (table.roots_of_word != nullptr && root == at && (quad.is_split() || x == first))
      InBlock::fetch_or(roots + root / kRootWord, 1u << root % kRootWord);
  };
  if (quads.has(row_of_item, x_of_item)) quads.quad[row_of_item * quads.quads_of_row() + x_of_item] = quad.code;
  if (quad.is_whole()) write_parent(node, 0);
  if (quad.is_split()) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
      if (quad.has(k)) write_parent(place_of(row, x, k / 2, k % 2), k);
  }
  if (table.roots_of_word == nullptr) return;
  __syncthreads();
  if (row > 0) return;
  int count = 0;
  for (int word = x; word < (2 << quads.log_rows) * kRootWordsOfRow; word += kWarp) {
    const int y = 2 * first_row + word / kRootWordsOfRow;
    const int column = 2 * first_x / kRootWord + word % kRootWordsOfRow;
    count += __popc(roots[word]);
    if (y < quads.height && column < quads.columns) quads.roots_of_word[y * quads.columns + column] = roots[word];
  }
  count = warp_sum(count);
  if (x == 0) table.roots_of_tile[blockIdx.x] = count;
}

// Unites what a quad touches among those for which joins(rows, quads away) says so: unite_nodes(a, b).
template <bool corners, class Joins, class Unite>
__device__ inline void join_quad(const QuadsOfItem& quads, int row, int x, Joins&& joins,
                                 Unite&& unite_nodes) {
  using Contacts = QuadContacts<corners>;
  const Quad quad = quads.quad_at(row, x), left = quads.quad_at(row, x - 1), up = quads.quad_at(row - 1, x),
             up_left = quads.quad_at(row - 1, x - 1), up_right = quads.quad_at(row - 1, x + 1),
             right = quads.quad_at(row, x + 1);
  const auto unite_with = [&](int rows, int quads_away, const Quad& other) {
    if (joins(rows, quads_away))
      unite_nodes(quads.node(row, x, quad, 0), quads.node(row + rows, x + quads_away, other, 0));
  };
  const Contacts around{quad.is_split() ? 0 : quad.elements(), left.elements_like(quad),
                        up.elements_like(quad), up_left.elements_like(quad), up_right.elements_like(quad)};
  const int contacts = around.needed();
  if (around.touches_left()) unite_with(0, -1, left);
  if (contacts & Contacts::kUp) unite_with(-1, 0, up);
  if (contacts & Contacts::kUpLeft) unite_with(-1, -1, up_left);
  if (contacts & Contacts::kUpRight) unite_with(-1, 1, up_right);
  if (!((quad.code | left.code | up.code | up_left.code | up_right.code | right.code) >> 4 & 1)) return;
  for_each_link_of_elements<corners>(
      quad,
      [&](int element, int rows, int quads_away, int neighbour) {
        return quads.quad_at(row + rows, x + quads_away).has(neighbour) &&
               quads.value_at(row, x, element) == quads.value_at(row + rows, x + quads_away, neighbour);
      },
      [&](int element, int rows, int quads_away, int neighbour) {
        const Quad other = quads.quad_at(row + rows, x + quads_away);
        if (joins(rows, quads_away) && (quad.is_split() || other.is_split()))
          unite_nodes(quads.node(row, x, quad, element),
                      quads.node(row + rows, x + quads_away, other, neighbour));
      });
}

// The roots that have been put under others.
struct HookedRoots {
  uint16_t* roots;
  int* count;

  __device__ void united(uint16_t root) { roots[InBlock::fetch_add(count, 1)] = root; }
};

// A block a region. Dynamic shared memory: two bytes for each element of a region, and for each at the border
// of a tile.
template <bool corners>
__global__ void __launch_bounds__(kRegionThreads, 1)
    join_tiles_of_quads(const uint8_t* __restrict__ values, QuadTable table) {
  CONNCOMP_DYNAMIC_SHARED(uint16_t, parent);
  __shared__ int hooked_count;
  const int log = table.log_region, log_rows = table.log_rows, length = 1 << log, in_quads = length / 2;
  HookedRoots hooked{parent + (length << log), &hooked_count};
  const PartOfItem region(blockIdx.x, table.regions_of_row, table.regions_of_item);
  QuadsOfItem quads(table, values, region.item);
  const int first_row = region.row * in_quads, first_x = region.column * in_quads;
  if (threadIdx.x == 0) hooked_count = 0;
  // Each element is its own parent: two of them are a word.
  uint32_t* const pairs = reinterpret_cast<uint32_t*>(parent);
  for (int k = int(threadIdx.x); k < length << log >> 1; k += kRegionThreads) pairs[k] = 0x10000u + 0x20002u * k;
  __syncthreads();
  follow_launch();

  // A node of a region is its place there, in C order.
  const auto place_of = [&](int node) {
    const int root = Shared::load(quads.parent + node), y = root / quads.pitch(), x = root - y * quads.pitch();
    return uint16_t((y - 2 * first_row) << log | (x - 2 * first_x));
  };
  // The first rows of tiles, then the ends of the others.
  const int in_first_rows = in_quads * (in_quads >> log_rows);
  for (int k = int(threadIdx.x); k < in_first_rows + in_quads * (in_quads / kWarp * 2); k += kRegionThreads) {
    const bool is_in_first_row = k < in_first_rows;
    const int of_side = k - in_first_rows, side = of_side >> (log - 1);
    const int row = is_in_first_row ? k >> (log - 1) << log_rows : of_side & (in_quads - 1);
    const int x = is_in_first_row ? k & (in_quads - 1) : side / 2 * kWarp + side % 2 * (kWarp - 1);
    if (!is_in_first_row && !(row & ((1 << log_rows) - 1))) continue;
    if (!quads.has(first_row + row, first_x + x)) continue;
    join_quad<corners>(
        quads, first_row + row, first_x + x,
        [&](int rows, int quads_away) {
          const int to_row = row + rows, to_x = x + quads_away;
          const bool is_inside = to_row >= 0 && to_x >= 0 && to_x < in_quads;
          return is_inside && (to_row >> log_rows != row >> log_rows || to_x / kWarp != x / kWarp);
        },
        [&](int a, int b) { unite<InBlock>(parent, place_of(a), place_of(b), hooked); });
  }
  __syncthreads();
  const auto node_of = [&](int place) {
    return (2 * first_row + (place >> log)) * quads.pitch() + 2 * first_x + (place & (length - 1));
  };
  for (int k = int(threadIdx.x); k < hooked_count; k += kRegionThreads) {
    const uint16_t root = hooked.roots[k];
    quads.parent[node_of(root)] = node_of(find<InBlock, Jump::kNone>(parent, root));
    quads.united(node_of(root));
  }
}

// A block a region, threads for the quads of its first row and of its first and last columns.
template <bool corners>
__global__ void __launch_bounds__(kRegionThreads)
    join_regions(const uint8_t* __restrict__ values, QuadTable table) {
  const int in_quads = 1 << table.log_region >> 1;
  const int side = int(threadIdx.x) >> (table.log_region - 1), along = int(threadIdx.x) & (in_quads - 1);
  const int row = side == 0 ? 0 : along, x = side == 0 ? along : side == 1 ? 0 : in_quads - 1;
  const PartOfItem region(blockIdx.x, table.regions_of_row, table.regions_of_item);
  QuadsOfItem quads(table, values, region.item);
  const int first_row = region.row * in_quads, first_x = region.column * in_quads;
  if ((side > 0 && row == 0) || !quads.has(first_row + row, first_x + x)) return;
  follow_launch();
  join_quad<corners>(
      quads, first_row + row, first_x + x,
      [&](int rows, int quads_away) {
        return row + rows < 0 || x + quads_away < 0 || x + quads_away >= in_quads;
      },
      [&](int a, int b) {
        // Those of the parents that are roots no more are found by who hooks them.
        const int above_a = Shared::load(quads.parent + a), above_b = Shared::load(quads.parent + b);
        hook<Shared>(quads.parent, Shared::load(quads.parent + above_a), Shared::load(quads.parent + above_b),
                     quads);
      });
}

// The label of the first root of each word, and how many roots an item has. A block for the rows of the array
// that a row of tiles has.
template <int = 0>
__global__ void __launch_bounds__(kWordThreads) number_rows(QuadTable table) {
  const int bands = table.tiles_of_item / table.tiles_of_row;
  const PartOfItem part(blockIdx.x, 1, bands);
  const QuadsOfItem quads(table, nullptr, part.item);
  const int words = (2 << quads.log_rows) * quads.columns, begin = part.row * words;
  const int all = quads.height * quads.columns, end = begin + words < all ? begin + words : all;
  follow_launch();
  int before = 0;
  for (int tile = int(threadIdx.x); tile < part.row * quads.tiles_of_row; tile += kWordThreads)
    before += quads.roots_of_tile[tile];
  int number = 1 + block_sum<kWordThreads>(before);
  for (int first = begin; first < end; first += kWordThreads) {
    const int word = first + int(threadIdx.x);
    int total;
    const int roots = word < end ? __popc(quads.roots_of_word[word]) : 0;
    const int in_words = block_scan<kWordThreads>(roots, total);
    if (word < end) quads.number_of_word[word] = number + in_words;
    number += total;
  }
  if (threadIdx.x == 0 && part.row == bands - 1) *quads.components = number - 1;
}

// A block a tile, a thread one quad or several of a column.
template <bool consecutive, class Label>
__global__ void __launch_bounds__(kQuadRows* kWarp)
    write_quads(Label* __restrict__ labels, QuadTable table) {
  const PartOfItem tile(blockIdx.x, table.tiles_of_row, table.tiles_of_item);
  const QuadsOfItem quads(table, nullptr, tile.item);
  labels += int64_t(tile.item) * quads.height * quads.width;
  const int first_row = tile.row << quads.log_rows, x = tile.column * kWarp + int(threadIdx.x % kWarp);
  const bool fits = quads.width % 2 == 0 && reinterpret_cast<size_t>(labels) % (2 * sizeof(Label)) == 0;
  follow_launch();
  int roots = 0;
  const auto label_of = [&](int node) {
    const int above = Shared::load(quads.parent + node), root = find<Shared>(quads.parent, above);
    roots += root == node;
    if constexpr (consecutive) {
      return Label(
          label_of_bit(quads.roots_of_word, quads.number_of_word, root / kRootWord, root % kRootWord));
    } else {
      const int y = root / quads.pitch();
      return Label(y) * quads.width + (root - y * quads.pitch());
    }
  };
  for (int k = int(threadIdx.x / kWarp); k < 1 << quads.log_rows; k += int(blockDim.x / kWarp)) {
    const int row = first_row + k;
    if (!quads.has(row, x)) break;
    const Quad quad = quads.quad_at(row, x);
    const Label background = consecutive ? 0 : -1;
    Label label[4] = {background, background, background, background};
    if (quad.is_whole()) {
      const Label of_quad = label_of(quads.node(row, x, quad, 0));
#pragma unroll
      for (int k = 0; k < 4; ++k) label[k] = quad.has(k) ? of_quad : background;
    } else if (quad.is_split()) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (quad.has(k)) label[k] = label_of(quads.node(row, x, quad, k));
    }
    Label* const first = labels + 2 * row * quads.width + 2 * x;
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
    if (threadIdx.x == 0) Shared::fetch_add(quads.components, int64_t(total));
  }
}

}  // namespace conncomp
