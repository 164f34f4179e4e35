// Strong components of graphs, their topological order and their condensation.
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/condensation.h"
#include "cpu/graph/tarjan.h"
#include "cpu/graph/topological.h"

namespace conncomp {

namespace {

template <class Pointer, class Vertex, class Index>
int64_t tarjan_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool consecutive,
                      Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive,
                    [&](auto rows, Index* roots) { tarjan_roots(rows, roots); });
}

template <class Pointer, class Vertex, class Index>
int64_t topological_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, Vector<Index> out) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  if (rows.vertices != int64_t(out.size())) throw nb::value_error("there must be a label for each row");
  return without_gil([&] { return topological_labels(rows, out.data()); });
}

template <class Pointer, class Vertex, class Index>
nb::tuple condensation_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                              Vector<const Index> labels, int64_t components) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  if (rows.vertices != int64_t(labels.size())) throw nb::value_error("there must be a label for each row");
  auto graph = without_gil([&] { return condense(rows, labels.data(), components); });
  const int64_t arcs = graph.indptr[components];
  return nb::make_tuple(give_away(std::move(graph.indptr), components + 1),
                        give_away(std::move(graph.indices), arcs));
}

}  // namespace

void define_strong(nb::module_& m) {
  for_each_type_of_labelled_rows([&]<class Pointer, class Vertex, class Index>(Pointer, Vertex, Index) {
    m.def("tarjan_of_csr", &tarjan_of_csr<Pointer, Vertex, Index>);
    m.def("topological_of_csr", &topological_of_csr<Pointer, Vertex, Index>);
    m.def("condensation_of_csr", &condensation_of_csr<Pointer, Vertex, Index>);
  });
}

}  // namespace conncomp
