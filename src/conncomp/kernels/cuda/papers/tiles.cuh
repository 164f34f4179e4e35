// Weigel's tiles: labels tiles first, then consolidates them. Fills label[i] with the smallest index of i's
// component, or -1 for background, from its own index on (start_labels). A block labels a tile in shared
// memory: one thread by breadth-first search (local_bfs) or union-find (local_union_find), or all by lowering
// labels at the ends of bonds (local_self_label). Relaxation stores the local roots at both ends of every
// bond between tiles (prepare_relax) and lowers their labels (relax). Sewing unites trees of labels along
// those bonds within groups of two tiles a side, then four, ..., at last across periodic borders: by size as
// in the paper, one bond of a group after the other, in a forest of its own (plant_trees, sew_by_size,
// collect_trees); or by index, whole seams at once (sew). At last sites take their root's label
// (flatten_tiles). Cost: with C bonds a side relaxation stores 2 C indices, and takes as many sweeps as tiles
// lie on a path. Source: Weigel 2011, section II.B and C.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/cells.cuh"

namespace conncomp {

constexpr int kTileThreads = 256;

// Sites of a tile are in C order; later neighbours lie in these directions.
template <int rank> constexpr int kDirections = StepCodes<rank>::kNoStep;

template <int rank> int code_of(int direction) { return StepCodes<rank>::kNoStep + 1 + direction; }

template <int rank, class Index> struct Tile {
  Cell<rank, Index> first;
  int log;

  int sites() const { return 1 << (log * rank); }
  int at(int site, int axis) const { return site >> (log * (rank - 1 - axis)) & ((1 << log) - 1); }
  int distance(int direction) const {
    int distance = 0;
#pragma unroll
    for (int a = rank - 1; a >= 0; --a)
      distance = (distance << log) + StepCodes<rank>::step(code_of<rank>(direction), a);
    return distance;
  }
  bool inside(const CellGrid<rank>& grid, int site) const {
    bool all = true;
    for (int k = 0; k < rank; ++k) all &= first.at[k] + at(site, k) < grid.axes[k].length;
    return all;
  }
  Index index(const CellGrid<rank>& grid, int site) const {
    Index index = first.index;
    for (int k = 0; k < rank; ++k) index += Index(at(site, k)) * Index(grid.axes[k].index_stride);
    return index;
  }
  int64_t offset(const CellGrid<rank>& grid, int site) const {
    int64_t offset = first.offset;
    for (int k = 0; k < rank; ++k) offset += at(site, k) * grid.axes[k].value_stride;
    return offset;
  }
};

template <class Index, int rank> void for_each_tile(const CellGrid<rank>& grid, int log, auto&& body) {
  for_each_part<Index>(
      grid, [=](int) { return int64_t(1) << log; },
      [&](const Cell<rank, Index>& first) {
        body(Tile<rank, Index>{first, log});
        __syncthreads();  // before shared memory is used again
      });
}

// Fills links[site] with a bit for each direction with a linked neighbour in the tile. Links lead from
// foreground to later sites, so a component's first site is foreground even if values changed.
template <class Rule, int rank, class Index>
void find_links(const CellGrid<rank>& grid, const Rule& rule, const Tile<rank, Index>& tile,
    const typename Rule::Value* __restrict__ values, const Index* labels, uint16_t* links) {
  for (int site = int(threadIdx.x); site < tile.sites(); site += int(blockDim.x)) {
    uint16_t directions = 0;
    if (tile.inside(grid, site) && labels[tile.index(grid, site)] >= 0) {
      const int64_t offset = tile.offset(grid, site);
      const auto from = rule.site(values, offset);
#pragma unroll
      for (int direction = 0; direction < kDirections<rank>; ++direction) {
        const int code = code_of<rank>(direction);
        bool inside = true;
        int64_t neighbour_offset = offset;
#pragma unroll
        for (int a = 0; a < rank; ++a) {
          const int k = rank - 1 - a, step = StepCodes<rank>::step(code, a), x = tile.at(site, k) + step;
          if (step == 0) continue;
          inside &= x >= 0 && x < 1 << tile.log && tile.first.at[k] + x < grid.axes[k].length;
          neighbour_offset += step * grid.axes[k].value_stride;
        }
        if (inside && grid.neighbours.has(code) &&
            rule.linked(
                values, from, rule.site(values, neighbour_offset), StepCodes<rank>::highest_axis(code), true))
          directions |= uint16_t(1 << direction);
      }
    }
    links[site] = directions;
  }
}

// Writes the labels of a tile; root(site) is the first site of its component.
template <int rank, class Index>
void write_tile(const CellGrid<rank>& grid, const Tile<rank, Index>& tile, Index* labels, auto&& root) {
  for (int site = int(threadIdx.x); site < tile.sites(); site += int(blockDim.x)) {
    if (!tile.inside(grid, site)) continue;
    const Index index = tile.index(grid, site);
    if (labels[index] >= 0) labels[index] = tile.index(grid, root(site));
  }
}

// Shared memory per site: a label, two bytes of the queue, and links.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kWarp) local_bfs(CellGrid<rank> grid, Rule rule, int32_t log,
    const typename Rule::Value* __restrict__ values, Index* labels) {
  const int sites = 1 << (log * rank);
  CONNCOMP_DYNAMIC_SHARED(int, start_of);
  uint16_t* queue = reinterpret_cast<uint16_t*>(start_of + sites);
  uint16_t* links = queue + sites;
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile) {
    constexpr int kUnseen = -1;
    for (int site = int(threadIdx.x); site < sites; site += int(blockDim.x)) start_of[site] = kUnseen;
    find_links(grid, rule, tile, values, labels, links);
    __syncthreads();
    for (int start = 0; threadIdx.x == 0 && start < sites; ++start) {
      if (start_of[start] != kUnseen) continue;
      int taken = 0, put = 0;
      const auto reach = [&](int site) {
        if (start_of[site] != kUnseen) return;
        start_of[site] = start;
        queue[put++] = uint16_t(site);
      };
      reach(start);
      while (taken < put) {
        const int site = queue[taken++];
        for (int direction = 0; direction < kDirections<rank>; ++direction) {
          const int distance = tile.distance(direction);
          if (links[site] >> direction & 1) reach(site + distance);
          if (site >= distance && links[site - distance] >> direction & 1) reach(site - distance);
        }
      }
    }
    __syncthreads();
    write_tile(grid, tile, labels, [&](int site) { return start_of[site]; });
  });
}

