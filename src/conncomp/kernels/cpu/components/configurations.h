// Euler numbers and intercepts: sums of the weights of core/configurations.h. Lines that meet in a corner are
// laid beside each other; where elements are not all of one row, each component that has one adds its
// weights. Cost: each label read twice, or four times in three dimensions, some ten operations a number at
// each corner of a surface.
#pragma once

#include "core/configurations.h"
#include "cpu/components/row_lines.h"

namespace conncomp {

template <int axes>
class ConfigurationCounter {
  using Weights = Configurations<axes>;
  static constexpr int kLines = 1 << (axes - 1);

 public:
  explicit ConfigurationCounter(const RowLines& lines) : reader_(lines) {}

  // How many lines of corners the items have: one more than lines along every axis.
  static int64_t corner_lines(const LabelledItems& items) {
    int64_t lines = 1, corners = 1;
    for (int k = 0; k < axes - 1; ++k) lines *= items.shape[k], corners *= items.shape[k] + 1;
    return lines ? items.lines() / lines * corners : 0;
  }

  void count(int64_t corner_line, RowTable<int64_t>& table) {
    const int64_t length = reader_.items().length();
    find_lines(corner_line);
    for (int64_t begin = 0; begin <= length; begin += kSpan) {
      const int64_t count = std::min(kSpan, length + 1 - begin);
      for (int j = 0; j < kLines; ++j) reader_.read(lines_[j], begin - 1, begin + count, rows_[j].data());
      poll(count);
      for (int64_t first = 0; first < count; first += kWord)
        for_each_bit(uneven(first, int(std::min<int64_t>(kWord, count - first))),
                     [&](int p) { add(first + p, table); });
    }
  }

 private:
  void find_lines(int64_t corner_line) {
    const auto& shape = reader_.items().shape;
    std::array<int64_t, axes> corner{};
    for (int k = axes - 2; k >= 0; --k) {
      corner[k] = corner_line % (shape[k] + 1);
      corner_line /= shape[k] + 1;
    }
    for (int j = 0; j < kLines; ++j) {
      int64_t line = corner_line;  // that of the item
      bool inside = true;
      for (int k = 0; k < axes - 1; ++k) {
        const int64_t place = corner[k] - 1 + (j >> (axes - 2 - k) & 1);
        inside = inside && 0 <= place && place < shape[k];
        line = line * shape[k] + place;
      }
      lines_[j] = inside ? line : kNoLine;
    }
  }

  // The corners from `first` on at which elements are of different rows.
  uint64_t uneven(int64_t first, int count) const {
    return mask_where(count, [this, first](int p) {
      const Row row = rows_[0][first + p];
      Row differences = row ^ rows_[0][first + p + 1];
      for (int j = 1; j < kLines; ++j)
        differences |= (row ^ rows_[j][first + p]) | (row ^ rows_[j][first + p + 1]);
      return differences != 0;
    });
  }

  void add(int64_t corner, RowTable<int64_t>& table) const {
    std::array<Row, 2 * kLines> elements;
    for (int j = 0; j < kLines; ++j)
      elements[2 * j] = rows_[j][corner], elements[2 * j + 1] = rows_[j][corner + 1];
    unsigned open = 0;
    for (int i = 0; i < 2 * kLines; ++i) open |= unsigned(elements[i] != kNoRow) << i;
    while (open) {
      const Row row = elements[std::countr_zero(open)];
      unsigned code = 0;
      for (int i = 0; i < 2 * kLines; ++i) code |= unsigned(elements[i] == row) << i;
      int64_t* const numbers = table.touch(row);
      for (int k = 0; k < Weights::kNumbers; ++k) numbers[k] += kWeights.weights[code][k];
      open &= ~code;
    }
  }

  static constexpr Weights kWeights{};

  const RowLines& reader_;
  std::array<int64_t, kLines> lines_;
  std::array<RowLines::Rows, kLines> rows_;
};

template <int axes>
void count_configurations(const LabelledItems& items, const RowsOfLabels& rows, int64_t* numbers) {
  const RowLines lines(items, rows);
  sum_of_lines<ConfigurationCounter<axes>>(lines, ConfigurationCounter<axes>::corner_lines(items),
                                           Configurations<axes>::kNumbers, numbers);
}

}  // namespace conncomp
