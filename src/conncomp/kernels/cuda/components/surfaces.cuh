// How many faces of its elements a component shows to what is not of it, along each axis, on the GPU.
//
// What: as cpu/components/surfaces.h: a face counts where the neighbour across it has another label, or lies
// outside the item.
// How: a thread compares its label with the two neighbours along each axis. The first one of a stretch of
// equal labels in a warp counts the faces of all, by votes; inside components there is nothing to add. Labels
// are read again by each neighbour: whoever changes them meanwhile gets any counts, of components that are
// known. Cost: 2 n + 1 loads of a label in n dimensions, mostly from caches; a division for each axis.
#pragma once

#include "core/atomics.h"
#include "cuda/components/rows.cuh"
#include "cuda/core/launch.cuh"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kFaceThreads = 256;

// `shape` is that of an item. Label k is the component places[k] - 1, or none where that is 0.
template <class Label>
__global__ void __launch_bounds__(kFaceThreads)
    count_faces(int64_t count, const Label* __restrict__ labels, Label background, int64_t ndim,
                const int64_t* __restrict__ shape, int64_t rows, const int64_t* __restrict__ places,
                int64_t* faces) {
  for (int64_t begin = grid_thread() / kWarp * kWarp; begin < count; begin += grid_threads()) {
    const int64_t i = begin + lane();
    const Label label = i < count ? Shared::load(labels + i) : background;
    const auto [first, length] = stretch_of(label);
    const unsigned int stretch = kAllLanes >> (kWarp - length) << lane();
    const int64_t row = first && has_row(label, background, rows) ? places[label] - 1 : -1;
    int64_t stride = 1, line = i;
    for (int64_t k = ndim - 1; k >= 0; --k) {
      const int64_t at = line % shape[k];
      const auto differs = [&](bool inside, int64_t neighbour) {
        return i < count && (!inside || Shared::load(labels + neighbour) != label);
      };
      const unsigned int ahead = __ballot_sync(kAllLanes, differs(at > 0, i - stride));
      const unsigned int behind = __ballot_sync(kAllLanes, differs(at + 1 < shape[k], i + stride));
      const int sum = __popc(ahead & stretch) + __popc(behind & stretch);
      if (row >= 0 && sum > 0) Shared::fetch_add(faces + row * ndim + k, int64_t(sum));
      line /= shape[k];
      stride *= shape[k];
    }
  }
}

}  // namespace conncomp