// Returns a site's root in one thread's forest: tree[root] is minus the size, others are parents.
template <class Entry> Entry root_in_tree(Entry* tree, Entry site, bool compresses) {
  Entry root = site;
  while (tree[root] >= 0) root = tree[root];
  while (compresses && site != root) {
    const Entry above = tree[site];
    tree[site] = root;
    site = above;
  }
  return root;
}

template <class Entry> void unite_trees(Entry* tree, Entry* first, Entry a, Entry b, bool by_size) {
  if (a == b) return;
  const bool keeps_a = by_size ? tree[a] <= tree[b] : a < b;
  const Entry root = keeps_a ? a : b, child = keeps_a ? b : a;
  tree[root] += tree[child];
  tree[child] = root;
  if (first[child] < first[root]) first[root] = first[child];
}

// Shared memory per site: an entry of the forest, the first site of a tree, and links.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kWarp) local_union_find(CellGrid<rank> grid, Rule rule, int32_t log,
    bool by_size, bool compresses, const typename Rule::Value* __restrict__ values, Index* labels) {
  const int sites = 1 << (log * rank);
  CONNCOMP_DYNAMIC_SHARED(int, tree);
  int* first = tree + sites;
  uint16_t* links = reinterpret_cast<uint16_t*>(first + sites);
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile_of_block) {
    for (int site = int(threadIdx.x); site < sites; site += int(blockDim.x))
      tree[site] = -1, first[site] = site;
    find_links(grid, rule, tile_of_block, values, labels, links);
    __syncthreads();
    for (int site = 0; threadIdx.x == 0 && site < sites; ++site)
      for (unsigned int directions = links[site]; directions != 0; directions &= directions - 1) {
        const int neighbour = site + tile_of_block.distance(lowest(directions));
        const int a = root_in_tree(tree, site, compresses), b = root_in_tree(tree, neighbour, compresses);
        unite_trees(tree, first, a, b, by_size);
      }
    __syncthreads();
    write_tile(grid, tile_of_block, labels, [&](int site) { return first[root_in_tree(tree, site, false)]; });
  });
}

// `square`: a thread has 2 x 2 sites; else one or several along the first axis. Shared memory per site: a
// label and links.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024) local_self_label(CellGrid<rank> grid, Rule rule, int32_t log,
    bool square, const typename Rule::Value* __restrict__ values, Index* labels) {
  const int sites = 1 << (log * rank), threads = int(blockDim.x), thread = int(threadIdx.x);
  CONNCOMP_DYNAMIC_SHARED(int, first);  // of the component, as far as is known
  uint16_t* links = reinterpret_cast<uint16_t*>(first + sites);
  const int half = (1 << log) / 2;  // squares beside each other
  const int corner = (thread / half << (log + 1)) + thread % half * 2;
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile) {
    for (int site = thread; site < sites; site += threads) InBlock::store(first + site, site);
    find_links(grid, rule, tile, values, labels, links);
    __syncthreads();
    sweep_in_block([&] {
      bool changed = false;
      for (int i = 0; i < sites / threads; ++i) {
        const int site = square ? corner + (i >> 1 << log) + (i & 1) : thread + i * threads;
        for (unsigned int directions = links[site]; directions != 0; directions &= directions - 1) {
          const int neighbour = site + tile.distance(lowest(directions));
          if (lower_higher<InBlock>(first, site, neighbour)) changed = true;
        }
      }
      return changed;
    });
    write_tile(grid, tile, labels, [&](int site) { return InBlock::load(first + site); });
  });
}

