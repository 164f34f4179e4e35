// Unions that the threads of a warp make together.
//
// Beside each other they often have the same two sets to unite: of those that see the same two parents in a
// row one does it. Cost: two shuffles more a union, and where many would meet at one root, far fewer do.
#pragma once

#include "core/union_find.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

// Threads of a warp whose `active` is set unite v and u, but not if one is the parent of the other, nor if
// these have the same parents as those of the thread before, as they mostly have in meshes.
template <class Access, class Index>
__device__ void unite_once(bool active, Index* parent, Index v, Index u) {
  Index a = -1, b = -1;
  if (active) {
    a = Access::load(parent + v);
    b = Access::load(parent + u);
  }
  const Index a_before = __shfl_up_sync(kAllLanes, a, 1), b_before = __shfl_up_sync(kAllLanes, b, 1);
  if (a != b && a != u && b != v && (lane() == 0 || a != a_before || b != b_before))
    hook<Access>(parent, find_from<Access>(parent, v, a), find_from<Access>(parent, u, b));
}

}  // namespace conncomp
