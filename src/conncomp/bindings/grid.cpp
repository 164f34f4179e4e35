// Labels of arrays: the default.
#include "bindings/bindings.h"
#include "bindings/label_array.h"
#include "cpu/grid/kept_runs.h"
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

std::unique_ptr<KeptRuns> keep(uintptr_t data, const LinkRule& links, const Grid& grid) {
  return without_gil(
      [&] { return std::make_unique<KeptRuns>(reinterpret_cast<const void*>(data), *links.words, grid); });
}

nb::object roots_of(const KeptRuns& runs) {
  return give_away(std::vector<int32_t>(runs.roots()), int64_t(runs.roots().size()));
}

// There is a label for each element of the side.
void write_side(const KeptRuns& runs, int axis, bool last, Vector<int32_t> numbers) {
  without_gil([&] { runs.write_side(axis, last, numbers.data()); });
}

// As KeptRuns::write; the table has an entry for each component and the background, and labels are at an
// address.
void write_runs(const KeptRuns& runs, Vector<const int32_t> table, const std::vector<int64_t>& strides,
                uintptr_t labels) {
  without_gil([&] { runs.write(table.data(), strides, reinterpret_cast<int32_t*>(labels)); });
}

// What write_runs takes, of several parts of an array.
using PlacedLabels = std::tuple<const KeptRuns*, Vector<const int32_t>, std::vector<int64_t>, uintptr_t>;

void write_runs_together(const std::vector<PlacedLabels>& parts) {
  without_gil([&] {
    std::vector<std::unique_ptr<const PlacedRuns>> placed;
    for (const auto& [runs, table, strides, labels] : parts)
      placed.push_back(std::make_unique<const PlacedRuns>(*runs, table.data(), strides,
                                                          reinterpret_cast<int32_t*>(labels)));
    write_together(placed);
  });
}

constexpr auto by_runs = [](const auto&... task) { label_runs(task...); };

// The memory of an array of NumPy, which Python keeps from being resized meanwhile.
class HeldMemory {
 public:
  HeldMemory(nb::handle array, int flags) {
    if (PyObject_GetBuffer(array.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  ~HeldMemory() { PyBuffer_Release(&buffer_); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  void* data() const { return buffer_.buf; }

 private:
  Py_buffer buffer_;
};

// Images that differ in their values only. Python has checked one of them: its layout, and how it is to be
// labelled with labels of int32 and no batch.
class ImageKind {
 public:
  ImageKind(const LinkRule& links, const Grid& grid, bool consecutive)
      : links_(links), grid_(grid), consecutive_(consecutive) {}

  int64_t label(nb::handle image, nb::handle labels) const {
    const HeldMemory values(image, PyBUF_STRIDES), filled(labels, PyBUF_WRITABLE);
    int64_t count = 0;
    without_gil([&] {
      label_runs(values.data(), *links_.words, grid_, consecutive_, static_cast<int32_t*>(filled.data()),
                 &count);
    });
    return count;
  }

 private:
  const LinkRule links_;
  const Grid grid_;
  const bool consecutive_;
};

}  // namespace

void define_grid(nb::module_& m) {
  nb::class_<Grid>(m, "Grid").def(nb::new_(&grid_of), nb::arg("axes"), nb::arg("backward"),
                                  nb::arg("batch_axes"));
  nb::class_<KeptRuns>(m, "KeptRuns")
      .def(nb::new_(&keep))
      .def_prop_ro("bytes", &KeptRuns::bytes)
      .def_prop_ro("one_value", &KeptRuns::one_value)
      .def("roots", &roots_of)
      .def("write_side", &write_side)
      .def("write", &write_runs);
  m.def("write_runs_together", &write_runs_together);
  define_labels<by_runs>(m, "label_by_runs");
  nb::class_<ImageKind>(m, "ImageKind")
      .def(nb::init<const LinkRule&, const Grid&, bool>(), nb::arg("links"), nb::arg("grid"),
           nb::arg("consecutive"))
      .def("label", &ImageKind::label, nb::arg("image"), nb::arg("labels"));
}

}  // namespace conncomp
