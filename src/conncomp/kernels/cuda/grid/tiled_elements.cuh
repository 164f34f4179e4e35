// Labels small arrays by union–find in tiles, a thread an element: the default where bricks would leave most
// of a GPU idle. label_elements puts elements under the first of their runs along rows by ballots, unites
// runs of rows in shared memory and gives each element the index of its root in the tile; join_elements
// unites elements at borders of tiles; settle_elements points all to their roots and keeps and counts their
// bits by chunks; number_elements counts the roots before each chunk in each block (RootRanks). Changing
// labels are followed to smaller indices only (union_find.h). Cost: values read once, those at borders twice;
// labels written and read twice. Three or four kernels, whose latency takes most of the time. Source:
// Oliveira and Lotufo 2010; which contacts need no union is ours.
#pragma once

#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"
#include "cuda/grid/tiling.cuh"

namespace conncomp {

constexpr int kElementsOfTile = 512;  // at most

// Which links of an element need a union. Sets of steps have a bit for each code.
template <int axes> struct NeededUnions : StepCodes<axes> {
  using S = StepCodes<axes>;

  // The steps to elements between one and its neighbour at a step: those with some of its moves.
  static constexpr uint32_t between(int step) {
    uint32_t steps = 0;
    for (int part = 0; part < S::kSteps; ++part) {
      bool some = part != step && part != S::kNoStep;
      for (int a = 0; a < axes; ++a) some &= S::step(part, a) == 0 || S::step(part, a) == S::step(step, a);
      if (some) steps |= 1u << part;
    }
    return steps;
  }
  // Steps to elements before that connect all linked ones, with those of other elements; `similar` are
  // linked. If the rule is transitive, a diagonal step is not needed if an element between is similar; nor a
  // straight one across rows if the elements before both are, unless the row begins.
  template <bool transitive>
  static uint32_t among(uint32_t similar, int connectivity, uint32_t neighbours, bool row_begins) {
    // The links that make up for others are those of a connectivity.
    if (!transitive || connectivity == 0) return similar & neighbours & ((1u << S::kNoStep) - 1);
    constexpr uint32_t kLeft = 1u << (S::kNoStep - 1);
    uint32_t needed = 0;
#pragma unroll
    for (int step = 0; step < S::kNoStep; ++step) {
      const int moves = S::moves(step);
      if (!(similar >> step & 1) || moves > connectivity) continue;
      if (moves > 1 && similar & between(step)) continue;
      const bool upright = moves == 1 && step != S::kNoStep - 1;
      if (upright && !row_begins && similar & kLeft && similar >> (step - 1) & 1) continue;
      needed |= 1u << step;
    }
    return needed;
  }
};

template <class Steps, class Rule>
bool similar_at(const Rule& rule, const typename Rule::Value* values, const typename Rule::Site& from,
    const typename Rule::Site& to, int code) {
  return rule.linked(values, from, to, Steps::highest_axis(code), code > Steps::kNoStep);
}

// Steps to look at: those to elements before; all if transitive, as any may make up for others.
template <class Rule, class Steps> constexpr int kAsked = Rule::kTransitive ? Steps::kSteps : Steps::kNoStep;

template <int rank, bool items> using ElementTiles = Tiling<rank, 0, GivenLogs<items>>;

// A block a tile, a thread an element.
template <class Rule, class Tiles, class Index>
__global__ void __launch_bounds__(kElementsOfTile) label_elements(Tiles tiles, Rule rule,
    const typename Rule::Value* __restrict__ values, Index* __restrict__ label, int64_t* components) {
  follow_launch();
  using S = typename Tiles::Step;
  using Site = typename Rule::Site;
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes;
  __shared__ Site site_of[kElementsOfTile];
  __shared__ uint32_t foreground_of_warp[kElementsOfTile / kWarp];
  __shared__ int parent[kElementsOfTile];
  const int element = int(threadIdx.x), first_of_warp = element - lane();
  const int64_t item = tiles.item_of(blockIdx.x);
  values += item * tiles.grid.item_stride;
  label += item * tiles.grid.cells_of_item();
  if (element == 0 && tiles.begins_item(blockIdx.x)) components[item] = 0;

  const Cell<rank, Index> corner = tiles.template corner_of<Index>(blockIdx.x);
  const Cell<rank, Index> cell = tiles.first_of(corner, element);
  const bool inside = tiles.has(cell);
  const Site site = inside ? rule.site(values, cell.offset) : Site{};
  const bool foreground = inside && !rule.is_background(site);
  const uint32_t foreground_lanes = __ballot_sync(kAllLanes, foreground);
  if (lane() == 0) foreground_of_warp[element / kWarp] = foreground_lanes;
  site_of[element] = site;
  __syncthreads();

  const auto element_at = [&](int step) {
    int neighbour = element;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) neighbour += S::step(step, a) * (1 << tiles.log_before(a));
    return neighbour;
  };
  uint32_t similar = 0;
#pragma unroll
  for (int step = 0; step < kAsked<Rule, S>; ++step) {
    if (!Rule::kTransitive && !tiles.has_step(step)) continue;
    bool in_tile = foreground;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int to = tiles.place(element, a) + S::step(step, a);
      in_tile &= to >= 0 && to < 1 << tiles.log[a];
    }
    const int neighbour = element_at(step);
    if (in_tile && foreground_of_warp[neighbour / kWarp] >> neighbour % kWarp & 1 &&
        similar_at<S>(rule, values, site, site_of[neighbour], step))
      similar |= 1u << step;
  }
  // Elements of a run are put under its first one in the warp, and that under the one before.
  constexpr int kLeft = S::kNoStep - 1;
  const bool linked = similar >> kLeft & 1 && tiles.has_step(kLeft);
  const uint32_t starts = ~__ballot_sync(kAllLanes, linked) | 1;
  const int start = first_of_warp + kWarp - 1 - __clz(int(starts & (kAllLanes >> (kWarp - 1 - lane()))));
  parent[element] = linked && start == element ? element - 1 : start;
  __syncthreads();
  uint32_t needed = NeededUnions<kAxes>::template among<Rule::kTransitive>(
      similar, int(tiles.grid.connectivity), tiles.neighbours(), false);
  for (needed &= (1u << kLeft) - 1; needed != 0; needed &= needed - 1)
    unite<InBlock>(parent, element, element_at(lowest(needed)));
  __syncthreads();
  if (start == element) InBlock::store(parent + element, find<InBlock>(parent, element));
  __syncthreads();
  if (inside) label[cell.index] = foreground ? tiles.first_of(corner, parent[start]).index : Index(-1);
}

