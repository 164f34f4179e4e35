// Who is whose neighbour in an array: elements whose coordinates differ by at most one along every
// axis, and differ along at most `connectivity` axes; a periodic axis closes on itself.
#pragma once

#include <cstdint>
#include <vector>

namespace conncomp {

struct Axis {
  int64_t length;
  bool periodic;
  int64_t index_stride;  // in elements of the C-ordered array, which define indices
  int64_t byte_stride;   // in the caller's memory
};

// A step of -1, 0 or 1 along each axis.
struct Offset {
  std::vector<int8_t> step;
  int moved;  // along how many axes
};

// One of each pair of opposite offsets that move along 1 to `most` axes: the one whose first move is
// backward. Moving along every axis in `fixed` is left out.
inline std::vector<Offset> backward_offsets(int ndim, int most, const std::vector<bool>& fixed) {
  std::vector<Offset> done, open{{std::vector<int8_t>(ndim, 0), 0}};
  for (int axis = 0; axis < ndim; ++axis) {
    if (fixed[axis]) continue;
    const size_t count = open.size();
    for (size_t i = 0; i < count; ++i) {
      if (open[i].moved == most) continue;
      for (int8_t step : {-1, 1}) {
        if (step > 0 && open[i].moved == 0) continue;
        Offset offset = open[i];
        offset.step[axis] = step;
        ++offset.moved;
        open.push_back(offset);
      }
    }
  }
  for (Offset& offset : open)
    if (offset.moved > 0) done.push_back(std::move(offset));
  return done;
}

}  // namespace conncomp
