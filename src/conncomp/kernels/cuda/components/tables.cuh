// Tables with a row for each label. count_labels counts elements, replace_labels looks labels up, and
// combine_labels numbers the components of items apart, for one table. A warp reads 32 labels and adds up
// stretches of equal ones; a label that has lost its row is background (rows.cuh). Cost: labels read once.
#pragma once

#include "cuda/components/rows.cuh"

namespace conncomp {

template <class Label>
__global__ void __launch_bounds__(kTableThreads) count_labels(
    int64_t count, const Label* __restrict__ labels, Label background, int64_t rows, int64_t* sizes) {
  count_stretches(
      count, background, rows, sizes, [=](int64_t i) { return Concurrent::load(labels + i); },
      [](int64_t) { return false; }, [](int length) { return length; });
}

// Label k of item n becomes n * rows + k, one without a row the background. Both arrays may be one.
template <class Label, class Combined>
__global__ void __launch_bounds__(kTableThreads) combine_labels(
    int64_t count, const Label* labels, int64_t length, Label background, int64_t rows, Combined* combined) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = Concurrent::load(labels + i);
    const int64_t first_row = quotient(i, length) * rows;
    combined[i] = has_row(label, background, rows) ? Combined(first_row + label) : Combined(background);
  }
}

template <class Label>
__global__ void __launch_bounds__(kTableThreads)
    replace_labels(int64_t count, const Label* __restrict__ labels, Label background, int64_t rows,
        const Label* __restrict__ table, Label* __restrict__ out) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Label label = labels[i];
    out[i] = has_row(label, background, rows) ? table[label] : background;
  }
}

// The elements of each label, in order, by a counting sort by parts: indices[next[k]] on become those of
// label k, counted within items of `length`. `sorted` has (label << kMemberBits) + index of each element of a
// part, from `begin` on; negative ones are background. Where a label begins in `sorted`, `next` is lowered by
// that place; where it ends, it moves behind its elements. In each kernel no two threads touch an entry.
// Where labels changed since the count, elements without a row or place get none. Cost: labels read once;
// parts, which fit into caches, are sorted and read three times.

constexpr int kMemberThreads = 256;
constexpr int kMemberBits = 22;

template <class Label>
__global__ void __launch_bounds__(kMemberThreads) pack_labels(int64_t count, const Label* __restrict__ labels,
    Label background, int64_t rows, int64_t* __restrict__ keys) {
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

}
