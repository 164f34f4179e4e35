// Connected components of small items on the GPU, each by a cluster of blocks, in one launch. The default
// where an item fits the shared memory of a cluster.
//
// What: fills label[i] with the smallest index of i's component in its item or with its number, or -1 or 0
// where there is background.
// How: elements in the order of the item are dealt in slabs to the blocks of the cluster, a round for all
// threads after the other; a warp has 32 elements beside each other. Parents are in shared memory:
//
//    item     0 ............................................ n - 1
//    slabs    | block 0          | block 1          | block 2    |
//    rounds   | threads | threads | threads | threads | threads |
//
//    start    an element is put under the first one of its run along the row in the warp
//    unite    links within a slab are united, and roots noted, a bit each
//    cross    links between slabs, and around periodic axes, are united through the cluster
//    settle   the root of each slab's component is searched through the cluster, by that component's root
//    number   those that are roots of all are counted and numbered; other slabs read the numbers
//    write    each element follows its parents within the slab
//
// An entry that is settled holds ~(1 + root), later ~number; background holds ~0 from the beginning.
//
// The values may be memory that its owner changes meanwhile: where a neighbour is background for another
// thread, a path ends there, and that component keeps a root of its own.
//
// Cost: values read once, those beside slabs again; labels written once; 4 bytes of shared memory an element
// and a copy of its value. Some 150 instructions an element, four barriers of a cluster, one launch.
//
// Source: union–find in parts, then at their borders, as Oliveira and Lotufo 2010; by clusters it is ours.
#pragma once

#include "core/union_find.h"
#include "cuda/core/cluster.cuh"
#include "cuda/core/scan.cuh"
#include "cuda/grid/element_links.cuh"

namespace conncomp {

// The entries of an item, each in the shared memory of its block.
template <int blocks, int threads>
struct ClusterEntries {
  int32_t* entries;  // of this block
  int32_t rounds;
  uint32_t reciprocal;  // of rounds, times 2^24 and rounded up: exact for less than a thousand
  int block;

  __device__ ClusterEntries(int32_t* entries, int32_t rounds)
      : entries(entries),
        rounds(rounds),
        reciprocal(((1u << 24) + uint32_t(rounds) - 1) / uint32_t(rounds)),
        block(block_of_cluster<blocks>()) {}

  __device__ int32_t* operator+(int32_t i) const {
    if constexpr (blocks == 1) return entries + i;
    // A compiler may ask for the address ahead of the question whether there is an entry: no block beyond.
    const int owner = int(uint32_t(i) / threads * reciprocal >> 24) & (blocks - 1);
    int32_t* const here = entries + (i - owner * rounds * threads);
    return owner == block ? here : in_block_of_cluster(here, owner);
  }
};

// An element on its way through a slab, in steps of as many elements as there are threads.
template <int rank>
struct Walk {
  int32_t at[rank], step[rank];

  __device__ Walk(const Grid<rank>& grid, int32_t element, int32_t threads) {
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      const int32_t length = int32_t(grid.axes[k].length);
      at[k] = k == 0 ? element : element % length;
      step[k] = k == 0 ? threads : threads % length;
      element /= length;
      threads /= length;
    }
  }
  __device__ void advance(const Grid<rank>& grid) {
    int32_t carry = 0;
#pragma unroll
    for (int k = rank - 1; k >= 0; --k) {
      at[k] += step[k] + carry;
      const int32_t length = int32_t(grid.axes[k].length);
      carry = k > 0 && at[k] >= length;
      if (carry) at[k] -= length;
    }
  }
  __device__ int64_t offset(const Grid<rank>& grid) const {
    int64_t sum = 0;
#pragma unroll
    for (int k = 0; k < rank; ++k) sum += at[k] * grid.axes[k].value_stride;
    return sum;
  }
};

// What a block has of an item.
template <class Rule, int blocks, int threads, int rank>
struct Slab {
  using Value = typename Rule::Value;
  using Site = typename Rule::Site;
  using S = typename Grid<rank>::LastSteps;
  static constexpr int kAxes = Grid<rank>::kLastAxes, kLeft = S::kNoStep - 1;
  static constexpr int kAtOnce = 4;  // rounds whose values are on their way at the same time

