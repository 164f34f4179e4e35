// Prototype: volumes of bytes whose elements touch at faces, by runs of tiles in shared memory.
#pragma once

#include "core/links.h"
#include "core/union_find.h"
#include "cuda/core/scan.cuh"
#include "cuda/grid/word_bytes.cuh"
#include "cuda/grid/row_tiles.cuh"

namespace conncomp {

struct VolumeShape {
  int64_t value_stride[3];
  int32_t length[3], tiles[2];
  int32_t words_of_row;
};

struct alignas(16) FourWords {
  uint32_t word[4];
};
struct alignas(16) FourLabels {
  int32_t label[4];
};

struct VolumeTile {
  static constexpr int kLog[3] = {6, 4, 4};
  static constexpr int kWordsLog = 1;  // of a row
  static constexpr int kWords = 512, kThreads = 512;
  CONNCOMP_ANYWHERE static constexpr int side(int a) { return 1 << kLog[a]; }
  const VolumeShape& shape;
  int corner[3];

  __device__ VolumeTile(const VolumeShape& shape, uint32_t tile) : shape(shape) {
    const uint32_t row = tile / uint32_t(shape.tiles[0]);
    corner[0] = int(tile - row * uint32_t(shape.tiles[0])) << kLog[0];
    const uint32_t plane = row / uint32_t(shape.tiles[1]);
    corner[1] = int(row - plane * uint32_t(shape.tiles[1])) << kLog[1];
    corner[2] = int(plane) << kLog[2];
  }
  __device__ int length(int a) const {
    const int left = shape.length[a] - corner[a];
    return left < side(a) ? left : side(a);
  }
  __device__ int32_t index(int x, int y, int z) const {
    return ((corner[2] + z) * shape.length[1] + corner[1] + y) * shape.length[0] + corner[0] + x;
  }
  __device__ int32_t index_of_place(int place) const {
    return index(place & (side(0) - 1), place >> kLog[0] & (side(1) - 1), place >> (kLog[0] + kLog[1]));
  }
  template <class Value>
  __device__ const Value* at(const Value* values, int x, int y, int z) const {
    return values + (corner[0] + x) * shape.value_stride[0] + (corner[1] + y) * shape.value_stride[1] +
           (corner[2] + z) * shape.value_stride[2];
  }
};

struct VolumeMemory {
  static constexpr int kWords = VolumeTile::kWords;
  uint32_t foreground[kWords], starts[kWords];
  uint16_t before[kWords];
  uint32_t contacts[2][kWords];
  uint32_t any_value;
  uint32_t parent[kWords * kWarp / 2];
};

struct VolumeLabelling {
  using Tile = VolumeTile;
  static constexpr uint32_t kIsRoot = 1u << 31, kReaching = 1u << 30, kPlace = (1 << 14) - 1;
  static constexpr int kRow = 1 << Tile::kWordsLog, kPlane = kRow << Tile::kLog[1];  // in words
  const Background<uint8_t>& background;
  const uint8_t* values;
  Tile tile;
  VolumeMemory& memory;
  bool is_mixed;

  __device__ static int word_x(int word) { return word & (kRow - 1); }
  __device__ static int row(int word) { return word >> Tile::kWordsLog & (Tile::side(1) - 1); }
  __device__ static int plane(int word) { return word >> (Tile::kWordsLog + Tile::kLog[1]); }
  __device__ bool exists(int word) const {
    return word_x(word) * kWarp < tile.length(0) && row(word) < tile.length(1) && plane(word) < tile.length(2);
  }

