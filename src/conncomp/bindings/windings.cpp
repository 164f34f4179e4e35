// How components of arrays wrap around closed axes.
#include <cstdint>

#include "bindings/bindings.h"
#include "bindings/link_rules.h"
#include "core/seams.h"
#include "core/windings.h"
#include "cpu/grid/windings.h"

namespace conncomp {

namespace {

// `seams` and `boxes` are as in seams.py, the others are of SeamTables.
template <class Index>
void windings_of_array(uintptr_t data, const LinkRule& links, Vector<const int64_t> seams,
                       Vector<const int64_t> boxes, Vector<int64_t> key, Vector<int32_t> link,
                       Vector<int32_t> hook, Vector<int32_t> lattice_of, Vector<int64_t> lattices,
                       Vector<int32_t> count, Vector<int64_t> smallest, Vector<const Index> labels) {
  static_assert(sizeof(Hook) % sizeof(int32_t) == 0 && sizeof(WindingLattice) % sizeof(int64_t) == 0);
  const SeamWindings windings{
      {key.data(), int64_t(key.size())},
      {link.data(), reinterpret_cast<Hook*>(hook.data())},
      {lattice_of.data(), reinterpret_cast<WindingLattice*>(lattices.data()), count.data()},
      smallest.data(),
      nullptr};
  SeamArray<ElementLinks, Index> array{*reinterpret_cast<const Seams*>(seams.data()),
                                       reinterpret_cast<const SeamBox*>(boxes.data()),
                                       {*links.words},
                                       reinterpret_cast<const char*>(data),
                                       labels.data()};
  array.seams.item_stride *= links.words->value_bytes;
  without_gil([&] { find_windings(array, windings); });
}

}  // namespace

void define_windings(nb::module_& m) {
  m.def("find_windings", &windings_of_array<int32_t>);
  m.def("find_windings", &windings_of_array<int64_t>);
}

}  // namespace conncomp
