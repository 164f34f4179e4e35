// Counts contacts of components: per pair of labels and kind, a backward step, such as faces by axis, so
// that areas stay sums of integers until the end. Words of 64 elements say which are no background, and
// differ from the one before or another line. A pair and a kind make a key of 64 bits, which each thread
// counts (key_counts.h). Labels of a contact are loaded once, and checked again (contract 5). Cost: labels
// read once for each line that touches a line, and a look-up per contact. Memory: two bits an element; 32
// to 64 bytes a pair, kind and thread.
#pragma once

#include "cpu/core/bits.h"
#include "cpu/core/key_counts.h"
#include "cpu/core/numbering.h"

namespace conncomp {

// A step back, as touching.py packs it. Bit k of a word stands for axis k.
struct ContactStep {
  int64_t offset;     // to the neighbour, if the step stays in the array
  uint64_t down, up;  // axes along which it moves by -1, and by 1
  int64_t kind;
};

struct ContactGrid {
  std::vector<int64_t> shape;  // that of all items: no step moves along the axis of these, the first
  uint64_t periodic;
  std::vector<ContactStep> steps;
  int64_t kinds;

  int last() const { return int(shape.size()) - 1; }  // the axis of lines
  int64_t length() const { return shape.back(); }
  int64_t lines() const {
    int64_t lines = length() > 0;
    for (int k = 0; k < last(); ++k) lines *= shape[k];
    return lines;
  }
};

// For each line, which elements are no background, and which differ from the one before.
template <class Label> class LineWords {
 public:
  LineWords(const Label* labels, Label background, int64_t length, int64_t lines)
      : words_((length + kWord - 1) / kWord), foreground_(words_ * lines), changes_(words_ * lines) {
    const Parts parts(lines, kGrain / length + 1);
    parallel_for(parts.parts, [&](int64_t part) {
      for (int64_t line = parts.begin(part); line < parts.end(part); ++line)
        for (int64_t w = 0; w < words_; ++w) {
          const Label* const at = labels + line * length + w * kWord;
          const int count = int(std::min<int64_t>(kWord, length - w * kWord));
          poll(count);
          foreground_[line * words_ + w] = mask_where(count, [=](int p) { return at[p] != background; });
          uint64_t changes = mask_where(count - 1, [=](int p) { return at[p + 1] != at[p]; }) << 1;
          if (w > 0) changes |= uint64_t(at[0] != at[-1]);
          changes_[line * words_ + w] = changes;
        }
    });
  }

  int64_t words() const { return words_; }  // of a line
  const uint64_t* foreground(int64_t line) const { return foreground_.data() + line * words_; }
  const uint64_t* changes(int64_t line) const { return changes_.data() + line * words_; }

 private:
  const int64_t words_;
  Buffer<uint64_t> foreground_, changes_;
};

template <class Label> class ContactCounter {
 public:
  // Labels are below `rows`; rows² * kinds keys fit into 64 bits.
  ContactCounter(const Label* labels, Label background, int64_t rows, const ContactGrid& grid,
      const LineWords<Label>& words, KeyCounts& counts)
      : labels_(labels),
        background_(background),
        rows_(rows),
        grid_(grid),
        words_(words),
        counts_(counts),
        turn_(grid.shape.size()) {
    int64_t stride = 1;
    for (int k = grid.last(); k >= 0; --k) turn_[k] = stride *= grid.shape[k];
    for (const ContactStep& step : grid.steps) add_step(step);
  }

  void count_line(int64_t line) {
    uint64_t at_begin = 0, at_end = 0;
    for (int64_t k = grid_.last() - 1, above = line; k >= 0; --k) {
      const int64_t coordinate = above % grid_.shape[k];
      above /= grid_.shape[k];
      at_begin |= uint64_t(coordinate == 0) << k;
      at_end |= uint64_t(coordinate == grid_.shape[k] - 1) << k;
    }
    for (const LineSteps& steps : steps_) {
      const uint64_t over_begin = at_begin & steps.down, over_end = at_end & steps.up;
      if ((over_begin | over_end) & ~grid_.periodic) continue;
      int64_t offset = steps.offset;
      for_each_bit(over_begin, [&](int k) { offset += turn_[k]; });
      for_each_bit(over_end, [&](int k) { offset -= turn_[k]; });
      count_lines(line, line + offset / grid_.length(), steps);
    }
  }

  void finish() { counts_.send_all(); }

 private:
  static constexpr int64_t kNoStep = -1;

  struct LineSteps {
    int64_t offset;     // between the lines
    uint64_t down, up;  // axes along which they move, but the last
    int64_t kind[3];    // of those that move along the line by -1, 0 and 1
  };

  void add_step(const ContactStep& step) {
    const uint64_t along = uint64_t(1) << grid_.last();
    const int move = int((step.up & along) != 0) - int((step.down & along) != 0);
    const uint64_t down = step.down & ~along, up = step.up & ~along;
    if (steps_.empty() || steps_.back().down != down || steps_.back().up != up)
      steps_.push_back({step.offset - move, down, up, {kNoStep, kNoStep, kNoStep}});
    steps_.back().kind[move + 1] = step.kind;
  }

  void count_lines(int64_t line, int64_t neighbour_line, const LineSteps& steps) {
    const int64_t length = grid_.length(), words = words_.words();
    const Label *const at = labels_ + line * length, *const neighbours = labels_ + neighbour_line * length;
    const uint64_t *const present = words_.foreground(line),
                          *const facing = words_.foreground(neighbour_line),
                          *const changes = words_.changes(neighbour_line);
    for (int64_t w = 0; w < words; ++w) {
      if (!present[w]) continue;
      const ShiftedWord beside(facing, w, words), change(changes, w, words);
      if (!(present[w] & (beside.word | beside.left | beside.right))) continue;
      const int64_t first = w * kWord;
      const int count = int(std::min<int64_t>(kWord, length - first));
      poll(count);
      const Label *const here = at + first, *const there = neighbours + first;
      const uint64_t differ =
          line == neighbour_line ? 0 : mask_where(count, [=](int p) { return here[p] != there[p]; });
      // An element equal to the one beside, which equals its own neighbour, is no contact.
      count_contacts(here, there - 1, (differ | change.word) & present[w] & beside.left, steps.kind[0]);
      count_contacts(here, there, differ & present[w] & beside.word, steps.kind[1]);
      count_contacts(here, there + 1, (differ | change.right) & present[w] & beside.right, steps.kind[2]);
    }
    if (grid_.periodic >> grid_.last() & 1) {
      count_contacts(at, neighbours + length - 1, 1, steps.kind[0]);
      count_contacts(at + length - 1, neighbours, 1, steps.kind[2]);
    }
  }

  // Counts those of some places that are contacts: of different labels, neither background.
  void count_contacts(const Label* at, const Label* neighbours, uint64_t places, int64_t kind) {
    if (kind == kNoStep) return;
    poll(kAdd * std::popcount(places));
    for_each_bit(places, [&](int p) {
      const Label label = Concurrent::load(at + p), neighbour = Concurrent::load(neighbours + p);
      if (label == neighbour || !has_row(label) || !has_row(neighbour)) return;
      const uint64_t pair =
          uint64_t(std::min(label, neighbour)) * uint64_t(rows_) + uint64_t(std::max(label, neighbour));
      counts_.add(pair * uint64_t(grid_.kinds) + uint64_t(kind));
    });
  }

  static constexpr int64_t kAdd = 16;  // the cost of a count, in elements, where the table is large

  bool has_row(Label label) const { return label != background_ && uint64_t(label) < uint64_t(rows_); }

  const Label* const labels_;
  const Label background_;
  const int64_t rows_;
  const ContactGrid& grid_;
  const LineWords<Label>& words_;
  RecentCounts counts_;
  std::vector<int64_t> turn_;     // for each axis, how far a step over its end is off
  std::vector<LineSteps> steps_;  // those of one line together
};

// Pairs that touch, ascending, and how often. A pair belongs to the part of its first key.
class LabelContacts {
 public:
  LabelContacts(const std::vector<KeyCounts>& tables, int64_t rows, int64_t kinds)
      : rows_(rows),
        kinds_(kinds),
        counts_(sorted_counts(tables)),
        parts_(counts_.second, kGrain),
        first_pair_(parts_.parts + 1) {
    parallel_for(parts_.parts, [this](int64_t part) {
      int64_t pairs = 0;
      for_each_in(parts_.begin(part), parts_.end(part), [&, this](int64_t i) { pairs += begins_pair(i); });
      first_pair_[part + 1] = pairs;
    });
    std::partial_sum(first_pair_.begin(), first_pair_.end(), first_pair_.begin());
  }

