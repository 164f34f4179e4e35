// Sizes, boxes, centroids, second moments and small values of components, on the GPU, in one pass over labels
// and image.
//
// What: measure_tiles adds to a row of words for each label, of labels in two and three dimensions whose sums
// have 64 bits; count_rows and list_rows list the labels that occur, and write_tile_columns makes columns of
// their rows, which it clears for the next call.
// How: the array is cut into tiles of 256 words of 32 neighbouring labels. A warp finds where runs begin
// among 128 labels (FourLabels) and queues them in shared memory; once 32 wait, each lane takes one, adds up
// its values, and adds to the words of its label's slot in shared memory. These count from the corner of the
// tile, so that 32 bits, or two of them, are enough. When a tile ends, each slot is sent to the row of its
// label, a word a lane. A run whose label finds no slot is sent alone.
//
//    tiles    of a plane 64 lines of 4 words, of a volume 16 planes of 16 lines of a word
//    words    size | sums y, x | products yy, yx, xx | how far before the last corner the first is, and
//             where the last ends, for each axis | sum of values, of squares, of products with y, x | the
//             complement of the key of the smallest value, and the key of the largest
//
// Cost: labels and image read once. Memory: the words of as many rows as there may be. Labels are read once:
// what their owner makes of them meanwhile is one label or another (contract 5).
#pragma once

#include "cuda/components/intensities.cuh"

namespace conncomp {

constexpr int kTileThreads = 256, kTileWarps = kTileThreads / kWarp;
constexpr int kTileWords = 256;  // of 32 labels
constexpr int kTileSlotBits = 8, kTileSlots = 1 << kTileSlotBits, kTileProbes = 8;
constexpr int kQueuedRuns = 5 * kWarp;  // fewer than 32 that wait, and 128 that a warp can add
constexpr int64_t kFarCorner = int64_t(1) << 40;

// Where there is no image.
struct NoValue {};
template <class Value>
constexpr bool kHasValues = true;
template <>
constexpr bool kHasValues<NoValue> = false;

// Of which there are columns: of any type where there is no image.
template <class Value>
struct ColumnsOfValues {
  using Type = IntensityColumns<Value>;
};
template <>
struct ColumnsOfValues<NoValue> {
  using Type = IntensityColumns<uint8_t>;
};

// How long a tile is along each axis, the last in labels.
template <int axes>
struct TileSides {
  static constexpr int kAlong = axes == 2 ? 4 : 1;  // words of a line
  static constexpr int kLines = axes == 2 ? 64 : 16;
  CONNCOMP_ANYWHERE static constexpr int side(int axis) { return axis == axes - 1 ? kAlong * kWarp : kLines; }

  // Where a word of the tile begins.
  __device__ static void locate(int word, int (&place)[axes]) {
    place[axes - 1] = word % kAlong * kWarp;
    int line = word / kAlong;
#pragma unroll
    for (int k = axes - 2; k >= 0; --k) {
      place[k] = line % kLines;
      line /= kLines;
    }
  }
};

// The words of a component: in a slot, of 32 bits, counted from the corner of a tile, where some take two;
// and in a row of the table.
template <int axes>
struct TileWords {
  static constexpr int kPairs = axes * (axes + 1) / 2;
  static constexpr int kSums = 1, kProducts = kSums + axes, kFirsts = kProducts + kPairs,
                       kEnds = kFirsts + axes, kShapes = kEnds + axes;
  // In a row.
  static constexpr int kSum = kShapes, kSquares = kSum + 1, kWeighted = kSquares + 1, kLow = kWeighted + axes,
                       kHigh = kLow + 1, kRow = kHigh + 1;
  // In a slot.
  static constexpr int kSlotSum = kShapes, kSlotSquares = kSlotSum + 1, kSlotWeighted = kSlotSquares + 2,
                       kSlotLow = kSlotWeighted + 2 * axes, kSlotHigh = kSlotLow + 1, kSlot = kSlotHigh + 1;
  // Of those in two words, how many bits the lower one counts.
  static constexpr int kSquareBits = 18, kWeightedBits = 16;
  // An odd number of words keeps slots in different banks.
  CONNCOMP_ANYWHERE static constexpr int slot_words(bool values) { return (values ? kSlot : kShapes) | 1; }
  CONNCOMP_ANYWHERE static constexpr int row_words(bool values) { return values ? kRow : kShapes; }
  CONNCOMP_ANYWHERE static constexpr bool is_extreme(int word) {
    return (word >= kFirsts && word < kShapes) || word >= kLow;
  }

