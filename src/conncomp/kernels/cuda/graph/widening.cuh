// Signatures that widen from vertex to vertex, where sweeps over arcs would be too many. A block has a share
// of consecutive vertices, each with a mark for its ancestors and one for its descendants. Its sweep takes
// the marks of the share; a vertex that had one completes what it knows by what its smallest and largest
// ancestors know, passes it on along its arcs, or against them, and marks whoever did not know. Cost: a
// vertex between two that know is marked, and its row read, a few times; two bits a vertex and sweep. Source:
// marks as the frontier of Merrill, Garland and Grimshaw 2012, signatures of Alabandi, Sands, Biros and
// Burtscher 2023.
#pragma once

#include "cuda/graph/giant_search.cuh"

namespace conncomp {

// Knowledge that has come later jumps only where all vertices pass on again, so they do now and then.
constexpr int kMarkedSweeps = 64;    // of a block, before all meet
constexpr int kMarkedBarriers = 64;  // before all open vertices pass on

constexpr int kQueued = 2 * kWarp;  // pieces of work: one that each thread adds, and less that were left

// A warp's work, so that all threads have some where few vertices have any.
template <class Vertex> struct WorkQueue {
  Vertex* vertices;
  uint8_t* directions;
  int count;

  // By a whole warp: puts in v if it is `wanted`.
  void push(bool wanted, Vertex v, int direction) {
    const uint32_t all = __ballot_sync(kAllLanes, wanted);
    if (wanted) {
      const int place = count + __popc(all & ~(kAllLanes << lane()));
      vertices[place] = v;
      directions[place] = uint8_t(direction);
    }
    count += __popc(all);
  }
};

template <class Vertex> struct Widening {
  Share share;
  Signatures<Vertex> signatures;
  EndsOfVertices<Vertex> rows[kDirections];
  const uint32_t* open_words;  // a bit a vertex: whether it has work
  BitPairs<Vertex> all_marks;  // what it has to pass on
  WorkQueue<Vertex> queue;
  bool changed = false;

  // Passes on what open vertices of the share know, or marked ones, then those marked since; returns whether
  // any signature has widened. All threads call.
  bool pass_on(bool all) {
    changed = false;
    for (int sweep = 0; sweep < kMarkedSweeps; ++sweep) {
      bool is_busy = false;
      for (int64_t row = share.begin + int(threadIdx.x) - lane(); row < share.end; row += kStrongThreads) {
        const int64_t v = row + lane();
        const uint32_t marks = all && sweep == 0 ? kBoth : take_marks(v);
        const bool has_work = marks && open_words[row / kWarp] >> lane() & 1;
        is_busy |= has_work;
        // Work is done in one place: three were a seventh of what strong_components takes to compile.
#pragma unroll 1
        for (int direction = 0; direction < kDirections; ++direction) {
          queue.push(has_work && marks >> direction & 1, Vertex(v), direction);
          const bool is_last = direction + 1 == kDirections && row + kStrongThreads >= share.end;
          while (queue.count >= (is_last ? 1 : kWarp)) pop(queue.count < kWarp ? queue.count : kWarp);
        }
      }
      if (!__syncthreads_or(is_busy)) break;
    }
    return changed;
  }

  static constexpr int kLongRow = 32;  // from here on a row is the work of a warp

  // The marks of v, which are taken away. A warp has two words of them.
  uint32_t take_marks(int64_t v) const {
    uint32_t* const word = all_marks.word(Vertex(v));
    uint32_t marks = v < share.end ? Current::load(word) : 0;
    if (marks && v % kVerticesOfWord == 0) marks = Current::exchange(word, uint32_t(0));
    marks = __shfl_sync(kAllLanes, marks, lane() & ~(kVerticesOfWord - 1));
    return all_marks.pick(marks, Vertex(v));
  }
  // Lets half of v's signature include more. Whoever takes the mark may read the old one, as nothing orders
  // the two: so a sweep over all open vertices ends it.
  void tell(Vertex v, int direction, const Range<Vertex>& more) {
    if (!signatures.widen(v, direction, signatures.range(v, direction), more)) return;
    all_marks.add(v, uint32_t(1) << direction);
    changed = true;
  }
  // By a whole warp: takes the last pieces of work.
  void pop(int some) {
    __syncwarp();
    queue.count -= some;
    const bool has_work = lane() < some;
    const Vertex v = has_work ? queue.vertices[queue.count + lane()] : Vertex(0);
    const int direction = has_work ? queue.directions[queue.count + lane()] : 0;
    __syncwarp();
    Range<Vertex> known{0, 0};
    int64_t begin = 0, end = 0;
    if (has_work) {
      begin = rows[direction].begin(v), end = rows[direction].end(v);
      const Range<Vertex> own = signatures.range(v, direction), opposite = signatures.range(v, 1 - direction);
      known = own;
      if (own.low != v) known.include(signatures.range(own.low, direction));
      if (own.high != v) known.include(signatures.range(own.high, direction));
      changed |= signatures.widen(v, direction, own, known);
      // What reaches v reaches its descendants, and the other way round.
      if (opposite.low != v) tell(opposite.low, direction, known);
      if (opposite.high != v) tell(opposite.high, direction, known);
      if (end - begin < kLongRow)
        for (int64_t k = begin; k < end; ++k) tell(rows[direction].ends[k], direction, known);
    }
    for (uint32_t open = __ballot_sync(kAllLanes, end - begin >= kLongRow); open; open &= open - 1) {
      const int worker = __ffs(int(open)) - 1, way = __shfl_sync(kAllLanes, direction, worker);
      const int64_t row_end = __shfl_sync(kAllLanes, end, worker);
      const Range<Vertex> known_there{
          __shfl_sync(kAllLanes, known.low, worker), __shfl_sync(kAllLanes, known.high, worker)};
#pragma unroll 1
      for (int64_t k = __shfl_sync(kAllLanes, begin, worker) + lane(); k < row_end; k += kWarp)
        tell(rows[way].ends[k], way, known_there);
    }
  }
};

// Widens signatures until they are final. All blocks meet. Called in one place, to compile in half of the
// time.
template <class Vertex> CONNCOMP_PHASE void settle_vertices(Widening<Vertex> widening, GridBarrier& barrier) {
  int marked_barriers = 0;  // until all open vertices pass on
  while (true) {
    const bool all = marked_barriers == 0, changed = barrier.any(widening.pass_on(all));
    if (all && !changed) return;
    if (all)
      marked_barriers = kMarkedBarriers;
    else
      marked_barriers = changed ? marked_barriers - 1 : 0;
  }
}

// Opens the vertices that have arcs both ways, a bit each; others are alone. Clears all marks.
template <class Vertex>
void open_vertices(
    int64_t vertices, const EndsOfVertices<Vertex> (&rows)[kDirections], uint32_t* open, uint32_t* marks) {
  for (int64_t row = grid_thread() - lane(); row < vertices; row += grid_threads()) {
    const Vertex v = Vertex(row + lane());
    const bool has_arcs = row + lane() < vertices && rows[kAlong].begin(v) < rows[kAlong].end(v) &&
                          rows[kAgainst].begin(v) < rows[kAgainst].end(v);
    const uint32_t bits = __ballot_sync(kAllLanes, has_arcs);
    if (lane() == 0) open[row / kWarp] = bits;
    if (lane() % kVerticesOfWord == 0 && row + lane() < vertices) marks[(row + lane()) / kVerticesOfWord] = 0;
  }
}

}
