// Labels an array by its runs, on bits: the default on the CPU. Rows become bit masks (masks.h); rows that
// always touch are bundled and treated as one (row_bundles.h); contacts are found 64 elements at a time
// (contacts.h). 1. Runs are counted, and become a forest (run_table.h). 2. Runs that touch are linked
// (run_links.h). 3. Components are numbered, mostly in the order of the runs where they begin
// (number_components). 4. Every label is written once (run_labels.h). Cost: the input is read once where all
// foreground is of one value, else a few times. Memory: an index a run, half a byte an element. Source: ours,
// from runs (He, Chao and Suzuki 2008), 2 x 2 blocks (Grana, Borghesani and Cucchiara 2010) and the
// union-find of Jaiganesh and Burtscher 2018.
#pragma once

#include "cpu/core/radix_sort.h"
#include "cpu/grid/bond_masks.h"
#include "cpu/grid/bundle_contacts.h"
#include "cpu/grid/first_runs.h"
#include "cpu/grid/row_contacts.h"
#include "cpu/grid/run_claims.h"
#include "cpu/grid/run_labels.h"
#include "cpu/grid/run_links.h"

namespace conncomp {

// Numbers the components by smallest indices, or calls them by these: the complemented label stays in the
// entry of one run, to which parents lead. The first bundle tells the smallest index, if bundles are in order
// and rows, or two rows alone in their layer; otherwise runs claim indices.
template <class Index> void number_components(Runs<Index>& runs, const Numbering& numbering) {
  if (runs.masks.lone_apart)
    LoneElements<Index>(runs).number(numbering);
  else if (FirstRuns<Index>::apply(runs.bundles))
    FirstRuns<Index>(runs).number(numbering);
  else
    Claims<Index>(runs).number(numbering);
}

inline std::unique_ptr<ContactFinder> contact_finder(
    const Masks& masks, const void* data, const LinkWords* links) {
  if (RowContacts::apply(masks.bundles, links)) return std::make_unique<RowContacts>(masks, data, links);
  if (links) return std::make_unique<LinkedElements>(masks, data, *links);
  if (BundleContacts::apply(masks.bundles)) return std::make_unique<BundleContacts>(masks);
  return std::make_unique<OneValue>(masks);
}

template <class Index, class Label>
void label_masks_by(
    const Masks& masks, const ContactFinder& finder, Naming naming, Label* labels, int64_t* counts) {
  Runs<Index> runs(masks);
  RunLinks<Index>(runs).link(finder);
  number_components(runs, {naming, counts});
  const NumberedRuns<Index> label_of{runs.parent.data()};
  RunLabels<Index, Label, NumberedRuns<Index>>(
      runs, label_of, naming == Naming::kNumbers ? 0 : -1, masks.bundles, labels)
      .write();
}
// Indices are as narrow as the array allows, whatever its labels are.
void label_masks(
    const Masks& masks, const ContactFinder& finder, Naming naming, Integer auto* labels, int64_t* counts) {
  if (masks.bundles.elements > std::numeric_limits<int32_t>::max())
    label_masks_by<int64_t>(masks, finder, naming, labels, counts);
  else
    label_masks_by<int32_t>(masks, finder, naming, labels, counts);
}

// The masks of an array: in bundles if all its foreground has one value, else in rows. Links read `data`.
struct ArrayMasks {
  std::optional<const Bundles> bundles;
  std::optional<Masks> masks;
  std::unique_ptr<const ContactFinder> finder;
  bool one_value = false;

  ArrayMasks(const void* data, const LinkWords& links, const Grid& grid, bool lone_apart) {
    if (links.told_by_value) {
      masks.emplace(bundles.emplace(grid, grid.full()));
      one_value = masks->read_one_value(data, links);
    }
    if (!one_value) {
      masks.emplace(bundles.emplace(grid, false));
      masks->lone_apart = lone_apart && !links.compares && LoneElements<int32_t>::apply(*bundles);
      read_masks(*masks, data, links);
    }
    finder = contact_finder(*masks, one_value ? nullptr : data, one_value ? nullptr : &links);
  }
  ArrayMasks(const ArrayMasks&) = delete;
};

void label_runs(const void* data, const LinkWords& links, const Grid& grid, Naming naming,
    Integer auto* labels, int64_t* counts) {
  const ArrayMasks array(data, links, grid, true);
  label_masks(*array.masks, *array.finder, naming, labels, counts);
}

// The runs of a part of an array: steps 1 to 3 above; a table gives labels at last.
class KeptRuns {
  using Index = int32_t;

