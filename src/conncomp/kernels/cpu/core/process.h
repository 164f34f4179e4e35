// What all modules of the core in a process share, however many are loaded: settings, threads, memory.
//
// How: each module is compiled with a Process of its own, and works with that of the module that it joins.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace conncomp {

class ThreadPool;

struct SpareBlock {
  void* memory;
  size_t bytes;
};

struct Process {
  std::atomic<int> wanted_threads;
  std::atomic<ThreadPool*> pool{nullptr};     // made when it is first asked for
  std::array<SpareBlock, 16> spare_blocks{};  // from the newest to the oldest
  std::atomic<bool> spare_busy{false};
};

// The one that this module works with.
Process& process();

// Lets this module, which has not worked yet, work with that of another one.
void join_process(Process& other);

}  // namespace conncomp
