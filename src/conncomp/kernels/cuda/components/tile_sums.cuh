// Sizes, boxes, centroids, second moments and values of components in one pass, for two and three dimensions
// and sums of 64 bits. Values are integers of 16 bits, or float32 that are multiples of 2^(exponent - 50)
// below 2^exponent: so all sums are exact. measure_tiles adds to a label's row of words; count_rows and
// list_rows list labels; write_tile_columns makes columns of rows, and clears these. A tile has 256 words of
// 32 labels: of a plane 64 lines of 4 words, of a volume 16 planes of 16 lines. A warp queues the runs of 128
// labels in shared memory; once 32 wait, each lane adds one to its label's slot, in 32-bit words from the
// tile's corner on, several for larger sums. At a tile's end slots are sent to rows, a sum a lane; a run
// without a slot is sent alone. A row has: size; y, x; products yy, yx, xx; by axis how far before the far
// corner the first is, and where the last ends; values; their products with y, x; their squares; the
// complement of the smallest's key, and the largest's key. Cost: labels and image read once; labels may
// change (contract 5).
#pragma once

#include "cuda/components/intensities.cuh"

namespace conncomp {

constexpr int kTileThreads = 256, kTileWarps = kTileThreads / kWarp;
constexpr int kColumnThreads = 128;
constexpr int kTileWords = 256;         // of 32 labels
constexpr int kTileProbes = 8;          // slots that a label may have
constexpr int kQueuedRuns = 5 * kWarp;  // fewer than 32 that wait, and 128 that a warp can add
constexpr int64_t kFarCorner = int64_t(1) << 40;
constexpr int kFixedBits = 50;  // of a floating-point value

struct NoValue {};

struct alignas(16) TwoWords {
  int64_t words[2] = {};
};

// The length of a tile along each axis, the last in labels.
template <int axes> struct TileSides {
  static constexpr int kAlong = axes == 2 ? 4 : 1;  // words of a line
  static constexpr int kLines = axes == 2 ? 64 : 16;
  static constexpr int side(int axis) { return axis == axes - 1 ? kAlong * kWarp : kLines; }

  static void locate(int word, int (&place)[axes]) {
    place[axes - 1] = word % kAlong * kWarp;
    int line = word / kAlong;
#pragma unroll
    for (int k = axes - 2; k >= 0; --k) {
      place[k] = line % kLines;
      line /= kLines;
    }
  }
};

// A slot's sum in 32-bit words of kLimbBits, the last signed: 20 bits leave room for 4,096 runs.
constexpr int kLimbBits = 20;
template <int limbs> void emit_limbs(int word, auto sum, auto&& emit) {
#pragma unroll
  for (int k = 0; k < limbs - 1; ++k, sum >>= kLimbBits)
    emit(word + k, uint32_t(sum) & ((1u << kLimbBits) - 1));
  emit(word + limbs - 1, uint32_t(sum));
}
template <int axes> int64_t along(const int64_t (&place)[axes], int axis) {
  int64_t coordinate = place[0];
#pragma unroll
  for (int k = 1; k < axes; ++k) coordinate = axis == k ? place[k] : coordinate;
  return coordinate;
}

// How a sum or extreme of a row follows from words of a slot.
struct SumOfSlot {
  int low = 0, high = 0, row_word = -1;
  int wide = 0;  // how many limbs it has if it is one of 128 bits
  bool is_most = false;
  int64_t low_times = 0, high_times = 0, offset = 0;
  int words[3] = {};  // with a sign, and how often they are added
  int64_t times[3] = {};

  static SumOfSlot word(int word) {
    SumOfSlot sum;
    sum.low = word, sum.low_times = 1;
    return sum;
  }
  static SumOfSlot limbs(int first) {
    SumOfSlot sum = word(first);
    sum.high = first + 1, sum.high_times = 1 << kLimbBits;
    return sum;
  }
  static SumOfSlot extreme(int first, int64_t offset) {
    SumOfSlot sum = word(first);
    sum.is_most = true, sum.offset = offset;
    return sum;
  }
  SumOfSlot plus(int word, int64_t often, int number = 0) const {
    SumOfSlot sum = *this;
#pragma unroll
    for (int k = 0; k < 3; ++k)
      if (k == number) sum.words[k] = word, sum.times[k] = often;
    return sum;
  }

