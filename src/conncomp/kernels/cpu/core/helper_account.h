// What helpers of parallel loops have gained and cost of late.
//
// Where other processes keep every processor busy, a helper that has begun may be put aside in the middle of
// its piece for a whole time slice, some milliseconds, and the caller waits; or the caller is put aside for
// the helper. For a loop of a fraction of that it was better not to ask; a long one gains all the same. So
// each loop enters what its helpers have done, in the time that the caller would have taken for it, less the
// time in which the caller did not compute, up to a slice. Once the account is overdrawn nobody is asked for
// a while, so long that what was lost is a small part of it; a loop that goes on alone asks again at each
// piece, and when it has become a long one all the same. Cost: two calls of the system for each loop, as a
// clock does not tell a caller that is put aside from one with a large piece.
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

// How many pieces of a loop its caller has worked on, and for how long it had a processor, from when it began
// to wake helpers until no piece was left.
struct CallerWork {
  int64_t pieces, time;
};

class HelperAccount {
 public:
  // Whether helpers are to be left alone for now, by a loop that began at a time.
  bool overdrawn(int64_t begin) const {
    const int64_t until = rest_until_.load(std::memory_order_relaxed);
    return !kAlwaysHelped && until && time_now() < std::min(until, begin + kLong);
  }

  // Enters a loop of so many pieces, which took so long, of which the caller has worked on some. Callers that
  // do so at the same time may lose an entry, which matters little.
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
  // In nanoseconds. A loop is at a loss if it is short and the first for long, as helpers sleep.
  static constexpr int64_t kSlice = 3'000'000, kLeast = -200'000, kEnough = 1'000'000, kMost = 20'000'000;
  // Times what was lost: twice as long each time, until helpers gain again.
  static constexpr int64_t kRest = 64, kLongestRest = 1024;
  // What a loop takes alone before it asks all the same: it loses a slice at most, a small part of that.
  static constexpr int64_t kLong = 32 * kSlice;

  std::atomic<int64_t> balance_{0}, rest_{kRest}, rest_until_{0};
};

}  // namespace conncomp
