// The hash of ids, by words that are drawn when the program starts, so that nobody can choose ids that
// collide.
//
// How: a word and one drawn are multiplied to 128 bits, of which both halves are joined (fold). Whoever knows
// neither of the drawn words cannot tell which ids want one bucket. Bytes are taken 16 at a time. That two
// ids of equal hashes are equal is never taken for granted. Cost: two multiplications an id of up to 16
// bytes. Source: Yi's wyhash, "final version 4", whose secrets are drawn here.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <random>

namespace conncomp {

inline uint64_t fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide(a) * b;
  return uint64_t(product) ^ uint64_t(product >> 64);
}

class IdHash {
 public:
  uint64_t operator()(uint64_t a, uint64_t b) const { return end(fold(a ^ drawn_[0], b ^ drawn_[1])); }

  uint64_t operator()(const char* bytes, int64_t length) const {
    const uint64_t start = drawn_[1] ^ uint64_t(length);
    if (length < 4) {  // the first, the middle and the last byte are all there are
      uint64_t word = 0;
      for (int64_t i = 0; i < length; ++i) word |= uint64_t(uint8_t(bytes[i])) << 8 * i;
      return end(fold(word ^ drawn_[0], start));
    }
    if (length < 8)
      return end(fold((first<uint32_t>(bytes) << 32 | last<uint32_t>(bytes, length)) ^ drawn_[0], start));
    uint64_t hash = start;
    int64_t done = 0;
    for (; done + 16 < length; done += 16)
      hash = fold(first<uint64_t>(bytes + done) ^ drawn_[0], first<uint64_t>(bytes + done + 8) ^ hash);
    if (length - done > 8)
      hash = fold(first<uint64_t>(bytes + done) ^ drawn_[2], last<uint64_t>(bytes, length) ^ hash);
    else
      hash = fold(last<uint64_t>(bytes, length) ^ drawn_[3], hash ^ drawn_[2]);
    return end(hash);
  }

 private:
  template <class Word>
  static uint64_t first(const char* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  template <class Word>
  static uint64_t last(const char* bytes, int64_t length) {
    return first<Word>(bytes + length - int64_t(sizeof(Word)));
  }

  uint64_t end(uint64_t hash) const { return fold(hash ^ drawn_[2], drawn_[3]); }

  static const std::array<uint64_t, 4>& drawn() {
    static const std::array<uint64_t, 4> words = [] {
      std::random_device device;
      std::array<uint64_t, 4> drawn;
      for (uint64_t& word : drawn) word = uint64_t(device()) << 32 | device() | 1;
      return drawn;
    }();
    return words;
  }

  const std::array<uint64_t, 4> drawn_ = drawn();
};

}  // namespace conncomp
