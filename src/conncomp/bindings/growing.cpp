// Components of a graph that grows by edges.
#include <cstdint>

#include "bindings/bindings.h"
#include "cpu/graph/incremental.h"

namespace conncomp {

namespace {

// A forest that grows; arrays of one length where the kernels take them to be.
template <class Index>
void start_growing(Vector<Index> parent) {
  without_gil([&] { start_forest(int64_t(parent.size()), parent.data()); });
}

template <class Vertex, class Index>
void grow(Vector<const Vertex> src, Vector<const Vertex> dst, Vector<Index> parent,
          Vector<int64_t> components) {
  without_gil([&] {
    unite_edges(src.data(), dst.data(), int64_t(src.size()), int64_t(parent.size()), parent.data(),
                components.data());
  });
}

template <class Vertex, class Index>
void are_connected(Vector<const Vertex> u, Vector<const Vertex> v, Vector<Index> parent, Vector<bool> out) {
  without_gil([&] {
    compare_roots(u.data(), v.data(), int64_t(u.size()), int64_t(parent.size()), parent.data(), out.data());
  });
}

template <class Vertex, class Index>
void roots_of_some(Vector<const Vertex> wanted, Vector<Index> parent, Vector<Index> out) {
  without_gil([&] {
    list_roots(wanted.data(), int64_t(wanted.size()), int64_t(parent.size()), parent.data(), out.data());
  });
}

template <class Index, class Label>
int64_t label_growing(Vector<Index> parent, bool consecutive, Vector<Label> labels) {
  return without_gil(
      [&] { return label_copy(parent.data(), int64_t(parent.size()), consecutive, labels.data()); });
}

template <class Vertex, class Index>
void define_edges(nb::module_& m) {
  m.def("grow", &grow<Vertex, Index>);
  m.def("are_connected", &are_connected<Vertex, Index>);
  m.def("roots_of_some", &roots_of_some<Vertex, Index>);
}

template <class Index>
void define_forest(nb::module_& m) {
  m.def("start_growing", &start_growing<Index>);
  m.def("label_growing", &label_growing<Index, int32_t>);
  m.def("label_growing", &label_growing<Index, int64_t>);
}

}  // namespace

void define_growing(nb::module_& m) {
  define_edges<int32_t, int32_t>(m);
  define_edges<int32_t, int64_t>(m);
  define_edges<int64_t, int32_t>(m);
  define_edges<int64_t, int64_t>(m);
  define_forest<int32_t>(m);
  define_forest<int64_t>(m);
}

}  // namespace conncomp
