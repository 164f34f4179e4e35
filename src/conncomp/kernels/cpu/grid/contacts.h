// Where two neighbouring bundles touch, 64 elements at a time.
//
// A pair of runs, one of each bundle, lie side by side over a stretch in which neither breaks; one contact
// a stretch is enough to unite them, so contacts are thinned out by bit arithmetic before any is followed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/links.h"
#include "cpu/core/bits.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/masks.h"

namespace conncomp {

// Where the runs of the bundles g and h go on, around word w. Bit p of `g` and `h`: element p is in the run
// of element p - 1. Bit p of `g_right` and `h_right`: element p + 1 is in the run of element p.
struct Continuations {
  uint64_t g, h, g_right, h_right;
};

// Which runs touch, as the places p of elements of g in a word. The run of g at p meets
//
//              p - 1     p    p + 1
//     g                  o                    previous: the run of h that ends at p - 1,
//                     /  |  \                  aligned: the run of h at p,
//     h            o     o     o                 next: the run of h that starts at p + 1.
//            previous aligned  next
//
// Where h goes on from p to p + 1, a link to p + 1 is a contact with the run at p, which is `aligned`; so a
// bit of `next` or `previous` always means a run of h that is not at p.
struct Contacts {
  uint64_t aligned, next, previous;
};

// A word of ones where a condition holds.
constexpr uint64_t all_if(bool condition) { return condition ? kAll : 0; }

// Contacts where all foreground is of one value: of the sides that the bundles turn to each other. Of rows,
// only contacts without a detour.
class OneValue {
 public:
  explicit OneValue(const Masks& masks) : masks_(masks), bundles_(masks.bundles) {}

  // Turns to the bundles at `place_g` and `place_h`, one offset away.
  void face(int64_t g, int64_t h, const Coordinates& place_g, const Coordinates& place_h,
            const Offset& offset) {
    g_ = side(g, place_g, offset, 1, g_folded_);
    h_ = side(h, place_h, offset, -1, h_folded_);
    diagonal_ = offset.diagonal();
    previous_ = all_if(offset.previous);
    aligned_ = all_if(offset.aligned);
    next_ = all_if(offset.next);
    const Bundles::Detour detour = bundles_.detour(place_g, place_h, offset);
    detour_ = !bundles_.folded && detour.exists;
    if (!detour_) return;
    detour_h_ = masks_.row(h + detour.from_h);
    detour_g_ = detour.one_row ? detour_h_ : masks_.row(g - 1);
  }

  [[gnu::always_inline]] Contacts contacts(int64_t w, const Continuations& continued) const {
    const uint64_t detour = detour_ ? detour_g_[w] & detour_h_[w] : 0;
    if (!diagonal_) return {g_[w] & h_[w] & ~detour, 0, 0};
    const ShiftedWord g(g_, w, bundles_.words), h(h_, w, bundles_.words);
    // Diagonal links between element p of g and element p + 1 or p - 1 of h.
    const uint64_t next = g.word & h.right & next_, previous = g.word & h.left & previous_;
    // The same links, by the place p of the element of h: from element p - 1 or p + 1 of g.
    const uint64_t next_to_h = g.left & h.word & next_, previous_to_h = g.right & h.word & previous_;
    // Where the run of one end goes on to the place of the other, both runs are at this place.
    const uint64_t aligned = (g.word & h.word & aligned_ & ~detour) | (next & continued.h_right) |
                             (previous & continued.h) | (next_to_h & continued.g) |
                             (previous_to_h & continued.g_right);
    // What is left are corners: both runs break between the places.
    return {aligned, next & ~continued.h_right & ~continued.g_right, previous & ~continued.h & ~continued.g};
  }

  bool touch(int64_t p, int64_t q) const { return bit_at(g_, p) && bit_at(h_, q); }

