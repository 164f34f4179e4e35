// Components of an array or lattice, first within tiles, then across them, on one thread: fills labels with
// the smallest index of each component, or -1 for background. A tile's components are found by breadth-first
// searches, by union-find on trees balanced by size, or by lowering the labels at the ends of links until
// none changes (self-labelling). Then relaxation lists the roots at the ends of links over seams, which lower
// each other's label; or sewing unites trees over seams, first within groups of two tiles a side, then of
// four, ..., at last over the ends of periodic axes. Source: Weigel 2011, section II.B and C.
#pragma once

#include "core/union_find.h"
#include "cpu/papers/cells.h"

namespace conncomp {

enum class TileLabelling { kSelfLabelling, kBreadthFirst, kUnionFind };
enum class TileMerging { kSewing, kRelaxation };

struct TileOptions {
  TileLabelling local;
  TileMerging merge;
  int64_t side;
};

struct TileLinks {
  std::vector<int> begin, end, linked;

  void for_each_of(int cell, auto&& body) const {
    for (int i = begin[cell]; i < end[cell]; ++i) body(linked[i]);
  }
};

inline void search_tile(const TileLinks& links, std::vector<int>& first) {
  constexpr int kUnseen = -1;
  const int cells = int(first.size());
  std::vector<int> queue;
  std::fill(first.begin(), first.end(), kUnseen);
  for (int start = 0; start < cells; ++start) {
    if (first[start] != kUnseen) continue;
    first[start] = start;
    queue.assign(1, start);
    for (size_t taken = 0; taken < queue.size(); ++taken)
      links.for_each_of(queue[taken], [&](int neighbour) {
        if (first[neighbour] != kUnseen) return;
        first[neighbour] = start;
        queue.push_back(neighbour);
      });
  }
}

inline void unite_in_tile(const TileLinks& links, std::vector<int>& first) {
  const int cells = int(first.size());
  std::vector<int> parent(cells, -1);  // of a root: the size of its tree, negative
  const auto root_of = [&](int cell) {
    while (parent[cell] >= 0) cell = parent[cell];
    return cell;
  };
  std::vector<int> smallest(cells);  // of the tree of a root
  for (int cell = 0; cell < cells; ++cell) smallest[cell] = cell;
  for (int cell = 0; cell < cells; ++cell)
    links.for_each_of(cell, [&](int neighbour) {
      const int a = root_of(cell), b = root_of(neighbour);
      if (a == b) return;
      const int large = parent[a] <= parent[b] ? a : b, small = large == a ? b : a;
      parent[large] += parent[small];
      parent[small] = large;
      smallest[large] = std::min(smallest[large], smallest[small]);
    });
  for (int cell = 0; cell < cells; ++cell) first[cell] = smallest[root_of(cell)];
}

inline void self_label_tile(const TileLinks& links, std::vector<int>& first) {
  const int cells = int(first.size());
  for (int cell = 0; cell < cells; ++cell) first[cell] = cell;
  for (bool changed = true; changed;) {
    changed = false;
    poll(int64_t(links.linked.size()) + cells);
    for (int cell = 0; cell < cells; ++cell)
      links.for_each_of(cell, [&](int neighbour) {
        if (neighbour < cell || first[cell] == first[neighbour]) return;
        first[cell] = first[neighbour] = std::min(first[cell], first[neighbour]);
        changed = true;
      });
  }
}

class TileShape {
 public:
  TileShape(
      const std::vector<Axis>& item, const std::vector<int64_t>& lengths, const std::vector<Step>& backward)
      : cells_(grid_of(item, lengths, backward, true)) {
    GridCells placed(grid_of(item, lengths, backward, false));
    std::vector<int64_t> indices;
    placed.scan(true, [&](int64_t index, int64_t, const auto&) { indices.push_back(index); });
    size_t visited = 0;
    index_.resize(indices.size());
    cells_.scan(true, [&](int64_t cell, int64_t, const auto&) { index_[cell] = indices[visited++]; });
    first_.resize(indices.size());
    links_.begin.resize(indices.size());
    links_.end.resize(indices.size());
  }

  template <class Label>
  void label(const auto& links, Label* labels, int64_t before, int64_t bytes, TileLabelling local) {
    links_.linked.clear();
    cells_.scan(true, [&](int64_t cell, int64_t shift, const std::vector<Neighbour>& neighbours) {
      links_.begin[cell] = int(links_.linked.size());
      const int64_t index = before + index_[cell];
      if (labels[index] >= 0)
        for (const Neighbour& neighbour : neighbours) {
          const int64_t other = before + index_[cell + neighbour.index];
          if (labels[other] >= 0 &&
              links.linked(before + index_[cell + neighbour.marked], bytes + shift, neighbour))
            links_.linked.push_back(int(cell + neighbour.index));
        }
      links_.end[cell] = int(links_.linked.size());
    });
    poll(int64_t(links_.linked.size() + index_.size()));
    if (local == TileLabelling::kSelfLabelling)
      self_label_tile(links_, first_);
    else if (local == TileLabelling::kBreadthFirst)
      search_tile(links_, first_);
    else
      unite_in_tile(links_, first_);
    for (size_t cell = 0; cell < index_.size(); ++cell)
      if (Label& label = labels[before + index_[cell]]; label >= 0)
        label = Label(before + index_[first_[cell]]);
  }

