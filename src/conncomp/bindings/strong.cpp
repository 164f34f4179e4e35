// Strong components of graphs, their topological order and their condensation.

#include "bindings/csr.h"
#include "cpu/graph/both_ways.h"
#include "cpu/graph/condensation.h"

namespace conncomp {

namespace {

// `sweeps`: whether the giant component may be looked for by sweeps.
int64_t strong_of_csr(AnyVector indptr, AnyVector indices, bool sweeps, bool consecutive, FilledVector out) {
  return with_labelled_rows(indptr, indices, out, [&](auto rows, auto* labels) {
    return without_gil([&] {
      const int64_t components = settle_all(rows, sweeps, labels);
      label_settled(labels, rows.vertices, components, Naming(consecutive));
      return components;
    });
  });
}

int64_t topological_of_csr(AnyVector indptr, AnyVector indices, FilledVector out) {
  return with_labelled_rows(indptr, indices, out,
      [](auto rows, auto* labels) { return without_gil([&] { return topological_labels(rows, labels); }); });
}

nb::tuple condensation_of_csr(AnyVector indptr, AnyVector indices, AnyVector labels, int64_t components) {
  return with_labelled_rows(indptr, indices, labels, [&](auto rows, const auto* data) {
    auto graph = without_gil([&] { return condense(rows, data, components); });
    const int64_t arcs = graph.indptr[components];
    return nb::make_tuple(
        give_away(std::move(graph.indptr), components + 1), give_away(std::move(graph.indices), arcs));
  });
}

}

void define_strong(nb::module_& m) {
  m.def("strong_of_csr", &strong_of_csr);
  m.def("topological_of_csr", &topological_of_csr);
  m.def("condensation_of_csr", &condensation_of_csr);
}

}
