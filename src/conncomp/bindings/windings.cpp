// How components of arrays wrap around closed axes.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/link_rules.h"
#include "core/wrapping/seams.h"
#include "cpu/grid/windings.h"

namespace conncomp {

namespace {

// `seams`, `boxes`, `slots` and `lattices` are as in seams.py. Returns ArrayWindings.
nb::tuple windings_of_array(uintptr_t data, const LinkRule& links, Vector<const int64_t> seams,
                            Vector<const int64_t> boxes, int64_t slots, int64_t lattices, AnyVector labels) {
  ArrayWindings windings = with_integers(labels, [&]<class Label>(const Label* label) {
    SeamArray<ElementLinks, Label> array{
        *reinterpret_cast<const Seams*>(seams.data()), reinterpret_cast<const SeamBox*>(boxes.data()),
        ElementLinks{*links.words}, reinterpret_cast<const char*>(data), label};
    array.seams.item_stride *= links.words->value_bytes;
    return without_gil([&] { return find_windings(array, slots, lattices); });
  });
  const auto give = [](std::vector<int64_t>& integers) {
    const int64_t count = int64_t(integers.size());
    return give_away(std::move(integers), count);
  };
  return nb::make_tuple(give(windings.smallest), give(windings.bases), give(windings.left_out));
}

// As wind_bonds; four windings of each bond.
void wind_given_bonds(Vector<const int64_t> item, Vector<const int64_t> from, Vector<const int64_t> to,
                      Vector<const int8_t> along, Vector<int64_t> axes, Vector<int64_t> rank) {
  const GivenBonds bonds{int64_t(item.size()), item.data(), from.data(), to.data(), along.data()};
  without_gil([&] { wind_bonds(bonds, axes.data(), rank.data()); });
}

}  // namespace

void define_windings(nb::module_& m) {
  m.def("find_windings", &windings_of_array);
  m.def("wind_bonds", &wind_given_bonds);
}

}  // namespace conncomp
