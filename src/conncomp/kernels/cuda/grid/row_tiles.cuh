// Labels large images of many small components of several values, such as noise, by rows of tiles: the
// default if a sample says so. A block labels a tile in shared memory; its warps have 32 columns each, and go
// down the rows with the labels above, roots of the tile, in registers. A run takes the label of the first
// element above that it is linked to, or is a root; where others differ, one root is put under the other and
// its label replaced in all lanes, so no path is walked. Columns of warps are united likewise
// (label_row_tiles), labels across borders (join_row_tiles), and elements of components that reach a border
// get their root (follow_row_roots). Entries of nodes are ancestors or background, a root's itself, with
// kReaching if it reaches the border. Changing values only choose among entries that are no background. Cost:
// values read and labels written once, labels at borders read again; 75 instructions of a warp for 32
// elements, 15 per union, 45 to write. Source: ours; labels of the row above: Hoshen and Kopelman 1976.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/brick_tiles.cuh"

namespace conncomp {

// An image, from its last axis on. Layout: row_tiles.py.
struct RowShape {
  int64_t value_stride[2];
  int32_t length[2];
  int32_t tiles_of_row, words_of_row;
};

// The type of a value in a register: lanes exchange words.
template <class Value> using HeldAs = typename Either<sizeof(Value) == 2, uint32_t, Value>::Type;

// A tile. The node of an element is its place there.
struct RowTile {
  static constexpr int kLogWidth = 7, kWidth = 1 << kLogWidth, kHeight = 64;
  static constexpr int kNodes = kWidth * kHeight, kThreads = kWidth;

  const RowShape& shape;
  int first_column, first_row;

