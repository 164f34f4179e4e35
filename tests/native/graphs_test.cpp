// Runs what is compiled once for all instruction sets, graphs above all, on random inputs under a sanitizer,
// with several threads and parts that are small, and compares with serial code. Built and run by
// test_sanitizers.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/core/buffer.h"
#include "cpu/generate/fill.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/arcs.h"
#include "cpu/graph/both_ways.h"
#include "cpu/graph/bridges.h"
#include "cpu/graph/condensation.h"
#include "cpu/graph/filter_kruskal.h"
#include "cpu/graph/giant.h"
#include "cpu/graph/incremental.h"
#include "cpu/graph/pieces.h"
#include "cpu/graph/rows_of_arcs.h"
#include "cpu/graph/spanning_forest.h"
#include "cpu/graph/sparse_forest.h"
#include "cpu/graph/tarjan.h"
#include "cpu/graph/trimming.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/searches.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Calls use() when each algorithm of the papers has filled the roots of a graph, given in both forms.
template <class Pointer, class Vertex, class Index, class Use>
void run_papers(const Rows<Pointer, Vertex> rows, bool symmetric, const std::vector<Vertex>& src,
    const std::vector<Vertex>& dst, std::vector<Index>& roots, Use&& use) {
  const EclOptions options{draw(1, 3), draw(1, 4), draw(1, 3)};
  ecl_roots(rows, symmetric, options, roots.data());
  use();
  ecl_roots_of_arcs(src.data(), dst.data(), int64_t(src.size()), rows.vertices, options, roots.data());
  use();
  const BothEnds<Pointer, Vertex, Index> graph(rows, symmetric);
  bfs_roots(graph, roots.data());
  use();
  recolouring_roots(graph, roots.data());
  use();
}

// A forest with paths of any length, not flat.
template <class Index> void test_forest() {
  const int count = draw(0, 600), reach = draw(1, 600);
  std::vector<Index> forest(count), roots(count);
  for (int v = 0; v < count; ++v) {
    forest[v] = Index(draw(0, 9) ? std::max(v - draw(0, reach), 0) : v);
    roots[v] = forest[v] == Index(v) ? Index(v) : roots[forest[v]];
  }
  std::vector<Index> numbers(count), labels = forest;
  Index components = 0;
  for (int v = 0; v < count; ++v) numbers[v] = roots[v] == Index(v) ? components++ : numbers[roots[v]];
  check(label_forest(labels.data(), count, Naming::kNumbers) == components && labels == numbers,
      "number of a tree");
  check(
      label_forest(forest.data(), count, Naming::kRoots) == components && forest == roots, "root of a tree");
}

// Weights of few values, whose order is that of signed numbers.
template <class Bits> std::vector<Bits> draw_weights(size_t count) {
  std::vector<Bits> weights(count);
  const int most = draw(0, 3) ? 5 : 1 << 30;
  for (Bits& weight : weights) weight = Bits(draw(-most, most));
  return weights;
}
template <class Bits> constexpr WeightOrder<Bits> kSigned{0, 0, Bits(1) << (8 * sizeof(Bits) - 1)};

template <class Index> std::vector<int64_t> listed(const ChosenArcs<Index>& chosen) {
  return {chosen.arcs.data(), chosen.arcs.data() + chosen.count};
}

// The forest of the lightest arcs, of which those of lower numbers go first.
template <class Bits, class Vertex>
std::vector<int64_t> forest_by_kruskal(const std::vector<Vertex>& src, const std::vector<Vertex>& dst,
    const std::vector<Bits>& weights, int64_t vertices) {
  std::vector<int64_t> order(src.size()), tree(vertices), forest;
  std::iota(order.begin(), order.end(), int64_t(0));
  std::iota(tree.begin(), tree.end(), int64_t(0));
  const auto weight = [&](int64_t arc) { return std::make_signed_t<Bits>(weights[arc]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return weight(a) < weight(b); });
  for (int64_t arc : order) {
    const int64_t a = tree[src[arc]], b = tree[dst[arc]];
    if (a == b) continue;
    forest.push_back(arc);
    std::replace(tree.begin(), tree.end(), b, a);
  }
  std::sort(forest.begin(), forest.end());
  return forest;
}

template <class Bits, class Index>
void test_forests(const Rows<int64_t, Index> rows, bool symmetric, const std::vector<Index>& src,
    const std::vector<Index>& dst) {
  const int64_t vertices = rows.vertices;
  std::vector<Index> row_of(src.size());
  for (int64_t v = 0; v < vertices; ++v)
    std::fill(row_of.begin() + rows.indptr[v], row_of.begin() + rows.indptr[v + 1], Index(v));
  const std::vector<Index> targets(rows.indices, rows.indices + rows.arcs);
  std::vector<Bits> weights(src.size());
  const ListedArcs<Index> list{src.data(), dst.data(), vertices, int64_t(src.size())};
  const RowArcs<int64_t, Index> in_rows{rows};
  const auto of_list = listed(spanning_forest<Index>(list, Ends::kBoth));
  check(of_list == forest_by_kruskal(src, dst, weights, vertices), "spanning forest of a list");
  const auto of_rows =
      listed(spanning_forest<Index>(in_rows, symmetric && draw(0, 1) ? Ends::kSmaller : Ends::kBoth));
  check(of_rows == forest_by_kruskal(row_of, targets, weights, vertices), "spanning forest of rows");
  weights = draw_weights<Bits>(src.size());
  if (draw(0, 1))  // the same from both ends
    for (size_t arc = 0; arc < src.size(); ++arc)
      weights[arc] = Bits((uint64_t(row_of[arc]) + 1) * (uint64_t(targets[arc]) + 1) % 7) - 3;
  const Weights<Bits> weighed{weights.data(), kSigned<Bits>};
  check(listed(minimum_spanning_forest<Index>(list, weighed, 1)) ==
            forest_by_kruskal(src, dst, weights, vertices),
      "minimum spanning forest of a list");
  check(listed(minimum_spanning_forest<Index>(in_rows, weighed, 1)) ==
            forest_by_kruskal(row_of, targets, weights, vertices),
      "minimum spanning forest of rows");
}

