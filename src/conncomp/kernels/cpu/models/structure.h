// Structure factors on the CPU (core/structure.h), and squares over clusters, whose labels are known. Some
// hundred sites of a row at a time, whose phases lie in a table. Memory: 16 bytes a site.
#pragma once

#include <string>

#include "core/structure.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/rows.h"

namespace conncomp {

class StructureSums {
 public:
  virtual ~StructureSums() = default;
  virtual int components() const = 0;
  // Adds to `sums`, by replica, component, wave, cosine and sine.
  virtual void count(const void* spins, int64_t* sums) const = 0;
  // Adds to `limbs`, by replica and wave, squares of clusters' sums. Labels are below the number of sites.
  virtual void square(const void* spins, Bits32 step, const int32_t* label, int64_t* limbs) const = 0;
};

template <class Kind> class StructureSumsOf final : public StructureSums {
 public:
  using Spin = typename Kind::Spin;

  StructureSumsOf(const LatticeReplicas& replicas, const Waves& waves)
      : replicas_(replicas), waves_(waves), kind_(replicas.lattice) {}

  int components() const override { return Kind::components(replicas_.lattice); }

  void count(const void* spins, int64_t* sums) const override {
    for_each_some([&](int64_t replica, int64_t first, int64_t count) {
      const Spin* const own = of_replica(spins, replica);
      Phase phases[kMostWaves][kSome];
      for (int k = 0; k < waves_.count; ++k) take_phases(k, first, count, phases[k]);
      for (int component = 0; component < components(); ++component) {
        int32_t value[kSome];
        take_values(kind_, own, first, count, component, value);
        for (int k = 0; k < waves_.count; ++k) {
          int64_t cosine = 0, sine = 0;
          for (int64_t i = 0; i < count; ++i) {
            cosine += waved(value[i], phases[k][i].cosine);
            sine += waved(value[i], phases[k][i].sine);
          }
          int64_t* const sum = sums + ((replica * components() + component) * waves_.count + k) * 2;
          Concurrent::fetch_add(sum, cosine);
          Concurrent::fetch_add(sum + 1, sine);
        }
      }
    });
  }

  void square(const void* spins, Bits32 step, const int32_t* label, int64_t* limbs) const override {
    const int64_t sites = replicas_.lattice.sites();
    Buffer<int64_t> sums(2 * replicas_.count * sites);
    for (int k = 0; k < waves_.count; ++k) {
      for_each_index(2 * replicas_.count * sites, [&](int64_t i) { sums[i] = 0; });
      for_each_some([&](int64_t replica, int64_t first, int64_t count) {
        const auto mirror = kind_.mirror(replicas_.draws(replica, step));
        const Spin* const own = of_replica(spins, replica);
        Phase phases[kSome];
        take_phases(k, first, count, phases);
        const int32_t* const root = label + replica * sites + first;
        for (int64_t i = 0; i < count;) {  // those beside each other with one label
          const int32_t cluster = root[i];
          int64_t cosine = 0, sine = 0;
          for (; i < count && root[i] == cluster; ++i) {
            const int32_t value = kind_.projection(mirror, own, first + i);
            cosine += waved_in_cluster(value, phases[i].cosine);
            sine += waved_in_cluster(value, phases[i].sine);
          }
          int64_t* const sum = sums.data() + 2 * (replica * sites + cluster);
          Concurrent::fetch_add(sum, cosine);
          Concurrent::fetch_add(sum + 1, sine);
        }
      });
      for_each_some([&](int64_t replica, int64_t first, int64_t count) {
        int64_t own[kProjectedLimbs] = {};
        for (int64_t i = 2 * (replica * sites + first); count > 0; --count, i += 2) {
          add_square(sums[i], own);
          add_square(sums[i + 1], own);
        }
        for (int limb = 0; limb < kProjectedLimbs; ++limb)
          Concurrent::fetch_add(limbs + (replica * waves_.count + k) * kProjectedLimbs + limb, own[limb]);
      });
    }
  }

 private:
  static constexpr int64_t kSome = 512;

  const Spin* of_replica(const void* spins, int64_t replica) const {
    return static_cast<const Spin*>(spins) + replica * Kind::length(replicas_.lattice);
  }
  void for_each_some(auto&& body) const {
    const int64_t sites = replicas_.lattice.sites();
    const Parts parts(sites, kGrain);
    parallel_for(parts.parts * replicas_.count, [&](int64_t piece) {
      int64_t first = parts.begin(piece % parts.parts);
      const int64_t end = parts.end(piece % parts.parts);
      while (first < end) {
        const int64_t left = std::min(end - first, waves_.row - first % waves_.row),
                      count = std::min(left, kSome);
        poll(count);
        body(piece / parts.parts, first, count);
        first += count;
      }
    });
  }
  static void take_values(const WavedStates& kind, const Bits64* spins, int64_t first, int64_t count,
      int component, int32_t* value) {
    const Bits64* const row = spins + kind.row_of(first);
    const int64_t place = kind.place_of(first);
    for (int64_t i = 0; i < count; ++i) value[i] = kind.value_at(row, place + i, component);
  }
  template <class Vectors>
  static void take_values(const WavedVectors<Vectors>& kind, const typename Vectors::Spin* spins,
      int64_t first, int64_t count, int component, int32_t* value) {
    for (int64_t i = 0; i < count; ++i) value[i] = kind.value(spins, first + i, component);
  }
  void take_phases(int k, int64_t first, int64_t count, Phase* phases) const {
    const Wave& wave = waves_.wave[k];
    const int32_t cell = waves_.cell;
    if (waves_.is_along_row(k)) return void(std::copy_n(wave.phases + first % waves_.row, count, phases));
    const Phase* const of_cell = wave.phases + first / wave.stride % wave.length * cell;
    int32_t site = int32_t(first % cell);
    for (int64_t i = 0; i < count; ++i) {
      phases[i] = of_cell[site];
      if (++site == cell) site = 0;
    }
  }

  const LatticeReplicas replicas_;
  const Waves waves_;
  const Kind kind_;
};

// The sums of spins of a kind, by its name; null if there is none.
inline std::unique_ptr<const StructureSums> structure_sums(
    const std::string& kind, const LatticeReplicas& replicas, const Waves& waves) {
  const auto of = [&]<class Kind>(std::type_identity<Kind>) -> std::unique_ptr<const StructureSums> {
    return std::make_unique<StructureSumsOf<Kind>>(replicas, waves);
  };
  if (kind == "States") return of(std::type_identity<WavedStates>());
  if (kind == "Angle") return of(std::type_identity<WavedVectors<OfLattices<Angle>>>());
  if (kind == "UnitVector") return of(std::type_identity<WavedVectors<OfLattices<UnitVector>>>());
  if (kind == "Hours") return of(std::type_identity<WavedVectors<Hours>>());
  if (kind == "Components4") return of(std::type_identity<WavedVectors<Components<4>>>());
  if (kind == "Components8") return of(std::type_identity<WavedVectors<Components<8>>>());
  return nullptr;
}

// Clusters of active bonds of items side by side. The label is the smallest site's. Source: ours.
struct ActiveEdges {
  int64_t items, sites, count;
  const int32_t *u, *v;
  const uint8_t* active;

  void label(int32_t* label) const {
    for_each_index(items * sites, [=, this](int64_t i) { label[i] = int32_t(i % sites); });
    const Parts bonds(count, kGrain), vertices(sites, kGrain);
    const auto unite_part = [&](int64_t piece) {
      const int64_t item = piece / bonds.parts, part = piece % bonds.parts;
      const uint8_t* const is = active + item * count;
      for_each_in(bonds.begin(part), bonds.end(part), [=, this](int64_t bond) {
        if (is[bond]) unite<Concurrent>(label + item * sites, u[bond], v[bond]);
      });
    };
    parallel_for(items * bonds.parts, unite_part, Dealing::kQueue);
    parallel_for(items * vertices.parts, [&](int64_t piece) {
      const int64_t item = piece / vertices.parts, part = piece % vertices.parts;
      for_each_in(vertices.begin(part), vertices.end(part),
          [=, this](int64_t site) { flatten_entry(label + item * sites, int32_t(site)); });
    });
  }
};

}
