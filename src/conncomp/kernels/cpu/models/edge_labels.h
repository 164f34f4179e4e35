// Labels of the clusters that active bonds make among any sites, on the CPU.
//
// What: of each site the smallest one of its cluster. How: union-find by compare-and-swap, of which the
// larger root hangs under the smaller one; threads take parts of the bonds, then of the sites. Cost: two
// random reads of parents an active bond, one a site. Source: ours; core/union_find.h.
#pragma once

#include <cstdint>

#include "core/union_find.h"
#include "cpu/core/numbering.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Items side by side that have the same bonds, of which a byte says for each item which are active.
struct ActiveEdges {
  int64_t items, sites, count;
  const int32_t *u, *v;
  const uint8_t* active;

  void label(int32_t* label) const {
    for_each_index(items * sites, [=, this](int64_t i) { label[i] = int32_t(i % sites); });
    const Parts bonds(count, kGrain), vertices(sites, kGrain);
    const auto unite_part = [&](int64_t piece) {
      const int64_t item = piece / bonds.parts, part = piece % bonds.parts;
      const uint8_t* const is = active + item * count;
      for_each_in(bonds.begin(part), bonds.end(part), [=, this](int64_t bond) {
        if (is[bond]) unite<Shared>(label + item * sites, u[bond], v[bond]);
      });
    };
    parallel_for(items * bonds.parts, unite_part, Dealing::kQueue);
    parallel_for(items * vertices.parts, [&](int64_t piece) {
      const int64_t item = piece / vertices.parts, part = piece % vertices.parts;
      for_each_in(vertices.begin(part), vertices.end(part),
                  [=, this](int64_t site) { flatten_entry(label + item * sites, int32_t(site)); });
    });
  }
};

}  // namespace conncomp