  void send(const uint32_t* slot, int64_t* row) const {
    if (wide > 0) return send_wide(slot, row + row_word);
    int64_t total = offset + low_times * slot[low] + high_times * int32_t(slot[high]);
#pragma unroll
    for (int k = 0; k < 3; ++k) total += times[k] * int32_t(slot[words[k]]);
    if (is_most)
      Concurrent::fetch_max(reinterpret_cast<uint64_t*>(row + row_word), uint64_t(total));
    else
      Concurrent::fetch_add(row + row_word, total);
  }

 private:
  static __int128 sum_of_limbs(const uint32_t* first, int limbs) {
    constexpr int kMost = 6;
    __int128 sum = 0;
#pragma unroll
    for (int k = kMost - 1; k >= 0; --k) {
      const int64_t limb = k >= limbs ? 0 : (k == limbs - 1 ? int32_t(first[k]) : int64_t(first[k]));
      sum = sum * (1 << kLimbBits) + limb;
    }
    return sum;
  }
  // `words` begin limbs of a sum of 64 bits.
  void send_wide(const uint32_t* slot, int64_t* to) const {
    constexpr int kLimbs = 3;
    __int128 sum = sum_of_limbs(slot + low, wide);
    if (times[0] != 0) sum += __int128(int64_t(sum_of_limbs(slot + words[0], kLimbs))) * times[0];
    add_wide(to, to + 1, Wide(sum));
  }
};

// How values are added up, in how many words of a slot and of a row, and as how many sums:
//
//    add(value, i)                 the one i elements on; false if it cannot be added up exactly
//    emit(word, at, emit)          calls emit(word, value) for the sums of a run that begins there
//    describe(sum, word, corner)   how a sum of a row follows from the words of a slot, from a word on
//    is_extreme(word)              whether the largest of a word is kept, instead of the sum
template <class Value, int axes> struct TileValues;

template <int axes> struct TileValues<NoValue, axes> {
  using Columns = IntensityColumns<uint8_t>;  // any
  static constexpr int kSlot = 0, kRow = 0, kSums = 0;
};

// Common to both kinds of values: extremes, by keys, and products with coordinates.
template <class Value, int axes, class Sum> struct TileExtremes {
  using Columns = IntensityColumns<Value>;
  using Key = typename Order<Value>::Key;
  Key low = Key(~Key(0)), high = 0;
  Sum of_run = 0, products = 0;

  void meet(Value value) {
    const Key key = Order<Value>::key(value);
    low = key < low ? key : low;
    high = high < key ? key : high;
  }
  Sum weighted(const int (&at)[axes], int axis) const {
    return at[axis] * of_run + (axis == axes - 1 ? products : 0);
  }
  void emit_extremes(int word, auto&& emit) const {
    emit(word, uint32_t(Key(~low)));
    emit(word + 1, uint32_t(high));
  }
};

// Integers of up to 16 bits: a word of a row for each sum.
template <class Value, int axes> struct TileValues : TileExtremes<Value, axes, int> {
  static constexpr int kWeighted = 1, kSquares = kWeighted + 2 * axes, kLow = kSquares + 2, kSlot = kLow + 2;
  static constexpr int kSums = axes + 4, kRow = kSums;
  uint64_t squares = 0;

  explicit TileValues(double) {}
  bool add(Value given, int i) {
    const int value = given;
    this->meet(given);
    this->of_run += value;
    this->products += value * i;
    squares += uint32_t(value) * uint32_t(value);
    return true;
  }
  void emit(int word, const int (&at)[axes], auto&& emit) const {
    emit(word, uint32_t(this->of_run));
#pragma unroll
    for (int k = 0; k < axes; ++k) emit_limbs<2>(word + kWeighted + 2 * k, this->weighted(at, k), emit);
    emit_limbs<2>(word + kSquares, squares, emit);
    this->emit_extremes(word + kLow, emit);
  }
  static SumOfSlot describe(int sum, int word, const int64_t (&corner)[axes]) {
    if (sum > axes + 1) return SumOfSlot::extreme(word + kLow + sum - axes - 2, 0);
    if (sum > axes) return SumOfSlot::limbs(word + kSquares);
    if (sum > 0) return SumOfSlot::limbs(word + kWeighted + 2 * (sum - 1)).plus(word, along(corner, sum - 1));
    return SumOfSlot{}.plus(word, 1);
  }
  static constexpr bool is_extreme(int word) { return word >= kLow; }
};

// Floating-point numbers as whole numbers of `kFixedBits`: two words of a row for each sum.
template <int axes> struct TileValues<float, axes> : TileExtremes<float, axes, int64_t> {
  static constexpr int kValueLimbs = 3, kWeightedLimbs = 4, kSquareLimbs = 6;
  static constexpr int kWeighted = kValueLimbs, kSquares = kWeighted + kWeightedLimbs * axes,
                       kLow = kSquares + kSquareLimbs, kSlot = kLow + 2;
  static constexpr int kSums = axes + 4, kRow = 2 * (axes + 2) + 2;
  static constexpr int kHalfBits = 25;  // of the halves that are multiplied
  double scale;
  uint64_t squares_high = 0, squares_middle = 0, squares_low = 0;

  explicit TileValues(double scale) : scale(scale) {}
  bool add(float given, int i) {
    constexpr double kMagic = 0x1.8p52, kMost = double(int64_t(1) << kFixedBits);
    this->meet(given);
    const double number = double(given) * scale, rounded = number + kMagic;
    const int64_t value = int64_t(bits_as<uint64_t>(rounded) - bits_as<uint64_t>(kMagic));
    if (!(-kMost < number && number < kMost && rounded - kMagic == number)) return false;
    this->of_run += value;
    this->products += value * i;
    const uint64_t magnitude = uint64_t(value < 0 ? -value : value);
    const uint32_t high = uint32_t(magnitude >> kHalfBits),
                   low = uint32_t(magnitude) & ((1u << kHalfBits) - 1);
    squares_high += uint64_t(high) * high;
    squares_middle += uint64_t(high) * low;
    squares_low += uint64_t(low) * low;
    return true;
  }
  void emit(int word, const int (&at)[axes], auto&& emit) const {
    emit_limbs<kValueLimbs>(word, this->of_run, emit);
#pragma unroll
    for (int k = 0; k < axes; ++k)
      emit_limbs<kWeightedLimbs>(word + kWeighted + kWeightedLimbs * k, this->weighted(at, k), emit);
    emit_limbs<kSquareLimbs>(word + kSquares,
        (Wide(squares_high) << 2 * kHalfBits) + (Wide(squares_middle) << (kHalfBits + 1)) + squares_low,
        emit);
    this->emit_extremes(word + kLow, emit);
  }
  // Sums, unlike extremes, have two words of a row, and are added up by themselves.
  static SumOfSlot describe(int sum, int word, const int64_t (&corner)[axes]) {
    SumOfSlot described;
    if (sum > axes + 1) {
      described = SumOfSlot::extreme(word + kLow + sum - axes - 2, 0);
      described.row_word = sum + axes + 2;
      return described;
    }
    described.row_word = 2 * sum;
    described.wide = sum == 0 ? kValueLimbs : (sum > axes ? kSquareLimbs : kWeightedLimbs);
    described.low = word + (sum == 0 ? 0 : (sum > axes ? kSquares : kWeighted + kWeightedLimbs * (sum - 1)));
    return sum > 0 && sum <= axes ? described.plus(word, along(corner, sum - 1)) : described;
  }
  static constexpr bool is_extreme(int word) { return word >= kLow; }
};

// The words of a component, in a slot (32 bits) and in a row; those of values come last.
template <class Value, int axes> struct TileWords {
  using Values = TileValues<Value, axes>;
  static constexpr int kPairs = axes * (axes + 1) / 2;
  static constexpr int kFirst = 1, kProducts = kFirst + axes, kFirsts = kProducts + kPairs,
                       kEnds = kFirsts + axes, kShapes = kEnds + axes;
  static constexpr int kSlot = kShapes + Values::kSlot, kRow = kShapes + Values::kRow,
                       kSums = kShapes + Values::kSums;
  static constexpr int kStride = kSlot | 1;  // an odd number keeps slots in different banks
  static constexpr int kSlotBits = kStride > 32 ? 7 : 8, kSlots = 1 << kSlotBits;
  static constexpr int kBlocks = kStride > 28 ? 3 : 4;  // of a multiprocessor, by their registers

  static constexpr bool is_extreme(int word) {
    if (word < kShapes) return word >= kFirsts;
    if constexpr (Values::kSlot > 0) return Values::is_extreme(word - kShapes);
    return false;
  }

  // How a sum of a row follows from a slot of a tile with this corner.
  static SumOfSlot describe(int sum, const int64_t (&corner)[axes]) {
    SumOfSlot described = described_place(sum, corner);
    if constexpr (Values::kSlot > 0)
      if (sum >= kShapes) {
        described = Values::describe(sum - kShapes, kShapes, corner);
        if (described.row_word >= 0) described.row_word += kShapes;
      }
    if (described.row_word < 0) described.row_word = sum;
    return described;
  }

 private:
  static int side(int axis) { return TileSides<axes>::side(axis); }
  static SumOfSlot described_place(int sum, const int64_t (&corner)[axes]) {
    if (sum >= kEnds) return SumOfSlot::extreme(sum, along(corner, sum - kEnds));
    if (sum >= kFirsts) {
      const int k = sum - kFirsts;
      return SumOfSlot::extreme(sum, kFarCorner - along(corner, k) - side(k));
    }
    const SumOfSlot described = SumOfSlot::word(sum);
    if (sum >= kProducts) {
      const int pair = sum - kProducts;
      const int k = axes == 2 ? pair > 1 : (pair > 2) + (pair > 4);
      const int l = axes == 2 ? pair > 0 : (pair < 3 ? pair : (pair < 5 ? pair - 2 : 2));
      const int64_t along_k = along(corner, k), along_l = along(corner, l);
      return described.plus(kFirst + l, along_k, 0)
          .plus(kFirst + k, along_l, 1)
          .plus(0, along_k * along_l, 2);
    }
    return sum >= kFirst ? described.plus(0, along(corner, sum - kFirst)) : described;
  }
};

// What measure_tiles and list_rows keep, zeros at first, as the rows behind it. Layout: tile_sums.py.
struct SumTable {
  int64_t* rows_met;  // one more than the largest label
  int64_t* is_wrong;  // whether a label is not allowed, or has no row, or a value no sum
  int64_t* words;
  int64_t* answer;   // in main memory; see answer_of
  int64_t capacity;  // of rows
  int64_t row_words;
  int64_t exponent;  // of floating-point values
  int64_t made_for;  // so many components columns are made
  int64_t call;      // which one this is, for the answer
  double scale;      // which makes floating-point values whole numbers
};

// Numbers of components, below 2^26, and rows, below 2^20, in one, which the host polls.
inline int64_t answer_of(int64_t call, int64_t rows, int64_t components) {
  constexpr int kRowBits = 20, kComponentBits = 26;
  return (call << kRowBits | rows) << kComponentBits | (components + 1);
}

// A label as 32 bits; one without a row as a number beyond all rows.
template <class Label> uint32_t row_of(Label label) {
  return sizeof(Label) > 4 && uint64_t(label) >> 32 != 0 ? ~0u : uint32_t(label);
}

struct QueuedRun {
  uint32_t label;
  uint32_t place;  // in the tile, << 6 | length
};

template <class Label, class Value, int axes> struct Tile {
  using Sides = TileSides<axes>;
  using Words = TileWords<Value, axes>;
  using Values = TileValues<Value, axes>;
  static constexpr int kLast = axes - 1, kLengthBits = 6, kSlots = Words::kSlots;

  const LabelRows<Label>& labels;
  const Value* values;
  const SumTable& table;
  int* owners;      // of slots, or -1; then how many slots have one, and which
  uint32_t* slots;  // of Words::kStride each
  bool is_aligned;  // whether four labels can be read at once wherever they begin
  int lengths[axes], strides[axes];
  int sides[axes] = {};  // of what lies in the array
  int first = 0;         // element
  int64_t corner[axes] = {};

  Tile(const LabelRows<Label>& labels, const Extent& extent, const Value* values, const SumTable& table,
      int* owners, uint32_t* slots)
      : labels(labels), values(values), table(table), owners(owners), slots(slots) {
#pragma unroll
    for (int k = kLast, stride = 1; k >= 0; --k) {
      lengths[k] = int(extent.length(k)), strides[k] = stride;
      stride *= lengths[k];
    }
    constexpr int kFour = FourLabels<Label>::kCount;
    is_aligned = reinterpret_cast<uint64_t>(labels.entries) % (kFour * sizeof(Label)) == 0 &&
                 lengths[kLast] % kFour == 0;
  }

  static int tiles_along(int length, int axis) {
    return (length + Sides::side(axis) - 1) / Sides::side(axis);
  }
  int count() const {
    int tiles = 1;
#pragma unroll
    for (int k = 0; k < axes; ++k) tiles *= tiles_along(lengths[k], k);
    return tiles;
  }
  void begin(int number) {
    first = 0;
#pragma unroll
    for (int k = kLast; k >= 0; --k) {
      const int tiles = tiles_along(lengths[k], k), above = number / tiles;
      const int place = (number - above * tiles) * Sides::side(k), left = lengths[k] - place;
      corner[k] = place;
      sides[k] = left < Sides::side(k) ? left : Sides::side(k);
      first += place * strides[k];
      number = above;
    }
    for (int slot = threadIdx.x; slot <= kSlots; slot += kTileThreads) owners[slot] = slot < kSlots ? -1 : 0;
    for (int k = threadIdx.x; k < kSlots * Words::kStride; k += kTileThreads) slots[k] = 0;
  }

  int index_of(const int (&place)[axes]) const {
    int index = first + place[kLast];
#pragma unroll
    for (int k = 0; k < kLast; ++k) index += place[k] * strides[k];
    return index;
  }

  // Reads the four labels of a lane; returns how many, or more, lie in the array.
  int read(int word, FourLabels<Label>& four) const {
    constexpr int kFour = FourLabels<Label>::kCount;
    int place[axes];
    Sides::locate(word, place);
    place[kLast] += lane() % FourLabels<Label>::kLanes * kFour;
    int within = sides[kLast] - place[kLast];
#pragma unroll
    for (int k = 0; k < kLast; ++k) within = place[k] < sides[k] ? within : 0;
    const Label* const from = labels.entries + index_of(place);
    if (is_aligned && within >= kFour) {
      Concurrent::load_all(from, four.labels);
    } else {
#pragma unroll
      for (int k = 0; k < kFour; ++k)
        four.labels[k] = k < within ? Concurrent::load(from + k) : labels.background;
    }
    return within;
  }

  int* used() const { return owners + kSlots + 1; }

  int slot_of(int label) const {
    int slot = int(uint32_t(label) * 2654435761u >> (32 - Words::kSlotBits));
    for (int probe = 0; probe < kTileProbes; ++probe, slot = (slot + 1) % kSlots) {
      int owner = InBlock::load(owners + slot);
      if (owner < 0) {
        owner = InBlock::compare_exchange(owners + slot, -1, label);
        if (owner < 0) used()[InBlock::fetch_add(owners + kSlots, 1)] = slot;
      }
      if (owner < 0 || owner == label) return slot;
    }
    return -1;
  }

  // Calls emit(word, value) for what a run adds to a slot; false if values cannot be added up.
  bool measure(uint32_t place, auto&& emit) const {
    const int n = int(place & ((1u << kLengthBits) - 1)), number = int(place >> kLengthBits);
    int at[axes];
    Sides::locate(number / kWarp, at);
    at[kLast] += number % kWarp;
    const int x = at[kLast], pairs = n * (n - 1) / 2, line = x * n + pairs;
    emit(0, uint32_t(n));
    int pair = Words::kProducts;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      const bool is_last = k == kLast;
      emit(Words::kFirst + k, uint32_t(is_last ? line : at[k] * n));
#pragma unroll
      for (int l = k; l < kLast; ++l) emit(pair++, uint32_t(at[k] * at[l] * n));
      emit(pair++, uint32_t(is_last ? x * (line + pairs) + pairs * (2 * n - 1) / 3 : at[k] * line));
      emit(Words::kFirsts + k, uint32_t(Sides::side(k) - at[k]));
      emit(Words::kEnds + k, uint32_t(at[k] + (is_last ? n : 1)));
    }
    bool are_exact = true;
    if constexpr (Values::kSlot > 0) {
      const Value* const of_run = values + index_of(at);
      Values sums(table.scale);
      for (int i = 0; i < n; ++i) are_exact &= sums.add(of_run[i], i);
      sums.emit(Words::kShapes, at, emit);
    }
    return are_exact;
  }

