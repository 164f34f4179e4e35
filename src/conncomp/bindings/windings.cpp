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

}  // namespace

void define_windings(nb::module_& m) { m.def("find_windings", &windings_of_array); }

}  // namespace conncomp