  // A word of the row, of those of a slot of a tile with this corner.
  template <class Slot>
  __device__ static int64_t of_slot(int word, const Slot& slot, const int64_t (&corner)[axes]) {
    const auto at = [&](int k) { return int64_t(uint32_t(slot[k])); };
    const auto corner_along = [&](int k) {
      int64_t place = corner[0];
#pragma unroll
      for (int l = 1; l < axes; ++l) place = k == l ? corner[l] : place;
      return place;
    };
    if (word < kSums) return at(0);
    if (word < kProducts) return at(word) + corner_along(word - kSums) * at(0);
    if (word < kFirsts) {
      const int pair = word - kProducts;
      const int k = axes == 2 ? pair > 1 : (pair > 2) + (pair > 4);
      const int l = axes == 2 ? pair > 0 : (pair < 3 ? pair : (pair < 5 ? pair - 2 : 2));
      const int64_t along_k = corner_along(k), along_l = corner_along(l);
      return at(word) + along_k * at(kSums + l) + along_l * at(kSums + k) + along_k * along_l * at(0);
    }
    if (word < kEnds) {
      const int k = word - kFirsts;
      return kFarCorner - corner_along(k) - TileSides<axes>::side(k) + at(word);
    }
    if (word < kShapes) return corner_along(word - kEnds) + at(word);
    const auto signed_at = [&](int k) { return int64_t(int32_t(slot[k])); };
    if (word == kSum) return signed_at(kSlotSum);
    if (word == kSquares) return at(kSlotSquares) + (at(kSlotSquares + 1) << kSquareBits);
    if (word < kLow) {
      const int k = word - kWeighted;
      return at(kSlotWeighted + 2 * k) + signed_at(kSlotWeighted + 2 * k + 1) * (1 << kWeightedBits) +
             corner_along(k) * signed_at(kSlotSum);
    }
    return at(word - kLow + kSlotLow);
  }

  __device__ static void send(int word, int64_t* row, int64_t value) {
    if (is_extreme(word))
      Shared::fetch_max(reinterpret_cast<uint64_t*>(row + word), uint64_t(value));
    else
      Shared::fetch_add(row + word, value);
  }
};

// What measure_tiles and list_rows tell each other. It begins with zeros, and the rows behind it, too. Laid
// out as in tile_sums.py.
struct SumTable {
  int64_t* rows_met;  // one more than the largest label
  int64_t* is_wrong;  // whether a label is not allowed, or has no row
  int64_t* words;
  int64_t capacity;  // of rows
  int64_t row_words;
};

struct QueuedRun {
  uint32_t label;
  uint32_t place;  // in the tile, << 6 | length
};

// A tile of an array, with the slots of its labels.
template <class Label, class Value, int axes>
struct Tile {
  using Sides = TileSides<axes>;
  using Words = TileWords<axes>;
  static constexpr int kLast = axes - 1, kLengthBits = 6;
  static constexpr bool kValues = kHasValues<Value>;
  static constexpr int kSlotWords = Words::slot_words(kValues), kRowWords = Words::row_words(kValues);

  const LabelRows<Label>& labels;
  const Value* values;
  const SumTable& table;
  int* owners;      // of slots, or -1
  uint32_t* slots;  // of kSlotWords each
  int64_t lengths[axes];
  int64_t corner[axes] = {};

  __device__ Tile(const LabelRows<Label>& labels, const Extent& extent, const Value* values,
                  const SumTable& table, int* owners, uint32_t* slots)
      : labels(labels), values(values), table(table), owners(owners), slots(slots) {
#pragma unroll
    for (int k = 0; k < axes; ++k) lengths[k] = extent.length(k);
  }

  __device__ static int64_t along(int64_t length, int axis) {
    return (length + Sides::side(axis) - 1) / Sides::side(axis);
  }
  __device__ int64_t count() const {
    int64_t tiles = 1;
#pragma unroll
    for (int k = 0; k < axes; ++k) tiles *= along(lengths[k], k);
    return tiles;
  }
  __device__ void begin(int64_t number) {
#pragma unroll
    for (int k = kLast; k >= 0; --k) {
      const int64_t tiles = along(lengths[k], k), above = quotient(number, tiles);
      corner[k] = (number - above * tiles) * Sides::side(k);
      number = above;
    }
    for (int slot = threadIdx.x; slot < kTileSlots; slot += kTileThreads) owners[slot] = -1;
    for (int k = threadIdx.x; k < kTileSlots * kSlotWords; k += kTileThreads) slots[k] = 0;
  }

