// Components of graphs: weak ones by the default and by the papers' algorithms; strong ones, their
// topological order and their condensation.
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/arcs.h"
#include "cpu/graph/both_ends.h"
#include "cpu/graph/both_ways.h"
#include "cpu/graph/condensation.h"
#include "cpu/graph/topological.h"
#include "cpu/papers/bfs.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/recolouring.h"

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

int64_t ecl_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, int init, int jump, int finish,
                   bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
                    [=](auto rows, auto* roots) { ecl_roots(rows, symmetric, {init, jump, finish}, roots); });
}

int64_t ecl_of_arcs(AnyVector src, AnyVector dst, int init, int jump, int finish, bool consecutive,
                    FilledVector out) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(out.size());
  return label_vertices(src, dst, out, consecutive,
                        [=](const auto* sources, const auto* targets, auto* roots) {
                          ecl_roots_of_arcs(sources, targets, arcs, vertices, {init, jump, finish}, roots);
                        });
}

int64_t bfs_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
                    [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
                      bfs_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
                    });
}

int64_t recolouring_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive,
                           FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
                    [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
                      recolouring_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
                    });
}

// `sweeps`: whether the giant component may be looked for by sweeps.
int64_t strong_of_csr(AnyVector indptr, AnyVector indices, bool sweeps, bool consecutive, FilledVector out) {
  return with_labelled_rows(indptr, indices, out, [&](auto rows, auto* labels) {
    return without_gil([&] {
      const int64_t components = settle_all(rows, sweeps, labels);
      label_settled(labels, rows.vertices, components, consecutive);
      return components;
    });
  });
}

int64_t topological_of_csr(AnyVector indptr, AnyVector indices, FilledVector out) {
  return with_labelled_rows(indptr, indices, out, [](auto rows, auto* labels) {
    return without_gil([&] { return topological_labels(rows, labels); });
  });
}

nb::tuple condensation_of_csr(AnyVector indptr, AnyVector indices, AnyVector labels, int64_t components) {
  return with_labelled_rows(indptr, indices, labels, [&](auto rows, const auto* data) {
    auto graph = without_gil([&] { return condense(rows, data, components); });
    const int64_t arcs = graph.indptr[components];
    return nb::make_tuple(give_away(std::move(graph.indptr), components + 1),
                          give_away(std::move(graph.indices), arcs));
  });
}

}  // namespace

void define_graph(nb::module_& m) {
  m.def("components_of_csr", &components_of_csr);
  m.def("components_of_arcs", &components_of_arcs);
  m.def("ecl_of_csr", &ecl_of_csr);
  m.def("bfs_of_csr", &bfs_of_csr);
  m.def("recolouring_of_csr", &recolouring_of_csr);
  m.def("ecl_of_arcs", &ecl_of_arcs);
  m.def("strong_of_csr", &strong_of_csr);
  m.def("topological_of_csr", &topological_of_csr);
  m.def("condensation_of_csr", &condensation_of_csr);
}

}  // namespace conncomp
