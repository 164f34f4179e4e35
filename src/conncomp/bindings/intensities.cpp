// Values of an image within components.
#include <cstdint>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/labels.h"
#include "cpu/components/intensities.h"
#include "cpu/components/known_components.h"

namespace conncomp {

namespace {

// `components` are the labels that occur, ascending; sizes and boxes are those of Columns. Of the columns,
// minima and maxima are of the type of the values, and sums of that of GivenSum.
bool intensities(AnyVector labels, const std::vector<int64_t>& shape, int64_t background, AnyVector values,
                 int bits, Vector<const int64_t> components, Vector<const int64_t> sizes,
                 Vector<const int64_t> boxes, FilledVector sums, Vector<double> means, FilledVector minima,
                 FilledVector maxima, Vector<double> centroids) {
  const LabelledItems items{label_array(labels, background), shape};
  const auto measure = [&]<class Value>(const Value* data) {
    return with_entries<GivenSum<Value>>(sums, [&](GivenSum<Value>* sum) {
      return with_entries<Value>(minima, [&](Value* low) {
        return with_entries<Value>(maxima, [&](Value* high) {
          return without_gil([&] {
            const RowsOfLabels rows(components.data(), int64_t(components.size()));
            const Intensities<Value> measured(items, data, rows, {sizes.data(), boxes.data()}, bits);
            return measured.write(rows.count(), {sum, means.data(), low, high, centroids.data()});
          });
        });
      });
    });
  };
  return with_entries<uint8_t, uint16_t, int16_t, int32_t, int64_t, uint64_t, float, double>(values, measure);
}

}  // namespace

void define_intensities(nb::module_& m) { m.def("measure_intensities", &intensities); }

}  // namespace conncomp
