// Contacts of labels.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "cpu/components/contacts.h"
#include "cpu/components/paired_runs.h"

namespace conncomp {

namespace {

// `steps` has a row for each, as ContactStep; the others are as in ContactGrid.
template <class Label>
std::unique_ptr<LabelContacts> contacts(Vector<const Label> labels, const std::vector<int64_t>& shape,
                                        uint64_t periodic, Table<int64_t> steps, int64_t kinds,
                                        Label background, int64_t rows) {
  ContactGrid grid{shape, periodic, {}, kinds};
  for (size_t i = 0; i < steps.shape(0); ++i)
    grid.steps.push_back({steps(i, 0), uint64_t(steps(i, 1)), uint64_t(steps(i, 2)), steps(i, 3)});
  return without_gil(
      [&] { return std::make_unique<LabelContacts>(find_contacts(labels.data(), background, rows, grid)); });
}

// As weigh_contacts: `by_kind` has a number for each pair and kind, one pair after another.
void weigh(Vector<const int64_t> by_kind, const std::vector<int64_t>& times, const std::vector<double>& face,
           Vector<int64_t> counts, Vector<double> areas) {
  without_gil([&] {
    weigh_contacts(by_kind.data(), int64_t(counts.size()), times, face, counts.data(), areas.data());
  });
}

// As pair_runs; arrays are of one length and type.
nb::object runs_of_pairs(AnyVector one, AnyVector other) {
  return with_integers(one, [&]<class Label>(const Label* labels) {
    return with_entries<Label>(other, [&](const Label* others) {
      std::vector<int64_t> runs = without_gil([&] { return pair_runs(labels, others, int64_t(one.size())); });
      const int64_t count = int64_t(runs.size());
      return give_away(std::move(runs), count);
    });
  });
}

}  // namespace

void define_contacts(nb::module_& m) {
  nb::class_<LabelContacts>(m, "LabelContacts")
      .def_prop_ro("pairs", &LabelContacts::pairs)
      .def("write", [](const LabelContacts& contacts, Vector<int64_t> labels, Vector<int64_t> counts) {
        without_gil([&] { contacts.write(labels.data(), counts.data()); });
      });
  m.def("find_contacts", &contacts<int32_t>);
  m.def("find_contacts", &contacts<int64_t>);
  m.def("weigh_contacts", &weigh);
  m.def("pair_runs", &runs_of_pairs);
}

}  // namespace conncomp
