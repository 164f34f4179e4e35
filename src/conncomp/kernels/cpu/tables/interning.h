// Ids to numbers: 0, 1, ... in the order in which ids first come.
//
// What: a hash table from ids to numbers, and the distinct ids by number. Any number of threads may look ids
// up while none adds any.
// How: the table has buckets of a cache line, with eight slots of 64 bits: a tag, which is one half of the
// hash, and a number. An id goes to the first free slot of its bucket, by the other half of its hash, or of
// the next bucket that has one. Tags only say which ids to compare: one in 2^29 that are not there is
// compared in vain. The way to memory is what costs: so a block of ids first asks for its buckets, then for
// the ids of the numbers that are found there, and then compares. The table is made anew, from the ids, where
// it would become more than kFullest full; the old one is given back before. Cost: two cache misses an id,
// many of them under way at once. Memory: 10 to 15 bytes a distinct id.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"
#include "cpu/tables/ids.h"

namespace conncomp {

class NumberTable {
 public:
  static constexpr int kSlots = 8;
  struct alignas(64) Bucket {
    uint64_t slots[kSlots];  // the tag, and one more than the number; 0 where free
  };

  // Whether there is room for so many numbers.
  bool holds(int64_t numbers) const { return double(numbers) <= kFullest * double(buckets_ * kSlots); }

  // Makes an empty table for so many numbers at least.
  void renew(int64_t numbers) {
    const int64_t buckets =
        std::max<int64_t>(int64_t(double(numbers) / kFullest) / kSlots + 1,
                          buckets_ + (buckets_ < kFewBuckets ? 2 * buckets_ : buckets_ / 2));
    memory_ = {};
    buckets_ = 0;
    memory_ = Buffer<uint64_t>::zeros((buckets + 1) * kSlots);
    first_ = reinterpret_cast<Bucket*>((uintptr_t(memory_.data()) + sizeof(Bucket) - 1) & -sizeof(Bucket));
    buckets_ = buckets;
  }

  int64_t bucket(uint64_t hash) const {
    __extension__ using Wide = unsigned __int128;
    return int64_t(Wide(hash) * uint64_t(buckets_) >> 64);
  }
  void approach(int64_t bucket) const { __builtin_prefetch(first_ + bucket); }

  // The number in a bucket that has the tag of the hash, or -1.
  int64_t candidate(int64_t bucket, uint64_t hash) const {
    uint32_t found = 0;
    for (const uint64_t slot : first_[bucket].slots)
      found |= tag(slot) == uint32_t(hash) ? uint32_t(slot) : 0;
    return int64_t(found) - 1;
  }
  bool has_free_slot(int64_t bucket) const { return first_[bucket].slots[kSlots - 1] == 0; }

  // The number with is(number) among those of a hash, or -1.
  template <class Is>
  int64_t find(uint64_t hash, Is is) const {
    for (int64_t b = bucket(hash);; b = next(b)) {
      for (const uint64_t slot : first_[b].slots) {
        if (slot == 0) return -1;
        if (tag(slot) == uint32_t(hash) && is(number(slot))) return number(slot);
      }
    }
  }

  void add(uint64_t hash, int64_t number) {
    for (int64_t b = bucket(hash);; b = next(b))
      for (uint64_t& slot : first_[b].slots)
        if (slot == 0) {
          slot = hash << 32 | uint64_t(number + 1);
          return;
        }
  }

 private:
  static constexpr double kFullest = 0.8;
  static constexpr int64_t kFewBuckets = 1 << 17;  // of which three times as many take 24 MB

  static uint32_t tag(uint64_t slot) { return uint32_t(slot >> 32); }
  static int64_t number(uint64_t slot) { return int64_t(uint32_t(slot)) - 1; }
  int64_t next(int64_t bucket) const { return bucket + 1 < buckets_ ? bucket + 1 : 0; }

  Buffer<uint64_t> memory_;
  Bucket* first_ = nullptr;
  int64_t buckets_ = 0;
};

template <class Ids>
class Interning {
 public:
  using Column = typename Ids::Column;
  using Key = typename Ids::Key;

  const Ids& ids() const { return ids_; }
  int64_t size() const { return ids_.size(); }

