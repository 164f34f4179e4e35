// What a sample has most of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace conncomp {

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
