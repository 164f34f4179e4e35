// Sums over the elements of components: how many, how far they reach, coordinates and their products, a row
// per component, of integers, so exact in any order. With few axes a bit per row says whether it is in use:
// 64 rows are cleared, in a cache, when the first gets something, as clearing pages takes longer than all
// sums. Cost: 40 to 104 bytes a row.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"

namespace conncomp {

constexpr int pairs_of(int axes) { return axes * (axes + 1) / 2; }

// Elements of a component in a word of a line, by their last coordinates.
template <class Sum> struct Piece {
  int64_t begin, end;  // one beyond the last
  Sum size, sum, squares;

  Piece(int64_t first, const auto& places)
      : begin(first + places.begin), end(first + places.end), size(places.size()) {
    const Sum offsets = places.sum();
    sum = first * size + offsets;
    squares = first * (sum + offsets) + places.squares();
  }
};

template <int axes, bool with_products> class NarrowTable {
 public:
  using Place = std::array<int64_t, axes>;
  using Sum = int64_t;
  static constexpr int kAxes = axes;

  NarrowTable() = default;
  NarrowTable(const std::vector<int64_t>& shape, int64_t rows)
      : count_(rows), rows_(rows), met_(Buffer<uint64_t>::zeros((rows + kWord - 1) / kWord)) {
    std::copy(shape.begin(), shape.end(), shape_.begin());
  }

  static int64_t bytes(const std::vector<int64_t>&) { return int64_t(sizeof(Row)); }

  void add(int64_t row, const Place& place, const Piece<Sum>& piece) {
    constexpr int last = axes - 1;
    const int64_t n = piece.size;
    Row& entry = begun(row);
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

  void add(int64_t row, const NarrowTable& part, int64_t row_of_part) {
    Row& entry = begun(row);
    const Row& addend = part.rows_[row_of_part];
    entry.size += addend.size;
    for (int k = 0; k < axes; ++k) entry.sum[k] += addend.sum[k];
    for (int k = 0; k < 2 * axes; ++k) entry.reach[k] = std::max(entry.reach[k], addend.reach[k]);
    if constexpr (with_products)
      for (size_t k = 0; k < entry.product.size(); ++k) entry.product[k] += addend.product[k];
  }

  bool has(int64_t row) const { return bit_at(met_.data(), row); }
  int64_t size(int64_t row) const { return rows_[row].size; }
  int64_t first(int64_t row, int k) const { return shape_[k] - rows_[row].reach[axes + k]; }
  int64_t end(int64_t row, int k) const { return rows_[row].reach[k]; }
  int64_t sum(int64_t row, int k) const { return rows_[row].sum[k]; }
  int64_t product(int64_t row, int pair) const {
    if constexpr (with_products) return rows_[row].product[pair];
    return 0;
  }

 private:
  // An array of nothing would take some bytes.
  struct Nothing {};
  using Products = std::conditional_t<with_products, std::array<int64_t, pairs_of(axes)>, Nothing>;
  struct Row {
    int64_t size;
    std::array<int64_t, axes> sum;
    [[no_unique_address]] Products product;
    // For each axis, one beyond the last coordinate; then how far the first one is from the axis's end.
    std::array<int32_t, 2 * axes> reach;
  };

  Row& begun(int64_t row) {
    uint64_t& met = met_[row / kWord];
    if (!met) [[unlikely]]
      clear(row / kWord * kWord);
    met |= uint64_t(1) << row % kWord;
    return rows_[row];
  }
  [[gnu::noinline]] void clear(int64_t first) {
    std::fill_n(&rows_[first], std::min<int64_t>(kWord, count_ - first), Row{});
  }

  std::array<int64_t, axes> shape_{};
  int64_t count_ = 0;
  Buffer<Row> rows_;
  Buffer<uint64_t> met_;  // a bit for each row
};

class WideTable {
 public:
  using Place = std::vector<int64_t>;
  using Sum = __int128;
  static constexpr int kAxes = 0;  // any number

  WideTable() = default;
  WideTable(const std::vector<int64_t>& shape, int64_t rows)
      : axes_(int(shape.size())),
        shape_(shape),
        size_(Buffer<int64_t>::zeros(rows)),
        sum_(Buffer<int64_t>::zeros(rows * axes_)),
        reach_(Buffer<int64_t>::zeros(rows * 2 * axes_)),
        product_(Buffer<Sum>::zeros(rows * pairs_of(axes_))) {}

  static int64_t bytes(const std::vector<int64_t>& shape) {
    const int axes = int(shape.size());
    return 8 + 24 * axes + 16 * pairs_of(axes);
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

  void add(int64_t row, const WideTable& part, int64_t row_of_part) {
    size_[row] += part.size_[row_of_part];
    for (int k = 0; k < axes_; ++k) sum_[row * axes_ + k] += part.sum_[row_of_part * axes_ + k];
    for (int k = 0; k < 2 * axes_; ++k)
      reach_[2 * row * axes_ + k] =
          std::max(reach_[2 * row * axes_ + k], part.reach_[2 * row_of_part * axes_ + k]);
    for (int k = 0, pairs = pairs_of(axes_); k < pairs; ++k)
      product_[row * pairs + k] += part.product_[row_of_part * pairs + k];
  }

  bool has(int64_t row) const { return size_[row] > 0; }
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

}