// Labels as roots and as numbers, beside the smallest vertices of components.
template <class Index, class Expected>
void check_labels(const Rows<int64_t, Index> rows, bool symmetric, const std::vector<Expected>& expected) {
  std::vector<Index> roots(rows.vertices), numbers(rows.vertices), known(rows.vertices);
  const int64_t components = label_components(rows, symmetric, Naming::kRoots, roots.data());
  check(label_components(rows, symmetric, Naming::kNumbers, numbers.data()) == components,
      "so many components");
  Index next = 0;
  for (int64_t v = 0; v < rows.vertices; ++v) {
    known[v] = expected[v] == v ? next++ : known[expected[v]];
    check(roots[v] == Index(expected[v]), "root of a vertex");
    check(numbers[v] == known[v], "number of a vertex");
  }
  check(components == next, "number of components");
}

// The roots of a list of arcs, by a flood fill.
template <class Index>
auto roots_of_list(const std::vector<Index>& src, const std::vector<Index>& dst, int vertices) {
  std::vector<std::vector<Index>> neighbours(vertices);
  for (size_t i = 0; i < src.size(); ++i) {
    neighbours[src[i]].push_back(dst[i]);
    neighbours[dst[i]].push_back(src[i]);
  }
  return flood_fill(
      vertices, [](int64_t) { return true; },
      [&](int64_t v, auto&& visit) {
        for (Index w : neighbours[v]) visit(w);
      });
}

// Rows of a list, as they are known, and of the list in the order of its sources.
template <class Index>
void test_rows_of_arcs(const std::vector<Index>& src, const std::vector<Index>& dst,
    const std::vector<int64_t>& indptr, const std::vector<Index>& indices) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(indptr.size()) - 1;
  std::vector<int64_t> begins(vertices + 1, -1);
  std::vector<Index> targets(arcs), sorted(src);
  RowsOfArcs<Index>(src.data(), dst.data(), arcs, vertices).fill(begins.data(), targets.data());
  check(begins == indptr, "where rows of a list begin");
  check(targets == indices, "rows of a list");
  const bool is_sorted = std::is_sorted(src.begin(), src.end());
  check(find_rows(src.data(), arcs, vertices, begins.data()) == is_sorted, "whether a list is in order");
  std::sort(sorted.begin(), sorted.end());
  begins.assign(vertices + 1, -1);
  check(find_rows(sorted.data(), arcs, vertices, begins.data()), "a list in order");
  check(begins == indptr, "where rows of a list in order begin");
}

template <class Index> void test_graph() {
  const int vertices = draw(0, 600), arcs = vertices ? draw(0, 1200) : 0;
  const bool symmetric = draw(0, 1), hub = draw(0, 1);
  std::vector<Index> src, dst;
  for (int i = 0; i < arcs; ++i) {
    src.push_back(Index(hub && draw(0, 1) ? vertices / 2 : draw(0, vertices - 1)));
    dst.push_back(Index(draw(0, vertices - 1)));
    if (symmetric) {
      src.push_back(dst.back());
      dst.push_back(src[src.size() - 2]);
    }
  }
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(src.size());
  group_by_key(
      int64_t(src.size()), vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; },
      indptr.data(), indices.data(), int64_t(indices.size()));
  const auto expected = roots_of_list(src, dst, vertices);
  std::vector<Index> others(vertices);
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, int64_t(indices.size())};
  test_rows_of_arcs(src, dst, indptr, indices);
  check_labels(rows, symmetric, expected);
  grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), vertices, others.data());
  label_forest(others.data(), vertices, Naming::kRoots);
  for (int v = 0; v < vertices; ++v) check(others[v] == expected[v], "root of a vertex of a list");
  test_forests<uint32_t>(rows, symmetric, src, dst);
  test_forests<uint64_t>(rows, symmetric, src, dst);
  run_papers(rows, symmetric, src, dst, others, [&] {
    for (int v = 0; v < vertices; ++v) check(others[v] == expected[v], "root by an algorithm of the papers");
  });
}

