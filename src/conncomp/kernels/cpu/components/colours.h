// Chooses colours for components so that those that are close to each other differ.
//
// What: the number of a colour for each component. Two are close if a step, of a set that has the opposite of
// each, leads from an element of one to an element of the other.
// How: first, which elements have one of another component close to them (find_close). Then one component
// after another looks at what is close to its elements, and takes a colour that nothing there has, the first
// from a preferred one on: the greedy colouring of a graph whose arcs are never written down. Colours are
// bits of a word, 64 at a time; a component that finds all of them taken waits for the next word. Cost: a
// load for each step of an element, in order, by all threads; then one for each step of an element that has
// others close to it, by one thread, for each word. Memory: a word for each component. Source: D. J. A. Welsh
// and M. B. Powell, An upper bound for the chromatic number of a graph (1967), whose order, most neighbours
// first, is here that of the most elements close to others.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Says of every element whether one of another component is close to it: 1, or else 0. Elements of the
// background surround all others, so that no step from these leaves the array.
template <class Component>
void find_close(const Component* components, int64_t count, const std::vector<int64_t>& steps,
                Component background, uint8_t* close) {
  constexpr int64_t kBlock = 1 << 12;  // elements that stay in a cache, with what is close to them
  const int64_t farthest = steps.empty() ? 0 : *std::max_element(steps.begin(), steps.end());
  const int64_t margin = std::min(farthest, count);
  std::fill_n(close, margin, uint8_t(0));
  std::fill_n(close + count - margin, margin, uint8_t(0));
  const Parts parts(std::max<int64_t>(count - 2 * margin, 0), kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t stop = margin + parts.end(part);
    for (int64_t begin = margin + parts.begin(part), end; begin < stop; begin = end) {
      end = std::min(begin + kBlock, stop);
      checkpoint((end - begin) * int64_t(steps.size()));
      std::fill(close + begin, close + end, uint8_t(0));
      for (const int64_t step : steps)
        for (int64_t i = begin; i < end; ++i) {
          const Component other = components[i + step];
          close[i] |= uint8_t(uint8_t(other != components[i]) & uint8_t(other != background));
        }
      for (int64_t i = begin; i < end; ++i) close[i] &= uint8_t(components[i] != background);
    }
  });
}

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

// Chooses among 64 colours, from `first` on, for the first `count` components of `order`, the background
// being component `rows`. Those for which none is left come to stand first in `order`; returns how many they
// are. The elements of component k that others are close to are places[begins[k]] ... places[begins[k + 1] -
// 1].
template <class Component>
int64_t choose_colours(const Component* components, const std::vector<int64_t>& steps, const int64_t* begins,
                       const int64_t* places, int64_t rows, const int64_t* preferred, int64_t first,
                       int common, int64_t* order, int64_t count, int64_t* colours) {
  Buffer<uint64_t> bits = Buffer<uint64_t>::zeros(rows + 1);
  int64_t waiting = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = order[k];
    checkpoint((begins[row + 1] - begins[row]) * int64_t(steps.size()));
    uint64_t taken = 0;
    for (int64_t j = begins[row]; j < begins[row + 1]; ++j)
      for (const int64_t step : steps) taken |= bits[components[places[j] + step]];
    if (taken == kAll) {
      order[waiting++] = row;
      continue;
    }
    const int bit = pick_bit(~taken, uint64_t(preferred[row]), common);
    bits[row] = uint64_t(1) << bit;
    colours[row] = first + bit;
  }
  return waiting;
}

}  // namespace conncomp
