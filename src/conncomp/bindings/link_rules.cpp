// Link rules as arguments: which struct of core/links.h a name means.
#include "bindings/link_rules.h"

namespace conncomp {

namespace {

template <class T> Distance<T> distance_of(nb::handle limit, bool is_signed) {
  if constexpr (std::is_integral_v<T>)
    return {nb::cast<T>(limit), T(is_signed ? T(1) << (8 * sizeof(T) - 1) : 0)};
  else
    return {{nb::cast<double>(limit)}};
}

template <class T> Background<T> background_of(const std::optional<nb::bytes>& bytes) {
  Background<T> background{T(), bytes.has_value()};
  if (bytes) std::memcpy(&background.value, bytes->c_str(), sizeof(T));
  return background;
}

// Calls a function with a value of the type that a kernel knows by this name.
LinkRule with_value_type(const std::string& name, auto&& function) {
  if (name == "u1") return function(uint8_t());
  if (name == "u2") return function(uint16_t());
  if (name == "u4") return function(uint32_t());
  if (name == "u8") return function(uint64_t());
  if (name == "f2") return function(Half());
  if (name == "f4") return function(float());
  if (name == "f8") return function(double());
  throw nb::value_error(("no kernel for values of type " + name).c_str());
}

LinkRule equal(const std::string& value_type, std::optional<nb::bytes> background) {
  return with_value_type(value_type, [&]<class T>(T) {
    return LinkRule{std::make_shared<RuleWords<Equal<T>>>(Equal<T>{background_of<T>(background)})};
  });
}

LinkRule within(
    const std::string& value_type, std::optional<nb::bytes> background, nb::handle limit, bool is_signed) {
  return with_value_type(value_type, [&]<class T>(T) {
    const Within<T> rule{background_of<T>(background), distance_of<T>(limit, is_signed)};
    return LinkRule{std::make_shared<RuleWords<Within<T>>>(rule)};
  });
}

// The axes are counted from the last one of the grid.
LinkRule bonds(const std::vector<std::pair<int64_t, int>>& planes) {
  Bonds rule{};
  if (planes.size() > Bonds::kMostAxes) throw nb::value_error("bonds are along too many axes");
  for (size_t k = 0; k < planes.size(); ++k) {
    rule.plane[k] = planes[k].first;
    rule.mask[k] = uint8_t(planes[k].second);
  }
  return {std::make_shared<RuleWords<Bonds>>(rule)};
}

}

void define_link_rules(nb::module_& m) {
  nb::class_<LinkRule>(m, "LinkRule")
      .def_static("equal", &equal, nb::arg("value_type"), nb::arg("background").none())
      .def_static("within", &within, nb::arg("value_type"), nb::arg("background").none(), nb::arg("limit"),
          nb::arg("is_signed"))
      .def_static("bonds", &bonds, nb::arg("planes"));
}

}
