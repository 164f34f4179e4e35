// The smallest and the largest of some numbers, of which there is at least one. Each is read once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/core/parallel.h"

namespace conncomp {

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

}  // namespace conncomp
