// Components of labels: sizes, members, measures, faces, other labels, colours, contacts.

#include "bindings/labels.h"
#include "cpu/components/colours.h"
#include "cpu/components/contacts.h"
#include "cpu/components/distinct.h"
#include "cpu/components/measures.h"
#include "cpu/components/surfaces.h"

namespace conncomp {

namespace {

void count(AnyVector labels, int64_t background, Vector<int64_t> sizes) {
  const LabelArray array = label_array(labels, background);
  without_gil([&] { count_labels(array, int64_t(sizes.size()), sizes.data()); });
}

void combine(AnyVector labels, int64_t length, int64_t background, int64_t rows, FilledVector combined) {
  with_integers(labels, [&]<class Label>(const Label* data) {
    with_integers(combined, [&](auto* out) {
      without_gil(
          [&] { combine_labels(data, int64_t(labels.size()), length, Label(background), rows, out); });
    });
  });
}

// Where elements of labels below `rows` begin in lists, and the lists: of int64 if `wide`, else of int32.
nb::tuple members(AnyVector labels, int64_t length, int64_t background, int64_t rows, bool wide) {
  const LabelArray array = label_array(labels, background);
  const auto list = [&]<class Index>(Index) {
    Buffer<int64_t> begins;
    Buffer<Index> indices = without_gil([&] {
      begins = Buffer<int64_t>(rows + 1);
      MemberLists lists(array, rows, begins.data());
      Buffer<Index> indices(lists.count());
      lists.write(length, indices.data());
      return indices;
    });
    const int64_t count = begins[rows];
    return nb::make_tuple(give_away(std::move(begins), rows + 1), give_away(std::move(indices), count));
  };
  return wide ? list(int64_t()) : list(int32_t());
}

std::unique_ptr<Measures> measure(AnyVector labels, const std::vector<int64_t>& shape, int64_t background,
    int64_t rows, bool with_products) {
  const LabelArray array = label_array(labels, background);
  return without_gil([&] { return measure_labels(array, shape, rows, with_products); });
}

void write_measures(const Measures& measures, Vector<int64_t> labels, Vector<int64_t> sizes,
    Vector<int64_t> boxes, Vector<double> centroids, Vector<double> covariances) {
  double* const matrices = covariances.size() > 0 ? covariances.data() : nullptr;
  without_gil(
      [&] { measures.write({labels.data(), sizes.data(), boxes.data(), centroids.data(), matrices}); });
}

void faces(AnyVector labels, const std::vector<int64_t>& shape, int64_t background,
    Vector<const int64_t> components, Vector<int64_t> faces) {
  const LabelledItems items{label_array(labels, background), shape};
  without_gil([&] {
    const RowsOfLabels rows(components.data(), int64_t(components.size()));
    count_faces(items, rows, faces.data());
  });
}

void spans(AnyVector labels, const std::vector<int64_t>& shape, int64_t background, int64_t rows,
    Vector<bool> table) {
  const LabelledItems items{label_array(labels, background), shape};
  without_gil([&] { find_spans(items, rows, table.data()); });
}

void replace(AnyVector labels, int64_t background, AnyVector table, FilledVector out) {
  with_integers(labels, [&](const auto* data) {
    with_integers(out, [&]<class Entry>(Entry* replaced) {
      const Entry* const rows = entries<Entry>(table);
      without_gil([&] {
        replace_labels(
            data, int64_t(labels.size()), Entry(background), rows, int64_t(table.size()), replaced);
      });
    });
  });
}

// As choose_colours; `begins` has an entry more than there are rows.
int64_t colour(AnyVector components, const std::vector<int64_t>& steps, int64_t leading,
    Vector<const int64_t> begins, Vector<const int64_t> places, Vector<const int64_t> preferred,
    int64_t first, int common, Vector<int64_t> order, Vector<int64_t> colours) {
  return with_integers(components, [&](const auto* data) {
    return without_gil([&] {
      return choose_colours(data, {steps, leading},
          {begins.data(), places.data(), int64_t(begins.size()) - 1}, {preferred.data(), first, common},
          order.data(), int64_t(order.size()), colours.data());
    });
  });
}

auto with_words(const AnyVector& labels, auto&& body) {
  const bool is_signed = labels.dtype().code == uint8_t(nb::dlpack::dtype_code::Int);
  if (!is_signed && labels.dtype().code != uint8_t(nb::dlpack::dtype_code::UInt))
    throw nb::type_error("labels are integers");
  if (labels.itemsize() == 4) return body(static_cast<const uint32_t*>(labels.data()), is_signed);
  if (labels.itemsize() == 8) return body(static_cast<const uint64_t*>(labels.data()), is_signed);
  throw nb::type_error("labels are of 32 or 64 bits");
}

int64_t mark(AnyVector labels, Vector<uint8_t> marks) {
  return with_words(labels, [&](const auto* words, bool is_signed) {
    return without_gil([&] { return mark_labels(words, is_signed, int64_t(labels.size()), marks.data()); });
  });
}

void number_marks(Vector<const uint8_t> marks, int64_t empty, int64_t first, FilledVector numbers) {
  with_integers(numbers, [&](auto* out) {
    without_gil([&] { number_marked(marks.data(), int64_t(numbers.size()), empty, first, out); });
  });
}

std::unique_ptr<NumberedLabels> number(AnyVector labels, FilledVector numbers) {
  return with_words(labels, [&](const auto* words, bool is_signed) {
    return with_integers(numbers, [&](auto* out) {
      return without_gil(
          [&] { return std::make_unique<NumberedLabels>(words, is_signed, int64_t(labels.size()), out); });
    });
  });
}

void translate(const NumberedLabels& numbered, AnyVector wanted, FilledVector numbers) {
  with_integers(numbers, [&]<class Number>(Number* out) {
    const Number* const of_labels = entries<Number>(wanted);
    without_gil([&] { numbered.translate(of_labels, out); });
  });
}

nb::object distinct(const NumberedLabels& numbered) {
  const auto give = [&]<class Word>(Word) {
    Buffer<Word> labels = without_gil([&] { return numbered.distinct<Word>(); });
    return give_away(std::move(labels), numbered.count());
  };
  return numbered.width() == 32 ? give(uint32_t()) : give(uint64_t());
}

// `steps` has a row for each, as ContactStep; the others are as in ContactGrid.
template <class Label>
std::unique_ptr<LabelContacts> contacts(Vector<const Label> labels, const std::vector<int64_t>& shape,
    uint64_t periodic, Table<int64_t> steps, int64_t kinds, Label background, int64_t rows) {
  ContactGrid grid{shape, periodic, {}, kinds};
  for (size_t i = 0; i < steps.shape(0); ++i)
    grid.steps.push_back({steps(i, 0), uint64_t(steps(i, 1)), uint64_t(steps(i, 2)), steps(i, 3)});
  return without_gil(
      [&] { return std::make_unique<LabelContacts>(find_contacts(labels.data(), background, rows, grid)); });
}

void weigh(Vector<const int64_t> by_kind, const std::vector<int64_t>& times, const std::vector<double>& face,
    Vector<int64_t> counts, Vector<double> areas) {
  without_gil([&] {
    weigh_contacts(by_kind.data(), int64_t(counts.size()), times, face, counts.data(), areas.data());
  });
}

nb::object runs_of_pairs(AnyVector one, AnyVector other) {
  return with_integers(one, [&]<class Label>(const Label* labels) {
    const Label* const others = entries<Label>(other);
    return give_away(without_gil([&] { return pair_runs(labels, others, int64_t(one.size())); }));
  });
}

}

void define_components(nb::module_& m) {
  nb::class_<Measures>(m, "Measures")
      .def_prop_ro("components", &Measures::components)
      .def_prop_ro("are_points", &Measures::are_points)
      .def("write", &write_measures);
  nb::class_<NumberedLabels>(m, "NumberedLabels").def("distinct", &distinct).def("translate", &translate);
  m.def("count_labels", &count);
  m.def("combine_labels", &combine);
  m.def("members", &members);
  m.def("measure_labels", &measure);
  m.def("count_faces", &faces);
  m.def("find_spans", &spans);
  m.def("replace_labels", &replace);
  m.def("choose_colours", &colour);
  m.def("number_labels", &number);
  m.def("mark_labels", &mark);
  m.def("number_marked", &number_marks);
  m.def("sort_by_size", [](Vector<const int64_t> sizes, int64_t items, Vector<int64_t> order) {
    without_gil([&] { sort_by_size(sizes.data(), int64_t(sizes.size()), items, order.data()); });
  });
  nb::class_<LabelContacts>(m, "LabelContacts")
      .def_prop_ro("pairs", &LabelContacts::pairs)
      .def("write", [](const LabelContacts& contacts, Vector<int64_t> labels, Vector<int64_t> counts) {
        without_gil([&] { contacts.write(labels.data(), counts.data()); });
      });
  m.def("find_contacts", &contacts<int32_t>);
  m.def("find_contacts", &contacts<int64_t>);
  m.def("weigh_contacts", &weigh);
  m.def("pair_runs", &runs_of_pairs);
}

}