// Lists in which the opposites of all arcs come in the second half, or one after another, but for a few.
template <class Index> void test_opposite_arcs() {
  const int vertices = draw(1, 600), arcs = draw(0, 1200), wrong = draw(0, 3);
  const bool halves = draw(0, 1);
  std::vector<Index> src, dst, roots(vertices);
  for (int i = 0; i < arcs; ++i) {
    src.push_back(Index(draw(0, vertices - 1))), dst.push_back(Index(draw(0, vertices - 1)));
    if (!halves) src.push_back(dst.back()), dst.push_back(src[src.size() - 2]);
  }
  if (halves) {
    const std::vector<Index> forth(src);
    src.insert(src.end(), dst.begin(), dst.end());
    dst.insert(dst.end(), forth.begin(), forth.end());
  }
  for (int k = 0; k < wrong && arcs > 0; ++k)
    dst[draw(0, int(dst.size()) - 1)] = Index(draw(0, vertices - 1));
  const auto expected = roots_of_list(src, dst, vertices);
  grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), vertices, roots.data());
  label_forest(roots.data(), vertices, Naming::kRoots);
  for (int v = 0; v < vertices; ++v)
    check(roots[v] == expected[v], "root of a vertex of a list of opposites");
}

// Lists whose ends are mostly near each other, all in one component but for some vertices, by one or both
// directions, in the order of sources, of blocks, or in any; and their rows.
template <class Index> void test_near_arcs() {
  const int vertices = draw(1, 3000), reach = draw(1, 30), apart = draw(0, 2), order = draw(0, 2);
  std::vector<std::pair<Index, Index>> arcs;
  for (int v = 1; v < vertices; ++v) {
    if (apart && draw(0, vertices / apart) == 0) continue;
    const int u = std::max(v - draw(1, reach), 0);
    arcs.emplace_back(Index(v), Index(u));
    if (draw(0, 1)) arcs.emplace_back(Index(u), Index(v));
    if (draw(0, vertices) == 0) arcs.emplace_back(Index(draw(0, vertices - 1)), Index(draw(0, vertices - 1)));
  }
  if (order == 1) std::sort(arcs.begin(), arcs.end());
  if (order == 2)
    for (size_t i = arcs.size(); i > 1; --i) std::swap(arcs[i - 1], arcs[size_t(draw(0, int(i) - 1))]);
  std::vector<Index> src, dst, roots(vertices), indices(arcs.size());
  for (const auto& [v, u] : arcs) src.push_back(v), dst.push_back(u);
  std::vector<int64_t> indptr(vertices + 1);
  group_by_key(
      int64_t(src.size()), vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; },
      indptr.data(), indices.data(), int64_t(indices.size()));
  test_rows_of_arcs(src, dst, indptr, indices);
  const auto expected = roots_of_list(src, dst, vertices);
  grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), vertices, roots.data());
  label_forest(roots.data(), vertices, Naming::kRoots);
  for (int v = 0; v < vertices; ++v) check(roots[v] == expected[v], "root of a vertex of near arcs");
  // Sources that somebody has changed since they were checked.
  for (int k = draw(1, 3); k > 0 && !src.empty(); --k)
    src[draw(0, int(src.size()) - 1)] =
        draw(0, 1) ? std::numeric_limits<Index>::min() : std::numeric_limits<Index>::max();
  RowsOfArcs<Index>(src.data(), dst.data(), int64_t(src.size()), vertices)
      .fill(indptr.data(), indices.data());
  check(std::is_sorted(indptr.begin(), indptr.end()), "rows of a list that was changed");
  check(indptr.front() == 0 && indptr.back() <= int64_t(src.size()), "borders of rows that were changed");
  find_rows(src.data(), int64_t(src.size()), vertices, indptr.data());
}

// Vertices of few arcs, listed from both ends in any order, that mostly lead to near ones, and hubs.
template <class Index> void test_sparse() {
  const int vertices = draw(1, 1500), links = draw(0, vertices * 5 / 4), hubs = draw(0, 3);
  const int reach = draw(0, 3) ? draw(1, 60) : vertices;
  std::vector<Index> src, dst;
  for (int i = 0; i < links; ++i) {
    const int v = draw(0, vertices - 1), hub = vertices / 4 * draw(0, hubs);
    const int u = hubs && draw(0, 5) == 0 ? hub : std::clamp(v + draw(-reach, reach), 0, vertices - 1);
    for (const int end : {v, u}) src.push_back(Index(end)), dst.push_back(Index(u + v - end));
  }
  const int64_t arcs = int64_t(src.size());
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(arcs), roots(vertices);
  group_by_key(
      arcs, vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; }, indptr.data(),
      indices.data(), arcs);
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, arcs};
  const auto expected = flood_fill(
      vertices, [](int64_t) { return true; },
      [&](int64_t v, auto&& visit) { rows.for_each_neighbour(v, visit); });
  SparseForest<int64_t, Index, Index>(rows, roots.data()).grow();
  for (int v = 0; v < vertices; ++v)
    check(roots[v] <= v && expected[roots[v]] == expected[v], "a smaller vertex of the component");
  label_forest(roots.data(), vertices, Naming::kRoots);
  for (int v = 0; v < vertices; ++v) check(roots[v] == Index(expected[v]), "root in a sparse graph");
}

// Vertices with an arc to a smaller one each, but for the first one, and for another one at times.
template <class Index> void test_one_tree() {
  const int vertices = draw(1, 2000);
  const int other = draw(0, 1) ? draw(0, std::min(vertices - 1, draw(0, 1) ? vertices : 3)) : 0;
  std::vector<int64_t> indptr{0};
  std::vector<Index> indices;
  std::vector<int> expected(vertices);
  for (int v = 0; v < vertices; ++v) {
    const int u = v == other ? v : draw(std::max(v - 9, 0), std::max(v - 1, 0));
    expected[v] = u == v ? v : expected[u];
    if (u != v || draw(0, 1)) indices.push_back(Index(u));
    if (draw(0, 1)) indices.insert(indices.begin() + indptr.back(), Index(v));
    indptr.push_back(int64_t(indices.size()));
  }
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, indptr.back()};
  check(start_as_one(rows) == (other == 0), "one tree by first and last arcs");
  check_labels(rows, false, expected);
}

