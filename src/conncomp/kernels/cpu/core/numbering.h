// Turns a forest of parents into labels, in place: parents are negative until an entry has a label.
#pragma once

#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Calls body(i) for i in [0, count) by parts in parallel; a body is worth `of_body` elements.
void for_each_index(int64_t count, auto&& body, int64_t of_body = 1) {
  const Parts parts(count, kGrain / of_body);
  parallel_for(parts.parts, [&](int64_t part) { for_each_in(parts.begin(part), parts.end(part), body); });
}

std::vector<int64_t> sums_of_parts(const Parts& parts, auto&& value) {
  std::vector<int64_t> sums(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t sum = 0;
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) { sum += value(i); });
    sums[part] = sum;
  });
  return sums;
}

template <int64_t of_value = 1> int64_t sum_over(int64_t count, auto&& value) {
  const std::vector<int64_t> sums = sums_of_parts(Parts(count, kGrain / of_value), value);
  return int64_t(std::accumulate(sums.begin(), sums.end(), uint64_t(0)));
}

// Calls assign(i, sum of value(j) over j < i) for i in [0, count), in parallel; it may change value(i).
int64_t scan(int64_t count, auto&& value, auto&& assign) {
  const Parts parts(count, kGrain);
  std::vector<int64_t> sums = sums_of_parts(parts, value);
  int64_t total = 0;
  for (int64_t& sum : sums) total += std::exchange(sum, total);
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
template <class Index> int64_t rank_words(const uint64_t* words, int64_t count, Index* rank) {
  return scan(
      count, [&](int64_t w) { return std::popcount(words[w]); },
      [&](int64_t w, int64_t before) { rank[w] = Index(before); });
}

// The cost of a look at a parent, a random access, in elements of an array.
constexpr int64_t kParentWork = 4;

// Lets an entry point to its root, which it returns: mostly two steps in ascending order.
template <class Index> Index flatten_entry(Index* parent, int64_t i) {
  Index root = Concurrent::load(parent + Concurrent::load(parent + i));
  for (Index next; (next = Concurrent::load(parent + root)) != root;) root = next;
  Concurrent::store(parent + i, root);
  return root;
}

template <class Index> int64_t flatten(Index* parent, int64_t count) {
  return sum_over<kParentWork>(count, [parent](int64_t i) { return flatten_entry(parent, i) == Index(i); });
}

// What an entry, negative until it has a label, stands for: an entry of its tree that is not larger.
template <class Index> struct Unlabelled {
  static constexpr Index kMark = std::numeric_limits<Index>::min();
  static Index under(int64_t parent) { return Index(parent) | kMark; }
  static Index parent(Index entry) { return entry & ~kMark; }
};

// Replaces entries, all unlabelled, by labels 0, 1, ... in the order of the roots. A part goes in ascending
// order; an entry takes its parent's label or, if that is another thread's, goes under the grandparent.
template <class Index> void label_in_order(Index* entries, int64_t count) {
  using Entry = Unlabelled<Index>;
  Parts parts(count, kGrain / kParentWork);
  if (num_threads() == 1) parts.at_most(1);
  std::vector<int64_t> first(parts.parts);  // of the labels of each part
  parallel_for(parts.parts - 1, [&](int64_t part) {
    int64_t roots = 0;
    for_each_in(parts.begin(part), parts.end(part),
        [&roots, entries](int64_t i) { roots += entries[i] == Entry::under(i); });
    first[part + 1] = roots;
  });
  for (int64_t part = 1; part < parts.parts; ++part) first[part] += first[part - 1];
  parallel_for(parts.parts, [&](int64_t part) {
    for_each_in(parts.begin(part), parts.end(part), [entries, next = Index(first[part])](int64_t i) mutable {
      const bool is_root = entries[i] == Entry::under(i);
      const Index above = Concurrent::load(entries + Entry::parent(entries[i]));
      Concurrent::store(entries + i, is_root ? next : above);
      next += Index(is_root);
    });
  });
  if (parts.parts > 1)
    for_each_index(
        count,
        [=](int64_t i) {
          Index entry = Concurrent::load(entries + i), label = entry;
          while (label < 0) label = Concurrent::load(entries + Entry::parent(label));
          // The whole path gets the label, so that no long path is walked again.
          for (int64_t on_path = i; entry < 0; entry = Concurrent::load(entries + on_path)) {
            Concurrent::store(entries + on_path, label);
            on_path = Entry::parent(entry);
          }
        },
        kParentWork);
}

[[gnu::noinline]] int64_t label_as_one(Integer auto* labels, int64_t count) {
  for_each_index(count, [=](int64_t i) { labels[i] = 0; });
  return 1;
}

// Labels are roots, the smallest members, or numbers 0, 1, ... in the order of the roots.
enum class Naming { kRoots, kNumbers };

// Turns a forest into labels; returns how many roots there are.
template <class Index> [[gnu::noinline]] int64_t label_forest(Index* parent, int64_t count, Naming naming) {
  if (naming == Naming::kRoots) return flatten(parent, count);
  const int64_t components = sum_over(count, [parent](int64_t i) {
    const Index above = parent[i];
    parent[i] = Unlabelled<Index>::under(above);
    return above == Index(i);
  });
  if (components == 1) return label_as_one(parent, count);
  label_in_order(parent, count);
  return components;
}

// For every i in [0, items) with 0 <= key(i) < keys: puts value(i) into group key(i) of `values`, where group
// k lies at begin[k] ... begin[k + 1]. Keys are read twice, in order, and may differ then (contract 5):
// values without room are left out.
template <class Out>
void group_by_key(
    int64_t items, int64_t keys, auto&& key, auto&& value, int64_t* begin, Out* values, int64_t room) {
  // Counting two places ahead leaves begin[k + 1] at the start of group k; it runs to its end.
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

}
