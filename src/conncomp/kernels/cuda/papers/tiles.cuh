// Connected components of an array or of a lattice with bonds, first within tiles, then across them.
//
// What: fills label[i] with the smallest index of i's component, or -1 where there is background.
// How: every site starts with its index (start_labels). Each block of threads labels a tile of B sites a
// side in shared memory, in one of three ways: one thread searches breadth-first (local_bfs) or goes
// through the bonds with union-find on balanced trees (local_union_find), or all threads lower the labels
// at the ends of bonds until none changes (local_self_label; a thread has one site, four, or a column).
// Then tiles are consolidated, in one of two ways. Relaxation: the local roots at the ends of every bond
// between tiles are stored (prepare_relax) and lower each other's label until none changes (relax). Sewing:
// the bonds between tiles unite trees of labels (sew), on a first level those within groups of two tiles a
// side, on the next within groups of four, ..., at last those across periodic borders. At the end every
// site takes the label of its local root, or of its tree (flatten_tiles).
// A bond is a pair of neighbours that the link rule connects; with the rule `Bonds` it is given. Unlike in
// the paper, the trees of sewing are hooked by index rather than size, since the root must be the smallest
// one; so whole seams are sewn at once, a thread a site.
// Cost: with C bonds a side of a tile, relaxation stores 2 C indices for each, sewing nothing beyond the
// labels. Local work: B^2 steps of one thread (bfs, union-find) or about B passes of all (self-labelling).
// Relaxation takes about as many sweeps as tiles lie on a path through a component.
// Source: Weigel 2011, section II.B and C.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/cells.cuh"

namespace conncomp {

constexpr int kTileThreads = 256;

// ------------------------------------------------------------------------------------------ inside tiles

// Sites of a tile are numbered in C order, so the smallest of a component there is the smallest in the array
// too. Neighbours that come later lie in these directions: one of each pair of opposite ones.
template <int rank>
constexpr int kDirections = Steps<rank>::kNoStep;

// The code of the step in a direction.
template <int rank>
__device__ inline int code_of(int direction) {
  return Steps<rank>::kNoStep + 1 + direction;
}

// A tile of 2^log sites a side.
template <int rank, class Index>
struct Tile {
  Cell<rank, Index> first;
  int log;

  __device__ int sites() const { return 1 << (log * rank); }
  __device__ int at(int site, int axis) const { return site >> (log * (rank - 1 - axis)) & ((1 << log) - 1); }
  // How much further than a site its neighbour in a direction is numbered.
  __device__ int distance(int direction) const {
    int distance = 0;
#pragma unroll
    for (int a = rank - 1; a >= 0; --a)
      distance = (distance << log) + Steps<rank>::step(code_of<rank>(direction), a);
    return distance;
  }
  __device__ bool inside(const Grid<rank>& grid, int site) const {
    bool all = true;
    for (int k = 0; k < rank; ++k) all &= first.at[k] + at(site, k) < grid.axes[k].length;
    return all;
  }
  __device__ Index index(const Grid<rank>& grid, int site) const {
    Index index = first.index;
    for (int k = 0; k < rank; ++k) index += Index(at(site, k)) * Index(grid.axes[k].index_stride);
    return index;
  }
  __device__ int64_t offset(const Grid<rank>& grid, int site) const {
    int64_t offset = first.offset;
    for (int k = 0; k < rank; ++k) offset += at(site, k) * grid.axes[k].value_stride;
    return offset;
  }
};

// Calls body(tile) for those of this block; all its threads call together.
template <class Index, int rank, class Body>
__device__ inline void for_each_tile(const Grid<rank>& grid, int log, Body&& body) {
  int64_t lengths[rank], tiles = grid.items;
  for (int k = 0; k < rank; ++k) {
    lengths[k] = (grid.axes[k].length + (1 << log) - 1) >> log;
    tiles *= lengths[k];
  }
  for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    Tile<rank, Index> tile{{}, log};
    int64_t quotient = number;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      tile.first.move(grid, k, Index(quotient % lengths[k] << log));
      quotient /= lengths[k];
    }
    tile.first.move_to_item(grid, quotient);
    body(tile);
    __syncthreads();  // before shared memory is used again
  }
}

// Fills links[site] with a bit for each direction in which a site is linked to a neighbour in the tile. As
// links lead from foreground to later sites, the first site of a component there is foreground, even where
// values have changed since background was labelled.
template <class Rule, int rank, class Index>
__device__ inline void find_links(const Grid<rank>& grid, const Rule& rule, const Tile<rank, Index>& tile,
                                  const typename Rule::Value* __restrict__ values, const Index* labels,
                                  uint16_t* links) {
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
          const int k = rank - 1 - a, step = Steps<rank>::step(code, a), x = tile.at(site, k) + step;
          if (step == 0) continue;
          inside &= x >= 0 && x < 1 << tile.log && tile.first.at[k] + x < grid.axes[k].length;
          neighbour_offset += step * grid.axes[k].value_stride;
        }
        if (inside && grid.neighbours.has(code) &&
            rule.linked(values, from, rule.site(values, neighbour_offset), Steps<rank>::highest_axis(code),
                        true))
          directions |= uint16_t(1 << direction);
      }
    }
    links[site] = directions;
  }
}

// Writes the labels of a tile; root(site) is the first site of its component there.
template <int rank, class Index, class Root>
__device__ inline void write_tile(const Grid<rank>& grid, const Tile<rank, Index>& tile, Index* labels,
                                  Root&& root) {
  for (int site = int(threadIdx.x); site < tile.sites(); site += int(blockDim.x)) {
    if (!tile.inside(grid, site)) continue;
    const Index index = tile.index(grid, site);
    if (labels[index] >= 0) labels[index] = tile.index(grid, root(site));
  }
}