  RowTile(const RowShape& shape, uint32_t tile) : shape(shape) {
    const uint32_t row = tile / uint32_t(shape.tiles_of_row);
    first_column = int(tile - row * uint32_t(shape.tiles_of_row)) * kWidth, first_row = int(row) * kHeight;
  }
  int width() const {
    const int left = shape.length[0] - first_column;
    return left < kWidth ? left : kWidth;
  }
  int height() const {
    const int left = shape.length[1] - first_row;
    return left < kHeight ? left : kHeight;
  }
  int32_t index(int x, int y) const { return (first_row + y) * shape.length[0] + first_column + x; }
  template <class Value> const Value* at(const Value* values, int x, int y) const {
    return values + (first_column + x) * shape.value_stride[0] + (first_row + y) * shape.value_stride[1];
  }
};

// Calls body(how far along the border) for the needed contacts across it; `before` and `after` exist.
template <bool corners, class Value>
void for_each_contact(
    const Value* value, int64_t across, int64_t along, bool before, bool after, auto&& body) {
  const Value own = *value;
  const auto is_alike = [&](int64_t ahead) { return value[ahead] == own; };
  int directions = 0;  // bits of -1, 0, 1
  if (is_alike(-across)) {
    if (!(before && is_alike(-along) && is_alike(-along - across))) directions = 2;
  } else if (corners) {
    if (before && is_alike(-along - across) && !is_alike(-along)) directions |= 1;
    if (after && is_alike(along - across) && !is_alike(along)) directions |= 4;
  }
#pragma unroll 1
  for (; directions != 0; directions &= directions - 1) body(lowest(uint32_t(directions)) - 1);
}

template <class Rule, bool corners> struct RowLabelling {
  using Value = typename Rule::Value;
  using Held = HeldAs<Value>;
  using Node = uint16_t;
  static constexpr Node kBackground = 0xffff, kReaching = 0x8000;
  static constexpr int kNone = -1, kNode = kReaching - 1, kTogether = RowTile::kWidth / kWarp,
                       kBitsOfByte = 8;
  static_assert(RowTile::kNodes < kReaching && Node(kNone) == kBackground);

  const Rule& rule;
  const Value* values;
  RowTile tile;
  Node* entries;

  const int x = int(threadIdx.x), height = tile.height();
  const bool is_column = x < tile.width();

  // The label of each lane's run: the first of those above that it is linked to, or its first node.
  int label_runs(uint32_t starts, uint32_t up_to_lane, int linked, int first_node) const {
    const uint32_t lanes = __ballot_sync(kAllLanes, linked >= 0);
    const int start = highest_bit(starts & up_to_lane);
    const uint32_t later = starts & ~up_to_lane;
    const uint32_t of_run = lanes & ~later & (later - 1) & (~0u << start);
    const int label = __shfl_sync(kAllLanes, linked, lowest(of_run) & (kWarp - 1));
    return of_run != 0 ? label : first_node + start;
  }
  // Unites each lane's label, a root, with one or two others in all lanes; returns each lane's label.
  template <bool two> int unite(int label, int other, int second) const {
#pragma unroll 1
    for (;;) {
      if (two && other == label) other = second;
      const uint32_t differing = __ballot_sync(kAllLanes, other != label);
      if (differing == 0) return label;
      const int from = highest_bit(differing);
      const int one = __shfl_sync(kAllLanes, label, from), another = __shfl_sync(kAllLanes, other, from);
      const int low = one < another ? one : another, high = one < another ? another : one;
      InBlock::store(entries + high, Node(low));  // by all lanes alike
      if (label == high) label = low;
      if (other == high) other = low;
      if (two && second == high) second = low;
    }
  }

  void label_rows() const {
    const int64_t row_stride = tile.shape.value_stride[1];
    const uint32_t up_to_lane = lanes_up_to_this();
    const Background<Held> background{Held(rule.background.value), rule.background.present};
    const Value* at = tile.at(values, is_column ? x : tile.width() - 1, 0);
    Held next = *at, above = next, above_left = next, above_right = next;
    int label = kNone;  // of the row above
    int node = x;
#pragma unroll 1
    for (int rows = height; rows > 0; --rows) {
      const Held value = next;
      at += row_stride;
      if (rows > 1) next = *at;
      const bool is_foreground = is_column && !background.is(value);
      const Held left = __shfl_up_sync(kAllLanes, value, 1);
      const bool is_linked = is_foreground && lane() > 0 && value == left;
      const uint32_t starts = ~__ballot_sync(kAllLanes, is_linked);
      // The first lane has itself on its left, and the last one on its right.
      int linked = is_foreground && value == above ? label : kNone, linked_right = kNone;
      if constexpr (corners) {
        const int label_left = __shfl_up_sync(kAllLanes, label, 1);
        const int label_right = __shfl_down_sync(kAllLanes, label, 1);
        if (value == above_left && is_foreground && !is_linked && linked < 0) linked = label_left;
        if (value == above_right && is_foreground) linked_right = label_right;
        if (linked < 0) linked = linked_right;
        above_left = left;
        above_right = __shfl_down_sync(kAllLanes, value, 1);
      }
      label = label_runs(starts, up_to_lane, linked, node - lane());
      // An element is linked to one label at most that its run does not have.
      if (corners && linked == label) linked = linked_right;
      label = unite<false>(label, linked < 0 ? label : linked, 0);
      if (!is_foreground) label = kNone;
      InBlock::store(entries + node, Node(label));
      above = value;
      node += RowTile::kWidth;
    }
  }

  int root_of(int node) const {
    for (int next; (next = InBlock::load(entries + node)) < node; node = next) {
    }
    return node;
  }
  // Unites the warp's first column with the one before; nobody else touches these sets meanwhile.
  void unite_with_columns_before() const {
    const int64_t* stride = tile.shape.value_stride;
    const int column = x - lane();
    if (column >= tile.width()) return;
#pragma unroll 1
    for (int first = 0; first < height; first += kWarp) {
      const int y = first + lane(), node = y * RowTile::kWidth + column;
      int label = kNone, other = kNone, second = kNone;
      if (y < height && InBlock::load(entries + node) != kBackground) {
        for_each_contact<corners>(
            tile.at(values, column, y), stride[0], stride[1], y > 0, y + 1 < height, [&](int down) {
              second = other;
              other = node + down * RowTile::kWidth - 1;
            });
        if (other >= 0 && InBlock::load(entries + other) == kBackground) other = kNone;
        if (second >= 0 && InBlock::load(entries + second) == kBackground) second = kNone;
        label = root_of(node);
        other = other < 0 ? label : root_of(other);
        second = second < 0 ? label : root_of(second);
      }
      __syncwarp();
      unite<corners>(label, other, second);
      __syncwarp();
    }
  }
  // Unites the columns of pairs of warps, then of pairs of pairs.
  void unite_columns() const {
    const int warp = x / kWarp;
    for (int beside = 1; beside < RowTile::kWidth / kWarp; beside *= 2) {
      if ((warp & (2 * beside - 1)) == beside) unite_with_columns_before();
      __syncthreads();
    }
  }
  void mark_reaching() const {
    constexpr int kWidth = RowTile::kWidth, kHeight = RowTile::kHeight;
    for (int k = int(threadIdx.x); k < 2 * (kWidth + kHeight); k += RowTile::kThreads) {
      const int at = k / 2, x = at < kWidth ? at : k % 2 * (kWidth - 1);
      const int y = at < kWidth ? k % 2 * (kHeight - 1) : at - kWidth;
      if (x >= tile.width() || y >= height) continue;
      const int node = y * kWidth + x;
      if (InBlock::load(entries + node) == kBackground) continue;
      const int root = root_of(node);
      InBlock::store(entries + root, Node(root | kReaching));
    }
  }
  // Follows neighbouring nodes' entries to roots, all at once; background, the largest, stays.
  void follow(int (&entry)[kTogether], int first) const {
    int node[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) node[k] = entry[k] == kBackground ? first + k : entry[k] & kNode;
    for (bool more = true; more;) {
      more = false;
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        entry[k] = InBlock::load(entries + node[k]);
        const int above = entry[k] & kNode;
        more |= above < node[k];
        node[k] = above < node[k] ? above : node[k];
      }
    }
    __syncwarp();  // else what follows is done once for each length of a path
  }
  // Writes labels, and which reach the border, a row a warp. Returns how many components of this lane do not.
  int write(int32_t* label, uint32_t* reaching) const {
    const int32_t corner = tile.index(0, 0), width = tile.shape.length[0];
    const int64_t bytes_of_row = int64_t(tile.shape.words_of_row) * sizeof(*reaching);
    const int column = lane() * kTogether, byte = (tile.first_column + column) / kBitsOfByte;
    const bool has_byte = lane() % 2 == 0 && byte < bytes_of_row, is_inside = column < tile.width();
    const bool fits = reinterpret_cast<size_t>(label) % (kTogether * sizeof(*label)) == 0;
    int settled = 0;
#pragma unroll 1
    for (int y = x / kWarp; y < height; y += RowTile::kThreads / kWarp) {
      const int node = y * RowTile::kWidth + column;
      auto* const of_lane = reinterpret_cast<uint64_t*>(entries + node);
      const uint64_t begin = InBlock::load(of_lane);
      int entry[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) entry[k] = int(begin >> 16 * k) & kBackground;
      follow(entry, node);
      int32_t labels[kTogether];
      uint64_t roots = 0;
      uint32_t reach = 0;
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        const int root = entry[k] & kNode;
        const bool is_background = entry[k] == kBackground;
        labels[k] = corner + root / RowTile::kWidth * width + root % RowTile::kWidth;
        if (is_background) labels[k] = -1;
        reach |= uint32_t(!is_background && entry[k] >= kReaching) << k;
        settled += entry[k] == node + k;
        roots |= uint64_t(entry[k]) << 16 * k;
      }
      InBlock::store(of_lane, roots);  // so that paths from below are short
      int32_t* const to = label + tile.index(column, y);
      if (is_inside && fits) {
        Concurrent::store_all(to, labels);
      } else if (is_inside) {
#pragma unroll
        for (int k = 0; k < kTogether; ++k) to[k] = labels[k];
      }
      reach |= __shfl_down_sync(kAllLanes, reach, 1) << kTogether;
      if (has_byte)
        reinterpret_cast<uint8_t*>(reaching)[(tile.first_row + y) * bytes_of_row + byte] = uint8_t(reach);
    }
    return settled;
  }
};

