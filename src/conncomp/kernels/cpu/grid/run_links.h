// Unites the runs that touch (contacts.h): within parts of the array, then, with compare-and-swap, across
// them. In a part bundles follow each other, so a run without a parent is a tree alone, and gets the parent
// of the first run that it touches, without a search. Where runs of a word touch one to one, as those of
// upright patterns do, parents are copied at once.
#pragma once

#include "cpu/grid/contacts.h"
#include "cpu/grid/run_marks.h"

namespace conncomp {

// The runs that touch in words of two bundles: one by one or, with AVX-512, eight at a time, by masks of the
// bits up to each place, where starts are counted. Pairs are kept, as a mispredicted loop end costs three.
template <class Index> struct WordPair {
  RunWord<Index> g, h;
};

struct WordContacts {
  uint64_t aligned, next, previous;

  uint64_t any() const { return aligned | next | previous; }
};

#ifdef __AVX512VPOPCNTDQ__
// Calls follow(run of g, run of h) for every contact. Forms with masks of all lanes avoid warnings of GCC.
template <class Index, class Follow> class ContactPairs {
 public:
  static constexpr bool kKept = true;  // whether pairs are followed later

  explicit ContactPairs(Follow follow) : follow_(follow) {}

  void add(const WordPair<Index>& pair, WordContacts contacts) {
    // A place may have several contacts. Few do.
    while (contacts.any()) {
      const WordContacts added = {contacts.aligned, contacts.next & ~contacts.aligned,
          contacts.previous & ~(contacts.aligned | contacts.next)};
      add_places(pair, added.any(), added.next, added.previous & pair.h.start);
      contacts = {0, contacts.next & ~added.next, contacts.previous & ~added.previous};
    }
  }

  bool full() const { return count_ > kMost - 3 * kWord; }

  void finish() {
    for (int i = 0; i < count_; ++i) follow_(g_[i], h_[i]);
    count_ = 0;
  }

 private:
  static constexpr int kMost = 1024, kLanes = 8;

  void add_places(const WordPair<Index>& pair, uint64_t places, uint64_t next, uint64_t before) {
    const __m512i numbers = places_of(places);
    const int count = std::popcount(places);
    next = extract(next, places), before = extract(before, places);
    alignas(64) uint8_t bytes[kWord];
    if (count > kLanes) _mm512_store_si512(bytes, numbers);
    __m128i eight = _mm512_maskz_extracti32x4_epi32(0xF, numbers, 0);
    for (int i = 0;;) {
      const __m512i places_after =
          _mm512_sub_epi64(_mm512_set1_epi64(kWord - 1), _mm512_maskz_cvtepu8_epi64(0xFF, eight));
      const __m512i up_to_place = _mm512_maskz_srlv_epi64(0xFF, _mm512_set1_epi64(-1), places_after);
      const auto runs_in = [&](const RunWord<Index>& word) {
        const __m512i starts = _mm512_and_si512(up_to_place, _mm512_set1_epi64(int64_t(word.start)));
        return _mm512_add_epi64(_mm512_popcnt_epi64(starts), _mm512_set1_epi64(int64_t(word.before) - 1));
      };
      const __m512i one = _mm512_set1_epi64(1);
      __m512i h = runs_in(pair.h);
      h = _mm512_mask_add_epi64(h, __mmask8(next >> i), h, one);
      h = _mm512_mask_sub_epi64(h, __mmask8(before >> i), h, one);
      store_eight(runs_in(pair.g), g_ + count_ + i);
      store_eight(h, h_ + count_ + i);
      if ((i += kLanes) >= count) break;
      eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i));
    }
    count_ += count;
  }

  const Follow follow_;
  int count_ = 0;
  Index g_[kMost], h_[kMost];
};
#else
template <class Index, class Follow> class ContactPairs {
 public:
  static constexpr bool kKept = false;

  explicit ContactPairs(Follow follow) : follow_(follow) {}

  void add(const WordPair<Index>& pair, const WordContacts& contacts) {
    for_each_lowest(contacts.aligned, [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to)); });
    for_each_lowest(contacts.next, [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to) + 1); });
    for_each_lowest(
        contacts.previous, [&](uint64_t to) { follow_(pair.g.run_in(to), pair.h.run_in(to >> 1)); });
  }
  static constexpr bool full() { return false; }
  void finish() {}

 private:
  static void for_each_lowest(uint64_t mask, auto&& body) {
    for (; mask; mask &= mask - 1) body(mask ^ (mask - 1));
  }

  const Follow follow_;
};
#endif

