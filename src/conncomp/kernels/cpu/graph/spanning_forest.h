// The spanning forest of the least arc numbers: Kruskal's, in the order of the arcs.
//
// What: the arcs that connect what no arc before them connects, in ascending order: one tree for each
// component. The directions of arcs are ignored. It does not depend on the number of threads.
// How: on one thread, each arc unites its ends, and is kept if they were apart. For several, the arcs are cut
// into as many parts, each with a forest of its own: an arc that is not in the forest of its part closes a
// cycle with arcs before it, and is in no forest of the whole.
// Where parts mostly have vertices of their own, as those of a list by source of a graph of near vertices,
// each has parents of the vertices that its arcs span. An arc that joins two trees of a part is in doubt only
// if both hold vertices that earlier parts span, as a path through these leads from one tree to the other.
// Arcs in doubt are few, and are gone through at last, in their order.
//
//    part 0 spans 0 to 5, part 1 spans 4 to 9: of the arcs 4-7, 5-8 and 7-8 of part 1 the last one is in
//    doubt, as it joins the trees of 4 and 5, which part 0 may connect
//
// Where arcs are many for the vertices, forests are joined in pairs: the arcs of the later one are gone
// through in their order as if they came after the earlier one.
// Cost: each arc is read once, or twice where vertices are near, with a random access for it; a pass over the
// vertices for each pair. Memory: the parents and an arc number for each vertex that a part has; these are
// twice the vertices, or no more parts than arcs a vertex. Source: Kruskal 1956, "On the shortest spanning
// subtree of a graph and the traveling salesman problem"; union–find of Jaiganesh and Burtscher 2018.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/buffer.h"
#include "cpu/core/helper_account.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/graph/edges.h"

namespace conncomp {

// A part has so many arcs a vertex: it unites almost all vertices anew, as does the joining, which is more
// work than its share of few arcs.
constexpr int64_t kPartDegree = 24;

// Numbers of arcs, in ascending order. An Index holds the numbers of all vertices and of all arcs.
template <class Index>
struct ChosenArcs {
  Buffer<Index> arcs;
  int64_t count = 0;
};

// Unites the sets of u and v, for one thread; returns the root that is none any more, or -1 if they were not
// apart. A call for each arc would take a tenth longer.
template <class Index>
[[gnu::always_inline]] inline Index join(Index* parent, Index u, Index v) {
  const Index above_u = parent[u], above_v = parent[v];
  if (above_u == above_v) return -1;
  const Index a = find_from<Exclusive>(parent, u, above_u), b = find_from<Exclusive>(parent, v, above_v);
  const Index high = std::max(a, b);
  parent[high] = std::min(a, b);
  return a != b ? high : Index(-1);
}

// The forest of some of the arcs, which come in ascending order.
template <class Index>
class PartForest {
 public:
  PartForest() = default;
  PartForest(Span span, int64_t arcs)
      : first_(span.first),
        parent_(span.behind - first_),
        chosen_{Buffer<Index>(std::min(span.behind - first_, arcs) + 1)} {
    for_each_in(0, span.behind - first_, [parent = parent_.data()](int64_t v) { parent[v] = Index(v); });
  }

  // Adds an arc, whose ends are numbers in the span; returns the root that it has hooked there, or -1. The
  // place after the last arc is written in any case, without a branch: there is one more than arcs.
  Index add(int64_t arc, int64_t u, int64_t v) {
    const Index high = join(parent_.data(), Index(u), Index(v));
    chosen_.arcs[chosen_.count] = Index(arc);
    chosen_.count += high >= 0;
    return high;
  }

  ChosenArcs<Index>& chosen() { return chosen_; }
  int64_t above(int64_t v) const { return parent_[v - first_] + first_; }
  // When all arcs have been added; `root` may be outside the span.
  void put_under(int64_t v, int64_t root) { parent_[v - first_] = Index(root - first_); }

