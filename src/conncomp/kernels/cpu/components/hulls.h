// Convex hulls in two dimensions: how many elements they hold, and Feret diameters. The hull is that of
// the midpoints of edges, and holds elements with centres in it or on its border; the hull of these has
// the Feret diameters, the largest distance of two points and the smallest of two parallels. A monotone
// chain for each side keeps those where it turns outwards: exact, in halves. Rotating calipers find the
// pairs that parallels touch. Source: Andrew 1979 (monotone chain); Toussaint 1983, as scikit-image.
#pragma once

#include <cmath>

#include "cpu/components/component_runs.h"

namespace conncomp {

struct Extent {
  int64_t first, last;

  bool is_empty() const { return last < first; }
};
constexpr Extent kEmptyExtent{INT64_MAX / 4, INT64_MIN / 4};

struct HalfPoint {
  int64_t y, x;
};

// Twice the area of a triangle, positive where it turns from the axis of y to that of x.
inline int64_t turn(const HalfPoint& a, const HalfPoint& b, const HalfPoint& c) {
  return (b.y - a.y) * (c.x - a.x) - (b.x - a.x) * (c.y - a.y);
}

// One side of a hull, that of the smallest x for each y; the other has negative x.
class HullSide {
 public:
  void make(const std::vector<Extent>& extents, bool mirrored) {
    points_.clear();
    const int64_t lines = int64_t(extents.size());
    const auto least = [&](int64_t line) {
      if (line < 0 || line >= lines || extents[line].is_empty()) return kNone;
      return mirrored ? -2 * extents[line].last : 2 * extents[line].first;
    };
    for_each_in(0, lines + 1, [&](int64_t line) {
      const int64_t here = least(line), between = std::min(least(line - 1), here);
      if (between != kNone) add({2 * line - 1, between});
      if (here != kNone) add({2 * line, here - 1});
    });
  }

  const std::vector<HalfPoint>& points() const { return points_; }

  // Calls visit(line, x) for the lines that the side passes, with the least x of an element.
  void for_each_line(auto&& visit) const {
    for (size_t i = 1; i < points_.size(); ++i) {
      const HalfPoint &a = points_[i - 1], &b = points_[i];
      const int64_t height = b.y - a.y;
      // The line at b is left to the next edge; no hull ends at a line.
      for (int64_t line = (a.y + 1) / 2; 2 * line < b.y; ++line) {
        const int64_t x = a.x * height + (b.x - a.x) * (2 * line - a.y);
        visit(line, x / (2 * height) + int64_t(x % (2 * height) > 0));  // rounded up
      }
    }
  }

 private:
  static constexpr int64_t kNone = INT64_MAX;

  void add(const HalfPoint& point) {
    while (points_.size() > 1 && turn(points_[points_.size() - 2], points_.back(), point) <= 0)
      points_.pop_back();
    points_.push_back(point);
  }

  std::vector<HalfPoint> points_;
};

class Hull {
 public:
  void make(const std::vector<Extent>& extents) {
    low_.make(extents, false);
    high_.make(extents, true);
  }

  void fill(std::vector<Extent>& extents) const {
    std::fill(extents.begin(), extents.end(), kEmptyExtent);
    low_.for_each_line([&](int64_t line, int64_t x) { extents[line].first = x; });
    high_.for_each_line([&](int64_t line, int64_t x) { extents[line].last = -x; });
  }

  std::array<double, 2> diameters(const std::array<double, 2>& spacing) {
    corners_ = low_.points();
    for (size_t i = high_.points().size(); i-- > 0;) {
      const HalfPoint point{high_.points()[i].y, -high_.points()[i].x};
      if (point.y != corners_.back().y || point.x != corners_.back().x) corners_.push_back(point);
    }
    if (corners_.front().y == corners_.back().y && corners_.front().x == corners_.back().x)
      corners_.pop_back();
    const size_t count = corners_.size();
    const double unit = spacing[0] * spacing[1] / 4;
    const auto squared = [&](size_t i, size_t j) {
      const double dy = double(corners_[i].y - corners_[j].y) * spacing[0] / 2,
                   dx = double(corners_[i].x - corners_[j].x) * spacing[1] / 2;
      return dy * dy + dx * dx;
    };
    double largest = 0, smallest = HUGE_VAL;
    for (size_t i = 0, j = 1; i < count; ++i) {
      const size_t next = (i + 1) % count;
      const auto area = [&](size_t k) { return std::abs(turn(corners_[i], corners_[next], corners_[k])); };
      while (area((j + 1) % count) > area(j)) j = (j + 1) % count;
      for (const size_t k : {j, (j + 1) % count})
        largest = std::max({largest, squared(i, k), squared(next, k)});
      smallest = std::min(smallest, double(area(j)) * unit / std::sqrt(squared(i, next)));
    }
    return {std::sqrt(largest), smallest};
  }

 private:
  HullSide low_, high_;
  std::vector<HalfPoint> corners_;
};

class ComponentExtents {
 public:
  std::vector<Extent>& find(const ComponentRuns& runs, int64_t row) {
    int64_t first = INT64_MAX, last = -1;
    runs.for_each_on_lines(row, [&](Run, int64_t line, int64_t, int64_t) {
      first = std::min(first, line), last = std::max(last, line);
    });
    extents_.assign(last < first ? 0 : last - first + 1, kEmptyExtent);
    runs.for_each_on_lines(row, [&](Run, int64_t line, int64_t begin, int64_t end) {
      Extent& extent = extents_[line - first];
      extent = {std::min(extent.first, begin), std::max(extent.last, end - 1)};
    });
    poll(int64_t(extents_.size()));
    first_line_ = first;
    return extents_;
  }

  int64_t first_line() const { return first_line_; }

 private:
  std::vector<Extent> extents_;
  int64_t first_line_ = 0;
};

struct HullColumns {
  int64_t* sizes;
  double *largest, *smallest;
};

inline void measure_hulls(
    const ComponentRuns& runs, const std::array<double, 2>& spacing, const HullColumns& columns) {
  struct Scratch {
    ComponentExtents extents;
    Hull hull;
  };
  runs.for_each_row<Scratch>([&](int64_t row, Scratch& scratch) {
    columns.sizes[row] = 0, columns.largest[row] = columns.smallest[row] = 0;
    std::vector<Extent>& extents = scratch.extents.find(runs, row);
    if (extents.empty()) return;
    poll(4 * int64_t(extents.size()));
    scratch.hull.make(extents);
    scratch.hull.fill(extents);
    for (const Extent& extent : extents)
      if (!extent.is_empty()) columns.sizes[row] += extent.last - extent.first + 1;
    scratch.hull.make(extents);
    const auto [largest, smallest] = scratch.hull.diameters(spacing);
    columns.largest[row] = largest, columns.smallest[row] = smallest;
  });
}

}
