// Tables with a row for each label: counts, replaces, ranks labels, by words (stretches.h). Each thread has
// its own table; fewer take part where tables would outgrow the labels. Labels without a row are background.
#pragma once

#include "cpu/components/stretches.h"
#include "cpu/core/buffer.h"
#include "cpu/core/label_stream.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// Numbers items' components uniquely: label k of item n becomes n * rows + k, others the background.
template <class Label, class Combined>
void combine_labels(
    const Label* labels, int64_t count, int64_t length, Label background, int64_t rows, Combined* combined) {
  const Parts parts(count, kGrain);
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t begin = parts.begin(part), stop; begin < parts.end(part); begin = stop) {
      const int64_t item = begin / length, first_row = item * rows;
      stop = std::min(parts.end(part), (item + 1) * length);
      for_each_in(begin, stop, [=](int64_t i) {
        const Label label = Concurrent::load(labels + i);
        // Without branches, which noise would mispredict.
        const int64_t component = int64_t(label != background) & int64_t(uint64_t(label) < uint64_t(rows));
        combined[i] = Combined(((first_row + label) & -component) | (background & (component - 1)));
      });
    }
  });
}

// How many threads, of `most`, may have tables of `table_bytes` each within `limit`.
inline int64_t sharing_threads(int64_t table_bytes, int64_t limit, int64_t most) {
  return std::clamp<int64_t>(limit / std::max<int64_t>(table_bytes, 1), 1, most);
}

// Splits [0, count) among such threads; thread t calls fill(t, begin, end).
inline void share_out(int64_t count, int64_t table_bytes, int64_t limit, int64_t most,
    FunctionRef<void(int64_t, int64_t, int64_t)> fill) {
  const int64_t threads = sharing_threads(table_bytes, limit, most);
  parallel_for(threads, [&](int64_t t) { fill(t, count * t / threads, count * (t + 1) / threads); });
}

inline int64_t most_sharing(const LabelArray& labels) {
  return std::min<int64_t>(num_threads(), labels.count() / kGrain + 1);
}

inline void add_sizes(const LabelArray& labels, int64_t begin, int64_t end, int64_t rows, int64_t* sizes) {
  for_each_piece(labels, begin, end, rows, [=](const LabelPiece& piece) {
    for_each_word(piece.begin, piece.end,
        [labels = piece.labels, background = piece.background, rows = piece.rows, table = sizes + piece.base](
            int64_t first, int count) {
          for_each_label_of_word(labels + first, count, background, rows,
              [=](int32_t label, const auto& places) { table[label] += places.size(); });
        });
  });
}

inline void count_labels(const LabelArray& labels, int64_t rows, int64_t* sizes) {
  for_each_index(rows, [&](int64_t row) { sizes[row] = 0; });
  const int64_t most = most_sharing(labels);
  std::vector<Buffer<int64_t>> helper_tables(most - 1);
  share_out(labels.count(), rows * 8, labels.bytes(), most, [&](int64_t t, int64_t begin, int64_t end) {
    if (t > 0) helper_tables[t - 1] = Buffer<int64_t>::zeros(rows);
    add_sizes(labels, begin, end, rows, t > 0 ? helper_tables[t - 1].data() : sizes);
  });
  for (const Buffer<int64_t>& table : helper_tables)
    if (table.data()) for_each_index(rows, [&](int64_t row) { sizes[row] += table[row]; });
}

#ifdef __AVX512VPOPCNTDQ__
inline __m512i rows_of_lanes(__m512i labels, const int32_t* table, int64_t rows, int32_t background) {
  constexpr int64_t kMost = int64_t(1) << 31;  // none is negative
  const __mmask16 known =
      _mm512_cmplt_epu32_mask(labels, _mm512_set1_epi32(int(uint32_t(std::min(rows, kMost)))));
  return _mm512_mask_i32gather_epi32(_mm512_set1_epi32(background), known, labels, table, sizeof(int32_t));
}

inline void replace_lanes(const int32_t* labels, int64_t begin, int64_t end, int32_t background,
    const int32_t* table, int64_t rows, bool streamed, int32_t* out) {
  const auto replaced = [=](int64_t block) {
    return rows_of_lanes(_mm512_loadu_si512(labels + block * kLanes), table, rows, background);
  };
  if (!streamed)
    return for_each_in(
        begin, end, [=](int64_t block) { _mm512_storeu_si512(out + block * kLanes, replaced(block)); });
  LabelStream<int32_t> stream;
  stream.turn(out + begin * kLanes);
  stream.put_all(
      [=](auto&& put) { for_each_in(begin, end, [=, &put](int64_t block) { put(0, replaced(block)); }); });
}
#endif

