// The Ising model on lattices of any unit cell on the CPU: what models/ising/cpu.py asks for.
//
// What: the update of Swendsen and Wang, and that of Wolff, by a forest of runs of 64 sites at most
// (core/cell_lattice.h). A cluster's spins all change or all stay, by the coin of its smallest site, so that
// negative couplings are no other case. How: 1. Each thread takes a strip of rows, a few of which at a time
// get their active bonds, their runs, and the unions with rows of the strip up to themselves.
//      2. Bonds to other strips, and over the ends of axes, are drawn and followed, with compare-and-swap.
//      3. If clusters are measured, lengths of runs are added up at the roots.
//      4. Entries of runs become coins in C order, in which a parent has got its coin before; the entry of a
//         coin is its complement, which is negative. A parent in another strip may be an entry still: then
//         its root is found, and draws again what it draws there.
// Cost: each bond is drawn once; 4 bytes a site, and two bits. Source: ours; R. H. Swendsen and J.-S. Wang,
// Phys. Rev. Lett. 58, 86 (1987), and U. Wolff, Phys. Rev. Lett. 62, 361 (1989), for the updates.
#pragma once

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/cell_lattice.h"
#include "core/union_find.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/draws.h"
#include "cpu/models/potts/record.h"
#include "cpu/models/potts/strip_flip.h"
#include "cpu/models/rows.h"

namespace conncomp {

// The memory of a forest, which updates share.
template <class Index>
struct CellForest {
  Buffer<Bits64> start;  // by word: where runs start
  Buffer<Index> parent;  // by site: of the first sites of runs

  explicit CellForest(const Replicas& replicas)
      : start(replicas.count * replicas.lattice.words()), parent(replicas.count * replicas.lattice.sites()) {}
};

// Finds the clusters of an update, measures them, and changes their spins.
template <class Index>
class CellClusters {
 public:
  CellClusters(const Replicas& replicas, const CellLattice& cells, CellForest<Index>& forest,
               const Bits64* words, Bits32 step, const Bits64* probabilities, int64_t* record)
      : replicas_(replicas),
        cells_(cells),
        lattice_(cells.lattice),
        strips_(replicas),
        forest_(forest),
        words_(words),
        step_(step),
        probabilities_(probabilities),
        record_(record) {}

  void label() {
    strips_.for_each([&](const Strip& strip) { label_strip(strip); });
    strips_.for_each([&](const Strip& strip) { sew_strip(strip); });
  }

  // Adds the sizes of clusters to the records. An entry of a root is meanwhile the complement of the size.
  void measure() {
    each_run([](Index* parent, Index run, int64_t) { flatten_entry(parent, run); });
    each_run([](Index* parent, Index run, int64_t) {
      if (parent[run] == run) parent[run] = ~Index(0);
    });
    each_run([](Index* parent, Index run, int64_t length) {
      const Index entry = Shared::load(parent + run);
      Shared::fetch_add(parent + (entry < 0 ? run : entry), Index(-length));
    });
    strips_.for_each([&](const Strip& strip) {
      ClusterTally tally;
      for_each_run(strip, [&](Index* parent, Index run, int64_t) {
        if (parent[run] >= 0) return;
        tally.add(~parent[run]);
        parent[run] = run;
      });
      tally.add_to(record_of(strip.replica));
    });
  }

  // Writes the new spins of all clusters.
  void flip(Bits64* new_words) {
    strips_.for_each([&](const Strip& strip) {
      const Draws draws = replicas_.draws(strip.replica, step_);
      Index* const parent = parents(strip.replica);
      int64_t drawn_word = -1;
      Bits64 drawn = 0;
      const auto coin_of_root = [&](Index root) {
        if (root / kWordSites != drawn_word) drawn = draw_coins(draws, drawn_word = root / kWordSites);
        return Index(drawn >> root % kWordSites & 1);
      };
      flip_words(strip, new_words, [&](Index run) {
        Index entry = Shared::load(parent + run), above = entry;
        while ((above = Shared::load(parent + entry)) >= 0 && above != entry) entry = above;
        const Index coin = above < 0 ? ~above : coin_of_root(entry);
        Shared::store(parent + run, ~coin);
        return coin != 0;
      });
    });
  }

