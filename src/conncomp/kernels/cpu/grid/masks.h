// Reads the input into bit masks: foreground, and starts of runs, connected elements of a bundle.
#pragma once

#include "cpu/core/buffer.h"
#include "cpu/grid/link_words.h"
#include "cpu/grid/row_bundles.h"

namespace conncomp {

// Calls body(words) with the words of a row, as a constant if few, as a loop takes a while to begin.
void with_words(int64_t words, auto&& body) {
  if (words == 1) return body(std::integral_constant<int64_t, 1>());
  if (words == 2) return body(std::integral_constant<int64_t, 2>());
  if (words == 3) return body(std::integral_constant<int64_t, 3>());
  if (words == 4) return body(std::integral_constant<int64_t, 4>());
  body(words);
}

// Prefetches rows read after the next ones; processors do so where rows are long or contiguous.
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
  Buffer<uint64_t> bonds;       // by axis, from that of the row on, and row: whether one leads forward
  bool lone_apart = false;      // whether elements without bonds are in no run, each a component by itself

  explicit Masks(const Bundles& bundles)
      : bundles(bundles),
        foreground(bundles.rows * bundles.words),
        folded(bundles.folded ? bundles.count * bundles.words : 0),
        start(bundles.count * bundles.words) {}

  const uint64_t* row(int64_t row) const { return foreground.data() + row * bundles.words; }
  const uint64_t* body(int64_t bundle) const {
    return (bundles.folded ? folded : foreground).data() + bundle * bundles.words;
  }

  uint64_t* bonds_of(int axis, int64_t row) {
    return bonds.data() + (axis * bundles.rows + row) * bundles.words;
  }
  const uint64_t* bonds_of(int axis, int64_t row) const {
    return bonds.data() + (axis * bundles.rows + row) * bundles.words;
  }

  uint64_t continued(int64_t bundle, int64_t w) const {
    return w < bundles.words ? body(bundle)[w] & ~start[bundle * bundles.words + w] : 0;
  }

  // Writes the ORs of rows of consecutive bundles, given those of the first, as facing().
  void fold(const std::vector<int64_t>& rows, int64_t count, uint64_t* mask) const {
    const int64_t length = bundles.outer.empty() ? 1 : bundles.outer.back().length, words = bundles.words;
    const int64_t thickness = bundles.outer.empty() ? 1 : bundles.thickness.back();
    with_words(words, [&](auto known_words) {
      uint64_t keep = 0;
      for (int64_t row : rows) {
        // The last bundle may be of one first row: who asks for last rows asks for none of it, or it alone.
        const int64_t whole = std::min(count, (length - 1 - row % length) / thickness + 1);
        if (words > kStretchWords)
          add_long_row(this->row(row), words, keep, mask);
        else
          add_rows(this->row(row), whole, known_words, thickness, keep, mask);
        keep = kAll;
      }
    });
  }

  int covered(int64_t w) const { return int(std::min<int64_t>(kWord, bundles.row_axis.length - w * kWord)); }

