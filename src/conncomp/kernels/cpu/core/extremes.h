// Extremes, the most frequent value of a sample, and counts of bytes.
#pragma once

#include <functional>
#include <vector>

#include "cpu/core/parallel.h"

namespace conncomp {

// The smallest and the largest key of at least one item. Each item is read once.
template <class Key = std::identity> auto extremes(const auto* items, int64_t count, Key key = {}) {
  using Number = std::decay_t<decltype(key(*items))>;
  const Parts parts(count, kGrain);
  std::vector<std::pair<Number, Number>> part_extremes(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    Number low = key(items[parts.begin(part)]), high = low;
    for_each_in(parts.begin(part), parts.end(part), [&, key, items](int64_t i) {
      const Number value = key(items[i]);
      low = std::min(low, value);
      high = std::max(high, value);
    });
    part_extremes[part] = {low, high};
  });
  std::pair<Number, Number> all = part_extremes[0];
  for (const auto& [low, high] : part_extremes) all = {std::min(all.first, low), std::max(all.second, high)};
  return all;
}

constexpr int kBytes = 256;

// Adds to counts[b] how often b occurs. Four tables, as entries just written are read late.
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

template <class Value> struct Frequent {
  Value value;
  size_t times;
};

// The most frequent value of a sample that is not empty, the smallest of several; sorts the sample.
template <class Value> Frequent<Value> most_frequent(std::vector<Value>& sample) {
  std::sort(sample.begin(), sample.end());
  Frequent<Value> best{sample[0], 0};
  for (size_t first = 0, last; first < sample.size(); first = last) {
    for (last = first; last < sample.size() && sample[last] == sample[first];) ++last;
    if (last - first > best.times) best = {sample[first], last - first};
  }
  return best;
}

}
