// Names of vertices, numbered as they first come. They wait for a block to intern, or for `flush`, before
// their bytes go. Each is checked once: UTF-8, no control characters, not too long.
#pragma once

#include <limits>
#include <optional>

#include "cpu/files/tokens.h"
#include "cpu/tables/interning.h"

namespace conncomp {

// The code point at `at`, which moves behind it; -1 and no move at invalid UTF-8.
inline int32_t next_code_point(const char*& at, const char* end) {
  const auto byte = [&](int k) { return uint8_t(at[k]); };
  const uint8_t lead = byte(0);
  const int following = lead < 0x80   ? 0
                        : lead < 0xc2 ? -1
                        : lead < 0xe0 ? 1
                        : lead < 0xf0 ? 2
                        : lead < 0xf5 ? 3
                                      : -1;
  if (following < 0 || end - at <= following) return -1;
  int32_t point = following == 0 ? lead : lead & (0x3f >> following);
  for (int k = 1; k <= following; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return -1;
    point = point << 6 | (byte(k) & 0x3f);
  }
  constexpr int32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // shorter sequences hold what is less
  if (point < kLeast[following] || point > 0x10ffff || (point & ~0x7ff) == 0xd800) return -1;
  at += following + 1;
  return point;
}

class VertexNames {
 public:
  // Names are shorter, in characters.
  static constexpr int64_t kLongest = 256;
  // So many are interned at once.
  static constexpr int64_t kBlock = 32;

  int64_t count() const { return names_.size(); }
  int64_t longest() const { return longest_; }
  int64_t characters() const { return characters_; }

  // Lets *number be that of the name, in line `line`, after `flush`. Its bytes stay until then.
  void add(Bytes name, int64_t line, int64_t* number) {
    waiting_[waiting_count_++] = {name, line, number};
    if (waiting_count_ == kBlock) flush();
  }

  void add(std::string&& name, int64_t line, int64_t* number) {
    std::string& kept = kept_[waiting_count_] = std::move(name);
    add(Bytes{kept.data(), int64_t(kept.size())}, line, number);
  }

  void flush() {
    const int64_t count = waiting_count_;
    waiting_count_ = 0;
    names_.intern(
        count, [this](int64_t i) { return waiting_[i].name; },
        [this](int64_t i, int64_t number) {
          const Waiting& name = waiting_[i];
          *name.number = number;
          if (number < checked_) return;
          check(name.name, name.line);
          ++checked_;
        });
  }

  // The numbers that names are, or nothing. Odd integers, or with `only` any others, are errors.
  std::optional<std::vector<int64_t>> numbers(bool only) const {
    if (word_.first && !only) return {};
    const auto& [line, name] = word_.first && (!odd_.first || word_.first < odd_.first) ? word_ : odd_;
    if (line)
      throw std::invalid_argument(std::to_string(line) + ": " + kPlainInteger + ", found '" + name + "'");
    std::vector<int64_t> numbers(static_cast<size_t>(count()));
    for (int64_t i = 0; i < count(); ++i) {
      const Bytes name = names_.ids().key(i);
      canonical_integer(name.begin, name.begin + name.length, numbers[size_t(i)]);
    }
    return numbers;
  }

  void write(uint32_t* rows) const {
    for (int64_t i = 0; i < count(); ++i, rows += longest_) {
      const Bytes name = names_.ids().key(i);
      uint32_t* point = rows;
      for (const char *at = name.begin, *end = at + name.length; at != end; ++point)
        *point = uint32_t(next_code_point(at, end));
      std::fill(point, rows + longest_, 0);
    }
  }

 private:
  struct Waiting {
    Bytes name;
    int64_t line;
    int64_t* number;
  };

  // Whether a name looks like a number with blanks, a sign, leading zeros or a fraction of zeros.
  static bool is_odd_number(std::string_view name) {
    constexpr const char* kDigits = "0123456789";
    if (name.find_first_not_of(kDigits) == name.npos) return name.front() == '0';
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    name.remove_suffix(name.size() - (name.find_last_not_of(' ') + 1));
    if (!name.empty() && (name.front() == '+' || name.front() == '-')) name.remove_prefix(1);
    const size_t digits = std::min(name.find_first_not_of(kDigits), name.size());
    return digits > 0 && name.find_first_not_of(".0", digits) == name.npos;
  }

  void note_number(Bytes name, int64_t line) {
    int64_t value;
    if (canonical_integer(name.begin, name.begin + name.length, value) && value >= 0) return;
    const std::string_view text(name.begin, size_t(name.length));
    auto& [first_line, first] = is_odd_number(text) ? odd_ : word_;
    if (!first_line) first_line = line, first = text;
  }

  void check(Bytes name, int64_t line) {
    int64_t length = 0;
    for (const char *at = name.begin, *end = at + name.length; at != end; ++length) {
      const uint8_t byte = uint8_t(*at);
      const int32_t point = next_code_point(at, end);
      if (point < 0 || is_control(point))
        throw std::invalid_argument(std::to_string(line) + ": a vertex has '" + escaped(byte, point) +
                                    "' in its name; names are UTF-8 text");
    }
    if (length == 0 || length >= kLongest)
      throw std::invalid_argument(std::to_string(line) + ": a vertex has a name of " +
                                  std::to_string(length) + " characters; it may have 1 to " +
                                  std::to_string(kLongest - 1));
    note_number(name, line);
    longest_ = std::max(longest_, length);
    characters_ += length;
  }

  static bool is_control(int32_t point) { return point < ' ' || (point >= 0x7f && point < 0xa0); }

  // As Python shows control characters, and bytes that are not UTF-8.
  static std::string escaped(uint8_t byte, int32_t point) {
    if (point == '\n') return "\\n";
    if (point == '\r') return "\\r";
    if (point == '\t') return "\\t";
    char text[8];
    std::snprintf(text, sizeof text, point < 0 ? "\\udc%02x" : "\\x%02x", unsigned(point < 0 ? byte : point));
    return text;
  }

  Interning<ByteIds> names_;
  std::pair<int64_t, std::string> odd_, word_;  // lines, or 0, and names
  int64_t checked_ = 0, longest_ = 0, characters_ = 0;
  std::array<Waiting, kBlock> waiting_;
  std::array<std::string, kBlock> kept_;
  int64_t waiting_count_ = 0;
};

}
