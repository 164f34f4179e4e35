// Spanning forests of graphs, those of minimum weight, and bridges.

#include "bindings/csr.h"
#include "cpu/graph/bridges.h"
#include "cpu/graph/filter_kruskal.h"

namespace conncomp {

namespace {

// The arcs that find(zero) returns, zero being of the narrowest type for numbers of vertices and arcs.
template <class Arcs> nb::object forest_arcs(const Arcs& arcs, auto&& find) {
  const auto give_away_arcs = [&](auto zero) {
    auto chosen = without_gil([&] { return find(zero); });
    return give_away(std::move(chosen.arcs), chosen.count);
  };
  if constexpr (!std::is_same_v<Arcs, RowArcs<int32_t, int32_t>>)
    if (arcs.vertices > INT32_MAX || arcs.arcs > INT32_MAX) return give_away_arcs(int64_t());
  return give_away_arcs(int32_t());
}

nb::object with_row_arcs(const AnyVector& indptr, const AnyVector& indices, auto&& body) {
  const auto with = [&]<class Pointer, class Vertex>(
                        Rows<Pointer, Vertex> rows) { return body(RowArcs<Pointer, Vertex>{rows}); };
  return with_rows(indptr, indices, with, int64_t(indptr.size()) - 1 <= INT32_MAX);
}

nb::object with_listed_arcs(const AnyVector& src, const AnyVector& dst, int64_t vertices, auto&& body) {
  return with_arcs(src, dst, [&]<class Vertex>(const Vertex* sources, const Vertex* targets) {
    return body(ListedArcs<Vertex>{sources, targets, vertices, int64_t(src.size())});
  });
}

nb::object find_forest(const auto& arcs, Ends ends) {
  return forest_arcs(arcs, [&]<class Index>(Index) { return spanning_forest<Index>(arcs, ends); });
}

// `weights` are of uint32 or uint64, `order` has the masks of WeightOrder, `key` is drawn for each call.
nb::object find_minimum_forest(
    const auto& arcs, const AnyVector& weights, const std::array<uint64_t, 3>& order, uint64_t key) {
  if (int64_t(weights.size()) != arcs.arcs) throw nb::value_error("there must be a weight for each arc");
  return with_entries<uint32_t, uint64_t>(weights, [&]<class Bits>(const Bits* bits) {
    const Weights<Bits> weighed{bits, {Bits(order[0]), Bits(order[1]), Bits(order[2])}};
    return forest_arcs(
        arcs, [&]<class Index>(Index) { return minimum_spanning_forest<Index>(arcs, weighed, key); });
  });
}

// `parents` and `cut` are memory that nobody else writes to.
void find_bridges(Vector<const int64_t> indptr, Vector<const int32_t> indices, Vector<int32_t> parents,
    Vector<int32_t> cut) {
  const int64_t vertices = int64_t(parents.size());
  if (int64_t(indptr.size()) != vertices + 1 || int64_t(cut.size()) != vertices)
    throw nb::value_error("there must be a row, a parent and a side for each vertex");
  without_gil([&] {
    const BridgeSearch::Links links{indptr.data(), indices.data(), vertices, int64_t(indices.size())};
    BridgeSearch(links, parents.data(), cut.data()).run();
  });
}

}

void define_forests(nb::module_& m) {
  m.def("spanning_forest_of_csr", [](AnyVector indptr, AnyVector indices, bool symmetric) {
    return with_row_arcs(indptr, indices,
        [=](const auto& arcs) { return find_forest(arcs, symmetric ? Ends::kSmaller : Ends::kBoth); });
  });
  m.def("spanning_forest_of_arcs", [](AnyVector src, AnyVector dst, int64_t vertices) {
    return with_listed_arcs(
        src, dst, vertices, [](const auto& arcs) { return find_forest(arcs, Ends::kBoth); });
  });
  m.def("bridges_of_csr", &find_bridges);
  m.def("minimum_forest_of_csr", [](AnyVector indptr, AnyVector indices, AnyVector weights,
                                     const std::array<uint64_t, 3>& order, uint64_t key) {
    return with_row_arcs(
        indptr, indices, [&](const auto& arcs) { return find_minimum_forest(arcs, weights, order, key); });
  });
  m.def("minimum_forest_of_arcs", [](AnyVector src, AnyVector dst, int64_t vertices, AnyVector weights,
                                      const std::array<uint64_t, 3>& order, uint64_t key) {
    return with_listed_arcs(
        src, dst, vertices, [&](const auto& arcs) { return find_minimum_forest(arcs, weights, order, key); });
  });
}

}
