// The core that a thread works on, and how it leaves one.
//
// Why: where every core is busy, the system wakes a helper on the core that it last had, which may have
// become its caller's. There it comes before its caller, as it has slept, and works in its place: nothing is
// gained, and the next loop finds the helper there again. How: the thread lets itself run on all its cores
// but that one, which moves it at once, and on all again, which leaves it where it is. Cost: three calls of
// the system.
#pragma once

namespace conncomp {

// The core that this thread is on, or -1 if that is not known.
int current_core();

// Moves this thread from a core to any other that it may run on; false if there is none. Where systems only
// pretend that there are cores, it may be on that core still.
bool leave_core(int core);

}  // namespace conncomp
