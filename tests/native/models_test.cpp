// Runs the updates of the models on random lattices under a sanitizer, with several threads and strips so
// small that every seam is crossed, and compares labellings, and fields with what cells give one by one.
// Built and run by test_sanitizers.py.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "cpu/models/cahn_hilliard.h"
#include "cpu/models/cell_spins.h"
#include "cpu/models/edge_spins.h"
#include "cpu/models/kawasaki.h"
#include "cpu/models/percolation/percolation.h"
#include "cpu/models/potts/potts.h"
#include "cpu/models/spin_glass.h"
#include "cpu/models/vector_spins.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

LatticeReplicas random_replicas() {
  Lattice lattice{{1, 1, 1, 1}, 0, int32_t(draw(0, 1) ? 2 : draw(2, 255)), 0};
  lattice.planes = std::bit_width(unsigned(lattice.states - 1));
  const int64_t ndim = draw(1, 4), longest[] = {900, 40, 9, 5};
  for (int64_t k = kLatticeAxes - ndim; k < kLatticeAxes; ++k) {
    lattice.length[k] = draw(1, longest[ndim - 1]);
    lattice.periodic |= int32_t(draw(0, 2) > 0) << k;
  }
  if (draw(0, 2) == 0) lattice.length[kRowAxis] = draw(60, 200);
  return {lattice, Bits64(draw(0, 99)), Bits64(draw(0, 99)), draw(1, 3)};
}

ChoiceTiles random_tiles(const Lattice& lattice) {
  ChoiceTiles tiles;
  for (int k = 0; k < kLatticeAxes; ++k) {
    tiles.length[k] = draw(1, lattice.length[k]);
    while (lattice.length[k] % tiles.length[k]) --tiles.length[k];
  }
  return tiles;
}

// Indices of 64 bits, which only lattices have that are too large for a test, give what those of 32 do.
template <class Index>
std::vector<Bits64> flipped(const LatticeReplicas& replicas, const std::vector<Bits64>& spins,
    const std::vector<Bits64>& probabilities, std::vector<int64_t>& record) {
  std::vector<Bits64> new_spins(spins.size());
  ForestMemory<Index> memory(replicas);
  SwendsenWang<Index> update(replicas, memory, spins.data(), 9, probabilities.data(), record.data(), true);
  update.label();
  update.wind(0);
  update.measure();
  update.flip(new_spins.data());
  return new_spins;
}
void test_wide_indices(const LatticeReplicas& replicas, const std::vector<Bits64>& spins,
    const std::vector<Bits64>& probabilities) {
  const int64_t fields = replicas.count * (kCounts + replicas.lattice.states);
  std::vector<int64_t> record(fields), wide_record(fields);
  check(flipped<int32_t>(replicas, spins, probabilities, record) ==
            flipped<int64_t>(replicas, spins, probabilities, wide_record),
      "the spins of wide indices");
  check(record == wide_record, "the record of wide indices");
}

void test_updates() {
  const LatticeReplicas replicas = random_replicas();
  const Lattice& lattice = replicas.lattice;
  const int64_t words = replicas.count * replicas.words(lattice.planes),
                fields = replicas.count * (kCounts + lattice.states);
  std::vector<Bits64> spins(words), new_spins(words), serial_spins(words), probabilities;
  for (int64_t k = 0; k < replicas.count; ++k) probabilities.push_back(generator());
  const PottsEngine engine(replicas, kLatticeAxes, false), serial_engine(replicas, kLatticeAxes, true);
  PottsMemory memory, serial_memory;
  engine.start(spins.data());
  for (Bits32 step = 1; step < 5; ++step) {
    const ClusterMeasures measures{draw(0, 1) == 0, draw(0, 1) == 0};
    std::optional<ChoiceRule> rule;
    if (draw(0, 1)) rule = ChoiceRule{random_tiles(lattice), draw(0, 1) == 0, Bits64(1) << 63};
    std::vector<int64_t> record(fields), serial_record(fields);
    engine.update(
        memory, spins.data(), new_spins.data(), step, probabilities.data(), rule, record.data(), measures);
    serial_engine.update(serial_memory, spins.data(), serial_spins.data(), step, probabilities.data(), rule,
        serial_record.data(), measures);
    check(new_spins == serial_spins, "the spins of an update");
    check(record == serial_record, "the record of an update");
    std::swap(spins, new_spins);
  }
  test_wide_indices(replicas, spins, probabilities);
  const int most_lost = 2 * kLatticeAxes;
  std::vector<Bits64> acceptance(replicas.count * (most_lost + 1), Bits64(1) << 62);
  engine.metropolis(spins.data(), new_spins.data(), 5, acceptance.data(), most_lost, nullptr);
  process().wanted_threads = 1;
  engine.metropolis(spins.data(), serial_spins.data(), 5, acceptance.data(), most_lost, nullptr);
  check(new_spins == serial_spins, "the spins of Metropolis");
}

