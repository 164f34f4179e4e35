// Bricks: 64 neighbouring elements of an array as the bits of one word, which a thread has for itself.
//
// A brick is 64 elements long in one dimension, 8 x 8 in two, and 4 x 4 x 4 along the last three axes of an
// array of more. Its sides are called axes 0, 1 and 2, from the last axis of the array; bit by bit, a brick
// is in the order of the array. Its components, and what they touch of the bricks around, are found by
// shifts: a thread needs nothing but arithmetic.
#pragma once

#include "core/neighbourhood.h"
#include "cuda/core/warp.cuh"
#include "cuda/grid/cells.cuh"

namespace conncomp {

using Bits = uint64_t;
constexpr int kBits = 64;

__device__ inline int lowest(Bits bits) { return __ffsll((long long)(bits)) - 1; }
__device__ inline int lowest(uint32_t bits) { return __ffs(int(bits)) - 1; }
__device__ inline Bits lowest_bit(Bits bits) { return bits & (0 - bits); }
__device__ inline uint32_t lowest_bit(uint32_t bits) { return bits & (0 - bits); }

template <int axes>
struct Brick : Steps<axes> {
  static constexpr int kLog = 6 / axes, kSide = 1 << kLog;
  // Elements in one line that are read or written together.
  static constexpr int kRow = kSide < 8 ? kSide : 8, kRows = kBits / kRow;

  // How far elements that are neighbours along an axis are from each other.
  CONNCOMP_ANYWHERE static constexpr int stride(int axis) { return 1 << axis * kLog; }
  CONNCOMP_ANYWHERE static constexpr Bits ones(int count) {
    return count == kBits ? ~Bits(0) : (Bits(1) << count) - 1;
  }
  // The elements whose coordinate along an axis is less than `end`.
  CONNCOMP_ANYWHERE static constexpr Bits layers(int axis, int end) {
    return ones(stride(axis) * end) * (~Bits(0) / ones(stride(axis) * kSide));
  }
  CONNCOMP_ANYWHERE static constexpr Bits layer(int axis, int at) {
    return layers(axis, 1) << stride(axis) * at;
  }
  // The elements whose neighbours are all in the brick.
  CONNCOMP_ANYWHERE static constexpr Bits interior() {
    Bits found = ~Bits(0);
    for (int a = 0; a < axes; ++a) found &= ~layer(a, 0) & ~layer(a, kSide - 1);
    return found;
  }
  CONNCOMP_ANYWHERE static constexpr int coordinate(int bit, int axis) {
    return bit >> axis * kLog & (kSide - 1);
  }

  // Those one step ahead along an axis; those one step ahead or back.
  __device__ static Bits ahead(Bits bits, int axis) { return bits << stride(axis) & ~layer(axis, 0); }
  __device__ static Bits beside(Bits bits, int axis) {
    return ahead(bits, axis) | (bits >> stride(axis) & ~layer(axis, kSide - 1));
  }
  // Those one step ahead or back, in the bricks before and after this one, too.
  __device__ static Bits ahead_across(Bits bits, int axis, Bits before) {
    return ahead(bits, axis) | (before >> stride(axis) * (kSide - 1) & layer(axis, 0));
  }
  __device__ static Bits back_across(Bits bits, int axis, Bits after) {
    return (bits >> stride(axis) & ~layer(axis, kSide - 1)) |
           (after << stride(axis) * (kSide - 1) & layer(axis, kSide - 1));
  }
  // The elements around others, diagonally, too.
  __device__ static Bits around(Bits bits) {
    Bits found = 0;
#pragma unroll
    for (int a = 0; a < axes; ++a) found |= beside(bits | found, a);
    return found;
  }
  // Without the elements that have one of the others before them along an axis.
  __device__ static Bits without_next(Bits bits) {
    Bits found = bits;
#pragma unroll
    for (int a = 0; a < axes; ++a) found &= ~ahead(bits, a);
    return found;
  }
  // The elements and their neighbours along some of the axes, a bit for each: at most `most` coordinates
  // differ, by one.
  __device__ static Bits dilated(Bits bits, int along, int most) {
    if (most >= axes) {
#pragma unroll
      for (int a = 0; a < axes; ++a)
        if (along >> a & 1) bits |= beside(bits, a);
      return bits;
    }
    Bits one = bits, two = bits;  // what is reached along so many axes
#pragma unroll
    for (int a = 0; a < axes; ++a)
      if (along >> a & 1) {
        if constexpr (axes > 2) two |= beside(one, a);
        one |= beside(bits, a);
      }
    return most == 0 ? bits : most == 1 ? one : two;
  }
};

// At which places of a brick there is an element, or near it, and at which there are several.
template <int axes>
struct Crowd {
  using B = Brick<axes>;
  Bits some, several;

