// Which labels there are, and other numbers for them, whatever their size.
//
// How: each thread enters the labels that it meets into a hash table (key_counts.h); those of all are sorted.
// To translate, a table has the place of each label among these. Labels that follow each other and are equal
// are looked up once.
// Cost: the labels read once by each. Memory: 32 to 64 bytes a label that differs, once for each thread.
// Labels are the caller's, who may change them meanwhile (contract 5): one that was not there before gets the
// number of some other one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/atomics.h"
#include "cpu/core/buffer.h"
#include "cpu/core/key_counts.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// A key for each label, in their order.
template <class Label>
uint64_t key_of_label(Label label) {
  constexpr uint64_t kSign = std::is_signed_v<Label> ? uint64_t(1) << 63 : 0;
  return uint64_t(int64_t(label)) ^ kSign;
}
template <class Label>
Label label_of_key(uint64_t key) {
  return Label(key ^ key_of_label(Label(0)));
}

// The labels that differ, ascending, and how many they are.
template <class Label>
std::pair<Buffer<Label>, int64_t> distinct_labels(const Label* labels, int64_t count) {
  const int64_t threads = std::clamp<int64_t>(count / kGrain, 1, num_threads());
  std::vector<KeyCounts> tables(threads);
  parallel_for(threads, [&](int64_t t) {
    const int64_t begin = count * t / threads, end = count * (t + 1) / threads;
    if (begin == end) return;
    Label label = Shared::load(labels + begin);
    tables[t].add(key_of_label(label), 1);
    for_each_in(begin, end, [&](int64_t i) {
      const Label next = Shared::load(labels + i);
      if (next == label) return;
      label = next;
      tables[t].add(key_of_label(label), 1);
    });
  });
  const auto [sorted, keys] = sorted_counts(tables);
  Buffer<Label> distinct(keys);
  for (int64_t i = 0; i < keys; ++i) distinct[i] = label_of_key<Label>(sorted[i].key);
  return {std::move(distinct), keys};
}

// Replaces each label by the number of its place among `distinct`, of which there is one at least.
template <class Label, class Number>
void translate_labels(const Label* labels, int64_t count, const Label* distinct, const Number* numbers,
                      int64_t num_distinct, Number* out) {
  KeyCounts places(num_distinct);
  for_each_in(0, num_distinct, [&](int64_t k) { places.add(key_of_label(distinct[k]), k + 1); });
  const Parts parts(count, kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    Label label = distinct[0];
    Number number = numbers[0];
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) {
      const Label next = Shared::load(labels + i);
      if (next != label) {
        label = next;
        number = numbers[std::max<int64_t>(places.count_of(key_of_label(label)), 1) - 1];
      }
      out[i] = number;
    });
  });
}

}  // namespace conncomp
