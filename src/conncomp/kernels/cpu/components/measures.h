// Where components lie and how they are shaped: sizes, bounding boxes, centroids and, if asked for,
// covariances of the coordinates.
//
// What: a table with a row for each label, and columns of the rows that are of components.
// How: one pass over the labels adds stretches of equal ones along lines to rows. All sums are of integers,
// so they are exact and depend neither on threads nor on order. A row of zeros is that of nothing: a table is
// memory that the system gives zeroed when it is first touched, and each thread, which has a table of its
// own, pays for the labels that it meets.
// Cost: the labels read once, and a row, of 40 to 104 bytes in two or three dimensions, for each component.
// Where labels are few of many numbers, as roots are, they are ranked first, by another pass.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/components/ranks.h"
#include "cpu/components/stretches.h"
#include "cpu/components/tables.h"
#include "cpu/core/buffer.h"
#include "cpu/core/parallel.h"

namespace conncomp {

constexpr int pairs_of(int axes) { return axes * (axes + 1) / 2; }

// Elements of a component in a word of a line, by their last coordinates: how many, and their sums.
template <class Sum>
struct Piece {
  int64_t begin, end;  // one beyond the last
  Sum size, sum, squares;

  // Elements at these places of the word that begins at `first`.
  template <class Places>
  Piece(int64_t first, const Places& places)
      : begin(first + places.begin), end(first + places.end), size(places.size()) {
    const Sum offsets = places.sum();
    sum = first * size + offsets;
    squares = first * (sum + offsets) + places.squares();
  }
};

// A table of components of few axes whose sums fit into 64 bits. What it has of one is together.
template <int axes, bool with_products>
class NarrowTable {
 public:
  using Place = std::array<int64_t, axes>;
  using Sum = int64_t;

  NarrowTable() = default;
  NarrowTable(const std::vector<int64_t>& shape, int64_t rows) : rows_(Buffer<Row>::zeros(rows)) {
    std::copy(shape.begin(), shape.end(), shape_.begin());
  }

  static int64_t bytes(const std::vector<int64_t>&, int64_t rows) { return rows * int64_t(sizeof(Row)); }

  // Adds a piece of the line at `place`, of which the last coordinate does not count.
  void add(int64_t row, const Place& place, const Piece<Sum>& piece) {
    constexpr int last = axes - 1;
    const int64_t n = piece.size;
    Row& entry = rows_[row];
    std::array<int32_t, 2 * axes> reach;
    entry.size += n;
    for (int k = 0; k < last; ++k) {
      reach[k] = int32_t(place[k] + 1), reach[axes + k] = int32_t(shape_[k] - place[k]);
      entry.sum[k] += n * place[k];
    }
    reach[last] = int32_t(piece.end), reach[axes + last] = int32_t(shape_[last] - piece.begin);
    entry.sum[last] += piece.sum;
    for (int k = 0; k < 2 * axes; ++k) entry.reach[k] = std::max(entry.reach[k], reach[k]);
    if constexpr (with_products) {
      int64_t* product = entry.product.data();
      for (int k = 0; k < last; ++k) {
        for (int l = k; l < last; ++l) *product++ += n * place[k] * place[l];
        *product++ += piece.sum * place[k];
      }
      *product += piece.squares;
    }
  }

  void add(int64_t row, const NarrowTable& part) {
    Row& entry = rows_[row];
    const Row& addend = part.rows_[row];
    entry.size += addend.size;
    for (int k = 0; k < axes; ++k) entry.sum[k] += addend.sum[k];
    for (int k = 0; k < 2 * axes; ++k) entry.reach[k] = std::max(entry.reach[k], addend.reach[k]);
    for (size_t k = 0; k < entry.product.size(); ++k) entry.product[k] += addend.product[k];
  }

  bool is_empty() const { return !rows_.data(); }
  int64_t size(int64_t row) const { return rows_[row].size; }
  int64_t first(int64_t row, int k) const { return shape_[k] - rows_[row].reach[axes + k]; }
  int64_t end(int64_t row, int k) const { return rows_[row].reach[k]; }
  int64_t sum(int64_t row, int k) const { return rows_[row].sum[k]; }
  int64_t product(int64_t row, int pair) const { return rows_[row].product[pair]; }

 private:
  struct Row {
    int64_t size;
    std::array<int64_t, axes> sum;
    [[no_unique_address]] std::array<int64_t, with_products ? pairs_of(axes) : 0> product;
    // One beyond the last coordinate, for each axis; then how far the first one is from the axis's end.
    std::array<int32_t, 2 * axes> reach;
  };

  std::array<int64_t, axes> shape_{};
  Buffer<Row> rows_;
};

// A table of components of any number of axes, exact whatever their size.
class WideTable {
 public:
  using Place = std::vector<int64_t>;
  using Sum = __int128;

