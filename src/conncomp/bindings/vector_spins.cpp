// The XY and the Heisenberg model. Arrays have the shapes of models/spins/cpu.py, flattened.
#include "cpu/models/vector_spins.h"

#include "bindings/bindings.h"

namespace conncomp {

namespace {

using Words = Vector<Bits64>;
using Edges = std::array<int64_t, kLatticeAxes>;
using Record = std::optional<Vector<int64_t>>;

template <class Kind> void define_kind(nb::module_& m, const char* name) {
  using Engine = VectorEngine<Kind>;
  using Spins = Vector<typename Kind::Spin>;
  using ConstSpins = Vector<const typename Kind::Spin>;
  using Strengths = Vector<const Bits32>;
  const auto update_of = [](ConstSpins spins, uint32_t step, Strengths strengths) {
    return
        typename Engine::Update{spins.data(), step, reinterpret_cast<const BondStrength*>(strengths.data())};
  };
  nb::class_<Engine>(m, name)
      .def("__init__",
          [](Engine* self, const Edges& length, int periodic, int axes, bool negative, uint64_t seed,
              uint64_t first_replica, int64_t replicas) {
            Lattice lattice{{}, periodic, 2, 1};
            std::copy(length.begin(), length.end(), lattice.length);
            new (self) Engine({lattice, seed, first_replica, replicas}, axes, negative);
          })
      .def("start", unlocked(&Engine::start))
      .def("count", unlocked(&Engine::count))
      .def("bonds",
          [=](const Engine& engine, ConstSpins spins, uint32_t step, Strengths strengths, Words out) {
            without_gil([&] { engine.bonds(update_of(spins, step, strengths), out.data()); });
          })
      .def(
          "update",
          [=](Engine& engine, ConstSpins spins, Spins new_spins, uint32_t step, Strengths strengths, bool one,
              const Record& sizes, const Record& projected) {
            const auto update = update_of(spins, step, strengths);
            with_memory(engine, [&](VectorMemory& memory) {
              if (one)
                engine.reflect_one(memory, update, new_spins.data());
              else
                engine.reflect_clusters(
                    memory, update, new_spins.data(), {data_or_null(sizes), data_or_null(projected)});
            });
          },
          nb::arg("spins"), nb::arg("new_spins"), nb::arg("step"), nb::arg("strengths"), nb::arg("one"),
          nb::arg("sizes").none(), nb::arg("projected").none());
}

}

void define_vector_spins(nb::module_& m) {
  define_kind<Angle>(m, "AngleEngine");
  define_kind<UnitVector>(m, "UnitVectorEngine");
}

}
