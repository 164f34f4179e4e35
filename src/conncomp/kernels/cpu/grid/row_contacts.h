// Contacts of rows where links are transitive and every row around has elements straight ahead as neighbours,
// as it is among faces, edges or corners.
//
// What: of all contacts of a row with earlier ones, about one for each run that begins, as rows are mostly
// alike.
// How: rows that lie one after the other have their bits one after the other, and so have the rows at an
// offset; so what follows is done for a stretch of rows at once. Which elements are linked straight ahead
// becomes a bit each. By these bits a link is superfluous where
//  - both runs go on from the place before, which is linked, too (Contacts);
//  - there is a detour by other rows (row_detours.h);
//  - it leads across, and one of the two runs goes on, or one of the two elements is linked straight ahead.
// Cost: an element is compared with one of each row around; for 64 elements, some instructions more.
// Source: ours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/contacts.h"
#include "cpu/grid/link_words.h"
#include "cpu/grid/masks.h"
#include "cpu/grid/row_detours.h"

namespace conncomp {

// The words of rows one after the other: their foreground, and where runs start.
struct RowMasks {
  const uint64_t *mask, *start;
};

// Where rows are linked straight ahead, with a row and with others by which detours lead to it: by either of
// them, or by both.
struct StraightLinks {
  const uint64_t *linked, *a, *b;
  uint64_t either;  // all bits, or none
};

// Contacts straight ahead, and what those across need. Compilers believe what is said of arrays if it is said
// of the parameters of a function.
[[gnu::noinline]] inline void find_straight(int64_t words, RowMasks g, RowMasks h, StraightLinks links,
                                            uint64_t* __restrict aligned, uint64_t* __restrict straight,
                                            uint64_t* __restrict goes_on, uint64_t* __restrict mask_h) {
  for (int64_t w = 0; w < words; ++w) {
    const uint64_t continued_g = g.mask[w] & ~g.start[w], continued_h = h.mask[w] & ~h.start[w];
    const uint64_t detour = ((links.a[w] ^ links.either) & (links.b[w] ^ links.either)) ^ links.either;
    straight[w] = links.linked[w] & g.mask[w] & h.mask[w];
    aligned[w] = straight[w] & ~((continued_g & continued_h) | detour);
    goes_on[w] = continued_g | continued_h;
    mask_h[w] = h.mask[w];
  }
}

class RowContacts final : public ContactFinder {
 public:
  static bool apply(const Bundles& bundles) {
    const std::vector<Offset>& offsets = bundles.neighbours.offsets;
    return !bundles.folded &&
           std::all_of(offsets.begin(), offsets.end(), [](const Offset& offset) { return offset.aligned; });
  }

  // Without links all foreground is of one value.
  RowContacts(const Masks& masks, const void* data, const LinkWords* links)
      : ContactFinder(masks),
        links_(links),
        around_(bundles_.neighbours.offsets),
        stretches_(around_.size()) {
    if (links) read_g_.emplace(masks.reader(data, *links)), read_h_ = read_g_;
    const bool gathered = links && bundles_.row_axis.byte_stride != links->value_bytes;
    if (!gathered && !bundles_.outer.empty())
      most_ = std::clamp<int64_t>(kStretchOfRows / bundles_.words, 1, bundles_.outer.back().length);
    size_ = (most_ * bundles_.words + kWord - 1) / kWord * kWord + kPadding;
    words_.resize(size_ * (kArrays * (around_.size() + 1) + kScratch));
  }

  std::unique_ptr<ContactFinder> copy() const override { return std::make_unique<RowContacts>(*this); }

  void turn(int64_t g, const Coordinates& place) override {
    ContactFinder::turn(g, place);
    if (g < first_ || g >= first_ + count_) start(g, place);
    turned_ = g - first_;
  }

