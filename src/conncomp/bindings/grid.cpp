// Labels of arrays: the default.
#include "bindings/bindings.h"
#include "bindings/label_array.h"
#include "cpu/grid/runs.h"

namespace conncomp {

namespace {

constexpr auto by_runs = [](const auto&... task) { label_runs(task...); };

}  // namespace

void define_grid(nb::module_& m) { define_labels<by_runs>(m, "label_by_runs"); }

}  // namespace conncomp