// Flips of two states that are offered pair by pair of words, as on a GPU.
template <int axes, bool whole>
void offer_by_pairs(
    const LatticeReplicas& replicas, const std::vector<Bits64>& acceptance, std::vector<Bits64>& words) {
  const Lattice& lattice = replicas.lattice;
  const int most_lost = 2 * kLatticeAxes;
  for (int64_t k = 0; k < replicas.count; ++k) {
    Bits64* const spins = replicas.spins(words.data(), k);
    for (int site_class = 0; site_class < 2 << kLatticeAxes; ++site_class) {
      const FlipOffer offer{replicas.draws(k, 5), site_class, &acceptance[k * (most_lost + 1)], most_lost};
      for (int64_t pair = 0; pair < pairs_of(lattice.words()); ++pair)
        offer_pair<axes, whole>(
            lattice, offer, pair, {0, lattice.words()}, [=](int64_t word) { return spins[word]; },
            [=](int64_t word, Bits64 bits) { spins[word] = bits; });
    }
  }
}
void offer_by_pairs(
    const LatticeReplicas& replicas, const std::vector<Bits64>& acceptance, std::vector<Bits64>& words) {
  int axes = 0;
  bool whole = true;
  for (int k = 0; k < kLatticeAxes; ++k) {
    if (replicas.lattice.length[k] == 1) continue;
    ++axes;
    whole &= replicas.lattice.closes(k);
  }
  switch (axes) {
    case 0:
    case 1:
      return whole ? offer_by_pairs<1, true>(replicas, acceptance, words)
                   : offer_by_pairs<1, false>(replicas, acceptance, words);
    case 2:
      return whole ? offer_by_pairs<2, true>(replicas, acceptance, words)
                   : offer_by_pairs<2, false>(replicas, acceptance, words);
    case 3:
      return whole ? offer_by_pairs<3, true>(replicas, acceptance, words)
                   : offer_by_pairs<3, false>(replicas, acceptance, words);
    default:
      return whole ? offer_by_pairs<4, true>(replicas, acceptance, words)
                   : offer_by_pairs<4, false>(replicas, acceptance, words);
  }
}
// The number that says whether a site flips, of which the digits are drawn.
Bits64 number_of(const Draws& draws, int64_t word, int bit, int site_class) {
  const int place = (bit & ~1) | int(word / kPairs % 2);
  Bits64 number = 0;
  for (int digit = 0; digit < 64; ++digit) {
    const PhiloxBlock block = draws(kFlipDigits, Bits64(pair_with(word)), site_class, digit / 2);
    number = number << 1 | (half(block, digit % 2) >> place & 1);
  }
  return number;
}

void test_flips() {
  LatticeReplicas replicas = random_replicas();
  replicas.lattice.states = 2, replicas.lattice.planes = 1;
  const PottsEngine engine(replicas, kLatticeAxes, false);
  std::vector<Bits64> spins(replicas.count * replicas.words(1)), new_spins(spins), acceptance;
  engine.start(spins.data());
  const int most_lost = 2 * kLatticeAxes;
  for (int64_t k = 0; k < replicas.count * (most_lost + 1); ++k) acceptance.push_back(generator());
  engine.metropolis(spins.data(), new_spins.data(), 5, acceptance.data(), most_lost, nullptr);
  offer_by_pairs(replicas, acceptance, spins);
  check(new_spins == spins, "flips that are offered together");
  // A probability that is as large as the number of a site of the first replica, or larger by 2^-64.
  const WordPlace place = place_of(replicas.lattice, draw(0, replicas.lattice.words() - 1));
  const int bit = int(draw(0, std::bit_width(replicas.lattice.sites_of(place.column)) - 1));
  int site_class = 0;
  while (!(sites_of_class(replicas.lattice, place.at, place.column, site_class) >> bit & 1)) ++site_class;
  const Bits64 number = number_of(replicas.draws(0, 6), place.word, bit, site_class);
  for (const Bits64 more : {0, 1}) {
    std::fill(acceptance.begin(), acceptance.end(), number + more);
    engine.metropolis(spins.data(), new_spins.data(), 6, acceptance.data(), most_lost, nullptr);
    check(((spins[place.word] ^ new_spins[place.word]) >> bit & 1) == more, "the last digit of a number");
  }
}

// Words are drawn together as each alone.
void test_draws() {
  const Draws draws{generator(), Bits64(draw(0, 1 << 24)), Bits32(generator())};
  const int64_t count = draw(0, 70), first = draw(0, int64_t(1) << 33);
  const int axis = int(draw(0, 3));
  const Bits64 probability = draw(0, 1) ? generator() : Bits64(draw(0, 3)) << 62;
  std::vector<Bits64> bonds(count), index(count), heads(count), tails(count);
  for (Bits64& word : bonds) word = generator() & (draw(0, 3) ? generator() : 0);
  std::vector<Bits64> expected(bonds);
  for (int64_t w = 0; w < count; ++w) {
    index[w] = Bits64(draw(0, int64_t(1) << 40) % (int64_t(1) << 40));
    expected[w] = bernoulli(draws, Bits64(first + w), axis, probability, bonds[w]);
    check(activate_word(draws, Bits64(first + w), axis, probability, bonds[w]) == expected[w],
        "the bonds of a word");
  }
  activate(draws, first, axis, probability, count, bonds.data());
  check(bonds == expected, "the bonds of words");
  draw_all(draws, kCluster, index.data(), count, heads.data(), tails.data());
  for (int64_t i = 0; i < count; ++i) {
    const PhiloxBlock block = draws(kCluster, index[i]);
    check(heads[i] == half(block, 0) && tails[i] == half(block, 1), "numbers drawn together");
  }
}