  // Writes the new spins of the cluster of one site of each replica that is drawn.
  void flip_chosen(Bits64* new_words) {
    strips_.for_each([&](const Strip& strip) {
      const Draws draws = replicas_.draws(strip.replica, step_);
      const int64_t site = int64_t(below(half(draws(kChosenSite, 0), 0), Bits64(lattice_.sites())));
      const int64_t row = site / cells_.row_sites(), at = site % cells_.row_sites();
      const Bits64 start = starts(strip.replica)[row * lattice_.columns() + at / kWordSites];
      Index* const parent = parents(strip.replica);
      const Index chosen =
          find<Shared>(parent, Index(site - at % kWordSites + run_of(start, int(at % kWordSites))));
      flip_words(strip, new_words, [&](Index run) { return find<Shared>(parent, run) == chosen; });
    });
  }

 private:
  Index* parents(int64_t replica) const { return forest_.parent.data() + replica * lattice_.sites(); }
  Bits64* starts(int64_t replica) const { return forest_.start.data() + replica * lattice_.words(); }
  int64_t* record_of(int64_t replica) const { return record_ + replica * (kCounts + lattice_.states); }

  // Calls body(word) for the words of rows.
  template <class Body>
  void for_each_word(int64_t begin, int64_t end, Body&& body) const {
    for (int64_t row = begin; row < end; ++row) {
      CellWord word = cell_word(cells_, row, 0);
      for (int64_t c = 0; c < lattice_.columns(); ++c, ++word.place.column, ++word.place.word) body(word);
    }
  }

