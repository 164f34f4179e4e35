// A Swendsen-Wang update of spins as bits by tiles of rows, of lattices too large for one block. Tiles have
// 2^k sites along each axis; beyond the lattice they have no bonds. label_rows labels clusters in a tile, in
// shared memory (row_labels.cuh), keeps each site's smallest place in its cluster, and marks roots of
// clusters that reach other tiles; join_rows unites marked roots by bonds that leave a tile; flip_rows draws
// states of roots, by coins if q = 2, then of sites. A site: a bit for each axis and coin read; two bytes of
// label, written and read; four of the forest, at marked roots only. Source: ours.
#pragma once

#include "cuda/models/row_labels.cuh"
#include "cuda/models/spins.cuh"

namespace conncomp {

constexpr int kMostTileThreads = 256;
constexpr int kFlippingBlocks = resident_blocks(kMostTileThreads) < 6 ? resident_blocks(kMostTileThreads) : 6;

// Layout: spin_tiles.py.
struct SpinTiles {
  int32_t count[kLatticeAxes], log[kLatticeAxes];  // of tiles along each axis; of their sites
  BoxRows box;

  int tiles() const { return count[0] * count[1] * count[2] * count[3]; }
  int words() const { return box.rows * box.columns; }
};

// Where a row, or a site, of a tile lies.
template <int axes> struct TilePlace {
  static constexpr int kFirst = kLatticeAxes - axes;
  const SpinTiles& tiles;
  const Lattice& lattice;
  int replica, number;      // of those of all replicas
  int begin[kLatticeAxes];  // of its sites

  TilePlace(const SpinTiles& tiles, const Lattice& lattice, int number)
      : tiles(tiles), lattice(lattice), replica(number / tiles.tiles()), number(number), begin{} {
    int in_replica = number - replica * tiles.tiles();
#pragma unroll
    for (int k = kRowAxis; k >= kFirst; --k) {
      begin[k] = in_replica % tiles.count[k] << tiles.log[k];
      in_replica /= tiles.count[k];
    }
  }
  // The coordinates of a row of the tile, in the lattice; whether it is there.
  bool find_row(int row, int (&at)[kRowAxis]) const {
    bool is_there = true;
#pragma unroll
    for (int k = kRowAxis - 1; k >= 0; --k) {
      at[k] = 0;
      if (k < kFirst) continue;
      at[k] = begin[k] + (row & ((1 << tiles.log[k]) - 1));
      row >>= tiles.log[k];
      is_there &= at[k] < lattice.length[k];
    }
    return is_there;
  }
  int row_of(const int (&at)[kRowAxis]) const {
    int row = 0;
#pragma unroll
    for (int k = kFirst; k < kRowAxis; ++k) row = row * int(lattice.length[k]) + at[k];
    return row;
  }
  int32_t site_of(int place) const {
    int at[kRowAxis];
    find_row(place >> tiles.log[kRowAxis], at);
    return row_of(at) * int32_t(lattice.length[kRowAxis]) + begin[kRowAxis] +
           (place & ((1 << tiles.log[kRowAxis]) - 1));
  }
  // The tile after this one along an axis, which may be the first one.
  TilePlace next_along(int axis) const {
    TilePlace next = *this;
    int in_replica = 0;
#pragma unroll
    for (int k = kFirst; k < kLatticeAxes; ++k) {
      if (k == axis) next.begin[k] += 1 << tiles.log[k];
      if (next.begin[k] >= lattice.length[k]) next.begin[k] = 0;
      in_replica = in_replica * tiles.count[k] + (next.begin[k] >> tiles.log[k]);
    }
    next.number = replica * tiles.tiles() + in_replica;
    return next;
  }
  // Where the tile's places and words begin.
  int64_t first_word() const { return int64_t(number) * tiles.words(); }
  int64_t first_place() const { return first_word() * kWarp; }
  const Bits32* of_replica(const Bits64* words, int64_t each) const {
    return reinterpret_cast<const Bits32*>(words) + replica * 2 * each;
  }
  int halves() const { return 2 * int(lattice.columns()); }
};

template <int axes> struct WordOfTile {
  int at[kRowAxis], half;
  bool is_there;
  int64_t number;  // of halves of words of an axis

  WordOfTile(const TilePlace<axes>& tile, int word) {
    const int log_columns = tile.tiles.log[kRowAxis] - 5;
    half = tile.begin[kRowAxis] / kWarp + (word & ((1 << log_columns) - 1));
    is_there = tile.find_row(word >> log_columns, at) && half * kWarp < int(tile.lattice.length[kRowAxis]);
    number = tile.row_of(at) * int64_t(tile.halves()) + half;
  }
};

// The sites of a word that have bonds to other tiles, ahead or back, given its own bonds.
template <int axes>
Bits32 outer_bonds(const TilePlace<axes>& tile, const WordOfTile<axes>& word, const Bits32 (&own)[axes],
    const Bits32* bonds) {
  const Lattice& lattice = tile.lattice;
  const int64_t of_axis = 2 * lattice.words();
  Bits32 outer = 0;
  int64_t stride = tile.halves();
#pragma unroll
  for (int k = axes - 2; k >= 0; --k) {
    const int axis = tile.kFirst + k, length = int(lattice.length[axis]),
              last = (1 << tile.tiles.log[axis]) - 1;
    const int within = word.at[axis] & last;
    if (within == last || word.at[axis] == length - 1) outer |= own[k];
    if (within == 0) {
      const int64_t back = word.at[axis] == 0 ? -int64_t(length - 1) : 1;
      outer |= __ldg(bonds + k * of_axis + word.number - back * stride);
    }
    stride *= length;
  }
  const int length = int(lattice.length[kRowAxis]), first = word.half * kWarp;
  const int end = tile.begin[kRowAxis] + (1 << tile.tiles.log[kRowAxis]);
  if (first + kWarp >= length)
    outer |= own[axes - 1] & Bits32(1) << (length - 1 - first);
  else if (first + kWarp == end)
    outer |= own[axes - 1] & Bits32(1) << (kWarp - 1);
  if (first == tile.begin[kRowAxis]) {
    const int before = first == 0 ? length - 1 : first - 1;
    const int64_t from = (axes - 1) * of_axis + word.number - word.half + before / kWarp;
    outer |= __ldg(bonds + from) >> before % kWarp & 1;
  }
  return outer;
}

// Dynamic shared memory: bonds of all axes, links, those that leave the tile, marks, lists and labels.
template <int axes>
__global__ void __launch_bounds__(kMostTileThreads)
    label_rows(Replicas replicas, SpinTiles tiles, const Bits64* __restrict__ bonds_of_all,
        Place* __restrict__ labels_of_all, Bits32* __restrict__ marks_of_all, int32_t* forest) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(PairsOfPlaces, shared);
  using Labels = RowLabels<axes>;
  const Lattice& lattice = replicas.lattice;
  const TilePlace<axes> tile(tiles, lattice, int(blockIdx.x));
  const int words = tiles.words(), thread = int(threadIdx.x), threads = int(blockDim.x);
  const Bits32* const bonds = tile.of_replica(bonds_of_all, axes * lattice.words());
  forest += tile.replica * lattice.sites();
  const int warp = thread / kWarp, warps = threads / kWarp;
  Place* const label = reinterpret_cast<Place*>(shared);
  auto* const words_of_box = reinterpret_cast<typename Labels::Links*>(label + words * kWarp);
  Bits32 *const own_bonds = reinterpret_cast<Bits32*>(words_of_box + words),
                *const outer = own_bonds + axes * words, *const marks = outer + words;
  auto* const lists = reinterpret_cast<typename Labels::List*>(marks + words);
  const Labels labels{tiles.box, label, words_of_box, own_bonds, lists[warp], warp, warps};

