// Windings of the components of an array on the CPU: all seam links, by any number of threads.
//
// The array has been labelled with all axes open, so what is left is a pass over the seam links that unites
// open components, and one that collects closed paths: core/windings.h tells how. Its cost is that of the
// surface of the array, times the steps to neighbours.
#pragma once

#include "core/links.h"
#include "core/seams.h"
#include "cpu/core/parallel.h"

namespace conncomp {

template <class Rule, class Label>
void find_windings(const Seams& seams, const SeamBox* box, const SeamWindings& windings, const Rule& rule,
                   const typename Rule::Value* values, const Label* labels) {
  const Parts links(seams.items * seams.links, kGrain), slots(windings.table.slots, kGrain);
  const auto for_each = [](const Parts& parts, const auto& body) {
    parallel_for(parts.parts, [&](int64_t part) {
      for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) { body(i); });
    });
  };
  for_each(links, [&](int64_t i) { windings.unite<Shared>(seams, box, i, rule, values, labels); });
  for_each(links, [&](int64_t i) { windings.close<Shared>(seams, box, i, rule, values, labels); });
  for_each(slots, [&](int64_t i) { windings.tell_smallest<Shared>(int32_t(i)); });
  for_each(slots, [&](int64_t i) { windings.ask_smallest<Shared>(int32_t(i)); });
}

}  // namespace conncomp
