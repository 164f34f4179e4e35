// Lines of labels, copied (contract 5), as numbers of rows of their components, or none.
#pragma once

#include "cpu/components/known_components.h"

namespace conncomp {

// Rows fit into 32 bits: larger tables would not fit into memory, and Python refuses them.
using Row = int32_t;
constexpr Row kNoRow = -1;
constexpr int64_t kNoLine = -1;
constexpr int64_t kSpan = 1 << 10;  // elements of a line that are looked at together
constexpr int64_t kAround = 4;      // and how many more there may be

class RowLines {
 public:
  using Rows = std::array<Row, kSpan + kAround>;

  RowLines(const LabelledItems& items, const RowsOfLabels& rows) : items_(items), rows_(rows) {}

  void read(int64_t line, int64_t begin, int64_t end, Row* rows) const {
    const int64_t first = std::clamp<int64_t>(begin, 0, items_.length()),
                  stop = line == kNoLine ? first : std::clamp<int64_t>(end, first, items_.length());
    std::fill(rows, rows + (first - begin), kNoRow);
    std::fill(rows + (stop - begin), rows + (end - begin), kNoRow);
    if (stop == first) return;
    const int64_t index = line * items_.length() + first;
    Row* const out = rows + (first - begin);
    if (items_.labels.is_wide())
      read(items_.labels.wide() + index, stop - first, out);
    else
      read(items_.labels.narrow() + index, stop - first, out);
  }

  const LabelledItems& items() const { return items_; }
  const RowsOfLabels& rows() const { return rows_; }

 private:
  template <class Label>
  void read(const Label* labels, int64_t count, Row* out) const {
    std::array<Label, kSpan + kAround> copy;
    std::memcpy(copy.data(), labels, size_t(count) * sizeof(Label));
    if (const auto first = rows_.first_of_consecutive()) {
      // Without look-ups, and vectorised: the background is none of these labels.
      using Number = std::make_unsigned_t<Label>;
      const Number begin = Number(*first), end = Number(rows_.count());
      for (int64_t i = 0; i < count; ++i) {
        const Number row = Number(Number(copy[i]) - begin);
        out[i] = row < end ? Row(row) : kNoRow;
      }
      return;
    }
    const int64_t background = items_.labels.background(), labels_end = rows_.label_rows();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t label = copy[i];
      const bool may_have = (label != background) & (uint64_t(label) < uint64_t(labels_end));
      out[i] = Row(may_have ? rows_.row(label) : kNoRow);
    }
  }

  const LabelledItems& items_;
  const RowsOfLabels& rows_;
};

// Fills `width` numbers for each component with the sums that counters, one per thread, add for `count`
// lines.
template <class Counter>
void sum_of_lines(const RowLines& lines, int64_t count, int64_t width, int64_t* sums) {
  const int64_t rows = lines.rows().count();
  const auto table = shared_table<int64_t>(
      lines.items(), count, rows, width,
      [&](RowTable<int64_t>& table, int64_t begin, int64_t end) {
        Counter counter(lines);
        for (int64_t line = begin; line < end; ++line) counter.count(line, table);
      },
      [](int64_t& sum, int64_t addend) { sum += addend; });
  for_each_index(rows, [&](int64_t row) { std::copy_n(table[row], width, sums + row * width); });
}

}  // namespace conncomp
