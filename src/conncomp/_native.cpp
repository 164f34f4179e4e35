// nanobind bindings, and nothing but bindings. Arguments arrive checked by Python.
#include <cstring>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "_dictionaries.h"
#include "_without_gil.h"
#include "core/half.h"
#include "core/philox.h"
#include "cpu/components/colours.h"
#include "cpu/components/contacts.h"
#include "cpu/components/distinct.h"
#include "cpu/components/intensities.h"
#include "cpu/components/measures.h"
#include "cpu/components/surfaces.h"
#include "cpu/components/tables.h"
#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"
#include "cpu/core/parallel.h"
#include "cpu/generate/fill.h"
#include "cpu/generate/rmat.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/both_ends.h"
#include "cpu/graph/condensation.h"
#include "cpu/graph/filter_kruskal.h"
#include "cpu/graph/incremental.h"
#include "cpu/graph/spanning_forest.h"
#include "cpu/graph/tarjan.h"
#include "cpu/graph/topological.h"
#include "cpu/grid/runs.h"
#include "cpu/grid/windings.h"
#include "cpu/io/compact.h"
#include "cpu/io/graph_text.h"
#include "cpu/io/mirrored.h"
#include "cpu/models/cahn_hilliard.h"
#include "cpu/models/kawasaki.h"
#include "cpu/models/percolation.h"
#include "cpu/models/potts.h"
#include "cpu/papers/bfs.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/label_equivalence.h"
#include "cpu/papers/raster_scan.h"
#include "cpu/papers/recolouring.h"
#include "cpu/papers/tiles.h"

namespace nb = nanobind;
using namespace conncomp;
using namespace nb::literals;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// How neighbouring values are told apart: the name of a kernel's value type.
template <class Body>
void with_value_type(const std::string& name, Body&& body) {
  if (name == "u1") return body(uint8_t());
  if (name == "u2") return body(uint16_t());
  if (name == "u4") return body(uint32_t());
  if (name == "u8") return body(uint64_t());
  if (name == "f2") return body(Half());
  if (name == "f4") return body(float());
  if (name == "f8") return body(double());
  throw nb::value_error(("no kernel for values of type " + name).c_str());
}

template <class T>
Distance<T> distance_of(nb::handle limit, bool is_signed) {
  if constexpr (std::is_integral_v<T>)
    return {nb::cast<T>(limit), T(is_signed ? T(1) << (8 * sizeof(T) - 1) : 0)};
  else
    return {{nb::cast<double>(limit)}};
}

// Calls body(rule) with a rule of core/links.h; the other arguments are those of Links in links.py, but that
// the axes of bonds are counted from the last one of the grid.
template <class Body>
void with_rule(const std::string& name, const std::string& value_type,
               std::optional<nb::bytes> background_bytes, nb::handle limit, bool is_signed,
               const std::vector<std::pair<int64_t, int>>& bonds, Body&& body) {
  if (name == "bonds") {
    Bonds rule{};
    if (bonds.size() > Bonds::kMostAxes) throw nb::value_error("bonds are along too many axes");
    for (size_t k = 0; k < bonds.size(); ++k) {
      rule.plane[k] = bonds[k].first;
      rule.mask[k] = uint8_t(bonds[k].second);
    }
    return body(rule);
  }
  with_value_type(value_type, [&](auto zero) {
    using Value = decltype(zero);
    Background<Value> background{Value(), background_bytes.has_value()};
    if (background_bytes) std::memcpy(&background.value, background_bytes->c_str(), sizeof(Value));
    if (name == "within") return body(Within<Value>{background, distance_of<Value>(limit, is_signed)});
    if (name == "equal") return body(Equal<Value>{background});
    throw nb::value_error(("no link rule " + name).c_str());
  });
}

template <class T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What labels an array, for label_array.
constexpr auto by_runs = [](const auto&... task) { label_runs(task...); };
constexpr auto by_raster_scans = [](const auto&... task) { label_by_raster_scans(task...); };
constexpr auto by_equivalence = [](const auto&... task) { label_by_equivalence(task...); };
constexpr auto by_tiles = [](const auto& data, const auto& rule, const Grid& grid, bool consecutive,
                             auto* labels, int64_t* counts, int local, int merge, int64_t side) {
  const TileOptions options{TileLabelling(local), TileMerging(merge), side};
  label_by_tiles(data, rule, grid, consecutive, labels, counts, options);
};

