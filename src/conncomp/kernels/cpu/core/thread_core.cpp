#include "cpu/core/thread_core.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace conncomp {

#ifdef __linux__

int current_core() { return sched_getcpu(); }

bool leave_core(int core) {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return true;  // more cores than a set has
  others = allowed;
  CPU_CLR(core, &others);
  if (sched_setaffinity(0, sizeof others, &others) != 0) return CPU_COUNT(&others) > 0;
  sched_setaffinity(0, sizeof allowed, &allowed);
  return true;
}

#else

int current_core() { return -1; }
bool leave_core(int) { return true; }

#endif

}  // namespace conncomp
