// The clusters of a lattice as a forest of runs, and the update of Swendsen and Wang that stands on it.
//
// What: a run is a maximal stretch of sites that active bonds along the row join. Runs are numbered in C
// order and united where active bonds between rows join them; a cluster's root is its first run, which begins
// at its smallest site. Labels are never written: a root draws the new state, the runs of its cluster copy
// it, and whole words of spins are made of the states of the runs that start there. How: 1. Each thread takes
// a strip of rows, a few of which at a time get their active bonds, their runs, and
//         the unions with rows of the strip before them. One active bond is followed for each stretch in
//         which neither of two runs breaks; the first bond that reaches a new run only gives it a parent.
//      2. Bonds between strips are drawn and followed, with compare-and-swap.
//      3. If clusters are measured, lengths of runs are added up at the roots.
//      4. Runs get their states in C order, in which a parent has got one before. A parent in another strip
//         may not: its root is then found, and draws again what it draws there.
// Cost: each bond is drawn once. Memory: an index a site at most, as a strip numbers its runs from the number
// of its first site on, of which half or so are written; a bit a site for where runs start, and half of one
// for the runs before a word. Source: ours; R. H. Swendsen and J.-S. Wang 1987 for the update.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"
#include "cpu/models/draws.h"
#include "cpu/models/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// Puts the low bits of `bits`, in order, where `mask` has bits.
inline Bits64 deposit(Bits64 bits, Bits64 mask) {
#ifdef __BMI2__
  return _pdep_u64(bits, mask);
#else
  Bits64 deposited = 0;
  for (; mask; mask &= mask - 1, bits >>= 1) deposited |= bits & 1 ? mask & (0 - mask) : 0;
  return deposited;
#endif
}

// Bit p is the sum, modulo 2, of the bits up to p.
inline Bits64 parity_up_to(Bits64 bits) {
  for (int shift = 1; shift < kWord; shift *= 2) bits ^= bits << shift;
  return bits;
}

// The memory of a forest, which updates share. The sites of a replica are fewer than Index can tell apart.
template <class Index>
struct ForestMemory {
  Buffer<Bits64> start;          // by word: where runs start
  Buffer<Index> before, parent;  // by word: the number of its first run; by run

  explicit ForestMemory(const Replicas& replicas)
      : start(replicas.count * replicas.lattice.words()),
        before(replicas.count * replicas.lattice.words()),
        parent(replicas.count * replicas.lattice.sites()) {}
};

// The runs of a replica. Entries of parents are atomic where strips meet.
template <class Index>
class RunForest {
 public:
  RunForest(const Lattice& lattice, ForestMemory<Index>& memory, int64_t replica)
      : start_(memory.start.data() + replica * lattice.words()),
        before_(memory.before.data() + replica * lattice.words()),
        parent_(memory.parent.data() + replica * lattice.sites()),
        columns_(lattice.columns()) {}

  Index* parents() const { return parent_; }
  Bits64 start(int64_t word) const { return start_[word]; }
  // The number of the first run that starts in a word, or after it.
  Index before(int64_t word) const { return before_[word]; }

  // Lets the runs of a row, the first of which has number `first`, begin where no active bond leads from the
  // site before; returns the number after the last one.
  Index begin_row(const Lattice& lattice, int64_t row, const Bits64* active, Index first) {
    Bits64 from_before = 0;
    Index next = first;
    for_each_in(0, columns_, [&, word = row * columns_](int64_t c) mutable {
      const Bits64 start = lattice.sites_of(c) & ~(active[c] << 1 | from_before);
      from_before = active[c] >> (kWord - 1);
      start_[word] = start;
      before_[word++] = next;
      next += Index(std::popcount(start));
    });
    for_each_in(first, next, [&](int64_t run) { parent_[run] = Index(run); });
    return next;
  }

  // Calls body(run of g, run of h) once for each stretch in which active bonds join runs of the rows g and h
  // and neither breaks.
  //
  //     g                   1 - 1 - 1   1 - 1
  //     active bonds        |   |       |   |
  //     h                   1 - 1   1 - 1 - 1
  //     followed            x           x
  template <class Body>
  void for_each_contact(int64_t g, int64_t h, const Bits64* active, Body&& body) const {
    Bits64 from_before = 0;
    for_each_in(0, columns_, [&, u = g * columns_, d = h * columns_](int64_t c) mutable {
      Bits64 contacts = followed(active[c], u, d, from_before);
      for (; contacts; contacts &= contacts - 1) {
        const Bits64 up_to_contact = contacts ^ (contacts - 1);
        body(run_in(u, up_to_contact), run_in(d, up_to_contact));
      }
      ++u, ++d;
    });
  }