  __device__ void add(Bits others, Bits several_others) {
    several |= several_others | (some & others);
    some |= others;
  }
  // The same with what is one step before and after along an axis, up to the next bricks.
  __device__ Crowd spread(int axis, const Crowd& before, const Crowd& after) const {
    Crowd found = *this;
    found.add(B::ahead_across(some, axis, before.some), B::ahead_across(several, axis, before.several));
    found.add(B::back_across(some, axis, after.some), B::back_across(several, axis, after.several));
    return found;
  }
};

// ----------------------------------------------------------------------------- what is around a brick

// How far a brick meets others along each axis: up to the last layer of the brick before, and of this one,
// which may be cut off by the end of the array.
struct WholeLayers {
  int side;
  __device__ int before(int) const { return side - 1; }
  __device__ int mine(int) const { return side - 1; }
};

// The elements around a brick that come before it: those one step before it along axis 2, at any place along
// the others and one more on both sides; those one step before it along axis 1, at its places along axis 2,
// at any along axis 0 and one more on both sides; and those one step before it along axis 0. They are bits of
// few words, such that neighbours are one bit or one row apart, and there is a gap between the parts: in
// three dimensions, a word with the part of axis 2, in rows of 8, and one with the others, in rows of 16; in
// two, a word of 32 bits, the part of axis 1 first.
template <int axes, class Word = Bits>
struct AroundIn {
  using B = Brick<axes>;
  static constexpr int kWords = axes == 3 ? 2 : 1;
  static constexpr int kPart0 = axes == 1 ? 0 : axes == 2 ? 12 : 8;  // of axis 0: its bit in the last word
  Word word[kWords];

  CONNCOMP_ANYWHERE static constexpr int row(int k) { return k < kWords - 1 ? 8 : 16; }

  // Calls body(a, steps) for the bricks that have some of these: the steps along all axes, the one along the
  // last of them, a, being back.
  template <class Body>
  __device__ static void for_each_brick(Body&& body) {
#pragma unroll
    for (int a = 0; a < axes; ++a)
#pragma unroll
      for (int y = a > 1 ? -1 : 0; y <= (a > 1); ++y)
#pragma unroll
        for (int x = a > 0 ? -1 : 0; x <= (a > 0); ++x) {
          const int steps[] = {a == 0 ? -1 : x, a == 1 ? -1 : y, a == 2 ? -1 : 0};
          body(a, steps);
        }
  }

  // The first layer of a brick along axis `a`, as bits of a word for which that begins at bit 0.
  __device__ static Word layer(int a, Bits brick) {
    if constexpr (axes == 1) return brick & 1;
    if constexpr (axes == 2) {
      if (a == 1) return uint32_t(brick) & 0xffu;
      // A product brings four bits that are eight apart together.
      const uint32_t low = (uint32_t(brick) & 0x01010101u) * 0x01020408u >> 24;
      return low | (uint32_t(brick >> 32) & 0x01010101u) * 0x01020408u >> 24 << 4;
    }
    if constexpr (axes == 3) {
      if (a == 2) {
        uint32_t found = uint32_t(brick) & 0xffffu;
        found = (found | found << 8) & 0x00ff00ffu;
        return (found | found << 4) & 0x0f0f0f0fu;
      }
      if (a == 1) return brick & 0x000f000f000f000fu;
      brick &= 0x1111111111111111u;
      brick = (brick | brick >> 3) & 0x0303030303030303u;
      return (brick | brick >> 6) & 0x000f000f000f000fu;
    }
  }
  // The other way round.
  __device__ static Bits from_layer(int a, Word bits) {
    if constexpr (axes == 1) return bits & 1;
    if constexpr (axes == 2) {
      if (a == 1) return bits & 0xffu;
      const uint32_t low = (bits & 0xfu) * 0x00204081u & 0x01010101u;
      return low | Bits((bits >> 4 & 0xfu) * 0x00204081u & 0x01010101u) << 32;
    }
    if constexpr (axes == 3) {
      if (a == 2) {
        uint32_t found = uint32_t(bits) & 0x0f0f0f0fu;
        found = (found | found >> 4) & 0x00ff00ffu;
        return (found | found >> 8) & 0xffffu;
      }
      Bits found = bits & 0x000f000f000f000fu;
      if (a == 1) return found;
      found = (found | found << 6) & 0x0303030303030303u;
      return (found | found << 3) & 0x1111111111111111u;
    }
  }
  // Where the elements of a brick begin in the part of an axis, and which word that is in.
  CONNCOMP_ANYWHERE static constexpr int begin(int a) { return a == 0 ? kPart0 : a == 1 ? 1 : 9; }
  CONNCOMP_ANYWHERE static constexpr int word_of(int a) { return a > 1 ? 0 : kWords - 1; }

