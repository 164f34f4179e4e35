// Many Swendsen-Wang updates of spins as bits in one launch, of lattices so small that launches would take
// most of the time. `parts` blocks share a replica, each with a box of sites, and meet within the launch: by
// hardware, if they are a cluster. A warp takes 32 sites of a row at a time, a segment.
//    draw      the bonds of the box, a thread 64 bonds of one axis (core/spins.h)
//    label     clusters within the box, in shared memory: runs of a row by bits, then unions between rows
//    publish   each site's root in its box, and join clusters by bonds between boxes, if there are several
//    flip      sites by the random numbers of their roots
// Places, of a segment and a lane, have the order of the sites, so that a cluster's smallest place is its
// smallest site. Cost: some 200 instructions a site and three axes, and a microsecond of loads a stage.
#pragma once

#include "core/union_find.h"
#include "cuda/core/barrier.cuh"
#include "cuda/models/spins.cuh"

namespace conncomp {

constexpr int kMostBoxThreads = 1024;

// The boxes that a lattice is cut into. Layout: spin_sweeps.py.
struct Boxes {
  int32_t extent[kLatticeAxes];  // along rows a multiple of 64, or no less than the lattice's
  int32_t segments, words;       // of a box, at most

  int32_t count(const Lattice& lattice, int axis) const {
    return (int32_t(lattice.length[axis]) + extent[axis] - 1) / extent[axis];
  }
};

struct Box {
  int32_t begin[kLatticeAxes], extent[kLatticeAxes];  // of its sites
  int32_t segments_of_row, words_of_row, rows;

  Box(const Boxes& boxes, const Lattice& lattice, int32_t part) : rows(1) {
    for (int k = kRowAxis; k >= 0; --k) {
      const int32_t count = boxes.count(lattice, k);
      begin[k] = part % count * boxes.extent[k];
      part /= count;
      const int32_t behind = int32_t(lattice.length[k]) - begin[k];
      extent[k] = behind < boxes.extent[k] ? behind : boxes.extent[k];
      if (k < kRowAxis) rows *= extent[k];
    }
    segments_of_row = (extent[kRowAxis] + kWarp - 1) / kWarp;
    words_of_row = (extent[kRowAxis] + kWordSites - 1) / kWordSites;
  }
  int32_t segments() const { return rows * segments_of_row; }
  int32_t words() const { return rows * words_of_row; }
  void find_row(int32_t row, int32_t (&at)[kRowAxis]) const {
    for (int k = kRowAxis - 1; k >= 0; --k) {
      at[k] = begin[k] + row % extent[k];
      row /= extent[k];
    }
  }
  static int32_t row_of(const Lattice& lattice, const int32_t (&at)[kRowAxis]) {
    return int32_t((at[0] * lattice.length[1] + at[1]) * lattice.length[2] + at[2]);
  }
};

// Up to 32 sites of a row of a box. Where lattices close, an axis's first site follows the last.
template <int axes> struct Segment {
  static constexpr int kAlongRow = axes - 1;
  int32_t first;           // site of the lattice
  Bits32 sites, faced;     // a bit for each; those that are next to a site before the box
  int32_t half, in_plane;  // which half of the box's words it is, and of those of a plane of spins
  int32_t before;          // how many segments of the box's row are before it
  // The next segment along each axis in the box, or -1, and the site after `first`; along the row of last
  // ones only.
  int32_t next[axes], next_site[axes];
  // The segment before along the other axes, or -1. An odd number of words spreads segments over the banks.
  int32_t previous[(axes - 1) | 1];

  Segment(const Box& box, const Lattice& lattice, int32_t number) {
    const int32_t row = number / box.segments_of_row, length = int32_t(lattice.length[kRowAxis]);
    before = number - row * box.segments_of_row;
    const int32_t x = box.begin[kRowAxis] + before * kWarp, end = box.begin[kRowAxis] + box.extent[kRowAxis];
    sites = end - x < kWarp ? (Bits32(1) << (end - x)) - 1 : kAllLanes;
    int32_t at[kRowAxis];
    box.find_row(row, at);
    first = Box::row_of(lattice, at) * length + x;
    bool is_first = false;
    for (int k = kLatticeAxes - axes; k < kRowAxis; ++k) is_first |= at[k] == box.begin[k];
    faced = is_first ? sites : before == 0 ? 1 : 0;
    half = row * 2 * box.words_of_row + before;
    in_plane = Box::row_of(lattice, at) * 2 * int32_t(lattice.columns()) + x / kWarp;
    const bool is_last = before == box.segments_of_row - 1, spans = box.extent[kRowAxis] == length;
    next[kAlongRow] = is_last && spans ? number - before : -1;
    next_site[kAlongRow] = !is_last ? -1 : end < length ? first + kWarp : first - x;
    int32_t rows = 1;  // to the next one along an axis, in the box
#pragma unroll
    for (int k = kAlongRow - 1; k >= 0; --k) {
      const int axis = kLatticeAxes - axes + k, end_of_axis = int(lattice.length[axis]);
      const int32_t here = at[axis], past = here + 1 == box.begin[axis] + box.extent[axis];
      const int32_t back = here + 1 - box.begin[axis];
      at[axis] = here + 1 == end_of_axis ? 0 : here + 1;
      const bool within = !past || box.extent[axis] == end_of_axis;
      const int32_t ahead = past ? 1 - back : 1;
      next[k] = within ? number + ahead * rows * box.segments_of_row : -1;
      next_site[k] = Box::row_of(lattice, at) * length + x;
      previous[k] = here > box.begin[axis] ? number - rows * box.segments_of_row : -1;
      at[axis] = here;
      rows *= box.extent[axis];
    }
  }
  bool has(int lane) const { return sites >> lane & 1; }
  int last() const { return kWarp - 1 - __clz(int(sites)); }
};

// A word of bonds of one axis, and its NextSites. An odd number of words.
struct BondWord {
  int32_t word, next, last;
  Bits32 sites[2];