  // Adds a run to the slot of its label, or to its row; returns whether it can be added.
  bool add(const QueuedRun& run) const {
    if (run.label >= uint32_t(table.capacity)) return false;
    const int slot = slot_of(int(run.label));
    if (slot < 0) {
      const Tile copy = *this;  // whose address is taken, so that this one stays in registers
      return copy.add_alone(run);
    }
    uint32_t* const words = slots + slot * Words::kStride;
    return measure(run.place, [=](int word, uint32_t value) {
      if (Words::is_extreme(word))
        InBlock::fetch_max(words + word, value);
      else
        InBlock::fetch_add(words + word, value);
    });
  }
  CONNCOMP_PHASE bool add_alone(QueuedRun run) const {
    uint32_t words[Words::kSlot];
    const bool are_exact = measure(run.place, [&](int word, uint32_t value) { words[word] = value; });
    int64_t* const row = table.words + int64_t(run.label) * table.row_words;
    for (int sum = 0; sum < Words::kSums; ++sum) Words::describe(sum, corner).send(words, row);
    Concurrent::fetch_max(table.rows_met, int64_t(run.label) + 1);
    return are_exact;
  }

  // Sends all slots, a sum a lane; returns one more than the largest label.
  int send() const {
    constexpr int kLanes = Words::kSums <= kWarp / 2 ? kWarp / 2 : kWarp;
    static_assert(Words::kSums <= kWarp, "a lane has a sum");
    int rows = 0;
    const int sum = int(threadIdx.x) % kLanes;
    if (sum >= Words::kSums) return rows;
    const SumOfSlot described = Words::describe(sum, corner);
    const int count = owners[kSlots];
    for (int k = threadIdx.x / kLanes; k < count; k += kTileThreads / kLanes) {
      const int slot = used()[k], owner = owners[slot];
      rows = rows > owner ? rows : owner + 1;
      described.send(slots + slot * Words::kStride, table.words + int64_t(owner) * table.row_words);
    }
    return rows;
  }
};