  // Unites row h with the row g before it, both in this thread's strip; no run of h has been united before.
  // The first contact of a run of h gives it the parent of the run of g.
  void adopt_row(int64_t g, int64_t h, const Bits64* active) {
    Bits64 from_before = 0;
    bool orphan = false;  // whether the run that leads out of the word before has no contact yet
    for_each_in(0, columns_, [&, u = g * columns_, d = h * columns_](int64_t c) mutable {
      const Bits64 contacts = followed(active[c], u, d, from_before), start = start_[d];
      // From the lowest bit of each run to its lowest contact, a subtraction borrows.
      const Bits64 heads = start | Bits64(orphan), marks = contacts | start >> 1 | Bits64(1) << (kWord - 1);
      const Bits64 lowest = marks & ~(marks - heads), first = lowest & contacts;
      for (Bits64 left = first; left; left &= left - 1) {
        const Bits64 up_to_contact = left ^ (left - 1);
        parent_[run_in(d, up_to_contact)] = parent_[run_in(u, up_to_contact)];
      }
      for (Bits64 left = contacts & ~first; left; left &= left - 1) {
        const Bits64 up_to_contact = left ^ (left - 1);
        join(run_in(u, up_to_contact), run_in(d, up_to_contact));
      }
      const int highest = std::bit_width(start) - 1;
      orphan = (start || orphan) && (contacts >> std::max(highest, 0)) == 0;
      ++u, ++d;
    });
  }

  // Unites row h with a row g, both in this thread's strip.
  void join_rows(int64_t g, int64_t h, const Bits64* active) {
    for_each_contact(g, h, active, [&](Index u, Index d) { join(u, d); });
  }
  // Unites rows of any strips.
  void unite_rows(int64_t g, int64_t h, const Bits64* active) {
    for_each_contact(g, h, active, [&](Index u, Index d) { unite<Shared>(parent_, u, d); });
  }
  // Unites the last run of a row with the first one.
  void close_row(int64_t row) { join(before_[row * columns_], run_in((row + 1) * columns_ - 1, kAll)); }

  // Shortens the paths from runs, which later rows begin at.
  void shorten(Index begin, Index end) {
    for_each_in(begin, end, [&](int64_t run) { parent_[run] = parent_[parent_[run]]; });
  }

  // Calls body(run, site, length) for the runs of a row.
  template <class Body>
  void for_each_run(const Lattice& lattice, int64_t row, Body&& body) const {
    const int64_t length = lattice.length[kRowAxis];
    Index run = before_[row * columns_] - 1;
    int64_t begin = 0;
    for_each_in(0, columns_, [&](int64_t c) {
      for_each_bit(start_[row * columns_ + c], [&](int p) {
        const int64_t end = c * kWord + p;
        if (end > 0) body(run, row * length + begin, end - begin);
        begin = end;
        ++run;
      });
    });
    body(run, row * length + begin, length - begin);
  }

 private:
  // The last run that starts before a word or at one of its bits that are given.
  Index run_in(int64_t word, Bits64 bits) const {
    return before_[word] + Index(std::popcount(start_[word] & bits)) - 1;
  }

  // Of active bonds from word u to word d, the first of each stretch.
  Bits64 followed(Bits64 active, int64_t u, int64_t d, Bits64& from_before) const {
    const Bits64 before = active << 1 | from_before;
    from_before = active >> (kWord - 1);
    return active & (~before | start_[u] | start_[d]);
  }

  // Unites two runs of this thread's. Of two roots the larger gets the smaller as its parent; if they are one
  // and the same that changes nothing, so that no branch has to be foreseen.
  void join(Index u, Index d) {
    const Index a = root_of(u), b = root_of(d), root = std::min(a, b);
    parent_[std::max(a, b)] = root;
    parent_[u] = root;
    parent_[d] = root;
  }
  Index root_of(Index run) const {
    Index root = parent_[run];
    for (Index next; (next = parent_[root]) != root;) root = next;
    return root;
  }

  Bits64* start_;
  Index *before_, *parent_;
  int64_t columns_;
};

