// Graphs of NetworkX, which are dictionaries: their components, and their rows.
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/without_gil.h"
#include "cpu/core/numbering.h"
#include "cpu/networkx/dictionaries.h"

namespace conncomp {

namespace {

// Lets other threads and the handlers of signals run now and then.
class Pauses {
 public:
  void operator()() {
    if (Clock::now() < next_) return;
    std::optional<WithoutGil>(std::in_place).reset();
    if (look_up()) throw nb::python_error();
    next_ = Clock::now() + kPause;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{5};  // as long as Python lets a thread run

  Clock::time_point next_ = Clock::now() + kPause;
};

// Labels the nodes of a graph whose rows, and those of the opposite arcs, are dictionaries.
template <class Index>
int64_t components_of_dictionaries(nb::tuple nodes, nb::tuple rows, nb::tuple opposite, Vector<Index> out) {
  if (rows.size() != nodes.size() || opposite.size() != nodes.size() || out.size() != nodes.size())
    throw nb::value_error("there must be a row and a label for each node");
  grow_forest_of_dictionaries(nodes, rows, opposite, out.data(), Pauses());
  return without_gil([&] { return label_forest(out.data(), int64_t(out.size()), true); });
}

template <class Vertex>
void csr_of_dictionaries(nb::tuple nodes, nb::tuple rows, bool multiple, Vector<int64_t> indptr,
                         Vector<Vertex> indices) {
  if (rows.size() != nodes.size() || indptr.size() != nodes.size() + 1)
    throw nb::value_error("there must be a row for each node, and one start more");
  read_targets(nodes, rows, multiple, indptr.data(), indices.data(), int64_t(indices.size()), Pauses());
}

}  // namespace

void define_dictionaries(nb::module_& m) {
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int32_t>);
  m.def("csr_of_dictionaries", &csr_of_dictionaries<int64_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int32_t>);
  m.def("components_of_dictionaries", &components_of_dictionaries<int64_t>);
}

}  // namespace conncomp
