#include "cpu/core/parallel.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "cpu/core/thread_pool.h"

namespace conncomp {

namespace {

// Calls body(i) for the first numbers, while helpers are not wanted; returns how many.
int64_t work_alone(int64_t count, FunctionRef<void(int64_t)> body) {
  int64_t i = 0;
  if (count > 1 && num_threads() > 1) {
    const HelperAccount& account = ThreadPool::get().account;
    const int64_t begin = time_now();
    while (count - i > 1 && account.overdrawn(begin)) body(i++);
    if (count - i > 1) return i;
  }
  for (; i < count; ++i) body(i);
  return count;
}

// Waits until so many pieces have been taken, or some milliseconds: asleep, as on a busy machine whoever
// yields comes last.
void await_pieces(const std::atomic<int64_t>& taken, int64_t wanted) {
  constexpr int64_t kPatience = 5'000'000;
  const int64_t begin = time_now();
  while (taken.load(std::memory_order_relaxed) < wanted && time_now() < begin + kPatience)
    std::this_thread::sleep_for(std::chrono::microseconds(10));
}

}  // namespace

bool helpers_wanted(int64_t elements) {
  if (elements <= kGrain || num_threads() <= 1) return false;
  return elements >= kLongLoop || !ThreadPool::get().account.overdrawn(time_now());
}

// Tapered, part k of P is 2 (P - k) - 1 shares of P², and a unit so that none is empty.
int64_t Parts::begin(int64_t part) const {
  const int64_t units = count / unit, left = parts - part, others = units - parts;
  if (!tapered || others < 0) return (units / parts * part + std::min(part, units % parts)) * unit;
  const int64_t shares = parts * parts, shares_left = left * left;
  return (others - others / shares * shares_left - others % shares * shares_left / shares + part) * unit;
}

void parallel_for(int64_t count, FunctionRef<void(int64_t)> body) {
  const int64_t alone = work_alone(count, body);
  if (alone == count) return;
  const int threads = int(std::min<int64_t>(num_threads(), count - alone));
  std::atomic<int64_t> next{alone};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  WatchedCall* const call = watch.call;
  const Watch* const of_caller = &watch;  // there is one for each thread
  CallerWork own{0, 0};
  const auto work = [&] {
    const Assistance assistance(call);
    const bool is_caller = &watch == of_caller;
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        // Nobody works before each thread has a piece.
        if constexpr (kAlwaysHelped) await_pieces(next, alone + threads);
        body(i);
        if (is_caller) ++own.pieces;
      }
    } catch (...) {
      next = count;
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    if (is_caller) own.time += processor_time();
  };
  ThreadPool& pool = ThreadPool::get();
  const int64_t asked = time_now();
  own.time = -processor_time();
  const bool helped = pool.run(threads - 1, work, [call] {
    if (call && watch.caller) call->ask();
  });
  if (helped) pool.account.enter(count - alone, time_now() - asked, own);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace conncomp
