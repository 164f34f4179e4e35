// Where keys go in hash tables of the CPU: to the highest bits of their product with an odd factor
// (multiply-shift of Dietzfelbinger et al. 1997), which is drawn when the program starts. So no file can have
// keys that all want the same slot: with a factor that everybody knows, 160,000 labels took 51 s.
#pragma once

#include <cstdint>
#include <random>

namespace conncomp {

class KeyHash {
 public:
  // One of 2^bits slots, where bits are 1 to 63.
  int64_t slot(uint64_t key, int bits) const { return int64_t(key * factor_ >> (64 - bits)); }

 private:
  static uint64_t drawn_factor() {
    static const uint64_t drawn = [] {
      std::random_device device;
      return uint64_t(device()) << 32 | device() | 1;
    }();
    return drawn;
  }

  uint64_t factor_ = drawn_factor();
};

}  // namespace conncomp
