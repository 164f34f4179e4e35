// The minimum spanning forest: Kruskal's, light arcs first, then heavy ones that connect different trees,
// ascending; of equal weights the lower number goes first, so that the forest is unique. Directions are
// ignored. A sample shows below which weight there are about kLight arcs a vertex. These are sorted, and kept
// if they unite two trees. Most heavy arcs then have both ends in one tree of the flattened forest; the
// others are sorted, too. All threads collect and sort; one goes through. Cost: two passes over the arcs, a
// random access for each heavy one; for each sorted arc its ends, number and twice its weight. Source:
// Osipov, Sanders and Singler 2009, "The filter-Kruskal minimum spanning tree algorithm".
#pragma once

#include "core/fixed_point.h"
#include "core/key_hash.h"
#include "cpu/core/radix_sort.h"
#include "cpu/graph/spanning_forest.h"

namespace conncomp {

constexpr double kLight = 1.5, kAllLight = 3;

template <class Bits> struct Weights {
  const Bits* weights;
  WeightOrder<Bits> order;

  Bits at(int64_t arc) const { return order(Concurrent::load(weights + arc)); }
};

// An arc among the others: lighter ones first, and of equal ones that of the lower number.
template <class Bits> struct Place {
  Bits weight;
  int64_t arc;

  friend bool operator<(const Place& a, const Place& b) {
    return a.weight < b.weight || (a.weight == b.weight && a.arc < b.arc);
  }
};

template <class Bits, class Index> struct RankedWeight {
  Bits key;
  Index position;
};

template <class Index> struct CollectedEdge {
  Index u, v, arc;
};

// Whether each arc has an opposite one of the same weight, by a hash as of is_mirrored.
template <class Pointer, class Vertex, class Bits>
bool weighs_the_same_both_ways(
    const RowArcs<Pointer, Vertex>& arcs, const Weights<Bits> weights, uint64_t key) {
  const Rows<Pointer, Vertex> rows = arcs.rows;
  const auto hash_of = [=](int64_t low, int64_t high, int64_t arc) {
    return mix(mix(mix(uint64_t(low) ^ key) + uint64_t(high)) + uint64_t(weights.at(arc)));
  };
  // Some of its arcs show most graphs without that.
  constexpr int64_t kSamples = 64;
  for (int64_t i = 0; i < std::min(kSamples, rows.arcs); ++i) {
    const int64_t arc = spread(i, kSamples, rows.arcs), u = rows.source(arc);
    const Vertex v = rows.target(arc);
    if (!is_vertex(v, rows.vertices)) return false;
    bool has_opposite = false;
    for (int64_t a = rows.begin(v), end = rows.begin(v + 1); a < end && !has_opposite; ++a) {
      poll(1);
      has_opposite = rows.target(a) == u && weights.at(a) == weights.at(arc);
    }
    if (!has_opposite) return false;
  }
  const Parts parts(rows.arcs, kGrain);
  std::vector<uint64_t> sums(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    uint64_t sum = 0;
    arcs.for_each_edge(
        parts.begin(part), parts.end(part), Ends::kBoth, [&sum, hash_of](int64_t arc, int64_t u, int64_t v) {
          const uint64_t hash = hash_of(std::min(u, v), std::max(u, v), arc);
          sum += u < v ? hash : -hash;
        });
    sums[part] = sum;
  });
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total == 0;
}

template <class Vertex, class Bits>
bool weighs_the_same_both_ways(const ListedArcs<Vertex>&, const Weights<Bits>&, uint64_t) {
  return false;  // it takes longer to find the arcs from both ends than to go through them
}

// All arcs, those not heavier than the heaviest light one, or heavier ones between trees.
enum class Collected { kAll, kLight, kHeavy };

