// The halo of a brick: the elements before it in other bricks, as bits of few words. Of two neighbours in
// different bricks exactly one has the other in its halo. Its parts are the layers one step before along each
// axis; those of later axes reach an element further along earlier ones, on both sides. Neighbours in a part
// are one bit or one row apart; gaps keep parts apart. In two dimensions:
//          0 |  1  2 ...  8 |  9      part of axis 1: the last row of the brick above, and corners
//         ---+--------------+---
//      12..19|   the brick  |         part of axis 0: the last column of the brick to the left
// In three dimensions word 0 has the part of axis 2 (z = -1, y and x from -1 to 4) in rows of 8 bits; word 1
// has for each plane z of the brick a row of 16 bits: the part of axis 1 (x from -1 to 4) in bits 0 to 5,
// that of axis 0 (y from 0 to 3) in bits 8 to 11.
#pragma once

#include "cuda/core/warp.cuh"
#include "cuda/grid/brick.cuh"

namespace conncomp {

// The last layers of the brick before, and of this one, which the end of the array may cut off.
struct WholeLayers {
  int side;
  int last_before(int) const { return side - 1; }
  int last(int) const { return side - 1; }
};

template <int axes, class Word> struct HaloOfWords {
  using B = Brick<axes>;
  static constexpr int kWords = axes == 3 ? 2 : 1;
  static constexpr int kPart0 = axes == 1 ? 0 : axes == 2 ? 12 : 8;  // of axis 0: its bit in the last word
  Word word[kWords];

  static constexpr int row(int k) { return k < kWords - 1 ? 8 : 16; }

  // Calls body(a, steps) for the bricks that have part of the halo; `a` is the last axis of the step.
  static void for_each_brick(auto&& body) {
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

  // The first layer of a brick along axis `a`, as bits from bit 0; and back.
  static Word layer(int a, Bits brick) {
    if constexpr (axes == 1) return brick & 1;
    if constexpr (axes == 2) {
      if (a == 1) return uint32_t(brick) & 0xffu;
      // A product brings four bits that are eight apart together.
      const uint32_t low = (uint32_t(brick) & 0x01010101u) * 0x01020408u >> 24;
      return low | (uint32_t(brick >> 32) & 0x01010101u) * 0x01020408u >> 24 << 4;
    }
    if constexpr (axes == 3) {
      if (a == 2) {
        uint32_t spread = uint32_t(brick) & 0xffffu;
        spread = (spread | spread << 8) & 0x00ff00ffu;
        return (spread | spread << 4) & 0x0f0f0f0fu;
      }
      if (a == 1) return brick & 0x000f000f000f000fu;
      brick &= 0x1111111111111111u;
      brick = (brick | brick >> 3) & 0x0303030303030303u;
      return (brick | brick >> 6) & 0x000f000f000f000fu;
    }
  }
  static Bits from_layer(int a, Word bits) {
    if constexpr (axes == 1) return bits & 1;
    if constexpr (axes == 2) {
      if (a == 1) return bits & 0xffu;
      const uint32_t low = (bits & 0xfu) * 0x00204081u & 0x01010101u;
      return low | Bits((bits >> 4 & 0xfu) * 0x00204081u & 0x01010101u) << 32;
    }
    if constexpr (axes == 3) {
      if (a == 2) {
        uint32_t gathered = uint32_t(bits) & 0x0f0f0f0fu;
        gathered = (gathered | gathered >> 4) & 0x00ff00ffu;
        return (gathered | gathered >> 8) & 0xffffu;
      }
      Bits gathered = bits & 0x000f000f000f000fu;
      if (a == 1) return gathered;
      gathered = (gathered | gathered << 6) & 0x0303030303030303u;
      return (gathered | gathered << 3) & 0x1111111111111111u;
    }
  }
  // Where the brick's own elements begin in the part of an axis, and in which word.
  static constexpr int begin(int a) { return a == 0 ? kPart0 : a == 1 ? 1 : 9; }
  static constexpr int word_of(int a) { return a > 1 ? 0 : kWords - 1; }

  void add(int a, const int (&steps)[3], Bits brick, const auto& layers) {
    Word part = layer(a, brick >> B::stride(a) * layers.last_before(a));
    constexpr Word kColumn = axes == 2 ? 1 : Word(0x0101010101010101u);
    if (a == 0)
      part <<= kPart0;
    else
      part = steps[0] == 0  ? part << 1
             : steps[0] < 0 ? part >> layers.last_before(0) & kColumn
                            : (part & kColumn) << (layers.last(0) + 2);
    if (a > 1)
      part = steps[1] == 0  ? part << row(0)
             : steps[1] < 0 ? part >> row(0) * layers.last_before(1) & 0xffu
                            : (part & 0xffu) << row(0) * (layers.last(1) + 2);
    word[word_of(a)] |= part;
  }

  // The elements whose bits of a plane, given as its halo, are all set or all not.
  HaloOfWords with(const HaloOfWords& plane, bool set) const {
    HaloOfWords elements;
#pragma unroll
    for (int k = 0; k < kWords; ++k) elements.word[k] = word[k] & (set ? plane.word[k] : ~plane.word[k]);
    return elements;
  }

  static Word beside(Word bits, int by) { return bits << by | bits >> by; }
  // Elements and their neighbours in a word, for elements straight ahead.
  static Word dilated(int k, Word bits, int most_moves) {
    if (axes == 1 || most_moves < 2) return bits;
    const Word along_row = bits | beside(bits, 1);
    if (axes == 2) return along_row;
    return along_row | beside(most_moves == 2 ? bits : along_row, row(k));
  }
  // What a component touches, less what is beside an element touched of an earlier part, as equality is
  // transitive. same(k, touched) keeps what has its value in a word.
  HaloOfWords touched_by(Bits component, int most_moves, auto&& same) const {
    HaloOfWords touched{};
    unrolled<axes>([&](int a) { touched.word[word_of(a)] |= layer(a, component) << begin(a); });
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      Word& part = touched.word[k];
      part = dilated(k, part, most_moves) & word[k];
      if (part != 0) part = same(k, part);
    }
    Word& last = touched.word[kWords - 1];
    if constexpr (axes == 2) last &= ~((last & 1) << kPart0);
    if constexpr (axes == 3) {
      const uint32_t column = uint32_t(touched.word[0] >> 8) & 0x01010101u;
      last &= ~((touched.word[0] & 0xffu) | Bits(column * 0x01020408u >> 24) << kPart0);
      last &= ~((last & 0x0001000100010001u) << kPart0);
    }
    return touched;
  }
  Bits touching(int most_moves) const {
    Bits elements = 0;
    unrolled<axes>([&](int a) {
      elements |= from_layer(a, dilated(word_of(a), word[word_of(a)], most_moves) >> begin(a));
    });
    return elements;
  }
  // At least one of each group of neighbours in a word: those without one before them.
  static Word without_next(int k, Word bits, int connectivity) {
    if constexpr (axes == 1) return bits;
    Word next = bits << 1;
    if (axes == 3) next |= (connectivity > 1 ? bits | beside(bits, 1) : bits) << row(k);
    return bits & ~next;
  }
  // In two dimensions: the start of the run in the last layer of another brick that an element is in.
  int start_of_run(int bit) const {
    if (bit == 0 || bit == 1 + B::kSide) return bit;  // in the bricks beside the one straight ahead
    const int first = bit < kPart0 ? 1 : kPart0;
    const uint32_t gaps = ~uint32_t(word[0]) & ((1u << bit) - (1u << first));
    return gaps == 0 ? first : kWarp - __clz(int(gaps));
  }
  // The distance along an axis of an element of a word from the first one of the brick.
  static int distance(int k, int bit, int axis) {
    if (axes == 1) return -1;
    const int in_row = axes == 2 ? bit : bit % row(k), at_row = axes == 2 ? 0 : bit / row(k);
    if (axes == 3 && k == 0) return axis == 2 ? -1 : axis == 1 ? at_row - 1 : in_row - 1;
    if (axis == 2) return at_row;
    const bool on_axis_0 = in_row >= kPart0;
    return axis == 0 ? (on_axis_0 ? -1 : in_row - 1) : (on_axis_0 ? in_row - kPart0 : -1);
  }
};

template <int axes> using Halo = HaloOfWords<axes, typename Either<axes == 2, uint32_t, Bits>::Type>;

}
