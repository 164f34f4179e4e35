// What a thread has met of each label: nothing, one stretch of a line, as of most components of noise, which
// fits into a number, or more, a row of sums. Numbers are zeros that the system gives when first touched: 8
// bytes each.
#pragma once

#include "cpu/components/stretches.h"
#include "cpu/components/sums.h"

namespace conncomp {

// Elements next to each other: `size` from the coordinate `begin` of a line on.
struct LineStretch {
  int64_t line, begin, size;
};

template <class Sums>
class MetLabels {
 public:
  using Place = typename Sums::Place;

  MetLabels() = default;
  // For labels below `rows`, of so many elements, in lines along the last axis of this shape.
  MetLabels(const std::vector<int64_t>& shape, int64_t rows, int64_t elements, bool most_are_stretches)
      : shape_(shape), line_shift_(kSizeBits + std::bit_width(uint64_t(shape.back()))) {
    if (most_are_stretches) {
      entries_ = Buffer<int64_t>::zeros(rows);
      rows = std::min(rows, elements / 2 + 1);  // no more are met again
    }
    sums_ = Sums(shape, rows);
    last_ = rows - 1;
  }

  static int64_t bytes(const std::vector<int64_t>& shape, bool most_are_stretches) {
    return most_are_stretches ? int64_t(sizeof(int64_t)) : Sums::bytes(shape);
  }

  static Place no_place(const std::vector<int64_t>& shape) {
    Place place{};
    if constexpr (std::is_same_v<Place, std::vector<int64_t>>) place.resize(shape.size());
    return place;
  }

  // Adds elements of the word that begins at `first` of a line, which is at `place`.
  template <class Places>
  void add(int64_t row, int64_t line, const Place& place, int64_t first, const Places& places) {
    if (entries_.data()) {
      int64_t& entry = entries_[row];
      if (entry == 0 && places.size() == places.end - places.begin) {
        begin_ = std::min(begin_, row), end_ = std::max(end_, row + 1);
        entry = line << line_shift_ | (first + places.begin) << kSizeBits | places.size();
        return;
      }
      if (entry >= 0) entry = ~begin_sums(row, entry);
      row = ~entry;
    }
    sums_.add(row, place, {first, places});
  }

  bool is_used() const { return shape_.size() > 0; }
  bool may_have(int64_t begin, int64_t end) const {
    return !entries_.data() || (begin_ < end && begin < end_);
  }
  bool has(int64_t row) const { return entries_.data() ? entries_[row] != 0 : sums_.has(row); }
  bool is_stretch(int64_t row) const { return entries_.data() && entries_[row] > 0; }
  bool is_point(int64_t row) const { return entries_.data() && is_point_entry(entries_[row]); }
  LineStretch stretch(int64_t row) const { return stretch_of(entries_[row]); }
  bool has_sums_only() const { return !entries_.data(); }
  Sums& sums() { return sums_; }
  const Sums& sums() const { return sums_; }
  int64_t row_of_sums(int64_t row) const { return entries_.data() ? ~entries_[row] : row; }

  std::pair<int64_t, int64_t> count(int64_t begin, int64_t end) const {
    int64_t met = 0, points = 0;
    if (const int64_t* const entries = entries_.data())
      for_each_in(begin, end, [&, entries](int64_t row) {
        met += entries[row] != 0, points += is_point_entry(entries[row]);
      });
    else
      for_each_in(begin, end, [&](int64_t row) { met += sums_.has(row); });
    return {met, points};
  }

  void add_to(Sums& sums, int64_t row_of_sums, int64_t row) const {
    if (is_stretch(row))
      add_stretch(sums, row_of_sums, stretch(row));
    else if (has(row))
      sums.add(row_of_sums, sums_, this->row_of_sums(row));
  }

 private:
  static constexpr int kSizeBits = std::bit_width(uint64_t(kWord));

  static bool is_point_entry(int64_t entry) { return entry > 0 && (entry & int64_t(below(kSizeBits))) == 1; }

  LineStretch stretch_of(int64_t entry) const {
    const int64_t in_line = entry & int64_t(below(line_shift_));
    return {entry >> line_shift_, in_line >> kSizeBits, in_line & int64_t(below(kSizeBits))};
  }

  void add_stretch(Sums& sums, int64_t row, const LineStretch& stretch) const {
    Place place = no_place(shape_);
    find_line(stretch.line, shape_, place);
    sums.add(row, place, {stretch.begin, Stretch{0, stretch.size}});
  }

  // The row of sums of what was one stretch or nothing; the last one serves all if labels change.
  [[gnu::noinline]] int64_t begin_sums(int64_t label, int64_t entry) {
    begin_ = std::min(begin_, label), end_ = std::max(end_, label + 1);
    const int64_t row = std::min(next_++, last_);
    if (entry > 0) add_stretch(sums_, row, stretch_of(entry));
    return row;
  }

  std::vector<int64_t> shape_;
  int line_shift_ = 0;
  Buffer<int64_t> entries_;              // of each label: 0, a stretch, or ~(a row of sums)
  Sums sums_;                            // of each label, if there are no entries
  int64_t begin_ = INT64_MAX, end_ = 0;  // of labels with entries
  int64_t next_ = 0, last_ = 0;          // rows of sums
};

}  // namespace conncomp
