// Contacts of bundles of several rows in volumes, a stretch of bundles at a time: about one for each run of a
// bundle, as the bundles around are mostly alike. First comes the layer before, straight ahead: h. Links with
// the others are superfluous where an element c of h makes up for them, as all that touch are linked:
//     layer before    d c h      c is of the row of h that faces d, or a, and is in the layer's last rows
//     layer           a   g
// c touches all of g's side to d and all of d's to g in its column; of the sides of a and g to each other it
// touches what faces the layer before, and only that counts. A link of g with h is never left out; one of h
// with d, or of a with h, only for others of the layer before, or of a with the bundle ahead of it; so by
// induction over layers others make up for it. One makes up for all of two runs. Source: ours.
#pragma once

#include "cpu/grid/contacts.h"

namespace conncomp {

// Words of bundles that face each other, and where detours lead; a word more on either side may be read.
struct FacingWords {
  const uint64_t *g, *h, *goes_on_g, *goes_on_h, *detours;
};

// Finds contacts, as OneValue does, and whether the two runs at the last place of a word are linked.
[[gnu::noinline]] inline void find_facing(
    int64_t words, FacingWords facing, StretchContacts contacts, uint64_t* __restrict linked) {
  const uint64_t *const g = facing.g, *const h = facing.h;
  const uint64_t *const goes_on_g = facing.goes_on_g, *const goes_on_h = facing.goes_on_h;
  const uint64_t* const detours = facing.detours;
  uint64_t *__restrict const aligned = contacts.aligned, *__restrict const next = contacts.next,
                             *__restrict const previous = contacts.previous;
  const auto left = [](const uint64_t* x, int64_t w) { return x[w] << 1 | x[w - 1] >> (kWord - 1); };
  const auto right = [](const uint64_t* x, int64_t w) { return x[w] >> 1 | x[w + 1] << (kWord - 1); };
  for (int64_t w = 0; w < words; ++w) {
    const uint64_t will_go_on_g = right(goes_on_g, w), will_go_on_h = right(goes_on_h, w);
    const uint64_t to_next = g[w] & right(h, w), to_previous = g[w] & left(h, w);
    const uint64_t straight = (g[w] & h[w]) | (to_next & will_go_on_h) | (to_previous & goes_on_h[w]) |
                              (left(g, w) & h[w] & goes_on_g[w]) | (right(g, w) & h[w] & will_go_on_g);
    // In stretches where both runs go on.
    const uint64_t last = last_in_fields(~(goes_on_g[w] & goes_on_h[w]));
    const uint64_t touch = any_in_fields(straight, last), by_detour = any_in_fields(detours[w], last);
    aligned[w] = touch & ~by_detour;
    linked[w] = touch | by_detour;
    next[w] = to_next & ~(will_go_on_g | will_go_on_h);
    previous[w] = to_previous & ~(goes_on_g[w] | goes_on_h[w]);
  }
}

// Drops contacts of two runs that go on from the word before, in one bundle, and have one there.
[[gnu::noinline]] inline void drop_repeated(
    int64_t words, FacingWords facing, const uint64_t* linked, uint64_t* __restrict aligned) {
  const uint64_t *const goes_on_g = facing.goes_on_g, *const goes_on_h = facing.goes_on_h;
  for (int64_t w = 0; w < words; ++w) {
    const uint64_t both = goes_on_g[w] & goes_on_h[w];
    const uint64_t last = last_in_fields(~both);
    aligned[w] &= ~(last & (0 - last) & (0 - (both & linked[w - 1] >> (kWord - 1))));
  }
}

class BundleContacts final : public ContactFinder {
 public:
  // Rows must not be so long that arrays of words take much memory.
  static bool apply(const Bundles& bundles) {
    return bundles.folded && bundles.outer.size() > bundles.batch_axes + 1 && bundles.words <= kStretchWords;
  }

  explicit BundleContacts(const Masks& masks) : ContactFinder(masks), stretch_(bundles_) {
    const std::vector<Offset>& offsets = bundles_.neighbours.offsets;
    for (const Offset& offset : offsets) around_.push_back(around(offset));
    const auto ahead = std::find_if(around_.begin(), around_.end(), [this](const Around& bundle) {
      const Step& step = bundle.offset.step;
      return bundle.before && std::count(step.begin(), step.end(), 0) + 1 == int64_t(step.size());
    });
    if (ahead == around_.end()) {
      for (Around& bundle : around_) bundle.detours = false;
      return;
    }
    ahead->detours = false;
    step_ahead_ = ahead->offset.bundles;
    std::rotate(around_.begin(), ahead, ahead + 1);
  }

  std::unique_ptr<ContactFinder> copy() const override {
    auto finder = std::make_unique<BundleContacts>(*this);
    finder->words_.resize(stretch_.words() * kArrays);
    finder->contacts_ = {
        finder->array(kAligned), finder->array(kNext), finder->array(kPrevious), finder->array(kBusy)};
    return finder;
  }

  int64_t turn(int64_t g, int64_t end, const Coordinates& place) override {
    place_g_ = &place;
    const int64_t count = stretch_.turn(g, end, place);
    is_before_ = place[bundles_.batch_axes] > 0;
    return count;
  }

