// Stretches of bundles along the last outer axis: they follow each other, as do those at an offset.
#pragma once

#include "cpu/grid/contacts.h"

namespace conncomp {

// Words of a stretch, and those beyond the end of an array that may be read.
constexpr int64_t kStretchOfBundles = 128, kStretchPadding = 8;

struct StretchContacts {
  uint64_t *aligned, *next, *previous, *busy;

  // Finds which words have contacts; returns whether any have.
  bool mark_busy(int64_t words) const {
    uint64_t any = 0;
    for (int64_t w = 0; w < words; w += kWord)
      any |= busy[w / kWord] = mask_where(
          kWord, [=, *this](int i) { return (aligned[w + i] | next[w + i] | previous[w + i]) != 0; });
    return any != 0;
  }

  Contacts block(int64_t begin, int64_t end) const {
    return {aligned + begin, next + begin, previous + begin,
            busy[begin / kWord] >> begin % kWord & below(int(end - begin))};
  }
};

// Drops contacts beside the ends of bundles, where others are.
inline void drop_beside_ends(int64_t words, int64_t bundle_words, uint64_t* next, uint64_t* previous) {
  for (int64_t w = 0; w < words; w += bundle_words) {
    previous[w] &= ~uint64_t(1);
    next[w + bundle_words - 1] &= kAll >> 1;
  }
}

class BundleStretch {
 public:
  explicit BundleStretch(const Bundles& bundles, bool several = true) : bundles_(bundles) {
    if (several && !bundles.outer.empty())
      most_ = std::clamp<int64_t>(kStretchOfBundles / bundles.words, 1, bundles.shape.back());
    words_ = (most_ * bundles.words + kWord - 1) / kWord * kWord + kStretchPadding;
  }

  int64_t words() const { return words_; }

  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  int64_t word_of(int64_t bundle) const { return (bundle - first_) * bundles_.words; }

  // Turns to bundles from g on, before `end`; returns to how many.
  int64_t turn(int64_t g, int64_t end, const Coordinates& place) {
    first_ = g;
    count_ = 1;
    if (!place.empty()) {
      const int64_t before = place.back(), after = bundles_.shape.back() - before;
      // The first and the last bundle of a periodic axis, which others face around it, are turned to alone.
      const bool alone = bundles_.outer.back().periodic && (before == 0 || after == 1);
      count_ = alone ? 1 : std::min({most_, end - g, after - bundles_.outer.back().periodic});
    }
    return count_;
  }

  // The bundles of the stretch, whose first one is at `place`, that face one at an offset.
  FacingBundles pairs_at(const Offset& offset, const Coordinates& place) const {
    int64_t begin = 0, end = count_, h = 0;
    for (size_t k = 0; k < place.size(); ++k) {
      const int64_t length = bundles_.shape[k];
      int64_t c = place[k] + offset.step[k];
      if (bundles_.outer[k].periodic) {
        c = c < 0 ? length - 1 : c == length ? 0 : c;
      } else if (k + 1 < place.size()) {
        if (c < 0 || c == length) return {};
      } else {
        begin = c < 0;
        end = std::min(count_, length - c);
        c += begin;
      }
      h = h * length + c;
    }
    return begin < end ? FacingBundles{first_ + begin, h, end - begin} : FacingBundles{};
  }

 private:
  const Bundles& bundles_;
  int64_t most_ = 1, words_, first_ = 0, count_ = 0;
};

}  // namespace conncomp
