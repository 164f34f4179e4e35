// A Swendsen-Wang update of spins as bits, by the stages of the default for arrays and without labels:
// link_words rearranges bonds, sites or phases into words of links of bricks; label_tiles and join_links are
// those of arrays; measure_tiles, join_sizes and sum_sizes measure clusters, if wanted; flip_bricks follows
// the entries of a brick's components to their roots, whose random numbers give new states. A site of Ising
// spins: bonds and links 2 bits each, written and read; spins 1 bit read and written; entries 4 bytes,
// touched at first sites of components.
#pragma once

#include "cuda/grid/tiled_bricks.cuh"
#include "cuda/models/spins.cuh"

namespace conncomp {

// The rows of a brick in the words of a replica: row k, a line along axis 0, lies in one word.
template <int axes> struct BrickRows {
  using B = Brick<axes>;
  static constexpr int kRows = kBits / B::kSide;
  static constexpr Bits kRow = B::kSide == kBits ? ~Bits(0) : (Bits(1) << B::kSide % kBits) - 1;

  const Lattice& lattice;
  int64_t at[3];       // of the first site, from the last axis
  int64_t first_word;  // of a plane
  int shift;           // of the first site in it
  int height, depth;   // how many lines are in the lattice

  template <class Tiles>
  BrickRows(const Tiles&, const Lattice& spin_lattice, const auto& first) : lattice(spin_lattice), at{} {
#pragma unroll
    for (int k = 0; k < Tiles::kRank; ++k) at[Tiles::kRank - 1 - k] = first.at[k];
    first_word = row(0) * lattice.columns() + at[0] / kWordSites;
    shift = int(at[0] % kWordSites);
    height = inside(lines(1) - at[1]);
    depth = inside(lines(2) - at[2]);
  }
  static int inside(int64_t to_end) { return to_end > B::kSide ? B::kSide : to_end < 0 ? 0 : int(to_end); }
  int64_t lines(int a) const { return lattice.length[kRowAxis - a]; }
  int64_t row(int k) const {
    constexpr int kHeight = axes < 2 ? 1 : B::kSide;
    return (at[2] + k / kHeight) * lines(1) + at[1] + k % kHeight;
  }
  // How many words neighbouring lines along an axis are apart.
  int64_t stride(int a) const { return a == 1 ? lattice.columns() : lines(1) * lattice.columns(); }

  // Calls body(k, word of the row from the first one's) for the rows that are in the lattice.
  void for_each_row(auto&& body) const {
    constexpr int kHeight = axes < 2 ? 1 : B::kSide, kDepth = axes < 3 ? 1 : B::kSide;
#pragma unroll
    for (int z = 0; z < kDepth; ++z)
#pragma unroll
      for (int y = 0; y < kHeight; ++y)
        if ((axes < 2 || y < height) && (axes < 3 || z < depth))
          body(z * kHeight + y, z * (axes < 3 ? 0 : stride(2)) + y * lattice.columns());
  }
  Bits bits_of(const Bits64* plane) const {
    const Bits64* const first = plane + first_word;
    Bits bits = 0;
    for_each_row(
        [&](int k, int64_t word) { bits |= (__ldg(first + word) >> shift & kRow) << k * B::kSide % kBits; });
    return bits;
  }
  // For each site, the bit of the one before it along its row.
  Bits before_in_row(const Bits64* plane) const {
    const Bits64* const first = plane + first_word;
    // Where a row begins with a word, the bit before is the last one of the word before, or of the row.
    const bool begins_row = at[0] == 0;
    const int64_t before = begins_row ? (lattice.length[kRowAxis] - 1) / kWordSites : -1;
    const int bit = begins_row ? int((lattice.length[kRowAxis] - 1) % kWordSites) : kWordSites - 1;
    Bits bits = 0;
    for_each_row([&](int k, int64_t word) {
      const Bits word_bits = __ldg(first + word);
      const Bits row_bits =
          shift > 0 ? word_bits >> (shift - 1) : word_bits << 1 | (__ldg(first + word + before) >> bit & 1);
      bits |= (row_bits & kRow) << k * B::kSide % kBits;
    });
    return bits;
  }
  // The same along axis 1 or 2, which is the one of the row before.
  Bits before_across(const Bits64* plane, int a) const {
    const int64_t back = -stride(a), wrapped = (lines(a) - 1) * stride(a);
    const Bits64* const first = plane + first_word;
    Bits bits = 0;
    for_each_row([&](int k, int64_t word) {
      const bool wraps = at[a] == 0 && (a == 1 ? k % B::kSide : k / B::kSide) == 0;
      bits |= (__ldg(first + word + (wraps ? wrapped : back)) >> shift & kRow) << k * B::kSide % kBits;
    });
    return bits;
  }
};

// Words of a configuration: bonds, a plane for each axis; occupied sites; or phases of sites, of which equal
// ones link.
enum class Words { kBonds, kSites, kPhases };

template <Words kind, class Rows>
Bits links_along(const Rows& rows, int a, const Bits64* planes, int axes, Bits foreground) {
  const Lattice& lattice = rows.lattice;
  const Bits64* const plane = kind == Words::kBonds ? planes + (axes - 1 - a) * lattice.words() : planes;
  Bits linked = a == 0 ? rows.before_in_row(plane) : rows.before_across(plane, a);
  if constexpr (kind == Words::kPhases) linked = ~(linked ^ rows.bits_of(plane));
  // Bonds over an open end are 0.
  if (kind != Words::kBonds && rows.at[a] == 0 && !lattice.closes(kRowAxis - a))
    linked &= ~Rows::B::layer(a, 0);
  return linked & foreground;
}

// As link_bricks.cuh: t - t' implies e - e', where t is linked to e and t' to e'.
template <class Tiles> Bits needed_along(int a, const Bits (&linked)[Tiles::kAxes]) {
  using B = typename Tiles::B;
  const Bits across = linked[a] & B::layer(a, 0);
  Bits made_up_for = 0;
#pragma unroll
  for (int beside = 0; beside < Tiles::kAxes; ++beside)
    if (beside != a) made_up_for |= across & B::ahead(across, beside) & linked[beside];
  return linked[a] & ~made_up_for;
}

// Calls body(number, item, elements that are inside, rows) for all bricks, each by a thread.
template <class Index, class Tiles>
void for_each_brick(const Tiles& tiles, const Lattice& lattice, const BrickTable& table, auto&& body) {
  for (int64_t number = grid_thread(); number < table.bricks; number += grid_threads()) {
    const uint32_t tile = uint32_t(number >> tiles.log_parts());
    const auto first =
        tiles.first_of(tiles.template corner_of<Index>(tile), int(number & (tiles.parts() - 1)));
    body(number, int64_t(tiles.item_of(tile)), tiles.inside(first),
        BrickRows<Tiles::kAxes>(tiles, lattice, first));
  }
}

template <class Tiles, class Index, Words kind = Words::kBonds>
__global__ void __launch_bounds__(kLinkThreads)
    link_words(Tiles tiles, Replicas replicas, const Bits64* __restrict__ words, BrickTable table) {
  follow_launch();
  using B = typename Tiles::B;
  const Lattice& lattice = replicas.lattice;
  const int64_t of_item = (kind == Words::kBonds ? replicas.axes : 1) * lattice.words();
  for_each_brick<Index>(tiles, lattice, table, [&](int64_t number, int64_t item, Bits inside, auto&& rows) {
    const Bits64* const planes = words + item * of_item;
    Bits foreground = inside;
    if (kind == Words::kSites && inside != 0) foreground &= rows.bits_of(planes);
    table.foreground[number] = foreground;
    Bits linked[Tiles::kAxes] = {};
#pragma unroll
    for (int a = 0; a < Tiles::kAxes; ++a)
      if (foreground != 0) linked[a] = links_along<kind>(rows, a, planes, replicas.axes, foreground);
    Bits* word = table.links + number;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step) {
      if (B::moves(step) > 1 || !tiles.has_step(step)) continue;
      const int a = B::highest_axis(step);
      *word = kind == Words::kBonds ? linked[a] : needed_along<Tiles>(a, linked);
      word += table.bricks;
    }
  });
}

