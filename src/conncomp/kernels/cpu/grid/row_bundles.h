// An array as rows along one of its axes, and as bundles of rows. Where corners touch along every axis and
// all foreground is of one value, foreground in one column of 2 x 2 x ... rows touches what is in the next.
// Such a bundle is one row, the OR of its members, with a quarter of the runs in 2-D noise, a sixtieth in 3-D
// (Grana et al. 2010, stretched).
#pragma once

#include "cpu/core/bits.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/offsets.h"

namespace conncomp {

constexpr int64_t kStretchWords = kStretch / kWord;

using Coordinates = std::vector<int64_t>;  // of a row or a bundle

struct Bundles {
  Axis row_axis;                  // of the elements of a row
  std::vector<Axis> outer;        // of the rows
  int64_t elements, rows, words;  // words: of a row's mask
  bool in_order;                  // rows one after the other are in the order of indices
  bool columns_in_order;          // rows run along an item's first axis, as in a transposed array

  bool folded;  // whether bundles are of several rows
  int64_t count, items;
  size_t batch_axes;
  std::vector<int64_t> shape, thickness;  // thickness: of a bundle, in rows along each axis
  int64_t members_most;                   // the rows of a bundle, or fewer at the end of an axis
  int64_t layer;  // bundles with equal coordinates along all axes up to the first of an item
  RowNeighbours neighbours;
  Offset no_step;     // from a row to itself
  Offset line_step;   // that the first row of a bundle along the last outer axis faces
  Parts parts{1, 1};  // of the bundles, for threads
  bool layers_whole;  // in_order, and no layer is in two parts

  Bundles(const Grid& grid, bool folded)
      : row_axis(grid.axes.back()),
        outer(grid.axes.begin(), grid.axes.end() - 1),
        rows(1),
        words((row_axis.length + kWord - 1) / kWord),
        in_order(row_axis.index_stride == 1),
        columns_in_order(false),
        folded(folded && outer.size() > size_t(grid.batch_axes)),
        count(1),
        items(1),
        batch_axes(grid.batch_axes),
        members_most(1),
        layer(1),
        neighbours(grid),
        no_step{Step(outer.size(), 0), false, true, false, 0},
        line_step(no_step) {
    if (!outer.empty()) line_step.step.back() = -1;
    for (size_t k = 0; k < outer.size(); ++k) {
      const bool batch = k < batch_axes;
      rows *= outer[k].length;
      thickness.push_back(folded && !batch ? 2 : 1);
      shape.push_back((outer[k].length + thickness[k] - 1) / thickness[k]);
      members_most *= std::min(thickness[k], outer[k].length);
      count *= shape[k];
      if (batch) items *= shape[k];
      if (k > batch_axes) layer *= shape[k];
    }
    elements = rows * row_axis.length;
    int64_t stride = row_axis.length;
    for (size_t k = outer.size(); k-- > 0; stride *= outer[k].length)
      in_order &= outer[k].index_stride == stride;
    const Axis* slower = &row_axis;
    columns_in_order = outer.size() > batch_axes;
    for (size_t k = batch_axes; k < outer.size(); slower = &outer[k++])
      columns_in_order &= outer[k].index_stride < slower->index_stride;
    std::erase_if(neighbours.offsets, [&](const Offset& offset) {
      for (size_t k = 0; k < shape.size(); ++k)
        if (offset.step[k] && shape[k] == 1) return true;
      return false;
    });
    for (Offset& offset : neighbours.offsets)
      for (size_t k = 0; k < outer.size(); ++k) {
        offset.bundles = offset.bundles * shape[k] + offset.step[k];
        offset.bytes += offset.step[k] * thickness[k] * outer[k].byte_stride;
      }
    // One thread takes one part, so that nothing crosses parts.
    parts = Parts(count, helpers_wanted(elements) ? kGrain * count / elements + 1 : count);
    layers_whole = in_order && parts.align(layer);
  }

  int64_t item(int64_t bundle) const { return bundle / (count / items); }

