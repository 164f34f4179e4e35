// Counts the faces that a component shows along each axis. Words of bits say where a line
// differs from those before and behind it, and are counted for each stretch. Cost: 2 n - 1 comparisons.
#pragma once

#include "cpu/components/known_components.h"

namespace conncomp {

inline uint64_t differences(const Integer auto* labels, int count, int64_t step) {
  return mask_where(count, [=](int p) { return labels[p + step] != labels[p]; });
}

class WordFaces {
 public:
  explicit WordFaces(const LabelledItems& items) : items_(items), strides_(items.shape.size(), 1) {
    const int64_t axes = int64_t(strides_.size());
    for (int64_t k = axes - 2; k >= 0; --k) strides_[k] = strides_[k + 1] * items.shape[k + 1];
    faces_.resize(axes);
  }

  struct Faces {
    uint64_t ahead, behind;

    int64_t count(uint64_t places) const {
      return std::popcount(ahead & places) + std::popcount(behind & places);
    }
  };

  const Faces* around(const auto& part) {
    if (part.index != index_) {
      if (items_.labels.is_wide())
        look(items_.labels.wide(), part.index, part.first, part.place);
      else
        look(items_.labels.narrow(), part.index, part.first, part.place);
    }
    return faces_.data();
  }

 private:
  template <class Label> void look(const Label* labels, int64_t index, int64_t first, const int64_t* place) {
    const Label* const word = labels + index;
    const int axes = int(faces_.size()), last = axes - 1;
    const int count = int(std::min<int64_t>(kWord, items_.length() - first));
    for (int k = 0; k < last; ++k) {
      faces_[k].ahead = place[k] > 0 ? differences(word, count, -strides_[k]) : kAll;
      faces_[k].behind = place[k] + 1 < items_.shape[k] ? differences(word, count, strides_[k]) : kAll;
    }
    const uint64_t changes = differences(word, count - 1, 1);
    const bool at_begin = first == 0 || word[-1] != word[0];
    const bool at_end = first + count == items_.length() || word[count] != word[count - 1];
    faces_[last] = {changes << 1 | uint64_t(at_begin), changes | uint64_t(at_end) << (count - 1)};
    index_ = index;
  }

  const LabelledItems& items_;
  std::vector<int64_t> strides_;
  std::vector<Faces> faces_;
  int64_t index_ = -1;
};

inline void count_faces(const LabelledItems& items, const RowsOfLabels& rows, int64_t* faces) {
  const int axes = int(items.shape.size());
  const auto table = make_table<int64_t>(
      items, rows, axes, [&] { return WordFaces(items); },
      [=](WordFaces& word, auto& table, const auto& part) {
        int64_t* const row = table.touch(part.row);
        const auto* const faces = word.around(part);
        const uint64_t mask = part.places.mask();
        for (int k = 0; k < axes; ++k) row[k] += faces[k].count(mask);
      },
      [](int64_t& sum, int64_t addend) { sum += addend; });
  for_each_index(rows.count(), [&](int64_t row) { std::copy_n(table[row], axes, faces + row * axes); });
}

// Finds along which axes components span: marks, per label and axis, first faces, then those on both.
class SpanMarks {
 public:
  SpanMarks(const LabelledItems& items, int64_t rows, uint8_t* marks)
      : items_(items), rows_(rows), axes_(int64_t(items.shape.size())), marks_(marks) {}

  void find() const {
    for_each_index(rows_ * axes_, [this](int64_t i) { marks_[i] = kNone; });
    for (int64_t axis = 0; axis < axes_ && items_.labels.count() > 0; ++axis) mark(axis);
    for_each_index(rows_ * axes_, [this](int64_t i) { marks_[i] = marks_[i] == kOnBoth; });
  }

 private:
  static constexpr uint8_t kNone = 0, kOnFirst = 1, kOnBoth = 2;

  void mark(int64_t axis) const {
    for_each_on_face(axis, 0, [](uint8_t* mark) { Concurrent::store(mark, kOnFirst); });
    for_each_on_face(axis, items_.shape[axis] - 1, [](uint8_t* mark) {
      if (Concurrent::load(mark) != kNone) Concurrent::store(mark, kOnBoth);
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
          for_each_in(
              line * length, (line + 1) * length, [=, this](int64_t i) { visit_mark(axis, i, visit); });
        },
        length);
  }

  void visit_mark(int64_t axis, int64_t i, auto visit) const {
    const LabelArray& labels = items_.labels;
    const int64_t label =
        labels.is_wide() ? Concurrent::load(labels.wide() + i) : Concurrent::load(labels.narrow() + i);
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

}