 private:
  const uint64_t* side(int64_t bundle, const Coordinates& place, const Offset& offset, int towards,
                       std::vector<uint64_t>& folded) {
    if (!bundles_.folded) return masks_.row(bundle);
    bundles_.facing(place, offset, towards, rows_);
    if (rows_.size() == 1) return masks_.row(rows_[0]);
    folded.resize(bundles_.words);
    masks_.fold(rows_, folded.data());
    return folded.data();
  }

  const Masks& masks_;
  const Bundles& bundles_;
  std::vector<int64_t> rows_;
  std::vector<uint64_t> g_folded_, h_folded_;
  const uint64_t *g_ = nullptr, *h_ = nullptr, *detour_g_ = nullptr, *detour_h_ = nullptr;
  uint64_t previous_ = 0, aligned_ = 0, next_ = 0;
  bool diagonal_ = false, detour_ = false;
};

// Where the row at a place begins, in bytes.
inline int64_t row_origin(const Bundles& bundles, const Coordinates& place) {
  int64_t origin = 0;
  for (size_t k = 0; k < place.size(); ++k) origin += place[k] * bundles.outer[k].byte_stride;
  return origin;
}

// Contacts where Rule links values; bundles are rows. The values may have changed since the masks were made
// of them (contract 5), so a contact is only ever between elements that both are foreground in the masks:
// such elements are in runs, whatever their values are now. In word w, x points to the values of g and y to
// those of h.
template <class Rule>
class LinkedValues {
  using T = typename Rule::Value;

 public:
  LinkedValues(const Masks& masks, const void* data, const Rule& rule)
      : masks_(masks),
        bundles_(masks.bundles),
        rule_(rule),
        read_g_(data, bundles_.row_axis),
        read_h_(data, bundles_.row_axis),
        read_detour_g_(data, bundles_.row_axis),
        read_detour_h_(data, bundles_.row_axis) {}

  void face(int64_t row_g, int64_t row_h, const Coordinates& place_g, const Coordinates& place_h,
            const Offset& offset) {
    previous_ = all_if(offset.previous);
    aligned_ = all_if(offset.aligned);
    next_ = all_if(offset.next);
    const int64_t origin_g = row_origin(bundles_, place_g), origin_h = row_origin(bundles_, place_h);
    g_ = read_g_(origin_g);
    h_ = read_h_(origin_h);
    g_mask_ = masks_.row(row_g);
    h_mask_ = masks_.row(row_h);
    // A detour links x, a, b and y in this order; that x is linked to a and to b, and to y, is enough only
    // where links are transitive.
    const Bundles::Detour detour = bundles_.detour(place_g, place_h, offset);
    detour_ = Rule::kTransitive && detour.exists;
    if (!detour_) return;
    const int64_t row_bytes = bundles_.outer.back().byte_stride;
    detour_h_ = read_detour_h_(origin_h + detour.from_h * row_bytes);
    detour_g_ = detour.one_row ? detour_h_ : read_detour_g_(origin_g - row_bytes);
  }

