// Arrays to label as arguments: functions with these are bound for each algorithm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/link_rules.h"
#include "cpu/grid/offsets.h"

namespace conncomp {

// Labels by a callable. The link rule is as for link_words. `axes` has a row for each: length, whether it is
// periodic, and strides as in Axis; `backward` one for each step. It is given up after so many seconds.
template <auto by, class Index, class... Options>
void label_array(uintptr_t data, const std::string& rule, const std::string& value_type,
                 std::optional<nb::bytes> background_bytes, nb::handle limit, bool is_signed,
                 const std::vector<std::pair<int64_t, int>>& bonds, Table<int64_t> axes,
                 Table<int8_t> backward, int batch_axes, bool consecutive, Vector<Index> out,
                 Vector<int64_t> counts, double seconds, Options... options) {
  Grid grid{{}, batch_axes, {}};
  for (size_t k = 0; k < axes.shape(0); ++k)
    grid.axes.push_back({axes(k, 0), axes(k, 1) != 0, axes(k, 2), axes(k, 3)});
  for (size_t i = 0; i < backward.shape(0); ++i) {
    const int8_t* step = backward.data() + i * backward.shape(1);
    grid.backward.emplace_back(step, step + backward.shape(1));
  }
  const auto links = link_words(rule, value_type, background_bytes, limit, is_signed, bonds);
  without_gil(
      [&] {
        by(reinterpret_cast<const void*>(data), *links, grid, consecutive, out.data(), counts.data(),
           options...);
      },
      seconds);
}

template <auto by, class... Options>
void define_labels(nb::module_& m, const char* name) {
  m.def(name, &label_array<by, int32_t, Options...>);
  m.def(name, &label_array<by, int64_t, Options...>);
}

}  // namespace conncomp