// Writes a brick's rows to a plane; all lanes call, as half a byte is the lane beside's.
template <int axes> void write_rows(const BrickRows<axes>& rows, bool writes, Bits bits, Bits64* plane) {
  using B = Brick<axes>;
  Bits64* const first = plane + rows.first_word;
  if constexpr (axes == 1) {
    if (writes) *first = bits;
    return;
  }
  Bits beside = 0;
  if constexpr (axes == 3) {
    beside = __shfl_xor_sync(kAllLanes, bits, 1);
    writes |= bool(__shfl_xor_sync(kAllLanes, int(writes), 1));
  }
  const bool second = axes == 3 && rows.shift % 8 != 0;
  if (!writes) return;
  uint8_t* const first_byte = reinterpret_cast<uint8_t*>(first) + rows.shift / 8;
  rows.for_each_row([&](int k, int64_t word) {
    if (axes == 3 && (k & 1) != int(second)) return;  // of two bricks, each writes every other row
    const auto row_of = [&](Bits brick) {
      return uint32_t(brick >> k * B::kSide % kBits & BrickRows<axes>::kRow);
    };
    uint32_t byte = row_of(bits);
    if constexpr (axes == 3) byte = second ? byte << 4 | row_of(beside) : byte | row_of(beside) << 4;
    Concurrent::store(first_byte + word * int64_t(sizeof(Bits64)), uint8_t(byte));
  });
}

