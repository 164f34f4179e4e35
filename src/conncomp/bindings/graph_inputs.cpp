// Inputs of graphs: readers of text, rows of arcs, and whether rows are mirrored.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/csr.h"
#include "cpu/core/counting_sort.h"
#include "cpu/io/compact.h"
#include "cpu/io/graph_text.h"
#include "cpu/io/mirrored.h"

namespace conncomp {

namespace {

template <class Vertex>
void csr_of_arcs(Vector<const Vertex> src, Vector<const Vertex> dst, Vector<int64_t> indptr,
                 Vector<Vertex> indices) {
  without_gil([&] {
    group_by_key(
        int64_t(src.size()), int64_t(indptr.size()) - 1,
        [&](int64_t i) { return Shared::load(src.data() + i); }, [&](int64_t i) { return dst.data()[i]; },
        indptr.data(), indices.data(), int64_t(indices.size()));
  });
}

template <class Pointer, class Vertex>
bool csr_is_mirrored(Vector<const Pointer> indptr, Vector<const Vertex> indices, uint64_t key) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  return without_gil([&] { return is_mirrored(rows, key); });
}

template <class Vertex>
nb::object compact_arcs(Vector<Vertex> src, Vector<Vertex> dst, int64_t vertices) {
  std::vector<int64_t> ids =
      without_gil([&] { return compact_ids(src.data(), dst.data(), int64_t(src.size()), vertices); });
  const int64_t count = int64_t(ids.size());
  return give_away(std::move(ids), count);
}

// Reads a chunk of text; both arrays are one longer than the chunk at least.
template <class Reader>
std::tuple<size_t, int64_t, int64_t> read_chunk(Reader& reader, Vector<const uint8_t> text, bool last,
                                                Vector<int64_t> first, Vector<int64_t> second) {
  const Progress done = without_gil([&] {
    return reader.read(reinterpret_cast<const char*>(text.data()), text.size(), last, first.data(),
                       second.data());
  });
  return {done.used, done.first, done.second};
}

template <class Vertex>
void define_arcs(nb::module_& m) {
  m.def("csr_of_arcs", &csr_of_arcs<Vertex>);
  m.def("compact_arcs", &compact_arcs<Vertex>);
}

}  // namespace

void define_graph_inputs(nb::module_& m) {
  define_arcs<int32_t>(m);
  define_arcs<int64_t>(m);
  for_each_type_of_rows([&]<class Pointer, class Vertex>(Pointer, Vertex) {
    m.def("csr_is_mirrored", &csr_is_mirrored<Pointer, Vertex>);
  });
  m.attr("longest_word") = Tokens::kLongest;
  nb::class_<ArcReader>(m, "ArcReader")
      .def(nb::init<const std::string&, const std::string&, int64_t, int64_t, int64_t>())
      .def("read", &read_chunk<ArcReader>)
      .def_prop_ro("largest", &ArcReader::largest);
  nb::class_<NeighbourReader>(m, "NeighbourReader")
      .def(nb::init<int64_t, int64_t, bool, int64_t>())
      .def("read", &read_chunk<NeighbourReader>)
      .def_prop_ro("largest", &NeighbourReader::largest)
      .def_prop_ro("loops", &NeighbourReader::loops);
}

}  // namespace conncomp