  BondWord(int32_t word, const NextSites& after)
      : word(word),
        next(int32_t(after.word)),
        last(after.last),
        sites{Bits32(after.sites), Bits32(after.sites >> 32)} {}
  NextSites after() const { return {next, last, sites[0] | Bits64(sites[1]) << 32}; }
};

// How many places a segment has: one is spare, as threads, too, are to be in different banks.
constexpr int kPlaces = kWarp + 1;

// Who takes a segment: a warp, which suits small boxes, or a thread, bit by bit, which does less.
template <bool by_warp> struct TeamOf {
  static constexpr bool kIsWarp = by_warp;

  static int32_t number() { return int32_t(threadIdx.x) / (by_warp ? kWarp : 1); }
  static int32_t count() { return int32_t(blockDim.x) / (by_warp ? kWarp : 1); }
  static bool leads() { return !by_warp || lane() == 0; }
  static void for_each_bit(Bits32 bits, auto&& body) {
    if constexpr (by_warp) {
      if (bits >> lane() & 1) body(lane());
    } else {
      for (; bits != 0; bits &= bits - 1) body(__ffs(int(bits)) - 1);
    }
  }
  // The same where a warp calls together, for all of its lanes: body(bit, whether it is set).
  static void for_each_of_warp(Bits32 bits, auto&& body) {
    if constexpr (by_warp)
      body(lane(), bool(bits >> lane() & 1));
    else
      for (; __any_sync(kAllLanes, bits != 0); bits &= bits - 1)
        body(bits == 0 ? 0 : __ffs(int(bits)) - 1, bits != 0);
  }
  static Bits32 any(Bits32 bits) {
    if constexpr (by_warp) return warp_or(bits);
    return bits;
  }
  // Lets what all have read before be written after.
  static void meet() {
    if constexpr (by_warp) __syncwarp();
  }
};

// A node, and another one or a site.
struct Task {
  int32_t node, other;
};

// What a block has in shared memory of its box.
template <int axes> struct BoxMemory {
  BondWord* words;  // of all axes
  Segment<axes>* segment;
  Bits32* bonds;    // of an axis and a half of a word: which bonds are active
  int32_t* parent;  // of a place; at last of a root ~state
  TasksOfWarp<Task>& tasks;
  int32_t halves;  // of an axis

  BoxMemory(uint64_t* memory, const Boxes& boxes, int32_t halves)
      : words(reinterpret_cast<BondWord*>(memory)),
        segment(reinterpret_cast<Segment<axes>*>(words + axes * boxes.words)),
        bonds(reinterpret_cast<Bits32*>(segment + boxes.segments)),
        parent(reinterpret_cast<int32_t*>(bonds + axes * 2 * boxes.words)),
        tasks(reinterpret_cast<TasksOfWarp<Task>*>(parent + boxes.segments * kPlaces)[threadIdx.x / kWarp]),
        halves(halves) {}

  Bits32 bonds_along(int k, int32_t half) const { return bonds[k * halves + half]; }
  Bits32 row_bonds(int32_t half) const { return bonds_along(axes - 1, half); }
  int32_t site_of(int32_t place) const { return segment[place / kPlaces].first + place % kPlaces; }
  // The lanes where runs begin, of which the first one may go on from the segment before.
  Bits32 starts(const Segment<axes>& of) const { return of.sites & ~(row_bonds(of.half) << 1); }
  static int first_lane(Bits32 along_row, int lane) {
    return kWarp - 1 - __clz(int(~(along_row << 1) & kAllLanes >> (kWarp - 1 - lane)));
  }
  static Bits32 run_from(Bits32 starts, int first) {
    const Bits32 later = starts & ~((Bits32(2) << first) - 1);
    return (later & (0 - later)) - (Bits32(1) << first);
  }
  // The node of the run that a lane is in: the place where that begins in the segment.
  int32_t node_of(int32_t number, int lane) const {
    return number * kPlaces + first_lane(row_bonds(segment[number].half), lane);
  }
  // The node of the run before, if it goes on in a segment.
  int32_t node_before(int32_t number) const {
    const Segment<axes>& of = segment[number];
    const bool goes_on = of.before > 0 && row_bonds(of.half - 1) >> (kWarp - 1);
    return goes_on ? node_of(number - 1, kWarp - 1) : number * kPlaces;
  }
  // Begins the forest: a run's parent is the one it continues or, without a search, the one its first bond to
  // a row before leads to. Leaves of these bonds those that are still to be followed.
  template <class Team> void begin_forest(int32_t number) const {
    const Segment<axes>& here = segment[number];
    const Bits32 along_row = row_bonds(here.half), starts = this->starts(here);
    Bits32 leading[axes] = {}, beside[axes] = {}, followed[axes] = {};
#pragma unroll
    for (int k = 0; k < axes - 1; ++k) {
      if (here.previous[k] < 0) continue;
      const int32_t half = segment[here.previous[k]].half;
      leading[k] = bonds_along(k, half), beside[k] = row_bonds(half);
      followed[k] = (leading[k] & along_row & beside[k]) << 1;  // by those of the sites before
    }
    const int32_t before = node_before(number);
    Team::for_each_bit(starts, [&](int first) {
      int32_t above = first == 0 ? before : number * kPlaces + first;
      bool has_parent = above < number * kPlaces;
      const Bits32 run = run_from(starts, first);
#pragma unroll
      for (int k = 0; k < axes - 1; ++k) {
        if (has_parent || (leading[k] & run) == 0) continue;
        const int bond = __ffs(int(leading[k] & run)) - 1;
        above = here.previous[k] * kPlaces + first_lane(beside[k], bond);
        followed[k] |= Bits32(1) << bond;
        has_parent = true;
      }
      parent[number * kPlaces + first] = above;
    });
#pragma unroll
    for (int k = 0; k < axes - 1; ++k) {
      if (here.previous[k] < 0) continue;
      const Bits32 left = leading[k] & ~Team::any(followed[k]);
      Team::meet();
      if (Team::leads()) bonds[k * halves + segment[here.previous[k]].half] = left;
    }
  }
  // Calls add(whether there is a bond, its nodes) for the bonds left in the box; whole warps call, also for
  // no segment.
  template <class Team> void for_each_bond_left(int32_t number, bool exists, auto&& add) const {
    const Segment<axes>& here = segment[number];
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      const int32_t next = here.next[k];
      const bool ends_row = k == axes - 1, leads = exists && next >= 0;
      if (Team::kIsWarp ? !leads : !__any_sync(kAllLanes, leads)) continue;
      const Bits32 of_end = ends_row ? Bits32(1) << here.last() : kAllLanes;
      Team::for_each_of_warp(leads ? bonds_along(k, here.half) & of_end : 0, [&](int lane, bool is_bond) {
        const int32_t other = ends_row || !(Team::kIsWarp || is_bond) ? next * kPlaces : node_of(next, lane);
        add(is_bond, {node_of(number, lane), other});
      });
    }
  }
  // Calls add(whether there is a root, its node), likewise.
  template <class Team> void for_each_root(int32_t number, bool exists, auto&& add) const {
    Bits32 roots = 0;
    Team::for_each_bit(exists ? starts(segment[number]) : 0, [&](int first) {
      const int32_t node = number * kPlaces + first;
      if (InBlock::load(parent + node) == node) roots |= Bits32(1) << first;
    });
    Team::for_each_of_warp(
        roots, [&](int first, bool is_root) { add(is_root, {number * kPlaces + first, 0}); });
  }
  // The digits of a plane of the states of a segment's sites, given ~state at roots.
  template <class Team> Bits32 digits_of(int32_t number, int plane) const {
    Bits32 digits = 0;
    const Bits32 starts = this->starts(segment[number]);
    Team::for_each_bit(starts, [&](int first) {
      const int32_t above = parent[number * kPlaces + first];
      if (~(above < 0 ? above : parent[above]) >> plane & 1) digits |= run_from(starts, first);
    });
    return Team::any(digits) & segment[number].sites;
  }
};