  // Calls body(parents, first site, length) for the runs of a strip.
  template <class Body>
  void for_each_run(const Strip& strip, Body&& body) const {
    Index* const parent = parents(strip.replica);
    const Bits64* const start = starts(strip.replica);
    for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
      for_each_word(begin, end, [&](const CellWord& word) {
        const int sites = std::popcount(lattice_.sites_of(word.place.column));
        const int64_t first = word.row * cells_.row_sites() + word.place.column * kWordSites;
        for (Bits64 bits = start[word.place.word]; bits != 0;) {
          const int p = std::countr_zero(bits);
          bits &= bits - 1;
          body(parent, Index(first + p), (bits == 0 ? sites : std::countr_zero(bits)) - p);
        }
      });
    });
  }
  template <class Body>
  void each_run(Body&& body) const {
    strips_.for_each([&](const Strip& strip) { for_each_run(strip, body); });
  }

  // Writes words in which the runs with flips(first site) have changed; asks in C order.
  template <class Flips>
  void flip_words(const Strip& strip, Bits64* new_words, Flips&& flips) const {
    const Bits64 *const start = starts(strip.replica), *const old = replicas_.spins(words_, strip.replica);
    Bits64* const spins = replicas_.spins(new_words, strip.replica);
    for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
      for_each_word(begin, end, [&](const CellWord& word) {
        const int64_t first = word.row * cells_.row_sites() + word.place.column * kWordSites;
        Bits64 changes = 0;
        bool before = false;
        for_each_bit(start[word.place.word], [&](int p) {
          const bool flipped = flips(Index(first + p));
          changes |= Bits64(flipped != before) << p;
          before = flipped;
        });
        const Bits64 sites = lattice_.sites_of(word.place.column);
        spins[word.place.word] = old[word.place.word] ^ (parity_up_to(changes) & sites);
      });
    });
  }

  // Lets bonds be the active ones of a kind of rows, those that lead to rows with takes(row, other row).
  template <class Takes>
  void draw(const Strip& strip, int kind, int64_t begin, int64_t end, SpinTally& tally,
            std::vector<Bits64>& bonds, Takes&& takes) const {
    const Bits64* const spins = replicas_.spins(words_, strip.replica);
    bonds.resize((end - begin) * lattice_.columns());
    Bits64* bond = bonds.data();
    for_each_word(begin, end, [&](const CellWord& word) {
      const OtherSites other = other_sites(cells_, word, kind);
      *bond++ = takes(word.row, other.row) ? satisfied_by(cells_, spins, word, other) : 0;
    });
    const int64_t count = int64_t(bonds.size());
    if (record_) tally.satisfied += count_bits(bonds.data(), count);
    activate(replicas_.draws(strip.replica, step_), begin * lattice_.columns(), kind,
             probabilities_[strip.replica], count, bonds.data());
    if (record_) tally.active += count_bits(bonds.data(), count);
  }

  // Unites what active bonds of a kind of rows join.
  template <class Join>
  void follow(const Strip& strip, int kind, int64_t begin, int64_t end, const Bits64* bond,
              Join&& join) const {
    const Bits64* const start = starts(strip.replica);
    for_each_word(begin, end, [&](const CellWord& word) {
      if (const Bits64 active = *bond++; active != 0)
        for_each_followed(cells_, start, word, other_sites(cells_, word, kind), active, join);
    });
  }

  void label_strip(const Strip& strip) {
    SpinTally tally(lattice_);
    std::vector<Bits64> bonds;
    Index* const parent = parents(strip.replica);
    Bits64* const start = starts(strip.replica);
    const auto join = [parent](int64_t u, int64_t d) { join_roots(parent, Index(u), Index(d)); };
    for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
      draw(strip, 0, begin, end, tally, bonds, [](int64_t, int64_t) { return true; });
      Bits64* bond = bonds.data();
      for_each_word(begin, end, [&](const CellWord& word) {
        const Bits64 runs = run_starts(lattice_, word.place.column, *bond);
        start[word.place.word] = runs;
        const int64_t first = word.row * cells_.row_sites() + word.place.column * kWordSites;
        for_each_bit(runs, [&](int p) { parent[first + p] = Index(first + p); });
        *bond++ &= ~(lattice_.sites_of(word.place.column) >> 1);  // what leads out of the word
      });
      follow(strip, 0, begin, end, bonds.data(), join);
      for (int kind = 1; kind < cells_.kinds; ++kind) {
        draw(strip, kind, begin, end, tally, bonds,
             [&](int64_t row, int64_t other) { return is_before(strip, row, other); });
        follow(strip, kind, begin, end, bonds.data(), join);
      }
      if (record_) {
        const Bits64* const spins = replicas_.spins(words_, strip.replica);
        for (int64_t row = begin; row < end; ++row) tally.add_row(lattice_, spins, row);
      }
    });
    if (record_) tally.add_to(record_of(strip.replica));
  }

  // Whether a row that bonds lead to is united with the strip's own.
  static bool is_before(const Strip& strip, int64_t row, int64_t other) {
    return strip.begin <= other && other <= row;
  }

  void sew_strip(const Strip& strip) {
    SpinTally tally(lattice_);
    std::vector<Bits64> bonds;
    Index* const parent = parents(strip.replica);
    for (int64_t row = strip.begin; row < strip.end; ++row) {
      poll(cells_.kinds);
      const CellWord word = cell_word(cells_, row, 0);
      for (int kind = 1; kind < cells_.kinds; ++kind) {
        if (is_before(strip, row, other_sites(cells_, word, kind).row)) continue;
        poll(cells_.row_sites());
        draw(strip, kind, row, row + 1, tally, bonds, [](int64_t, int64_t) { return true; });
        follow(strip, kind, row, row + 1, bonds.data(),
               [parent](int64_t u, int64_t d) { unite<Shared>(parent, Index(u), Index(d)); });
      }
    }
    if (record_) tally.add_to(record_of(strip.replica));
  }

  // Of two roots the larger gets the smaller as its parent, in one thread; without a branch to foresee.
  static void join_roots(Index* parent, Index u, Index d) {
    const Index a = root_of(parent, u), b = root_of(parent, d), root = std::min(a, b);
    parent[std::max(a, b)] = root;
    parent[u] = root;
    parent[d] = root;
  }
  static Index root_of(const Index* parent, Index run) {
    Index root = parent[run];
    for (Index next; (next = parent[root]) != root;) root = next;
    return root;
  }

  const Replicas replicas_;
  const CellLattice cells_;
  const Lattice lattice_;
  const Strips strips_;
  CellForest<Index>& forest_;
  const Bits64* const words_;
  const Bits32 step_;
  const Bits64* const probabilities_;
  int64_t* const record_;
};