// Runs and configurations of percolation, whatever the integers that windings are packed into.
template <class Packed, int kSteps>
void percolate(const PercolationLattice& lattice, const std::vector<Bits64>& words, int64_t elements,
    std::vector<double>& series, std::vector<int64_t>& counts) {
  series.assign(kSweepFields * (elements + 1), 0);
  counts.assign(lattice.axes + 1 + kPercolationFields, 0);
  Percolation<Packed, kSteps> percolation(lattice);
  for (Bits32 run = 0; run < 2; ++run)
    percolation.run(7, run, {series.data(), 0, elements + 1}, counts.data());
  percolation.measure(words.data(), counts.data() + lattice.axes + 1);
}
template <int kSteps>
void test_percolation_of(
    const PercolationLattice& lattice, const std::vector<Bits64>& words, int64_t elements) {
  std::vector<double> series, wide_series;
  std::vector<int64_t> counts, wide_counts;
  percolate<Bits64, kSteps>(lattice, words, elements, series, counts);
  percolate<unsigned __int128, kSteps>(lattice, words, elements, wide_series, wide_counts);
  check(series == wide_series && counts == wide_counts, "windings of 128 bits");
  if (Periods(lattice.lattice, lattice.links_over_end()).width > 32) return;
  percolate<Bits32, kSteps>(lattice, words, elements, wide_series, wide_counts);
  check(series == wide_series && counts == wide_counts, "windings of 32 bits");
}

// Sites or bonds of a lattice with steps along axes, or of cells of one or two sites with random bonds.
PercolationLattice random_percolation(const Lattice& lattice, int axes, bool of_bonds) {
  PercolationLattice model{lattice, axes, of_bonds, draw(0, 2) ? 1 : 2, {}};
  std::vector<std::pair<int, LatticeStep>> bonds;
  for (int axis = model.first_axis(); axis < kLatticeAxes; ++axis) {
    LatticeStep step{{}, int(draw(0, model.cell - 1))};
    step.along[axis] = 1;
    if (draw(0, 3) == 0) step.along[model.first_axis()] = int(draw(-1, 1));
    bonds.push_back({int(draw(0, model.cell - 1)), step});
  }
  if (of_bonds) {
    for (const auto& [site, step] : bonds) model.kinds.push_back({site, {step}});
    return model;
  }
  for (int site = 0; site < model.cell; ++site) model.kinds.push_back({site, {}});
  for (const auto& [site, step] : bonds) {
    LatticeStep back{{}, site};
    for (int k = 0; k < kLatticeAxes; ++k) back.along[k] = -step.along[k];
    model.kinds[site].steps.push_back(step);
    model.kinds[step.to].steps.push_back(back);
  }
  return model;
}

void test_percolation() {
  Lattice lattice = random_replicas().lattice;
  lattice.states = 2, lattice.planes = 1;
  int axes = 1;
  for (int k = 0; k < kLatticeAxes; ++k)
    if (axes == 1 && (lattice.length[k] > 1 || lattice.closes(k))) axes = kLatticeAxes - k;
  const bool of_bonds = draw(0, 1);
  const PercolationLattice model = random_percolation(lattice, axes, of_bonds);
  const int64_t replicas = draw(1, 3), words_of_replica = model.planes() * lattice.words();
  std::vector<Bits64> words(replicas * words_of_replica);
  const Bits64 probability = generator();
  const bool certain = draw(0, 4) == 0;
  draw_configurations(model, 5, 2, replicas, 3, probability, certain, words.data());
  std::vector<int64_t> records(replicas * kPercolationFields);
  measure_configurations(model, replicas, words.data(), records.data());
  int64_t elements = of_bonds ? 0 : model.sites();
  for (int kind = 0; of_bonds && kind < model.planes(); ++kind) {
    int64_t cells = 1;
    for (int k = 0; k < kLatticeAxes; ++k) {
      const bool leaves = model.kinds[kind].steps[0].along[k] != 0 && !lattice.closes(k);
      cells *= lattice.length[k] - leaves;
    }
    elements += cells;
  }
  check(!certain || records[kElements] == elements, "that all elements are there");
  const int64_t begin = draw(0, elements), end = draw(begin, elements) + 1;
  std::vector<double> series(2 * kSweepFields * (end - begin));
  std::vector<int64_t> wraps(3 * (axes + 1));
  run_sweep(model, {7, 0, 3, 2}, {series.data(), begin, end}, wraps.data());
  for (int64_t w = 0; w < words_of_replica; ++w) {
    const WordPlace place = place_of(lattice, w % lattice.words());
    const int plane = int(w / lattice.words()), axis = of_bonds ? model.first_axis() + plane : plane;
    const Bits64 wanted = model.cells_with(place, model.kinds[plane]);
    const Bits64 drawn = bernoulli({5, 2, 3}, Bits64(place.word), axis, probability, wanted, kOccupied);
    check(words[w] == (certain ? wanted : drawn), "a word of a configuration");
  }
  if (of_bonds) return test_percolation_of<1>(model, words, elements);
  switch (model.cell > 1 ? 0 : model.kinds[0].steps.size()) {
    case 2:
      return test_percolation_of<2>(model, words, elements);
    case 4:
      return test_percolation_of<4>(model, words, elements);
    case 6:
      return test_percolation_of<6>(model, words, elements);
    case 8:
      return test_percolation_of<8>(model, words, elements);
    default:
      return test_percolation_of<0>(model, words, elements);
  }
}

