// Runs independent pieces of work on the threads of the machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "cpu/core/interrupt.h"

namespace conncomp {

class ThreadPool;

struct SpareBlock {
  void* memory;
  size_t bytes;
};

// What all modules of the core in a process share: each works with the Process of the one it joins.
struct Process {
  std::atomic<int> wanted_threads;
  std::atomic<ThreadPool*> pool{nullptr};     // made when first asked for
  std::array<SpareBlock, 16> spare_blocks{};  // from the newest to the oldest
  std::atomic<bool> spare_busy{false};
};

Process& process();

void join_process(Process& other);

inline int num_threads() { return process().wanted_threads.load(std::memory_order_relaxed); }

// Whether a loop should have several parts: helpers gained of late, or it is long.
bool helpers_wanted(int64_t elements);

// Elements worth a thread's while; tests make them so few that small inputs come in many parts.
#ifdef CONNCOMP_GRAIN
constexpr int64_t kGrain = CONNCOMP_GRAIN;
#else
constexpr int64_t kGrain = 1 << 16;
#endif

// Elements of a loop of some milliseconds.
constexpr int64_t kLongLoop = 64 * kGrain;

// How threads take pieces. With kShares each starts on its own share, the same in every such loop, for its
// cache. With kQueue all take from one queue, so that no two run in step.
enum class Dealing { kShares, kQueue };

// Calls body(i) for each i in [0, count), in any order; rethrows the first exception.
void parallel_for(int64_t count, FunctionRef<void(int64_t)> body, Dealing dealing = Dealing::kShares);

// Splits [0, count) into parts of at least `grain`, many tapered, for a brief last wait.
struct Parts {
  int64_t count, parts, unit = 1, shares;
  bool tapered;

  Parts(int64_t count, int64_t grain)
      : count(count),
        parts(std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, 8 * num_threads())),
        shares(num_threads()),
        tapered(parts >= 4 * shares) {
    if (tapered) parts -= parts % shares;
  }

  int64_t begin(int64_t part) const;
  int64_t end(int64_t part) const { return begin(part + 1); }

  void at_most(int64_t most) {
    if (most < parts) parts = most, tapered = false;
  }

  // Lets parts begin at multiples of `wanted`, which divides count, if that leaves work for every thread.
  bool align(int64_t wanted) {
    if (count / wanted < std::min<int64_t>(parts, num_threads())) return false;
    unit = wanted;
    at_most(count / unit);
    return true;
  }
};

// Touches the pages of `count` entries in order, by all threads, with polls: a first write clears up to 2 MB,
// and scattered writes might do so hundreds of times between polls.
template <class T> void take_pages(T* data, int64_t count) {
  constexpr int64_t kPage = 1 << 12, kPagesWorthAThread = 1 << 9;
  auto* const bytes = reinterpret_cast<volatile char*>(data);
  const int64_t pages = count * int64_t(sizeof(T)) / kPage;
  const Parts parts(pages, kPagesWorthAThread);
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t page = parts.begin(part); page < parts.end(part); ++page) {
      poll(kPage);
      bytes[page * kPage] = 0;
    }
  });
}

}
