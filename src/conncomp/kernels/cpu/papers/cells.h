// The cells of an array, one after the other, with the neighbours of each: what the serial algorithms of the
// papers scan.
//
// What: a scan visits the elements of an item, here called cells, row by row, forward or backward, and has
// the neighbours of each as differences of indices and of places in memory. label_items lets an algorithm
// find the roots of one item after the other. How: all cells of the interior of a row have their neighbours
// at the same differences, and so do the rows whose coordinates are at the same ends of their axes:
// differences are worked out where a row is at others than the one before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/links.h"
#include "cpu/core/interrupt.h"
#include "cpu/grid/offsets.h"

namespace conncomp {

// A neighbour, as seen from a cell.
struct Neighbour {
  int64_t index, offset;  // minus those of the cell
  int axis;               // the first one that the step moves along, counted from the last one
  bool forward;           // along it
};

// Of the lower of two labels. Background, -1, is the highest.
template <class Index>
bool is_lower(Index a, Index b) {
  return std::make_unsigned_t<Index>(a) < std::make_unsigned_t<Index>(b);
}

class GridCells {
 public:
  // Offsets are counted in values of so many bytes.
  GridCells(const Grid& grid, int64_t value_bytes)
      : batch_(grid.axes.begin(), grid.axes.begin() + grid.batch_axes),
        outer_(grid.axes.begin() + grid.batch_axes, grid.axes.end() - 1),
        row_(grid.axes.back()),
        value_bytes_(value_bytes) {
    for (const Axis& axis : batch_) items_ *= axis.length;
    for (const Axis& axis : outer_) rows_ *= axis.length;
    for (const Step& step : grid.backward) {
      steps_.push_back(step);
      steps_.push_back(step);
      for (int8_t& move : steps_.back()) move = int8_t(-move);
    }
  }

  int64_t items() const { return items_; }
  // How many cells an item has.
  int64_t count() const { return rows_ * row_.length; }

  // Where the values of an item begin.
  int64_t offset_of_item(int64_t item) const {
    int64_t bytes = 0;
    for (size_t k = batch_.size(); k-- > 0; item /= batch_[k].length)
      bytes += item % batch_[k].length * batch_[k].byte_stride;
    return bytes / value_bytes_;
  }

  // Calls body(index, offset, neighbours) for each cell of an item, row by row, or backward.
  template <class Body>
  void scan(bool forward, Body&& body) {
    std::vector<int64_t> place(outer_.size());
    for (size_t k = 0; k < place.size(); ++k) place[k] = forward ? 0 : outer_[k].length - 1;
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t index = 0, bytes = 0;
      for (size_t k = 0; k < place.size(); ++k) {
        index += place[k] * outer_[k].index_stride;
        bytes += place[k] * outer_[k].byte_stride;
      }
      look_around(place);
      for (int i = 0; i < kStretches; ++i)
        scan_stretch(stretches_[forward ? i : kStretches - 1 - i], forward, index, bytes / value_bytes_,
                     body);
      move_to_next_row(place, forward);
    }
  }

 private:
  // GridCells of a row that have their neighbours at the same differences.
  struct CellStretch {
    int64_t begin, end;
    std::vector<Neighbour> neighbours;
  };
  static constexpr int kStretches = 3;  // the first cell, those of the interior, the last one

  // Which end of an axis a place is at.
  enum class End : int8_t { kFirst, kNone, kLast };
  static End end_of(int64_t place, const Axis& axis) {
    return place == 0 ? End::kFirst : place == axis.length - 1 ? End::kLast : End::kNone;
  }

  // Where a step along an axis leads to, from a place; -1 if out of the array.
  static int64_t target(int64_t place, int move, const Axis& axis) {
    const int64_t to = place + move;
    if (to >= 0 && to < axis.length) return to;
    return axis.periodic ? (to + axis.length) % axis.length : -1;
  }

  void move_to_next_row(std::vector<int64_t>& place, bool forward) const {
    for (size_t k = place.size(); k-- > 0;) {
      const int64_t last = outer_[k].length - 1;
      if (place[k] != (forward ? last : 0)) {
        place[k] += forward ? 1 : -1;
        return;
      }
      place[k] = forward ? 0 : last;
    }
  }

  // Finds the neighbours of the cells of the row at `place`.
  void look_around(const std::vector<int64_t>& place) {
    std::vector<End> ends(place.size());
    for (size_t k = 0; k < place.size(); ++k) ends[k] = end_of(place[k], outer_[k]);
    if (known_ && ends == ends_) return;
    known_ = false;
    const int64_t interior_end = std::max<int64_t>(1, row_.length - 1);
    const int64_t bounds[] = {0, 1, interior_end, row_.length};
    for (int i = 0; i < kStretches; ++i) {
      CellStretch& stretch = stretches_[i];
      stretch.begin = bounds[i];
      stretch.end = bounds[i + 1];
      stretch.neighbours.clear();
      if (stretch.begin == stretch.end) continue;
      checkpoint(int64_t(steps_.size() * (1 + place.size())));
      for (const Step& step : steps_) add_neighbour(place, stretch.begin, step, stretch.neighbours);
    }
    ends_ = std::move(ends);
    known_ = true;
  }

