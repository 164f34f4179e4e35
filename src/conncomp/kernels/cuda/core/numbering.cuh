// Turns roots into labels, in place. labels[i] holds the smallest index of the component of i, or -1 for
// background; number_labels replaces it by `first` plus the number of roots before it, or 0. Items of one
// size are numbered and counted each by itself; roots_within_items makes roots indices within their item.
// mark_roots writes a bit for each index and counts roots by chunks (root_bits.cuh). Labels may change
// meanwhile: a kernel reads each entry once and checks that it lies in the array. Cost: labels read twice and
// written once, and two random accesses to bits and numbers, a sixteenth of their size, per label. Memory: 2
// bits per index, or 3 for 64-bit indices.
#pragma once

#include "cuda/core/root_bits.cuh"

namespace conncomp {

constexpr int kLabelsAtOnce = 4;  // that a thread loads before it looks at them, to hide latency

template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    mark_roots(int64_t count, int64_t words, int64_t chunk, const Index* __restrict__ labels,
        uint32_t* __restrict__ roots_of_word, int64_t* __restrict__ roots_in_chunk) {
  follow_launch();
  constexpr int kWordsOfBlock = kWordThreads / kWarp * kLabelsAtOnce;
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int roots = 0;
    for (int64_t word = begin + threadIdx.x / kWarp * kLabelsAtOnce; word < end; word += kWordsOfBlock) {
      const int64_t index = word * kRootWord + lane();
      Index label[kLabelsAtOnce];
#pragma unroll
      for (int k = 0; k < kLabelsAtOnce; ++k)
        label[k] =
            word + k < end && index + k * kRootWord < count ? labels[index + k * kRootWord] : Index(-1);
#pragma unroll
      for (int k = 0; k < kLabelsAtOnce; ++k) {
        const uint32_t bits = __ballot_sync(kAllLanes, label[k] == Index(index + k * kRootWord));
        if (lane() != k || word + k >= end) continue;
        roots_of_word[word + k] = bits;
        roots += __popc(bits);
      }
    }
    const int total = block_sum<kWordThreads>(roots);
    if (threadIdx.x == 0) roots_in_chunk[part] = total;
  }
}

template <class Index> struct RootBits {
  int64_t count, items;
  const uint32_t* roots_of_word;
  const Index* number_of_word;

  Index label_of(Index root) const {
    return label_of_bit(roots_of_word, number_of_word, root / kRootWord, int(root % kRootWord));
  }
  // The number of roots below an index, up to `count`.
  int64_t below(int64_t index) const {
    if (index == 0) return 0;
    const int64_t word = (index - 1) / kRootWord;
    const int bits = int(index - word * kRootWord);  // of that word are below: from 1 to 32
    return number_of_word[word] - 1 + __popc(roots_of_word[word] & (kAllLanes >> (kRootWord - bits)));
  }
  // Sets components[n] to the number of roots of item n. The whole grid calls.
  void count_in_items(int64_t* components) const {
    const int64_t length = count / items;
    for (int64_t item = grid_thread(); item < items; item += grid_threads())
      components[item] = below((item + 1) * length) - below(item * length);
  }
};

template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    count_roots(int64_t count, int64_t items, const uint32_t* __restrict__ roots_of_word,
        const Index* __restrict__ number_of_word, int64_t* __restrict__ components) {
  follow_launch();
  RootBits<Index>{count, items, roots_of_word, number_of_word}.count_in_items(components);
}

// Replaces each root by label_of(index, root), and anything else by 0.
template <class Index> void replace_roots(int64_t count, Index* labels, auto&& label_of) {
  const int64_t step = grid_threads();
  for (int64_t begin = grid_thread(); begin < count; begin += kLabelsAtOnce * step) {
    Index root[kLabelsAtOnce];
#pragma unroll
    for (int k = 0; k < kLabelsAtOnce; ++k)
      root[k] = begin + k * step < count ? Concurrent::load(labels + begin + k * step) : Index(-1);
#pragma unroll
    for (int k = 0; k < kLabelsAtOnce; ++k) {
      const int64_t index = begin + k * step;
      if (index >= count) break;
      const bool is_root = uint64_t(root[k]) < uint64_t(count);
      Concurrent::store(labels + index, is_root ? label_of(Index(index), root[k]) : Index(0));
    }
  }
}

// For one item nothing is divided, which takes two thirds of the time to compile.
template <class Index, bool several>
__global__ void __launch_bounds__(kWordThreads, resident_blocks(kWordThreads)) number_labels(int64_t count,
    int64_t items, Index first, Index* labels, const uint32_t* __restrict__ roots_of_word,
    const Index* __restrict__ number_of_word, int64_t* __restrict__ components) {
  follow_launch();
  const RootBits<Index> roots{count, items, roots_of_word, number_of_word};
  if constexpr (several) {
    roots.count_in_items(components);
    const Index length = Index(count / items);
    replace_roots(count, labels, [&](Index index, Index root) {
      return Index(roots.label_of(root) - Index(roots.below(index / length * length)) - Index(1 - first));
    });
  } else {
    if (grid_thread() == 0) *components = roots.below(count);
    replace_roots(
        count, labels, [&](Index, Index root) { return Index(roots.label_of(root) - Index(1 - first)); });
  }
}

// The same for one item of so few words that each block numbers them itself.
template <class Index>
__global__ void __launch_bounds__(kWordThreads) number_few_labels(int64_t count, Index first, Index* labels,
    const uint32_t* __restrict__ roots_of_word, int64_t* __restrict__ components) {
  __shared__ NumberedWords<kWordThreads> words;
  follow_launch();
  const int words_of_item = int((count + kRootWord - 1) / kRootWord);
  const int total = words.count(words.load(roots_of_word, words_of_item), words_of_item);
  if (grid_thread() == 0) *components = total;
  replace_roots(count, labels,
      [&](Index, Index root) { return Index(Index(words.label(int(root))) - Index(1 - first)); });
}

template <class Index>
__global__ void __launch_bounds__(kWordThreads)
    roots_within_items(int64_t count, int64_t items, Index* labels) {
  follow_launch();
  const Index length = Index(count / items);
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Index root = labels[i];
    if (root >= 0) labels[i] = root - Index(i) / length * length;
  }
}

}
