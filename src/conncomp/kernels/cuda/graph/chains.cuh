// Paths and cycles whose vertices have one way on, contracted or dropped in logarithmic time. Vertices whose
// arcs lead to one other only form trees, each with a root at which it ends, or a cycle, found by unions
// (find_roots). In 0 -> 1 -> 2 <-> 3 -> 4, vertices 0, 1, 2 lead to 3, which has two ways on; 4 has none.
// Where a root has no way on, or there is a cycle, all is told: the cycle is a component, others are alone.
// Where an arc leads back from the root, what is between (2 and 3) becomes one vertex, by marks that jump
// (jump_to_roots). Rounds along and against the arcs end where little is dropped. Many mutual arcs are united
// first (unite_mutual). Cost: a round reads arcs about five times, with a random access each. Memory: four
// words and two bits a vertex. Source: pointer jumping of Wyllie 1979, union-find of Jaiganesh and Burtscher
// 2018; Hong, Rodia and Olukotun 2013 find pairs (Trim2); the rest is ours.
#pragma once

#include "cuda/graph/arc_lists.cuh"

namespace conncomp {

constexpr int64_t kLongestMutual = 64;  // row that is looked through for arcs back
constexpr int64_t kLeastDropped = 16;   // of so many arcs one, in two rounds; or else, they are given up

template <class Vertex> class Chains {
 public:
  // There is memory for four vertices each, and two bits, in `marks`.
  Chains(int64_t vertices, Vertex* memory, uint32_t* marks)
      : vertices_(vertices),
        onward_(memory),
        jumps_{memory + vertices, memory + 2 * vertices},
        sets_(memory + 3 * vertices),
        marks_{{marks}} {}

  // Every vertex is a set of its own. Known to all after a barrier.
  void start() const {
    visit_of_grid(vertices_, [&](int64_t v) { sets_[v] = Vertex(v); });
  }
  // The smallest vertex that v is known to be in one component with.
  Vertex component(Vertex v) const { return find<Concurrent>(sets_, v); }

  // Tells of trees; afterwards labels() are those of vertices. All blocks meet.
  void tell(const ArcList<const Vertex>& arcs, int direction, GridBarrier& barrier) {
    const bool is_along = direction == kAlong;
    const Vertex* const starts = is_along ? arcs.sources : arcs.targets;
    const Vertex* const ends = is_along ? arcs.targets : arcs.sources;
    find_onward(arcs.count, starts, ends, barrier);
    find_roots(barrier);
    bool is_marked = false;
    visit_loaded(
        arcs.count, [&](int64_t arc) { return jumps_[turn_][ends[arc]]; },
        [&](int64_t arc, Vertex root_of_end) {
          if (root_of_end != ~starts[arc]) return;
          marks_.add(ends[arc], kBack);
          is_marked = true;
        });
    if (barrier.any(is_marked)) jump_to_roots(true, barrier);
    visit_of_grid(vertices_, [&](int64_t v) { jumps_[turn_][v] = tell_vertex(Vertex(v)); });
    label(barrier);
  }
  // Unites the ends of mutual arcs of short rows, in the order of rows; labels() follow. All blocks meet.
  void unite_mutual(
      const ArcList<const Vertex>& arcs, const Integer auto* indptr, GridBarrier& barrier) const {
    visit_of_grid(vertices_, [&](int64_t v) { jumps_[turn_][v] = Vertex(v); });
    barrier.wait();
    visit_loaded(
        arcs.count,
        [&](int64_t arc) {
          const Vertex u = arcs.sources[arc], v = arcs.targets[arc];
          return u < v && leads_back(arcs, indptr, u, v, kLongestMutual);
        },
        [&](int64_t arc, bool is_mutual) {
          if (is_mutual) unite<Concurrent>(sets_, arcs.sources[arc], arcs.targets[arc]);
        });
    label(barrier);
  }
  // The set of every vertex, or kTold if its component is.
  const Vertex* labels() const { return jumps_[turn_]; }

  static constexpr Vertex kTold = -1;

 private:
  static constexpr Vertex kNowhere = -1, kSeveral = -2;  // in place of the only vertex onward
  static constexpr uint32_t kBack = 1, kOnCycle = 2;     // marks

  struct Jump {
    Vertex far, farther;
  };

  // Lets labels be those of sets, but for vertices that are told. All blocks meet.
  void label(GridBarrier& barrier) const {
    barrier.wait();
    visit_of_grid(vertices_, [&](int64_t v) {
      if (jumps_[turn_][v] != kTold) jumps_[turn_][v] = component(Vertex(v));
    });
    barrier.wait();
  }
  // All blocks meet.
  void find_onward(int64_t arcs, const Vertex* starts, const Vertex* ends, GridBarrier& barrier) const {
    visit_of_grid(vertices_, [&](int64_t v) { onward_[v] = kNowhere; });
    clear_marks();
    barrier.wait();
    visit_of_grid(arcs, [&](int64_t arc) { Concurrent::store(onward_ + starts[arc], ends[arc]); });
    barrier.wait();
    visit_loaded(
        arcs, [&](int64_t arc) { return Concurrent::load(onward_ + starts[arc]); },
        [&](int64_t arc, Vertex onward) {
          if (onward != ends[arc]) Concurrent::store(onward_ + starts[arc], kSeveral);
        });
    barrier.wait();
  }
  // Lets jumps_[turn_] be ~root of vertices that have one, and marks those on cycles. Trees are sets first:
  // each has a root or a cycle, which is all of it if no vertex leads there from outside. All blocks meet.
  void find_roots(GridBarrier& barrier) {
    turn_ = 0;
    Vertex *const trees = jumps_[0], *const roots = jumps_[1];
    visit_of_grid(vertices_, [&](int64_t v) { trees[v] = roots[v] = Vertex(v); });
    barrier.wait();
    visit_of_grid(vertices_, [&](int64_t v) {
      if (onward_[v] >= 0) unite<Concurrent>(trees, Vertex(v), onward_[v]);
    });
    barrier.wait();
    visit_of_grid(vertices_, [&](int64_t v) {
      const Vertex tree = find<Lowering<Concurrent>>(trees, Vertex(v));
      Lowering<Concurrent>::store(trees + v, tree);
      if (onward_[v] < 0) roots[tree] = ~Vertex(v);
    });
    barrier.wait();
    bool has_cycles = false;
    visit_loaded(
        vertices_, [&](int64_t v) { return roots[trees[v]]; },
        [&](int64_t v, Vertex root) {
          trees[v] = root;
          if (root < 0) return;
          marks_.add(onward_[v], kOnCycle);
          has_cycles = true;
        });
    if (!barrier.any(has_cycles)) return;
    bool has_tails = false;
    visit_of_grid(
        vertices_, [&](int64_t v) { has_tails |= trees[v] >= 0 && !(marks_.of(Vertex(v)) & kOnCycle); });
    if (!barrier.any(has_tails)) {
      visit_of_grid(vertices_, [&](int64_t v) {
        if (trees[v] >= 0) onward_[v] = trees[v];
      });
      barrier.wait();
      return;
    }
    clear_marks();
    jump_to_roots(false, barrier);
    visit_of_grid(vertices_, [&](int64_t v) {
      if (jumps_[turn_][v] >= 0) marks_.add(jumps_[turn_][v], kOnCycle);
    });
    barrier.wait();
  }
  void clear_marks() const {
    visit_of_grid(vertices_, [&](int64_t v) {
      if (v % kVerticesOfWord == 0) *marks_.word(Vertex(v)) = 0;
    });
  }
  // Lets jumps_[turn_] be ~root of vertices that have one, or a vertex of the cycle, so that those on it have
  // all. If it passes marks, all between a marked vertex and the root get its mark. All blocks meet.
  CONNCOMP_PHASE void jump_to_roots(bool passes_marks, GridBarrier& barrier) {
    turn_ = 0;
    visit_of_grid(vertices_, [&](int64_t v) {
      const Vertex onward = onward_[v];
      jumps_[0][v] = onward >= 0 ? onward : ~Vertex(v);
    });
    barrier.wait();
    for (int64_t length = 1; length < vertices_; length *= 2) {
      const Vertex* const jumps = jumps_[turn_];
      Vertex* const next = jumps_[1 - turn_];
      bool is_open = false;
      visit_loaded(
          vertices_,
          [&](int64_t v) {
            const Vertex far = jumps[v];
            return Jump{far, far < 0 ? far : jumps[far]};
          },
          [&](int64_t v, const Jump& jump) {
            next[v] = jump.farther;
            is_open |= jump.farther >= 0;
            if (passes_marks && jump.far >= 0 && marks_.of(Vertex(v)) & kBack) marks_.add(jump.far, kBack);
          });
      turn_ = 1 - turn_;
      if (!barrier.any(is_open)) return;
    }
  }
  // Unites v with what is known to be in its component; returns kTold if that is all, or else v.
  Vertex tell_vertex(Vertex v) const {
    const Vertex onward = onward_[v], jump = jumps_[turn_][v];
    if (onward < 0) return onward == kNowhere ? kTold : v;
    const uint32_t marks = marks_.of(v);
    if (jump >= 0) {
      if (marks & kOnCycle) unite<Concurrent>(sets_, v, onward);
      return kTold;
    }
    if (onward_[~jump] == kNowhere) return kTold;
    if (marks & kBack) unite<Concurrent>(sets_, v, Vertex(~jump));
    return v;
  }

  const int64_t vertices_;
  Vertex* const onward_;    // the only vertex that arcs lead to
  Vertex* const jumps_[2];  // by turns
  Vertex* const sets_;      // parents
  const BitPairs<Vertex> marks_;
  int turn_ = 0;
};

// Arcs between sets whose components are not told yet, as arcs between their labels.
template <class Vertex> struct KeepingChains {
  const Vertex* labels;

  bool keeps(Vertex u, Vertex v) const {
    constexpr Vertex kTold = Chains<Vertex>::kTold;
    return labels[u] != labels[v] && labels[u] != kTold && labels[v] != kTold;
  }
  void write(Vertex u, Vertex v, Vertex& source, Vertex& target) const {
    source = labels[u], target = labels[v];
  }
};

// All blocks run at the same time.
template <class Pointer, class Vertex>
__global__ void __launch_bounds__(kStrongThreads, kStrongBlocks) contract_chains(int64_t vertices,
    ArcList<const Vertex> arcs, const Pointer* __restrict__ indptr, StrongMemory<Vertex> memory) {
  StrongState<Vertex>* const state = memory.state;
  if (!(state->first_steps & kContractChains)) return;
  GridBarrier barrier(state->barrier_of_first);
  KeptArcs<Vertex> left(arcs, memory);
  Chains<Vertex> chains(vertices, memory.signatures, memory.words_of_searches);
  chains.start();
  const auto keep = [&] { left.keep(memory, barrier, KeepingChains<Vertex>{chains.labels()}); };
  if (state->first_steps & kUniteMutual) {
    chains.unite_mutual(left.arcs, indptr, barrier);
    keep();
  }
  int64_t before = arcs.count;  // two rounds
  for (int direction = kAlong; left.arcs.count > 0; direction = 1 - direction) {
    chains.tell(left.arcs, direction, barrier);
    keep();
    if (direction == kAlong) continue;
    if (left.arcs.count >= before - before / kLeastDropped) break;
    before = left.arcs.count;
  }
  const Extremes<Vertex> extremes = extremes_in(memory);
  visit_of_grid(vertices, [&](int64_t v) { extremes.put_into(Vertex(v), chains.component(Vertex(v))); });
  if (grid_thread() != 0) return;
  left.tell(memory);
}

}