// The link rule is as for with_rule. `axes` has a row for each: length, whether it is periodic, and strides
// as in Axis; `backward` one for each step. It is given up after so many seconds.
template <auto by, class Index, class... Options>
void label_array(uintptr_t data, const std::string& rule, const std::string& value_type,
                 std::optional<nb::bytes> background_bytes, nb::handle limit, bool is_signed,
                 const std::vector<std::pair<int64_t, int>>& bonds, Table<int64_t> axes,
                 Table<int8_t> backward, int batch_axes, bool consecutive, Vector<Index> out,
                 Vector<int64_t> counts, double seconds, Options... options) {
  Grid grid{{}, batch_axes, {}};
  for (size_t k = 0; k < axes.shape(0); ++k)
    grid.axes.push_back({axes(k, 0), axes(k, 1) != 0, axes(k, 2), axes(k, 3)});
  for (size_t i = 0; i < backward.shape(0); ++i) {
    const int8_t* step = backward.data() + i * backward.shape(1);
    grid.backward.emplace_back(step, step + backward.shape(1));
  }
  with_rule(rule, value_type, background_bytes, limit, is_signed, bonds, [&](const auto& links) {
    const auto fill = [&] {
      by(reinterpret_cast<const void*>(data), links, grid, consecutive, out.data(), counts.data(),
         options...);
    };
    without_gil(fill, seconds);
  });
}

template <auto by, class... Options>
void define_labels(nb::module_& m, const char* name) {
  m.def(name, &label_array<by, int32_t, Options...>);
  m.def(name, &label_array<by, int64_t, Options...>);
}

// The link rule is as for with_rule; `seams` and `boxes` are as in seams.py, the others are of SeamTables.
template <class Index>
void windings_of_array(uintptr_t data, const std::string& rule, const std::string& value_type,
                       std::optional<nb::bytes> background_bytes, nb::handle limit, bool is_signed,
                       const std::vector<std::pair<int64_t, int>>& bonds, Vector<const int64_t> seams,
                       Vector<const int64_t> boxes, Vector<int64_t> key, Vector<int32_t> link,
                       Vector<int32_t> hook, Vector<int32_t> lattice_of, Vector<int64_t> lattices,
                       Vector<int32_t> count, Vector<int64_t> smallest, Vector<const Index> labels) {
  static_assert(sizeof(Hook) % sizeof(int32_t) == 0 && sizeof(WindingLattice) % sizeof(int64_t) == 0);
  const SeamWindings windings{
      {key.data(), int64_t(key.size())},
      {link.data(), reinterpret_cast<Hook*>(hook.data())},
      {lattice_of.data(), reinterpret_cast<WindingLattice*>(lattices.data()), count.data()},
      smallest.data()};
  with_rule(rule, value_type, background_bytes, limit, is_signed, bonds, [&](const auto& links) {
    using Value = typename std::decay_t<decltype(links)>::Value;
    without_gil([&] {
      const SeamArray<std::decay_t<decltype(links)>, Index> array{
          *reinterpret_cast<const Seams*>(seams.data()), reinterpret_cast<const SeamBox*>(boxes.data()),
          links, reinterpret_cast<const Value*>(data), labels.data()};
      find_windings(array, windings);
    });
  });
}

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

template <class Pointer, class Vertex, class Index>
int64_t components_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool symmetric,
                          bool consecutive, Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive,
                    [&](auto rows, Index* parent) { grow_forest(rows, symmetric, parent); });
}

template <class Vertex, class Index>
int64_t components_of_arcs(Vector<const Vertex> src, Vector<const Vertex> dst, bool consecutive,
                           Vector<Index> out) {
  return label_vertices(out, consecutive, [&](Index* parent) {
    grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), int64_t(out.size()), parent);
  });
}

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

template <class Pointer, class Vertex, class Index>
int64_t tarjan_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, bool consecutive,
                      Vector<Index> out) {
  return label_rows(indptr, indices, out, consecutive,
                    [&](auto rows, Index* roots) { tarjan_roots(rows, roots); });
}

template <class Pointer, class Vertex, class Index>
int64_t topological_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices, Vector<Index> out) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  if (rows.vertices != int64_t(out.size())) throw nb::value_error("there must be a label for each row");
  return without_gil([&] { return topological_labels(rows, out.data()); });
}

// Hands over an array that it owns, of which `count` entries are filled.
template <class T>
nb::object give_away(Buffer<T>&& filled, int64_t count) {
  auto memory = std::make_unique<Buffer<T>>(std::move(filled));
  T* const data = memory->data();
  const nb::capsule owner(memory.get(), [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  memory.release();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size_t(count)}, owner));
}

template <class Pointer, class Vertex, class Index>
nb::tuple condensation_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                              Vector<const Index> labels, int64_t components) {
  const Rows<Pointer, Vertex> rows = rows_of(indptr, indices);
  if (rows.vertices != int64_t(labels.size())) throw nb::value_error("there must be a label for each row");
  auto graph = without_gil([&] { return condense(rows, labels.data(), components); });
  const int64_t arcs = graph.indptr[components];
  return nb::make_tuple(give_away(std::move(graph.indptr), components + 1),
                        give_away(std::move(graph.indices), arcs));
}

