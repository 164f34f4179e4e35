// The values of a brick, as its thread reads them: which elements are foreground, and which are equal.
#pragma once

#include "cuda/core/warp.cuh"
#include "cuda/grid/brick.cuh"
#include "cuda/grid/word_bytes.cuh"

namespace conncomp {

// The values that foreground has: none so far, one, or several.
template <class Value> struct ValuesMet {
  Value value;  // the first one
  bool any, several;
  Value differing;  // of integers but bytes: the bits in which they differ from it

  void add(Value next) {
    several |= any && !(next == value);
    if (!any) value = next;
    any = true;
  }
};

// Tells the threads of a block whether the foreground of all has one value.
template <class Value, int warps> struct ValueOfBlock {
  Value value[warps];
  bool has_value[warps];

  // Returns a value that was met; threads that know another have met several. All threads call.
  Value common(ValuesMet<Value>& met) {
    const int warp = int(threadIdx.x) / kWarp;
    const uint32_t with_value = __ballot_sync(kAllLanes, met.any);
    if (lane() == 0) has_value[warp] = with_value != 0;
    if (with_value != 0 && lane() == lowest(with_value)) value[warp] = met.value;
    __syncthreads();
    const bool compares = lane() < int(blockDim.x) / kWarp && has_value[lane()];
    const uint32_t comparing = __ballot_sync(kAllLanes, compares);
    const Value first = value[comparing == 0 ? 0 : lowest(comparing)];
    met.several |= (compares && !(value[lane()] == first)) || (met.any && !(met.value == first));
    return first;
  }
};

// Planes tell integers apart; floating-point numbers of different bits may be equal.
template <class Value> constexpr bool kHasPlanes = false;
template <> constexpr bool kHasPlanes<uint8_t> = true;
template <> constexpr bool kHasPlanes<uint16_t> = true;
template <> constexpr bool kHasPlanes<uint32_t> = true;
template <> constexpr bool kHasPlanes<uint64_t> = true;

// A tile's foreground: `base`, and numbers that differ by some of two bits or all of `differing`, whose
// lowest and highest bits tell them apart. 0 if all are `base`.
template <class Value> struct Frame {
  Value base, differing;

  bool operator==(const Frame& other) const { return base == other.base && differing == other.differing; }
  bool has_two_bits() const { return __popcll(differing) <= kPlanes; }
  bool has(Value value) const { return value == base || Value(value ^ base) == differing; }
  int bit(int plane) const {
    return plane == 0 ? lowest(Bits(differing)) : kBits - 1 - __clzll((long long)(differing));
  }
};

// The frame of values that differ from one in some bits; one for all that differ in the last two.
template <class Value> Frame<Value> frame_of(Value value, Value differing) {
  if ((differing & ~Value(3)) == 0) differing = 3;
  Frame<Value> frame{value, differing};
  if (frame.has_two_bits())
    frame.base &= ~differing;
  else if (value >> frame.bit(0) & 1)
    frame.base ^= differing;
  return frame;
}

// The values of a brick, which begins at `first`, as far as it is `inside` the array.
template <class Value, int axes> struct BrickValues {
  using B = Brick<axes>;
  static constexpr int kRow = B::kRow, kRows = B::kRows;
  static constexpr int kBytes = kRow * int(sizeof(Value)), kWords = kBytes / 4;
  struct alignas(kBytes < 16 ? kBytes : 16) Words {
    uint32_t word[kWords];
  };

  const Value* first;
  int64_t stride[axes];
  Bits inside;
  bool aligned;

  BrickValues(const Value* first, auto&& stride_of, Bits inside) : first(first), inside(inside) {
    size_t places = reinterpret_cast<size_t>(first);
    unrolled<axes>([&](int a) {
      stride[a] = stride_of(a);
      if (a > 0) places |= size_t(stride[a]) * sizeof(Value);
    });
    aligned = stride[0] == 1 && places % alignof(Words) == 0 && inside == ~Bits(0);
  }

  const Value* at(int bit) const {
    const Value* place = first;
    unrolled<axes>([&](int a) { place += B::coordinate(bit, a) * stride[a]; });
    return place;
  }
  Words words(int row) const { return *reinterpret_cast<const Words*>(at(row * kRow)); }
  static Value value_in(const Words& words, int k) {
    Value value;
    memcpy(&value, reinterpret_cast<const unsigned char*>(words.word) + k * sizeof(value), sizeof(value));
    return value;
  }
  // The words of a row of bytes; what is not inside is `outside`.
  Words bytes(int row, Value outside) const {
    if (aligned) return words(row);
    return gathered(at(row * kRow), stride[0], uint32_t(inside >> row * kRow), outside);
  }
  // Called, not inlined, as several functions need it at the ends of arrays.
  CONNCOMP_PHASE static Words gathered(const Value* first, int64_t stride, uint32_t inside, Value outside) {
    Words row{};
#pragma unroll
    for (int x = 0; x < kRow; ++x)
      row.word[x / 4] |= uint32_t(inside >> x & 1 ? first[x * stride] : outside) << x % 4 * 8;
    return row;
  }
  void read_row(int row, Value (&values)[kRow]) const {
    if (sizeof(Value) == 1 || aligned) {
      Words all;
      if constexpr (sizeof(Value) == 1)
        all = bytes(row, Value(0));
      else
        all = words(row);
#pragma unroll
      for (int x = 0; x < kRow; ++x) values[x] = value_in(all, x);
    } else {
#pragma unroll
      for (int x = 0; x < kRow; ++x) {
        const int bit = row * kRow + x;
        values[x] = inside >> bit & 1 ? *at(bit) : Value{};
      }
    }
  }

  Bits where(auto&& test) const {
    Bits elements = 0;
#pragma unroll 4
    for (int row = 0; row < kRows; ++row) {
      Value values[kRow];
      read_row(row, values);
      uint32_t row_bits = 0;
#pragma unroll
      for (int x = 0; x < kRow; ++x) row_bits |= uint32_t(test(values[x])) << x;
      elements |= Bits(row_bits) << row * kRow;
    }
    return elements & inside;
  }

  // The bits in which some elements differ from a value. Loops of few registers, as few tiles come here.
  Value differing(Bits elements, Value value) const {
    if constexpr (sizeof(Value) == 1) {
      return differing_bytes(elements, value);
    } else {
      Value bits = 0;
#pragma unroll 1
      for (int row = 0; row < kRows; ++row) {
        Value values[kRow];
        read_row(row, values);
#pragma unroll
        for (int x = 0; x < kRow; ++x)
          bits |= elements >> (row * kRow + x) & 1 ? Value(values[x] ^ value) : Value(0);
      }
      return bits;
    }
  }
  uint8_t differing_bytes(Bits elements, uint8_t value) const {
    uint32_t bits = 0;
#pragma unroll 1
    for (int row = 0; row < kRows; ++row, elements >>= kRow) {
      const Words in_row = bytes(row, 0);
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        const uint32_t wanted = (uint32_t(elements >> 4 * k) & 15) * 0x00204081u & kEachByte;
        bits |= (in_row.word[k] ^ in_all(value)) & wanted * 0xffu;
      }
    }
    bits |= bits >> 16;
    return uint8_t(bits | bits >> 8);
  }
  // The planes of a frame; `strangers` gets the elements that it lacks.
  ValuePlanes planes(const Frame<Value>& frame, Bits& strangers) const {
    const int bit[kPlanes] = {frame.bit(0), frame.bit(1)};
    ValuePlanes planes{};
    strangers = 0;
#pragma unroll 1
    for (int row = 0; row < kRows; ++row) {
      uint32_t in_row[kPlanes + 1] = {};
      if constexpr (sizeof(Value) == 1) {
        planes_of_bytes(bytes(row, 0), bit, frame, in_row);
      } else {
        Value values[kRow];
        read_row(row, values);
#pragma unroll
        for (int x = 0; x < kRow; ++x) {
#pragma unroll
          for (int k = 0; k < kPlanes; ++k) in_row[k] |= uint32_t(values[x] >> bit[k] & 1) << x;
          in_row[kPlanes] |= uint32_t(!frame.has(values[x])) << x;
        }
      }
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) planes.plane[k] |= Bits(in_row[k]) << row * kRow;
      strangers |= Bits(in_row[kPlanes]) << row * kRow;
    }
    if (frame.has_two_bits()) strangers = 0;
    return planes;
  }
  // The same for a row of bytes, four at a time.
  static void planes_of_bytes(const Words& bytes, const int (&bit)[kPlanes], const Frame<Value>& frame,
      uint32_t (&in_row)[kPlanes + 1]) {
#pragma unroll
    for (int j = 0; j < kWords; ++j) {
      const uint32_t word = bytes.word[j], from_base = word ^ in_all(frame.base);
#pragma unroll
      for (int k = 0; k < kPlanes; ++k) in_row[k] = appended(in_row[k], word << (7 - bit[k]) & 0x80808080u);
      const uint32_t strange = bytes_set(from_base) & bytes_set(from_base ^ in_all(frame.differing));
      in_row[kPlanes] = appended(in_row[kPlanes], strange);
    }
#pragma unroll
    for (uint32_t& bits : in_row) bits >>= 32 - kRow;
  }

  Bits foreground(const Background<Value>& background, ValuesMet<Value>& met) const {
    if constexpr (sizeof(Value) == 1) {
      if (inside == 0) return 0;
      const uint8_t ground = background.present ? background.value : *first;
      Bits foreground = 0;
      if (aligned) {
        foreground = foreground_bytes<kRows>(0, ground, met);
      } else {
#pragma unroll 1
        for (int row = 0; row < kRows; ++row)
          foreground |= foreground_bytes<1>(row, ground, met) << row * kRow;
      }
      if (background.present) return foreground;
      met = {ground, true, foreground != 0, 0};
      return inside;
    } else if constexpr (kHasPlanes<Value>) {
      const Bits foreground =
          background.present ? where([&](const Value& value) { return value != background.value; }) : inside;
      met.any = foreground != 0;
      if (met.any) {
        met.value = *at(lowest(foreground));
        met.differing = differing(foreground, met.value);
        met.several = met.differing != 0;
      }
      return foreground;
    } else {
      Bits foreground = 0;
#pragma unroll 4
      for (int row = 0; row < kRows; ++row) {
        Value values[kRow];
        read_row(row, values);
        uint32_t foreground_of_row = 0;
#pragma unroll
        for (int x = 0; x < kRow; ++x) {
          const int bit = row * kRow + x;
          if (!(inside >> bit & 1) || background.is(values[x])) continue;
          foreground_of_row |= 1u << x;
          met.add(values[x]);
        }
        foreground |= Bits(foreground_of_row) << row * kRow;
      }
      return foreground;
    }
  }

  // For some rows of bytes, four at a time: foreground is where the difference to the background is not 0.
  template <int rows>
  Bits foreground_bytes(int first_row, uint8_t background, ValuesMet<uint8_t>& met) const {
    uint32_t differences[rows * kWords], value = 0, odd = 0;
#pragma unroll
    for (int row = 0; row < rows; ++row) {
      const Words in_row = rows == kRows ? words(row) : bytes(first_row + row, background);
#pragma unroll
      for (int k = 0; k < kWords; ++k) differences[row * kWords + k] = in_row.word[k];
    }
#pragma unroll
    for (uint32_t& word : differences) value |= word ^= in_all(background);
    // If all bytes that are not 0 are the same, their "or" is that byte.
    value |= value >> 16;
    value = (value | value >> 8) & 0xffu;
    uint32_t half[2] = {0, 0};
#pragma unroll
    for (int k = 0; k < rows * kWords; ++k) {
      const uint32_t tops = bytes_set(differences[k]);
      odd |= differences[k] ^ (tops >> 7) * value;
      half[k / 8] = appended(half[k / 8], tops);
    }
    if constexpr (rows * kRow < 32) half[0] >>= 32 - rows * kRow;
    const Bits foreground = half[0] | Bits(half[1]) << 32;
    if (foreground != 0) met.add(uint8_t(value ^ background));
    met.several |= odd != 0;
    return foreground;
  }
  static uint32_t in_all(uint8_t byte) { return byte * kEachByte; }
  // Moves the highest bits of four bytes to the top of a word, whose others move down.
  static uint32_t appended(uint32_t word, uint32_t tops) {
    return word >> 4 | (tops * 0x00204081u & 0xf0000000u);
  }
  // The bytes that have some of the bits of a mask.
  Bits with_bits(uint8_t mask) const {
    uint32_t half[2] = {0, 0};
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const Words in_row = bytes(row, 0);
#pragma unroll
      for (int k = 0; k < kWords; ++k) {
        uint32_t& bits = half[(row * kWords + k) / 8];
        bits = appended(bits, bytes_set(in_row.word[k] & in_all(mask)));
      }
    }
    return half[0] | Bits(half[1]) << 32;
  }

  // The links between equal elements at some backward steps (a bit per code) in this brick.
  BrickLinks<axes> equal_links(Bits foreground, uint32_t steps) const {
    if constexpr (sizeof(Value) == 1)
      return links_of_bytes(foreground, steps);
    else
      return links(Equal<Value>{}, foreground, steps);
  }
  // For bytes, a row at once as one number.
  BrickLinks<axes> links_of_bytes(Bits foreground, uint32_t steps) const {
    constexpr int kLayer = axes < 3 ? 1 : kRows / B::kSide;  // rows before that may be compared
    BrickLinks<axes> brick{foreground, 0, Comparison::kValues, {}};
    Bits current[kLayer], before[kLayer] = {};
#pragma unroll 1
    for (int layer = 0; layer < kRows / kLayer; ++layer) {
#pragma unroll
      for (int row = 0; row < kLayer; ++row) current[row] = as_number(bytes(layer * kLayer + row, 0));
#pragma unroll
      for (int step = 0; step < B::kNoStep; ++step) {
        if (!(steps >> step & 1)) continue;
        uint32_t differing = 0;
#pragma unroll
        for (int row = 0; row < kLayer; ++row) {
          const int to = axes < 3 ? 0 : row + B::step(step, 1);
          if (to < 0 || to >= kLayer) continue;  // not in this brick
          Bits neighbours = B::step(step, axes - 1) < 0 && axes > 1 ? before[to] : current[to];
          if (B::step(step, 0) > 0) neighbours >>= 8;
          if (B::step(step, 0) < 0) neighbours <<= 8;
          if (axes == 1) neighbours |= before[to] >> 8 * (kRow - 1);
          differing |= bytes_differing(current[row] ^ neighbours) << row * kRow;
        }
        brick.back[step] = brick.back[step] >> kLayer * kRow | Bits(differing) << (kBits - kLayer * kRow);
      }
#pragma unroll
      for (int row = 0; row < kLayer; ++row) before[row] = current[row];
    }
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      brick.back[step] = !(steps >> step & 1)
                             ? 0
                             : ~brick.back[step] & foreground & foreground << B::distance_back(step) &
                                   B::with_element_at(step);
    return brick;
  }
  static Bits as_number(const Words& row) {
    if constexpr (kWords == 1) return row.word[0];
    if constexpr (kWords > 1) return row.word[0] | Bits(row.word[1]) << 32;
  }
  // The bytes of a row that are not 0, as bits.
  static uint32_t bytes_differing(Bits row) {
    const uint32_t low = bits_of_bytes(bytes_set(uint32_t(row)));
    return kRow == 4 ? low : low | uint32_t(bits_of_bytes(bytes_set(uint32_t(row >> 32)))) << 4;
  }

  // The same for any rule, element by element.
  BrickLinks<axes> links(const auto& rule, Bits foreground, uint32_t steps) const {
    constexpr int kLayer = axes < 2 ? kRow : kBits / B::kSide;  // elements before that may be compared
    BrickLinks<axes> brick{foreground, 0, Comparison::kValues, {}};
    Value current[kLayer], before[kLayer] = {};
#pragma unroll 1
    for (int layer = 0; layer < kBits / kLayer; ++layer) {
#pragma unroll
      for (int row = 0; row < kLayer / kRow; ++row) {
        Value values[kRow];
        read_row(layer * (kLayer / kRow) + row, values);
#pragma unroll
        for (int x = 0; x < kRow; ++x) current[row * kRow + x] = values[x];
      }
#pragma unroll
      for (int step = 0; step < B::kNoStep; ++step) {
        if (!(steps >> step & 1)) continue;
        uint32_t linked = 0;
#pragma unroll
        for (int p = 0; p < kLayer; ++p) {
          const int neighbour = p - B::distance_back(step);
          if (neighbour + kLayer < 0) continue;  // not in this brick
          if (rule.linked(current[p], neighbour < 0 ? before[(neighbour + kLayer) % kLayer]
                                                    : current[neighbour < 0 ? 0 : neighbour]))
            linked |= 1u << p;
        }
        brick.back[step] |= Bits(linked) << layer * kLayer;
      }
#pragma unroll
      for (int p = 0; p < kLayer; ++p) before[p] = current[p];
    }
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      brick.back[step] &= foreground & foreground << B::distance_back(step) & B::with_element_at(step);
    return brick;
  }

  Bits equal_to(Value value, Bits bits) const {
    Bits equal = 0;
#pragma unroll 1
    for (Bits untested = bits; untested != 0; untested &= untested - 1)
      if (*at(lowest(untested)) == value) equal |= lowest_bit(untested);
    return equal;
  }
};

}
