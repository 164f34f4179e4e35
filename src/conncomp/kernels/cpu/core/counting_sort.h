// Groups items by small integer keys, keeping their order within a group (a counting sort, as
// compressed sparse rows). Time linear in items and keys; no memory beyond the result.
#pragma once

#include "cpu/core/parallel.h"

namespace conncomp {

// For every i in [0, items) with 0 <= key(i) < keys: puts value(i) into group key(i) of `values`, where group
// k will lie at begin[k] ... begin[k + 1]. `begin` has keys + 1 entries, `values` room for so many. Keys are
// asked for twice, in ascending order, and may differ then if they come from memory that the caller changes
// (contract 5): values for which there is no room are left out.
template <class Key, class Value, class Out>
void group_by_key(int64_t items, int64_t keys, Key&& key, Value&& value, int64_t* begin, Out* values,
                  int64_t room) {
  // Counting two places ahead leaves begin[k + 1] at the start of group k, from where it runs to its end.
  for_each_in(0, keys + 1, [&](int64_t k) { begin[k] = 0; });
  for_each_in(0, items, [&](int64_t i) {
    if (const int64_t k = key(i); k >= 0 && k <= keys - 2) ++begin[k + 2];
  });
  for_each_in(2, keys + 1, [&](int64_t k) { begin[k] += begin[k - 1]; });
  take_pages(values, room);
  for_each_in(0, items, [&](int64_t i) {
    const int64_t k = key(i);
    if (uint64_t(k) < uint64_t(keys) && begin[k + 1] < room) values[begin[k + 1]++] = Out(value(i));
  });
}

}  // namespace conncomp