template <class Arc>
nb::object array_of(ChosenArcs<Arc>&& chosen) {
  auto memory = std::make_unique<Buffer<Arc>>(std::move(chosen.arcs));
  Arc* const data = memory->data();
  const nb::capsule owner(memory.get(), [](void* p) noexcept { delete static_cast<Buffer<Arc>*>(p); });
  memory.release();
  return nb::cast(nb::ndarray<nb::numpy, Arc, nb::ndim<1>>(data, {size_t(chosen.count)}, owner));
}

// The arcs that find(zero) returns, where zero is of the narrowest type that the vertices fit into.
template <class Vertex, class Find>
nb::object forest_arcs(int64_t vertices, Find&& find) {
  if constexpr (sizeof(Vertex) > 4)
    if (vertices > INT32_MAX) return array_of(without_gil([&] { return find(int64_t()); }));
  return array_of(without_gil([&] { return find(int32_t()); }));
}

template <class Pointer, class Vertex>
RowArcs<Pointer, Vertex> row_arcs(const Vector<const Pointer>& indptr, const Vector<const Vertex>& indices) {
  return {rows_of(indptr, indices)};
}

template <class Vertex>
ListedArcs<Vertex> listed_arcs(const Vector<const Vertex>& src, const Vector<const Vertex>& dst,
                               int64_t vertices) {
  return {src.data(), dst.data(), vertices, int64_t(src.size())};
}

template <class Pointer, class Vertex>
nb::object spanning_forest_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                                  bool symmetric) {
  const auto arcs = row_arcs(indptr, indices);
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return spanning_forest<Index, Pointer>(arcs, symmetric ? Ends::kSmaller : Ends::kBoth);
  });
}

// The last argument is of the type that the numbers of the arcs are to be of.
template <class Vertex, class Arc>
nb::object spanning_forest_of_arcs(const ListedArcs<Vertex>& arcs, Arc) {
  return forest_arcs<Vertex>(
      arcs.vertices, [&]<class Index>(Index) { return spanning_forest<Index, Arc>(arcs, Ends::kBoth); });
}

template <class Bits>
Weights<Bits> weights_of(const Vector<const Bits>& weights, const std::array<Bits, 3>& order, int64_t arcs) {
  if (int64_t(weights.size()) != arcs) throw nb::value_error("there must be a weight for each arc");
  return {weights.data(), {order[0], order[1], order[2]}};
}

// `order` has the masks of WeightOrder; `key` is drawn anew for each call.
template <class Pointer, class Vertex, class Bits>
nb::object minimum_forest_of_csr(Vector<const Pointer> indptr, Vector<const Vertex> indices,
                                 Vector<const Bits> weights, const std::array<Bits, 3>& order, uint64_t key) {
  const auto arcs = row_arcs(indptr, indices);
  const Weights<Bits> weighed = weights_of(weights, order, arcs.arcs);
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return minimum_spanning_forest<Index, Pointer>(arcs, weighed, key);
  });
}

template <class Vertex, class Arc, class Bits>
nb::object minimum_forest_of_arcs(const ListedArcs<Vertex>& arcs, const Weights<Bits>& weights, uint64_t key,
                                  Arc) {
  return forest_arcs<Vertex>(arcs.vertices, [&]<class Index>(Index) {
    return minimum_spanning_forest<Index, Arc>(arcs, weights, key);
  });
}

template <class Vertex, class Bits>
void define_minimum_forest_of_arcs(nb::module_& m) {
  m.def("minimum_forest_of_arcs",
        [](Vector<const Vertex> src, Vector<const Vertex> dst, int64_t vertices, Vector<const Bits> weights,
           const std::array<Bits, 3>& order, uint64_t key) {
          const auto arcs = listed_arcs(src, dst, vertices);
          const Weights<Bits> weighed = weights_of(weights, order, arcs.arcs);
          return arcs.arcs > INT32_MAX ? minimum_forest_of_arcs(arcs, weighed, key, int64_t())
                                       : minimum_forest_of_arcs(arcs, weighed, key, int32_t());
        });
}

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
  auto* ids = new std::vector<int64_t>(
      without_gil([&] { return compact_ids(src.data(), dst.data(), int64_t(src.size()), vertices); }));
  const nb::capsule owner(ids, [](void* p) noexcept { delete static_cast<std::vector<int64_t>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>(ids->data(), {ids->size()}, owner));
}

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