  __device__ uint32_t read(int word, uint32_t& any, uint32_t& all) const {
    if (!exists(word)) return 0;
    const int left = tile.length(0) - word_x(word) * kWarp;
    const uint8_t* const at = tile.at(values, word_x(word) * kWarp, row(word), plane(word));
    const int64_t stride = tile.shape.value_stride[0];
    uint32_t bytes[8];
    if (stride == 1 && left >= kWarp && reinterpret_cast<size_t>(at) % 16 == 0) {
      const auto* const loaded = reinterpret_cast<const FourWords*>(at);
      const FourWords low = loaded[0], high = loaded[1];
#pragma unroll
      for (int k = 0; k < 4; ++k) bytes[k] = low.word[k], bytes[k + 4] = high.word[k];
    } else {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        bytes[k] = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (4 * k + j < left) bytes[k] |= uint32_t(at[int64_t(4 * k + j) * stride]) << 8 * j;
      }
    }
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      uint32_t kept = background.present ? bytes_set(bytes[k] ^ background.value * kEachByte) : 0x80808080u;
      const int after = 4 * k + 4 - left;
      if (after > 0) kept = after < 4 ? kept & (~0u >> 8 * after) : 0;
      elements |= uint32_t(bits_of_bytes(kept)) << 4 * k;
      const uint32_t whole = (kept >> 7) * 255;
      any |= bytes[k] & whole, all &= bytes[k] | ~whole;
    }
    return elements;
  }
  __device__ uint32_t alike(uint32_t elements, int word, int64_t ahead) const {
    if (!is_mixed) return elements;
    const uint8_t* const own = tile.at(values, word_x(word) * kWarp, row(word), plane(word));
    uint32_t like = 0;
#pragma unroll 1
    for (uint32_t left = elements; left != 0; left &= left - 1) {
      const uint8_t* const value = own + (__ffs(int(left)) - 1) * tile.shape.value_stride[0];
      if (value[0] == value[ahead]) like |= left & (0 - left);
    }
    return like;
  }
  __device__ uint32_t starts_of(int word) const {
    const uint32_t own = memory.foreground[word];
    const uint32_t left = own << 1 | (word_x(word) > 0 ? memory.foreground[word - 1] >> 31 : 0);
    return own & ~alike(own & left, word, -tile.shape.value_stride[0]);
  }
  // Contacts with a row so many words before.
  __device__ uint32_t contacts_with(int word, int back, int64_t ahead) const {
    const int other = word - back;
    const uint32_t own = memory.foreground[word], of_other = memory.foreground[other];
    const uint32_t made_up = own & ~memory.starts[word] & ~memory.starts[other];
    const uint32_t touching = alike(own & of_other, word, ahead);
    // Elements on the left touch, too, if the left ones are linked both ways.
    if (!is_mixed) return touching & ~(made_up & of_other);
    return touching & ~(made_up & of_other);
  }
  __device__ int run_of(int word, int bit) const {
    return int(memory.before[word]) + __popc(memory.starts[word] & ((2u << bit) - 1)) - 1;
  }

  __device__ bool take_parents() {
    bool has_more = false;
    for (int word = int(threadIdx.x); word < Tile::kWords; word += Tile::kThreads) {
      uint32_t y = row(word) > 0 ? contacts_with(word, kRow, -tile.shape.value_stride[1]) : 0;
      uint32_t z = plane(word) > 0 ? contacts_with(word, kPlane, -tile.shape.value_stride[2]) : 0;
      int run = memory.before[word];
#pragma unroll 1
      for (uint32_t left = memory.starts[word]; left != 0; ++run) {
        const uint32_t begin = left & (0 - left);
        left -= begin;
        const uint32_t end = left & (0 - left);
        uint32_t above = uint32_t(run);
        if (const uint32_t touching = (y | z) & (end - 1) & ~(begin - 1)) {
          const uint32_t bit = touching & (0 - touching);
          const bool is_y = (y & bit) != 0;
          above = uint32_t(run_of(word - (is_y ? kRow : kPlane), __ffs(int(bit)) - 1));
          (is_y ? y : z) -= bit;
        }
        memory.parent[run] = above;
      }
      memory.contacts[0][word] = y, memory.contacts[1][word] = z;
      has_more |= (y | z) != 0;
    }
    return has_more;
  }
  __device__ void flatten(int runs) {
#pragma unroll 1
    for (int run = int(threadIdx.x); run < runs; run += Tile::kThreads) {
      uint32_t above = InBlock::load(memory.parent + run);
      for (uint32_t next; (next = InBlock::load(memory.parent + above)) != above; above = next)
        InBlock::store(memory.parent + run, next);
    }
    __syncthreads();
  }
  __device__ void unite_contacts() {
    for (int word = int(threadIdx.x); word < Tile::kWords; word += Tile::kThreads) {
      uint32_t y = memory.contacts[0][word], z = memory.contacts[1][word];
#pragma unroll 1
      while (y | z) {
        const uint32_t bits = y ? y : z;
        const int bit = __ffs(int(bits)) - 1, other = word - (y ? kRow : kPlane);
        (y ? y : z) &= bits - 1;
        hook_lowest<InBlock>(memory.parent, InBlock::load(memory.parent + run_of(word, bit)),
                             InBlock::load(memory.parent + run_of(other, bit)));
      }
    }
    __syncthreads();
  }
  // Lets the entries of roots be their places. Of words where runs begin.
  __device__ void place_roots() {
    for (int word = int(threadIdx.x); word < Tile::kWords; word += Tile::kThreads) {
      int run = memory.before[word];
      for (uint32_t left = memory.starts[word]; left != 0; left &= left - 1, ++run)
        if (memory.parent[run] == uint32_t(run))
          memory.parent[run] = kIsRoot | uint32_t(word * kWarp + __ffs(int(left)) - 1);
    }
    __syncthreads();
  }
  __device__ void mark_reaching() {
    for (int word = int(threadIdx.x); word < Tile::kWords; word += Tile::kThreads) {
      const int y = row(word), z = plane(word);
      uint32_t bits = memory.foreground[word];
      if (y > 0 && y + 1 < Tile::side(1) && z > 0 && z + 1 < Tile::side(2))
        bits &= word_x(word) == 0 ? 1u : word_x(word) + 1 == kRow ? 1u << 31 : 0;
      else
        bits &= memory.starts[word] | 1u;
#pragma unroll 1
      for (; bits != 0; bits &= bits - 1) {
        const int run = run_of(word, __ffs(int(bits)) - 1);
        const uint32_t entry = InBlock::load(memory.parent + run);
        uint32_t* const root = memory.parent + (entry & kIsRoot ? uint32_t(run) : entry);
        if (!(InBlock::load(root) & kReaching)) InBlock::fetch_or(root, kReaching);
      }
    }
    __syncthreads();
  }
  __device__ void write(int32_t* label, uint32_t* reaching) const {
    constexpr int kGroup = 4, kGroups = kWarp / kGroup;
    const bool fits = tile.shape.length[0] % kGroup == 0 && reinterpret_cast<size_t>(label) % 16 == 0;
#pragma unroll 2
    for (int group = int(threadIdx.x); group < Tile::kWords * kGroups; group += Tile::kThreads) {
      const int word = group / kGroups, bit = group % kGroups * kGroup;
      const int x = word_x(word) * kWarp + bit;
      const bool is_inside = row(word) < tile.length(1) && plane(word) < tile.length(2);
      const uint32_t elements = memory.foreground[word] >> bit, own_starts = memory.starts[word];
      int run = int(memory.before[word]) - 1 + __popc(own_starts & ((1u << bit) - 1));
      FourLabels labels;
      uint32_t marked = 0;
#pragma unroll
      for (int k = 0; k < kGroup; ++k) {
        run += own_starts >> bit >> k & 1;
        labels.label[k] = -1;
        if (elements >> k & 1) {
          uint32_t entry = memory.parent[run];
          if (!(entry & kIsRoot)) entry = memory.parent[entry];
          labels.label[k] = tile.index_of_place(int(entry & kPlace));
          marked |= (entry >> 30 & 1) << k;
        }
      }
      marked <<= bit;
#pragma unroll
      for (int step = 1; step < kGroups; step *= 2) marked |= __shfl_xor_sync(kAllLanes, marked, step);
      if (!is_inside || x >= tile.length(0)) continue;
      const int32_t index = tile.index(x, row(word), plane(word));
      if (bit == 0)
        reaching[(index - x - tile.corner[0]) / tile.shape.length[0] * tile.shape.words_of_row +
                 (tile.corner[0] + x) / kWarp] = marked;
      if (fits) {
        *reinterpret_cast<FourLabels*>(label + index) = labels;
      } else {
#pragma unroll
        for (int k = 0; k < kGroup; ++k)
          if (x + k < tile.length(0)) label[index + k] = labels.label[k];
      }
    }
  }
};

