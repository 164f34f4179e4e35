// Models on any edges. Arrays have the shapes that models/on_edges/cpu.py gives them, flattened.
#include "cpu/models/edge_spins.h"
#include "cpu/models/vertex_classes.h"

#include <bit>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.h"

using namespace nb::literals;

namespace conncomp {

namespace {

using Numbers = Vector<const int32_t>;
using Temperatures = Vector<const Bits32>;
using Record = std::optional<Vector<int64_t>>;

const int32_t* data_or_null(const std::optional<Numbers>& array) { return array ? array->data() : nullptr; }

// An engine with the arrays that it reads.
template <class Kind>
struct HeldEdges {
  Numbers u, v;
  std::optional<Numbers> coupling, field;
  EdgeEngine<Kind> engine;

  HeldEdges(const Replicas& replicas, Numbers u, Numbers v, std::optional<Numbers> coupling,
            std::optional<Numbers> field)
      : u(u),
        v(v),
        coupling(coupling),
        field(field),
        engine(replicas,
               {int64_t(u.size()), u.data(), v.data(), data_or_null(coupling), data_or_null(field)}) {}
};

// Spins may be structs, of which arrays have the numbers.
template <class Spin>
using Number = std::conditional_t<std::is_class_v<Spin>, int32_t, Spin>;

// What draws by temperatures and the table of logarithms.
template <class Spin>
EdgeUpdate<Spin> drawn_update(const Number<Spin>* spins, uint32_t step, Temperatures temperatures,
                              Temperatures logarithm, const Record& record) {
  return {reinterpret_cast<const Spin*>(spins),
          step,
          reinterpret_cast<const GlassTemperature*>(temperatures.data()),
          {logarithm.data()},
          record ? record->data() : nullptr};
}

template <class Kind>
nb::class_<HeldEdges<Kind>> define_kind(nb::module_& m, const char* name) {
  using Held = HeldEdges<Kind>;
  using Spin = typename Kind::Spin;
  using Spins = Vector<Number<Spin>>;
  using ConstSpins = Vector<const Number<Spin>>;
  return nb::class_<Held>(m, name)
      .def(
          "__init__",
          [](Held* self, int64_t vertices, int states, uint64_t seed, uint64_t first_replica, int64_t replicas,
             Numbers u, Numbers v, std::optional<Numbers> coupling, std::optional<Numbers> field) {
            const int planes = std::bit_width(unsigned(states - 1));
            const Lattice lattice{{1, 1, 1, vertices}, 0, states, planes};
            new (self) Held({lattice, seed, first_replica, replicas}, u, v, coupling, field);
          },
          "vertices"_a, "states"_a, "seed"_a, "first_replica"_a, "replicas"_a, "u"_a, "v"_a,
          "coupling"_a.none(), "field"_a.none())
      .def("count",
           [](const Held& edges, ConstSpins spins, Vector<int64_t> record) {
             const auto* const given = reinterpret_cast<const Spin*>(spins.data());
             without_gil([&] { edges.engine.count({given, 0, nullptr, {nullptr}, record.data()}); });
           })
      .def("bonds",
           [](const Held& edges, ConstSpins spins, uint32_t step, Temperatures temperatures,
              Temperatures logarithm, Vector<uint8_t> active) {
             const auto update = drawn_update<Spin>(spins.data(), step, temperatures, logarithm, std::nullopt);
             without_gil([&] { edges.engine.bonds(update, active.data()); });
           })
      .def(
          "update",
          [](Held& edges, ConstSpins spins, Spins new_spins, uint32_t step, Temperatures temperatures,
             Temperatures logarithm, bool chosen, const Record& record, bool clusters) {
            std::optional<EdgeForest> memory = edges.engine.take_memory();
            const auto update = drawn_update<Spin>(spins.data(), step, temperatures, logarithm, record);
            auto* const to = reinterpret_cast<Spin*>(new_spins.data());
            without_gil([&] { edges.engine.update(memory, update, to, chosen, clusters); });
            edges.engine.give_back(std::move(memory));
          },
          "spins"_a, "new_spins"_a, "step"_a, "temperatures"_a, "logarithm"_a, "chosen"_a, "record"_a.none(),
          "clusters"_a);
}

template <class Vectors>
void define_vectors(nb::module_& m, const char* name) {
  using Held = HeldEdges<Embedded<Vectors>>;
  using Spin = typename Vectors::Spin;
  using Spins = Vector<Number<Spin>>;
  define_kind<Embedded<Vectors>>(m, name)
      .def("start",
           [](const Held& edges, Spins spins) {
             auto* const to = reinterpret_cast<Spin*>(spins.data());
             without_gil([&] { edges.engine.start(to); });
           })
      // In place, class after class of vertices: those of class k are order[bounds[k]], ..., before the next.
      .def(
          "offer",
          [](const Held& edges, Spins spins, uint32_t step, Temperatures temperatures, Temperatures logarithm,
             Vector<const int64_t> begin, Numbers to, std::optional<Numbers> coupling, Numbers order,
             const std::vector<int64_t>& bounds) {
            auto* const given = reinterpret_cast<Spin*>(spins.data());
            const auto update = drawn_update<Spin>(spins.data(), step, temperatures, logarithm, std::nullopt);
            const EdgeArcs arcs{begin.data(), to.data(), data_or_null(coupling)};
            without_gil([&] {
              for (size_t k = 0; k + 1 < bounds.size(); ++k)
                edges.engine.offer(update, arcs, {order.data() + bounds[k], bounds[k + 1] - bounds[k]}, given);
            });
          },
          "spins"_a, "step"_a, "temperatures"_a, "logarithm"_a, "begin"_a, "to"_a, "coupling"_a.none(),
          "order"_a, "bounds"_a);
}

}  // namespace

void define_edge_spins(nb::module_& m) {
  define_kind<UpDown>(m, "UpDownEdges");
  define_kind<States>(m, "StatesEdges");
  define_vectors<OfLattices<Angle>>(m, "AngleEdges");
  define_vectors<OfLattices<UnitVector>>(m, "UnitVectorEdges");
  define_vectors<Hours>(m, "HoursEdges");
  define_vectors<Components<4>>(m, "Components4Edges");
  define_vectors<Components<8>>(m, "Components8Edges");
  m.def("classify_vertices", [](Vector<const int64_t> begin, Numbers to, Vector<int32_t> class_of) {
    return without_gil([&] {
      return classify_vertices({begin.data(), to.data(), nullptr}, int64_t(class_of.size()), class_of.data());
    });
  });
}

}  // namespace conncomp
