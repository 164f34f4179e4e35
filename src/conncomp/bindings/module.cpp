// The module for every processor: all files but those of registers.cpp.

#include "bindings/bindings.h"
#include "bindings/instructions.h"
#include "cpu/core/parallel.h"

namespace conncomp {

namespace {

#if defined(__x86_64__) && defined(__GNUC__)
// What the processor has, and the system saves registers of, of instructions.h.
uint32_t present_instructions() {
  uint32_t set = 0, bit = 1;
#define CONNCOMP_ADD(macro, name)               \
  if (__builtin_cpu_supports(name)) set |= bit; \
  bit <<= 1;
  CONNCOMP_INSTRUCTIONS(CONNCOMP_ADD)
  return set;
}
#endif

// Whether processor and system have what the build of that name in _core.py needs.
bool supports(const std::string& instruction_set) {
  if (instruction_set == "generic") return true;
#if defined(__x86_64__) && defined(__GNUC__)
  if (instruction_set == "native") return (instructions_of_native & ~present_instructions()) == 0;
  const bool v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  if (instruction_set == "x86-64-v3") return v3;
  if (instruction_set == "x86-64-avx512")
    return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("avx512vpopcntdq");
#endif
  return false;
}

}

}

NB_MODULE(CONNCOMP_MODULE, m) {
  using namespace conncomp;
  check_interpreter();
  nb::set_leak_warnings(false);  // what is kept for the next call of a kind lives as long as the process
  define_arrays(m);
  define_weak(m);
  define_strong(m);
  define_forests(m);
  define_growing(m);
  define_graph_inputs(m);
  define_launches(m);
  define_transfers(m);
  define_tables(m);
  m.def("set_num_threads", [](int threads) { process().wanted_threads = threads; });
  m.def("get_num_threads", &num_threads);
  m.def("process", [] { return nb::capsule(&process(), kProcessName); });
  m.def("ask_meanwhile", &ask_meanwhile, nb::arg("question").none());
  m.def("look_up", [] {
    if (look_up()) throw nb::python_error();
  });
  m.def("compiler", [] { return __VERSION__; });
  m.def("supports", &supports);
}
