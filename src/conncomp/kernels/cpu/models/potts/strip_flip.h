// New spins from a forest of runs, a strip of rows at a time.
//
// What: a root draws a state and the runs of its cluster copy it; words of spins are made of the states of
// the runs that start there. How: entries of runs become states in C order, in which a parent has got its
// state before. The entry of a state is its complement, which is negative; others are parents still. Roots of
// slabs that have parents in others, and the roots of these, get their states before. Any other parent in
// another slab may be either, for its thread is at work: if no state is there yet, its root is found, and
// draws again what it draws there. Bits that say where the state changes from run to run, put where runs
// start, become spins by parity:
//
//      runs start       1 . . 1 . 1 1 .
//      their states     1     0   1 1           of a digit
//      changes          1     1   1 0           from the run before, the first one from none
//      spins            1 1 1 0 0 1 1 1         the parity of the changes so far
//
// and bits before the first run of a word are those of the run before.
//
// Cost: a look at the parent of each run, eight at once with AVX2; a random number a root, or a word if q =
// 2; some forty instructions a word and digit. Source: ours.
#pragma once

#include "cpu/models/draws.h"
#include "cpu/models/potts/forest.h"

namespace conncomp {

// Bit p is the sum, modulo 2, of the bits up to p.
inline Bits64 parity_up_to(Bits64 bits) {
  for (int shift = 1; shift < kWord; shift *= 2) bits ^= bits << shift;
  return bits;
}

// Bits without end, which are written and read 64 at a time from anywhere.
class BitString {
 public:
  // Has no bits set yet, of `count`.
  void clear(int64_t count) { words_.assign(count / kWord + 2, 0); }  // one more word may be read
  Bits64* words() { return words_.data(); }

  // Lets bit i be predicate(entry[i], first + i), for i in [0, count).
  template <class Index, class Predicate>
  [[gnu::always_inline]] void fill(const Index* entry, Index first, int64_t count, Predicate predicate) {
    words_.resize(count / kWord + 2);
    for (int64_t begin = 0; begin < count; begin += kWord) {
      const Index *const entries = entry + begin, first_entry = Index(first + begin);
      words_[begin / kWord] = mask_where(int(std::min<int64_t>(count - begin, kWord)), [=](int p) {
        return predicate(entries[p], Index(first_entry + p));
      });
    }
  }
  // Sets some of the bits from i on.
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

template <class Index>
class StripFlip {
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

  // Lets the entries of some runs, and of their roots, become states, before those of any others do.
  void settle_first(const std::vector<Index>& runs) {
    Index* const parent = forest_.parents();
    for_each_in(0, int64_t(runs.size()), [&](int64_t i) {
      Index root = runs[i], entry;
      while ((entry = Shared::load(parent + root)) >= 0 && entry != root) root = entry;
      if (entry == root) Shared::store(parent + root, entry = state_elsewhere(root));
      Shared::store(parent + runs[i], entry);
    });
  }

  // Writes the new spins of rows; all rows of the slab before them have been written.
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
      digits_.fill(entry, runs_begin, runs_end - runs_begin,
                   [=](Index entry, Index) { return (entry & digit) == 0; });
      for (int64_t row = begin; row < end; ++row)
        write_row(row, runs_begin, spins + plane * lattice_.words() + row * columns_);
    }
  }

 private:
  // Draws a coin for each run of some rows, from which a root will take its state; q = 2.
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
        coins_.set(
            forest_.before(word) - runs_begin,
            extract(coins_of_sites_.from(row * length + c * kWord - first * kWord), forest_.start(word)));
  }

  // Lets the roots of some rows draw their states; q > 2.
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
      Shared::store(entry + runs_[k], ~Index(below(states_[k], Bits64(lattice_.states))));
    }
  }

  // Lets entries of runs become states; those of runs of this slab before are.
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
  // Those from `run` to `end` alone, of runs from `begin` on.
  void settle_each(Index begin, Index run, Index end) {
    Index* const parent = forest_.parents();
    for (; run < end; ++run) {
      const Index entry = parent[run];
      if (entry < 0) continue;
      const Index state = entry == run     ? ~Index(coins_.from(run - begin) & 1)
                          : entry < first_ ? state_elsewhere(entry)
                                           : parent[entry];
      Shared::store(parent + run, state);
    }
  }

  // The entry that a run of another slab has or will have.
  Index state_elsewhere(Index run) const {
    for (Index entry;; run = entry) {
      entry = Shared::load(forest_.parents() + run);
      if (entry < 0) return entry;
      if (entry == run) return ~Index(draw_any_state(draws_, site_of(run), lattice_.states));
    }
  }

  int64_t site_of(Index run) const {
    const int64_t length = lattice_.length[kRowAxis];
    const Strip strip = strips_.with_row(replica_, run / length);
    int64_t word = strip.begin * columns_;  // the last one with no run of a greater number before it
    for (int64_t end = strip.end * columns_; end - word > 1;) {
      const int64_t middle = word + (end - word) / 2;
      (forest_.before(middle) <= run ? word : end) = middle;
    }
    const Bits64 start = deposit(Bits64(1) << (run - forest_.before(word)), forest_.start(word));
    return word / columns_ * length + word % columns_ * kWord + std::countr_zero(start);
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

}  // namespace conncomp