// The node of an element of a tile, given how far it is from the first one in the array.
template <class Tiles, class Index> int node_at(const Tiles& tiles, Index distance) {
  int node = 0;
#pragma unroll
  for (int a = Tiles::kAxes - 1; a > 0; --a) {
    const Index along = distance / Index(tiles.axis(a).index_stride);
    distance -= along * Index(tiles.axis(a).index_stride);
    node |= int(along) << tiles.shift(a);
  }
  return node | int(distance);
}

// The phases of a brick's sites, if sizes are summed for each of them.
template <class Sums, class Tiles>
Bits phases_of(const Tiles& tiles, const Lattice& lattice, const auto& corner, int brick, int64_t item,
    const Bits64* words) {
  if constexpr (!Sums::kByPhase) return 0;
  const auto first = tiles.first_of(corner, brick);
  if (tiles.inside(first) == 0) return 0;
  return BrickRows<Tiles::kAxes>(tiles, lattice, first).bits_of(words + item * lattice.words());
}

// A histogram of sizes, by powers of two, in the shared memory of a block; all threads begin it.
template <int classes> struct SizeClasses {
  uint32_t* counts;

  void begin_block() {
    __shared__ uint32_t of_block[classes];
    counts = of_block;
    for (int k = int(threadIdx.x); k < classes; k += int(blockDim.x)) of_block[k] = 0;
    __syncthreads();
  }
  void count(Bits64 size, int first = 0) {
    InBlock::fetch_add(counts + first + (63 - __clzll((long long)size)), 1u);
  }
};

// Measures the clusters within a tile, a block each; of others, sets `size` at the tile's root. Dynamic
// shared memory: 4 bytes a site.
template <class Tiles, class Index, class Sums = SizeSums>
__global__ void __launch_bounds__(Tiles::kThreads)
    measure_tiles(Tiles tiles, Replicas replicas, const Bits64* __restrict__ words,
        const Index* __restrict__ label, BrickTable table, Index* __restrict__ size, Records records) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(uint32_t, sites_of_root);
  __shared__ WarpList list_of_warp[Tiles::kThreads / kWarp];
  const int brick = int(threadIdx.x), first_of_warp = brick - lane();
  for (int node = brick; node < tiles.parts() * kBits; node += int(blockDim.x)) sites_of_root[node] = 0;
  const int64_t item = tiles.item_of(blockIdx.x), first_of_item = item * tiles.grid.cells_of_item();
  label += first_of_item;
  size += first_of_item;
  const int64_t bricks_before = int64_t(blockIdx.x) * tiles.parts(), number = bricks_before + brick;
  const auto corner = tiles.template corner_of<Index>(blockIdx.x);
  Sums sums{};
  sums.begin_block();
  __syncthreads();
  const FirstDigits digits = table.first_digits(number);
  list_of_warp[brick / kWarp].for_each_component([&](auto&& use) { use(digits); },
      __ldg(table.foreground + number), kBits, [](Bits, int) {},
      [&](Bits component, int lane_of_brick, int, bool) {
        if (component == 0) return;
        const int owner = first_of_warp + lane_of_brick, bit = lowest(component);
        int node = tiles.node_of(owner, bit);
        if (!(__ldg(table.settled + bricks_before + owner) >> bit & 1)) {
          const Index root = label[corner.index + tiles.template index_of_node<Index>(node)];
          node = node_at(tiles, Index((root < 0 ? Index(~root) : root) - corner.index));
        }
        InBlock::fetch_add(sites_of_root + node, uint32_t(__popcll(component)));
      });
  __syncthreads();
  const Bits phases = phases_of<Sums>(tiles, replicas.lattice, corner, brick, item, words);
  for (Bits roots = __ldg(table.settled + number); roots != 0; roots &= roots - 1) {
    const int bit = lowest(roots);
    sums.add(sites_of_root[tiles.node_of(brick, bit)], phases >> bit & 1);
  }
  for (Bits roots = __ldg(table.roots + number); roots != 0; roots &= roots - 1) {
    const int node = tiles.node_of(brick, lowest(roots));
    size[corner.index + tiles.template index_of_node<Index>(node)] = Index(sites_of_root[node]);
  }
  sums.add_block(records, item);
}