// Memory for a large array, from the memory that is kept, where it goes again with the array.
nb::object empty_bytes(int64_t count) { return give_away(Buffer<uint8_t>(count), count); }

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

// Every combination of int32 and int64; out is int32 unless the vertices need int64.
template <class Pointer, class Vertex, class Index>
void define_rows(nb::module_& m) {
  m.def("components_of_csr", &components_of_csr<Pointer, Vertex, Index>);
  m.def("ecl_of_csr", &ecl_of_csr<Pointer, Vertex, Index>);
  m.def("bfs_of_csr", &bfs_of_csr<Pointer, Vertex, Index>);
  m.def("recolouring_of_csr", &recolouring_of_csr<Pointer, Vertex, Index>);
  m.def("tarjan_of_csr", &tarjan_of_csr<Pointer, Vertex, Index>);
  m.def("topological_of_csr", &topological_of_csr<Pointer, Vertex, Index>);
  m.def("condensation_of_csr", &condensation_of_csr<Pointer, Vertex, Index>);
}

template <class Pointer, class Vertex>
void define_graph(nb::module_& m) {
  define_rows<Pointer, Vertex, int32_t>(m);
  define_rows<Pointer, Vertex, int64_t>(m);
  m.def("csr_is_mirrored", &csr_is_mirrored<Pointer, Vertex>);
  m.def("spanning_forest_of_csr", &spanning_forest_of_csr<Pointer, Vertex>);
  m.def("minimum_forest_of_csr", &minimum_forest_of_csr<Pointer, Vertex, uint32_t>);
  m.def("minimum_forest_of_csr", &minimum_forest_of_csr<Pointer, Vertex, uint64_t>);
}

template <class Vertex, class Index>
void define_growing(nb::module_& m) {
  m.def("grow", &grow<Vertex, Index>);
  m.def("are_connected", &are_connected<Vertex, Index>);
  m.def("roots_of_some", &roots_of_some<Vertex, Index>);
}

template <class Vertex>
void define_arcs(nb::module_& m) {
  define_growing<Vertex, int32_t>(m);
  define_growing<Vertex, int64_t>(m);
  m.def("start_growing", &start_growing<Vertex>);
  m.def("label_growing", &label_growing<Vertex, int32_t>);
  m.def("label_growing", &label_growing<Vertex, int64_t>);
  define_graph<int32_t, Vertex>(m);
  define_graph<int64_t, Vertex>(m);
  m.def("components_of_arcs", &components_of_arcs<Vertex, int32_t>);
  m.def("components_of_arcs", &components_of_arcs<Vertex, int64_t>);
  m.def("ecl_of_arcs", &ecl_of_arcs<Vertex, int32_t>);
  m.def("ecl_of_arcs", &ecl_of_arcs<Vertex, int64_t>);
  m.def("csr_of_arcs", &csr_of_arcs<Vertex>);
  m.def("spanning_forest_of_arcs", [](Vector<const Vertex> src, Vector<const Vertex> dst, int64_t vertices) {
    const auto arcs = listed_arcs(src, dst, vertices);
    return arcs.arcs > INT32_MAX ? spanning_forest_of_arcs(arcs, int64_t())
                                 : spanning_forest_of_arcs(arcs, int32_t());
  });
  define_minimum_forest_of_arcs<Vertex, uint32_t>(m);
  define_minimum_forest_of_arcs<Vertex, uint64_t>(m);
  m.def("csr_of_dictionaries", &csr_of_dictionaries<Vertex>);
  m.def("components_of_dictionaries", &components_of_dictionaries<Vertex>);
  m.def("compact_arcs", &compact_arcs<Vertex>);
}

template <class T>
std::pair<T, T> extremes_of(Vector<const T> values) {
  if (values.size() == 0) throw nb::value_error("there is no smallest of no numbers");
  return without_gil([&] { return extremes(values.data(), int64_t(values.size())); });
}

template <class Label>
void count(Vector<const Label> labels, Label background, Vector<int64_t> sizes) {
  without_gil([&] {
    count_labels(labels.data(), int64_t(labels.size()), background, int64_t(sizes.size()), sizes.data());
  });
}

template <class Label, class Combined>
void combine(Vector<const Label> labels, int64_t length, Label background, int64_t rows,
             Vector<Combined> combined) {
  without_gil([&] {
    combine_labels(labels.data(), int64_t(labels.size()), length, background, rows, combined.data());
  });
}

// As list_members; `begins` has an entry more than there are rows.
template <class Label, class Index>
void members(Vector<const Label> labels, int64_t length, Label background, Vector<const int64_t> begins,
             Vector<Index> indices) {
  without_gil([&] {
    list_members(labels.data(), int64_t(labels.size()), length, background, int64_t(begins.size()) - 1,
                 begins.data(), indices.data());
  });
}

