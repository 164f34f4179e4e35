// The hash of all tables of the CPU, with a factor of this process.
#pragma once

#include <cstdint>
#include <random>

#include "core/key_hash.h"

namespace conncomp {

inline KeyHash drawn_hash() {
  static const uint64_t drawn = [] {
    std::random_device device;
    return uint64_t(device()) << 32 | device() | 1;
  }();
  return {drawn};
}

}  // namespace conncomp