  bool read_one_value(const void* data, const LinkWords& links) {
    std::vector<CommonValue> part_values(bundles.parts.parts);
    std::atomic<bool> one_value{true};
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      LineReader read = line_reader(data, links);
      std::vector<int64_t> rows;
      CommonValue value;
      const int64_t most = std::max<int64_t>(1, kStretchWords / bundles.words);
      const auto read_stretch = [&](int64_t bundle, int64_t count, const Coordinates& place) {
        if (!one_value.load(std::memory_order_relaxed)) return;
        bundles.lines(place, rows);
        for (int64_t line : rows)
          if (!read_line_of_one_value(read, line, bundles.rows_of_line(place, count), links, value))
            return one_value.store(false, std::memory_order_relaxed);
        if (bundles.folded) {
          bundles.members(place, rows);
          fold(rows, count, &folded[bundle * bundles.words]);
        }
        const int64_t first_word = bundle * bundles.words, words = count * bundles.words;
        find_starts(first_word, words, true,
            [beside = all_if(bundles.neighbours.connected)](uint64_t) { return beside; });
      };
      bundles.for_each_stretch(bundles.parts.begin(part), bundles.parts.end(part), most, read_stretch);
      part_values[part] = value;
    });
    CommonValue value;
    uint64_t word;
    for (const CommonValue& part_value : part_values)
      if (part_value.known && !links.foreground_of_one_value(part_value.value, 1, value, &word)) return false;
    return one_value;
  }

  void read(const void* data, const LinkWords& links) {
    parallel_for(bundles.parts.parts, [&](int64_t part) {
      LineReader lines = line_reader(data, links);
      const int64_t most = std::max<int64_t>(1, kStretchWords / bundles.words);
      const auto read_rows = [&](int64_t row, int64_t count, const Coordinates&) {
        read_line(lines, row, count, links);
      };
      bundles.for_each_stretch(bundles.parts.begin(part), bundles.parts.end(part), most, read_rows);
    });
  }

  struct LineReader {
    RowReader read;
    RowsAhead ahead;
    const void* data;
  };
  // Each thread has one of its own.
  LineReader line_reader(const void* data, const LinkWords& links) const {
    return {reader(data, links), RowsAhead(bundles, links.value_bytes), data};
  }
  RowReader reader(const void* data, const LinkWords& links) const {
    return {data, bundles.row_axis.length, bundles.row_axis.byte_stride, links.value_bytes};
  }

  // Calls body(row, origin, first element, elements) for stretches of rows, until it returns false.
  bool for_each_stretch_of_rows(const LineReader& reader, int64_t origin, int64_t row, int64_t rows,
      const LinkWords& links, auto&& body) const {
    const int64_t length = bundles.row_axis.length;
    const int64_t stride = bundles.outer.empty() ? 0 : bundles.outer.back().byte_stride;
    const bool as_one = length % kWord == 0 && bundles.row_axis.byte_stride == links.value_bytes &&
                        stride == length * links.value_bytes;
    const int64_t count = as_one ? rows * length : length;
    for (int64_t i = 0; i < (as_one ? 1 : rows); ++i) {
      reader.ahead.prefetch(static_cast<const char*>(reader.data) + origin + i * stride);
      for (int64_t from = 0; from < count; from += kStretch) {
        const int64_t elements = std::min(kStretch, count - from);
        poll(elements);
        if (!body(row + i, origin + i * stride, from, elements)) return false;
      }
    }
    return true;
  }

 private:
  // Adds rows, so many apart, to masks of which `keep` is kept.
  static void add_rows(const uint64_t* row, int64_t count, auto words, int64_t apart, uint64_t keep,
      uint64_t* __restrict mask) {
    for (int64_t i = 0; i < count; ++i, row += apart * words, mask += words)
      for (int64_t w = 0; w < words; ++w) mask[w] = row[w] | (mask[w] & keep);
  }

  [[gnu::noinline]] static void add_long_row(
      const uint64_t* row, int64_t words, uint64_t keep, uint64_t* __restrict mask) {
    for (int64_t begin = 0; begin < words; begin += kStretchWords) {
      const int64_t count = std::min(kStretchWords, words - begin);
      poll(count * kWord);
      add_rows(row + begin, 1, count, 1, keep, mask + begin);
    }
  }

  bool read_line_of_one_value(
      LineReader& reader, int64_t row, int64_t rows, const LinkWords& links, CommonValue& value) {
    return for_each_stretch_of_rows(reader, bundles.origin(row, &Axis::byte_stride), row, rows, links,
        [&](int64_t r, int64_t origin, int64_t from, int64_t count) {
          return links.foreground_of_one_value(
              reader.read(origin, from), count, value, &foreground[r * bundles.words + from / kWord]);
        });
  }

  // Reads rows, and finds where runs start, also behind background if values changed (contract 5).
  void read_line(LineReader& reader, int64_t row, int64_t rows, const LinkWords& links) {
    const StepDirection step{0, false};  // to the element before
    for_each_stretch_of_rows(reader, bundles.origin(row, &Axis::byte_stride), row, rows, links,
        [&](int64_t r, int64_t origin, int64_t from, int64_t count) {
          const char *const at = reader.read(origin, from), *const before = at - links.value_bytes;
          const int64_t first = r * bundles.words + from / kWord, words = (count + kWord - 1) / kWord;
          const uint64_t* const inside = &foreground[first];
          uint64_t* const linked = &start[first];
          links.foreground(at, count, &foreground[first]);
          if (!bundles.neighbours.connected) {
            std::copy_n(inside, words, linked);
            return true;
          }
          if (links.transitive) {
            // No element is before the first one, so its word is asked for apart.
            const int64_t head = from > 0 ? 0 : std::min<int64_t>(count, kWord),
                          bytes = head * links.value_bytes;
            if (head) linked[0] = kAll;
            links.keep_linked(at, before, 1, head, step, linked);
            links.straight(at + bytes, before + bytes, count - head, step, linked + (head > 0));
          } else {
            for (int64_t w = 0; w < words; ++w)
              linked[w] = inside[w] & (inside[w] << 1 | (w || from ? inside[w - 1] >> (kWord - 1) : 0));
            links.keep_linked(at, before, from == 0, count, step, linked);
          }
          find_starts(first, words, from == 0, [](uint64_t known) { return known; });
          return true;
        });
  }

  // Finds where runs start: the element before is background, not linked, or beyond an end.
  void find_starts(int64_t first_word, int64_t words, bool are_first, auto linked) {
    const uint64_t* const mask = (bundles.folded ? folded : foreground).data() + first_word;
    uint64_t* __restrict const starts = start.data() + first_word;
    const uint64_t before = are_first ? 0 : mask[-1] >> (kWord - 1);
    starts[0] = mask[0] & ~((mask[0] << 1 | before) & linked(starts[0]));
    for_each_in(1, words, [=](int64_t w) {
      starts[w] = mask[w] & ~((mask[w] << 1 | mask[w - 1] >> (kWord - 1)) & linked(starts[w]));
    });
    for (int64_t w = bundles.words; w < words; w += bundles.words) starts[w] |= mask[w] & 1;
  }
};

}