template <class Rule, class Tiles, class Index>
__global__ void __launch_bounds__(
    kElementsOfTile, Tiles::kRank == 3 && resident_blocks(kElementsOfTile) > 3 ? 3 : 1)
    join_elements(Tiles tiles, Rule rule, const typename Rule::Value* __restrict__ values, Index* label) {
  follow_launch();
  using S = typename Tiles::Step;
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes;
  const int element = int(threadIdx.x);
  const int64_t item = tiles.item_of(blockIdx.x);
  values += item * tiles.grid.item_stride;
  label += item * tiles.grid.cells_of_item();
  const Cell<rank, Index> cell = tiles.first_of(tiles.template corner_of<Index>(blockIdx.x), element);
  bool at_border = rank > kAxes;
#pragma unroll
  for (int a = 0; a < kAxes; ++a) {
    const int place = tiles.place(element, a);
    const bool ends = place + 1 == 1 << tiles.log[a] || cell.at[rank - 1 - a] + 1 == tiles.axis(a).length;
    at_border |= place == 0 || ends;
  }
  if (!tiles.has(cell) || !at_border || Concurrent::load(label + cell.index) < 0) return;
  const typename Rule::Site site = rule.site(values, cell.offset);
  if constexpr (rank > kAxes) {
    for_each_neighbour(tiles.grid, cell, [&](const Neighbour<Index>& neighbour) {
      if (neighbour.index < cell.index && linked_to(rule, values, site, neighbour))
        unite<Concurrent>(label, cell.index, neighbour.index);
    });
  } else {
    uint32_t similar = 0;
    const auto move_to_neighbour = [&](int step, Cell<rank, Index>& neighbour) {
      bool exists = true;
#pragma unroll
      for (int a = 0; a < kAxes; ++a) {
        const GridAxis& axis = tiles.axis(a);
        Index to = cell.at[rank - 1 - a] + S::step(step, a);
        if (to < 0 || to >= axis.length) {
          exists &= bool(axis.periodic);
          to = to < 0 ? Index(axis.length - 1) : Index(0);
        }
        neighbour.move(tiles.grid, rank - 1 - a, to - cell.at[rank - 1 - a]);
      }
      return exists;
    };
#pragma unroll
    for (int step = 0; step < kAsked<Rule, S>; ++step) {
      if (!Rule::kTransitive && !tiles.has_step(step)) continue;
      Cell<rank, Index> neighbour = cell;
      if (move_to_neighbour(step, neighbour) &&
          similar_at<S>(rule, values, site, rule.site(values, neighbour.offset), step))
        similar |= 1u << step;
    }
    const bool row_begins = cell.at[rank - 1] == 0;
    uint32_t needed = NeededUnions<kAxes>::template among<Rule::kTransitive>(
        similar, int(tiles.grid.connectivity), tiles.neighbours(), row_begins);
    for (; needed != 0; needed &= needed - 1) {
      Cell<rank, Index> neighbour = cell;
      move_to_neighbour(lowest(needed), neighbour);
      unite<Concurrent>(label, cell.index, neighbour.index);
    }
  }
}

