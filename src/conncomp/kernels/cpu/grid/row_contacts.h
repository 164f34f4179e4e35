// Contacts of rows where links are transitive and every row around has elements straight ahead as neighbours,
// as among faces, edges or corners; and of rows that are linked by bonds, which are across faces. Elements
// linked straight ahead are a bit each. By these a link is superfluous where
//  - there is a detour by other rows (RowsAround);
//  - both runs go on from the place before, which is linked, too (Contacts);
//  - it leads across, and one of the two runs goes on.
// Source: ours; that all others may be left out for one neighbour is of Wu, Otoo and Suzuki 2009.
#pragma once

#include <optional>

#include "cpu/grid/contacts.h"

namespace conncomp {

// Where links are transitive and rows have neighbours straight ahead, an element of g linked to those of
// other rows, straight ahead, is connected with all that these are linked to:
//     z - 1    d h e      a, d and e by h, if rows are neighbours across edges; else h by a and d
//     z        a g
// Where links are not transitive, only the latter holds, if a is linked to g, and d to a and to h. These
// links are of rows before g, and links with a row are only left out for those of earlier rows in one order
// of rows around; so by induction others make up for them. Rows that lead to most others come first.

// A row at an offset. A detour leads there by one of two rows, or by both.
struct RowAround {
  Offset offset;
  int by[2] = {-1, -1};
  bool both = false;
  bool across = false;  // whether detours lead to the elements beside the one straight ahead, too
};

// The rows at offsets, then those of detours only; of equal ones the farther first, in no stretch.
class RowsAround : public std::vector<RowAround> {
 public:
  explicit RowsAround(const std::vector<Offset>& offsets) : offsets_(offsets.rbegin(), offsets.rend()) {
    std::vector<std::pair<Rank, size_t>> order;
    for (size_t k = 0; k < offsets_.size(); ++k) order.push_back({rank(offsets_[k]), k});
    std::sort(order.begin(), order.end());
    std::vector<Offset> sorted;
    for (const auto& [of_offset, k] : order) sorted.push_back(offsets_[k]);
    offsets_ = std::move(sorted);
    for (const Offset& offset : offsets_) push_back({offset});
    for (size_t k = 0; k < offsets_.size(); ++k) find_detours(int(k));
  }

 private:
  using Rank = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  static constexpr size_t kMostRanked = 64;  // as ranks take the cube of that

  // Minus the number of others that a row leads to, and along how many axes it lies away.
  Rank rank(const Offset& offset) const {
    std::ptrdiff_t led = 0;
    if (offsets_.size() <= kMostRanked)
      led = std::count_if(offsets_.begin(), offsets_.end(),
          [&](const Offset& other) { return between(offset.step, other.step) != nullptr; });
    const Step& step = offset.step;
    return {-led, std::ptrdiff_t(step.size()) - std::count(step.begin(), step.end(), 0)};
  }

  void find_detours(int k) {
    RowAround row = at(k);
    row.across = true;
    int ways = 0;
    for (int i = 0; i < k && ways < 2; ++i)
      if (const Offset* step = between(offsets_[i].step, offsets_[k].step)) {
        row.by[ways++] = i;
        row.across &= step->next && step->previous;
      }
    for (int i = 0; i < k; ++i) {
      const int corner = ways == 0 ? row_at(i, k) : -1;
      if (corner < 0) continue;
      row.by[ways++] = i;
      row.by[ways++] = corner;
      row.both = true;
    }
    row.across &= ways > 0 && !row.both;
    at(k) = row;
  }

  // The offset of two rows from each other, in either direction; nullptr if they are no neighbours.
  const Offset* between(const Step& from, const Step& to) const {
    Step forth(from.size()), back(from.size());
    for (size_t k = 0; k < from.size(); ++k) {
      forth[k] = int8_t(to[k] - from[k]);
      back[k] = int8_t(-forth[k]);
    }
    const auto known = std::find_if(offsets_.begin(), offsets_.end(),
        [&](const Offset& offset) { return offset.step == forth || offset.step == back; });
    return known == offsets_.end() ? nullptr : &*known;
  }

  int row_at(int i, int k) {
    RowAround sum{offsets_[i], {i, k}};
    for (size_t axis = 0; axis < sum.offset.step.size(); ++axis) {
      int8_t& step = sum.offset.step[axis];
      step = int8_t(step + offsets_[k].step[axis]);
      if (step < -1 || step > 1) return -1;
    }
    sum.offset.bundles += offsets_[k].bundles;
    sum.offset.bytes += offsets_[k].bytes;
    const auto known = std::find_if(
        begin(), end(), [&](const RowAround& row) { return row.offset.step == sum.offset.step; });
    const int number = int(known - begin());
    if (known == end()) push_back(sum);
    return number;
  }

