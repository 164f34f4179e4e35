// The Ising model on any edges. Arrays have the shapes that models/ising/on_edges/cpu.py gives them,
// flattened.
#include "cpu/models/edge_spins.h"

#include <optional>
#include <utility>

#include "bindings/bindings.h"

using namespace nb::literals;

namespace conncomp {

namespace {

using Words = Vector<Bits64>;
using ConstWords = Vector<const Bits64>;
using Numbers = Vector<const int32_t>;
using Temperatures = Vector<const Bits32>;
using Record = std::optional<Vector<int64_t>>;

// An engine with the arrays that it reads.
struct HeldEdges {
  Numbers u, v;
  std::optional<Numbers> coupling, field;
  EdgeEngine engine;

  HeldEdges(const Replicas& replicas, Numbers u, Numbers v, std::optional<Numbers> coupling,
            std::optional<Numbers> field)
      : u(u),
        v(v),
        coupling(coupling),
        field(field),
        engine(replicas,
               {int64_t(u.size()), u.data(), v.data(), data_or_null(coupling), data_or_null(field)}) {}

  static const int32_t* data_or_null(const std::optional<Numbers>& array) {
    return array ? array->data() : nullptr;
  }
};

// What draws by temperatures and the table of logarithms.
EdgeUpdate drawn_update(ConstWords words, uint32_t step, Temperatures temperatures, Temperatures logarithm,
                        const Record& record) {
  return {words.data(),
          step,
          reinterpret_cast<const GlassTemperature*>(temperatures.data()),
          {logarithm.data()},
          record ? record->data() : nullptr};
}

}  // namespace

void define_edge_spins(nb::module_& m) {
  nb::class_<HeldEdges>(m, "EdgeEngine")
      .def(
          "__init__",
          [](HeldEdges* self, int64_t vertices, uint64_t seed, uint64_t first_replica, int64_t replicas,
             Numbers u, Numbers v, std::optional<Numbers> coupling, std::optional<Numbers> field) {
            const Lattice lattice{{1, 1, 1, vertices}, 0, 2, 1};
            new (self) HeldEdges({lattice, seed, first_replica, replicas}, u, v, coupling, field);
          },
          "vertices"_a, "seed"_a, "first_replica"_a, "replicas"_a, "u"_a, "v"_a, "coupling"_a.none(),
          "field"_a.none())
      .def("count",
           [](const HeldEdges& edges, ConstWords words, Vector<int64_t> record) {
             without_gil([&] { edges.engine.count({words.data(), 0, nullptr, {nullptr}, record.data()}); });
           })
      .def("bonds",
           [](const HeldEdges& edges, ConstWords words, uint32_t step, Temperatures temperatures,
              Temperatures logarithm, Vector<uint8_t> active) {
             const EdgeUpdate update = drawn_update(words, step, temperatures, logarithm, std::nullopt);
             without_gil([&] { edges.engine.bonds(update, active.data()); });
           })
      .def(
          "update",
          [](HeldEdges& edges, ConstWords words, Words new_words, uint32_t step, Temperatures temperatures,
             Temperatures logarithm, bool chosen, const Record& record, bool clusters) {
            std::optional<EdgeForest> memory = edges.engine.take_memory();
            const EdgeUpdate update = drawn_update(words, step, temperatures, logarithm, record);
            without_gil([&] { edges.engine.update(memory, update, new_words.data(), chosen, clusters); });
            edges.engine.give_back(std::move(memory));
          },
          "words"_a, "new_words"_a, "step"_a, "temperatures"_a, "logarithm"_a, "chosen"_a, "record"_a.none(),
          "clusters"_a);
}

}  // namespace conncomp
