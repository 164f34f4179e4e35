// How often each byte occurs.
//
// How: four tables, as an entry that has just been written is not there to be read yet where neighbours are
// equal. Cost: a pass, about two bytes a nanosecond.
#pragma once

#include <cstdint>

#include "cpu/core/interrupt.h"

namespace conncomp {

constexpr int kBytes = 256;

// Adds to counts[b] how often b occurs.
inline void count_bytes(const uint8_t* values, int64_t count, int64_t* counts) {
  constexpr int kTables = 4;
  int64_t tables[kTables][kBytes] = {};
  for_each_in(0, count / kTables, [&tables, values](int64_t i) {
    for (int k = 0; k < kTables; ++k) ++tables[k][values[kTables * i + k]];
  });
  for (int64_t i = count / kTables * kTables; i < count; ++i) ++tables[0][values[i]];
  for (const auto& table : tables)
    for (int b = 0; b < kBytes; ++b) counts[b] += table[b];
}

}  // namespace conncomp
