// Spins of many lattices of one shape, bonds, and counts of both. `parts` blocks share a replica, a thread
// takes a word of 64 sites at a time (core/spins.h). Cost of activate_bonds: half a Philox call a word of 32
// bonds; spins are read once for each axis and once more, bonds written once.
#pragma once

#include "core/metropolis.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kSpinThreads = 128, kMostSpinThreads = 256;  // the latter in blocks that take tiles

// What a block works on. Layout: replicas.py.
struct Replicas {
  Lattice lattice;
  int32_t axes;   // of the model; the last ones of the lattice
  int32_t parts;  // blocks of a replica
  int64_t first;  // the number of the first replica
  Bits64 seed;
  Bits32 step;

  int64_t replica() const { return blockIdx.x / parts; }
  Draws draws() const { return {seed, Bits64(first + replica()), step}; }
  int64_t words_of_states() const { return lattice.words() * lattice.planes; }
  template <class T> T* at_replica(T* words, int64_t each) const { return words + replica() * each; }

  // Calls body(i) for this thread's share of 0 ... count - 1.
  void for_each(int64_t count, auto&& body) const {
    const int64_t part = blockIdx.x % parts, step_of_part = int64_t(parts) * blockDim.x;
    for (int64_t i = part * blockDim.x + threadIdx.x; i < count; i += step_of_part) body(i);
  }
  void for_each_word(auto&& body) const { for_each(lattice.words(), body); }
  // For words of the bonds of each axis, of which a block has one: parts are a multiple of axes.
  void for_each_word_of_bonds(auto&& body) const {
    const int64_t part = blockIdx.x % parts, step_of_part = int64_t(parts / axes) * blockDim.x;
    for (int64_t word = part / axes * blockDim.x + threadIdx.x; word < lattice.words(); word += step_of_part)
      body(word, int(part % axes));
  }
  // For words, by warps whose lanes call together; and for sites.
  void for_each_word_of_warp(auto&& body) const {
    const int64_t warps = blockDim.x / kWarp, part = blockIdx.x % parts;
    for (int64_t word = part * warps + threadIdx.x / kWarp; word < lattice.words(); word += parts * warps)
      body(word);
  }
  void for_each_site(auto&& body) const { for_each(lattice.sites(), body); }
};

inline int64_t coin_words(const Lattice& lattice) { return (lattice.sites() + kWordSites - 1) / kWordSites; }

struct Records {
  int64_t* record;  // null if nothing is measured
  int64_t length;

  void add(int64_t replica, int field, int64_t count) const {
    if (count != 0) Concurrent::fetch_add(record + replica * length + field, count);
  }
  // Adds the sum over the threads of the block, all of which call.
  void add_block(int64_t replica, int field, int64_t count) const {
    count = block_sum<kMostSpinThreads>(count);
    if (threadIdx.x == 0) add(replica, field, count);
  }
  // Raises a field to the largest number of the warp's threads, all of which call.
  void raise(int64_t replica, int field, int64_t number) const {
    number = over_lanes(number, larger<int64_t>);
    int64_t* const most = record + replica * length + field;
    if (lane() == 0 && number > Concurrent::load(most)) Concurrent::fetch_max(most, number);
  }
};

struct SizeSums : ClusterSums {
  static constexpr bool kByPhase = false;

  static void begin_block() {}  // as others have shared memory
  void add(Bits64 size, bool = false) { ClusterSums::add(size); }
  bool any() const { return clusters != 0; }
  // Adds the sums of all threads of the block, which call together, to a record.
  void add_block(const auto& records, int64_t replica) const {
    records.add_block(replica, kClusters, clusters);
    for (int k = 0; k < kSquareLimbs; ++k) records.add_block(replica, kSquares + k, squares[k]);
    for (int k = 0; k < kFourthLimbs; ++k) records.add_block(replica, kFourths + k, fourths[k]);
    records.raise(replica, kLargest, largest);
  }
};

template <class Word> void set_state(Word* words, int64_t stride, int planes, int state, Word sites) {
  for (int k = 0; k < planes; ++k)
    if (state >> k & 1) words[k * stride] |= sites;
}
inline Bits64 in_state(const Lattice& lattice, const Bits64* spins, int64_t word, int state) {
  return bits_in_state(spins + word, lattice.words(), lattice.planes, state);
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) start_spins(Replicas replicas, Bits64* spins) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, replicas.words_of_states());
  replicas.for_each_word([&](int64_t word) {
    const int64_t column = word % lattice.columns();
    const int64_t first = lattice.first_site(word);
    for (Bits64 sites = lattice.sites_of(column); sites != 0; sites &= sites - 1) {
      const int bit = __ffsll((long long)sites) - 1;
      const int state = int(below(half(draws(kStart, Bits64(first + bit)), 0), Bits64(lattice.states)));
      set_state(spins + word, lattice.words(), lattice.planes, state, Bits64(1) << bit);
    }
  });
}

