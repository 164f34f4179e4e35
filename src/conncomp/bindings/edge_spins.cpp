// Models on any edges, and structure factors. Arrays are as models/spins and observables have them, flat.
#include "cpu/models/edge_spins.h"

#include "bindings/bindings.h"
#include "cpu/models/structure.h"

using namespace nb::literals;

namespace conncomp {

namespace {

using Numbers = Vector<const int32_t>;
using Temperatures = Vector<const Bits32>;
using Record = std::optional<Vector<int64_t>>;

std::unique_ptr<const EdgeSpins> spins_of(const std::string& kind, const Lattice& lattice) {
  if (kind == "UpDown") return std::make_unique<EdgeSpinsOf<UpDown>>(lattice);
  if (kind == "States") return std::make_unique<EdgeSpinsOf<States>>(lattice);
  if (kind == "TwoStates") return std::make_unique<EdgeSpinsOf<TwoStates>>(lattice);
  if (kind == "Angle") return std::make_unique<EdgeSpinsOf<Embedded<OfLattices<Angle>>>>(lattice);
  if (kind == "UnitVector") return std::make_unique<EdgeSpinsOf<Embedded<OfLattices<UnitVector>>>>(lattice);
  if (kind == "Hours") return std::make_unique<EdgeSpinsOf<Embedded<Hours>>>(lattice);
  if (kind == "Components4") return std::make_unique<EdgeSpinsOf<Embedded<Components<4>>>>(lattice);
  if (kind == "Components8") return std::make_unique<EdgeSpinsOf<Embedded<Components<8>>>>(lattice);
  throw nb::value_error("there are no such spins");
}

struct HeldEdges {
  Numbers u, v;
  std::optional<Numbers> coupling, field;
  EdgeEngine engine;

