// Arcs between vertices with names, a row each, as they arrive: CSV, with commas or other separators.
//
// What: two columns of each row are names; the others are not looked at. Fields are those of RFC 4180: one
// that begins with a quote ends with a quote and may hold separators, ends of lines, and quotes that are
// written twice. Blanks around a name belong to it. Lines end with LF, CR or both; empty ones are no
// rows. How: a row that the chunk's end may cut is left unused, so the caller puts it in front of what comes
// next: rows have fewer than kLongestRow bytes. Cost: one pass over the bytes, and interning for each name.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "cpu/files/graph_text.h"
#include "cpu/files/vertex_names.h"

namespace conncomp {

class NamedArcReader {
 public:
  static constexpr int64_t kLongestRow = 1 << 16;

  // Names are in columns `first` and `second` of `columns`; `line` lines of the file have been read before.
  NamedArcReader(char separator, int64_t columns, int64_t first, int64_t second, int64_t line)
      : separator_(separator), columns_(columns), places_{first, second}, line_(line) {}

  Progress read(const char* text, size_t size, bool last, int64_t* src, int64_t* dst) {
    const char* const end = text + size;
    int64_t arcs = 0;
    for (cursor_ = row_ = text; row_ != end; row_ = cursor_) {
      if (is_line_end(*row_)) {
        if (!end_line(end, last)) break;
        continue;
      }
      first_line_ = line_ + 1;
      Field ends[2];
      const bool is_whole = read_row(end, last, ends);
      if (!is_whole) cursor_ = end;
      check_length();
      if (!is_whole) {
        line_ = first_line_ - 1;
        break;
      }
      add(ends[0], src + arcs);
      add(ends[1], dst + arcs);
      ++arcs;
    }
    names_.flush();
    return {size_t(row_ - text), arcs, arcs};
  }

  int64_t largest() const { return names_.count() - 1; }
  const VertexNames& names() const { return names_; }

 private:
  // Bytes as they are in the text, or between quotes.
  struct Field {
    const char *begin, *end;
    bool has_doubled_quotes;
  };

  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  [[noreturn]] void fail(int64_t line, const std::string& reason) {
    names_.flush();  // a name of an earlier line may be wrong as well
    throw std::invalid_argument(std::to_string(line) + ": " + reason);
  }

  // Raises if the row is too long up to the cursor: whatever else is wrong behind its first bytes is not
  // told, as chunks may not reach there.
  void check_length() {
    if (cursor_ - row_ >= kLongestRow) fail(first_line_, "expected a line of fewer than 65536 characters");
  }

  [[noreturn]] void fail_in_row(int64_t line, const std::string& reason) {
    check_length();
    fail(line, reason);
  }

  // Reads a row and its end; whether all of it is there.
  bool read_row(const char* end, bool last, Field (&ends)[2]) {
    int64_t columns = 0;
    for (;; ++cursor_) {
      Field field;
      if (!read_field(end, last, field)) return false;
      for (int k = 0; k < 2; ++k)
        if (columns == places_[k]) ends[k] = field;
      ++columns;
      if (cursor_ == end || *cursor_ != separator_) break;
    }
    if (cursor_ == end ? !last : !end_line(end, last)) return false;
    if (cursor_ == end && !is_line_end(end[-1])) ++line_;
    if (columns != columns_)
      fail_in_row(line_,
                  "expected " + std::to_string(columns_) + " columns, found " + std::to_string(columns));
    return true;
  }

  bool read_field(const char* end, bool last, Field& field) {
    if (cursor_ != end && *cursor_ == '"') return read_quoted(end, last, field);
    field = {cursor_, nullptr, false};
    while (cursor_ != end && *cursor_ != separator_ && !is_line_end(*cursor_)) ++cursor_;
    field.end = cursor_;
    return cursor_ != end || last;
  }

  bool read_quoted(const char* end, bool last, Field& field) {
    field = {++cursor_, nullptr, false};
    for (;; ++cursor_) {
      if (cursor_ == end) {
        if (last) fail_in_row(line_ + !is_line_end(end[-1]), "unexpected end of data, in quotes");
        return false;
      }
      if (*cursor_ == '"') {
        if (cursor_ + 1 == end || cursor_[1] != '"') break;
        field.has_doubled_quotes = true;
        ++cursor_;
      } else if (*cursor_ == '\n' || (*cursor_ == '\r' && (cursor_ + 1 == end || cursor_[1] != '\n'))) {
        ++line_;
      }
    }
    field.end = cursor_++;
    if (cursor_ == end) return last;
    if (*cursor_ != separator_ && !is_line_end(*cursor_))
      fail_in_row(line_ + 1, std::string("'") + (separator_ == '\t' ? "\\t" : std::string(1, separator_)) +
                                 "' expected after '\"'");
    return true;
  }

  // Reads the end of a line of one byte or two; whether all of it is there.
  bool end_line(const char* end, bool last) {
    if (*cursor_ == '\r' && cursor_ + 1 == end && !last) return false;
    cursor_ += *cursor_ == '\r' && cursor_ + 1 != end && cursor_[1] == '\n' ? 2 : 1;
    ++line_;
    return true;
  }

  void add(Field field, int64_t* number) {
    if (field.has_doubled_quotes) return names_.add(without_doubled_quotes(field), line_, number);
    names_.add(Bytes{field.begin, field.end - field.begin}, line_, number);
  }

  static std::string without_doubled_quotes(Field field) {
    std::string name;
    for (const char* at = field.begin; at != field.end; ++at) {
      name += *at;
      at += *at == '"';
    }
    return name;
  }

  const char separator_;
  const int64_t columns_, places_[2];
  int64_t line_, first_line_ = 0;  // lines that have ended, and the first one of the row
  const char *row_ = nullptr, *cursor_ = nullptr;
  VertexNames names_;
};

}  // namespace conncomp
