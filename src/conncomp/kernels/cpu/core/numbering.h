// From a forest of parents to labels, in place. Parents are kept negative until every entry has a label, so
// that labels and parents can share one array.
#pragma once

#include <bit>
#include <limits>
#include <numeric>
#include <vector>

#include "core/union_find.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Calls body(i) for every i in [0, count), in parallel, each part in ascending order; `of_body` is how many
// elements a body is for.
void for_each_index(int64_t count, auto&& body, int64_t of_body = 1) {
  const Parts parts(count, kGrain / of_body);
  parallel_for(parts.parts, [&](int64_t part) { for_each_in(parts.begin(part), parts.end(part), body); });
}

// The same; returns the sum of what body(i) returns.
template <int64_t of_body = 1, class Body>
int64_t sum_over(int64_t count, Body&& body) {
  const Parts parts(count, kGrain / of_body);
  std::vector<int64_t> sums(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    int64_t sum = 0;
    for_each_in(parts.begin(part), parts.end(part), [&](int64_t i) { sum += body(i); });
    sums[part] = sum;
  });
  return std::reduce(sums.begin(), sums.end());
}

// Calls assign(i, sum of value(j) over all j < i) for every i in [0, count), in parallel; returns the
// sum over all. Assigning may change value(i).
int64_t scan(int64_t count, auto&& value, auto&& assign) {
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

// What it costs to look at the parent of an entry, in elements of an array: a random access.
constexpr int64_t kParentWork = 4;

// Lets an entry point to its root, which it returns. In ascending order the parent of an entry is mostly
// flat already, so two steps reach the root, and the loop's branch is well predicted.
template <class Index>
Index flatten_entry(Index* parent, int64_t i) {
  Index root = Shared::load(parent + Shared::load(parent + i));
  for (Index next; (next = Shared::load(parent + root)) != root;) root = next;
  Shared::store(parent + i, root);
  return root;
}

// Lets every entry point to its root; returns how many roots there are.
template <class Index>
int64_t flatten(Index* parent, int64_t count) {
  return sum_over<kParentWork>(count, [parent](int64_t i) { return flatten_entry(parent, i) == Index(i); });
}

// What an entry holds until it has a label, which is not negative: an entry of its tree that is not larger,
// itself if it is the root.
template <class Index>
struct Unlabelled {
  static constexpr Index kMark = std::numeric_limits<Index>::min();
  static Index under(int64_t parent) { return Index(parent) | kMark; }
  static Index parent(Index entry) { return entry & ~kMark; }
};

// Replaces entries, all unlabelled, by labels 0, 1, ... in the order of the roots. A part is gone through in
// ascending order, so that an entry takes the label of what it is under; where that is another thread's and
// has none yet, the entry goes under what that is under.
template <class Index>
void label_in_order(Index* entries, int64_t count) {
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
      const Index above = Shared::load(entries + Entry::parent(entries[i]));
      Shared::store(entries + i, is_root ? next : above);
      next += Index(is_root);
    });
  });
  if (parts.parts > 1)
    for_each_index(
        count,
        [=](int64_t i) {
          Index entry = Shared::load(entries + i), label = entry;
          while (label < 0) label = Shared::load(entries + Entry::parent(label));
          // The whole path gets the label, or a long one would be gone through again and again.
          for (int64_t on_path = i; entry < 0; entry = Shared::load(entries + on_path)) {
            Shared::store(entries + on_path, label);
            on_path = Entry::parent(entry);
          }
        },
        kParentWork);
}

// Gives all entries the label of the first one; returns the number of components.
[[gnu::noinline]] int64_t label_as_one(auto* labels, int64_t count) {
  for_each_index(count, [=](int64_t i) { labels[i] = 0; });
  return 1;
}

// Turns a forest, flat or not, into labels 0, 1, ... in the order of the roots, or into roots; returns the
// number of components.
template <class Index>
[[gnu::noinline]] int64_t label_forest(Index* parent, int64_t count, bool consecutive) {
  if (!consecutive) return flatten(parent, count);
  const int64_t components = sum_over(count, [parent](int64_t i) {
    const Index above = parent[i];
    parent[i] = Unlabelled<Index>::under(above);
    return above == Index(i);
  });
  if (components == 1) return label_as_one(parent, count);
  label_in_order(parent, count);
  return components;
}

}  // namespace conncomp
