// Colours for components that differ where a step of a symmetric set leads from one to the other. Each in
// turn takes a colour that nothing close has, from a preferred one on: greedy colouring of a graph whose arcs
// are never written. An element that follows another takes only steps beyond what was close to that. Colours
// are bits of a word; a component that finds all taken waits for the next word. Cost: two loads per step,
// element and word. Source: Welsh and Powell 1967.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// The first of these bits from `preferred` on, cyclically, among the fewest lowest, at least `common`.
inline int pick_bit(uint64_t bits, uint64_t preferred, int common) {
  for (int width = common;; width = std::min(width + width / 3, kWord)) {
    const uint64_t window = bits & up_to(width - 1);
    if (!window) continue;
    const uint64_t start = preferred % uint64_t(width), later = window >> start << start;
    return std::countr_zero(later ? later : window);
  }
}

// Component k has places[begins[k]] ... before begins[k + 1], ascending; `rows` is background.
struct PlacesOfComponents {
  const int64_t *begins, *places;
  int64_t rows;
};

// Steps to what is close; the first `leading` to what is not to the element before.
struct StepsNearby {
  const std::vector<int64_t>& steps;
  int64_t leading;
};

struct ColoursToChoose {
  const int64_t* preferred;
  int64_t first;
  int common;
};

// Colours the first `count` of `order`; moves those left to its front; returns how many.
int64_t choose_colours(const Integer auto* components, const StepsNearby& nearby,
    const PlacesOfComponents& elements, const ColoursToChoose& palette, int64_t* order, int64_t count,
    int64_t* colours) {
  const auto& [steps, leading] = nearby;
  const auto& [begins, places, rows] = elements;
  Buffer<uint64_t> bits = Buffer<uint64_t>::zeros(rows + 1);
  int64_t waiting = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = order[k];
    poll((begins[row + 1] - begins[row]) * int64_t(steps.size()));
    uint64_t taken = 0;
    for (int64_t j = begins[row], previous = -2; j < begins[row + 1]; previous = places[j++]) {
      const int64_t news = places[j] == previous + 1 ? leading : int64_t(steps.size());
      for (int64_t s = 0; s < news; ++s) taken |= bits[components[places[j] + steps[s]]];
    }
    if (taken == kAll) {
      order[waiting++] = row;
      continue;
    }
    const int bit = pick_bit(~taken, uint64_t(palette.preferred[row]), palette.common);
    bits[row] = uint64_t(1) << bit;
    colours[row] = palette.first + bit;
  }
  return waiting;
}

}
