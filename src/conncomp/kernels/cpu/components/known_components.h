// Tables of known components, in the order of labels. Each thread adds its lines to a table of its own;
// tables are joined where not empty. Labels of no known component (contract 5) are background.
#pragma once

#include <optional>

#include "cpu/components/tables.h"

namespace conncomp {

// The row of each label; consecutive labels need no look at a table.
class RowsOfLabels {
 public:
  RowsOfLabels(const int64_t* components, int64_t count) : count_(count), first_(count ? *components : 0) {
    if (count > 0 && components[count - 1] - first_ >= count) ranks_.emplace(components, count);
  }

  int64_t count() const { return count_; }
  int64_t label_rows() const { return ranks_ ? ranks_->label_rows() : first_ + count_; }
  int64_t row(int64_t label) const { return ranks_ ? ranks_->rank(label) : label - first_; }
  // The label of the first row, if there is no gap.
  std::optional<int64_t> first_of_consecutive() const {
    return ranks_ ? std::nullopt : std::optional<int64_t>(first_);
  }
  bool has(int64_t row) const { return uint64_t(row) < uint64_t(count_); }

 private:
  int64_t count_, first_;
  std::optional<LabelRanks> ranks_;
};

struct LabelledItems {
  LabelArray labels;
  std::vector<int64_t> shape;

  int64_t length() const { return shape.back(); }
  int64_t lines() const { return length() ? labels.count() / length() : 0; }
};

template <class Places> struct Part {
  int64_t row;           // of the component
  const int64_t* place;  // coordinates of the line, but for the last
  int64_t first;         // the last coordinate of the word
  int64_t index;         // of the word's first element among all
  const Places& places;  // in the word
};

template <class Entry> class RowTable {
 public:
  RowTable() = default;
  RowTable(int64_t rows, int64_t width) : width_(width), entries_(Buffer<Entry>::zeros(rows * width)) {}

  const Entry* operator[](int64_t row) const { return &entries_[row * width_]; }
  Entry* touch(int64_t row) {
    begin_ = std::min(begin_, row), end_ = std::max(end_, row + 1);
    return &entries_[row * width_];
  }
  // Joins the rows that were touched in another table by join(entry, other entry[, place in the row]).
  template <class Join> void join(const RowTable& part, Join&& join) {
    if (part.begin_ >= part.end_) return;
    const int64_t first = part.begin_ * width_, entries = (part.end_ - part.begin_) * width_;
    for_each_index(entries, [&](int64_t i) {
      if constexpr (std::is_invocable_v<Join, Entry&, Entry, int64_t>)
        join(entries_[first + i], part.entries_[first + i], i % width_);
      else
        join(entries_[first + i], part.entries_[first + i]);
    });
  }

 private:
  int64_t width_ = 0, begin_ = INT64_MAX, end_ = 0;
  Buffer<Entry> entries_;
};

template <class Entry>
void for_each_part(const LabelledItems& items, const RowsOfLabels& rows, int64_t begin, int64_t end,
    auto& state, RowTable<Entry>& table, auto&& add) {
  std::vector<int64_t> place(items.shape.size());
  const int64_t length = items.length();
  const auto add_piece = [&](const LabelPiece piece) {
    RowTable<Entry> own = std::move(table);  // what it is made of stays in registers
    for_each_line(piece, length, [&](int64_t line, const int32_t* labels, int64_t from, int64_t to) {
      find_line(line, items.shape, place);
      for_each_word(from, to, [&](int64_t first, int count) {
        const int64_t index = line * length + first;
        for_each_label_of_word(
            labels + first, count, piece.background, piece.rows, [&](int32_t number, const auto& places) {
              const int64_t row = rows.row(piece.base + number);
              if (!rows.has(row)) return;
              add(state, own, Part<std::decay_t<decltype(places)>>{row, place.data(), first, index, places});
            });
      });
    });
    table = std::move(own);
  };
  for_each_piece(items.labels, begin * length, end * length, rows.label_rows(), add_piece);
}

// The join of the tables that fill(table, begin, end) makes, a thread each, of `count` pieces.
template <class Entry>
RowTable<Entry> shared_table(
    const LabelledItems& items, int64_t count, int64_t rows, int64_t width, auto&& fill, auto&& join) {
  constexpr int64_t kTableBytesPerElement = 16;
  const int64_t most = std::clamp<int64_t>(items.labels.count() / kGrain + 1, 1, num_threads());
  std::vector<RowTable<Entry>> tables(most);
  share_out(count, rows * width * int64_t(sizeof(Entry)), items.labels.count() * kTableBytesPerElement,
      std::min(most, std::max<int64_t>(count, 1)), [&](int64_t t, int64_t begin, int64_t end) {
        // Not in the vector, where tables would share cache lines.
        RowTable<Entry> table(rows, width);
        fill(table, begin, end);
        tables[t] = std::move(table);
      });
  for (int64_t t = 1; t < most; ++t) tables[0].join(tables[t], join);
  return std::move(tables[0]);
}

template <class Entry>
RowTable<Entry> make_table(const LabelledItems& items, const RowsOfLabels& rows, int64_t width,
    auto&& begin_state, auto&& add, auto&& join) {
  const auto fill = [&](RowTable<Entry>& table, int64_t begin, int64_t end) {
    auto state = begin_state();
    for_each_part(items, rows, begin, end, state, table, add);
  };
  return shared_table<Entry>(items, items.lines(), rows.count(), width, fill, join);
}

}
