// The input as bit masks: which elements are foreground, and where runs start. A run is a maximal stretch
// of connected elements of a bundle.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/parallel.h"
#include "cpu/grid/bundles.h"
#include "cpu/grid/link_words.h"

namespace conncomp {

// Lets rows come into a cache that are read after the next ones. Processors do so by themselves where rows
// are long or follow each other, but not in a part of a larger array.
class RowsAhead {
 public:
  RowsAhead(const Bundles& bundles, int64_t value_bytes) : bytes_(bundles.row_axis.length * value_bytes) {
    constexpr int64_t kLongRow = 1 << 11, kBundlesAhead = 3;
    if (bundles.outer.empty() || bytes_ > kLongRow || bundles.row_axis.byte_stride != value_bytes) return;
    const int64_t stride = bundles.outer.back().byte_stride;
    if (stride != bytes_) ahead_ = stride * bundles.thickness.back() * kBundlesAhead;
  }

  void prefetch(const char* row) const {
    if (!ahead_) return;
    for (int64_t byte = 0; byte < bytes_; byte += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(uintptr_t(row) + uintptr_t(ahead_ + byte)));
  }

 private:
  int64_t bytes_, ahead_ = 0;
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

  // Reads an array in which all foreground is of one value; false as soon as two values differ.
  bool read_one_value(const void* data, const LinkWords& links) {
    std::vector<CommonValue> part_values(bundles.parts.parts);
    std::atomic<bool> one_value{true};
    const RowsAhead rows_ahead(bundles, links.value_bytes);
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      RowReader read = reader(data, links);
      std::vector<int64_t> rows;
      CommonValue value;
      bundles.for_each(part, [&](int64_t bundle, const Coordinates& place) {
        if (!one_value.load(std::memory_order_relaxed)) return;
        bundles.members(place, rows);
        for (int64_t r : rows) {
          const int64_t origin = bundles.origin(r, &Axis::byte_stride);
          rows_ahead.prefetch(static_cast<const char*>(data) + origin);
          if (!read_row_of_one_value(read, origin, r, links, value))
            one_value.store(false, std::memory_order_relaxed);
        }
        if (bundles.folded) fold(rows, &folded[bundle * bundles.words]);
        for (int64_t w = 0; w < bundles.words; ++w) {
          const uint64_t left =
              bundles.neighbours.connected ? ShiftedWord(body(bundle), w, bundles.words).left : 0;
          start[bundle * bundles.words + w] = body(bundle)[w] & ~left;
        }
      });
      part_values[part] = value;
    });
    CommonValue value;
    uint64_t word;
    for (const CommonValue& part_value : part_values)
      if (part_value.known && !links.foreground_of_one_value(part_value.value, 1, value, &word)) return false;
    return one_value;
  }

  // Reads any other array; bundles are rows. Foreground after background starts a run, even where values have
  // changed since they were compared with the background: whatever is foreground is in a run (contract 5).
  void read(const void* data, const LinkWords& links) {
    const StepDirection step{0, false};  // to the element before
    const RowsAhead rows_ahead(bundles, links.value_bytes);
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      RowReader read = reader(data, links);
      bundles.for_each(part, [&](int64_t r, const Coordinates& place) {
        const int64_t origin = bundles.byte_origin(place) + links.plane(step.axis);
        rows_ahead.prefetch(static_cast<const char*>(data) + origin);
        uint64_t before = 0;  // bit 0: whether the element before a word is foreground
        for_each_stretch([&](int64_t begin, int64_t end, int64_t count) {
          const char* const at = read(origin, begin * kWord);
          uint64_t* const inside = &foreground[r * bundles.words + begin];
          uint64_t* const starts = &start[r * bundles.words + begin];
          links.foreground(at, count, inside);
          const int64_t words = end - begin;
          if (!bundles.neighbours.connected) {
            std::copy_n(inside, words, starts);
            return;
          }
          if ((links.transitive || !links.compares) && (begin > 0 || count > kWord)) {
            // No element is before the first one, so its word is asked for apart.
            const int64_t head = begin > 0 ? 0 : 1;
            if (head) {
              starts[0] = inside[0] & inside[0] << 1;
              links.keep_linked(at, at - links.value_bytes, 1, kWord, step, starts);
            }
            const char* const from = at + head * kWord * links.value_bytes;
            links.straight(from, from - links.value_bytes, count - head * kWord, step, starts + head);
            for (int64_t w = 0; w < words; ++w) {
              starts[w] = inside[w] & ~(starts[w] & (inside[w] << 1 | before));
              before = inside[w] >> (kWord - 1);
            }
            return;
          }
          for (int64_t w = 0; w < words; ++w) {
            starts[w] = inside[w] & (inside[w] << 1 | before);
            before = inside[w] >> (kWord - 1);
          }
          links.keep_linked(at, at - links.value_bytes, begin == 0, count, step, starts);
          for (int64_t w = 0; w < words; ++w) starts[w] = inside[w] & ~starts[w];
        });
      });
    });
  }

  // Of the rows of an array; each thread has one of its own.
  RowReader reader(const void* data, const LinkWords& links) const {
    return {data, bundles.row_axis.length, bundles.row_axis.byte_stride, links.value_bytes};
  }

 private:
  // Calls body(begin, end, count) for stretches of a row, as words and elements, after a poll.
  template <class Body>
  void for_each_stretch(Body&& body) const {
    for (int64_t begin = 0; begin < bundles.words; begin += kStretchWords) {
      const int64_t end = std::min(begin + kStretchWords, bundles.words);
      poll((end - begin) * kWord);
      body(begin, end, std::min(end * kWord, bundles.row_axis.length) - begin * kWord);
    }
  }

  bool read_row_of_one_value(RowReader& read, int64_t origin, int64_t r, const LinkWords& links,
                             CommonValue& value) {
    bool one_value = true;
    for_each_stretch([&](int64_t begin, int64_t, int64_t count) {
      if (one_value)
        one_value = links.foreground_of_one_value(read(origin, begin * kWord), count, value,
                                                  &foreground[r * bundles.words + begin]);
    });
    return one_value;
  }
};

}  // namespace conncomp
