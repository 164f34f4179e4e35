// Runs of components, of which sums about components are made. A run is a stretch of equal labels along a
// line, within 32 consecutive labels. A counting sort lists those of each component together: count_runs
// counts them by label, count_present and list_present say where they begin, list_runs lists them. A thread
// of walk_runs adds up eight runs in registers, and sends a sum when the component changes, or once for 32
// threads of one:
//    labels   1 1 0 2 2 2    runs of 1: (0, 2) (6, 1)    entries   | (0, 2) (6, 1) | (3, 3) (7, 2) |
//             1 2 2 0 0 0            2: (3, 3) (7, 2)    ends                      2               4
// Labels that change between the two readings give runs of other labels, but none outside the labels or
// entries (rows.cuh). Cost: labels read twice; runs written once and read once by each sum. Memory: 8 bytes
// per run, 8 per row, 16 per row that may occur.
#pragma once

#include "cuda/components/rows.cuh"

namespace conncomp {

using Wide = unsigned __int128;

constexpr int kRunsOfThread = 8;
constexpr int kListedWords = 16;  // whose runs a warp lists at once
constexpr int kLengthBits = 5;    // of a run, less one

struct RunState {
  int64_t components;  // or -1, if labels are wrong
  int64_t runs;
  int64_t item_rows;
};

// Layout: runs.py.
struct RunTable {
  int64_t* counts;    // of the runs of each row; then where its next run goes
  int64_t* present;   // the rows that occur
  int64_t* ends;      // where the runs of each of these end
  int64_t* in_block;  // how many rows occur in the share of each block, and how many runs these have
  RunState* state;
  uint64_t* entries;  // runs, as index << 5 | length - 1; there is room for all
  int64_t items;      // all have `item_rows` rows

  int64_t rows() const { return state->item_rows * items; }
};

// Whether a line begins at an element. Words that are parts of lines have no beginning within.
struct LineBegins {
  int64_t length;
  bool within_words;

  explicit LineBegins(int64_t length) : length(length), within_words(length % kWarp != 0) {}
  bool operator()(int64_t i) const { return within_words && i == quotient(i, length) * length; }
  // The beginnings among `count` elements from one on, as bits.
  unsigned int among(int64_t i, int count) const {
    if (!within_words) return 0;
    unsigned int bits = 0;
    int64_t place = i - quotient(i, length) * length;
    for (int k = 0; k < count; ++k) {
      bits |= unsigned(place == 0) << k;
      place = place + 1 == length ? 0 : place + 1;
    }
    return bits;
  }
};

// Makes room for the runs of some rows; `item_rows` of them belong to an item, as far as is known.
template <int = 0>
__global__ void __launch_bounds__(kTableThreads) begin_runs(int64_t rows, int64_t item_rows, RunTable table) {
  follow_launch();
  if (grid_thread() == 0) *table.state = {0, 0, item_rows};
  for (int64_t row = grid_thread(); row < rows; row += grid_threads()) table.counts[row] = 0;
}

// Four neighbouring labels in each lane of a warp, and where runs begin among them.
template <class Label> struct FourLabels {
  static constexpr int kCount = 4, kLanes = kWarp / kCount;  // lanes that have the labels of a run

  Label labels[kCount];
  unsigned int begins;  // of runs among the 32 labels of these lanes

  // From i on, a multiple of four.
  void read(const LabelRows<Label>& rows, int64_t i) {
    const bool is_aligned = reinterpret_cast<uint64_t>(rows.entries) % (kCount * sizeof(Label)) == 0;
    if (is_aligned && i + kCount <= rows.count)
      Concurrent::load_all(rows.entries + i, labels);
    else
#pragma unroll
      for (int k = 0; k < kCount; ++k) labels[k] = i + k < rows.count ? rows.load(i + k) : rows.background;
  }
  // All lanes call.
  void find_begins(int64_t i, const LineBegins& lines) {
    const Label left = __shfl_up_sync(kAllLanes, labels[kCount - 1], 1);
    unsigned int own = lane() % kLanes == 0 || labels[0] != left;
#pragma unroll
    for (int k = 1; k < kCount; ++k) own |= unsigned(labels[k] != labels[k - 1]) << k;
    begins = (own | lines.among(i, kCount)) << shift();
#pragma unroll
    for (int step = 1; step < kLanes; step *= 2) begins |= __shfl_xor_sync(kAllLanes, begins, step);
  }
  static int shift() { return lane() % kLanes * kCount; }
  bool begins_at(int k) const { return begins >> (shift() + k) & 1; }
  // The labels where runs begin that are not background, as bits.
  unsigned int open(Label background) const {
    unsigned int bits = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) bits |= unsigned(begins_at(k) && labels[k] != background) << k;
    return bits;
  }
  Label label(int k) const {
    const Label low = k & 1 ? labels[1] : labels[0], high = k & 1 ? labels[3] : labels[2];
    return k & 2 ? high : low;
  }
  int length(int k) const {
    const int place = shift() + k;
    const unsigned int later = begins >> place >> 1;
    return later ? __ffs(int(later)) : kWarp - place;
  }
};

