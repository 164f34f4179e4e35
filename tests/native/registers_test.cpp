// Holds what is written for the registers of a processor against loops over elements: masks of predicates,
// for every type and every number of elements, labels and marks of runs. Built and run by
// test_registers.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/links.h"
#include "cpu/components/tables.h"
#include "cpu/core/bits.h"
#include "cpu/core/many_words.h"
#include "cpu/grid/expand.h"
#include "cpu/grid/link_words.h"
#include "cpu/grid/runs.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Words of all densities, now and then one that is empty or full.
uint64_t draw_word() {
  const uint64_t word = generator(), second = generator(), third = generator();
  const std::array<uint64_t, 7> words{
      0, kAll, word, word & second, word | second, word & second & third, word | second | third};
  return words[draw(0, 6)];
}

void test_pack() {
  std::array<uint8_t, kHalf> flags;
  const uint64_t word = draw_word();
  for (int p = 0; p < kHalf; ++p) flags[p] = word >> p & 1;
  check(pack(flags.data()) == uint32_t(word), "flags");
}

template <class Predicate> void test_mask(const char* what, Predicate&& predicate) {
  for (int count = 0; count <= kWord; ++count) {
    uint64_t mask = 0;
    for (int p = 0; p < count; ++p)
      if (predicate(p)) mask |= uint64_t(1) << p;
    check(mask_where(count, predicate) == mask, what);
  }
}

// Any bits, which may be those of NaN, or few values, of which neighbours are often equal.
template <class T> std::array<T, kWord + 1> draw_values() {
  std::array<T, kWord + 1> values;
  const bool few = draw(0, 3) > 0;
  for (T& value : values) {
    const uint64_t bits = generator();
    std::memcpy(&value, &bits, sizeof(T));
    if constexpr (!std::is_same_v<T, Half>) {
      if (few) value = T(draw(0, 2));
    } else if (few) {
      value = {uint16_t(draw(0, 2) << 14)};
    }
  }
  return values;
}

// Words of a rule for a row of any length, on a heap without an element more than may be read.
template <class Rule> void test_words(const Rule& rule) {
  using T = typename Rule::Value;
  const int64_t count = draw(1, 3 * kWord), words = (count + kWord - 1) / kWord, first = draw(0, 1);
  std::vector<T> x, y;
  while (int64_t(x.size()) < count) {
    x.push_back(draw_values<T>()[0]);
    y.push_back(draw(0, 1) ? x.back() : draw_values<T>()[0]);
  }
  const auto row = [](const std::vector<T>& values) { return reinterpret_cast<const char*>(values.data()); };
  const RuleWords words_of(rule);
  std::vector<uint64_t> foreground(words), candidates(words), linked(words);
  words_of.foreground(row(x), count, foreground.data());
  for (uint64_t& word : candidates) word = draw_word();
  candidates[0] &= ~uint64_t(first);
  if (count % kWord) candidates.back() &= below(count % kWord);
  linked = candidates;
  words_of.keep_linked(row(x), row(y), int(first), count, {0, false}, linked.data());
  for (int64_t p = 0; p < count; ++p) {
    check(bit_at(foreground.data(), p) != rule.is_background(x[p]), "foreground");
    const bool wanted = bit_at(candidates.data(), p) && rule.linked(x[p], y[p]);
    check(bit_at(linked.data(), p) == wanted, "what is linked");
  }
  if (!words_of.told_by_value) return;
  std::vector<uint64_t> mask(words);
  CommonValue common;
  int64_t seen = -1;  // the first element in the foreground
  bool one = true;
  for (int64_t p = 0; p < count; ++p) {
    if (!bit_at(foreground.data(), p)) continue;
    if (seen < 0) seen = p;
    one &= x[p] == x[seen];
  }
  check(words_of.foreground_of_one_value(row(x), count, common, mask.data()) == one, "one value");
  check(!one || mask == foreground, "foreground of one value");
  check(common.known == (seen >= 0), "whether there is a value");
  if (seen >= 0) check(!std::memcmp(common.value, &x[seen], sizeof(T)), "the value");
}

