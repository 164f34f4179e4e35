// Components of labels: sizes, members, measures, faces, other labels, colours.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "cpu/components/colours.h"
#include "cpu/components/distinct.h"
#include "cpu/components/known_components.h"
#include "cpu/components/measures.h"
#include "cpu/components/surfaces.h"
#include "cpu/components/tables.h"

namespace conncomp {

namespace {

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
void define_label_tools(nb::module_& m) {
  m.def("count_labels", &count<Label>);
  m.def("combine_labels", &combine<Label, int32_t>);
  m.def("combine_labels", &combine<Label, int64_t>);
  m.def("members", &members<Label, int32_t>);
  m.def("members", &members<Label, int64_t>);
  m.def("measure_labels", &measure<Label>);
  m.def("count_faces", &faces<Label>);
  m.def("replace_labels", &replace<Label>);
  m.def("choose_colours", &colour<Label>);
}

}  // namespace

void define_components(nb::module_& m) {
  nb::class_<Measures>(m, "Measures")
      .def_prop_ro("components", &Measures::components)
      .def("write", &write_measures);
  define_label_tools<int32_t>(m);
  define_label_tools<int64_t>(m);
  define_translation<int32_t>(m);
  define_translation<uint32_t>(m);
  define_translation<int64_t>(m);
  define_translation<uint64_t>(m);
  m.def("sort_by_size", [](Vector<const int64_t> sizes, int64_t items, Vector<int64_t> order) {
    without_gil([&] { sort_by_size(sizes.data(), int64_t(sizes.size()), items, order.data()); });
  });
}

}  // namespace conncomp
