// What the programs of this folder share: random numbers, checks, and a serial flood fill.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "rounds.h"

namespace {

std::mt19937_64 generator(1);

// A number from `low` to `high`, of the type that their sum has.
template <class Low, class High> auto draw(Low low, High high) {
  return std::uniform_int_distribution<decltype(low + high)>(low, high)(generator);
}

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// The smallest index of each element's component; -1 where `inside` is false.
template <class Inside, class ForEachNeighbour>
std::vector<int64_t> flood_fill(int64_t count, Inside&& inside, ForEachNeighbour&& for_each_neighbour) {
  std::vector<int64_t> root(count, -1), stack;
  for (int64_t seed = 0; seed < count; ++seed) {
    if (root[seed] >= 0 || !inside(seed)) continue;
    root[seed] = seed;
    for (stack.push_back(seed); !stack.empty();) {
      const int64_t i = stack.back();
      stack.pop_back();
      for_each_neighbour(i, [&](int64_t j) {
        if (root[j] >= 0) return;
        root[j] = seed;
        stack.push_back(j);
      });
    }
  }
  return root;
}

}
