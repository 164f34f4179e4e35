// The components of linked runs get their labels: numbers in the order of their smallest indices, or these
// indices. The label of a component, complemented and so negative, is left in the entry of one of its runs,
// to which the parents of the others lead.
#pragma once

#include "cpu/grid/first_runs.h"
#include "cpu/grid/lone_elements.h"
#include "cpu/grid/run_claims.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

// Which element of a component has the smallest index is known from the first bundle where it has runs, if
// bundles are in the order of indices and are rows, or two rows of which no others are in the same layer.
// Otherwise runs claim indices.
template <class Index>
void number_components(Runs<Index>& runs, const Numbering& numbering) {
  if (runs.masks.lone_apart)
    LoneElements<Index>(runs).number(numbering);
  else if (FirstRuns<Index>::apply(runs.bundles))
    FirstRuns<Index>(runs).number(numbering);
  else
    Claims<Index>(runs).number(numbering);
}

}  // namespace conncomp
