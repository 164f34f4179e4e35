// How many elements components enclose: no path, even aslant, leads out of the box. Gaps between runs on a
// line are united with those that they touch on lines beside, and with the outside where they reach beyond
// the component there; those that are not united with it enclose their elements. Cost: a pass over the runs,
// and one over the gaps for each of the 3^(axes - 1) - 1 lines beside a line.
#pragma once

#include "cpu/components/component_runs.h"

namespace conncomp {

class EnclosedElements {
 public:
  explicit EnclosedElements(const ComponentRuns& runs) : runs_(runs), place_(runs.axes()) {
    int64_t steps = 1;
    for (int k = 0; k < runs.axes() - 1; ++k) steps *= 3;
    cursors_.resize(steps);
  }

  int64_t count(int64_t row) {
    find_gaps(row);
    if (gaps_.empty()) return 0;
    parents_.resize(gaps_.size() + 1);
    for (size_t i = 0; i < parents_.size(); ++i) parents_[i] = int64_t(i);
    std::fill(cursors_.begin(), cursors_.end(), 0);
    for (const Line& line : lines_)
      if (line.first_gap < gaps_end(line)) unite_with_lines_beside(line);
    int64_t enclosed = 0;
    for (size_t gap = 0; gap < gaps_.size(); ++gap)
      if (find(int64_t(gap) + 1) != kOutside) enclosed += gaps_[gap].end - gaps_[gap].begin;
    return enclosed;
  }

 private:
  static constexpr int64_t kOutside = 0;  // a gap's number is one more than its index

  struct Line {
    int64_t line, begin, end, first_gap;
  };
  struct Gap {
    int64_t begin, end;
  };

  int64_t gaps_end(const Line& line) const {
    return &line == &lines_.back() ? int64_t(gaps_.size()) : (&line)[1].first_gap;
  }

  void find_gaps(int64_t row) {
    lines_.clear(), gaps_.clear();
    runs_.for_each_on_lines(row, [&](Run, int64_t line, int64_t begin, int64_t end) {
      if (lines_.empty() || lines_.back().line != line)
        lines_.push_back({line, begin, end, int64_t(gaps_.size())});
      if (begin > lines_.back().end) gaps_.push_back({lines_.back().end, begin});
      lines_.back().end = end;
    });
  }

  void unite_with_lines_beside(const Line& line) {
    const auto& shape = runs_.shape();
    find_line(line.line, shape, place_);
    const int64_t steps = int64_t(cursors_.size());
    for (int64_t step = 0; step < steps; ++step) {
      if (step == steps / 2) continue;
      poll(1 + gaps_end(line) - line.first_gap);
      bool inside = true;
      int64_t beside = line.line, stride = 1, digits = step;
      for (int k = runs_.axes() - 2; k >= 0; --k, digits /= 3) {
        const int64_t move = digits % 3 - 1;
        inside = inside && 0 <= place_[k] + move && place_[k] + move < shape[k];
        beside += move * stride, stride *= shape[k];
      }
      // Lines beside follow each other as lines do.
      size_t& cursor = cursors_[step];
      while (inside && cursor < lines_.size() && lines_[cursor].line < beside) ++cursor;
      const bool is_there = inside && cursor < lines_.size() && lines_[cursor].line == beside;
      unite_gaps(line, is_there ? &lines_[cursor] : nullptr);
    }
  }

  void unite_gaps(const Line& line, const Line* beside) {
    int64_t other = beside ? beside->first_gap : 0;
    for (int64_t gap = line.first_gap; gap < gaps_end(line); ++gap) {
      const auto [begin, end] = gaps_[gap];
      if (!beside || begin <= beside->begin || end >= beside->end) {
        unite(gap + 1, kOutside);
        continue;
      }
      while (other < gaps_end(*beside) && gaps_[other].end < begin) ++other;
      for (int64_t k = other; k < gaps_end(*beside) && gaps_[k].begin <= end; ++k) unite(gap + 1, k + 1);
    }
  }

  int64_t find(int64_t number) {
    while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
    return number;
  }

  void unite(int64_t a, int64_t b) {
    a = find(a), b = find(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

  const ComponentRuns& runs_;
  std::vector<int64_t> place_;
  std::vector<Line> lines_;
  std::vector<Gap> gaps_;
  std::vector<size_t> cursors_;  // for each step, the line that it has come to
  std::vector<int64_t> parents_;
};

inline void count_enclosed(const ComponentRuns& runs, int64_t* enclosed) {
  struct Scratch {
    std::optional<EnclosedElements> elements;
  };
  runs.for_each_row<Scratch>([&](int64_t row, Scratch& scratch) {
    if (!scratch.elements) scratch.elements.emplace(runs);
    enclosed[row] = scratch.elements->count(row);
  });
}

}
