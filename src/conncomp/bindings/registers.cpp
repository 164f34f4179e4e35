// The module for an instruction set: what works on words of 64 elements by registers.
#include "bindings/bindings.h"
#include "cpu/core/parallel.h"

NB_MODULE(CONNCOMP_MODULE, m) {
  using namespace conncomp;
  check_interpreter();
  nb::set_leak_warnings(false);  // what is kept for the next call of a kind lives as long as the process
  define_link_rules(m);
  define_grid(m);
  define_columns(m);
  define_components(m);
  define_models(m);
  define_spin_glass(m);
  define_vector_spins(m);
  define_edge_spins(m);
  m.def("join", [](nb::capsule other) { join_process(*static_cast<Process*>(other.data(kProcessName))); });
}
