// Lattices and fields of models, and how they change.

#include "bindings/bindings.h"
#include "cpu/models/cahn_hilliard.h"
#include "cpu/models/cell_spins.h"
#include "cpu/models/kawasaki.h"
#include "cpu/models/percolation/percolation.h"
#include "cpu/models/potts/potts.h"

using namespace nb::literals;

namespace conncomp {

namespace {

// Arrays have the shapes that models/spins/cpu.py gives them, flattened.
using Words = Vector<Bits64>;
using ConstWords = Vector<const Bits64>;
using Record = std::optional<Vector<int64_t>>;
using Edges = std::array<int64_t, kLatticeAxes>;

// Without a tile all clusters get new states, without `flip` those with chosen sites flip for certain.
void update_potts(PottsEngine& engine, ConstWords words, Words new_words, uint32_t step,
    ConstWords probabilities, const std::optional<Edges>& tile, std::optional<uint64_t> flip,
    const Record& record, bool clusters, bool wrapping) {
  std::optional<ChoiceRule> rule;
  if (tile) {
    rule = ChoiceRule{{}, !flip, flip.value_or(0)};
    std::copy(tile->begin(), tile->end(), rule->tiles.length);
  }
  with_memory(engine, [&](PottsMemory& memory) {
    engine.update(memory, words.data(), new_words.data(), step, probabilities.data(), rule,
        data_or_null(record), {clusters, wrapping});
  });
}

void define_potts(nb::module_& m) {
  nb::class_<PottsEngine>(m, "PottsEngine")
      .def("__init__",
          [](PottsEngine* self, const Edges& length, int periodic, int states, int planes, uint64_t seed,
              uint64_t first_replica, int64_t replicas, int axes, bool serial) {
            Lattice lattice{{}, periodic, states, planes};
            std::copy(length.begin(), length.end(), lattice.length);
            new (self) PottsEngine({lattice, seed, first_replica, replicas}, axes, serial);
          })
      .def("start", unlocked(&PottsEngine::start))
      .def("bonds", unlocked(&PottsEngine::bonds))
      .def("count", unlocked(&PottsEngine::count))
      .def(
          "metropolis",
          [](const PottsEngine& engine, ConstWords words, Words new_words, uint32_t step,
              ConstWords acceptance, int most_lost, const Record& record) {
            without_gil([&] {
              engine.metropolis(
                  words.data(), new_words.data(), step, acceptance.data(), most_lost, data_or_null(record));
            });
          },
          "words"_a, "new_words"_a, "step"_a, "acceptance"_a, "most_lost"_a, "record"_a.none())
      .def("update", &update_potts, "words"_a, "new_words"_a, "step"_a, "probabilities"_a, "tile"_a.none(),
          "flip"_a.none(), "record"_a.none(), "clusters"_a, "wrapping"_a);
}

// Arrays have the shapes that models/percolation/model.py gives them, flattened.
void define_percolation(nb::module_& m) {
  using Step = std::pair<std::array<int, kLatticeAxes>, int>;
  nb::class_<PercolationLattice>(m, "PercolationLattice")
      .def("__init__",
          [](PercolationLattice* self, const Edges& length, int periodic, int axes, bool of_bonds, int cell,
              const std::vector<std::pair<int, std::vector<Step>>>& kinds) {
            Lattice lattice{{}, periodic, 2, 1};
            std::copy(length.begin(), length.end(), lattice.length);
            new (self) PercolationLattice{lattice, axes, of_bonds, cell, {}};
            for (const auto& [site, steps] : kinds) {
              ElementKind& kind = self->kinds.emplace_back(ElementKind{site, {}});
              for (const auto& [along, to] : steps) kind.steps.push_back({along, to});
            }
          })
      .def("draw",
          [](const PercolationLattice& lattice, uint64_t seed, uint64_t first_replica, int64_t replicas,
              uint32_t step, uint64_t probability, bool certain, Words out) {
            without_gil([&] {
              draw_configurations(
                  lattice, seed, first_replica, replicas, step, probability, certain, out.data());
            });
          })
      .def("measure",
          [](const PercolationLattice& lattice, int64_t replicas, ConstWords words, Vector<int64_t> records) {
            without_gil([&] { measure_configurations(lattice, replicas, words.data(), records.data()); });
          })
      .def("sweep",
          [](const PercolationLattice& lattice, uint64_t seed, int64_t first_run, int64_t runs,
              int64_t batches, int64_t begin, int64_t end, Vector<double> series, Vector<int64_t> wraps) {
            without_gil([&] {
              run_sweep(lattice, {seed, first_run, runs, batches}, {series.data(), begin, end}, wraps.data());
            });
          });
}

FieldReplicas field_replicas(
    const std::array<int64_t, kFieldAxes>& lengths, uint64_t seed, uint64_t first, int64_t count) {
  return {{lengths[0], lengths[1], lengths[2]}, seed, first, count};
}

// Fields are as models/cahn_hilliard/cpu.py has them, flattened; `lengths` are layers, rows, columns.
template <class T> void define_fields(nb::module_& m) {
  using Lengths = std::array<int64_t, kFieldAxes>;
  m.def("start_fields", [](const Lengths& lengths, uint64_t seed, uint64_t first, int64_t count, double mean,
                            double scale, Vector<T> field) {
    const FieldReplicas replicas = field_replicas(lengths, seed, first, count);
    without_gil([&] { start_fields(replicas, T(mean), T(scale), field.data()); });
  });
  m.def("advance_fields",
      [](const Lengths& lengths, uint64_t seed, uint64_t first, int64_t count, int axes,
          const std::array<double, 4>& by, uint32_t step, Vector<const T> field, Vector<T> next) {
        const FieldReplicas replicas = field_replicas(lengths, seed, first, count);
        const FieldCoefficients<T> coefficients{T(by[0]), T(by[1]), T(by[2]), T(by[3])};
        without_gil([&] {
          axes == 2 ? advance_fields<2>(replicas, coefficients, step, field.data(), next.data())
                    : advance_fields<3>(replicas, coefficients, step, field.data(), next.data());
        });
      });
  m.def("measure_fields", [](const Lengths& lengths, int64_t count, int axes, const std::array<double, 6>& by,
                              Vector<const T> field, Vector<int64_t> record) {
    const FieldReplicas replicas = field_replicas(lengths, 0, 0, count);
    const FieldGauge gauge{by[0], by[1], by[2], by[3], by[4], by[5]};
    const int64_t length = int64_t(record.size()) / count;
    without_gil([&] {
      axes == 2 ? measure_fields<2>(replicas, gauge, field.data(), record.data(), length)
                : measure_fields<3>(replicas, gauge, field.data(), record.data(), length);
    });
  });
}

void define_kawasaki(nb::module_& m) {
  nb::class_<KawasakiEngine>(m, "KawasakiEngine")
      .def("__init__",
          [](KawasakiEngine* self, nb::bytes lattice, uint64_t seed, uint64_t first_replica,
              int64_t replicas) {
            new (self) KawasakiEngine(struct_of<ExchangeLattice>(lattice), seed, first_replica, replicas);
          })
      .def("start", unlocked(&KawasakiEngine::start))
      .def("sweep", unlocked(&KawasakiEngine::sweep))
      .def("count_unsatisfied", unlocked(&KawasakiEngine::count_unsatisfied));
}

void define_cells(nb::module_& m) {
  nb::class_<CellEngine>(m, "CellEngine")
      .def("__init__",
          [](CellEngine* self, nb::bytes lattice, uint64_t seed, uint64_t first_replica, int64_t replicas) {
            new (self) CellEngine(struct_of<CellLattice>(lattice), seed, first_replica, replicas);
          })
      .def("bonds", unlocked(&CellEngine::bonds))
      .def("count", unlocked(&CellEngine::count))
      .def(
          "update",
          [](CellEngine& engine, ConstWords words, Words new_words, uint32_t step, ConstWords probabilities,
              bool chosen, const Record& record, bool clusters) {
            with_memory(engine, [&](ForestMemories& memory) {
              engine.update(memory, words.data(), new_words.data(), step, probabilities.data(), chosen,
                  data_or_null(record), clusters);
            });
          },
          "words"_a, "new_words"_a, "step"_a, "probabilities"_a, "chosen"_a, "record"_a.none(), "clusters"_a);
}

}

void define_models(nb::module_& m) {
  define_potts(m);
  define_percolation(m);
  define_fields<float>(m);
  define_fields<double>(m);
  define_kawasaki(m);
  define_cells(m);
}

}
