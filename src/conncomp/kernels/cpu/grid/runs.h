// Labels an array by its runs, on bits: the default on the CPU. Rows become bit masks (masks.h); rows that
// always touch are bundled and treated as one (bundles.h); contacts are found 64 elements at a time
// (contacts.h). 1. Runs are counted, and become a forest (run_table.h). 2. Runs that touch are linked
// (run_links.h). 3. Components are numbered, mostly in the order of the runs where they begin
// (number_components). 4. Every label is written once (run_labels.h). Cost: the input is read once where all
// foreground is of one value, else a few times. Memory: an index a run, half a byte an element. Source: ours,
// from runs (He, Chao and Suzuki 2008), 2 x 2 blocks (Grana, Borghesani and Cucchiara 2010) and the
// union-find of Jaiganesh and Burtscher 2018.
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

// Numbers the components in the order of their smallest indices, or calls them by these: the complemented
// label is left in the entry of one run, to which the parents of the others lead. The first bundle tells the
// smallest index, if bundles are in order and rows, or two rows alone in their layer; otherwise runs claim
// indices.
template <class Index>
void number_components(Runs<Index>& runs, const Numbering& numbering) {
  if (runs.masks.lone_apart)
    LoneElements<Index>(runs).number(numbering);
  else if (FirstRuns<Index>::apply(runs.bundles))
    FirstRuns<Index>(runs).number(numbering);
  else
    Claims<Index>(runs).number(numbering);
}

// Finds contacts of masks that have been read: of all foreground, which is of one value, or by links.
inline std::unique_ptr<ContactFinder> contact_finder(const Masks& masks, const void* data,
                                                     const LinkWords* links) {
  if (RowContacts::apply(masks.bundles, links)) return std::make_unique<RowContacts>(masks, data, links);
  if (links) return std::make_unique<LinkedElements>(masks, data, *links);
  if (BundleContacts::apply(masks.bundles)) return std::make_unique<BundleContacts>(masks);
  return std::make_unique<OneValue>(masks);
}

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

// Writes the label of every element, and the number of components of every item. The link rule reads `data`.
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
