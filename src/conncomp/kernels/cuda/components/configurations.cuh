// Euler numbers, intercepts, borders and faces of components, as cpu/components/borders.h and surfaces.h. A
// thread looks at the 2 x 2 (x 2) elements around a corner and, unless all are alike, adds the weights of
// each component's pattern (core/configurations.h); or at an element of a border and the borders around it.
// Outside is background. Neighbours read labels again: changing them gives any numbers, of known components.
// Cost: 4 or 8 loads per label, mostly from caches; 5, up to 45 at borders.
#pragma once

#include "core/configurations.h"
#include "cuda/components/rows.cuh"

namespace conncomp {

constexpr int kPatternThreads = 256;
constexpr int kBorderKinds = 3;  // straight, aslant, turning

// `corners` are those of all items. `weights` has a row per pattern. Label k is component places[k] - 1.
template <class Label, int axes>
__global__ void __launch_bounds__(kPatternThreads)
    count_configurations(LabelRows<Label> labels, Extent extent, int64_t corners,
        const int64_t* __restrict__ places, const int8_t* __restrict__ weights, int64_t* numbers) {
  constexpr int kElements = 1 << axes, kNumbers = Configurations<axes>::kNumbers;
  for (int64_t corner = grid_thread(); corner < corners; corner += grid_threads()) {
    int64_t at[axes], item = corner;
#pragma unroll
    for (int k = axes - 1; k >= 0; --k) {
      const int64_t length = extent.length(k) + 1, above = item / length;
      at[k] = item - above * length;
      item = above;
    }
    Label elements[kElements];
    bool differ = false;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      bool inside = true;
      int64_t index = item;
#pragma unroll
      for (int k = 0; k < axes; ++k) {
        const int64_t place = at[k] - 1 + (i >> (axes - 1 - k) & 1);
        inside = inside && place >= 0 && place < extent.length(k);
        index = index * extent.length(k) + place;
      }
      elements[i] = inside ? labels.load(index) : labels.background;
      differ = differ || elements[i] != elements[0];
    }
    if (!differ) continue;
    unsigned int open = 0;
#pragma unroll
    for (int i = 0; i < kElements; ++i) open |= unsigned(labels.has_row(elements[i])) << i;
    while (open) {
      Label label = labels.background;
#pragma unroll
      for (int i = kElements - 1; i >= 0; --i)
        if (open >> i & 1) label = elements[i];
      unsigned int code = 0;
#pragma unroll
      for (int i = 0; i < kElements; ++i) code |= unsigned(elements[i] == label) << i;
      open &= ~code;
      const int64_t row = places[label] - 1;
      if (row < 0) continue;
      for (int k = 0; k < kNumbers; ++k) {
        const int64_t weight = __ldg(weights + code * kNumbers + k);
        if (weight) Concurrent::fetch_add(numbers + row * kNumbers + k, weight);
      }
    }
  }
}

template <class Label> struct LabelPlane {
  LabelRows<Label> labels;
  int64_t first, height, width;

  Label at(int64_t y, int64_t x) const {
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    return inside ? labels.load(first + y * width + x) : labels.background;
  }
  // Whether an element has the label and a neighbour across an edge that has not.
  bool is_border(int64_t y, int64_t x, Label label) const {
    return at(y, x) == label &&
           (at(y, x - 1) != label || at(y, x + 1) != label || at(y - 1, x) != label || at(y + 1, x) != label);
  }
};

template <class Label>
__global__ void __launch_bounds__(kPatternThreads) count_borders(
    LabelRows<Label> labels, Extent extent, const int64_t* __restrict__ places, int64_t* kinds) {
  const int64_t height = extent.length(0), width = extent.length(1), length = height * width;
  for (int64_t i = grid_thread(); i < labels.count; i += grid_threads()) {
    const Label label = labels.load(i);
    if (!labels.has_row(label)) continue;
    const LabelPlane<Label> plane{labels, i / length * length, height, width};
    const int64_t y = (i - plane.first) / width, x = i - plane.first - y * width;
    if (!plane.is_border(y, x, label)) continue;
    int beside = 0, aslant = 0;
#pragma unroll
    for (int step = -1; step <= 1; step += 2) {
      beside += plane.is_border(y, x + step, label) + plane.is_border(y + step, x, label);
      aslant += plane.is_border(y + step, x - 1, label) + plane.is_border(y + step, x + 1, label);
    }
    int kind = -1;
    if ((beside == 2 || beside == 3) && aslant <= 2) kind = 0;
    if ((beside == 0 && aslant == 2) || (beside == 1 && aslant == 3)) kind = 1;
    if (beside == 1 && (aslant == 1 || aslant == 2)) kind = 2;
    const int64_t row = kind < 0 ? -1 : places[label] - 1;
    if (row >= 0) Concurrent::fetch_add(kinds + row * kBorderKinds + kind, int64_t(1));
  }
}

// The faces of a component along each axis; the first thread of a stretch of equal labels counts all, by
// votes. Cost: 2 n + 1 loads per label in n dimensions, and a division for each axis.

constexpr int kFaceThreads = 256;

// `shape` is that of an item, `places` as above.
template <class Label>
__global__ void __launch_bounds__(kFaceThreads)
    count_faces(int64_t count, const Label* __restrict__ labels, Label background, int64_t ndim,
        const int64_t* __restrict__ shape, int64_t rows, const int64_t* __restrict__ places, int64_t* faces) {
  for (int64_t begin = grid_thread() / kWarp * kWarp; begin < count; begin += grid_threads()) {
    const int64_t i = begin + lane();
    const Label label = i < count ? Concurrent::load(labels + i) : background;
    const auto [first, length] = stretch_of(label);
    const unsigned int stretch = kAllLanes >> (kWarp - length) << lane();
    const int64_t row = first && has_row(label, background, rows) ? places[label] - 1 : -1;
    int64_t stride = 1, line = i;
    for (int64_t k = ndim - 1; k >= 0; --k) {
      const int64_t at = line % shape[k];
      const auto differs = [&](bool inside, int64_t neighbour) {
        return i < count && (!inside || Concurrent::load(labels + neighbour) != label);
      };
      const unsigned int ahead = __ballot_sync(kAllLanes, differs(at > 0, i - stride));
      const unsigned int behind = __ballot_sync(kAllLanes, differs(at + 1 < shape[k], i + stride));
      const int sum = __popc(ahead & stretch) + __popc(behind & stretch);
      if (row >= 0 && sum > 0) Concurrent::fetch_add(faces + row * ndim + k, int64_t(sum));
      line /= shape[k];
      stride *= shape[k];
    }
  }
}

}
