// Clusters of tables of pairs.

#include "bindings/bindings.h"
#include "cpu/tables/pair_clusters.h"

namespace conncomp {

namespace {

using Words = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weighed = std::optional<Vector<const double>>;
using Numbers = std::optional<Vector<int32_t>>;

template <int kWords> WordColumn<kWords> word_column(const Words& words) {
  if (words.shape(1) != kWords) throw nb::value_error("ids have another number of words");
  return {words.data()};
}

ByteColumn byte_column(const Vector<const int64_t>& ends, const Vector<const uint8_t>& bytes) {
  if (ends.size() == 0) throw nb::value_error("there is an end more than there are ids");
  return {reinterpret_cast<const char*>(bytes.data()), ends.data(), int64_t(bytes.size())};
}

template <class Ids>
void add_pairs(PairClusters<Ids>& clusters, const typename Ids::Column& left,
    const typename Ids::Column& right, int64_t rows, const Weighed& weights, const Numbers& u,
    const Numbers& v) {
  if ((weights && int64_t(weights->size()) != rows) || (u && int64_t(u->size()) != rows) ||
      (v && int64_t(v->size()) != rows))
    throw nb::value_error("columns differ in length");
  without_gil([&] {
    clusters.add_pairs(left, right, data_or_null(weights), rows, data_or_null(u), data_or_null(v));
  });
}

template <class Ids>
void add_ids(PairClusters<Ids>& clusters, const typename Ids::Column& column, int64_t rows,
    const Vector<int32_t>& numbers) {
  if (int64_t(numbers.size()) != rows) throw nb::value_error("there must be a number for each id");
  without_gil([&] { clusters.add_ids(column, rows, numbers.data()); });
}

// Clusters of any kind of ids. Python keeps calls of one object apart.
template <class Ids> nb::class_<PairClusters<Ids>> define_clusters(nb::module_& m, const char* name) {
  using Clusters = PairClusters<Ids>;
  return nb::class_<Clusters>(m, name)
      .def("__init__",
          [](Clusters* at, std::vector<double> thresholds) { new (at) Clusters(std::move(thresholds)); })
      .def_prop_ro("size", &Clusters::size)
      .def("keep_ids_only", &Clusters::keep_ids_only)
      .def("label",
          [](Clusters& clusters, int threshold, bool consecutive, Vector<int32_t> labels) {
            if (int64_t(labels.size()) != clusters.size() || threshold < 0 ||
                threshold >= clusters.forests().levels())
              throw nb::value_error("there must be a label for each id, of a threshold");
            return without_gil([&] { return clusters.label(threshold, Naming(consecutive), labels.data()); });
          })
      .def("unite_roots", [](Clusters& clusters, int threshold, Vector<const int32_t> roots) {
        if (threshold < 0 || threshold >= clusters.forests().levels())
          throw nb::value_error("there is no such threshold");
        without_gil([&] { clusters.unite_roots(threshold, roots.data(), int64_t(roots.size())); });
      });
}

template <int kWords> void define_word_clusters(nb::module_& m, const char* name) {
  using Ids = WordIds<kWords>;
  define_clusters<Ids>(m, name)
      .def(
          "add_pairs",
          [](PairClusters<Ids>& clusters, Words left, Words right, Weighed weights, Numbers u, Numbers v) {
            if (left.shape(0) != right.shape(0)) throw nb::value_error("columns differ in length");
            add_pairs(clusters, word_column<kWords>(left), word_column<kWords>(right), int64_t(left.shape(0)),
                weights, u, v);
          },
          nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("add_ids",
          [](PairClusters<Ids>& clusters, Words ids, Vector<int32_t> numbers) {
            add_ids(clusters, word_column<kWords>(ids), int64_t(ids.shape(0)), numbers);
          })
      .def("copy_ids", [](const PairClusters<Ids>& clusters,
                           nb::ndarray<uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
        if (int64_t(out.shape(0)) != clusters.size() || out.shape(1) != kWords)
          throw nb::value_error("there must be a row for each id");
        without_gil([&] {
          const auto* const ids = clusters.ids().ids().data();
          auto* const copy = reinterpret_cast<std::array<uint64_t, kWords>*>(out.data());
          for_each_index(clusters.size(), [=](int64_t i) { copy[i] = ids[i]; });
        });
      });
}

void define_byte_clusters(nb::module_& m) {
  define_clusters<ByteIds>(m, "ByteClusters")
      .def(
          "add_pairs",
          [](PairClusters<ByteIds>& clusters, Vector<const int64_t> left_ends, Vector<const uint8_t> left,
              Vector<const int64_t> right_ends, Vector<const uint8_t> right, Weighed weights, Numbers u,
              Numbers v) {
            if (left_ends.size() != right_ends.size()) throw nb::value_error("columns differ in length");
            add_pairs(clusters, byte_column(left_ends, left), byte_column(right_ends, right),
                int64_t(left_ends.size()) - 1, weights, u, v);
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("add_ids",
          [](PairClusters<ByteIds>& clusters, Vector<const int64_t> ends, Vector<const uint8_t> bytes,
              Vector<int32_t> numbers) {
            add_ids(clusters, byte_column(ends, bytes), int64_t(ends.size()) - 1, numbers);
          })
      .def_prop_ro(
          "bytes", [](const PairClusters<ByteIds>& clusters) { return clusters.ids().bytes().size(); })
      .def(
          "copy_ids", [](const PairClusters<ByteIds>& clusters, Vector<int64_t> ends, Vector<uint8_t> bytes) {
            const ByteIds& ids = clusters.ids();
            if (int64_t(ends.size()) != ids.ends().size() || int64_t(bytes.size()) != ids.bytes().size())
              throw nb::value_error("there must be room for all ids");
            without_gil([&] {
              for_each_index(ids.ends().size(),
                  [from = ids.ends().data(), to = ends.data()](int64_t i) { to[i] = from[i]; });
              for_each_index(ids.bytes().size(),
                  [from = ids.bytes().data(), to = bytes.data()](int64_t i) { to[i] = uint8_t(from[i]); });
            });
          });
}

// `divided` holds no numbers at first. Arrays of links are private copies.
int64_t divide(Vector<const int32_t> u, Vector<const int32_t> v, Vector<const double> weights, int64_t most,
    Vector<int32_t> labels, Vector<double> divided) {
  const int64_t links = int64_t(weights.size()), vertices = int64_t(labels.size());
  if (int64_t(u.size()) != links || int64_t(v.size()) != links || int64_t(divided.size()) != vertices)
    throw nb::value_error("columns differ in length");
  for (int64_t i = 0; i < links; ++i)
    if (!is_vertex(u.data()[i], vertices) || !is_vertex(v.data()[i], vertices))
      throw nb::value_error("an end of a link is no vertex");
  return without_gil([&] {
    for_each_index(vertices, [at = labels.data()](int64_t i) { at[i] = int32_t(i); });
    divide_clusters(u.data(), v.data(), weights.data(), links, vertices, most, labels.data(), divided.data());
    return label_forest(labels.data(), vertices, Naming::kRoots);
  });
}

// Roots become labels; they are a private copy, none larger than its place.
void number(Vector<int32_t> labels, Vector<int32_t> sizes) {
  if (labels.size() != sizes.size()) throw nb::value_error("columns differ in length");
  without_gil([&] { number_clusters(labels.data(), int64_t(labels.size()), sizes.data()); });
}

}

void define_tables(nb::module_& m) {
  define_word_clusters<1>(m, "WordClusters");
  define_word_clusters<2>(m, "WordPairClusters");
  define_byte_clusters(m);
  m.def("divide_clusters", &divide);
  m.def("number_clusters", &number);
}

}
