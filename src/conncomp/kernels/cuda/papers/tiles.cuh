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
// What connects two sites is a template parameter: equal values, or bonds that are given. Unlike in the
// paper, the trees of sewing are hooked by index rather than size, since the root must be the smallest one;
// so whole seams are sewn at once, a thread a site.
// Cost: with C bonds a side of a tile, relaxation stores 2 C indices for each, sewing nothing beyond the
// labels. Local work: B^2 steps of one thread (bfs, union-find) or about B passes of all (self-labelling).
// Relaxation takes about as many rounds as tiles lie on a path through a component.
// Source: Weigel 2011, section II.B and C.
#pragma once

#include "core/union_find.h"
#include "cuda/grid/cells.cuh"

namespace conncomp {

// Whether a site is connected to the next one along an axis, or in the direction to another neighbour.
template <class T>
struct EqualValues {
  using Value = T;
  __device__ static bool connected(const T* __restrict__ values, int64_t from, int64_t to, int) {
    return values[from] == values[to];
  }
};

// A bit for the bond from each site to the next along each axis: bit 0 along the last axis, 1 along the one
// before, ...
template <int rank>
struct Bonds {
  using Value = uint8_t;
  __device__ static bool connected(const uint8_t* __restrict__ bonds, int64_t from, int64_t, int axis) {
    return bonds[from] >> (rank - 1 - axis) & 1;
  }
};

constexpr int kTileThreads = 256;

// ------------------------------------------------------------------------------------------ inside tiles

// Sites of a tile are numbered in C order, so the smallest of a component there is the smallest in the array
// too. Neighbours that come later lie in these directions: one of each pair of opposite ones.
template <int rank>
constexpr int kDirections = rank == 2 ? 4 : 13;

// The step of a direction along an axis: steps -1, 0, 1 are the digits, to base 3, of directions and the
// opposite ones in a row.
template <int rank>
__device__ inline int step_of(int direction, int axis) {
  int code = kDirections<rank> + 1 + direction;
  for (int k = rank - 1; k > axis; --k) code /= 3;
  return code % 3 - 1;
}

// A tile of 2^log sites a side.
template <int rank, class Index>
struct Tile {
  Cell<rank, Index> first;
  int log;

  __device__ int sites() const { return 1 << (log * rank); }
  __device__ int at(int site, int axis) const { return site >> (log * (rank - 1 - axis)) & ((1 << log) - 1); }
  // How much further than a site its neighbour in a direction is numbered.
  __device__ int step(int direction) const {
    int steps = 0;
    for (int k = 0; k < rank; ++k) steps = (steps << log) + step_of<rank>(direction, k);
    return steps;
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
  int64_t lengths[rank], tiles = 1;
  for (int k = 0; k < rank; ++k) {
    lengths[k] = (grid.axes[k].length + (1 << log) - 1) >> log;
    tiles *= lengths[k];
  }
  for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    Tile<rank, Index> tile{{}, log};
    int64_t rest = number;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      tile.first.move(grid, k, Index(rest % lengths[k] << log));
      rest /= lengths[k];
    }
    body(tile);
    __syncthreads();  // before shared memory is used again
  }
}

// Fills links[site] with a bit for each direction in which a site has a connected neighbour in the tile.
template <class Link, int rank, class Index>
__device__ inline void find_links(const Grid<rank>& grid, const Tile<rank, Index>& tile,
                                  const typename Link::Value* __restrict__ values, const Index* label,
                                  uint16_t* links) {
  for (int site = int(threadIdx.x); site < tile.sites(); site += int(blockDim.x)) {
    uint16_t found = 0;
    if (tile.inside(grid, site) && label[tile.index(grid, site)] >= 0) {
      const int64_t from = tile.offset(grid, site);
#pragma unroll
      for (int direction = 0; direction < kDirections<rank>; ++direction) {
        int moves = 0, axis = 0;
        bool inside = true;
        int64_t to = from;
#pragma unroll
        for (int k = 0; k < rank; ++k) {
          const int step = step_of<rank>(direction, k), x = tile.at(site, k) + step;
          if (step == 0) continue;
          inside &= x >= 0 && x < 1 << tile.log && tile.first.at[k] + x < grid.axes[k].length;
          to += step * grid.axes[k].value_stride;
          ++moves;
          axis = k;
        }
        if (inside && moves <= grid.connectivity && Link::connected(values, from, to, axis))
          found |= uint16_t(1 << direction);
      }
    }
    links[site] = found;
  }
}