  std::vector<Offset> offsets_;  // in the order of links
};

struct RowMasks {
  const uint64_t *mask, *start;
};

struct Detours {
  const uint64_t *a, *b;
  uint64_t either;  // all bits, or none
};

// Writes elements of a mask that no detour leads from; whether any. Restrict counts for parameters only.
[[gnu::noinline]] inline bool without_detours(
    int64_t words, const uint64_t* mask, Detours by, uint64_t* __restrict free) {
  uint64_t any = 0;
  for (int64_t w = 0; w < words; ++w)
    any |= free[w] = mask[w] & ~(((by.a[w] ^ by.either) & (by.b[w] ^ by.either)) ^ by.either);
  return any != 0;
}

struct StraightLinks {
  const uint64_t *linked, *free;
};

// Contacts straight ahead, of elements which are both, and what those across need.
[[gnu::noinline]] inline void find_straight(int64_t words, RowMasks g, RowMasks h, StraightLinks links,
    uint64_t* __restrict aligned, uint64_t* __restrict straight, uint64_t* __restrict goes_on,
    uint64_t* __restrict mask_h) {
  for (int64_t w = 0; w < words; ++w) {
    const uint64_t continued_g = g.mask[w] & ~g.start[w], continued_h = h.mask[w] & ~h.start[w];
    straight[w] = links.linked[w] & g.mask[w] & h.mask[w];
    aligned[w] = straight[w] & links.free[w] & ~(continued_g & continued_h);
    goes_on[w] = continued_g | continued_h;
    mask_h[w] = h.mask[w];
  }
}

// The same where links are not transitive and none lead across: the first one of each stretch.
[[gnu::noinline]] inline void find_lowest(
    int64_t words, RowMasks g, RowMasks h, StraightLinks links, uint64_t* __restrict aligned) {
  for (int64_t w = 0; w < words; ++w) {
    const uint64_t continued_g = g.mask[w] & ~g.start[w], continued_h = h.mask[w] & ~h.start[w];
    const uint64_t straight = links.linked[w] & g.mask[w] & h.mask[w];
    aligned[w] = lowest_in_fields(straight, ~(continued_g & continued_h) | 1) & links.free[w];
  }
}

class RowContacts final : public ContactFinder {
 public:
  // Without links all foreground is of one value.
  static bool apply(const Bundles& bundles, const LinkWords* links) {
    const std::vector<Offset>& offsets = bundles.neighbours.offsets;
    return !bundles.folded && (!links || links->transitive || !links->compares) &&
           std::all_of(offsets.begin(), offsets.end(), [](const Offset& offset) { return offset.aligned; });
  }

  RowContacts(const Masks& masks, const void* data, const LinkWords* links)
      : ContactFinder(masks),
        links_(links),
        transitive_(!links || links->transitive),
        stretch_(bundles_, !links || bundles_.row_axis.byte_stride == links->value_bytes),
        around_(bundles_.neighbours.offsets),
        rows_(around_.size()) {
    if (links) read_g_.emplace(masks.reader(data, *links)), read_h_ = read_g_;
  }

  std::unique_ptr<ContactFinder> copy() const override {
    auto finder = std::make_unique<RowContacts>(*this);
    if (!around_.empty()) finder->words_.resize(stretch_.words() * (around_.size() + kArrays));
    return finder;
  }

  int64_t turn(int64_t g, int64_t end, const Coordinates& place) override {
    origin_ = bundles_.byte_origin(place);
    const int64_t count = stretch_.turn(g, end, place);
    for (size_t k = 0; k < rows_.size(); ++k) rows_[k] = {stretch_.pairs_at(around_[k].offset, place)};
    return count;
  }

  const Offset& offset(int k) const override { return around_[k].offset; }
  FacingBundles neighbours(int k) override { return rows_[k].pairs; }

  bool face(const FacingBundles& pairs, int k) override {
    const Offset& offset = k < 0 ? bundles_.no_step : around_[k].offset;
    const bool by_step = pairs.h - pairs.g == offset.bundles;
    step_ = step_along(offset);
    origin_g_ = origin(pairs.g);
    origin_h_ = by_step ? origin_g_ + offset.bytes : bundles_.origin(pairs.h, &Axis::byte_stride);
    mask_g_ = masks_.row(pairs.g), mask_h_ = masks_.row(pairs.h);
    return k >= 0 && find_contacts(pairs, k, by_step);
  }

