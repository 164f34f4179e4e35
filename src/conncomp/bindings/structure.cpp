// Structure factors of spins. Arrays have the shapes that models/observables/structure.py gives them,
// flattened.
#include "cpu/models/structure.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "bindings/bindings.h"

namespace conncomp {

namespace {

// Sums with the tables that they read.
struct HeldStructure {
  Vector<const int32_t> phases;
  std::unique_ptr<const StructureSums> sums;
};

// `lattice` and `waves` are structs of kernels/lattice.py and kernels/structure.py, as bytes. The latter has
// addresses in `phases`, which is kept.
void make_structure(HeldStructure* self, const std::string& kind, nb::bytes lattice, nb::bytes waves,
                    Vector<const int32_t> phases, uint64_t seed, uint64_t first_replica, int64_t replicas) {
  if (lattice.size() != sizeof(Lattice) || waves.size() != sizeof(Waves))
    throw nb::value_error("lattice and waves must be structs");
  Waves of{};
  Replicas side_by_side{{}, seed, first_replica, replicas};
  std::memcpy(&of, waves.c_str(), sizeof(Waves));
  std::memcpy(&side_by_side.lattice, lattice.c_str(), sizeof(Lattice));
  auto sums = structure_sums(kind, side_by_side, of);
  if (sums == nullptr) throw nb::value_error("there are no such spins");
  new (self) HeldStructure{phases, std::move(sums)};
}

}  // namespace

void define_structure(nb::module_& m) {
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

}  // namespace conncomp