// Limbs of powers, of sizes as large as a lattice may have.
void test_tally() {
  const int64_t size = draw(1, (int64_t(1) << draw(1, 40)) - 1);
  ClusterTally tally;
  tally.add(size);
  unsigned __int128 power = 1;
  for (int k = 0; k < 2; ++k) power *= Bits64(size);
  for (int k = 0; k < kFourths - kSquares; ++k)
    check(tally.squares[k] == int64_t(Bits64(power >> 32 * k) & 0xffffffff), "a square");
  // The fourth power modulo a prime, from its limbs.
  constexpr Bits64 kPrime = 1000003;
  Bits64 sum = 0, expected = 1;
  for (int k = kWindingAxes - kFourths - 1; k >= 0; --k)
    sum = (sum * ((Bits64(1) << 32) % kPrime) + Bits64(tally.fourths[k])) % kPrime;
  for (int k = 0; k < 4; ++k) expected = expected * (Bits64(size) % kPrime) % kPrime;
  check(sum == expected && tally.fourths[4] >> 32 == 0, "a fourth power");
}

// A step cell by cell: what has coordinate k along the axes, taken around.
template <class T, int kAxes> struct CellByCell {
  FieldShape shape;
  FieldCoefficients<T> by;
  Draws draws;
  const T* field;

  int64_t index(int64_t z, int64_t y, int64_t x) const {
    const auto round = [](int64_t at, int64_t length) { return (at + 2 * length) % length; };
    return (round(z, shape.layers) * shape.rows + round(y, shape.rows)) * shape.columns +
           round(x, shape.columns);
  }
  template <class Value> T around(int64_t z, int64_t y, int64_t x, Value&& value) const {
    T sum = value(z, y, x - 1) + value(z, y, x + 1);
    if (kAxes == 3) sum = sum + (value(z, y - 1, x) + value(z, y + 1, x));
    return sum + (value(z - 1, y, x) + value(z + 1, y, x));
  }
  T flux(int64_t z, int64_t y, int64_t x, int axis) const {
    const int64_t cell = index(z, y, x), row = cell / shape.columns, column = cell % shape.columns;
    const PhiloxBlock block = draws(kFaceFlux, Bits64(row * shape.quads() + column / kQuad), axis);
    return by.flux * T(odd_integer(block.word[column % kQuad]));
  }
  T operator()(int64_t z, int64_t y, int64_t x) const {
    const auto phi = [&](int64_t k, int64_t j, int64_t i) { return field[index(k, j, i)]; };
    const auto nu = [&](int64_t k, int64_t j, int64_t i) {
      return scaled_potential<kAxes>(by, phi(k, j, i), around(k, j, i, phi));
    };
    const T sum = around(z, y, x, nu);
    if (by.flux == 0) return advanced<kAxes>(phi(z, y, x), nu(z, y, x), sum);
    T in = flux(z, y, x - 1, 0) - flux(z, y, x, 0);
    if (kAxes == 3) in = in + (flux(z, y - 1, x, 1) - flux(z, y, x, 1));
    in = in + (flux(z - 1, y, x, kAxes - 1) - flux(z, y, x, kAxes - 1));
    return advanced<kAxes>(phi(z, y, x), nu(z, y, x), sum, in);
  }
};

template <class T, int kAxes> void test_fields() {
  const FieldReplicas replicas{
      {draw(2, 20), kAxes == 3 ? draw(2, 20) : 1, draw(2, 40)}, generator(), Bits64(draw(0, 99)), draw(1, 3)};
  const FieldShape& shape = replicas.shape;
  const FieldCoefficients<T> by{T(0.02), T(0.03), T(0.01), draw(0, 1) ? T(1e-9) : T(0)};
  std::vector<T> field(replicas.count * shape.cells()), next(field.size());
  start_fields(replicas, T(0.1), T(1e-7), field.data());
  const Bits32 step = Bits32(generator());
  advance_fields<kAxes>(replicas, by, step, field.data(), next.data());
  const FieldGauge gauge{0.5, 0.25, 0.5, 0.1, 0x1p40, 0x1p40};
  std::vector<int64_t> record(replicas.count * kFieldEntries), expected(record.size());
  measure_fields<kAxes>(replicas, gauge, field.data(), record.data(), kFieldEntries);
  for (int64_t replica = 0; replica < replicas.count; ++replica) {
    const Draws draws{replicas.seed, replicas.first + Bits64(replica), step};
    const CellByCell<T, kAxes> cells{shape, by, draws, field.data() + replica * shape.cells()};
    FieldTally tally{};
    for (int64_t z = 0; z < shape.layers; ++z)
      for (int64_t y = 0; y < shape.rows; ++y)
        for (int64_t x = 0; x < shape.columns; ++x) {
          check(
              next[replica * shape.cells() + cells.index(z, y, x)] == cells(z, y, x), "a cell after a step");
          const auto phi = [&](int64_t k, int64_t j, int64_t i) { return cells.field[cells.index(k, j, i)]; };
          T beside[kFieldAxes] = {phi(z, y, x + 1), phi(z, y + 1, x)};
          beside[kAxes - 1] = phi(z + 1, y, x);
          tally.template add_cell<kAxes>(phi(z, y, x), beside, gauge);
        }
    std::copy_n(tally.entry, int(kFieldEntries), expected.begin() + replica * kFieldEntries);
  }
  check(record == expected, "what is measured of a field");
}

