// Splits text into numbers, other words and ends of lines, in one pass over each chunk. The caller moves a
// word at the chunk's end to the next chunk; all else that a border can cut (a line, its end of two bytes, a
// comment, skipped columns) is a flag. Lines end with LF, CR or both.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace conncomp {

constexpr const char* kPlainInteger =
    "expected an integer of 64 bits without leading zeros, signs, blanks or fractions (compact_ids=True "
    "without integers=True keeps ids as text)";

// Whether bytes are an integer of 64 bits as printed: without blanks, a plus sign or leading zeros.
inline bool canonical_integer(const char* at, const char* end, int64_t& value) {
  const auto [stop, error] = std::from_chars(at, end, value);
  if (error != std::errc() || stop != end) return false;
  return at[*at == '-'] != '0' || end - at == 1;
}

class Tokens {
 public:
  enum Kind { kNumber, kText, kLineEnd, kMore };

  // Words are shorter, so that no chunk is left unused altogether.
  static constexpr int64_t kLongest = 256;

  Tokens(std::string comments, int64_t line) : comments_(std::move(comments)), line_(line) {}

  void feed(const char* text, size_t size, bool last) {
    begin_ = cursor_ = text;
    end_ = text + size;
    last_ = last;
  }

  size_t used() const { return size_t(cursor_ - begin_); }

  Kind next() {
    for (;;) {
      if (returned_ && cursor_ != end_) {
        cursor_ += *cursor_ == '\n';
        returned_ = false;
      }
      while (cursor_ != end_ && (skipping_ ? !is_line_end(*cursor_) : is_blank(*cursor_))) ++cursor_;
      if (cursor_ == end_) return last_ && !fresh_ ? end_line() : kMore;
      if (is_line_end(*cursor_)) {
        returned_ = *cursor_++ == '\r';
        if (!skipping_ || !fresh_) return end_line();
        end_line();
      } else if (fresh_ && comments_.find(*cursor_) != std::string::npos) {
        skipping_ = true;
      } else {
        return read_word();
      }
    }
  }

  void skip_line() { skipping_ = true; }

  bool is(char mark) const { return word_.size() == 1 && word_[0] == mark; }

  std::string_view digits() const {
    if (word_.find_first_not_of("0123456789") != std::string_view::npos)
      fail("expected a vertex number (names are read from CSV)");
    return word_;
  }
  bool has_leading_zero() const { return word_.size() > 1 && word_[0] == '0'; }
  int64_t line() const { return line_ + 1; }

  int64_t vertex(Kind kind, int64_t first, int64_t last) const {
    if (kind != kNumber) fail("expected a vertex number below 2^63");
    if (value_ < first || value_ > last)
      fail("expected a vertex from " + std::to_string(first) + " to " + std::to_string(last));
    return value_;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    constexpr size_t kShown = 40;
    std::string shown;
    for (const char c : word_.substr(0, kShown)) {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, c < ' ' || c > '~' ? "\\x%02x" : "%c", uint8_t(c));
      shown += escaped;
    }
    fail_at(line_ + 1, expected + ", found '" + shown + (word_.size() > kShown ? "...'" : "'"));
  }

  [[noreturn]] void fail_at_line_end(const std::string& reason) const { fail_at(line_, reason); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == ','; }
  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  [[noreturn]] static void fail_at(int64_t line, const std::string& reason) {
    throw std::invalid_argument(std::to_string(line) + ": " + reason);
  }

  Kind end_line() {
    ++line_;
    fresh_ = true;
    skipping_ = false;
    return kLineEnd;
  }

  Kind read_word() {
    const char *const begin = cursor_, *p = begin;
    int64_t value = 0;
    bool fits = true;
    for (; p != end_ && uint8_t(*p - '0') < 10; ++p)
      fits &= !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, *p - '0', &value);
    const char* digits_end = p;
    while (p != end_ && !is_blank(*p) && !is_line_end(*p)) ++p;
    if (p == end_ && !last_ && p - begin < kLongest) return kMore;
    word_ = {begin, size_t(p - begin)};
    value_ = value;
    cursor_ = p;
    fresh_ = false;
    if (p - begin >= kLongest)
      fail("expected a word of fewer than " + std::to_string(kLongest) + " characters");
    return fits && p == digits_end ? kNumber : kText;
  }

  std::string comments_;
  int64_t line_;           // lines that have ended
  bool fresh_ = true;      // nothing but blanks in this line so far
  bool skipping_ = false;  // the rest of the line is not wanted; with fresh_, the line is a comment
  bool returned_ = false;  // the line before ended with CR, to which an LF at once belongs
  bool last_ = false;
  const char *begin_ = nullptr, *cursor_ = nullptr, *end_ = nullptr;
  std::string_view word_;
  int64_t value_ = 0;
};

}
