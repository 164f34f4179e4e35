// Detours between rows: which links with a row are superfluous, as others make up for them.
//
// What: where links are transitive and rows have neighbours straight ahead, an element of g that is linked to
// those of other rows, straight ahead, is connected with all that these are linked to:
//
//     z - 1    d h        h by a, if the two are neighbours; else by a and d
//     z        a g        d by a or h
//
// The links among these rows are those of rows before g, and links with a row are only left out for those of
// rows that come before it in one order of rows around; so by induction others make up for them.
// Source: ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/grid/offsets.h"

namespace conncomp {

// A row at an offset of another one. A detour leads there by one of two rows, or by both.
struct RowAround {
  Offset offset;
  int by[2] = {-1, -1};
  bool both = false;
};

// The rows at offsets, and after these others that only detours lead by.
class RowsAround : public std::vector<RowAround> {
 public:
  explicit RowsAround(const std::vector<Offset>& offsets) : offsets_(offsets) {
    for (const Offset& offset : offsets) push_back({offset});
    for (size_t k = 0; k < offsets.size(); ++k) find_detours(int(k));
  }

 private:
  void find_detours(int k) {
    const auto order = [&](int i) {  // the nearest first
      const Step& step = offsets_[i].step;
      return std::make_pair(std::ptrdiff_t(step.size()) - std::count(step.begin(), step.end(), 0), i);
    };
    std::vector<int> nearer;
    for (int i = 0; i < int(offsets_.size()); ++i)
      if (order(i) < order(k)) nearer.push_back(i);
    int ways = 0;
    for (int i : nearer)
      if (ways < 2 && are_neighbours(offsets_[i].step, offsets_[k].step)) at(k).by[ways++] = i;
    for (int i : nearer) {
      const int corner = ways == 0 ? row_at(offsets_[i], offsets_[k]) : -1;
      if (corner < 0) continue;
      at(k).by[ways++] = i;
      at(k).by[ways++] = corner;
      at(k).both = true;
    }
  }

  bool are_neighbours(const Step& from, const Step& to) const {
    Step forth(from.size()), back(from.size());
    for (size_t k = 0; k < from.size(); ++k) {
      forth[k] = int8_t(to[k] - from[k]);
      back[k] = int8_t(-forth[k]);
    }
    return std::any_of(offsets_.begin(), offsets_.end(),
                       [&](const Offset& offset) { return offset.step == forth || offset.step == back; });
  }

  // The number of the row that two steps lead to; -1 if it is too far.
  int row_at(const Offset& one, const Offset& other) {
    Offset sum = one;
    for (size_t k = 0; k < sum.step.size(); ++k) {
      sum.step[k] = int8_t(sum.step[k] + other.step[k]);
      if (sum.step[k] < -1 || sum.step[k] > 1) return -1;
    }
    sum.bundles += other.bundles;
    sum.bytes += other.bytes;
    const auto known =
        std::find_if(begin(), end(), [&](const RowAround& row) { return row.offset.step == sum.step; });
    const int number = int(known - begin());
    if (known == end()) push_back({sum});
    return number;
  }

  const std::vector<Offset>& offsets_;
};

}  // namespace conncomp
