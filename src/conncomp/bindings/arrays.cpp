// Arrays, whatever is in them: extremes, and memory.
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"

namespace conncomp {

namespace {

std::pair<int64_t, int64_t> extremes_of(AnyVector values) {
  if (values.size() == 0) throw nb::value_error("there is no smallest of no numbers");
  return with_integers(values, [&](const auto* data) -> std::pair<int64_t, int64_t> {
    return without_gil([&] { return extremes(data, int64_t(values.size())); });
  });
}

// Memory for a large array, from the memory that is kept, where it goes again with the array.
nb::object empty_bytes(int64_t count) { return give_away(Buffer<uint8_t>(count), count); }

}  // namespace

void define_arrays(nb::module_& m) {
  m.def("extremes", &extremes_of);
  m.def("empty_bytes", &empty_bytes);
}

}  // namespace conncomp
