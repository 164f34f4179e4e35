// Reads an arc or a vertex per line, in chunks. One of s bytes completes at most s + 1 entries of an array.
#pragma once

#include "cpu/files/vertex_names.h"

namespace conncomp {

struct Progress {
  size_t used;
  int64_t first, second;
};

// Vertices from `lowest` to `highest` in the file, from 0 in the arrays. If ids, no leading zeros.
class NumberedVertices {
 public:
  NumberedVertices(int64_t lowest, int64_t highest, bool may_be_ids)
      : lowest_(lowest), highest_(highest), may_be_ids_(may_be_ids) {}

  void take(const Tokens& tokens, Tokens::Kind kind, int64_t* vertex) {
    *vertex = tokens.vertex(kind, lowest_, highest_) - lowest_;
    if (may_be_ids_ && tokens.has_leading_zero()) tokens.fail(kPlainInteger);
    largest_ = std::max(largest_, *vertex);
  }
  void flush() {}
  int64_t largest() const { return largest_; }

 private:
  int64_t lowest_, highest_, largest_ = -1;
  bool may_be_ids_;
};

// Vertices by their ids: any number of digits, as they stand.
class DigitsAsNames {
 public:
  void take(const Tokens& tokens, Tokens::Kind, int64_t* vertex) {
    const std::string_view digits = tokens.digits();
    names_.add(Bytes{digits.data(), int64_t(digits.size())}, tokens.line(), vertex);
  }
  void flush() { names_.flush(); }
  int64_t largest() const { return names_.count() - 1; }
  const VertexNames& names() const { return names_; }

 private:
  VertexNames names_;
};

template <class Vertices> class ArcLines {
 public:
  template <class... Limits>
  ArcLines(const std::string& comments, const std::string& mark, int64_t line, Limits... limits)
      : tokens_(comments, line), mark_(mark), vertices_(limits...), column_(begin()) {}

  Progress read(const char* text, size_t size, bool last, int64_t* src, int64_t* dst) {
    tokens_.feed(text, size, last);
    int64_t arcs = 0;
    src[0] = source_;
    for (Tokens::Kind kind; (kind = tokens_.next()) != Tokens::kMore;) {
      if (kind == Tokens::kLineEnd) {
        if (column_ != begin() && column_ != 2)
          tokens_.fail_at_line_end("the line ends where a vertex is expected");
        column_ = begin();
      } else if (column_ < 0) {
        if (!tokens_.is(mark_[0])) tokens_.fail("expected '" + mark_ + "'");
        column_ = 0;
      } else {
        vertices_.take(tokens_, kind, (column_ == 0 ? src : dst) + arcs);
        if (++column_ == 2) {
          ++arcs;
          tokens_.skip_line();
        }
      }
    }
    vertices_.flush();
    if (column_ == 1) source_ = src[arcs];
    return {tokens_.used(), arcs, arcs};
  }

  int64_t largest() const { return vertices_.largest(); }
  const VertexNames& names() const
    requires requires(const Vertices& vertices) { vertices.names(); }
  {
    return vertices_.names();
  }

 private:
  int begin() const { return mark_.empty() ? 0 : -1; }

  Tokens tokens_;
  std::string mark_;
  Vertices vertices_;
  int column_;  // how many vertices of the line have been read; -1 before the mark
  int64_t source_ = 0;
};

using ArcReader = ArcLines<NumberedVertices>;
using DigitArcReader = ArcLines<DigitsAsNames>;

// Lines of METIS: line v lists v's neighbours, from 1, after `skipped` weights; weights are ignored.
class NeighbourReader {
 public:
  NeighbourReader(int64_t vertices, int64_t skipped, bool weighted, int64_t line)
      : tokens_("%", line), vertices_(vertices), skipped_(skipped), weighted_(weighted) {}

  Progress read(const char* text, size_t size, bool last, int64_t* degrees, int64_t* indices) {
    tokens_.feed(text, size, last);
    int64_t rows = 0, arcs = 0;
    for (Tokens::Kind kind; (kind = tokens_.next()) != Tokens::kMore;) {
      if (row_ == vertices_) {  // blank lines may follow
        if (kind != Tokens::kLineEnd)
          tokens_.fail("expected no more than the " + std::to_string(vertices_) + " lines of the header");
      } else if (kind == Tokens::kLineEnd) {
        if (column_ < skipped_ || (weighted_ && (column_ - skipped_) % 2))
          tokens_.fail_at_line_end("the line ends where a weight is expected");
        degrees[rows++] = degree_;
        largest_ = std::max(largest_, degree_);
        ++row_;
        column_ = degree_ = 0;
      } else {
        const int64_t place = column_++ - skipped_;
        if (place < 0 || (weighted_ && place % 2)) continue;
        const int64_t vertex = tokens_.vertex(kind, 1, vertices_) - 1;
        loops_ += vertex == row_;
        indices[arcs++] = vertex;
        ++degree_;
      }
    }
    return {tokens_.used(), rows, arcs};
  }

  int64_t largest() const { return std::max(vertices_ - 1, largest_); }
  int64_t loops() const { return loops_; }

 private:
  Tokens tokens_;
  int64_t vertices_, skipped_;
  bool weighted_;
  int64_t row_ = 0, column_ = 0, degree_ = 0, loops_ = 0, largest_ = 0;
};

}
