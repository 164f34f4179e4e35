// The Potts model on the CPU: what models/spins/cpu.py asks for, for all replicas at once.
#pragma once

#include "cpu/models/potts/metropolis.h"
#include "cpu/models/potts/patch_flood.h"
#include "cpu/models/potts/serial.h"
#include "cpu/models/potts/swendsen_wang.h"

namespace conncomp {

struct PottsMemory : ForestMemories {
  std::optional<CellMemory> cells;
};

struct ClusterMeasures {
  bool sizes, wrapping;
};

class PottsEngine {
 public:
  // `axes` are those of the model, the last of the lattice's.
  PottsEngine(const LatticeReplicas& replicas, int axes, bool serial)
      : replicas_(replicas), lattice_(replicas.lattice), first_axis_(kLatticeAxes - axes), serial_(serial) {}

  const LatticeReplicas& replicas() const { return replicas_; }
  PottsMemory take_memory() { return std::exchange(memory_, PottsMemory()); }
  void give_back(PottsMemory&& memory) { memory_ = std::move(memory); }

  void start(Bits64* words) const {
    Strips(replicas_).for_each([&](const Strip& strip) {
      const Draws draws = replicas_.draws(strip.replica, 0);
      Bits64* const spins = replicas_.spins(words, strip.replica);
      const int64_t columns = lattice_.columns(), length = lattice_.length[kRowAxis];
      for_each_in(strip.begin * columns, strip.end * columns, [&](int64_t word) {
        poll(kWordSites);
        Bits64 index[kWordSites], first[kWordSites], last[kWordSites];
        const int64_t column = word % columns,
                      sites = std::min<int64_t>(length - column * kWordSites, kWordSites);
        for (int p = 0; p < sites; ++p) index[p] = Bits64(lattice_.first_site(word) + p);
        draw_all(draws, kStart, index, sites, first, last);
        for (int k = 0; k < lattice_.planes; ++k) spins[k * lattice_.words() + word] = 0;
        for (int p = 0; p < sites; ++p)
          set_state(lattice_, spins, word, Bits64(1) << p, int(below(first[p], Bits64(lattice_.states))));
      });
    });
  }

