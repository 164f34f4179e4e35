// The labels of an array's elements, from those of its runs, written word by word. Where labels of rows side
// by side are neighbours in memory, as in a transposed array, a strip of rows is written at once: a word of
// each becomes a tile, written column by column, as one or two cache lines.
//     rows of the image         labels in memory
//     0   a b c d ...           a A ...     <- column 0 of the tile
//     1   A B C D ...           b B ...     <- column 1
#pragma once

#include "cpu/core/label_stream.h"
#include "cpu/grid/expand.h"
#include "cpu/grid/run_table.h"

namespace conncomp {

// The complemented labels of runs, from entries to which parents lead, mostly one step.
template <class Index> struct NumberedRuns {
  Index* parent;

  Index operator()(int64_t run) const {
    const Index entry = Concurrent::load(parent + run);
    Index label = Concurrent::load(parent + (entry < 0 ? Index(run) : entry));
    while (label >= 0) label = Concurrent::load(parent + label);
    Concurrent::store(parent + run, label);
    return label;
  }

  // Writes labels of runs [begin, end). Entries that others replace lead to the label, before and after.
  void write(int64_t begin, int64_t end, Index* labels) const {
#ifdef __AVX512VPOPCNTDQ__
    if constexpr (sizeof(Index) == 4) return write_lanes(begin, end, labels);
#endif
    for (int64_t run = begin; run < end; ++run) *labels++ = (*this)(run);
  }

 private:
#ifdef __AVX512VPOPCNTDQ__
  void write_lanes(int64_t begin, int64_t end, Index* labels) const {
    for (int64_t run = begin; run < end; run += kLanes, labels += kLanes) {
      const __mmask16 all = __mmask16(below(int(std::min<int64_t>(kLanes, end - run))));
      __m512i label = _mm512_maskz_loadu_epi32(all, parent + run);
      for (;;) {
        const __mmask16 led = _mm512_mask_cmpge_epi32_mask(all, label, _mm512_setzero_si512());
        if (!led) break;
        label = _mm512_mask_i32gather_epi32(label, led, label, parent, sizeof(Index));
      }
      _mm512_mask_storeu_epi32(parent + run, all, label);
      _mm512_mask_storeu_epi32(labels, all, label);
    }
  }
#endif
};

// Writes labels of runs, whose complements `label_of` writes, at the strides of indices of `places`.
template <class Index, class Label, class LabelOf> class RunLabels {
 public:
  RunLabels(const Runs<Index>& runs, LabelOf label_of, Index background, const Bundles& places, Label* labels)
      : runs_(runs),
        masks_(runs.masks),
        bundles_(places),
        label_of_(label_of),
        background_(background),
        labels_(labels),
        in_strips_(places.row_axis.index_stride != 1 && !places.outer.empty() &&
                   places.outer.back().index_stride == 1),
        streamed_(
            places.row_axis.index_stride == 1 && places.elements * int64_t(sizeof(Label)) > kCachedLabels) {}

  void write() {
    parallel_for(bundles_.parts.parts,
        [this](int64_t part) { write_bundles(bundles_.parts.begin(part), bundles_.parts.end(part)); });
  }

  void write_bundles(int64_t begin, int64_t end) const {
    if (in_strips_) return write_strips(begin, end);
    std::vector<int64_t> lines;
    const int64_t most = std::max<int64_t>(1, kBlock / bundles_.words);
    Buffer<Index> labels(labels_of(std::min(bundles_.words * std::min(most, end - begin), kBlock)));
    LabelsOfWords run_labels{labels.data(), 0};
    LabelStream<Label> stream;
    bundles_.for_each_stretch(begin, end, most, [&](int64_t first, int64_t count, const Coordinates& place) {
      bundles_.lines(place, lines);
      const int64_t rows = bundles_.rows_of_line(place, count);
      runs_.blank(first, count) && !masks_.lone_apart
          ? write_background(lines, rows, stream)
          : write_stretch(first, count, lines, rows, run_labels, stream);
    });
  }

 private:
  // The complemented labels of the runs in words of a bundle, from that of the run before on.
  static constexpr int64_t labels_of(int64_t words) { return words * kWord + 1 + kSlack; }
  struct LabelsOfWords {
    Index* labels;   // at least labels_of(words) of them
    int64_t before;  // the number of the run before

    void find(const RunLabels& all, int64_t begin_word, int64_t end_word) {
      before = all.runs_.rank[begin_word] - 1;
      const int64_t after = all.runs_.before(end_word);
      labels[0] = 0;
      const int64_t first = std::max<int64_t>(before, 0);
      all.label_of_.write(first, after, labels + (first - before));
      std::fill_n(labels + (after - before), kSlack, Index(0));
    }
    const Index* at(const RunLabels& all, int64_t word) const {
      return labels + (all.runs_.rank[word] - 1 - before);
    }
  };

  // Labels of a block's runs, then of its elements line by line, as memory takes long pieces faster.
  static constexpr int64_t kBlock = 256;

  void write_stretch(int64_t first, int64_t count, const std::vector<int64_t>& lines, int64_t rows,
      LabelsOfWords& run_labels, LabelStream<Label>& stream) const {
    const int64_t first_word = first * bundles_.words, words = count * bundles_.words;
    const int64_t thickness = bundles_.outer.empty() ? 1 : bundles_.thickness.back();
    for (int64_t begin = 0; begin < words; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, words);
      poll((end - begin) * kWord * rows * int64_t(lines.size()) / count);
      run_labels.find(*this, first_word + begin, first_word + end);
      // A block of several bundles has all of their words.
      const int64_t from = count > 1 ? 0 : begin, to = count > 1 ? bundles_.words : end;
      for (int64_t line : lines)
        for_each_row(line, rows, [&](int64_t row, Label* out) {
          write_row(row, first + (row - line) / thickness, {from, to}, run_labels, out, stream);
        });
    }
  }

