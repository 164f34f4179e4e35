// The Ising model on lattices of any unit cell on the CPU: the updates of Swendsen and Wang and of Wolff, by
// a forest of runs (forest.h). The coin of a cluster's smallest site decides whether its spins change,
// whatever the sign of couplings. 1. Each thread takes a strip of rows. The first kind of bonds to an earlier
// row gives runs their parents. A kind that leads one site farther than the last one mostly connects nothing
// new:
//      row before   q - q'      Of p's bonds to q and q', one is followed if q and q' are in one run;
//                   | \ |       of the bonds of p and p' to q', one if p and p' are.
//      row          p - p'
// 2. Bonds to other strips, and over the ends of axes, are drawn and followed, with compare-and-swap.
// 3. Spins change where a Potts model of two states would draw state 1 (run_clusters.h).
// Source: ours; updates: Swendsen, Wang 1987; Wolff 1989.
#pragma once

#include "core/cell_lattice.h"
#include "cpu/models/run_clusters.h"

namespace conncomp {

// The runs of a row as seen by bonds that lead `shift` sites farther along it.
template <class Index> class RunsBeside {
 public:
  RunsBeside(const CellLattice& cells, const RunForest<Index>& forest, int64_t row, int shift)
      : cells_(cells),
        forest_(forest),
        first_word_(row * cells.lattice.columns()),
        length_(cells.row_sites()),
        shift_(shift) {}

  struct OfWord {
    Bits64 start;  // where runs start among these sites
    Index before;  // the number of the first run from there on, if the sites are beside each other
    const RunsBeside* around;  // null if they are
    int64_t first;

    Index run_of(int p, Bits64 up_to_p) const {
      return around == nullptr ? RunWord<Index>{start, before}.run_in(up_to_p) : around->run_of(first + p);
    }
  };
  OfWord of_word(int64_t column) const {
    const int64_t first = column * kWordSites, begin = first + shift_;
    const bool around = begin < 0 || begin + kWordSites > length_;
    const Bits64 start = bits_from(cells_, forest_.starts() + first_word_, within_row(begin));
    if (around) return {start, 0, this, first};
    const int64_t word = first_word_ + begin / kWordSites;
    const Bits64 before = forest_.start(word) & below(int(begin % kWordSites));
    return {start, Index(forest_.before(word) + std::popcount(before)), nullptr, 0};
  }
  Index run_of(int64_t x) const {
    const int64_t at = within_row(x + shift_), word = first_word_ + at / kWordSites;
    const Bits64 bits = up_to(int(at % kWordSites));
    return RunWord<Index>{forest_.start(word), forest_.before(word)}.run_in(bits);
  }

 private:
  int64_t within_row(int64_t x) const {
    while (x < 0) x += length_;
    while (x >= length_) x -= length_;
    return x;
  }

  const CellLattice& cells_;
  const RunForest<Index>& forest_;
  int64_t first_word_, length_;
  int shift_;
};

template <class Index> class CellClusters : public RunClusters<Index> {
 public:
  CellClusters(const LatticeReplicas& replicas, const CellLattice& cells, ForestMemory<Index>& memory,
      const Bits64* words, Bits32 step, const Bits64* probabilities, int64_t* record)
      : RunClusters<Index>(replicas, memory, step, record),
        cells_(cells),
        words_(words),
        probabilities_(probabilities) {}

  void label() {
    this->for_each_strip([this](auto&&... of) { label_strip(of...); });
    this->for_each_strip([this](auto&&... of) { sew_strip(of...); });
  }

  void change(Bits64* new_words) {
    this->flip(new_words);
    strips_.for_each([&](const Strip& strip) {
      const Bits64* const old = replicas_.spins(words_, strip.replica);
      Bits64* const spins = replicas_.spins(new_words, strip.replica);
      for_each_in(strip.begin * lattice_.columns(), strip.end * lattice_.columns(),
          [&](int64_t word) { spins[word] ^= old[word]; });
    });
  }

  void change_chosen(Bits64* new_words) {
    strips_.for_each([&](const Strip& strip) {
      const Draws draws = replicas_.draws(strip.replica, step_);
      const int64_t site = int64_t(below(half(draws(kChosenSite, 0), 0), Bits64(lattice_.sites())));
      const RunForest<Index> forest(lattice_, memory_, strip.replica);
      const RunsBeside<Index> runs(cells_, forest, site / cells_.row_sites(), 0);
      Index* const parent = forest.parents();
      const Index chosen = find<Concurrent>(parent, runs.run_of(site % cells_.row_sites()));
      const Bits64* const old = replicas_.spins(words_, strip.replica);
      Bits64* const spins = replicas_.spins(new_words, strip.replica);
      for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
        for (int64_t word = begin * lattice_.columns(); word < end * lattice_.columns(); ++word) {
          Bits64 changes = 0;
          const Index run = forest.before(word);
          bool before = word % lattice_.columns() != 0 && find<Concurrent>(parent, Index(run - 1)) == chosen;
          int rank = 0;
          if (before) changes = 1;
          for_each_bit(forest.start(word), [&](int p) {
            const bool flipped = find<Concurrent>(parent, Index(run + rank++)) == chosen;
            changes ^= Bits64(flipped != before) << p;
            before = flipped;
          });
          spins[word] = old[word] ^ (parity_up_to(changes) & lattice_.sites_of(word % lattice_.columns()));
        }
      });
    });
  }

 private:
  using Base = RunClusters<Index>;
  using Base::replicas_, Base::lattice_, Base::strips_, Base::memory_, Base::step_, Base::record_;
  using Base::slabs_, Base::sewn_;

  // Draws the bonds of rows to those of the slab before them or, with `inside` false, to others.
  void draw(const Strip& slab, bool inside, int kind, int64_t begin, int64_t end, SpinTally& tally,
      std::vector<Bits64>& bonds) const {
    const Bits64* const spins = replicas_.spins(words_, slab.replica);
    bonds.resize((end - begin) * lattice_.columns());
    Bits64* bond = bonds.data();
    for (int64_t row = begin; row < end; ++row) {
      CellWord word = cell_word(cells_, row, 0);
      for (int64_t c = 0; c < lattice_.columns(); ++c, ++word.place.column, ++word.place.word) {
        const OtherSites other = other_sites(cells_, word, kind);
        *bond++ = is_before(slab, row, other.row) == inside ? satisfied_by(cells_, spins, word, other) : 0;
      }
    }
    const int64_t count = int64_t(bonds.size());
    if (record_) tally.satisfied += count_bits(bonds.data(), count);
    activate(replicas_.draws(slab.replica, step_), begin * lattice_.columns(), kind,
        probabilities_[slab.replica], count, bonds.data());
    if (record_) tally.active += count_bits(bonds.data(), count);
  }

  void label_strip(int64_t piece, RunForest<Index>& forest, SpinTally& tally) {
    const Strip slab = slabs_.take(piece);
    std::vector<Bits64> bonds[kMostKinds];
    const auto draw_kinds = [&](int64_t begin, int64_t end) {
      for (int kind = 0; kind < cells_.kinds; ++kind) draw(slab, true, kind, begin, end, tally, bonds[kind]);
      if (record_) tally.add_rows(lattice_, replicas_.spins(words_, slab.replica), begin, end);
      return bonds[0].data();
    };
    this->make_runs(piece, forest, draw_kinds, [&](const RowPlace& place, int64_t word, bool closes) {
      join_row(slab, place.row, word, bonds, forest);
      if (closes) forest.close_row(place.row);
    });
  }

  void join_row(const Strip& slab, int64_t row, int64_t begin_word, const std::vector<Bits64>* bonds,
      RunForest<Index>& forest) const {
    const int64_t columns = lattice_.columns();
    const CellWord word = cell_word(cells_, row, 0);
    bool united = false, followed_before = false;
    for (int kind = 1; kind < cells_.kinds; ++kind) {
      const int64_t g = other_sites(cells_, word, kind).row;
      if (!is_before(slab, row, g)) {
        followed_before = false;
        continue;
      }
      const Bits64 *const active = bonds[kind].data() + begin_word, *const before =
                                                                        bonds[kind - 1].data() + begin_word;
      const RunsBeside<Index> other(cells_, forest, g, cells_.kind[kind].shift);
      const bool beside = followed_before && is_beside(kind);
      followed_before = true;
      const bool adopts = !united && g < row;
      united = true;
      Bits64 from_before = 0;
      FirstContacts first_contacts;
      for_each_in(0, columns, [&](int64_t c) {
        const auto beside_word = other.of_word(c);
        const RunWord<Index> own{forest.start(row * columns + c), forest.before(row * columns + c)};
        const Bits64 there = beside_word.start, here = own.start, bits = active[c];
        Bits64 contacts = bits & (~(bits << 1 | from_before) | here | there);
        from_before = bits >> (kWordSites - 1);
        if (beside) {
          const bool last = c + 1 == columns;
          const Bits64 next_bits = before[c] >> 1 | (last ? 0 : before[c + 1] << (kWordSites - 1)),
                       next_starts = here >> 1 | (last ? 1 : forest.start(row * columns + c + 1))
                                                     << (kWordSites - 1);
          contacts &= ~((before[c] & ~there) | (next_bits & ~next_starts));
        }
        Bits64 joined = contacts;
        const auto run_there = [&](Bits64 left) {
          return beside_word.run_of(std::countr_zero(left), left ^ (left - 1));
        };
        if (adopts) {
          Bits64 first = first_contacts(here, contacts);
          joined &= ~first;
          for (; first != 0; first &= first - 1)
            forest.parents()[own.run_in(first ^ (first - 1))] = forest.parents()[run_there(first)];
        }
        for (; joined != 0; joined &= joined - 1)
          forest.join(run_there(joined), own.run_in(joined ^ (joined - 1)));
      });
    }
  }
  // Whether a kind of bonds leads to the same row as the one before, and one site farther.
  bool is_beside(int kind) const {
    const BondKind &one = cells_.kind[kind - 1], &other = cells_.kind[kind];
    return kind > 1 && std::equal(one.step, one.step + kRowAxis, other.step) && one.shift + 1 == other.shift;
  }

  static bool is_before(const Strip& slab, int64_t row, int64_t other) {
    return slab.begin <= other && other <= row;
  }

  void sew_strip(int64_t piece, const RunForest<Index>& forest, SpinTally& tally) {
    const Strip strip = strips_[piece], slab = slabs_[piece];
    std::vector<Bits64> bonds;
    for (int64_t row = strip.begin; row < strip.end; ++row) {
      poll(cells_.kinds);
      const CellWord word = cell_word(cells_, row, 0);
      const RunsBeside<Index> own(cells_, forest, row, 0);
      for (int kind = 1; kind < cells_.kinds; ++kind) {
        const int64_t g = other_sites(cells_, word, kind).row;
        if (is_before(slab, row, g)) continue;
        draw(slab, false, kind, row, row + 1, tally, bonds);
        const RunsBeside<Index> other(cells_, forest, g, cells_.kind[kind].shift);
        Bits64 from_before = 0;
        for (int64_t c = 0; c < lattice_.columns(); ++c) {
          poll(kWordSites);
          const Bits64 bits = bonds[c],
                       runs = forest.start(row * lattice_.columns() + c) | other.of_word(c).start;
          for_each_bit(bits & (~(bits << 1 | from_before) | runs), [&](int p) {
            const int64_t x = c * kWordSites + p;
            forest.sew(other.run_of(x), own.run_of(x), sewn_[piece]);
          });
          from_before = bits >> (kWordSites - 1);
        }
      }
    }
  }

  const CellLattice cells_;
  const Bits64* const words_;
  const Bits64* const probabilities_;
};

