// A Swendsen-Wang update of spins as bits, by the stages of the default for arrays and without labels.
//
//   link_words    bonds, which lie in rows of words, as the words of links that bricks take (link_bricks.cuh)
//   label_tiles, join_links    as for arrays: of each component of a brick, an entry that leads to its root
//   flip_bricks   each thread finds the components of its brick again, follows their entries to the roots,
//                 and writes the new states of all its sites, which follow from a random number of the root
//
// Bytes a site, for Ising spins: bonds and links 2 bits each, written and read; spins 1 bit read and written;
// entries 4 bytes, of which those at first elements of components are touched.
#pragma once

#include "cuda/grid/tiled_bricks.cuh"
#include "cuda/models/spins.cuh"

namespace conncomp {

// The rows of a brick among the rows of words of a replica: brick row k is a line of the brick along axis 0.
template <int axes>
struct BrickRows {
  using B = Brick<axes>;
  static constexpr int kRows = kBits / B::kSide;
  static constexpr Bits kRow = B::kSide == kBits ? ~Bits(0) : (Bits(1) << B::kSide % kBits) - 1;

  const Lattice& lattice;
  int64_t row, x;  // of the first site
  int64_t at[3];   // the same, as coordinates, from the last axis

  template <class Tiles, class Index>
  __device__ BrickRows(const Tiles&, const Lattice& of_lattice, const Cell<Tiles::kRank, Index>& first)
      : lattice(of_lattice), row(0), at{} {
    for (int k = 0; k < Tiles::kRank; ++k) at[Tiles::kRank - 1 - k] = first.at[k];
    x = at[0];
    row = at[2] * lattice.length[kRowAxis - 1] + at[1];
  }
  __device__ static int y_of(int k) { return axes < 2 ? 0 : k % B::kSide; }
  __device__ static int z_of(int k) { return axes < 3 ? 0 : k / B::kSide; }
  __device__ int64_t row_of(int y, int z) const { return row + z * lattice.length[kRowAxis - 1] + y; }
  __device__ bool has_row(int k) const {
    return (axes < 2 || at[1] + y_of(k) < lattice.length[kRowAxis - 1]) &&
           (axes < 3 || at[2] + z_of(k) < lattice.length[kRowAxis - 2]);
  }
  // The bits of a row from site x on, of which those beyond the row are 0.
  __device__ Bits segment(const Bits64* plane, int64_t of_row) const {
    return plane[of_row * lattice.columns() + x / kWordSites] >> x % kWordSites & kRow;
  }
  // The bits of the sites before those, along the row.
  __device__ Bits segment_before(const Bits64* plane, int64_t of_row) const {
    const Bits64* const words = plane + of_row * lattice.columns();
    const int64_t before = (x > 0 ? x : lattice.length[kRowAxis]) - 1;
    const Bits first = words[before / kWordSites] >> before % kWordSites & 1;
    return (segment(plane, of_row) << 1 | first) & kRow;
  }
  // For each site, the bit of the one before it along axis `a`.
  __device__ Bits before_along(const Bits64* plane, int a) const {
    Bits bits = 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      if (!has_row(k)) continue;
      int y = y_of(k), z = z_of(k);
      if (a == 1 && --y + at[1] < 0) y += int(lattice.length[kRowAxis - 1]);
      if (a == 2 && --z + at[2] < 0) z += int(lattice.length[kRowAxis - 2]);
      const Bits of_row = a == 0 ? segment_before(plane, row_of(y, z)) : segment(plane, row_of(y, z));
      bits |= of_row << k * B::kSide % kBits;
    }
    return bits;
  }
};

template <class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads)
    link_words(Tiles tiles, Replicas replicas, const Bits64* __restrict__ bonds, BrickTable table) {
  using B = typename Tiles::B;
  const Lattice& lattice = replicas.lattice;
  for (int64_t number = grid_thread(); number < table.bricks; number += grid_threads()) {
    const uint32_t tile = uint32_t(number >> tiles.log_parts());
    const auto first =
        tiles.first_of(tiles.template corner_of<Index>(tile), int(number & (tiles.parts() - 1)));
    const Bits inside = tiles.inside(first);
    const BrickRows<Tiles::kAxes> rows(tiles, lattice, first);
    const Bits64* const planes = bonds + tiles.item_of(tile) * replicas.axes * lattice.words();
    table.foreground[number] = inside;
    Bits* word = table.links + number;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step) {
      if (B::moves(step) > 1 || !tiles.has_step(step)) continue;
      const int a = B::highest_axis(step);
      *word =
          inside == 0 ? 0 : inside & rows.before_along(planes + (replicas.axes - 1 - a) * lattice.words(), a);
      word += table.bricks;
    }
  }
}