  void for_each_row(int64_t line, int64_t rows, auto&& body) const {
    const int64_t stride = bundles_.outer.empty() ? 0 : bundles_.outer.back().index_stride;
    Label* out = labels_ + bundles_.origin(line, &Axis::index_stride);
    for (int64_t row = line; row < line + rows; ++row, out += stride) body(row, out);
  }

  struct Words {
    int64_t from, to;
  };
  void write_row(int64_t row, int64_t bundle, Words words, const LabelsOfWords& run_labels, Label* out,
      LabelStream<Label>& stream) const {
    const int64_t first_word = bundle * bundles_.words;
    if (!masks_.lone_apart)
      return write_words(row, first_word, words, run_labels, out, stream,
          [others = OneLabel<Index>{background_}](int64_t) { return others; });
    const uint64_t* const begins = runs_.lone_begins.data() + first_word;
    const Index* const before = runs_.lone_before.data() + first_word;
    write_words(row, first_word, words, run_labels, out, stream,
        [=](int64_t w) { return CountedLabels<Index>{begins[w], before[w]}; });
  }

  // The same; others(w) are the labels of elements of word w in no run.
  void write_words(int64_t row, int64_t first_word, Words words, const LabelsOfWords& run_labels, Label* out,
      LabelStream<Label>& stream, auto&& others) const {
    // Local copies, as the labels written might alias the members.
    const uint64_t *const foreground = masks_.row(row), *const start = masks_.start.data() + first_word;
    const Index* const rank = runs_.rank.data() + first_word;
    const Index* const labels = run_labels.labels - (run_labels.before + 1);
    const int64_t stride = bundles_.row_axis.index_stride;
    int64_t w = words.from;
    const int64_t whole = std::min(words.to, bundles_.row_axis.length / kWord);
    if constexpr (std::is_same_v<Label, Index> && kStreamed<Label>)
      if (streamed_) {
        stream.turn(out + w * kWord);
        stream.put_all([&](auto&& put) {
          for (int64_t at = w; at < whole; ++at)
            expand_registers(foreground[at], start[at], labels + rank[at], others(at), put);
        });
        w = whole;
      }
    if constexpr (std::is_same_v<Label, Index>)
      if (stride == 1)
        for (; w < whole; ++w) expand(foreground[w], start[w], labels + rank[w], others(w), out + w * kWord);
    for (; w < words.to; ++w) {
      Index word[kWord];
      expand(foreground[w], start[w], labels + rank[w], others(w), word);
      const int count = masks_.covered(w);
      for (int p = 0; p < count; ++p) out[(w * kWord + p) * stride] = Label(word[p]);
    }
  }

