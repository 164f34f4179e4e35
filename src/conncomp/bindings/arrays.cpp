// Arrays, whatever is in them: extremes, and memory.
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"

namespace conncomp {

namespace {

template <class T>
std::pair<T, T> extremes_of(Vector<const T> values) {
  if (values.size() == 0) throw nb::value_error("there is no smallest of no numbers");
  return without_gil([&] { return extremes(values.data(), int64_t(values.size())); });
}

// Memory for a large array, from the memory that is kept, where it goes again with the array.
nb::object empty_bytes(int64_t count) { return give_away(Buffer<uint8_t>(count), count); }

}  // namespace

void define_arrays(nb::module_& m) {
  m.def("extremes", &extremes_of<int32_t>);
  m.def("extremes", &extremes_of<int64_t>);
  m.def("empty_bytes", &empty_bytes);
}

}  // namespace conncomp