// Where `by_rows` has the next tile: few blocks take them in turn.
constexpr int kNextToLabel = 1, kNextToJoin = 2;

constexpr int kSampleRowThreads = 1024, kSampledWords = 128;
// Of sampled elements, one of so many is linked to none before, and one of so many foreground, at least.
constexpr int kMostOfOneRun = 10, kMostOfOneElement = 7;

// One block. Sets by_rows[0] for many components of several values, unless it seems sparse.
template <class Rule, bool corners>
__global__ void __launch_bounds__(kSampleRowThreads) sample_rows(Rule rule,
    const typename Rule::Value* __restrict__ values, RowShape shape, int32_t* by_rows, int64_t* components) {
  follow_launch();
  using Held = HeldAs<typename Rule::Value>;
  constexpr int kWarps = kSampleRowThreads / kWarp, kInside = kWarp - 2;  // lanes with two beside them
  int apart = 0, several = 0, elements = 0;
#pragma unroll 1
  for (int k = int(threadIdx.x) / kWarp; k < kSampledWords; k += kWarps) {
    const int64_t row = 1 + (int64_t(shape.length[1]) - 1) * k / kSampledWords;
    const int64_t column = int64_t(k * 37 % (shape.length[0] / kWarp)) * kWarp + lane();
    const auto* const at = values + row * shape.value_stride[1] + column * shape.value_stride[0];
    const Held value = at[0], above = at[-shape.value_stride[1]];
    const bool is_foreground = !rule.background.is(typename Rule::Value(value));
    bool is_linked = value == __shfl_up_sync(kAllLanes, value, 1);
    is_linked |= value == above;
    if (corners) {
      is_linked |= value == __shfl_up_sync(kAllLanes, above, 1);
      is_linked |= value == __shfl_down_sync(kAllLanes, above, 1);
    }
    const int of_word = lowest(__ballot_sync(kAllLanes, is_foreground));
    const Held first = __shfl_sync(kAllLanes, value, of_word & (kWarp - 1));
    const bool differs = __any_sync(kAllLanes, is_foreground && !(value == first));
    apart += is_foreground && !is_linked && lane() > 0 && lane() <= kInside;
    several += lane() == 0 && differs;
    elements += is_foreground;
  }
  apart = block_sum<kSampleRowThreads>(apart), several = block_sum<kSampleRowThreads>(several);
  elements = block_sum<kSampleRowThreads>(elements);
  if (threadIdx.x != 0) return;
  by_rows[0] = kMostOfOneRun * apart >= kInside * kSampledWords && 2 * several >= kSampledWords &&
               kMostOfOneElement * elements >= kWarp * kSampledWords;
  by_rows[kNextToLabel] = by_rows[kNextToJoin] = 0;
  components[0] = 0;
}

