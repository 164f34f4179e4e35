// Which labels two arrays have in the same places, run by run: a slice of a volume that is labelled twice, or
// two slices one above the other.
//
// How: each part is walked through by a thread, a block of elements at a time; a block that is all background
// is left out. A run ends where one of the two labels changes, and where a part does.
// Cost: labels read once. Memory: three numbers a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/atomics.h"
#include "cpu/core/interrupt.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// The runs of elements that are foreground in both arrays: the two labels and the length of each.
template <class Label>
std::vector<int64_t> pair_runs(const Label* one, const Label* other, int64_t count) {
  constexpr int64_t kBlock = 16;
  const Parts parts(count, kGrain);
  std::vector<std::vector<int64_t>> runs(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t first = parts.begin(part), end = parts.end(part);
    std::vector<int64_t>& of_part = runs[part];
    int64_t after = first;  // the end of the last run
    for_each_in(0, (end - first + kBlock - 1) / kBlock, [&, end](int64_t block) {
      const int64_t begin = first + block * kBlock, stop = std::min(end, begin + kBlock);
      Label any = 0;
      for (int64_t i = begin; i < stop; ++i) any |= Shared::load(one + i);
      if (!any) return;
      for (int64_t i = begin; i < stop; ++i) {
        const int64_t here = Shared::load(one + i), there = Shared::load(other + i);
        if (here == 0 || there == 0) continue;
        const size_t last = of_part.size();
        if (last > 0 && after == i && of_part[last - 3] == here && of_part[last - 2] == there)
          ++of_part[last - 1];
        else
          of_part.insert(of_part.end(), {here, there, 1});
        after = i + 1;
      }
    });
  });
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& of_part : runs) all.insert(all.end(), of_part.begin(), of_part.end());
  return all;
}

}  // namespace conncomp
