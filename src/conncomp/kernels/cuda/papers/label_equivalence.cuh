// Kernel D: label equivalence. Fills label[i] with the smallest index of i's component, or -1 for background.
// At first every cell has a label of its own, which refers to itself. Until no cell is linked to one of a
// lower label, each cell that is lets its label refer to the lowest (equivalence_scan), each label in use is
// pointed to the end of its chain of references by the cell that has its own index (equivalence_analyse), and
// each cell takes what its label refers to (equivalence_relabel). Options: several cells a thread, for the
// cache; stores instead of atomic minima, of which any wins and the others follow in the next sweep; a first
// sweep of Kernel B, after which chains may go on one reference a sweep. Cost: a sweep reads the values and
// labels of all neighbours and labels four times; sweeps grow as the logarithm of the longest path. One more
// array of labels. Source: Hawick, Leist and Playne 2010, section 5.2.4 and Algorithm 8, whose chains are
// followed by `ref`; options: Maddix 2014.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/cells.cuh"

namespace conncomp {

constexpr int kEquivalenceThreads = 256;

// A grid, and the cells of a block along the last two axes. Layout: hawick_arrays.py.
template <int rank> struct CellBlocks {
  CellGrid<rank> grid;
  int32_t width, height;

  template <class Index> void for_each_cell(auto&& body) const {
    conncomp::for_each_cell<Index>(grid, width, height, body);
  }
};

template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024)
    equivalence_start(CellBlocks<rank> blocks, Rule rule, const typename Rule::Value* __restrict__ values,
        Index* __restrict__ labels, Index* __restrict__ reference, int64_t* last_change) {
  blocks.template for_each_cell<Index>([&](const Cell<rank, Index>& cell) {
    labels[cell.index] = rule.is_background(rule.site(values, cell.offset)) ? Index(-1) : cell.index;
    reference[cell.index] = cell.index;
  });
  if (grid_thread() == 0) start_sweeps(last_change);
}

template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024) equivalence_scan(CellBlocks<rank> blocks, Rule rule,
    const typename Rule::Value* __restrict__ values, const Index* __restrict__ labels, Index* reference,
    int64_t stores, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  blocks.template for_each_cell<Index>([&](const Cell<rank, Index>& cell) {
    const Index label = labels[cell.index];
    if (label < 0) return;
    const auto site = rule.site(values, cell.offset);
    Index lowest = label;
    for_each_neighbour(blocks.grid, cell, [&](const Neighbour<Index>& neighbour) {
      if (linked_to(rule, values, site, neighbour)) lowest = lower_label(lowest, labels[neighbour.index]);
    });
    if (lowest == label) return;
    changed = true;
    if (lowest >= Concurrent::load(reference + label)) return;
    if (stores)
      Concurrent::store(reference + label, lowest);
    else
      Concurrent::fetch_min(reference + label, lowest);
  });
  report_changes(last_change, sweep, changed);
}

template <class Index>
__global__ void __launch_bounds__(kEquivalenceThreads) equivalence_analyse(int64_t cells,
    const Index* __restrict__ labels, Index* reference, const int64_t* last_change, int64_t sweep) {
  if (!has_changed(last_change, sweep)) return;
  for (int64_t i = grid_thread(); i < cells; i += grid_threads())
    if (labels[i] == Index(i)) find<Concurrent, Jump::kSingle>(reference, Index(i));
}

template <class Index>
__global__ void __launch_bounds__(kEquivalenceThreads)
    equivalence_relabel(int64_t cells, Index* __restrict__ labels, const Index* __restrict__ reference,
        const int64_t* last_change, int64_t sweep) {
  if (!has_changed(last_change, sweep)) return;
  for (int64_t i = grid_thread(); i < cells; i += grid_threads()) {
    const Index label = labels[i];
    if (label < 0) continue;
    const Index root = reference[label];
    if (root != label) labels[i] = root;
  }
}

}
