// The runs of each component: stretches of up to 64 elements along lines, in order. Each thread counts the
// runs of its lines, and writes them behind those of the lines before. One thread measures a component, so
// sums do not depend on threads. Memory: 8 bytes a run, and as many for each component and thread. Labels may
// change between the passes (contract 5): runs not counted are left out, places checked.
#pragma once

#include <span>
#include <stdexcept>

#include "cpu/components/known_components.h"

namespace conncomp {

struct Run {
  int64_t begin, end;
};

class ComponentRuns {
 public:
  ComponentRuns(const LabelledItems& items, const RowsOfLabels& rows)
      : shape_(items.shape), first_(rows.count() + 1) {
    const int64_t most = std::clamp<int64_t>(items.labels.count() / kGrain + 1, 1, num_threads());
    const int64_t threads = std::clamp<int64_t>(items.labels.bytes() / (8 * rows.count() + 1), 1, most);
    std::vector<Buffer<int64_t>> places(threads);
    const auto lines = [&](int64_t t) { return items.lines() * t / threads; };
    parallel_for(threads, [&](int64_t t) {
      places[t] = Buffer<int64_t>::zeros(rows.count());
      for_each_run_of_lines(items, rows, lines(t), lines(t + 1),
          [counts = places[t].data()](int64_t row, Run) { ++counts[row]; });
    });
    int64_t at = 0;
    for_each_in(0, rows.count(), [&](int64_t row) {
      first_[row] = at;
      for (auto& counts : places) at += std::exchange(counts[row], at);
    });
    first_[rows.count()] = at;
    packed_ = Buffer<uint64_t>(at);
    for_each_index(at, [&](int64_t i) { packed_[i] = 0; });
    parallel_for(threads, [&](int64_t t) {
      for_each_run_of_lines(
          items, rows, lines(t), lines(t + 1), [=, this, places = places[t].data()](int64_t row, Run run) {
            const int64_t place = places[row]++;
            if (place < first_[row + 1]) Concurrent::store(&packed_[place], pack(run));
          });
    });
    rows_ = rows.count();
  }

  // Runs that are known: those of row k are packed[first[k]] ... packed[first[k + 1] - 1].
  ComponentRuns(
      const std::vector<int64_t>& shape, std::span<const int64_t> first, std::span<const uint64_t> packed)
      : shape_(shape),
        rows_(int64_t(first.size()) - 1),
        first_(int64_t(first.size())),
        packed_(int64_t(packed.size())) {
    if (shape.empty() || (shape.back() < 1 && !packed.empty()) || first.empty() || first.front() != 0 ||
        first.back() != int64_t(packed.size()) || !std::is_sorted(first.begin(), first.end()))
      throw std::invalid_argument("the pickled runs of components are damaged; measure the labels again");
    std::copy(first.begin(), first.end(), first_.data());
    std::copy(packed.begin(), packed.end(), packed_.data());
  }

  // Runs that a GPU has listed: row k ends at entries[ends[k]]. Entries beyond `elements` become empty runs.
  ComponentRuns(const std::vector<int64_t>& shape, int64_t elements, std::span<const int64_t> ends,
      std::span<const uint64_t> entries)
      : shape_(shape), rows_(int64_t(ends.size())), first_(rows_ + 1), packed_(int64_t(entries.size())) {
    constexpr int kListedBits = 5;
    const int64_t count = int64_t(entries.size());
    first_[0] = 0;
    for (int64_t row = 0; row < rows_; ++row) first_[row + 1] = std::clamp(ends[row], first_[row], count);
    struct Nothing {};
    for_each_row<Nothing>([&](int64_t row, Nothing&) {
      uint64_t* const runs = packed_.data() + first_[row];
      for (int64_t i = first_[row]; i < first_[row + 1]; ++i) {
        const int64_t begin = int64_t(entries[i] >> kListedBits),
                      end = begin + int64_t(entries[i] & below(kListedBits)) + 1;
        packed_[i] = end <= elements ? pack({begin, end}) : 0;
      }
      std::sort(runs, runs + this->count(row));
    });
  }

  std::span<const int64_t> first() const { return {first_.data(), size_t(rows_ + 1)}; }
  std::span<const uint64_t> packed() const { return {packed_.data(), size_t(first_[rows_])}; }
  const std::vector<int64_t>& shape() const { return shape_; }
  int axes() const { return int(shape_.size()); }
  int64_t length() const { return shape_.back(); }
  int64_t rows() const { return rows_; }
  int64_t count(int64_t row) const { return first_[row + 1] - first_[row]; }

  // Calls visit(run) for the runs of a row, in order; with polls, as a row may have most of all.
  void for_each(int64_t row, auto&& visit) const {
    for_each_in(first_[row], first_[row + 1], [&](int64_t i) {
      const uint64_t packed = Concurrent::load(&packed_[i]);
      const int64_t begin = int64_t(packed >> kLengthBits), size = int64_t(packed & below(kLengthBits));
      if (size > 0) visit(Run{begin, begin + size});
    });
  }

  // Calls visit(run, line, begin, end), where the elements are begin ... end - 1 of a line.
  void for_each_on_lines(int64_t row, auto&& visit) const {
    for_each(row, [&](Run run) {
      const int64_t line = run.begin / length(), begin = run.begin - line * length();
      visit(run, line, begin, begin + run.end - run.begin);
    });
  }

  template <class Scratch> void for_each_row(auto&& measure) const {
    constexpr int64_t kRows = 16;
    const Parts parts(rows_, kRows);
    parallel_for(parts.parts, [&](int64_t part) {
      Scratch scratch;
      for (int64_t row = parts.begin(part); row < parts.end(part); ++row) {
        poll(1 + count(row));
        measure(row, scratch);
      }
    });
  }

 private:
  static constexpr int kLengthBits = 7;

  static uint64_t pack(Run run) { return uint64_t(run.begin) << kLengthBits | uint64_t(run.end - run.begin); }

  static void for_each_run_of_lines(const LabelledItems& items, const RowsOfLabels& rows, int64_t begin,
      int64_t end, FunctionRef<void(int64_t, Run)> visit) {
    const int64_t length = items.length();
    for_each_piece(
        items.labels, begin * length, end * length, rows.label_rows(), [&](const LabelPiece& piece) {
          for_each_line(piece, length, [&](int64_t line, const int32_t* labels, int64_t from, int64_t to) {
            for_each_word(from, to, [&](int64_t first, int count) {
              const int32_t* const word = labels + first;
              for_each_stretch_of_word(word, LabelWord(word, count, piece.background), piece.rows,
                  [&](int32_t number, Stretch stretch) {
                    const int64_t row = rows.row(piece.base + number);
                    const int64_t index = line * length + first;
                    if (rows.has(row)) visit(row, Run{index + stretch.begin, index + stretch.end});
                  });
            });
          });
        });
  }

  std::vector<int64_t> shape_;
  int64_t rows_ = 0;
  Buffer<int64_t> first_;  // of each row, and one beyond the last
  Buffer<uint64_t> packed_;
};

}