// Calls body(index in the item, bit) for the tile roots in a brick of clusters that reach the tile's border.
template <class Index>
void for_each_root(const auto& tiles, const BrickTable& table, int64_t number, auto&& body) {
  Bits roots = __ldg(table.roots + number);
  if (roots == 0) return;
  const auto corner = tiles.template corner_of<Index>(uint32_t(number >> tiles.log_parts()));
  const auto first = tiles.first_of(corner, int(number & (tiles.parts() - 1)));
  for (; roots != 0; roots &= roots - 1)
    body(Index(first.index + tiles.template distance<Index>(lowest(roots))), lowest(roots));
}

template <class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads)
    join_sizes(Tiles tiles, Index* __restrict__ label, BrickTable table, Index* size) {
  follow_launch();
  for (int64_t number = grid_thread(); number < table.bricks; number += grid_threads()) {
    const int64_t first_of_item =
        tiles.item_of(uint32_t(number >> tiles.log_parts())) * tiles.grid.cells_of_item();
    for_each_root<Index>(tiles, table, number, [&](Index index, int) {
      const Index root = follow_entry<false>(label + first_of_item, index).root;
      if (root != index)
        Concurrent::fetch_add(size + first_of_item + root, Concurrent::load(size + first_of_item + index));
    });
  }
}
// Measures the clusters that reach borders of tiles. A block a tile.
template <class Tiles, class Index, class Sums = SizeSums>
__global__ void __launch_bounds__(Tiles::kThreads)
    sum_sizes(Tiles tiles, Replicas replicas, const Bits64* __restrict__ words,
        const Index* __restrict__ label, BrickTable table, const Index* __restrict__ size, Records records) {
  follow_launch();
  const int64_t item = tiles.item_of(blockIdx.x), first_of_item = item * tiles.grid.cells_of_item();
  const int brick = int(threadIdx.x);
  const auto corner = tiles.template corner_of<Index>(blockIdx.x);
  const Bits phases = phases_of<Sums>(tiles, replicas.lattice, corner, brick, item, words);
  Sums sums{};
  sums.begin_block();
  for_each_root<Index>(tiles, table, int64_t(blockIdx.x) * tiles.parts() + brick, [&](Index index, int bit) {
    if (label[first_of_item + index] == index)
      sums.add(Bits64(size[first_of_item + index]), phases >> bit & 1);
  });
  if (__syncthreads_or(sums.any())) sums.add_block(records, item);
}