  const Grid<rank>& grid;
  const Rule& rule;
  const Value* values;
  int32_t size, first, rounds;  // of the item; the index of the first element here
  Site* site;
  int32_t* parent;
  uint32_t *starts, *roots, *numbered;  // bits of elements: first ones of runs, roots here, roots of all
  int32_t* numbers_before;              // a word of `numbered`
  uint16_t* others;                     // steps along which an element is to be united, a bit each
  int32_t* count;                       // of roots of all here

  // The memory is that of ``slab_bytes`` in clustered.py.
  __device__ Slab(const Grid<rank>& grid, const Rule& rule, const Value* values, int32_t rounds,
                  unsigned char* memory)
      : grid(grid),
        rule(rule),
        values(values),
        size(int32_t(grid.cells_of_item())),
        first(block_of_cluster<blocks>() * rounds * threads),
        rounds(rounds) {
    const int elements = rounds * threads, words = elements / kWarp;
    site = reinterpret_cast<Site*>(memory);
    parent = reinterpret_cast<int32_t*>(site + elements);
    starts = reinterpret_cast<uint32_t*>(parent + elements);
    roots = starts + words;
    numbered = roots + words;
    numbers_before = reinterpret_cast<int32_t*>(numbered + words);
    count = numbers_before + words;
    others = reinterpret_cast<uint16_t*>(count + 1);
  }

  __device__ int word_of(int round) const { return round * (threads / kWarp) + int(threadIdx.x) / kWarp; }
  __device__ int place_of(int round) const { return round * threads + int(threadIdx.x); }
  __device__ bool has_bit(const uint32_t* bits, int round) const {
    return bits[word_of(round)] >> lane() & 1;
  }
  // The lane where the run of an element begins in its warp, and the index of that element.
  __device__ int lane_of_start(int place) const {
    return kWarp - 1 - __clz(int(starts[place / kWarp] & (kAllLanes >> (kWarp - 1 - place % kWarp))));
  }
  __device__ int32_t start_of(int place) const {
    return first + place - place % kWarp + lane_of_start(place);
  }
  // Entries by the index in the item.
  struct Entries {
    int32_t* entries;
    int32_t first;
    __device__ int32_t* operator+(int32_t i) const { return entries + (i - first); }
  };
  __device__ Entries here() const { return {parent, first}; }
  __device__ ClusterEntries<blocks, threads> everywhere() const { return {parent, rounds}; }
  __device__ Walk<rank> walk() const { return {grid, first + int32_t(threadIdx.x), threads}; }
  // Calls body(round, index in the item) for the elements of this thread.
  template <class Body>
  __device__ void for_each_round(Body&& body) const {
    for (int round = 0; round < rounds; ++round) body(round, first + place_of(round));
  }

  // Reads all values, and puts elements under the first ones of their runs.
  __device__ void start() const {
    Walk<rank> walk = this->walk();
    const bool left_is_neighbour = grid.has_step(kLeft);
    for (int begin = 0; begin < rounds; begin += kAtOnce) {
      Site sites[kAtOnce];
      bool inside[kAtOnce], row_begins[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        inside[k] = begin + k < rounds && first + place_of(begin + k) < size;
        row_begins[k] = walk.at[rank - 1] == 0;
        sites[k] = inside[k] ? rule.site(values, walk.offset(grid)) : Site{};
        walk.advance(grid);
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (begin + k < rounds) site[place_of(begin + k)] = sites[k];
      __syncwarp();
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        if (begin + k >= rounds) break;
        const int place = place_of(begin + k);
        const bool foreground = inside[k] && !rule.is_background(sites[k]);
        const bool linked = foreground && left_is_neighbour && lane() > 0 && !row_begins[k] &&
                            rule.linked(values, sites[k], site[place - 1], 0, false);
        const uint32_t starts_of_warp = ~__ballot_sync(kAllLanes, linked);
        const int start = kWarp - 1 - __clz(int(starts_of_warp & (kAllLanes >> (kWarp - 1 - lane()))));
        parent[place] = foreground ? first + place - lane() + start : -1;
        if (lane() == 0) starts[word_of(begin + k)] = starts_of_warp;
      }
    }
  }