 private:
  int64_t first_ = 0;
  Buffer<Index> parent_;
  ChosenArcs<Index> chosen_;
};

// The forest of parts that mostly have vertices of their own.
template <class Index, class Arcs>
class ForestOfSpans {
 public:
  ForestOfSpans(const Arcs& arcs, Ends ends) : arcs_(arcs), ends_(ends), parts_(arcs.arcs, kGrain) {
    parts_.at_most(helpers_wanted(arcs.arcs) ? num_threads() : 1);
  }

  // Whether parts mostly have vertices of their own, as some of their arcs show before all are looked at.
  bool finds_spans() {
    if (parts_.parts < 2 || (!kAlwaysHelped && !promises_spans())) return false;
    spans_.resize(parts_.parts), behind_.resize(parts_.parts + 1);
    parallel_for(parts_.parts,
                 [this](int64_t part) { spans_[part] = arcs_.span(parts_.begin(part), parts_.end(part)); });
    int64_t vertices = 0;
    for (int64_t part = 0; part < parts_.parts; ++part) {
      Span& span = spans_[part];
      // Between the spans of earlier parts and this one no vertex is left out.
      span.first = std::min(span.first, std::min(behind_[part], span.behind));
      behind_[part + 1] = std::max(behind_[part], span.behind);
      vertices += span.behind - span.first;
    }
    return vertices <= 2 * arcs_.vertices;
  }

  ChosenArcs<Index> find() {
    doubts_.resize(parts_.parts), forests_.resize(parts_.parts);
    parallel_for(parts_.parts, [this](int64_t part) { fill(part); });
    std::vector<int64_t> begins{0};
    for (int64_t part = 0; part < parts_.parts; ++part)
      begins.push_back(begins.back() + forests_[part].chosen().count - needless(part));
    ChosenArcs<Index> all{Buffer<Index>(begins.back() + 1), begins.back()};
    parallel_for(parts_.parts, [&](int64_t part) {
      ChosenArcs<Index>& chosen = forests_[part].chosen();
      for_each_in(0, chosen.count,
                  [from = chosen.arcs.data(), to = all.arcs.data() + begins[part]](int64_t i) mutable {
                    if (from[i] >= 0) [[likely]]
                      *to++ = from[i];
                  });
    });
    return all;
  }

 private:
  // An arc of a part's forest, by its place there, and the roots that it has joined.
  struct Doubt {
    int64_t place, high, low;
  };

  bool promises_spans() const {
    constexpr int64_t kSamples = 64;
    int64_t inside = 0, vertices = 0, behind = 0;
    for (int64_t part = 0; part < parts_.parts; ++part) {
      const int64_t begin = parts_.begin(part), end = parts_.end(part);
      Span sample{arcs_.vertices, 0};
      for (int64_t k = 0; k < kSamples; ++k) {
        const int64_t arc = begin + (end - begin) * k / kSamples;
        const Span ends = arcs_.span(arc, arc + 1);
        inside += ends.behind <= behind;
        sample = sample.with(ends);
      }
      behind = std::max(behind, sample.behind);
      vertices += std::max<int64_t>(sample.behind - sample.first, 0);
    }
    return inside <= parts_.parts * kSamples / 8 && vertices <= arcs_.vertices + arcs_.vertices / 4;
  }

  void fill(int64_t part) {
    const int64_t begin = parts_.begin(part), end = parts_.end(part), first = spans_[part].first;
    const int64_t earlier = behind_[part] - first;
    PartForest<Index> forest(spans_[part], end - begin);
    std::vector<Doubt> doubts;
    arcs_.for_each_edge(begin, end, spans_[part], ends_, [&](int64_t arc, auto u, auto v) {
      const int64_t high = forest.add(arc, u - first, v - first);
      if (high >= 0 && high < earlier) [[unlikely]]
        doubts.push_back({forest.chosen().count - 1, high + first, forest.above(high + first)});
    });
    forests_[part] = std::move(forest), doubts_[part] = std::move(doubts);
  }

