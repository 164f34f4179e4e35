// Which labels there are, ascending, and for each element the number that the caller gives its label. Labels
// all below their count set marks in a shared table of bytes. Otherwise each thread numbers the labels of its
// part by a hash table (key_counts.h). The labels of all parts are sorted; a table per part then turns its
// numbers into those wanted, so each label is looked up once:
//     part of a thread         7 7 0 7 9     and of another      9 9 7
//     numbers of arrival       0 0 1 0 2                         0 0 1
//     distinct labels          0 7 9
//     places of the numbers    1 0 2                             2 1
// Cost: labels read once (contract 5), numbers written twice. Memory: 32 to 64 bytes per label and thread.
#pragma once

#include "cpu/components/stretches.h"
#include "cpu/core/key_counts.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// Labels are words of their width, ordered as unsigned numbers once the sign bit, if any, is turned.
template <class Word> constexpr Word sign_bit(bool is_signed) {
  static_assert(std::is_unsigned_v<Word>);
  return is_signed ? Word(Word(1) << (8 * sizeof(Word) - 1)) : Word(0);
}

// Marks labels that occur. Returns the largest, or -1 if one is not in [0, count).
template <class Word> int64_t mark_labels(const Word* labels, bool is_signed, int64_t count, uint8_t* marks) {
  // Words of negative labels are none of these.
  const uint64_t sign = sign_bit<Word>(is_signed), end = sign ? std::min(uint64_t(count), sign) : count;
  const int64_t pieces = (count + kGrain - 1) / kGrain;
  std::vector<uint64_t> largest(pieces);
  std::atomic<bool> fit{true};
  parallel_for(pieces, [&](int64_t piece) {
    if (!fit.load(std::memory_order_relaxed)) return;
    uint64_t high = 0;
    const auto mark = [&high, end, marks](uint64_t label) {
      high = std::max(high, label);
      // Marks are read first, as a write takes the cache line from all others.
      if (label < end && Concurrent::load(marks + label) == 0) Concurrent::store(marks + label, uint8_t(1));
    };
    for_each_run(labels, piece * kGrain, std::min(count, (piece + 1) * kGrain),
        [&](int64_t begin, int64_t) { mark(Concurrent::load(labels + begin)); });
    largest[piece] = high;
    if (high >= end) fit.store(false, std::memory_order_relaxed);
  });
  const uint64_t high = pieces ? *std::max_element(largest.begin(), largest.end()) : 0;
  return high < end ? int64_t(high) : -1;
}

// Numbers the labels below `rows` that are marked, but for `empty`, from `first` on, in order; others get 0.
template <class Number>
void number_marked(const uint8_t* marks, int64_t rows, int64_t empty, int64_t first, Number* numbers) {
  const auto counts = [=](int64_t label) { return marks[label] != 0 && label != empty; };
  scan(rows, counts, [=](int64_t label, int64_t before) {
    numbers[label] = counts(label) ? Number(first + before) : Number(0);
  });
}

class NumberedLabels {
 public:
  template <class Word, class Number>
  NumberedLabels(const Word* labels, bool is_signed, int64_t count, Number* numbers)
      : elements_(count),
        parts_(std::clamp<int64_t>(count / kGrain, 1, num_threads())),
        width_(8 * sizeof(Word)),
        signed_(is_signed) {
    std::vector<KeyCounts> tables(parts_);
    parallel_for(parts_, [&](int64_t part) {
      KeyCounts table;  // not in the vector, where tables would share cache lines
      const Word sign = sign_bit<Word>(is_signed);
      const int64_t end = begin(part + 1);
      for_each_run(labels, begin(part), end, [&](int64_t first, int64_t stop) {
        const Number number = Number(table.number(uint64_t(Word(Concurrent::load(labels + first) ^ sign))));
        write_run(numbers + first, stop - first, end - first, [=](int64_t) { return number; });
      });
      tables[part] = std::move(table);
    });
    sort(tables);
  }

  int64_t count() const { return count_; }
  int width() const { return width_; }

  template <class Word> Buffer<Word> distinct() const {
    Buffer<Word> labels(count_);
    for_each_in(0, count_,
        [&, sign = sign_bit<Word>(signed_)](int64_t place) { labels[place] = Word(keys_[place]) ^ sign; });
    return labels;
  }

  // Gives each element the entry of `wanted` at its label's place among the distinct ones.
  template <class Number> void translate(const Number* wanted, Number* numbers) const {
    Buffer<Number> tables(begins_.back());
    for_each_index(begins_.back(), [&](int64_t i) { tables[i] = wanted[places_[i]]; });
    parallel_for(parts_, [&](int64_t part) {
      const Number* const table = tables.data() + begins_[part];
      for_each_in(begin(part), begin(part + 1), [=](int64_t i) { numbers[i] = table[numbers[i]]; });
    });
  }

 private:
  int64_t begin(int64_t part) const { return elements_ * part / parts_; }

  void sort(const std::vector<KeyCounts>& tables) {
    begins_.assign(1, 0);
    for (const KeyCounts& table : tables) begins_.push_back(begins_.back() + table.size());
    const auto [sorted, entries] = sorted_counts(tables, true);
    keys_ = Buffer<uint64_t>(entries);
    places_ = Buffer<int64_t>(entries);
    for_each_in(0, entries, [&](int64_t i) {
      if (i == 0 || sorted[i].key != sorted[i - 1].key) keys_[count_++] = sorted[i].key;
      places_[sorted[i].count] = count_ - 1;
    });
  }

  int64_t elements_, parts_, count_ = 0;
  int width_;
  bool signed_;
  std::vector<int64_t> begins_;  // of the numbers of each part
  Buffer<uint64_t> keys_;        // of the labels that differ
  Buffer<int64_t> places_;       // of each number, among these
};

}