int giants_found = 0, giants_given_up = 0;

// Parts of many arcs each and vertices of few, in any order, whose arcs are listed from both ends.
template <class Index> void test_giant() {
  const int parts = draw(1, 3), vertices = parts * draw(20, 200), members = parts * draw(4, vertices / parts);
  const int arcs = 7 * vertices, reach = draw(0, 1) ? vertices : 5;
  std::vector<Index> order(vertices), src, dst;
  std::iota(order.begin(), order.end(), Index(0));
  std::shuffle(order.begin(), order.end(), generator);
  const auto add = [&](Index v, Index u) { src.push_back(order[v]), dst.push_back(order[u]); };
  for (int i = 0; i < arcs; ++i) {
    const int v = draw(0, members - 1), u = (v + parts * draw(0, reach)) % members;
    add(Index(v), Index(u)), add(Index(u), Index(v));
  }
  for (int i = draw(0, (vertices - members) / 8); i > 0; --i) {  // islands
    const int v = draw(members, vertices - 1), u = draw(members, vertices - 1);
    add(Index(v), Index(u)), add(Index(u), Index(v));
  }
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(src.size()), roots(vertices);
  group_by_key(
      int64_t(src.size()), vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; },
      indptr.data(), indices.data(), int64_t(indices.size()));
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, int64_t(indices.size())};
  const auto expected = flood_fill(
      vertices, [](int64_t) { return true; },
      [&](int64_t v, auto&& visit) { rows.for_each_neighbour(v, visit); });
  Giant<int64_t, Index> giant(rows);
  const bool is_found = giant.search();
  ++(is_found ? giants_found : giants_given_up);
  int64_t root = -1, left = 0;
  for (int64_t v = 0; v < vertices; ++v) {
    if (!giant.members().has(v))
      left += indptr[v + 1] - indptr[v];
    else if (root < 0)
      root = expected[v];
    check(!giant.members().has(v) || expected[v] == root, "a member of a giant");
  }
  check(!is_found || left <= rows.arcs / 4, "a giant of most arcs");
  if (is_found) {
    VertexBits some(vertices);  // as where a sweep is the last one while it marks
    some.set(giant.members().first());
    for (int64_t v = 0; v < vertices; ++v)
      if (giant.members().has(v) && v % 7 != 3) some.set(v);
    for (const VertexBits& members : {giant.members(), some}) {
      std::fill(roots.begin(), roots.end(), Index(-1));  // which no member is asked for
      AroundGiant<Index> around(members, vertices, roots.data());
      around.unite(rows);
      around.label(Naming::kRoots);
      check(std::equal(roots.begin(), roots.end(), expected.begin()), "roots beside a giant");
    }
  }
  check_labels(rows, true, expected);
}

// Strong components, by which vertices reach which; few vertices, so that there are many of any size.
template <class Index> void test_strong() {
  const int vertices = draw(0, 70), arcs = vertices ? draw(0, (draw(0, 1) ? 2 : 8) * vertices) : 0;
  std::vector<Index> src(arcs), dst(arcs);
  std::vector<std::vector<bool>> reaches(vertices, std::vector<bool>(vertices));
  for (int v = 0; v < vertices; ++v) reaches[v][v] = true;
  for (int i = 0; i < arcs; ++i) {
    src[i] = Index(draw(0, vertices - 1)), dst[i] = Index(draw(0, vertices - 1));
    reaches[src[i]][dst[i]] = true;
  }
  for (int w = 0; w < vertices; ++w)
    for (int v = 0; v < vertices; ++v)
      for (int u = 0; reaches[v][w] && u < vertices; ++u)
        if (reaches[w][u]) reaches[v][u] = true;
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(arcs), roots(vertices), labels(vertices), numbers(vertices);
  group_by_key(
      arcs, vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; }, indptr.data(),
      indices.data(), arcs);
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, arcs};
  tarjan_roots(rows, roots.data(), static_cast<Index*>(nullptr));
  const int64_t components = topological_labels(rows, numbers.data());
  check(settle_all(rows, draw(0, 1), labels.data()) == components, "number of strong components");
  label_settled(labels.data(), vertices, components, Naming::kNumbers);
  std::vector<Index> known = roots;
  label_forest(known.data(), vertices, Naming::kNumbers);
  check(labels == known, "number of a strong component");
  for (int v = 0; v < vertices; ++v) {
    int root = v;
    for (int u = vertices; u-- > 0;)
      if (reaches[v][u] && reaches[u][v]) root = u;
    check(roots[v] == Index(root), "root of a strong component");
    check(uint64_t(numbers[v]) < uint64_t(components), "a topological number");
  }
  std::vector<std::vector<Index>> targets(components);
  for (int i = 0; i < arcs; ++i) {
    check(numbers[src[i]] >= numbers[dst[i]], "topological order");
    check((numbers[src[i]] == numbers[dst[i]]) == (roots[src[i]] == roots[dst[i]]), "a number a component");
    if (roots[src[i]] != roots[dst[i]]) targets[labels[src[i]]].push_back(labels[dst[i]]);
  }
  const Condensation<Index> graph = condense(rows, labels.data(), components);
  for (int64_t c = 0; c < components; ++c) {
    std::sort(targets[c].begin(), targets[c].end());
    targets[c].erase(std::unique(targets[c].begin(), targets[c].end()), targets[c].end());
    const std::vector<Index> row(
        graph.indices.data() + graph.indptr[c], graph.indices.data() + graph.indptr[c + 1]);
    check(row == targets[c], "a row of a condensation");
  }
}