// A lattice cut into two domains along each axis but the first; sweeps by one thread and by several.
void test_exchanges() {
  ExchangeLattice lattice{};
  lattice.kind = LatticeKind(draw(kSquare, kBodyCentred));
  for (int axis = kExchangeAxes - 1, stride = 1; axis >= 0; --axis) {
    const bool none = axis == 0 && lattice.kind == kSquare;
    lattice.length[axis] = none ? 1 : int32_t(4 * draw(1, 4));
    lattice.parts[axis] = axis == 0 ? 1 : 2;
    lattice.stride[axis] = axis == 0 ? 0 : stride;
    stride *= lattice.parts[axis];
  }
  const Bits64 of_axis[kExchangeAxes][2] = {{0xf, 0}, {0x3, 0xc}, {0x5, 0xa}};
  for (int axis = 0; axis < kExchangeAxes; ++axis) {
    lattice.first[axis] = of_axis[axis][0];
    lattice.later[axis] = of_axis[axis][1];
    lattice.last[axis] = of_axis[axis][axis == 0 ? 0 : 1];
  }
  const int64_t replicas = draw(1, 3), sites = int64_t(lattice.words()) * lattice.domains();
  const KawasakiEngine engine(lattice, generator(), Bits64(draw(0, 99)), replicas);
  std::vector<int64_t> up(replicas), unsatisfied(replicas);
  for (int64_t& count : up) count = draw(1, sites - 1);
  std::vector<Bits64> words(replicas * lattice.words()), serial(words.size()), parallel(words.size());
  engine.start(up.data(), words.data());
  std::vector<uint8_t> acceptance(replicas * kDigits);
  for (uint8_t& digit : acceptance) digit = uint8_t(draw(0, 127));
  const int threads = num_threads();
  engine.sweep(words.data(), parallel.data(), 7, acceptance.data());
  process().wanted_threads = 1;
  engine.sweep(words.data(), serial.data(), 7, acceptance.data());
  process().wanted_threads = threads;
  check(serial == parallel, "a sweep by several threads");
  for (int64_t replica = 0; replica < replicas; ++replica) {
    int64_t count = 0;
    for (int64_t word = 0; word < lattice.words(); ++word)
      count += std::popcount(parallel[replica * lattice.words() + word]);
    check(count == up[replica], "how many spins are up");
  }
  engine.count_unsatisfied(parallel.data(), unsatisfied.data());
  check(*std::max_element(unsatisfied.begin(), unsatisfied.end()) <= sites * directions(lattice.kind),
      "unsatisfied bonds");
}

// Kinds of bonds lead from the later row to the earlier one, by less than two cells along it.
CellLattice random_cells() {
  CellLattice cells{
      random_replicas().lattice, 0, int32_t(draw(1, kMostCellSites)), 1, int32_t(draw(0, 1)), {}};
  Lattice& lattice = cells.lattice;
  lattice.states = 2, lattice.planes = 1;
  lattice.length[kRowAxis] = (lattice.length[kRowAxis] + cells.cell - 1) / cells.cell * cells.cell;
  cells.antiperiodic = lattice.periodic & int32_t(draw(0, 15));
  cells.kinds = int32_t(draw(1, kMostKinds));
  for (int number = 0; number < cells.kinds; ++number) {
    BondKind& kind = cells.kind[number];
    int first = 0;  // step that is not 0
    for (int axis = 0; axis < kRowAxis && number > 0; ++axis) {
      kind.step[axis] = int32_t(first == 0 ? draw(-1, 0) : draw(-1, 1));
      if (first == 0) first = kind.step[axis];
    }
    const int32_t most = 2 * cells.cell - 1;
    kind.shift = number == 0 ? 1 : int32_t(draw(first == 0 ? 1 : -most, most));
    const int from = int(draw(0, cells.cell - 1));
    // A site whose bond would lead on by two cells has none.
    const int to = from + kind.shift;
    if (to < -cells.cell || to >= 2 * cells.cell) continue;
    for (int phase = 0; phase < cells.cell; ++phase)
      for (int p = 0; p < kWordSites; ++p) kind.sites[phase] |= Bits64((phase + p) % cells.cell == from) << p;
  }
  return cells;
}

template <class Index>
std::vector<Bits64> flipped(const LatticeReplicas& replicas, const CellLattice& cells,
    const std::vector<Bits64>& spins, const std::vector<Bits64>& probabilities, bool chosen,
    std::vector<int64_t>& record) {
  std::vector<Bits64> new_spins(spins.size());
  ForestMemory<Index> memory(replicas);
  CellClusters<Index> update(replicas, cells, memory, spins.data(), 9, probabilities.data(), record.data());
  update.label();
  update.measure();
  chosen ? update.change_chosen(new_spins.data()) : update.change(new_spins.data());
  return new_spins;
}