// Memory that updates share. A call takes it away while it works, so that two calls never have the same.
struct CellForests {
  std::optional<CellForest<int32_t>> narrow;
  std::optional<CellForest<int64_t>> wide;
};

class CellEngine {
 public:
  CellEngine(const CellLattice& cells, Bits64 seed, Bits64 first_replica, int64_t replicas)
      : cells_(cells), replicas_{cells.lattice, seed, first_replica, replicas} {}

  CellForests take_memory() { return std::exchange(memory_, CellForests()); }
  void give_back(CellForests&& memory) { memory_ = std::move(memory); }

  // Writes the bonds that an update draws as words, those of kinds of a replica one after the other.
  void bonds(const Bits64* words, Bits32 step, const Bits64* probabilities, Bits64* out) const {
    each_word([&](int64_t replica, const CellWord& word) {
      for (int kind = 0; kind < cells_.kinds; ++kind)
        out[(replica * cells_.kinds + kind) * cells_.lattice.words() + word.place.word] =
            activate_word(replicas_.draws(replica, step), Bits64(word.place.word), kind,
                          probabilities[replica], satisfied(words, replica, word, kind));
    });
  }

  // Adds to the records what the spins tell.
  void count(const Bits64* words, int64_t* record) const {
    each_word([&](int64_t replica, const CellWord& word) {
      int64_t sum = 0;
      for (int kind = 0; kind < cells_.kinds; ++kind)
        sum += std::popcount(satisfied(words, replica, word, kind));
      const int64_t ones = std::popcount(replicas_.spins(words, replica)[word.place.word]);
      int64_t* const measured = record + replica * (kCounts + cells_.lattice.states);
      Shared::fetch_add(measured + kSatisfied, sum);
      Shared::fetch_add(measured + kCounts,
                        int64_t(std::popcount(cells_.lattice.sites_of(word.place.column))) - ones);
      Shared::fetch_add(measured + kCounts + 1, ones);
    });
  }

  // The update of Swendsen and Wang, or that of Wolff.
  void update(CellForests& memory, const Bits64* words, Bits64* new_words, Bits32 step,
              const Bits64* probabilities, bool chosen, int64_t* record, bool clusters) const {
    cells_.lattice.sites() < (int64_t(1) << 31)
        ? run(memory.narrow, words, new_words, step, probabilities, chosen, record, clusters)
        : run(memory.wide, words, new_words, step, probabilities, chosen, record, clusters);
  }

 private:
  Bits64 satisfied(const Bits64* words, int64_t replica, const CellWord& word, int kind) const {
    return satisfied_by(cells_, replicas_.spins(words, replica), word, other_sites(cells_, word, kind));
  }

  // Calls body(replica, word) for all words, in parallel.
  template <class Body>
  void each_word(Body&& body) const {
    const int64_t columns = cells_.lattice.columns();
    Strips(replicas_).for_each([&](const Strip& strip) {
      for_each_in(strip.begin * columns, strip.end * columns, [&](int64_t word) {
        poll(kWordSites);
        body(strip.replica, cell_word(cells_, word / columns, word % columns));
      });
    });
  }

  template <class Index>
  void run(std::optional<CellForest<Index>>& memory, const Bits64* words, Bits64* new_words, Bits32 step,
           const Bits64* probabilities, bool chosen, int64_t* record, bool clusters) const {
    if (!memory) memory.emplace(replicas_);
    CellClusters<Index> update(replicas_, cells_, *memory, words, step, probabilities, record);
    update.label();
    if (clusters) update.measure();
    chosen ? update.flip_chosen(new_words) : update.flip(new_words);
  }

  const CellLattice cells_;
  const Replicas replicas_;
  CellForests memory_;
};

}  // namespace conncomp
