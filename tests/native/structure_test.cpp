// Structure factors and labels of clusters, under sanitizers: any lattice, spins and bonds, by one thread and
// by several, and against a flood fill.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cpu/models/structure.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Cells along up to four axes, some of which have waves.
struct RandomWaves {
  Waves waves{};
  int64_t sites;
  std::vector<std::vector<Phase>> phases;

  RandomWaves() {
    const int axes = int(draw(1, 4));
    const int64_t longest[] = {700, 40, 12, 6};
    std::vector<int64_t> length;
    for (int k = 0; k < axes; ++k) length.push_back(draw(1, longest[axes - 1]));
    waves.cell = int32_t(draw(1, 3));
    waves.row = length.back() * waves.cell;
    int64_t stride = waves.cell;
    for (int k = axes - 1; k >= 0; stride *= length[k--]) {
      if (!draw(0, 3)) continue;
      std::vector<Phase> table;
      for (int64_t i = 0; i < length[k] * waves.cell; ++i)
        table.push_back({draw(-kOneOfStructure, kOneOfStructure), draw(-kOneOfStructure, kOneOfStructure)});
      phases.push_back(std::move(table));
      waves.wave[waves.count++] = {stride, length[k], phases.back().data()};
    }
    sites = stride;
  }
};

template <class Kind> void test_sums(const RandomWaves& of, const Lattice& lattice) {
  const LatticeReplicas replicas{lattice, generator(), Bits64(draw(0, 99)), draw(1, 3)};
  const StructureSumsOf<Kind> sums(replicas, of.waves);
  using Spin = typename Kind::Spin;
  std::vector<Spin> spins(replicas.count * Kind::length(lattice));
  for (Spin& spin : spins) {
    if constexpr (std::is_same_v<Kind, WavedStates>)
      spin = generator();
    else
      spin = Kind(lattice).vectors.start(replicas.draws(0, 0), Bits64(&spin - spins.data()));
  }
  std::vector<int32_t> label;
  for (int64_t i = 0; i < replicas.count * of.sites; ++i)
    label.push_back(int32_t(draw(0, 1) && i % of.sites ? label.back() : draw(int64_t(0), of.sites - 1)));
  const auto found = [&] {
    std::vector<int64_t> counted(replicas.count * sums.components() * of.waves.count * 2),
        limbs(replicas.count * of.waves.count * kProjectedLimbs);
    sums.count(spins.data(), counted.data());
    sums.square(spins.data(), 7, label.data(), limbs.data());
    counted.insert(counted.end(), limbs.begin(), limbs.end());
    return counted;
  };
  const std::vector<int64_t> parallel = found();
  const int threads = num_threads();
  process().wanted_threads = 1;
  check(found() == parallel, "structure factors");
  process().wanted_threads = threads;
  // Site by site.
  const Kind kind(lattice);
  const int64_t replica = draw(int64_t(0), replicas.count - 1), component = draw(0, sums.components() - 1);
  for (int k = 0; k < of.waves.count; ++k) {
    int64_t cosine = 0;
    for (int64_t site = 0; site < of.sites; ++site)
      cosine += waved(kind.value(spins.data() + replica * Kind::length(lattice), site, int(component)),
          of.waves.at(k, site).cosine);
    const int64_t place = ((replica * sums.components() + component) * of.waves.count + k) * 2;
    check(parallel[place] == cosine, "a sum of cosines");
  }
}

void test_structure() {
  const RandomWaves of;
  const Lattice row{{1, 1, 1, of.sites}, 0, 2, 1};
  switch (draw(0, 4)) {
    case 0: {
      const int states = draw(2, 9);
      Lattice rows{{1, 1, of.sites / of.waves.row, of.waves.row}, 0, states, 0};
      while (1 << rows.planes < states) ++rows.planes;
      return test_sums<WavedStates>(of, rows);
    }
    case 1:
      return test_sums<WavedVectors<OfLattices<Angle>>>(of, row);
    case 2:
      return test_sums<WavedVectors<OfLattices<UnitVector>>>(of, row);
    case 3:
      return test_sums<WavedVectors<Hours>>(of, {{1, 1, 1, of.sites}, 0, int(draw(2, 1 << 16)), 0});
    default:
      return test_sums<WavedVectors<Components<8>>>(of, {{1, 1, 1, of.sites}, 0, int(draw(5, 8)), 0});
  }
}

void test_labels() {
  const int64_t items = draw(1, 3), sites = draw(1, 3000), count = draw(0, 5000);
  std::vector<int32_t> u, v, label(items * sites);
  std::vector<uint8_t> active;
  for (int64_t k = 0; k < count; ++k) {
    u.push_back(int32_t(draw(int64_t(0), sites - 1)));
    v.push_back(int32_t(draw(int64_t(0), sites - 1)));
  }
  for (int64_t k = 0; k < items * count; ++k) active.push_back(uint8_t(draw(0, 1)));
  ActiveEdges{items, sites, count, u.data(), v.data(), active.data()}.label(label.data());
  for (int64_t item = 0; item < items; ++item) {
    std::vector<std::vector<int64_t>> beside(sites);
    for (int64_t k = 0; k < count; ++k)
      if (active[item * count + k]) {
        beside[u[k]].push_back(v[k]);
        beside[v[k]].push_back(u[k]);
      }
    const auto roots = flood_fill(
        sites, [](int64_t) { return true; },
        [&](int64_t site, auto&& visit) {
          for (const int64_t other : beside[site]) visit(other);
        });
    for (int64_t site = 0; site < sites; ++site)
      check(label[item * sites + site] == roots[site], "a label of a site");
  }
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = int(draw(1, 5));
    test_structure();
    test_labels();
  }
  std::printf("%d rounds\n", rounds);
}
