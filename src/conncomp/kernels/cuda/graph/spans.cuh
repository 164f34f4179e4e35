// The arcs of compressed sparse rows in spans of kSpan, each with its source, so that all threads have as
// much to do. A block searches indptr for the rows of a span, a warp 32 places at once, and notes in shared
// memory where they begin; the largest number up to an arc is its row's (SpanSources). Cost: indptr read
// once, two searches a span, three accesses to shared memory an arc.
#pragma once

#include "cuda/graph/roots.cuh"

namespace conncomp {

constexpr int kSpanThreads = 256;  // of every block that visits spans
constexpr int64_t kSpan = 4096;

// The last of [low, high) whose arcs begin at `arc` or before. By a whole warp.
int64_t source_of(const Integer auto* indptr, int64_t low, int64_t high, int64_t arc) {
  while (high - low > 1) {
    const int64_t step = (high - low + kWarp - 1) / kWarp, place = low + step * (lane() + 1);
    const bool begins_before = place < high && int64_t(indptr[place]) <= arc;
    low += step * __popc(__ballot_sync(kAllLanes, begins_before));
    if (low + step < high) high = low + step;
  }
  return low;
}

// The same where it is likely to be among the `near` ones from `low` on.
int64_t source_near(const Integer auto* indptr, int64_t low, int64_t near, int64_t high, int64_t arc) {
  if (low + near < high) {
    const bool begins_before = int64_t(indptr[low + near]) <= arc;
    (begins_before ? low : high) = low + near;
  }
  return source_of(indptr, low, high, arc);
}

struct Span {
  int64_t begin, end, low, high;

  // Row `first` is no later than those of the span; the last one of the span before is best.
  Span(const Integer auto* indptr, int64_t vertices, int64_t arcs, int64_t begin, int64_t first = 0)
      : begin(begin), end(begin + kSpan < arcs ? begin + kSpan : arcs) {
    low = source_near(indptr, first, kWarp, vertices, begin);
    high = source_near(indptr, low, kWarp * kWarp, vertices, end - 1) + 1;
    if (high > vertices) high = vertices;  // none, as rows that are checked may have arcs even so
  }
};

// Calls visit(span) for a block's spans: neighbours, found sooner. All threads call.
void visit_spans_of_block(const Integer auto* indptr, int64_t vertices, int64_t arcs, auto&& visit) {
  const int64_t spans = (arcs + kSpan - 1) / kSpan, end = spans * (blockIdx.x + 1) / gridDim.x * kSpan;
  int64_t row = 0;
  for (int64_t begin = spans * blockIdx.x / gridDim.x * kSpan; begin < end; begin += kSpan) {
    const Span span(indptr, vertices, arcs, begin, row);
    visit(span);
    row = span.high > span.low ? span.high - 1 : span.low;
  }
}

struct AnyRow {
  bool operator()(int64_t) const { return true; }
};

// A row's number in the span, and a bit for whether it is wanted: 32 bits where vertices have 31.
template <class Vertex> struct CodeOf {
  using Code = uint64_t;
};
template <> struct CodeOf<int32_t> {
  using Code = uint32_t;
};

// The sources of the arcs of one span after the other, in the shared memory of a block.
template <class Vertex> class SpanSources {
 public:
  using Code = typename CodeOf<Vertex>::Code;

  // By a whole block: notes which rows are wanted; returns whether any is.
  bool note(const Integer auto* indptr, const Span& span, auto&& wanted) {
    span_low_ = span.low, span_begin_ = span.begin;
    const int thread = int(threadIdx.x);
    Code* const codes = codes_of_block();
    __syncthreads();  // those of an earlier span have been read
    for (int arc = thread; arc < kSpan; arc += kSpanThreads) codes[place(arc)] = 0;
    __syncthreads();
    bool is_any_wanted = false;
    for (int64_t row = span.low + thread; row < span.high; row += kSpanThreads) {
      int64_t first = indptr[row], last = indptr[row + 1];
      if (first < span.begin) first = span.begin;
      if (last > span.end) last = span.end;
      if (first >= last) continue;
      const bool is_wanted = wanted(row);
      codes[place(int(first - span.begin))] = 2 * Code(row - span.low) + is_wanted;
      is_any_wanted |= is_wanted;
    }
    if (!__syncthreads_or(is_any_wanted)) return false;
    spread(codes);
    return true;
  }
  // The source of an arc of the span, or -1 if that is not wanted.
  int64_t source(int64_t arc) const {
    const Code code = codes_of_block()[place(int(arc - span_begin_))];
    return code & 1 ? span_low_ + int64_t(code >> 1) : int64_t(-1);
  }

 private:
  static constexpr int kArcsOfThread = kSpan / kSpanThreads, kWarps = kSpanThreads / kWarp;

  static Code* codes_of_block() {
    __shared__ Code codes[kSpan + kSpanThreads];
    return codes;
  }
  // Stretches of arcs begin in banks of their own.
  static int place(int arc) { return arc + arc / kArcsOfThread; }
  // Each arc gets the largest code up to it: that of its row.
  static void spread(Code* codes) {
    __shared__ Code largest_of_warp[kWarps];
    const int thread = int(threadIdx.x), first = place(kArcsOfThread * thread);
    Code largest = 0;
    for (int k = 0; k < kArcsOfThread; ++k) largest = larger(largest, codes[first + k]);
    largest = warp_scan(largest, larger<Code>);
    if (lane() == kWarp - 1) largest_of_warp[thread / kWarp] = largest;
    largest = __shfl_up_sync(kAllLanes, largest, 1);
    if (lane() == 0) largest = 0;
    __syncthreads();
    for (int warp = 0; warp < thread / kWarp; ++warp) largest = larger(largest, largest_of_warp[warp]);
    for (int k = 0; k < kArcsOfThread; ++k) codes[first + k] = largest = larger(largest, codes[first + k]);
    __syncthreads();
  }

  int64_t span_low_ = 0, span_begin_ = 0;
};

// Calls visit(exists, source, arc) for the arcs of a span, by all threads equally often; `exists` is false
// where no source is wanted, and behind the end. If no row is wanted, it calls nothing.
template <class Vertex>
void visit_span(const Integer auto* indptr, const Span& span, auto&& wanted, auto&& visit) {
  SpanSources<Vertex> sources;
  if (!sources.note(indptr, span, wanted)) return;
  for (int64_t row = span.begin; row < span.end; row += kSpanThreads) {
    const int64_t arc = row + int(threadIdx.x), source = arc < span.end ? sources.source(arc) : -1;
    visit(source >= 0, source, arc);
  }
}

}
