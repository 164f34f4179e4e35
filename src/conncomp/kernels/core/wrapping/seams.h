// The seam links of an array, over the ends of periodic axes, in boxes (seams.py). A box has the links of one
// step from a cuboid, all over the ends of the same axes, so with one winding and distance; the boxes of the
// backward steps have every seam link once. In an array of 4 x 6, periodic along both axes, the step (-1, 1)
// has three boxes:
//      a a a a a c        a: over the end of axis 0, winding (-1, 0)
//      . . . . . b        b: over the end of axis 1, winding (0, 1)
//      . . . . . b        c: over both, winding (-1, 1)
//      . . . . . b
#pragma once

#include "core/wrapping/windings.h"

namespace conncomp {

constexpr int kMostSeamAxes = 10;

// Layout: seams.py.
struct SeamBox {
  int64_t first;                     // the number of its first link
  int64_t from, from_value;          // of the first element: its index, and the offset of its value
  int64_t distance, value_distance;  // from there to the other end of a link
  int64_t periods[kMostClosedAxes];  // how far the other end is, as seen from the element
  int64_t axis, forward;             // of the step: see core/links.h
  int64_t extent[kMostSeamAxes];     // along axes in any order; links go along the last one first
  int64_t stride[kMostSeamAxes], value_stride[kMostSeamAxes];

  Winding winding() const {
    Winding winding;
    for (int k = 0; k < kMostClosedAxes; ++k) winding.along[k] = int32_t(periods[k]);
    return winding;
  }
};

struct Seams {
  int64_t rank, boxes, links;  // links of an item
  int64_t items, item_size, item_stride;

  int64_t item_of(int64_t link) const { return items == 1 ? 0 : link / links; }
  const SeamBox& box_of(const SeamBox* box, int64_t link) const {
    int64_t low = 0, high = boxes;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (box[middle].first <= link ? low : high) = middle;
    }
    return box[low];
  }
};

struct SeamEnd {
  int64_t index, value;  // the latter is an offset
  int64_t left;          // the links that go on along the last axis of the box, this one among them
};
inline SeamEnd end_of(const Seams& seams, const SeamBox& box, int64_t link) {
  SeamEnd end{box.from, box.from_value, 0};
  // There are fewer links than 2^31, and numbers of 32 bits are divided in a fifth of the time.
  uint32_t place = uint32_t(link - box.first);
  for (int k = int(seams.rank) - 1; k >= 0; --k) {
    const uint32_t extent = uint32_t(box.extent[k]), lines = place / extent;
    const int64_t at = place - lines * extent;
    if (k == seams.rank - 1) end.left = box.extent[k] - at;
    end.index += at * box.stride[k];
    end.value += at * box.value_stride[k];
    place = lines;
  }
  return end;
}

// An array labelled with open axes, from 1 on in each item, and its possible seam links.
template <class Rule, class Label> struct SeamArray {
  Seams seams;
  const SeamBox* box;
  Rule rule;
  const typename Rule::Value* values;
  const Label* labels;

  int64_t links() const { return seams.items * seams.links; }

  // Calls body(from, to) with the keys of a link's ends; reads values only if wanted(from, to).
  void with_link(
      int64_t item, const SeamBox& seam_box, const SeamEnd& end, auto&& wanted, auto&& body) const {
    const Label* const label = labels + item * seams.item_size + end.index;
    const Label from = label[0], to = label[seam_box.distance];
    if ((from <= 0) | (to <= 0)) return;
    const int64_t from_key = SeamWindings::key_of(item, int64_t(from)),
                  to_key = SeamWindings::key_of(item, int64_t(to));
    if (!wanted(from_key, to_key)) return;
    const auto* const item_values = values + item * seams.item_stride;
    const auto site = rule.site(item_values, end.value);
    const auto other = rule.site(item_values, end.value + seam_box.value_distance);
    if (rule.linked(item_values, site, other, int(seam_box.axis), seam_box.forward != 0))
      body(from_key, to_key);
  }
};

}
