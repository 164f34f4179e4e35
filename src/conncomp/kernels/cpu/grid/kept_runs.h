// The runs of an array that is labelled alone, as a part of a larger one: steps 1 to 3 of runs.h. A table
// says at last which label each component has. Memory: four bytes a run, and some bits an element.
#pragma once

#include "cpu/core/radix_sort.h"
#include "cpu/grid/runs.h"

namespace conncomp {

class KeptRuns {
  using Index = int32_t;

 public:
  // `data` is as of label_runs; the array is one item of fewer elements than an Index has numbers.
  KeptRuns(const void* data, const LinkWords& links, const Grid& grid) {
    if (links.told_by_value) {
      start(grid, grid.full());
      if (masks_->read_one_value(data, links)) {
        one_value_ = true;
        unite(*contact_finder(*masks_, nullptr, nullptr));
        return;
      }
    }
    start(grid, false);
    read_masks(*masks_, data, links);
    unite(*contact_finder(*masks_, data, &links));
  }

  // The index of the first element of each component, ascending.
  const std::vector<Index>& roots() const { return roots_; }

  // Whether all foreground is known to be of one value.
  bool one_value() const { return one_value_; }

  int64_t bytes() const {
    const int64_t of_masks = int64_t(sizeof(uint64_t)) * (bundles_->rows * bundles_->words + runs_->words);
    return of_masks + int64_t(sizeof(Index)) * (runs_->words + runs_->count + int64_t(roots_.size()));
  }

  // Writes the numbers, from 1, or 0 for background, of the elements on the first or last side along an axis.
  void write_side(int axis, bool last, Index* numbers) const {
    const std::vector<Axis>& outer = bundles_->outer;
    const int row_axis = int(outer.size());
    const int64_t at = last ? (axis < row_axis ? outer[axis] : bundles_->row_axis).length - 1 : 0;
    Coordinates place(outer.size()), in_bundles(outer.size());
    if (axis < row_axis) place[axis] = at;
    for (bool more = true; more; more = advance(place, axis)) {
      int64_t row = 0;
      for (size_t k = 0; k < place.size(); ++k) {
        row = row * outer[k].length + place[k];
        in_bundles[k] = place[k] / bundles_->thickness[k];
      }
      const int64_t bundle = bundles_->number(in_bundles), length = bundles_->row_axis.length;
      const uint64_t* const foreground = masks_->row(row);
      const int64_t begin = axis == row_axis ? at : 0, end = axis == row_axis ? at + 1 : length;
      poll(end - begin);
      for (int64_t p = begin; p < end; ++p)
        *numbers++ = foreground[p / kWord] >> (p % kWord) & 1 ? runs_->parent[runs_->run_at(bundle, p)] : 0;
    }
  }

  // Writes the entry of `table` for the number of each element; `strides` are those of labels along the axes.
  void write(const Index* table, const std::vector<int64_t>& strides, Index* labels) const {
    const Bundles places = placed(strides);
    Writer(*runs_, {table, runs_->parent.data()}, table[0], places, labels).write();
  }

 private:
  friend class PlacedRuns;

  struct TableLabels {
    const Index *table, *number;
    void write(int64_t begin, int64_t end, Index* labels) const {
      for (int64_t run = begin; run < end; ++run) *labels++ = ~table[number[run]];
    }
  };
  using Writer = RunLabels<Index, Index, TableLabels>;

  Bundles placed(const std::vector<int64_t>& strides) const {
    Bundles places = *bundles_;
    for (size_t k = 0; k < places.outer.size(); ++k) places.outer[k].index_stride = strides[k];
    places.row_axis.index_stride = strides.back();
    return places;
  }

  void start(const Grid& grid, bool folded) {
    bundles_ = std::make_unique<const Bundles>(grid, folded);
    masks_ = std::make_unique<Masks>(*bundles_);
  }