// Writes the labels of a tile; root(site) is the first site of its component there.
template <int rank, class Index, class Root>
__device__ inline void write_tile(const Grid<rank>& grid, const Tile<rank, Index>& tile, Index* label,
                                  Root&& root) {
  for (int site = int(threadIdx.x); site < tile.sites(); site += int(blockDim.x)) {
    if (!tile.inside(grid, site)) continue;
    const Index index = tile.index(grid, site);
    if (label[index] >= 0) label[index] = tile.index(grid, root(site));
  }
}

// Shared memory: a label, a place in the queue of two bytes, and links for each site.
template <class Link, int rank, class Index>
__global__ void __launch_bounds__(kWarp)
    local_bfs(Grid<rank> grid, int32_t log, const typename Link::Value* __restrict__ values, Index* label) {
  const int sites = 1 << (log * rank);
  CONNCOMP_DYNAMIC_SHARED(int, seed_of);
  uint16_t* queue = reinterpret_cast<uint16_t*>(seed_of + sites);
  uint16_t* links = queue + sites;
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile) {
    constexpr int kUnseen = -1;
    for (int site = int(threadIdx.x); site < sites; site += int(blockDim.x)) seed_of[site] = kUnseen;
    find_links<Link>(grid, tile, values, label, links);
    __syncthreads();
    for (int seed = 0; threadIdx.x == 0 && seed < sites; ++seed) {
      if (seed_of[seed] != kUnseen) continue;
      int taken = 0, put = 0;
      const auto reach = [&](int site) {
        if (seed_of[site] != kUnseen) return;
        seed_of[site] = seed;
        queue[put++] = uint16_t(site);
      };
      reach(seed);
      while (taken < put) {
        const int site = queue[taken++];
        for (int direction = 0; direction < kDirections<rank>; ++direction) {
          const int step = tile.step(direction);
          if (links[site] >> direction & 1) reach(site + step);
          if (site >= step && links[site - step] >> direction & 1) reach(site - step);
        }
      }
    }
    __syncthreads();
    write_tile(grid, tile, label, [&](int site) { return seed_of[site]; });
  });
}

// Shared memory: a parent, the first site of a tree, and links for each site.
template <class Link, int rank, class Index>
__global__ void __launch_bounds__(kWarp)
    local_union_find(Grid<rank> grid, int32_t log, const typename Link::Value* __restrict__ values,
                     Index* label) {
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
    find_links<Link>(grid, tile, values, label, links);
    __syncthreads();
    for (int site = 0; threadIdx.x == 0 && site < sites; ++site)
      for (unsigned int rest = links[site]; rest != 0; rest &= rest - 1) {
        const int a = root_of(site), b = root_of(site + tile.step(__ffs(int(rest)) - 1));
        if (a == b) continue;
        const int large = parent[a] <= parent[b] ? a : b, small = large == a ? b : a;
        parent[large] += parent[small];
        parent[small] = large;
        if (first[small] < first[large]) first[large] = first[small];
      }
    __syncthreads();
    write_tile(grid, tile, label, [&](int site) { return first[root_of(site)]; });
  });
}

