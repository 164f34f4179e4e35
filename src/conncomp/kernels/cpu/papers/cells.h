// The cells of an array with their neighbours: what the papers' serial algorithms scan, forward or backward.
// Neighbours are differences of indices and places in memory, worked out once for the interior of rows and
// for their ends. Links are read once for an item, 16 bits an element; with more steps, scans ask by an
// indirect call for each link. Source: Hawick, Leist and Playne 2010; label equivalence also Maddix 2014.
#pragma once

#include <array>
#include <map>

#include "cpu/core/buffer.h"
#include "cpu/grid/link_words.h"
#include "cpu/grid/offsets.h"

namespace conncomp {

struct Neighbour {
  int64_t index, bytes;  // minus those of the cell
  // Which bit tells whether the two are linked, and the index of the later one, minus the cell's.
  uint16_t mark;
  int64_t marked;
  StepDirection direction;
};

class KeptLinks {
 public:
  static constexpr size_t kMostSteps = 16;

  explicit KeptLinks(const uint16_t* marks) : marks_(marks) {}

  // `marked` is the index of the cell that has the bit.
  bool linked(int64_t marked, int64_t, const Neighbour& neighbour) const {
    return (marks_[marked] & neighbour.mark) != 0;
  }

 private:
  const uint16_t* marks_;
};

class GridCells {
 public:
  static constexpr int kAnyAxis = -1;

  explicit GridCells(const Grid& grid, int along = kAnyAxis)
      : batch_(grid.axes.begin(), grid.axes.begin() + grid.batch_axes),
        outer_(grid.axes.begin() + grid.batch_axes, grid.axes.end() - 1),
        row_(grid.axes.back()),
        ends_(outer_.size()) {
    for (const Axis& axis : batch_) items_ *= axis.length;
    for (const Axis& axis : outer_) rows_ *= axis.length;
    for (size_t k = 0; k < grid.backward.size(); ++k) {
      Step step = grid.backward[k];
      if (along != kAnyAxis && !step[along]) continue;
      steps_.push_back({step, int(k)});
      for (int8_t& move : step) move = int8_t(-move);
      steps_.push_back({std::move(step), int(k)});
    }
  }

  int64_t items() const { return items_; }
  int64_t count() const { return rows_ * row_.length; }

  int64_t origin_of(int64_t item) const {
    int64_t bytes = 0;
    for (size_t k = batch_.size(); k-- > 0; item /= batch_[k].length)
      bytes += item % batch_[k].length * batch_[k].byte_stride;
    return bytes;
  }

  // Calls body(index, bytes, neighbours) for each cell of an item, or backward; `bytes` locates its value.
  void scan(bool forward, auto&& body) {
    for_each_piece(forward, [&](const Piece& piece) { scan_piece(piece, forward, body); });
  }

  void scan_foreground(const LinkWords& links, const char* values, auto&& body) {
    Line line;
    for_each_line([&](const Piece& piece) {
      uint64_t foreground[kLine / kWord];
      links.foreground(read(links, values + piece.bytes, piece.count, line), piece.count, foreground);
      for (int64_t i = 0; i < piece.count; ++i)
        body(piece.index + i * row_.index_stride, bit_at(foreground, i));
    });
  }

  void mark_links(const LinkWords& links, const char* values, uint16_t* marks) {
    Line cell_values, neighbour_values;
    for_each_line([&](const Piece& piece) {
      uint16_t linked[kLine] = {};
      for (const Neighbour& neighbour : piece.neighbours) {
        if (neighbour.direction.forward) continue;
        const char* const from = values + piece.bytes + links.plane(neighbour.direction.axis);
        links.mark_linked(read(links, from, piece.count, cell_values),
            read(links, from + neighbour.bytes, piece.count, neighbour_values), piece.count,
            neighbour.direction, neighbour.mark, linked);
      }
      for (int64_t i = 0; i < piece.count; ++i) marks[piece.index + i * row_.index_stride] = linked[i];
    });
  }

 private:
  struct NumberedStep {
    Step step;
    int number;
  };

