// Clusters of runs: their sizes, and the new states of their sites. Derived classes unite them (forest.h).
#pragma once

#include "cpu/models/draws.h"
#include "cpu/models/forest.h"
#include "cpu/models/record.h"

namespace conncomp {

// New spins from a forest of runs, a strip of rows at a time. A root draws a state, the runs of its cluster
// copy it, and words of spins are made of the states of the runs that start there. Entries of runs become
// states, as negative complements, in C order, in which a parent has got its state before. Roots of slabs
// with parents in others, and the roots of these, get states first. A parent in another slab may have none
// yet: then its root is found, and drawn again. Changes of state from run to run, at the starts of runs,
// become spins by parity:
//      runs start       1 . . 1 . 1 1 .
//      their states     1     0   1 1           of a digit
//      changes          1     1   1 0           from the run before, the first one from none
//      spins            1 1 1 0 0 1 1 1         the parity of the changes so far
// and bits before the first run of a word are those of the run before.

// Bit p is the sum, modulo 2, of the bits up to p.
inline Bits64 parity_up_to(Bits64 bits) {
  for (int shift = 1; shift < kWord; shift *= 2) bits ^= bits << shift;
  return bits;
}

class BitString {
 public:
  void clear(int64_t count) { words_.assign(count / kWord + 2, 0); }  // one more word may be read
  Bits64* words() { return words_.data(); }

  template <class Index>
  [[gnu::always_inline]] void fill(const Index* entry, Index first, int64_t count, auto predicate) {
    words_.resize(count / kWord + 2);
    for (int64_t begin = 0; begin < count; begin += kWord) {
      const Index *const entries = entry + begin, first_entry = Index(first + begin);
      words_[begin / kWord] = mask_where(int(std::min<int64_t>(count - begin, kWord)),
          [=](int p) { return predicate(entries[p], Index(first_entry + p)); });
    }
  }
  void set(int64_t i, Bits64 bits) {
    const int shift = int(i % kWord);
    words_[i / kWord] |= bits << shift;
    words_[i / kWord + 1] |= bits >> 1 >> (kWord - 1 - shift);
  }
  Bits64 from(int64_t i) const {
    const int shift = int(i % kWord);
    return words_[i / kWord] >> shift | words_[i / kWord + 1] << 1 << (kWord - 1 - shift);
  }