template <class Rule, bool corners>
__global__ void __launch_bounds__(RowTile::kThreads) label_row_tiles(Rule rule,
    const typename Rule::Value* __restrict__ values, int32_t* __restrict__ label, RowShape shape,
    int32_t* by_rows, uint32_t* __restrict__ reaching, int32_t* __restrict__ settled, int64_t tiles) {
  follow_launch();
  if (!by_rows[0]) return;
  using Labelling = RowLabelling<Rule, corners>;
  __shared__ __align__(16) typename Labelling::Node entries[RowTile::kNodes];
  for (int64_t tile; (tile = next_turn(by_rows + kNextToLabel)) < tiles;) {
    const Labelling labelling{rule, values, RowTile(shape, uint32_t(tile)), entries};
    labelling.label_rows();
    __syncthreads();
    labelling.unite_columns();
    labelling.mark_reaching();
    __syncthreads();
    const int of_tile = block_sum<RowTile::kThreads>(labelling.write(label, reaching));
    if (threadIdx.x == 0) settled[tile] = of_tile;
  }
}

constexpr int kJoinRowThreads = RowTile::kWidth + RowTile::kHeight;

// A block has a tile at a time, a thread an element at its upper or left border.
template <class Rule, bool corners>
__global__ void __launch_bounds__(kJoinRowThreads)
    join_row_tiles(const typename Rule::Value* __restrict__ values, int32_t* label, RowShape shape,
        int32_t* by_rows, int64_t tiles) {
  follow_launch();
  if (!by_rows[0]) return;
  const int at = int(threadIdx.x);
  const bool is_above = at < RowTile::kWidth;
  const int x = is_above ? at : 0, y = is_above ? 0 : at - RowTile::kWidth;
  const int across = is_above, along = !is_above;
  const int32_t width = shape.length[0], up_or_left = is_above ? -width : -1, beside = is_above ? 1 : width;
  for (int64_t k; (k = next_turn(by_rows + kNextToJoin)) < tiles;) {
    const RowTile tile(shape, uint32_t(k));
    if (x >= tile.width() || y >= tile.height()) continue;
    if ((is_above ? tile.first_row : tile.first_column) == 0) continue;
    const int32_t index = tile.index(x, y);
    // Corners of tiles belong to the borders between rows, which go on from tile to tile.
    const bool before = is_above ? tile.first_column + x > 0 : y > 0;
    const bool after = is_above ? tile.first_column + x + 1 < width : y + 1 < tile.height();
    for_each_contact<corners>(tile.at(values, x, y), shape.value_stride[across], shape.value_stride[along],
        before, after, [&](int steps) {
          const int32_t other = index + up_or_left + steps * beside;
          const int32_t entry = Concurrent::load(label + index);
          const int32_t behind = Concurrent::load(label + other);
          if (entry >= 0 && behind >= 0) unite_from<Concurrent>(label, index, entry, other, behind);
        });
  }
}

