// Which links between elements have to be united, where a thread has an element.
//
// Of elements that are all linked to each other, few unions connect all: a diagonal link is left out where an
// element between makes up for it, and one across rows where those before in both rows do. In two dimensions,
// for elements of one value beside x, 8-connected:
//
//    a b .      x is united with b, whatever a and the one before x are       a b .      not with b, as the
//    . x        if the latter is another value; and not with a                a x        union of its row did
//
// Cost: some ten instructions a step. Source: ours.
#pragma once

#include "cuda/grid/cells.cuh"

namespace conncomp {

// Which links of an element call for a union. Sets of steps are words with a bit for each code.
template <int axes>
struct NeededUnions : Steps<axes> {
  using S = Steps<axes>;

  // The steps to elements between one and its neighbour at a step: some of its moves, but not all.
  CONNCOMP_ANYWHERE static constexpr uint32_t between(int step) {
    uint32_t steps = 0;
    for (int part = 0; part < S::kSteps; ++part) {
      bool some = part != step && part != S::kNoStep;
      for (int a = 0; a < axes; ++a) some &= S::step(part, a) == 0 || S::step(part, a) == S::step(step, a);
      if (some) steps |= 1u << part;
    }
    return steps;
  }
  // Steps to elements before such that unions along them, and along those that other elements find, connect
  // all that are linked. `similar` are the steps to elements that a rule would link; a transitive one links
  // these to each other, too. So a diagonal union is not needed if an element between is similar; nor is one
  // straight along another axis than the rows, if the elements before both in their rows are similar, unless
  // the row begins.
  template <bool transitive>
  __device__ static uint32_t among(uint32_t similar, int connectivity, uint32_t neighbours, bool row_begins) {
    // The links that make up for one that is left out are those of a connectivity.
    if (!transitive || connectivity == 0) return similar & neighbours & ((1u << S::kNoStep) - 1);
    constexpr uint32_t kLeft = 1u << (S::kNoStep - 1);
    uint32_t needed = 0;
#pragma unroll
    for (int step = 0; step < S::kNoStep; ++step) {
      const int moves = S::moves(step);
      if (!(similar >> step & 1) || moves > connectivity) continue;
      if (moves > 1 && similar & between(step)) continue;
      const bool upright = moves == 1 && step != S::kNoStep - 1;
      if (upright && !row_begins && similar & kLeft && similar >> (step - 1) & 1) continue;
      needed |= 1u << step;
    }
    return needed;
  }
};

// Whether a rule links a site to another one at a step along the last axes. Of a transitive rule it is asked
// for all steps, of others for those to neighbours.
template <class Rule, int rank>
__device__ inline bool similar_at(const Rule& rule, const Grid<rank>& grid,
                                  const typename Rule::Value* values, const typename Rule::Site& from,
                                  const typename Rule::Site& to, int code) {
  using S = typename Grid<rank>::LastSteps;
  if (!Rule::kTransitive && !grid.has_step(code)) return false;
  return rule.linked(values, from, to, S::highest_axis(code), code > S::kNoStep);
}

}  // namespace conncomp