  // Makes room for so many more ids; before they are looked up or interned.
  void make_room(int64_t count) {
    if (whole_ && table_.holds(size() + count)) return;
    whole_ = false;  // until it is, should this be interrupted
    renew(size() + count);
    whole_ = true;
  }

  // Gives the table back; it is made anew when ids are added.
  void forget_table() {
    table_ = {};
    whole_ = false;
  }

  // Lets numbers[i - begin] be the number of the id of row i of [begin, end), or -1.
  void look_up(const Column& column, int64_t begin, int64_t end, int32_t* numbers) const {
    if (size() == 0) {
      std::fill_n(numbers, end - begin, -1);
      return;
    }
    constexpr int64_t kBlock = 32;
    struct {
      Key key;
      uint64_t hash;
      int64_t bucket, number;
    } block[kBlock];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t count = std::min(kBlock, end - first);
      checkpoint(count);
      for (int64_t i = 0; i < count; ++i) {
        auto& [key, hash, bucket, number] = block[i];
        key = column[first + i];
        hash = ids_.hash(key);
        bucket = table_.bucket(hash);
        table_.approach(bucket);
      }
      for (int64_t i = 0; i < count; ++i) {
        auto& [key, hash, bucket, number] = block[i];
        number = table_.candidate(bucket, hash);
        if (is_number(number)) ids_.approach(number);
      }
      for (int64_t i = 0; i < count; ++i) {
        if (is_number(block[i].number)) ids_.approach_bytes(block[i].number);
      }
      for (int64_t i = 0; i < count; ++i) {
        auto& [key, hash, bucket, number] = block[i];
        if (is_number(number) && ids_.is(number, key)) {
          numbers[first - begin + i] = int32_t(number);
        } else if (number < 0 && table_.has_free_slot(bucket)) {
          numbers[first - begin + i] = -1;
        } else {
          numbers[first - begin + i] =
              int32_t(table_.find(hash, [this, &key = key](int64_t n) { return ids_.is(n, key); }));
        }
      }
    }
  }

  // Calls done(i, number) for every i of [0, count), in order, with the number of key(i), which gets one if
  // it has none.
  template <class KeyOf, class Done>
  void intern(int64_t count, KeyOf key, Done done) {
    make_room(count);
    constexpr int64_t kAhead = 16;
    for (int64_t i = 0; i < std::min(kAhead, count); ++i) table_.approach(table_.bucket(ids_.hash(key(i))));
    for_each_in(0, count, [=, this](int64_t i) {
      table_.approach(table_.bucket(ids_.hash(key(std::min(i + kAhead, count - 1)))));
      const Key wanted = key(i);
      const uint64_t hash = ids_.hash(wanted);
      const int64_t bucket = table_.bucket(hash);
      int64_t number = table_.candidate(bucket, hash);
      if (!(is_number(number) && ids_.is(number, wanted)) && !(number < 0 && table_.has_free_slot(bucket)))
        number = table_.find(hash, [this, &wanted](int64_t n) { return ids_.is(n, wanted); });
      if (number < 0) {
        number = size();
        if (number == kMostIds) throw std::length_error("there are more than 2,147,483,647 distinct ids");
        ids_.add(wanted);
        table_.add(hash, number);
      }
      done(i, number);
    });
  }

 private:
  static constexpr int64_t kMostIds = INT32_MAX;

  bool is_number(int64_t candidate) const { return uint64_t(candidate) < uint64_t(size()); }

  void renew(int64_t numbers) {
    table_.renew(numbers);
    constexpr int64_t kBlock = 32;
    std::array<uint64_t, kBlock> hashes;
    for (int64_t first = 0; first < size(); first += kBlock) {
      const int64_t count = std::min(kBlock, size() - first);
      checkpoint(count);
      for (int64_t i = 0; i < count; ++i) {
        hashes[i] = ids_.hash(ids_.key(first + i));
        table_.approach(table_.bucket(hashes[i]));
      }
      for (int64_t i = 0; i < count; ++i) table_.add(hashes[i], first + i);
    }
  }

  Ids ids_;
  NumberTable table_;
  bool whole_ = false;  // whether all ids are in the table
};

}  // namespace conncomp