  for (int at = thread; at < words; at += threads) {
    const WordOfTile<axes> word(tile, at);
    Bits32 own[axes] = {};
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      if (word.is_there) own[k] = __ldg(bonds + 2 * k * lattice.words() + word.number);
      own_bonds[k * words + at] = own[k];
    }
    outer[at] = word.is_there ? outer_bonds(tile, word, own, bonds) : 0;
    marks[at] = 0;
  }
  __syncthreads();
  labels.label_box(false);
  labels_of_all += tile.first_place();
  labels.for_each_group([&](int group, const PlacesOfGroup& roots) {
    reinterpret_cast<PairsOfPlaces*>(labels_of_all)[group] = PairsOfPlaces(roots);
  });
  for (int word = thread; word < words; word += threads)
    for (Bits32 sites = outer[word]; sites != 0; sites &= sites - 1) {
      const int root = label[label[word * kWarp + __ffs(int(sites)) - 1]];
      InBlock::fetch_or(marks + root / kWarp, Bits32(1) << root % kWarp);
      const int32_t site = tile.site_of(root);
      Concurrent::store(forest + site, site);
    }
  __syncthreads();
  for (int word = thread; word < words; word += threads) marks_of_all[tile.first_word() + word] = marks[word];
}

// A bond to the next tile along an axis: places in both, of 14 bits, and the axis.
struct OuterBond {
  static constexpr int kPlaceBits = 14;
  Bits32 bits;

