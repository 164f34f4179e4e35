// Labels along rows, 64 at a time, as words of where they change, so that noise costs no mispredicted branch:
// stretches of equal labels, or all places of a label that comes back often in a word. Each is loaded once;
// without a row it is background (contract 5). Wider labels are copied as int32.
#pragma once

#include <vector>

#include "core/atomics.h"
#include "cpu/core/bits.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Labels of int32 or int64, as an argument.
class LabelArray {
 public:
  template <class Label>
  LabelArray(const Label* labels, int64_t count, int64_t background)
      : labels_(labels), wide_(sizeof(Label) == 8), count_(count), background_(background) {
    static_assert(std::is_same_v<Label, int32_t> || std::is_same_v<Label, int64_t>);
  }

  bool is_wide() const { return wide_; }
  LabelArray part(int64_t begin, int64_t count) const {
    return wide_ ? LabelArray(wide() + begin, count, background_)
                 : LabelArray(narrow() + begin, count, background_);
  }

  int64_t count() const { return count_; }
  int64_t bytes() const { return count_ * (wide_ ? 8 : 4); }
  int64_t background() const { return background_; }
  const int32_t* narrow() const { return static_cast<const int32_t*>(labels_); }
  const int64_t* wide() const { return static_cast<const int64_t*>(labels_); }

 private:
  const void* labels_;
  bool wide_;
  int64_t count_, background_;
};

// labels[index] less `base` of [begin, end), in 32 bits. Passed by value, to stay in registers.
struct LabelPiece {
  const int32_t* labels;
  int64_t begin, end;
  int32_t background;
  int64_t base;
  int64_t rows;  // numbers of [0, rows) have a row
};

// How many wide labels make a piece, and how many numbers; others are of other pieces of the same places.
constexpr int64_t kWidePiece = 1 << 10;
constexpr int64_t kLabelSpan = kGrain < 1 << 16 ? 4 * kGrain : INT32_MAX;

inline void narrow_labels(
    const int64_t* labels, int64_t count, int64_t background, int64_t base, int64_t rows, int32_t* narrow) {
  std::array<int64_t, kWidePiece> own;  // which nobody changes
  std::memcpy(own.data(), labels, size_t(count) * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t number = uint64_t(own[i]) - uint64_t(base);
    narrow[i] = (number < uint64_t(rows)) & (own[i] != background) ? int32_t(number) : -1;
  }
}

inline void for_each_piece(const LabelArray& array, int64_t begin, int64_t end, int64_t rows,
    FunctionRef<void(const LabelPiece&)> visit) {
  if (begin >= end) return;
  if (!array.is_wide()) return visit({array.narrow(), begin, end, int32_t(array.background()), 0, rows});
  std::array<int32_t, kWidePiece> narrow;
  for (int64_t stop; begin < end; begin = stop) {
    stop = std::min(begin + kWidePiece, end);
    for (int64_t base = 0; base < rows; base += kLabelSpan) {
      const int64_t span = std::min(rows - base, kLabelSpan);
      narrow_labels(array.wide() + begin, stop - begin, array.background(), base, span, narrow.data());
      visit({narrow.data() - begin, begin, stop, -1, base, span});
    }
  }
}

// Entry n is 0 + 1 + 4 + ... + (n - 1)².
constexpr std::array<int64_t, kWord + 1> kSquareSums = [] {
  std::array<int64_t, kWord + 1> sums{};
  for (int64_t n = 0; n < kWord; ++n) sums[n + 1] = sums[n] + n * n;
  return sums;
}();

struct Stretch {
  int64_t begin, end;

  int64_t size() const { return end - begin; }
  int64_t sum() const { return int64_t(uint64_t((end - begin) * (begin + end - 1)) / 2); }
  int64_t squares() const { return kSquareSums[end] - kSquareSums[begin]; }
  uint64_t mask() const { return up_to(int(end) - 1) & ~below(int(begin)); }

  void for_each(auto&& body) const {
    for (int64_t p = begin; p < end; ++p) body(p);
  }
};

struct Scattered {
  int64_t begin, end;  // one beyond the last

  explicit Scattered(uint64_t mask)
      : begin(std::countr_zero(mask)), end(kWord - std::countl_zero(mask)), mask_(mask) {}

  uint64_t mask() const { return mask_; }
  int64_t size() const { return std::popcount(mask_); }
  // A place is a sum of powers of two; counts say how many places have each, and each pair.
  int64_t sum() const {
    int64_t sum = 0;
    for (int j = 0; j < kDigits; ++j) sum += int64_t(std::popcount(mask_ & kWithDigit[j])) << j;
    return sum;
  }
  int64_t squares() const {
    int64_t sum = 0;
    for (int j = 0; j < kDigits; ++j) {
      sum += int64_t(std::popcount(mask_ & kWithDigit[j])) << 2 * j;
      for (int k = 0; k < j; ++k)
        sum += int64_t(std::popcount(mask_ & kWithDigit[j] & kWithDigit[k])) << (j + k + 1);
    }
    return sum;
  }

