// Calls that can be given up, as when somebody presses Ctrl-C.
//
// What: long loops say now and then how much work they are about to do (poll). Where a call is watched,
// the thread that made it asks a question every kPause, whether to go on; its helpers read the answer. Once
// it is no, every poll of the call throws Interrupted, which leaves the loop as any failure does.
// Cost: a subtraction, and a look at the clock every kBudget of work, so none for a short call. The question,
// which may have to wait for Python's lock, is asked by calls longer than kPause only.
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

// What a thread is at work for. Its memory is there from the start of the thread: that of other thread-local
// variables is allocated at first use, and the process ended if there is none.
struct Watch {
  WatchedCall* call;  // or nullptr
  bool caller;        // whether this thread made the call
  int64_t budget;     // of work until the next look
};
#ifdef __ELF__
[[gnu::tls_model("initial-exec")]]
#endif
inline constinit thread_local Watch watch{nullptr, false, 0};

// Of work, in elements or steps of about as much: some milliseconds.
constexpr int64_t kBudget = 1 << 18;

// A call that can be given up, while it exists; made by the thread that is to ask.
class WatchedCall {
 public:
  static constexpr int64_t kPause = 50;  // milliseconds

  // `question`, which is to live as long, says whether to give up. It is asked at no more than one poll at a
  // time, and never again after it has said so.
  template <class Question>
  explicit WatchedCall(Question& question) : WatchedCall(FunctionRef<bool()>(question)) {}
  ~WatchedCall() { watch = outer_; }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  bool given_up() const { return given_up_.load(std::memory_order_relaxed); }

  // By the thread that made the call: asks, if it is time to.
  void ask();

 private:
  explicit WatchedCall(FunctionRef<bool()> question);

  const FunctionRef<bool()> question_;
  int64_t next_question_ = 0;  // in milliseconds of a clock; 0 until the first look at it
  std::atomic<bool> given_up_{false};
  const Watch outer_;  // calls nest: a question may run code of the user, which may call again
};

// Lets this thread work for a call of another one, while it exists.
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

// Says that so much work comes next; throws Interrupted if the call is to be given up.
inline void poll(int64_t work) {
  if ((watch.budget -= work) < 0) look_up_from_work();
}

// What is done between two polls in a long loop.
constexpr int64_t kStretch = 1 << 14;

// Calls body(i) for every i of [begin, end), in order, with polls. It has a copy of the body, so that
// what that holds by value can stay in registers.
inline void for_each_in(int64_t begin, int64_t end, auto body) {
  while (begin < end) {
    const int64_t stop = end - begin < kStretch ? end : begin + kStretch;
    poll(stop - begin);
    for (; begin < stop; ++begin) body(begin);
  }
}

}  // namespace conncomp