  // Adds the neighbour one step from a cell, if there is one.
  void add_neighbour(const std::vector<int64_t>& place, int64_t at, const Step& step,
                     std::vector<Neighbour>& neighbours) const {
    int64_t index = 0, bytes = 0;
    for (size_t k = 0; k < step.size(); ++k) {
      const bool along_row = k == outer_.size();
      const Axis& axis = along_row ? row_ : outer_[k];
      const int64_t from = along_row ? at : place[k], to = target(from, step[k], axis);
      if (to < 0) return;
      index += (to - from) * axis.index_stride;
      bytes += (to - from) * axis.byte_stride;
    }
    const size_t first =
        std::find_if(step.begin(), step.end(), [](int8_t move) { return move != 0; }) - step.begin();
    neighbours.push_back({index, bytes / value_bytes_, int(step.size() - 1 - first), step[first] > 0});
  }

  template <class Body>
  void scan_stretch(const CellStretch& stretch, bool forward, int64_t index, int64_t offset,
                    Body&& body) const {
    const int64_t length = stretch.end - stretch.begin, value_stride = row_.byte_stride / value_bytes_;
    const int64_t work = 1 + int64_t(stretch.neighbours.size());
    const int64_t most = std::max<int64_t>(1, kStretch / work);
    for (int64_t begin = 0; begin < length; begin += most) {
      const int64_t end = std::min(begin + most, length);
      checkpoint((end - begin) * work);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t x = forward ? stretch.begin + i : stretch.end - 1 - i;
        body(index + x * row_.index_stride, offset + x * value_stride, stretch.neighbours);
      }
    }
  }

  std::vector<Axis> batch_, outer_;
  Axis row_;
  int64_t value_bytes_, items_ = 1, rows_ = 1;
  std::vector<Step> steps_;  // in both directions
  CellStretch stretches_[kStretches];
  std::vector<End> ends_;  // of the row that stretches_ are of
  bool known_ = false;     // whether they are of any
};

// Gives every cell its index as a label, or -1 where there is background.
template <class Rule, class Index>
void start_labels(GridCells& cells, const Rule& rule, const typename Rule::Value* values, Index* labels) {
  cells.scan(true, [&](int64_t index, int64_t offset, const std::vector<Neighbour>&) {
    labels[index] = rule.is_background(rule.site(values, offset)) ? Index(-1) : Index(index);
  });
}

// The lowest label of a cell in the foreground and of those that it is linked to.
template <class Rule, class Index>
Index lowest_around(const Rule& rule, const typename Rule::Value* values, const Index* labels, int64_t index,
                    int64_t offset, const std::vector<Neighbour>& neighbours) {
  Index lowest = labels[index];
  const auto site = rule.site(values, offset);
  for (const Neighbour& neighbour : neighbours) {
    const Index label = labels[index + neighbour.index];
    if (is_lower(label, lowest) && rule.linked(values, site, rule.site(values, offset + neighbour.offset),
                                               neighbour.axis, neighbour.forward))
      lowest = label;
  }
  return lowest;
}

// Turns the roots of an item into labels 1, 2, ... in their order, background 0, if that is wanted; returns
// how many there are. No entry is larger than its index, so that entries before it are numbers already.
template <class Index>
int64_t number_roots(Index* roots, int64_t count, bool consecutive) {
  int64_t components = 0;
  for_each_in(0, count, [&](int64_t i) {
    const Index root = roots[i];
    const bool is_root = root == Index(i);
    components += is_root;
    if (consecutive) roots[i] = root < 0 ? Index(0) : is_root ? Index(components) : roots[root];
  });
  return components;
}

// Writes the label of every element to `labels`, and the number of components of every item to `counts`.
// find_roots(cells, values, roots) does so for an item, whose values and roots begin there; it leaves no
// entry larger than its index, even if values change meanwhile (contract 5). Nobody else may write to
// `labels`.
template <class Rule, class Label, class FindRoots>
void label_items(const void* data, const Grid& grid, bool consecutive, Label* labels, int64_t* counts,
                 FindRoots&& find_roots) {
  using Value = typename Rule::Value;
  GridCells cells(grid, sizeof(Value));
  for (int64_t item = 0; item < cells.items(); ++item) {
    Label* roots = labels + item * cells.count();
    find_roots(cells, static_cast<const Value*>(data) + cells.offset_of_item(item), roots);
    counts[item] = number_roots(roots, cells.count(), consecutive);
  }
}

}  // namespace conncomp
