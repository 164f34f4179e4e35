// How many faces of its elements a component shows along each axis: the neighbour across has another label,
// or lies outside. Words of bits say where a line differs from those before and behind it, and are counted
// for each stretch. Cost: 2 n - 1 comparisons of labels, in n dimensions, 64 at a time; 8 n bytes a row.
#pragma once

#include "cpu/components/known_components.h"

namespace conncomp {

inline uint64_t differences(const auto* labels, int count, int64_t step) {
  return mask_where(count, [=](int p) { return labels[p + step] != labels[p]; });
}

// The faces of the word at `index_`: for each axis those ahead, and those behind.
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

  // The faces of a part's word, for each axis.
  template <class Places>
  const Faces* around(const Part<Places>& part) {
    if (part.index != index_) {
      if (items_.labels.is_wide())
        look(items_.labels.wide(), part.index, part.first, part.place);
      else
        look(items_.labels.narrow(), part.index, part.first, part.place);
    }
    return faces_.data();
  }

 private:
  template <class Label>
  void look(const Label* labels, int64_t index, int64_t first, const int64_t* place) {
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

}  // namespace conncomp
