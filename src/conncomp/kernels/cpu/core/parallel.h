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

// What all modules of the core in a process share, however many are loaded: settings, threads, memory. Each
// is compiled with a Process of its own, and works with that of the module that it joins.
struct Process {
  std::atomic<int> wanted_threads;
  std::atomic<ThreadPool*> pool{nullptr};     // made when it is first asked for
  std::array<SpareBlock, 16> spare_blocks{};  // from the newest to the oldest
  std::atomic<bool> spare_busy{false};
};

Process& process();

// Lets this module, which has not worked yet, work with that of another one.
void join_process(Process& other);

inline int num_threads() { return process().wanted_threads.load(std::memory_order_relaxed); }

// Whether a loop over so many elements is to have parts for several threads: if there are more, and they have
// gained something of late (core/helper_account.h), or it is so long that it asks again on its way.
bool helpers_wanted(int64_t elements);

// What is worth a thread's while, in elements; tests set it so low that small inputs come in many parts.
#ifdef CONNCOMP_GRAIN
constexpr int64_t kGrain = CONNCOMP_GRAIN;
#else
constexpr int64_t kGrain = 1 << 16;
#endif

// Elements from which on a loop is long: some milliseconds.
constexpr int64_t kLongLoop = 64 * kGrain;

// How threads take the pieces of a loop. With kShares each thread starts on a share of its own, the same one
// in every loop of so many pieces, so that it finds in its cache what it wrote in the loop before. With
// kQueue all threads take the next piece of one queue, so that no two of them run in step through parts of
// the data that repeat each other.
enum class Dealing { kShares, kQueue };

// Calls body(i) once for every i in [0, count), in any order; the first exception is thrown again here. In
// the middle of a body of much work there are polls. Loops are compiled once, not for each body: a body
// is to be worth a call.
void parallel_for(int64_t count, FunctionRef<void(int64_t)> body, Dealing dealing = Dealing::kShares);

// Splits [0, count) into contiguous parts, a few for each thread so that uneven parts even out: of at least
// `grain` each, or of so much on average if there are many. Then each thread has as many, and each of its
// parts is smaller than the one before. The last ones are small, so that whoever has finished waits for
// others only briefly.
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

  // Lets there be so many parts at most; if that is fewer, they are as long as each other.
  void at_most(int64_t most) {
    if (most < parts) parts = most, tapered = false;
  }

  // Lets parts begin at multiples of `unit`, which divides count, if that leaves work for every thread.
  bool align(int64_t wanted) {
    if (count / wanted < std::min<int64_t>(parts, num_threads())) return false;
    unit = wanted;
    at_most(count / unit);
    return true;
  }
};

// Takes the pages of `count` entries, all of which are to be written later. The system clears a page of up to
// 2 MB when it is first written to, which takes up to some milliseconds; where writes go here and there,
// hundreds may come first in one stretch between polls. So these come first: in order, by all threads, with
// polls.
template <class T>
void take_pages(T* data, int64_t count) {
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

}  // namespace conncomp