  __device__ int64_t index_of(const int (&place)[axes]) const {
    int64_t index = corner[0] + place[0];
#pragma unroll
    for (int k = 1; k < axes; ++k) index = index * lengths[k] + corner[k] + place[k];
    return index;
  }

  // Reads the four labels of a lane; returns which of them lie in the array, as bits.
  __device__ unsigned int read(int word, FourLabels<Label>& four) const {
    constexpr int kFour = FourLabels<Label>::kCount;
    int place[axes];
    Sides::locate(word, place);
    place[kLast] += lane() % FourLabels<Label>::kLanes * kFour;
    int64_t within = lengths[kLast] - corner[kLast] - place[kLast];
#pragma unroll
    for (int k = 0; k < kLast; ++k) within = corner[k] + place[k] < lengths[k] ? within : 0;
    const int64_t index = index_of(place);
    if (within >= kFour && reinterpret_cast<uint64_t>(labels.entries + index) % (kFour * sizeof(Label)) == 0)
      Shared::load_all(labels.entries + index, four.labels);
    else
#pragma unroll
      for (int k = 0; k < kFour; ++k)
        four.labels[k] = k < within ? labels.load(index + k) : labels.background;
    return within >= kFour ? (1u << kFour) - 1 : (within > 0 ? (1u << within) - 1 : 0);
  }

  __device__ int slot_of(int label) const {
    int slot = int(uint32_t(label) * 2654435761u >> (32 - kTileSlotBits));
    for (int probe = 0; probe < kTileProbes; ++probe, slot = (slot + 1) % kTileSlots) {
      int owner = InBlock::load(owners + slot);
      if (owner < 0) owner = InBlock::compare_exchange(owners + slot, -1, label);
      if (owner < 0 || owner == label) return slot;
    }
    return -1;
  }

  // Adds a run to the slot of its label, or to its row.
  __device__ void add(const QueuedRun& run) const {
    const int n = int(run.place & ((1u << kLengthBits) - 1)), number = int(run.place >> kLengthBits);
    int at[axes];
    Sides::locate(number / kWarp, at);
    at[kLast] += number % kWarp;
    uint32_t sums[kSlotWords] = {};
    const int x = at[kLast], pairs = n * (n - 1) / 2, line = x * n + pairs;
    sums[0] = uint32_t(n);
    int pair = Words::kProducts;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      const bool is_along = k == kLast;
      sums[Words::kSums + k] = uint32_t(is_along ? line : at[k] * n);
#pragma unroll
      for (int l = k; l < kLast; ++l) sums[pair++] = uint32_t(at[k] * at[l] * n);
      sums[pair++] = uint32_t(is_along ? x * (line + pairs) + pairs * (2 * n - 1) / 3 : at[k] * line);
      sums[Words::kFirsts + k] = uint32_t(Sides::side(k) - at[k]);
      sums[Words::kEnds + k] = uint32_t(at[k] + (is_along ? n : 1));
    }
    if constexpr (kValues) {
      const Value* const first = values + index_of(at);
      int low = first[0], high = low, of_run = 0, products = 0;
      uint64_t squares = 0;
      for (int i = 0; i < n; ++i) {
        const int value = first[i];
        low = value < low ? value : low;
        high = value > high ? value : high;
        of_run += value;
        products += value * i;
        squares += uint32_t(value) * uint32_t(value);
      }
      sums[Words::kSlotSum] = uint32_t(of_run);
      sums[Words::kSlotSquares] = uint32_t(squares) & ((1u << Words::kSquareBits) - 1);
      sums[Words::kSlotSquares + 1] = uint32_t(squares >> Words::kSquareBits);
#pragma unroll
      for (int k = 0; k < axes; ++k) {
        const int weighted = at[k] * of_run + (k == kLast ? products : 0);
        sums[Words::kSlotWeighted + 2 * k] = uint32_t(weighted) & ((1u << Words::kWeightedBits) - 1);
        sums[Words::kSlotWeighted + 2 * k + 1] = uint32_t(weighted >> Words::kWeightedBits);
      }
      using Key = typename Order<Value>::Key;
      sums[Words::kSlotLow] = Key(~Order<Value>::key(Value(low)));
      sums[Words::kSlotHigh] = Order<Value>::key(Value(high));
    }
    const int slot = slot_of(int(run.label));
    if (slot < 0) {
      int64_t* const row = table.words + int64_t(run.label) * table.row_words;
#pragma unroll
      for (int word = 0; word < kRowWords; ++word) Words::send(word, row, Words::of_slot(word, sums, corner));
      return;
    }
    uint32_t* const words = slots + slot * kSlotWords;
#pragma unroll
    for (int word = 0; word < (kValues ? Words::kSlot : Words::kShapes); ++word) {
      const bool is_extreme = (word >= Words::kFirsts && word < Words::kShapes) || word >= Words::kSlotLow;
      if (is_extreme)
        InBlock::fetch_max(words + word, sums[word]);
      else
        InBlock::fetch_add(words + word, sums[word]);
    }
  }

