// Rows of an array as words of bits: which of 32 elements are foreground, where runs of equal elements
// start, and which elements of two rows touch. Once there are words, a thread needs nothing but arithmetic.
#pragma once

#include "core/warp.cuh"
#include "grid/cells.cuh"

namespace conncomp {

constexpr int kWord = 32;

// ------------------------------------------------------------------------------------------------- runs

struct Runs {
  uint32_t fore, starts;

  // Which elements belong to the run of the one before.
  __device__ uint32_t joined() const { return fore & ~starts; }
  __device__ int start_of(int x) const { return 31 - __clz(int(starts & (kAllLanes >> (31 - x)))); }
  // The elements of the run that starts at a bit: a carry goes through those that are joined.
  __device__ uint32_t run_from(uint32_t start) const {
    return start | (joined() & ~(joined() + (start << 1)));
  }
  // The elements of the run that a bit is in.
  __device__ uint32_t run_of(uint32_t bit) const {
    return run_from(0x80000000u >> __clz(int(starts & (bit | (bit - 1)))));
  }
};

// The runs of foreground of one value.
__device__ inline Runs runs_of_ones(uint32_t fore) { return {fore, fore & ~(fore << 1)}; }

__device__ inline int lowest(uint32_t bits) { return __ffs(int(bits)) - 1; }
__device__ inline uint32_t lowest_bit(uint32_t bits) { return bits & (0 - bits); }

// Calls body(k, bit) for all bits of some words. All threads of a warp call together and wait for each other
// at every bit: left to themselves they drift apart in loops of different lengths, and then run alone to the
// end of the kernel.
template <int words, class Body>
__device__ inline void for_each_bit_together(const uint32_t (&bits)[words], Body&& body) {
  uint32_t rest[words];
  int count = 0;
#pragma unroll
  for (int k = 0; k < words; ++k) {
    rest[k] = bits[k];
    count += __popc(rest[k]);
  }
  for (int left = warp_max(count); left > 0; --left) {
    int word = 0;
    uint32_t here = 0;
#pragma unroll
    for (int k = words - 1; k >= 0; --k)
      if (rest[k] != 0) {
        word = k;
        here = rest[k];
      }
    if (here != 0) {
      const uint32_t bit = lowest_bit(here);
#pragma unroll
      for (int k = 0; k < words; ++k)
        if (k == word) rest[k] ^= bit;
      body(word, bit);
    }
    __syncwarp();
  }
}

// --------------------------------------------------------------------------------------------- contacts

// Which elements of a word equal one of another row: the one straight above, the one to its left and the one
// to its right.
struct Touching {
  uint32_t straight, left, right;

  // The elements of the other word that some of `mine` touch; those beyond its ends are left out.
  __device__ uint32_t columns(uint32_t mine) const {
    return (straight & mine) | (left & mine) >> 1 | (right & mine) << 1;
  }
  // Whether the ends of the word touch elements beyond the other one's, and no one straight above, which
  // would connect them.
  __device__ bool before() const { return left & ~straight & 1; }
  __device__ bool after() const { return (right & ~straight) >> (kWord - 1); }
};

// If all foreground is of one value. `before` and `after` are the words beside the other one.
__device__ inline Touching touching_bits(uint32_t mine, uint32_t other, uint32_t before, uint32_t after,
                                         bool diagonal) {
  if (!diagonal) return {mine & other, 0, 0};
  return {mine & other, mine & (other << 1 | before >> 31), mine & (other >> 1 | after << 31)};
}

// The same for any values, for those that are `possible` by the bits. The rows begin at `row` and `above`.
template <class Value>
__device__ inline Touching touching_values(const Touching& possible, const Value* row, const Value* above,
                                           int64_t stride) {
  Touching found{0, 0, 0};
  for (uint32_t rest = possible.straight | possible.left | possible.right; rest != 0; rest &= rest - 1) {
    const int x = lowest(rest);
    const uint32_t bit = lowest_bit(rest);
    const Value value = row[x * stride];
    const Value* const there = above + x * stride;
    if ((possible.straight & bit) && there[0] == value) found.straight |= bit;
    if ((possible.left & bit) && there[-stride] == value) found.left |= bit;
    if ((possible.right & bit) && there[stride] == value) found.right |= bit;
  }
  return found;
}

// Calls body(run, other run) for each two runs that touch. All threads of a warp call together.
template <class Body>
__device__ inline void for_each_contact(const Runs& mine, const Runs& other, const Touching& touched,
                                        bool but_first, Body&& body) {
  const uint32_t starts[] = {(touched.straight | touched.left | touched.right) != 0 ? mine.starts : 0};
  for_each_bit_together(starts, [&](int, uint32_t start) {
    const uint32_t run = mine.run_from(start);
    uint32_t columns = touched.columns(run);
    if (but_first && columns != 0) columns &= ~other.run_of(lowest_bit(columns));
    while (columns != 0) {
      const uint32_t its_run = other.run_of(lowest_bit(columns));
      columns &= ~its_run;
      body(run, its_run);
    }
  });
}

// ---------------------------------------------------------------------------------------------- bundles

// The words of some rows at the same place along the last axis: `high` x `deep` of them, first those along
// the axis before. One row is a bundle, too.
template <int high, int deep>
struct Bundle {
  static constexpr int kRows = high * deep;
  uint32_t row[kRows];