  const Offset& offset(int k) const override { return around_[k].offset; }
  FacingBundles neighbours(int k) override { return stretch_.pairs_at(around_[k].offset, *place_g_); }

  bool face(const FacingBundles& pairs, int k) override {
    if (k < 0) {
      side_g_ = side_h_ = masks_.body(pairs.g);
      return false;
    }
    uint64_t *const g = array(kSideG), *const h = array(kSideH);
    const Around& bundle = around_[k];
    fold(pairs.g, pairs.count, bundle.offset, 1, g);
    fold(pairs.h, pairs.count, bundle.offset, -1, h);
    side_g_ = g, side_h_ = h;
    return find_contacts(pairs, bundle);
  }

  Contacts find(int64_t begin, int64_t end) override { return contacts_.block(begin, end); }

  bool touch(int64_t i, int64_t p, int64_t q) override {
    return bit_at(side_g_ + i * bundles_.words, p) && bit_at(side_h_ + i * bundles_.words, q);
  }

 private:
  enum {
    kAligned,
    kNext,
    kPrevious,
    kBusy,
    kSideG,
    kSideH,
    kFreeG,
    kFreeH,
    kGoesOnG,
    kGoesOnH,
    kDetours,
    kRow,
    kLinked,
    kArrays
  };

  struct Around {
    Offset offset, row;
    bool before;  // whether it is in the layer before
    bool detours = true;
  };
  Around around(const Offset& offset) const {
    Offset row = offset;
    row.step[bundles_.batch_axes] = 1;
    return {offset, row, offset.step[bundles_.batch_axes] < 0};
  }

  uint64_t* array(int which) { return words_.data() + which * stretch_.words() + 1; }

  void fold(int64_t bundle, int64_t count, const Offset& offset, int towards, uint64_t* mask) {
    bundles_.locate(bundle, place_h_);
    bundles_.facing(place_h_, offset, towards, rows_);
    masks_.fold(rows_, count, mask);
  }

  bool find_contacts(const FacingBundles& pairs, const Around& bundle) {
    const int64_t words = pairs.count * bundles_.words;
    const uint64_t *g = side_g_, *h = side_h_;
    uint64_t* const detours = array(kDetours);
    if (bundle.detours && is_before_) {
      find_detours(pairs, bundle);
      if (bundle.before) {
        if (!without(words, array(kRow), side_g_, array(kFreeG)) ||
            !without(words, array(kRow), side_h_, array(kFreeH)))
          return false;
        g = array(kFreeG), h = array(kFreeH);
      }
    } else {
      std::fill_n(detours, words, 0);
    }
    find_continuations(pairs.g, words, array(kGoesOnG));
    find_continuations(pairs.h, words, array(kGoesOnH));
    const FacingWords facing = {g, h, array(kGoesOnG), array(kGoesOnH), detours};
    find_facing(words, facing, contacts_, array(kLinked));
    drop_repeated(words, facing, array(kLinked), contacts_.aligned);
    drop_beside_ends(words, bundles_.words, contacts_.next, contacts_.previous);
    return contacts_.mark_busy(words);
  }

  void find_detours(const FacingBundles& pairs, const Around& bundle) {
    const int64_t words = pairs.count * bundles_.words;
    uint64_t *const detours = array(kDetours), *const row = array(kRow);
    fold(pairs.g + step_ahead_, pairs.count, bundle.row, 1, row);
    if (bundle.before) {
      for (int64_t w = 0; w < words; ++w) detours[w] = row[w] & side_g_[w] & side_h_[w];
      return;
    }
    // Of the sides, those rows that face the layer before.
    Offset upper = bundle.row;
    upper.step[bundles_.batch_axes] = -1;
    fold(pairs.g, pairs.count, upper, 1, array(kFreeG));
    fold(pairs.h, pairs.count, bundle.row, -1, array(kFreeH));
    const uint64_t *const upper_g = array(kFreeG), *const upper_h = array(kFreeH);
    for (int64_t w = 0; w < words; ++w) detours[w] = row[w] & upper_g[w] & upper_h[w];
  }

  static bool without(int64_t words, const uint64_t* row, const uint64_t* side, uint64_t* __restrict free) {
    uint64_t any = 0;
    for (int64_t w = 0; w < words; ++w) any |= free[w] = side[w] & ~row[w];
    return any != 0;
  }

  void find_continuations(int64_t bundle, int64_t words, uint64_t* __restrict goes_on) const {
    const uint64_t *const body = masks_.body(bundle), *const start =
                                                          masks_.start.data() + bundle * bundles_.words;
    for (int64_t w = 0; w < words; ++w) goes_on[w] = body[w] & ~start[w];
  }

  BundleStretch stretch_;
  std::vector<Around> around_;  // in the order of links
  int64_t step_ahead_ = 0;      // from a bundle to the one ahead of it
  std::vector<uint64_t> words_;
  StretchContacts contacts_{};
  std::vector<int64_t> rows_;
  bool is_before_ = false;  // whether a layer is before that of the stretch
  const uint64_t *side_g_ = nullptr, *side_h_ = nullptr;
};

}
