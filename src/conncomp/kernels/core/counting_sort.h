// Groups items by small integer keys, keeping their order within a group (a counting sort, as
// compressed sparse rows). Time linear in items and keys; no memory beyond the result.
#pragma once

#include <algorithm>
#include <cstdint>

namespace conncomp {

// For every i in [0, items) with key(i) >= 0: puts value(i) into group key(i) of `values`, where group k
// will lie at begin[k] ... begin[k + 1]. `begin` has keys + 1 entries.
template <class Key, class Value, class Out>
void group_by_key(int64_t items, int64_t keys, Key&& key, Value&& value, int64_t* begin, Out* values) {
  // Counting two places ahead leaves begin[k + 1] at the start of group k, from where it runs to its end.
  std::fill_n(begin, keys + 1, 0);
  for (int64_t i = 0; i < items; ++i)
    if (const int64_t k = key(i); k >= 0 && k + 2 <= keys) ++begin[k + 2];
  for (int64_t k = 2; k <= keys; ++k) begin[k] += begin[k - 1];
  for (int64_t i = 0; i < items; ++i)
    if (const int64_t k = key(i); k >= 0) values[begin[k + 1]++] = Out(value(i));
}

}  // namespace conncomp