// Shared memory: a label, a place in the queue of two bytes, and links for each site.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kWarp)
    local_bfs(Grid<rank> grid, Rule rule, int32_t log, const typename Rule::Value* __restrict__ values,
              Index* labels) {
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

// Shared memory: a parent, the first site of a tree, and links for each site.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kWarp)
    local_union_find(Grid<rank> grid, Rule rule, int32_t log, const typename Rule::Value* __restrict__ values,
                     Index* labels) {
  const int sites = 1 << (log * rank);
  CONNCOMP_DYNAMIC_SHARED(int, parent);  // of a root: the size of its tree, negative
  int* first = parent + sites;
  uint16_t* links = reinterpret_cast<uint16_t*>(first + sites);
  const auto root_of = [&](int site) {
    while (parent[site] >= 0) site = parent[site];
    return site;
  };
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile) {
    for (int site = int(threadIdx.x); site < sites; site += int(blockDim.x))
      parent[site] = -1, first[site] = site;
    find_links(grid, rule, tile, values, labels, links);
    __syncthreads();
    for (int site = 0; threadIdx.x == 0 && site < sites; ++site)
      for (unsigned int directions = links[site]; directions != 0; directions &= directions - 1) {
        const int a = root_of(site), b = root_of(site + tile.distance(__ffs(int(directions)) - 1));
        if (a == b) continue;
        const int large = parent[a] <= parent[b] ? a : b, small = large == a ? b : a;
        parent[large] += parent[small];
        parent[small] = large;
        if (first[small] < first[large]) first[large] = first[small];
      }
    __syncthreads();
    write_tile(grid, tile, labels, [&](int site) { return first[root_of(site)]; });
  });
}

// `square`: a thread has two sites by two, along the last two axes; otherwise one, or several one below the
// other along the first axis, as many as there are fewer threads than sites. Shared memory: a label and
// links for each site.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(1024)
    local_self_label(Grid<rank> grid, Rule rule, int32_t log, bool square,
                     const typename Rule::Value* __restrict__ values, Index* labels) {
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
          const int neighbour = site + tile.distance(__ffs(int(directions)) - 1);
          const int a = InBlock::load(first + site), b = InBlock::load(first + neighbour);
          if (a == b) continue;
          if (a < b)
            InBlock::fetch_min(first + neighbour, a);
          else
            InBlock::fetch_min(first + site, b);
          changed = true;
        }
      }
      return changed;
    });
    write_tile(grid, tile, labels, [&](int site) { return InBlock::load(first + site); });
  });
}

// ------------------------------------------------------------------------------------------ across tiles

// Planes of sites on the border between tiles, across each axis: at first, first + spacing, ..., or at the
// end of the axis. Laid out as in tiles.py.
template <int rank>
struct Seams {
  int64_t first, spacing;
  int64_t planes[rank];
};

// Calls body(number, cell, axis) for the sites of the seams; the axis is the one that is crossed.
template <class Index, int rank, class Body>
__device__ inline void for_each_at_seams(const Grid<rank>& grid, const Seams<rank>& seams, Body&& body) {
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

template <class Index>
struct RootPair {
  Index a, b;
};

// Stores the local roots at both ends of each bond that leaves the seams: the ones of site s in pairs[s],
// pairs[s + total], ..., as many as neighbours there can be; -1 where there is no bond. `__grid_constant__`
// spares each thread a copy of what is indexed by an axis.
template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    prepare_relax(const __grid_constant__ Grid<rank> grid, Rule rule,
                  const __grid_constant__ Seams<rank> seams, int32_t neighbours, int64_t total,
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
__global__ void __launch_bounds__(kTileThreads)
    relax(int64_t count, const RootPair<Index>* __restrict__ pairs, Index* labels, int64_t* last_change,
          int64_t sweep) {
  if (!is_due(last_change, sweep)) return;
  bool changed = false;
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const RootPair<Index> pair = pairs[i];
    if (pair.a == pair.b) continue;
    const Index a = Shared::load(labels + pair.a), b = Shared::load(labels + pair.b);
    if (a == b) continue;
    if (a < b)
      Shared::fetch_min(labels + pair.b, a);
    else
      Shared::fetch_min(labels + pair.a, b);
    changed = true;
  }
  report_changes(last_change, sweep, changed);
}

template <class Rule, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    sew(const __grid_constant__ Grid<rank> grid, Rule rule, const __grid_constant__ Seams<rank> seams,
        const typename Rule::Value* __restrict__ values, Index* labels) {
  for_each_at_seams<Index>(grid, seams, [&](int64_t, const Cell<rank, Index>& cell, int axis) {
    if (Shared::load(labels + cell.index) < 0) return;
    const auto site = rule.site(values, cell.offset);
    for_each_neighbour_along(grid, cell, axis, 1, [&](const Neighbour<Index>& neighbour) {
      if (linked_to(rule, values, site, neighbour)) unite<Shared>(labels, cell.index, neighbour.index);
    });
  });
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads) flatten_tiles(int64_t sites, Index* labels) {
  for (int64_t i = grid_thread(); i < sites; i += grid_threads()) {
    const Index above = Shared::load(labels + i);
    if (above >= 0) find_from<Shared, Jump::kSingle>(labels, Index(i), above);
  }
}

}  // namespace conncomp
