// Perimeters of components of two dimensions, as the length of the path through the elements of the border.
//
// What: an element is of the border if one of its four neighbours is not of the component. How many elements
// of the border there are at which the path goes straight on, aslant, or turns from one to the other is
// counted by how many of the eight neighbours are of the border, too: their lengths are 1, the root of 2, and
// half of the sum. How: of five lines three are marked where borders are. Cost: each label read five times,
// and eight comparisons an element of the border; a row of 3 numbers. Source: Benkrid, Crookes, "Design and
// FPGA implementation of a perimeter estimator", 2000; the weights are those of scikit-image's ``perimeter``,
// neighbourhood 4.
#pragma once

#include <array>
#include <cstdint>

#include "cpu/components/row_lines.h"

namespace conncomp {

constexpr int kBorderKinds = 3;  // straight, aslant, turning

class BorderCounter {
 public:
  explicit BorderCounter(const RowLines& lines) : reader_(lines) {}

  void count(int64_t line, RowTable<int64_t>& table) {
    const int64_t length = reader_.items().length(), height = reader_.items().shape[0];
    const int64_t item = line / height, y = line % height;
    for (int64_t begin = 0; begin < length; begin += kSpan) {
      const int64_t count = std::min(kSpan, length - begin);
      poll(count);
      for (int j = 0; j < kLines; ++j) {
        const int64_t place = y + j - kReach;
        const bool inside = 0 <= place && place < height;
        reader_.read(inside ? item * height + place : kNoLine, begin - kReach, begin + count + kReach,
                     rows_[j]);
      }
      for (int j = 1; j < kLines - 1; ++j) mark(j, count + 2 * (kReach - 1));
      for (int64_t first = 0; first < count; first += kWord)
        for_each_bit(mask_where(int(std::min<int64_t>(kWord, count - first)),
                                [&](int p) { return is_border_[kReach][kReach + first + p] != 0; }),
                     [&](int p) { add(kReach + first + p, table); });
    }
  }

 private:
  static constexpr int kReach = 2, kLines = 2 * kReach + 1;

  // Marks elements of the border among so many of a line, from the second one on.
  void mark(int j, int64_t count) {
    const int64_t *const above = rows_[j - 1].data(), *const line = rows_[j].data(),
                         *const under = rows_[j + 1].data();
    uint8_t* const marks = is_border_[j].data();
    for (int64_t i = 1; i <= count; ++i)
      marks[i] = (line[i] != kNoRow) & ((line[i - 1] != line[i]) | (line[i + 1] != line[i]) |
                                        (above[i] != line[i]) | (under[i] != line[i]));
  }

  void add(int64_t i, RowTable<int64_t>& table) const {
    const int64_t row = rows_[kReach][i];
    int beside = 0, aslant = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int present = is_border_[kReach + dy][i + dx] & (rows_[kReach + dy][i + dx] == row);
        (dy == 0 || dx == 0 ? beside : aslant) += present;
      }
    const int kind = kKinds[beside - 1][aslant];  // of the four beside it, but for itself
    if (kind != kNone) ++table.touch(row)[kind];
  }

  static constexpr int kNone = -1;
  static constexpr std::array<std::array<int8_t, 5>, 5> kKinds{{{kNone, kNone, 1, kNone, kNone},
                                                                {kNone, 2, 2, 1, kNone},
                                                                {0, 0, 0, kNone, kNone},
                                                                {0, 0, 0, kNone, kNone},
                                                                {kNone, kNone, kNone, kNone, kNone}}};

  const RowLines& reader_;
  std::array<RowLines::Rows, kLines> rows_;
  std::array<std::array<uint8_t, kSpan + kAround>, kLines> is_border_;
};

// Fills a row for each component with how many elements of each kind its border has.
inline void count_borders(const LabelledItems& items, const RowsOfLabels& rows, int64_t* kinds) {
  const RowLines lines(items, rows);
  const auto fill = [&](RowTable<int64_t>& table, int64_t begin, int64_t end) {
    BorderCounter counter(lines);
    for (int64_t line = begin; line < end; ++line) counter.count(line, table);
  };
  sum_of_lines(lines, items.lines(), kBorderKinds, fill, kinds);
}

}  // namespace conncomp
