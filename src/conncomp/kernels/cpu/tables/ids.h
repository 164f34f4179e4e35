// Distinct ids by their numbers, and columns of ids as the caller keeps them.
//
// What: an id is one or two words of 64 bits, or bytes. A column has a key for each row; what is kept of the
// ids (WordIds, ByteIds) has a hash of a key, tells whether that of a number is the same, and adds one. It
// asks for memory in two steps, `approach` and `approach_bytes`, long before an id is compared.
// A column is memory that its owner may change meanwhile: ends of bytes are held against those of the column
// wherever they are read.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "core/atomics.h"
#include "cpu/tables/growing_array.h"
#include "cpu/tables/id_hash.h"

namespace conncomp {

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
