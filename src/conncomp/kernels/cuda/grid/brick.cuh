// A brick: 64 neighbouring elements of an array as the bits of a thread's word: a line in one dimension, 8 x
// 8 in two, and 4 x 4 x 4 along the last three axes of more. Its sides are axes 0, 1 and 2, from the last
// axis of the array; its bits are in C order. In two dimensions bit 8 * y + x is the element at row y and
// column x: layer(0, 7) is the last column, layer(1, 0) the first row, and bits << 8 is a step ahead along
// axis 1.
// A component, a set of bits that are linked within the brick, grows from one element by shifts until `grown`
// adds nothing.
#pragma once

#include "core/neighbourhood.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

using Bits = uint64_t;
constexpr int kBits = 64;

template <int axes> struct Brick : StepCodes<axes> {
  static constexpr int kLog = 6 / axes, kSide = 1 << kLog;
  // Elements in one line that are read or written together.
  static constexpr int kRow = kSide < 8 ? kSide : 8, kRows = kBits / kRow;

  // The distance in bits between neighbours along an axis, and to the element at a step back.
  static constexpr int stride(int axis) { return 1 << axis * kLog; }
  static constexpr int distance_back(int step) {
    int distance = 0;
    unrolled<axes>([&](int a) { distance -= StepCodes<axes>::step(step, a) * stride(a); });
    return distance;
  }
  static constexpr Bits ones(int count) { return count == kBits ? ~Bits(0) : (Bits(1) << count) - 1; }
  // The elements whose coordinate along an axis is less than `end`.
  static constexpr Bits layers(int axis, int end) {
    return ones(stride(axis) * end) * (~Bits(0) / ones(stride(axis) * kSide));
  }
  static constexpr Bits layer(int axis, int at) {
    // Constants, as axes are no constants before loops are unrolled.
    constexpr Bits kOfAxis0 = layers(0, 1), kOfAxis1 = layers(axes > 1, 1), kOfAxis2 = layers(axes - 1, 1);
    return (axis == 0 ? kOfAxis0 : axis == 1 ? kOfAxis1 : kOfAxis2) << stride(axis) * at;
  }
  // The elements whose neighbours are all in the brick.
  static constexpr Bits interior() {
    Bits elements = ~Bits(0);
    unrolled<axes>([&](int a) { elements &= ~layer(a, 0) & ~layer(a, kSide - 1); });
    return elements;
  }
  static constexpr Bits with_element_at(int step) {
    Bits elements = ~Bits(0);
    unrolled<axes>([&](int a) {
      if (StepCodes<axes>::step(step, a) < 0) elements &= ~layer(a, 0);
      if (StepCodes<axes>::step(step, a) > 0) elements &= ~layer(a, kSide - 1);
    });
    return elements;
  }
  // The elements whose one at a backward step is in the brick; beyond `inside` a periodic axis closes.
  static Bits stays(int step, Bits inside) { return with_element_at(step) & inside << distance_back(step); }
  static constexpr int coordinate(int bit, int axis) { return bit >> axis * kLog & (kSide - 1); }

  // The elements one step ahead along an axis; and those one step ahead or back.
  static Bits ahead(Bits bits, int axis) { return bits << stride(axis) & ~layer(axis, 0); }
  static Bits beside(Bits bits, int axis) {
    return ahead(bits, axis) | (bits >> stride(axis) & ~layer(axis, kSide - 1));
  }
  // The same, with those that come from the brick before, or after.
  static Bits ahead_across(Bits bits, int axis, Bits before) {
    return ahead(bits, axis) | (before >> stride(axis) * (kSide - 1) & layer(axis, 0));
  }
  static Bits back_across(Bits bits, int axis, Bits after) {
    return (bits >> stride(axis) & ~layer(axis, kSide - 1)) |
           (after << stride(axis) * (kSide - 1) & layer(axis, kSide - 1));
  }
  // The elements around others: along axes only if `most_moves` is 1, else diagonally too.
  static Bits surroundings(Bits bits, int most_moves) {
    Bits around = 0;
    unrolled<axes>([&](int a) { around |= beside(most_moves == 1 ? bits : bits | around, a); });
    return around;
  }
  // The elements that have no other one before them along an axis.
  static Bits without_next(Bits bits) {
    Bits first = bits;
    unrolled<axes>([&](int a) { first &= ~ahead(bits, a); });
    return first;
  }
  // The elements and neighbours along some axes (bits): at most `most_moves` coordinates differ, by one.
  static Bits dilated(Bits bits, int along, int most_moves) {
    if (most_moves >= axes) {
      unrolled<axes>([&](int a) {
        if (along >> a & 1) bits |= beside(bits, a);
      });
      return bits;
    }
    Bits one = bits, two = bits;  // what is reached along so many axes
    unrolled<axes>([&](int a) {
      if (!(along >> a & 1)) return;
      if (axes > 2 && most_moves == 2) two |= beside(one, a);
      one |= beside(bits, a);
    });
    return most_moves == 0 ? bits : most_moves == 1 ? one : two;
  }
};

// The number of planes: bits of values by which the values of a brick's elements can be told apart.
constexpr int kPlanes = 2;

