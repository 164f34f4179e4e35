// From a forest of parents to labels, in place. Labels are kept complemented (~label, which is negative)
// until every entry has one, so that labels and parents can share one array.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Calls body(i) for every i in [0, count), in parallel, each part in ascending order.
template <class Body>
void for_each_index(int64_t count, Body&& body) {
  const Parts parts(count, kGrain);
  parallel_for(parts.parts, [&](int64_t part) { for_each_in(parts.begin(part), parts.end(part), body); });
}

// Calls assign(i, sum of value(j) over all j < i) for every i in [0, count), in parallel; returns the
// sum over all. Assigning may change value(i).
template <class Value, class Assign>
int64_t scan(int64_t count, Value&& value, Assign&& assign) {
  const Parts parts(count, kGrain);
  std::vector<int64_t> sums(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t sum = 0;
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) { sum += value(i); });
    sums[part] = sum;
  });
  int64_t total = 0;
  for (int64_t& sum : sums) {
    const int64_t before = total;
    total += sum;
    sum = before;
  }
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t before = sums[part];
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) {
      const int64_t addend = value(i);
      assign(i, before);
      before += addend;
    });
  });
  return total;
}

// Lets rank[w] be the number of bits set before word w; returns the number of all.
template <class Index>
int64_t rank_words(const uint64_t* words, int64_t count, Index* rank) {
  return scan(
      count, [&](int64_t w) { return std::popcount(words[w]); },
      [&](int64_t w, int64_t before) { rank[w] = Index(before); });
}

// Lets an entry point to its root, which it returns. In ascending order the parent of an entry is mostly
// flat already, so two steps reach the root, and the loop's branch is well predicted.
template <class Index>
Index flatten_entry(Index* parent, int64_t i) {
  Index root = Shared::load(parent + Shared::load(parent + i));
  for (Index next; (next = Shared::load(parent + root)) != root;) root = next;
  Shared::store(parent + i, root);
  return root;
}

// Lets every entry point to its root.
template <class Index>
void flatten(Index* parent, int64_t count) {
  for_each_index(count, [&](int64_t i) { flatten_entry(parent, i); });
}

// Turns a forest, flat or not, into labels 0, 1, ... in the order of the roots, or into roots; returns the
// number of components.
template <class Index>
int64_t label_forest(Index* parent, int64_t count, bool consecutive) {
  const Parts parts(count, kGrain);
  std::vector<int64_t> first(parts.parts + 1);  // of the labels of each part
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t roots = 0;
    for_each_in(parts.begin(part), parts.end(part),
                [&roots, parent](int64_t i) { roots += parent[i] == Index(i); });
    first[part + 1] = roots;
  });
  for (int64_t part = 0; part < parts.parts; ++part) first[part + 1] += first[part];
  const int64_t components = first[parts.parts];
  if (!consecutive) {
    flatten(parent, count);
  } else if (components == 1) {
    for_each_index(count, [=](int64_t i) { parent[i] = 0; });
  } else {
    parallel_for(parts.parts, [&](int64_t part) {
      if (first[part] == first[part + 1]) return;
      for_each_in(parts.begin(part), parts.end(part),
                  [parent, label = Index(first[part])](int64_t i) mutable {
                    if (parent[i] == Index(i)) parent[i] = ~label++;
                  });
    });
    for_each_index(count, [=](int64_t i) {
      const Index above = Shared::load(parent + i);
      if (above < 0) return;
      Index label = Shared::load(parent + above);
      if (label >= 0) {
        do label = Shared::load(parent + label);
        while (label >= 0);
        // The whole path gets the label, or a long one would be gone through again and again.
        for (Index on_path = above, next; (next = Shared::load(parent + on_path)) >= 0; on_path = next)
          Shared::store(parent + on_path, label);
      }
      Shared::store(parent + i, label);
    });
    for_each_index(count, [=](int64_t i) { parent[i] = ~parent[i]; });
  }
  return components;
}

}  // namespace conncomp