// `shape` is that of an item.
template <class Label>
std::unique_ptr<Measures> measure(Vector<const Label> labels, const std::vector<int64_t>& shape,
                                  Label background, int64_t rows, bool with_products) {
  return without_gil([&] {
    return measure_labels(labels.data(), int64_t(labels.size()), shape, background, rows, with_products);
  });
}

// Arrays have an entry, or as many as Columns says, for each component; that of covariances may be empty.
void write_measures(const Measures& measures, Vector<int64_t> labels, Vector<int64_t> sizes,
                    Vector<int64_t> boxes, Vector<double> centroids, Vector<double> covariances) {
  double* const matrices = covariances.size() > 0 ? covariances.data() : nullptr;
  without_gil(
      [&] { measures.write({labels.data(), sizes.data(), boxes.data(), centroids.data(), matrices}); });
}

// `components` are the labels that occur, ascending; `faces` has an entry for each and each axis.
template <class Label>
void faces(Vector<const Label> labels, const std::vector<int64_t>& shape, Label background,
           Vector<const int64_t> components, Vector<int64_t> faces) {
  without_gil([&] {
    const RowsOfLabels rows(components.data(), int64_t(components.size()));
    const LabelledItems<Label> items{labels.data(), int64_t(labels.size()), shape, background};
    count_faces(items, rows, faces.data());
  });
}

// As `faces`, of the values of an image; sizes and boxes are those of Columns.
template <class Label, class Value>
bool intensities(Vector<const Label> labels, const std::vector<int64_t>& shape, Label background,
                 Vector<const Value> values, int bits, Vector<const int64_t> components,
                 Vector<const int64_t> sizes, Vector<const int64_t> boxes, Vector<GivenSum<Value>> sums,
                 Vector<double> means, Vector<Value> minima, Vector<Value> maxima, Vector<double> centroids) {
  return without_gil([&] {
    const RowsOfLabels rows(components.data(), int64_t(components.size()));
    const LabelledItems<Label> items{labels.data(), int64_t(labels.size()), shape, background};
    const Intensities<Label, Value> measured(items, values.data(), rows, {sizes.data(), boxes.data()}, bits);
    return measured.write(rows.count(),
                          {sums.data(), means.data(), minima.data(), maxima.data(), centroids.data()});
  });
}

template <class Label>
void replace(Vector<const Label> labels, Label background, Vector<const Label> table, Vector<Label> out) {
  without_gil([&] {
    replace_labels(labels.data(), int64_t(labels.size()), background, table.data(), int64_t(table.size()),
                   out.data());
  });
}

// As choose_colours; `begins` has an entry more than there are rows.
template <class Component>
int64_t colour(Vector<const Component> components, const std::vector<int64_t>& steps, int64_t leading,
               Vector<const int64_t> begins, Vector<const int64_t> places, Vector<const int64_t> preferred,
               int64_t first, int common, Vector<int64_t> order, Vector<int64_t> colours) {
  return without_gil([&] {
    return choose_colours(components.data(), steps, leading, begins.data(), places.data(),
                          int64_t(begins.size()) - 1, preferred.data(), first, common, order.data(),
                          int64_t(order.size()), colours.data());
  });
}

template <class Label, class... Values>
void define_intensities(nb::module_& m) {
  (m.def("measure_intensities", &intensities<Label, Values>), ...);
}

// `steps` has a row for each, as ContactStep; the others are as in ContactGrid.
template <class Label>
std::unique_ptr<LabelContacts> contacts(Vector<const Label> labels, const std::vector<int64_t>& shape,
                                        uint64_t periodic, Table<int64_t> steps, int64_t kinds,
                                        Label background, int64_t rows) {
  ContactGrid grid{shape, periodic, {}, kinds};
  for (size_t i = 0; i < steps.shape(0); ++i)
    grid.steps.push_back({steps(i, 0), uint64_t(steps(i, 1)), uint64_t(steps(i, 2)), steps(i, 3)});
  return without_gil(
      [&] { return std::make_unique<LabelContacts>(find_contacts(labels.data(), background, rows, grid)); });
}

template <class Label>
nb::object distinct(Vector<const Label> labels) {
  auto [differing, count] =
      without_gil([&] { return distinct_labels(labels.data(), int64_t(labels.size())); });
  return give_away(std::move(differing), count);
}

// There is a number for each of `differing`, and one of them at least.
template <class Label, class Number>
void translate(Vector<const Label> labels, Vector<const Label> differing, Vector<const Number> numbers,
               Vector<Number> out) {
  without_gil([&] {
    translate_labels(labels.data(), int64_t(labels.size()), differing.data(), numbers.data(),
                     int64_t(differing.size()), out.data());
  });
}

