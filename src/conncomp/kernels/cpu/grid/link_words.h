// Applies a link rule to 64 elements by an indirect call, so kernels are compiled once.
#pragma once

#include <algorithm>
#include <vector>

#include "core/links.h"
#include "cpu/core/bits.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

struct CommonValue {
  alignas(8) char value[8];
  bool known = false;
};

// Whether comparisons give masks at once, so that leaving one out is not worth a branch.
#ifdef __AVX512BW__
constexpr bool kMasksAtOnce = true;
#else
constexpr bool kMasksAtOnce = false;
#endif

// A step to a neighbour: the first axis, from the last one, that it moves along, and whether forward.
struct StepDirection {
  int axis;
  bool forward;
};

// Element p of a row is at x + p * value_bytes; bit p of words speaks of it.
class LinkWords {
 public:
  const int value_bytes;
  const bool transitive;  // of core/links.h
  // Whether one value tells the background: where all foreground is of one value, all of it is linked then.
  const bool told_by_value;
  // Whether a link depends on both elements. Otherwise it lies at the one before.
  const bool compares;

  virtual ~LinkWords() = default;

  virtual void foreground(const char* x, int64_t count, uint64_t* words) const = 0;
  // The same, unless foreground differs from the common value: then false.
  virtual bool foreground_of_one_value(
      const char* x, int64_t count, CommonValue& common, uint64_t* words) const = 0;
  // Keeps p in [first, count), `first` 0 or 1, linked to p of y; both foreground, or the rule transitive.
  virtual void keep_linked(
      const char* x, const char* y, int first, int64_t count, StepDirection step, uint64_t* words) const = 0;
  // Writes which p of x are linked to p of y, foreground or not, by bonds or a rule of equal values.
  virtual void straight(const char*, const char*, int64_t, StepDirection, uint64_t*) const {}
  // Adds a mark to the elements p of x that are linked to element p of y.
  virtual void mark_linked(const char* x, const char* y, int64_t count, StepDirection step, uint16_t mark,
      uint16_t* marks) const = 0;
  // Where what is read for steps along an axis lies, in bytes from the elements on.
  virtual int64_t plane(int) const { return 0; }

 protected:
  LinkWords(int value_bytes, bool transitive, bool told_by_value, bool compares)
      : value_bytes(value_bytes), transitive(transitive), told_by_value(told_by_value), compares(compares) {}

  static void fill(int64_t count, uint64_t* words, auto&& condition) {
    for (int64_t begin = 0; begin < count; begin += kWord) *words++ = word_where(begin, count, condition);
  }

  // The mask of elements with a condition, whole with elements before, as single ones take longer.
  [[gnu::always_inline]] static uint64_t word_where(int64_t begin, int64_t count, auto&& condition) {
    if (begin + kWord <= count) return mask_where(kWord, [&](int p) { return condition(begin + p); });
    if (count >= kWord)
      return mask_where(kWord, [&](int p) { return condition(count - kWord + p); }) >>
             (begin + kWord - count);
    return mask_where(int(count - begin), [&](int p) { return condition(begin + p); });
  }

  static void keep(int first, int64_t count, uint64_t* words, auto&& linked) {
    for (int64_t begin = 0; begin < count; begin += kWord, ++words, first = 0) {
      if (!*words) continue;
      const int end = int(std::min<int64_t>(kWord, count - begin));
      const int64_t from = begin + first;
      *words &= mask_where(end - first, [&](int p) { return linked(from + p); }) << first;
    }
  }
  static void mark_where(int64_t count, uint16_t mark, uint16_t* marks, auto&& linked) {
    for (int64_t p = 0; p < count; ++p) marks[p] |= uint16_t(-uint16_t(linked(p)) & mark);
  }
};

template <class T> class ValueWords : public LinkWords {
 public:
  void foreground(const char* x, int64_t count, uint64_t* words) const override {
    const T* values = reinterpret_cast<const T*>(x);
    const T background = background_.value;
    if (!background_.present)
      fill(count, words, [](int64_t) { return true; });
    else if (told_by_value)
      fill_ahead(values, count, words, [=](int64_t p) { return values[p] != background; });
    else  // NaN
      fill_ahead(values, count, words, [=](int64_t p) { return values[p] == values[p]; });
  }

  bool foreground_of_one_value(
      const char* x, int64_t count, CommonValue& common, uint64_t* words) const override {
    const T* values = reinterpret_cast<const T*>(x);
    const T background = background_.value;
    T same;
    std::memcpy(&same, common.value, sizeof(T));
    uint64_t others = 0;  // places of other values
    for (int64_t begin = 0; begin < count; begin += kWord, ++words) {
      prefetch_ahead(values + begin);
      const uint64_t mask = word_where(begin, count, [=](int64_t p) { return values[p] != background; });
      *words = mask;
      if (!common.known && mask) {
        same = values[begin + std::countr_zero(mask)];
        std::memcpy(common.value, &same, sizeof(T));
        common.known = true;
      }
      if (kMasksAtOnce || mask)
        others |= mask & ~word_where(begin, count, [=](int64_t p) { return values[p] == same; });
    }
    return !others;
  }

 protected:
  // Prefetches values some words ahead: processors do not across pages, nor far enough where memory is busy.
  static void prefetch_ahead(const T* values) {
    constexpr uintptr_t kAhead = 1 << 12;
    for (size_t byte = 0; byte < kWord * sizeof(T); byte += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(values) + kAhead + byte));
  }

  static void fill_ahead(const T* values, int64_t count, uint64_t* words, auto&& condition) {
    for (int64_t begin = 0; begin < count; begin += kWord) {
      prefetch_ahead(values + begin);
      *words++ = LinkWords::word_where(begin, count, condition);
    }
  }

  ValueWords(Background<T> background, bool transitive)
      : LinkWords(sizeof(T), transitive, background.present && background.value == background.value, true),
        background_(background) {}

 private:
  const Background<T> background_;
};

