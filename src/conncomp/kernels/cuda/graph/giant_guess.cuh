// Which tree of a forest most vertices are in, by the roots of a spread sample of them.
#pragma once

#include "core/union_find.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

constexpr int kGuessers = 256;

template <class Index>
struct GiantGuess {
  Index root;
  int votes;  // of kGuessers
};

// By one block of kGuessers, all of whose threads get the same.
template <class RootOf>
__device__ inline auto guess_giant_tree(int64_t vertices, RootOf&& root_of) {
  using Index = decltype(root_of(vertices));
  __shared__ Index roots[kGuessers];
  __shared__ int winner;
  const int thread = int(threadIdx.x);
  if (thread == 0) winner = 0;
  roots[thread] = root_of(vertices * thread / kGuessers);
  __syncthreads();
  int votes = 0;
  for (int i = 0; i < kGuessers; ++i) votes += roots[i] == roots[thread];
  // With the thread's number, so that no two are equal.
  InBlock::fetch_max(&winner, votes * kGuessers + thread);
  __syncthreads();
  return GiantGuess<Index>{roots[winner % kGuessers], winner / kGuessers};
}

}  // namespace conncomp