// Bridges, by what each vertex reaches without the link to its parent.
void test_bridges() {
  const int vertices = draw(0, 40), links = vertices ? draw(0, vertices + vertices / 4) : 0;
  std::vector<int32_t> src, dst;
  for (int i = 0; i < links; ++i) {
    const int u = draw(0, vertices - 1), v = draw(0, 2) ? draw(0, vertices - 1) : (u + 1) % vertices;
    for (const int end : {u, v}) src.push_back(end), dst.push_back(u + v - end);
  }
  const int64_t arcs = int64_t(src.size());
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<int32_t> indices(arcs), parents(vertices), cut(vertices);
  group_by_key(
      arcs, vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; }, indptr.data(),
      indices.data(), arcs);
  const Rows<int64_t, int32_t> rows{indptr.data(), indices.data(), vertices, arcs};
  BridgeSearch(rows, parents.data(), cut.data()).run();
  const auto size_without = [&](int a, int b) {  // how many vertices `a` reaches
    const auto labels = flood_fill(
        vertices, [](int64_t) { return true; },
        [&](int64_t v, auto&& visit) {
          rows.for_each_neighbour(v, [&](int32_t u) {
            if ((v != a || u != b) && (v != b || u != a)) visit(u);
          });
        });
    return labels[a] == labels[b] ? 0 : std::count(labels.begin(), labels.end(), labels[a]);
  };
  for (int v = 0; v < vertices; ++v) {
    const int u = parents[v];
    if (u < 0) {
      check(cut[v] == 0, "a root has no bridge to its parent");
      continue;
    }
    check(std::count(indices.begin() + indptr[v], indices.begin() + indptr[v + 1], u) > 0, "a parent");
    check(cut[v] == std::min(size_without(u, v), size_without(v, u)), "the smaller side of a bridge");
  }
}

// Trees by size, against lists of members whose first one is the root.
void test_union_by_size() {
  const int vertices = draw(1, 60), links = draw(0, 90), stays = draw(-1, vertices - 1);
  std::vector<int32_t> u(links), v(links), parent(vertices), sizes(vertices, 1);
  std::vector<std::vector<int32_t>> trees(vertices);
  std::vector<int32_t> tree_of(vertices);
  for (int32_t i = 0; i < vertices; ++i) parent[i] = tree_of[i] = i, trees[i] = {i};
  for (int k = 0; k < links; ++k) {
    u[k] = draw(0, vertices - 1), v[k] = draw(0, vertices - 1);
    int32_t a = tree_of[u[k]], b = tree_of[v[k]];
    if (a == b) continue;
    const bool second = trees[b][0] == stays || (trees[a][0] != stays && trees[a].size() < trees[b].size());
    if (second) std::swap(a, b);
    for (const int32_t i : trees[b]) tree_of[i] = a, trees[a].push_back(i);
    trees[b].clear();
  }
  unite_by_size(u.data(), v.data(), links, stays, parent.data(), sizes.data());
  for (int32_t i = 0; i < vertices; ++i) {
    int32_t root = i;
    while (parent[root] != root) root = parent[root];
    check(root == trees[tree_of[i]][0], "the root of a tree by size");
    check(sizes[root] == int32_t(trees[tree_of[i]].size()), "the size of a tree");
  }
}

// A copy of which one entry, 5, was made before its root was hooked, and another one, 7, after that.
template <class Index> void test_copy_of_two_moments() {
  std::vector<Index> parent(8), copy(8);
  start_forest(8, parent.data());
  start_forest(8, copy.data());
  unite<Concurrent>(parent.data(), Index(5), Index(7));
  unite<Concurrent>(parent.data(), Index(2), Index(5));
  copy[7] = 2;
  follow_unions(parent.data(), 8, copy.data());
  check(copy == std::vector<Index>{0, 1, 2, 3, 4, 2, 6, 2}, "a copy that follows unions");
}

