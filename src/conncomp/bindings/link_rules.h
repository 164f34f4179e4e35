// Link rules as arguments.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "cpu/grid/link_words.h"

namespace conncomp {

// Returns what a rule of core/links.h says of elements; the arguments are those of Links in links.py, but
// that the axes of bonds are counted from the last one of the grid.
std::unique_ptr<LinkWords> link_words(const std::string& name, const std::string& value_type,
                                      const std::optional<nb::bytes>& background_bytes, nb::handle limit,
                                      bool is_signed, const std::vector<std::pair<int64_t, int>>& bonds);

}  // namespace conncomp