  struct Piece {
    int64_t index, bytes, count;
    const std::vector<Neighbour>& neighbours;
  };
  static constexpr int64_t kLine = 4 * kWord;  // what is read at a time

  struct Line {
    alignas(8) char values[kLine * 8];
  };

  const char* read(const LinkWords& links, const char* values, int64_t count, Line& line) const {
    if (row_.byte_stride == links.value_bytes) return values;
    gather(values, row_.byte_stride, links.value_bytes, count, line.values);
    return line.values;
  }

  // A function of its own, with a copy of the body, so that the innermost loop stays in registers.
  [[gnu::noinline]] void scan_piece(const Piece& piece, bool forward, auto body) const {
    const int64_t first = forward ? 0 : piece.count - 1, step = forward ? 1 : -1;
    const int64_t index_step = step * row_.index_stride, byte_step = step * row_.byte_stride;
    const std::vector<Neighbour>& neighbours = piece.neighbours;
    int64_t index = piece.index + first * row_.index_stride, bytes = piece.bytes + first * row_.byte_stride;
    for (int64_t left = piece.count; left > 0; --left, index += index_step, bytes += byte_step)
      body(index, bytes, neighbours);
  }

  void for_each_line(auto&& body) {
    for_each_piece(true, [&](const Piece& piece) {
      for (int64_t begin = 0; begin < piece.count; begin += kLine)
        body(Piece{piece.index + begin * row_.index_stride, piece.bytes + begin * row_.byte_stride,
            std::min(kLine, piece.count - begin), piece.neighbours});
    });
  }

  void for_each_piece(bool forward, auto&& body) {
    std::vector<int64_t> place(outer_.size());
    for (size_t k = 0; k < place.size(); ++k) place[k] = forward ? 0 : outer_[k].length - 1;
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t index = 0, bytes = 0;
      for (size_t k = 0; k < place.size(); ++k) {
        index += place[k] * outer_[k].index_stride;
        bytes += place[k] * outer_[k].byte_stride;
      }
      look_around(place);
      for (int i = 0; i < kStretches; ++i)
        split_stretch(stretches_[forward ? i : kStretches - 1 - i], forward, index, bytes, body);
      move_to_next_row(place, forward);
    }
  }

  struct CellStretch {
    int64_t begin, end;
    std::vector<Neighbour> neighbours;
  };
  static constexpr size_t kKeptNeighbours = 1 << 12;  // of all rows that are known
  static constexpr int kStretches = 3;                // the first cell, those of the interior, the last one

  enum class End : int8_t { kFirst, kNone, kLast };
  static End end_of(int64_t place, const Axis& axis) {
    return place == 0 ? End::kFirst : place == axis.length - 1 ? End::kLast : End::kNone;
  }

  static int64_t target(int64_t place, int move, const Axis& axis) {
    const int64_t to = place + move;
    if (to >= 0 && to < axis.length) return to;
    return axis.periodic ? (to + axis.length) % axis.length : -1;
  }

  void move_to_next_row(std::vector<int64_t>& place, bool forward) const {
    for (size_t k = place.size(); k-- > 0;) {
      const int64_t last = outer_[k].length - 1;
      if (place[k] != (forward ? last : 0)) {
        place[k] += forward ? 1 : -1;
        return;
      }
      place[k] = forward ? 0 : last;
    }
  }

  void look_around(const std::vector<int64_t>& place) {
    for (size_t k = 0; k < place.size(); ++k) ends_[k] = end_of(place[k], outer_[k]);
    const auto known = stretches_by_ends_.find(ends_);
    if (known != stretches_by_ends_.end()) {
      stretches_ = known->second.data();
      return;
    }
    const int64_t interior_end = std::max<int64_t>(1, row_.length - 1);
    const int64_t bounds[] = {0, 1, interior_end, row_.length};
    std::array<CellStretch, kStretches> stretches;
    for (int i = 0; i < kStretches; ++i) {
      CellStretch& stretch = stretches[i];
      stretch.begin = bounds[i];
      stretch.end = bounds[i + 1];
      if (stretch.begin == stretch.end) continue;
      poll(int64_t(steps_.size() * (1 + place.size())));
      for (const NumberedStep& step : steps_) add_neighbour(place, stretch.begin, step, stretch.neighbours);
    }
    if ((stretches_by_ends_.size() + 1) * steps_.size() > kKeptNeighbours) stretches_by_ends_.clear();
    stretches_ = stretches_by_ends_.emplace(ends_, std::move(stretches)).first->second.data();
  }