  // Puts each run under one that it touches ahead of it in the slab, which needs no atomics as nobody else
  // writes to its first element; notes what else there is to unite.
  __device__ void hook_runs() const {
    Walk<rank> walk = this->walk();
    const int last = min(size - first, rounds * threads) - 1;
    for_each_round([&](int round, int32_t) {
      const int place = place_of(round);
      uint32_t needed = 0;
      if (place <= last && parent[place] >= 0) {
        uint32_t similar = 0;
        const Site& from = site[place];
#pragma unroll
        for (int step = 0; step < S::kSteps; ++step) {
          if (step == S::kNoStep) continue;
          const int to = place + distance(step);
          if (to >= 0 && to <= last && stays(walk, step) &&
              similar_at(rule, grid, values, from, site[to], step))
            similar |= 1u << step;
        }
        needed = needed_of(similar, false);
        if (lane() > 0) needed &= ~(1u << kLeft);  // by `start`
      }
      const uint32_t lanes_before = (1u << lane()) - 1, touching = __ballot_sync(kAllLanes, needed != 0);
      const int begin = lane_of_start(place);  // of the run
      if (needed != 0 && (touching & lanes_before) >> begin == 0) {
        parent[place - lane() + begin] = start_of(place + distance_of(needed));
        needed &= needed - 1;
      }
      others[place] = uint16_t(needed);
      walk.advance(grid);
    });
  }
  // Unites the others, then points the first elements of runs to their roots, and notes these.
  __device__ void unite_within() const {
    for_each_round([&](int round, int32_t element) {
      for (uint32_t needed = others[place_of(round)]; needed != 0; needed &= needed - 1)
        unite<InBlock>(here(), element, start_of(place_of(round) + distance_of(needed)));
    });
    __syncthreads();
    for_each_round([&](int round, int32_t element) {
      const int32_t above = InBlock::load(parent + place_of(round));
      bool is_root = false;
      if (has_bit(starts, round) && above >= 0) {
        const int32_t root = find_from<InBlock>(here(), element, above);
        is_root = root == element;
        if (root != above) InBlock::store(parent + place_of(round), root);
      }
      const uint32_t roots_of_warp = __ballot_sync(kAllLanes, is_root);
      if (lane() == 0) roots[word_of(round)] = roots_of_warp;
    });
  }

  // Unites elements that are linked to other slabs or around a periodic axis.
  __device__ void unite_across() const {
    int32_t reach = 0;
    bool is_periodic = false;
#pragma unroll
    for (int k = 0; k < rank; ++k) {
      reach += int32_t(grid.axes[k].index_stride);
      is_periodic |= bool(grid.axes[k].periodic);
    }
    const bool everywhere = rank > kAxes || is_periodic;
    if (!everywhere && first == 0) return;
    Walk<rank> walk = this->walk();
    for_each_round([&](int round, int32_t element) {
      // Of a whole warp, as its lanes leave out what others do.
      if (!everywhere && place_of(round) - lane() > reach) return;
      const bool present = element < size && InBlock::load(parent + place_of(round)) >= 0;
      Cell<rank, int32_t> cell{};
#pragma unroll
      for (int k = 0; k < rank; ++k) cell.at[k] = walk.at[k];
      cell.index = element;
      cell.offset = present ? walk.offset(grid) : 0;
      unite_across(cell, site[place_of(round)], present);
      walk.advance(grid);
    });
  }

