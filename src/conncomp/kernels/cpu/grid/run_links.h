// Unites the runs that touch; contacts.h says where.
//
// How: parts of the array are linked, each on its own; then, with compare-and-swap, what crosses parts.
// Bundles are linked as many at once as their contacts are found. In a part they follow each other, so a run
// that has no parent yet can be in no tree but its own, and gets the parent of the first run that it touches,
// without a search. Where the runs of a word of two bundles touch one to one, as those of upright patterns
// do, their parents are copied at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/union_find.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/contact_pairs.h"
#include "cpu/grid/contacts.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

template <class Index>
class RunLinks {
 public:
  explicit RunLinks(Runs<Index>& runs)
      : runs_(runs),
        bundles_(runs.bundles),
        offsets_(int(bundles_.neighbours.offsets.size())),
        periodic_rows_(bundles_.row_axis.periodic),
        parent_(runs.parent.data()) {}

  void link(const ContactFinder& finder) {
    const int64_t parts = bundles_.parts.parts;
    parallel_for(parts, [&](int64_t part) { link_inside(*finder.copy(), part); });
    if (parts > 1 || around()) parallel_for(parts, [&](int64_t part) { link_across(*finder.copy(), part); });
  }

 private:
  bool around() const {
    return std::any_of(bundles_.outer.begin(), bundles_.outer.end(),
                       [](const Axis& axis) { return axis.periodic; });
  }

  // How far back the neighbours of a bundle are at most, but for those around periodic axes.
  int64_t reach() const {
    int64_t farthest = around() ? bundles_.count : 0;
    for (const Offset& offset : bundles_.neighbours.offsets) farthest = std::max(farthest, -offset.bundles);
    return farthest;
  }

  // Calls body(g, end) for bundles from one up to another, for those at once that the finder turns to.
  template <class Body>
  void for_each_turn(ContactFinder& finder, int64_t begin, int64_t end, Body&& body) {
    bundles_.for_each_between(begin, end, [&, next = begin](int64_t g, const Coordinates& place) mutable {
      if (g < next) return;
      next = g + finder.turn(g, end, place);
      body(g, next);
    });
  }

  // Whether bundles, of which some have runs, face others that have.
  bool have_runs(const FacingBundles& pairs) const {
    return pairs.count > 0 && !runs_.blank(pairs.h, pairs.count);
  }

  // Links the bundles of a part with earlier ones of it.
  void link_inside(ContactFinder& finder, int64_t part) {
    const int64_t begin = bundles_.parts.begin(part);
    for_each_turn(finder, begin, bundles_.parts.end(part), [&](int64_t g, int64_t end) {
      for_each_in(runs_.first_of(g), runs_.first_of(end),
                  [parent = parent_](int64_t run) { parent[run] = Index(run); });
      if (runs_.blank(g, end - g)) return;
      bool linked = false;
      for (int k = 0; k < offsets_; ++k) {
        FacingBundles pairs = finder.neighbours(k);
        const int64_t outside = pairs.h < pairs.g ? std::max<int64_t>(begin - pairs.h, 0) : pairs.count;
        pairs = {pairs.g + outside, pairs.h + outside, pairs.count - outside};
        if (!have_runs(pairs)) continue;
        if (finder.face(pairs, k)) linked ? link_earlier(finder, pairs) : link_first(finder, pairs);
        if (periodic_rows_) link_around<Exclusive>(finder, pairs, finder.offset(k));
        linked = true;
      }
      if (periodic_rows_ && bundles_.neighbours.connected) link_around_rows(finder, g, end);
    });
  }

  // Links the bundles of a part with those of other parts, and with later ones around periodic axes.
  void link_across(ContactFinder& finder, int64_t part) {
    const int64_t begin = bundles_.parts.begin(part),
                  end = std::min(bundles_.parts.end(part), begin + reach());
    for_each_turn(finder, begin, end, [&](int64_t g, int64_t after) {
      if (runs_.blank(g, after - g)) return;
      for (int k = 0; k < offsets_; ++k) {
        FacingBundles pairs = finder.neighbours(k);
        if (pairs.h < pairs.g) pairs.count = std::min(pairs.count, begin - pairs.h);
        if (!have_runs(pairs)) continue;
        if (finder.face(pairs, k)) link_shared(finder, pairs);
        if (periodic_rows_) link_around<Shared>(finder, pairs, finder.offset(k));
      }
    });
  }

