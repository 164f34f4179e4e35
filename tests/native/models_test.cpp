// Runs the updates of the Potts model on random lattices under a sanitizer, with several threads and strips
// so small that every seam is crossed, and compares labellings. Built and run by test_sanitizers.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "cpu/models/percolation.h"
#include "cpu/models/potts.h"

using namespace conncomp;

namespace {

std::mt19937_64 generator(1);

int64_t draw(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(generator);
}

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

Replicas random_replicas() {
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

Tiles random_tiles(const Lattice& lattice) {
  Tiles tiles;
  for (int k = 0; k < kLatticeAxes; ++k) {
    tiles.length[k] = draw(1, lattice.length[k]);
    while (lattice.length[k] % tiles.length[k]) --tiles.length[k];
  }
  return tiles;
}

// Indices of 64 bits, which only lattices have that are too large for a test, give what those of 32 do.
template <class Index>
std::vector<Bits64> flipped(const Replicas& replicas, const std::vector<Bits64>& spins,
                            const std::vector<Bits64>& probabilities, std::vector<int64_t>& record) {
  std::vector<Bits64> new_spins(spins.size());
  ForestMemory<Index> memory(replicas);
  SwendsenWang<Index> update(replicas, memory, spins.data(), 9, probabilities.data(), record.data());
  update.label();
  update.measure();
  update.flip(new_spins.data());
  return new_spins;
}
void test_wide_indices(const Replicas& replicas, const std::vector<Bits64>& spins,
                       const std::vector<Bits64>& probabilities) {
  const int64_t fields = replicas.count * (kCounts + replicas.lattice.states);
  std::vector<int64_t> record(fields), wide_record(fields);
  check(flipped<int32_t>(replicas, spins, probabilities, record) ==
            flipped<int64_t>(replicas, spins, probabilities, wide_record),
        "the spins of wide indices");
  check(record == wide_record, "the record of wide indices");
}

void test_updates() {
  const Replicas replicas = random_replicas();
  const Lattice& lattice = replicas.lattice;
  const int64_t words = replicas.count * replicas.words(lattice.planes),
                fields = replicas.count * (kCounts + lattice.states);
  std::vector<Bits64> spins(words), new_spins(words), serial_spins(words), probabilities;
  for (int64_t k = 0; k < replicas.count; ++k) probabilities.push_back(generator());
  const PottsEngine engine(replicas, false), serial_engine(replicas, true);
  PottsMemory memory, serial_memory;
  engine.start(spins.data());
  for (Bits32 step = 1; step < 5; ++step) {
    const bool clusters = draw(0, 1);
    std::optional<SeedRule> rule;
    if (draw(0, 1)) rule = SeedRule{random_tiles(lattice), draw(0, 1) == 0, Bits64(1) << 63};
    std::vector<int64_t> record(fields), serial_record(fields);
    engine.update(memory, spins.data(), new_spins.data(), step, probabilities.data(), rule, record.data(),
                  clusters);
    serial_engine.update(serial_memory, spins.data(), serial_spins.data(), step, probabilities.data(), rule,
                         serial_record.data(), clusters);
    check(new_spins == serial_spins, "the spins of an update");
    check(record == serial_record, "the record of an update");
    std::swap(spins, new_spins);
  }
  test_wide_indices(replicas, spins, probabilities);
  const int most_lost = 2 * kLatticeAxes;
  std::vector<Bits64> acceptance(replicas.count * (most_lost + 1), Bits64(1) << 62);
  engine.metropolis(spins.data(), new_spins.data(), 5, acceptance.data(), most_lost, nullptr);
  wanted_threads = 1;
  engine.metropolis(spins.data(), serial_spins.data(), 5, acceptance.data(), most_lost, nullptr);
  check(new_spins == serial_spins, "the spins of Metropolis");
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
  for (Bits32 run = 0; run < 2; ++run) percolation.run(7, run, series.data(), counts.data());
  percolation.measure(words.data(), counts.data() + lattice.axes + 1);
}
template <int kSteps>
void test_percolation_of(const PercolationLattice& lattice, const std::vector<Bits64>& words,
                         int64_t elements) {
  std::vector<double> series, wide_series;
  std::vector<int64_t> counts, wide_counts;
  percolate<Bits64, kSteps>(lattice, words, elements, series, counts);
  percolate<unsigned __int128, kSteps>(lattice, words, elements, wide_series, wide_counts);
  check(series == wide_series && counts == wide_counts, "windings of 128 bits");
  if (Periods(lattice.lattice, lattice.links_over_end()).width > 32) return;
  percolate<Bits32, kSteps>(lattice, words, elements, wide_series, wide_counts);
  check(series == wide_series && counts == wide_counts, "windings of 32 bits");
}

void test_percolation() {
  Lattice lattice = random_replicas().lattice;
  lattice.states = 2, lattice.planes = 1;
  int axes = 1;
  for (int k = 0; k < kLatticeAxes; ++k)
    if (axes == 1 && (lattice.length[k] > 1 || lattice.closes(k))) axes = kLatticeAxes - k;
  const bool of_bonds = draw(0, 1);
  const PercolationLattice model{lattice, axes, of_bonds, !of_bonds && axes == 2 && draw(0, 1)};
  const int64_t replicas = draw(1, 3), words_of_replica = model.planes() * lattice.words();
  std::vector<Bits64> words(replicas * words_of_replica);
  const Bits64 probability = generator();
  const bool certain = draw(0, 4) == 0;
  draw_configurations(model, 5, 2, replicas, 3, probability, certain, words.data());
  std::vector<int64_t> records(replicas * kPercolationFields);
  measure_configurations(model, replicas, words.data(), records.data());
  int64_t elements = of_bonds ? 0 : lattice.sites();
  for (int axis = model.first_axis(); of_bonds && axis < kLatticeAxes; ++axis)
    elements += lattice.sites() / lattice.length[axis] * (lattice.length[axis] - !lattice.closes(axis));
  check(!certain || records[kElements] == elements, "that all elements are there");
  std::vector<double> series(2 * kSweepFields * (elements + 1));
  std::vector<int64_t> wraps(3 * (axes + 1));
  run_sweep(model, {7, 0, 3, 2, elements}, series.data(), wraps.data());
  for (int64_t w = 0; w < words_of_replica; ++w) {
    const WordPlace place = place_of(lattice, w % lattice.words());
    const int axis = of_bonds ? model.first_axis() + int(w / lattice.words()) : 0;
    const Bits64 wanted = of_bonds ? model.sites_with_bond(place, axis) : lattice.sites_of(place.column);
    check(words[w] == draw_occupied({5, 2, 3}, place.word, axis, probability, certain, wanted),
          "a word of a configuration");
  }
  if (of_bonds) return test_percolation_of<1>(model, words, elements);
  if (model.triangular) return test_percolation_of<6>(model, words, elements);
  if (axes == 1) return test_percolation_of<2>(model, words, elements);
  if (axes == 2) return test_percolation_of<4>(model, words, elements);
  if (axes == 3) return test_percolation_of<6>(model, words, elements);
  test_percolation_of<8>(model, words, elements);
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
  for (int k = kCounts - kFourths - 1; k >= 0; --k)
    sum = (sum * ((Bits64(1) << 32) % kPrime) + Bits64(tally.fourths[k])) % kPrime;
  for (int k = 0; k < 4; ++k) expected = expected * (Bits64(size) % kPrime) % kPrime;
  check(sum == expected && tally.fourths[4] >> 32 == 0, "a fourth power");
}

}  // namespace

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  for (int round = 0; round < rounds; ++round) {
    wanted_threads = int(draw(1, 5));
    test_updates();
    test_draws();
    test_tally();
    test_percolation();
  }
  std::printf("%d rounds\n", rounds);
}