  // Points the roots here to those of all, and counts and numbers those that are that.
  __device__ void settle() const {
    for_each_round([&](int round, int32_t element) {
      bool is_root = false;
      if (has_bit(roots, round)) {
        int32_t root = element;
        for (int32_t above; (above = InBlock::load(everywhere() + root)) != root; root = above)
          if (above < 0) {  // settled already, or background
            root = above == -1 ? element : ~above - 1;
            break;
          }
        is_root = root == element;
        InBlock::store(parent + place_of(round), ~(1 + root));
      }
      const uint32_t numbered_of_warp = __ballot_sync(kAllLanes, is_root);
      if (lane() == 0) numbered[word_of(round)] = numbered_of_warp;
    });
    __syncthreads();
    const int words = rounds * threads / kWarp, each = (words + threads - 1) / threads;
    const int begin = int(threadIdx.x) * each, end = min(begin + each, words);
    int sum = 0;
    for (int word = begin; word < end; ++word) {
      numbers_before[word] = sum;
      sum += __popc(numbered[word]);
    }
    int total;
    const int before = block_scan<threads>(sum, total);
    for (int word = begin; word < end; ++word) numbers_before[word] += before;
    if (threadIdx.x == 0) *count = total;
  }

  // How many roots there are in the first `end` blocks.
  __device__ int32_t count_before(int end) const {
    int32_t sum = 0;
    for (int block = 0; block < end; ++block)
      sum += blocks == 1 ? *count : *in_block_of_cluster(count, block);
    return sum;
  }

  // Gives the roots of all their numbers.
  __device__ void number() const {
    const int32_t before = 1 + count_before(block_of_cluster<blocks>());
    for_each_round([&](int round, int32_t) {
      if (!has_bit(numbered, round)) return;
      const uint32_t earlier = numbered[word_of(round)] & ((1u << lane()) - 1);
      const int32_t number = before + numbers_before[word_of(round)] + __popc(earlier);
      InBlock::store(parent + place_of(round), ~number);
    });
  }
  // Gives the other roots of this slab the numbers of those.
  __device__ void fetch_numbers() const {
    for_each_round([&](int round, int32_t) {
      if (!has_bit(roots, round) || has_bit(numbered, round)) return;
      int32_t* const entry = parent + place_of(round);
      InBlock::store(entry, InBlock::load(everywhere() + (~InBlock::load(entry) - 1)));
    });
  }

  // Writes what the roots of this slab hold as the labels of all, less `from`.
  template <class Label>
  __device__ void write(Label* label, int32_t from) const {
    for_each_round([&](int round, int32_t element) {
      int32_t held = parent[place_of(round)];
      while (held >= 0) held = parent[held - first];
      if (element < size) label[element] = Label(~held - from);
    });
  }

