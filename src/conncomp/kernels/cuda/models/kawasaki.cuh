// Sweeps of exchanges of spins, many in one launch. A small lattice stays in its block's shared memory. As
// many blocks as run at once share a larger one, and meet after each substep. A thread takes a word of the
// class at a time (core/kawasaki.h). Cost: on the body-centred lattice 13 instructions a pair: for 64 pairs
// 16 words are loaded, two stored, and three blocks of random numbers drawn.
#pragma once

#include "core/kawasaki.h"
#include "cuda/core/barrier.cuh"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kMostExchangeThreads = 512;

// Lattices of one shape side by side. Layout: kawasaki.py.
struct ExchangeReplicas {
  ExchangeLattice lattice;
  int32_t parts;  // blocks of a replica
  int64_t first;  // the number of the first replica
  Bits64 seed;

  int64_t replica() const { return blockIdx.x / parts; }
  int32_t part() const { return int32_t(blockIdx.x % parts); }
  Draws draws(Bits32 step) const { return {seed, Bits64(first + replica()), step}; }
  template <class T> T* at_replica(T* words) const { return words + replica() * lattice.words(); }
  void for_each(int32_t count, auto&& body) const {
    const int32_t threads = int32_t(blockDim.x), step = parts * threads;
    for (int32_t k = part() * threads + int32_t(threadIdx.x); k < count; k += step) body(k);
  }
};

struct WordsRead {
  const Bits64* words;

  Bits64 load(int32_t word) const { return __ldg(words + word); }
};

// Makes sweeps of spins that a replica's blocks have in `words`.
template <int kind>
void exchange_sweeps(const ExchangeReplicas& replicas, const WritableWords auto& words,
    const uint8_t* acceptance, int64_t first_step, int64_t sweeps, Barrier barrier) {
  __shared__ uint8_t digits_of_block[kDigits];
  __shared__ int classes[class_count(kind)];
  uint8_t* const digits = digits_of_block;
  for (int k = int(threadIdx.x); k < kDigits; k += int(blockDim.x))
    digits[k] = acceptance[replicas.replica() * kDigits + k];
  for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const Draws draws = replicas.draws(Bits32(first_step + sweep));
    // All threads have read the classes of the sweep before, as they have met since.
    for (int k = int(threadIdx.x); k < class_count(kind); k += int(blockDim.x))
      classes[k] = draw_class<kind>(draws, k);
    barrier.wait();
    for (int substep = 0; substep < class_count(kind); ++substep) {
      with_direction<kind>(classes[substep], [&](auto direction, int residues) {
        replicas.for_each(words_of_class<kind>(replicas.lattice), [&](int32_t number) {
          exchange_in_class<kind, decltype(direction)::value>(
              replicas.lattice, words, residues, number, draws, substep, digits);
        });
      });
      barrier.wait();
    }
  }
}

// A block a replica, with dynamic shared memory for the words.
template <int kind>
__global__ void __launch_bounds__(kMostExchangeThreads)
    exchange_in_blocks(ExchangeReplicas replicas, const uint8_t* __restrict__ acceptance, int64_t first_step,
        int64_t sweeps, const Bits64* __restrict__ words, Bits64* __restrict__ new_words) {
  CONNCOMP_DYNAMIC_SHARED(Bits64, spins);
  const int32_t count = replicas.lattice.words();
  const Bits64* const before = replicas.at_replica(words);
  Bits64* const after = replicas.at_replica(new_words);
  replicas.for_each(count, [&](int32_t word) { spins[word] = before[word]; });
  exchange_sweeps<kind>(
      replicas, WordsOf<Exclusive>{spins}, acceptance, first_step, sweeps, Barrier{nullptr, 1, 0});
  replicas.for_each(count, [&](int32_t word) { after[word] = spins[word]; });
}

// `parts` blocks a replica. `arrived` has a counter for each replica, which are 0.
template <int kind>
__global__ void __launch_bounds__(kMostExchangeThreads)
    exchange_by_blocks(ExchangeReplicas replicas, const uint8_t* __restrict__ acceptance, int64_t first_step,
        int64_t sweeps, const Bits64* __restrict__ words, Bits64* new_words, Bits32* arrived) {
  const Bits64* const before = replicas.at_replica(words);
  const WordsOf<Current> after{replicas.at_replica(new_words)};
  replicas.for_each(replicas.lattice.words(), [&](int32_t word) { after.store(word, before[word]); });
  exchange_sweeps<kind>(replicas, after, acceptance, first_step, sweeps,
      Barrier{arrived + replicas.replica(), Bits32(replicas.parts), 0});
}

template <int kind>
__global__ void __launch_bounds__(kMostExchangeThreads)
    count_unsatisfied(ExchangeReplicas replicas, const Bits64* __restrict__ words, int64_t* counts) {
  const WordsRead spins{replicas.at_replica(words)};
  int64_t count = 0;
  replicas.for_each(replicas.lattice.words(), [&](int32_t word) {
    for_each_unsatisfied<kind>(replicas.lattice, spins, word, [&](Bits64 bits) { count += __popcll(bits); });
  });
  count = block_sum<kMostExchangeThreads>(count);
  if (threadIdx.x == 0) Concurrent::fetch_add(counts + replicas.replica(), count);
}

}