  OuterBond(int place, int other, int axis)
      : bits(Bits32(place) | Bits32(other) << kPlaceBits | Bits32(axis) << 2 * kPlaceBits) {}
  explicit OuterBond(Bits32 bits) : bits(bits) {}
  int place() const { return bits & ((1 << kPlaceBits) - 1); }
  int other() const { return bits >> kPlaceBits & ((1 << kPlaceBits) - 1); }
  int axis() const { return bits >> 2 * kPlaceBits; }
};

// A block a tile, by the bonds that lead to the next one along each axis.
template <int axes>
__global__ void __launch_bounds__(kMostTileThreads) join_rows(Replicas replicas, SpinTiles tiles,
    const Bits64* __restrict__ bonds_of_all, const Place* __restrict__ label, int32_t* forest) {
  follow_launch();
  __shared__ TasksOfWarp<Bits32> lists[kMostTileThreads / kWarp];
  const Lattice& lattice = replicas.lattice;
  const TilePlace<axes> tile(tiles, lattice, int(blockIdx.x));
  const int64_t of_axis = 2 * lattice.words();
  const int warp = int(threadIdx.x) / kWarp, warps = int(blockDim.x) / kWarp;
  const Bits32* const bonds = tile.of_replica(bonds_of_all, axes * lattice.words());
  forest += tile.replica * lattice.sites();
  int count = 0;
  const auto unite_ends = [&](Bits32 bits, bool exists) {
    if (!exists) return;
    const OuterBond bond(bits);
    const TilePlace<axes> other = tile.next_along(bond.axis());
    unite<Concurrent>(forest, tile.site_of(label[tile.first_place() + bond.place()]),
        other.site_of(label[other.first_place() + bond.other()]));
  };
  int log_stride = tiles.log[kRowAxis];  // from a place to the next one along an axis
#pragma unroll
  for (int k = axes - 2; k >= 0; --k) {
    const int axis = tile.kFirst + k, log = tiles.log[axis];
    const int end = int(lattice.length[axis]) - tile.begin[axis];
    const int last = end < 1 << log ? end - 1 : (1 << log) - 1;
    for (int item = warp; item < tiles.words() >> log; item += warps) {
      const int line = item * kWarp;
      const int first = (line >> log_stride << log) << log_stride | (line & ((1 << log_stride) - 1));
      const int place = first | last << log_stride;
      const WordOfTile<axes> word(tile, place / kWarp);
      const Bits32 leaving = word.is_there ? __ldg(bonds + k * of_axis + word.number) : 0;
      const OuterBond bond(place + lane(), first + lane(), axis);
      count = lists[warp].add(count, leaving >> lane() & 1, bond.bits, unite_ends);
    }
    log_stride += log;
  }
  const int width = 1 << tiles.log[kRowAxis], left = int(lattice.length[kRowAxis]) - tile.begin[kRowAxis];
  const int last = (left < width ? left : width) - 1;
  for (int first = warp * kWarp; first < tiles.box.rows; first += warps * kWarp) {
    const int row = first + lane(), place = row * width + last;
    bool leaves = row < tiles.box.rows;
    if (leaves) {
      const WordOfTile<axes> word(tile, place / kWarp);
      leaves = word.is_there && __ldg(bonds + (axes - 1) * of_axis + word.number) >> last % kWarp & 1;
    }
    count = lists[warp].add(count, leaves, OuterBond(place, row * width, kRowAxis).bits, unite_ends);
  }
  lists[warp].finish(count, unite_ends);
}

