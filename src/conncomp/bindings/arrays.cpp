// Arrays, whatever is in them: extremes, counts, memory, and the lines of pictures.
#include <cstdint>
#include <utility>

#include "bindings/bindings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/byte_counts.h"
#include "cpu/core/extremes.h"
#include "cpu/files/png_filters.h"

namespace conncomp {

namespace {

std::pair<int64_t, int64_t> extremes_of(AnyVector values) {
  if (values.size() == 0) throw nb::value_error("there is no smallest of no numbers");
  return with_integers(values, [&](const auto* data) -> std::pair<int64_t, int64_t> {
    return without_gil([&] { return extremes(data, int64_t(values.size())); });
  });
}

// Adds to counts, of 256 entries, how often each byte occurs.
void byte_counts(Vector<const uint8_t> values, Vector<int64_t> counts) {
  if (counts.size() != size_t(kBytes)) throw nb::value_error("counts are those of 256 bytes");
  without_gil([&] {
    count_bytes(values.data(), int64_t(values.size()), counts.data());
    return 0;
  });
}

// Memory for a large array, from the memory that is kept, where it goes again with the array.
nb::object empty_bytes(int64_t count) { return give_away(Buffer<uint8_t>(count), count); }

// Fills the bytes of an image, of pixels of `step`, from its lines; returns whether these are of PNG.
bool write_png_lines(Vector<const uint8_t> lines, int64_t height, int64_t step, Vector<uint8_t> image) {
  const int64_t bytes = height > 0 ? int64_t(image.size()) / height : 0;
  if (height < 1 || step < 1 || bytes < 1 || bytes * height != int64_t(image.size()) ||
      image.size() + size_t(height) != lines.size())
    throw nb::value_error("lines have a byte more than those of the image");
  return without_gil([&] { return PngLines(bytes, step).write(lines.data(), height, image.data()); });
}

}  // namespace

void define_arrays(nb::module_& m) {
  m.def("extremes", &extremes_of);
  m.def("count_bytes", &byte_counts);
  m.def("empty_bytes", &empty_bytes);
  m.def("write_png_lines", &write_png_lines);
}

}  // namespace conncomp
