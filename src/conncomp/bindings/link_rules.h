// Link rules as arguments.
#pragma once

#include <memory>

#include "bindings/bindings.h"
#include "cpu/grid/link_words.h"

namespace conncomp {

// What a rule of core/links.h says of elements. Python makes one for a kind of array and keeps it; calls of
// several threads read it.
struct LinkRule {
  std::shared_ptr<const LinkWords> words;
};

}  // namespace conncomp
