// The arcs of compressed sparse rows, dealt out in spans of consecutive ones, each with the vertex that it
// leaves.
//
// How: a block takes kSpan arcs at a time, whatever the lengths of rows, and searches indptr for the rows
// that they are in. Of many short rows a thread takes one each, as far as it is in the span, and a warp takes
// a longer one; of few rows, which are long, every thread finds that of its arc (visit_span). Cost: indptr
// read once, and two searches a span.
#pragma once

#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int64_t kSpan = 4096;
constexpr int64_t kFewRows = 64;  // of a span: then they are searched for each arc

// The last of [low, high) whose arcs begin at `arc` or before.
template <class Pointer>
__device__ inline int64_t source_of(const Pointer* indptr, int64_t low, int64_t high, int64_t arc) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (int64_t(indptr[middle]) <= arc ? low : high) = middle;
  }
  return low;
}

// Arcs, and the rows that they are in.
struct Span {
  int64_t begin, end, low = 0, high = 0;

  __device__ Span(int64_t arcs, int64_t begin)
      : begin(begin), end(begin + kSpan < arcs ? begin + kSpan : arcs) {}
  template <class Pointer>
  __device__ Span(const Pointer* indptr, int64_t vertices, int64_t arcs, int64_t begin) : Span(arcs, begin) {
    low = source_of(indptr, 0, vertices, begin);
    high = source_of(indptr, low, vertices, end - 1) + 1;
  }
};

// All rows are wanted.
struct AnyRow {
  __device__ bool operator()(int64_t) const { return true; }
};

// By all threads of a block: calls visit(exists, source, arc) for the arcs of a span whose source is wanted,
// by all threads of a warp at the same time; `exists` is false for those that have none left.
template <class Pointer, class Wanted, class Visit>
__device__ inline void visit_span(const Pointer* indptr, const Span& span, Wanted&& wanted, Visit&& visit) {
  if (span.high - span.low <= kFewRows) {
    for (int64_t row = span.begin; row < span.end; row += blockDim.x) {
      const int64_t arc = row + threadIdx.x;
      const int64_t source = arc < span.end ? source_of(indptr, span.low, span.high, arc) : 0;
      visit(arc < span.end && wanted(source), source, arc);
    }
    return;
  }
  for (int64_t row = span.low + int(threadIdx.x) - lane(); row < span.high; row += blockDim.x) {
    const int64_t source = row + lane();
    int64_t first = 0, last = 0;
    if (source < span.high && wanted(source)) {
      first = indptr[source], last = indptr[source + 1];
      if (first < span.begin) first = span.begin;
      if (last > span.end) last = span.end;
    }
    const bool is_long = last - first >= kWarp;
    for (int64_t arc = first; __any_sync(kAllLanes, !is_long && arc < last); ++arc)
      visit(!is_long && arc < last, source, arc);
    for (uint32_t open = __ballot_sync(kAllLanes, is_long); open; open &= open - 1) {
      const int worker = __ffs(int(open)) - 1;
      const int64_t row_end = __shfl_sync(kAllLanes, last, worker);
      for (int64_t arc = __shfl_sync(kAllLanes, first, worker); arc < row_end; arc += kWarp)
        visit(arc + lane() < row_end, row + worker, arc + lane());
    }
  }
}

}  // namespace conncomp