// Labels are allowed from `lowest` on. The extent is that of the array, of fewer than 2^31 elements.
template <class Label, class Value, int axes>
__global__ void __launch_bounds__(kTileThreads, TileWords<Value, axes>::kBlocks)
    measure_tiles(LabelRows<Label> labels, int64_t lowest, Extent extent, const Value* __restrict__ values,
        SumTable table) {
  follow_launch();
  using Tile = conncomp::Tile<Label, Value, axes>;
  using Four = FourLabels<Label>;
  __shared__ int owners[2 * Tile::kSlots + 1];
  __shared__ uint32_t slots[Tile::kSlots * Tile::Words::kStride];
  __shared__ QueuedRun queues[kTileWarps][kQueuedRuns];
  __shared__ unsigned int rows_of_block;
  constexpr int kSteps = kTileWords / kTileWarps / Four::kCount, kAhead = 2;
  const LineBegins none(kWarp);
  QueuedRun* const queue = queues[threadIdx.x / kWarp];
  const bool has_background = labels.background >= lowest;
  bool is_right = true;
  int rows = 0;
  if (threadIdx.x == 0) rows_of_block = 0;
  Tile tile(labels, extent, values, table, owners, slots);
  const int tiles = tile.count();
  for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
    tile.begin(number);
    __syncthreads();
    // Labels are read ahead. Nothing is unrolled, so that what adds a run fits the instruction cache.
    const auto word_at = [&](int step) {
      return (step * kTileWarps + int(threadIdx.x) / kWarp) * (kWarp / Four::kLanes) + lane() / Four::kLanes;
    };
    Four ahead[kAhead];
    int inside[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) inside[k] = tile.read(word_at(k), ahead[k]);
    int waiting = 0;
#pragma unroll 1
    for (int step = 0; step < kSteps; ++step) {
      Four four = ahead[0];
      const int within = inside[0];
#pragma unroll
      for (int k = 0; k + 1 < kAhead; ++k) ahead[k] = ahead[k + 1], inside[k] = inside[k + 1];
      if (step + kAhead < kSteps) inside[kAhead - 1] = tile.read(word_at(step + kAhead), ahead[kAhead - 1]);
      four.find_begins(0, none);
      if (!has_background)  // what is as if there were one is wrong
#pragma unroll
        for (int l = 0; l < Four::kCount; ++l) is_right &= four.labels[l] != labels.background || l >= within;
      unsigned int open = four.open(labels.background);
      const int count = __popc(open), last = warp_scan(count);
      const int all = __shfl_sync(kAllLanes, last, kWarp - 1);
      for (int place = waiting + last - count; open; open &= open - 1, ++place) {
        const int l = __ffs(int(open)) - 1;
        const uint32_t first = uint32_t(word_at(step) * kWarp + Four::shift() + l);
        queue[place] = {row_of(four.label(l)), first << Tile::kLengthBits | uint32_t(four.length(l))};
      }
      waiting += all;
      __syncwarp();
      const int kept = step + 1 < kSteps ? kWarp - 1 : 0;  // so many wait for others
#pragma unroll 1
      while (waiting > kept) {
        const int run = waiting - kWarp + lane();
        if (run >= 0) is_right &= tile.add(queue[run]);
        waiting = waiting < kWarp ? 0 : waiting - kWarp;
      }
      __syncwarp();
    }
    __syncthreads();
    const int sent = tile.send();
    rows = rows > sent ? rows : sent;
    __syncthreads();
  }
  if (rows > 0) InBlock::fetch_max(&rows_of_block, unsigned(rows));
  if (!is_right) Concurrent::store(table.is_wrong, int64_t(1));
  __syncthreads();
  if (threadIdx.x == 0) Concurrent::fetch_max(table.rows_met, int64_t(rows_of_block));
}