inline void add_states(const Replicas& replicas, const Bits64* spins, const Records& records) {
  const Lattice& lattice = replicas.lattice;
  for (int state = 0; state < lattice.states; ++state) {
    int64_t count = 0;
    replicas.for_each_word([&](int64_t word) {
      count += __popcll(in_state(lattice, spins, word, state) & lattice.sites_of(word % lattice.columns()));
    });
    records.add_block(replicas.replica(), kCounts + state, count);
  }
}

struct BondCounts {
  int64_t satisfied, active;
};

// Draws the bonds of all axes, from `first` on, or kinds, unless null; counts these, and those that
// satisfied_by(word, axis) returns.
void draw_words_of_bonds(const Replicas& replicas, int first, const Bits64* __restrict__ probability,
    Bits64* __restrict__ bonds, BondCounts& counts, auto&& satisfied_by) {
  const Draws draws = replicas.draws();
  const int64_t words = replicas.lattice.words();
  const bool draws_bonds = bonds != nullptr;
  const Bits64 active_with = draws_bonds ? probability[replicas.replica()] : 0;
  if (draws_bonds) bonds = replicas.at_replica(bonds, words * replicas.axes);
  replicas.for_each_word_of_bonds([&](int64_t word, int k) {
    const Bits64 equal = satisfied_by(word, first + k);
    counts.satisfied += __popcll(equal);
    if (!draws_bonds) return;
    const Bits64 drawn = bernoulli(draws, Bits64(word), first + k, active_with, equal);
    counts.active += __popcll(drawn);
    bonds[k * words + word] = drawn;
  });
}

// Counts besides bonds the sites in each state.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) activate_bonds(Replicas replicas,
    const Bits64* __restrict__ spins, const Bits64* __restrict__ probability, Bits64* __restrict__ bonds,
    Records records, bool count_active) {
  follow_launch();
  const Lattice& lattice = replicas.lattice;
  spins = replicas.at_replica(spins, replicas.words_of_states());
  BondCounts counts{};
  draw_words_of_bonds(
      replicas, kLatticeAxes - replicas.axes, probability, bonds, counts, [&](int64_t word, int axis) {
        const WordPlace place = place_of(lattice, word);
        Bits64 equal = 0;
#pragma unroll
        for (int a = 0; a < kLatticeAxes; ++a)
          if (a == axis) equal = satisfied_bonds(lattice, spins, place, a);
        return equal;
      });
  if (records.record == nullptr) return;
  records.add_block(replicas.replica(), kSatisfied, counts.satisfied);
  if (count_active) records.add_block(replicas.replica(), kActive, counts.active);
  add_states(replicas, spins, records);
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads)
    count_states(Replicas replicas, const Bits64* __restrict__ spins, Records records) {
  follow_launch();
  add_states(replicas, replicas.at_replica(spins, replicas.words_of_states()), records);
}

template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) toss_coins(Replicas replicas, Bits64* __restrict__ coins) {
  follow_launch();
  const int64_t words = coin_words(replicas.lattice);
  coins = replicas.at_replica(coins, words);
  replicas.for_each(words, [&](int64_t word) { coins[word] = draw_coins(replicas.draws(), word); });
}

// The neighbours of a site: two along each axis that is longer than 1, unless it ends there.
struct SpinAt {
  int64_t word;
  int bit;
};
void for_each_spin_beside(const Lattice& lattice, const WordPlace& place, int bit, auto&& body) {
  int64_t stride = lattice.columns();
  for (int k = kRowAxis - 1; k >= 0; stride *= lattice.length[k], --k) {
    const int64_t at = place.at[k], last = lattice.length[k] - 1;
    if (last == 0) continue;
    if (at < last || lattice.closes(k)) body(SpinAt{place.word + (at < last ? 1 : -last) * stride, bit});
    if (at > 0 || lattice.closes(k)) body(SpinAt{place.word + (at > 0 ? -1 : last) * stride, bit});
  }
  const int64_t row = place.word - place.column, x = place.column * kWordSites + bit;
  const int64_t last = lattice.length[kRowAxis] - 1;
  if (last == 0) return;
  const auto at = [&](int64_t to) { return SpinAt{row + to / kWordSites, int(to % kWordSites)}; };
  if (x < last || lattice.closes(kRowAxis)) body(at(x < last ? x + 1 : 0));
  if (x > 0 || lattice.closes(kRowAxis)) body(at(x > 0 ? x - 1 : last));
}