template <int = 0>
__global__ void __launch_bounds__(VolumeTile::kThreads)
    label_volume_tiles(Equal<uint8_t> rule, const uint8_t* __restrict__ values, int32_t* __restrict__ label,
                       VolumeShape shape, uint32_t* __restrict__ reaching, int32_t* __restrict__ settled,
                       int64_t* components) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(VolumeMemory, memory);
  using Tile = VolumeTile;
  VolumeLabelling tile{rule.background, values, Tile(shape, blockIdx.x), *memory, false};
  const int thread = int(threadIdx.x);
  uint32_t any = 0, all = ~0u;
  for (int word = thread; word < Tile::kWords; word += Tile::kThreads)
    memory->foreground[word] = tile.read(word, any, all);
  any = (any | any >> 16 | any >> 8 | any >> 24) & 255, all = all & all >> 16 & all >> 8 & all >> 24 & 255;
  const bool has_any = all <= any;
  if (has_any) InBlock::store(&memory->any_value, any);
  __syncthreads();
  tile.is_mixed = __syncthreads_or(has_any && (any != all || any != InBlock::load(&memory->any_value)));
  int runs = 0;
  for (int word = thread; word < Tile::kWords; word += Tile::kThreads) {
    const uint32_t begin = tile.starts_of(word);
    int total;
    const int of_words = runs + block_scan<Tile::kThreads>(__popc(begin), total);
    memory->starts[word] = begin, memory->before[word] = uint16_t(of_words);
    runs += total;
  }
  __syncthreads();
  if (__syncthreads_or(tile.take_parents())) {
    tile.flatten(runs);
    tile.unite_contacts();
  }
  tile.flatten(runs);
  tile.place_roots();
  tile.mark_reaching();
  int count = 0;
  for (int run = thread; run < runs; run += Tile::kThreads)
    count += (memory->parent[run] & (VolumeLabelling::kIsRoot | VolumeLabelling::kReaching)) ==
             VolumeLabelling::kIsRoot;
  tile.write(label, reaching);
  count = block_sum<Tile::kThreads>(count);
  if (thread != 0) return;
  settled[blockIdx.x] = count;
  if (blockIdx.x == 0) components[0] = 0;
}