// A block a tile. Dynamic shared memory: lists, roots' digits by word and plane, places of words.
template <int axes>
__global__ void __launch_bounds__(kMostTileThreads, kFlippingBlocks) flip_rows(Replicas replicas,
    SpinTiles tiles, const Bits64* __restrict__ coins_of_all, const Place* __restrict__ label,
    const Bits32* __restrict__ marks, const int32_t* forest, Bits64* __restrict__ new_spins) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(uint32_t, shared);
  const Lattice& lattice = replicas.lattice;
  const TilePlace<axes> tile(tiles, lattice, int(blockIdx.x));
  const int words = tiles.words(), thread = int(threadIdx.x), threads = int(blockDim.x),
            planes = lattice.planes;
  const Draws draws{replicas.seed, Bits64(replicas.first + tile.replica), replicas.step};
  const bool has_coins = coins_of_all != nullptr;
  const Bits32* const coins = tile.of_replica(coins_of_all, coin_words(lattice));
  forest += tile.replica * lattice.sites();
  label += tile.first_place();
  marks += tile.first_word();
  Bits32* const spins = reinterpret_cast<Bits32*>(new_spins + tile.replica * replicas.words_of_states());
  TasksOfWarp<int>& list = reinterpret_cast<TasksOfWarp<int>*>(shared)[thread / kWarp];
  Bits32* const digits = shared + threads / kWarp * 2 * kWarp;
  int32_t* const place_in_plane =
      reinterpret_cast<int32_t*>(digits + planes * words);  // of words; -1 if none

  // Draws the state of a root, whose digits are 0; a root that is not marked has its coin as a digit already.
  int count = 0;
  const auto set_state = [&](int place, bool exists) {
    if (!exists) return;
    int32_t site = tile.site_of(place);
    const Bits32 bit = Bits32(1) << place % kWarp;
    if (has_coins || marks[place / kWarp] & bit)
      site = find<Concurrent, Jump::kNone>(const_cast<int32_t*>(forest), site);
    const int state = has_coins ? int(__ldg(coins + site / kWarp) >> site % kWarp & 1)
                                : draw_one_of_several(draws, site, lattice.states);
    for (int k = 0; k < planes; ++k)
      if (state >> k & 1) InBlock::fetch_or(digits + k * words + place / kWarp, bit);
  };
  for (int at = thread; at < words; at += threads) {
    const WordOfTile<axes> word(tile, at);
    place_in_plane[at] = word.is_there ? int32_t(word.number) : -1;
    const Bits32 of_sites =
        has_coins ? bits_from(coins, 2 * int(coin_words(lattice)), tile.site_of(at * kWarp)) : 0;
    for (int k = 0; k < planes; ++k) digits[k * words + at] = of_sites & ~marks[at];
  }
  __syncthreads();
  for (int first = thread - lane(); first < words; first += threads) {
    const int word = first + lane();
    if (has_coins) {
      for (Bits32 marked = word < words ? marks[word] : 0; __any_sync(kAllLanes, marked != 0);
          marked &= marked - 1)
        count = list.add(count, marked != 0, word * kWarp + __ffs(int(marked)) - 1, set_state);
    } else {
      for (int k = 0; k < kWarp; ++k) {
        const int place = (first + k) * kWarp + lane();
        count = list.add(count, first + k < words && label[place] == place, place, set_state);
      }
    }
  }
  list.finish(count, set_state);
  __syncthreads();
  const int left_in_row = int(lattice.length[kRowAxis]) - tile.begin[kRowAxis];
  for (int group = thread; group < words * kGroups; group += threads) {
    const PlacesOfGroup roots = reinterpret_cast<const PairsOfPlaces*>(label)[group];
    const int word = group / kGroups, number = place_in_plane[word];
    const int left = left_in_row - (word & (tiles.box.columns - 1)) * kWarp - group % kGroups * kGroup;
    if (number < 0 || left <= 0) continue;
    const Bits32 inside = left < kGroup ? (Bits32(1) << left) - 1 : (1 << kGroup) - 1;
    uint8_t* const byte = reinterpret_cast<uint8_t*>(spins + number) + group % kGroups;
#pragma unroll 1
    for (int k = 0; k < planes; ++k)
      Concurrent::store(byte + k * lattice.words() * int64_t(sizeof(Bits64)),
          uint8_t(roots.bits_in(digits + k * words) & inside));
  }
}

}