template <class Label>
void define_translation(nb::module_& m) {
  m.def("distinct_labels", &distinct<Label>);
  m.def("translate_labels", &translate<Label, int32_t>);
  m.def("translate_labels", &translate<Label, int64_t>);
}

template <class Label>
void define_components(nb::module_& m) {
  m.def("find_contacts", &contacts<Label>);
  m.def("extremes", &extremes_of<Label>);
  m.def("count_labels", &count<Label>);
  m.def("combine_labels", &combine<Label, int32_t>);
  m.def("combine_labels", &combine<Label, int64_t>);
  m.def("members", &members<Label, int32_t>);
  m.def("members", &members<Label, int64_t>);
  m.def("measure_labels", &measure<Label>);
  m.def("count_faces", &faces<Label>);
  define_intensities<Label, uint8_t, uint16_t, int16_t, int32_t, int64_t, uint64_t, float, double>(m);
  m.def("replace_labels", &replace<Label>);
  m.def("choose_colours", &colour<Label>);
}

template <class Bits>
void random_bits(uint64_t seed, uint32_t purpose, int64_t start, Vector<Bits> out) {
  using Drawn = std::conditional_t<sizeof(Bits) == 4, Bits32, Bits64>;
  without_gil([&] {
    fill_random<Drawn>(seed, purpose, start, int64_t(out.size()), out.data(),
                       [](Drawn bits, int64_t) { return bits; });
  });
}

template <class Bits, class Real>
void random_uniform(uint64_t seed, uint32_t purpose, int64_t start, Vector<Real> out) {
  without_gil([&] {
    fill_random<Bits>(seed, purpose, start, int64_t(out.size()), out.data(),
                      [](Bits bits, int64_t) { return unit_interval(bits); });
  });
}

// `high` has an entry for each of `out`, or one for all.
template <class Integer>
void random_below(uint64_t seed, uint32_t purpose, int64_t start, Vector<const int64_t> high,
                  Vector<Integer> out) {
  const int64_t* highs = high.data();
  const int64_t step = high.size() > 1;
  without_gil([&] {
    fill_random<Bits64>(seed, purpose, start, int64_t(out.size()), out.data(),
                        [&](Bits64 bits, int64_t k) { return below(bits, Bits64(highs[k * step])); });
  });
}

template <class Vertex>
void rmat_edges(uint64_t seed, uint32_t purpose, int scale, std::array<uint64_t, 3> thresholds,
                Vector<Vertex> src, Vector<Vertex> dst) {
  const Bits64 below[] = {thresholds[0], thresholds[1], thresholds[2]};
  without_gil([&] { rmat(seed, purpose, scale, below, int64_t(src.size()), src.data(), dst.data()); });
}

template <class Index>
void define_generators(nb::module_& m) {
  m.def("random_below", &random_below<Index>);
  m.def("rmat_edges", &rmat_edges<Index>);
}

// Arrays have the shapes that models/_cpu.py gives them, flattened.
using Words = Vector<Bits64>;
using ConstWords = Vector<const Bits64>;
using Record = std::optional<Vector<int64_t>>;
using Edges = std::array<int64_t, kLatticeAxes>;

int64_t* data_or_null(const Record& record) { return record ? record->data() : nullptr; }

// Without a tile all clusters get new states, without `flip` those with seeds flip for certain.
void update_potts(PottsEngine& engine, ConstWords words, Words new_words, uint32_t step,
                  ConstWords probabilities, const std::optional<Edges>& tile, std::optional<uint64_t> flip,
                  const Record& record, bool clusters, bool wrapping) {
  std::optional<SeedRule> rule;
  if (tile) {
    rule = SeedRule{{}, !flip, flip.value_or(0)};
    std::copy(tile->begin(), tile->end(), rule->tiles.length);
  }
  PottsMemory memory = engine.take_memory();
  without_gil([&] {
    engine.update(memory, words.data(), new_words.data(), step, probabilities.data(), rule,
                  data_or_null(record), {clusters, wrapping});
  });
  engine.give_back(std::move(memory));
}

