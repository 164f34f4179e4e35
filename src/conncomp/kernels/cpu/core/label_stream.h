// Labels that go to memory past the caches, a line at a time. A store into a cache reads the line and evicts
// others. Labels too many to stay go straight to memory, each line whole by one store; so registers are
// shifted to lines.
//     lines        |               |               |
//     registers       . . . . . . . . . . . . . . . .
//                     head             tail           parts of lines that are others', too
// A Xeon of 2023 writes 20 GB/s so, and 7 to 12 through full caches. Only with AVX-512, of a line a register.
#pragma once

#include "cpu/core/bits.h"

namespace conncomp {

// Labels of so many bytes may stay in caches.
constexpr int64_t kCachedLabels = int64_t(1) << 22;

#ifdef __AVX512VPOPCNTDQ__
template <class Label> constexpr bool kStreamed = sizeof(Label) == 4;

template <class Label> class LabelStream {
 public:
  LabelStream() = default;
  LabelStream(const LabelStream&) = delete;
  LabelStream& operator=(const LabelStream&) = delete;
  // Streaming stores are in no order with others, by which threads tell that labels are there.
  ~LabelStream() {
    finish();
    _mm_sfence();
  }

  void turn(Label* out) {
    if (out == line_ + lead_) return;
    finish();
    lead_ = int(uintptr_t(out) % sizeof(__m512i) / sizeof(Label));
    line_ = out - lead_;
    here_ = __mmask16(kAll << lead_);
  }

  void fill(int64_t count, Label label) {
    put_all([&](auto&& put) {
      for (int64_t p = 0; p < count; p += kLanes) put(p, _mm512_set1_epi32(label));
    });
  }

  void finish() {
    if (lead_) {
      const __m512i tail = _mm512_permutex2var_epi32(before_, counted_from(kLanes - lead_), before_);
      _mm512_mask_storeu_epi32(line_, __mmask16(here_ & below(lead_)), tail);
    }
    lead_ = 0, line_ = nullptr;
  }

  // Calls each(put), which calls put(p, labels) with registers of labels, in order.
  void put_all(auto&& each) {
    // Local copies, as the labels written might alias the members.
    __m512i before = before_;
    Label* line = line_;
    __mmask16 here = here_;
    const __m512i places = counted_from(kLanes - lead_);
    each([&](int64_t, __m512i labels) {
      const __m512i whole = _mm512_permutex2var_epi32(before, places, labels);
      if (here == kWhole) [[likely]]
        _mm512_stream_si512(reinterpret_cast<__m512i*>(line), whole);
      else
        _mm512_mask_storeu_epi32(line, here, whole);
      here = kWhole;
      before = labels;
      line += kLanes;
    });
    before_ = before, line_ = line, here_ = here;
  }

 private:
  static constexpr __mmask16 kWhole = 0xFFFF;

  __m512i before_ = _mm512_setzero_si512();  // the register before
  Label* line_ = nullptr;                    // where the next line begins
  int lead_ = 0;                             // the labels of that line that are there, or are others'
  __mmask16 here_ = kWhole;                  // which labels of the line are ours
};
#else
template <class Label> constexpr bool kStreamed = false;

template <class Label> class LabelStream {};
#endif

}