// Sweeps by one thread and by several, with indices of 32 and of 64 bits.
void test_cells() {
  const CellLattice cells = random_cells();
  const LatticeReplicas replicas{cells.lattice, generator(), Bits64(draw(0, 99)), draw(1, 3)};
  const CellEngine engine(cells, replicas.seed, replicas.first, replicas.count);
  std::vector<Bits64> spins(replicas.count * cells.lattice.words()), probabilities;
  for (size_t k = 0; k < spins.size(); ++k)
    spins[k] = generator() & cells.lattice.sites_of(int64_t(k) % cells.lattice.columns());
  for (int64_t k = 0; k < replicas.count; ++k) probabilities.push_back(generator());
  const int threads = num_threads();
  for (const bool chosen : {false, true}) {
    std::vector<int64_t> record(replicas.count * (kCounts + 2)), serial_record(record), counted(record);
    const std::vector<Bits64> parallel =
        flipped<int32_t>(replicas, cells, spins, probabilities, chosen, record);
    engine.count(spins.data(), counted.data());
    process().wanted_threads = 1;
    const std::vector<Bits64> serial =
        flipped<int64_t>(replicas, cells, spins, probabilities, chosen, serial_record);
    process().wanted_threads = threads;
    check(serial == parallel, "the spins of cells");
    check(serial_record == record, "the record of cells");
    for (int64_t k = 0; k < replicas.count; ++k)
      check(counted[k * (kCounts + 2)] == record[k * (kCounts + 2)], "satisfied bonds of cells");
  }
  std::vector<Bits64> bonds(spins.size() * size_t(cells.kinds));
  engine.bonds(spins.data(), 9, probabilities.data(), bonds.data());
}

// Updates by one thread and by several, whose clusters are those of the bonds.
template <class Kind> void test_vectors() {
  LatticeReplicas replicas = random_replicas();
  replicas.lattice.states = 2, replicas.lattice.planes = 1;
  VectorEngine<Kind> engine(replicas, 4, draw(0, 1));
  std::vector<typename Kind::Spin> spins(replicas.count * replicas.lattice.sites()), parallel(spins.size()),
      serial(spins.size());
  engine.start(spins.data());
  std::vector<BondStrength> strengths;
  for (int64_t k = 0; k < replicas.count; ++k)
    strengths.push_back({Bits32(generator()), (1u << 29) - 1, 3, int32_t(draw(0, 31))});
  const VectorUpdate<typename Kind::Spin> update{spins.data(), 9, strengths.data()};
  std::vector<Bits64> bonds(replicas.count * replicas.lattice.words() * kLatticeAxes);
  engine.bonds(update, bonds.data());
  int64_t active = 0;
  for (const Bits64 word : bonds) active += std::popcount(word);
  const int threads = num_threads();
  for (const bool one : {false, true}) {
    std::vector<int64_t> sizes(replicas.count * (kCounts + 2)), serial_sizes(sizes),
        projected(replicas.count * kProjectedLimbs), serial_projected(projected);
    const auto reflect = [&](auto& to, std::vector<int64_t>& record, std::vector<int64_t>& squares) {
      VectorMemory memory = engine.take_memory();
      one ? engine.reflect_one(memory, update, to.data())
          : engine.reflect_clusters(memory, update, to.data(), {record.data(), squares.data()});
      engine.give_back(std::move(memory));
    };
    reflect(parallel, sizes, projected);
    process().wanted_threads = 1;
    reflect(serial, serial_sizes, serial_projected);
    process().wanted_threads = threads;
    check(serial == parallel, "spins that are vectors");
    check(serial_sizes == sizes && serial_projected == projected, "clusters of vectors");
    int64_t counted = 0;
    for (int64_t k = 0; k < replicas.count; ++k) counted += sizes[k * (kCounts + 2) + kActive];
    check(one || counted == active, "active bonds of vectors");
  }
  std::vector<int64_t> record(replicas.count * kVectorFields);
  engine.count(spins.data(), record.data());
}

// As models/spin_glass/chances.py makes it.
std::vector<Bits32> logarithm_table() {
  std::vector<Bits32> table;
  for (int k = 0; k < kLogarithmPlaces; ++k) {
    const double x = 1 + double(k) / kLogarithmPlaces;
    table.push_back(Bits32(std::log(x) * 0x1p32));
    table.push_back(Bits32(std::min(0x1p32 / x, 0x1p32 - 1)));
  }
  return table;
}
std::vector<GlassTemperature> random_temperatures(int64_t count) {
  std::vector<GlassTemperature> temperatures;
  for (int64_t k = 0; k < count; ++k)
    temperatures.push_back({Bits32(generator()) | 1u << 31, Bits32(draw(1, 40))});
  return temperatures;
}
std::vector<int32_t> random_strengths(int64_t count) {
  std::vector<int32_t> strengths;
  for (int64_t k = 0; k < count; ++k) strengths.push_back(int32_t(draw(-kWhole, kWhole)));
  return strengths;
}

