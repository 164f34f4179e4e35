#include "cpu/core/parallel.h"

#include <atomic>
#include <exception>

#include "cpu/core/thread_pool.h"

namespace conncomp {

bool helpers_wanted() { return num_threads() > 1 && !ThreadPool::get().account.overdrawn(); }

void parallel_for(int64_t count, FunctionRef<void(int64_t)> body) {
  const int threads = int(std::min<int64_t>(num_threads(), count));
  if (threads <= 1 || !helpers_wanted()) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  WatchedCall* const call = watch.call;
  const Watch* const of_caller = &watch;  // there is one for each thread
  PieceTimes times;
  const auto work = [&] {
    const Assistance assistance(call);
    PieceTimes* const own = &watch == of_caller ? &times : nullptr;
    if (own) own->begin();
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        body(i);
        if (own) own->end_piece();
      }
    } catch (...) {
      next = count;
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  ThreadPool& pool = ThreadPool::get();
  const int64_t asked = PieceTimes::now();
  pool.run(threads - 1, work, [call] {
    if (call && watch.caller) call->ask();
  });
  pool.account.enter(count, PieceTimes::now() - asked, times);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace conncomp
