// Masks of an array linked by bonds, kept as bits of the elements that they lead from. A run goes on where a
// bond leads along the row; elements without bonds, components apart (first_runs.h), are in no run.
#pragma once

#include "cpu/grid/contacts.h"

namespace conncomp {

// Bundles are rows.
class BondMasks {
 public:
  BondMasks(Masks& masks, const void* data, const LinkWords& links)
      : masks_(masks),
        bundles_(masks.bundles),
        links_(links),
        data_(data),
        axes_(int(bundles_.outer.size() - bundles_.batch_axes) + 1) {}

  void read() {
    masks_.bonds = Buffer<uint64_t>(axes_ * bundles_.rows * bundles_.words);
    parallel_for(bundles_.parts.parts, [this](int64_t part) { read_part(part); });
    parallel_for(bundles_.parts.parts, [this](int64_t part) {
      const int64_t begin = bundles_.parts.begin(part), end = bundles_.parts.end(part);
      BundleStretch stretch(bundles_);
      bundles_.for_each_between(begin, end, [&, next = begin](int64_t row, const Coordinates& place) mutable {
        if (row < next) return;
        next = row + stretch.turn(row, end, place);
        const int64_t words = stretch.count() * bundles_.words;
        for (int64_t from = 0; from < words; from += kStretchWords)
          find_runs(stretch, place, from, std::min(from + kStretchWords, words));
      });
    });
  }

 private:
  void read_part(int64_t part) {
    Masks::LineReader reader = masks_.line_reader(data_, links_);
    const int64_t most = std::max<int64_t>(1, kStretchWords / bundles_.words);
    const auto read = [&](int64_t first, int64_t count, const Coordinates& place) {
      for (int axis = 0; axis < axes_; ++axis)
        masks_.for_each_stretch_of_rows(reader, bundles_.byte_origin(place) + links_.plane(axis), first,
            count, links_, [&](int64_t row, int64_t origin, int64_t from, int64_t elements) {
              const char* const bonds = reader.read(origin, from);
              links_.straight(
                  bonds, bonds, elements, {axis, true}, masks_.bonds_of(axis, row) + from / kWord);
              return true;
            });
    };
    bundles_.for_each_stretch(bundles_.parts.begin(part), bundles_.parts.end(part), most, read);
  }

  // Finds elements in runs, and starts, in whole rows. The last element's bond may lead to the first.
  void find_runs(const BundleStretch& stretch, const Coordinates& place, int64_t from, int64_t to) {
    poll((to - from) * kWord);
    const int64_t first_word = stretch.first() * bundles_.words, row_words = bundles_.words;
    const uint64_t* const along = masks_.bonds_of(0, stretch.first());
    uint64_t* const inside = masks_.foreground.data() + first_word;
    uint64_t* const goes_on = masks_.start.data() + first_word;
    const uint64_t beside = all_if(bundles_.neighbours.connected);
    goes_on[from] = along[from] << 1 | (from > 0 ? along[from - 1] >> (kWord - 1) : 0);
    for (int64_t w = from + 1; w < to; ++w) goes_on[w] = along[w] << 1 | along[w - 1] >> (kWord - 1);
    const auto for_each_row_in = [=](int64_t first, auto&& body) {  // from a word of a row on
      for (int64_t w = first; w < to; w += row_words)
        if (w >= from) body(w);
    };
    for_each_row_in(0, [&](int64_t w) { goes_on[w] &= ~uint64_t(1); });
    for (int64_t w = from; w < to; ++w) inside[w] = along[w] | (goes_on[w] &= beside);
    if (bundles_.row_axis.periodic) for_each_row_in(0, [&](int64_t w) { inside[w] |= 1; });
    for (int axis = 1; axis < axes_; ++axis) add(masks_.bonds_of(axis, stretch.first()), from, to, inside);
    for (const Offset& offset : bundles_.neighbours.offsets) {
      const FacingBundles pairs = stretch.pairs_at(offset, place);
      if (pairs.count == 0) continue;
      const int64_t begin = stretch.word_of(pairs.g), end = begin + pairs.count * row_words;
      add(masks_.bonds_of(offset.axis, pairs.h) - begin, std::max(from, begin), std::min(to, end), inside);
    }
    if (!masks_.lone_apart) std::fill(inside + from, inside + to, kAll);
    for_each_row_in(row_words - 1, [&](int64_t w) { inside[w] &= up_to(masks_.covered(row_words - 1) - 1); });
    for (int64_t w = from; w < to; ++w) goes_on[w] = inside[w] & ~goes_on[w];
  }

  static void add(const uint64_t* bits, int64_t from, int64_t to, uint64_t* __restrict inside) {
    for (int64_t w = from; w < to; ++w) inside[w] |= bits[w];
  }

  Masks& masks_;
  const Bundles& bundles_;
  const LinkWords& links_;
  const void* const data_;
  const int axes_;
};

inline void read_masks(Masks& masks, const void* data, const LinkWords& links) {
  links.compares ? masks.read(data, links) : BondMasks(masks, data, links).read();
}

}
