// Link rules as arguments: which struct of core/links.h a name means.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/half.h"
#include "core/links.h"

namespace conncomp {

// How neighbouring values are told apart: the name of a kernel's value type.
template <class Body>
void with_value_type(const std::string& name, Body&& body) {
  if (name == "u1") return body(uint8_t());
  if (name == "u2") return body(uint16_t());
  if (name == "u4") return body(uint32_t());
  if (name == "u8") return body(uint64_t());
  if (name == "f2") return body(Half());
  if (name == "f4") return body(float());
  if (name == "f8") return body(double());
  throw nb::value_error(("no kernel for values of type " + name).c_str());
}

template <class T>
Distance<T> distance_of(nb::handle limit, bool is_signed) {
  if constexpr (std::is_integral_v<T>)
    return {nb::cast<T>(limit), T(is_signed ? T(1) << (8 * sizeof(T) - 1) : 0)};
  else
    return {{nb::cast<double>(limit)}};
}

// Calls body(rule) with a rule of core/links.h; the other arguments are those of Links in links.py, but that
// the axes of bonds are counted from the last one of the grid.
template <class Body>
void with_rule(const std::string& name, const std::string& value_type,
               std::optional<nb::bytes> background_bytes, nb::handle limit, bool is_signed,
               const std::vector<std::pair<int64_t, int>>& bonds, Body&& body) {
  if (name == "bonds") {
    Bonds rule{};
    if (bonds.size() > Bonds::kMostAxes) throw nb::value_error("bonds are along too many axes");
    for (size_t k = 0; k < bonds.size(); ++k) {
      rule.plane[k] = bonds[k].first;
      rule.mask[k] = uint8_t(bonds[k].second);
    }
    return body(rule);
  }
  with_value_type(value_type, [&](auto zero) {
    using Value = decltype(zero);
    Background<Value> background{Value(), background_bytes.has_value()};
    if (background_bytes) std::memcpy(&background.value, background_bytes->c_str(), sizeof(Value));
    if (name == "within") return body(Within<Value>{background, distance_of<Value>(limit, is_signed)});
    if (name == "equal") return body(Equal<Value>{background});
    throw nb::value_error(("no link rule " + name).c_str());
  });
}

}  // namespace conncomp
