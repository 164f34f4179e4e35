// Sorts by unsigned keys, stably: a radix sort by bytes from the lowest on, of keys relative to the smallest.
// Keys of more than 32 bits are sorted by the highest 32, then equal ones by comparisons. Cost: at most four
// passes that move the items; one that reads for a digit that all share. As much memory again.
#pragma once

#include <bit>

#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"

namespace conncomp {

template <class Item> class RadixSort {
 public:
  explicit RadixSort(Buffer<Item>& items, int64_t count)
      : items_(items), count_(count), parts_(count, kGrain) {
    if (count < 2) return;
    parts_.at_most(num_threads());
    const auto [low, high] = extremes(items.data(), count, [](const Item& item) { return item.key; });
    low_ = low;
    const int bits = std::bit_width(Key(high - low));
    shift_ = std::max(bits - kMostBits, 0);
    Buffer<Item> others(count);
    take_pages(others.data(), count);
    for (int digit = 0; digit * kDigitBits < bits - shift_; ++digit)
      if (move_by_digit(digit, others)) std::swap(items_, others);
    if (shift_ > 0) sort_runs();
  }

 private:
  using Key = decltype(Item::key);
  static constexpr int kMostBits = 32, kDigitBits = 8, kDigits = 1 << kDigitBits;
  using Places = std::array<int64_t, kDigits>;

  Key top(const Item& item) const { return Key(item.key - low_) >> shift_; }

  // Returns whether the items have been moved to `others`, or share the digit.
  bool move_by_digit(int digit, Buffer<Item>& others) {
    const int shift = shift_ + digit * kDigitBits;
    const auto digit_of = [low = low_, shift](
                              const Item& item) { return size_t(Key(item.key - low) >> shift) % kDigits; };
    std::vector<Places> places(parts_.parts);
    parallel_for(parts_.parts, [&](int64_t part) {
      Places counts{};
      for_each_in(parts_.begin(part), parts_.end(part),
          [&counts, digit_of, items = items_.data()](int64_t i) { ++counts[digit_of(items[i])]; });
      places[part] = counts;
    });
    int64_t before = 0;
    for (int d = 0; d < kDigits; ++d) {
      const int64_t first = before;
      for (Places& part_places : places) before += std::exchange(part_places[d], before);
      if (before - first == count_) return false;
    }
    parallel_for(parts_.parts, [&](int64_t part) {
      Places next = places[part];
      for_each_in(parts_.begin(part), parts_.end(part),
          [&next, digit_of, items = items_.data(), moved = others.data()](
              int64_t i) { moved[next[digit_of(items[i])]++] = items[i]; });
    });
    return true;
  }

  // Each part sorts the runs of equal tops that begin in it.
  void sort_runs() {
    parallel_for(parts_.parts, [&](int64_t part) {
      int64_t begin = parts_.begin(part);
      const int64_t end = parts_.end(part);
      while (begin < end && begin > 0 && top(items_[begin]) == top(items_[begin - 1])) ++begin;
      while (begin < end) {
        int64_t stop = begin + 1;
        while (stop < count_ && top(items_[stop]) == top(items_[begin])) ++stop;
        poll(stop - begin);
        if (stop - begin > 1)
          std::stable_sort(items_.data() + begin, items_.data() + stop,
              [](const Item& a, const Item& b) { return a.key < b.key; });
        begin = stop;
      }
    });
  }

  Buffer<Item>& items_;
  const int64_t count_;
  Parts parts_;
  Key low_ = 0;
  int shift_ = 0;
};

template <class Item> void radix_sort(Buffer<Item>& items, int64_t count) { RadixSort<Item>(items, count); }

}
