// Chooses colours for components so that those that are close to each other differ.
//
// What: the number of a colour for each component. Two are close if a step, of a set that has the opposite of
// each, leads from an element of one to an element of the other. How: one component after another looks at
// what is close to its elements, and takes a colour that nothing there has, the first from a preferred one
// on: the greedy colouring of a graph whose arcs are never written down. Of an element that follows another
// one, only steps beyond what was close to that are taken. Colours are bits of a word, 64 at a time; a
// component that finds all of them taken waits for the next word. Cost: two loads for each step of an element
// that others are close to, for each word, by one thread. Memory: a word for each component. Source: D. J. A.
// Welsh and M. B. Powell, An upper bound for the chromatic number of a graph (1967). Their order, most
// neighbours first, is the caller's: most elements that others are close to.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// The place of one of these bits, of which there is one: the first from `preferred` on, in turn, among as few
// of the lowest as have one, `common` or more.
inline int pick_bit(uint64_t bits, uint64_t preferred, int common) {
  for (int width = common;; width = std::min(width + width / 3, kWord)) {
    const uint64_t window = bits & up_to(width - 1);
    if (!window) continue;
    const uint64_t start = preferred % uint64_t(width), later = window >> start << start;
    return std::countr_zero(later ? later : window);
  }
}

// The elements of component k that others are close to are those of places[begins[k]] and up to
// places[begins[k + 1]], in ascending order. Component `rows` is the background.
struct PlacesOfComponents {
  const int64_t *begins, *places;
  int64_t rows;
};

// Steps from an element to those close to it. The first `leading` are all that lead to what is not close to
// the element before.
struct StepsNearby {
  const std::vector<int64_t>& steps;
  int64_t leading;
};

// 64 colours, from `first` on: which one a component would rather have, and how many are common.
struct ColoursToChoose {
  const int64_t* preferred;
  int64_t first;
  int common;
};

// Chooses colours for the first `count` components of `order`. Those for which none is left come to stand
// first in `order`; returns how many they are.
int64_t choose_colours(const auto* components, const StepsNearby& nearby, const PlacesOfComponents& elements,
                       const ColoursToChoose& palette, int64_t* order, int64_t count, int64_t* colours) {
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

}  // namespace conncomp