  int64_t neighbour(int k) override {
    if (k < 0) return g_;
    const Stretch& stretch = stretches_[k];
    const bool by_step = stretch.begin <= turned_ && turned_ < stretch.end;
    return by_step ? g_ + around_[k].offset.bundles : ContactFinder::neighbour(k);
  }

  void face(int64_t h, int k) override {
    h_ = h;
    origin_h_ = origin(turned_);
    if (k < 0) return;
    const Offset& offset = around_[k].offset;
    if (h - g_ == offset.bundles) {
      origin_h_ += offset.bytes;
      if (!std::exchange(stretches_[k].has_contacts, true)) find_contacts(k);
      show(k, turned_ * bundles_.words);
    } else {
      origin_h_ = bundles_.byte_origin(place_h_);
      find_around(offset);
      show(int(around_.size()), 0);
    }
  }

  Contacts find(int64_t begin, int64_t end) override {
    const int64_t at = at_ + begin, bit = at % kWord;
    const uint64_t* const aligned = contacts_ + at;
    const uint64_t* const busy = busy_ + at / kWord;
    const uint64_t later = busy[1] << 1 << (kWord - 1 - bit);
    return {aligned, aligned + size_, aligned + 2 * size_,
            (busy[0] >> bit | later) & below(int(end - begin))};
  }

  bool touch(int64_t p, int64_t q) override {
    uint64_t linked = bit_at(masks_.row(g_), p) & bit_at(masks_.row(h_), q);
    if (links_) {
      const int bytes = links_->value_bytes;
      links_->keep_linked((*read_g_)(origin(turned_)) + p * bytes, (*read_h_)(origin_h_) + q * bytes, 0, 1,
                          kNoStep, &linked);
    }
    return linked != 0;
  }

 private:
  static constexpr StepDirection kNoStep{0, false};  // where values are compared, steps do not matter
  static constexpr int64_t kStretchOfRows = 128;     // words that stay near with what is made of them
  static constexpr int64_t kPadding = 8;             // words beyond the end of an array may be read
  // Arrays of words, for each row around: which elements are linked straight ahead; contacts, aligned, next
  // and previous; which words have any, as bits.
  enum { kLinked, kContacts, kBusy = kContacts + 3, kArrays };
  enum { kNone, kStraight, kGoesOn, kMaskOfH, kScratch };

  // The rows of a stretch that have a row at an offset by its step, not around the array.
  struct Stretch {
    int64_t begin = 0, end = 0;
    bool compared = false, has_contacts = false;
  };

  // Rows one after the other, and those that they are compared with.
  struct Pairs {
    int64_t g, h, origin_g, origin_h, count;
  };

  // Lets find() show what is known of row k around, from a word on.
  void show(int k, int64_t word) {
    contacts_ = array(k, kContacts);
    busy_ = array(k, kBusy);
    at_ = word;
  }

  uint64_t* array(int k, int which) { return words_.data() + (k * kArrays + which) * size_; }
  uint64_t* scratch(int which) { return array(int(around_.size()) + 1, which); }
  int64_t row_bytes() const { return bundles_.outer.empty() ? 0 : bundles_.outer.back().byte_stride; }
  int64_t origin(int64_t row) const { return origin_ + row * row_bytes(); }
  RowMasks masks_of(int64_t row) const {
    return {masks_.row(row), masks_.start.data() + row * bundles_.words};
  }

  // Starts a stretch of rows along the last axis.
  [[gnu::noinline]] void start(int64_t g, const Coordinates& place) {
    const std::vector<int64_t>& shape = bundles_.shape;
    first_ = g;
    origin_ = bundles_.byte_origin(place);
    count_ = place.empty() ? 1 : std::min(most_, shape.back() - place.back());
    for (size_t k = 0; k < stretches_.size(); ++k) {
      const Step& step = around_[k].offset.step;
      bool inside = true;
      for (size_t i = 0; i + 1 < place.size(); ++i)
        inside &= place[i] + step[i] >= 0 && place[i] + step[i] < shape[i];
      const int64_t begin = step.back() < 0 && place.back() == 0;
      const int64_t end = std::min(count_, shape.back() - place.back() - (step.back() > 0));
      stretches_[k] = {begin, inside ? std::max(begin, end) : begin};
    }
  }

