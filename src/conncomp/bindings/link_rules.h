// Link rules and arrays as arguments of functions that are bound for each algorithm.
#pragma once

#include "bindings/bindings.h"
#include "cpu/core/numbering.h"
#include "cpu/grid/link_words.h"
#include "cpu/grid/offsets.h"

namespace conncomp {

// Applies a rule of core/links.h. Python keeps it; calls of several threads read it.
struct LinkRule {
  std::shared_ptr<const LinkWords> words;
};

// Labels by a callable, which is given up after so many seconds.
template <auto by, class Index, class... Options>
void label_array(uintptr_t data, const LinkRule& links, const Grid& grid, bool consecutive, Vector<Index> out,
    Vector<int64_t> counts, double seconds, Options... options) {
  without_gil(
      [&] {
        by(reinterpret_cast<const void*>(data), *links.words, grid, Naming(consecutive), out.data(),
            counts.data(), options...);
      },
      seconds);
}

template <auto by, class... Options> void define_labels(nb::module_& m, const char* name) {
  m.def(name, &label_array<by, int32_t, Options...>);
  m.def(name, &label_array<by, int64_t, Options...>);
}

}
