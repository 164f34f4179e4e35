// Compressed sparse rows as arguments, and labels of their vertices.
#pragma once

#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

template <class Pointer, class Vertex>
Rows<Pointer, Vertex> rows_of(const Vector<const Pointer>& indptr, const Vector<const Vertex>& indices) {
  if (indptr.size() == 0) throw nb::value_error("indptr has an entry more than there are vertices");
  return {indptr.data(), indices.data(), int64_t(indptr.size()) - 1, int64_t(indices.size())};
}

// Labels the vertices by a forest that `fill` fills; returns the number of components.
template <class Index, class Fill>
int64_t label_vertices(Vector<Index>& out, bool consecutive, Fill&& fill) {
  return without_gil([&] {
    fill(out.data());
    return label_forest(out.data(), int64_t(out.size()), consecutive);
  });
}

// The same for rows.
template <class Pointer, class Vertex, class Index, class Fill>
int64_t label_rows(const Vector<const Pointer>& indptr, const Vector<const Vertex>& indices,
                   Vector<Index>& out, bool consecutive, Fill&& fill) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  if (rows.vertices != int64_t(out.size())) throw nb::value_error("there must be a label for each row");
  return label_vertices(out, consecutive, [&](Index* roots) { fill(rows, roots); });
}

// Calls body(pointer, vertex), zeros of the types that rows may have: every combination of int32 and int64.
template <class Body>
void for_each_type_of_rows(Body&& body) {
  body(int32_t(), int32_t());
  body(int64_t(), int32_t());
  body(int32_t(), int64_t());
  body(int64_t(), int64_t());
}

// Calls body(pointer, vertex, index) where labels of the vertices are of a type of their own, too.
template <class Body>
void for_each_type_of_labelled_rows(Body&& body) {
  for_each_type_of_rows([&](auto pointer, auto vertex) {
    body(pointer, vertex, int32_t());
    body(pointer, vertex, int64_t());
  });
}

}  // namespace conncomp
