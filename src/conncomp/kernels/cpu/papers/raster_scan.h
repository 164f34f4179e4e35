// Connected components of an array by raster scans to and fro: CPU I.
//
// What: fills labels with the smallest index of each element's component, or -1 where there is background.
// How: at first every cell has its index as a label. Scans over all cells follow, forward and backward in
// turns; each cell takes the lowest label of those that it is linked to. They end when one has changed
// nothing. In a scan a label moves as far as a path goes on in its direction, by one thread. Cost: a scan
// reads the labels of all neighbours, and bits that tell which are linked (cells.h), where the paper's reads
// values. There are as many scans as the path from a component's first cell changes its direction, so a
// spiral takes as many as it has turns, and more. No memory beside labels and bits. Source: Hawick, Leist and
// Playne 2010, section 5.3 and Fig. 10.
#pragma once

#include "cpu/papers/cells.h"

namespace conncomp {

// As label_items.
template <class Label>
void label_by_raster_scans(const void* data, const LinkWords& links, const Grid& grid, bool consecutive,
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
  label_items(data, links, grid, consecutive, labels, counts, find_roots);
}

}  // namespace conncomp
