// Spanning forests of graphs, those of minimum weight, bridges, and forests that grow by edges.
#include <array>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/bridges.h"
#include "cpu/graph/filter_kruskal.h"
#include "cpu/graph/incremental.h"
#include "cpu/graph/spanning_forest.h"

namespace conncomp {

namespace {

// The arcs that find(zero) returns, where zero is of the narrowest type that numbers of vertices and arcs fit
// into.
template <class Arcs, class Find>
nb::object forest_arcs(const Arcs& arcs, Find&& find) {
  const auto give_away_arcs = [&](auto zero) {
    auto chosen = without_gil([&] { return find(zero); });
    return give_away(std::move(chosen.arcs), chosen.count);
  };
  if constexpr (!std::is_same_v<Arcs, RowArcs<int32_t, int32_t>>)
    if (arcs.vertices > INT32_MAX || arcs.arcs > INT32_MAX) return give_away_arcs(int64_t());
  return give_away_arcs(int32_t());
}

template <class Body>
nb::object with_row_arcs(const AnyVector& indptr, const AnyVector& indices, Body&& body) {
  const auto with = [&]<class Pointer, class Vertex>(Rows<Pointer, Vertex> rows) {
    return body(RowArcs<Pointer, Vertex>{rows});
  };
  return with_rows(indptr, indices, with, int64_t(indptr.size()) - 1 <= INT32_MAX);
}

template <class Body>
nb::object with_listed_arcs(const AnyVector& src, const AnyVector& dst, int64_t vertices, Body&& body) {
  return with_arcs(src, dst, [&]<class Vertex>(const Vertex* sources, const Vertex* targets) {
    return body(ListedArcs<Vertex>{sources, targets, vertices, int64_t(src.size())});
  });
}

template <class Arcs>
nb::object find_forest(const Arcs& arcs, Ends ends) {
  return forest_arcs(arcs, [&]<class Index>(Index) { return spanning_forest<Index>(arcs, ends); });
}

// `weights` are of uint32 or uint64, and `order` has the masks of WeightOrder; `key` is drawn anew for each
// call.
template <class Arcs>
nb::object find_minimum_forest(const Arcs& arcs, const AnyVector& weights,
                               const std::array<uint64_t, 3>& order, uint64_t key) {
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

// A forest that grows; arrays of one length where the kernels take them to be.
void start_growing(FilledVector parent) {
  with_integers(parent,
                [&](auto* forest) { without_gil([&] { start_forest(int64_t(parent.size()), forest); }); });
}

void grow(AnyVector src, AnyVector dst, FilledVector parent, Vector<int64_t> components) {
  with_arcs(src, dst, [&](const auto* sources, const auto* targets) {
    with_integers(parent, [&](auto* forest) {
      without_gil([&] {
        unite_edges(sources, targets, int64_t(src.size()), int64_t(parent.size()), forest, components.data());
      });
    });
  });
}

void are_connected(AnyVector u, AnyVector v, FilledVector parent, Vector<bool> out) {
  with_arcs(u, v, [&](const auto* first, const auto* second) {
    with_integers(parent, [&](auto* forest) {
      without_gil([&] {
        compare_roots(first, second, int64_t(u.size()), int64_t(parent.size()), forest, out.data());
      });
    });
  });
}

// `out` is of the type of `parent`.
void roots_of_some(AnyVector wanted, FilledVector parent, FilledVector out) {
  with_integers(wanted, [&](const auto* vertices) {
    with_integers(parent, [&]<class Index>(Index* forest) {
      with_entries<Index>(out, [&](Index* roots) {
        without_gil(
            [&] { list_roots(vertices, int64_t(wanted.size()), int64_t(parent.size()), forest, roots); });
      });
    });
  });
}

int64_t label_growing(FilledVector parent, bool consecutive, FilledVector labels) {
  return with_integers(parent, [&](auto* forest) {
    return with_integers(labels, [&](auto* out) {
      return without_gil([&] { return label_copy(forest, int64_t(parent.size()), consecutive, out); });
    });
  });
}

// All arrays are private copies; those of the forest may have more entries than there are vertices.
void grow_by_size(Vector<const int32_t> u, Vector<const int32_t> v, int32_t stays, Vector<int32_t> parent,
                  Vector<int32_t> sizes) {
  const int64_t vertices = int64_t(parent.size());
  if (u.size() != v.size() || sizes.size() != parent.size()) throw nb::value_error("arrays differ in length");
  if (stays >= vertices) throw nb::value_error("the root that stays is no vertex");
  without_gil([&] {
    for (const auto* ends : {&u, &v})
      for_each_in(0, int64_t(u.size()), [vertices, end = ends->data()](int64_t i) {
        if (!is_vertex(end[i], vertices)) throw std::invalid_argument("an end of a link is no vertex");
      });
    unite_by_size(u.data(), v.data(), int64_t(u.size()), stays, parent.data(), sizes.data());
  });
}

}  // namespace

void define_forests(nb::module_& m) {
  m.def("spanning_forest_of_csr", [](AnyVector indptr, AnyVector indices, bool symmetric) {
    return with_row_arcs(indptr, indices, [=](const auto& arcs) {
      return find_forest(arcs, symmetric ? Ends::kSmaller : Ends::kBoth);
    });
  });
  m.def("spanning_forest_of_arcs", [](AnyVector src, AnyVector dst, int64_t vertices) {
    return with_listed_arcs(src, dst, vertices,
                            [](const auto& arcs) { return find_forest(arcs, Ends::kBoth); });
  });
  m.def("bridges_of_csr", &find_bridges);
  m.def("minimum_forest_of_csr", [](AnyVector indptr, AnyVector indices, AnyVector weights,
                                    const std::array<uint64_t, 3>& order, uint64_t key) {
    return with_row_arcs(indptr, indices,
                         [&](const auto& arcs) { return find_minimum_forest(arcs, weights, order, key); });
  });
  m.def("minimum_forest_of_arcs", [](AnyVector src, AnyVector dst, int64_t vertices, AnyVector weights,
                                     const std::array<uint64_t, 3>& order, uint64_t key) {
    return with_listed_arcs(src, dst, vertices,
                            [&](const auto& arcs) { return find_minimum_forest(arcs, weights, order, key); });
  });
  m.def("start_growing", &start_growing);
  m.def("grow", &grow);
  m.def("grow_by_size", &grow_by_size);
  m.def("are_connected", &are_connected);
  m.def("roots_of_some", &roots_of_some);
  m.def("label_growing", &label_growing);
}

}  // namespace conncomp