  Contacts find(int64_t begin, int64_t end) override { return contacts_.block(begin, end); }

  bool touch(int64_t i, int64_t p, int64_t q) override {
    uint64_t linked = bit_at(mask_g_ + i * bundles_.words, p) & bit_at(mask_h_ + i * bundles_.words, q);
    if (links_) {
      const int64_t at = links_->plane(step_.axis) + i * row_bytes();
      links_->keep_linked((*read_g_)(origin_g_ + at, p), (*read_h_)(origin_h_ + at, q), 0, 1, step_, &linked);
    }
    return linked != 0;
  }

 private:
  enum { kAligned, kNext, kPrevious, kBusy, kFree, kLinked, kStraight, kGoesOn, kMaskOfH, kNone, kArrays };

  struct Row {
    FacingBundles pairs;
    bool compared = false;
  };

  uint64_t* array(int which) { return words_.data() + which * stretch_.words(); }
  int64_t row_bytes() const { return bundles_.outer.empty() ? 0 : bundles_.outer.back().byte_stride; }
  int64_t origin(int64_t row) const { return origin_ + (row - stretch_.first()) * row_bytes(); }
  RowMasks masks_of(int64_t row) const {
    return {masks_.row(row), masks_.start.data() + row * bundles_.words};
  }

  // The stretch's elements linked straight ahead to row k; none around the array, where rows are in no order.
  const uint64_t* linked(int k) {
    uint64_t* const linked = array(kArrays + k);
    if (std::exchange(rows_[k].compared, true)) return linked;
    const Offset& offset = around_[k].offset;
    FacingBundles pairs = rows_[k].pairs;
    if (pairs.h - pairs.g != offset.bundles) pairs = {stretch_.first(), stretch_.first(), 0};
    const int64_t words = pairs.count * bundles_.words, at = origin(pairs.g);
    uint64_t* const begin = linked + stretch_.word_of(pairs.g);
    std::fill(linked, begin, 0);
    std::fill(begin + words, linked + stretch_.count() * bundles_.words, 0);
    if (!links_) {
      const uint64_t *const g = masks_.row(pairs.g), *const h = masks_.row(pairs.h);
      for (int64_t w = 0; w < words; ++w) begin[w] = g[w] & h[w];
    } else if (transitive_ || k < int(bundles_.neighbours.offsets.size())) {
      find_linked(at, at + offset.bytes, pairs, step_along(offset), begin);
    } else {  // by bonds
      const Offset &one = around_[around_[k].by[0]].offset, &other = around_[around_[k].by[1]].offset;
      const uint64_t *const to_one = masks_.bonds_of(other.axis, pairs.h), *const to_other = masks_.bonds_of(
                                                                               one.axis, pairs.h);
      for (int64_t w = 0; w < words; ++w) begin[w] = to_one[w] & to_other[w];
    }
    return linked;
  }

  static StepDirection step_along(const Offset& offset) { return {offset.axis, offset.axis == 0}; }

  // Writes which elements of rows are linked to those a step backward, given the origins of both.
  void find_linked(
      int64_t origin_g, int64_t origin_h, const FacingBundles& pairs, StepDirection step, uint64_t* linked) {
    if (links_->compares) return compare(origin_g, origin_h, pairs.count, step, linked);
    std::copy_n(masks_.bonds_of(step.axis, pairs.h), pairs.count * bundles_.words, linked);
  }

  void compare(int64_t origin_g, int64_t origin_h, int64_t rows, StepDirection step, uint64_t* linked) {
    const int64_t length = bundles_.row_axis.length, bytes = links_->value_bytes;
    const bool as_one = length % kWord == 0 && row_bytes() == length * bytes;
    const int64_t elements = as_one ? rows * length : length;
    for (int64_t i = 0; i < (as_one ? std::min<int64_t>(rows, 1) : rows); ++i) {
      const int64_t at = links_->plane(step.axis) + i * row_bytes();
      for (int64_t from = 0; from < elements; from += kStretch) {
        bundles_.poll_at(from / kWord);
        links_->straight((*read_g_)(origin_g + at, from), (*read_h_)(origin_h + at, from),
            std::min(kStretch, elements - from), step, linked + i * bundles_.words + from / kWord);
      }
    }
  }

  const uint64_t* linked_from(int k, int64_t word) { return k < 0 ? array(kNone) : linked(k) + word; }

