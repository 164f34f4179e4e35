// What one does with labels: a table with a row for each label, filled in one pass over the labels.
//
// How: stretches of equal labels along rows, not elements, are added up. Each thread fills a table of its
// own and the tables are added, all in integers, so the result depends neither on threads nor on order;
// fewer threads take part where their tables would outgrow the labels.
// Items, arrays that lie one after another and are numbered each on its own, get numbers that no two of them
// share (combine_labels): one table has the rows of all, those of each item together.
// Cost: the labels read once. Memory: the table, once a thread.
// Labels are the caller's, who may change them after they were checked (contract 5): each is loaded once
// before it becomes an index, and one that has no row is taken for background.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/core/buffer.h"
#include "cpu/core/counting_sort.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Calls body(label, begin, end) for stretches of equal labels among [begin, end), but those of the background
// and of labels that have no row. A long stretch may come in several.
template <class Label, class Body>
void for_each_stretch(const Label* labels, int64_t begin, int64_t end, Label background, int64_t rows,
                      Body&& body) {
  constexpr int64_t kLongest = 1 << 14;
  for (int64_t stop; begin < end; begin = stop) {
    stop = std::min(end, begin + kLongest);
    checkpoint(stop - begin);
    for (int64_t i = begin, last; i < stop; i = last) {
      const Label label = Shared::load(labels + i);
      for (last = i + 1; last < stop && labels[last] == label;) ++last;
      if (label != background && uint64_t(label) < uint64_t(rows)) body(label, i, last);
    }
  }
}

// Numbers components of items of `length` labels each so that no two items share a number: label k of item n
// becomes n * rows + k, and what has no row the background.
template <class Label, class Combined>
void combine_labels(const Label* labels, int64_t count, int64_t length, Label background, int64_t rows,
                    Combined* combined) {
  const Parts parts(count, kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t begin = parts.begin(part), stop; begin < parts.end(part); begin = stop) {
      const int64_t item = begin / length, first_row = item * rows;
      stop = std::min(parts.end(part), (item + 1) * length);
      for_each_in(begin, stop, [=](int64_t i) {
        const Label label = Shared::load(labels + i);
        // Without branches, which noise would let go wrong.
        const int64_t component = int64_t(label != background) & int64_t(uint64_t(label) < uint64_t(rows));
        combined[i] = Combined(((first_row + label) & -component) | (background & (component - 1)));
      });
    }
  });
}

// An array of `count` entries, all of them `value`.
template <class T>
Buffer<T> filled(int64_t count, T value) {
  Buffer<T> entries(count);
  for_each_index(count, [&](int64_t i) { entries[i] = value; });
  return entries;
}

// Splits [0, count) among threads whose tables of `table_bytes` together stay below `limit`; thread t
// calls fill(t, begin, end).
template <class Fill>
void share_out(int64_t count, int64_t table_bytes, int64_t limit, int64_t most, Fill&& fill) {
  const int64_t threads = std::clamp<int64_t>(limit / std::max<int64_t>(table_bytes, 1), 1, most);
  parallel_for(threads, [&](int64_t t) { fill(t, count * t / threads, count * (t + 1) / threads); });
}

// The number of elements of each label below `rows`; 0 for the background.
template <class Label>
void count_labels(const Label* labels, int64_t count, Label background, int64_t rows, int64_t* sizes) {
  for_each_index(rows, [&](int64_t row) { sizes[row] = 0; });
  const int64_t most = std::min<int64_t>(num_threads(), count / kGrain + 1);
  std::vector<Buffer<int64_t>> helper_tables(most - 1);
  share_out(count, rows * 8, count * sizeof(Label), most, [&](int64_t t, int64_t begin, int64_t end) {
    if (t > 0) helper_tables[t - 1] = filled<int64_t>(rows, 0);
    int64_t* table = t > 0 ? helper_tables[t - 1].data() : sizes;
    for_each_stretch(labels, begin, end, background, rows,
                     [&](Label label, int64_t from, int64_t to) { table[label] += to - from; });
  });
  for (const Buffer<int64_t>& table : helper_tables)
    if (table.data()) for_each_index(rows, [&](int64_t row) { sizes[row] += table[row]; });
}

// Sums over the elements of a component, exact whatever its size.
struct Moments {
  using Wide = __int128;

  int ndim = 0;
  int64_t rows = 0;
  Buffer<int64_t> size, low, high, sum;  // ndim a label, but for size
  Buffer<Wide> product;                  // of coordinates k and l >= k, products() a label

  Moments() = default;
  Moments(int ndim, int64_t rows)
      : ndim(ndim),
        rows(rows),
        size(filled<int64_t>(rows, 0)),
        low(filled<int64_t>(rows * ndim, INT64_MAX)),
        high(filled<int64_t>(rows * ndim, -1)),
        sum(filled<int64_t>(rows * ndim, 0)),
        product(filled<Wide>(rows * products(ndim), 0)) {}

  static int products(int ndim) { return ndim * (ndim + 1) / 2; }
  static int64_t bytes(int ndim, int64_t rows) { return rows * (8 + 24 * ndim + 8 * ndim * (ndim + 1)); }

