// Labels that go to memory past the caches, a line of these at a time.
//
// What: a processor that writes into its caches first asks for what is there, and puts other lines out.
// Labels that are too many to stay are better written straight to memory, where each line is to come whole
// and by one store; so registers of labels are shifted to where lines begin.
//
//     lines        |               |               |
//     registers       . . . . . . . . . . . . . . . .
//                     head             tail           parts of lines that are others', too
//
// Cost: an instruction more for a register. A Xeon of 2023 takes 20 GB/s so, where it takes 7 to 12 by its
// caches once these are full, and 23 before. Only with AVX-512, where a register is a line.
// Source: ours, from streaming stores.
#pragma once

#include "cpu/core/bits.h"

namespace conncomp {

// Labels of so many bytes may stay in caches, where who asked for them finds them.
constexpr int64_t kCachedLabels = int64_t(1) << 22;

#ifdef __AVX512VPOPCNTDQ__
template <class Label>
constexpr bool kStreamed = sizeof(Label) == 4;

template <class Label>
class LabelStream {
 public:
  LabelStream() = default;
  LabelStream(const LabelStream&) = delete;
  LabelStream& operator=(const LabelStream&) = delete;
  // Stores past the caches are in no order with others, by which threads tell that labels are there.
  ~LabelStream() {
    finish();
    _mm_sfence();
  }

  // Turns to where the next labels go.
  void turn(Label* out) {
    if (out == line_ + lead_) return;
    finish();
    lead_ = int(uintptr_t(out) % sizeof(__m512i) / sizeof(Label));
    line_ = out - lead_;
    here_ = __mmask16(kAll << lead_);
  }

  // Writes one label to `count` elements, which are registers of them.
  void fill(int64_t count, Label label) {
    put_all([&](auto&& put) {
      for (int64_t p = 0; p < count; p += kLanes) put(p, _mm512_set1_epi32(label));
    });
  }

  // Writes what is there of the last line.
  void finish() {
    if (lead_) {
      const __m512i tail = _mm512_permutex2var_epi32(before_, counted_from(kLanes - lead_), before_);
      _mm512_mask_storeu_epi32(line_, __mmask16(here_ & below(lead_)), tail);
    }
    lead_ = 0, line_ = nullptr;
  }

  // Calls each(put), where put(p, labels) is to be called with registers of labels, in their order.
  void put_all(auto&& each) {
    // Held by this function, as labels that are written might be any of what it would read again.
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
  __mmask16 here_ = kWhole;                  // which labels of the line are to be written: others are others'
};
#else
template <class Label>
constexpr bool kStreamed = false;

template <class Label>
class LabelStream {};
#endif

}  // namespace conncomp