template <class Rule> class RuleWords final : public ValueWords<typename Rule::Value> {
  using T = typename Rule::Value;

 public:
  explicit RuleWords(const Rule& rule) : ValueWords<T>(rule.background, Rule::kTransitive), rule_(rule) {}

  void keep_linked(
      const char* x, const char* y, int first, int64_t count, StepDirection, uint64_t* words) const override {
    const T *x_values = reinterpret_cast<const T*>(x), *y_values = reinterpret_cast<const T*>(y);
    LinkWords::keep(
        first, count, words, [=, rule = rule_](int64_t p) { return rule.linked(x_values[p], y_values[p]); });
  }

  void straight(const char* x, const char* y, int64_t count, StepDirection, uint64_t* words) const override {
    if constexpr (Rule::kTransitive) {
      const T *x_values = reinterpret_cast<const T*>(x), *y_values = reinterpret_cast<const T*>(y);
      LinkWords::fill(count, words, [=](int64_t p) { return x_values[p] == y_values[p]; });
    }
  }

  void mark_linked(const char* x, const char* y, int64_t count, StepDirection, uint16_t mark,
      uint16_t* marks) const override {
    const T *x_values = reinterpret_cast<const T*>(x), *y_values = reinterpret_cast<const T*>(y);
    LinkWords::mark_where(
        count, mark, marks, [=, rule = rule_](int64_t p) { return rule.linked(x_values[p], y_values[p]); });
  }

 private:
  const Rule rule_;
};

// Bonds: everything is foreground, and a bond lies at the element before.
template <> class RuleWords<Bonds> final : public LinkWords {
 public:
  explicit RuleWords(const Bonds& rule) : LinkWords(1, Bonds::kTransitive, false, false), rule_(rule) {}

  void foreground(const char*, int64_t count, uint64_t* words) const override {
    for (; count > 0; count -= kWord) *words++ = up_to(int(std::min<int64_t>(kWord, count)) - 1);
  }
  bool foreground_of_one_value(const char*, int64_t, CommonValue&, uint64_t*) const override { return false; }
  void keep_linked(const char* x, const char* y, int first, int64_t count, StepDirection step,
      uint64_t* words) const override {
    const char* const bonds = step.forward ? x : y;
    const uint8_t mask = rule_.mask[step.axis];
    keep(first, count, words, [=](int64_t p) { return uint8_t(bonds[p] & mask) != 0; });
  }
  void straight(
      const char* x, const char* y, int64_t count, StepDirection step, uint64_t* words) const override {
    const char* const bonds = step.forward ? x : y;
    const uint8_t mask = rule_.mask[step.axis];
    fill(count, words, [=](int64_t p) { return uint8_t(bonds[p] & mask) != 0; });
  }
  void mark_linked(const char* x, const char* y, int64_t count, StepDirection step, uint16_t mark,
      uint16_t* marks) const override {
    const char* const bonds = step.forward ? x : y;
    const uint8_t mask = rule_.mask[step.axis];
    mark_where(count, mark, marks, [=](int64_t p) { return (bonds[p] & mask) != 0; });
  }
  int64_t plane(int axis) const override { return rule_.plane[axis]; }

 private:
  const Bonds rule_;
};

template <class T> void gather_elements(const char* from, int64_t stride, int64_t count, char* to) {
  for_each_in(0, count, [=](int64_t i) { std::memcpy(to + i * sizeof(T), from + i * stride, sizeof(T)); });
}
inline void gather(const char* from, int64_t stride, int value_bytes, int64_t count, char* to) {
  if (value_bytes == 1) return gather_elements<uint8_t>(from, stride, count, to);
  if (value_bytes == 2) return gather_elements<uint16_t>(from, stride, count, to);
  if (value_bytes == 4) return gather_elements<uint32_t>(from, stride, count, to);
  gather_elements<uint64_t>(from, stride, count, to);
}

// A row as contiguous elements; others are gathered in stretches, as a row may be half of the array.
class RowReader {
 public:
  RowReader(const void* data, int64_t length, int64_t stride, int value_bytes)
      : data_(static_cast<const char*>(data)), length_(length), stride_(stride), value_bytes_(value_bytes) {
    if (stride_ != value_bytes_) gathered_.resize(std::min(length, kStretch + 2) * value_bytes_);
  }
  // Where an element is; those after it in its stretch, and one beyond either end, until the next call.
  const char* operator()(int64_t byte_offset, int64_t element) {
    const char* const row = data_ + byte_offset;
    if (gathered_.empty()) return row + element * value_bytes_;
    const int64_t stretch = element / kStretch * kStretch;
    const int64_t begin = std::max<int64_t>(stretch - 1, 0), end = std::min(stretch + kStretch + 1, length_);
    const bool is_there = std::exchange(gathered_row_, row) == row;
    if (std::exchange(gathered_stretch_, stretch) != stretch || !is_there)
      gather(row + begin * stride_, stride_, value_bytes_, end - begin, gathered_.data());
    return gathered_.data() + (element - begin) * value_bytes_;
  }

 private:
  const char* data_;
  int64_t length_, stride_;
  int value_bytes_;
  std::vector<char> gathered_;
  const char* gathered_row_ = nullptr;
  int64_t gathered_stretch_ = 0;
};

}
