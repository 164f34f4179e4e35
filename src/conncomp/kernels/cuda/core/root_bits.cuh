// Consecutive labels from bits of roots. A word has the bits of 32 indices; rows of indices may begin with
// one. Kernels that find roots count them by chunks of words; number_words adds up the counts before each
// chunk and numbers its words. A root's label is its word's number plus the bits below its own (LabelOfRoot).
// Cost: a word read and a number written.
#pragma once

#include "core/atomics.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kRootWord = 32;  // bits of a word of roots
constexpr int kWordThreads = 256;

// Points an entry to its root, complemented, which is returned; other entries may be settled already.
template <class Index> Index settle_entry(Index* parent, Index entry) {
  Index root = entry;
  for (Index above; (above = Concurrent::load(parent + root)) < root; root = above)
    if (above < 0) {
      root = ~above;
      break;
    }
  Concurrent::store(parent + entry, Index(~root));
  return root;
}

// The label of the first root of each word.
template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    number_words(int64_t words, int64_t chunk, const uint32_t* __restrict__ roots_of_word,
        const int64_t* __restrict__ roots_in_chunk, Index* __restrict__ number_of_word) {
  follow_launch();
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    Index number = 1 + sum_of_first<kWordThreads, Index>(part, roots_in_chunk);
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    for (int64_t row = begin; row < end; row += kWordThreads) {
      const int64_t word = row + threadIdx.x;
      int total;
      const int in_row = block_scan<kWordThreads>(word < end ? __popc(roots_of_word[word]) : 0, total);
      if (word < end) number_of_word[word] = number + in_row;
      number += total;
    }
  }
}

template <class Index>
Index label_of_bit(const uint32_t* roots_of_word, const Index* number_of_word, int64_t word, int bit) {
  return number_of_word[word] + Index(__popc(roots_of_word[word] & ((1u << bit) - 1)));
}

// Labels are roots, or numbers; words are then numbered by a launch, or by each block.
enum class LabelKind { kRoots, kNumbers, kNumbersOfBlock };

// Numbers all words of a small item in each block that needs them, which saves a launch.
template <int threads> struct NumberedWords {
  static constexpr int kMost = 2048, kOfThread = kMost / threads;
  static_assert(threads % kOfThread == 0);
  struct Loaded {
    uint32_t word[kOfThread];
  };
  uint32_t roots[kMost + threads];
  int32_t number[kMost + threads];

  // The place of a word, chosen to avoid bank conflicts.
  static int place(int word) { return word + int(uint32_t(word) / kOfThread); }

  static Loaded load(const uint32_t* roots_of_word, int words) {
    Loaded loaded;
#pragma unroll
    for (int k = 0; k < kOfThread; ++k) {
      const int word = k * threads + int(threadIdx.x);
      loaded.word[k] = word < words ? roots_of_word[word] : 0;
    }
    return loaded;
  }
  // Numbers the words; returns the number of components. The whole block calls.
  int count(const Loaded& loaded, int words) {
    const int first = int(threadIdx.x) * kOfThread;
    const bool has_words = first < words;
#pragma unroll
    for (int k = 0; k < kOfThread; ++k)
      if (k * threads < words) roots[k * place(threads) + place(int(threadIdx.x))] = loaded.word[k];
    __syncthreads();
    int of_word[kOfThread], roots_of_thread = 0, components;
#pragma unroll
    for (int k = 0; k < kOfThread; ++k) {
      of_word[k] = has_words ? __popc(roots[place(first) + k]) : 0;
      roots_of_thread += of_word[k];
    }
    int next = 1 + block_scan<threads>(roots_of_thread, components);
#pragma unroll
    for (int k = 0; k < kOfThread; ++k) {
      if (has_words) number[place(first) + k] = next;
      next += of_word[k];
    }
    __syncthreads();
    return components;
  }
  int32_t label(int root) const {
    const uint32_t bit = root;
    return label_of_bit(roots, number, place(int(bit / kRootWord)), int(bit % kRootWord));
  }
};

template <bool consecutive, class Index> struct LabelOfRoot {
  int64_t length, columns;  // of a row, in indices and in words
  const uint32_t* roots_of_word;
  const Index* number_of_word;

  Index operator()(Index root) const {
    if constexpr (consecutive) {
      const Index row = root / Index(length), x = root - row * Index(length);
      return label_of_bit(
          roots_of_word, number_of_word, int64_t(row) * columns + x / kRootWord, int(x % kRootWord));
    } else {
      return root;
    }
  }
};

}
