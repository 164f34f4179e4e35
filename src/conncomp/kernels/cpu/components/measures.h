// Sizes, bounding boxes, centroids and, if asked for, covariances of the coordinates. One pass adds stretches
// to what each thread has met (MetLabels), added up as columns are written: integers, exact in any order.
// Cost: labels read once, 8 bytes per label, and a row of 40 to 104 bytes in two or three dimensions for each
// component of more than one stretch. Few labels of many numbers are ranked first.
#pragma once

#include <optional>
#include <span>
#include <tuple>

#include "cpu/components/sums.h"
#include "cpu/components/tables.h"

namespace conncomp {

struct LineStretch {
  int64_t line, begin, size;
};

// Keeps what a thread has met of each label: nothing, one stretch, in a number, or more, a row of sums.
template <class Sums> class MetLabels {
 public:
  using Place = typename Sums::Place;

  MetLabels() = default;
  // For labels below `rows`, in lines along the last axis of the shape.
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
  void add(int64_t row, int64_t line, const Place& place, int64_t first, const auto& places) {
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
      for_each_in(begin, end,
          [&, entries](int64_t row) { met += entries[row] != 0, points += is_point_entry(entries[row]); });
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

// Where results go, a row per component, in the order of labels; boxes as (axis, first and end).
struct Columns {
  int64_t *labels, *sizes, *boxes;
  double *centroids, *covariances;  // no covariances if nullptr
};

class Measures {
 public:
  virtual ~Measures() = default;
  virtual void write(const Columns& columns) const = 0;
  int64_t components() const { return components_; }
  // Whether each component is one element, if known: covariances are 0 then.
  bool are_points() const { return are_points_; }

 protected:
  int64_t components_ = 0;
  bool are_points_ = false;
};

// About how many stretches there are, from a sample of words.
inline int64_t estimate_stretches(const LabelArray& labels, int64_t rows) {
  constexpr int64_t kWords = 1 << 10, kLeastApart = 32;
  // Odd, as lines are often of a power of two.
  const int64_t apart = std::max(labels.count() / kWord / kWords, kLeastApart) | 1;
  int64_t stretches = 0, seen = 0;
  for (int64_t begin = 0; begin < labels.count(); begin += apart * kWord) {
    const int64_t end = std::min(begin + kWord, labels.count());
    seen += end - begin;
    for_each_piece(labels, begin, end, rows, [&](const LabelPiece& piece) {
      const LabelWord word(piece.labels + begin, int(end - begin), piece.background);
      stretches += std::popcount(word.begins());
    });
  }
  return int64_t(double(stretches) * double(labels.count()) / double(std::max<int64_t>(seen, 1)));
}

// `axes` are those of the result, the last ones of sums that may have more.
template <class Sums> class MeasuresOf final : public Measures {
 public:
  using Met = MetLabels<Sums>;
  using Place = typename Sums::Place;

  MeasuresOf(const LabelArray& labels, const std::vector<int64_t>& shape, int axes, int64_t rows,
      std::optional<bool> most_are_stretches = {})
      : shape_(shape), axes_(axes), most_are_stretches_(most_are_stretches.value_or(false)) {
    if (!most_are_stretches) {
      const int64_t stretches = estimate_stretches(labels, rows);
      most_are_stretches_ = rows * 7 / 8 < stretches && stretches < rows * 5 / 4;
    }
    // A thread's part of its table should be no larger than the labels.
    const int64_t limit = labels.count() * kTableBytesPerElement;
    if (rows * Met::bytes(shape, most_are_stretches_) > limit / 2) {
      LabelRanks ranks(labels, rows);
      if (ranks.count() <= rows / 2) {
        rows = ranks.count();
        row_labels_ = ranks.labels();
        ranks_.emplace(std::move(ranks));
      }
    }
    parts_.emplace(rows, kGrain);
    meet(labels, rows, limit);
    count();
  }

  void write(const Columns& columns) const override {
    parallel_for(parts_->parts, [&](int64_t part) {
      if constexpr (Sums::kAxes > 0)
        if (axes_ == Sums::kAxes)
          return write_part(columns, part, std::integral_constant<int, Sums::kAxes>());
      write_part(columns, part, axes_);
    });
  }

 private:
  static constexpr int64_t kTableBytesPerElement = 16;

  int skipped_axes(int axes) const { return (Sums::kAxes ? Sums::kAxes : int(shape_.size())) - axes; }

  struct Line {
    int64_t number;
    Place place;
  };

  void meet(const LabelArray& labels, int64_t rows, int64_t limit) {
    const int64_t length = shape_.back(), lines = length ? labels.count() / length : 0;
    const int64_t most = std::clamp<int64_t>(labels.count() / kGrain + 1, 1, num_threads());
    met_.resize(most);
    share_out(lines, rows * Met::bytes(shape_, most_are_stretches_), limit,
        std::min(most, std::max<int64_t>(lines, 1)), [&](int64_t t, int64_t begin, int64_t end) {
          Met met(shape_, rows, (end - begin) * length, most_are_stretches_);
          for_each_piece(labels, begin * length, end * length, ranks_ ? ranks_->label_rows() : rows,
              [&](const LabelPiece& piece) { add_piece(piece, met); });
          met_[t] = std::move(met);
        });
    std::erase_if(met_, [](const Met& met) { return !met.is_used(); });
  }

  // Adds labels of lines, which go along the last axis of items.
  void add_piece(const LabelPiece piece, Met& met) const {
    if constexpr (Sums::kAxes != 0)
      if (!ranks_ && met.has_sums_only())  // which is most often so, and then takes a quarter less
        return add_lines(piece, met.sums(),
            [](Sums& sums, int64_t row, const Line& line, int64_t first, const auto& places) {
              sums.add(row, line.place, {first, places});
            });
    add_lines(piece, met, [this](Met& own, int64_t row, const Line& line, int64_t first, const auto& places) {
      if (ranks_ && (row = ranks_->rank(row)) < 0) return;
      own.add(row, line.number, line.place, first, places);
    });
  }

  // Calls add(table, label, line, first, places) for what words of the lines have of labels.
  template <class Table> void add_lines(const LabelPiece piece, Table& table, auto add) const {
    Line at{0, Met::no_place(shape_)};
    Table own = std::move(table);  // what it is made of stays in registers
    for_each_line(
        piece, shape_.back(), [&](int64_t number, const int32_t* labels, int64_t begin, int64_t end) {
          at.number = number;
          find_line(number, shape_, at.place);
          // A copy without an address stays in registers; that of many axes would be allocated.
          const std::conditional_t<Sums::kAxes != 0, const Line, const Line&> line = at;
          for_each_word(begin, end, [&](int64_t first, int count) {
            for_each_label_of_word(labels + first, count, piece.background, piece.rows,
                [&, line](int32_t label, const auto& places) {
                  add(own, piece.base + label, line, first, places);
                });
          });
        });
    table = std::move(own);
  }

  std::vector<const Met*> met_in(int64_t part) const {
    std::vector<const Met*> met_by;
    for (const Met& met : met_)
      if (met.may_have(parts_->begin(part), parts_->end(part))) met_by.push_back(&met);
    return met_by;
  }

  // How many threads have met a label, and one that has.
  static std::pair<int, const Met*> threads_that_met(std::span<const Met* const> met_by, int64_t row) {
    if (met_by.size() == 1) return {met_by[0]->has(row), met_by[0]};
    std::pair<int, const Met*> threads{0, nullptr};
    for (const Met* const met : met_by)
      if (met->has(row)) ++threads.first, threads.second = met;
    return threads;
  }

  void count() {
    begins_.assign(parts_->parts + 1, 0);
    std::vector<int64_t> points(parts_->parts);
    parallel_for(
        parts_->parts, [&](int64_t part) { std::tie(begins_[part + 1], points[part]) = count_part(part); });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    components_ = begins_.back();
    are_points_ = std::reduce(points.begin(), points.end()) == components_;
  }

  std::pair<int64_t, int64_t> count_part(int64_t part) const {
    const std::vector<const Met*> met_by = met_in(part);
    const int64_t begin = parts_->begin(part), end = parts_->end(part);
    if (met_by.size() == 1) return met_by[0]->count(begin, end);
    int64_t components = 0, points = 0;
    for_each_in(begin, end, [&, met_by = std::span(met_by)](int64_t row) {
      const auto [number, met] = threads_that_met(met_by, row);
      components += number > 0, points += number == 1 && met->is_point(row);
    });
    return {components, points};
  }

  void write_part(const Columns& columns, int64_t part, auto axes) const {
    const std::vector<const Met*> met_by = met_in(part);
    const auto write = [=, this, met_by = std::span(met_by), labels = ranks_ ? row_labels_.data() : nullptr,
                           at = begins_[part], line = Line{-1, Met::no_place(shape_)}](int64_t row) mutable {
      const auto [number, met] = threads_that_met(met_by, row);
      if (number == 0) return;
      columns.labels[at] = labels ? labels[row] : row;
      if (number > 1) {
        Sums sums(shape_, 1);
        for (const Met* const met_by_thread : met_by) met_by_thread->add_to(sums, 0, row);
        write_sums(columns, at, sums, 0, axes);
      } else if (met->is_stretch(row)) {
        write_stretch(columns, at, met->stretch(row), line, axes);
      } else {
        write_sums(columns, at, met->sums(), met->row_of_sums(row), axes);
      }
      ++at;
    };
    for_each_in(parts_->begin(part), parts_->end(part), write);
  }

  // `line` is that of the stretch before, mostly of this one, too.
  void write_stretch(
      const Columns& columns, int64_t at, const LineStretch& stretch, Line& line, auto axes) const {
    if (stretch.line != line.number) find_line(line.number = stretch.line, shape_, line.place);
    const int64_t n = stretch.size, end = stretch.begin + n;
    const int last = axes - 1, skipped = skipped_axes(axes);
    columns.sizes[at] = n;
    int64_t* const box = columns.boxes + 2 * at * axes;
    double* const centroid = columns.centroids + at * axes;
    for (int k = 0; k < last; ++k) {
      const int64_t place = line.place[k + skipped];
      box[2 * k] = place, box[2 * k + 1] = place + 1;
      centroid[k] = double(place);
    }
    box[2 * last] = stretch.begin, box[2 * last + 1] = end;
    centroid[last] = 0.5 * double(stretch.begin + end - 1);
    if (!columns.covariances) return;
    double* const matrix = columns.covariances + at * axes * axes;
    std::fill(matrix, matrix + axes * axes, 0.0);
    matrix[axes * axes - 1] = double(n * n - 1) / 12;
  }

  void write_sums(const Columns& columns, int64_t at, const Sums& sums, int64_t row, auto axes) const {
    using Wide = __int128;
    const int skipped = skipped_axes(axes);
    const int64_t size = sums.size(row);
    const double n = double(size);
    columns.sizes[at] = size;
    for (int k = 0; k < axes; ++k) {
      columns.boxes[2 * (at * axes + k)] = sums.first(row, k + skipped);
      columns.boxes[2 * (at * axes + k) + 1] = sums.end(row, k + skipped);
      columns.centroids[at * axes + k] = double(sums.sum(row, k + skipped)) / n;
    }
    if (!columns.covariances) return;
    double* const matrix = columns.covariances + at * axes * axes;
    int pair = pairs_of(axes + skipped) - pairs_of(axes);
    for (int k = 0; k < axes; ++k)
      for (int l = k; l < axes; ++l, ++pair) {
        const Wide products = Wide(sums.sum(row, k + skipped)) * sums.sum(row, l + skipped);
        const Wide difference = Wide(size) * sums.product(row, pair) - products;
        // A conversion of wide integers takes long.
        const double value =
            int64_t(difference) == difference ? double(int64_t(difference)) : double(difference);
        matrix[k * axes + l] = matrix[l * axes + k] = value / (n * n);
      }
  }

  std::vector<int64_t> shape_;
  int axes_;
  bool most_are_stretches_;
  std::optional<LabelRanks> ranks_;
  Buffer<int64_t> row_labels_;        // if there are ranks
  std::vector<MetLabels<Sums>> met_;  // by each thread
  std::optional<Parts> parts_;        // of the rows
  std::vector<int64_t> begins_;       // of the components of each part
};

// Whether sums of products of two coordinates fit into 64 bits.
inline bool sums_are_narrow(int64_t count, const std::vector<int64_t>& shape) {
  const int64_t longest = *std::max_element(shape.begin(), shape.end());
  return longest <= INT32_MAX && __int128(count) * longest * longest <= INT64_MAX;
}

inline std::unique_ptr<Measures> measure_labels(
    const LabelArray& labels, std::vector<int64_t> shape, int64_t rows, bool with_products) {
  const int axes = int(shape.size());
  const auto measured = [&](auto table) -> std::unique_ptr<Measures> {
    return std::make_unique<MeasuresOf<decltype(table)>>(labels, shape, axes, rows);
  };
  if (axes > 3 || !sums_are_narrow(labels.count(), shape)) return measured(WideTable());
  if (axes == 1) shape.insert(shape.begin(), 1);
  if (axes == 3) return with_products ? measured(NarrowTable<3, true>()) : measured(NarrowTable<3, false>());
  return with_products ? measured(NarrowTable<2, true>()) : measured(NarrowTable<2, false>());
}

}