 private:
  // Indices are those of the array or, if `numbered`, those of the tile alone, in the same order.
  static Grid grid_of(const std::vector<Axis>& item, const std::vector<int64_t>& lengths,
      const std::vector<Step>& backward, bool numbered) {
    Grid grid{{}, 0, backward};
    for (size_t k = 0; k < item.size(); ++k) {
      int64_t stride = 1;
      for (size_t j = 0; j < item.size(); ++j)
        if (item[j].index_stride < item[k].index_stride) stride *= lengths[j];
      grid.axes.push_back({lengths[k], false, numbered ? stride : item[k].index_stride, item[k].byte_stride});
    }
    return grid;
  }

  GridCells cells_;             // with numbers for indices
  std::vector<int64_t> index_;  // of each number, from the first cell on
  std::vector<int> first_;
  TileLinks links_;
};

// The two planes of cells at a seam, as an array with links over the seam only.
class SeamOfTiles {
 public:
  // After the plane at `last` along an axis; after the last one its first one follows.
  SeamOfTiles(const std::vector<Axis>& item, const std::vector<Step>& backward, size_t axis, int64_t last)
      : index_(last * item[axis].index_stride),
        bytes_(last * item[axis].byte_stride),
        axis_(int(axis)),
        grid_{item, 0, backward} {
    const int64_t planes = last + 1 < item[axis].length ? 1 : -last;  // to the next plane
    grid_.axes[axis] = {2, false, planes * item[axis].index_stride, planes * item[axis].byte_stride};
  }

  void for_each_link(const auto& links, const Integer auto* labels, auto&& body) const {
    GridCells cells(grid_, axis_);
    cells.scan(true, [&](int64_t from, int64_t shift, const std::vector<Neighbour>& neighbours) {
      const int64_t index = index_ + from;
      if (labels[index] < 0) return;
      for (const Neighbour& neighbour : neighbours) {
        const int64_t other = index + neighbour.index;
        if (labels[other] >= 0 && links.linked(index + neighbour.marked, bytes_ + shift, neighbour))
          body(index, other);
      }
    });
  }

 private:
  int64_t index_, bytes_;  // of the first plane
  int axis_;
  Grid grid_;
};

void for_each_seam(const std::vector<Axis>& item, int64_t side, auto&& body) {
  int64_t longest = 0;
  for (const Axis& axis : item) longest = std::max(longest, axis.length);
  for (; side < longest; side *= 2)
    for (size_t k = 0; k < item.size(); ++k)
      for (int64_t last = side - 1; last + 1 < item[k].length; last += 2 * side) body(k, last);
  for (size_t k = 0; k < item.size(); ++k)
    if (item[k].periodic && item[k].length > 1) body(k, item[k].length - 1);
}

using TileShapes = std::map<std::vector<int64_t>, TileShape>;  // by their lengths

void label_tiles(const std::vector<Axis>& item, const std::vector<Step>& backward, const TileOptions& options,
    TileShapes& shapes, const auto& links, Integer auto* labels) {
  std::vector<int64_t> first(item.size()), lengths(item.size());
  for (size_t moved = item.size(); moved > 0;) {
    int64_t index = 0, bytes = 0;
    for (size_t k = 0; k < item.size(); ++k) {
      lengths[k] = std::min(options.side, item[k].length - first[k]);
      index += first[k] * item[k].index_stride;
      bytes += first[k] * item[k].byte_stride;
    }
    TileShape& shape = shapes.try_emplace(lengths, item, lengths, backward).first->second;
    shape.label(links, labels, index, bytes, options.local);
    // The next tile, or none when all axes have begun again.
    for (moved = item.size(); moved > 0; --moved) {
      if ((first[moved - 1] += options.side) < item[moved - 1].length) break;
      first[moved - 1] = 0;
    }
  }
}

// As label_items. A Label counts the elements of an item.
template <class Label>
void label_by_tiles(const void* data, const LinkWords& links, const Grid& grid, Naming naming, Label* labels,
    int64_t* counts, const TileOptions& options) {
  const std::vector<Axis> item(grid.axes.begin() + grid.batch_axes, grid.axes.end());
  TileShapes shapes;
  const auto find_roots = [&](GridCells& cells, const auto& links, Label* roots) {
    label_tiles(item, grid.backward, options, shapes, links, roots);
    std::vector<std::pair<Label, Label>> pairs;
    for_each_seam(item, options.side, [&](size_t axis, int64_t last) {
      SeamOfTiles(item, grid.backward, axis, last).for_each_link(links, roots, [&](int64_t a, int64_t b) {
        if (options.merge == TileMerging::kSewing) return unite<Exclusive>(roots, Label(a), Label(b));
        // One end of a link lists it, and of consecutive links of the same roots the first.
        const std::pair<Label, Label> pair(roots[a], roots[b]);
        if (pair.first < pair.second && (pairs.empty() || pairs.back() != pair)) pairs.push_back(pair);
      });
    });
    for (bool changed = true; changed;) {
      changed = false;
      for_each_in(0, int64_t(pairs.size()), [&](int64_t i) {
        Label &a = roots[pairs[i].first], &b = roots[pairs[i].second];
        changed |= a != b;
        a = b = std::min(a, b);
      });
    }
    for_each_in(0, cells.count(), [=](int64_t i) { roots[i] = roots[i] < 0 ? roots[i] : roots[roots[i]]; });
  };
  label_items(data, links, grid, naming, labels, counts, find_roots);
}

}