// `square`: a thread has two sites by two, along the last two axes; otherwise one, or several one below the
// other along the first axis, as many as there are fewer threads than sites. Shared memory: a label and
// links for each site.
template <class Link, int rank, class Index>
__global__ void __launch_bounds__(1024)
    local_self_label(Grid<rank> grid, int32_t log, bool square,
                     const typename Link::Value* __restrict__ values, Index* label) {
  const int sites = 1 << (log * rank), threads = int(blockDim.x), thread = int(threadIdx.x);
  CONNCOMP_DYNAMIC_SHARED(int, local);
  uint16_t* links = reinterpret_cast<uint16_t*>(local + sites);
  const int half = (1 << log) / 2;  // squares beside each other
  const int corner = (thread / half << (log + 1)) + thread % half * 2;
  for_each_tile<Index>(grid, log, [&](const Tile<rank, Index>& tile) {
    for (int site = thread; site < sites; site += threads) InBlock::store(local + site, site);
    find_links<Link>(grid, tile, values, label, links);
    __syncthreads();
    bool changed;
    do {
      changed = false;
      for (int i = 0; i < sites / threads; ++i) {
        const int site = square ? corner + (i >> 1 << log) + (i & 1) : thread + i * threads;
        for (unsigned int rest = links[site]; rest != 0; rest &= rest - 1) {
          const int other = site + tile.step(__ffs(int(rest)) - 1);
          const int a = InBlock::load(local + site), b = InBlock::load(local + other);
          if (a == b) continue;
          if (a < b)
            InBlock::fetch_min(local + other, a);
          else
            InBlock::fetch_min(local + site, b);
          changed = true;
        }
      }
    } while (__syncthreads_or(changed));
    write_tile(grid, tile, label, [&](int site) { return InBlock::load(local + site); });
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
    int64_t rest = number, across = 0;
    int axis = 0;
    for (;; ++axis) {
      across = grid.cells() / grid.axes[axis].length;
      if (rest < seams.planes[axis] * across) break;
      rest -= seams.planes[axis] * across;
    }
    const int64_t plane = seams.first + rest / across * seams.spacing, last = grid.axes[axis].length - 1;
    Cell<rank, Index> cell = first_of_row<Index>(grid, axis, rest % across);
    cell.move(grid, axis, Index(plane < last ? plane : last));
    body(number, cell, axis);
  }
}

template <class Index>
struct RootPair {
  Index a, b;
};

// Stores the local roots at both ends of each bond that leaves the seams: the ones of site s in pairs[s],
// pairs[s + total], ..., as many as neighbours there can be; -1 where there is no bond.
template <class Link, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    prepare_relax(Grid<rank> grid, Seams<rank> seams, int32_t neighbours, int64_t total,
                  const typename Link::Value* __restrict__ values, const Index* __restrict__ label,
                  RootPair<Index>* __restrict__ pairs) {
  for_each_at_seams<Index>(grid, seams, [&](int64_t number, const Cell<rank, Index>& cell, int axis) {
    const Index mine = label[cell.index];
    int64_t slot = number;
    if (mine >= 0)
      for_each_neighbour_along(grid, cell, axis, 1, [&](Index index, int64_t offset) {
        const Index other = label[index];
        if (other < 0 || !Link::connected(values, cell.offset, offset, axis)) return;
        pairs[slot] = {mine, other};
        slot += total;
      });
    for (; slot < total * neighbours; slot += total) pairs[slot] = {Index(-1), Index(-1)};
  });
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads)
    relax(int64_t count, const RootPair<Index>* __restrict__ pairs, Index* label, int64_t round,
          int64_t* last_change) {
  bool changed = false;
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const RootPair<Index> pair = pairs[i];
    if (pair.a == pair.b) continue;
    const Index a = Shared::load(label + pair.a), b = Shared::load(label + pair.b);
    if (a == b) continue;
    if (a < b)
      Shared::fetch_min(label + pair.b, a);
    else
      Shared::fetch_min(label + pair.a, b);
    changed = true;
  }
  report_change(changed, round, last_change);
}

template <class Link, int rank, class Index>
__global__ void __launch_bounds__(kTileThreads)
    sew(Grid<rank> grid, Seams<rank> seams, const typename Link::Value* __restrict__ values, Index* label) {
  for_each_at_seams<Index>(grid, seams, [&](int64_t, const Cell<rank, Index>& cell, int axis) {
    if (Shared::load(label + cell.index) < 0) return;
    for_each_neighbour_along(grid, cell, axis, 1, [&](Index index, int64_t offset) {
      if (Link::connected(values, cell.offset, offset, axis)) unite<Shared>(label, cell.index, index);
    });
  });
}

template <class Index>
__global__ void __launch_bounds__(kTileThreads) flatten_tiles(int64_t sites, Index* label) {
  for (int64_t i = grid_thread(); i < sites; i += grid_threads()) {
    const Index above = Shared::load(label + i);
    if (above >= 0) find_from<Shared, Jump::kSingle>(label, Index(i), above);
  }
}

}  // namespace conncomp