  // Sends all slots, each by as many lanes as there are words, or by a warp if there are more than half.
  __device__ void send() const {
    constexpr int kLanes = kRowWords <= kWarp / 2 ? kWarp / 2 : kWarp;
    static_assert(kRowWords <= kWarp, "a lane has a word");
    const int word = int(threadIdx.x) % kLanes;
    for (int slot = threadIdx.x / kLanes; slot < kTileSlots; slot += kTileThreads / kLanes) {
      if (owners[slot] < 0 || word >= kRowWords) continue;
      int64_t* const row = table.words + int64_t(owners[slot]) * table.row_words;
      Words::send(word, row, Words::of_slot(word, slots + slot * kSlotWords, corner));
    }
  }
};

// Labels are allowed from `lowest` on. The extent is that of the array.
template <class Label, class Value, int axes>
__global__ void __launch_bounds__(kTileThreads, 4)
    measure_tiles(LabelRows<Label> labels, int64_t lowest, Extent extent, const Value* __restrict__ values,
                  SumTable table) {
  follow_launch();
  using Tile = conncomp::Tile<Label, Value, axes>;
  using Four = FourLabels<Label>;
  __shared__ int owners[kTileSlots];
  __shared__ uint32_t slots[kTileSlots * Tile::kSlotWords];
  __shared__ QueuedRun queues[kTileWarps][kQueuedRuns];
  __shared__ unsigned int rows_of_block;
  constexpr int kSteps = kTileWords / kTileWarps / Four::kCount, kAhead = 4;
  const LineBegins none(kWarp);
  QueuedRun* const queue = queues[threadIdx.x / kWarp];
  bool is_wrong = false;
  unsigned int rows = 0;
  if (threadIdx.x == 0) rows_of_block = 0;
  Tile tile(labels, extent, values, table, owners, slots);
  const int64_t tiles = tile.count();
  for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    tile.begin(number);
    __syncthreads();
    int waiting = 0;
    for (int step = 0; step < kSteps; step += kAhead) {
      Four read[kAhead];
      unsigned int inside[kAhead];
      const auto word_at = [&](int k) {
        return ((step + k) * kTileWarps + int(threadIdx.x) / kWarp) * (kWarp / Four::kLanes) +
               lane() / Four::kLanes;
      };
#pragma unroll
      for (int k = 0; k < kAhead; ++k) inside[k] = tile.read(word_at(k), read[k]);
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        Four& four = read[k];
        four.find_begins(0, none);
        unsigned int open = four.open(labels.background), allowed = 0;
        if (labels.background < lowest)  // there is none, and what is as if there were one is wrong
#pragma unroll
          for (int l = 0; l < Four::kCount; ++l)
            is_wrong = is_wrong || ((inside[k] >> l & 1) && four.labels[l] == labels.background);
#pragma unroll
        for (int l = 0; l < Four::kCount; ++l) {
          const bool is_open = open >> l & 1;
          const bool fits = four.labels[l] >= lowest && four.labels[l] < table.capacity;
          is_wrong = is_wrong || (is_open && !fits);
          allowed |= unsigned(is_open && fits) << l;
        }
        const int count = __popc(allowed), before = warp_scan(count) - count;
        const int all = __shfl_sync(kAllLanes, before + count, kWarp - 1);
        for (int place = waiting + before; allowed; allowed &= allowed - 1, ++place) {
          const int l = __ffs(int(allowed)) - 1;
          const uint32_t label = uint32_t(four.label(l));
          rows = rows > label ? rows : label + 1;
          const uint32_t first = uint32_t(word_at(k) * kWarp + Four::shift() + l);
          queue[place] = {label, first << Tile::kLengthBits | uint32_t(four.length(l))};
        }
        waiting += all;
        __syncwarp();
        for (; waiting >= kWarp; waiting -= kWarp) tile.add(queue[waiting - kWarp + lane()]);
        __syncwarp();
      }
    }
    if (lane() < waiting) tile.add(queue[lane()]);
    __syncthreads();
    tile.send();
    __syncthreads();
  }
  if (rows > 0) InBlock::fetch_max(&rows_of_block, rows);
  if (is_wrong) Shared::store(table.is_wrong, int64_t(1));
  __syncthreads();
  if (threadIdx.x == 0) Shared::fetch_max(table.rows_met, int64_t(rows_of_block));
}