 private:
  // How far a step leads, in elements.
  __device__ int32_t distance(int step) const {
    int32_t sum = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) sum += S::step(step, a) * int32_t(grid.axes[rank - 1 - a].index_stride);
    return sum;
  }
  // That of the lowest step of a set, which is no constant.
  __device__ int32_t distance_of(uint32_t steps) const {
    int code = __ffs(int(steps)) - 1;
    int32_t sum = 0;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      sum += (code % 3 - 1) * int32_t(grid.axes[rank - 1 - a].index_stride);
      code /= 3;
    }
    return sum;
  }
  // Whether a step leads out of the item nowhere.
  __device__ bool stays(const Walk<rank>& walk, int step) const {
    bool stays = true;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int32_t at = walk.at[rank - 1 - a];
      if (S::step(step, a) < 0) stays &= at > 0;
      if (S::step(step, a) > 0) stays &= at + 1 < int32_t(grid.axes[rank - 1 - a].length);
    }
    return stays;
  }
  __device__ uint32_t needed_of(uint32_t similar, bool row_begins) const {
    return NeededUnions<kAxes>::template among<Rule::kTransitive>(similar, int(grid.connectivity),
                                                                  grid.last_neighbours(), row_begins);
  }

  // The root in its slab that an element leads to, or a root that has got above that: an element leads to the
  // first one of a run, and that to such a root. None if it is background for another thread.
  __device__ int32_t root_in_slab(int32_t element) const {
    const int32_t above = InBlock::load(everywhere() + element);
    return above < 0 ? -1 : InBlock::load(everywhere() + above);
  }
  // Unites roots of slabs. Only such entries get parents elsewhere, so that `write` need not leave the slab.
  __device__ void unite_roots(int32_t a, int32_t b) const {
    hook<InBlock>(everywhere(), find<InBlock>(everywhere(), a), find<InBlock>(everywhere(), b));
  }

  // All lanes of a warp call it, with elements that are `present` or not.
  __device__ void unite_across(const Cell<rank, int32_t>& cell, const Site& from, bool present) const {
    if constexpr (rank > kAxes) {
      if (!present) return;
      for_each_neighbour(grid, cell, [&](const Neighbour<int32_t>& neighbour) {
        if (neighbour.index >= cell.index || !linked_to(rule, values, from, neighbour)) return;
        const int32_t a = root_in_slab(cell.index), b = root_in_slab(neighbour.index);
        if (a >= 0 && b >= 0) unite_roots(a, b);
      });
    } else {
      uint32_t similar = 0, outside = 0;
#pragma unroll
      for (int step = 0; step < S::kSteps; ++step) {
        if (step == S::kNoStep || !present) continue;
        Cell<rank, int32_t> neighbour = cell;
        bool wraps = false;
        if (!move_to_neighbour(step, neighbour, wraps)) continue;
        if (wraps || neighbour.index < first) outside |= 1u << step;
        if (similar_at(rule, grid, values, from, rule.site(values, neighbour.offset), step))
          similar |= 1u << step;
      }
      uint32_t needed = outside & needed_of(similar, cell.at[rank - 1] == 0);
      for (; __any_sync(kAllLanes, needed != 0); needed &= needed - 1) {
        int32_t a = -1, b = -1;
        if (needed != 0) {
          Cell<rank, int32_t> neighbour = cell;
          bool wraps = false;
          move_to_neighbour(__ffs(int(needed)) - 1, neighbour, wraps);
          a = root_in_slab(cell.index);
          b = root_in_slab(neighbour.index);
        }
        // Most lanes have the same two to unite: one does.
        const uint64_t pair = uint64_t(uint32_t(a)) << 32 | uint32_t(b);
        const uint32_t same = __match_any_sync(kAllLanes, static_cast<unsigned long long>(pair));
        if (a >= 0 && b >= 0 && a != b && lane() == __ffs(int(same)) - 1) unite_roots(a, b);
        __syncwarp();
      }
    }
  }
  // Moves a cell by a step, around periodic axes, too; returns whether there is a neighbour.
  __device__ bool move_to_neighbour(int step, Cell<rank, int32_t>& cell, bool& wraps) const {
    bool exists = true;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const GridAxis& axis = grid.axes[rank - 1 - a];
      const int32_t at = cell.at[rank - 1 - a];
      int32_t to = at + S::step(step, a);
      if (to < 0 || to >= axis.length) {
        exists &= bool(axis.periodic);
        wraps = true;
        to = to < 0 ? int32_t(axis.length - 1) : 0;
      }
      cell.move(grid, rank - 1 - a, to - at);
    }
    return exists;
  }
};

// A cluster an item.
template <class Rule, int blocks, int threads, bool consecutive, int rank, class Label>
__global__ void CONNCOMP_CLUSTER(blocks) __launch_bounds__(threads)
    label_items(Grid<rank> grid, Rule rule, int32_t rounds, const typename Rule::Value* __restrict__ values,
                Label* __restrict__ label, int64_t* __restrict__ components) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(unsigned char, memory);
  const int64_t item = blockIdx.x / blocks;
  const Slab<Rule, blocks, threads, rank> slab(grid, rule, values + item * grid.item_stride, rounds, memory);
  slab.start();
  __syncthreads();
  slab.hook_runs();
  __syncthreads();
  slab.unite_within();
  meet_cluster<blocks>();
  slab.unite_across();
  meet_cluster<blocks>();
  slab.settle();
  meet_cluster<blocks>();
  if (consecutive) {
    slab.number();
    meet_cluster<blocks>();
    slab.fetch_numbers();
  }
  const bool counts = block_of_cluster<blocks>() == 0 && threadIdx.x == 0;
  if (counts) components[item] = slab.count_before(blocks);
  come_to_cluster<blocks>();
  __syncthreads();
  slab.write(label + item * grid.cells_of_item(), consecutive ? 0 : 1);
  wait_for_cluster<blocks>();
}

}  // namespace conncomp