struct ValuePlanes {
  Bits plane[kPlanes];

  // The elements that have the value of some others, which have one value.
  Bits equal_to(Bits elements) const {
    Bits equal = ~Bits(0);
#pragma unroll
    for (const Bits& bits : plane) equal &= bits & elements ? bits : ~bits;
    return equal;
  }
};

// How foreground is compared: not at all if it has one value, by planes, or value by value.
enum class Comparison : uint8_t { kNone, kPlanes, kValues };

// Links of a brick whose foreground has one value: growth needs only the foreground.
template <int axes> struct OneValueLinks {
  using B = Brick<axes>;
  Bits foreground;
  int connectivity;

  static Bits start(Bits elements) { return lowest_bit(elements); }
  static bool whole(Bits elements) { return ~elements == 0; }
  Bits grown(Bits bits) const {
    bits = B::dilated(bits, (1 << axes) - 1, connectivity) & foreground;
    return axes < 3 ? B::dilated(bits, (1 << axes) - 1, connectivity) & foreground : bits;
  }
};

template <int axes> struct BrickLinks {
  using B = Brick<axes>;
  Bits foreground;
  int connectivity;
  // For kValues, `back` has the links; else neighbours of one value are linked.
  Comparison comparison;
  union {
    Bits back[B::kNoStep];  // the elements that are linked to the one at each step before, in this brick
    ValuePlanes planes;
  };

  // Calls body(links) with OneValueLinks if they do, else with these.
  void with_fewest(auto&& body) const {
    if (comparison == Comparison::kNone)
      body(OneValueLinks<axes>{foreground, connectivity});
    else
      body(*this);
  }
  bool one_by_one() const { return comparison == Comparison::kValues; }
  // The foreground with the value of some elements, which have one value.
  Bits of_value(Bits elements) const {
    return comparison == Comparison::kNone ? foreground : foreground & planes.equal_to(elements);
  }

  static Bits start(Bits elements) { return lowest_bit(elements); }
  // Whether the brick is full of one value, and so one component.
  bool whole(Bits elements) const {
    return ~elements == 0 && !one_by_one() && ~of_value(lowest_bit(elements)) == 0;
  }
  // Elements and those linked to them; twice where that takes no longer than to ask whether it has grown.
  Bits grown(Bits bits) const {
    if (one_by_one()) return with_linked(bits);
    const Bits equal = of_value(bits);
    bits = B::dilated(bits, (1 << axes) - 1, connectivity) & equal;
    return axes < 3 ? B::dilated(bits, (1 << axes) - 1, connectivity) & equal : bits;
  }
  Bits with_linked(Bits bits) const {
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      bits |= (bits & back[step]) >> B::distance_back(step) | (bits << B::distance_back(step) & back[step]);
    return bits;
  }
  // The elements linked to another one, or near foreground of their value.
  Bits with_neighbour() const {
    if (comparison == Comparison::kNone) return B::surroundings(foreground, connectivity);
    Bits elements = 0;
    if (!one_by_one()) {
#pragma unroll
      for (int code = 0; code < 1 << kPlanes; ++code) {
        const Bits equal = foreground & (code & 1 ? planes.plane[0] : ~planes.plane[0]) &
                           (code & 2 ? planes.plane[1] : ~planes.plane[1]);
        elements |= equal & B::surroundings(equal, connectivity);
      }
      return elements;
    }
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      elements |= back[step] | back[step] >> B::distance_back(step);
    return elements;
  }
};

template <int axes> struct GivenBrickLinks : BrickLinks<axes> {
  Bits grown(Bits bits) const {
    const Bits more = this->with_linked(bits);
    return axes < 3 ? this->with_linked(more) : more;
  }
};

Bits component_of(const auto& links, Bits bit) {
  for (Bits component = bit;;) {
    const Bits more = links.grown(component);
    if (more == component) return component;
    component = more;
  }
}

// Each one's first element as planes: of {1, 2, 5} and {3, 4} digit[0] is 0 1 1 1 1 1, digit[1] 0 0 0 1 1 0.
constexpr int kFirstDigits = 6;

struct FirstDigits {
  Bits digit[kFirstDigits];

  // The elements whose own number has the digit.
  static constexpr Bits numbers_with(int k) { return ~Bits(0) / ((Bits(1) << (1 << k)) + 1) << (1 << k); }
  static FirstDigits of_each(Bits elements) {
    FirstDigits digits;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) digits.digit[k] = elements & numbers_with(k);
    return digits;
  }
  void add(Bits component, int first) {
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) digit[k] |= first >> k & 1 ? component : 0;
  }
  uint32_t low(int k) const { return uint32_t(digit[k]); }
  uint32_t high(int k) const { return uint32_t(digit[k] >> 32); }
  // As BrickLinks, with components that are complete.
  static bool whole(Bits) { return false; }
  Bits start(Bits elements) const { return component(lowest(elements)) & elements; }
  static Bits grown(Bits component) { return component; }
  // The elements of the component of a first element; for 0 these include the background.
  Bits component(int first) const {
    Bits elements = ~Bits(0);
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) elements &= first >> k & 1 ? digit[k] : ~digit[k];
    return elements;
  }
};

}