  // The first part whose span, or that of one before it, ends behind v: its parent counts.
  PartForest<Index>& part_of(int64_t v) {
    return forests_[std::upper_bound(behind_.begin() + 1, behind_.end(), v) - behind_.begin() - 1];
  }

  int64_t root_of(int64_t v) {
    int64_t root = v;
    for (int64_t above; (above = part_of(root).above(root)) != root;) root = above;
    for (int64_t above; v != root; v = above) {
      poll(1);
      above = part_of(v).above(v);
      part_of(v).put_under(v, root);
    }
    return root;
  }

  // Marks those arcs of a part that are in doubt and whose ends earlier arcs connect; returns how many.
  int64_t needless(int64_t part) {
    int64_t count = 0;
    for (const auto& [place, high, low] : doubts_[part]) {
      poll(1);
      const int64_t a = root_of(high), b = root_of(low);
      if (a == b)
        forests_[part].chosen().arcs[place] = -1, ++count;
      else
        part_of(std::max(a, b)).put_under(std::max(a, b), std::min(a, b));
    }
    return count;
  }

  const Arcs& arcs_;
  const Ends ends_;
  Parts parts_;
  std::vector<Span> spans_;
  std::vector<int64_t> behind_;  // where the spans of earlier parts end, for each part and one more
  std::vector<PartForest<Index>> forests_;
  std::vector<std::vector<Doubt>> doubts_;
};

// The forest of the arcs that add(forest, begin, end) adds, for those of numbers from `begin` to before
// `end`, and add_some(forest, chosen) for those chosen before: whatever the arcs are kept in.
template <class Index>
ChosenArcs<Index> forest_of_parts(int64_t vertices, int64_t arcs,
                                  FunctionRef<void(PartForest<Index>&, int64_t, int64_t)> add,
                                  FunctionRef<void(PartForest<Index>&, const ChosenArcs<Index>&)> add_some) {
  const int64_t most = arcs / (kPartDegree * std::max<int64_t>(vertices, 1));
  Parts parts(arcs, kGrain);
  parts.at_most(std::min<int64_t>(std::max<int64_t>(most, 1), num_threads()));
  std::vector<PartForest<Index>> forests(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    PartForest<Index> forest(Span{0, vertices}, arcs);
    add(forest, parts.begin(part), parts.end(part));
    forests[part] = std::move(forest);
  });
  for (int64_t step = 1; step < parts.parts; step *= 2)
    parallel_for((parts.parts + 2 * step - 1) / (2 * step), [&](int64_t pair) {
      const int64_t earlier = 2 * step * pair, later = earlier + step;
      if (later >= parts.parts) return;
      PartForest<Index> forest = std::move(forests[earlier]);
      PartForest<Index> added = std::move(forests[later]);
      add_some(forest, added.chosen());
      forests[earlier] = std::move(forest);
    });
  return std::move(forests[0].chosen());
}

template <class Index, class Arcs>
ChosenArcs<Index> spanning_forest(const Arcs& arcs, Ends ends) {
  using Forest = PartForest<Index>;
  const auto adding_to = [](Forest& forest) {
    return [&forest](int64_t arc, auto u, auto v) { forest.add(arc, u, v); };
  };
  if (ForestOfSpans<Index, Arcs> spans(arcs, ends); spans.finds_spans()) return spans.find();
  return forest_of_parts<Index>(
      arcs.vertices, arcs.arcs,
      [&](Forest& forest, int64_t begin, int64_t end) {
        Forest own = std::move(forest);  // which the compiler keeps in registers
        arcs.for_each_edge(begin, end, ends, adding_to(own));
        forest = std::move(own);
      },
      [&](Forest& forest, const ChosenArcs<Index>& chosen) {
        arcs.for_each_edge_of(chosen.arcs.data(), chosen.count, adding_to(forest));
      });
}

}  // namespace conncomp