constexpr int kFollowRowThreads = 256, kWordsAtOnce = 4;

// A warp has 32 words at a time, and follows the labels of several at once.
template <int = 0>
__global__ void __launch_bounds__(kFollowRowThreads) follow_row_roots(int32_t* label, RowShape shape,
    const int32_t* by_rows, const uint32_t* __restrict__ reaching, const int32_t* __restrict__ settled,
    int64_t* components, int64_t words, int64_t tiles) {
  follow_launch();
  if (!by_rows[0]) return;
  int count = 0;
  for (int64_t first = grid_thread() - lane(); first < words; first += grid_threads()) {
    const int64_t word = first + lane();
    const uint32_t elements = word < words ? reaching[word] : 0;
    const int32_t row = int32_t(word / shape.words_of_row);
    const int32_t begin = row * shape.length[0] + int32_t(word % shape.words_of_row) * kWarp;
    for (uint32_t left = __ballot_sync(kAllLanes, elements != 0); left != 0;) {
      int32_t index[kWordsAtOnce], entry[kWordsAtOnce], above[kWordsAtOnce];
#pragma unroll
      for (int k = 0; k < kWordsAtOnce; ++k) {
        const int from = lowest(left) & (kWarp - 1);
        const uint32_t of_word = __shfl_sync(kAllLanes, elements, from);
        index[k] = __shfl_sync(kAllLanes, begin, from) + lane();
        entry[k] = left != 0 && of_word >> lane() & 1 ? Concurrent::load(label + index[k]) : -1;
        if (entry[k] > index[k]) entry[k] = -1;  // somebody else has written it
        left &= left - 1;
      }
#pragma unroll
      for (int k = 0; k < kWordsAtOnce; ++k)
        above[k] = entry[k] < 0 ? -1 : Concurrent::load(label + entry[k]);
#pragma unroll
      for (int k = 0; k < kWordsAtOnce; ++k) {
        const int32_t root = find_from<Concurrent, Jump::kNone>(label, entry[k], above[k]);
        __syncwarp();
        if (root != entry[k]) Concurrent::store(label + index[k], root);
        count += root == index[k];
      }
    }
  }
  for (int64_t tile = grid_thread(); tile < tiles; tile += grid_threads()) count += settled[tile];
  count = block_sum<kFollowRowThreads>(count);
  if (threadIdx.x == 0) Concurrent::fetch_add(components, int64_t(count));
}

}
