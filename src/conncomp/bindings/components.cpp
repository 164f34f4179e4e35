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

template <class Label, class Entry>
void replace(Vector<const Label> labels, Entry background, Vector<const Entry> table, Vector<Entry> out) {
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

// There is a mark for each label.
template <class Label>
int64_t mark(Vector<const Label> labels, Vector<uint8_t> marks) {
  return without_gil([&] { return mark_labels(labels.data(), int64_t(labels.size()), marks.data()); });
}

// There is a number for each label.
template <class Label, class Number>
std::unique_ptr<NumberedLabels<Label>> number(Vector<const Label> labels, Vector<Number> numbers) {
  return without_gil([&] {
    return std::make_unique<NumberedLabels<Label>>(labels.data(), int64_t(labels.size()), numbers.data());
  });
}

// `wanted` has an entry for each of the labels that differ; `numbers` are those that number_labels filled.
template <class Label, class Number>
void translate(const NumberedLabels<Label>& numbered, Vector<const Number> wanted, Vector<Number> numbers) {
  without_gil([&] { numbered.translate(wanted.data(), numbers.data()); });
}

template <class Label>
void define_numbers(nb::module_& m, const char* name) {
  using Numbered = NumberedLabels<Label>;
  nb::class_<Numbered>(m, name)
      .def("distinct",
           [](const Numbered& numbered) {
             Buffer<Label> labels = without_gil([&] { return numbered.distinct(); });
             return give_away(std::move(labels), numbered.count());
           })
      .def("translate", &translate<Label, int32_t>)
      .def("translate", &translate<Label, int64_t>);
  m.def("number_labels", &number<Label, int32_t>);
  m.def("number_labels", &number<Label, int64_t>);
  m.def("mark_labels", &mark<Label>);
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
  m.def("replace_labels", &replace<Label, int32_t>);
  m.def("replace_labels", &replace<Label, int64_t>);
  m.def("choose_colours", &colour<Label>);
}

}  // namespace

void define_components(nb::module_& m) {
  nb::class_<Measures>(m, "Measures")
      .def_prop_ro("components", &Measures::components)
      .def("write", &write_measures);
  define_label_tools<int32_t>(m);
  define_label_tools<int64_t>(m);
  define_numbers<int32_t>(m, "NumberedInt32");
  define_numbers<uint32_t>(m, "NumberedUInt32");
  define_numbers<int64_t>(m, "NumberedInt64");
  define_numbers<uint64_t>(m, "NumberedUInt64");
  m.def("sort_by_size", [](Vector<const int64_t> sizes, int64_t items, Vector<int64_t> order) {
    without_gil([&] { sort_by_size(sizes.data(), int64_t(sizes.size()), items, order.data()); });
  });
}

}  // namespace conncomp