  void add_neighbour(const std::vector<int64_t>& place, int64_t at, const NumberedStep& numbered,
      std::vector<Neighbour>& neighbours) const {
    const Step& step = numbered.step;
    int64_t index = 0, bytes = 0;
    for (size_t k = 0; k < step.size(); ++k) {
      const bool along_row = k == outer_.size();
      const Axis& axis = along_row ? row_ : outer_[k];
      const int64_t from = along_row ? at : place[k], to = target(from, step[k], axis);
      if (to < 0) return;
      index += (to - from) * axis.index_stride;
      bytes += (to - from) * axis.byte_stride;
    }
    const size_t first =
        std::find_if(step.begin(), step.end(), [](int8_t move) { return move != 0; }) - step.begin();
    const bool forward = step[first] > 0;
    neighbours.push_back({index, bytes, uint16_t(1 << numbered.number % KeptLinks::kMostSteps),
        forward ? index : 0, {int(step.size() - 1 - first), forward}});
  }

  void split_stretch(
      const CellStretch& stretch, bool forward, int64_t index, int64_t bytes, auto&& body) const {
    const int64_t length = stretch.end - stretch.begin, work = 1 + int64_t(stretch.neighbours.size());
    const int64_t most = std::max<int64_t>(1, kStretch / work);
    for (int64_t begin = 0; begin < length; begin += most) {
      const int64_t end = std::min(begin + most, length);
      poll((end - begin) * work);
      const int64_t x = forward ? stretch.begin + begin : stretch.end - end;
      body(Piece{
          index + x * row_.index_stride, bytes + x * row_.byte_stride, end - begin, stretch.neighbours});
    }
  }

  std::vector<Axis> batch_, outer_;
  Axis row_;
  int64_t items_ = 1, rows_ = 1;
  std::vector<NumberedStep> steps_;
  std::vector<End> ends_;  // of the row that is scanned
  std::map<std::vector<End>, std::array<CellStretch, kStretches>> stretches_by_ends_;
  const CellStretch* stretches_ = nullptr;  // of the row that is scanned
};

class AskedLinks {
 public:
  AskedLinks(const LinkWords& links, const char* values) : links_(links), values_(values) {}

  bool linked(int64_t, int64_t bytes, const Neighbour& neighbour) const {
    const char* const from = values_ + bytes + links_.plane(neighbour.direction.axis);
    uint64_t word = 1;
    links_.keep_linked(from, from + neighbour.bytes, 0, 1, neighbour.direction, &word);
    return word != 0;
  }

 private:
  const LinkWords& links_;
  const char* const values_;
};

template <class Index>
void start_labels(GridCells& cells, const LinkWords& links, const char* values, Index* labels) {
  cells.scan_foreground(links, values,
      [&](int64_t index, bool foreground) { labels[index] = foreground ? Index(index) : Index(-1); });
}

template <class Index>
Index lowest_around(const auto& links, const Index* labels, int64_t index, int64_t bytes,
    const std::vector<Neighbour>& neighbours) {
  Index lowest = labels[index];
  for (const Neighbour& neighbour : neighbours) {
    const int64_t other = index + neighbour.index;
    const Index label = labels[other];
    const bool is_lower =
        std::make_unsigned_t<Index>(label) < std::make_unsigned_t<Index>(lowest);  // -1 is high
    if (is_lower && links.linked(index + neighbour.marked, bytes, neighbour)) lowest = label;
  }
  return lowest;
}