  // Adds a brick at such steps.
  template <class Layers>
  __device__ void add(int a, const int (&steps)[3], Bits brick, const Layers& layers) {
    Word found = layer(a, brick >> B::stride(a) * layers.before(a));
    constexpr Word kColumn = axes == 2 ? 1 : Word(0x0101010101010101u);
    if (a == 0)
      found <<= kPart0;
    else
      found = steps[0] == 0  ? found << 1
              : steps[0] < 0 ? found >> layers.before(0) & kColumn
                             : (found & kColumn) << (layers.mine(0) + 2);
    if (a > 1)
      found = steps[1] == 0  ? found << row(0)
              : steps[1] < 0 ? found >> row(0) * layers.before(1) & 0xffu
                             : (found & 0xffu) << row(0) * (layers.mine(1) + 2);
    word[word_of(a)] |= found;
  }

  __device__ static Word beside(Word bits, int by) { return bits << by | bits >> by; }
  // Some elements and their neighbours in a word, those that are straight ahead of something if `most`
  // coordinates may differ.
  __device__ static Word dilated(int k, Word bits, int most) {
    if (axes == 1 || most < 2) return bits;
    const Word along_row = bits | beside(bits, 1);
    if (axes == 2) return along_row;
    return along_row | beside(most == 2 ? bits : along_row, row(k));
  }
  // What a component touches, but for what is beside an element that it touches of a part before; same(k,
  // touched) leaves what is of its value in a word.
  template <class Same>
  __device__ AroundIn touched_by(Bits component, int most, Same&& same) const {
    AroundIn found{};
#pragma unroll
    for (int a = 0; a < axes; ++a) found.word[word_of(a)] |= layer(a, component) << begin(a);
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      Word& here = found.word[k];
      here = dilated(k, here, most) & word[k];
      if (here != 0) here = same(k, here);
    }
    Word& last = found.word[kWords - 1];
    if constexpr (axes == 2) last &= ~((last & 1) << kPart0);
    if constexpr (axes == 3) {
      const uint32_t column = uint32_t(found.word[0] >> 8) & 0x01010101u;
      last &= ~((found.word[0] & 0xffu) | Bits(column * 0x01020408u >> 24) << kPart0);
      last &= ~((last & 0x0001000100010001u) << kPart0);
    }
    return found;
  }
  // The elements of the brick that touch some of these.
  __device__ Bits touching(int most) const {
    Bits found = 0;
#pragma unroll
    for (int a = 0; a < axes; ++a)
      found |= from_layer(a, dilated(word_of(a), word[word_of(a)], most) >> begin(a));
    return found;
  }
  // One of each group of neighbours in a word, at least: those that have none before them.
  __device__ static Word without_next(int k, Word bits, int connectivity) {
    if constexpr (axes == 1) return bits;
    Word next = bits << 1;
    if (axes == 3) next |= (connectivity > 1 ? bits | beside(bits, 1) : bits) << row(k);
    return bits & ~next;
  }
  // In two dimensions: the first element of the run in the last layer of another brick that an element is in.
  __device__ int start_of_run(int bit) const {
    if (bit == 0 || bit == 1 + B::kSide) return bit;  // in the bricks beside the one straight ahead
    const int first = bit < kPart0 ? 1 : kPart0;
    const uint32_t gaps = ~uint32_t(word[0]) & ((1u << bit) - (1u << first));
    return gaps == 0 ? first : kWarp - __clz(int(gaps));
  }
  // How far an element of a word is from the first one of the brick along an axis.
  __device__ static int distance(int k, int bit, int axis) {
    if (axes == 1) return -1;
    const int in_row = axes == 2 ? bit : bit % row(k), its_row = axes == 2 ? 0 : bit / row(k);
    if (axes == 3 && k == 0) return axis == 2 ? -1 : axis == 1 ? its_row - 1 : in_row - 1;
    if (axis == 2) return its_row;
    const bool of_axis_0 = in_row >= kPart0;
    return axis == 0 ? (of_axis_0 ? -1 : in_row - 1) : (of_axis_0 ? in_row - kPart0 : -1);
  }
};