// Updates of any bonds, by one thread and by several.
void test_edges() {
  const int64_t vertices = draw(1, 3000), count = draw(0, 2 * vertices);
  const LatticeReplicas replicas{
      {{1, 1, 1, vertices}, 0, 2, 1}, generator(), Bits64(draw(0, 99)), draw(1, 3)};
  std::vector<int32_t> u, v;
  for (int64_t k = 0; k < count; ++k) {
    u.push_back(int32_t(draw(0, vertices - 1)));
    v.push_back(int32_t(draw(0, vertices - 1)));
  }
  const std::vector<int32_t> coupling = random_strengths(count), field = random_strengths(vertices);
  const EdgeBonds edges{
      count, u.data(), v.data(), draw(0, 1) ? coupling.data() : nullptr, draw(0, 1) ? field.data() : nullptr};
  const EdgeEngine engine(replicas, edges, std::make_unique<EdgeSpinsOf<UpDown>>(replicas.lattice));
  const int64_t words = replicas.lattice.words();
  std::vector<Bits64> spins;
  for (int64_t k = 0; k < replicas.count * words; ++k)
    spins.push_back(generator() & replicas.lattice.sites_of(k % words));
  const std::vector<Bits32> table = logarithm_table();
  const std::vector<GlassTemperature> temperatures = random_temperatures(replicas.count);
  const int threads = num_threads();
  for (const bool chosen : {false, true}) {
    const auto updated = [&](std::vector<int64_t>& record) {
      std::vector<Bits64> new_spins(spins.size());
      std::optional<EdgeForest> memory;
      engine.update(memory, {spins.data(), 9, temperatures.data(), {table.data()}, record.data()},
          new_spins.data(), chosen, true);
      return new_spins;
    };
    std::vector<int64_t> record(replicas.count * (kCounts + 2)), serial_record(record), counted(record);
    const std::vector<Bits64> parallel = updated(record);
    engine.count({spins.data(), 0, nullptr, {nullptr}, counted.data()});
    process().wanted_threads = 1;
    check(updated(serial_record) == parallel, "the spins of edges");
    process().wanted_threads = threads;
    check(serial_record == record, "the record of edges");
    for (int64_t k = 0; k < replicas.count; ++k)
      check(counted[k * (kCounts + 2)] == record[k * (kCounts + 2)], "satisfied strengths");
  }
  std::vector<uint8_t> active(replicas.count * count);
  engine.bonds({spins.data(), 9, temperatures.data(), {table.data()}, nullptr}, active.data());
}

// Updates of vectors, or of many states, on any bonds, by one thread and by several.
template <class Kind> void test_kind_on_edges(int states) {
  const int64_t vertices = draw(1, 400), count = draw(0, 2 * vertices);
  const int planes = std::bit_width(unsigned(states - 1));
  const LatticeReplicas replicas{
      {{1, 1, 1, vertices}, 0, states, planes}, generator(), Bits64(draw(0, 99)), draw(1, 3)};
  std::vector<int32_t> u, v;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t first = draw(0, vertices - 1), second = draw(0, vertices - 1);
    if (first == second) continue;
    u.push_back(int32_t(first));
    v.push_back(int32_t(second));
  }
  std::vector<int64_t> begin(vertices + 1);
  std::vector<int32_t> to, class_of(vertices), order;
  for (int64_t vertex = 0; vertex < vertices; ++vertex) {
    for (size_t k = 0; k < u.size(); ++k) {
      if (u[k] == vertex) to.push_back(v[k]);
      if (v[k] == vertex) to.push_back(u[k]);
    }
    begin[vertex + 1] = int64_t(to.size());
  }
  const EdgeArcs arcs{begin.data(), to.data(), nullptr};
  const int64_t classes = classify_vertices(arcs, vertices, class_of.data());
  std::vector<int64_t> bounds{0};
  for (int64_t k = 0; k < classes; ++k) {
    for (int64_t vertex = 0; vertex < vertices; ++vertex)
      if (class_of[vertex] == k) order.push_back(int32_t(vertex));
    bounds.push_back(int64_t(order.size()));
  }
  std::vector<int32_t> field(draw(0, 1) == 0 ? 0 : vertices);
  for (int32_t& each : field) each = int32_t(draw(-kWhole, kWhole));
  const EdgeBonds edges{
      int64_t(u.size()), u.data(), v.data(), nullptr, field.empty() ? nullptr : field.data()};
  const EdgeEngine engine(replicas, edges, std::make_unique<EdgeSpinsOf<Kind>>(replicas.lattice));
  const std::vector<Bits32> table = logarithm_table();
  const std::vector<GlassTemperature> temperatures = random_temperatures(replicas.count);
  const int threads = num_threads();
  using Spin = typename Kind::Spin;
  const auto run = [&] {
    std::vector<Spin> spins(replicas.count * Kind::length(replicas.lattice)), next(spins);
    std::optional<EdgeForest> memory;
    engine.start(spins.data());
    std::vector<int64_t> record(replicas.count * (kCounts + (Kind::kCounted ? states : 8)));
    for (const bool chosen : {false, true}) {
      const EdgeUpdate update{spins.data(), 9, temperatures.data(), {table.data()}, record.data()};
      engine.update(memory, update, next.data(), chosen, true);
      engine.count({next.data(), 0, nullptr, {nullptr}, record.data()});
      std::swap(spins, next);
    }
    for (const GlassRule rule : {kGlassMetropolis, kGlassHeatBath})
      for (int64_t k = 0; k < classes; ++k)
        engine.offer({spins.data(), 3, temperatures.data(), {table.data()}, nullptr}, arcs, rule,
            {order.data() + bounds[k], bounds[k + 1] - bounds[k]}, spins.data());
    const auto* const bytes = reinterpret_cast<const unsigned char*>(spins.data());
    record.insert(record.end(), bytes, bytes + spins.size() * sizeof(Spin));
    return record;
  };
  const std::vector<int64_t> parallel = run();
  process().wanted_threads = 1;
  check(run() == parallel, "spins and records on edges");
  process().wanted_threads = threads;
}