// Offers the sites of a class new states; other threads change only bits of its sites, which are no
// neighbours.
template <int = 0>
__global__ void __launch_bounds__(kSpinThreads) update_class(
    Replicas replicas, int32_t site_class, const Bits64* __restrict__ acceptance, Bits64* spins) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const int64_t words = lattice.words();
  acceptance = replicas.at_replica(acceptance, 2 * replicas.axes + 1);
  spins = replicas.at_replica(spins, replicas.words_of_states());
  const auto state_at = [&](const SpinAt& at) {
    return state_of<Concurrent>(spins + at.word, words, lattice.planes, at.bit);
  };
  replicas.for_each_word([&](int64_t word) {
    const WordPlace place = place_of(lattice, word);
    const int64_t first = lattice.first_site(word);
    for (Bits64 sites = sites_of_class(lattice, place.at, place.column, site_class); sites != 0;
        sites &= sites - 1) {
      const int bit = __ffsll((long long)sites) - 1;
      const PhiloxBlock drawn = draws(kMetropolis, Bits64(first + bit));
      const int old = state_at({word, bit});
      const int offered =
          int((Bits64(old) + 1 + below(half(drawn, 1), Bits64(lattice.states - 1))) % lattice.states);
      int lost = 0;
      for_each_spin_beside(lattice, place, bit, [&](const SpinAt& beside) {
        const int state = state_at(beside);
        lost += (state == old) - (state == offered);
      });
      if (half(drawn, 0) >= acceptance[lost > 0 ? lost : 0]) continue;
      for (int k = 0; k < lattice.planes; ++k)
        if ((old ^ offered) >> k & 1)
          Concurrent::store(
              spins + k * words + word, Concurrent::load(spins + k * words + word) ^ Bits64(1) << bit);
    }
  });
}

// The same for two states, a thread for two words: see core/metropolis.h.
template <int axes, bool whole>
__global__ void __launch_bounds__(kSpinThreads)
    offer_flips(Replicas replicas, int32_t site_class, const Bits64* __restrict__ acceptance, Bits64* spins) {
  const Lattice& lattice = replicas.lattice;
  const int most_lost = 2 * replicas.axes;
  const FlipOffer offer{
      replicas.draws(), site_class, replicas.at_replica(acceptance, most_lost + 1), most_lost};
  spins = replicas.at_replica(spins, lattice.words());
  replicas.for_each(pairs_of(lattice.words()), [&](int64_t pair) {
    offer_pair<axes, whole>(
        lattice, offer, pair, {0, lattice.words()},
        [&](int64_t word) { return Concurrent::load(spins + word); },
        [&](int64_t word, Bits64 bits) { Concurrent::store(spins + word, bits); });
  });
}

// Replicas' counters lie apart, so that waiting for one disturbs no other.
constexpr int kCounterStride = 32;

// Layout: replicas.py.
struct Updates {
  int32_t count, every, before;  // each `every`-th measures; so many are made since the last one that did
  int64_t record_stride;         // from one record of all replicas to the next

  bool measures(int32_t update) const { return (update + before) % every == 0; }
  Records records_of(const Records& records, int32_t update) const {
    return {records.record + (update + before) / every * record_stride, records.length};
  }
};

// Records a thread's counts of bonds, and the block's `sites` by states, whose words threads share.
void record_words(const Records& records, int64_t replica, const Lattice& lattice, const Bits64* spins,
    int32_t satisfied, int32_t active, int64_t sites, auto&& for_each_word) {
  satisfied = warp_sum(satisfied), active = warp_sum(active);
  if (lane() == 0) records.add(replica, kSatisfied, satisfied), records.add(replica, kActive, active);
  if (threadIdx.x == 0) records.add(replica, kCounts, sites);
  for (int state = 1; state < lattice.states; ++state) {
    int32_t count = 0;
    // Beyond a row are zeros, of which such a state has not all.
    for_each_word([&](int32_t word) { count += __popcll(in_state(lattice, spins, word, state)); });
    count = warp_sum(count);
    if (lane() != 0) continue;
    records.add(replica, kCounts + state, count);
    records.add(replica, kCounts, -int64_t(count));
  }
}

}