void define_models(nb::module_& m) {
  nb::class_<PottsEngine>(m, "PottsEngine")
      .def("__init__",
           [](PottsEngine* self, const Edges& length, int periodic, int states, int planes, uint64_t seed,
              uint64_t first_replica, int64_t replicas, int axes, bool serial) {
             Lattice lattice{{}, periodic, states, planes};
             std::copy(length.begin(), length.end(), lattice.length);
             new (self) PottsEngine({lattice, seed, first_replica, replicas}, axes, serial);
           })
      .def("start",
           [](const PottsEngine& engine, Words words) { without_gil([&] { engine.start(words.data()); }); })
      .def("bonds",
           [](const PottsEngine& engine, ConstWords words, uint32_t step, ConstWords probabilities,
              Words out) {
             without_gil([&] { engine.bonds(words.data(), step, probabilities.data(), out.data()); });
           })
      .def("count",
           [](const PottsEngine& engine, ConstWords words, Vector<int64_t> record) {
             without_gil([&] { engine.count(words.data(), record.data()); });
           })
      .def(
          "metropolis",
          [](const PottsEngine& engine, ConstWords words, Words new_words, uint32_t step,
             ConstWords acceptance, int most_lost, const Record& record) {
            without_gil([&] {
              engine.metropolis(words.data(), new_words.data(), step, acceptance.data(), most_lost,
                                data_or_null(record));
            });
          },
          "words"_a, "new_words"_a, "step"_a, "acceptance"_a, "most_lost"_a, "record"_a.none())
      .def("update", &update_potts, "words"_a, "new_words"_a, "step"_a, "probabilities"_a, "tile"_a.none(),
           "flip"_a.none(), "record"_a.none(), "clusters"_a, "wrapping"_a);
}

// Arrays have the shapes that models/percolation.py gives them, flattened.
void define_percolation(nb::module_& m) {
  nb::class_<PercolationLattice>(m, "PercolationLattice")
      .def("__init__",
           [](PercolationLattice* self, const Edges& length, int periodic, int axes, bool of_bonds,
              bool triangular) {
             Lattice lattice{{}, periodic, 2, 1};
             std::copy(length.begin(), length.end(), lattice.length);
             new (self) PercolationLattice{lattice, axes, of_bonds, triangular};
           })
      .def("draw",
           [](const PercolationLattice& lattice, uint64_t seed, uint64_t first_replica, int64_t replicas,
              uint32_t step, uint64_t probability, bool certain, Words out) {
             without_gil([&] {
               draw_configurations(lattice, seed, first_replica, replicas, step, probability, certain,
                                   out.data());
             });
           })
      .def(
          "measure",
          [](const PercolationLattice& lattice, int64_t replicas, ConstWords words, Vector<int64_t> records) {
            without_gil([&] { measure_configurations(lattice, replicas, words.data(), records.data()); });
          })
      .def("sweep", [](const PercolationLattice& lattice, uint64_t seed, int64_t first_run, int64_t runs,
                       int64_t batches, int64_t begin, int64_t end, Vector<double> series,
                       Vector<int64_t> wraps) {
        without_gil([&] {
          run_sweep(lattice, {seed, first_run, runs, batches}, {series.data(), begin, end}, wraps.data());
        });
      });
}

FieldReplicas field_replicas(const std::array<int64_t, kFieldAxes>& lengths, uint64_t seed, uint64_t first,
                             int64_t count) {
  return {{lengths[0], lengths[1], lengths[2]}, seed, first, count};
}

// Fields have the shapes that models/_cahn_hilliard_cpu.py gives them, flattened; `lengths` are layers, rows
// and columns.
template <class T>
void define_fields(nb::module_& m) {
  using Lengths = std::array<int64_t, kFieldAxes>;
  m.def("start_fields", [](const Lengths& lengths, uint64_t seed, uint64_t first, int64_t count, double mean,
                           double scale, Vector<T> field) {
    const FieldReplicas replicas = field_replicas(lengths, seed, first, count);
    without_gil([&] { start_fields(replicas, T(mean), T(scale), field.data()); });
  });
  m.def("advance_fields",
        [](const Lengths& lengths, uint64_t seed, uint64_t first, int64_t count, int axes,
           const std::array<double, 4>& by, uint32_t step, Vector<const T> field, Vector<T> next) {
          const FieldReplicas replicas = field_replicas(lengths, seed, first, count);
          const FieldCoefficients<T> coefficients{T(by[0]), T(by[1]), T(by[2]), T(by[3])};
          without_gil([&] {
            axes == 2 ? advance_fields<2>(replicas, coefficients, step, field.data(), next.data())
                      : advance_fields<3>(replicas, coefficients, step, field.data(), next.data());
          });
        });
  m.def("measure_fields", [](const Lengths& lengths, int64_t count, int axes, const std::array<double, 6>& by,
                             Vector<const T> field, Vector<int64_t> record) {
    const FieldReplicas replicas = field_replicas(lengths, 0, 0, count);
    const FieldGauge gauge{by[0], by[1], by[2], by[3], by[4], by[5]};
    const int64_t length = int64_t(record.size()) / count;
    without_gil([&] {
      axes == 2 ? measure_fields<2>(replicas, gauge, field.data(), record.data(), length)
                : measure_fields<3>(replicas, gauge, field.data(), record.data(), length);
    });
  });
}