  // A poll before word 0 of a row, and before further ones of a long row.
  void poll_at(int64_t w) const {
    if (w % kStretchWords == 0) poll(std::min(words - w, kStretchWords) * kWord);
  }

  void for_each(int64_t part, auto&& body) const {
    for_each_between(parts.begin(part), parts.end(part), body);
  }

  void for_each_between(int64_t bundle, int64_t end, auto&& body) const {
    Coordinates place(outer.size());
    locate(bundle, place);
    for (; bundle < end; ++bundle) {
      body(bundle, place);
      for (size_t k = place.size(); k-- > 0 && ++place[k] == shape[k];) place[k] = 0;
    }
  }

  void locate(int64_t bundle, Coordinates& place) const {
    for (size_t k = place.size(); k-- > 0; bundle /= shape[k]) place[k] = bundle % shape[k];
  }

  void for_each_stretch(int64_t bundle, int64_t end, int64_t most, auto&& body) const {
    Coordinates place(outer.size());
    for (int64_t count; bundle < end; bundle += count) {
      locate(bundle, place);
      count = outer.empty() ? 1 : std::min({most, end - bundle, shape.back() - place.back()});
      body(bundle, count, place);
    }
  }

  int64_t number(const Coordinates& place) const {
    int64_t bundle = 0;
    for (size_t k = 0; k < place.size(); ++k) bundle = bundle * shape[k] + place[k];
    return bundle;
  }

  int64_t neighbour(
      int64_t bundle, const Coordinates& place, const Offset& offset, Coordinates& neighbour_place) const {
    bool around = false;
    for (size_t k = 0; k < place.size(); ++k) {
      int64_t c = place[k] + offset.step[k];
      if (c < 0 || c >= shape[k]) {
        if (!outer[k].periodic) return -1;
        c = c < 0 ? shape[k] - 1 : 0;
        around = true;
      }
      neighbour_place[k] = c;
    }
    return around ? number(neighbour_place) : bundle + offset.bundles;
  }

  // The rows of a bundle that face the neighbour an offset away (towards = 1), or that it comes from (-1).
  void facing(
      const Coordinates& place, const Offset& offset, int towards, std::vector<int64_t>& facing_rows) const {
    facing_rows.assign(1, 0);
    for (size_t k = 0; k < place.size(); ++k) {
      const int side = offset.step[k] * towards;
      int64_t first = thickness[k] * place[k], last = std::min(first + thickness[k], outer[k].length) - 1;
      if (side < 0) last = first;
      if (side > 0) first = last;
      for (size_t i = facing_rows.size(); i-- > 0;) {
        facing_rows[i] = facing_rows[i] * outer[k].length + first;
        if (last > first) facing_rows.push_back(facing_rows[i] + 1);
      }
    }
  }

  void members(const Coordinates& place, std::vector<int64_t>& member_rows) const {
    facing(place, no_step, 0, member_rows);
  }

  // The first rows of lines of consecutive rows of a stretch of bundles; and how many rows a line has.
  void lines(const Coordinates& place, std::vector<int64_t>& first_rows) const {
    facing(place, line_step, 1, first_rows);
  }
  int64_t rows_of_line(const Coordinates& place, int64_t bundles) const {
    if (outer.empty()) return 1;
    return std::min(thickness.back() * bundles, outer.back().length - thickness.back() * place.back());
  }

  int64_t byte_origin(const Coordinates& place) const {
    int64_t sum = 0;
    for (size_t k = 0; k < place.size(); ++k) sum += place[k] * outer[k].byte_stride;
    return sum;
  }

  // Where a row begins: `stride` is &Axis::index_stride or &Axis::byte_stride.
  int64_t origin(int64_t row, int64_t Axis::* stride) const {
    int64_t sum = 0;
    for (size_t k = outer.size(); k-- > 1; row /= outer[k].length)
      sum += row % outer[k].length * (outer[k].*stride);
    return outer.empty() ? 0 : sum + row * (outer[0].*stride);
  }
};

}
