// Measures of components beyond sizes and boxes: moments, configurations, borders, hulls, values.

#include "bindings/labels.h"
#include "cpu/components/borders.h"
#include "cpu/components/enclosed.h"
#include "cpu/components/hulls.h"
#include "cpu/components/intensities.h"
#include "cpu/components/moments.h"

namespace conncomp {

namespace {

// Labels that are measured: `components` are those that occur, ascending.
using ComponentNumbers = Vector<const int64_t>;

RowsOfLabels rows_of(const ComponentNumbers& components) {
  return {components.data(), int64_t(components.size())};
}

std::unique_ptr<ComponentRuns> list_runs(
    AnyVector labels, const std::vector<int64_t>& shape, int64_t background, ComponentNumbers components) {
  const LabelledItems items{label_array(labels, background), shape};
  return without_gil([&] { return std::make_unique<ComponentRuns>(items, rows_of(components)); });
}

std::unique_ptr<ComponentRuns> sort_runs(const std::vector<int64_t>& shape, int64_t elements,
    Vector<const int64_t> ends, Vector<const uint64_t> entries) {
  return without_gil([&] {
    return std::make_unique<ComponentRuns>(
        shape, elements, std::span(ends.data(), ends.size()), std::span(entries.data(), entries.size()));
  });
}

// `numbers` has a row of Configurations for each component; items have two or three axes.
void configurations(AnyVector labels, const std::vector<int64_t>& shape, int64_t background,
    ComponentNumbers components, Vector<int64_t> numbers) {
  const LabelledItems items{label_array(labels, background), shape};
  without_gil([&] {
    if (shape.size() == 2)
      count_configurations<2>(items, rows_of(components), numbers.data());
    else
      count_configurations<3>(items, rows_of(components), numbers.data());
  });
}

template <int axes> nb::object weights() {
  const auto& table = weights_of_configurations<axes>().weights;
  return give_away(std::vector<int8_t>(table[0], table[0] + sizeof table));
}

void borders(AnyVector labels, const std::vector<int64_t>& shape, int64_t background,
    ComponentNumbers components, Vector<int64_t> kinds) {
  const LabelledItems items{label_array(labels, background), shape};
  without_gil([&] { count_borders(items, rows_of(components), kinds.data()); });
}

void moments(
    const ComponentRuns& runs, Vector<const int64_t> boxes, Vector<double> raw, Vector<double> central) {
  without_gil([&] { write_moments(runs, boxes.data(), {raw.data(), central.data()}); });
}

void hulls(const ComponentRuns& runs, std::array<double, 2> spacing, Vector<int64_t> sizes,
    Vector<double> largest, Vector<double> smallest) {
  without_gil([&] { measure_hulls(runs, spacing, {sizes.data(), largest.data(), smallest.data()}); });
}

void enclosed(const ComponentRuns& runs, Vector<int64_t> counts) {
  without_gil([&] { count_enclosed(runs, counts.data()); });
}

// Values of any type, one for each label, which are read as numbers.
class Values {
 public:
  explicit Values(const AnyVector& values) : data_(values.data()) {
    with_entries<uint8_t, uint16_t, int16_t, int32_t, int64_t, uint64_t, float, double>(
        values, [this]<class Value>(const Value*) { read_ = &read<Value>; });
  }

  void operator()(Run run, double* out) const { read_(data_, run, out); }

 private:
  template <class Value> static void read(const void* data, Run run, double* out) {
    for (int64_t i = run.begin; i < run.end; ++i) *out++ = double(static_cast<const Value*>(data)[i]);
  }

