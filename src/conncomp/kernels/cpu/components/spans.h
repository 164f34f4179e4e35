// Along which axes components reach from one face to the opposite one: first faces leave marks in a table of
// labels and axes; last faces look for them. Each label is loaded once (contract 5).
#pragma once

#include "cpu/components/known_components.h"

namespace conncomp {

// For each label and axis: whether the label is on the first face, and then on the last one, too.
class SpanMarks {
 public:
  SpanMarks(const LabelledItems& items, int64_t rows, uint8_t* marks)
      : items_(items), rows_(rows), axes_(int64_t(items.shape.size())), marks_(marks) {}

  // Lets each mark be whether it is on both.
  void find() const {
    for_each_index(rows_ * axes_, [this](int64_t i) { marks_[i] = kNone; });
    for (int64_t axis = 0; axis < axes_ && items_.labels.count() > 0; ++axis) mark(axis);
    for_each_index(rows_ * axes_, [this](int64_t i) { marks_[i] = marks_[i] == kOnBoth; });
  }

 private:
  static constexpr uint8_t kNone = 0, kOnFirst = 1, kOnBoth = 2;

  void mark(int64_t axis) const {
    for_each_on_face(axis, 0, [](uint8_t* mark) { Shared::store(mark, kOnFirst); });
    for_each_on_face(axis, items_.shape[axis] - 1, [](uint8_t* mark) {
      if (Shared::load(mark) != kNone) Shared::store(mark, kOnBoth);
    });
  }

  void for_each_on_face(int64_t axis, int64_t coordinate, auto visit) const {
    constexpr int64_t kScattered = 16;  // the cost of an element that lies alone, in elements
    const int64_t length = items_.length(), lines = items_.lines();
    if (axis + 1 == axes_)
      return for_each_index(
          lines, [=, this](int64_t line) { visit_mark(axis, line * length + coordinate, visit); },
          kScattered);
    int64_t between = 1;  // lines from one coordinate to the next
    for (int64_t k = axis + 1; k + 1 < axes_; ++k) between *= items_.shape[k];
    for_each_index(
        lines / items_.shape[axis],
        [=, this](int64_t k) {
          const int64_t line = (k / between * items_.shape[axis] + coordinate) * between + k % between;
          for_each_in(line * length, (line + 1) * length,
                      [=, this](int64_t i) { visit_mark(axis, i, visit); });
        },
        length);
  }

  void visit_mark(int64_t axis, int64_t i, auto visit) const {
    const LabelArray& labels = items_.labels;
    const int64_t label =
        labels.is_wide() ? Shared::load(labels.wide() + i) : Shared::load(labels.narrow() + i);
    if (label != labels.background() && uint64_t(label) < uint64_t(rows_))
      visit(marks_ + label * axes_ + axis);
  }

  const LabelledItems& items_;
  const int64_t rows_, axes_;
  uint8_t* const marks_;
};

inline void find_spans(const LabelledItems& items, int64_t rows, bool* spans) {
  SpanMarks(items, rows, reinterpret_cast<uint8_t*>(spans)).find();
}

}  // namespace conncomp
