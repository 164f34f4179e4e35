// Values of an image within components.
#include <cstdint>
#include <vector>

#include "bindings/bindings.h"
#include "cpu/components/intensities.h"
#include "cpu/components/known_components.h"

namespace conncomp {

namespace {

// `components` are the labels that occur, ascending; sizes and boxes are those of Columns.
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

template <class... Values>
void define_values(nb::module_& m) {
  (m.def("measure_intensities", &intensities<int32_t, Values>), ...);
  (m.def("measure_intensities", &intensities<int64_t, Values>), ...);
}

}  // namespace

void define_intensities(nb::module_& m) {
  define_values<uint8_t, uint16_t, int16_t, int32_t, int64_t, uint64_t, float, double>(m);
}

}  // namespace conncomp