  Pairs pairs_of(int k) const {
    const int64_t begin = stretches_[k].begin, g = first_ + begin, at = origin(begin);
    const Offset& offset = around_[k].offset;
    return {g, g + offset.bundles, at, at + offset.bytes, stretches_[k].end - begin};
  }

  // Which elements of the stretch are linked to row k around; none are where there is none.
  const uint64_t* compare(int k) {
    if (k < 0) return scratch(kNone);
    uint64_t* const linked = array(k, kLinked);
    Stretch& stretch = stretches_[k];
    if (std::exchange(stretch.compared, true)) return linked;
    std::fill_n(linked, stretch.begin * bundles_.words, 0);
    compare(pairs_of(k), linked + stretch.begin * bundles_.words);
    std::fill_n(linked + stretch.end * bundles_.words, (count_ - stretch.end) * bundles_.words, 0);
    return linked;
  }

  void compare(const Pairs& pairs, uint64_t* linked) {
    if (!links_) {
      const uint64_t *const g = masks_.row(pairs.g), *const h = masks_.row(pairs.h);
      for (int64_t w = 0; w < pairs.count * bundles_.words; ++w) linked[w] = g[w] & h[w];
      return;
    }
    const int64_t length = bundles_.row_axis.length, bytes = links_->value_bytes;
    // Rows without gaps are compared as one.
    const bool as_one = length % kWord == 0 && row_bytes() == length * bytes;
    const int64_t elements = as_one ? pairs.count * length : length;
    // Where there are no rows, what they would be compared with may lie outside the array.
    for (int64_t row = 0; row < (as_one ? std::min<int64_t>(pairs.count, 1) : pairs.count); ++row) {
      const char *const x = (*read_g_)(pairs.origin_g + row * row_bytes()), *const y =
                                                                                (*read_h_)(pairs.origin_h +
                                                                                           row * row_bytes());
      for (int64_t begin = 0; begin < elements; begin += kStretch) {
        bundles_.poll_at(begin / kWord);
        links_->equal(x + begin * bytes, y + begin * bytes, std::min(kStretch, elements - begin),
                      linked + row * bundles_.words + begin / kWord);
      }
    }
  }

  [[gnu::noinline]] void find_contacts(int k) {
    const RowAround& row = around_[k];
    const int64_t at = stretches_[k].begin * bundles_.words;
    const uint64_t *const linked = compare(k), *const a = compare(row.by[0]), *const b = compare(row.by[1]);
    find_contacts(pairs_of(k), row.offset, {linked + at, a + at, b + at, all_if(!row.both)},
                  array(k, kContacts) + at);
    mark_busy(k);
  }

  // Around the array rows are in no order by which others could make up.
  [[gnu::noinline]] void find_around(const Offset& offset) {
    const int k = int(around_.size());
    const Pairs pairs{g_, h_, origin(turned_), origin_h_, 1};
    compare(pairs, array(k, kLinked));
    find_contacts(pairs, offset, {array(k, kLinked), scratch(kNone), scratch(kNone), kAll},
                  array(k, kContacts));
    mark_busy(k);
  }

  void find_contacts(const Pairs& pairs, const Offset& offset, const StraightLinks& links,
                     uint64_t* aligned) {
    uint64_t *const next = aligned + size_, *const previous = next + size_;
    const int64_t words = pairs.count * bundles_.words;
    find_straight(words, masks_of(pairs.g), masks_of(pairs.h), links, aligned, scratch(kStraight),
                  scratch(kGoesOn) + 1, scratch(kMaskOfH) + 1);
    if (!offset.diagonal()) {
      std::fill_n(next, words, 0);
      std::fill_n(previous, words, 0);
    } else if (find_across(masks_.row(pairs.g), words, offset, next, previous) && links_) {
      for (int64_t row = 0; row < pairs.count; ++row)
        keep_across(pairs, row, next + row * bundles_.words, previous + row * bundles_.words);
    }
  }

