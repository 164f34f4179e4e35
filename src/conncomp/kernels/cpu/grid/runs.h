// Labels an array by its runs, on bits. The default on the CPU.
//
// What: rows become bit masks (masks.h), and runs of connected elements, not elements, are united. Rows that
// always touch are bundled and treated as one (bundles.h). Where two bundles touch is found 64 elements
// at a time (contacts.h), which leaves about one union for each two runs side by side.
// How: 1. Runs are counted, and so numbered, and become a forest of one vertex each (run_table.h).
//      2. Runs that touch are linked: parts of the array each on its own; then, with compare-and-swap, what
//         crosses parts (run_links.h).
//      3. Components are numbered, mostly in the order of the runs where they begin (run_numbers.h).
//      4. Every label is written once (expand.h).
// Cost: the input is read once where all foreground is of one value, a few times where values must be
// compared; the output is written once. Memory: one index a run, of which there are at most one an element
// (half, or a quarter in bundles, if all foreground is of one value), and half a byte an element for masks.
// Source: ours, from runs (He, Chao and Suzuki 2008), 2 x 2 blocks (Grana, Borghesani and Cucchiara 2010) and
// the union-find of Jaiganesh and Burtscher 2018.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/contacts.h"
#include "cpu/grid/expand.h"
#include "cpu/grid/masks.h"
#include "cpu/grid/row_contacts.h"
#include "cpu/grid/run_links.h"
#include "cpu/grid/run_numbers.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

// The complemented labels of runs whose components are numbered.
template <class Index>
struct NumberedRuns {
  Index* parent;

  // That of a run takes its entry, for those that it is a parent of. In ascending order a parent mostly has
  // its label. (To store it only where the way is longer than a step saves less than the longer ways cost.)
  Index operator()(int64_t run) const {
    const Index entry = Shared::load(parent + run);
    Index label = Shared::load(parent + (entry < 0 ? Index(run) : entry));
    while (label >= 0) label = Shared::load(parent + label);
    Shared::store(parent + run, label);
    return label;
  }
};

// Writes labels of runs, of which `label_of` tells the complements, at the strides of indices of `places`,
// which are bundles as those of the runs.
template <class Index, class Label, class LabelOf>
class RunLabels {
 public:
  RunLabels(const Runs<Index>& runs, LabelOf label_of, Index background, const Bundles& places, Label* labels)
      : runs_(runs),
        masks_(runs.masks),
        bundles_(places),
        label_of_(label_of),
        background_(background),
        labels_(labels) {}

  void write() {
    parallel_for(bundles_.parts.parts, [this](int64_t part) {
      write_bundles(bundles_.parts.begin(part), bundles_.parts.end(part));
    });
  }

  // Writes the labels of bundles from one up to another.
  void write_bundles(int64_t begin, int64_t end) const {
    std::vector<int64_t> rows;
    bundles_.for_each_between(begin, end, [&](int64_t bundle, const Coordinates& place) {
      bundles_.members(place, rows);
      write_bundle(bundle, rows);
    });
  }

