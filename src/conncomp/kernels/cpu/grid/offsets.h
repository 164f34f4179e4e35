// Lists the rows around a row that have neighbours of its elements, and which of their elements these are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace conncomp {

struct Axis {
  int64_t length;
  bool periodic;
  int64_t index_stride;  // in elements of the C-ordered array, which define indices
  int64_t byte_stride;   // in the caller's memory
};

using Step = std::vector<int8_t>;  // -1, 0 or 1 along each axis

struct Grid {
  // None has length 1, but the last one if no item has a longer axis.
  std::vector<Axis> axes;
  // The first axes hold arrays, the items, independent of each other. In the order of indices.
  int batch_axes;
  // The steps to neighbours whose first move is backward, in lexical order.
  std::vector<Step> backward;

  // Whether neighbours are all that corners, edges and faces touch.
  bool full() const {
    size_t steps = 1;
    for (size_t k = batch_axes; k < axes.size(); ++k) steps *= 3;
    return backward.size() == steps / 2;
  }
};

// The row one step away, and which of its elements, before, at and after the place, are neighbours.
struct Offset {
  Step step;
  bool previous, aligned, next;
  int axis;  // the first one that the step moves along, counted from the array's last; 0 if it does not
  // Without a step around the array: the bundle so many after, whose first row lies so many bytes after.
  int64_t bundles = 0, bytes = 0;

  bool diagonal() const { return previous || next; }
};

struct RowNeighbours {
  bool connected = false;       // whether the elements of a row are neighbours of the next
  std::vector<Offset> offsets;  // the nearest rows first: to these there are most contacts

  explicit RowNeighbours(const Grid& grid) {
    for (const Step& step : grid.backward) {
      Step outer(grid.batch_axes, 0);
      outer.insert(outer.end(), step.begin(), step.end() - 1);
      if (std::count(outer.begin(), outer.end(), 0) == int64_t(outer.size())) {
        connected = true;
        continue;
      }
      if (offsets.empty() || offsets.back().step != outer)
        offsets.push_back({outer, false, false, false, moved_axis(outer)});
      (step.back() < 0  ? offsets.back().previous
          : step.back() ? offsets.back().next
                        : offsets.back().aligned) = true;
    }
    std::reverse(offsets.begin(), offsets.end());
  }

 private:
  static int moved_axis(const Step& outer) {
    const auto moved = std::find_if(outer.begin(), outer.end(), [](int8_t move) { return move != 0; });
    return int(outer.end() - moved);
  }
};

}