template <class Index> class RunLinks {
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
    return std::any_of(
        bundles_.outer.begin(), bundles_.outer.end(), [](const Axis& axis) { return axis.periodic; });
  }

  // How far back the neighbours of a bundle are at most, but for those around periodic axes.
  int64_t reach() const {
    int64_t farthest = around() ? bundles_.count : 0;
    for (const Offset& offset : bundles_.neighbours.offsets) farthest = std::max(farthest, -offset.bundles);
    return farthest;
  }

  void for_each_turn(ContactFinder& finder, int64_t begin, int64_t end, auto&& body) {
    bundles_.for_each_between(begin, end, [&, next = begin](int64_t g, const Coordinates& place) mutable {
      if (g < next) return;
      next = g + finder.turn(g, end, place);
      body(g, next);
    });
  }

  bool have_runs(const FacingBundles& pairs) const {
    return pairs.count > 0 && !runs_.blank(pairs.h, pairs.count);
  }

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

  // Links bundles of a part with those of other parts, and with later ones around periodic axes.
  void link_across(ContactFinder& finder, int64_t part) {
    const int64_t begin = bundles_.parts.begin(part),
                  end = std::min(bundles_.parts.end(part), begin + reach());
    for_each_turn(finder, begin, end, [&](int64_t g, int64_t after) {
      if (runs_.blank(g, after - g)) return;
      for (int k = 0; k < offsets_; ++k) {
        FacingBundles pairs = finder.neighbours(k);
        if (pairs.h < pairs.g) pairs.count = std::min(pairs.count, begin - pairs.h);
        if (!have_runs(pairs)) continue;
        if (finder.face(pairs, k))
          for_each_contact(finder, pairs, [this](Index x, Index y) { unite<Concurrent>(parent_, x, y); });
        if (periodic_rows_) link_around<Concurrent>(finder, pairs, finder.offset(k));
      }
    });
  }

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

  // Calls body(word, pair, contacts) for words with contacts, and pass(starts) with the OR of starts between.
  void for_each_word(ContactFinder& finder, const FacingBundles& pairs, auto&& body, auto&& pass) {
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

  void link_earlier(ContactFinder& finder, const FacingBundles& pairs) {
    for_each_contact(finder, pairs, [this](Index x, Index y) { unite_earlier(x, y); });
  }

  // As link_earlier, for the first bundles h: no run of g has a parent yet. The contacts of each word:
  //     first of their runs, one to one   copy_parents
  //     first of their runs               firsts -> take_parent
  //     others                            others -> unite_runs, apart -> unite_pairs
  // `firsts` is finished before `others`, which unites runs with parents.
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
    // Facing rows are finished one by one, lest long ways lead by them.
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

  // Pairs of entries to unite, without those that are one, as parents mostly are; without a branch.
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

  // Unites a run with one of an earlier bundle: mostly of one parent, and without a branch on the smaller.
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

  // Whether aligned contacts, each the first of its run of g, are of consecutive runs of either bundle.
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
    std::copy_n(
        parent_ + pair.h.run_in(to_first), std::popcount(contacts), parent_ + pair.g.run_in(to_first));
  }

  static constexpr int kCopied = 8;  // runs that are worth a copy

  Runs<Index>& runs_;
  const Bundles& bundles_;
  const int offsets_;
  const bool periodic_rows_;
  Index* const parent_;
};

}