  WideTable() = default;
  WideTable(const std::vector<int64_t>& shape, int64_t rows)
      : axes_(int(shape.size())),
        shape_(shape),
        size_(Buffer<int64_t>::zeros(rows)),
        sum_(Buffer<int64_t>::zeros(rows * axes_)),
        reach_(Buffer<int64_t>::zeros(rows * 2 * axes_)),
        product_(Buffer<Sum>::zeros(rows * pairs_of(axes_))) {}

  static int64_t bytes(const std::vector<int64_t>& shape, int64_t rows) {
    const int axes = int(shape.size());
    return rows * (8 + 24 * axes + 16 * pairs_of(axes));
  }

  void add(int64_t row, const Place& place, const Piece<Sum>& piece) {
    int64_t *sum = &sum_[row * axes_], *reach = &reach_[row * 2 * axes_];
    Sum* product = &product_[row * pairs_of(axes_)];
    const int last = axes_ - 1;
    const auto extend = [=, this](int k, int64_t first, int64_t stop) {
      reach[k] = std::max(reach[k], stop);
      reach[axes_ + k] = std::max(reach[axes_ + k], shape_[k] - first);
    };
    size_[row] += int64_t(piece.size);
    for (int k = 0; k < last; ++k) {
      extend(k, place[k], place[k] + 1);
      sum[k] += int64_t(piece.size * place[k]);
      for (int l = k; l < last; ++l) *product++ += piece.size * place[k] * place[l];
      *product++ += piece.sum * place[k];
    }
    extend(last, piece.begin, piece.end);
    sum[last] += int64_t(piece.sum);
    *product += piece.squares;
  }

  void add(int64_t row, const WideTable& part) {
    size_[row] += part.size_[row];
    for (int64_t i = row * axes_; i < (row + 1) * axes_; ++i) sum_[i] += part.sum_[i];
    for (int64_t i = row * 2 * axes_; i < (row + 1) * 2 * axes_; ++i)
      reach_[i] = std::max(reach_[i], part.reach_[i]);
    for (int64_t i = row * pairs_of(axes_); i < (row + 1) * pairs_of(axes_); ++i)
      product_[i] += part.product_[i];
  }

  bool is_empty() const { return !size_.data(); }
  int64_t size(int64_t row) const { return size_[row]; }
  int64_t first(int64_t row, int k) const { return shape_[k] - reach_[row * 2 * axes_ + axes_ + k]; }
  int64_t end(int64_t row, int k) const { return reach_[row * 2 * axes_ + k]; }
  int64_t sum(int64_t row, int k) const { return sum_[row * axes_ + k]; }
  Sum product(int64_t row, int pair) const { return product_[row * pairs_of(axes_) + pair]; }

 private:
  int axes_ = 0;
  std::vector<int64_t> shape_;
  Buffer<int64_t> size_, sum_, reach_;
  Buffer<Sum> product_;
};

// Where results go, with a row for each component, in the order of labels; boxes as (axis, first and end).
struct Columns {
  int64_t *labels, *sizes, *boxes;
  double *centroids, *covariances;  // no covariances if nullptr
};

// What was measured.
class Measures {
 public:
  virtual ~Measures() = default;
  virtual void write(const Columns& columns) const = 0;
  int64_t components() const { return components_; }

 protected:
  int64_t components_ = 0;
};

// `axes` are those of the result, the last ones of a table that may have more.
template <class Table>
class MeasuresOf final : public Measures {
 public:
  MeasuresOf(const LabelArray& labels, const std::vector<int64_t>& shape, int axes, int64_t rows)
      : axes_(axes), skipped_axes_(int(shape.size()) - axes) {
    // What a thread touches of its table, which consecutive labels let be a part, is to be no more than the
    // labels themselves.
    const int64_t limit = labels.count() * kTableBytesPerElement;
    if (Table::bytes(shape, rows) > limit / 2) {
      LabelRanks ranks(labels, rows);
      if (ranks.count() <= rows / 2) {
        rows = ranks.count();
        row_labels_ = ranks.labels();
        ranks_.emplace(std::move(ranks));
      }
    }
    measure(labels, shape, rows, limit);
    begins_.resize(parts_->parts + 1);
    for (int64_t part = 0; part < parts_->parts; ++part) begins_[part + 1] += begins_[part];
    components_ = begins_.back();
  }

  void write(const Columns& columns) const override {
    parallel_for(parts_->parts, [&](int64_t part) {
      int64_t at = begins_[part];
      for_each_in(parts_->begin(part), parts_->end(part), [&](int64_t row) {
        if (table_.size(row) > 0) write_row(columns, row, at++);
      });
    });
  }

 private:
  static constexpr int64_t kTableBytesPerElement = 16;

