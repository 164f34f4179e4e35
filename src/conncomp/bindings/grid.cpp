// Labels of arrays: the default.
#include "bindings/bindings.h"
#include "bindings/label_array.h"
#include "cpu/grid/runs.h"

namespace conncomp {

namespace {

// `axes` has a row for each: length, whether it is periodic, and strides as in Axis; `backward` one for each
// step.
Grid grid_of(Table<int64_t> axes, Table<int8_t> backward, int batch_axes) {
  Grid grid{{}, batch_axes, {}};
  for (size_t k = 0; k < axes.shape(0); ++k)
    grid.axes.push_back({axes(k, 0), axes(k, 1) != 0, axes(k, 2), axes(k, 3)});
  for (size_t i = 0; i < backward.shape(0); ++i) {
    const int8_t* step = backward.data() + i * backward.shape(1);
    grid.backward.emplace_back(step, step + backward.shape(1));
  }
  return grid;
}

constexpr auto by_runs = [](const auto&... task) { label_runs(task...); };

}  // namespace

void define_grid(nb::module_& m) {
  nb::class_<Grid>(m, "Grid").def(nb::new_(&grid_of), nb::arg("axes"), nb::arg("backward"),
                                  nb::arg("batch_axes"));
  define_labels<by_runs>(m, "label_by_runs");
}

}  // namespace conncomp