  // Adds the elements at `place`, but at begin ... end - 1 along the last axis.
  void add(int64_t row, const std::vector<int64_t>& place, int64_t begin, int64_t end) {
    const Wide n = end - begin, line_sum = n * (begin + end - 1) / 2;
    const auto squares = [](Wide m) { return m * (m + 1) * (2 * m + 1) / 6; };  // 1 + 4 + ... + m * m
    int64_t *lows = &low[row * ndim], *highs = &high[row * ndim], *sums = &sum[row * ndim];
    Wide* next_product = &product[row * products(ndim)];
    size[row] += int64_t(n);
    for (int k = 0; k < ndim; ++k) {
      const bool last_axis = k == ndim - 1;
      lows[k] = std::min(lows[k], last_axis ? begin : place[k]);
      highs[k] = std::max(highs[k], last_axis ? end - 1 : place[k]);
      sums[k] += int64_t(last_axis ? line_sum : n * place[k]);
      for (int l = k; l < ndim - 1; ++l) *next_product++ += n * place[k] * place[l];
      *next_product++ += last_axis ? squares(end - 1) - squares(begin - 1) : line_sum * place[k];
    }
  }

  void add(const Moments& part) {
    for_each_index(rows, [&](int64_t i) { size[i] += part.size[i]; });
    for_each_index(rows * ndim, [&](int64_t i) {
      low[i] = std::min(low[i], part.low[i]);
      high[i] = std::max(high[i], part.high[i]);
      sum[i] += part.sum[i];
    });
    for_each_index(rows * products(ndim), [&](int64_t i) { product[i] += part.product[i]; });
  }
};

// Adds the labels of lines [begin, end) to a table; a line goes along the last axis of items of this shape.
template <class Label>
void add_lines(const Label* labels, int64_t begin, int64_t end, const std::vector<int64_t>& shape,
               Label background, Moments& table) {
  const int ndim = int(shape.size());
  const int64_t length = shape.back();
  std::vector<int64_t> place(ndim);  // of the line in the item, along all axes but the last
  for (int64_t line = begin; line < end; ++line) {
    for (int64_t k = ndim - 2, quotient = line; k >= 0; quotient /= shape[k--])
      place[k] = quotient % shape[k];
    const int64_t first = line * length;
    for_each_stretch(
        labels, first, first + length, background, table.rows,
        [&](Label label, int64_t from, int64_t to) { table.add(label, place, from - first, to - first); });
  }
}

// Measures `count` labels: items of this shape, one after another, with coordinates within each. Each thread
// measures some lines in a table of its own; the sum of the tables is returned.
template <class Label>
Moments measure_labels(const Label* labels, int64_t count, const std::vector<int64_t>& shape,
                       Label background, int64_t rows) {
  const int ndim = int(shape.size());
  const int64_t length = shape.back(), lines = length ? count / length : 0;
  const int64_t most = std::min<int64_t>(num_threads(), lines * length / kGrain + 1);
  std::vector<Moments> tables(most);
  share_out(lines, Moments::bytes(ndim, rows), lines * length * 8,
            std::min(most, std::max<int64_t>(lines, 1)), [&](int64_t t, int64_t begin, int64_t end) {
              tables[t] = Moments(ndim, rows);
              add_lines(labels, begin, end, shape, background, tables[t]);
            });
  for (int64_t t = 1; t < most; ++t)
    if (tables[t].rows > 0) tables[0].add(tables[t]);
  return std::move(tables[0]);
}

// Entries [i * ndim * ndim] on: the covariance matrix of the coordinates of label i.
inline void central_moments(const Moments& moments, double* covariance) {
  const int ndim = moments.ndim;
  for_each_index(moments.rows, [&](int64_t row) {
    const Moments::Wide n = moments.size[row];
    const int64_t* sum = &moments.sum[row * ndim];
    const Moments::Wide* product = &moments.product[row * Moments::products(ndim)];
    double* const matrix = covariance + row * ndim * ndim;
    for (int k = 0; k < ndim; ++k)
      for (int l = k; l < ndim; ++l, ++product) {
        const Moments::Wide difference = n * *product - Moments::Wide(sum[k]) * sum[l];
        const double value = n ? double(difference) / (double(n) * double(n)) : 0;
        matrix[k * ndim + l] = matrix[l * ndim + k] = value;
      }
  });
}

// Replaces every label but the background by its row of `table`.
template <class Label>
void replace_labels(const Label* labels, int64_t count, Label background, const Label* table, int64_t rows,
                    Label* out) {
  for_each_index(count, [=](int64_t i) {
    const Label label = Shared::load(labels + i);
    out[i] = label == background || uint64_t(label) >= uint64_t(rows) ? background : table[label];
  });
}

// The rows of `sizes`, item by item, of which each has as many; those of an item largest first, equal ones in
// order: a radix sort, whose last digit is the item.
inline void sort_by_size(const int64_t* sizes, int64_t rows, int64_t items, int64_t* order) {
  constexpr int kDigit = 16;
  constexpr int64_t kDigits = int64_t(1) << kDigit;
  std::vector<int64_t> begin(std::max(kDigits, items) + 1), previous(rows);
  for_each_in(0, rows, [=](int64_t i) { order[i] = i; });
  const int64_t largest = rows ? *std::max_element(sizes, sizes + rows) : 0;
  for (int shift = 0; largest >> shift; shift += kDigit) {
    std::copy_n(order, rows, previous.data());
    group_by_key(
        rows, kDigits, [&](int64_t i) { return ~(sizes[previous[i]] >> shift) & (kDigits - 1); },
        [&](int64_t i) { return previous[i]; }, begin.data(), order, rows);
  }
  if (items <= 1 || rows == 0) return;
  const int64_t rows_of_item = rows / items;
  std::copy_n(order, rows, previous.data());
  group_by_key(
      rows, items, [&](int64_t i) { return previous[i] / rows_of_item; },
      [&](int64_t i) { return previous[i]; }, begin.data(), order, rows);
}

}  // namespace conncomp
