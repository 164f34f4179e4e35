// Many Swendsen-Wang updates of spins as bits in one launch: of batches of small lattices, a block each, with
// lattice, bonds and labels in shared memory. Threads draw 64 bonds of one axis each, and coins if q = 2
// (core/spins.h); warps label bands of rows (row_labels.cuh); roots get the digits of their states, and sites
// follow. Cost: about 160 instructions a site and two axes. Source: ours.
#pragma once

#include "cuda/models/row_labels.cuh"
#include "cuda/models/spins.cuh"

namespace conncomp {

constexpr int kMostBatchThreads = 512;

// NextSites of a word and an axis, of a lattice of less than 2^16 words.
struct NextInBlock {
  uint16_t word;
  uint8_t last, sites;  // kNone for -1; how many sites there are, the first ones

  static constexpr int kNone = 255;
  NextInBlock(const NextSites& next)
      : word(uint16_t(next.word)),
        last(uint8_t(next.last < 0 ? kNone : next.last)),
        sites(uint8_t(__popcll(next.sites))) {}
  operator NextSites() const {
    return {word, last == kNone ? -1 : last, sites < kWordSites ? (Bits64(1) << sites) - 1 : ~Bits64(0)};
  }
};

inline int site_of(const BoxRows& box, int place) {
  return place + place / kWarp / box.columns * (box.width - box.columns * kWarp);
}

// What a block has of its lattice in shared memory, and what its threads do with it.
template <int axes> struct LatticeOfBlock {
  using Labels = RowLabels<axes>;
  using List = typename Labels::List;
  static constexpr int kFirstAxis = kLatticeAxes - axes;

  const Lattice& lattice;
  const BoxRows& box;
  const int words = int(lattice.words()), planes = lattice.planes, thread = int(threadIdx.x),
            threads = int(blockDim.x), warps = threads / kWarp;
  // Coins are digits of places where rows of places are rows of sites.
  const bool has_coins = lattice.states == 2, as_places = has_coins && box.width % kWarp == 0;
  List* lists;
  Place* label;
  typename Labels::Links* links;
  Bits64 *spins, *coins;
  Bits32* digits;  // of the states of roots
  NextInBlock* next;
  Bits32* bonds;

  LatticeOfBlock(const Lattice& lattice, const BoxRows& box, void* shared)
      : lattice(lattice),
        box(box),
        lists(static_cast<List*>(shared)),
        label(reinterpret_cast<Place*>(lists + warps)),
        links(reinterpret_cast<typename Labels::Links*>(label + box.words() * kWarp)),
        spins(reinterpret_cast<Bits64*>(links + box.words())),
        coins(spins + planes * words) {
    Bits32* const own_digits = reinterpret_cast<Bits32*>(coins + (has_coins ? coin_words(lattice) : 0));
    digits = as_places ? reinterpret_cast<Bits32*>(coins) : own_digits;
    next = reinterpret_cast<NextInBlock*>(own_digits + (as_places ? 0 : planes * box.words()));
    bonds = reinterpret_cast<Bits32*>(next + axes * words);
  }
  Labels labels() const {
    const int warp = thread / kWarp;
    return {box, label, links, bonds, lists[warp], warp, warps};
  }

  void find_next() const {
    for (int at = thread; at < axes * words; at += threads) {
      const WordPlace place = place_of(lattice, at % words);
      next[at] = NextInBlock(next_sites(lattice, place, kFirstAxis + at / words));
    }
  }
  void draw_bonds(const Draws& draws, Bits64 active_with, int32_t& satisfied, int32_t& active) const {
    for (int at = thread; at < axes * words; at += threads) {
      const int axis = at / words, word = at - axis * words;
      const Bits64 equal = satisfied_bonds(lattice, spins, word, next[at]);
      const Bits64 drawn = bernoulli(draws, Bits64(word), kFirstAxis + axis, active_with, equal);
      bonds[2 * at] = Bits32(drawn), bonds[2 * at + 1] = Bits32(drawn >> 32);
      satisfied += __popcll(equal), active += __popcll(drawn);
    }
  }
  void toss(const Draws& draws) const {
    if (has_coins)
      for (int word = thread; word < coin_words(lattice); word += threads)
        coins[word] = draw_coins(draws, word);
  }
  void record(const Records& records, int64_t replica, int32_t satisfied, int32_t active) const {
    record_words(records, replica, lattice, spins, satisfied, active, lattice.sites(), [&](auto&& body) {
      for (int word = thread; word < words; word += threads) body(word);
    });
  }
  // Lets places have the coins of their sites as digits; without coins all digits are 0.
  void begin_digits() const {
    if (as_places) return;
    for (int word = thread; word < box.words(); word += threads) {
      const int site = site_of(box, word * kWarp);
      for (int k = 0; k < planes; ++k)
        digits[k * box.words() + word] =
            has_coins ? bits_from(reinterpret_cast<Bits32*>(coins), 2 * int(coin_words(lattice)), site) : 0;
    }
  }
  void draw_states(const Labels& labels, const Draws& draws) const {
    labels.for_each_tree([&](int place) {
      if (label[place] != place) return;
      const int state = draw_one_of_several(draws, site_of(box, place), lattice.states);
      for (int k = 0; k < planes; ++k)
        if (state >> k & 1) digits[k * box.words() + place / kWarp] |= Bits32(1) << place % kWarp;
    });
  }
  void flip(const Labels& labels) const {
    const bool has_tails = box.width % kWordSites != 0;
    labels.for_each_group([&](int group, const PlacesOfGroup& roots) {
      int first = group;
      Bits32 inside = (1 << kGroup) - 1;
      if (has_tails) {
        const int row = group / kGroups / box.columns;
        const int left = box.width - (group - row * box.columns * kGroups) * kGroup;
        if (left < kGroup) inside = left > 0 ? (1 << left) - 1 : 0;
        first += row * (box.halves - box.columns) * kGroups;
      }
      uint8_t* const byte = reinterpret_cast<uint8_t*>(spins) + first;
#pragma unroll 1
      for (int k = 0; k < planes; ++k)
        byte[k * words * int(sizeof(Bits64))] = uint8_t(roots.bits_in(digits + k * box.words()) & inside);
    });
  }
};

template <int axes>
__global__ void __launch_bounds__(kMostBatchThreads, 2) sweep_batch(Replicas replicas, Updates updates,
    BoxRows box, const Bits64* probability, Bits64* spins, Records all_records) {
  CONNCOMP_DYNAMIC_SHARED(PairsOfPlaces, shared);
  const LatticeOfBlock<axes> block(replicas.lattice, box, shared);
  const auto labels = block.labels();
  const int64_t replica = replicas.replica();
  const Bits64 active_with = probability[replica];
  spins = replicas.at_replica(spins, replicas.words_of_states());
  Draws draws = replicas.draws();

  const int words_of_spins = block.words * block.planes;
  for (int word = block.thread; word < words_of_spins; word += block.threads) block.spins[word] = spins[word];
  block.find_next();
  __syncthreads();
  for (int32_t update = 0; update < updates.count; ++update, ++draws.step) {
    int32_t satisfied = 0, active = 0;
    block.draw_bonds(draws, active_with, satisfied, active);
    block.toss(draws);
    if (all_records.record != nullptr && updates.measures(update))
      block.record(updates.records_of(all_records, update), replica, satisfied, active);
    __syncthreads();
    block.begin_digits();
    labels.label_box(true);
    if (!block.has_coins) {
      block.draw_states(labels, draws);
      __syncthreads();
    }
    block.flip(labels);
    __syncthreads();
  }
  for (int word = block.thread; word < words_of_spins; word += block.threads) spins[word] = block.spins[word];
}

}