// Writes rows of a brick to a plane of words. A row of four sites is half a byte, which the lane beside has
// the other half of; all lanes call together.
template <int axes>
__device__ inline void write_rows(const BrickRows<axes>& rows, bool writes, Bits bits, Bits64* plane) {
  using Rows = BrickRows<axes>;
  using B = Brick<axes>;
  if constexpr (axes == 1) {
    if (writes) plane[rows.row * rows.lattice.columns() + rows.x / kWordSites] = bits;
  } else {
    Bits beside = 0;
    if constexpr (axes == 3) {
      beside = __shfl_xor_sync(kAllLanes, bits, 1);
      writes |= bool(__shfl_xor_sync(kAllLanes, int(writes), 1));
    }
    const bool second = axes == 3 && rows.x % 8 != 0;
    if (!writes) return;
#pragma unroll
    for (int k = 0; k < Rows::kRows; ++k) {
      // Of two bricks, each writes every other row.
      if ((axes == 3 && (k & 1) != int(second)) || !rows.has_row(k)) continue;
      uint32_t byte = uint32_t(bits >> k * B::kSide & Rows::kRow);
      if constexpr (axes == 3) {
        const uint32_t other = uint32_t(beside >> k * B::kSide & Rows::kRow);
        byte = second ? byte << 4 | other : byte | other << 4;
      }
      const int64_t word = rows.row_of(Rows::y_of(k), Rows::z_of(k)) * rows.lattice.columns();
      Shared::store(reinterpret_cast<uint8_t*>(plane + word) + rows.x / 8, uint8_t(byte));
    }
  }
}

// A block a tile. Dynamic shared memory: a word for each brick and plane.
template <class Tiles, class Index>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kRank < 3 ? 8 : 3)
    flip_bricks(Tiles tiles, Replicas replicas, Index* __restrict__ label, BrickTable table,
                Bits64* __restrict__ new_spins) {
  constexpr int kAxes = Tiles::kAxes, kThreads = Tiles::kThreads;
  CONNCOMP_DYNAMIC_SHARED(uint32_t, digits);  // of the new states: two words for each brick and plane
  __shared__ WarpList list_of_warp[kThreads / kWarp];
  const Lattice& lattice = replicas.lattice;
  const int brick = int(threadIdx.x), first_of_warp = brick - lane(), planes = lattice.planes;
  const int64_t item = tiles.item_of(blockIdx.x);
  const Draws draws{replicas.seed, Bits64(replicas.first + item), replicas.step};
  label += item * lattice.sites();
  new_spins += item * replicas.words_of_states();
  const int64_t bricks_before = int64_t(blockIdx.x) * tiles.parts();
  const auto corner = tiles.template corner_of<Index>(blockIdx.x);
  const auto first = tiles.first_of(corner, brick);
  const Bits inside = tiles.inside(first);
  const auto links = links_of_brick(GivenLinks<1>{}, tiles, table, static_cast<const uint8_t*>(nullptr),
                                    first, bricks_before + brick, inside, inside, true);
  for (int k = 0; k < 2 * planes; ++k) digits[2 * planes * brick + k] = 0;
  __syncwarp();
  list_of_warp[brick / kWarp].for_each_component(
      links, inside, kBits, [](Bits, int) {},
      [&](Bits component, int lane_of_brick, int) {
        if (component == 0) return;
        const int owner = first_of_warp + lane_of_brick, bit = lowest(component);
        const Index entry = corner.index + tiles.template index_of_node<Index>(tiles.node_of(owner, bit));
        Index root = entry;
        if (!(__ldg(table.settled + bricks_before + owner) >> bit & 1))
          root = follow_entry<false>(label, entry).root;
        const int state = draw_cluster(draws, root).any_state(lattice.states);
        for (int k = 0; k < planes; ++k)
          if (state >> k & 1) {
            uint32_t* const words = digits + 2 * (planes * owner + k);
            InBlock::fetch_or(words, uint32_t(component));
            InBlock::fetch_or(words + 1, uint32_t(component >> 32));
          }
      });
  __syncwarp();
  const BrickRows<kAxes> rows(tiles, lattice, first);
  for (int k = 0; k < planes; ++k) {
    const uint32_t* const words = digits + 2 * (planes * brick + k);
    write_rows<kAxes>(rows, inside != 0, words[0] | Bits(words[1]) << 32, new_spins + k * lattice.words());
  }
}

}  // namespace conncomp
