// Runs loops over parts that are independent, as short as can be, and in the end one whose parts are not:
// each adds to a sum that is shared. ThreadSanitizer has to find that race, and no other. Built and run by
// test_sanitizers.py.
#include <cstdio>

#include "cpu/core/parallel.h"
#include "rounds.h"

using namespace conncomp;

namespace {

constexpr int64_t kParts = 8, kLoops = 200;

// Not in registers: each part reads and writes memory.
[[gnu::noinline]] void add(int64_t* sum, int64_t i) { *sum += i; }

void test_loops() {
  int64_t sums[kParts] = {};
  for (int64_t loop = 0; loop < kLoops; ++loop) parallel_for(kParts, [&](int64_t i) { add(sums + i, i); });
}

void plant_race() {
  int64_t sum = 0;
  parallel_for(kParts, [&](int64_t i) { add(&sum, i); });
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  process().wanted_threads = 2;
  test_loops();
  for (int round = 0; round < rounds; ++round) plant_race();
  std::printf("%d rounds\n", rounds);
}
