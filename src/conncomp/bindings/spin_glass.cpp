// Spin glasses. Arrays have the shapes that models/spin_glass/model.py gives them, flattened.
#include "cpu/models/spin_glass.h"

#include "bindings/bindings.h"

namespace conncomp {

namespace {

using Words = Vector<Bits64>;
using ConstWords = Vector<const Bits64>;
using Numbers = Vector<const int32_t>;

GlassCouplings couplings_of(const Numbers& couplings, const std::optional<Numbers>& fields) {
  return {couplings.data(), data_or_null(fields)};
}

}

void define_spin_glass(nb::module_& m) {
  nb::class_<SpinGlassEngine>(m, "SpinGlassEngine")
      .def(
          "__init__", [](SpinGlassEngine* self, nb::bytes replicas,
                          int axes) { new (self) SpinGlassEngine(struct_of<GlassReplicas>(replicas), axes); })
      .def("start", unlocked(&SpinGlassEngine::start))
      .def("compare_pairs",
          [](const SpinGlassEngine& engine, ConstWords words, Numbers pairs, Vector<uint8_t> differ) {
            const int64_t count = int64_t(pairs.size()) / 2;
            without_gil([&] { engine.compare_pairs(words.data(), pairs.data(), count, differ.data()); });
          })
      .def("flip_pairs", unlocked(&SpinGlassEngine::flip_pairs))
      .def(
          "sweep_bits",
          [](const SpinGlassEngine& engine, Words words, uint32_t step, ConstWords negatives,
              const std::optional<ConstWords>& bonds, ConstWords table) {
            without_gil([&] {
              engine.sweep_bits(words.data(), step, {negatives.data(), data_or_null(bonds), table.data()});
            });
          },
          nb::arg("words"), nb::arg("step"), nb::arg("negatives"), nb::arg("bonds").none(), nb::arg("table"))
      .def(
          "sweep_numbers",
          [](const SpinGlassEngine& engine, Words words, uint32_t step, Numbers couplings,
              const std::optional<Numbers>& fields, Vector<const Bits32> temperatures,
              Vector<const Bits32> logarithm) {
            without_gil([&] {
              engine.sweep_numbers(words.data(), step,
                  {couplings_of(couplings, fields),
                      reinterpret_cast<const GlassTemperature*>(temperatures.data()), {logarithm.data()}});
            });
          },
          nb::arg("words"), nb::arg("step"), nb::arg("couplings"), nb::arg("fields").none(),
          nb::arg("temperatures"), nb::arg("logarithm"))
      .def(
          "count_bits",
          [](const SpinGlassEngine& engine, ConstWords words, ConstWords negatives,
              const std::optional<ConstWords>& bonds, Vector<int64_t> record) {
            without_gil([&] {
              engine.count_bits(
                  words.data(), {negatives.data(), data_or_null(bonds), nullptr}, record.data());
            });
          },
          nb::arg("words"), nb::arg("negatives"), nb::arg("bonds").none(), nb::arg("record"))
      .def(
          "count_numbers",
          [](const SpinGlassEngine& engine, ConstWords words, Numbers couplings,
              const std::optional<Numbers>& fields, Vector<int64_t> record) {
            without_gil(
                [&] { engine.count_numbers(words.data(), couplings_of(couplings, fields), record.data()); });
          },
          nb::arg("words"), nb::arg("couplings"), nb::arg("fields").none(), nb::arg("record"));
}

}