 public:
  // The array is one item of fewer elements than an Index has numbers.
  KeptRuns(const void* data, const LinkWords& links, const Grid& grid)
      : array_(data, links, grid, false), runs_(*array_.masks) {
    RunLinks<Index>(runs_).link(*array_.finder);
    array_.finder.reset();
    number_runs();
  }

  const std::vector<Index>& roots() const { return roots_; }

  bool one_value() const { return array_.one_value; }

  int64_t bytes() const {
    const int64_t of_masks =
        int64_t(sizeof(uint64_t)) * (runs_.bundles.rows * runs_.bundles.words + runs_.words);
    return of_masks + int64_t(sizeof(Index)) * (runs_.words + runs_.count + int64_t(roots_.size()));
  }

  void write_side(int axis, bool last, Index* numbers) const {
    const std::vector<Axis>& outer = runs_.bundles.outer;
    const int row_axis = int(outer.size());
    const int64_t at = last ? (axis < row_axis ? outer[axis] : runs_.bundles.row_axis).length - 1 : 0;
    Coordinates place(outer.size()), in_bundles(outer.size());
    if (axis < row_axis) place[axis] = at;
    for (bool more = true; more; more = advance(place, axis)) {
      int64_t row = 0;
      for (size_t k = 0; k < place.size(); ++k) {
        row = row * outer[k].length + place[k];
        in_bundles[k] = place[k] / runs_.bundles.thickness[k];
      }
      const int64_t bundle = runs_.bundles.number(in_bundles), length = runs_.bundles.row_axis.length;
      const uint64_t* const foreground = runs_.masks.row(row);
      const int64_t begin = axis == row_axis ? at : 0, end = axis == row_axis ? at + 1 : length;
      poll(end - begin);
      for (int64_t p = begin; p < end; ++p)
        *numbers++ = foreground[p / kWord] >> (p % kWord) & 1 ? runs_.parent[runs_.run_at(bundle, p)] : 0;
    }
  }

  void write(const Index* table, const std::vector<int64_t>& strides, Index* labels) const {
    const Bundles places = placed(strides);
    Writer(runs_, {table, runs_.parent.data()}, table[0], places, labels).write();
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
    Bundles places = runs_.bundles;
    for (size_t k = 0; k < places.outer.size(); ++k) places.outer[k].index_stride = strides[k];
    places.row_axis.index_stride = strides.back();
    return places;
  }

  void number_runs() {
    int64_t components = 0;
    number_components(runs_, {Naming::kRoots, &components});
    array_.masks->folded = {}, array_.masks->bonds = {};
    Index* const parent = runs_.parent.data();
    roots_.reserve(size_t(components));
    for_each_in(0, runs_.count, [&](int64_t run) {
      if (parent[run] < 0) roots_.push_back(~parent[run]);
    });
    sort_roots();
    for_each_index(runs_.count, [&](int64_t run) {
      if (parent[run] < 0)
        parent[run] =
            ~Index(std::lower_bound(roots_.begin(), roots_.end(), ~parent[run]) - roots_.begin() + 1);
    });
    const NumberedRuns<Index> label_of{parent};
    for_each_in(0, runs_.count, label_of);
    for_each_index(runs_.count, [=](int64_t run) { parent[run] = ~parent[run]; });
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
      if (++place[k] < runs_.bundles.outer[k].length) return true;
      place[k] = 0;
    }
    return false;
  }

  ArrayMasks array_;
  Runs<Index> runs_;
  std::vector<Index> roots_;
};

class PlacedRuns {
 public:
  PlacedRuns(const KeptRuns& runs, const int32_t* table, const std::vector<int64_t>& strides, int32_t* labels)
      : places_(runs.placed(strides)),
        labels_(labels),
        writer_(runs.runs_, {table, runs.runs_.parent.data()}, table[0], places_, labels) {}
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

// Writes parts about in the order of memory, for the part beside still in a cache.
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

}