template <class T, class Limit> void test_masks(Limit limit) {
  const auto values = draw_values<T>(), others = draw_values<T>();
  const T *const x = values.data() + 1, *const y = others.data() + 1, background = others[0];
  const Within<T> within{{}, limit};
  test_mask("not the background", [&](int p) { return !(x[p] == background); });
  test_mask("equal to itself", [&](int p) { return x[p] == x[p]; });
  test_mask("equal to the element before", [&](int p) { return x[p] == x[p - 1]; });
  test_mask("equal to another row", [&](int p) { return x[p] == y[p]; });
  test_mask("equal to two others", [&](int p) { return int(x[p] == y[p]) & int(x[p] == y[p - 1]); });
  test_mask("within a limit", [&, within](int p) { return within.linked(x[p], y[p]); });
  const Background<T> background_of{background, draw(0, 3) > 0};
  test_words(Equal<T>{background_of});
  test_words(Within<T>{background_of, limit});
  if constexpr (std::is_integral_v<T>) {
    const T bit = T(1) << draw(0, 8 * sizeof(T) - 1);
    test_mask("a bit", [&](int p) { return T(x[p] & bit) != 0; });
  }
}

// Two values are within a limit if a simple sum says so.
void test_distance() {
  const auto a = draw_values<double>(), b = draw_values<double>();
  const double limit = draw(0, 2);
  for (int p = 0; p < kWord; ++p) {
    const bool near = a[p] == b[p] || (a[p] < b[p] ? b[p] - a[p] : a[p] - b[p]) <= limit;
    check(RealDistance{limit}.within(a[p], b[p]) == near, "a distance");
  }
  const double infinity = HUGE_VAL;
  check(RealDistance{limit}.within(infinity, infinity), "equal infinities");
  check(!RealDistance{limit}.within(infinity, -infinity), "infinities");
  for (int i = 0; i < 100; ++i) {
    const int c = draw(-128, 127), d = draw(-128, 127), most = draw(0, 255);
    const Distance<uint8_t> distance{uint8_t(most), 1 << 7};
    check(distance.within(uint8_t(c), uint8_t(d)) == (std::abs(c - d) <= most), "a distance of int8");
  }
}

// Labels of as many runs as start, on a heap without a byte more than may be read.
template <class Index> void test_expand() {
  const uint64_t foreground = draw_word(), start = draw_word();
  const Index background = Index(draw(-1, 1));
  std::vector<Index> labels(1 + std::popcount(start) + kSlack), expanded(kWord + 2, 77);
  for (Index& label : labels) label = Index(generator());
  expand(foreground, start, labels.data(), background, expanded.data() + 1);
  check(expanded.front() == 77 && expanded.back() == 77, "elements beside a word");
  for (int p = 0; p < kWord; ++p) {
    const Index label = ~labels[std::popcount(start & up_to(p))];
    check(expanded[p + 1] == (foreground >> p & 1 ? label : background), "label of an element");
  }
}

// Labels of rows of words, or of one label, from anywhere in a line on and with gaps or without, beside
// elements that are to stay.
template <class Label> void test_stream() {
  if constexpr (kStreamed<Label>) {
    const int rows = draw(1, 5), words = draw(0, 4), gap = draw(0, 1) ? 0 : draw(1, 40), begin = draw(0, 40);
    const Label background = Label(draw(-1, 1));
    std::vector<Label> written(begin + rows * (words * kWord + gap) + 40, 77), wanted = written;
    {
      LabelStream<Label> stream;
      for (int row = 0; row < rows; ++row) {
        const int at = begin + row * (words * kWord + gap);
        std::vector<uint64_t> foreground(words), start(words);
        std::vector<Label> labels(words * kWord + 1 + kSlack);
        for (Label& label : labels) label = Label(generator());
        for (int w = 0; w < words; ++w) foreground[w] = draw_word(), start[w] = draw_word();
        stream.turn(written.data() + at);
        if (draw(0, 3) == 0) {
          stream.fill(words * kWord, labels[0]);
          std::fill_n(wanted.begin() + at, words * kWord, labels[0]);
          continue;
        }
        const auto write = [&](auto others) {
          stream.put_all([&](auto&& put) {
            for (int w = 0; w < words; ++w)
              expand_registers(foreground[w], start[w], labels.data() + w, others, put);
          });
          for (int w = 0; w < words; ++w)
            expand(foreground[w], start[w], labels.data() + w, others, wanted.data() + at + w * kWord);
        };
        if (draw(0, 1))
          write(OneLabel<Label>{background});
        else
          write(CountedLabels<Label>{draw_word(), background});
      }
    }
    check(written == wanted, "labels of a stream");
  }
}