// Replaces every label by its row of `table`, or the background: blocks of one label, or without branches.
template <class Label, class Entry>
void replace_labels(
    const Label* labels, int64_t count, Entry background, const Entry* table, int64_t rows, Entry* out) {
  if (rows == 0) return for_each_index(count, [=](int64_t i) { out[i] = background; });
  constexpr int64_t kBlock = 16;
  const bool in_place = static_cast<const void*>(labels) == out;
  const auto entry_of = [=](Label label) {
    const uint64_t row = uint64_t(label);
    const Entry entry = table[std::min<uint64_t>(row, rows - 1)];
    return row < uint64_t(rows) ? entry : background;
  };
  const auto replace_block = [=](int64_t block) {
    std::array<Label, kBlock> own;  // which nobody changes
    std::memcpy(own.data(), labels + block * kBlock, sizeof(own));
    Entry* const replaced = out + block * kBlock;
    Label changes = 0;
    for (const Label label : own) changes |= label ^ own[0];
    if (changes)
      for (int64_t i = 0; i < kBlock; ++i) replaced[i] = entry_of(own[i]);
    else if (const Entry entry = entry_of(own[0]); !in_place || int64_t(entry) != int64_t(own[0]))
      std::fill_n(replaced, kBlock, entry);
  };
  const int64_t blocks = count / kBlock;
  const Parts parts(blocks, kGrain / kBlock);
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t begin = parts.begin(part), end = parts.end(part);
    if constexpr (kStreamed<Label> && kStreamed<Entry>)
      if (!in_place)
        return replace_lanes(
            labels, begin, end, background, table, rows, count * int64_t(sizeof(Entry)) > kCachedLabels, out);
    for_each_in(begin, end, replace_block);
  });
  for (int64_t i = blocks * kBlock; i < count; ++i) out[i] = entry_of(Concurrent::load(labels + i));
}

// The rows of `sizes`, item by item, largest first: a radix sort, whose last digit is the item.
inline void sort_by_size(const int64_t* sizes, int64_t rows, int64_t items, int64_t* order) {
  constexpr int kWidest = 16;
  const int64_t largest = rows ? *std::max_element(sizes, sizes + rows) : 0;
  // Digits are no wider than sizes need, as each value takes a place of a table.
  const int width = std::bit_width(uint64_t(largest)), passes = (width + kWidest - 1) / kWidest;
  const int digit = passes ? (width + passes - 1) / passes : 0;
  const int64_t digits = int64_t(1) << digit;
  std::vector<int64_t> begin(std::max(digits, items) + 1);
  Buffer<int64_t> previous;  // the order that the next digit sorts
  bool in_order = true;
  const auto sort_by = [&](int64_t keys, auto&& key) {
    if (in_order) {
      group_by_key(rows, keys, key, [](int64_t row) { return row; }, begin.data(), order, rows);
    } else {
      if (!previous.data()) previous = Buffer<int64_t>(rows);
      std::copy_n(order, rows, previous.data());
      group_by_key(
          rows, keys, [&](int64_t i) { return key(previous[i]); }, [&](int64_t i) { return previous[i]; },
          begin.data(), order, rows);
    }
    in_order = false;
  };
  for (int shift = 0; shift < width; shift += digit)
    sort_by(digits, [=](int64_t row) { return ~(sizes[row] >> shift) & (digits - 1); });
  if (items > 1 && rows > 0) sort_by(items, [=](int64_t row) { return row / (rows / items); });
  if (in_order) for_each_in(0, rows, [=](int64_t row) { order[row] = row; });
}

// Lists the elements of each label, ascending: those of label k at begin[k] ... begin[k + 1]. A counting sort
// by all threads: sums over labels and parts say where a part's elements go.
//     labels of a part, and of the next      1 1 2    2 1 1
//     elements go to                         0 1 4    5 2 3
// Memory: two tables a thread; fewer threads take part where these would outgrow the labels. Without room, as
// labels changed after the count (contract 5), elements are left out.
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

  void for_each_part(auto&& visit) {
    const int64_t parts = int64_t(tables_.size()), count = labels_.count();
    parallel_for(
        parts, [&](int64_t part) { visit(tables_[part], count * part / parts, count * (part + 1) / parts); });
  }

  template <class Index> void write_piece(const LabelPiece& piece, Tables& tables, Index* indices) const {
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

// Numbers the labels that occur, ascending, by a bit each and ranks of words.
class LabelRanks {
 public:
  // Ranks the labels below `rows`. Labels that change meanwhile may have no number.
  LabelRanks(const LabelArray& labels, int64_t rows) : LabelRanks(rows) {
    const Parts parts(labels.count(), kGrain);
    parallel_for(parts.parts, [&](int64_t part) {
      for_each_piece(labels, parts.begin(part), parts.end(part), rows, [&](const LabelPiece& piece) {
        for_each_stretch(piece, [words = words_.data(), base = piece.base](int32_t number, int64_t, int64_t) {
          const int64_t label = base + number;
          const uint64_t bit = uint64_t(1) << label % kWord;
          uint64_t* const word = words + label / kWord;
          if (!(Concurrent::load(word) & bit)) Concurrent::fetch_or(word, bit);
        });
      });
    });
    count_words();
  }

  LabelRanks(const int64_t* components, int64_t count) : LabelRanks(count ? components[count - 1] + 1 : 0) {
    for_each_in(
        0, count, [&](int64_t i) { words_[components[i] / kWord] |= uint64_t(1) << components[i] % kWord; });
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

}
