// Runs as nodes of a forest in shared memory, for kernels whose block labels a part of an array by runs of
// its rows.
//
// Runs are numbered as they lie, by counting beginnings: the run of an element is the last one that begins up
// to it, however many words it covers. The contacts of a word with rows before are bits in a word for each
// direction: the first contact of a run is its parent, by a store (take_parents); then paths are halved by
// all at once (flatten), and then the others are united (unite_contacts).
#pragma once

#include "core/union_find.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kRunWord = 32;  // elements of a word

// Which elements of a word have contacts, or need them, in so many directions.
template <int directions>
struct RunContacts {
  uint32_t of[directions];

  __device__ uint32_t any() const {
    uint32_t bits = 0;
    unrolled<directions>([&](int k) { bits |= of[k]; });
    return bits;
  }
};

// The words of a part of an array, in shared memory, and where contacts lead to: `Rows` has
//   kDirections                how many directions there are;
//   word_before(word, k)       the word in the row before that direction k leads to;
//   right(k)                   by how much the element there is to the right.
template <class Rows>
struct RunWords {
  const uint32_t *starts, *before;  // where runs begin, and how many do before the word
  uint32_t* contacts;               // of all words, direction by direction
  int words, runs;
  Rows rows;
};

// Parents are numbers of runs, of the type `Run`.
template <int threads, class Run, class Rows>
struct RunForest : RunWords<Rows> {
  static constexpr int kDirections = Rows::kDirections;
  using Contacts = RunContacts<kDirections>;
  using RunWords<Rows>::starts, RunWords<Rows>::before, RunWords<Rows>::contacts, RunWords<Rows>::words;
  using RunWords<Rows>::runs, RunWords<Rows>::rows;
  Run* parent;

  __device__ RunForest(const RunWords<Rows>& words, void* parent)
      : RunWords<Rows>(words), parent(static_cast<Run*>(parent)) {}

  __device__ Run run_of(int word, int bit) const {
    return Run(before[word] + __popc(starts[word] & ((2u << bit) - 1)) - 1);
  }
  // Where a contact leads to: a word of the row before, and how far to the right the element there is.
  struct Way {
    int word, right;
  };
  __device__ Run run_before(int bit, const Way& way) const {
    const int place = bit + way.right;
    return run_of(way.word + (place < 0 ? -1 : place / kRunWord), place & (kRunWord - 1));
  }
  // Takes one contact of the first direction in which a word has any of `bits`; returns its element.
  __device__ int take(int word, Contacts& of_word, uint32_t bits, Way& way) const {
    constexpr int kLast = kDirections - 1;
    int direction = kLast;
    uint32_t elements = of_word.of[kLast] & bits;
    way = {rows.word_before(word, kLast), rows.right(kLast)};
    unrolled<kLast>([&](int later) {
      const int k = kLast - 1 - later;
      if (of_word.of[k] & bits) {
        direction = k, elements = of_word.of[k] & bits;
        way = {rows.word_before(word, k), rows.right(k)};
      }
    });
    const uint32_t found = elements & (0 - elements);
    unrolled<kDirections>([&](int k) {
      if (direction == k) of_word.of[k] -= found;
    });
    return __ffs(int(found)) - 1;
  }

  // Puts each run under the first one that it touches before, among the elements of the word where it begins;
  // returns whether there are other contacts of contacts_of(word), which are kept.
  template <class ContactsOf>
  __device__ bool take_parents(ContactsOf&& contacts_of) {
    bool has_more = false;
    for (int word = int(threadIdx.x); word < words; word += threads) {
      Contacts of_word = contacts_of(word);
      const uint32_t any = of_word.any();
      Run run = Run(before[word]);
#pragma unroll 1
      for (uint32_t unvisited = starts[word]; unvisited != 0; ++run) {
        const uint32_t begin = unvisited & (0 - unvisited);
        unvisited -= begin;
        const uint32_t end = unvisited & (0 - unvisited);
        Run above = run;
        if (const uint32_t touching = any & (end - 1) & ~(begin - 1)) {
          Way way;
          const int bit = take(word, of_word, touching & (0 - touching), way);
          above = run_before(bit, way);
        }
        parent[run] = above;
      }
      unrolled<kDirections>([&](int k) { contacts[k * words + word] = of_word.of[k]; });
      has_more |= of_word.any() != 0;
    }
    return has_more;
  }

  // Points each run to its root, as far as that is known; calls last(run, whether it is one) with all
  // threads. Paths are halved by all who are on them, as each moves up.
  template <class Last>
  __device__ void flatten(Last&& last) {
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

  __device__ void unite_contacts() {
    for (int word = int(threadIdx.x); word < words; word += threads) {
      Contacts of_word;
      unrolled<kDirections>([&](int k) { of_word.of[k] = contacts[k * words + word]; });
#pragma unroll 1
      while (of_word.any()) {
        Way way;
        const int bit = take(word, of_word, ~0u, way);
        const Run own = run_of(word, bit), above = run_before(bit, way);
        if constexpr (sizeof(Run) >= kLeastMinimum)  // most parents are roots still
          hook_lowest<InBlock>(parent, InBlock::load(parent + own), InBlock::load(parent + above));
        else
          unite<InBlock>(parent, own, above);
      }
    }
    __syncthreads();
  }
};

}  // namespace conncomp
