// Where two bundles touch, 64 elements at a time: one contact for each stretch where neither run breaks.
#pragma once

#include "cpu/grid/masks.h"

namespace conncomp {

// Which runs touch, as places p of elements of g in a word. The run of g at p meets
//              p - 1     p    p + 1
//     g                  o                    previous: the run of h that ends at p - 1,
//                     /  |  \                  aligned: the run of h at p,
//     h            o     o     o                 next: the run of h that starts at p + 1.
//            previous aligned  next
// A bit of `next` or `previous` means a run of h that is not at p: where h goes on, the contact is `aligned`.
// Aligned contacts are left out where both runs go on from the contact before.
struct Contacts {
  const uint64_t *aligned, *next, *previous;
  uint64_t busy;  // bit k: word k may have some
};

constexpr int kBlockWords = 32;
struct BlockContacts {
  uint64_t aligned[kBlockWords], next[kBlockWords], previous[kBlockWords];

  Contacts contacts(int64_t words) const {
    uint64_t busy = 0;
    for (int64_t k = 0; k < words; ++k) busy |= uint64_t((aligned[k] | next[k] | previous[k]) != 0) << k;
    return {aligned, next, previous, busy};
  }
};

// The last places of the fields of a word, which begin at the bits of `starts`.
inline uint64_t last_in_fields(uint64_t starts) { return starts >> 1 | uint64_t(1) << (kWord - 1); }

// The lowest bit in each field of a word. Fields begin at the bits of `starts`; before the first there is
// none. Taking one from each field turns its bits up to the lowest; the last bit is set as a guard.
//     starts               1 . . 1 . . . . 1 .         bit 0 at the left
//     bits                 . 1 . . . 1 1 . . .
//     with the last ones   . 1 1 . . 1 1 1 . 1
//     minus the first ones 1 . 1 1 1 . 1 1 1 .
//     lowest               . 1 . . . 1 . . . .
inline uint64_t lowest_in_fields(uint64_t bits, uint64_t starts) {
  const uint64_t guarded = bits | last_in_fields(starts);
  return bits & ~(guarded - starts);
}

// The fields that have one of the bits, told at their last places: a bit added to ones at all other places
// carries to the last place of its field.
//     last                 . . 1 1 . . . . 1 1         bit 0 at the left
//     bits                 . 1 . . . 1 1 . . 1
//     fields that have any . . 1 . . . . . 1 1
inline uint64_t any_in_fields(uint64_t bits, uint64_t last) {
  return (((bits & ~last) + ~last) | bits) & last;
}

// Calls body(begin, words) with a block's words, constants for short rows: a loop takes a while to begin.
void with_block(int64_t row_words, int64_t begin, int64_t end, auto&& body) {
  constexpr std::integral_constant<int64_t, 0> kFirst;
  if (row_words == 1) return body(kFirst, std::integral_constant<int64_t, 1>());
  if (row_words == 2) return body(kFirst, std::integral_constant<int64_t, 2>());
  body(begin, end - begin);
}

// Words of a mask; bit p of left(k) is that of element p - 1, of right(k) that of p + 1.
struct BlockMask {
  uint64_t block[kBlockWords + 2];

  [[gnu::always_inline]] BlockMask(const uint64_t* mask, auto begin, auto words, int64_t row_words) {
    block[0] = begin > 0 ? mask[begin - 1] : 0;
    for (int64_t k = 0; k < words; ++k) block[k + 1] = mask[begin + k];
    block[words + 1] = begin + words < row_words ? mask[begin + words] : 0;
  }
  uint64_t at(int64_t k) const { return block[k + 1]; }
  uint64_t left(int64_t k) const { return at(k) << 1 | block[k] >> (kWord - 1); }
  uint64_t right(int64_t k) const { return at(k) >> 1 | block[k + 2] << (kWord - 1); }
};

// Where runs go on: bit p of at(k) says that p is in the run of p - 1, of right(k) that p + 1 is in p's.
struct Continuations {
  uint64_t block[kBlockWords + 1];

