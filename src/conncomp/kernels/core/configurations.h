// What the 2 x 2 (x 2) elements around a corner add to the numbers of a component. Over all corners the
// weights sum up to 2^axes times the Euler number in each connectivity, and for half of the neighbours'
// directions to the elements with a neighbour there outside the component (intercepts, of the corner ahead of
// both). Euler numbers are alternating sums of the cells of a complex: those that some element has for full
// connectivity, and those all of whose elements are of the component for connectivity 1. In three dimensions
// and connectivity 2 two elements that share but the corner do not meet there. Source: Ohser, Nagel,
// Schladitz 2002, "The Euler number of discretized sets"; Crofton's formula as in Legland, Kieu, Devaux 2007.
#pragma once

#include "core/neighbourhood.h"

namespace conncomp {

// Element i of a configuration lies ahead along axis k if i has bit axes - 1 - k.
template <int axes> struct Configurations {
  static constexpr int kElements = 1 << axes, kCodes = 1 << kElements;
  static constexpr int kDirections = (power_of_3(axes) - 1) / 2;
  // The Euler numbers of connectivities 1 to `axes`, and the intercepts of the directions.
  static constexpr int kNumbers = axes + kDirections;

  int8_t weights[kCodes][kNumbers];

  // Not constexpr: compilers take half a second to do what takes less than a millisecond.
  Configurations() : weights() {
    for (int code = 0; code < kCodes; ++code) {
      for (int cell = 0; cell < power_of_3(axes); ++cell) add_cell(code, cell);
      for (int connectivity = 2; connectivity < axes; ++connectivity)
        weights[code][connectivity - 1] =
            int8_t(weights[code][axes - 1] + (is_diagonal(code) ? kElements : 0));
      for (int direction = 0; direction < kDirections; ++direction)
        weights[code][axes + direction] = int8_t(is_intercept(code, direction + kDirections + 1));
    }
  }

 private:
  // The digit of base 3 of a step or a cell, less one, along axis k.
  static int along(int number, int k) { return number / power_of_3(axes - 1 - k) % 3 - 1; }
  static bool is_ahead(int element, int k) { return element >> (axes - 1 - k) & 1; }
  static bool has(int code, int element) { return code >> element & 1; }

  // A cell at the corner reaches back (-1) or ahead (1) along the axes that it extends in.
  void add_cell(int code, int cell) {
    bool some = false, all = true;
    int extent = 0, corners = 1;
    for (int k = 0; k < axes; ++k) extent += along(cell, k) != 0;
    for (int k = extent; k < axes; ++k) corners *= 2;
    for (int element = 0; element < kElements; ++element) {
      bool is_beside = true;
      for (int k = 0; k < axes; ++k)
        is_beside = is_beside && (along(cell, k) == 0 || is_ahead(element, k) == (along(cell, k) > 0));
      if (is_beside) some = some || has(code, element), all = all && has(code, element);
    }
    const int sign = extent % 2 ? -1 : 1;
    if (some) weights[code][axes - 1] = int8_t(weights[code][axes - 1] + sign * corners);
    if (all) weights[code][0] = int8_t(weights[code][0] + (axes % 2 ? -sign : sign) * corners);
  }

  static bool is_diagonal(int code) {
    for (int element = 0; element < kElements / 2; ++element)
      if (code == (1 << element | 1 << (kElements - 1 - element))) return true;
    return false;
  }

  static bool is_intercept(int code, int step) {
    int element = 0, neighbour = 0;
    for (int k = 0; k < axes; ++k) {
      element = 2 * element + int(along(step, k) <= 0);
      neighbour = 2 * neighbour + int(along(step, k) >= 0);
    }
    return has(code, element) && !has(code, neighbour);
  }
};

}
