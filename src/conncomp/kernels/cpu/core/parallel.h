// Runs independent pieces of work on the threads of the machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <thread>

#include "cpu/core/interrupt.h"
#include "cpu/core/thread_pool.h"

namespace conncomp {

// OMP_NUM_THREADS, by which users of numerical software set it, or else the processors there are.
inline int default_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int threads = wanted ? std::atoi(wanted) : 0;
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

inline std::atomic<int> wanted_threads{default_threads()};

inline int num_threads() { return wanted_threads.load(std::memory_order_relaxed); }

// What is worth a thread's while, in elements; tests set it so low that small inputs come in many parts.
#ifdef CONNCOMP_GRAIN
constexpr int64_t kGrain = CONNCOMP_GRAIN;
#else
constexpr int64_t kGrain = 1 << 16;
#endif

// Calls body(i) once for every i in [0, count), in any order; the first exception is thrown again here. In
// the middle of a body of much work there are checkpoints.
template <class Body>
void parallel_for(int64_t count, Body&& body) {
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
    if (call && watch.caller) call->poll();
  });
  if (failure) std::rethrow_exception(failure);
}

// Splits [0, count) into contiguous parts of at least `grain`, a few for each thread so that uneven
// parts even out.
struct Parts {
  int64_t count, parts, unit = 1;

  Parts(int64_t count, int64_t grain)
      : count(count), parts(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, 8 * num_threads())) {}

  int64_t begin(int64_t part) const {
    const int64_t units = count / unit;
    return (units / parts * part + std::min(part, units % parts)) * unit;
  }
  int64_t end(int64_t part) const { return begin(part + 1); }

  // Lets parts begin at multiples of `unit`, which divides count, if that leaves work for every thread.
  bool align(int64_t wanted) {
    if (count / wanted < std::min<int64_t>(parts, num_threads())) return false;
    unit = wanted;
    parts = std::min(parts, count / unit);
    return true;
  }
};

}  // namespace conncomp