// The lattice is the bytes of its struct.
ExchangeLattice exchange_lattice(nb::bytes bytes) {
  ExchangeLattice lattice;
  if (bytes.size() != sizeof lattice) throw nb::value_error("these are not the bytes of a lattice");
  std::memcpy(&lattice, bytes.data(), sizeof lattice);
  return lattice;
}

void define_kawasaki(nb::module_& m) {
  nb::class_<KawasakiEngine>(m, "KawasakiEngine")
      .def("__init__",
           [](KawasakiEngine* self, nb::bytes lattice, uint64_t seed, uint64_t first_replica,
              int64_t replicas) {
             new (self) KawasakiEngine(exchange_lattice(lattice), seed, first_replica, replicas);
           })
      .def("start", [](const KawasakiEngine& engine, Vector<const int64_t> up,
                       Words words) { without_gil([&] { engine.start(up.data(), words.data()); }); })
      .def("sweep",
           [](const KawasakiEngine& engine, ConstWords words, Words new_words, uint32_t step,
              Vector<const uint8_t> acceptance) {
             without_gil([&] { engine.sweep(words.data(), new_words.data(), step, acceptance.data()); });
           })
      .def("count_unsatisfied", [](const KawasakiEngine& engine, ConstWords words, Vector<int64_t> counts) {
        without_gil([&] { engine.count_unsatisfied(words.data(), counts.data()); });
      });
}

// Whether the processor has what the build of that name in _core.py needs, and the system saves its
// registers.
bool supports(const std::string& instruction_set) {
  if (instruction_set == "generic") return true;
#if defined(__x86_64__) && defined(__GNUC__)
  const bool v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  if (instruction_set == "x86-64-v3") return v3;
  if (instruction_set == "x86-64-avx512")
    return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("avx512vpopcntdq");
#endif
  return false;
}

}  // namespace

NB_MODULE(CONNCOMP_MODULE, m) {
  // nanobind's arrays take Python's lock by a call that knows the main interpreter only, and would wait for
  // ever in another one.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("conncomp works in the main interpreter only, not in subinterpreters");
  define_labels<by_runs>(m, "label_by_runs");
  define_labels<by_raster_scans>(m, "label_by_raster_scans");
  define_labels<by_equivalence>(m, "label_by_equivalence");
  define_labels<by_tiles, int, int, int64_t>(m, "label_by_tiles");
  m.def("find_windings", &windings_of_array<int32_t>);
  m.def("find_windings", &windings_of_array<int64_t>);
  define_arcs<int32_t>(m);
  define_arcs<int64_t>(m);
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
  nb::class_<Measures>(m, "Measures")
      .def_prop_ro("components", &Measures::components)
      .def("write", &write_measures);
  nb::class_<LabelContacts>(m, "LabelContacts")
      .def_prop_ro("pairs", &LabelContacts::pairs)
      .def("write", [](const LabelContacts& contacts, Vector<int64_t> labels, Vector<int64_t> counts) {
        without_gil([&] { contacts.write(labels.data(), counts.data()); });
      });
  define_components<int32_t>(m);
  define_components<int64_t>(m);
  define_translation<int32_t>(m);
  define_translation<uint32_t>(m);
  define_translation<int64_t>(m);
  define_translation<uint64_t>(m);
  define_generators<int32_t>(m);
  define_generators<int64_t>(m);
  define_models(m);
  define_percolation(m);
  define_fields<float>(m);
  define_fields<double>(m);
  define_kawasaki(m);
  m.def("philox", [](uint64_t seed, std::array<uint32_t, 4> counter) {
    const auto [w] = philox(seed, PhiloxBlock{{counter[0], counter[1], counter[2], counter[3]}});
    return std::array<uint32_t, 4>{w[0], w[1], w[2], w[3]};
  });
  m.def("random_bits", &random_bits<uint32_t>);
  m.def("random_bits", &random_bits<uint64_t>);
  m.def("random_uniform", &random_uniform<Bits32, float>);
  m.def("random_uniform", &random_uniform<Bits64, double>);
  m.def("sort_by_size", [](Vector<const int64_t> sizes, int64_t items, Vector<int64_t> order) {
    without_gil([&] { sort_by_size(sizes.data(), int64_t(sizes.size()), items, order.data()); });
  });
  m.def("empty_bytes", &empty_bytes);
  m.def("set_num_threads", [](int threads) { wanted_threads = threads; });
  m.def("get_num_threads", &num_threads);
  m.def("compiler", [] { return __VERSION__; });
  m.def("supports", &supports);
}
