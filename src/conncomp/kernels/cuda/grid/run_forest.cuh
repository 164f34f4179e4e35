// Runs as nodes of a forest in shared memory, for a block that labels a tile by runs of rows. Runs are
// numbered as they lie; a column's run is the last that begins up to it. Contacts of a word with rows before
// are bits by direction: a run's first becomes its parent by a store (take_parents), all paths are halved at
// once (flatten), and other contacts are united (unite_contacts). item_runs.cuh has a forest of its own,
// whose contacts lead aside too: one for both took 1 to 5 % longer.
#pragma once

#include "core/union_find.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kRunWord = 32;  // columns of a word

// Halves paths until each run leads to its root; calls last(run, whether it is one) with all threads.
template <int threads, class Run> void flatten_runs(Run* parent, int runs, auto&& last) {
#pragma unroll 1
  for (int first = 0; first < runs; first += threads) {
    const int run = first + int(threadIdx.x);
    bool is_root = false;
    if (run < runs) {
      Run above = InBlock::load(parent + run);
      is_root = above == Run(run);
      for (Run next; (next = InBlock::load(parent + above)) != above; above = next)
        InBlock::store(parent + run, next);
    }
    last(run, is_root);
  }
  __syncthreads();
}

// Unites two runs, most of whose parents are roots still.
template <class Run> void unite_runs(Run* parent, Run a, Run b) {
  if constexpr (sizeof(Run) >= kLeastMinimum)
    hook_lowest<InBlock>(parent, InBlock::load(parent + a), InBlock::load(parent + b));
  else
    unite<InBlock>(parent, a, b);
}

// Calls body(run, its columns in the word) for the runs that begin in a word.
void for_each_run(uint32_t starts, auto run, auto&& body) {
#pragma unroll 1
  for (uint32_t unvisited = starts; unvisited != 0; ++run) {
    const uint32_t begin = lowest_bit(unvisited);
    unvisited -= begin;
    const uint32_t end = lowest_bit(unvisited);
    body(run, (end - 1) & ~(begin - 1));
  }
}

// The columns of a word that have needed contacts, by direction.
template <int directions> struct RunContacts {
  uint32_t of[directions];

  uint32_t any() const {
    uint32_t bits = 0;
    unrolled<directions>([&](int k) { bits |= of[k]; });
    return bits;
  }
};

// The words of a tile, one a thread, in shared memory.
struct RunWords {
  const uint32_t *starts, *before;  // where runs begin, and how many do before the word
  uint32_t* contacts;               // of all words, direction by direction
  int runs;
};

// `Rows` has the number of words and directions, and word_before(word, direction).
template <class Rows, class Run> struct RunForest : RunWords {
  static constexpr int kWords = Rows::kWords, kThreads = kWords, kDirections = Rows::kDirections;
  using Contacts = RunContacts<kDirections>;
  Run* parent;

  RunForest(const RunWords& words, void* parent) : RunWords(words), parent(static_cast<Run*>(parent)) {}

  Run run_of(int word, int column) const {
    return Run(before[word] + __popc(starts[word] & ((2u << column) - 1)) - 1);
  }
  Contacts contacts_of(int word) const {
    Contacts of_word;
    unrolled<kDirections>([&](int k) { of_word.of[k] = contacts[k * kWords + word]; });
    return of_word;
  }
  // Removes one contact, of the first direction that has any in `columns`; returns its column.
  static int take(int word, Contacts& of_word, uint32_t columns, int& word_before) {
    constexpr int kLast = kDirections - 1;
    int direction = kLast;
    uint32_t chosen = of_word.of[kLast] & columns;
    word_before = Rows::word_before(word, kLast);
    unrolled<kLast>([&](int later) {
      const int k = kLast - 1 - later;
      if (of_word.of[k] & columns)
        direction = k, chosen = of_word.of[k] & columns, word_before = Rows::word_before(word, k);
    });
    const uint32_t first = lowest_bit(chosen);
    unrolled<kDirections>([&](int k) {
      if (direction == k) of_word.of[k] -= first;
    });
    return lowest(first);
  }

  // Puts each run under the first one that it touches, where it begins, and calls visit(run, its columns
  // there); returns whether the word has other contacts, which stay.
  bool take_parents(auto&& visit) {
    const int word = int(threadIdx.x);
    Contacts of_word = contacts_of(word);
    const uint32_t any = of_word.any();
    for_each_run(starts[word], Run(before[word]), [&](Run run, uint32_t columns) {
      Run above = run;
      if (const uint32_t touching = any & columns) {
        int word_before;
        const int column = take(word, of_word, lowest_bit(touching), word_before);
        above = run_of(word_before, column);
      }
      parent[run] = above;
      visit(run, columns);
    });
    unrolled<kDirections>([&](int k) { contacts[k * kWords + word] = of_word.of[k]; });
    return of_word.any() != 0;
  }

  void flatten() {
    flatten_runs<kThreads>(parent, runs, [](int, bool) {});
  }

  void unite_contacts() {
    const int word = int(threadIdx.x);
    Contacts of_word = contacts_of(word);
#pragma unroll 1
    while (of_word.any()) {
      int word_before;
      const int column = take(word, of_word, ~0u, word_before);
      unite_runs(parent, run_of(word, column), run_of(word_before, column));
    }
    __syncthreads();
  }

  // Points all runs to their roots; visits each run where it begins. The whole block calls.
  void unite_all(auto&& visit) {
    if (__syncthreads_or(take_parents(visit))) {
      flatten();
      unite_contacts();
    }
    flatten();
  }
};

}
