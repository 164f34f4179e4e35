// Stage 4: each thread finds the components of its brick again, follows their entries to the roots, and
// writes the labels of all its elements. The number of each element's component in its brick, from 1, is kept
// as four planes of bits, `digit`, and looked up for a row of labels. With given links, lone elements have
// the number kSingle, and labels made when written.
#pragma once

#include "cuda/core/root_bits.cuh"
#include "cuda/grid/sparse_tiles.cuh"
#include "cuda/grid/worklist.cuh"

namespace conncomp {

inline uint32_t spread(uint32_t bits) {
  bits = (bits | bits << 12) & 0x000f000fu;
  bits = (bits | bits << 6) & 0x03030303u;
  return (bits | bits << 3) & 0x11111111u;
}

constexpr int kSingle = 15;

// Writes the `wanted` labels of a row of each lane's brick, `together` at a time: four bits of `numbers`
// choose among `labels`, kWarp apart. With `singles`, kSingle means label_of(its index).
template <int together, class B, bool singles, class Index>
void write_row(
    Index* label, Index first, uint32_t numbers, uint32_t wanted, const Index* labels, auto&& label_of) {
#pragma unroll
  for (int step = 0; step < B::kRow / together; ++step) {
    int source = lane();
    Index to = first;
    uint32_t source_numbers = numbers, source_wanted = wanted;
    if constexpr (together < B::kRow) {
      const int from = (lane() + step * kWarp) * together, x = from % B::kRow;
      source = from / B::kRow;
      to = Index(__shfl_sync(kAllLanes, first, source)) + x;
      source_numbers = __shfl_sync(kAllLanes, numbers, source) >> 4 * x;
      source_wanted = __shfl_sync(kAllLanes, wanted, source) >> x;
    }
    Index values[together];
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const uint32_t number = source_numbers >> 4 * k & 15;
      if (singles && number == kSingle)
        values[k] = label_of(Index(to + k));
      else
        values[k] = labels[number * kWarp + source];
    }
    constexpr uint32_t kWhole = (1u << together) - 1;
    if ((source_wanted & kWhole) == kWhole) {
      Concurrent::store_all(label + to, values);
    } else {
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (source_wanted >> k & 1) Concurrent::store(label + to + k, values[k]);
    }
  }
}

// Where an entry leads: to a root, or to the label that has been written over it already.
template <class Index> struct FollowedEntry {
  Index root;
  bool is_label;
};

// Follows an entry to its root; labels may overwrite entries on the way meanwhile.
template <bool consecutive, class Index> FollowedEntry<Index> follow_entry(Index* label, Index entry) {
  Index above = Concurrent::load(label + entry);
  if constexpr (consecutive) {
    // The entry is the root, complemented, or the tile's, whose entry is the root or the label; neither comes
    // after it.
    if (above >= 0) {
      above = Concurrent::load(label + (above < entry ? above : entry));
      if (above >= 0) return {above, true};
    }
    return {~above < entry ? Index(~above) : entry, false};
  } else {
    // A label is the root that entries lead to.
    if (above < 0) return {Index(~above), false};
    Index root = entry;
    for (; leads_to(root, above); above = Concurrent::load(label + root)) root = above;
    return {root, false};
  }
}

// Follows listed components of a sparse tile, the lane's first `number` given. Returns this thread's roots:
// below 0 where its warp put another's under others.
template <class Tiles>
int follow_sparse_tile(
    const Tiles& tiles, int32_t* label, const ListToFollow<Tiles>& list, uint32_t number, uint32_t tile) {
  using List = ListToFollow<Tiles>;
  const int32_t corner = tiles.template corner_of<int32_t>(tile).index;
  const auto index_of = [&](int node) { return corner + tiles.template index_of_node<int32_t>(node); };
  const uint32_t head = __shfl_sync(kAllLanes, number, 0);
  int roots = lane() == 0 ? List::signed_high(head) : 0;
  for (int at = lane() - 1; at < List::low(head); at += kWarp) {
    if (at < 0) continue;
    if (at >= kWarp - 1) number = list.pair(at);
    const int place = List::low(number), node = place & (List::kTwo - 1), root_of_tile = List::high(number);
    const int32_t entry = index_of(root_of_tile), root = follow_entry<false>(label, entry).root;
    if (root != entry) {
      Concurrent::store(label + index_of(node), root);
      if (place & List::kTwo) Concurrent::store(label + index_of(node) + 1, root);
    }
    roots += root == entry && node == root_of_tile;
  }
  __syncwarp();
  return roots;
}

