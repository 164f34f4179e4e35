// A brick: 64 neighbouring elements of an array as the bits of one word, which one thread works on. It has 64
// elements in one dimension, 8 x 8 in two, and 4 x 4 x 4 along the last three axes of more. Its sides are
// axes 0, 1 and 2, from the last axis of the array; its bits are in C order. In two dimensions bit 8 * y + x
// is the element at row y and column x: layer(0, 7) is the last column, layer(1, 0) the first row, and bits
// << 8 is a step ahead along axis 1.
#pragma once

#include "core/neighbourhood.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

using Bits = uint64_t;
constexpr int kBits = 64;

template <int axes>
struct Brick : Steps<axes> {
  static constexpr int kLog = 6 / axes, kSide = 1 << kLog;
  // Elements in one line that are read or written together.
  static constexpr int kRow = kSide < 8 ? kSide : 8, kRows = kBits / kRow;

  // The distance in bits between neighbours along an axis, and to the element at a step back.
  CONNCOMP_ANYWHERE static constexpr int stride(int axis) { return 1 << axis * kLog; }
  CONNCOMP_ANYWHERE static constexpr int distance_back(int step) {
    int distance = 0;
    unrolled<axes>([&](int a) { distance -= Steps<axes>::step(step, a) * stride(a); });
    return distance;
  }
  CONNCOMP_ANYWHERE static constexpr Bits ones(int count) {
    return count == kBits ? ~Bits(0) : (Bits(1) << count) - 1;
  }
  // The elements whose coordinate along an axis is less than `end`.
  CONNCOMP_ANYWHERE static constexpr Bits layers(int axis, int end) {
    return ones(stride(axis) * end) * (~Bits(0) / ones(stride(axis) * kSide));
  }
  CONNCOMP_ANYWHERE static constexpr Bits layer(int axis, int at) {
    // Constants, as axes are no constants before loops are unrolled.
    constexpr Bits kOfAxis0 = layers(0, 1), kOfAxis1 = layers(axes > 1, 1), kOfAxis2 = layers(axes - 1, 1);
    return (axis == 0 ? kOfAxis0 : axis == 1 ? kOfAxis1 : kOfAxis2) << stride(axis) * at;
  }
  // The elements whose neighbours are all in the brick.
  CONNCOMP_ANYWHERE static constexpr Bits interior() {
    Bits elements = ~Bits(0);
    unrolled<axes>([&](int a) { elements &= ~layer(a, 0) & ~layer(a, kSide - 1); });
    return elements;
  }
  CONNCOMP_ANYWHERE static constexpr Bits with_element_at(int step) {
    Bits elements = ~Bits(0);
    unrolled<axes>([&](int a) {
      if (Steps<axes>::step(step, a) < 0) elements &= ~layer(a, 0);
      if (Steps<axes>::step(step, a) > 0) elements &= ~layer(a, kSide - 1);
    });
    return elements;
  }
  // The elements whose one at a backward step is in the brick; beyond `inside` a periodic axis closes.
  __device__ static Bits stays(int step, Bits inside) {
    return with_element_at(step) & inside << distance_back(step);
  }
  CONNCOMP_ANYWHERE static constexpr int coordinate(int bit, int axis) {
    return bit >> axis * kLog & (kSide - 1);
  }

  // The elements one step ahead along an axis; and those one step ahead or back.
  __device__ static Bits ahead(Bits bits, int axis) { return bits << stride(axis) & ~layer(axis, 0); }
  __device__ static Bits beside(Bits bits, int axis) {
    return ahead(bits, axis) | (bits >> stride(axis) & ~layer(axis, kSide - 1));
  }
  // The same, with those that come from the brick before, or after.
  __device__ static Bits ahead_across(Bits bits, int axis, Bits before) {
    return ahead(bits, axis) | (before >> stride(axis) * (kSide - 1) & layer(axis, 0));
  }
  __device__ static Bits back_across(Bits bits, int axis, Bits after) {
    return (bits >> stride(axis) & ~layer(axis, kSide - 1)) |
           (after << stride(axis) * (kSide - 1) & layer(axis, kSide - 1));
  }
  // The elements around others: along axes only if `most_moves` is 1, else diagonally too.
  __device__ static Bits surroundings(Bits bits, int most_moves) {
    Bits around = 0;
    unrolled<axes>([&](int a) { around |= beside(most_moves == 1 ? bits : bits | around, a); });
    return around;
  }
  // The elements that have no other one before them along an axis.
  __device__ static Bits without_next(Bits bits) {
    Bits first = bits;
    unrolled<axes>([&](int a) { first &= ~ahead(bits, a); });
    return first;
  }
  // The elements and neighbours along some axes (bits): at most `most_moves` coordinates differ, by one.
  __device__ static Bits dilated(Bits bits, int along, int most_moves) {
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

}  // namespace conncomp