  // Links the ends of bundles that face each other around a periodic row axis.
  template <class Access>
  void link_around(ContactFinder& finder, const FacingBundles& pairs, const Offset& offset) {
    const int64_t last = bundles_.row_axis.length - 1;
    for (int64_t i = 0; i < pairs.count; ++i) {
      const int64_t g = pairs.g + i, h = pairs.h + i;
      if (offset.next && finder.touch(i, last, 0))
        unite<Access>(parent_, runs_.run_at(g, last), runs_.run_at(h, 0));
      if (offset.previous && finder.touch(i, 0, last))
        unite<Access>(parent_, runs_.run_at(g, 0), runs_.run_at(h, last));
    }
  }
  void link_around_rows(ContactFinder& finder, int64_t g, int64_t end) {
    const int64_t last = bundles_.row_axis.length - 1;
    finder.face({g, g, end - g}, -1);
    for (int64_t i = 0; i < end - g; ++i)
      if (finder.touch(i, last, 0))
        unite<Exclusive>(parent_, runs_.run_at(g + i, last), runs_.run_at(g + i, 0));
  }

  // Calls body(word, pair, contacts) for the words of bundles that face each other which have contacts,
  // counted from the first one, and pass(starts) with the OR of where runs of g start in the words between.
  template <class Body, class Pass>
  void for_each_word(ContactFinder& finder, const FacingBundles& pairs, Body&& body, Pass&& pass) {
    const int64_t words = pairs.count * bundles_.words;
    for (int64_t begin = 0; begin < words; begin += kBlockWords) {
      const int64_t end = std::min<int64_t>(begin + kBlockWords, words);
      bundles_.poll_at(begin);
      const Contacts contacts = finder.find(begin, end);
      const int64_t g_word = pairs.g * bundles_.words + begin, h_word = pairs.h * bundles_.words + begin;
      int64_t next = 0;
      const auto pass_up_to = [&](int64_t k) {
        uint64_t starts = 0;
        for (; next < k; ++next) starts |= runs_.masks.start[g_word + next];
        pass(starts);
        ++next;
      };
      for_each_bit(contacts.busy, [&](int64_t k) {
        pass_up_to(k);
        body(begin + k, WordPair<Index>{runs_.at(g_word + k), runs_.at(h_word + k)},
             WordContacts{contacts.aligned[k], contacts.next[k], contacts.previous[k]});
      });
      pass_up_to(end - begin);
    }
  }

  // Calls follow(run, run) for every contact.
  template <class Follow>
  void for_each_contact(ContactFinder& finder, const FacingBundles& pairs, Follow&& follow) {
    ContactPairs<Index, Follow> contacts(follow);
    for_each_word(
        finder, pairs,
        [&](int64_t, const WordPair<Index>& pair, const WordContacts& of_word) {
          contacts.add(pair, of_word);
          if (contacts.full()) contacts.finish();
        },
        [](uint64_t) {});
    contacts.finish();
  }

  void link_shared(ContactFinder& finder, const FacingBundles& pairs) {
    for_each_contact(finder, pairs, [this](Index x, Index y) { unite<Shared>(parent_, x, y); });
  }

  // Links bundles of a part with earlier ones.
  void link_earlier(ContactFinder& finder, const FacingBundles& pairs) {
    for_each_contact(finder, pairs, [this](Index x, Index y) { unite_earlier(x, y); });
  }

