// Counts of 64-bit keys: open addressing that doubles before it is half full. Each thread fills its own;
// sorted_counts joins them, so that nothing depends on threads. Memory: 32 to 64 bytes a key.
#pragma once

#include <random>

#include "core/key_hash.h"
#include "cpu/core/radix_sort.h"

namespace conncomp {

// The hash of all tables of the CPU, drawn once per process.
inline KeyHash drawn_hash() {
  static const uint64_t drawn = [] {
    std::random_device device;
    return uint64_t(device()) << 32 | device() | 1;
  }();
  return {drawn};
}

struct KeyCount {
  uint64_t key;
  int64_t count;  // 0 in a slot that no key has
};

class KeyCounts {
 public:
  int64_t size() const { return size_; }

  void add(uint64_t key, int64_t count) {
    KeyCount* slot = slot_of(key);
    if (slot->count == 0) slot = enter(key, slot);
    slot->count += count;
  }

  // The number of a key, by arrival, in a table that counts nothing; for_each gives it plus one.
  int64_t number(uint64_t key) {
    KeyCount* slot = slot_of(key);
    if (slot->count == 0) {
      slot = enter(key, slot);
      slot->count = size_;
    }
    return slot->count - 1;
  }

  void for_each(auto body) const {
    for_each_in(0, slots(), [=, this](int64_t i) {
      if (slots_[i].count != 0) body(slots_[i]);
    });
  }

 private:
  static constexpr int kFewestBits = 10;

  int64_t slots() const { return int64_t(1) << bits_; }

  KeyCount* slot_of(uint64_t key) {
    const int64_t last = slots() - 1;
    int64_t i = hash_.slot(key, bits_);
    while (slots_[i].count != 0 && slots_[i].key != key) i = (i + 1) & last;
    return &slots_[i];
  }

  // Enters a new key; returns its slot, as the table may have grown.
  KeyCount* enter(uint64_t key, KeyCount* slot) {
    if (2 * size_ >= slots()) {
      grow();
      slot = slot_of(key);
    }
    slot->key = key;
    ++size_;
    return slot;
  }

  void grow() {
    const KeyCounts old = std::move(*this);
    bits_ = old.bits_ + 1;
    slots_ = Buffer<KeyCount>::zeros(slots());
    old.for_each([this](const KeyCount& entry) { *slot_of(entry.key) = entry; });
  }

  KeyHash hash_ = drawn_hash();
  int bits_ = kFewestBits;
  int64_t size_ = 0;
  Buffer<KeyCount> slots_ = Buffer<KeyCount>::zeros(slots());
};

// Counts on their way into a table, in slots of the first-level cache; a taken slot sends its count on.
class RecentCounts {
 public:
  explicit RecentCounts(KeyCounts& counts) : counts_(counts) {}

  void add(uint64_t key) {
    KeyCount& slot = slots_[hash_.slot(key, kBits)];
    if (slot.key != key) {
      send_on(slot);
      slot = {key, 0};
    }
    ++slot.count;
  }

  void send_all() {
    for (KeyCount& slot : slots_) {
      send_on(slot);
      slot = {};
    }
  }

 private:
  static constexpr int kBits = 11;

  void send_on(const KeyCount& slot) {
    if (slot.count > 0) counts_.add(slot.key, slot.count);
  }

  const KeyHash hash_ = drawn_hash();
  KeyCounts& counts_;
  std::array<KeyCount, 1 << kBits> slots_{};
};

// The entries of all tables by keys. `numbered` ones go on from those of the table before, from 0.
inline std::pair<Buffer<KeyCount>, int64_t> sorted_counts(
    const std::vector<KeyCounts>& tables, bool numbered = false) {
  std::vector<int64_t> begin(tables.size() + 1);
  for (size_t t = 0; t < tables.size(); ++t) begin[t + 1] = begin[t] + tables[t].size();
  const int64_t entries = begin.back();
  Buffer<KeyCount> sorted(entries);
  parallel_for(int64_t(tables.size()), [&](int64_t t) {
    KeyCount* next = sorted.data() + begin[t];
    tables[t].for_each([&next, shift = numbered ? begin[t] - 1 : 0](
                           const KeyCount& entry) { *next++ = {entry.key, entry.count + shift}; });
  });
  radix_sort(sorted, entries);
  return {std::move(sorted), entries};
}

}
