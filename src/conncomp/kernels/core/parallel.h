// Runs independent pieces of work on the threads of the machine, with OpenMP, or with std::thread
// where CONNCOMP_STD_THREADS is defined: ThreadSanitizer understands the latter only.
#pragma once

#ifndef CONNCOMP_STD_THREADS
#include <omp.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace conncomp {

// 0 leaves the choice to OpenMP, which honours OMP_NUM_THREADS.
inline std::atomic<int> requested_threads{0};

inline int num_threads() {
  const int requested = requested_threads.load(std::memory_order_relaxed);
  if (requested > 0) return requested;
#ifdef CONNCOMP_STD_THREADS
  return int(std::thread::hardware_concurrency());
#else
  return omp_get_max_threads();
#endif
}

// What is worth a thread's while, in elements; tests set it so low that small inputs come in many parts.
#ifdef CONNCOMP_GRAIN
constexpr int64_t kGrain = CONNCOMP_GRAIN;
#else
constexpr int64_t kGrain = 1 << 16;
#endif

// Calls body(i) once for every i in [0, count), in any order; the first exception is thrown again here.
template <class Body>
void parallel_for(int64_t count, Body&& body) {
  const int threads = int(std::min<int64_t>(num_threads(), count));
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto guarded = [&](int64_t i) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      body(i);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
#ifdef CONNCOMP_STD_THREADS
  std::atomic<int64_t> next{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&] {
      for (int64_t i; (i = next.fetch_add(1)) < count;) guarded(i);
    });
  for (std::thread& thread : team) thread.join();
#else
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) guarded(i);
#endif
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
