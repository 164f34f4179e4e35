// Spanning forests of graphs, and those of minimum weight.
#include <array>
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/filter_kruskal.h"
#include "cpu/graph/spanning_forest.h"

namespace conncomp {

namespace {

template <class Arc>
nb::object give_away_arcs(ChosenArcs<Arc> chosen) {
  return give_away(std::move(chosen.arcs), chosen.count);
}

// The arcs that find(zero) returns, where zero is of the narrowest type that the vertices fit into.
template <class Vertex, class Find>
nb::object forest_arcs(int64_t vertices, Find&& find) {
  if constexpr (sizeof(Vertex) > 4)
    if (vertices > INT32_MAX) return give_away_arcs(without_gil([&] { return find(int64_t()); }));
  return give_away_arcs(without_gil([&] { return find(int32_t()); }));
}

template <class Pointer, class Vertex>
RowArcs<Pointer, Vertex> row_arcs(const Vector<const Pointer>& indptr, const Vector<const Vertex>& indices) {
  return {rows_of(indptr, indices)};
}

template <class Vertex>
ListedArcs<Vertex> listed_arcs(const Vector<const Vertex>& src, const Vector<const Vertex>& dst,
                               int64_t vertices) {
  return {src.data(), dst.data(), vertices, int64_t(src.size())};
}

template <class Pointer, class Vertex>
nb::object spanning_forest_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                                  bool symmetric) {
  const auto arcs = row_arcs(indptr, indices);
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return spanning_forest<Index, Pointer>(arcs, symmetric ? Ends::kSmaller : Ends::kBoth);
  });
}

// The last argument is of the type that the numbers of the arcs are to be of.
template <class Vertex, class Arc>
nb::object spanning_forest_of_arcs(const ListedArcs<Vertex>& arcs, Arc) {
  return forest_arcs<Vertex>(
      arcs.vertices, [&]<class Index>(Index) { return spanning_forest<Index, Arc>(arcs, Ends::kBoth); });
}

template <class Bits>
Weights<Bits> weights_of(const Vector<const Bits>& weights, const std::array<Bits, 3>& order, int64_t arcs) {
  if (int64_t(weights.size()) != arcs) throw nb::value_error("there must be a weight for each arc");
  return {weights.data(), {order[0], order[1], order[2]}};
}

// `order` has the masks of WeightOrder; `key` is drawn anew for each call.
template <class Pointer, class Vertex, class Bits>
nb::object minimum_forest_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                                 Vector<const Bits> weights, const std::array<Bits, 3>& order, uint64_t key) {
  const auto arcs = row_arcs(indptr, indices);
  const Weights<Bits> weighed = weights_of(weights, order, arcs.arcs);
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return minimum_spanning_forest<Index, Pointer>(arcs, weighed, key);
  });
}

template <class Vertex, class Arc, class Bits>
nb::object minimum_forest_of_arcs(const ListedArcs<Vertex>& arcs, const Weights<Bits>& weights, uint64_t key,
                                  Arc) {
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return minimum_spanning_forest<Index, Arc>(arcs, weights, key);
  });
}

template <class Vertex, class Bits>
void define_minimum_forest_of_arcs(nb::module_& m) {
  m.def("minimum_forest_of_arcs",
        [](Vector<const Vertex> src, Vector<const Vertex> dst, int64_t vertices, Vector<const Bits> weights,
           const std::array<Bits, 3>& order, uint64_t key) {
          const auto arcs = listed_arcs(src, dst, vertices);
          const Weights<Bits> weighed = weights_of(weights, order, arcs.arcs);
          return arcs.arcs > INT32_MAX ? minimum_forest_of_arcs(arcs, weighed, key, int64_t())
                                       : minimum_forest_of_arcs(arcs, weighed, key, int32_t());
        });
}

template <class Vertex>
void define_forests_of_arcs(nb::module_& m) {
  m.def("spanning_forest_of_arcs", [](Vector<const Vertex> src, Vector<const Vertex> dst, int64_t vertices) {
    const auto arcs = listed_arcs(src, dst, vertices);
    return arcs.arcs > INT32_MAX ? spanning_forest_of_arcs(arcs, int64_t())
                                 : spanning_forest_of_arcs(arcs, int32_t());
  });
  define_minimum_forest_of_arcs<Vertex, uint32_t>(m);
  define_minimum_forest_of_arcs<Vertex, uint64_t>(m);
}

}  // namespace

void define_forests(nb::module_& m) {
  for_each_type_of_rows([&]<class Pointer, class Vertex>(Pointer, Vertex) {
    m.def("spanning_forest_of_csr", &spanning_forest_of_csr<Pointer, Vertex>);
    m.def("minimum_forest_of_csr", &minimum_forest_of_csr<Pointer, Vertex, uint32_t>);
    m.def("minimum_forest_of_csr", &minimum_forest_of_csr<Pointer, Vertex, uint64_t>);
  });
  define_forests_of_arcs<int32_t>(m);
  define_forests_of_arcs<int64_t>(m);
}

}  // namespace conncomp