// As count_present and list_present (runs.cuh), for rows that have a size.
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

template <int = 0> __global__ void __launch_bounds__(kTableThreads) list_rows(SumTable table, RunTable runs) {
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
  // write_tile_columns says whether there are components.
  const int64_t components = *table.is_wrong ? -1 : place, rows = *table.rows_met;
  *runs.state = {0, components, rows};
  *static_cast<volatile int64_t*>(table.answer) = answer_of(table.call, rows, components);
}

template <class Value, int axes>
void write_values(const int64_t* words, const IntensityColumns<Value>& columns, const SumTable& table,
    int64_t row, int64_t components, int64_t size, const int64_t* box, double* reals) {
  using Key = typename Order<Value>::Key;
  constexpr int kWidth = kIsReal<Value> ? 2 : 1;
  const auto wide_at = [&](int sum) {  // of a row
    if constexpr (kIsReal<Value>)
      return __int128(wide_of(words[kWidth * sum], words[kWidth * sum + 1]));
    else
      return words[sum];
  };
  const auto sum = wide_at(0), squares = wide_at(axes + 1);
  const auto sum_at = [&](int number) {
    return number == 0 ? sum : wide_at(number) - box[2 * (number - 1)] * sum;
  };
  const int64_t* const extremes = words + kWidth * (axes + 2);
  const auto written = [&](const Units<Value>& units) {
    columns.write(row, Key(~extremes[0]), Key(extremes[1]), units, size, axes, box, sum_at);
  };
  if constexpr (kIsReal<Value>) {
    written(Units<Value>(int(table.exponent), kFixedBits));
    // About a whole number near the mean, squares are small; those of all, and what is taken off, are exact.
    const int64_t near = int64_t(as_real(sum) / double(size));
    const Wide about = Wide(squares) - 2 * Wide(__int128(near)) * Wide(sum) +
                       Wide(__int128(near)) * Wide(__int128(near)) * uint64_t(size);
    const double left = as_real(sum - __int128(near) * size);
    const double variance = (as_real(__int128(about)) - left * left / double(size)) / double(size);
    reals[row] = sqrt(variance < 0 ? 0 : variance) / table.scale;
    reals[components + row] = double(columns.minima[row]);
    reals[2 * components + row] = double(columns.maxima[row]);
  } else {
    written(Units<Value>{});
    write_reals(columns, row, components, size, sum, squares, reals);
  }
}

