#include "cpu/core/interrupt.h"

#include <chrono>

namespace conncomp {

namespace {

int64_t milliseconds_now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

WatchedCall::WatchedCall(FunctionRef<bool()> question) : question_(question), outer_(watch) {
  watch = {this, true, kBudget};
}

void WatchedCall::ask() {
  if (given_up()) return;
  if (next_question_ && milliseconds_now() < next_question_) return;
  if (next_question_ && question_()) given_up_.store(true, std::memory_order_relaxed);
  next_question_ = milliseconds_now() + kPause;
}

void look_up_from_work() {
  watch.budget = kBudget;
  if (!watch.call) return;
  if (watch.caller) watch.call->ask();
  if (watch.call->given_up()) throw Interrupted();
}

}  // namespace conncomp
