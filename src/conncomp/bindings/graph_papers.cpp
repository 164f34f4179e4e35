// Weak components of graphs: the papers' algorithms.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/graph/both_ends.h"
#include "cpu/papers/bfs.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/recolouring.h"

namespace conncomp {

namespace {

template <class Pointer, class Vertex, class Index>
int64_t ecl_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool symmetric, int init,
                   int jump, int finish, bool consecutive, Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive, [&](auto rows, Index* roots) {
    ecl_roots(rows, symmetric, {init, jump, finish}, roots);
  });
}

template <class Vertex, class Index>
int64_t ecl_of_arcs(Vector<const Vertex> src, Vector<const Vertex> dst, int init, int jump, int finish,
                    bool consecutive, Vector<Index> out) {
  return label_vertices(out, consecutive, [&](Index* roots) {
    ecl_roots_of_arcs(src.data(), dst.data(), int64_t(src.size()), int64_t(out.size()), {init, jump, finish},
                      roots);
  });
}

template <class Pointer, class Vertex, class Index>
int64_t bfs_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool symmetric,
                   bool consecutive, Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive, [&](auto rows, Index* roots) {
    bfs_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
  });
}

template <class Pointer, class Vertex, class Index>
int64_t recolouring_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool symmetric,
                           bool consecutive, Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive, [&](auto rows, Index* roots) {
    recolouring_roots(BothEnds<Pointer, Vertex, Index>(rows, symmetric), roots);
  });
}

}  // namespace

void define_graph_papers(nb::module_& m) {
  for_each_type_of_labelled_rows([&]<class Pointer, class Vertex, class Index>(Pointer, Vertex, Index) {
    m.def("ecl_of_csr", &ecl_of_csr<Pointer, Vertex, Index>);
    m.def("bfs_of_csr", &bfs_of_csr<Pointer, Vertex, Index>);
    m.def("recolouring_of_csr", &recolouring_of_csr<Pointer, Vertex, Index>);
  });
  m.def("ecl_of_arcs", &ecl_of_arcs<int32_t, int32_t>);
  m.def("ecl_of_arcs", &ecl_of_arcs<int32_t, int64_t>);
  m.def("ecl_of_arcs", &ecl_of_arcs<int64_t, int32_t>);
  m.def("ecl_of_arcs", &ecl_of_arcs<int64_t, int64_t>);
}

}  // namespace conncomp