// Labels the clusters of an update, measures them, and draws their new states.
template <class Index>
class SwendsenWang {
 public:
  // `probabilities` has that of a bond for each replica; `record` is nullptr or the records of all of them.
  SwendsenWang(const Replicas& replicas, ForestMemory<Index>& memory, const Bits64* words, Bits32 step,
               const Bits64* probabilities, int64_t* record)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        strips_(replicas),
        memory_(memory),
        words_(words),
        step_(step),
        probabilities_(probabilities),
        record_(record),
        end_(strips_.count) {}

  void label() {
    parallel_for(strips_.count, [&](int64_t piece) { label_strip(piece); });
    if (strips_.per_replica > 1) parallel_for(strips_.count, [&](int64_t piece) { sew_strip(piece); });
  }

  // Adds the sizes of clusters to the records. An entry of a root is meanwhile the complement of the size.
  void measure() {
    each_run([](Index* parent, Index run) { flatten_entry(parent, run); });
    each_run([](Index* parent, Index run) {
      if (parent[run] == run) parent[run] = ~Index(0);
    });
    strips_.for_each([&](const Strip& strip) {
      const RunForest<Index> forest(lattice_, memory_, strip.replica);
      Index* const parent = forest.parents();
      for (int64_t row = strip.begin; row < strip.end; ++row)
        forest.for_each_run(lattice_, row, [&](Index run, int64_t, int64_t length) {
          const Index root = Shared::load(parent + run);
          Shared::fetch_add(parent + (root < 0 ? run : root), Index(-length));
        });
    });
    parallel_for(strips_.count, [&](int64_t piece) {
      ClusterTally tally;
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for_each_in(first_run(strip), end_[piece], [&](int64_t run) {
        if (parent[run] >= 0) return;
        tally.add(~parent[run]);
        parent[run] = Index(run);
      });
      tally.add_to(record_of(strip.replica));
    });
  }

  // Writes the new spins.
  void flip(Bits64* new_words) {
    strips_.for_each([&](const Strip& strip) { flip_strip(strip, new_words); });
  }

 private:
  // How many words get their bonds, or their new spins, at once; or a row, if that has more.
  static constexpr int64_t kChunk = 256;

  Index first_run(const Strip& strip) const { return Index(strip.begin * lattice_.length[kRowAxis]); }
  int64_t* record_of(int64_t replica) const { return record_ + replica * (kCounts + lattice_.states); }

  // Calls body(parents, run) for every run, in parallel.
  template <class Body>
  void each_run(Body&& body) {
    parallel_for(strips_.count, [&](int64_t piece) {
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for_each_in(first_run(strip), end_[piece], [&](int64_t run) { body(parent, Index(run)); });
    });
  }

  // Calls body(begin, end) for a few rows at a time of a strip.
  template <class Body>
  void for_each_chunk(const Strip& strip, Body&& body) const {
    const int64_t rows = std::max<int64_t>(kChunk / lattice_.columns(), 1);
    for (int64_t begin = strip.begin; begin < strip.end; begin += rows) {
      const int64_t end = std::min(begin + rows, strip.end);
      checkpoint((end - begin) * lattice_.length[kRowAxis]);
      body(begin, end);
    }
  }