  void bonds(const Bits64* words, Bits32 step, const Bits64* probabilities, Bits64* out) const {
    const int64_t columns = lattice_.columns();
    Strips(replicas_).for_each([&](const Strip& strip) {
      const Bits64* const spins = replicas_.spins(words, strip.replica);
      const Draws draws = replicas_.draws(strip.replica, step);
      Bits64* const planes = out + strip.replica * replicas_.words(kLatticeAxes - first_axis_);
      for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
        for (int axis = first_axis_; axis < kLatticeAxes; ++axis) {
          Bits64* const bonds = planes + (axis - first_axis_) * lattice_.words() + begin * columns;
          satisfied_bonds(lattice_, spins, begin, end - begin, axis, bonds);
          activate(
              draws, begin * columns, axis, probabilities[strip.replica], (end - begin) * columns, bonds);
        }
      });
    });
  }

  void count(const Bits64* words, int64_t* record) const {
    Strips(replicas_).for_each([&](const Strip& strip) {
      const Bits64* const spins = replicas_.spins(words, strip.replica);
      SpinTally tally(lattice_);
      std::vector<Bits64> bonds;
      for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
        const int64_t count = (end - begin) * lattice_.columns();
        bonds.resize(count);
        for (int axis = first_axis_; axis < kLatticeAxes; ++axis) {
          satisfied_bonds(lattice_, spins, begin, end - begin, axis, bonds.data());
          tally.satisfied += count_bits(bonds.data(), count);
        }
        tally.add_rows(lattice_, spins, begin, end);
      });
      tally.add_to(record_of(record, strip.replica));
    });
  }

  void metropolis(const Bits64* words, Bits64* new_words, Bits32 step, const Bits64* acceptance,
      int most_lost, int64_t* record) const {
    if (record) count(words, record);
    Metropolis(replicas_, step, acceptance, most_lost, words, new_words).sweep();
  }

  // Without a rule of chosen sites the update of Swendsen and Wang. Only a forest of runs tells windings.
  void update(PottsMemory& memory, const Bits64* words, Bits64* new_words, Bits32 step,
      const Bits64* probabilities, const std::optional<ChoiceRule>& rule, int64_t* record,
      ClusterMeasures measures) const {
    if (serial_ && !measures.wrapping)
      return update_serially(memory, words, new_words, step, probabilities, rule, record, measures.sizes);
    if (!rule || measures.sizes || measures.wrapping) {
      Bits64* const flipped = rule || serial_ ? nullptr : new_words;
      memory.use(replicas_,
          [&](auto& forest) { run_forest(forest, words, flipped, step, probabilities, record, measures); });
      if (serial_)
        return update_serially(memory, words, new_words, step, probabilities, rule, nullptr, false);
      if (!rule) return;
    } else if (record) {
      count(words, record);
    }
    copy(words, new_words);
    lattice_.length[kColumnAxis] <= kFewPatchRows
        ? flip_patches<kFewPatchRows>(memory, words, new_words, step, probabilities, *rule)
        : flip_patches<kMostPatchRows>(memory, words, new_words, step, probabilities, *rule);
  }

 private:
  int64_t* record_of(int64_t* record, int64_t replica) const {
    return record + replica * (kCounts + lattice_.states);
  }

  void copy(const Bits64* words, Bits64* new_words) const {
    for_each_index(
        replicas_.count * replicas_.words(lattice_.planes), [&](int64_t w) { new_words[w] = words[w]; });
  }

  template <class Index>
  void run_forest(ForestMemory<Index>& memory, const Bits64* words, Bits64* new_words, Bits32 step,
      const Bits64* probabilities, int64_t* record, ClusterMeasures measures) const {
    SwendsenWang<Index> update(replicas_, memory, words, step, probabilities, record, measures.wrapping);
    update.label();
    if (measures.wrapping) update.wind(first_axis_);
    if (measures.sizes) update.measure();
    if (new_words) update.flip(new_words);
  }

  template <int kRows>
  void flip_patches(PottsMemory& memory, const Bits64* words, Bits64* new_words, Bits32 step,
      const Bits64* probabilities, const ChoiceRule& rule) const {
    for_each_replica<Patches<kRows>>(memory, words, step, probabilities,
        [&](int64_t replica, const Draws& draws, Patches<kRows>& patches) {
          Bits64* const spins = replicas_.spins(new_words, replica);
          flip_chosen(lattice_, draws, patches, rule, spins);
        });
  }

  // Calls body(replica, draws, cells) for each replica, in parallel; of an engine always the same cells.
  template <class Cells>
  void for_each_replica(
      PottsMemory& memory, const Bits64* words, Bits32 step, const Bits64* probabilities, auto&& body) const {
    CellMemory::for_each_replica(memory.cells, Cells::memory(lattice_), replicas_.count,
        [&](int64_t replica, Bits64 number, Bits64* words_of_cells) {
          const Draws draws = replicas_.draws(replica, step);
          Cells cells(lattice_, draws, probabilities[replica], replicas_.spins(words, replica), number,
              words_of_cells);
          body(replica, draws, cells);
        });
  }

  void update_serially(PottsMemory& memory, const Bits64* words, Bits64* new_words, Bits32 step,
      const Bits64* probabilities, const std::optional<ChoiceRule>& rule, int64_t* record,
      bool clusters) const {
    if (record) count(words, record);
    copy(words, new_words);
    for_each_replica<Cells>(
        memory, words, step, probabilities, [&](int64_t replica, const Draws& draws, Cells& cells) {
          SerialClusters serial(lattice_, draws, cells);
          Bits64* const spins = replicas_.spins(new_words, replica);
          rule ? serial.flip_chosen(*rule, spins) : serial.flip_all(spins);
          if (rule && clusters) serial.visit_others();
          if (!record || (rule && !clusters)) return;
          int64_t* const measured = record_of(record, replica);
          measured[kActive] += serial.active_bonds();
          if (clusters) serial.tally().add_to(measured);
        });
  }

  const LatticeReplicas replicas_;
  const Lattice lattice_;
  const int first_axis_;
  const bool serial_;
  PottsMemory memory_;
};

}
