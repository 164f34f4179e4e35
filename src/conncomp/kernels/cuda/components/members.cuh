// The elements of each label on the GPU, in order: a counting sort by parts.
//
// What: indices[next[k]] on become those of label k, counted within items of `length` elements. `sorted`
// holds (label << kMemberBits) + index for each element of a part, the index counted from `begin`; negative
// ones are background.
// How: pack_labels makes these keys, and they are sorted. Where a label begins in `sorted`, its entry of
// `next` is lowered by that place, so that each of its elements finds its own place among `indices` from its
// place in `sorted`; where the label ends, the entry moves behind them, for the next part. Each step is a
// kernel, and no two threads touch an entry.
// Labels may have changed since their sizes were counted: one without a row is taken for background
// (rows.cuh), and an element whose place is not among `indices` gets none.
// Cost: the labels read once; a part, which fits into the caches, is sorted and read three times. Memory:
// twice a part.
#pragma once

#include "cuda/components/rows.cuh"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kMemberThreads = 256;
constexpr int kMemberBits = 22;

template <class Label>
__global__ void __launch_bounds__(kMemberThreads)
    pack_labels(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
                int64_t* __restrict__ keys) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = labels[i];
    keys[i] = (has_row(label, background, rows) ? int64_t(label) : -1) * (1 << kMemberBits) + i;
  }
}

template <int = 0>
__global__ void __launch_bounds__(kMemberThreads)
    begin_labels(int64_t count, const int64_t* __restrict__ sorted, int64_t* __restrict__ next) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const int64_t label = sorted[i] >> kMemberBits;
    if (label >= 0 && (i == 0 || sorted[i - 1] >> kMemberBits != label)) next[label] -= i;
  }
}

template <class Index>
__global__ void __launch_bounds__(kMemberThreads)
    place_members(int64_t count, int64_t begin, int64_t length, const int64_t* __restrict__ sorted,
                  const int64_t* __restrict__ next, int64_t places, Index* __restrict__ indices) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const int64_t label = sorted[i] >> kMemberBits, index = begin + (sorted[i] & ((1 << kMemberBits) - 1));
    if (label < 0) continue;
    const int64_t place = next[label] + i;
    if (uint64_t(place) < uint64_t(places)) indices[place] = Index(index < length ? index : index % length);
  }
}

template <int = 0>
__global__ void __launch_bounds__(kMemberThreads)
    end_labels(int64_t count, const int64_t* __restrict__ sorted, int64_t* __restrict__ next) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const int64_t label = sorted[i] >> kMemberBits;
    if (label >= 0 && (i == count - 1 || sorted[i + 1] >> kMemberBits != label)) next[label] += i + 1;
  }
}

}  // namespace conncomp