// Batches of edges of which some have no vertex at an end, from two threads, while a third one looks: what it
// sees is connected once all edges are in, and so are the edges of batches before.
template <class Vertex, class Index> void test_growing() {
  const int vertices = draw(0, 400), reach = draw(0, 1) ? vertices : 3;
  std::vector<Index> parent(vertices), labels(vertices), expected(vertices), numbers(vertices);
  std::vector<Vertex> earlier_src, earlier_dst;
  int64_t components = vertices;
  start_forest(vertices, parent.data());
  start_forest(vertices, expected.data());
  for (int batch = 0; batch < 4; ++batch) {
    const int edges = draw(0, 300);
    std::vector<Vertex> src, dst;
    for (int i = 0; i < edges; ++i) {
      const int u = draw(-1, vertices);
      src.push_back(Vertex(u));
      dst.push_back(Vertex(draw(0, 9) ? draw(std::max(u - reach, 0), std::max(u, 0)) : int(generator())));
    }
    const std::vector<Vertex> before_src = src, before_dst = dst;
    const auto exists = [=](int64_t v) { return v >= 0 && v < vertices; };
    const int half = edges / 2;
    std::vector<Index> seen(edges);
    std::thread first(
        [&] { unite_edges(src.data(), dst.data(), half, vertices, parent.data(), &components); });
    std::thread second([&] {
      unite_edges(src.data() + half, dst.data() + half, edges - half, vertices, parent.data(), &components);
    });
    const std::unique_ptr<bool[]> connected(new bool[edges]);
    compare_roots(src.data(), dst.data(), edges, vertices, parent.data(), connected.get());
    list_roots(src.data(), edges, vertices, parent.data(), seen.data());
    const int earlier = int(earlier_src.size());
    const std::unique_ptr<bool[]> joined(new bool[earlier]);
    compare_roots(earlier_src.data(), earlier_dst.data(), earlier, vertices, parent.data(), joined.get());
    label_copy(parent.data(), vertices, Naming::kNumbers, labels.data());
    first.join();
    second.join();

    for (int i = 0; i < earlier; ++i) {
      check(joined[i], "an edge of a batch before");
      const int64_t u = earlier_src[i], v = earlier_dst[i];
      check(labels[u] == labels[v], "labels that tell apart what a batch before has connected");
    }
    for (int i = 0; i < edges; ++i) {
      const int64_t u = src[i], v = dst[i];
      if (!exists(u)) check(seen[i] == -1, "the root of what is no vertex");
      if (!exists(u) || !exists(v)) {
        check(!connected[i], "what is no vertex is connected");
        continue;
      }
      earlier_src.push_back(src[i]);
      earlier_dst.push_back(dst[i]);
      // A union the plain way: relabel.
      const Index low = std::min(expected[u], expected[v]), high = std::max(expected[u], expected[v]);
      std::replace(expected.begin(), expected.end(), high, low);
    }
    for (int i = 0; i < edges; ++i)
      if (exists(src[i])) check(expected[seen[i]] == expected[src[i]], "a root of another component");
    const int64_t count = label_copy(parent.data(), vertices, Naming::kRoots, labels.data());
    check(labels == expected, "the root of a vertex after a batch");
    check(count == components, "the number of components after a batch");
    compare_roots(src.data(), dst.data(), edges, vertices, parent.data(), connected.get());
    for (int i = 0; i < edges; ++i)
      check(connected[i] == (exists(src[i]) && exists(dst[i])), "an edge that connects");
    Index next = 0;
    for (int v = 0; v < vertices; ++v) numbers[v] = expected[v] == v ? next++ : numbers[expected[v]];
    label_copy(parent.data(), vertices, Naming::kNumbers, labels.data());
    check(labels == numbers, "the number of a component that grows");
    check(src == before_src && dst == before_dst, "edges that were changed");
  }
}

// Inputs that change while they are read: any answer will do, if the sanitizers find nothing.
template <class Vertex, class Index> void test_changing_graph() {
  const int vertices = draw(0, 300), arcs = draw(0, 900);
  const Vertex extremes[] = {std::numeric_limits<Vertex>::min(), std::numeric_limits<Vertex>::max()};
  const auto any = [&] {
    if (draw(0, 3)) return Vertex(draw(0, vertices));
    return draw(0, 2) ? Vertex(int(generator())) : extremes[draw(0, 1)];
  };
  std::vector<Vertex> indptr(vertices + 1), src(arcs), dst(arcs);
  for (Vertex& pointer : indptr) pointer = draw(0, 2) ? Vertex(draw(0, arcs)) : any();
  for (Vertex& vertex : src) vertex = any();
  for (Vertex& vertex : dst) vertex = any();
  std::vector<Index> roots(vertices);
  const Rows<Vertex, Vertex> rows{indptr.data(), dst.data(), vertices, arcs};
  label_components(rows, draw(0, 1), Naming(draw(0, 1)), roots.data());
  grow_forest_of_arcs(src.data(), dst.data(), arcs, vertices, roots.data());
  label_forest(roots.data(), vertices, Naming(draw(0, 1)));
  run_papers(
      rows, draw(0, 1), src, dst, roots, [&] { label_forest(roots.data(), vertices, Naming(draw(0, 1))); });
  const int64_t components = settle_all(rows, draw(0, 1), roots.data());
  label_settled(roots.data(), vertices, components, Naming(draw(0, 1)));
  condense(rows, roots.data(), vertices);
  topological_labels(rows, roots.data());

  const std::vector<uint32_t> weights = draw_weights<uint32_t>(arcs);
  const Weights<uint32_t> weighed{weights.data(), kSigned<uint32_t>};
  const RowArcs<Vertex, Vertex> in_rows{rows};
  const ListedArcs<Vertex> list{src.data(), dst.data(), vertices, arcs};
  spanning_forest<Index>(in_rows, draw(0, 1) ? Ends::kSmaller : Ends::kBoth);
  spanning_forest<Index>(list, Ends::kBoth);
  minimum_spanning_forest<Index>(in_rows, weighed, 1);
  minimum_spanning_forest<Index>(list, weighed, 1);

  // Keys that are others when they are asked for again.
  std::vector<int64_t> begin(vertices + 1);
  std::vector<int32_t> grouped(arcs);
  group_by_key(
      arcs, vertices, [&](int64_t) { return draw(-1, vertices + 2); }, [](int64_t i) { return i; },
      begin.data(), grouped.data(), arcs);
}

