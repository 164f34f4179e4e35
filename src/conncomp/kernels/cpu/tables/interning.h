// Ids to numbers 0, 1, ... as they first come, by a hash table, which threads may read while none adds.
// Buckets of a cache line have eight slots, each a tag, one half of the hash, and a number:
//   tags      a b c . . . . .      an id goes to the first free slot of its bucket, by the other half of its
//   numbers   4 9 2 . . . . .      hash, or of the next bucket that has one
// One in 2^29 absent ids is compared in vain. A block of ids first prefetches its buckets, then the ids of
// the numbers found there, and then compares. The table is made anew where it would become more than kFullest
// full; the old one is given back before. Cost: two cache misses an id; 10 to 15 bytes a distinct one.
#pragma once

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
    uint32_t tags[kSlots];
    uint32_t numbers[kSlots];  // one more than the number; 0 where free
  };

  int64_t room() const { return room_; }

  void renew(int64_t numbers) {
    const bool is_large = double(numbers) > kFullest * double(kFewBuckets * kSlots);
    const double fullest = is_large ? kFullest : kFullestOfFew;
    const int64_t buckets = std::max({int64_t(double(numbers) / fullest) / kSlots + 1, kFewestBuckets,
        is_large ? buckets_ + buckets_ / 2 : 2 * buckets_});
    memory_ = {};
    buckets_ = room_ = 0;
    const int64_t words = (buckets + 1) * int64_t(sizeof(Bucket) / sizeof(uint64_t));
    // A large one is no memory to keep for the next table.
    memory_ = is_large ? Buffer<uint64_t>::zeros(words) : Buffer<uint64_t>(words);
    first_ = reinterpret_cast<Bucket*>((uintptr_t(memory_.data()) + sizeof(Bucket) - 1) & -sizeof(Bucket));
    if (!is_large) std::fill_n(first_, buckets, Bucket{});
    buckets_ = buckets;
    room_ = int64_t(fullest * double(buckets * kSlots));
  }

  int64_t bucket(uint64_t hash) const {
    __extension__ using Wide = unsigned __int128;
    return int64_t(Wide(hash) * uint64_t(buckets_) >> 64);
  }
  void approach(int64_t bucket) const { __builtin_prefetch(first_ + bucket); }

  int64_t candidate(int64_t bucket, uint64_t hash) const {
    const Bucket& at = first_[bucket];
    uint32_t found = 0;
    for (int k = 0; k < kSlots; ++k)  // without a branch, to be vectorised
      found |= at.numbers[k] & -uint32_t(at.tags[k] == uint32_t(hash));
    return int64_t(found) - 1;
  }
  bool has_free_slot(int64_t bucket) const { return first_[bucket].numbers[kSlots - 1] == 0; }

  int64_t find(uint64_t hash, auto is) const {
    for (int64_t b = bucket(hash);; b = next(b)) {
      const Bucket& at = first_[b];
      for (int k = 0; k < kSlots; ++k) {
        if (at.numbers[k] == 0) return -1;
        const int64_t number = int64_t(at.numbers[k]) - 1;
        if (at.tags[k] == uint32_t(hash) && is(number)) return number;
      }
    }
  }

  void add(uint64_t hash, int64_t number) {
    int64_t b = bucket(hash);
    while (!has_free_slot(b)) b = next(b);
    Bucket& at = first_[b];
    int taken = 0;
    for (int k = 0; k < kSlots; ++k) taken += at.numbers[k] != 0;
    at.tags[taken] = uint32_t(hash);
    at.numbers[taken] = uint32_t(number + 1);
  }

 private:
  // Caches serve tables with fewer full buckets sooner; a large one should be small.
  static constexpr double kFullestOfFew = 0.6, kFullest = 0.8;
  static constexpr int64_t kFewestBuckets = 1 << 9, kFewBuckets = 1 << 17;

  int64_t next(int64_t bucket) const { return bucket + 1 < buckets_ ? bucket + 1 : 0; }

  Buffer<uint64_t> memory_;
  Bucket* first_ = nullptr;
  int64_t buckets_ = 0, room_ = 0;
};

