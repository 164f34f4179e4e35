#include "cpu/core/caller_core.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace conncomp {

#ifdef __linux__

void CallerCore::enter() { core_.store(sched_getcpu(), std::memory_order_relaxed); }

bool CallerCore::is_here() const { return number() >= 0 && number() == sched_getcpu(); }

void leave_core(int core) {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  others = allowed;
  CPU_CLR(core, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

#else

void CallerCore::enter() {}
bool CallerCore::is_here() const { return false; }
void leave_core(int) {}

#endif

}  // namespace conncomp