  void unite(const ContactFinder& finder) {
    runs_ = std::make_unique<Runs<Index>>(*masks_);
    RunLinks<Index>(*runs_).link(finder);
    int64_t components = 0;
    number_components(*runs_, {false, &components});
    masks_->folded = {}, masks_->bonds = {};
    Index* const parent = runs_->parent.data();
    roots_.reserve(size_t(components));
    for_each_in(0, runs_->count, [&](int64_t run) {
      if (parent[run] < 0) roots_.push_back(~parent[run]);
    });
    sort_roots();
    for_each_index(runs_->count, [&](int64_t run) {
      if (parent[run] < 0)
        parent[run] =
            ~Index(std::lower_bound(roots_.begin(), roots_.end(), ~parent[run]) - roots_.begin() + 1);
    });
    const NumberedRuns<Index> label_of{parent};
    for_each_in(0, runs_->count, label_of);
    for_each_index(runs_->count, [=](int64_t run) { parent[run] = ~parent[run]; });
  }

  // Runs come in the order of their first elements, but where rows are folded.
  void sort_roots() {
    struct Root {
      uint32_t key;
    };
    const int64_t count = int64_t(roots_.size());
    bool ascending = true;
    for_each_in(1, count, [&](int64_t k) { ascending &= roots_[k - 1] < roots_[k]; });
    if (ascending) return;
    Buffer<Root> sorted(count);
    for_each_in(0, count, [&](int64_t k) { sorted[k].key = uint32_t(roots_[k]); });
    radix_sort(sorted, count);
    for_each_in(0, count, [&](int64_t k) { roots_[k] = Index(sorted[k].key); });
  }

  // Moves to the next row at one place along an axis; false after the last one.
  bool advance(Coordinates& place, int axis) const {
    for (size_t k = place.size(); k-- > 0;) {
      if (int(k) == axis) continue;
      if (++place[k] < bundles_->outer[k].length) return true;
      place[k] = 0;
    }
    return false;
  }

  std::unique_ptr<const Bundles> bundles_;
  std::unique_ptr<Masks> masks_;
  std::unique_ptr<Runs<Index>> runs_;
  std::vector<Index> roots_;
  bool one_value_ = false;
};

class PlacedRuns {
 public:
  PlacedRuns(const KeptRuns& runs, const int32_t* table, const std::vector<int64_t>& strides, int32_t* labels)
      : places_(runs.placed(strides)),
        labels_(labels),
        writer_(*runs.runs_, {table, runs.runs_->parent.data()}, table[0], places_, labels) {}
  PlacedRuns(const PlacedRuns&) = delete;
  PlacedRuns& operator=(const PlacedRuns&) = delete;

  struct Piece {
    const PlacedRuns* placed;
    int64_t begin, end;
    const int32_t* first;  // label, about

    int64_t elements() const { return (end - begin) * placed->places_.elements / placed->places_.count; }
    void write() const { placed->writer_.write_bundles(begin, end); }
  };

  void add_pieces(std::vector<Piece>& pieces) const {
    const bool rows = places_.outer.empty();
    const int64_t layer = rows ? 1 : places_.count / places_.shape[0];
    const int64_t layers = std::max<int64_t>(1, kGrain * places_.count / (places_.elements * layer));
    const int64_t stride = rows ? 0 : places_.outer[0].index_stride * places_.thickness[0];
    for (int64_t k = 0; k * layer < places_.count; k += layers)
      pieces.push_back(
          {this, k * layer, std::min((k + layers) * layer, places_.count), labels_ + k * stride});
  }

 private:
  const Bundles places_;
  int32_t* const labels_;
  const KeptRuns::Writer writer_;
};

// Writes labels of several parts in about the order of memory: still in a cache when the part beside is
// written.
inline void write_together(const std::vector<std::unique_ptr<const PlacedRuns>>& parts) {
  constexpr int64_t kTogether = 32 * kGrain;  // elements
  std::vector<PlacedRuns::Piece> pieces;
  for (const auto& part : parts) part->add_pieces(pieces);
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<size_t> begins;  // of what a thread writes
  int64_t elements = kTogether;
  for (size_t k = 0; k < pieces.size(); elements += pieces[k++].elements())
    if (elements >= kTogether) begins.push_back(k), elements = 0;
  begins.push_back(pieces.size());
  parallel_for(int64_t(begins.size()) - 1, [&](int64_t k) {
    for (size_t p = begins[k]; p < begins[k + 1]; ++p) pieces[p].write();
  });
}

}  // namespace conncomp
