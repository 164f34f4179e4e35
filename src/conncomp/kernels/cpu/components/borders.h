// Perimeters in two dimensions: the path through the border elements, which have one of four neighbours
// outside. Border neighbours tell whether it goes straight, aslant, or turns: lengths 1, root 2, and half of
// the sum. Cost: each label read five times, eight comparisons a border element. Source: Benkrid, Crookes
// 2000; weights as scikit-image's ``perimeter``.
#pragma once

#include "core/configurations.h"
#include "cpu/components/known_components.h"

namespace conncomp {

// Rows fit into 32 bits: larger tables would not fit into memory, and Python refuses them.
using Row = int32_t;
constexpr Row kNoRow = -1;
constexpr int64_t kNoLine = -1;
constexpr int64_t kSpan = 1 << 10;  // elements of a line that are looked at together
constexpr int64_t kAround = 4;      // and how many more there may be

// Copies lines of labels (contract 5) as numbers of their components' rows, or none.
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
  template <class Label> void read(const Label* labels, int64_t count, Row* out) const {
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

// Fills `width` numbers a component with the sums that counters, one per thread, add for lines.
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
            rows_[j].data());
      }
      // Words begin with the element before these, and end with the first behind them.
      const int64_t marked = count + 2, words = (marked + kWord - 1) / kWord;
      for (int j = 0; j < kMarked; ++j)
        for (int64_t w = 0; w < words; ++w) borders_[j][w] = border(j + 1, w, marked);
      for (int64_t w = 0; w < words; ++w) {
        uint64_t here = borders_[1][w];
        if (w == 0) here &= ~uint64_t(1);
        if (w == words - 1) here &= below(int((marked - 1) % kWord));
        if (here) add(w, words, here, table);
      }
    }
  }

 private:
  static constexpr int kReach = 2, kLines = 2 * kReach + 1, kMarked = 3;

  uint64_t border(int j, int64_t w, int64_t marked) const {
    const Row *const above = rows_[j - 1].data() + w * kWord + 1,
                     *const line = rows_[j].data() + w * kWord + 1,
                     *const under = rows_[j + 1].data() + w * kWord + 1;
    return mask_where(int(std::min<int64_t>(kWord, marked - w * kWord)), [=](int p) {
      const Row differences =
          (line[p - 1] ^ line[p]) | (line[p + 1] ^ line[p]) | (above[p] ^ line[p]) | (under[p] ^ line[p]);
      return (line[p] != kNoRow) & (differences != 0);
    });
  }

  uint64_t neighbours(int dy, int dx, int64_t w, int64_t words) const {
    const Row *const line = rows_[kReach].data() + w * kWord + 1, *const others = rows_[kReach + dy].data() +
                                                                                  w * kWord + 1 + dx;
    const ShiftedWord marks(borders_[1 + dy].data(), w, words);
    const uint64_t present = dx < 0 ? marks.left : dx > 0 ? marks.right : marks.word;
    if (!present) return 0;
    return present & mask_where(kWord, [=](int p) { return others[p] == line[p]; });
  }

  void add(int64_t w, int64_t words, uint64_t here, RowTable<int64_t>& table) const {
    BitCounts beside, aslant;
    for (const int step : {-1, 1}) {
      beside.add(neighbours(0, step, w, words));
      beside.add(neighbours(step, 0, w, words));
      aslant.add(neighbours(step, -1, w, words));
      aslant.add(neighbours(step, 1, w, words));
    }
    const uint64_t some = beside.is(2) | beside.is(3), one = beside.is(1);
    const std::array<uint64_t, kBorderKinds> kinds{some & (aslant.is(0) | aslant.is(1) | aslant.is(2)),
        (beside.is(0) & aslant.is(2)) | (one & aslant.is(3)), one & (aslant.is(1) | aslant.is(2))};
    const Row* const rows = rows_[kReach].data() + w * kWord + 1;
    for (int kind = 0; kind < kBorderKinds; ++kind)
      for_each_bit(kinds[kind] & here, [&](int p) { ++table.touch(rows[p])[kind]; });
  }

  struct BitCounts {
    uint64_t ones = 0, twos = 0, fours = 0;

    void add(uint64_t word) {
      fours ^= twos & ones & word;
      twos ^= ones & word;
      ones ^= word;
    }
    uint64_t is(int count) const {
      return ~((count & 1 ? ~ones : ones) | (count & 2 ? ~twos : twos) | (count & 4 ? ~fours : fours));
    }
  };

  const RowLines& reader_;
  std::array<std::array<Row, kSpan + kAround + kWord>, kLines> rows_{};
  std::array<std::array<uint64_t, kSpan / kWord + 1>, kMarked> borders_;
};

inline void count_borders(const LabelledItems& items, const RowsOfLabels& rows, int64_t* kinds) {
  const RowLines lines(items, rows);
  sum_of_lines<BorderCounter>(lines, items.lines(), kBorderKinds, kinds);
}

// Euler numbers and intercepts: sums of the weights of core/configurations.h. Lines that meet in a corner are
// laid beside each other; each component there adds its weights. Cost: labels read twice, or four times.

template <int axes> const Configurations<axes>& weights_of_configurations() {
  static const Configurations<axes> weights;
  return weights;
}

template <int axes> class ConfigurationCounter {
  using Weights = Configurations<axes>;
  static constexpr int kLines = 1 << (axes - 1);

 public:
  explicit ConfigurationCounter(const RowLines& lines) : reader_(lines) {}

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
      for (int k = 0; k < Weights::kNumbers; ++k) numbers[k] += weights_.weights[code][k];
      open &= ~code;
    }
  }

  const Weights& weights_ = weights_of_configurations<axes>();

  const RowLines& reader_;
  std::array<int64_t, kLines> lines_;
  std::array<RowLines::Rows, kLines> rows_;
};

template <int axes>
void count_configurations(const LabelledItems& items, const RowsOfLabels& rows, int64_t* numbers) {
  const RowLines lines(items, rows);
  sum_of_lines<ConfigurationCounter<axes>>(
      lines, ConfigurationCounter<axes>::corner_lines(items), Configurations<axes>::kNumbers, numbers);
}

}
