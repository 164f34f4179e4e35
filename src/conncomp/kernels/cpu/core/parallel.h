// Runs independent pieces of work on the threads of the machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "cpu/core/function_ref.h"
#include "cpu/core/interrupt.h"
#include "cpu/core/process.h"

namespace conncomp {

inline int num_threads() { return process().wanted_threads.load(std::memory_order_relaxed); }

// Whether a loop over so many elements is to have parts for several threads: if there are more, and they have
// gained something of late (core/helper_account.h), or it is so long that it asks again on its way.
bool helpers_wanted(int64_t elements);

// What is worth a thread's while, in elements; tests set it so low that small inputs come in many parts.
#ifdef CONNCOMP_GRAIN
constexpr int64_t kGrain = CONNCOMP_GRAIN;
#else
constexpr int64_t kGrain = 1 << 16;
#endif

// Elements from which on a loop is long: some milliseconds.
constexpr int64_t kLongLoop = 64 * kGrain;

// How threads take the pieces of a loop. With kShares each thread starts on a share of its own, the same one
// in every loop of so many pieces, so that it finds in its cache what it wrote in the loop before. With
// kQueue all threads take the next piece of one queue, so that no two of them run in step through parts of
// the data that repeat each other.
enum class Dealing { kShares, kQueue };

// Calls body(i) once for every i in [0, count), in any order; the first exception is thrown again here. In
// the middle of a body of much work there are polls. Loops are compiled once, not for each body: a body
// is to be worth a call.
void parallel_for(int64_t count, FunctionRef<void(int64_t)> body, Dealing dealing = Dealing::kShares);

// Splits [0, count) into contiguous parts, a few for each thread so that uneven parts even out: of at least
// `grain` each, or of so much on average if there are many. Then each thread has as many, and each of its
// parts is smaller than the one before. The last ones are small, so that whoever has finished waits for
// others only briefly.
struct Parts {
  int64_t count, parts, unit = 1, shares;
  bool tapered;

  Parts(int64_t count, int64_t grain)
      : count(count),
        parts(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, 8 * num_threads())),
        shares(num_threads()),
        tapered(parts >= 4 * shares) {
    if (tapered) parts -= parts % shares;
  }

  int64_t begin(int64_t part) const;
  int64_t end(int64_t part) const { return begin(part + 1); }

  // Lets there be so many parts at most; if that is fewer, they are as long as each other.
  void at_most(int64_t most) {
    if (most < parts) parts = most, tapered = false;
  }

  // Lets parts begin at multiples of `unit`, which divides count, if that leaves work for every thread.
  bool align(int64_t wanted) {
    if (count / wanted < std::min<int64_t>(parts, num_threads())) return false;
    unit = wanted;
    at_most(count / unit);
    return true;
  }
};

}  // namespace conncomp
