// Weak components of graphs: the default.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/afforest.h"

namespace conncomp {

namespace {

template <class Pointer, class Vertex, class Index>
int64_t components_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool symmetric,
                          bool consecutive, Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive,
                    [&](auto rows, Index* parent) { grow_forest(rows, symmetric, parent); });
}

template <class Vertex, class Index>
int64_t components_of_arcs(Vector<const Vertex> src, Vector<const Vertex> dst, bool consecutive,
                           Vector<Index> out) {
  return label_vertices(out, consecutive, [&](Index* parent) {
    grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), int64_t(out.size()), parent);
  });
}

}  // namespace

void define_graph(nb::module_& m) {
  for_each_type_of_labelled_rows([&]<class Pointer, class Vertex, class Index>(Pointer, Vertex, Index) {
    m.def("components_of_csr", &components_of_csr<Pointer, Vertex, Index>);
  });
  m.def("components_of_arcs", &components_of_arcs<int32_t, int32_t>);
  m.def("components_of_arcs", &components_of_arcs<int32_t, int64_t>);
  m.def("components_of_arcs", &components_of_arcs<int64_t, int32_t>);
  m.def("components_of_arcs", &components_of_arcs<int64_t, int64_t>);
}

}  // namespace conncomp
