// Where two neighbouring bundles touch, 64 elements at a time.
//
// A pair of runs, one of each bundle, lie side by side over a stretch in which neither breaks; one contact
// a stretch is enough to unite them, so contacts are thinned out by bit arithmetic before any is followed.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/masks.h"

namespace conncomp {

// The bundles g and h around word w: where their runs go on from the element before, and, moved by one,
// where they will go on to the next.
struct Continued {
  uint64_t g, h, g_right, h_right;
};

// Positions p at which the run of g at p meets the run of h at p, the one of h that starts at p + 1, or the
// one that ends at p - 1.
struct Contacts {
  uint64_t here, next, previous;
};

// Contacts where all foreground is of one value: of the sides that the bundles turn to each other. Of rows,
// only contacts without a detour.
class OneValue {
 public:
  OneValue(const Masks& masks, const void*) : masks_(masks), bundles_(masks.bundles) {}

  // Turns to the bundles at `at` and `there`, one offset away.
  void face(int64_t, int64_t, const Coordinates& at, const Coordinates& there, const Offset& offset) {
    g_ = side(at, offset, 1, g_folded_);
    h_ = side(there, offset, -1, h_folded_);
    detour_ = !bundles_.folded && offset.moved && bundles_.detour(at, there, offset, from_g_, from_h_);
    if (!detour_) return;
    detour_g_ = masks_.row(bundles_.number(from_g_));
    detour_h_ = masks_.row(bundles_.number(from_h_));
  }

  Contacts contacts(int64_t w, const Continued& on, bool diagonal) const {
    const uint64_t detour = detour_ ? detour_g_[w] & detour_h_[w] : 0;
    if (!diagonal) return {g_[w] & h_[w] & ~detour, 0, 0};
    const Moved g(g_, w, bundles_.words), h(h_, w, bundles_.words);
    const uint64_t next = g.word & h.right, previous = g.word & h.left;
    return {(g.word & h.word & ~detour) | (next & on.h_right) | (previous & on.h) | (g.left & h.word & on.g) |
                (g.right & h.word & on.g_right),
            next & ~on.h_right & ~on.g_right, previous & ~on.h & ~on.g};
  }

  bool touch(int64_t p, int64_t q) const { return bit_at(g_, p) && bit_at(h_, q); }

 private:
  const uint64_t* side(const Coordinates& at, const Offset& offset, int towards,
                       std::vector<uint64_t>& folded) {
    bundles_.facing(at, offset, towards, rows_);
    if (rows_.size() == 1) return masks_.row(rows_[0]);
    folded.resize(bundles_.words);
    masks_.fold(rows_, folded.data());
    return folded.data();
  }

  const Masks& masks_;
  const Bundles& bundles_;
  std::vector<int64_t> rows_;
  std::vector<uint64_t> g_folded_, h_folded_;
  const uint64_t *g_, *h_, *detour_g_, *detour_h_;
  bool detour_;
  Coordinates from_g_, from_h_;
};

// Contacts where elements must be of equal value; bundles are rows. The values may have changed since the
// masks were made of them (contract 5), so a contact is only ever between elements that both are foreground
// in the masks: such elements are in runs, whatever their values are now.
template <class T>
class EqualValues {
 public:
  EqualValues(const Masks& masks, const void* data)
      : masks_(masks),
        bundles_(masks.bundles),
        read_g_(data, bundles_.along),
        read_h_(data, bundles_.along),
        read_detour_g_(data, bundles_.along),
        read_detour_h_(data, bundles_.along) {}

  void face(int64_t row_g, int64_t row_h, const Coordinates& at, const Coordinates& there,
            const Offset& offset) {
    g_ = read(read_g_, at);
    h_ = read(read_h_, there);
    g_mask_ = masks_.row(row_g);
    h_mask_ = masks_.row(row_h);
    detour_ = offset.moved && bundles_.detour(at, there, offset, from_g_, from_h_);
    if (!detour_) return;
    detour_g_ = read(read_detour_g_, from_g_);
    detour_h_ = read(read_detour_h_, from_h_);
  }

  // Where both runs go on, what held for the elements before holds for these too.
  Contacts contacts(int64_t w, const Continued& on, bool diagonal) const {
    const T *x = g_ + w * kWord, *y = h_ + w * kWord;
    const int left = w == 0, end = masks_.covered(w), right = end - (w + 1 == bundles_.words);
    const uint64_t mask = g_mask_[w], pairs = mask & h_mask_[w] & ~(on.g & on.h);
    Contacts found{0, 0, 0};
    found.here = where(pairs, 0, end, [&](int p) { return x[p] == y[p]; });
    if (detour_ && found.here) {
      const T *a = detour_g_ + w * kWord, *b = detour_h_ + w * kWord;
      found.here &= ~where(found.here, 0, end, [&](int p) { return int(x[p] == a[p]) & int(x[p] == b[p]); });
    }
    if (!diagonal) return found;
    const Moved h(h_mask_, w, bundles_.words);
    found.next =
        where(mask & h.right & ~on.g_right & ~on.h_right, 0, right, [&](int p) { return x[p] == y[p + 1]; });
    found.previous = where(mask & h.left & ~on.g & ~on.h, left, end, [&](int p) { return x[p] == y[p - 1]; });
    return found;
  }

  bool touch(int64_t p, int64_t q) const {
    return bit_at(g_mask_, p) && bit_at(h_mask_, q) && g_[p] == h_[q];
  }

 private:
  const T* read(RowReader<T>& reader, const Coordinates& at) const {
    int64_t origin = 0;
    for (size_t k = 0; k < at.size(); ++k) origin += at[k] * bundles_.outer[k].byte_stride;
    return reader(origin);
  }

  // The candidates p in [first, end) for which equal(p) holds.
  template <class Equal>
  static uint64_t where(uint64_t candidates, int first, int end, Equal&& equal) {
    if (!candidates || end <= first) return 0;
    return candidates & mask_where(end - first, [&](int p) { return equal(p + first); }) << first;
  }

  const Masks& masks_;
  const Bundles& bundles_;
  RowReader<T> read_g_, read_h_, read_detour_g_, read_detour_h_;
  const T *g_, *h_, *detour_g_, *detour_h_;
  const uint64_t *g_mask_, *h_mask_;
  bool detour_;
  Coordinates from_g_, from_h_;
};

}  // namespace conncomp
