#include "cpu/core/parallel.h"

#include <atomic>
#include <exception>

#include "cpu/core/thread_pool.h"

namespace conncomp {

void parallel_for(int64_t count, FunctionRef<void(int64_t)> body) {
  const int threads = int(std::min<int64_t>(num_threads(), count));
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  WatchedCall* const call = watch.call;
  const auto work = [&] {
    const Assistance assistance(call);
    try {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i);
    } catch (...) {
      next = count;
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  ThreadPool::get().run(threads - 1, work, [call] {
    if (call && watch.caller) call->ask();
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace conncomp