  void for_each(auto&& body) const { for_each_bit(mask_, body); }

 private:
  static constexpr int kDigits = 6;
  // The places with each binary digit.
  static constexpr uint64_t kWithDigit[kDigits] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
      0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};

  uint64_t mask_;
};

struct LabelWord {
  uint64_t foreground, changes, top;

  template <class Label>
  LabelWord(const Label* labels, int count, Label background)
      : foreground(mask_where(count, [=](int p) { return labels[p] != background; })),
        changes(
            foreground ? mask_where(count - 1, [=](int p) { return labels[p + 1] != labels[p]; }) << 1 : 0),
        top(uint64_t(1) << (count - 1)) {}

  // Where stretches begin and end: as many of both, even if labels change meanwhile.
  uint64_t breaks() const { return changes | (foreground ^ foreground << 1); }
  uint64_t begins() const { return foreground & (breaks() | 1); }
  uint64_t lasts() const { return foreground & (breaks() >> 1 | top); }
};

template <class Label>
inline void for_each_stretch_of_word(const Label* labels, const LabelWord& word, int64_t rows, auto&& body) {
  uint64_t begins = word.begins(), lasts = word.lasts();
  for (; begins; begins &= begins - 1, lasts &= lasts - 1) {
    const int begin = std::countr_zero(begins), end = std::countr_zero(lasts) + 1;
    const Label label = Concurrent::load(labels + begin);
    if (uint64_t(label) < uint64_t(rows)) body(label, Stretch{begin, end});
  }
}

// Calls body(label, places) for a word's places with a row, a label maybe several times.
template <class Label>
inline void for_each_label_of_word(
    const Label* labels, int count, Label background, int64_t rows, auto&& body) {
  constexpr int kMany = 8;  // stretches from which on it pays to look for a frequent label
  LabelWord word(labels, count, background);
  if (std::popcount(word.begins()) > kMany) {
    const int begin = std::countr_zero(word.foreground);
    const Label label = Concurrent::load(labels + begin);
    const uint64_t same = mask_where(count, [=](int p) { return labels[p] == label; });
    const Scattered places((same & word.foreground) | uint64_t(1) << begin);
    word.foreground &= ~places.mask();
    if (uint64_t(label) < uint64_t(rows)) body(label, places);
  }
  for_each_stretch_of_word(labels, word, rows, body);
}

inline void find_line(int64_t line, const std::vector<int64_t>& shape, auto& place) {
  for (int64_t k = int64_t(shape.size()) - 2; k >= 0; line /= shape[k--]) place[k] = line % shape[k];
}

inline void for_each_word(int64_t begin, int64_t end, auto visit) {
  for (int64_t stop; begin < end; begin = stop) {
    stop = std::min(end, begin + kStretch);
    poll(stop - begin);
    for (int64_t first = begin; first < stop; first += kWord)
      visit(first, int(std::min<int64_t>(kWord, stop - first)));
  }
}

// Calls body(begin, end) for runs of equal labels of a word. Labels that change meanwhile move runs.
template <class Label>
inline void for_each_run_of_word(const Label* labels, int64_t first, int count, auto&& body) {
  const Label* const word = labels + first;
  uint64_t begins = mask_where(count - 1, [=](int p) { return word[p + 1] != word[p]; }) << 1 | 1;
  while (begins) {
    const int begin = std::countr_zero(begins);
    begins &= begins - 1;
    body(first + begin, first + (begins ? std::countr_zero(begins) : count));
  }
}

void for_each_run(const Integer auto* labels, int64_t begin, int64_t end, auto&& body) {
  for_each_word(
      begin, end, [&](int64_t first, int count) { for_each_run_of_word(labels, first, count, body); });
}

// Writes entry(k) to `count` places; the first without a branch where there is room: most runs are short.
inline void write_run(auto* places, int64_t count, int64_t room, auto&& entry) {
  constexpr int64_t kFew = 8;
  int64_t k = 0;
  if (room >= kFew)
    for (; k < kFew; ++k) places[k] = entry(k);
  for (; k < count; ++k) places[k] = entry(k);
}

// Calls body(number, begin, end) for stretches of labels with a row, in parts of up to 64.
void for_each_stretch(const LabelPiece piece, auto body) {
  for_each_word(piece.begin, piece.end,
      [=, labels = piece.labels, background = piece.background, rows = piece.rows](int64_t first, int count) {
        const int32_t* const word = labels + first;
        for_each_stretch_of_word(
            word, LabelWord(word, count, background), rows, [&](int32_t number, Stretch stretch) {
              body(number, first + stretch.begin, first + stretch.end);
            });
      });
}

// Calls visit(line, labels, begin, end) for lines of a piece, with labels[coordinate] of [begin, end).
void for_each_line(const LabelPiece piece, int64_t length, auto visit) {
  for (int64_t line = piece.begin / length; line * length < piece.end; ++line) {
    const int64_t start = line * length;
    visit(line, piece.labels + start, std::max(piece.begin - start, int64_t(0)),
        std::min(piece.end - start, length));
  }
}

}