  HeldEdges(const LatticeReplicas& replicas, const std::string& kind, Numbers u, Numbers v,
      std::optional<Numbers> coupling, std::optional<Numbers> field)
      : u(u),
        v(v),
        coupling(coupling),
        field(field),
        engine(replicas, {int64_t(u.size()), u.data(), v.data(), data_or_null(coupling), data_or_null(field)},
            spins_of(kind, replicas.lattice)) {}
};

EdgeUpdate drawn_update(const void* spins, uint32_t step, Temperatures temperatures, Temperatures logarithm,
    const Record& record) {
  return {spins, step, reinterpret_cast<const GlassTemperature*>(temperatures.data()), {logarithm.data()},
      data_or_null(record)};
}

struct HeldStructure {
  Vector<const int32_t> phases;
  std::unique_ptr<const StructureSums> sums;
};

// `lattice` and `waves` are bytes of structs; the latter has addresses in `phases`, which is kept.
void make_structure(HeldStructure* self, const std::string& kind, nb::bytes lattice, nb::bytes waves,
    Vector<const int32_t> phases, uint64_t seed, uint64_t first_replica, int64_t replicas) {
  const LatticeReplicas side_by_side{struct_of<Lattice>(lattice), seed, first_replica, replicas};
  auto sums = structure_sums(kind, side_by_side, struct_of<Waves>(waves));
  if (sums == nullptr) throw nb::value_error("there are no such spins");
  new (self) HeldStructure{phases, std::move(sums)};
}

}

void define_edge_spins(nb::module_& m) {
  nb::class_<HeldEdges>(m, "EdgeEngine")
      .def(
          "__init__",
          [](HeldEdges* self, const std::string& kind, int64_t vertices, int states, uint64_t seed,
              uint64_t first_replica, int64_t replicas, Numbers u, Numbers v, std::optional<Numbers> coupling,
              std::optional<Numbers> field) {
            const int planes = std::bit_width(unsigned(states - 1));
            const Lattice lattice{{1, 1, 1, vertices}, 0, states, planes};
            new (self) HeldEdges({lattice, seed, first_replica, replicas}, kind, u, v, coupling, field);
          },
          "kind"_a, "vertices"_a, "states"_a, "seed"_a, "first_replica"_a, "replicas"_a, "u"_a, "v"_a,
          "coupling"_a.none(), "field"_a.none())
      .def("start", [](const HeldEdges& edges,
                        FilledVector spins) { without_gil([&] { edges.engine.start(spins.data()); }); })
      .def("count",
          [](const HeldEdges& edges, AnyVector spins, Vector<int64_t> record) {
            without_gil([&] { edges.engine.count({spins.data(), 0, nullptr, {nullptr}, record.data()}); });
          })
      .def("bonds",
          [](const HeldEdges& edges, AnyVector spins, uint32_t step, Temperatures temperatures,
              Temperatures logarithm, Vector<uint8_t> active) {
            const EdgeUpdate update = drawn_update(spins.data(), step, temperatures, logarithm, std::nullopt);
            without_gil([&] { edges.engine.bonds(update, active.data()); });
          })
      .def(
          "update",
          [](HeldEdges& edges, AnyVector spins, FilledVector new_spins, uint32_t step,
              Temperatures temperatures, Temperatures logarithm, bool chosen, const Record& record,
              bool clusters) {
            const EdgeUpdate update = drawn_update(spins.data(), step, temperatures, logarithm, record);
            with_memory(edges.engine, [&](std::optional<EdgeForest>& memory) {
              edges.engine.update(memory, update, new_spins.data(), chosen, clusters);
            });
          },
          "spins"_a, "new_spins"_a, "step"_a, "temperatures"_a, "logarithm"_a, "chosen"_a, "record"_a.none(),
          "clusters"_a)
      // In place, class after class of vertices: those of class k are order[bounds[k]], ..., before the next.
      .def(
          "offer",
          [](const HeldEdges& edges, FilledVector spins, uint32_t step, Temperatures temperatures,
              Temperatures logarithm, int32_t rule, Vector<const int64_t> begin, Numbers to,
              std::optional<Numbers> coupling, Numbers order, const std::vector<int64_t>& bounds) {
            const EdgeUpdate update = drawn_update(nullptr, step, temperatures, logarithm, std::nullopt);
            const EdgeArcs arcs{begin.data(), to.data(), data_or_null(coupling)};
            without_gil([&] {
              for (size_t k = 0; k + 1 < bounds.size(); ++k)
                edges.engine.offer(update, arcs, GlassRule(rule),
                    {order.data() + bounds[k], bounds[k + 1] - bounds[k]}, spins.data());
            });
          },
          "spins"_a, "step"_a, "temperatures"_a, "logarithm"_a, "rule"_a, "begin"_a, "to"_a,
          "coupling"_a.none(), "order"_a, "bounds"_a);
  m.def("classify_vertices", [](Vector<const int64_t> begin, Numbers to, Vector<int32_t> class_of) {
    return without_gil([&] {
      return classify_vertices({begin.data(), to.data(), nullptr}, int64_t(class_of.size()), class_of.data());
    });
  });
  m.def("label_edges", [](int64_t items, Vector<const int32_t> u, Vector<const int32_t> v,
                           Vector<const uint8_t> active, Vector<int32_t> label) {
    const ActiveEdges edges{
        items, int64_t(label.size()) / items, int64_t(u.size()), u.data(), v.data(), active.data()};
    without_gil([&] { edges.label(label.data()); });
  });
  nb::class_<HeldStructure>(m, "StructureSums")
      .def("__init__", &make_structure)
      .def("count",
          [](const HeldStructure& held, AnyVector spins, Vector<int64_t> sums) {
            without_gil([&] { held.sums->count(spins.data(), sums.data()); });
          })
      .def("square", [](const HeldStructure& held, AnyVector spins, uint32_t step,
                         Vector<const int32_t> label, Vector<int64_t> limbs) {
        without_gil([&] { held.sums->square(spins.data(), step, label.data(), limbs.data()); });
      });
}

}
