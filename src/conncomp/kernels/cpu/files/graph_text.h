// The two shapes that graphs have as text: an arc a line, and a vertex a line. Both readers take chunks
// of a file, write what they find to the caller's arrays, and go on where they stopped. A chunk of s
// bytes completes at most s + 1 entries of either array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "cpu/files/tokens.h"

namespace conncomp {

// What a call of `read` used of its chunk, and how many entries it wrote to each array.
struct Progress {
  size_t used;
  int64_t first, second;
};

// Lines "u v" or, where a mark is given, "mark u v"; what follows in the line is not looked at.
class ArcReader {
 public:
  // Vertices are numbered from `lowest` to `highest` in the file, and from 0 in the arrays.
  ArcReader(const std::string& comments, const std::string& mark, int64_t lowest, int64_t highest,
            int64_t line)
      : tokens_(comments, line), mark_(mark), lowest_(lowest), highest_(highest), column_(begin()) {}

  Progress read(const char* text, size_t size, bool last, int64_t* src, int64_t* dst) {
    tokens_.feed(text, size, last);
    int64_t arcs = 0;
    for (Tokens::Kind kind; (kind = tokens_.next()) != Tokens::kMore;) {
      if (kind == Tokens::kLineEnd) {
        if (column_ != begin() && column_ != 2)
          tokens_.fail_at_line_end("the line ends where a vertex is expected");
        column_ = begin();
      } else if (column_ < 0) {
        if (!tokens_.is(mark_[0])) tokens_.fail("expected '" + mark_ + "'");
        column_ = 0;
      } else {
        const int64_t vertex = tokens_.vertex(kind, lowest_, highest_) - lowest_;
        largest_ = std::max(largest_, vertex);
        if (++column_ == 1) {
          source_ = vertex;
        } else {
          src[arcs] = source_;
          dst[arcs++] = vertex;
          tokens_.skip_line();
        }
      }
    }
    return {tokens_.used(), arcs, arcs};
  }

  // The largest number in the arrays so far, -1 before the first.
  int64_t largest() const { return largest_; }

 private:
  int begin() const { return mark_.empty() ? 0 : -1; }

  Tokens tokens_;
  std::string mark_;
  int64_t lowest_, highest_;
  int column_;  // how many vertices of the line have been read; -1 before the mark
  int64_t source_ = 0, largest_ = -1;
};

// The lines of a METIS file after its header: line v lists the neighbours of vertex v, from 1, after
// `skipped` weights and each followed by a weight if `weighted`. Weights are not looked at.
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

  // The largest number in the arrays, at most.
  int64_t largest() const { return std::max(vertices_ - 1, largest_); }
  // How many neighbours are the vertex itself.
  int64_t loops() const { return loops_; }

 private:
  Tokens tokens_;
  int64_t vertices_, skipped_;
  bool weighted_;
  int64_t row_ = 0, column_ = 0, degree_ = 0, loops_ = 0, largest_ = 0;
};

}  // namespace conncomp