class CellEngine {
 public:
  CellEngine(const CellLattice& cells, Bits64 seed, Bits64 first_replica, int64_t replicas)
      : cells_(cells), replicas_{cells.lattice, seed, first_replica, replicas} {}

  ForestMemories take_memory() { return std::exchange(memory_, ForestMemories()); }
  void give_back(ForestMemories&& memory) { memory_ = std::move(memory); }

  void bonds(const Bits64* words, Bits32 step, const Bits64* probabilities, Bits64* out) const {
    each_word([&](int64_t replica, const CellWord& word) {
      for (int kind = 0; kind < cells_.kinds; ++kind)
        out[(replica * cells_.kinds + kind) * cells_.lattice.words() + word.place.word] =
            activate_word(replicas_.draws(replica, step), Bits64(word.place.word), kind,
                probabilities[replica], satisfied(words, replica, word, kind));
    });
  }

  void count(const Bits64* words, int64_t* record) const {
    each_word([&](int64_t replica, const CellWord& word) {
      int64_t sum = 0;
      for (int kind = 0; kind < cells_.kinds; ++kind)
        sum += std::popcount(satisfied(words, replica, word, kind));
      const int64_t ones = std::popcount(replicas_.spins(words, replica)[word.place.word]);
      int64_t* const measured = record + replica * (kCounts + cells_.lattice.states);
      Concurrent::fetch_add(measured + kSatisfied, sum);
      Concurrent::fetch_add(
          measured + kCounts, int64_t(std::popcount(cells_.lattice.sites_of(word.place.column))) - ones);
      Concurrent::fetch_add(measured + kCounts + 1, ones);
    });
  }

  void update(ForestMemories& memories, const Bits64* words, Bits64* new_words, Bits32 step,
      const Bits64* probabilities, bool chosen, int64_t* record, bool clusters) const {
    memories.use(replicas_, [&]<class Index>(ForestMemory<Index>& memory) {
      CellClusters<Index> update(replicas_, cells_, memory, words, step, probabilities, record);
      update.label();
      if (clusters) update.measure();
      chosen ? update.change_chosen(new_words) : update.change(new_words);
    });
  }

 private:
  Bits64 satisfied(const Bits64* words, int64_t replica, const CellWord& word, int kind) const {
    return satisfied_by(cells_, replicas_.spins(words, replica), word, other_sites(cells_, word, kind));
  }

  void each_word(auto&& body) const {
    const int64_t columns = cells_.lattice.columns();
    Strips(replicas_).for_each([&](const Strip& strip) {
      for_each_in(strip.begin * columns, strip.end * columns, [&](int64_t word) {
        poll(kWordSites);
        body(strip.replica, cell_word(cells_, word / columns, word % columns));
      });
    });
  }

  const CellLattice cells_;
  const LatticeReplicas replicas_;
  ForestMemories memory_;
};

}