  [[gnu::always_inline]] Continuations(const Masks& masks, int64_t bundle, auto begin, auto words) {
    const uint64_t* const body = masks.body(bundle) + begin;
    const uint64_t* const start = masks.start.data() + bundle * masks.bundles.words + begin;
    for (int64_t k = 0; k < words; ++k) block[k] = body[k] & ~start[k];
    block[words] = begin + words < masks.bundles.words ? body[words] & ~start[words] : 0;
  }
  uint64_t at(int64_t k) const { return block[k]; }
  uint64_t right(int64_t k) const { return block[k] >> 1 | block[k + 1] << (kWord - 1); }
};

// Consecutive bundles from g on, and as many from h on that they face.
struct FacingBundles {
  int64_t g, h, count;
};

// Finds contacts for a thread of RunLinks, which calls in this order. Each call keeps, until its next one:
//     turn(g, end, place)          g and a pointer to its place; returns how many bundles, before `end`
//       neighbours(k)              the place of h, the bundle at offset(k); returns the pairs g, h
//         face(pairs, k)           both sides of some pairs, and what the offset links
//           find(begin, end)       contacts in up to kBlockWords words, if face() was true
//           touch(i, p, q)         nothing, even if face() was false
//       face({g, g, count}, -1)    bundles with themselves, over the ends of rows
//           touch(i, p, q)
class ContactFinder {
 public:
  explicit ContactFinder(const Masks& masks)
      : masks_(masks), bundles_(masks.bundles), place_h_(bundles_.outer.size()) {}
  virtual ~ContactFinder() = default;
  virtual std::unique_ptr<ContactFinder> copy() const = 0;
  virtual int64_t turn(int64_t g, int64_t, const Coordinates& place) {
    g_ = g;
    place_g_ = &place;
    return 1;
  }
  virtual const Offset& offset(int k) const { return bundles_.neighbours.offsets[k]; }
  virtual FacingBundles neighbours(int k) {
    const int64_t h = bundles_.neighbour(g_, *place_g_, step_to(k), place_h_);
    return {g_, h, h >= 0};
  }
  virtual bool face(const FacingBundles& pairs, int k) = 0;
  virtual Contacts find(int64_t begin, int64_t end) = 0;
  // Whether element p of bundle i and element q of the bundle it faces are linked over the end of a row.
  virtual bool touch(int64_t i, int64_t p, int64_t q) = 0;

 protected:
  // Keeps the places p in words from `begin` on where p of row x is linked to p + shift of y.
  [[gnu::always_inline]] void keep_linked(const LinkWords& links, const char* x, const char* y, int shift,
      auto begin, auto words, StepDirection step, uint64_t* candidates) const {
    const int64_t length = bundles_.row_axis.length, from = begin * kWord;
    const int64_t to = std::min(length, from + words * kWord);
    const int64_t count = shift > 0 ? std::min(to, length - 1) - from : to - from;
    const int bytes = links.value_bytes;
    links.keep_linked(x, y + shift * bytes, from + shift < 0, count, step, candidates);
  }

  const Offset& step_to(int k) const { return k < 0 ? bundles_.no_step : bundles_.neighbours.offsets[k]; }

  const Masks& masks_;
  const Bundles& bundles_;
  int64_t g_ = 0;
  const Coordinates* place_g_ = nullptr;
  Coordinates place_h_;
};

class OneValue final : public ContactFinder {
 public:
  explicit OneValue(const Masks& masks) : ContactFinder(masks) {}

  OneValue(const OneValue& other) : OneValue(other.masks_) {}
  std::unique_ptr<ContactFinder> copy() const override { return std::make_unique<OneValue>(*this); }

  bool face(const FacingBundles& pairs, int k) override {
    const Offset& offset = step_to(k);
    h_ = pairs.h;
    side_g_ = side(g_, *place_g_, offset, 1, g_folded_);
    side_h_ = side(h_, k < 0 ? *place_g_ : place_h_, offset, -1, h_folded_);
    diagonal_ = offset.diagonal();
    previous_ = all_if(offset.previous);
    aligned_ = all_if(offset.aligned);
    next_ = all_if(offset.next);
    return true;
  }