  // The same for the first ones that they are linked with: none of their runs has a parent yet. Each gets one
  // at its first contact.
  void link_first(ContactFinder& finder, const FacingBundles& pairs) {
    FirstContacts first_contacts;
    const auto take_parent = [this](Index x, Index y) { parent_[x] = parent_[parent_[y]]; };
    PairsApart apart;
    const auto unite_runs = [this, &apart](Index x, Index y) {
      apart.add(parent_[x], parent_[y]);
      if (apart.full()) unite_pairs(apart);
    };
    ContactPairs<Index, decltype(take_parent)> firsts(take_parent);
    ContactPairs<Index, decltype(unite_runs)> others(unite_runs);
    // Where rows face each other, each is finished before the next, lest long ways lead by it.
    const bool by_rows = firsts.kKept && pairs.h + pairs.count > pairs.g;
    int64_t row_end = bundles_.words;
    const auto add = [&](int64_t word, const WordPair<Index>& pair, const WordContacts& contacts) {
      if (by_rows && word >= row_end) {
        firsts.finish(), others.finish();
        row_end = (word / bundles_.words + 1) * bundles_.words;
      }
      const uint64_t first = first_contacts(pair.g.start, contacts.any());
      if (first == contacts.aligned && !(contacts.next | contacts.previous) && one_to_one(pair, first))
        return copy_parents(pair, first);
      // A place may be the first of several contacts.
      const uint64_t previous = first & contacts.previous, aligned = first & contacts.aligned & ~previous,
                     next = first & ~previous & ~aligned;
      firsts.add(pair, {aligned, next, previous});
      others.add(pair, {contacts.aligned & ~aligned, contacts.next & ~next, contacts.previous & ~previous});
      if (firsts.full() || others.full()) firsts.finish(), others.finish();
    };
    for_each_word(finder, pairs, add, [&](uint64_t starts) { first_contacts(starts, 0); });
    firsts.finish(), others.finish();
    unite_pairs(apart);
  }

  // Pairs of entries that are to be united, but for those that are one. Of runs that touch, the parents
  // mostly are; whether they are is not asked by a branch, as it could not be foretold.
  struct PairsApart {
    static constexpr int kMost = 512;

    void add(Index a, Index b) {
      pairs[count][0] = a;
      pairs[count][1] = b;
      count += a != b;
    }
    bool full() const { return count == kMost; }

    int count = 0;
    Index pairs[kMost][2];
  };
  void unite_pairs(PairsApart& apart) {
    for (int i = 0; i < apart.count; ++i) {
      const Index a = find<Exclusive>(parent_, apart.pairs[i][0]),
                  b = find<Exclusive>(parent_, apart.pairs[i][1]);
      parent_[std::max(a, b)] = std::min(a, b);
    }
    apart.count = 0;
  }

  // Unites a run of the bundle that is being linked with one of an earlier bundle. Mostly both have one
  // parent, or have their roots two steps away at most; which root is the smaller one is not asked by a
  // branch, as it could not be foretold, and a run that is a root itself is like any other.
  void unite_earlier(Index x, Index y) {
    const Index above_x = parent_[x], root_y = parent_[parent_[y]];
    if (above_x == root_y) return;
    const Index root_x = parent_[above_x];
    if (parent_[root_x] != root_x || parent_[root_y] != root_y) [[unlikely]] {
      parent_[x] = hook<Exclusive>(parent_, find<Exclusive>(parent_, x), find<Exclusive>(parent_, y));
      return;
    }
    const Index low = std::min(root_x, root_y);
    parent_[std::max(root_x, root_y)] = low;
    parent_[x] = low;
  }

  // Whether aligned contacts, each the first of its run of g, are of as many runs of either bundle that
  // follow each other.
  static bool one_to_one(const WordPair<Index>& pair, uint64_t contacts) {
    const int count = std::popcount(contacts);
    if (count < kCopied) return false;
    const uint64_t to_first = up_to(std::countr_zero(contacts)),
                   to_last = up_to(kWord - 1 - std::countl_zero(contacts));
    return pair.g.run_in(to_last) - pair.g.run_in(to_first) == count - 1 &&
           pair.h.run_in(to_last) - pair.h.run_in(to_first) == count - 1 &&
           lowest_in_fields(contacts, pair.h.start | 1) == contacts;
  }
  void copy_parents(const WordPair<Index>& pair, uint64_t contacts) {
    const uint64_t to_first = up_to(std::countr_zero(contacts));
    std::copy_n(parent_ + pair.h.run_in(to_first), std::popcount(contacts),
                parent_ + pair.g.run_in(to_first));
  }

  static constexpr int kCopied = 8;  // runs that are worth a copy

  Runs<Index>& runs_;
  const Bundles& bundles_;
  const int offsets_;
  const bool periodic_rows_;
  Index* const parent_;
};

}  // namespace conncomp
