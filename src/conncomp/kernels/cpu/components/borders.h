// Perimeters in two dimensions: the length of the path through the border elements, which have one of four
// neighbours outside. The eight border neighbours tell whether the path goes straight on, aslant, or turns:
// lengths 1, the root of 2, and half of the sum. Cost: each label read five times, eight comparisons a border
// element. Source: Benkrid, Crookes 2000, "Design and FPGA implementation of a perimeter estimator"; weights
// as scikit-image's ``perimeter``.
#pragma once

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

  static int size_of_word(int64_t w, int64_t marked) {
    return int(std::min<int64_t>(kWord, marked - w * kWord));
  }

  uint64_t border(int j, int64_t w, int64_t marked) const {
    const Row *const above = rows_[j - 1].data() + w * kWord + 1,
                     *const line = rows_[j].data() + w * kWord + 1,
                     *const under = rows_[j + 1].data() + w * kWord + 1;
    return mask_where(size_of_word(w, marked), [=](int p) {
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
                                                   (beside.is(0) & aslant.is(2)) | (one & aslant.is(3)),
                                                   one & (aslant.is(1) | aslant.is(2))};
    const Row* const rows = rows_[kReach].data() + w * kWord + 1;
    for (int kind = 0; kind < kBorderKinds; ++kind)
      for_each_bit(kinds[kind] & here, [&](int p) { ++table.touch(rows[p])[kind]; });
  }

  // How many of some words have each bit, in three binary digits.
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
  // With a word more, which comparisons of whole words read.
  std::array<std::array<Row, kSpan + kAround + kWord>, kLines> rows_{};
  std::array<std::array<uint64_t, kSpan / kWord + 1>, kMarked> borders_;
};

inline void count_borders(const LabelledItems& items, const RowsOfLabels& rows, int64_t* kinds) {
  const RowLines lines(items, rows);
  sum_of_lines<BorderCounter>(lines, items.lines(), kBorderKinds, kinds);
}

}  // namespace conncomp