void test_spins_on_edges() {
  switch (draw(0, 6)) {
    case 0:
      return test_kind_on_edges<States>(int(draw(2, 255)));
    case 5:
      return test_kind_on_edges<UpDown>(2);
    case 6:
      return test_kind_on_edges<TwoStates>(int(draw(2, 255)));
    case 1:
      return test_kind_on_edges<Embedded<OfLattices<UnitVector>>>(2);
    case 2:
      return test_kind_on_edges<Embedded<Hours>>(int(draw(2, 1 << 16)));
    case 3:
      return test_kind_on_edges<Embedded<Components<4>>>(4);
    default:
      return test_kind_on_edges<Embedded<Components<8>>>(int(draw(5, 8)));
  }
}

// Sweeps of spin glasses, by one thread and by several.
void test_glasses() {
  const int axes = int(draw(1, 4));
  const int64_t longest[] = {300, 18, 7, 4};
  GlassReplicas replicas{{{1, 1, 1, 1}, 0, 2, 1}, draw(0, 99), draw(1, 130), generator(), {}, 1};
  for (int k = kLatticeAxes - axes; k < kLatticeAxes; ++k) {
    replicas.lattice.length[k] = draw(1, longest[axes - 1]);
    replicas.lattice.periodic |= int32_t(draw(0, 1)) << k;
  }
  replicas.rule = GlassRule(draw(0, 1));
  replicas.per_sample = int32_t(draw(0, 1) ? 1 : replicas.count);
  const int64_t sites = replicas.lattice.sites(), groups = replicas.groups(),
                samples = replicas.count / replicas.per_sample;
  const auto random_words = [](int64_t count) {
    std::vector<Bits64> words;
    for (int64_t k = 0; k < count; ++k) words.push_back(generator());
    return words;
  };
  const std::vector<Bits64> negatives = random_words(groups * axes * sites),
                            bonds(random_words(negatives.size())),
                            digits = random_words(groups * kGlassDigitCount * (2 * axes + 1));
  const std::vector<int32_t> coupling = random_strengths(samples * axes * sites),
                             field = random_strengths(samples * sites);
  const std::vector<Bits32> table = logarithm_table();
  const std::vector<GlassTemperature> temperatures = random_temperatures(replicas.count);
  const GlassBits bits{negatives.data(), draw(0, 1) ? bonds.data() : nullptr, digits.data()};
  const GlassNumbers numbers{
      {coupling.data(), draw(0, 1) ? field.data() : nullptr}, temperatures.data(), {table.data()}};
  const SpinGlassEngine engine(replicas, axes);
  const auto swept = [&](std::vector<int64_t>& record) {
    std::vector<Bits64> spins(groups * sites);
    engine.start(spins.data());
    engine.sweep_bits(spins.data(), 1, bits);
    engine.sweep_numbers(spins.data(), 2, numbers);
    engine.count_bits(spins.data(), bits, record.data());
    engine.count_numbers(spins.data(), numbers.couplings, record.data());
    return spins;
  };
  std::vector<int64_t> record(2 * replicas.count), serial_record(record);
  const std::vector<Bits64> parallel = swept(record);
  const int threads = num_threads();
  process().wanted_threads = 1;
  check(swept(serial_record) == parallel, "the spins of glasses");
  process().wanted_threads = threads;
  check(serial_record == record, "the record of glasses");
}

// Each contact of long rows that are sewn counts as work, so that a look at Ctrl-C comes in time.
void test_polls_of_long_seams() {
  constexpr int32_t kColumns = 300, kSites = kColumns * kWordSites;
  constexpr int64_t kPlenty = int64_t(1) << 40;
  const LatticeReplicas replicas{{{1, 1, 2, kSites}, 0, 2, 1}, 0, 0, 1};
  ForestMemory<int32_t> memory(replicas);
  RunForest<int32_t> forest(replicas.lattice, memory, 0);
  const std::vector<Bits64> none(kColumns), all(kColumns, ~Bits64(0));
  for (int32_t row = 0; row < 2; ++row) forest.begin_row(replicas.lattice, row, none.data(), row * kSites);
  Unreported unions;
  watch.budget = kPlenty;
  forest.sew_rows(0, 1, all.data(), unions);
  check(kPlenty - watch.budget >= kSites, "contacts that count as work");
  watch.budget = 0;
  for (int32_t x = 0; x < kSites; ++x) check(forest.parents()[kSites + x] == x, "runs that are sewn");
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = int(draw(1, 5));
    test_updates();
    test_flips();
    test_draws();
    test_tally();
    test_percolation();
    test_exchanges();
    test_cells();
    test_vectors<Angle>();
    test_vectors<UnitVector>();
    test_edges();
    test_spins_on_edges();
    test_glasses();
    test_fields<float, 2>();
    test_fields<double, 3>();
  }
  test_polls_of_long_seams();
  std::printf("%d rounds\n", rounds);
}