constexpr int kDrawing = 8;

// As bernoulli(), by kDrawing lanes for a word, each with one of the first blocks; the first gets the result.
inline Bits64 bernoulli_together(
    const Draws& draws, Bits64 word, int axis, Bits64 probability, Bits64 wanted) {
  const int block = lane() % kDrawing;
  const PhiloxBlock bits = draws(kBond, word, axis, block);
  Bits64 set = 0, undecided = ~Bits64(0);
  for (int k = 0; k < 2; ++k) {
    const Bits64 drawn = half(bits, k);
    const bool digit = probability << (2 * block + k) >> 63;
    if (digit) set |= undecided & ~drawn;
    undecided &= digit ? drawn : ~drawn;
  }
  for (int step = 1; step < kDrawing; step *= 2) {
    set |= undecided & __shfl_down_sync(kAllLanes, set, step);
    undecided &= __shfl_down_sync(kAllLanes, undecided, step);
  }
  if (block != 0) return 0;
  return (set & wanted) |
         bernoulli(draws, word, axis, probability << 2 * kDrawing, undecided & wanted, kBond, kDrawing);
}

// Makes updates of all replicas. `forest` has an entry a site, unless a box is a whole lattice.
template <int axes, bool by_warp, bool in_cluster>
void sweep_boxes(const Replicas& replicas, const Updates& updates, const Boxes& boxes,
    const Bits64* probability, Bits64* spins, const Records& all_records, int32_t* forest,
    uint32_t* arrived) {
  CONNCOMP_DYNAMIC_SHARED(uint64_t, shared);
  using Team = TeamOf<by_warp>;
  constexpr int kAlongRow = axes - 1, kFirstAxis = kLatticeAxes - axes;
  const Lattice& lattice = replicas.lattice;
  const int64_t replica = replicas.replica();
  const int32_t part = int32_t(blockIdx.x) % replicas.parts;
  const bool is_whole = replicas.parts == 1;
  const Box box(boxes, lattice, part);
  const int32_t segments = box.segments(), words = box.words();
  const BoxMemory<axes> memory(shared, boxes, 2 * words);
  const Bits64 active_with = probability[replica];
  spins = replicas.at_replica(spins, replicas.words_of_states());
  if (!is_whole) forest = replicas.at_replica(forest, lattice.sites());
  PartsBarrier<in_cluster> barrier(arrived + kCounterStride * replica, uint32_t(replicas.parts));
  Draws draws = replicas.draws();

  const auto for_each_bond_word = [&](auto&& body) {
    for (int32_t at = int32_t(threadIdx.x); at < axes * words; at += int32_t(blockDim.x)) body(at);
  };
  // Calls body(number) for the segments of this team, and body(number, segment) for those of this warp.
  const auto for_each_segment = [&](auto&& body) {
    for (int32_t number = Team::number(); number < segments; number += Team::count()) body(number);
  };
  const auto for_each_of_warp = [&](auto&& body) {
    for (int32_t number = TeamOf<true>::number(); number < segments; number += TeamOf<true>::count())
      body(number, memory.segment[number]);
  };

  // Calls list(number, exists, add) for segments, and do_task(task, exists) for what add(exists, task) lists.
  const auto for_each_task = [&](auto&& list, auto&& do_task) {
    int count = 0;
    const int32_t lanes_before = by_warp ? 0 : lane();
    for (int32_t number = Team::number(); number - lanes_before < segments; number += Team::count())
      list(number < segments ? number : 0, number < segments,
          [&](bool exists, const Task& task) { count = memory.tasks.add(count, exists, task, do_task); });
    memory.tasks.finish(count, do_task);
  };

  for_each_bond_word([&](int32_t at) {
    const int32_t in_box = at % words, row = in_box / box.words_of_row;
    int32_t row_at[kRowAxis];
    box.find_row(row, row_at);
    const int32_t word = Box::row_of(lattice, row_at) * int32_t(lattice.columns()) +
                         box.begin[kRowAxis] / kWordSites + in_box % box.words_of_row;
    memory.words[at] = BondWord(word, next_sites(lattice, place_of(lattice, word), kFirstAxis + at / words));
  });
  for (int32_t number = int32_t(threadIdx.x); number < segments; number += int32_t(blockDim.x))
    memory.segment[number] = Segment<axes>(box, lattice, number);
  __syncthreads();
  for (int32_t update = 0; update < updates.count; ++update, ++draws.step) {
    int32_t satisfied = 0, active = 0;
    const auto draw = [&](int32_t at, bool draws_for_all, auto&& bernoulli_of) {
      const BondWord& of = memory.words[at];
      const Bits64 equal = satisfied_bonds(lattice, spins, of.word, of.after());
      const Bits64 drawn = bernoulli_of(Bits64(of.word), kFirstAxis + at / words, equal);
      if (!draws_for_all) return;
      memory.bonds[2 * at] = Bits32(drawn), memory.bonds[2 * at + 1] = Bits32(drawn >> 32);
      satisfied += __popcll(equal), active += __popcll(drawn);
    };
    if constexpr (by_warp) {
      const int32_t groups = int32_t(blockDim.x) / kDrawing, group = int32_t(threadIdx.x) / kDrawing;
      for (int32_t at = group; at - group % (kWarp / kDrawing) < axes * words; at += groups) {
        const bool exists = at < axes * words;
        draw(exists ? at : 0, exists && lane() % kDrawing == 0, [&](Bits64 word, int axis, Bits64 equal) {
          return bernoulli_together(draws, word, axis, active_with, exists ? equal : 0);
        });
      }
    } else {
      for_each_bond_word([&](int32_t at) {
        draw(at, true, [&](Bits64 word, int axis, Bits64 equal) {
          return bernoulli(draws, word, axis, active_with, equal);
        });
      });
    }
    if (all_records.record != nullptr && updates.measures(update)) {
      const Records records = updates.records_of(all_records, update);
      const int64_t sites = int64_t(box.rows) * box.extent[kRowAxis];
      record_words(records, replica, lattice, spins, satisfied, active, sites, [&](auto&& body) {
        for_each_bond_word([&](int32_t at) {
          if (at < words) body(memory.words[at].word);
        });
      });
    }
    __syncthreads();
    for_each_segment([&](int32_t number) { memory.template begin_forest<Team>(number); });
    __syncthreads();
    // Paths through the rows of a whole lattice are long: they are shortened before they are followed.
    if constexpr (!by_warp) {
      for_each_segment([&](int32_t number) {
        Team::for_each_bit(memory.starts(memory.segment[number]),
            [&](int first) { find<InBlock>(memory.parent, number * kPlaces + first); });
      });
      __syncthreads();
    }
    for_each_task([&](int32_t number, bool exists,
                      auto&& add) { memory.template for_each_bond_left<Team>(number, exists, add); },
        [&](const Task& nodes, bool exists) {
          if (exists) unite<InBlock>(memory.parent, nodes.node, nodes.other);
        });
    __syncthreads();
    for_each_segment([&](int32_t number) {
      Team::for_each_bit(memory.starts(memory.segment[number]), [&](int first) {
        const int32_t node = number * kPlaces + first;
        InBlock::store(memory.parent + node, find<InBlock, Jump::kNone>(memory.parent, node));
      });
    });
    __syncthreads();
    if (!is_whole) {
      for_each_of_warp([&](int32_t number, const Segment<axes>& segment) {
        const int32_t place = number * kPlaces + lane(), site = segment.first + lane();
        const bool is_faced = segment.faced >> lane() & 1, starts = memory.starts(segment) >> lane() & 1;
        if (!is_faced && !(starts && memory.parent[place] == place)) return;
        const int32_t root = memory.parent[memory.node_of(number, lane())];
        Concurrent::store(forest + site, memory.site_of(root));
      });
      barrier.wait();
      int count = 0;
      const auto join = [&](const Task& task, bool exists) {
        const int32_t a = exists ? memory.site_of(memory.parent[task.node]) : -1,
                      b = exists ? Concurrent::load(forest + task.other) : -1,
                      left_a = __shfl_up_sync(kAllLanes, a, 1), left_b = __shfl_up_sync(kAllLanes, b, 1);
        // What the lane before unites need not be united again.
        if (exists && (lane() == 0 || left_a != a || left_b != b)) unite<Concurrent>(forest, a, b);
      };
      for_each_of_warp([&](int32_t number, const Segment<axes>& segment) {
#pragma unroll
        for (int k = 0; k < axes; ++k) {
          if (segment.next[k] >= 0 || segment.next_site[k] < 0) continue;
          Bits32 bonds = memory.bonds_along(k, segment.half);
          if (k == kAlongRow) bonds &= Bits32(1) << segment.last();
          const int32_t site = segment.next_site[k] + (k == kAlongRow ? 0 : lane());
          count = memory.tasks.add(count, bonds >> lane() & 1, {memory.node_of(number, lane()), site}, join);
        }
      });
      memory.tasks.finish(count, join);
      barrier.wait();
    }
    for_each_task([&](int32_t number, bool exists,
                      auto&& add) { memory.template for_each_root<Team>(number, exists, add); },
        [&](const Task& task, bool exists) {
          if (!exists) return;
          const int32_t site = memory.site_of(task.node),
                        root = is_whole ? site : find<Concurrent>(forest, site);
          InBlock::store(memory.parent + task.node, ~draw_any_state(draws, root, lattice.states));
        });
    __syncthreads();
    for_each_segment([&](int32_t number) {
      for (int plane = 0; plane < lattice.planes; ++plane) {
        const Bits32 digits = memory.template digits_of<Team>(number, plane);
        Bits32* const halves = reinterpret_cast<Bits32*>(spins + plane * lattice.words());
        if (Team::leads()) Concurrent::store(halves + memory.segment[number].in_plane, digits);
      }
    });
    barrier.wait();
  }
}

template <int axes, bool by_warp>
__global__ void __launch_bounds__(kMostBoxThreads, 1)
    sweep_spins(Replicas replicas, Updates updates, Boxes boxes, const Bits64* probability, Bits64* spins,
        Records records, int32_t* forest, uint32_t* arrived) {
  sweep_boxes<axes, by_warp, false>(replicas, updates, boxes, probability, spins, records, forest, arrived);
}

template <int axes, int parts>
__global__ void CONNCOMP_CLUSTER(parts) __launch_bounds__(kMostBoxThreads, 1)
    sweep_in_cluster(Replicas replicas, Updates updates, Boxes boxes, const Bits64* probability,
        Bits64* spins, Records records, int32_t* forest, uint32_t* arrived) {
  sweep_boxes<axes, true, true>(replicas, updates, boxes, probability, spins, records, forest, arrived);
}

}