template <int axes>
struct AroundOf {
  using Type = AroundIn<axes>;
};
template <>
struct AroundOf<2> {
  using Type = AroundIn<2, uint32_t>;
};
template <int axes>
using Around = typename AroundOf<axes>::Type;

// ------------------------------------------------------------------------------------- its components

// Which elements of a brick are foreground, and which are connected.
template <int axes>
struct Links {
  using B = Brick<axes>;
  Bits fore;
  int connectivity;
  bool mixed;             // whether foreground may be of several values
  Bits back[B::kNoStep];  // if so: those that equal the element at each step before them, in this brick

  // Some elements and their neighbours.
  __device__ Bits grown(Bits bits) const {
    if (!mixed) return B::dilated(bits, (1 << axes) - 1, connectivity) & fore;
    Bits more = bits;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      more |= (bits & back[step]) >> distance(step) | (bits << distance(step) & back[step]);
    return more;
  }
  // Foreground that has a neighbour which it is connected with; or any, if it is of one value.
  __device__ Bits with_neighbour() const {
    if (!mixed) return B::around(fore);
    Bits found = 0;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step) found |= back[step] | back[step] >> distance(step);
    return found;
  }
  __device__ Bits component_of(Bits bit) const {
    for (Bits found = bit;;) {
      const Bits more = grown(found);
      if (more == found) return found;
      found = more;
    }
  }
  CONNCOMP_ANYWHERE static constexpr int distance(int step) {
    int by = 0;
    for (int a = 0; a < axes; ++a) by -= B::step(step, a) * B::stride(a);
    return by;
  }
  // Where in a brick there is an element at a step.
  CONNCOMP_ANYWHERE static constexpr Bits with_element_at(int step) {
    Bits found = ~Bits(0);
    for (int a = 0; a < axes; ++a) {
      if (B::step(step, a) < 0) found &= ~B::layer(a, 0);
      if (B::step(step, a) > 0) found &= ~B::layer(a, B::kSide - 1);
    }
    return found;
  }
};

// What the lanes of a warp have found, each in a brick of its own, to be shared out among them: left to
// themselves they would have more or fewer, and wait for each other. In shared memory.
struct Findings {
  static constexpr int kRoom = 160, kRoomForBits = kRoom * 4;
  Bits component[kRoom];   // or elements, as 64 * lane + bit
  uint16_t origin[kRoom];  // the lane of its brick + 32 * its number there

  // Calls each(component, number) for the components of every lane's brick that have some of `rest`, but no
  // more than `most`, and body(component, lane of its brick, number) for the same in any lane. All lanes call
  // together, body too, with 0 where there is no component left. Returns what is left of `rest`.
  template <int axes, class Each, class Body>
  __device__ Bits for_each_component(const Links<axes>& links, Bits rest, int most, Each&& each,
                                     Body&& body) {
    // A brick that is full of one value is a component: if all of a warp are, one step does instead of eight.
    Bits found = ~rest == 0 && !links.mixed ? rest : lowest_bit(rest), left = 0;
    int number = 0;
    while (__any_sync(kAllLanes, rest != 0)) {
      int count = 0;
      do {
        const Bits more = links.grown(found);
        const bool done = rest != 0 && more == found;
        const uint32_t lanes = __ballot_sync(kAllLanes, done);
        if (done) {
          const int at = count + __popc(lanes & ((1u << lane()) - 1));
          component[at] = found;
          origin[at] = uint16_t(lane() + kWarp * number);
          each(found, number++);
          rest &= ~found;
          if (number == most) {
            left = rest;
            rest = 0;
          }
        }
        found = done ? lowest_bit(rest) : more;
        count += __popc(lanes);
      } while (count <= kRoom - kWarp && __any_sync(kAllLanes, rest != 0));
      __syncwarp();
      for (int begin = 0; begin < count; begin += kWarp) {
        const int k = begin + lane();
        const uint32_t its = k < count ? origin[k] : 0;
        body(k < count ? component[k] : 0, its % kWarp, its / kWarp);
        __syncwarp();
      }
    }
    return left;
  }

