// Rows of an array as words of bits: which of 32 elements are foreground, where runs of equal elements
// start, and which elements of two rows touch. One thread makes a word, and all else is arithmetic.
#pragma once

#include "core/launch.cuh"
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
  __device__ uint32_t run_of(int x) const { return run_from(1u << start_of(x)); }
};

// The runs of foreground of one value.
__device__ inline Runs runs_of_ones(uint32_t fore) { return {fore, fore & ~(fore << 1)}; }

__device__ inline int lowest(uint32_t bits) { return __ffs(int(bits)) - 1; }

template <class Body>
__device__ inline void for_each_bit(uint32_t bits, Body&& body) {
  for (; bits != 0; bits &= bits - 1) body(lowest(bits));
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
  // Leaves one contact for each two runs that touch.
  __device__ Touching once(const Runs& mine, const Runs& other) const {
    Touching found;
    found.straight = straight & ~(straight << 1 & mine.joined() & other.joined());
    found.left = left & mine.starts & ~straight;
    found.right = right & ~straight & ~(mine.joined() >> 1);
    return found;
  }
};

// If all foreground is of one value. `before` and `after` are the words beside the other one.
__device__ inline Touching touching_bits(uint32_t mine, uint32_t other, uint32_t before, uint32_t after,
                                         bool diagonal) {
  if (!diagonal) return {mine & other, 0, 0};
  return {mine & other, mine & (other << 1 | before >> 31), mine & (other >> 1 | after << 31)};
}

// The same for any values. The rows begin at `row` and `above`.
template <class Value>
__device__ inline Touching touching_values(uint32_t mine, const Value* row, uint32_t other,
                                           const Value* above, uint32_t before, uint32_t after,
                                           int64_t stride, bool diagonal) {
  const Touching possible = touching_bits(mine, other, before, after, diagonal);
  Touching found{0, 0, 0};
  for_each_bit(possible.straight | possible.left | possible.right, [&](int x) {
    const Value value = row[x * stride];
    const Value* const there = above + x * stride;
    const uint32_t bit = 1u << x;
    if ((possible.straight & bit) && there[0] == value) found.straight |= bit;
    if ((possible.left & bit) && there[-stride] == value) found.left |= bit;
    if ((possible.right & bit) && there[stride] == value) found.right |= bit;
  });
  return found;
}

// ---------------------------------------------------------------------------------- from values to words

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

// The highest bit of every byte that is not 0.
__device__ inline uint32_t bytes_not_0(uint32_t bytes) {
  return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
}

template <class Value>
struct alignas(16) Chunk {
  static constexpr int kElements = 16 / int(sizeof(Value));
  Value value[kElements];
};

// Whether a row can be read in chunks.
template <class Value>
__device__ inline bool in_chunks(const Value* row, int64_t stride, int width) {
  return stride == 1 && width == kWord && reinterpret_cast<size_t>(row) % sizeof(Chunk<Value>) == 0;
}

// Calls body(x, value) for the elements of a row.
template <class Value, class Body>
__device__ inline void for_each_value(const Value* row, int64_t stride, int width, Body&& body) {
  if (in_chunks(row, stride, width)) {
    constexpr int kElements = Chunk<Value>::kElements;
#pragma unroll(2)
    for (int first = 0; first < kWord; first += kElements) {
      const Chunk<Value> chunk = *reinterpret_cast<const Chunk<Value>*>(row + first);
#pragma unroll
      for (int k = 0; k < kElements; ++k) body(first + k, chunk.value[k]);
    }
  } else {
    for (int x = 0; x < width; ++x) body(x, row[x * stride]);
  }
}

// Four bytes at a time: the difference to the background, where it is not 0, is foreground.
__device__ inline uint32_t foreground_bytes(const uint8_t* row, uint8_t ground, Seen<uint8_t>& seen) {
  const uint32_t grounds = ground * 0x01010101u;
  Chunk<uint32_t> differences[2];
  uint32_t fore = 0, value = 0, odd = 0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    differences[k] = reinterpret_cast<const Chunk<uint32_t>*>(row)[k];
#pragma unroll
    for (uint32_t& bytes : differences[k].value) value |= bytes ^= grounds;
  }
  // If all bytes that are not 0 are the same, that is what they are joined by "or".
  value |= value >> 16;
  value = (value | value >> 8) & 0xffu;
  const uint32_t values = value * 0x01010101u;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const uint32_t bytes = differences[k / 4].value[k % 4], tops = bytes_not_0(bytes);
    odd |= tops & bytes_not_0(bytes ^ values);
    fore = fore >> 4 | (tops * 0x00204081u & 0xf0000000u);  // the four bits come to the top
  }
  if (fore != 0) seen.add(uint8_t(value ^ ground));
  seen.differ |= odd != 0;
  return fore;
}

// Which elements of a row are foreground.
template <class Value>
__device__ inline uint32_t foreground(const Value* row, int64_t stride, int width, Value ground,
                                      bool has_ground, Seen<Value>& seen) {
  if constexpr (sizeof(Value) == 1)
    if (has_ground && in_chunks(row, stride, width)) return foreground_bytes(row, ground, seen);
  uint32_t fore = 0;
  for_each_value(row, stride, width, [&](int x, Value value) {
    if (is_background(value, ground, has_ground)) return;
    fore |= 1u << x;
    seen.add(value);
  });
  return fore;
}

// Where runs of any values start in a row.
template <class Value>
__device__ inline uint32_t starts_of_values(const Value* row, int64_t stride, int width, uint32_t fore) {
  uint32_t starts = fore & ~(fore << 1);
  Value before{};
  for_each_value(row, stride, width, [&](int x, Value value) {
    if (x > 0 && !(value == before)) starts |= fore & 1u << x;
    before = value;
  });
  return starts;
}

}  // namespace conncomp