  void measure(const LabelArray& labels, const std::vector<int64_t>& shape, int64_t rows, int64_t limit) {
    const int64_t length = shape.back(), lines = length ? labels.count() / length : 0;
    const int64_t most = std::clamp<int64_t>(labels.count() / kGrain + 1, 1, num_threads());
    std::vector<Table> tables(most);
    share_out(lines, Table::bytes(shape, rows), limit, std::min(most, std::max<int64_t>(lines, 1)),
              [&](int64_t t, int64_t begin, int64_t end) {
                tables[t] = Table(shape, rows);
                for_each_piece(labels, begin * length, end * length, ranks_ ? ranks_->label_rows() : rows,
                               [&](const LabelPiece& piece) { add_piece(piece, shape, tables[t]); });
              });
    table_ = std::move(tables[0]);
    parts_.emplace(rows, kGrain);
    begins_.assign(parts_->parts + 1, 0);
    parallel_for(parts_->parts, [&](int64_t part) {
      int64_t components = 0;
      for_each_in(parts_->begin(part), parts_->end(part), [&](int64_t row) {
        for (int64_t t = 1; t < most; ++t)
          if (!tables[t].is_empty() && tables[t].size(row) > 0) table_.add(row, tables[t]);
        components += table_.size(row) > 0;
      });
      begins_[part + 1] = components;
    });
  }

  // Adds labels of lines, which go along the last axis of items of this shape.
  void add_piece(const LabelPiece piece, const std::vector<int64_t>& shape, Table& table) const {
    typename Table::Place place{};
    if constexpr (std::is_same_v<Table, WideTable>) place.resize(shape.size());
    Table own = std::move(table);  // what it is made of stays in registers
    for_each_line(piece, shape.back(), [&](int64_t line, const int32_t* labels, int64_t begin, int64_t end) {
      find_line(line, shape, place);
      add_line(piece, labels, begin, end, place, own);
    });
    table = std::move(own);
  }

  void add_line(const LabelPiece piece, const int32_t* labels, int64_t begin, int64_t end,
                const typename Table::Place& place, Table& table) const {
    for_each_word(begin, end, [&](int64_t first, int count) {
      for_each_label_of_word(labels + first, count, piece.background, piece.rows,
                             [&](int32_t number, const auto& places) {
                               int64_t row = piece.base + number;
                               if (ranks_ && (row = ranks_->rank(row)) < 0) return;
                               table.add(row, place, {first, places});
                             });
    });
  }

  void write_row(const Columns& columns, int64_t row, int64_t at) const {
    using Wide = __int128;
    const int64_t size = table_.size(row);
    const double n = double(size);
    columns.labels[at] = ranks_ ? row_labels_[row] : row;
    columns.sizes[at] = size;
    for (int k = 0; k < axes_; ++k) {
      columns.boxes[2 * (at * axes_ + k)] = table_.first(row, k + skipped_axes_);
      columns.boxes[2 * (at * axes_ + k) + 1] = table_.end(row, k + skipped_axes_);
      columns.centroids[at * axes_ + k] = double(table_.sum(row, k + skipped_axes_)) / n;
    }
    if (!columns.covariances) return;
    double* const matrix = columns.covariances + at * axes_ * axes_;
    int pair = pairs_of(axes_ + skipped_axes_) - pairs_of(axes_);
    for (int k = 0; k < axes_; ++k)
      for (int l = k; l < axes_; ++l, ++pair) {
        const Wide sums = Wide(table_.sum(row, k + skipped_axes_)) * table_.sum(row, l + skipped_axes_);
        const Wide difference = Wide(size) * table_.product(row, pair) - sums;
        // That of wide integers takes long.
        const double value =
            int64_t(difference) == difference ? double(int64_t(difference)) : double(difference);
        matrix[k * axes_ + l] = matrix[l * axes_ + k] = value / (n * n);
      }
  }

  int axes_, skipped_axes_;
  std::optional<LabelRanks> ranks_;
  Buffer<int64_t> row_labels_;  // if there are ranks
  Table table_;
  std::optional<Parts> parts_;   // of the rows
  std::vector<int64_t> begins_;  // of the components of each part
};

// Whether sums of products of two coordinates, of so many elements in items of this shape, fit into 64 bits.
inline bool sums_are_narrow(int64_t count, const std::vector<int64_t>& shape) {
  const int64_t longest = *std::max_element(shape.begin(), shape.end());
  return longest <= INT32_MAX && __int128(count) * longest * longest <= INT64_MAX;
}

// Measures labels: items of this shape, of one axis or more, one after another, with coordinates within each.
inline std::unique_ptr<Measures> measure_labels(const LabelArray& labels, std::vector<int64_t> shape,
                                                int64_t rows, bool with_products) {
  const int axes = int(shape.size());
  const auto measured = [&](auto table) -> std::unique_ptr<Measures> {
    return std::make_unique<MeasuresOf<decltype(table)>>(labels, shape, axes, rows);
  };
  if (axes > 3 || !sums_are_narrow(labels.count(), shape)) return measured(WideTable());
  if (axes == 1) shape.insert(shape.begin(), 1);
  if (axes == 3) return with_products ? measured(NarrowTable<3, true>()) : measured(NarrowTable<3, false>());
  return with_products ? measured(NarrowTable<2, true>()) : measured(NarrowTable<2, false>());
}

}  // namespace conncomp
