// Detours between rows: which links with a row are superfluous, as others make up for them.
//
// What: where links are transitive and rows have neighbours straight ahead, an element of g that is linked to
// those of other rows, straight ahead, is connected with all that these are linked to:
//
//     z - 1    d h e      a, d and e by h, if rows are neighbours across edges; else h by a and d
//     z        a g
//
// Where links are not transitive, only the latter holds, and not if a and d are what g equals, but if a is
// linked to g, and d to a and to h. The links among these rows are those of rows before g, and links with a
// row are only left out for those of rows that come before it in one order of rows around; so by induction
// others make up for them. First come the rows that lead to most others: where all touch at corners, whoever
// is linked to h needs no other link. Source: ours.
#pragma once

#include "cpu/grid/offsets.h"

namespace conncomp {

// A row at an offset of another one. A detour leads there by one of two rows, or by both. A row that only
// detours lead by lies at the sum of two offsets, which are `by`.
struct RowAround {
  Offset offset;
  int by[2] = {-1, -1};
  bool both = false;
  bool across = false;  // whether detours lead to the elements beside the one straight ahead, too
};

// The rows at offsets, in the order of links, and after these others that only detours lead by. Of equal ones
// the farther comes first: a stretch of rows has none of these in it, and so takes parents that are complete.
class RowsAround : public std::vector<RowAround> {
 public:
  explicit RowsAround(const std::vector<Offset>& offsets) : offsets_(offsets.rbegin(), offsets.rend()) {
    std::vector<std::pair<Rank, size_t>> order;
    for (size_t k = 0; k < offsets_.size(); ++k) order.push_back({rank(offsets_[k]), k});
    std::sort(order.begin(), order.end());
    std::vector<Offset> sorted;
    for (const auto& [of_offset, k] : order) sorted.push_back(offsets_[k]);
    offsets_ = std::move(sorted);
    for (const Offset& offset : offsets_) push_back({offset});
    for (size_t k = 0; k < offsets_.size(); ++k) find_detours(int(k));
  }

 private:
  using Rank = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  static constexpr size_t kMostRanked = 64;  // as ranks take the cube of so many steps

  // Minus to how many others a row leads, and along how many axes it lies away.
  Rank rank(const Offset& offset) const {
    std::ptrdiff_t led = 0;
    if (offsets_.size() <= kMostRanked)
      led = std::count_if(offsets_.begin(), offsets_.end(),
                          [&](const Offset& other) { return between(offset.step, other.step) != nullptr; });
    const Step& step = offset.step;
    return {-led, std::ptrdiff_t(step.size()) - std::count(step.begin(), step.end(), 0)};
  }

  void find_detours(int k) {
    RowAround row = at(k);
    row.across = true;
    int ways = 0;
    for (int i = 0; i < k && ways < 2; ++i)
      if (const Offset* step = between(offsets_[i].step, offsets_[k].step)) {
        row.by[ways++] = i;
        row.across &= step->next && step->previous;
      }
    for (int i = 0; i < k; ++i) {
      const int corner = ways == 0 ? row_at(i, k) : -1;
      if (corner < 0) continue;
      row.by[ways++] = i;
      row.by[ways++] = corner;
      row.both = true;
    }
    row.across &= ways > 0 && !row.both;
    at(k) = row;
  }

  // The offset of two rows from each other, in either direction; none if they are no neighbours.
  const Offset* between(const Step& from, const Step& to) const {
    Step forth(from.size()), back(from.size());
    for (size_t k = 0; k < from.size(); ++k) {
      forth[k] = int8_t(to[k] - from[k]);
      back[k] = int8_t(-forth[k]);
    }
    const auto known = std::find_if(offsets_.begin(), offsets_.end(), [&](const Offset& offset) {
      return offset.step == forth || offset.step == back;
    });
    return known == offsets_.end() ? nullptr : &*known;
  }

  // The number of the row that two steps lead to; -1 if it is too far.
  int row_at(int i, int k) {
    RowAround sum{offsets_[i], {i, k}};
    for (size_t axis = 0; axis < sum.offset.step.size(); ++axis) {
      int8_t& step = sum.offset.step[axis];
      step = int8_t(step + offsets_[k].step[axis]);
      if (step < -1 || step > 1) return -1;
    }
    sum.offset.bundles += offsets_[k].bundles;
    sum.offset.bytes += offsets_[k].bytes;
    const auto known = std::find_if(begin(), end(),
                                    [&](const RowAround& row) { return row.offset.step == sum.offset.step; });
    const int number = int(known - begin());
    if (known == end()) push_back(sum);
    return number;
  }

  std::vector<Offset> offsets_;  // in the order of links
};

}  // namespace conncomp
