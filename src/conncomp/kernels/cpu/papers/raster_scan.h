// Connected components of an array by raster scans to and fro: CPU I.
//
// What: fills labels with the smallest index of each element's component, or -1 where there is background.
// How: at first every cell has its index as a label. Scans over all cells follow, forward and backward in
// turns; each cell takes the lowest label of those that it is linked to. They end when one has changed
// nothing. In a scan a label moves as far as a path goes on in its direction, by one thread.
// Cost: a scan reads the values and labels of all neighbours. There are as many scans as the path from a
// component's first cell changes its direction, so a spiral takes as many as it has turns, and more. No
// memory beside the labels.
// Source: Hawick, Leist and Playne 2010, section 5.3 and Fig. 10.
#pragma once

#include "cpu/papers/cells.h"

namespace conncomp {

// As label_items; Rule is one of core/links.h.
template <class Rule, class Label>
void label_by_raster_scans(const void* data, const Rule& rule, const Grid& grid, bool consecutive,
                           Label* labels, int64_t* counts) {
  const auto find_roots = [&](GridCells& cells, const typename Rule::Value* values, Label* roots) {
    start_labels(cells, rule, values, roots);
    bool changed = true;
    // Labels only become lower, so it ends, even if values change meanwhile.
    for (bool forward = true; changed; forward = !forward) {
      changed = false;
      cells.scan(forward, [&](int64_t index, int64_t offset, const std::vector<Neighbour>& neighbours) {
        if (roots[index] < 0) return;
        const Label lowest = lowest_around(rule, values, roots, index, offset, neighbours);
        changed |= lowest != roots[index];
        roots[index] = lowest;
      });
    }
  };
  label_items<Rule>(data, grid, consecutive, labels, counts, find_roots);
}

}  // namespace conncomp
