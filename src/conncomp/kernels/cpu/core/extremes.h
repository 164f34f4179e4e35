// What arrays hold: extremes, the most frequent of a sample, and counts of bytes.
#pragma once

#include <vector>

#include "cpu/core/parallel.h"

namespace conncomp {

// The smallest and the largest of some numbers, of which there is at least one. Each is read once.
template <class T>
std::pair<T, T> extremes(const T* values, int64_t count) {
  const Parts parts(count, kGrain);
  std::vector<std::pair<T, T>> part_extremes(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    T low = values[parts.begin(part)], high = low;
    for_each_in(parts.begin(part), parts.end(part), [&, values](int64_t i) {
      const T value = values[i];
      low = std::min(low, value);
      high = std::max(high, value);
    });
    part_extremes[part] = {low, high};
  });
  std::pair<T, T> all = part_extremes[0];
  for (const auto& [low, high] : part_extremes) all = {std::min(all.first, low), std::max(all.second, high)};
  return all;
}

constexpr int kBytes = 256;

// Adds to counts[b] how often b occurs, by four tables, as an entry that has just been written is not there
// to be read yet where neighbours are equal. Cost: a pass, about two bytes a nanosecond.
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

template <class Value>
struct Frequent {
  Value value;
  size_t times;
};

// The value that occurs most often in a sample, which is not empty, and is sorted by this; of several the
// smallest one.
template <class Value>
Frequent<Value> most_frequent(std::vector<Value>& sample) {
  std::sort(sample.begin(), sample.end());
  Frequent<Value> best{sample[0], 0};
  for (size_t first = 0, last; first < sample.size(); first = last) {
    for (last = first; last < sample.size() && sample[last] == sample[first];) ++last;
    if (last - first > best.times) best = {sample[first], last - first};
  }
  return best;
}

}  // namespace conncomp