template <class Index, class Bits> class FilterKruskal {
 public:
  using Edge = CollectedEdge<Index>;

  using Collect = FunctionRef<void(
      const FilterKruskal&, Collected wanted, int64_t begin, int64_t end, std::vector<Edge>& edges)>;

  // `collect` calls collect_from, with the arcs.
  FilterKruskal(int64_t vertices, int64_t arcs, const Weights<Bits> weights, Ends ends, Collect collect)
      : vertices_(vertices),
        arcs_(arcs),
        weights_(weights),
        ends_(ends),
        collect_(collect),
        parent_(vertices),
        chosen_(arcs) {
    for_each_index(vertices, [parent = parent_.data()](int64_t v) { parent[v] = Index(v); });
  }

  [[gnu::noinline]] ChosenArcs<Index> forest() {
    const double edges = double(arcs_) / (ends_ == Ends::kSmaller ? 2 : 1);
    if (edges <= kAllLight * double(vertices_)) {
      add_all(Collected::kAll);
    } else {
      heaviest_ = heaviest_light(kLight * double(vertices_) / edges);
      add_all(Collected::kLight);
      flatten(parent_.data(), vertices_);
      add_all(Collected::kHeavy);
    }
    return chosen_.template listed<Index>();
  }

  void collect_from(
      const auto& arcs, Collected wanted, int64_t begin, int64_t end, std::vector<Edge>& edges) const {
    const auto collect_where = [&](auto is_wanted) {
      arcs.for_each_edge(begin, end, ends_, [&edges, is_wanted](int64_t arc, auto u, auto v) {
        if (is_wanted(arc, u, v)) edges.push_back({Index(u), Index(v), Index(arc)});
      });
    };
    if (wanted == Collected::kAll)
      collect_where([](int64_t, auto, auto) { return true; });
    else if (wanted == Collected::kLight)
      collect_where([heaviest = heaviest_, weights = weights_](
                        int64_t arc, auto, auto) { return !(heaviest < Place<Bits>{weights.at(arc), arc}); });
    else
      collect_where(
          [heaviest = heaviest_, weights = weights_, parent = parent_.data()](int64_t arc, auto u, auto v) {
            return Concurrent::load(parent + u) != Concurrent::load(parent + v) &&
                   heaviest < Place<Bits>{weights.at(arc), arc};
          });
  }

 private:
  using Ranked = RankedWeight<Bits, Index>;

  Place<Bits> heaviest_light(double share) const {
    constexpr int64_t kSamples = 1024;
    std::vector<Place<Bits>> sample;
    for (int64_t i = 0; i < kSamples; ++i) {
      const int64_t arc = spread(i, kSamples, arcs_);
      sample.push_back({weights_.at(arc), arc});
    }
    const auto middle = sample.begin() + std::min(int64_t(share * double(kSamples)), kSamples - 1);
    std::nth_element(sample.begin(), middle, sample.end());
    return *middle;
  }

  void add_all(Collected wanted) {
    const Parts parts(arcs_, kGrain);
    std::vector<std::vector<Edge>> edges_of_part(parts.parts);
    parallel_for(parts.parts, [&](int64_t part) {
      std::vector<Edge> edges;
      collect_(*this, wanted, parts.begin(part), parts.end(part), edges);
      edges_of_part[part] = std::move(edges);
    });
    std::vector<int64_t> begins{0};
    for (const auto& edges : edges_of_part) begins.push_back(begins.back() + int64_t(edges.size()));
    const int64_t count = begins.back();
    Buffer<Edge> edges(count);
    Buffer<Ranked> ranking(count);
    parallel_for(parts.parts, [&](int64_t part) {
      const std::vector<Edge> part_edges = std::move(edges_of_part[part]);
      for_each_in(0, int64_t(part_edges.size()),
          [edge_at = edges.data(), ranked = ranking.data(), from = part_edges.data(), weights = weights_,
              begin = begins[part]](int64_t i) {
            edge_at[begin + i] = from[i];
            ranked[begin + i] = {weights.at(from[i].arc), Index(begin + i)};
          });
    });
    radix_sort(ranking, count);
    add_in_order(edges, ranking, count);
  }

  void add_in_order(const Buffer<Edge>& edges, const Buffer<Ranked>& ranking, int64_t count) {
    for_each_in(0, count,
        [=, edge_at = edges.data(), ranked = ranking.data(), parent = parent_.data(), chosen = &chosen_](
            int64_t i) {
          __builtin_prefetch(edge_at + ranked[std::min(i + 2 * kAhead, count - 1)].position);
          const Edge& later = edge_at[ranked[std::min(i + kAhead, count - 1)].position];
          __builtin_prefetch(parent + later.u);
          __builtin_prefetch(parent + later.v);
          const Edge& edge = edge_at[ranked[i].position];
          chosen->add(edge.arc, joins(parent, edge.u, edge.v));
        });
  }
  static constexpr int64_t kAhead = 8;

  const int64_t vertices_, arcs_;
  const Weights<Bits> weights_;
  const Ends ends_;
  const Collect collect_;
  Place<Bits> heaviest_{};
  Buffer<Index> parent_;
  ArcBits chosen_;
};

template <class Index, class Bits>
ChosenArcs<Index> minimum_spanning_forest(const auto& arcs, const Weights<Bits> weights, uint64_t key) {
  using Forest = FilterKruskal<Index, Bits>;
  const Ends ends = weighs_the_same_both_ways(arcs, weights, key) ? Ends::kSmaller : Ends::kBoth;
  const auto collect = [&arcs](const Forest& forest, Collected wanted, int64_t begin, int64_t end,
                           std::vector<typename Forest::Edge>& edges) {
    forest.collect_from(arcs, wanted, begin, end, edges);
  };
  return Forest(arcs.vertices, arcs.arcs, weights, ends, collect).forest();
}

}