  // All rows joined by "or", or those on one side.
  __device__ uint32_t facing(int side_z, int side_y) const {
    uint32_t found = 0;
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const bool low_z = k / high == 0, high_z = k / high == deep - 1;
      const bool low_y = k % high == 0, high_y = k % high == high - 1;
      if ((side_z < 0 ? low_z : side_z == 0 || high_z) && (side_y < 0 ? low_y : side_y == 0 || high_y))
        found |= row[k];
    }
    return found;
  }
  __device__ uint32_t all() const { return facing(0, 0); }

  // The first element of a run of all rows joined: which row it is in, and where.
  struct Element {
    int row, x;
  };
  __device__ Element first(uint32_t run) const {
    int k = kRows - 1;
    uint32_t here = row[kRows - 1] & run;
#pragma unroll
    for (int earlier = kRows - 2; earlier >= 0; --earlier)
      if ((row[earlier] & run) != 0) {
        k = earlier;
        here = row[earlier] & run;
      }
    return {k, lowest(here)};
  }
};

// ---------------------------------------------------------------------------------- from values to words

// Calls shuffle, which takes values of four and eight bytes, with a value of any type.
template <class Value, class Shuffle>
__device__ inline Value shuffled(Value value, Shuffle&& shuffle) {
  if constexpr (sizeof(Value) < 4)
    return Value(shuffle(int(value)));
  else if constexpr (sizeof(Value) == 8 && Value(0.5) == Value(0))
    return Value(shuffle((unsigned long long)(value)));
  else
    return shuffle(value);
}
template <class Shuffle>
__device__ inline Half shuffled(Half value, Shuffle&& shuffle) {
  return Half{uint16_t(shuffle(int(value.bits)))};
}
template <class Value>
__device__ inline Value from_lane_before(Value value) {
  return shuffled(value, [](auto bits) { return __shfl_up_sync(kAllLanes, bits, 1); });
}
__device__ inline int64_t from_lane(int64_t value, int source) {
  return __shfl_sync(kAllLanes, (long long)(value), source);
}

// Whether all foreground that a thread has seen is of one value, and which.
template <class Value>
struct Seen {
  Value value;
  bool any, differ;

  __device__ void add(Value other) {
    differ |= any && !(other == value);
    if (!any) value = other;
    any = true;
  }
};