  int64_t pairs() const { return first_pair_.back(); }

  void write(int64_t* labels, int64_t* counts) const {
    parallel_for(parts_.parts, [=, this](int64_t part) {
      int64_t pair = first_pair_[part] - 1;
      const auto add = [&, this](int64_t i) {
        if (begins_pair(i)) {
          const uint64_t both = pair_at(i);
          ++pair;
          labels[2 * pair] = int64_t(both / uint64_t(rows_));
          labels[2 * pair + 1] = int64_t(both % uint64_t(rows_));
          std::fill_n(counts + pair * kinds_, kinds_, 0);
        }
        // Counts before the first pair of the part are of the part before.
        if (pair < first_pair_[part]) return;
        const KeyCount& entry = counts_.first[i];
        counts[pair * kinds_ + int64_t(entry.key % uint64_t(kinds_))] += entry.count;
      };
      int64_t i = parts_.end(part);
      for_each_in(parts_.begin(part), i, add);
      for (; pair >= first_pair_[part] && i < counts_.second && !begins_pair(i); ++i) add(i);
    });
  }

 private:
  uint64_t key(int64_t i) const { return counts_.first[i].key; }
  uint64_t pair_at(int64_t i) const { return key(i) / uint64_t(kinds_); }
  bool begins_pair(int64_t i) const {
    if (i == 0 || key(i) - key(i - 1) >= uint64_t(kinds_)) return true;  // mostly, without a division
    return pair_at(i) != pair_at(i - 1);
  }