 private:
  std::vector<Bits64> words_;
};

template <class Index> class StripFlip {
 public:
  StripFlip(const Lattice& lattice, ForestMemory<Index>& memory, const Strips& strips, const Strip& slab,
      const Draws& draws)
      : lattice_(lattice),
        forest_(lattice, memory, slab.replica),
        strips_(strips),
        replica_(slab.replica),
        draws_(draws),
        columns_(lattice.columns()),
        first_(Index(slab.begin * lattice.length[kRowAxis])) {}

  // Lets the entries of some runs, and of their roots, become states, before all others.
  void settle_first(const std::vector<Index>& runs) {
    Index* const parent = forest_.parents();
    for_each_in(0, int64_t(runs.size()), [&](int64_t i) {
      Index root = runs[i], entry;
      while ((entry = Concurrent::load(parent + root)) >= 0 && entry != root) root = entry;
      if (entry == root) Concurrent::store(parent + root, entry = state_elsewhere(root));
      Concurrent::store(parent + runs[i], entry);
    });
  }

  void write(int64_t begin, int64_t end, Bits64* spins) {
    const int64_t last_word = end * columns_ - 1;
    const Index runs_begin = forest_.before(begin * columns_),
                runs_end = forest_.before(last_word) + Index(std::popcount(forest_.start(last_word)));
    lattice_.states == 2 ? draw_coins(begin, end, runs_begin, runs_end)
                         : draw_roots(begin, end, runs_begin, runs_end);
    settle(runs_begin, runs_end);
    const Index* const entry = forest_.parents() + runs_begin;
    for (int plane = 0; plane < lattice_.planes; ++plane) {
      const Index digit = Index(1) << plane;  // of a state, whose complement is the entry
      digits_.fill(
          entry, runs_begin, runs_end - runs_begin, [=](Index entry, Index) { return (entry & digit) == 0; });
      for (int64_t row = begin; row < end; ++row)
        write_row(row, runs_begin, spins + plane * lattice_.words() + row * columns_);
    }
  }

 private:
  void draw_coins(int64_t begin, int64_t end, Index runs_begin, Index runs_end) {
    const int64_t length = lattice_.length[kRowAxis], first = begin * length / kWord,
                  count = (end * length - 1) / kWord + 1 - first;
    sites_.resize(count);
    decisions_.resize(count);
    for (int64_t k = 0; k < count; ++k) sites_[k] = Bits64(first + k);
    coins_of_sites_.clear(count * kWord);
    draw_all(draws_, kCoin, sites_.data(), count, coins_of_sites_.words(), decisions_.data());
    coins_.clear(runs_end - runs_begin);
    for (int64_t row = begin, word = begin * columns_; row < end; ++row)
      for (int64_t c = 0; c < columns_; ++c, ++word)
        coins_.set(forest_.before(word) - runs_begin,
            extract(coins_of_sites_.from(row * length + c * kWord - first * kWord), forest_.start(word)));
  }

  void draw_roots(int64_t begin, int64_t end, Index runs_begin, Index runs_end) {
    Index* const entry = forest_.parents() + runs_begin;
    const int64_t runs = runs_end - runs_begin;
    roots_.fill(entry, runs_begin, runs, [](Index parent, Index run) { return parent == run; });
    sites_.resize(runs);
    runs_.resize(runs);
    int64_t count = 0;
    for (int64_t row = begin, word = begin * columns_; row < end; ++row) {
      Bits64 site = Bits64(row * lattice_.length[kRowAxis]);
      for (int64_t c = 0; c < columns_; ++c, ++word, site += kWord) {
        const Index before = forest_.before(word) - runs_begin;
        const Bits64 start = forest_.start(word);
        for_each_bit(deposit(roots_.from(before), start), [&](int p) {
          sites_[count] = site + Bits64(p);
          runs_[count++] = before + Index(std::popcount(start & below(p)));
        });
      }
    }
    states_.resize(count);
    decisions_.resize(count);
    draw_all(draws_, kCluster, sites_.data(), count, states_.data(), decisions_.data());
    for (int64_t k = 0; k < count; ++k) {
      Concurrent::store(entry + runs_[k], ~Index(below(states_[k], Bits64(lattice_.states))));
    }
  }

  // Lets entries of runs become states; those of earlier runs of this slab are.
  void settle(Index begin, Index end) {
    Index run = begin;
#ifdef __AVX2__
    // Each of the eight entries is read and written whole, as other threads read them.
    if constexpr (sizeof(Index) == 4) {
      const __m256i none = _mm256_set1_epi32(-1), first = _mm256_set1_epi32(first_),
                    lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                    bits = _mm256_sllv_epi32(_mm256_set1_epi32(1), lanes);
      for (; run + 8 <= end; run += 8) {
        __m256i* const at = reinterpret_cast<__m256i*>(forest_.parents() + run);
        __m256i entry = _mm256_loadu_si256(at);
        if (lattice_.states == 2) {
          const __m256i roots = _mm256_cmpeq_epi32(entry, _mm256_add_epi32(_mm256_set1_epi32(run), lanes)),
                        coins = _mm256_set1_epi32(int(coins_.from(run - begin))),
                        heads = _mm256_cmpeq_epi32(_mm256_and_si256(coins, bits), bits);
          entry = _mm256_blendv_epi8(entry, _mm256_add_epi32(none, heads), roots);
          _mm256_storeu_si256(at, entry);
        }
        const __m256i parents = _mm256_cmpgt_epi32(entry, none);
        if (!_mm256_testz_si256(parents, _mm256_cmpgt_epi32(first, entry))) {
          settle_each(begin, run, run + 8);
          continue;
        }
        entry = _mm256_mask_i32gather_epi32(entry, forest_.parents(), entry, parents, 4);
        _mm256_storeu_si256(at, entry);
        // A parent among the eight may have had no state yet.
        if (_mm256_movemask_ps(_mm256_castsi256_ps(entry)) != 0xff) settle_each(begin, run, run + 8);
      }
    }
#endif
    settle_each(begin, run, end);
  }
  void settle_each(Index begin, Index run, Index end) {
    Index* const parent = forest_.parents();
    for (; run < end; ++run) {
      const Index entry = parent[run];
      if (entry < 0) continue;
      const Index state = entry == run     ? ~Index(coins_.from(run - begin) & 1)
                          : entry < first_ ? state_elsewhere(entry)
                                           : parent[entry];
      Concurrent::store(parent + run, state);
    }
  }

  Index state_elsewhere(Index run) const {
    for (Index entry;; run = entry) {
      entry = Concurrent::load(forest_.parents() + run);
      if (entry < 0) return entry;
      if (entry == run) return ~Index(draw_any_state(draws_, site_of(run), lattice_.states));
    }
  }

  int64_t site_of(Index run) const {
    const int64_t length = lattice_.length[kRowAxis];
    const Strip strip = strips_.with_row(replica_, run / length);
    int64_t word = strip.begin * columns_;  // becomes the last one with no later run before it
    for (int64_t end = strip.end * columns_; end - word > 1;) {
      const int64_t middle = word + (end - word) / 2;
      (forest_.before(middle) <= run ? word : end) = middle;
    }
    const Bits64 start = deposit(Bits64(1) << (run - forest_.before(word)), forest_.start(word));
    return lattice_.first_site(word) + std::countr_zero(start);
  }

  void write_row(int64_t row, Index runs_begin, Bits64* digits) const {
    Bits64 before = 0;  // the digit of the site before
    for (int64_t c = 0; c < columns_; ++c) {
      const int64_t word = row * columns_ + c;
      const Bits64 start = forest_.start(word), run_digits = digits_.from(forest_.before(word) - runs_begin),
                   changes = deposit(run_digits ^ run_digits << 1, start),
                   of_run_before = ~start & (start - 1);
      digits[c] = parity_up_to(changes) | ((0 - before) & of_run_before);
      before = digits[c] >> (kWord - 1);
    }
    digits[columns_ - 1] &= lattice_.sites_of(columns_ - 1);
  }

  const Lattice lattice_;
  const RunForest<Index> forest_;
  const Strips strips_;
  const int64_t replica_;
  const Draws draws_;
  const int64_t columns_;
  const Index first_;  // the number of the slab's first run
  BitString coins_of_sites_, coins_, roots_, digits_;
  std::vector<Bits64> sites_, states_, decisions_;  // of roots; of coins, `sites_` are numbers of words
  std::vector<Index> runs_;
};

template <class Index> class RunClusters {
 public:
  // `record` is nullptr or the records of all replicas.
  RunClusters(const LatticeReplicas& replicas, ForestMemory<Index>& memory, Bits32 step, int64_t* record)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        strips_(replicas),
        memory_(memory),
        step_(step),
        record_(record),
        slabs_(strips_),
        end_(strips_.count),
        sewn_(strips_.count) {}

  // Adds the sizes of clusters to the records. An entry of a root is meanwhile the complement of the size.
  void measure() {
    each_run([](Index* parent, Index run) { flatten_entry(parent, run); });
    each_run([](Index* parent, Index run) { parent[run] = parent[run] == run ? ~Index(0) : parent[run]; });
    strips_.for_each([&](const Strip& strip) {
      strips_.per_replica == 1 ? add_lengths<Exclusive>(strip) : add_lengths<Concurrent>(strip);
    });
    parallel_for(strips_.count, [&](int64_t piece) {
      ClusterTally tally;
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for (int64_t begin = first_run(strip); begin < end_[piece]; begin += kWord) {
        poll(kWord);
        const Index* const entry = parent + begin;
        const Bits64 roots = mask_where(
            int(std::min<int64_t>(end_[piece] - begin, kWord)), [=](int p) { return entry[p] < 0; });
        for_each_bit(roots, [&](int p) {
          tally.add(~parent[begin + p]);
          parent[begin + p] = Index(begin + p);
        });
      }
      tally.add_to(record_of(strip.replica));
    });
  }

  void flip(Bits64* new_words) {
    const auto flip_of = [&](const Strip& slab) {
      return StripFlip<Index>(lattice_, memory_, strips_, slab, replicas_.draws(slab.replica, step_));
    };
    if (strips_.per_replica > 1)
      parallel_for(
          strips_.count, [&](int64_t piece) { flip_of(strips_[piece]).settle_first(sewn_[piece].runs); });
    Slabs slabs(strips_);
    parallel_for(strips_.count, [&](int64_t piece) {
      const Strip strip = strips_[piece];
      StripFlip<Index> flip = flip_of(slabs.take(piece));
      Bits64* const spins = replicas_.spins(new_words, strip.replica);
      for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) { flip.write(begin, end, spins); });
    });
  }

 protected:
  struct SewnRuns {
    std::vector<Index> runs;
    void united(Index run) { runs.push_back(run); }
  };

  // Calls body(piece, forest, tally) for each strip, in parallel, and records what the tally counts.
  void for_each_strip(auto&& body) {
    parallel_for(strips_.count, [&](int64_t piece) {
      const int64_t replica = strips_[piece].replica;
      RunForest<Index> forest(lattice_, memory_, replica);
      SpinTally tally(lattice_);
      body(piece, forest, tally);
      if (record_) tally.add_to(record_of(replica));
    });
  }
  // Makes and unites the runs of a strip. draw(begin, end) returns the active bonds along a few rows, and
  // join(place, word, closes) unites a row, whose bonds are from `word` on, with those of the slab before it.
  void make_runs(int64_t piece, RunForest<Index>& forest, auto&& draw, auto&& join) {
    const Strip strip = strips_[piece];
    const int64_t columns = lattice_.columns(), last_site = (lattice_.length[kRowAxis] - 1) % kWord;
    Index next = first_run(strip);
    for_each_chunk(lattice_, strip, [&](int64_t begin, int64_t end) {
      const Bits64* const along = draw(begin, end);
      int64_t word = 0;
      for (RowPlace place(lattice_, begin); place.row < end; place.advance(lattice_), word += columns) {
        const Index first = next;
        next = forest.begin_row(lattice_, place.row, along + word, first);
        join(place, word, bool(along[word + columns - 1] >> last_site & 1));
        forest.shorten(first, next);
      }
    });
    end_[piece] = next;
  }

  Index first_run(const Strip& strip) const { return Index(strip.begin * lattice_.length[kRowAxis]); }
  int64_t* record_of(int64_t replica) const { return record_ + replica * (kCounts + lattice_.states); }

  template <class Access> void add_lengths(const Strip& strip) {
    const RunForest<Index> forest(lattice_, memory_, strip.replica);
    Index* const parent = forest.parents();
    for (int64_t row = strip.begin; row < strip.end; ++row)
      forest.for_each_run(lattice_, row, [&](Index run, int64_t length) {
        const Index entry = Access::load(parent + run);
        Access::fetch_add(parent + (entry < 0 ? run : entry), Index(-length));
      });
  }

  void each_run(auto&& body) {
    parallel_for(strips_.count, [&](int64_t piece) {
      const Strip strip = strips_[piece];
      Index* const parent = RunForest<Index>(lattice_, memory_, strip.replica).parents();
      for_each_in(first_run(strip), end_[piece], [&](int64_t run) { body(parent, Index(run)); });
    });
  }

  const LatticeReplicas replicas_;
  const Lattice lattice_;
  const Strips strips_;
  ForestMemory<Index>& memory_;
  const Bits32 step_;
  int64_t* const record_;
  Slabs slabs_;
  std::vector<Index> end_;      // by strip: the number after its last run
  std::vector<SewnRuns> sewn_;  // by strip
};

}
