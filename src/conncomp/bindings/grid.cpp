// Labels of arrays, by default and by the papers' algorithms, and windings around closed axes.

#include "bindings/image_kind.h"
#include "cpu/grid/windings.h"
#include "cpu/papers/tiles.h"

namespace conncomp {

namespace {

// `axes` has a row each: length, whether periodic, strides as in Axis; `backward` one for each step.
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

void write_side(const KeptRuns& runs, int axis, bool last, Vector<int32_t> numbers) {
  without_gil([&] { runs.write_side(axis, last, numbers.data()); });
}

// The table has an entry for each component and the background; labels are at an address.
void write_runs(const KeptRuns& runs, Vector<const int32_t> table, const std::vector<int64_t>& strides,
    uintptr_t labels) {
  without_gil([&] { runs.write(table.data(), strides, reinterpret_cast<int32_t*>(labels)); });
}

using PlacedLabels = std::tuple<const KeptRuns*, Vector<const int32_t>, std::vector<int64_t>, uintptr_t>;

void write_runs_together(const std::vector<PlacedLabels>& parts) {
  without_gil([&] {
    std::vector<std::unique_ptr<const PlacedRuns>> placed;
    for (const auto& [runs, table, strides, labels] : parts)
      placed.push_back(std::make_unique<const PlacedRuns>(
          *runs, table.data(), strides, reinterpret_cast<int32_t*>(labels)));
    write_together(placed);
  });
}

constexpr auto by_runs = [](const auto&... task) { label_runs(task...); };
constexpr auto by_raster_scans = [](const auto&... task) { label_by_raster_scans(task...); };
constexpr auto by_equivalence = [](const auto&... task) { label_by_equivalence(task...); };
constexpr auto by_tiles = [](const auto& data, const auto& rule, const Grid& grid, Naming naming,
                              auto* labels, int64_t* counts, int local, int merge, int64_t side) {
  const TileOptions options{TileLabelling(local), TileMerging(merge), side};
  label_by_tiles(data, rule, grid, naming, labels, counts, options);
};

// `seams`, `boxes`, `slots` and `lattices` are as in seams.py. Returns ArrayWindings.
nb::tuple windings_of_array(uintptr_t data, const LinkRule& links, Vector<const int64_t> seams,
    Vector<const int64_t> boxes, int64_t slots, int64_t lattices, AnyVector labels) {
  ArrayWindings windings = with_integers(labels, [&]<class Label>(const Label* label) {
    SeamArray<ElementLinks, Label> array{*reinterpret_cast<const Seams*>(seams.data()),
        reinterpret_cast<const SeamBox*>(boxes.data()), ElementLinks{*links.words},
        reinterpret_cast<const char*>(data), label};
    array.seams.item_stride *= links.words->value_bytes;
    return without_gil([&] { return find_windings(array, slots, lattices); });
  });
  return nb::make_tuple(give_away(std::move(windings.smallest)), give_away(std::move(windings.bases)),
      give_away(std::move(windings.left_out)));
}

void wind_given_bonds(Vector<const int64_t> item, Vector<const int64_t> from, Vector<const int64_t> to,
    Vector<const int8_t> along, Vector<int64_t> axes, Vector<int64_t> rank) {
  const GivenBonds bonds{int64_t(item.size()), item.data(), from.data(), to.data(), along.data()};
  without_gil([&] { wind_bonds(bonds, axes.data(), rank.data()); });
}

}

void define_grid(nb::module_& m) {
  nb::class_<Grid>(m, "Grid").def(
      nb::new_(&grid_of), nb::arg("axes"), nb::arg("backward"), nb::arg("batch_axes"));
  nb::class_<KeptRuns>(m, "KeptRuns")
      .def(nb::new_(&keep))
      .def_prop_ro("bytes", &KeptRuns::bytes)
      .def_prop_ro("one_value", &KeptRuns::one_value)
      .def("roots", [](const KeptRuns& runs) { return give_away(std::vector<int32_t>(runs.roots())); })
      .def("write_side", &write_side)
      .def("write", &write_runs);
  m.def("write_runs_together", &write_runs_together);
  define_labels<by_runs>(m, "label_by_runs");
  nb::class_<ImageKind>(m, "ImageKind")
      .def(nb::init<const LinkRule&, const Grid&, bool, std::vector<int64_t>, std::vector<int64_t>, int>(),
          nb::arg("links"), nb::arg("grid"), nb::arg("consecutive"), nb::arg("shape"), nb::arg("strides"),
          nb::arg("batch_axes"))
      .def("label", &ImageKind::label, nb::arg("image"), nb::arg("labels"));
  define_labels<by_raster_scans>(m, "label_by_raster_scans");
  define_labels<by_equivalence>(m, "label_by_equivalence");
  define_labels<by_tiles, int, int, int64_t>(m, "label_by_tiles");
  m.def("find_windings", &windings_of_array);
  m.def("wind_bonds", &wind_given_bonds);
}

}