// Arcs anywhere, to near vertices, or along cycles in a row, mostly in one direction.
template <class Index> std::vector<std::pair<Index, Index>> draw_long_graph(int vertices) {
  std::vector<std::pair<Index, Index>> arcs;
  const auto add = [&](int v, int u) {
    if (u >= 0 && u < vertices) arcs.emplace_back(Index(v), Index(u));
  };
  const int kind = draw(0, 4), length = draw(1, 20), arcs_of_six = draw(1, 15);
  const int way = draw(0, 1) ? 1 : -1;
  for (int v = 0; v < vertices; ++v) {
    const bool ends = (v + 1) % length == 0;
    if (kind == 0) {
      for (int i = 0; i < 4; ++i)
        if (draw(0, 23) < arcs_of_six) add(v, draw(0, vertices - 1));
    } else if (kind == 1) {
      for (int i = draw(0, 3); i > 0; --i) add(v, v + draw(-8, 8));
    } else if (kind == 2) {
      add(v, ends ? v + 1 - length : v + 1);
      if (ends) add(arcs_of_six % 2 ? v : v + 1, arcs_of_six % 2 ? v + 1 : v);
    } else if (kind == 3) {
      for (const int step : {1, length}) draw(0, 9) < 8 ? add(v, v + step) : add(v + step, v);
    } else {  // pieces in a row, whose arcs lead to later ones only, or to earlier ones
      if (draw(0, 7)) add(v, v - v % length + draw(0, length - 1));
      if (draw(0, 7)) add(v, v + way);
      if (draw(0, 9) == 0) add(v, v + way * draw(1, 100));
      if (draw(0, 4 * vertices) == 0) add(v, draw(0, vertices - 1));
    }
  }
  std::erase_if(arcs, [=](const auto& arc) { return arc.first >= vertices; });
  return arcs;
}

int graphs_trimmed = 0, graphs_in_pieces = 0;

// Strong components by all that settles them, beside those of one search.
template <class Index> void test_strong_of_long_graph() {
  const int vertices = draw(1, 600);
  const std::vector<std::pair<Index, Index>> arcs = draw_long_graph<Index>(vertices);
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(arcs.size()), roots(vertices), found(vertices);
  group_by_key(
      int64_t(arcs.size()), vertices, [&](int64_t i) { return arcs[i].first; },
      [&](int64_t i) { return arcs[i].second; }, indptr.data(), indices.data(), int64_t(arcs.size()));
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, int64_t(arcs.size())};
  tarjan_roots(rows, roots.data(), static_cast<Index*>(nullptr));
  int64_t components = 0;
  for (int v = 0; v < vertices; ++v) components += roots[v] == Index(v);
  const auto check_settled = [&](int64_t count) {
    check(count == components, "number of strong components of a long graph");
    label_settled(found.data(), vertices, count, Naming::kRoots);
    check(found == roots, "strong components of a long graph");
  };
  check_settled(settle_all(rows, true, found.data()));
  if (const int64_t count = settle_pieces(rows, found.data())) check_settled(count), ++graphs_in_pieces;
  const int64_t alone = settle_trimmed(rows, found.data());
  graphs_trimmed += alone > 0;
  for (int v = 0; alone && v < vertices; ++v)
    check(Index(found[v]) == Index(SearchState<Index>::kUnvisited) ||
              SearchState<Index>::parent(found[v]) == roots[v],
        "a vertex that is alone");
}

// Each arc of long rows counts as work, so that a look at Ctrl-C comes in time.
void test_polls_of_long_rows() {
  constexpr int32_t kVertices = 2000, kRow = 400;
  constexpr int64_t kPlenty = int64_t(1) << 40;
  std::vector<int32_t> indptr{0}, indices, state(kVertices);
  for (int32_t v = 0; v < kVertices; ++v) {
    for (int32_t u = v + 1; u < std::min(v + kRow, kVertices); ++u) indices.push_back(u);
    indptr.push_back(int32_t(indices.size()));
  }
  const Rows<int32_t, int32_t> rows{indptr.data(), indices.data(), kVertices, int64_t(indices.size())};
  process().wanted_threads = 1;
  watch.budget = kPlenty;
  check(settle_pieces(rows, state.data()) == kVertices, "vertices that are alone");
  check(kPlenty - watch.budget > rows.arcs / 2, "arcs that count as work");
  watch.budget = 0;
}

// So do vertices without arcs beside a giant, which are a bit of a word each.
void test_polls_around_a_giant() {
  constexpr int32_t kVertices = 10000;
  constexpr int64_t kPlenty = int64_t(1) << 40;
  const std::vector<int32_t> indptr(kVertices + 1);
  const Rows<int32_t, int32_t> rows{indptr.data(), nullptr, kVertices, 0};
  VertexBits members(kVertices);
  members.set(0);
  std::vector<int32_t> labels(kVertices);
  process().wanted_threads = 1;
  watch.budget = kPlenty;
  AroundGiant<int32_t> around(members, kVertices, labels.data());
  const auto check_work = [](const char* what) {
    check(kPlenty - watch.budget >= kVertices, what);
    watch.budget = kPlenty;
  };
  check_work("vertices that count as work when they get parents");
  around.unite(rows);
  check_work("vertices that count as work when they are united");
  check(around.label(Naming::kNumbers) == kVertices, "vertices that are alone beside a giant");
  check(kPlenty - watch.budget >= 2 * kVertices, "vertices that count as work when they are labelled");
  watch.budget = 0;
}

