// Which elements of a brick are connected. A component, a set of bits that are linked within the brick, grows
// from one element by shifts until `grown` adds nothing.
#pragma once

#include "cuda/grid/brick.cuh"

namespace conncomp {

// The number of planes: bits of values by which the values of a brick's elements can be told apart.
constexpr int kPlanes = 2;

struct ValuePlanes {
  Bits plane[kPlanes];

  // The elements that have the value of some others, which have one value.
  __device__ Bits equal_to(Bits elements) const {
    Bits equal = ~Bits(0);
#pragma unroll
    for (const Bits& bits : plane) equal &= bits & elements ? bits : ~bits;
    return equal;
  }
};

// How foreground is compared: not at all if it has one value, by planes, or value by value.
enum class Comparison : uint8_t { kNone, kPlanes, kValues };

// Links of a brick whose foreground has one value: growth needs only the foreground.
template <int axes>
struct OneValueLinks {
  using B = Brick<axes>;
  Bits foreground;
  int connectivity;

  __device__ static Bits start(Bits elements) { return lowest_bit(elements); }
  __device__ static bool whole(Bits elements) { return ~elements == 0; }
  __device__ Bits grown(Bits bits) const {
    bits = B::dilated(bits, (1 << axes) - 1, connectivity) & foreground;
    return axes < 3 ? B::dilated(bits, (1 << axes) - 1, connectivity) & foreground : bits;
  }
};

template <int axes>
struct BrickLinks {
  using B = Brick<axes>;
  Bits foreground;
  int connectivity;
  // For kValues, `back` has the links; else neighbours of the connectivity are linked if they have one value.
  Comparison comparison;
  union {
    Bits back[B::kNoStep];  // the elements that are linked to the one at each step before, in this brick
    ValuePlanes planes;
  };

  // Calls body(links) with OneValueLinks if they do, else with these.
  template <class Body>
  __device__ void with_fewest(Body&& body) const {
    if (comparison == Comparison::kNone)
      body(OneValueLinks<axes>{foreground, connectivity});
    else
      body(*this);
  }
  __device__ bool one_by_one() const { return comparison == Comparison::kValues; }
  // The foreground with the value of some elements, which have one value.
  __device__ Bits of_value(Bits elements) const {
    return comparison == Comparison::kNone ? foreground : foreground & planes.equal_to(elements);
  }

  __device__ static Bits start(Bits elements) { return lowest_bit(elements); }
  // Whether the brick is full of one value, and so one component.
  __device__ bool whole(Bits elements) const {
    return ~elements == 0 && !one_by_one() && ~of_value(lowest_bit(elements)) == 0;
  }
  // Elements and those linked to them; twice where that takes no longer than to ask whether it has grown.
  __device__ Bits grown(Bits bits) const {
    if (one_by_one()) return with_linked(bits);
    const Bits equal = of_value(bits);
    bits = B::dilated(bits, (1 << axes) - 1, connectivity) & equal;
    return axes < 3 ? B::dilated(bits, (1 << axes) - 1, connectivity) & equal : bits;
  }
  __device__ Bits with_linked(Bits bits) const {
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      bits |= (bits & back[step]) >> B::distance_back(step) | (bits << B::distance_back(step) & back[step]);
    return bits;
  }
  // The elements linked to another one, or near foreground of their value.
  __device__ Bits with_neighbour() const {
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

template <int axes>
struct GivenBrickLinks : BrickLinks<axes> {
  __device__ Bits grown(Bits bits) const {
    const Bits more = this->with_linked(bits);
    return axes < 3 ? this->with_linked(more) : more;
  }
};

template <class Links>
__device__ inline Bits component_of(const Links& links, Bits bit) {
  for (Bits component = bit;;) {
    const Bits more = links.grown(component);
    if (more == component) return component;
    component = more;
  }
}

// The number of the first element of each one's component, as planes: of components {1, 2, 5} and {3, 4}
// digit[0] is 0 1 1 1 1 1, and digit[1] 0 0 0 1 1 0.
constexpr int kFirstDigits = 6;

struct FirstDigits {
  Bits digit[kFirstDigits];

  // The elements whose own number has the digit.
  CONNCOMP_ANYWHERE static constexpr Bits numbers_with(int k) {
    return ~Bits(0) / ((Bits(1) << (1 << k)) + 1) << (1 << k);
  }
  __device__ static FirstDigits of_each(Bits elements) {
    FirstDigits digits;
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) digits.digit[k] = elements & numbers_with(k);
    return digits;
  }
  __device__ void add(Bits component, int first) {
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) digit[k] |= first >> k & 1 ? component : 0;
  }
  __device__ uint32_t low(int k) const { return uint32_t(digit[k]); }
  __device__ uint32_t high(int k) const { return uint32_t(digit[k] >> 32); }
  // As BrickLinks, with components that are complete.
  __device__ static bool whole(Bits) { return false; }
  __device__ Bits start(Bits elements) const { return component(lowest(elements)) & elements; }
  __device__ static Bits grown(Bits component) { return component; }
  // The elements of the component of a first element; for 0 these include the background.
  __device__ Bits component(int first) const {
    Bits elements = ~Bits(0);
#pragma unroll
    for (int k = 0; k < kFirstDigits; ++k) elements &= first >> k & 1 ? digit[k] : ~digit[k];
    return elements;
  }
};

}  // namespace conncomp