// Planes of sites on borders between tiles, across each axis: at first, first + spacing, ..., or at the end
// of the axis. Layout: tiles.py.
template <int rank> struct Seams {
  int64_t first, spacing;
  int64_t planes[rank];

  // Whether these are where axes close.
  bool close() const { return spacing == 1; }
};

// Calls body(number, cell, axis) for the sites of the seams, each across an axis.
template <class Index, int rank>
void for_each_at_seams(const CellGrid<rank>& grid, const Seams<rank>& seams, auto&& body) {
  int64_t total = 0;
  for (int k = 0; k < rank; ++k) total += seams.planes[k] * (grid.cells() / grid.axes[k].length);
  for (int64_t number = grid_thread(); number < total; number += grid_threads()) {
    int64_t site = number, across = 0;  // of the seams across an axis
    int axis = 0;
    for (;; ++axis) {
      across = grid.cells() / grid.axes[axis].length;
      if (site < seams.planes[axis] * across) break;
      site -= seams.planes[axis] * across;
    }
    const int64_t plane = seams.first + site / across * seams.spacing;
    const int64_t last = grid.axes[axis].length - 1;
    Cell<rank, Index> cell = first_of_row<Index>(grid, axis, site % across);
    cell.move(grid, axis, Index(plane < last ? plane : last));
    body(number, cell, axis);
  }
}

template <class Index> struct RootPair {
  Index a, b;
};

// Stores the local roots at both ends of each bond that leaves the seams at pairs[s], pairs[s + total], ...;
// -1 for no bond. `__grid_constant__` spares threads a copy of what is indexed.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads) prepare_relax(const __grid_constant__ CellGrid<rank> grid,
    Rule rule, const __grid_constant__ Seams<rank> seams, int32_t neighbours, int64_t total,
    const typename Rule::Value* __restrict__ values, const Index* __restrict__ labels,
    RootPair<Index>* __restrict__ pairs) {
  for_each_at_seams<Index>(grid, seams, [&](int64_t number, const Cell<rank, Index>& cell, int axis) {
    const Index label = labels[cell.index];
    int64_t slot = number;
    if (label >= 0) {
      const auto site = rule.site(values, cell.offset);
      for_each_neighbour_along(grid, cell, axis, 1, [&](const Neighbour<Index>& neighbour) {
        const Index neighbour_label = labels[neighbour.index];
        if (neighbour_label < 0 || !linked_to(rule, values, site, neighbour)) return;
        pairs[slot] = {label, neighbour_label};
        slot += total;
      });
    }
    for (; slot < total * neighbours; slot += total) pairs[slot] = {Index(-1), Index(-1)};
  });
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads) relax(int64_t count,
    const RootPair<Index>* __restrict__ pairs, Index* labels, int64_t* last_change, int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const RootPair<Index> pair = pairs[i];
    if (pair.a != pair.b && lower_higher<Concurrent>(labels, pair.a, pair.b)) changed = true;
  }
  report_changes(last_change, sweep, changed);
}

template <Jump jump, class Index> void unite_by(Index* labels, Index a, Index b) {
  const Index above_a = Concurrent::load(labels + a), above_b = Concurrent::load(labels + b);
  if (above_a == above_b) return;
  hook<Concurrent>(labels, find_from<Concurrent, jump>(labels, a, above_a),
      find_from<Concurrent, jump>(labels, b, above_b));
}

template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    sew(const __grid_constant__ CellGrid<rank> grid, Rule rule, const __grid_constant__ Seams<rank> seams,
        Jump jump, const typename Rule::Value* __restrict__ values, Index* labels) {
  for_each_at_seams<Index>(grid, seams, [&](int64_t, const Cell<rank, Index>& cell, int axis) {
    if (Concurrent::load(labels + cell.index) < 0) return;
    const auto site = rule.site(values, cell.offset);
    for_each_neighbour_along(grid, cell, axis, 1, [&](const Neighbour<Index>& neighbour) {
      if (!linked_to(rule, values, site, neighbour)) return;
      if (jump == Jump::kIntermediate)
        unite_by<Jump::kIntermediate>(labels, cell.index, neighbour.index);
      else if (jump == Jump::kMultiple)
        unite_by<Jump::kMultiple>(labels, cell.index, neighbour.index);
      else
        unite_by<Jump::kNone>(labels, cell.index, neighbour.index);
    });
  });
}