  Contacts contacts(int64_t w, const Continuations& continued) const {
    const T *x = g_ + w * kWord, *y = h_ + w * kWord;
    const int left = w == 0, end = masks_.covered(w), right = end - (w + 1 == bundles_.words);
    const uint64_t mask = g_mask_[w];
    uint64_t aligned = mask & h_mask_[w] & aligned_;
    uint64_t linked = 0;  // where aligned elements are linked
    if (aligned_) linked = where(aligned, 0, end, [&](int p) { return rule_.linked(x[p], y[p]); });
    // Where both runs go on, transitive links make what held for the elements before hold for these too, so
    // only the first place of a stretch counts:
    //
    //     g   1 - 1 - 1 - 1 - 1
    //         |           |           two contacts for five places
    //     h   1 - 1 - 1   1 - 1
    aligned = linked;
    if constexpr (Rule::kTransitive) {
      aligned &= ~(continued.g & continued.h);
      if (detour_) {
        const T *a = detour_g_ + w * kWord, *b = detour_h_ + w * kWord;
        uint64_t detour = where(aligned, 0, end, [&](int p) { return rule_.linked(x[p], b[p]); });
        if (a != b) detour = where(detour, 0, end, [&](int p) { return rule_.linked(x[p], a[p]); });
        aligned &= ~detour;
      }
    }
    if (!(next_ | previous_)) return {aligned, 0, 0};
    const ShiftedWord h(h_mask_, w, bundles_.words);
    uint64_t next = mask & h.right & next_, previous = mask & h.left & previous_;
    if constexpr (Rule::kTransitive) {
      // If either run goes on, its element beside this one is linked to the same element. Without such
      // neighbours, if both go on, so does what links them.
      next &= ~(aligned_ ? continued.g_right | continued.h_right : continued.g & continued.h_right);
      previous &= ~(aligned_ ? continued.g | continued.h : continued.g_right & continued.h);
      // Both runs break beside these places. Where that says that values differ, an element that is linked
      // straight is not linked across, too.
      if (aligned_ && bundles_.neighbours.connected) {
        next &= ~(linked | linked >> 1);
        previous &= ~(linked | linked << 1);
      }
    }
    if (!(next | previous)) return {aligned, 0, 0};
    next = where(next, 0, right, [&](int p) { return rule_.linked(x[p], y[p + 1]); });
    previous = where(previous, left, end, [&](int p) { return rule_.linked(x[p], y[p - 1]); });
    if constexpr (Rule::kTransitive)
      if (aligned_) return {aligned, next, previous};
    return {aligned | (next & continued.h_right) | (previous & continued.h), next & ~continued.h_right,
            previous & ~continued.h};
  }

  bool touch(int64_t p, int64_t q) const {
    return bit_at(g_mask_, p) && bit_at(h_mask_, q) && rule_.linked(g_[p], h_[q]);
  }

 private:
  // The candidates p in [first, end) for which linked(p) holds.
  template <class Linked>
  [[gnu::always_inline]] static uint64_t where(uint64_t candidates, int first, int end, Linked&& linked) {
    if (end <= first) return 0;
    return candidates & mask_where(end - first, [&](int p) { return linked(p + first); }) << first;
  }

  const Masks& masks_;
  const Bundles& bundles_;
  const Rule rule_;
  RowReader<T> read_g_, read_h_, read_detour_g_, read_detour_h_;
  const T *g_ = nullptr, *h_ = nullptr, *detour_g_ = nullptr, *detour_h_ = nullptr;
  const uint64_t *g_mask_ = nullptr, *h_mask_ = nullptr;
  uint64_t previous_ = 0, aligned_ = 0, next_ = 0;
  bool detour_ = false;
};

// Contacts of sites that bonds join; bundles are rows, and everything is foreground. The bonds are those of
// the row that is before.
class JoinedSites {
 public:
  JoinedSites(const Masks& masks, const void* data, const Bonds& rule)
      : masks_(masks), bundles_(masks.bundles), rule_(rule), read_(data, bundles_.row_axis) {}

  void face(int64_t, int64_t, const Coordinates&, const Coordinates& place_h, const Offset& offset) {
    const size_t moves = std::find(offset.step.begin(), offset.step.end(), -1) - offset.step.begin();
    const size_t axis = offset.step.size() - moves;  // from the last one; 0 for a row and itself
    bonds_ = read_(row_origin(bundles_, place_h) + rule_.plane[axis]);
    mask_ = rule_.mask[axis];
  }

  Contacts contacts(int64_t w, const Continuations&) const {
    return {mask_where(masks_.covered(w), [&](int p) { return touch(w * kWord + p, 0); }), 0, 0};
  }

  // In bytes, of which a register holds the most.
  bool touch(int64_t p, int64_t) const { return uint8_t(bonds_[p] & mask_) != 0; }

 private:
  const Masks& masks_;
  const Bundles& bundles_;
  const Bonds rule_;
  RowReader<uint8_t> read_;
  const uint8_t* bonds_ = nullptr;
  uint8_t mask_ = 0;
};

}  // namespace conncomp