  // Where elements may be linked across that nothing makes up for; whether there are any.
  bool find_across(const uint64_t* g, int64_t words, const Offset& offset, uint64_t* __restrict next,
                   uint64_t* __restrict previous) {
    const uint64_t *const straight = scratch(kStraight), *const goes_on = scratch(kGoesOn) + 1,
                          *const h = scratch(kMaskOfH) + 1;
    // If elements of a row are no neighbours, those straight ahead say nothing of what is beside them.
    const uint64_t beside = all_if(bundles_.neighbours.connected);
    const uint64_t all_next = all_if(offset.next), all_previous = all_if(offset.previous);
    for (int64_t w = 0; w < words; ++w) {
      const uint64_t right = h[w] >> 1 | h[w + 1] << (kWord - 1), left = h[w] << 1 | h[w - 1] >> (kWord - 1);
      const uint64_t will_go_on = goes_on[w] >> 1 | goes_on[w + 1] << (kWord - 1);
      next[w] = g[w] & right & all_next & ~(will_go_on | (beside & (straight[w] | straight[w] >> 1)));
      previous[w] = g[w] & left & all_previous & ~(goes_on[w] | (beside & (straight[w] | straight[w] << 1)));
    }
    // Beside the ends of a row are others.
    for (int64_t w = 0; w < words; w += bundles_.words) {
      previous[w] &= ~uint64_t(1);
      next[w + bundles_.words - 1] &= kAll >> 1;
    }
    uint64_t any = 0;
    for (int64_t w = 0; w < words; ++w) any |= next[w] | previous[w];
    return any != 0;
  }

  // Of the places in a row, keeps those that are linked across.
  void keep_across(const Pairs& pairs, int64_t row, uint64_t* next, uint64_t* previous) {
    uint64_t any = 0;
    for (int64_t w = 0; w < bundles_.words; ++w) any |= next[w] | previous[w];
    if (!any) return;
    const char *const x = (*read_g_)(pairs.origin_g + row * row_bytes()), *const y =
                                                                              (*read_h_)(pairs.origin_h +
                                                                                         row * row_bytes());
    for (int64_t begin = 0; begin < bundles_.words; begin += kStretchWords) {
      bundles_.poll_at(begin);
      const int64_t words = std::min(kStretchWords, bundles_.words - begin);
      keep_linked(*links_, x, y, 1, begin, words, kNoStep, next + begin);
      keep_linked(*links_, x, y, -1, begin, words, kNoStep, previous + begin);
    }
  }

  void mark_busy(int k) {
    const uint64_t *const aligned = array(k, kContacts), *const next = aligned + size_,
                          *const previous = next + size_;
    for (int64_t w = 0; w < size_ - kPadding; w += kWord)
      array(k, kBusy)[w / kWord] =
          mask_where(kWord, [=](int i) { return (aligned[w + i] | next[w + i] | previous[w + i]) != 0; });
  }

  const LinkWords* const links_;
  const RowsAround around_;
  std::vector<Stretch> stretches_;  // by row around
  std::optional<RowReader> read_g_, read_h_;
  std::vector<uint64_t> words_;        // the arrays of rows around, of a pair around the array, and scratch
  int64_t most_ = 1, size_ = 0;        // rows of a stretch; words of an array
  int64_t first_ = 0, count_ = 0;      // the rows of the stretch
  int64_t origin_ = 0, origin_h_ = 0;  // of its first row, and of h, in bytes
  int64_t turned_ = 0, h_ = 0;         // the row of the stretch that is turned to, and what it faces
  int64_t at_ = 0;                     // the first word of the two in these
  const uint64_t *contacts_ = nullptr, *busy_ = nullptr;
};

}  // namespace conncomp