// Makes a forest of labels, with trees of size 1 for what tiles have found, as in the paper.
template <class Index>
__global__ void __launch_bounds__(kTileThreads)
    plant_trees(int64_t sites, const Index* labels, Index* __restrict__ tree) {
  for (int64_t i = grid_thread(); i < sites; i += grid_threads()) {
    const Index label = Concurrent::load(labels + i);
    tree[i] = leads_to(Index(i), label) ? label : Index(-1);
  }
}

template <int rank, class Index> struct TileGroup {
  Cell<rank, Index> first;
  Index end[rank];

  TileGroup(const CellGrid<rank>& grid, const Cell<rank, Index>& cell, int64_t side) : first(cell) {
    for (int k = 0; k < rank; ++k) {
      const int64_t length = grid.axes[k].length;
      end[k] = Index(length - first.at[k] < side ? length : first.at[k] + side);
    }
  }
  bool holds(const CellGrid<rank>& grid, Index index) const {
    const Index within = index % Index(grid.cells_of_item());
    for (int k = 0; k < rank; ++k) {
      const Index at = within / Index(grid.axes[k].index_stride) % Index(grid.axes[k].length);
      if (at < first.at[k] || at >= end[k]) return false;
    }
    return true;
  }
  // Calls body(cell) for the sites of a plane across an axis.
  void for_each_of_plane(const CellGrid<rank>& grid, int axis, Index plane, auto&& body) const {
    int64_t sites = 1;
    for (int k = 0; k < rank; ++k) sites *= k == axis ? 1 : end[k] - first.at[k];
    for (int64_t number = 0; number < sites; ++number) {
      Cell<rank, Index> cell = first;
      cell.move(grid, axis, plane - first.at[axis]);
      int64_t quotient = number;
      for (int k = rank - 1; k >= 0; --k) {
        if (k == axis) continue;
        const int64_t length = end[k] - first.at[k];
        cell.move(grid, k, Index(quotient % length));
        quotient /= length;
      }
      body(cell);
    }
  }
};

// A thread goes through the seams of its groups of `side` sites; others wait for their level.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kWarp) sew_by_size(const __grid_constant__ CellGrid<rank> grid, Rule rule,
    const __grid_constant__ Seams<rank> seams, int64_t side, bool compresses,
    const typename Rule::Value* __restrict__ values, Index* tree, Index* labels) {
  if (threadIdx.x != 0) return;
  for_each_part<Index>(
      grid, [=](int) { return side; },
      [&](const Cell<rank, Index>& first) {
        const TileGroup<rank, Index> group(grid, first, side);
        for (int axis = 0; axis < rank; ++axis) {
          const int64_t plane = first.at[axis] + seams.first, last = grid.axes[axis].length - 1;
          // Beyond the end of an axis is where it closes.
          if (seams.planes[axis] == 0 || plane == last || (plane > last && !seams.close())) continue;
          group.for_each_of_plane(
              grid, axis, Index(plane < last ? plane : last), [&](const Cell<rank, Index>& cell) {
                if (labels[cell.index] < 0) return;
                const auto site = rule.site(values, cell.offset);
                for_each_neighbour_along(grid, cell, axis, 1, [&](const Neighbour<Index>& neighbour) {
                  if (!linked_to(rule, values, site, neighbour)) return;
                  if (labels[neighbour.index] < 0) return;  // background, where values have changed since
                  if (grid.most_moves > 1 && !group.holds(grid, neighbour.index)) return;
                  const Index a = root_in_tree(tree, cell.index, compresses);
                  const Index b = root_in_tree(tree, neighbour.index, compresses);
                  unite_trees(tree, labels, a, b, true);
                });
              });
        }
      });
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads) collect_trees(int64_t sites, Index* tree, Index* labels) {
  for (int64_t i = grid_thread(); i < sites; i += grid_threads()) {
    const Index root = root_in_tree(tree, Index(i), false);
    if (tree[i] >= 0) Concurrent::store(labels + i, Concurrent::load(labels + root));
  }
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads) flatten_tiles(int64_t sites, Index* labels) {
  for (int64_t i = grid_thread(); i < sites; i += grid_threads()) {
    const Index above = Concurrent::load(labels + i);
    if (above >= 0) find_from<Concurrent, Jump::kSingle>(labels, Index(i), above);
  }
}

}