  void label_strip(int64_t piece) {
    const Strip strip = strips_[piece];
    const Bits64* const spins = replicas_.spins(words_, strip.replica);
    const Draws draws = replicas_.draws(strip.replica, step_);
    const Bits64 probability = probabilities_[strip.replica];
    const int64_t columns = lattice_.columns();
    RunForest<Index> forest(lattice_, memory_, strip.replica);
    SpinTally tally(lattice_);
    // Makes bonds between equal spins active ones.
    const auto draw = [&](int64_t row, int axis, int64_t rows, Bits64* bonds) {
      if (record_) tally.satisfied += count_bits(bonds, rows * columns);
      activate(draws, row * columns, axis, probability, rows * columns, bonds);
      if (record_) tally.active += count_bits(bonds, rows * columns);
    };
    std::vector<Bits64> along, before[kRowAxis], around(columns);
    Index next = first_run(strip);
    for_each_chunk(strip, [&](int64_t begin, int64_t end) {
      const int64_t rows = end - begin;
      along.resize(rows * columns);
      for (int64_t row = begin; row < end; ++row)
        equal_along(lattice_, spins, row, along.data() + (row - begin) * columns);
      draw(begin, kRowAxis, rows, along.data());
      for (int axis = 0; axis < kRowAxis; ++axis) {
        if (lattice_.length[axis] == 1) continue;
        before[axis].assign(rows * columns, 0);
        RowPlace place(lattice_, begin);
        for (; place.row < end; place.advance(lattice_))
          if (const int64_t g = row_before(lattice_, place, axis); g >= strip.begin)
            equal_sites(lattice_, spins, g, place.row, before[axis].data() + (place.row - begin) * columns);
        draw(begin - row_stride(lattice_, axis), axis, rows, before[axis].data());
      }
      RowPlace place(lattice_, begin);
      for (; place.row < end; place.advance(lattice_)) {
        const int64_t offset = (place.row - begin) * columns;
        const Index first = next;
        next = forest.begin_row(lattice_, place.row, along.data() + offset, first);
        bool adopted = false;
        for (int axis = kRowAxis - 1; axis >= 0; --axis) {
          if (const int64_t g = row_before(lattice_, place, axis); g >= strip.begin) {
            adopted ? forest.join_rows(g, place.row, before[axis].data() + offset)
                    : forest.adopt_row(g, place.row, before[axis].data() + offset);
            adopted = true;
          }
          if (const int64_t g = row_around(lattice_, place, axis); g >= strip.begin) {
            equal_sites(lattice_, spins, g, place.row, around.data());
            draw(place.row, axis, 1, around.data());
            if (g < place.row) forest.join_rows(g, place.row, around.data());
            adopted = true;
          }
        }
        const int last = int((lattice_.length[kRowAxis] - 1) % kWord);
        if (along[offset + columns - 1] >> last & 1) forest.close_row(place.row);
        forest.shorten(first, next);
      }
      if (record_)
        for (int64_t row = begin; row < end; ++row) tally.add_row(lattice_, spins, row);
    });
    end_[piece] = next;
    if (record_) tally.add_to(record_of(strip.replica));
  }

  // Unites the rows of a strip with those of strips before.
  void sew_strip(int64_t piece) {
    const Strip strip = strips_[piece];
    const Bits64* const spins = replicas_.spins(words_, strip.replica);
    const Draws draws = replicas_.draws(strip.replica, step_);
    const int64_t columns = lattice_.columns();
    RunForest<Index> forest(lattice_, memory_, strip.replica);
    SpinTally tally(lattice_);
    std::vector<Bits64> bonds(columns);
    // Bonds of row `owner` along an axis, which join rows g and h.
    const auto sew = [&](int64_t g, int64_t h, int64_t owner, int axis) {
      if (g < 0 || g >= strip.begin) return;
      checkpoint(lattice_.length[kRowAxis]);
      equal_sites(lattice_, spins, g, h, bonds.data());
      tally.satisfied += count_bits(bonds.data(), columns);
      activate(draws, owner * columns, axis, probabilities_[strip.replica], columns, bonds.data());
      tally.active += count_bits(bonds.data(), columns);
      forest.unite_rows(g, h, bonds.data());
    };
    for (RowPlace place(lattice_, strip.begin); place.row < strip.end; place.advance(lattice_)) {
      checkpoint(1);
      for (int axis = 0; axis < kRowAxis; ++axis) {
        const int64_t g = row_before(lattice_, place, axis);
        sew(g, place.row, g, axis);
        sew(row_around(lattice_, place, axis), place.row, place.row, axis);
      }
    }
    if (record_) tally.add_to(record_of(strip.replica));
  }

  // The state of a run in a strip before, complemented, as its own strip has written it or will write it.
  Index state_elsewhere(int64_t replica, const RunForest<Index>& forest, const Draws& draws,
                        Index run) const {
    for (Index entry;; run = entry) {
      entry = Shared::load(forest.parents() + run);
      if (entry < 0) return entry;
      if (entry == run) return ~Index(draw_any_state(draws, site_of(replica, forest, run), lattice_.states));
    }
  }

  // The site at which a run starts.
  int64_t site_of(int64_t replica, const RunForest<Index>& forest, Index run) const {
    const int64_t columns = lattice_.columns(), length = lattice_.length[kRowAxis];
    const Strip strip = strips_.with_row(replica, run / length);
    int64_t word = strip.begin * columns;  // the last one before which no run of a greater number starts
    for (int64_t end = strip.end * columns; end - word > 1;) {
      const int64_t middle = word + (end - word) / 2;
      (forest.before(middle) <= run ? word : end) = middle;
    }
    const Bits64 start = deposit(Bits64(1) << (run - forest.before(word)), forest.start(word));
    return word / columns * length + word % columns * kWord + std::countr_zero(start);
  }

