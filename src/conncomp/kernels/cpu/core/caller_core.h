// Keeps helpers off the core that their caller works on.
//
// Why: where every core is busy, the system wakes a helper on the core that it last had, which may have
// become the caller's. There it comes before its caller, as it has slept, and works in its place: nothing is
// gained, the caller waits, and the next loop finds the helper there again. How: the caller says before each
// piece where it is, and a helper asks before each of its own. One that finds itself there when it is called
// lets itself run on all cores but that one, which moves it at once, and on all again, which leaves it where
// it is. Cost: a load and a store for each piece; three calls of the system when a helper moves.
#pragma once

#include <atomic>

namespace conncomp {

class CallerCore {
 public:
  // By the caller: it is on this core.
  void enter();
  // By a helper: whether it is on this core, too.
  bool is_here() const;
  int number() const { return core_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> core_{-1};  // -1: nothing is known of it
};

// Moves this thread from a core to any other that it may run on.
void leave_core(int core);

}  // namespace conncomp
