// Inputs of graphs: readers of text, dictionaries of NetworkX, rows of arcs, and whether rows are mirrored.
#include <chrono>

#include "bindings/csr.h"
#include "cpu/files/graphml.h"
#include "cpu/files/named_arcs.h"
#include "cpu/graph/rows_of_arcs.h"
#include "cpu/networkx/dictionaries.h"

namespace conncomp {

namespace {

void csr_of_arcs(AnyVector src, AnyVector dst, Vector<int64_t> indptr, FilledVector indices) {
  with_arcs(src, dst, [&]<class Vertex>(const Vertex* sources, const Vertex* targets) {
    Vertex* const out = entries<Vertex>(indices);
    without_gil([&] {
      RowsOfArcs<Vertex>(sources, targets, int64_t(src.size()), int64_t(indptr.size()) - 1)
          .fill(indptr.data(), out);
    });
  });
}

// Fills `indptr` if the sources are in order; returns whether they are.
bool rows_of_sorted(AnyVector src, Vector<int64_t> indptr) {
  return with_integers(src, [&]<class Vertex>(const Vertex* sources) {
    return without_gil(
        [&] { return find_rows(sources, int64_t(src.size()), int64_t(indptr.size()) - 1, indptr.data()); });
  });
}

bool csr_is_mirrored(AnyVector indptr, AnyVector indices, uint64_t key) {
  return with_rows(
      indptr, indices, [=](auto rows) { return without_gil([&] { return is_mirrored(rows, key); }); });
}

nb::object compact_arcs(FilledVector src, FilledVector dst, int64_t vertices) {
  return with_integers(src, [&]<class Vertex>(Vertex* sources) {
    Vertex* const targets = entries<Vertex>(dst);
    return give_away(
        without_gil([&] { return compact_ids(sources, targets, int64_t(src.size()), vertices); }));
  });
}

// Reads a chunk of text; both arrays are one longer than the chunk at least.
std::tuple<size_t, int64_t, int64_t> read_chunk(
    auto& reader, Vector<const uint8_t> text, bool last, Vector<int64_t> first, Vector<int64_t> second) {
  const Progress done = without_gil([&] {
    return reader.read(
        reinterpret_cast<const char*>(text.data()), text.size(), last, first.data(), second.data());
  });
  return {done.used, done.first, done.second};
}

void rename_arcs(NamedArcReader& reader, FilledVector src, FilledVector dst) {
  with_integers(src, [&]<class Vertex>(Vertex* sources) {
    Vertex* const targets = entries<Vertex>(dst);
    without_gil([&] { reader.rename(sources, targets, int64_t(src.size())); });
  });
}

// Rows of code points, one for each name, as NumPy has text.
void write_names(const auto& reader, Vector<uint32_t> rows) {
  const VertexNames& names = reader.names();
  if (int64_t(rows.size()) != names.count() * names.longest())
    throw nb::value_error("rows are too few or too many");
  without_gil([&] { names.write(rows.data()); });
}

// The numbers that names are, or None; with `only`, all must be numbers.
nb::object numbers_of_names(const auto& reader, bool only) {
  std::optional<std::vector<int64_t>> numbers = without_gil([&] { return reader.names().numbers(only); });
  if (!numbers) return nb::none();
  return give_away(std::move(*numbers));
}

// Writes the integers that the texts of bytes between `ends` are; which of these is none, or -1.
int64_t integers_of_text(Vector<const int64_t> ends, Vector<const uint8_t> bytes, Vector<int64_t> integers) {
  const char* const text = reinterpret_cast<const char*>(bytes.data());
  return without_gil([&]() -> int64_t {
    for (int64_t i = 0; i < int64_t(integers.size()); ++i)
      if (!canonical_integer(text + ends.data()[i], text + ends.data()[i + 1], integers.data()[i])) return i;
    return -1;
  });
}

// How igraph 0.10 and 1.0 begin a graph in memory, where integers have 64 bits.
struct IgraphVector {
  const int64_t *begin, *allocated, *end;
};
struct IgraphGraph {
  int64_t vertices;
  uint8_t is_directed;
  IgraphVector from, to;
};

// Copies the ends of the edges, as `get_edgelist` has them, from the graph of igraph at an address.
// Returns whether its counts are those given. The GIL is held throughout, so no thread changes the graph.
bool copy_igraph_edges(uintptr_t address, int64_t vertices, FilledVector src, FilledVector dst) {
  static_assert(sizeof(void*) == sizeof(int64_t));
  const auto& graph = *reinterpret_cast<const IgraphGraph*>(address);
  const auto holds = [&](const IgraphVector& ends) {
    return ends.begin != nullptr && uintptr_t(ends.end) - uintptr_t(ends.begin) == 8 * src.size();
  };
  if (graph.vertices != vertices || !holds(graph.from) || !holds(graph.to) || dst.size() != src.size())
    return false;
  const int64_t *first = graph.from.begin, *second = graph.to.begin;
  if (!graph.is_directed) std::swap(first, second);  // the larger end stands in `from`
  with_integers(src, [&]<class Vertex>(Vertex* sources) {
    std::copy_n(first, src.size(), sources);
    std::copy_n(second, src.size(), entries<Vertex>(dst));
  });
  return true;
}

// Where pieces that a parser need not see begin and end, and how many line feeds they have.
std::vector<std::tuple<int64_t, int64_t, int64_t>> plain_pieces(Vector<const uint8_t> text) {
  const std::vector<PlainXml::Piece> pieces = without_gil(
      [&] { return PlainXml::pieces({reinterpret_cast<const char*>(text.data()), text.size()}); });
  std::vector<std::tuple<int64_t, int64_t, int64_t>> found;
  for (const auto& [begin, end, line_feeds] : pieces) found.emplace_back(begin, end, line_feeds);
  return found;
}

template <class Reader> nb::class_<Reader> named_reader(nb::module_& m, const char* name) {
  return nb::class_<Reader>(m, name)
      .def("read", &read_chunk<Reader>)
      .def("write_names", &write_names<Reader>)
      .def("numbers", &numbers_of_names<Reader>)
      .def_prop_ro("largest", &Reader::largest)
      .def_prop_ro("longest", [](const Reader& reader) { return reader.names().longest(); })
      .def_prop_ro("characters", [](const Reader& reader) { return reader.names().characters(); });
}

// Lets other threads and the handlers of signals run now and then.
class Pauses {
 public:
  void operator()() {
    if (Clock::now() < next_) return;
    std::optional<WithoutGil>(std::in_place).reset();
    if (look_up()) throw nb::python_error();
    next_ = Clock::now() + kPause;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{5};  // as long as Python lets a thread run

  Clock::time_point next_ = Clock::now() + kPause;
};

// Labels the nodes of a graph whose rows, and those of the opposite arcs, are dictionaries.
template <class Index>
int64_t components_of_dictionaries(nb::tuple nodes, nb::tuple rows, nb::tuple opposite, Vector<Index> out) {
  if (rows.size() != nodes.size() || opposite.size() != nodes.size() || out.size() != nodes.size())
    throw nb::value_error("there must be a row and a label for each node");
  grow_forest_of_dictionaries(nodes, rows, opposite, out.data(), Pauses());
  return without_gil([&] { return label_forest(out.data(), int64_t(out.size()), Naming::kNumbers); });
}

template <class Vertex>
void csr_of_dictionaries(
    nb::tuple nodes, nb::tuple rows, bool multiple, Vector<int64_t> indptr, Vector<Vertex> indices) {
  if (rows.size() != nodes.size() || indptr.size() != nodes.size() + 1)
    throw nb::value_error("there must be a row for each node, and one start more");
  read_targets(nodes, rows, multiple, indptr.data(), indices.data(), int64_t(indices.size()), Pauses());
}

}

void define_graph_inputs(nb::module_& m) {
  m.def("csr_of_arcs", &csr_of_arcs);
  m.def("rows_of_sorted", &rows_of_sorted);
  m.def("compact_arcs", &compact_arcs);
  m.def("csr_is_mirrored", &csr_is_mirrored);
  m.attr("longest_word") = Tokens::kLongest;
  nb::class_<ArcReader>(m, "ArcReader")
      .def(nb::init<const std::string&, const std::string&, int64_t, int64_t, int64_t, bool>())
      .def("read", &read_chunk<ArcReader>)
      .def_prop_ro("largest", &ArcReader::largest);
  nb::class_<NeighbourReader>(m, "NeighbourReader")
      .def(nb::init<int64_t, int64_t, bool, int64_t>())
      .def("read", &read_chunk<NeighbourReader>)
      .def_prop_ro("largest", &NeighbourReader::largest)
      .def_prop_ro("loops", &NeighbourReader::loops);
  named_reader<DigitArcReader>(m, "DigitArcReader")
      .def(nb::init<const std::string&, const std::string&, int64_t>());
  named_reader<NamedArcReader>(m, "NamedArcReader")
      .def(nb::init<char, int64_t, int64_t, int64_t, int64_t, bool>())
      .def("rename", &rename_arcs)
      .def_prop_ro("as_numbers", &NamedArcReader::as_numbers);
  named_reader<GraphmlReader>(m, "GraphmlReader")
      .def(nb::init<>())
      .def_prop_ro("is_directed", &GraphmlReader::is_directed)
      .def_prop_ro("has_graph", &GraphmlReader::has_graph);
  m.def("integers_of_text", &integers_of_text);
  m.def("plain_pieces", &plain_pieces);
  m.def("copy_igraph_edges", &copy_igraph_edges);
  m.attr("longest_row") = NamedArcReader::kLongestRow;
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int32_t>);
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int64_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int32_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int64_t>);
}

}
