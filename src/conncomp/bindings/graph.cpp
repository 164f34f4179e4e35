// Weak components of graphs: the default.

#include "bindings/csr.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/arcs.h"

namespace conncomp {

namespace {

int64_t components_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive,
                          FilledVector out) {
  return with_labelled_rows(indptr, indices, out, [=](auto rows, auto* labels) {
    return without_gil([=] { return label_components(rows, symmetric, consecutive, labels); });
  });
}

int64_t components_of_arcs(AnyVector src, AnyVector dst, bool consecutive, FilledVector out) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(out.size());
  return label_vertices(src, dst, out, consecutive,
                        [=](const auto* sources, const auto* targets, auto* parent) {
                          grow_forest_of_arcs(sources, targets, arcs, vertices, parent);
                        });
}

}  // namespace

void define_graph(nb::module_& m) {
  m.def("components_of_csr", &components_of_csr);
  m.def("components_of_arcs", &components_of_arcs);
}

}  // namespace conncomp
