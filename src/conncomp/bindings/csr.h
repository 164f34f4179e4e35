// Compressed sparse rows as arguments, and labels of their vertices.
#pragma once

#include "bindings/bindings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/graph/rows.h"

namespace conncomp {

// Calls body(rows), compiled for pointers of int32 only with such targets; else, unless `narrow`, as int64.
decltype(auto) with_rows(const AnyVector& indptr, const AnyVector& indices, auto&& body, bool narrow = true) {
  if (indptr.size() == 0) throw nb::value_error("indptr has an entry more than there are vertices");
  const int64_t vertices = int64_t(indptr.size()) - 1, arcs = int64_t(indices.size());
  Buffer<int64_t> copy;
  const int64_t* wide = with_integers(indptr, [&]<class Pointer>(const Pointer* pointers) -> const int64_t* {
    if constexpr (std::is_same_v<Pointer, int64_t>) return pointers;
    if (narrow && indices.dtype() == nb::dtype<int32_t>()) return nullptr;
    copy = Buffer<int64_t>(vertices + 1);
    without_gil([=, to = copy.data()] {
      for_each_index(vertices + 1, [=](int64_t v) { to[v] = Concurrent::load(pointers + v); });
    });
    return copy.data();
  });
  return with_integers(indices, [&]<class Vertex>(const Vertex* targets) -> decltype(auto) {
    if constexpr (std::is_same_v<Vertex, int32_t>)
      if (!wide) return body(Rows{static_cast<const int32_t*>(indptr.data()), targets, vertices, arcs});
    return body(Rows{wide, targets, vertices, arcs});
  });
}

decltype(auto) with_labelled_rows(
    const AnyVector& indptr, const AnyVector& indices, const auto& labels, auto&& body) {
  const auto with = [&]<class Pointer, class Vertex>(Rows<Pointer, Vertex> rows) -> decltype(auto) {
    if (rows.vertices != int64_t(labels.size())) throw nb::value_error("there must be a label for each row");
    if constexpr (std::is_same_v<Pointer, int32_t>)
      return body(rows, entries<int32_t>(labels));
    else
      return with_integers(labels, [&](auto* data) { return body(rows, data); });
  };
  return with_rows(indptr, indices, with, labels.dtype() == nb::dtype<int32_t>());
}

decltype(auto) with_arcs(const AnyVector& src, const AnyVector& dst, auto&& body) {
  return with_integers(
      src, [&]<class Vertex>(const Vertex* sources) { return body(sources, entries<Vertex>(dst)); });
}

// Labels the rows by a forest that fill(rows, roots) fills; returns the number of components.
int64_t label_rows(
    const AnyVector& indptr, const AnyVector& indices, const FilledVector& out, Naming naming, auto&& fill) {
  return with_labelled_rows(indptr, indices, out, [&](auto rows, auto* roots) {
    return without_gil([&] {
      fill(rows, roots);
      return label_forest(roots, rows.vertices, naming);
    });
  });
}

int64_t label_vertices(
    const AnyVector& src, const AnyVector& dst, const FilledVector& out, Naming naming, auto&& fill) {
  return with_arcs(src, dst, [&](const auto* sources, const auto* targets) {
    return with_integers(out, [&](auto* roots) {
      return without_gil([&] {
        fill(sources, targets, roots);
        return label_forest(roots, int64_t(out.size()), naming);
      });
    });
  });
}

}