// Memory that was freed comes back, unless it is small, large, or more than twice what is asked for.
void test_spare_memory() {
  constexpr int64_t kLarge = 1 << 20;
  const auto freed = [](int64_t count) { return Buffer<char>(count).data(); };
  const char* const memory = freed(kLarge);
  const bool keeps = SpareMemory::kKept > 0;
  Buffer<char> small(kLarge / 4), same(kLarge), second(kLarge);
  check(!keeps || same.data() == memory, "memory that was freed");
  check(small.data() != memory && second.data() != memory, "memory of one array only");
  // So are the labels of a volume of 512³, whose blocks are of whole pages and more.
  const char* const of_volume = freed(kLarge << 9);
  check(!keeps || freed(kLarge << 9) == of_volume, "memory of a large volume");
  size_t bytes = SpareMemory::kKept + 1;
  check(!SpareMemory::give(nullptr, bytes), "memory that is too large to keep");
  // A great number of arrays leaves no more than is kept.
  for (int i = 0; i < 40; ++i) {
    std::vector<Buffer<char>> arrays;
    for (int k = 0; k < 20; ++k) arrays.emplace_back(kLarge * 8);
  }
  size_t kept = 0;
  for (size_t size = kLarge * 8; void* block = SpareMemory::take(size); size = kLarge * 8) {
    kept += size;
    std::free(block);
  }
  check(kept <= SpareMemory::kKept, "memory that is kept");
  check(!keeps || kept > 0, "memory that is not kept");
}

void test_random() {
  const int64_t start = draw(0, 9), count = draw(0, 900);
  std::vector<Bits32> words(count);
  fill_random<Bits32>(7, 8, start, count, words.data(), [](Bits32 bits, int64_t) { return bits; });
  std::vector<double> numbers(count);
  fill_random<Bits64>(
      7, 8, start, count, numbers.data(), [](Bits64 bits, int64_t) { return unit_interval(bits); });
  for (int64_t k = 0; k < count; ++k) {
    const int64_t i = start + k;
    check(words[k] == philox(7, Bits64(i / 4), 0, 8).word[i % 4], "32 random bits");
    const PhiloxBlock block = philox(7, Bits64(i / 2), 0, 8);
    const Bits64 bits = block.word[i % 2 * 2] | Bits64(block.word[i % 2 * 2 + 1]) << 32;
    check(numbers[k] == double(bits >> 11) / double(Bits64(1) << 53), "a number in [0, 1)");
  }
  const int scale = draw(0, 31);
  const Bits64 all_upper_left[] = {Bits64(1) << 32, Bits64(1) << 32, Bits64(1) << 32};
  const Bits64 all_lower_right[] = {0, 0, 0};
  std::vector<int32_t> src(count), dst(count);
  rmat(7, 8, scale, all_upper_left, count, src.data(), dst.data());
  for (int64_t k = 0; k < count; ++k) check(src[k] == 0 && dst[k] == 0, "an edge at the first vertex");
  rmat(7, 8, scale, all_lower_right, count, src.data(), dst.data());
  const int32_t last = int32_t((int64_t(1) << scale) - 1);
  for (int64_t k = 0; k < count; ++k) check(src[k] == last && dst[k] == last, "an edge at the last vertex");
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = draw(1, 5);
    test_forest<int32_t>();
    test_forest<int64_t>();
    test_graph<int32_t>();
    test_graph<int64_t>();
    test_sparse<int32_t>();
    test_sparse<int64_t>();
    test_giant<int32_t>();
    test_giant<int64_t>();
    test_strong<int32_t>();
    test_strong<int64_t>();
    test_strong_of_long_graph<int32_t>();
    test_strong_of_long_graph<int64_t>();
    test_bridges();
    test_union_by_size();
    test_copy_of_two_moments<int32_t>();
    test_copy_of_two_moments<int64_t>();
    test_growing<int32_t, int32_t>();
    test_growing<int64_t, int32_t>();
    test_growing<int64_t, int64_t>();
    test_random();
    test_changing_graph<int32_t, int32_t>();
    test_changing_graph<int64_t, int32_t>();
    test_changing_graph<int64_t, int64_t>();
  }
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = draw(1, 5);
    test_one_tree<int32_t>();
    test_one_tree<int64_t>();
    test_opposite_arcs<int32_t>();
    test_opposite_arcs<int64_t>();
    test_near_arcs<int32_t>();
    test_near_arcs<int64_t>();
  }
  test_polls_of_long_rows();
  test_polls_around_a_giant();
  test_spare_memory();
  check(rounds < 20 || (giants_found > rounds / 8 && giants_given_up > rounds / 8), "giants that are sought");
  check(rounds < 20 || graphs_trimmed > rounds / 8, "graphs that are trimmed");
  check(rounds < 20 || graphs_in_pieces > rounds / 8, "graphs in pieces");
  std::printf("%d rounds\n", rounds);
}