// The coins of a brick's sites.
template <int axes> Bits coins_of_brick(const Bits64* coins, const BrickRows<axes>& rows) {
  const int64_t length = rows.lattice.length[kRowAxis];
  if (length % kWordSites == 0) return rows.bits_of(coins);  // then they lie as spins do
  constexpr int kSide = Brick<axes>::kSide;
  Bits bits = 0;
  rows.for_each_row([&](int k, int64_t) {
    const int64_t site = rows.row(k) * length + rows.at[0];
    const int shift = int(site % kWordSites);
    const Bits64* const first = coins + site / kWordSites;
    Bits row_bits = __ldg(first) >> shift;
    // The sites of the row go on in the next word, unless the lattice ends.
    if (shift + kSide > kWordSites && site / kWordSites + 1 < coin_words(rows.lattice))
      row_bits |= __ldg(first + 1) << (kWordSites - shift);
    bits |= (row_bits & BrickRows<axes>::kRow) << k * kSide % kBits;
  });
  return bits;
}

// A block a tile. Dynamic shared memory: a word for each brick and plane.
template <class Tiles, class Index, int most_moves = 1>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 8 : 3)
    flip_bricks(Tiles tiles, Replicas replicas, const Bits64* __restrict__ coins, Index* __restrict__ label,
        BrickTable table, Bits64* __restrict__ new_spins) {
  follow_launch();
  constexpr int kAxes = Tiles::kAxes, kThreads = Tiles::kThreads;
  CONNCOMP_DYNAMIC_SHARED(uint32_t, digits);  // of the new states: two words for each brick and plane
  __shared__ WarpList list_of_warp[kThreads / kWarp];
  const Lattice& lattice = replicas.lattice;
  const int brick = int(threadIdx.x), first_of_warp = brick - lane(), planes = lattice.planes;
  const int64_t item = tiles.item_of(blockIdx.x);
  const bool has_coins = coins != nullptr;  // as q is 2
  if (has_coins) coins += item * coin_words(lattice);
  const Draws draws{replicas.seed, Bits64(replicas.first + item), replicas.step};
  label += item * lattice.sites();
  new_spins += item * replicas.words_of_states();
  const int64_t bricks_before = int64_t(blockIdx.x) * tiles.parts(), number = bricks_before + brick;
  const auto corner = tiles.template corner_of<Index>(blockIdx.x);
  const auto first = tiles.first_of(corner, brick);
  const Bits inside = tiles.inside(first);
  const BrickRows<kAxes> rows(tiles, lattice, first);
  Bits single = 0, single_states = 0;
  if (has_coins && inside != 0) {
    const auto links = links_of_brick(GivenLinks<most_moves>{}, tiles, table,
        static_cast<const uint8_t*>(nullptr), first, number, inside, inside, Comparison::kValues);
    single = inside & ~links.with_neighbour() & __ldg(table.settled + number);
    single_states = single & coins_of_brick(coins, rows);
  }
  for (int k = 0; k < planes; ++k) {
    digits[2 * (planes * brick + k)] = uint32_t(single_states);
    digits[2 * (planes * brick + k) + 1] = uint32_t(single_states >> 32);
  }
  __syncwarp();
  const FirstDigits first_digits = table.first_digits(number);
  list_of_warp[brick / kWarp].for_each_component([&](auto&& use) { use(first_digits); }, inside & ~single,
      kBits, [](Bits, int) {},
      [&](Bits component, int lane_of_brick, int, bool) {
        if (component == 0) return;
        const int owner = first_of_warp + lane_of_brick, bit = lowest(component);
        const Index entry = corner.index + tiles.template index_of_node<Index>(tiles.node_of(owner, bit));
        Index root = entry;
        if (!(__ldg(table.settled + bricks_before + owner) >> bit & 1))
          root = follow_entry<false>(label, entry).root;
        const int state = has_coins ? int(__ldg(coins + root / kWordSites) >> root % kWordSites & 1)
                                    : draw_one_of_several(draws, root, lattice.states);
        for (int k = 0; k < planes; ++k)
          if (state >> k & 1) {
            uint32_t* const words = digits + 2 * (planes * owner + k);
            InBlock::fetch_or(words, uint32_t(component));
            InBlock::fetch_or(words + 1, uint32_t(component >> 32));
          }
      });
  __syncwarp();
  for (int k = 0; k < planes; ++k) {
    const uint32_t* const words = digits + 2 * (planes * brick + k);
    write_rows<kAxes>(rows, inside != 0, words[0] | Bits(words[1]) << 32, new_spins + k * lattice.words());
  }
}

}