  const void* data_;
  void (*read_)(const void*, Run, double*);
};

void weighted(
    const ComponentRuns& runs, AnyVector values, Vector<const double> origins, Vector<double> moments) {
  const Values read(values);
  without_gil([&] { weigh_moments(runs, read, origins.data(), moments.data()); });
}

void squares(const ComponentRuns& runs, AnyVector values, Vector<const double> means, Vector<double> sums) {
  const Values read(values);
  without_gil([&] { sum_squares(runs, read, means.data(), sums.data()); });
}

void quantiles(
    const ComponentRuns& runs, AnyVector values, const std::vector<double>& fractions, Vector<double> found) {
  const Values read(values);
  without_gil([&] { find_quantiles(runs, read, fractions, found.data()); });
}

nb::object indices(const ComponentRuns& runs, int64_t row) {
  std::vector<int64_t> members;
  runs.for_each(row, [&](Run run) {
    for (int64_t i = run.begin; i < run.end; ++i) members.push_back(i);
  });
  return give_away(std::move(members));
}

nb::object line_ends(const ComponentRuns& runs, int64_t row) {
  std::vector<int64_t> ends;
  int64_t last_line = -1;
  runs.for_each_on_lines(row, [&](Run run, int64_t line, int64_t, int64_t) {
    if (line == last_line)
      ends.back() = run.end - 1;
    else
      ends.insert(ends.end(), {run.begin, run.end - 1});
    last_line = line;
  });
  return give_away(std::move(ends));
}

// The first and the last element of each line that the hull of a component has, in two dimensions.
nb::object hull_extents(const ComponentRuns& runs, int64_t row) {
  ComponentExtents component;
  std::vector<Extent>& lines = component.find(runs, row);
  if (!lines.empty()) {
    Hull hull;
    hull.make(lines);
    hull.fill(lines);
  }
  std::vector<int64_t> flat;
  for (const Extent& extent : lines) flat.insert(flat.end(), {extent.first, extent.last});
  return give_away(std::move(flat));
}

// From a pickle: the lengths of axes, where the runs of each row begin, and the runs.
using RunsState = std::tuple<std::vector<int64_t>, nb::object, nb::object>;

RunsState state_of(const ComponentRuns& runs) {
  const auto copy = [](const auto& entries) {
    std::vector<std::decay_t<decltype(entries[0])>> copied(entries.begin(), entries.end());
    return give_away(std::move(copied));
  };
  return {runs.shape(), copy(runs.first()), copy(runs.packed())};
}

void restore(ComponentRuns& runs,
    const std::tuple<std::vector<int64_t>, Vector<const int64_t>, Vector<const uint64_t>>& state) {
  const auto& [shape, first, packed] = state;
  new (&runs) ComponentRuns(shape, {first.data(), first.size()}, {packed.data(), packed.size()});
}

// `components` ascend; sizes and boxes are those of Columns; sums are of GivenSum, extremes of the values.
bool intensities(AnyVector labels, const std::vector<int64_t>& shape, int64_t background, AnyVector values,
    int bits, Vector<const int64_t> components, Vector<const int64_t> sizes, Vector<const int64_t> boxes,
    FilledVector sums, Vector<double> means, FilledVector minima, FilledVector maxima,
    Vector<double> centroids) {
  const LabelledItems items{label_array(labels, background), shape};
  const auto measure = [&]<class Value>(const Value* data) {
    const IntensityColumns<Value> columns{entries<GivenSum<Value>>(sums), means.data(),
        entries<Value>(minima), entries<Value>(maxima), centroids.data()};
    return without_gil([&] {
      const RowsOfLabels rows(components.data(), int64_t(components.size()));
      return Intensities<Value>(items, data, rows, {sizes.data(), boxes.data()}, bits)
          .write(rows.count(), columns);
    });
  };
  return with_entries<uint8_t, uint16_t, int16_t, int32_t, int64_t, uint64_t, float, double>(values, measure);
}

}

void define_columns(nb::module_& m) {
  nb::class_<ComponentRuns>(m, "ComponentRuns")
      .def("moments", &moments)
      .def("hulls", &hulls)
      .def("enclosed", &enclosed)
      .def("weighted_moments", &weighted)
      .def("squares", &squares)
      .def("quantiles", &quantiles)
      .def("indices", &indices)
      .def("line_ends", &line_ends)
      .def("hull_extents", &hull_extents)
      .def("__getstate__", &state_of)
      .def("__setstate__", &restore);
  m.def("list_runs", &list_runs);
  m.def("sort_runs", &sort_runs);
  m.def("count_configurations", &configurations);
  m.def("configuration_weights", [](int axes) { return axes == 2 ? weights<2>() : weights<3>(); });
  m.def("count_borders", &borders);
  m.def("measure_intensities", &intensities);
}

}