template <class Ids> class Interning {
 public:
  using Column = typename Ids::Column;
  using Key = typename Ids::Key;

  const Ids& ids() const { return ids_; }
  int64_t size() const { return ids_.size(); }

  // Makes room for so many more ids, before they are looked up or interned.
  void make_room(int64_t count) {
    if (whole_ && size() + count <= table_.room()) return;
    whole_ = false;  // until it is, should this be interrupted
    renew(size() + std::max(count, expected_));
    whole_ = true;
  }

  int64_t room() const { return table_.room(); }

  void expect(int64_t count) { expected_ = count; }

  void forget_table() {
    table_ = {};
    whole_ = false;
  }

  void look_up(const Column& column, int64_t begin, int64_t end, int32_t* numbers) const {
    if (size() == 0) {
      std::fill_n(numbers, end - begin, -1);
      return;
    }
    Probe probes[kBlock];
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t count = std::min(kBlock, end - first);
      approach(count, [&column, first](int64_t i) { return column[first + i]; }, probes);
      for (int64_t i = 0; i < count; ++i) numbers[first - begin + i] = int32_t(number_of(probes[i]));
    }
  }

  // Calls done(i, number of key(i)) for i of [0, count), in order; new keys get new numbers.
  void intern(int64_t count, auto key, auto done) {
    Probe probes[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      const int64_t block = std::min(kBlock, count - first);
      make_room(block);
      approach(block, [&key, first](int64_t i) { return key(first + i); }, probes);
      for (int64_t i = 0; i < block; ++i) done(first + i, number_or_new(probes[i]));
    }
  }

 private:
  static constexpr int64_t kMostIds = INT32_MAX;
  static constexpr int64_t kBlock = 32;

  struct Probe {
    Key key;
    uint64_t hash;
    int64_t bucket, candidate;
  };

  bool is_number(int64_t candidate) const { return uint64_t(candidate) < uint64_t(size()); }

  void approach(int64_t count, auto key, Probe* probes) const {
    poll(count);
    for (int64_t i = 0; i < count; ++i) {
      probes[i].key = key(i);
      probes[i].hash = ids_.hash(probes[i].key);
      probes[i].bucket = table_.bucket(probes[i].hash);
      table_.approach(probes[i].bucket);
    }
    for (int64_t i = 0; i < count; ++i) {
      probes[i].candidate = table_.candidate(probes[i].bucket, probes[i].hash);
      if (is_number(probes[i].candidate)) ids_.approach(probes[i].candidate);
    }
    for (int64_t i = 0; i < count; ++i)
      if (is_number(probes[i].candidate)) ids_.approach_bytes(probes[i].candidate);
  }

  int64_t number_of(const Probe& probe) const {
    if (is_number(probe.candidate) && ids_.is(probe.candidate, probe.key)) return probe.candidate;
    if (probe.candidate < 0 && table_.has_free_slot(probe.bucket)) return -1;
    return table_.find(probe.hash, [this, &probe](int64_t n) { return ids_.is(n, probe.key); });
  }

  // As number_of; a new id gets the next number. It may have come in the block since it was approached.
  int64_t number_or_new(Probe& probe) {
    if (const int64_t number = number_of(probe); number >= 0) return number;
    probe.candidate = table_.candidate(probe.bucket, probe.hash);
    if (const int64_t number = number_of(probe); number >= 0) return number;
    const int64_t number = size();
    if (number == kMostIds) throw std::length_error("there are more than 2,147,483,647 distinct ids");
    ids_.add(probe.key);
    table_.add(probe.hash, number);
    return number;
  }

  void renew(int64_t numbers) {
    table_.renew(numbers);
    ids_.reserve(table_.room());
    std::array<uint64_t, kBlock> hashes;
    for (int64_t first = 0; first < size(); first += kBlock) {
      const int64_t count = std::min(kBlock, size() - first);
      poll(count);
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
  int64_t expected_ = 0;
};

}
