// What helpers of parallel loops have gained and cost of late.
//
// Where other processes keep every processor busy, a helper that has begun may be put aside in the middle of
// its piece for a whole time slice, some milliseconds, and the caller waits. For a loop of a fraction of that
// it was better not to ask; a long one gains all the same. So each loop enters what its helpers have done, in
// the time that the caller would have taken for it, less the time for which the caller waited, asking them
// and in the end. Once the account is overdrawn nobody is asked for a while, so long that what was lost is a
// small part of it; a loop that goes on alone asks again at each piece, and when it has become a long one all
// the same. Cost: two calls of the system for each loop, as what the caller would have taken is told by its
// processor time: it may have been put aside, too, as it would have been alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

namespace conncomp {

// Whether helpers are always asked, and waited for, as in programs of tests: their loops are too small to
// gain anything, and would run on one thread, where a sanitizer sees no race.
#ifdef CONNCOMP_GRAIN
constexpr bool kAlwaysHelped = true;
#else
constexpr bool kAlwaysHelped = false;
#endif

// In nanoseconds.
inline int64_t time_of(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}
inline int64_t time_now() { return time_of(CLOCK_MONOTONIC); }
// For which this thread has had a processor.
inline int64_t processor_time() { return time_of(CLOCK_THREAD_CPUTIME_ID); }

// What the caller of a loop has done, from when it began to ask helpers, in nanoseconds.
struct CallerWork {
  int64_t pieces = 0;          // that it has worked on
  int64_t time = 0;            // for which it had a processor meanwhile
  int64_t waited = 0;          // in which it did not work on them, by the clock
  int64_t since = time_now();  // when it last began to wait

  void begin() {
    waited += time_now() - since;
    time = -processor_time();
  }
  void end() {
    time += processor_time();
    since = time_now();
  }
};

class HelperAccount {
 public:
  // Whether helpers are to be left alone for now, by a loop that began at a time.
  bool overdrawn(int64_t begin) const {
    const int64_t until = rest_until_.load(std::memory_order_relaxed);
    return !kAlwaysHelped && until && time_now() < std::min(until, begin + kLong);
  }

  // Enters a loop of so many pieces, which is over, of which the caller has worked on some. Callers that do
  // so at the same time may lose an entry, which matters little.
  void enter(int64_t pieces, const CallerWork& caller) {
    const int64_t waited = caller.waited + time_now() - caller.since,
                  spared = caller.pieces ? caller.time / caller.pieces * (pieces - caller.pieces) : 0;
    const int64_t gained = spared - std::min(waited, kMost);
    const int64_t balance = std::min(balance_.load(std::memory_order_relaxed) + gained, kMost);
    const int64_t rest = rest_.load(std::memory_order_relaxed);
    const bool over = balance < kLeast;
    if (over)
      rest_until_.store(time_now() + std::min(rest * -balance, kLongestRest * kSlice),
                        std::memory_order_relaxed);
    if (over) rest_.store(std::min(2 * rest, kLongestRest), std::memory_order_relaxed);
    if (balance > kEnough) rest_.store(kRest, std::memory_order_relaxed);
    balance_.store(over ? 0 : balance, std::memory_order_relaxed);
  }

 private:
  // In nanoseconds. A loop is at a loss if it is short and the first for long, as helpers sleep. What a loop
  // loses is kMost at most, so that one bad moment after many good ones is no rest.
  static constexpr int64_t kSlice = 3'000'000, kLeast = -200'000, kEnough = 1'000'000, kMost = 20'000'000;
  // Times what was lost: twice as long each time, until helpers gain again.
  static constexpr int64_t kRest = 64, kLongestRest = 1024;
  // What a loop takes alone before it asks all the same: it loses a slice at most, a small part of that.
  static constexpr int64_t kLong = 32 * kSlice;

  std::atomic<int64_t> balance_{0}, rest_{kRest}, rest_until_{0};
};

}  // namespace conncomp
