// Weak components of graphs: by default, and by the papers' algorithms.

#include "bindings/csr.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/arcs.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/searches.h"

namespace conncomp {

namespace {

int64_t components_of_csr(
    AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return with_labelled_rows(indptr, indices, out, [=](auto rows, auto* labels) {
    return without_gil([=] { return label_components(rows, symmetric, Naming(consecutive), labels); });
  });
}

int64_t components_of_arcs(AnyVector src, AnyVector dst, bool consecutive, FilledVector out) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(out.size());
  return label_vertices(
      src, dst, out, Naming(consecutive), [=](const auto* sources, const auto* targets, auto* parent) {
        grow_forest_of_arcs(sources, targets, arcs, vertices, parent);
      });
}

int64_t ecl_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, int init, int jump, int finish,
    bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, Naming(consecutive),
      [=](auto rows, auto* roots) { ecl_roots(rows, symmetric, {init, jump, finish}, roots); });
}

int64_t ecl_of_arcs(
    AnyVector src, AnyVector dst, int init, int jump, int finish, bool consecutive, FilledVector out) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(out.size());
  return label_vertices(
      src, dst, out, Naming(consecutive), [=](const auto* sources, const auto* targets, auto* roots) {
        ecl_roots_of_arcs(sources, targets, arcs, vertices, {init, jump, finish}, roots);
      });
}

int64_t bfs_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, Naming(consecutive),
      [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
        bfs_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
      });
}

int64_t recolouring_of_csr(
    AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, Naming(consecutive),
      [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
        recolouring_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
      });
}

}

void define_weak(nb::module_& m) {
  m.def("components_of_csr", &components_of_csr);
  m.def("components_of_arcs", &components_of_arcs);
  m.def("ecl_of_csr", &ecl_of_csr);
  m.def("bfs_of_csr", &bfs_of_csr);
  m.def("recolouring_of_csr", &recolouring_of_csr);
  m.def("ecl_of_arcs", &ecl_of_arcs);
}

}