// Writes a component's columns. Not unrolled: fetching code takes longer than running it once.
template <class Value, int axes>
void write_component(int64_t* words, const SumTable& table, int64_t number, int64_t components,
    const ShapeColumns& shapes, const auto& values, double* reals) {
  using Words = TileWords<Value, axes>;
  const int64_t size = words[0];
  shapes.sizes[number] = size;
  int64_t* const box = words + Words::kFirsts;
  int64_t ends[axes];
#pragma unroll
  for (int k = 0; k < axes; ++k) ends[k] = words[Words::kEnds + k];
#pragma unroll
  for (int k = axes - 1; k >= 0; --k) {
    box[2 * k] = kFarCorner - box[k];
    box[2 * k + 1] = ends[k];
  }
#pragma unroll 1
  for (int k = 0; k < 2 * axes; ++k) shapes.boxes[2 * axes * number + k] = box[k];
#pragma unroll 1
  for (int k = 0; k < axes; ++k)
    shapes.centroids[number * axes + k] = double(words[Words::kFirst + k]) / double(size);
  double* const moments = shapes.moments + number * axes * axes;
  int pair = Words::kProducts;
#pragma unroll 1
  for (int k = 0; shapes.moments != nullptr && k < axes; ++k)
#pragma unroll 1
    for (int l = k; l < axes; ++l, ++pair)
      moments[k * axes + l] = moments[l * axes + k] =
          covariance_of(size, words[pair], words[Words::kFirst + k], words[Words::kFirst + l]);
  if constexpr (Words::Values::kRow > 0)
    write_values<Value, axes>(words + Words::kShapes, values, table, number, components, size, box, reals);
}