  // Notes item(bit), a number below 2^16, for all bits of all lanes; returns how many there are, or -1 if
  // there is no room for them.
  template <class Item>
  __device__ int note(Bits bits, Item&& item) {
    const int mine = __popcll(bits), all = warp_scan(mine);
    const int count = __shfl_sync(kAllLanes, all, kWarp - 1);
    if (count > kRoomForBits) return -1;
    uint16_t* noted = reinterpret_cast<uint16_t*>(component) + all - mine;
    for (; bits != 0; bits &= bits - 1) *noted++ = uint16_t(item(lowest(bits)));
    __syncwarp();
    return count;
  }
  // Calls body(item) for what has been noted, in any lane; or for the bits of this lane if that is not all.
  template <class Item, class Body>
  __device__ void for_each_noted(int count, Bits bits, Item&& item, Body&& body) const {
    const uint16_t* const noted = reinterpret_cast<const uint16_t*>(component);
    for (int begin = 0; begin < count; begin += kWarp) {
      if (begin + lane() < count) body(int(noted[begin + lane()]));
      __syncwarp();
    }
    if (count < 0)
      for (; __any_sync(kAllLanes, bits != 0); bits &= bits - 1) {
        if (bits != 0) body(int(item(lowest(bits))));
        __syncwarp();
      }
  }
};

// ------------------------------------------------------------------------------------------ its values

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

// The values of a brick, which begins at `first`; those that are not `inside` are not in the array.
template <class Value, int axes>
struct BrickValues {
  using B = Brick<axes>;
  static constexpr int kRow = B::kRow, kRows = B::kRows;
  static constexpr int kBytes = kRow * int(sizeof(Value));
  struct alignas(kBytes < 16 ? kBytes : 16) Words {
    uint32_t word[kBytes / 4];
  };

  const Value* first;
  int64_t stride[axes];
  Bits inside;
  bool aligned;

  __device__ BrickValues(const Value* first, const int64_t (&strides)[axes], Bits inside)
      : first(first), inside(inside) {
    size_t places = reinterpret_cast<size_t>(first);
#pragma unroll
    for (int a = 0; a < axes; ++a) {
      stride[a] = strides[a];
      if (a > 0) places |= size_t(strides[a]) * sizeof(Value);
    }
    aligned = strides[0] == 1 && places % alignof(Words) == 0 && inside == ~Bits(0);
  }

