// Numbers the labels that occur, in ascending order: a bit per possible label, and how many are set before
// each word. Cost: a pass over the labels, or over known components; two loads a label.
#pragma once

#include "cpu/components/stretches.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"

namespace conncomp {

class LabelRanks {
 public:
  // Of the labels below `rows`. Labels that change meanwhile may have no number.
  LabelRanks(const LabelArray& labels, int64_t rows) : LabelRanks(rows) {
    const Parts parts(labels.count(), kGrain);
    parallel_for(parts.parts, [&](int64_t part) {
      for_each_piece(labels, parts.begin(part), parts.end(part), rows, [&](const LabelPiece& piece) {
        for_each_stretch(piece, [words = words_.data(), base = piece.base](int32_t number, int64_t, int64_t) {
          const int64_t label = base + number;
          const uint64_t bit = uint64_t(1) << label % kWord;
          uint64_t* const word = words + label / kWord;
          if (!(Shared::load(word) & bit)) Shared::fetch_or(word, bit);
        });
      });
    });
    count_words();
  }

  LabelRanks(const int64_t* components, int64_t count) : LabelRanks(count ? components[count - 1] + 1 : 0) {
    for_each_in(0, count,
                [&](int64_t i) { words_[components[i] / kWord] |= uint64_t(1) << components[i] % kWord; });
    count_words();
  }

  int64_t count() const { return count_; }
  int64_t label_rows() const { return label_rows_; }

  Buffer<int64_t> labels() const {
    Buffer<int64_t> labels(count_);
    for_each_index(label_rows_ / kWord + 1, [&](int64_t w) {
      int64_t rank = before_[w];
      for_each_bit(words_[w], [&](int p) { labels[rank++] = w * kWord + p; });
    });
    return labels;
  }

  int64_t rank(int64_t label) const {
    const uint64_t word = words_[label / kWord];
    const int p = int(label % kWord);
    return word >> p & 1 ? before_[label / kWord] + std::popcount(word & below(p)) : -1;
  }

 private:
  explicit LabelRanks(int64_t rows)
      : label_rows_(rows), words_(Buffer<uint64_t>::zeros(rows / kWord + 1)), before_(rows / kWord + 1) {}

  void count_words() { count_ = rank_words(words_.data(), label_rows_ / kWord + 1, before_.data()); }

  int64_t label_rows_, count_ = 0;
  Buffer<uint64_t> words_;
  Buffer<int64_t> before_;
};

}  // namespace conncomp