 private:
  // Writes the labels of a bundle, some thousand elements at a time: first those of its runs, from the one
  // before on, then those of its elements.
  void write_bundle(int64_t bundle, const std::vector<int64_t>& rows) const {
    if (runs_.blank(bundle)) return write_background(rows);
    constexpr int64_t kBlock = 32;
    Index run_labels[kBlock * kWord + 1 + kSlack];
    const int64_t first_word = bundle * bundles_.words;
    for (int64_t begin = 0; begin < bundles_.words; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, bundles_.words);
      poll((end - begin) * kWord * int64_t(rows.size()));
      const int64_t before = runs_.rank[first_word + begin] - 1, after = runs_.before(first_word + end);
      run_labels[0] = 0;
      for (int64_t run = std::max<int64_t>(before, 0); run < after; ++run)
        run_labels[run - before] = label_of_(run);
      std::fill_n(run_labels + (after - before), kSlack, Index(0));
      for (int64_t row : rows) {
        Label* out = labels_ + bundles_.origin(row, &Axis::index_stride);
        for (int64_t w = begin; w < end; ++w)
          write_word(row, w, masks_.start[first_word + w],
                     run_labels + (runs_.rank[first_word + w] - 1 - before),
                     out + w * kWord * bundles_.row_axis.index_stride);
      }
    }
  }

  void write_background(const std::vector<int64_t>& rows) const {
    const int64_t stride = bundles_.row_axis.index_stride;
    for (int64_t row : rows) {
      Label* const out = labels_ + bundles_.origin(row, &Axis::index_stride);
      for_each_in(0, bundles_.row_axis.length,
                  [out, stride, label = Label(background_)](int64_t p) { out[p * stride] = label; });
    }
  }

  void write_word(int64_t row, int64_t w, uint64_t start, const Index* run_labels, Label* out) const {
    const uint64_t foreground = masks_.row(row)[w];
    const int64_t stride = bundles_.row_axis.index_stride;
    const int count = masks_.covered(w);
    if constexpr (std::is_same_v<Label, Index>)
      if (count == kWord && stride == 1) return expand(foreground, start, run_labels, background_, out);
    Index word[kWord];
    expand(foreground, start, run_labels, background_, word);
    for (int p = 0; p < count; ++p) out[p * stride] = Label(word[p]);
  }

  const Runs<Index>& runs_;
  const Masks& masks_;
  const Bundles& bundles_;
  const LabelOf label_of_;
  const Index background_;
  Label* const labels_;
};

// Who finds contacts of bundles of masks that have been read: of all foreground, which is of one value, or,
// if there are links, of rows by these.
inline std::unique_ptr<ContactFinder> contact_finder(const Masks& masks, const void* data,
                                                     const LinkWords* links) {
  if ((!links || links->transitive) && RowContacts::apply(masks.bundles))
    return std::make_unique<RowContacts>(masks, data, links);
  if (links) return std::make_unique<LinkedElements>(masks, data, *links);
  return std::make_unique<OneValue>(masks);
}

// Labels masks that have been read.
template <class Index, class Label>
void label_masks_by(const Masks& masks, const ContactFinder& finder, bool consecutive, Label* labels,
                    int64_t* counts) {
  Runs<Index> runs(masks);
  RunLinks<Index>(runs).link(finder);
  number_components(runs, {consecutive, counts});
  const NumberedRuns<Index> label_of{runs.parent.data()};
  RunLabels<Index, Label, NumberedRuns<Index>>(runs, label_of, consecutive ? 0 : -1, masks.bundles, labels)
      .write();
}
// Indices are as narrow as the array allows, whatever its labels are.
template <class Label>
void label_masks(const Masks& masks, const ContactFinder& finder, bool consecutive, Label* labels,
                 int64_t* counts) {
  if (masks.bundles.elements > std::numeric_limits<int32_t>::max())
    label_masks_by<int64_t>(masks, finder, consecutive, labels, counts);
  else
    label_masks_by<int32_t>(masks, finder, consecutive, labels, counts);
}

// Writes the label of every element to `labels`, and the number of components of every item to `counts`.
// `data` is the array that the link rule reads.
template <class Label>
void label_runs(const void* data, const LinkWords& links, const Grid& grid, bool consecutive, Label* labels,
                int64_t* counts) {
  if (links.told_by_value) {
    const Bundles bundles(grid, grid.full());
    Masks masks(bundles);
    if (masks.read_one_value(data, links))
      return label_masks(masks, *contact_finder(masks, nullptr, nullptr), consecutive, labels, counts);
  }
  const Bundles rows(grid, false);
  Masks masks(rows);
  masks.read(data, links);
  label_masks(masks, *contact_finder(masks, data, &links), consecutive, labels, counts);
}

}  // namespace conncomp