  Contacts find(int64_t begin, int64_t end) override {
    with_block(bundles_.words, begin, end, [&](auto first, auto words) { find_in(first, words, block_); });
    return block_.contacts(end - begin);
  }

  bool touch(int64_t, int64_t p, int64_t q) override { return bit_at(side_g_, p) && bit_at(side_h_, q); }

 private:
  void find_in(auto begin, auto words, BlockContacts& contacts) const {
    const Continuations g_continued(masks_, g_, begin, words);
    const Continuations h_continued(masks_, h_, begin, words);
    uint64_t aligned[kBlockWords + 1];  // contacts, from those of the word before on
    aligned[0] = 0;
    if (!diagonal_) {
      for (int64_t k = 0; k < words; ++k) {
        aligned[k + 1] = side_g_[begin + k] & side_h_[begin + k];
        contacts.next[k] = contacts.previous[k] = 0;
      }
    } else {
      const BlockMask g(side_g_, begin, words, bundles_.words), h(side_h_, begin, words, bundles_.words);
      for (int64_t k = 0; k < words; ++k) {
        // Diagonal links between element p of g and p + 1 or p - 1 of h.
        const uint64_t next = g.at(k) & h.right(k) & next_, previous = g.at(k) & h.left(k) & previous_;
        // The same links, by the place p of the element of h.
        const uint64_t next_to_h = g.left(k) & h.at(k) & next_,
                       previous_to_h = g.right(k) & h.at(k) & previous_;
        // Where the run of one end goes on to the place of the other, both runs are at this place.
        aligned[k + 1] = (g.at(k) & h.at(k) & aligned_) | (next & h_continued.right(k)) |
                         (previous & h_continued.at(k)) | (next_to_h & g_continued.at(k)) |
                         (previous_to_h & g_continued.right(k));
        // What is left are corners: both runs break between the places.
        contacts.next[k] = next & ~h_continued.right(k) & ~g_continued.right(k);
        contacts.previous[k] = previous & ~h_continued.at(k) & ~g_continued.at(k);
      }
    }
    // One per stretch of both runs; none if the word before ended with one.
    for (int64_t k = 0; k < words; ++k)
      contacts.aligned[k] = lowest_in_fields(
          aligned[k + 1], ~(g_continued.at(k) & h_continued.at(k)) | ~aligned[k] >> (kWord - 1));
  }

  const uint64_t* side(int64_t bundle, const Coordinates& place, const Offset& offset, int towards,
      std::vector<uint64_t>& folded) {
    if (!bundles_.folded) return masks_.row(bundle);
    bundles_.facing(place, offset, towards, rows_);
    if (rows_.size() == 1) return masks_.row(rows_[0]);
    folded.resize(bundles_.words);
    masks_.fold(rows_, 1, folded.data());
    return folded.data();
  }

  std::vector<int64_t> rows_;
  std::vector<uint64_t> g_folded_, h_folded_;
  BlockContacts block_;
  int64_t h_ = 0;
  const uint64_t *side_g_ = nullptr, *side_h_ = nullptr;
  uint64_t previous_ = 0, aligned_ = 0, next_ = 0;
  bool diagonal_ = false;
};

// Contacts where a rule links elements of the masks' foreground, as values may have changed (contract 5).
class LinkedElements final : public ContactFinder {
 public:
  LinkedElements(const Masks& masks, const void* data, const LinkWords& links)
      : ContactFinder(masks), links_(links), read_g_(masks.reader(data, links)), read_h_(read_g_) {}

  std::unique_ptr<ContactFinder> copy() const override { return std::make_unique<LinkedElements>(*this); }

  int64_t turn(int64_t g, int64_t end, const Coordinates& place) override {
    origin_g_ = bundles_.byte_origin(place);
    return ContactFinder::turn(g, end, place);
  }

