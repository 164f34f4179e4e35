// Lists the elements of each label, ascending: those of label k at begin[k] ... begin[k + 1]. A counting sort
// by all threads: each counts the labels of its part of the array; sums over labels and parts say where its
// elements go.
//     labels of a part, and of the next      1 1 2    2 1 1
//     elements go to                         0 1 4    5 2 3
// Cost: labels read twice, indices written once. Memory: two tables a thread, so that fewer threads take part
// where these would outgrow the labels. The caller may change labels after they were counted (contract 5):
// what there is no room for is left out.
#pragma once

#include "cpu/components/tables.h"

namespace conncomp {

class MemberLists {
 public:
  MemberLists(const LabelArray& labels, int64_t rows, int64_t* begin)
      : labels_(labels),
        rows_(rows),
        begin_(begin),
        tables_(sharing_threads(2 * rows * 8, labels.bytes(), most_sharing(labels))) {
    for_each_part([&](Tables& tables, int64_t first, int64_t end) {
      tables.next = Buffer<int64_t>::zeros(rows);
      if (tables_.size() > 1) tables.end = Buffer<int64_t>(rows);
      add_sizes(labels, first, end, rows, tables.next.data());
    });
    begin[rows] = scan(
        rows,
        [this](int64_t row) {
          int64_t size = 0;
          for (const Tables& tables : tables_) size += tables.next[row];
          return size;
        },
        [this, begin](int64_t row, int64_t before) {
          begin[row] = before;
          for (Tables& tables : tables_) {
            before += std::exchange(tables.next[row], before);
            if (tables_.size() > 1) tables.end[row] = before;
          }
        });
    count_ = begin[rows];
  }

  int64_t count() const { return count_; }

  void write(int64_t length, auto* indices) {
    for_each_part([&](Tables& tables, int64_t first, int64_t end) {
      for (int64_t begin = first, stop; begin < end; begin = stop) {
        const int64_t item = begin / length * length;
        stop = std::min(item + length, end);
        for_each_piece(labels_.part(item, length), begin - item, stop - item, rows_,
                       [&](const LabelPiece& piece) { write_piece(piece, tables, indices); });
      }
    });
  }

 private:
  // Of a part, by label: where the next element goes, and where no more may; with one part the next begin.
  struct Tables {
    Buffer<int64_t> next, end;
  };

  template <class Visit>
  void for_each_part(Visit&& visit) {
    const int64_t parts = int64_t(tables_.size()), count = labels_.count();
    parallel_for(
        parts, [&](int64_t part) { visit(tables_[part], count * part / parts, count * (part + 1) / parts); });
  }

  template <class Index>
  void write_piece(const LabelPiece& piece, Tables& tables, Index* indices) const {
    const int64_t* const ends = tables_.size() > 1 ? tables.end.data() : begin_ + 1;
    for_each_stretch(piece, [indices, next = tables.next.data() + piece.base, end = ends + piece.base](
                                int32_t label, int64_t from, int64_t to) {
      const int64_t place = next[label], room = end[label] - place, members = std::min(to - from, room);
      next[label] = place + members;
      write_run(indices + place, members, room, [=](int64_t k) { return Index(from + k); });
    });
  }

  const LabelArray labels_;
  const int64_t rows_;
  const int64_t* const begin_;
  std::vector<Tables> tables_;
  int64_t count_;
};

}  // namespace conncomp