  // The roots among the runs of a few rows, in order, and what is drawn for them.
  struct Roots {
    std::vector<Index> runs;
    std::vector<Bits64> sites, indices, first_bits, last_bits;

    void draw(const Draws& draws, Purpose purpose) {
      first_bits.resize(indices.size()), last_bits.resize(indices.size());
      draw_all(draws, purpose, indices.data(), int64_t(indices.size()), first_bits.data(), last_bits.data());
    }
    // Calls body(run, its new state); as draw_any_state.
    template <class Body>
    void for_each_state(const Draws& draws, int states, Body&& body) {
      if (states > 2) {
        indices = sites;
        draw(draws, kCluster);
        for (size_t k = 0; k < runs.size(); ++k) body(runs[k], int(below(first_bits[k], Bits64(states))));
        return;
      }
      indices.clear();  // those of words of coins, each once
      for (Bits64 site : sites)
        if (indices.empty() || indices.back() != site / kWordSites) indices.push_back(site / kWordSites);
      draw(draws, kCoin);
      for (size_t k = 0, word = 0; k < runs.size(); ++k) {
        if (indices[word] != sites[k] / kWordSites) ++word;
        body(runs[k], int(first_bits[word] >> sites[k] % kWordSites & 1));
      }
    }
  };

  // Leaves in the entry of each run the complement of its new state. What is not negative is a parent still.
  void flip_strip(const Strip& strip, Bits64* new_words) const {
    const RunForest<Index> forest(lattice_, memory_, strip.replica);
    const Draws draws = replicas_.draws(strip.replica, step_);
    const int64_t columns = lattice_.columns(), length = lattice_.length[kRowAxis];
    const Index first = first_run(strip);
    Index* const parent = forest.parents();
    Bits64* const spins = replicas_.spins(new_words, strip.replica);
    Roots roots;
    for_each_chunk(strip, [&](int64_t begin, int64_t end) {
      roots.runs.clear(), roots.sites.clear();
      for (int64_t row = begin; row < end; ++row)
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t word = row * columns + c;
          Index run = forest.before(word);
          for_each_bit(forest.start(word), [&](int p) {
            if (parent[run] == run) {
              roots.runs.push_back(run);
              roots.sites.push_back(Bits64(row * length + c * kWord + p));
            }
            ++run;
          });
        }
      roots.for_each_state(draws, lattice_.states,
                           [&](Index run, int state) { Shared::store(parent + run, ~Index(state)); });
      for (int64_t row = begin; row < end; ++row) {
        Bits64 state = 0;  // of the run that leads out of the word before
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t word = row * columns + c;
          const Bits64 start = forest.start(word);
          const Index first_in_word = forest.before(word);
          const int runs = std::popcount(start);
          for (Index run = first_in_word; run < first_in_word + runs; ++run) {
            const Index entry = Shared::load(parent + run);
            if (entry < 0) continue;
            const Index code = entry >= first ? Shared::load(parent + entry)
                                              : state_elsewhere(strip.replica, forest, draws, entry);
            Shared::store(parent + run, code);
          }
          Bits64 last_state = state;
          for (int plane = 0; plane < lattice_.planes; ++plane) {
            Bits64 digits = 0;
            for (int k = 0; k < runs; ++k) digits |= Bits64(~parent[first_in_word + k] >> plane & 1) << k;
            const Bits64 before = state >> plane & 1;
            const Bits64 changes = digits ^ (digits << 1 | before);
            const Bits64 bits = parity_up_to(deposit(changes, start)) ^ (before ? kAll : 0);
            spins[plane * lattice_.words() + word] = bits & lattice_.sites_of(c);
            const Bits64 last = bits >> (kWord - 1);
            last_state = (last_state & ~(Bits64(1) << plane)) | last << plane;
          }
          state = last_state;
        }
      }
    });
  }

  const Replicas replicas_;
  const Lattice lattice_;
  const Strips strips_;
  ForestMemory<Index>& memory_;
  const Bits64* const words_;
  const Bits32 step_;
  const Bits64* const probabilities_;
  int64_t* const record_;
  std::vector<Index> end_;  // by strip: the number after its last run
};

}  // namespace conncomp
