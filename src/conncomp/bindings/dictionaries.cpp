// Graphs of NetworkX, which are dictionaries: their components, and their rows.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/dictionaries.h"
#include "cpu/core/numbering.h"

namespace conncomp {

namespace {

// Labels the nodes of a graph whose rows, and those of the opposite arcs, are dictionaries.
template <class Index>
int64_t components_of_dictionaries(nb::tuple nodes, nb::tuple rows, nb::tuple opposite, Vector<Index> out) {
  if (rows.size() != nodes.size() || opposite.size() != nodes.size() || out.size() != nodes.size())
    throw nb::value_error("there must be a row and a label for each node");
  grow_forest_of_dictionaries(nodes, rows, opposite, out.data());
  return without_gil([&] { return label_forest(out.data(), int64_t(out.size()), true); });
}

template <class Vertex>
void csr_of_dictionaries(nb::tuple nodes, nb::tuple rows, bool multiple, Vector<int64_t> indptr,
                         Vector<Vertex> indices) {
  if (rows.size() != nodes.size() || indptr.size() != nodes.size() + 1)
    throw nb::value_error("there must be a row for each node, and one start more");
  read_targets(nodes, rows, multiple, indptr.data(), indices.data(), int64_t(indices.size()));
}

}  // namespace

void define_dictionaries(nb::module_& m) {
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int32_t>);
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int64_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int32_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int64_t>);
}

}  // namespace conncomp
