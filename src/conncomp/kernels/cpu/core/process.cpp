#include "cpu/core/process.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace conncomp {

namespace {

// OMP_NUM_THREADS, by which users of numerical software set it, or else the processors there are.
int default_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int threads = wanted ? std::atoi(wanted) : 0;
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

Process process_of_module{default_threads()};
Process* joined = &process_of_module;

}  // namespace

Process& process() { return *joined; }

void join_process(Process& other) { joined = &other; }

}  // namespace conncomp