// Labels as rows of a table, in place or elsewhere, through the caches or past them, beside elements that are
// to stay.
template <class Label, class Entry> void test_replaced() {
  const int count = draw(0, 200), rows = draw(0, 40), begin = draw(0, 20);
  const Entry background = Entry(draw(-1, 1));
  std::vector<Label> labels(count);
  for (int i = 0; i < count; ++i) labels[i] = i > 0 && draw(0, 3) ? labels[i - 1] : Label(draw(-2, rows + 1));
  std::vector<Entry> table(rows), written(begin + count + 20, 77), wanted = written;
  for (Entry& entry : table) entry = Entry(draw(0, 1) ? generator() : draw(-1, rows));
  for (int i = 0; i < count; ++i)
    wanted[begin + i] = 0 <= labels[i] && labels[i] < rows ? table[labels[i]] : background;
  replace_labels(labels.data(), count, background, table.data(), rows, written.data() + begin);
  check(written == wanted, "labels that are replaced");
  if constexpr (std::is_same_v<Label, Entry>) {
    std::copy(labels.begin(), labels.end(), written.begin() + begin);
    replace_labels(written.data() + begin, count, background, table.data(), rows, written.data() + begin);
    check(written == wanted, "labels that are replaced in place");
  }
#ifdef __AVX512VPOPCNTDQ__
  if constexpr (sizeof(Label) == 4 && sizeof(Entry) == 4) {
    const int blocks = count / kLanes;
    std::fill_n(written.begin() + begin, blocks * kLanes, Entry(77));
    if (rows > 0)
      replace_lanes(labels.data(), 0, blocks, background, table.data(), rows, true, written.data() + begin);
    check(rows == 0 || written == wanted, "labels that are replaced past the caches");
  }
#endif
}

// The same beside labels of elements that are counted.
template <class Index> void test_expand_counted() {
  const uint64_t foreground = draw_word(), start = draw_word();
  const CountedLabels<Index> others{draw_word(), Index(draw(-1, 1000))};
  std::vector<Index> labels(1 + std::popcount(start) + kSlack), expanded(kWord + 2, 77);
  for (Index& label : labels) label = Index(generator());
  expand(foreground, start, labels.data(), others, expanded.data() + 1);
  check(expanded.front() == 77 && expanded.back() == 77, "elements beside a word");
  Index counted = others.before;
  for (int p = 0; p < kWord; ++p) {
    counted += Index(others.begins >> p & 1);
    const Index label = ~labels[std::popcount(start & up_to(p))];
    check(expanded[p + 1] == (foreground >> p & 1 ? label : counted), "label of a counted element");
  }
}

