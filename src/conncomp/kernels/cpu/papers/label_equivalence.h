// Connected components of an array by label equivalence: CPU II, Kernel D on one thread. Fills labels with
// the smallest index of each element's component, or -1 for background.
//
// At first every cell has its index as a label, which refers to itself. Then, until no cell is linked to one
// of a lower label: each cell that is lets its label refer to the lowest (scanning); each label takes what
// the one that it refers to refers to (analysis), in ascending order, so that chains are never longer than
// two; each cell takes what its label refers to (labelling). Cost: a sweep reads the labels of all neighbours
// and bits that tell which are linked (cells.h), where the paper's reads values, and labels three times;
// sweeps grow about as the logarithm of the longest path through a component. One label-sized array of an
// item beside the labels. Source: Hawick, Leist and Playne 2010, sections 5.2.4 and 5.3 and Algorithm 8;
// Maddix 2014.
#pragma once

#include "cpu/papers/cells.h"

namespace conncomp {

// As label_items.
template <class Label>
void label_by_equivalence(const void* data, const LinkWords& links, const Grid& grid, bool consecutive,
                          Label* labels, int64_t* counts) {
  Buffer<Label> references;
  const auto find_roots = [&](GridCells& cells, auto links, Label* roots) {
    const int64_t count = cells.count();
    if (!references.data()) references = Buffer<Label>(count);
    Label* const reference = references.data();
    for_each_in(0, count, [=](int64_t i) { reference[i] = Label(i); });
    // A sweep that changes anything makes labels lower, so it ends, even if values change meanwhile.
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
  label_items(data, links, grid, consecutive, labels, counts, find_roots);
}

}  // namespace conncomp