  void write_background(const std::vector<int64_t>& lines, int64_t rows, LabelStream<Label>& stream) const {
    const int64_t stride = bundles_.row_axis.index_stride, length = bundles_.row_axis.length;
    for (int64_t line : lines)
      for_each_row(line, rows, [&](int64_t, Label* out) {
        int64_t begin = 0;
        if constexpr (kStreamed<Label>)
          if (streamed_) {
            stream.turn(out);
            for (int64_t w = 0; w < length / kWord; w += kStretchWords) {
              bundles_.poll_at(w);
              stream.fill(std::min(length / kWord - w, kStretchWords) * kWord, Label(background_));
            }
            begin = length / kWord * kWord;
          }
        for_each_in(
            begin, length, [out, stride, label = Label(background_)](int64_t p) { out[p * stride] = label; });
      });
  }

  // Bundles side by side along the last outer axis, and their rows, ascending.
  static constexpr int64_t kStrip = 32;  // bundles
  struct Row {
    int64_t number, bundle;
  };

  void write_strips(int64_t begin, int64_t end) const {
    std::vector<int64_t> members;
    std::vector<Row> rows;
    bundles_.for_each_between(begin, end, [&](int64_t bundle, const Coordinates& place) {
      bundles_.members(place, members);
      for (int64_t row : members) rows.push_back({row, bundle});
      const bool whole = place.back() + 1 == bundles_.shape.back() || bundle + 1 == end;
      if (!whole && bundle + 1 - rows[0].bundle < kStrip) return;
      write_strip(rows);
      rows.clear();
    });
  }

  void write_strip(std::vector<Row>& rows) const {
    constexpr int64_t kBlock = 4;
    const int64_t first = rows[0].bundle, count = rows.back().bundle + 1 - first;
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.number < b.number; });
    Index labels[kStrip][labels_of(kBlock)];
    LabelsOfWords run_labels[kStrip];
    for (int64_t k = 0; k < count; ++k) run_labels[k].labels = labels[k];
    for (int64_t begin = 0; begin < bundles_.words; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, bundles_.words);
      poll((end - begin) * kWord * int64_t(rows.size()));
      for (int64_t k = 0; k < count; ++k) {
        const int64_t first_word = (first + k) * bundles_.words;
        run_labels[k].find(*this, first_word + begin, first_word + end);
      }
      for (int64_t w = begin; w < end; ++w) write_columns(rows, w, first, run_labels);
    }
  }

  void write_columns(const std::vector<Row>& rows, int64_t w, int64_t first, const auto& run_labels) const {
    constexpr int64_t kWidth = 32;
    Label tile[kWord][kWidth];
    const int64_t stride = bundles_.row_axis.index_stride, length = bundles_.outer.back().length;
    for (size_t k = 0; k < rows.size();) {
      Label* const out = labels_ + bundles_.origin(rows[k].number, &Axis::index_stride) + w * kWord * stride;
      const int64_t row = rows[k].number, beyond = std::min(row + kWidth, (row / length + 1) * length);
      int64_t width = 0;
      for (; k < rows.size() && rows[k].number == row + width && row + width < beyond; ++k, ++width) {
        const int64_t word = rows[k].bundle * bundles_.words + w;
        Index labels[kWord];
        expand(masks_.row(rows[k].number)[w], masks_.start[word],
            run_labels[rows[k].bundle - first].at(*this, word), background_, labels);
        for (int p = 0; p < kWord; ++p) tile[p][width] = Label(labels[p]);
      }
      const int count = masks_.covered(w);
      if (width == kWidth)  // a constant, as most are: no function is called for each column
        for (int p = 0; p < count; ++p) std::copy_n(tile[p], kWidth, out + p * stride);
      else
        for (int p = 0; p < count; ++p) std::copy_n(tile[p], width, out + p * stride);
    }
  }

  const Runs<Index>& runs_;
  const Masks& masks_;
  const Bundles& bundles_;
  const LabelOf label_of_;
  const Index background_;
  Label* const labels_;
  const bool in_strips_;
  const bool streamed_;  // whether labels go past the caches, if they can
};

}
