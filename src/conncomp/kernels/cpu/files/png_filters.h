// Undoes the filters of a PNG picture's lines: adds to each byte nothing, the byte `step` before (by prefix
// sums of 16 bytes), the one above, their mean, or the Paeth predictor. Source: W3C, PNG.
#pragma once

#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu/core/interrupt.h"

namespace conncomp {

class PngLines {
 public:
  PngLines(int64_t bytes, int64_t step) : bytes_(bytes), step_(step), zeros_(bytes) {}

  bool write(const uint8_t* lines, int64_t height, uint8_t* image) const {
    const uint8_t* above = zeros_.data();
    for (int64_t y = 0; y < height; ++y, lines += bytes_ + 1, image += bytes_) {
      poll(bytes_);
      if (!write_line(lines[0], lines + 1, above, image)) return false;
      above = image;
    }
    return true;
  }

 private:
  static constexpr int kBytes = 16;
  using Bytes = uint8_t __attribute__((vector_size(kBytes)));

  bool write_line(int filter, const uint8_t* line, const uint8_t* above, uint8_t* out) const {
    switch (filter) {
      case 0:
        std::memcpy(out, line, bytes_);
        return true;
      case 1:
        if (step_ == 1) return add_ahead<1>(line, out);
        if (step_ == 2) return add_ahead<2>(line, out);
        return add(line, above, out, [](int ahead, int, int) { return ahead; });
      case 2:
        for (int64_t i = 0; i < bytes_; ++i) out[i] = uint8_t(line[i] + above[i]);
        return true;
      case 3:
        return add(line, above, out, [](int ahead, int over, int) { return (ahead + over) / 2; });
      case 4:
        return add(line, above, out, [](int ahead, int over, int aslant) {
          const int from_ahead = std::abs(over - aslant), from_over = std::abs(ahead - aslant),
                    from_aslant = std::abs(ahead + over - 2 * aslant);
          const int nearer = from_over <= from_aslant ? over : aslant;
          return from_ahead <= from_over && from_ahead <= from_aslant ? ahead : nearer;
        });
      default:
        return false;
    }
  }

  bool add(const uint8_t* line, const uint8_t* above, uint8_t* out, auto&& predict) const {
    for (int64_t i = 0; i < step_ && i < bytes_; ++i) out[i] = uint8_t(line[i] + predict(0, above[i], 0));
    for (int64_t i = step_; i < bytes_; ++i)
      out[i] = uint8_t(line[i] + predict(out[i - step_], above[i], above[i - step_]));
    return true;
  }

  template <int step> bool add_ahead(const uint8_t* line, uint8_t* out) const {
    Bytes sums = {};
    int64_t i = 0;
    for (; i + kBytes <= bytes_; i += kBytes) {
      Bytes bytes;
      std::memcpy(&bytes, line + i, kBytes);
      bytes += last<step>(sums, kPlaces);
      sums = prefix<step>(bytes);
      std::memcpy(out + i, &sums, kBytes);
    }
    for (; i < bytes_; ++i) out[i] = uint8_t(line[i] + (i < step ? 0 : out[i - step]));
    return true;
  }

  template <int step> static Bytes prefix(Bytes bytes) {
    bytes += moved<step>(bytes, kPlaces);
    if constexpr (2 * step < kBytes) return prefix<2 * step>(bytes);
    return bytes;
  }
  static constexpr auto kPlaces = std::make_integer_sequence<int, kBytes>();
  template <int step, int... place> static Bytes moved(Bytes bytes, std::integer_sequence<int, place...>) {
    return taken<(kBytes - step + place)...>(Bytes{}, bytes);
  }
  template <int step, int... place> static Bytes last(Bytes bytes, std::integer_sequence<int, place...>) {
    return taken<(place < step ? kBytes - step + place : kBytes)...>(bytes, Bytes{});
  }
  template <int... place> static Bytes taken(Bytes first, Bytes second) {
#if defined(__GNUC__) && !defined(__clang__)  // GCC 11 does not know the other name
    return __builtin_shuffle(first, second, Bytes{place...});
#else
    return __builtin_shufflevector(first, second, place...);
#endif
  }

  int64_t bytes_, step_;
  std::vector<uint8_t> zeros_;
};

}