// As count_present and list_present (runs.cuh), of rows that have a size.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads) count_rows(SumTable table, RunTable runs) {
  follow_launch();
  const RowShare share(*table.rows_met);
  int64_t present = 0;
  for (int64_t row = share.begin + threadIdx.x; row < share.end; row += kTableThreads)
    present += table.words[row * table.row_words] > 0;
  present = block_sum<kTableThreads>(present);
  if (threadIdx.x == 0) runs.in_block[blockIdx.x] = present;
}

template <int = 0>
__global__ void __launch_bounds__(kTableThreads) list_rows(SumTable table, RunTable runs) {
  follow_launch();
  const RowShare share(*table.rows_met);
  int64_t place = sum_of_first<kTableThreads>(blockIdx.x, runs.in_block);
  for (int64_t begin = share.begin; begin < share.end; begin += kTableThreads) {
    const int64_t row = begin + threadIdx.x;
    const bool occurs = row < share.end && table.words[row * table.row_words] > 0;
    int present;
    const int64_t number = place + block_scan<kTableThreads>(int(occurs), present);
    place += present;
    if (occurs) runs.present[number] = row;
  }
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x != 0) return;
  *runs.state = {*table.is_wrong ? -1 : place, 0, *table.rows_met};
}

// Writes columns of all components, and clears their rows and what they were listed by.
template <class Value, int axes>
__global__ void __launch_bounds__(kTableThreads)
    write_tile_columns(SumTable table, RunTable runs, ShapeColumns shapes,
                       typename ColumnsOfValues<Value>::Type values, double* reals) {
  follow_launch();
  using Words = TileWords<axes>;
  const int64_t components = runs.state->components;
  if (grid_thread() == 0) *table.rows_met = 0;
  for (int64_t number = grid_thread(); number < components; number += grid_threads()) {
    int64_t* const row = table.words + runs.present[number] * table.row_words;
    int64_t words[Words::row_words(kHasValues<Value>)];
#pragma unroll
    for (int k = 0; k < Words::row_words(kHasValues<Value>); ++k) words[k] = row[k];
#pragma unroll
    for (int k = 0; k < Words::row_words(kHasValues<Value>); ++k) row[k] = 0;
    const int64_t size = words[0];
    int64_t box[2 * axes];
    shapes.labels[number] = runs.present[number];
    shapes.sizes[number] = size;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      box[2 * k] = kFarCorner - words[Words::kFirsts + k];
      box[2 * k + 1] = words[Words::kEnds + k];
      shapes.boxes[2 * (number * axes + k)] = box[2 * k];
      shapes.boxes[2 * (number * axes + k) + 1] = box[2 * k + 1];
      shapes.centroids[number * axes + k] = double(words[Words::kSums + k]) / double(size);
    }
    if (shapes.moments != nullptr) {
      double* const moments = shapes.moments + number * axes * axes;
      int pair = Words::kProducts;
#pragma unroll
      for (int k = 0; k < axes; ++k)
#pragma unroll
        for (int l = k; l < axes; ++l, ++pair)
          moments[k * axes + l] = moments[l * axes + k] =
              covariance_of(size, words[pair], words[Words::kSums + k], words[Words::kSums + l]);
    }
    if constexpr (kHasValues<Value>) {
      const int64_t sum = words[Words::kSum];
      const auto sum_at = [&](int k) {
        if (k == 0) return __int128(sum);
        int64_t product = words[Words::kWeighted], first = box[0];
#pragma unroll
        for (int l = 1; l < axes; ++l)
          if (k - 1 == l) product = words[Words::kWeighted + l], first = box[2 * l];
        return __int128(product - first * sum);
      };
      using Key = typename Order<Value>::Key;
      values.write(number, Key(~words[Words::kLow]), Key(words[Words::kHigh]), Units<Value>{}, size, axes,
                   box, sum_at);
      write_reals(values, number, components, size, sum, words[Words::kSquares], reals);
    }
  }
}

}  // namespace conncomp
