// The input as bit masks: which elements are foreground, and where runs start. A run is a maximal stretch
// of connected elements of a bundle.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/links.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/bundles.h"

namespace conncomp {

// A row of the input as contiguous values, gathered first where it is not.
template <class T>
class RowReader {
 public:
  RowReader(const void* data, const Axis& row_axis)
      : data_(static_cast<const char*>(data)), length_(row_axis.length), stride_(row_axis.byte_stride) {
    if (stride_ != sizeof(T)) gathered_.resize(length_);
  }
  const T* operator()(int64_t byte_offset) {
    const char* row = data_ + byte_offset;
    if (gathered_.empty()) return reinterpret_cast<const T*>(row);
    if (std::exchange(gathered_row_, row) == row) return gathered_.data();
    for_each_in(0, length_,
                [&](int64_t i) { gathered_[i] = *reinterpret_cast<const T*>(row + i * stride_); });
    return gathered_.data();
  }

 private:
  const char* data_;
  int64_t length_, stride_;
  std::vector<T> gathered_;
  const char* gathered_row_ = nullptr;
};

struct Masks {
  const Bundles& bundles;
  Buffer<uint64_t> foreground;  // by row
  Buffer<uint64_t> folded;      // by bundle, the OR of its rows; empty where a bundle is a row
  Buffer<uint64_t> start;       // by bundle

  explicit Masks(const Bundles& bundles)
      : bundles(bundles),
        foreground(bundles.rows * bundles.words),
        folded(bundles.folded ? bundles.count * bundles.words : 0),
        start(bundles.count * bundles.words) {}

  const uint64_t* row(int64_t row) const { return foreground.data() + row * bundles.words; }
  const uint64_t* body(int64_t bundle) const {
    return (bundles.folded ? folded : foreground).data() + bundle * bundles.words;
  }

  // Where a run goes on from the element before.
  uint64_t continued(int64_t bundle, int64_t w) const {
    return w < bundles.words ? body(bundle)[w] & ~start[bundle * bundles.words + w] : 0;
  }

  // Writes the OR of rows to `mask`.
  void fold(const std::vector<int64_t>& rows, uint64_t* mask) const {
    std::copy_n(row(rows[0]), bundles.words, mask);
    for (size_t i = 1; i < rows.size(); ++i)
      for (int64_t w = 0; w < bundles.words; ++w) mask[w] |= row(rows[i])[w];
  }

  // How many elements of a row word w covers.
  int covered(int64_t w) const { return int(std::min<int64_t>(kWord, bundles.row_axis.length - w * kWord)); }

  // Reads an input in which all foreground is of one value; false as soon as two values differ.
  template <class T>
  bool read_one_value(const void* data, T background) {
    std::vector<std::optional<T>> part_values(bundles.parts.parts);
    std::atomic<bool> one_value{true};
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      RowReader<T> read(data, bundles.row_axis);
      std::vector<int64_t> rows;
      std::optional<T> value;
      bundles.for_each(part, [&](int64_t bundle, const Coordinates& place) {
        if (!one_value.load(std::memory_order_relaxed)) return;
        bundles.members(place, rows);
        for (int64_t r : rows)
          if (!read_row(read(bundles.origin(r, &Axis::byte_stride)), r, background, value))
            one_value.store(false, std::memory_order_relaxed);
        if (bundles.folded) fold(rows, &folded[bundle * bundles.words]);
        for (int64_t w = 0; w < bundles.words; ++w) {
          const uint64_t left =
              bundles.neighbours.connected ? ShiftedWord(body(bundle), w, bundles.words).left : 0;
          start[bundle * bundles.words + w] = body(bundle)[w] & ~left;
        }
      });
      part_values[part] = value;
    });
    std::optional<T> value;
    for (const std::optional<T>& part_value : part_values) {
      if (value && part_value && *value != *part_value) return false;
      if (part_value) value = part_value;
    }
    return one_value;
  }

  // Reads values that Rule links, Equal or Within.
  template <class Rule>
  void read_values(const void* data, const Rule& rule) {
    using T = typename Rule::Value;
    const T background = rule.background.value;
    const bool present = rule.background.present, nan = present && !(background == background);
    read_rows<T>(data, 0, [&, rule](const T* x, int64_t w) {
      const int count = covered(w), left = w == 0;
      const uint64_t foreground_bits = !present ? up_to(count - 1)
                                       : nan ? mask_where(count, [&](int p) { return x[p] == x[p]; })
                                             : mask_where(count, [&](int p) { return x[p] != background; });
      if (!bundles.neighbours.connected) return RowWord{foreground_bits, 0};
      const uint64_t linked =
          mask_where(count - left, [&](int p) { return rule.linked(x[p + left], x[p + left - 1]); });
      return RowWord{foreground_bits, linked << left};
    });
  }

  // Reads the bonds along rows; everything is foreground.
  void read_bonds(const void* data, const Bonds& rule) {
    const uint8_t mask = rule.mask[0];
    read_rows<uint8_t>(data, rule.plane[0], [&](const uint8_t* x, int64_t w) {
      const int count = covered(w), left = w == 0;
      if (!bundles.neighbours.connected) return RowWord{up_to(count - 1), 0};
      const uint64_t linked =
          mask_where(count - left, [&](int p) { return uint8_t(x[p + left - 1] & mask) != 0; });
      return RowWord{up_to(count - 1), linked << left};
    });
  }

 private:
  // The elements that a word covers: which are foreground, and which are linked to the element before.
  struct RowWord {
    uint64_t foreground, linked;
  };

  // Calls read_word(values, w) for each word of each row, bundles being rows.
  template <class T, class ReadWord>
  void read_rows(const void* data, int64_t plane, ReadWord&& read_word) {
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      RowReader<T> read(data, bundles.row_axis);
      bundles.for_each(part, [&](int64_t r, const Coordinates&) {
        const T* x = read(bundles.origin(r, &Axis::byte_stride) + plane);
        uint64_t before = 0;  // bit 0: whether the element before this word is foreground
        for (int64_t w = 0, word = r * bundles.words; w < bundles.words; ++w, ++word, x += kWord) {
          bundles.checkpoint_at(w);
          const RowWord bits = read_word(x, w);
          // Foreground after background starts a run, even where values have changed since they were compared
          // with the background: whatever is foreground is in a run (contract 5).
          start[word] = bits.foreground & (~bits.linked | ~(bits.foreground << 1 | before));
          foreground[word] = bits.foreground;
          before = bits.foreground >> (kWord - 1);
        }
      });
    });
  }

  template <class T>
  bool read_row(const T* x, int64_t r, T background, std::optional<T>& value) {
    uint64_t* mask = &foreground[r * bundles.words];
    for (int64_t begin = 0; begin < bundles.words; begin += kStretchWords) {
      const int64_t end = std::min(begin + kStretchWords, bundles.words);
      checkpoint((end - begin) * kWord);
      for (int64_t w = begin; w < end; ++w, x += kWord) {
        mask[w] = mask_where(covered(w), [&](int p) { return x[p] != background; });
        if (!mask[w]) continue;
        if (!value) value = x[std::countr_zero(mask[w])];
        const T same = *value;
        if (mask[w] != mask_where(covered(w), [&](int p) { return x[p] == same; })) return false;
      }
    }
    return true;
  }
};

}  // namespace conncomp
