// Which elements of a brick are connected, and its components.
//
// A component of a brick is a set of its bits that are linked, directly or not, within the brick. It grows
// from one element by shifts: `grown` adds what is linked to it until nothing is.
#pragma once

#include "cuda/grid/brick.cuh"

namespace conncomp {

template <int axes>
struct BrickLinks {
  using B = Brick<axes>;
  Bits foreground;
  int connectivity;
  // Whether links are given one by one. If not, neighbours in the foreground are linked, as it is of one
  // value, and neighbours are those of the connectivity.
  bool one_by_one;
  Bits back[B::kNoStep];  // if so: the elements that are linked to the one at each step before, in this brick

  // Some elements, and those that they are linked to.
  __device__ Bits grown(Bits bits) const {
    return one_by_one ? with_linked(bits) : B::dilated(bits, (1 << axes) - 1, connectivity) & foreground;
  }
  __device__ Bits with_linked(Bits bits) const {
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      bits |= (bits & back[step]) >> B::distance_back(step) | (bits << B::distance_back(step) & back[step]);
    return bits;
  }
  // The elements that are linked to another one; or those near foreground, if it is of one value.
  __device__ Bits with_neighbour() const {
    if (!one_by_one) return B::surroundings(foreground);
    Bits elements = 0;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      elements |= back[step] | back[step] >> B::distance_back(step);
    return elements;
  }
};

// Links that are given one by one. Where steps are few, it takes as long to ask whether a component has grown
// as to let it grow, so it grows twice.
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

}  // namespace conncomp
