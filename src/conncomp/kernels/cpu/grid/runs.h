// Labels an array by its runs, on bits. The default on the CPU.
//
// Rows become bit masks (masks.h), and runs of connected elements, not elements, are united. Rows that always
// touch are bundled and treated as one (bundles.h). Where two bundles touch is found 64 elements at a time
// (contacts.h), which leaves about one union for each two runs side by side.
// 1. Runs are counted, and so numbered, and become a forest of one vertex each (run_table.h).
// 2. Runs that touch are linked: parts of the array each on its own; then, with compare-and-swap, what
// crosses parts (run_links.h).
// 3. Components are numbered, mostly in the order of the runs where they begin (number_components).
// 4. Every label is written once (run_labels.h).
// Cost: the input is read once where all foreground is of one value, a few times where values must be
// compared; the output is written once. Memory: one index a run, of which there are at most one an element
// (half, or a quarter in bundles, if all foreground is of one value), and half a byte an element for masks.
// Source: ours, from runs (He, Chao and Suzuki 2008), 2 x 2 blocks (Grana, Borghesani and Cucchiara 2010) and
// the union-find of Jaiganesh and Burtscher 2018.
#pragma once

#include "cpu/grid/bond_masks.h"
#include "cpu/grid/bundle_contacts.h"
#include "cpu/grid/first_runs.h"
#include "cpu/grid/lone_elements.h"
#include "cpu/grid/row_contacts.h"
#include "cpu/grid/run_claims.h"
#include "cpu/grid/run_labels.h"
#include "cpu/grid/run_links.h"

namespace conncomp {

// The components of linked runs get their labels, numbers in the order of their smallest indices, or these
// indices. The label, complemented and so negative, is left in the entry of one run of a component, to which
// the parents of the others lead. Which element of a component has the smallest index is known from the first
// bundle where it has runs, if bundles are in the order of indices and are rows, or two rows of which no
// others are in the same layer. Otherwise runs claim indices.
template <class Index>
void number_components(Runs<Index>& runs, const Numbering& numbering) {
  if (runs.masks.lone_apart)
    LoneElements<Index>(runs).number(numbering);
  else if (FirstRuns<Index>::apply(runs.bundles))
    FirstRuns<Index>(runs).number(numbering);
  else
    Claims<Index>(runs).number(numbering);
}

// Who finds contacts of bundles of masks that have been read: of all foreground, which is of one value, or,
// if there are links, of rows by these.
inline std::unique_ptr<ContactFinder> contact_finder(const Masks& masks, const void* data,
                                                     const LinkWords* links) {
  if (RowContacts::apply(masks.bundles, links)) return std::make_unique<RowContacts>(masks, data, links);
  if (links) return std::make_unique<LinkedElements>(masks, data, *links);
  if (BundleContacts::apply(masks.bundles)) return std::make_unique<BundleContacts>(masks);
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
void label_masks(const Masks& masks, const ContactFinder& finder, bool consecutive, auto* labels,
                 int64_t* counts) {
  if (masks.bundles.elements > std::numeric_limits<int32_t>::max())
    label_masks_by<int64_t>(masks, finder, consecutive, labels, counts);
  else
    label_masks_by<int32_t>(masks, finder, consecutive, labels, counts);
}

// Writes the label of every element to `labels`, and the number of components of every item to `counts`.
// `data` is the array that the link rule reads.
void label_runs(const void* data, const LinkWords& links, const Grid& grid, bool consecutive, auto* labels,
                int64_t* counts) {
  if (links.told_by_value) {
    const Bundles bundles(grid, grid.full());
    Masks masks(bundles);
    if (masks.read_one_value(data, links))
      return label_masks(masks, *contact_finder(masks, nullptr, nullptr), consecutive, labels, counts);
  }
  const Bundles rows(grid, false);
  Masks masks(rows);
  masks.lone_apart = !links.compares && LoneElements<int32_t>::apply(rows);
  read_masks(masks, data, links);
  label_masks(masks, *contact_finder(masks, data, &links), consecutive, labels, counts);
}

}  // namespace conncomp