  [[gnu::noinline]] bool find_contacts(const FacingBundles& pairs, int k, bool by_step) {
    const RowAround& row = around_[k];
    const int64_t words = pairs.count * bundles_.words, at = stretch_.word_of(pairs.g);
    const RowMasks g = masks_of(pairs.g), h = masks_of(pairs.h);
    const uint64_t* free = g.mask;
    if (by_step && row.by[0] >= 0) {
      const Detours by{linked_from(row.by[0], at), linked_from(row.by[1], at), all_if(!row.both)};
      free = array(kFree);
      const bool any = without_detours(words, g.mask, by, array(kFree));
      if (!any && (row.across || !row.offset.diagonal())) return false;
    }
    if (!by_step && links_) find_linked(origin_g_, origin_h_, pairs, step_, array(kLinked));
    const uint64_t* const straight = !links_ ? h.mask : by_step ? linked(k) + at : array(kLinked);
    contacts_ = {array(kAligned), array(kNone), array(kNone), array(kBusy)};
    if (!transitive_) {
      find_lowest(words, g, h, {straight, free}, contacts_.aligned);
      return contacts_.mark_busy(words);
    }
    find_straight(words, g, h, {straight, free}, contacts_.aligned, array(kStraight), array(kGoesOn) + 1,
        array(kMaskOfH) + 1);
    if (row.offset.diagonal() &&
        find_across(row.across ? free : g.mask, words, row.offset, array(kNext), array(kPrevious))) {
      contacts_.next = array(kNext), contacts_.previous = array(kPrevious);
      for (int64_t i = 0; links_ && i < pairs.count; ++i) keep_across(i);
    }
    return contacts_.mark_busy(words);
  }

  bool find_across(const uint64_t* g, int64_t words, const Offset& offset, uint64_t* __restrict next,
      uint64_t* __restrict previous) {
    const uint64_t *const straight = array(kStraight), *const goes_on = array(kGoesOn) + 1,
                          *const h = array(kMaskOfH) + 1;
    // If elements of a row are no neighbours, those straight ahead say nothing of what is beside them.
    const uint64_t beside = all_if(bundles_.neighbours.connected);
    const uint64_t all_next = all_if(offset.next), all_previous = all_if(offset.previous);
    for (int64_t w = 0; w < words; ++w) {
      const uint64_t right = h[w] >> 1 | h[w + 1] << (kWord - 1), left = h[w] << 1 | h[w - 1] >> (kWord - 1);
      const uint64_t will_go_on = goes_on[w] >> 1 | goes_on[w + 1] << (kWord - 1);
      next[w] = g[w] & right & all_next & ~(will_go_on | (beside & (straight[w] | straight[w] >> 1)));
      previous[w] = g[w] & left & all_previous & ~(goes_on[w] | (beside & (straight[w] | straight[w] << 1)));
    }
    drop_beside_ends(words, bundles_.words, next, previous);
    uint64_t any = 0;
    for (int64_t w = 0; w < words; ++w) any |= next[w] | previous[w];
    return any != 0;
  }

  void keep_across(int64_t i) {
    uint64_t* const next = array(kNext) + i * bundles_.words;
    uint64_t* const previous = array(kPrevious) + i * bundles_.words;
    uint64_t any = 0;
    for (int64_t w = 0; w < bundles_.words; ++w) any |= next[w] | previous[w];
    if (!any) return;
    for (int64_t begin = 0; begin < bundles_.words; begin += kStretchWords) {
      bundles_.poll_at(begin);
      const int64_t words = std::min(kStretchWords, bundles_.words - begin);
      const char* const x = (*read_g_)(origin_g_ + i * row_bytes(), begin * kWord);
      const char* const y = (*read_h_)(origin_h_ + i * row_bytes(), begin * kWord);
      keep_linked(*links_, x, y, 1, begin, words, step_, next + begin);
      keep_linked(*links_, x, y, -1, begin, words, step_, previous + begin);
    }
  }

  const LinkWords* const links_;
  const bool transitive_;
  BundleStretch stretch_;
  const RowsAround around_;
  std::vector<Row> rows_;  // by row around
  std::optional<RowReader> read_g_, read_h_;
  std::vector<uint64_t> words_;          // the arrays
  StretchContacts contacts_{};           // among them
  int64_t origin_ = 0;                   // of the stretch, in bytes
  int64_t origin_g_ = 0, origin_h_ = 0;  // of the first faced row, and of the one that it faces
  StepDirection step_{0, false};         // to it
  const uint64_t *mask_g_ = nullptr, *mask_h_ = nullptr;
};

}
