// What helpers of parallel loops have gained and cost of late.
//
// Where other processes keep every processor busy, a helper that has begun may be put aside in the middle of
// its piece for a whole time slice, some milliseconds, and the caller waits; or the caller is put aside for
// the helper. For a loop of a fraction of that it was better not to ask; a long one gains all the same. So
// each loop enters what its helpers have done, in the time that the caller would have taken for it, less the
// time in which the caller did not compute, up to a slice. Once the account is overdrawn nobody is asked for
// a while, so long that what was lost is a small part of it; a loop that goes on alone asks again at each
// piece, and when it has become a long one all the same. Cost: a look at the clock for each piece. A thread's
// processor time would tell more, but takes a call of the system.
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

// The pieces that a caller has worked on, in nanoseconds. Where one takes far longer than others the caller
// may have been put aside, so none counts for more than four times what three quarters of them take at most,
// or the shortest of a few.
class PieceTimes {
 public:
  static int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  }

  void begin() { last_ = now(); }
  void end_piece() {
    const int64_t time = now();
    (count_ < kKept ? kept_[count_] : later_) += time - last_;
    last_ = time;
    ++count_;
  }

  int64_t count() const { return count_; }

  int64_t sum() {
    const int64_t kept = std::min(count_, kKept), usual = kept < 4 ? 0 : kept * 3 / 4;
    std::nth_element(kept_, kept_ + usual, kept_ + kept);
    int64_t sum = 0;
    for (int64_t k = 0; k < kept; ++k) sum += std::min(kept_[k], 4 * kept_[usual]);
    return sum + std::min(later_, (count_ - kept) * 4 * kept_[usual]);
  }

 private:
  static constexpr int64_t kKept = 32;

  int64_t last_ = 0, count_ = 0, later_ = 0, kept_[kKept] = {};
};

class HelperAccount {
 public:
  // Whether helpers are to be left alone for now, by a loop that began at a time.
  bool overdrawn(int64_t begin) const {
    const int64_t until = rest_until_.load(std::memory_order_relaxed);
    return !kAlwaysHelped && until && PieceTimes::now() < std::min(until, begin + kLong);
  }

  // Enters a loop of so many pieces, which took so long, of which the caller has worked on some. Callers that
  // do so at the same time may lose an entry, which matters little.
  void enter(int64_t pieces, int64_t taken, PieceTimes& caller) {
    if (caller.count() == 0) return;
    const int64_t computed = caller.sum(), spared = computed / caller.count() * (pieces - caller.count());
    const int64_t gained =
        spared - std::clamp<int64_t>(taken - computed, 0, std::max<int64_t>(kSlice - computed, 0));
    const int64_t balance = std::min(balance_.load(std::memory_order_relaxed) + gained, kMost);
    const int64_t rest = rest_.load(std::memory_order_relaxed);
    const bool over = balance < kLeast;
    if (over) rest_until_.store(PieceTimes::now() - rest * balance, std::memory_order_relaxed);
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
