// Bricks: 64 neighbouring elements of an array as the bits of one word, which a thread has for itself.
//
// A brick is 64 elements long in one dimension, 8 x 8 in two, and 4 x 4 x 4 along the last three axes of an
// array of more. Its sides are called axes 0, 1 and 2, from the last axis of the array; bit by bit, a brick
// is in the order of the array. In two dimensions bit 8 * y + x is the element at row y and column x:
//
//       x  0  1  2 ...  7        neighbours along axis 0 are 1 bit apart, along axis 1 eight;
//    y 0   0  1  2 ...  7        layer(0, 7) is the last column, layer(1, 0) the first row;
//      1   8  9 10 ... 15        a step back along axis 1 is `bits >> 8`, one ahead `bits << 8`, without
//      .                         the layer that comes from outside
//      7  56 57 58 ... 63
#pragma once

#include "core/neighbourhood.h"
#include "cuda/core/launch.cuh"

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

  // How far elements that are neighbours along an axis are from each other, and how far one at a step before
  // another is.
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
    // Constants, as axes of loops are none until these are unrolled.
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
  // The elements for which the one at a backward step is in the same brick, of which only those `inside` are
  // in the array: beyond, a periodic axis closes.
  __device__ static Bits stays(int step, Bits inside) {
    return with_element_at(step) & inside << distance_back(step);
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
  // The elements around others: along axes if `most_moves` is 1, otherwise diagonally, too.
  __device__ static Bits surroundings(Bits bits, int most_moves) {
    Bits around = 0;
    unrolled<axes>([&](int a) { around |= beside(most_moves == 1 ? bits : bits | around, a); });
    return around;
  }
  // Without the elements that have one of the others before them along an axis.
  __device__ static Bits without_next(Bits bits) {
    Bits first = bits;
    unrolled<axes>([&](int a) { first &= ~ahead(bits, a); });
    return first;
  }
  // The elements and their neighbours along some of the axes, a bit for each: at most `most_moves`
  // coordinates differ, by one.
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