// Marks of the runs of a word, whose entries lie on a heap without one more than may be read.
template <class Index> void test_marks() {
  const int count = draw(0, kWord), available = count + draw(0, kWord);
  const Index first = Index(draw(0, 9)), least = Index(draw(0, 9));
  std::vector<Index> entries(available);
  for (int k = 0; k < available; ++k) entries[k] = draw(0, 1) ? first + k : Index(draw(-9, 9));
  const uint64_t roots = root_marks(entries.data(), first, count, available);
  const uint64_t high = marks_from(entries.data(), least, count, available);
  for (int k = 0; k < kWord; ++k) {
    check((roots >> k & 1) == (k < count && entries[k] == first + k), "mark of a root");
    check((high >> k & 1) == (k < count && entries[k] >= least), "mark of an entry");
  }
  const uint64_t marks = draw_word() & below(std::min(count, kWord - 1)), upper = draw_word();
  std::vector<Index> numbered = entries;
  Index next_upper = 100, next_lower = 200;
  number_marks(numbered.data(), marks, upper, next_upper, next_lower);
  for (int k = 0; k < available; ++k) {
    const bool marked = k < kWord && marks >> k & 1;
    const Index number = !marked ? entries[k] : ~(upper >> k & 1 ? next_upper++ : next_lower++);
    check(numbered[k] == number, "number of a mark");
  }
  uint64_t places = draw_word() | draw_word();  // as many as there are marks
  for (; std::popcount(places) > std::popcount(marks);) places &= places - 1;
  const uint64_t by_places = std::popcount(places) == std::popcount(marks) ? marks : 0;
  numbered = entries;
  number_marks_by_places(numbered.data(), by_places, by_places ? places : 0, first);
  for (int k = 0; k < available; ++k) {
    if (k < kWord && by_places >> k & 1) {
      check(numbered[k] == ~(first + std::countr_zero(places)), "number of a mark by its place");
      places &= places - 1;
    } else {
      check(numbered[k] == entries[k], "an entry without a mark");
    }
  }
}

// An array of two or three axes, whose rows take up to three words; neighbours move along `connectivity`
// axes.
struct Array {
  std::vector<int64_t> shape, stride;
  std::vector<Step> steps, backward;
  int64_t size = 1;

  Array() {
    const int ndim = draw(2, 3), connectivity = draw(1, ndim);
    for (int k = 0; k < ndim; ++k) shape.push_back(k + 1 < ndim ? draw(1, 6) : draw(1, 150));
    stride.resize(ndim);
    for (int k = ndim - 1; k >= 0; size *= shape[k--]) stride[k] = size;
    for (int code = 0, codes = ndim == 2 ? 9 : 27; code < codes; ++code) {
      Step step;
      for (int k = 0, place = codes / 3; k < ndim; ++k, place /= 3)
        step.push_back(int8_t(code / place % 3 - 1));
      const int moves = ndim - int(std::count(step.begin(), step.end(), 0));
      if (moves == 0 || moves > connectivity) continue;
      steps.push_back(step);
      if (code < codes / 2) backward.push_back(step);
    }
  }

  Grid grid(int64_t bytes) const {
    Grid grid{{}, 0, backward};
    for (size_t k = 0; k < shape.size(); ++k)
      grid.axes.push_back({shape[k], false, stride[k], stride[k] * bytes});
    return grid;
  }

  // The neighbour one step away, or -1 beyond an edge.
  int64_t neighbour(int64_t i, const Step& step) const {
    int64_t j = i;
    for (size_t k = 0; k < shape.size(); ++k) {
      const int64_t c = i / stride[k] % shape[k] + step[k];
      if (c < 0 || c >= shape[k]) return -1;
      j += step[k] * stride[k];
    }
    return j;
  }
};

template <class Rule>
void test_labels(const Array& array, const std::vector<typename Rule::Value>& values, const Rule& rule) {
  const auto is_foreground = [&](int64_t i) { return !rule.is_background(values[i]); };
  const std::vector<int64_t> root = flood_fill(array.size, is_foreground, [&](int64_t i, auto&& visit) {
    for (const Step& step : array.steps) {
      const int64_t j = array.neighbour(i, step);
      if (j >= 0 && is_foreground(j) && rule.linked(values[i], values[j])) visit(j);
    }
  });
  std::vector<int32_t> expected(array.size, 0), labels(array.size, 77);
  int32_t count = 0;
  for (int64_t i = 0; i < array.size; ++i)
    if (root[i] >= 0) expected[i] = root[i] == i ? ++count : expected[root[i]];
  int64_t components = 0;
  label_runs(values.data(), RuleWords(rule), array.grid(sizeof(values[0])), Naming::kNumbers, labels.data(),
      &components);
  check(components == count, "the number of components");
  check(labels == expected, "labels");
}

