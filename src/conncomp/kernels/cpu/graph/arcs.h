// Connected components of a list of arcs, in any order and direction: every arc unites its ends. If many,
// some first put trees under others by plain stores, which wait for memory together; then most vertices are
// in one tree, told by a bit each. Where ends are near, as in grids, every arc first puts its larger end
// under its smaller one: if only one vertex has no smaller neighbour, all are one tree. Lists mostly hold
// both directions of an edge, in the second half or one after the other: an arc whose opposite stands there
// is left out. Threads take blocks from one queue: shares would pass over the same vertices in step, and wait
// for each other's parents. Cost: each arc read once or twice, two random accesses. Source: as afforest.h.
#pragma once

#include "cpu/core/extremes.h"
#include "cpu/graph/trees.h"

namespace conncomp {

template <class Vertex, class Index> class ForestOfArcs {
 public:
  ForestOfArcs(const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, Index* parent)
      : src_(src),
        dst_(dst),
        arcs_(arcs),
        vertices_(vertices),
        blocks_((arcs + kBlock - 1) / kBlock),
        opposite_(distance_of_opposites()),
        parent_(parent) {}

  // Whether there is too little for a second thread; the number of threads may change meanwhile.
  bool in_one_part() const { return blocks_ <= kPiece; }

  template <class Access> void grow() {
    for_each_index(vertices_, [parent = parent_](int64_t v) { parent[v] = Index(v); });
    if (vertices_ == 0) return;
    FrequentRoot giant{-1, 0};
    const int64_t every = (opposite_ ? arcs_ / 2 : arcs_) / vertices_;
    if (every >= kManyArcs && !is_sorted(src_) && !is_sorted(dst_)) {
      for (int64_t round = 0; round < kRounds || (round == kRounds && giant.share < kGiant); ++round) {
        const int64_t apart = round == 0 ? every : 2 * every;
        for_each_block((to_opposites() - round + apart - 1) / apart,
            [=, this](int64_t i) { hook_block(round + i * apart); });
        flatten(parent_, vertices_);
        if (round + 1 >= kRounds) giant = frequent_root();
      }
    } else if (is_near()) {
      for_each_block(to_opposites(), [this](int64_t block) { start_block(block); });
      if (sum_over(vertices_,
              [parent = parent_](int64_t v) { return Concurrent::load(parent + v) == Index(v); }) == 1) {
        label_as_one(parent_, vertices_);
        return;
      }
      flatten(parent_, vertices_);
      giant = frequent_root();
    }
    if (giant.share < kGiant) {
      for_each_block(blocks_, [this](int64_t block) { unite_block<Access>(block); });
    } else {
      const VertexBits members = members_of(giant.root, parent_, vertices_);
      for_each_block(blocks_, [&, this](int64_t block) { unite_block_around<Access>(block, members); });
    }
  }

 private:
  static constexpr int64_t kBlock = std::min<int64_t>(1024, kGrain);  // arcs
  static constexpr int64_t kPiece = kGrain / kBlock;                  // blocks
  static constexpr int64_t kManyArcs = 4;                             // a vertex
  static constexpr int64_t kRounds = 3;  // by as many arcs as there are vertices, then by half as many
  static constexpr int64_t kNear = kAlwaysHelped ? 8 : 256;  // vertices over the distance of near ends
  static constexpr double kGiant = 0.9;                      // a share of the vertices

  void for_each_block(int64_t blocks, auto body) const {
    parallel_for((blocks + kPiece - 1) / kPiece,
        [&](int64_t piece) {
          for (int64_t block = piece * kPiece; block < std::min((piece + 1) * kPiece, blocks); ++block) {
            poll(kBlock);
            body(block);
          }
        },
        Dealing::kQueue);
  }

  // Calls body(v, u) for arcs of a block between vertices, no loops, whose opposite does not come before.
  void for_each_arc(int64_t block, auto body) const {
    const int64_t begin = block * kBlock, end = std::min(begin + kBlock, arcs_);
    const int64_t opposite = begin >= opposite_ ? opposite_ : 0;
    for (int64_t i = begin; i < end; ++i) {
      const Vertex v = Concurrent::load(src_ + i), u = Concurrent::load(dst_ + i);
      if (v == Concurrent::load(dst_ + i - opposite) && u == Concurrent::load(src_ + i - opposite)) continue;
      if (is_vertex(v, vertices_) && is_vertex(u, vertices_)) [[likely]]
        body(Index(v), Index(u));
    }
  }

  // How far before an arc its opposite stands, in the second half or at every second arc; 0 if not so.
  int64_t distance_of_opposites() const {
    constexpr int64_t kSamples = 64;
    for (const int64_t distance : {arcs_ / 2, int64_t(1)}) {
      int64_t opposite = 0;
      for (int64_t k = 0; k < kSamples && arcs_ > 1; ++k) {
        const int64_t i = arcs_ / 2 / kSamples * k * 2 / (distance == 1 ? 1 : 2);
        opposite += Concurrent::load(src_ + i) == Concurrent::load(dst_ + i + distance) &&
                    Concurrent::load(dst_ + i) == Concurrent::load(src_ + i + distance);
      }
      if (opposite > kSamples / 4 * 3) return distance;
    }
    return 0;
  }

  // Blocks before those that hold opposites only.
  int64_t to_opposites() const { return opposite_ > kBlock ? (opposite_ + kBlock - 1) / kBlock : blocks_; }

  // Whether ends are mostly near each other, so that arcs start trees in a cache.
  bool is_near() const {
    constexpr int64_t kSamples = 64;
    int64_t near = 0;
    for (int64_t k = 0; k < kSamples && arcs_ > 0; ++k) {
      const int64_t i = arcs_ / kSamples * k;
      near += are_near(Concurrent::load(src_ + i), Concurrent::load(dst_ + i), vertices_ / kNear);
    }
    return near > kSamples / 4 * 3;
  }

  void start_block(int64_t block) {
    for_each_arc(block, [parent = parent_](Index v, Index u) {
      const Index high = v < u ? u : v, low = v < u ? v : u;
      Concurrent::store(parent + high, low);
    });
  }

  // Puts the larger of two roots of flat trees under the smaller; of two links the smaller stays.
  void hook_block(int64_t block) {
    std::array<Index, kBlock> high, low;
    int64_t links = 0;
    for_each_arc(block, [&, parent = parent_](Index v, Index u) {
      const Index a = Concurrent::load(parent + v), b = Concurrent::load(parent + u);
      high[links] = a < b ? b : a, low[links] = a < b ? a : b;
      // A common root's line is left to all who read it.
      __builtin_prefetch(a == b ? &high[links] : parent + high[links], 1);
      links += a != b;
    });
    for (int64_t i = 0; i < links; ++i) {
      const Index above = Concurrent::load(parent_ + high[i]);
      Concurrent::store(parent_ + high[i], above < low[i] ? above : low[i]);
    }
  }

  template <class Access> void unite_block(int64_t block) {
    for_each_arc(block, [parent = parent_](Index v, Index u) { unite<Access>(parent, v, u); });
  }

  template <class Access> void unite_block_around(int64_t block, const VertexBits& members) {
    for_each_arc(block, [&members, parent = parent_](Index v, Index u) {
      if (!(members.has(v) & members.has(u))) unite<Access>(parent, v, u);
    });
  }

  // Whether ends mostly rise from arc to arc, as in rows: then arcs wait for one parent, and few are of use.
  bool is_sorted(const Vertex* ends) const {
    constexpr int64_t kSamples = 256;
    int64_t rises = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
      const Vertex* const end = ends + arcs_ / (kSamples + 1) * i;
      rises += Concurrent::load(end) <= Concurrent::load(end + 1);
    }
    return rises > kSamples / 4 * 3;
  }

  FrequentRoot frequent_root() const {
    constexpr int64_t kSamples = 512;
    std::vector<Index> sample;
    for (int64_t i = 0; i < kSamples; ++i) sample.push_back(parent_[spread(i, kSamples, vertices_)]);
    const auto [root, times] = most_frequent(sample);
    return {root, double(times) / kSamples};
  }

  const Vertex* const src_;
  const Vertex* const dst_;
  const int64_t arcs_, vertices_, blocks_, opposite_;
  Index* const parent_;
};

// Fills parent[v] with a smaller vertex of v's component, or v if there is none.
template <class Vertex, class Index>
void grow_forest_of_arcs(
    const Vertex* src, const Vertex* dst, int64_t arcs, int64_t vertices, Index* parent) {
  ForestOfArcs<Vertex, Index> forest(src, dst, arcs, vertices, parent);
  if (forest.in_one_part())
    forest.template grow<Exclusive>();
  else
    forest.template grow<Concurrent>();
}

}
