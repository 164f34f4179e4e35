// Distinct ids by their numbers, and columns of ids as the caller keeps them.
//
// What: an id is one or two words of 64 bits, or bytes. A column has a key for each row; what is kept of the
// ids (WordIds, ByteIds) has a hash of a key, tells whether that of a number is the same, and adds one. It
// asks for memory in two steps, `approach` and `approach_bytes`, long before an id is compared.
// A column is memory that its owner may change meanwhile: ends of bytes are held against those of the column
// wherever they are read.
#pragma once

#include <array>
#include <random>

#include "core/atomics.h"
#include "cpu/tables/growing_array.h"

namespace conncomp {

// The hash of ids, by words that are drawn when the program starts: whoever does not know these cannot choose
// ids that collide. A word and one drawn are multiplied to 128 bits, of which both halves are joined (fold);
// bytes are taken 16 at a time. That two ids of equal hashes are equal is never taken for granted. Cost: two
// multiplications an id of up to 16 bytes. Source: Yi's wyhash, "final version 4".

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

template <int kWords>
struct WordColumn {
  const uint64_t* words;

  // Asks for what is read of a row, which may be beyond the last one.
  void approach(int64_t row) const { __builtin_prefetch(words + row * kWords); }

  std::array<uint64_t, kWords> operator[](int64_t row) const {
    std::array<uint64_t, kWords> key;
    for (int k = 0; k < kWords; ++k) key[k] = Shared::load(words + row * kWords + k);
    return key;
  }
};

template <int kWords>
class WordIds {
 public:
  using Column = WordColumn<kWords>;
  using Key = std::array<uint64_t, kWords>;

  int64_t size() const { return ids_.size(); }
  const GrowingArray<Key>& ids() const { return ids_; }

  uint64_t hash(const Key& key) const { return hash_(key[0], key[kWords - 1] * (kWords > 1)); }
  Key key(int64_t number) const { return ids_[number]; }
  bool is(int64_t number, const Key& key) const {
    uint64_t difference = 0;  // without a call, which comparing arrays would be
    for (int k = 0; k < kWords; ++k) difference |= ids_[number][k] ^ key[k];
    return difference == 0;
  }
  void approach(int64_t number) const { __builtin_prefetch(ids_.data() + number); }
  void approach_bytes(int64_t) const {}
  void reserve(int64_t count) { ids_.reserve(count); }
  void add(const Key& key) { ids_.add(key); }

 private:
  const IdHash hash_;
  GrowingArray<Key> ids_;
};

// Whether so many bytes are the same; of 8 to 16, as names mostly have, by two words, without a call.
inline bool are_same(const char* a, const char* b, int64_t count) {
  constexpr int64_t kWord = sizeof(uint64_t);
  if (count < kWord || count > 2 * kWord) return std::memcmp(a, b, size_t(count)) == 0;
  const auto differ = [=](int64_t at) {
    uint64_t word, other;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word ^ other;
  };
  return (differ(0) | differ(count - kWord)) == 0;
}

struct Bytes {
  const char* begin;
  int64_t length;
};

// Bytes of row i from ends[i] to ends[i + 1], all of them below `limit`.
struct ByteColumn {
  const char* bytes;
  const int64_t* ends;
  int64_t limit;

  void approach(int64_t row) const { __builtin_prefetch(ends + row); }

  Bytes operator[](int64_t row) const {
    const int64_t begin = Shared::load(ends + row), end = Shared::load(ends + row + 1);
    if (begin < 0 || end < begin || limit < end) return {bytes, 0};
    return {bytes + begin, end - begin};
  }
};

class ByteIds {
 public:
  using Column = ByteColumn;
  using Key = Bytes;

  ByteIds() { ends_.add(0); }

  int64_t size() const { return ends_.size() - 1; }
  const GrowingArray<int64_t>& ends() const { return ends_; }
  const GrowingArray<char>& bytes() const { return bytes_; }

  uint64_t hash(Key key) const { return hash_(key.begin, key.length); }
  Key key(int64_t number) const { return {bytes_.data() + ends_[number], ends_[number + 1] - ends_[number]}; }
  bool is(int64_t number, Key key) const {
    const Key known = this->key(number);
    return known.length == key.length && are_same(known.begin, key.begin, key.length);
  }
  void approach(int64_t number) const { __builtin_prefetch(ends_.data() + number); }
  void approach_bytes(int64_t number) const { __builtin_prefetch(bytes_.data() + ends_[number]); }
  void reserve(int64_t count) { ends_.reserve(count + 1); }
  void add(Key key) {
    ends_.reserve(ends_.size() + 1);  // should there be no memory for it, nothing is added
    char* const kept = bytes_.extend(key.length);
    if (key.length > 0) std::memcpy(kept, key.begin, size_t(key.length));
    ends_.add(bytes_.size());
  }

 private:
  const IdHash hash_;
  GrowingArray<int64_t> ends_;
  GrowingArray<char> bytes_;
};

}  // namespace conncomp