  bool face(const FacingBundles& pairs, int k) override {
    const Offset& offset = step_to(k);
    h_ = pairs.h;
    previous_ = all_if(offset.previous);
    aligned_ = all_if(offset.aligned);
    next_ = all_if(offset.next);
    step_ = {offset.axis, offset.axis == 0};  // backward to another row, and forward around one
    const int64_t plane = links_.compares ? 0 : links_.plane(step_.axis);
    values_g_ = origin_g_ + plane;
    values_h_ = h_ - g_ == offset.bundles ? values_g_ + offset.bytes : bundles_.byte_origin(place_h_) + plane;
    return true;
  }

  Contacts find(int64_t begin, int64_t end) override {
    with_block(bundles_.words, begin, end, [&](auto first, auto words) { find_in(first, words, block_); });
    return block_.contacts(end - begin);
  }

  bool touch(int64_t, int64_t p, int64_t q) override {
    uint64_t linked = bit_at(masks_.row(g_), p) & bit_at(masks_.row(h_), q);
    const char* const y = read_h_(values_h_, q);
    links_.keep_linked(links_.compares ? read_g_(values_g_, p) : y, y, 0, 1, step_, &linked);
    return linked != 0;
  }

 private:
  void find_in(auto begin, auto words, BlockContacts& contacts) {
    const BlockMask h_mask(masks_.row(h_), begin, words, bundles_.words);
    const uint64_t* const mask = masks_.row(g_) + begin;
    const Continuations g(masks_, g_, begin, words), h(masks_, h_, begin, words);
    for (int64_t k = 0; k < words; ++k) contacts.aligned[k] = mask[k] & h_mask.at(k) & aligned_;
    // If links are transitive, what holds where both runs go on has held before.
    if (links_.transitive)
      for (int64_t k = 0; k < words; ++k) contacts.aligned[k] &= ~(g.at(k) & h.at(k));
    if (aligned_) keep(0, begin, words, contacts.aligned);
    if (!(next_ | previous_)) {
      for (int64_t k = 0; k < words; ++k) {
        contacts.aligned[k] = lowest_in_fields(contacts.aligned[k], ~(g.at(k) & h.at(k)) | 1);
        contacts.next[k] = contacts.previous[k] = 0;
      }
      return;
    }
    for (int64_t k = 0; k < words; ++k) {
      contacts.next[k] = mask[k] & h_mask.right(k) & next_;
      contacts.previous[k] = mask[k] & h_mask.left(k) & previous_;
    }
    if (links_.transitive)
      for (int64_t k = 0; k < words; ++k) {
        contacts.next[k] &= ~(g.at(k) & h.right(k));
        contacts.previous[k] &= ~(g.right(k) & h.at(k));
      }
    if (next_) keep(1, begin, words, contacts.next);
    if (previous_) keep(-1, begin, words, contacts.previous);
    for (int64_t k = 0; k < words; ++k) {
      const uint64_t aligned =
          contacts.aligned[k] | (contacts.next[k] & h.right(k)) | (contacts.previous[k] & h.at(k));
      contacts.aligned[k] = lowest_in_fields(aligned, ~(g.at(k) & h.at(k)) | 1);
      contacts.next[k] &= ~h.right(k);
      contacts.previous[k] &= ~h.at(k);
    }
  }

  [[gnu::always_inline]] void keep(int shift, auto begin, auto words, uint64_t* candidates) {
    const char* const y = read_h_(values_h_, begin * kWord);
    const char* const x = links_.compares ? read_g_(values_g_, begin * kWord) : y;
    keep_linked(links_, x, y, shift, begin, words, step_, candidates);
  }

  const LinkWords& links_;
  RowReader read_g_, read_h_;
  BlockContacts block_;
  int64_t h_ = 0, origin_g_ = 0;
  int64_t values_g_ = 0, values_h_ = 0;  // where both rows have the values of links, in bytes
  uint64_t previous_ = 0, aligned_ = 0, next_ = 0;
  StepDirection step_{0, false};
};

// Words of a stretch, and those beyond the end of an array that may be read.
constexpr int64_t kStretchOfBundles = 128, kStretchPadding = 8;

struct StretchContacts {
  uint64_t *aligned, *next, *previous, *busy;

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

// A stretch of bundles along the last outer axis: they follow each other, as do those at an offset.
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

}