// Writes all columns, and clears rows; nothing if there are other components than `made_for`. A warp reads 32
// rows side by side.
template <class Value, int axes>
__global__ void __launch_bounds__(kColumnThreads) write_tile_columns(SumTable table, RunTable runs,
    ShapeColumns shapes, typename TileValues<Value, axes>::Columns values, double* reals) {
  follow_launch();
  using Words = TileWords<Value, axes>;
  constexpr int kPairs = (Words::kRow + 1) / 2, kStride = 2 * kPairs + 1;
  __shared__ int64_t staged[kColumnThreads * kStride];
  int64_t* const rows = staged + (threadIdx.x - lane()) * kStride;
  const int row_words = int(table.row_words);  // there are fewer than 2^31 words
  const int64_t components = runs.state->runs == table.made_for ? table.made_for : 0;
  if (grid_thread() == 0) {
    runs.state->components = components;
    if (components > 0) *table.rows_met = 0;
  }
  for (int64_t begin = grid_thread() - lane(); begin < components; begin += grid_threads()) {
    const int64_t number = begin + lane();
    const int label = number < components ? int(runs.present[number]) : -1;
    const auto pair_at = [&](int place) {  // of those of all rows, or null
      const int owner = __shfl_sync(kAllLanes, label, place / kPairs);
      int64_t* const row = table.words + owner * row_words;
      return owner < 0 ? nullptr : reinterpret_cast<TwoWords*>(row) + place % kPairs;
    };
#pragma unroll 4
    for (int k = 0; k < kPairs; ++k) {
      const int place = k * kWarp + lane();
      const TwoWords* const pair = pair_at(place);
      const TwoWords read = pair == nullptr ? TwoWords{} : *pair;
      rows[place / kPairs * kStride + place % kPairs * 2] = read.words[0];
      rows[place / kPairs * kStride + place % kPairs * 2 + 1] = read.words[1];
    }
#pragma unroll 4
    for (int k = 0; k < kPairs; ++k)
      if (TwoWords* const pair = pair_at(k * kWarp + lane())) *pair = TwoWords{};
    __syncwarp();
    if (label >= 0) {
      shapes.labels[number] = label;
      write_component<Value, axes>(rows + lane() * kStride, table, number, components, shapes, values, reals);
    }
    __syncwarp();
  }
}

}
