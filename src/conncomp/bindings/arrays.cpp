// Arrays: random numbers, extremes, counts, memory, and the lines of pictures.

#include "bindings/bindings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"
#include "cpu/files/png_filters.h"
#include "cpu/generate/fill.h"

namespace conncomp {

namespace {

std::pair<int64_t, int64_t> extremes_of(AnyVector values) {
  if (values.size() == 0) throw nb::value_error("there is no smallest of no numbers");
  return with_integers(values, [&](const auto* data) -> std::pair<int64_t, int64_t> {
    return without_gil([&] { return extremes(data, int64_t(values.size())); });
  });
}

void byte_counts(Vector<const uint8_t> values, Vector<int64_t> counts) {
  if (counts.size() != size_t(kBytes)) throw nb::value_error("counts are those of 256 bytes");
  without_gil([&] {
    count_bytes(values.data(), int64_t(values.size()), counts.data());
    return 0;
  });
}

// Memory for a large array, from the kept memory, where it returns with the array.
nb::object empty_bytes(int64_t count) { return give_away(Buffer<uint8_t>(count), count); }

// Fills the bytes of an image, of pixels of `step`, from its lines; returns whether these are of PNG.
bool write_png_lines(Vector<const uint8_t> lines, int64_t height, int64_t step, Vector<uint8_t> image) {
  const int64_t bytes = height > 0 ? int64_t(image.size()) / height : 0;
  if (height < 1 || step < 1 || bytes < 1 || bytes * height != int64_t(image.size()) ||
      image.size() + size_t(height) != lines.size())
    throw nb::value_error("lines have a byte more than those of the image");
  return without_gil([&] { return PngLines(bytes, step).write(lines.data(), height, image.data()); });
}

template <class Bits> void random_bits(uint64_t seed, uint32_t purpose, int64_t start, Vector<Bits> out) {
  using Drawn = std::conditional_t<sizeof(Bits) == 4, Bits32, Bits64>;
  without_gil([&] {
    fill_random<Drawn>(
        seed, purpose, start, int64_t(out.size()), out.data(), [](Drawn bits, int64_t) { return bits; });
  });
}

template <class Bits, class Real>
void random_uniform(uint64_t seed, uint32_t purpose, int64_t start, Vector<Real> out) {
  without_gil([&] {
    fill_random<Bits>(seed, purpose, start, int64_t(out.size()), out.data(),
        [](Bits bits, int64_t) { return unit_interval(bits); });
  });
}

// `high` has an entry for each of `out`, or one for all.
template <class Integer>
void random_below(
    uint64_t seed, uint32_t purpose, int64_t start, Vector<const int64_t> high, Vector<Integer> out) {
  const int64_t* highs = high.data();
  const int64_t step = high.size() > 1;
  without_gil([&] {
    fill_random<Bits64>(seed, purpose, start, int64_t(out.size()), out.data(),
        [&](Bits64 bits, int64_t k) { return below(bits, Bits64(highs[k * step])); });
  });
}

template <class Vertex>
void rmat_edges(uint64_t seed, uint32_t purpose, int scale, std::array<uint64_t, 3> thresholds,
    Vector<Vertex> src, Vector<Vertex> dst) {
  const Bits64 below[] = {thresholds[0], thresholds[1], thresholds[2]};
  without_gil([&] { rmat(seed, purpose, scale, below, int64_t(src.size()), src.data(), dst.data()); });
}

template <class Index> void define_generators(nb::module_& m) {
  m.def("random_below", &random_below<Index>);
  m.def("rmat_edges", &rmat_edges<Index>);
}

}

void define_arrays(nb::module_& m) {
  m.def("extremes", &extremes_of);
  m.def("count_bytes", &byte_counts);
  m.def("empty_bytes", &empty_bytes);
  m.def("write_png_lines", &write_png_lines);
  define_generators<int32_t>(m);
  define_generators<int64_t>(m);
  m.def("philox", [](uint64_t seed, std::array<uint32_t, 4> counter) {
    const auto [w] = philox(seed, PhiloxBlock{{counter[0], counter[1], counter[2], counter[3]}});
    return std::array<uint32_t, 4>{w[0], w[1], w[2], w[3]};
  });
  m.def("random_bits", &random_bits<uint32_t>);
  m.def("random_bits", &random_bits<uint64_t>);
  m.def("random_uniform", &random_uniform<Bits32, float>);
  m.def("random_uniform", &random_uniform<Bits64, double>);
}

}
