// Labels of arrays: the papers' algorithms.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/label_array.h"
#include "cpu/papers/label_equivalence.h"
#include "cpu/papers/raster_scan.h"
#include "cpu/papers/tiles.h"

namespace conncomp {

namespace {

constexpr auto by_raster_scans = [](const auto&... task) { label_by_raster_scans(task...); };
constexpr auto by_equivalence = [](const auto&... task) { label_by_equivalence(task...); };
constexpr auto by_tiles = [](const auto& data, const auto& rule, const Grid& grid, bool consecutive,
                             auto* labels, int64_t* counts, int local, int merge, int64_t side) {
  const TileOptions options{TileLabelling(local), TileMerging(merge), side};
  label_by_tiles(data, rule, grid, consecutive, labels, counts, options);
};

}  // namespace

void define_grid_papers(nb::module_& m) {
  define_labels<by_raster_scans>(m, "label_by_raster_scans");
  define_labels<by_equivalence>(m, "label_by_equivalence");
  define_labels<by_tiles, int, int, int64_t>(m, "label_by_tiles");
}

}  // namespace conncomp