// Turns roots into labels 1, 2, ..., if wanted; returns how many. Earlier entries are numbers already.
template <class Index> int64_t number_roots(Index* roots, int64_t count, Naming naming) {
  int64_t components = 0;
  for_each_in(0, count, [&](int64_t i) {
    const Index root = roots[i];
    const bool is_root = root == Index(i);
    components += is_root;
    if (naming == Naming::kNumbers)
      roots[i] = root < 0 ? Index(0) : is_root ? Index(components) : roots[root];
  });
  return components;
}

// Labels items by find_roots(cells, links, roots), which leaves no entry larger than its index (contract 5).
template <class Label>
void label_items(const void* data, const LinkWords& links, const Grid& grid, Naming naming, Label* labels,
    int64_t* counts, auto&& find_roots) {
  GridCells cells(grid);
  const bool kept = grid.backward.size() <= KeptLinks::kMostSteps;
  Buffer<uint16_t> marks(kept ? cells.count() : 0);
  for (int64_t item = 0; item < cells.items(); ++item) {
    const char* const values = static_cast<const char*>(data) + cells.origin_of(item);
    Label* const roots = labels + item * cells.count();
    start_labels(cells, links, values, roots);
    if (kept) {
      cells.mark_links(links, values, marks.data());
      find_roots(cells, KeptLinks(marks.data()), roots);
    } else {
      find_roots(cells, AskedLinks(links, values), roots);
    }
    counts[item] = number_roots(roots, cells.count(), naming);
  }
}

// CPU I (section 5.3 and Fig. 10): scans over all cells, forward and backward in turns; each cell takes the
// lowest label linked to it, until nothing changes.
template <class Label>
void label_by_raster_scans(const void* data, const LinkWords& links, const Grid& grid, Naming naming,
    Label* labels, int64_t* counts) {
  const auto find_roots = [](GridCells& cells, auto links, Label* roots) {
    bool changed = true;
    // Labels only become lower, so it ends, even if values change meanwhile.
    for (bool forward = true; changed; forward = !forward) {
      changed = false;
      cells.scan(forward, [&, links](int64_t index, int64_t bytes, const std::vector<Neighbour>& neighbours) {
        if (roots[index] < 0) return;
        const Label lowest = lowest_around(links, roots, index, bytes, neighbours);
        changed |= lowest != roots[index];
        roots[index] = lowest;
      });
    }
  };
  label_items(data, links, grid, naming, labels, counts, find_roots);
}

// CPU II, Kernel D on one thread (sections 5.2.4 and 5.3, Algorithm 8). As cuda/papers/label_equivalence.cuh;
// labels take what their reference refers to in ascending order, so that chains are never longer than two.
// Sweeps grow about as the logarithm of the longest path.
template <class Label>
void label_by_equivalence(const void* data, const LinkWords& links, const Grid& grid, Naming naming,
    Label* labels, int64_t* counts) {
  Buffer<Label> references;
  const auto find_roots = [&](GridCells& cells, auto links, Label* roots) {
    const int64_t count = cells.count();
    if (!references.data()) references = Buffer<Label>(count);
    Label* const reference = references.data();
    for_each_in(0, count, [=](int64_t i) { reference[i] = Label(i); });
    // A sweep that changes anything lowers labels, so it ends, even if values change meanwhile.
    for (bool changed = true; changed;) {
      changed = false;
      cells.scan(true, [&, links](int64_t index, int64_t bytes, const std::vector<Neighbour>& neighbours) {
        const Label label = roots[index];
        if (label < 0) return;
        const Label lowest = lowest_around(links, roots, index, bytes, neighbours);
        changed |= lowest != label;
        reference[label] = std::min(reference[label], lowest);
      });
      if (!changed) return;
      for_each_in(0, count, [=](int64_t i) { reference[i] = reference[reference[i]]; });
      for_each_in(0, count, [=](int64_t i) { roots[i] = roots[i] < 0 ? roots[i] : reference[roots[i]]; });
    }
  };
  label_items(data, links, grid, naming, labels, counts, find_roots);
}

}
