// The module that Python imports: threads, the compiler, instruction sets, and what the other files add.
#include <string>

#include "bindings/bindings.h"
#include "cpu/core/parallel.h"

namespace conncomp {

namespace {

// Whether the processor has what the build of that name in _core.py needs, and the system saves its
// registers.
bool supports(const std::string& instruction_set) {
  if (instruction_set == "generic") return true;
#if defined(__x86_64__) && defined(__GNUC__)
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

}  // namespace

}  // namespace conncomp

NB_MODULE(CONNCOMP_MODULE, m) {
  using namespace conncomp;
  // nanobind's arrays take Python's lock by a call that knows the main interpreter only, and would wait for
  // ever in another one.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("conncomp works in the main interpreter only, not in subinterpreters");
  define_arrays(m);
  define_grid(m);
  define_grid_papers(m);
  define_windings(m);
  define_graph(m);
  define_graph_papers(m);
  define_strong(m);
  define_forests(m);
  define_growing(m);
  define_graph_inputs(m);
  define_dictionaries(m);
  define_components(m);
  define_intensities(m);
  define_contacts(m);
  define_models(m);
  define_generate(m);
  m.def("set_num_threads", [](int threads) { wanted_threads = threads; });
  m.def("get_num_threads", &num_threads);
  m.def("compiler", [] { return __VERSION__; });
  m.def("supports", &supports);
}
