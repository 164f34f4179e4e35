// Arcs from CSV, a row each, as they arrive: two columns are names or numbers of vertices. Fields are those
// of RFC 4180: quoted ones may hold separators, line ends, and doubled quotes; blanks belong to names. Lines
// end with LF, CR or both; empty ones are no rows. A row that the chunk's end may cut is left unused: rows
// have fewer than kLongestRow bytes. Names that may be vertex numbers are written as such up to the first
// other name; there reading stops, and the caller lets `rename` number all earlier names.
#pragma once

#include "cpu/files/graph_text.h"

namespace conncomp {

class NamedArcReader {
 public:
  static constexpr int64_t kLongestRow = 1 << 16;

  // Names are in two of `columns`, after `line` lines; numbers, while they can, if `as_numbers`.
  NamedArcReader(
      char separator, int64_t columns, int64_t first, int64_t second, int64_t line, bool as_numbers)
      : separator_(separator),
        columns_(columns),
        places_{first, second},
        line_(line),
        as_numbers_(as_numbers) {}

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
      if (as_numbers_ && !(is_number(ends[0], src[arcs]) && is_number(ends[1], dst[arcs]))) {
        as_numbers_ = false;
        line_ = first_line_ - 1;
        break;
      }
      if (as_numbers_) {
        largest_ = std::max({largest_, src[arcs], dst[arcs]});
      } else {
        add(ends[0], src + arcs);
        add(ends[1], dst + arcs);
      }
      ++arcs;
    }
    names_.flush();
    return {size_t(row_ - text), arcs, arcs};
  }

  // Whether all ends so far are vertex numbers, written as such.
  bool as_numbers() const { return as_numbers_; }

  // Replaces vertex numbers, written before another name came, by the numbers of their names.
  template <class Vertex> void rename(Vertex* src, Vertex* dst, int64_t arcs) {
    constexpr int64_t kBlock = VertexNames::kBlock / 2;
    int64_t numbers[2 * kBlock];
    for (int64_t begin = 0; begin < arcs; begin += kBlock) {
      const int64_t end = std::min(arcs, begin + kBlock);
      int64_t* number = numbers;
      for (int64_t i = begin; i < end; ++i)
        for (const Vertex vertex : {src[i], dst[i]}) names_.add(std::to_string(vertex), line_, number++);
      names_.flush();
      number = numbers;
      for (int64_t i = begin; i < end; ++i) {
        src[i] = Vertex(*number++);
        dst[i] = Vertex(*number++);
      }
    }
  }

  // The largest number in the arrays so far, -1 before the first.
  int64_t largest() const { return names_.count() > 0 ? names_.count() - 1 : largest_; }
  const VertexNames& names() const { return names_; }

 private:
  struct Field {
    const char *begin, *end;
    bool has_doubled_quotes;
  };

  static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

  [[noreturn]] void fail(int64_t line, const std::string& reason) {
    names_.flush();  // a name of an earlier line may be wrong as well
    throw std::invalid_argument(std::to_string(line) + ": " + reason);
  }

  // Throws if the row is too long up to the cursor; chunks may not reach errors behind its first bytes.
  void check_length() {
    if (cursor_ - row_ >= kLongestRow) fail(first_line_, "expected a line of fewer than 65536 characters");
  }

  [[noreturn]] void fail_in_row(int64_t line, const std::string& reason) {
    check_length();
    fail(line, reason);
  }

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
      fail_in_row(
          line_, "expected " + std::to_string(columns_) + " columns, found " + std::to_string(columns));
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

  // Reads an end of line of one byte or two; returns whether it is whole.
  bool end_line(const char* end, bool last) {
    if (*cursor_ == '\r' && cursor_ + 1 == end && !last) return false;
    cursor_ += *cursor_ == '\r' && cursor_ + 1 != end && cursor_[1] == '\n' ? 2 : 1;
    ++line_;
    return true;
  }

  static bool is_number(Field field, int64_t& number) {
    return canonical_integer(field.begin, field.end, number) && number >= 0;
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
  bool as_numbers_;
  int64_t largest_ = -1;  // of the vertex numbers
  const char *row_ = nullptr, *cursor_ = nullptr;
  VertexNames names_;
};

}
