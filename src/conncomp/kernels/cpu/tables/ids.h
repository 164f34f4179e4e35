// Distinct ids by numbers, and columns of ids: one or two words of 64 bits, or bytes. WordIds and ByteIds
// hash a key, compare it, and add it; `approach` prefetches an id long before. Ends are checked where read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "core/atomics.h"

namespace conncomp {

// An array that grows by a half: large memory moves without a copy where it can (mremap under realloc).
template <class T> class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  int64_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

  void reserve(int64_t entries) {
    if (entries <= room_) return;
    const int64_t room = std::max(entries, room_ + room_ / 2 + kFewest);
    void* const memory = std::realloc(static_cast<void*>(data_.get()), size_t(room) * sizeof(T));
    if (!memory) throw std::bad_alloc();
    data_.release();
    data_.reset(static_cast<T*>(memory));
    room_ = room;
    request_huge_pages();
  }

  T* extend(int64_t entries) {
    reserve(size_ + entries);
    size_ += entries;
    return data() + size_ - entries;
  }

  void add(T value) { *extend(1) = value; }

 private:
  static constexpr int64_t kFewest = 64;

  // These spare most misses of where pages are, as entries are read here and there.
  void request_huge_pages() {
#ifdef __linux__
    constexpr uintptr_t kHugePage = uintptr_t(1) << 21;
    const uintptr_t begin = (uintptr_t(data()) + kHugePage - 1) / kHugePage * kHugePage;
    const uintptr_t end = uintptr_t(data() + room_) / kHugePage * kHugePage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  }

  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  int64_t size_ = 0, room_ = 0;
};

// The hash of ids, by words drawn when the program starts, so that nobody makes ids collide: products of 128
// bits, whose halves are joined; bytes go 16 at a time. Source: Yi's wyhash, "final version 4".
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
    if (length < 4) {
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
  template <class Word> static uint64_t first(const char* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  template <class Word> static uint64_t last(const char* bytes, int64_t length) {
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

template <int kWords> struct WordColumn {
  const uint64_t* words;

  // Prefetches a row, which may be beyond the last one.
  void approach(int64_t row) const { __builtin_prefetch(words + row * kWords); }

  std::array<uint64_t, kWords> operator[](int64_t row) const {
    std::array<uint64_t, kWords> key;
    for (int k = 0; k < kWords; ++k) key[k] = Concurrent::load(words + row * kWords + k);
    return key;
  }
};

template <int kWords> class WordIds {
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

// Whether bytes are the same; 8 to 16, as names mostly have, without a call.
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

// Bytes of row i from ends[i] to ends[i + 1], below `limit`.
struct ByteColumn {
  const char* bytes;
  const int64_t* ends;
  int64_t limit;

  void approach(int64_t row) const { __builtin_prefetch(ends + row); }

  Bytes operator[](int64_t row) const {
    const int64_t begin = Concurrent::load(ends + row), end = Concurrent::load(ends + row + 1);
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
    ends_.reserve(ends_.size() + 1);  // without memory for it, nothing is added
    char* const kept = bytes_.extend(key.length);
    if (key.length > 0) std::memcpy(kept, key.begin, size_t(key.length));
    ends_.add(bytes_.size());
  }

 private:
  const IdHash hash_;
  GrowingArray<int64_t> ends_;
  GrowingArray<char> bytes_;
};

}