  __device__ const Value* at(int bit) const {
    int64_t offset = 0;
#pragma unroll
    for (int a = 0; a < axes; ++a) offset += B::coordinate(bit, a) * stride[a];
    return first + offset;
  }
  __device__ Words words(int row) const { return *reinterpret_cast<const Words*>(at(row * kRow)); }
  __device__ static Value value_in(const Words& words, int k) {
    Value value;
    if constexpr (sizeof(Value) == 8) {
      const uint64_t bits = words.word[2 * k] | uint64_t(words.word[2 * k + 1]) << 32;
      memcpy(&value, &bits, sizeof(value));
    } else if constexpr (sizeof(Value) == 4) {
      memcpy(&value, &words.word[k], sizeof(value));
    } else if constexpr (sizeof(Value) == 2) {
      const uint16_t bits = uint16_t(words.word[k / 2] >> k % 2 * 16);
      memcpy(&value, &bits, sizeof(value));
    } else {
      value = Value(words.word[k / 4] >> k % 4 * 8);
    }
    return value;
  }
  __device__ void read_row(int row, Value (&values)[kRow]) const {
    if (aligned) {
      const Words all = words(row);
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

  // Which elements are foreground.
  __device__ Bits foreground(Value ground, bool has_ground, Seen<Value>& seen) const {
    if constexpr (sizeof(Value) == 1)
      if (aligned && has_ground) return foreground_bytes(ground, seen);
    Bits fore = 0;
#pragma unroll 4
    for (int row = 0; row < kRows; ++row) {
      Value values[kRow];
      read_row(row, values);
      uint32_t found = 0;
#pragma unroll
      for (int x = 0; x < kRow; ++x) {
        const int bit = row * kRow + x;
        if (!(inside >> bit & 1) || is_background(values[x], ground, has_ground)) continue;
        found |= 1u << x;
        seen.add(values[x]);
      }
      fore |= Bits(found) << row * kRow;
    }
    return fore;
  }

  // Of bytes, four at a time: it is where the difference to the background is not 0.
  __device__ Bits foreground_bytes(uint8_t ground, Seen<uint8_t>& seen) const {
    constexpr int kWords = kBytes / 4;
    const uint32_t grounds = ground * 0x01010101u;
    uint32_t bytes[kRows * kWords], value = 0, odd = 0;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      const Words read = words(row);
#pragma unroll
      for (int k = 0; k < kWords; ++k) bytes[row * kWords + k] = read.word[k];
    }
#pragma unroll
    for (uint32_t& word : bytes) value |= word ^= grounds;
    // If all bytes that are not 0 are the same, that is what they are joined by "or".
    value |= value >> 16;
    value = (value | value >> 8) & 0xffu;
    const uint32_t values = value * 0x01010101u;
    uint32_t half[2] = {0, 0};
#pragma unroll
    for (int k = 0; k < kRows * kWords; ++k) {
      const uint32_t tops = bytes_not_0(bytes[k]);
      odd |= tops & bytes_not_0(bytes[k] ^ values);
      half[k / 8] = half[k / 8] >> 4 | (tops * 0x00204081u & 0xf0000000u);  // four bits come to the top
    }
    const Bits fore = half[0] | Bits(half[1]) << 32;
    if (fore != 0) seen.add(uint8_t(value ^ ground));
    seen.differ |= odd != 0;
    return fore;
  }
  // The highest bit of every byte that is not 0.
  __device__ static uint32_t bytes_not_0(uint32_t bytes) {
    return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
  }

  // Compares each element with those before it.
  __device__ Links<axes> links(Bits fore, int connectivity) const {
    constexpr int kLayer = axes < 2 ? kRow : kBits / B::kSide;  // elements before that may be compared
    Links<axes> found{fore, connectivity, true, {}};
    Value here[kLayer], before[kLayer] = {};
#pragma unroll 1
    for (int layer = 0; layer < kBits / kLayer; ++layer) {
#pragma unroll
      for (int row = 0; row < kLayer / kRow; ++row) {
        Value values[kRow];
        read_row(layer * (kLayer / kRow) + row, values);
#pragma unroll
        for (int x = 0; x < kRow; ++x) here[row * kRow + x] = values[x];
      }
#pragma unroll
      for (int step = 0; step < B::kNoStep; ++step) {
        if (B::moves(step) > connectivity) continue;
        uint32_t equal = 0;
#pragma unroll
        for (int p = 0; p < kLayer; ++p) {
          const int other = p - Links<axes>::distance(step);
          if (other + kLayer < 0) continue;  // not in this brick
          if (here[p] == (other < 0 ? before[(other + kLayer) % kLayer] : here[other < 0 ? 0 : other]))
            equal |= 1u << p;
        }
        found.back[step] |= Bits(equal) << layer * kLayer;
      }
#pragma unroll
      for (int p = 0; p < kLayer; ++p) before[p] = here[p];
    }
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      found.back[step] &= fore & fore << Links<axes>::distance(step) & Links<axes>::with_element_at(step);
    return found;
  }

  // Those of `bits` that have a value.
  __device__ Bits equal_to(Value value, Bits bits) const {
    Bits found = 0;
#pragma unroll 1
    for (Bits rest = bits; rest != 0; rest &= rest - 1)
      if (*at(lowest(rest)) == value) found |= lowest_bit(rest);
    return found;
  }
};

}  // namespace conncomp
