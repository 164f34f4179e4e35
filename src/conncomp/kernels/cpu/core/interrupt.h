// Calls that can be given up, as by Ctrl-C. Long loops announce their work (poll). The thread of a watched
// call asks every kPause whether to go on; helpers read the answer, and after a no every poll throws
// Interrupted. Cost: a subtraction, and a look at the clock every kBudget; the question every kPause.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "cpu/core/function_ref.h"

namespace conncomp {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class WatchedCall;

// What a thread works for. Initial-exec: others are allocated at first use, and may lack memory.
struct Watch {
  WatchedCall* call;  // or nullptr
  bool caller;        // whether this thread made the call
  int64_t budget;     // of work until the next look
};
#ifdef __ELF__
[[gnu::tls_model("initial-exec")]]
#endif
inline constinit thread_local Watch watch{nullptr, false, 0};

// Work in elements, or steps of about as much: some milliseconds.
constexpr int64_t kBudget = 1 << 18;

class WatchedCall {
 public:
  static constexpr int64_t kPause = 50'000'000;  // nanoseconds

  // `question`, which must live as long, says whether to give up: asked at one poll at a time.
  explicit WatchedCall(auto& question) : WatchedCall(FunctionRef<bool()>(question)) {}
  ~WatchedCall() { watch = outer_; }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

  void ask();

 private:
  explicit WatchedCall(FunctionRef<bool()> question);

  const FunctionRef<bool()> question_;
  int64_t next_question_ = 0;  // by time_now(); 0 until the first look at it
  std::atomic<bool> given_up_{false};
  const Watch outer_;  // calls nest: a question may run code of the user, which may call again
};

class Assistance {
 public:
  explicit Assistance(WatchedCall* call) : outer_(watch) {
    if (watch.call != call) watch = {call, false, kBudget};
  }
  ~Assistance() { watch = outer_; }
  Assistance(const Assistance&) = delete;
  Assistance& operator=(const Assistance&) = delete;

 private:
  const Watch outer_;
};

[[gnu::cold]] void look_up_from_work();

// Announces work; throws Interrupted if the call is to be given up.
inline void poll(int64_t work) {
  if ((watch.budget -= work) < 0) look_up_from_work();
}

// Elements between two polls of a long loop.
constexpr int64_t kStretch = 1 << 14;

// Calls body(i) for i of [begin, end), with polls. The body is copied, so that values stay in registers.
inline void for_each_in(int64_t begin, int64_t end, auto body) {
  while (begin < end) {
    const int64_t stop = end - begin < kStretch ? end : begin + kStretch;
    poll(stop - begin);
    for (; begin < stop; ++begin) body(begin);
  }
}

}