  const int64_t rows_, kinds_;
  std::pair<Buffer<KeyCount>, int64_t> counts_;  // in the order of keys, and how many
  const Parts parts_;
  std::vector<int64_t> first_pair_;  // of each part, and how many there are
};

// Adds up contacts and areas: `times` weighs a kind, `face` is the area of the first kinds.
inline void weigh_contacts(const int64_t* by_kind, int64_t pairs, const std::vector<int64_t>& times,
    const std::vector<double>& face, int64_t* counts, double* areas) {
  const int64_t kinds = int64_t(times.size()), faces = int64_t(face.size());
  for_each_index(
      pairs,
      [=, times = times.data(), face = face.data()](int64_t pair) {
        const int64_t* const of_pair = by_kind + pair * kinds;
        int64_t count = 0;
        double area = 0;
        for (int64_t kind = 0; kind < faces; ++kind) area += double(of_pair[kind]) * face[kind];
        for (int64_t kind = 0; kind < kinds; ++kind) count += of_pair[kind] * times[kind];
        counts[pair] = count, areas[pair] = area;
      },
      kinds + 1);
}

template <class Label>
LabelContacts find_contacts(const Label* labels, Label background, int64_t rows, const ContactGrid& grid) {
  const int64_t lines = grid.lines();
  const int64_t threads = std::clamp<int64_t>(lines * grid.length() / kGrain, 1, num_threads());
  std::vector<KeyCounts> tables(threads);
  if (lines > 0) {
    const LineWords<Label> words(labels, background, grid.length(), lines);
    parallel_for(threads, [&](int64_t t) {
      KeyCounts counts;  // not in the vector, where tables would share cache lines
      ContactCounter<Label> counter(labels, background, rows, grid, words, counts);
      for (int64_t line = lines * t / threads; line < lines * (t + 1) / threads; ++line)
        counter.count_line(line);
      counter.finish();
      tables[t] = std::move(counts);
    });
  }
  return LabelContacts(tables, rows, grid.kinds);
}

// Pairs of labels of two arrays: runs of foreground in both, ending with a thread's part.
template <class Label> std::vector<int64_t> pair_runs(const Label* one, const Label* other, int64_t count) {
  constexpr int64_t kBlock = 16;
  const Parts parts(count, kGrain);
  std::vector<std::vector<int64_t>> runs(parts.parts);
  parallel_for(parts.parts, [&](int64_t part) {
    const int64_t first = parts.begin(part), end = parts.end(part);
    std::vector<int64_t>& of_part = runs[part];
    int64_t after = first;  // the end of the last run
    for_each_in(0, (end - first + kBlock - 1) / kBlock, [&, end](int64_t block) {
      const int64_t begin = first + block * kBlock, stop = std::min(end, begin + kBlock);
      Label any = 0;
      for (int64_t i = begin; i < stop; ++i) any |= Concurrent::load(one + i);
      if (!any) return;
      for (int64_t i = begin; i < stop; ++i) {
        const int64_t here = Concurrent::load(one + i), there = Concurrent::load(other + i);
        if (here == 0 || there == 0) continue;
        const size_t last = of_part.size();
        if (last > 0 && after == i && of_part[last - 3] == here && of_part[last - 2] == there)
          ++of_part[last - 1];
        else
          of_part.insert(of_part.end(), {here, there, 1});
        after = i + 1;
      }
    });
  });
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& of_part : runs) all.insert(all.end(), of_part.begin(), of_part.end());
  return all;
}

}