// Counts the runs of labels from `lowest` on; returns one more than this thread's largest, and sets
// `is_wrong` for others. The whole grid calls.
template <class Label>
int64_t count_runs_of(
    const LabelRows<Label>& labels, int64_t lowest, int64_t length, int64_t* counts, bool& is_wrong) {
  __shared__ CountSlots<Label> slots;
  const LineBegins lines(length);
  slots.clear();
  __syncthreads();
  constexpr int kFour = FourLabels<Label>::kCount;
  int64_t rows = 0;
  for (int64_t begin = (grid_thread() - lane()) * kFour; begin < labels.count;
      begin += grid_threads() * kFour) {
    FourLabels<Label> four;
    four.read(labels, begin + lane() * kFour);
    four.find_begins(begin + lane() * kFour, lines);
    unsigned int open = four.open(labels.background);
    if (labels.background < lowest)  // there is none, and what is as if there were one is wrong
      for (int k = 0; k < kFour; ++k)
        is_wrong =
            is_wrong || (four.labels[k] == labels.background && begin + lane() * kFour + k < labels.count);
    for (; open; open &= open - 1) {
      const int k = __ffs(int(open)) - 1;
      const Label label = four.label(k);
      if (label < lowest || label >= labels.rows) {
        is_wrong = true;
        continue;
      }
      rows = rows > label ? rows : int64_t(label) + 1;
      slots.add(label, 1, counts);
    }
  }
  __syncthreads();
  slots.send(counts);
  return rows;
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    count_runs(LabelRows<Label> labels, int64_t length, RunTable table) {
  follow_launch();
  bool is_wrong = false;
  count_runs_of(labels, 0, length, table.counts, is_wrong);
}

struct RowShare {
  int64_t begin, end;

  explicit RowShare(int64_t rows) {
    const int64_t size = (rows + gridDim.x - 1) / gridDim.x;
    begin = size * blockIdx.x < rows ? size * blockIdx.x : rows;
    end = begin + size < rows ? begin + size : rows;
  }
};

template <int = 0> __global__ void __launch_bounds__(kTableThreads) count_present(RunTable table) {
  follow_launch();
  const RowShare share(table.rows());
  int64_t present = 0, runs = 0;
  for (int64_t row = share.begin + threadIdx.x; row < share.end; row += kTableThreads) {
    const int64_t count = table.counts[row];
    present += count > 0;
    runs += count;
  }
  present = block_sum<kTableThreads>(present);
  runs = block_sum<kTableThreads>(runs);
  if (threadIdx.x != 0) return;
  table.in_block[blockIdx.x] = present;
  table.in_block[gridDim.x + blockIdx.x] = runs;
}

// Lists the rows that occur, and where their runs begin and end, on the grid of count_present.
template <int = 0> __global__ void __launch_bounds__(kTableThreads) list_present(RunTable table) {
  follow_launch();
  const RowShare share(table.rows());
  int64_t place = sum_of_first<kTableThreads>(blockIdx.x, table.in_block);
  int64_t run = sum_of_first<kTableThreads>(blockIdx.x, table.in_block + gridDim.x);
  for (int64_t begin = share.begin; begin < share.end; begin += kTableThreads) {
    const int64_t row = begin + threadIdx.x, count = row < share.end ? table.counts[row] : 0;
    int present;
    int64_t runs;
    const int64_t number = place + block_scan<kTableThreads>(count > 0, present);
    const int64_t first_run = run + block_scan<kTableThreads>(count, runs);
    place += present;
    run += runs;
    if (count == 0) continue;
    table.present[number] = row;
    table.ends[number] = first_run + count;
    table.counts[row] = first_run;
  }
  if (blockIdx.x != gridDim.x - 1 || threadIdx.x != 0 || table.state->components < 0) return;
  table.state->components = place;
  table.state->runs = run;
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    list_runs(LabelRows<Label> labels, int64_t length, RunTable table) {
  follow_launch();
  __shared__ CountSlots<Label> slots;
  __shared__ int64_t places[kSlots];
  constexpr int kNumberShift = kLengthBits + 1, kSlotShift = kNumberShift + 2,
                kPlaceShift = kSlotShift + kSlotBits;
  const LineBegins lines(length);
  const int64_t room = table.state->runs, share = kTableThreads * kListedWords;
  const auto list = [&](int64_t place, int64_t index, int run_length) {
    if (place < room) table.entries[place] = uint64_t(index) << kLengthBits | uint64_t(run_length - 1);
  };
  using Four = FourLabels<Label>;
  constexpr int kFours = kListedWords / Four::kCount;
  for (int64_t block = blockIdx.x * share; block < labels.count; block += gridDim.x * share) {
    const int64_t first = block + threadIdx.x / kWarp * kWarp * kListedWords + lane() * Four::kCount;
    const auto at = [&](int k, int number) { return first + k * kWarp * Four::kCount + number; };
    slots.clear();
    __syncthreads();
    Four read[kFours];
    unsigned int waiting[kListedWords];  // place in a slot, slot, number and length of a run; 0 of none
#pragma unroll
    for (int k = 0; k < kFours; ++k) read[k].read(labels, at(k, 0));
#pragma unroll
    for (int k = 0; k < kFours; ++k) {
      Four& four = read[k];
      four.find_begins(at(k, 0), lines);
      unsigned int open = four.open(labels.background);
#pragma unroll
      for (int l = 0; l < Four::kCount; ++l, open &= open - 1) {
        unsigned int& waits = waiting[k * Four::kCount + l];
        waits = 0;
        if (!open) continue;
        const int number = lowest(open);
        const Label label = four.label(number);
        if (!labels.has_row(label)) continue;
        const int run_length = four.length(number), slot = slots.find(label);
        if (slot < 0) {
          list(Concurrent::fetch_add(table.counts + label, int64_t(1)), at(k, number), run_length);
        } else {
          const unsigned int place = InBlock::fetch_add(slots.counts + slot, 1u);
          waits = place << kPlaceShift | unsigned(slot) << kSlotShift | unsigned(number) << kNumberShift |
                  unsigned(run_length);
        }
      }
    }
    __syncthreads();
    slots.for_each([&](int slot, Label label, int64_t count) {
      places[slot] = Concurrent::fetch_add(table.counts + label, count);
    });
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kListedWords; ++i) {
      if (waiting[i] == 0) continue;
      const auto bits = [&](int begin, int end) {
        return int(waiting[i] >> begin) & ((1 << (end - begin)) - 1);
      };
      const int slot = bits(kSlotShift, kPlaceShift), number = bits(kNumberShift, kSlotShift);
      list(places[slot] + (waiting[i] >> kPlaceShift), at(i / Four::kCount, number), bits(0, kNumberShift));
    }
    __syncthreads();  // before the slots are cleared
  }
}

// The runs of components, listed. Layout: runs.py.
struct Runs {
  const uint64_t* entries;
  const int64_t* ends;
  const RunState* state;
  int64_t elements;

  // The component of a run: the first that ends beyond it.
  int64_t component_of(int64_t run) const {
    int64_t low = 0, high = state->components - 1;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (ends[middle] > run)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

// A thread's part where each block of a grid does one of several things.
struct Turn {
  int number;
  int64_t thread, threads;

  explicit Turn(int turns)
      : number(blockIdx.x % turns),
        thread(int64_t(blockIdx.x / turns) * blockDim.x + threadIdx.x),
        threads(int64_t((gridDim.x - number + turns - 1) / turns) * blockDim.x) {}
};

inline Wide warp_sum(Wide value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const uint64_t high = __shfl_xor_sync(kAllLanes, uint64_t(value >> 64), step);
    value += Wide(high) << 64 | __shfl_xor_sync(kAllLanes, uint64_t(value), step);
  }
  return value;
}

// Adds to two words, which nobody reads before all have added.
inline void add_wide(int64_t* low, int64_t* high, Wide value) {
  const uint64_t before = Concurrent::fetch_add(reinterpret_cast<uint64_t*>(low), uint64_t(value));
  const bool carry = before + uint64_t(value) < before;
  const int64_t above = int64_t(uint64_t(value >> 64) + carry);
  if (above) Concurrent::fetch_add(high, above);
}

inline Wide wide_of(int64_t low, int64_t high) { return (Wide(uint64_t(high)) << 64) + uint64_t(low); }

// Adds up what the runs of each component have. Whole warps call, with a sum: begin(component) starts an
// empty one, add(index, length) adds a run, combine_lanes() makes it that of all lanes, of one component, and
// send() adds it to the component, as others do.
void walk_runs(const Runs& runs, const Turn& turn, auto& sum) {
  const int64_t count = runs.state->runs;
  for (int64_t warp = (turn.thread - lane()) * kRunsOfThread; warp < count;
      warp += turn.threads * kRunsOfThread) {
    const int64_t first = warp + lane() * kRunsOfThread;
    const int64_t end = first + kRunsOfThread < count ? first + kRunsOfThread : count;
    int64_t component = -1, end_of_component = 0;
    if (first < end) {
      component = runs.component_of(first);
      end_of_component = runs.ends[component];
      sum.begin(component);
    }
    const int64_t first_component = __shfl_sync(kAllLanes, component, 0);
    for (int64_t run = first; run < end; ++run) {
      if (run == end_of_component) {
        sum.send();
        sum.begin(++component);
        end_of_component = runs.ends[component];
      }
      const uint64_t entry = runs.entries[run];
      const int64_t index = int64_t(entry >> kLengthBits);
      const int length = int(entry & ((1 << kLengthBits) - 1)) + 1;
      if (index + length <= runs.elements) sum.add(index, length);
    }
    const bool is_one = __all_sync(kAllLanes, component == first_component);
    if (is_one) sum.combine_lanes();
    if (component >= 0 && (!is_one || lane() == 0)) sum.send();
  }
}

// The coordinate along an axis of an item, of elements and of lines, which are numbered from item to item.
struct Coordinate {
  int64_t line_length, length, lines;  // of the last axis, of this axis, and from one coordinate to the next
  bool along;                          // whether runs lie along this axis

  Coordinate(int64_t axis, const Extent& extent)
      : line_length(extent.length(extent.ndim - 1)),
        length(extent.length(axis)),
        lines(1),
        along(axis == extent.ndim - 1) {
    for (int64_t k = axis + 1; k < extent.ndim - 1; ++k) lines *= extent.length(k);
  }

  int64_t of(int64_t index) const {
    const int64_t line = quotient(index, line_length);
    if (along) return index - line * line_length;
    const int64_t place = quotient(line, lines);
    return place - quotient(place, length) * length;
  }
};

template <int axes> struct ItemAxes {
  static constexpr int kLast = axes - 1;
  int64_t lengths[axes];

  explicit ItemAxes(const Extent& extent) {
#pragma unroll
    for (int k = 0; k < axes; ++k) lengths[k] = extent.length(k);
  }
  void locate(int64_t index, int64_t (&place)[axes]) const {
#pragma unroll
    for (int k = kLast; k >= 0; --k) {
      const int64_t above = quotient(index, lengths[k]);
      place[k] = index - above * lengths[k];
      index = above;
    }
  }
};

}
