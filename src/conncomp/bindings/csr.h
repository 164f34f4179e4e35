// Compressed sparse rows as arguments, and labels of their vertices.
#pragma once

#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Calls body(rows).
template <class Body>
decltype(auto) with_rows(const AnyVector& indptr, const AnyVector& indices, Body&& body) {
  if (indptr.size() == 0) throw nb::value_error("indptr has an entry more than there are vertices");
  return with_integers(indptr, [&]<class Pointer>(const Pointer* pointers) {
    return with_integers(indices, [&]<class Vertex>(const Vertex* vertices) {
      return body(
          Rows<Pointer, Vertex>{pointers, vertices, int64_t(indptr.size()) - 1, int64_t(indices.size())});
    });
  });
}

// Calls body(rows, labels), with a label for each row.
template <class Array, class Body>
decltype(auto) with_labelled_rows(const AnyVector& indptr, const AnyVector& indices, const Array& labels,
                                  Body&& body) {
  return with_rows(indptr, indices, [&](auto rows) {
    if (rows.vertices != int64_t(labels.size())) throw nb::value_error("there must be a label for each row");
    return with_integers(labels, [&](auto* data) { return body(rows, data); });
  });
}

// Calls body(src, dst), with both ends of arcs.
template <class Body>
decltype(auto) with_arcs(const AnyVector& src, const AnyVector& dst, Body&& body) {
  return with_integers(src, [&]<class Vertex>(const Vertex* sources) {
    return with_entries<Vertex>(dst, [&](const Vertex* targets) { return body(sources, targets); });
  });
}

// Labels the rows by a forest that fill(rows, roots) fills; returns the number of components.
template <class Fill>
int64_t label_rows(const AnyVector& indptr, const AnyVector& indices, const FilledVector& out,
                   bool consecutive, Fill&& fill) {
  return with_labelled_rows(indptr, indices, out, [&](auto rows, auto* roots) {
    return without_gil([&] {
      fill(rows, roots);
      return label_forest(roots, rows.vertices, consecutive);
    });
  });
}

// The same for vertices of arcs, by fill(src, dst, roots).
template <class Fill>
int64_t label_vertices(const AnyVector& src, const AnyVector& dst, const FilledVector& out, bool consecutive,
                       Fill&& fill) {
  return with_arcs(src, dst, [&](const auto* sources, const auto* targets) {
    return with_integers(out, [&](auto* roots) {
      return without_gil([&] {
        fill(sources, targets, roots);
        return label_forest(roots, int64_t(out.size()), consecutive);
      });
    });
  });
}

}  // namespace conncomp
