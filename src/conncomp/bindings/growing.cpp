// Weak components of a graph that grows by edges.
#include <stdexcept>

#include "bindings/csr.h"
#include "cpu/graph/incremental.h"

namespace conncomp {

namespace {

void start_growing(FilledVector parent) {
  with_integers(
      parent, [&](auto* forest) { without_gil([&] { start_forest(int64_t(parent.size()), forest); }); });
}

// Calls body(first, second, count, vertices, forest) for pairs of vertices, without Python's lock.
void with_pairs(const AnyVector& u, const AnyVector& v, const FilledVector& parent, auto&& body) {
  with_arcs(u, v, [&](const auto* first, const auto* second) {
    with_integers(parent, [&](auto* forest) {
      without_gil([&] { body(first, second, int64_t(u.size()), int64_t(parent.size()), forest); });
    });
  });
}

void grow(AnyVector src, AnyVector dst, FilledVector parent, Vector<int64_t> components) {
  with_pairs(src, dst, parent, [&](auto... pairs) { unite_edges(pairs..., components.data()); });
}

void are_connected(AnyVector u, AnyVector v, FilledVector parent, Vector<bool> out) {
  with_pairs(u, v, parent, [&](auto... pairs) { compare_roots(pairs..., out.data()); });
}

void roots_of_some(AnyVector wanted, FilledVector parent, FilledVector out) {
  with_integers(wanted, [&](const auto* vertices) {
    with_integers(parent, [&]<class Index>(Index* forest) {
      Index* const roots = entries<Index>(out);
      without_gil(
          [&] { list_roots(vertices, int64_t(wanted.size()), int64_t(parent.size()), forest, roots); });
    });
  });
}

int64_t label_growing(FilledVector parent, bool consecutive, FilledVector labels) {
  return with_integers(parent, [&](auto* forest) {
    return with_integers(labels, [&](auto* out) {
      return without_gil(
          [&] { return label_copy(forest, int64_t(parent.size()), Naming(consecutive), out); });
    });
  });
}

// All arrays are private copies; those of the forest may have more entries than there are vertices.
void grow_by_size(Vector<const int32_t> u, Vector<const int32_t> v, int32_t stays, Vector<int32_t> parent,
    Vector<int32_t> sizes) {
  const int64_t vertices = int64_t(parent.size());
  if (u.size() != v.size() || sizes.size() != parent.size()) throw nb::value_error("arrays differ in length");
  if (stays >= vertices) throw nb::value_error("the root that stays is no vertex");
  without_gil([&] {
    for (const auto* ends : {&u, &v})
      for_each_in(0, int64_t(u.size()), [vertices, end = ends->data()](int64_t i) {
        if (!is_vertex(end[i], vertices)) throw std::invalid_argument("an end of a link is no vertex");
      });
    unite_by_size(u.data(), v.data(), int64_t(u.size()), stays, parent.data(), sizes.data());
  });
}

}

void define_growing(nb::module_& m) {
  m.def("start_growing", &start_growing);
  m.def("grow", &grow);
  m.def("grow_by_size", &grow_by_size);
  m.def("are_connected", &are_connected);
  m.def("roots_of_some", &roots_of_some);
  m.def("label_growing", &label_growing);
}

}