// Bits of rows spread along links and move from row to row, one by one and all at once.
template <int kRows> void test_many_words() {
  using Bits = ManyWords<kRows>;
  std::array<unsigned long long, kRows> bits, links, found;
  for (int row = 0; row < kRows; ++row) {
    bits[row] = draw_word();
    links[row] = draw_word() & below(kWord - 1);
  }
  const Bits some = Bits::load(bits.data()), others = Bits::load(links.data());
  const auto check_rows = [&](const Bits& words, const char* what, auto&& expected) {
    words.store(found.data());
    for (int row = 0; row < kRows; ++row) check(found[row] == expected(row), what);
  };
  check_rows(some.carried(others), "bits behind links", [&](int row) {
    uint64_t reached = bits[row];
    for (int p = 1; p < kWord; ++p) reached |= (reached & links[row]) << 1 & uint64_t(1) << p;
    return reached;
  });
  check_rows(Bits::all(5).add(some, others), "bits of a mask",
      [&](int row) { return 5 | (bits[row] & links[row]); });
  check_rows(some.moved_on(), "the rows before", [&](int row) { return row > 0 ? bits[row - 1] : 0; });
  check_rows(
      some.moved_back(), "the next rows", [&](int row) { return row + 1 < kRows ? bits[row + 1] : 0; });
  check(some.any() == (std::count(bits.begin(), bits.end(), 0) < kRows), "whether there are any");
}

template <class T> std::vector<T> draw_array(const Array& array, int values) {
  const int percent = draw(0, 100);
  std::vector<T> drawn(array.size);
  for (T& value : drawn) value = T(draw(1, 100) <= percent ? draw(1, values) : 0);
  return drawn;
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  process().wanted_threads = 1;
  for (int round = 0; round < rounds; ++round) {
    test_pack();
    test_masks<uint8_t>(Distance<uint8_t>{uint8_t(draw(0, 255)), uint8_t(draw(0, 1) << 7)});
    test_masks<uint16_t>(Distance<uint16_t>{uint16_t(draw(0, 9)), uint16_t(draw(0, 1) << 15)});
    test_masks<uint32_t>(Distance<uint32_t>{uint32_t(draw(0, 9)), uint32_t(draw(0, 1)) << 31});
    test_masks<uint64_t>(Distance<uint64_t>{uint64_t(draw(0, 9)), uint64_t(draw(0, 1)) << 63});
    test_masks<Half>(Distance<Half>{{double(draw(0, 2))}});
    test_masks<float>(Distance<float>{{double(draw(0, 2))}});
    test_masks<double>(Distance<double>{{double(draw(0, 2))}});
    test_distance();
    for (int i = 0; i < 20; ++i) {
      test_many_words<8>();
      test_many_words<16>();
      test_expand<int32_t>();
      test_expand<int64_t>();
      test_stream<int32_t>();
      test_stream<int64_t>();
      test_replaced<int32_t, int32_t>();
      test_replaced<int64_t, int32_t>();
      test_replaced<int64_t, int64_t>();
      test_expand_counted<int32_t>();
      test_expand_counted<int64_t>();
      test_marks<int32_t>();
      test_marks<int64_t>();
    }
    const Array array;
    test_labels(array, draw_array<uint8_t>(array, 1), Equal<uint8_t>{{0, true}});
    test_labels(array, draw_array<uint8_t>(array, 3), Equal<uint8_t>{{0, draw(0, 1) == 0}});
    test_labels(array, draw_array<float>(array, 4), Within<float>{{0, true}, {{1}}});
  }
  std::printf("%d rounds\n", rounds);
}
