// Link rules as arguments: which struct of core/links.h a name means.
#include "bindings/link_rules.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/half.h"
#include "core/links.h"

namespace conncomp {

namespace {

template <class T>
Distance<T> distance_of(nb::handle limit, bool is_signed) {
  if constexpr (std::is_integral_v<T>)
    return {nb::cast<T>(limit), T(is_signed ? T(1) << (8 * sizeof(T) - 1) : 0)};
  else
    return {{nb::cast<double>(limit)}};
}

template <class T>
std::unique_ptr<LinkWords> words_of_values(const std::string& name,
                                           const std::optional<nb::bytes>& background_bytes, nb::handle limit,
                                           bool is_signed) {
  Background<T> background{T(), background_bytes.has_value()};
  if (background_bytes) std::memcpy(&background.value, background_bytes->c_str(), sizeof(T));
  if (name == "equal") return std::make_unique<RuleWords<Equal<T>>>(Equal<T>{background});
  if (name == "within")
    return std::make_unique<RuleWords<Within<T>>>(Within<T>{background, distance_of<T>(limit, is_signed)});
  throw nb::value_error(("no link rule " + name).c_str());
}

std::unique_ptr<LinkWords> words_of_bonds(const std::vector<std::pair<int64_t, int>>& bonds) {
  Bonds rule{};
  if (bonds.size() > Bonds::kMostAxes) throw nb::value_error("bonds are along too many axes");
  for (size_t k = 0; k < bonds.size(); ++k) {
    rule.plane[k] = bonds[k].first;
    rule.mask[k] = uint8_t(bonds[k].second);
  }
  return std::make_unique<RuleWords<Bonds>>(rule);
}

}  // namespace

std::unique_ptr<LinkWords> link_words(const std::string& name, const std::string& value_type,
                                      const std::optional<nb::bytes>& background_bytes, nb::handle limit,
                                      bool is_signed, const std::vector<std::pair<int64_t, int>>& bonds) {
  if (name == "bonds") return words_of_bonds(bonds);
  const auto of = [&]<class T>(T) { return words_of_values<T>(name, background_bytes, limit, is_signed); };
  // How neighbouring values are told apart: the name of a kernel's value type.
  if (value_type == "u1") return of(uint8_t());
  if (value_type == "u2") return of(uint16_t());
  if (value_type == "u4") return of(uint32_t());
  if (value_type == "u8") return of(uint64_t());
  if (value_type == "f2") return of(Half());
  if (value_type == "f4") return of(float());
  if (value_type == "f8") return of(double());
  throw nb::value_error(("no kernel for values of type " + value_type).c_str());
}

}  // namespace conncomp
