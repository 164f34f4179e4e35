// The seam links of an array: those that lead over the end of a periodic axis, in boxes.
//
// A box has the links of one step that leave elements of a cuboid and lead over the end of one axis at least;
// the boxes of all backward steps have every seam link once (see seams.py, which makes them). In an array of
// 4 x 6, periodic along both axes, the step (-1, 1) leads over an end from
//
//      a a a a a a        a: the first row, over the end of axis 0; from the last a over both ends
//      . . . . . b        b: the last column but for its first row, over the end of axis 1
//      . . . . . b
//      . . . . . b
#pragma once

#include "core/windings.h"

namespace conncomp {

constexpr int kMostSeamAxes = 10;

struct SeamAxis {
  int64_t length;
  int64_t index_stride;  // of the array in C order
  int64_t value_stride;  // in elements
  int64_t closed;        // which of the closed axes it is; -1 if it is open
};

struct SeamBox {
  int64_t first;  // the number of its first link
  int64_t begin[kMostSeamAxes], extent[kMostSeamAxes];
  int64_t step[kMostSeamAxes];
};

// Two elements of an item, and their distance in periods.
struct SeamLink {
  int64_t from, to;              // as indices
  int64_t from_value, to_value;  // as offsets
  int axis;      // the first one that the step moves along, counted from the last one of the array
  bool forward;  // along it
  Winding winding;
};

// Laid out as in seams.py.
struct Seams {
  int64_t rank, boxes, links;  // links of an item
  int64_t items, item_size, item_stride;
  SeamAxis axis[kMostSeamAxes];

  // The box of a link.
  CONNCOMP_ANYWHERE const SeamBox& box_of(const SeamBox* box, int64_t link) const {
    int64_t low = 0, high = boxes;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (box[middle].first <= link ? low : high) = middle;
    }
    return box[low];
  }

  CONNCOMP_ANYWHERE SeamLink link_of(const SeamBox& box, int64_t link) const {
    SeamLink seam{};
    int64_t place = link - box.first;
    for (int k = int(rank) - 1; k >= 0; --k) {
      const int64_t lines = place / box.extent[k];
      const int64_t from = box.begin[k] + place - lines * box.extent[k];
      place = lines;
      int64_t to = from + box.step[k];
      int32_t periods = 0;
      if (to < 0) to += axis[k].length, periods = -1;
      if (to >= axis[k].length) to -= axis[k].length, periods = 1;
      seam.from += from * axis[k].index_stride;
      seam.to += to * axis[k].index_stride;
      seam.from_value += from * axis[k].value_stride;
      seam.to_value += to * axis[k].value_stride;
      if (periods != 0) seam.winding.along[axis[k].closed] = periods;
      if (box.step[k] != 0) seam.axis = int(rank) - 1 - k, seam.forward = box.step[k] > 0;
    }
    return seam;
  }
};

// What is known of the seams: nodes are slots of open components, named by their item and label.
struct SeamWindings {
  SeamTable table;
  WindingForest forest;
  WindingLattices lattices;
  int64_t* smallest;  // the smallest key of each root's tree, then of each node's

  CONNCOMP_ANYWHERE static int64_t key_of(int64_t item, int64_t label) { return item << 40 | label; }

  // Unites the open components that a link connects. Labels are consecutive ones of the open array.
  template <class Access, class Rule, class Label>
  CONNCOMP_ANYWHERE void unite(const Seams& seams, const SeamBox* box, int64_t link, const Rule& rule,
                               const typename Rule::Value* values, const Label* labels) const {
    with_ends<Access>(seams, box, link, rule, values, labels,
                      [&](int32_t from, int32_t to, const Winding& winding) {
                        if (from != to) forest.unite<Access>(from, to, winding, int32_t(link));
                      });
  }

  // Adds the closed path that a link makes, once all are united.
  template <class Access, class Rule, class Label>
  CONNCOMP_ANYWHERE void close(const Seams& seams, const SeamBox* box, int64_t link, const Rule& rule,
                               const typename Rule::Value* values, const Label* labels) const {
    with_ends<Access>(seams, box, link, rule, values, labels,
                      [&](int32_t from, int32_t to, const Winding& winding) {
                        const auto a = forest.find<Access>(from), b = forest.find<Access>(to);
                        const Winding path = WindingForest::closed_path(a, b, winding);
                        if (a.root == b.root && !path.is_zero()) lattices.add<Access>(a.root, path);
                      });
  }

  // For each slot, once all are united: tells the root; then asks it.
  template <class Access>
  CONNCOMP_ANYWHERE void tell_smallest(int32_t slot) const {
    if (table.key[slot] == SeamTable::kNoKey) return;
    Access::fetch_min(smallest + forest.find<Access>(slot).root, table.key[slot]);
  }
  template <class Access>
  CONNCOMP_ANYWHERE void ask_smallest(int32_t slot) const {
    if (table.key[slot] == SeamTable::kNoKey || forest.link[slot] == WindingForest::kNoLink) return;
    smallest[slot] = smallest[forest.find<Access>(slot).root];
  }

 private:
  template <class Access, class Rule, class Label, class Body>
  CONNCOMP_ANYWHERE void with_ends(const Seams& seams, const SeamBox* box, int64_t link, const Rule& rule,
                                   const typename Rule::Value* values, const Label* labels,
                                   Body&& body) const {
    const int64_t item = link / seams.links, of_item = link - item * seams.links;
    const SeamLink seam = seams.link_of(seams.box_of(box, of_item), of_item);
    const Label* const of_labels = labels + item * seams.item_size;
    const Label from = of_labels[seam.from], to = of_labels[seam.to];
    if (from <= 0 || to <= 0) return;
    const auto* const of_values = values + item * seams.item_stride;
    if (!rule.linked(of_values, rule.site(of_values, seam.from_value), rule.site(of_values, seam.to_value),
                     seam.axis, seam.forward))
      return;
    body(table.slot_of<Access>(key_of(item, int64_t(from))), table.slot_of<Access>(key_of(item, int64_t(to))),
         seam.winding);
  }
};

}  // namespace conncomp
