// Weak components of graphs: the papers' algorithms.

#include "bindings/csr.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/searches.h"

namespace conncomp {

namespace {

int64_t ecl_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, int init, int jump, int finish,
    bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
      [=](auto rows, auto* roots) { ecl_roots(rows, symmetric, {init, jump, finish}, roots); });
}

int64_t ecl_of_arcs(
    AnyVector src, AnyVector dst, int init, int jump, int finish, bool consecutive, FilledVector out) {
  const int64_t arcs = int64_t(src.size()), vertices = int64_t(out.size());
  return label_vertices(
      src, dst, out, consecutive, [=](const auto* sources, const auto* targets, auto* roots) {
        ecl_roots_of_arcs(sources, targets, arcs, vertices, {init, jump, finish}, roots);
      });
}

int64_t bfs_of_csr(AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
      [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
        bfs_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
      });
}

int64_t recolouring_of_csr(
    AnyVector indptr, AnyVector indices, bool symmetric, bool consecutive, FilledVector out) {
  return label_rows(indptr, indices, out, consecutive,
      [=]<class Pointer, class Vertex, class Index>(Rows<Pointer, Vertex> rows, Index* roots) {
        recolouring_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
      });
}

}

void define_graph_papers(nb::module_& m) {
  m.def("ecl_of_csr", &ecl_of_csr);
  m.def("bfs_of_csr", &bfs_of_csr);
  m.def("recolouring_of_csr", &recolouring_of_csr);
  m.def("ecl_of_arcs", &ecl_of_arcs);
}

}
