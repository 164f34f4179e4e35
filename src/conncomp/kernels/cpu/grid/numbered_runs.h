// The labels of runs whose components are numbered: of each run that of the entry which its parents lead to.
//
// How: the label takes the run's entry, for those that it is a parent of. In ascending order a parent mostly
// has its label. (To store it only where the way is longer than a step saves less than the longer ways cost.)
// With AVX-512, sixteen runs go their ways at once.
// Cost: a run is two steps from its label or one, mostly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/atomics.h"
#include "cpu/core/bits.h"

namespace conncomp {

// Labels are complemented, and so negative; entries that are not are parents.
template <class Index>
struct NumberedRuns {
  Index* parent;

  Index operator()(int64_t run) const {
    const Index entry = Shared::load(parent + run);
    Index label = Shared::load(parent + (entry < 0 ? Index(run) : entry));
    while (label >= 0) label = Shared::load(parent + label);
    Shared::store(parent + run, label);
    return label;
  }

  // Writes the labels of runs from one up to another. Other threads may do so meanwhile: an entry that
  // another one replaces is a parent or the label, and both lead to the label.
  void write(int64_t begin, int64_t end, Index* labels) const {
#ifdef __AVX512VPOPCNTDQ__
    if constexpr (sizeof(Index) == 4) return write_lanes(begin, end, labels);
#endif
    for (int64_t run = begin; run < end; ++run) *labels++ = (*this)(run);
  }

 private:
#ifdef __AVX512VPOPCNTDQ__
  void write_lanes(int64_t begin, int64_t end, Index* labels) const {
    constexpr int64_t kLanes = 16;
    for (int64_t run = begin; run < end; run += kLanes, labels += kLanes) {
      const __mmask16 all = __mmask16(below(int(std::min(kLanes, end - run))));
      __m512i label = _mm512_maskz_loadu_epi32(all, parent + run);
      for (;;) {
        const __mmask16 led = _mm512_mask_cmpge_epi32_mask(all, label, _mm512_setzero_si512());
        if (!led) break;
        label = _mm512_mask_i32gather_epi32(label, led, label, parent, sizeof(Index));
      }
      _mm512_mask_storeu_epi32(parent + run, all, label);
      _mm512_mask_storeu_epi32(labels, all, label);
    }
  }
#endif
};

}  // namespace conncomp