template <int = 0>
__global__ void __launch_bounds__(128)
    join_volume_tiles(const uint8_t* __restrict__ values, int32_t* label, VolumeShape shape) {
  follow_launch();
  const VolumeTile tile(shape, blockIdx.x);
  const int32_t stride[3] = {1, shape.length[0], shape.length[0] * shape.length[1]};
  const auto unite_at = [&](int x, int y, int z, int across, int along) {
    if (x >= tile.length(0) || y >= tile.length(1) || z >= tile.length(2)) return;
    const int32_t index = tile.index(x, y, z);
    for_each_contact<false>(tile.at(values, x, y, z), shape.value_stride[across], shape.value_stride[along],
                            (along == 0 ? x : y) > 0, false, [&](int) {
                              const int32_t other = index - stride[across];
                              const int32_t entry = Shared::load(label + index), behind = Shared::load(label + other);
                              if (entry >= 0 && behind >= 0)
                                unite_from<Shared>(label, index, entry, other, behind);
                            });
  };
  for (int k = int(threadIdx.x); tile.corner[1] > 0 && k < 1024; k += 128) unite_at(k % 64, 0, k / 64, 1, 0);
  for (int k = int(threadIdx.x); tile.corner[2] > 0 && k < 1024; k += 128) unite_at(k % 64, k / 64, 0, 2, 0);
  for (int k = int(threadIdx.x); tile.corner[0] > 0 && k < 256; k += 128) unite_at(0, k % 16, k / 16, 0, 1);
}

template <int = 0>
__global__ void __launch_bounds__(kFollowRowThreads)
    follow_volume_roots(int32_t* label, RowShape shape, const uint32_t* __restrict__ reaching,
                        const int32_t* __restrict__ settled, int64_t* components, int64_t words, int64_t tiles) {
  follow_launch();
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
        const int from = (__ffs(int(left)) - 1) & (kWarp - 1);
        const uint32_t of_word = __shfl_sync(kAllLanes, elements, from);
        index[k] = __shfl_sync(kAllLanes, begin, from) + lane();
        entry[k] = left != 0 && of_word >> lane() & 1 ? Shared::load(label + index[k]) : -1;
        if (entry[k] > index[k]) entry[k] = -1;
        left &= left - 1;
      }
#pragma unroll
      for (int k = 0; k < kWordsAtOnce; ++k) above[k] = entry[k] < 0 ? -1 : Shared::load(label + entry[k]);
#pragma unroll
      for (int k = 0; k < kWordsAtOnce; ++k) {
        const int32_t root = find_from<Shared, Jump::kNone>(label, entry[k], above[k]);
        __syncwarp();
        if (root != entry[k]) Shared::store(label + index[k], root);
        count += root == index[k];
      }
    }
  }
  for (int64_t tile = grid_thread(); tile < tiles; tile += grid_threads()) count += settled[tile];
  count = block_sum<kFollowRowThreads>(count);
  if (threadIdx.x == 0) Shared::fetch_add(components, int64_t(count));
}

}  // namespace conncomp
