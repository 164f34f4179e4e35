// Labels along rows, 64 at a time, as words whose bits say where they change, so that noise costs no branch
// that goes wrong: stretches of equal labels, or, where one label comes back often in a word, all it has
// there. Labels are the caller's, who may change them after they were checked (contract 5): each is loaded
// once before it becomes an index, and one that has no row is taken for background.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/atomics.h"
#include "cpu/core/bits.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// Sums of the first integers, and of their squares: entry n is 0 + 1 + 4 + ... + (n - 1)².
constexpr std::array<int64_t, kWord + 1> kSquareSums = [] {
  std::array<int64_t, kWord + 1> sums{};
  for (int64_t n = 0; n < kWord; ++n) sums[n + 1] = sums[n] + n * n;
  return sums;
}();

// Places begin ... end - 1 of a word.
struct Stretch {
  int64_t begin, end;

  int64_t size() const { return end - begin; }
  int64_t sum() const { return (end - begin) * (begin + end - 1) / 2; }
  int64_t squares() const { return kSquareSums[end] - kSquareSums[begin]; }
  uint64_t mask() const { return up_to(int(end) - 1) & ~below(int(begin)); }

  // Calls body(p) for each place, in ascending order.
  template <class Body>
  void for_each(Body&& body) const {
    for (int64_t p = begin; p < end; ++p) body(p);
  }
};

// Places of a word that a mask has.
struct Scattered {
  int64_t begin, end;  // one beyond the last

  explicit Scattered(uint64_t mask)
      : begin(std::countr_zero(mask)), end(kWord - std::countl_zero(mask)), mask_(mask) {}

  uint64_t mask() const { return mask_; }
  int64_t size() const { return std::popcount(mask_); }
  // A place is a sum of powers of two: how many have each, and each pair of them, is known by counting.
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

  // As that of a stretch.
  template <class Body>
  void for_each(Body&& body) const {
    for_each_bit(mask_, body);
  }

 private:
  static constexpr int kDigits = 6;
  // Places with a binary digit of 1.
  static constexpr uint64_t kWithDigit[kDigits] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc,
                                                   0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00,
                                                   0xffff0000ffff0000, 0xffffffff00000000};

  uint64_t mask_;
};

// Up to 64 labels: which are no background, and which differ from the one before.
struct LabelWord {
  uint64_t foreground, changes, top;

  template <class Label>
  LabelWord(const Label* labels, int count, Label background)
      : foreground(mask_where(count, [=](int p) { return labels[p] != background; })),
        changes(foreground ? mask_where(count - 1, [=](int p) { return labels[p + 1] != labels[p]; }) << 1
                           : 0),
        top(uint64_t(1) << (count - 1)) {}

  // Where stretches begin, and their last places: as many of both, whoever changes the labels meanwhile.
  uint64_t breaks() const { return changes | (foreground ^ foreground << 1); }
  uint64_t begins() const { return foreground & (breaks() | 1); }
  uint64_t lasts() const { return foreground & (breaks() >> 1 | top); }
};

// Calls body(label, stretch) for stretches of equal labels in a word, but those of labels that have no row.
template <class Label, class Body>
inline void for_each_stretch_of_word(const Label* labels, const LabelWord& word, int64_t rows, Body&& body) {
  uint64_t begins = word.begins(), lasts = word.lasts();
  for (; begins; begins &= begins - 1, lasts &= lasts - 1) {
    const int begin = std::countr_zero(begins), end = std::countr_zero(lasts) + 1;
    const Label label = Shared::load(labels + begin);
    if (uint64_t(label) < uint64_t(rows)) body(label, Stretch{begin, end});
  }
}

// Calls body(label, places) for all places of a word, but those of the background and of labels that have no
// row; a label's may come in several calls, from left to right.
template <class Label, class Body>
inline void for_each_label_of_word(const Label* labels, int count, Label background, int64_t rows,
                                   Body&& body) {
  constexpr int kMany = 8;  // stretches of which it pays to look for a label that most are of
  LabelWord word(labels, count, background);
  if (std::popcount(word.begins()) > kMany) {
    const int begin = std::countr_zero(word.foreground);
    const Label label = Shared::load(labels + begin);
    const uint64_t same = mask_where(count, [=](int p) { return labels[p] == label; });
    const Scattered places((same & word.foreground) | uint64_t(1) << begin);
    word.foreground &= ~places.mask();
    if (uint64_t(label) < uint64_t(rows)) body(label, places);
  }
  for_each_stretch_of_word(labels, word, rows, body);
}

// Sets the coordinates of a line in its item, of this shape; the last one does not count.
template <class Place>
inline void find_line(int64_t line, const std::vector<int64_t>& shape, Place& place) {
  for (int64_t k = int64_t(shape.size()) - 2; k >= 0; line /= shape[k--]) place[k] = line % shape[k];
}

// Calls visit(first, count) for the words of [begin, end).
template <class Visit>
inline void for_each_word(int64_t begin, int64_t end, Visit visit) {
  for (int64_t stop; begin < end; begin = stop) {
    stop = std::min(end, begin + kStretch);
    checkpoint(stop - begin);
    for (int64_t first = begin; first < stop; first += kWord)
      visit(first, int(std::min<int64_t>(kWord, stop - first)));
  }
}

// Calls body(begin, end) for runs of equal labels of a word, whatever they are. Who changes labels meanwhile
// changes where runs are.
template <class Label, class Body>
inline void for_each_run_of_word(const Label* labels, int64_t first, int count, Body&& body) {
  const Label* const word = labels + first;
  uint64_t begins = mask_where(count - 1, [=](int p) { return word[p + 1] != word[p]; }) << 1 | 1;
  while (begins) {
    const int begin = std::countr_zero(begins);
    begins &= begins - 1;
    body(first + begin, first + (begins ? std::countr_zero(begins) : count));
  }
}

// The same for [begin, end), in pieces of up to 64.
template <class Label, class Body>
void for_each_run(const Label* labels, int64_t begin, int64_t end, Body&& body) {
  for_each_word(begin, end,
                [&](int64_t first, int count) { for_each_run_of_word(labels, first, count, body); });
}

// Writes entry(k) to `count` places. Most runs are short: where there is room, the first ones are written
// without a branch, and what is too much is written over by later runs.
template <class Entry, class EntryAt>
inline void write_run(Entry* places, int64_t count, int64_t room, EntryAt&& entry) {
  constexpr int64_t kFew = 8;
  int64_t k = 0;
  if (room >= kFew)
    for (; k < kFew; ++k) places[k] = entry(k);
  for (; k < count; ++k) places[k] = entry(k);
}

// Calls body(label, begin, end) for stretches of equal labels among [begin, end), in pieces of up to 64, but
// those of the background and of labels that have no row.
template <class Label, class Body>
void for_each_stretch(const Label* labels, int64_t begin, int64_t end, Label background, int64_t rows,
                      Body body) {
  for_each_word(begin, end, [=](int64_t first, int count) {
    for_each_stretch_of_word(
        labels + first, LabelWord(labels + first, count, background), rows,
        [&](Label label, Stretch stretch) { body(label, first + stretch.begin, first + stretch.end); });
  });
}

}  // namespace conncomp