template <class Rule, bool consecutive, bool may_be_sparse, class Tiles, class Index>
void write_tile(const Tiles& tiles, const typename Rule::Value* values, Index* label, const BrickTable& table,
    int64_t columns, const uint32_t* roots_of_word, const Index* number_of_word, uint32_t tile) {
  constexpr int rank = Tiles::kRank, kAxes = Tiles::kAxes, kThreads = Tiles::kThreads;
  if constexpr (may_be_sparse) {
    // Loaded together with the flag.
    const ListToFollow<Tiles> list{table, tile, int(threadIdx.x) / kWarp};
    const uint32_t number = list.numbers[lane()];
    if (table.sparse[tile]) {
      const int roots = block_sum<kThreads>(follow_sparse_tile(tiles, label, list, number, tile));
      if (threadIdx.x == 0) Concurrent::fetch_add(table.components, int64_t(roots));
      return;
    }
  }
  using B = Brick<kAxes>;
  // Labels of the background and of so many components of each brick at a time.
  constexpr bool kSingles = !Rule::kTransitive;
  constexpr int kAtOnce = kSingles ? kSingle - 1 : kSingle;
  __shared__ Index labels_of_warp[kThreads / kWarp][(1 + kAtOnce) * kWarp];
  __shared__ WarpList list_of_warp[kThreads / kWarp];

  const int brick = int(threadIdx.x), first_of_warp = brick - lane();
  Index* const labels = labels_of_warp[brick / kWarp];
  const int64_t item = tiles.item_of(tile), first_of_item = item * tiles.grid.cells_of_item();
  values += item * tiles.grid.item_stride;
  label += first_of_item;
  const int64_t bricks_before = int64_t(tile) * tiles.parts();
  const Cell<rank, Index> corner = tiles.template corner_of<Index>(tile);
  const Cell<rank, Index> first = tiles.first_of(corner, brick);
  const Bits foreground = __ldg(table.foreground + bricks_before + brick), inside = tiles.inside(first);
  const auto links = links_of_brick(
      Rule{}, tiles, table, values, first, bricks_before + brick, inside, foreground, table.comparison[tile]);
  labels[lane()] = consecutive ? 0 : -1;
  // Four labels are written at once if their address fits.
  bool fits = reinterpret_cast<size_t>(label) % 16 == 0;
#pragma unroll
  for (int k = 0; k < rank - 1; ++k) fits &= (tiles.grid.axes[k].index_stride & 3) == 0;

  const LabelOfRoot<consecutive, Index> label_of{
      tiles.axis(0).length, columns, roots_of_word, number_of_word};
  // Numbers begin anew in each item.
  const Index first_index = Index(first_of_item);
  const Index numbers_before = consecutive && item > 0 ? Index(label_of(first_index) - 1) : Index(0);
  const auto label_of_root = [&](Index root) {
    return tiles.has_items() && consecutive ? Index(label_of(root + first_index) - numbers_before)
                                            : label_of(root);
  };
  int roots = __popcll(__ldg(table.settled + bricks_before + brick));
  Bits unwritten = foreground, singles = 0;
  if constexpr (kSingles) {
    singles = foreground & ~links.with_neighbour() & __ldg(table.settled + bricks_before + brick);
    unwritten &= ~singles;
  }
  bool more = true;
  for (bool begins = true; more; begins = false) {
    Bits digit[4] = {};  // of the number of each element's component
    if constexpr (kSingles) {
      digit[0] = digit[1] = digit[2] = digit[3] = begins ? singles : 0;
    }
    const auto find_labels = [&](auto&& with_components) {
      return list_of_warp[brick / kWarp].for_each_component(
          with_components, unwritten, kAtOnce,
          [&](Bits component, int number) {
#pragma unroll
            for (int k = 0; k < 4; ++k) digit[k] |= (number + 1) >> k & 1 ? component : 0;
          },
          [&](Bits component, int lane_of_brick, int number, bool) {
            if (component == 0) return;
            const int owner = first_of_warp + lane_of_brick, bit = lowest(component);
            const Index entry = corner.index + tiles.template index_of_node<Index>(tiles.node_of(owner, bit));
            FollowedEntry<Index> followed{entry, false};
            if (!(__ldg(table.settled + bricks_before + owner) >> bit & 1)) {
              followed = follow_entry<consecutive>(label, entry);
              roots += followed.root == entry;
            }
            labels[(number + 1) * kWarp + lane_of_brick] =
                followed.is_label ? followed.root : label_of_root(followed.root);
          });
    };
    if constexpr (Rule::kTransitive) {
      unwritten = find_labels([&](auto&& use) { links.with_fewest(use); });
    } else {
      const FirstDigits digits = table.first_digits(bricks_before + brick);
      unwritten = find_labels([&](auto&& use) { use(digits); });
    }
    more = __any_sync(kAllLanes, unwritten != 0);
    __syncwarp();
    // Entries of later components must be read before they are overwritten.
    const Bits numbered = digit[0] | digit[1] | digit[2] | digit[3];
    Bits wanted = inside & (begins ? numbered | ~foreground : numbered);
    constexpr int kRowsAtOnce = 8 / B::kRow;
#pragma unroll 1
    for (int row = 0; row < B::kRows; row += kRowsAtOnce) {
      uint32_t numbers = 0;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        numbers |= spread(uint32_t(digit[k]) & 0xffu) << k;
        digit[k] >>= 8;
      }
#pragma unroll
      for (int next = 0; next < kRowsAtOnce; ++next) {
        const Index at = first.index + tiles.template distance<Index>((row + next) * B::kRow);
        if (fits)
          write_row<4, B, kSingles>(label, at, numbers, uint32_t(wanted), labels, label_of_root);
        else
          write_row<1, B, kSingles>(label, at, numbers, uint32_t(wanted), labels, label_of_root);
        if constexpr (kRowsAtOnce > 1) numbers >>= 4 * B::kRow;
        wanted >>= B::kRow;
      }
    }
    __syncwarp();
  }
  if constexpr (!consecutive) {
    const int total = block_sum<kThreads>(roots);
    if (brick == 0) Concurrent::fetch_add(table.components + tiles.item_of(tile), int64_t(total));
  }
}

template <class Rule, bool consecutive, class Tiles, class Index, bool may_be_elsewhere = false>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 8 : 3) write_labels(Tiles tiles,
    const typename Rule::Value* __restrict__ values, Index* label, BrickTable table, int64_t columns,
    const uint32_t* __restrict__ roots_of_word, const Index* __restrict__ number_of_word) {
  follow_launch();
  if constexpr (may_be_elsewhere)
    if (table.is_elsewhere()) return;
  constexpr bool may_be_sparse = may_be_elsewhere && Tiles::kRank == 2;
  const auto write = [&](uint32_t tile) {
    write_tile<Rule, consecutive, may_be_sparse>(
        tiles, values, label, table, columns, roots_of_word, number_of_word, tile);
  };
  if constexpr (may_be_elsewhere && Tiles::kRank == 3) {
    const int64_t count = table.bricks / tiles.parts();
    for (int64_t k; (k = next_turn(table.elsewhere + BrickTable::kTurns + 2)) < count;) write(uint32_t(k));
  } else {
    write(blockIdx.x);
  }
}

}