// A block a chunk of elements. Writes bits and numbers of roots unless null, and counts each item's.
template <class Index, bool items>
__global__ void __launch_bounds__(kWordThreads)
    settle_elements(int64_t count, int64_t item_size, int64_t chunk, Index* label,
        uint32_t* __restrict__ roots_of_word, int64_t* __restrict__ roots_in_chunk, int64_t* components) {
  follow_launch();
  int64_t in_chunk = 0;
  const int64_t begin = blockIdx.x * chunk;
  for (int64_t row = begin; row < begin + chunk; row += kWordThreads) {
    const int64_t i = row + threadIdx.x;
    const int64_t item = items ? i / item_size : 0, first_of_item = item * item_size;
    Index* const parent = label + first_of_item;
    const Index element = Index(i - first_of_item);
    const Index above = i < count ? Concurrent::load(label + i) : Index(-1);
    const Index root = above < 0 ? above : find_from<Concurrent, Jump::kNone>(parent, element, above);
    if (root != above) Concurrent::store(label + i, root);
    const bool is_root = i < count && root == element;
    const uint32_t roots = __ballot_sync(kAllLanes, is_root);
    in_chunk += is_root;
    if (roots_of_word != nullptr && lane() == 0 && i < count) roots_of_word[i / kRootWord] = roots;
    if (items && is_root) Concurrent::fetch_add(components + item, int64_t(1));
  }
  const int64_t block_roots = block_sum<kWordThreads>(in_chunk);
  if (threadIdx.x == 0 && roots_in_chunk != nullptr) roots_in_chunk[blockIdx.x] = block_roots;
  if (threadIdx.x == 0 && !items) Concurrent::fetch_add(components, block_roots);
}

// The number of roots before an element. Each block adds up roots_in_chunk into before_chunk itself.
struct RootRanks {
  static constexpr int kMostChunks = 4096;

  const uint32_t* roots_of_word;
  int64_t chunk;      // elements, a multiple of those of a word
  int* before_chunk;  // shared memory

  // The whole block calls.
  void count(const int64_t* roots_in_chunk, int chunks) const {
    const int each = (chunks + kWordThreads - 1) / kWordThreads, begin = int(threadIdx.x) * each;
    const int end = begin + each < chunks ? begin + each : chunks;
    int roots = 0;
    for (int part = begin; part < end; ++part) {
      before_chunk[part] = roots;
      roots += int(roots_in_chunk[part]);
    }
    int all;
    const int before = block_scan<kWordThreads>(roots, all);
    for (int part = begin; part < end; ++part) before_chunk[part] += before;
    __syncthreads();
  }
  int before(int64_t element) const {
    const int64_t part = element / chunk, word = element / kRootWord;
    int roots = before_chunk[part] + __popc(roots_of_word[word] & ((1u << element % kRootWord) - 1));
    for (int64_t earlier = part * (chunk / kRootWord); earlier < word; ++earlier)
      roots += __popc(roots_of_word[earlier]);
    return roots;
  }
};

// The chunks of settle_elements, at most kMostChunks.
template <class Index, bool items>
__global__ void __launch_bounds__(kWordThreads)
    number_elements(int64_t count, int64_t item_size, int64_t chunk, Index* label,
        const uint32_t* __restrict__ roots_of_word, const int64_t* __restrict__ roots_in_chunk) {
  follow_launch();
  __shared__ int before_chunk[RootRanks::kMostChunks];
  const RootRanks ranks{roots_of_word, chunk, before_chunk};
  ranks.count(roots_in_chunk, int((count + chunk - 1) / chunk));
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Index first_of_item = Index(items ? i / item_size * item_size : 0);
    const Index root = Concurrent::load(label + i);  // once; it may be any number by now
    Index number = 0;
    if (root >= 0 && root < item_size) {
      number = Index(1 + ranks.before(root + first_of_item));
      if (first_of_item > 0) number -= Index(ranks.before(first_of_item));
    }
    Concurrent::store(label + i, number);
  }
}

}