// The rows of a warp, one of each lane, which have `width` elements or none: a lane reads one element of all
// of them.
template <class Value>
__device__ inline Runs read_rows(const Value* values, int64_t offset, int64_t stride, int width, Value ground,
                                 bool has_ground, Seen<Value>& seen) {
  constexpr int kAtOnce = 8;
  Runs mine{0, 0};
  for (int first = 0; first < kWarp; first += kAtOnce) {
    Value value[kAtOnce];
    uint32_t here = 0;
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64_t at = from_lane(offset, first + k) + lane() * stride;
      const bool in_row = lane() < __shfl_sync(kAllLanes, width, first + k);
      value[k] = in_row ? values[at] : Value{};
      here |= uint32_t(in_row) << k;
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const bool fore = (here >> k & 1) && !is_background(value[k], ground, has_ground);
      const Value before = from_lane_before(value[k]);
      const uint32_t fores = __ballot_sync(kAllLanes, fore);
      // An element that equals one of the foreground is foreground.
      const uint32_t starts = __ballot_sync(kAllLanes, fore && (lane() == 0 || !(value[k] == before)));
      if (lane() == first + k) mine = Runs{fores, starts};
      if (fore) seen.add(value[k]);
    }
  }
  return mine;
}

// The same as touching_values, for all rows of a warp: each lane has a row, and compares one element of all.
// The other rows lie at a distance of `step`.
template <class Value>
__device__ inline Touching touching_rows(const Touching& possible, const Value* values, int64_t offset,
                                         int64_t step, int64_t stride) {
  Touching mine{0, 0, 0};
  uint32_t open = __ballot_sync(kAllLanes, (possible.straight | possible.left | possible.right) != 0);
  for (; open != 0; open &= open - 1) {
    const int r = lowest(open);
    const Value* const row = values + from_lane(offset, r) + lane() * stride;
    const bool straight = __shfl_sync(kAllLanes, possible.straight, r) >> lane() & 1;
    const bool left = __shfl_sync(kAllLanes, possible.left, r) >> lane() & 1;
    const bool right = __shfl_sync(kAllLanes, possible.right, r) >> lane() & 1;
    const Value value = straight || left || right ? row[0] : Value{};
    const uint32_t straights = __ballot_sync(kAllLanes, straight && row[step] == value);
    const uint32_t lefts = __ballot_sync(kAllLanes, left && row[step - stride] == value);
    const uint32_t rights = __ballot_sync(kAllLanes, right && row[step + stride] == value);
    if (lane() == r) mine = Touching{straights, lefts, rights};
  }
  return mine;
}

// Bytes can be read by each thread for itself.
struct alignas(16) Chunk {
  uint32_t bytes[4];
};
constexpr int kChunks = kWord / int(sizeof(Chunk));

__device__ inline bool in_chunks(const void* row, int64_t stride, int width) {
  return stride == 1 && width == kWord && reinterpret_cast<size_t>(row) % sizeof(Chunk) == 0;
}

// The highest bit of every byte that is not 0.
__device__ inline uint32_t bytes_not_0(uint32_t bytes) {
  return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
}

// Which bytes are foreground, four at a time: it is where the difference to the background is not 0.
__device__ inline uint32_t foreground_bytes(Chunk (&chunks)[kChunks], uint8_t ground, Seen<uint8_t>& seen) {
  const uint32_t grounds = ground * 0x01010101u;
  uint32_t fore = 0, value = 0, odd = 0;
#pragma unroll
  for (Chunk& chunk : chunks)
#pragma unroll
    for (uint32_t& bytes : chunk.bytes) value |= bytes ^= grounds;
  // If all bytes that are not 0 are the same, that is what they are joined by "or".
  value |= value >> 16;
  value = (value | value >> 8) & 0xffu;
  const uint32_t values = value * 0x01010101u;
#pragma unroll
  for (const Chunk& chunk : chunks)
#pragma unroll
    for (const uint32_t bytes : chunk.bytes) {
      const uint32_t tops = bytes_not_0(bytes);
      odd |= tops & bytes_not_0(bytes ^ values);
      fore = fore >> 4 | (tops * 0x00204081u & 0xf0000000u);  // the four bits come to the top
    }
  if (fore != 0) seen.add(uint8_t(value ^ ground));
  seen.differ |= odd != 0;
  return fore;
}

}  // namespace conncomp
