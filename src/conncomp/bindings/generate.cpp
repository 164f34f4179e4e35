// Random numbers, and graphs made of them.
#include <array>
#include <cstdint>
#include <type_traits>

#include "bindings/bindings.h"
#include "core/philox.h"
#include "cpu/generate/fill.h"
#include "cpu/generate/rmat.h"

namespace conncomp {

namespace {

template <class Bits>
void random_bits(uint64_t seed, uint32_t purpose, int64_t start, Vector<Bits> out) {
  using Drawn = std::conditional_t<sizeof(Bits) == 4, Bits32, Bits64>;
  without_gil([&] {
    fill_random<Drawn>(seed, purpose, start, int64_t(out.size()), out.data(),
                       [](Drawn bits, int64_t) { return bits; });
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
void random_below(uint64_t seed, uint32_t purpose, int64_t start, Vector<const int64_t> high,
                  Vector<Integer> out) {
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

template <class Index>
void define_generators(nb::module_& m) {
  m.def("random_below", &random_below<Index>);
  m.def("rmat_edges", &rmat_edges<Index>);
}

}  // namespace

void define_generate(nb::module_& m) {
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

}  // namespace conncomp
