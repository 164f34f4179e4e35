// Books what helpers of parallel loops gained and cost lately. A busy machine may put aside a helper, or the
// caller for its sake, for milliseconds within a piece. So each loop enters the time that helpers spared the
// caller, less that in which the caller did not compute, up to a slice. While the account is overdrawn, no
// helper is asked, for long enough to make the loss small; a loop alone asks again once it is long. Cost: two
// calls of the system for each loop, as a clock cannot tell a caller put aside from a large piece.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace conncomp {

// Programs of tests always ask helpers, and wait for them: their loops are too small to gain anything.
#ifdef CONNCOMP_GRAIN
constexpr bool kAlwaysHelped = true;
#else
constexpr bool kAlwaysHelped = false;
#endif

inline int64_t time_of(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}
inline int64_t time_now() { return time_of(CLOCK_MONOTONIC); }
inline int64_t processor_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

struct CallerWork {
  int64_t pieces, time;
};

class HelperAccount {
 public:
  // Whether a loop that began at `begin` should leave helpers alone for now.
  bool overdrawn(int64_t begin) const {
    const int64_t until = rest_until_.load(std::memory_order_relaxed);
    return !kAlwaysHelped && until && time_now() < std::min(until, begin + kLong);
  }

  // Enters a loop. Callers that do so at the same time may lose an entry, which matters little.
  void enter(int64_t pieces, int64_t taken, CallerWork caller) {
    // A caller without a piece was put aside, mostly for a helper that worked in its place.
    const int64_t computed = caller.time,
                  spared = caller.pieces ? computed / caller.pieces * (pieces - caller.pieces) : 0;
    const int64_t gained =
        spared - std::clamp<int64_t>(taken - computed, 0, std::max<int64_t>(kSlice - computed, 0));
    const int64_t balance = std::min(balance_.load(std::memory_order_relaxed) + gained, kMost);
    const int64_t rest = rest_.load(std::memory_order_relaxed);
    const bool over = balance < kLeast;
    if (over) rest_until_.store(time_now() - rest * balance, std::memory_order_relaxed);
    if (over) rest_.store(std::min(2 * rest, kLongestRest), std::memory_order_relaxed);
    if (balance > kEnough) rest_.store(kRest, std::memory_order_relaxed);
    balance_.store(over ? 0 : balance, std::memory_order_relaxed);
  }

 private:
  // In nanoseconds. A first short loop for long is at a loss, as helpers sleep.
  static constexpr int64_t kSlice = 3'000'000, kLeast = -200'000, kEnough = 1'000'000, kMost = 20'000'000;
  // Times what was lost: twice as long each time, until helpers gain again.
  static constexpr int64_t kRest = 64, kLongestRest = 1024;
  // A loop that takes so long alone asks all the same.
  static constexpr int64_t kLong = 32 * kSlice;

  std::atomic<int64_t> balance_{0}, rest_{kRest}, rest_until_{0};
};

}
