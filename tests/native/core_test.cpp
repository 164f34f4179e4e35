// Runs what the C++ core does with arrays and labels on random inputs under a sanitizer, with several threads
// and parts so small that every seam is crossed, and compares with a serial flood fill. Built and run by
// test_sanitizers.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "core/links.h"
#include "cpu/components/colours.h"
#include "cpu/components/contacts.h"
#include "cpu/components/distinct.h"
#include "cpu/components/intensities.h"
#include "cpu/components/measures.h"
#include "cpu/components/surfaces.h"
#include "cpu/components/tables.h"
#include "cpu/core/buffer.h"
#include "cpu/core/extremes.h"
#include "cpu/grid/runs.h"
#include "cpu/papers/tiles.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Any array, one where neighbours share faces, and a volume with rows of several words, where all that touch
// are neighbours.
enum class Kind { kAny, kLattice, kVolume };

// A random array: its shape, and which of its elements are neighbours.
struct Image {
  std::vector<int64_t> shape, stride;
  std::vector<bool> periodic;
  int batch_axes;
  std::vector<Step> steps;  // in both directions, along the axes of an item
  int64_t size = 1, item_size = 1;

  explicit Image(Kind kind = Kind::kAny) {
    const bool is_volume = kind == Kind::kVolume;
    const int ndim = is_volume ? 3 : draw(1, 4), longest[] = {400, 90, 20, 8};
    batch_axes = !is_volume && draw(0, 1) ? draw(0, ndim - 1) : 0;
    for (int k = 0; k < ndim; ++k) {
      shape.push_back(draw(0, 3) ? draw(2, longest[ndim - 1]) : 2);
      periodic.push_back(k >= batch_axes && draw(0, 1));
    }
    if (is_volume || (ndim == 3 && !draw(0, 7))) shape = {draw(2, 6), draw(2, 8), draw(60, 200)};
    stride.resize(ndim);
    for (int k = ndim - 1; k >= 0; size *= shape[k--]) {
      if (k >= batch_axes) item_size *= shape[k];
      stride[k] = size;
    }
    draw_steps(ndim - batch_axes, kind);
  }

  int64_t items() const { return size / item_size; }

  // The array as kernels are told of it, with bytes of values at `byte_strides` for each axis. The axes of an
  // item are in any order.
  Grid grid(const std::vector<int64_t>& byte_strides, std::vector<int>* order = nullptr) const {
    const int ndim = int(shape.size());
    std::vector<int> axes(ndim);
    for (int k = 0; k < ndim; ++k) axes[k] = k;
    if (draw(0, 1)) std::shuffle(axes.begin() + batch_axes, axes.end(), generator);
    Grid grid{{}, batch_axes, {}};
    for (int k : axes) grid.axes.push_back({shape[k], periodic[k], stride[k], byte_strides[k]});
    for (const Step& step : steps) {
      Step turned;
      for (int k = batch_axes; k < ndim; ++k) turned.push_back(step[axes[k] - batch_axes]);
      if (turned < Step(turned.size(), 0)) grid.backward.push_back(turned);
    }
    std::sort(grid.backward.begin(), grid.backward.end());
    if (order) *order = axes;
    return grid;
  }

  // Calls body(index, step) for each neighbour.
  template <class Body> void for_each_neighbour(int64_t i, Body&& body) const {
    for (const Step& step : steps) {
      int64_t j = i;
      bool inside = true;
      for (size_t s = 0; s < step.size(); ++s) {
        const size_t k = batch_axes + s;
        const int64_t at = i / stride[k] % shape[k], c = at + step[s];
        if (c < 0 || c >= shape[k]) inside &= periodic[k];
        j += ((c + shape[k]) % shape[k] - at) * stride[k];
      }
      if (inside) body(j, step);
    }
  }

 private:
  // Those of a connectivity, or any.
  void draw_steps(int ndim, Kind kind) {
    const bool any = kind == Kind::kAny && draw(0, 1);
    const int connectivity = kind == Kind::kVolume ? ndim : kind == Kind::kLattice ? 1 : draw(1, ndim);
    const int percent = draw(0, 100);
    Step step(ndim, -1);
    for (bool more = true; more;) {
      const int moves = ndim - int(std::count(step.begin(), step.end(), 0));
      if (step < Step(ndim, 0) && (any ? draw(1, 100) <= percent : moves <= connectivity)) {
        steps.push_back(step);
        for (int8_t& move : step) move = -move;
        steps.push_back(step);
        for (int8_t& move : step) move = -move;
      }
      more = false;
      for (int k = 0; k < ndim && !more; ++k) {
        more = step[k] < 1;
        step[k] = more ? step[k] + 1 : -1;
      }
    }
  }
};

// What labels arrays.
enum class By { kRuns, kRasterScans, kEquivalence, kTiles };

template <class... Task> void label_array(By by, const Task&... task) {
  if (by == By::kRuns) return label_runs(task...);
  if (by == By::kRasterScans) return label_by_raster_scans(task...);
  if (by == By::kEquivalence) return label_by_equivalence(task...);
  const TileOptions options{TileLabelling(draw(0, 2)), TileMerging(draw(0, 1)), 1 << draw(1, 4)};
  label_by_tiles(task..., options);
}

By draw_algorithm() { return By(draw(0, 3)); }

// Compares a side of kept runs with the numbers of all elements.
void test_side(const KeptRuns& runs, const Grid& grid, const std::vector<int32_t>& number_of) {
  const int side = draw(0, int(grid.axes.size()) - 1);
  const bool last = draw(0, 1);
  std::vector<int64_t> elements{last ? (grid.axes[side].length - 1) * grid.axes[side].index_stride : 0};
  for (const Axis& axis : grid.axes) {
    if (&axis == &grid.axes[side]) continue;
    std::vector<int64_t> further;
    for (int64_t element : elements)
      for (int64_t k = 0; k < axis.length; ++k) further.push_back(element + k * axis.index_stride);
    elements = further;
  }
  std::vector<int32_t> numbers(elements.size(), 77);
  runs.write_side(side, last, numbers.data());
  for (size_t k = 0; k < elements.size(); ++k)
    check(numbers[k] == number_of[elements[k]], "a number on a side");
}

// Writes labels of kept runs to parts of a larger array, whose elements alternate, and compares with the
// roots that are expected.
void test_kept_runs(const Image& image, const void* data, const LinkWords& links, const Grid& grid,
    const std::vector<int64_t>& expected) {
  if (image.batch_axes) return;
  const KeptRuns runs(data, links, grid);
  std::vector<int32_t> number_of(image.size), roots;
  for (int64_t i = 0; i < image.size; ++i) {
    if (expected[i] == i) roots.push_back(int32_t(i));
    if (expected[i] >= 0) number_of[i] = expected[i] == i ? int32_t(roots.size()) : number_of[expected[i]];
  }
  check(runs.roots() == roots, "roots of kept runs");
  check(runs.bytes() > 0, "memory of kept runs");
  test_side(runs, grid, number_of);
  const int64_t copies = draw(1, 3);
  std::vector<int64_t> strides;
  for (const Axis& axis : grid.axes) strides.push_back(copies * axis.index_stride);
  std::vector<int32_t> labels(copies * image.size, 77), table(roots.size() + 1);
  for (int32_t& label : table) label = draw(-9, 9);
  std::vector<std::unique_ptr<const PlacedRuns>> parts;
  for (int64_t copy = 0; copy < copies; ++copy)
    parts.push_back(std::make_unique<const PlacedRuns>(runs, table.data(), strides, labels.data() + copy));
  if (copies > 1)
    write_together(parts);
  else
    runs.write(table.data(), strides, labels.data());
  for (size_t k = 0; k < labels.size(); ++k)
    check(labels[k] == table[number_of[k / copies]], "a label of kept runs");
}

// Labels by both numberings, and compares with the roots that are expected, as indices of the whole array.
template <class Index>
std::vector<Index> test_labels(const Image& image, const void* data, const LinkWords& links, const Grid& grid,
    const std::vector<int64_t>& expected) {
  std::vector<Index> roots(image.size, 77), numbers(image.size, 77);
  std::vector<int64_t> counts(image.items(), 77), recounts(image.items(), 77);
  label_array(draw_algorithm(), data, links, grid, Naming::kRoots, roots.data(), counts.data());
  label_array(draw_algorithm(), data, links, grid, Naming::kNumbers, numbers.data(), recounts.data());
  check(counts == recounts, "numbers of components");
  test_kept_runs(image, data, links, grid, expected);
  std::vector<int64_t> number(image.size), next(image.items());
  for (int64_t i = 0; i < image.size; ++i) {
    const int64_t item = i / image.item_size, root = expected[i];
    check(roots[i] == (root < 0 ? -1 : root - item * image.item_size), "root of an element");
    if (root == i) number[i] = ++next[item];
    check(numbers[i] == (root < 0 ? 0 : number[root]), "number of an element");
  }
  check(next == counts, "number of roots");
  return numbers;
}

template <class Value> Value value_of(int drawn) {
  if constexpr (std::is_same_v<Value, Half>)
    return {uint16_t(drawn ? 0x3c00 + drawn : draw(0, 1) << 15)};  // from 1 on; zeros of both signs
  else
    return Value(drawn);
}

template <class Value> std::vector<int64_t> byte_strides(const Image& image) {
  std::vector<int64_t> strides;
  for (int64_t stride : image.stride) strides.push_back(stride * int64_t(sizeof(Value)));
  return strides;
}

// Columns with a place for each component.
struct Measured {
  std::vector<int64_t> labels, sizes, boxes;
  std::vector<double> centroids, covariances;

  Measured(const Measures& measures, size_t axes, bool with_products)
      : labels(measures.components()),
        sizes(labels.size()),
        boxes(2 * axes * labels.size()),
        centroids(axes * labels.size()),
        covariances(with_products ? axes * axes * labels.size() : 0) {
    measures.write({labels.data(), sizes.data(), boxes.data(), centroids.data(),
        with_products ? covariances.data() : nullptr});
  }
  bool operator==(const Measured&) const = default;
};

// Columns of the values of an image.
template <class Value> struct MeasuredValues {
  std::vector<GivenSum<Value>> sums;
  std::vector<double> means, centroids;
  std::vector<Value> minima, maxima;

  MeasuredValues(const LabelledItems& items, const std::vector<Value>& values, const Measured& measured)
      : sums(measured.labels.size()),
        means(sums.size()),
        centroids(items.shape.size() * sums.size()),
        minima(sums.size()),
        maxima(sums.size()) {
    const RowsOfLabels rows(measured.labels.data(), int64_t(sums.size()));
    const Intensities<Value> intensities(
        items, values.data(), rows, {measured.sizes.data(), measured.boxes.data()}, draw(43, 84));
    check(intensities.write(
              rows.count(), {sums.data(), means.data(), minima.data(), maxima.data(), centroids.data()}),
        "sums that fit");
  }
};

// Compares values and faces of components with sums over elements, which are exact.
template <class Value, class Index>
void test_values(
    const std::vector<int64_t>& shape, const std::vector<Index>& numbers, const Measured& measured) {
  const int64_t axes = int64_t(shape.size()), count = int64_t(numbers.size());
  const LabelledItems items{{numbers.data(), count, 0}, shape};
  std::vector<Value> values(count);
  for (Value& value : values) value = Value(draw(0, 200)) / 2;
  const MeasuredValues<Value> found(items, values, measured);
  const RowsOfLabels rows(measured.labels.data(), int64_t(measured.labels.size()));
  std::vector<int64_t> faces(axes * rows.count()), expected(faces.size());
  count_faces(items, rows, faces.data());
  std::vector<double> sums(rows.count());
  for (int64_t i = 0; i < count; ++i) {
    if (numbers[i] == 0) continue;
    const int64_t row = rows.row(numbers[i]);
    sums[row] += double(values[i]);
    check(found.minima[row] <= values[i] && values[i] <= found.maxima[row], "extremes");
    int64_t stride = 1;
    for (int64_t k = axes - 1; k >= 0; stride *= shape[k--]) {
      const int64_t at = i / stride % shape[k];
      expected[row * axes + k] += at == 0 || numbers[i - stride] != numbers[i];
      expected[row * axes + k] += at + 1 == shape[k] || numbers[i + stride] != numbers[i];
    }
  }
  check(faces == expected, "faces");
  for (int64_t row = 0; row < rows.count(); ++row)
    check(double(found.sums[row]) == sums[row], "a sum of values");
}

// Compares what is measured of numbers below `rows`, which occur as often as `sizes` says, with sums over
// elements, and the table for few axes with that for any.
template <class Index>
void test_measures(const std::vector<int64_t>& shape, const std::vector<Index>& numbers, int64_t rows,
    const std::vector<int64_t>& sizes) {
  const int axes = int(shape.size());
  const int64_t count = int64_t(numbers.size());
  const bool with_products = draw(0, 1);
  const auto measures = measure_labels({numbers.data(), count, 0}, shape, rows, with_products);
  const Measured measured(*measures, axes, with_products);
  const MeasuresOf<WideTable> wide({numbers.data(), count, 0}, shape, axes, rows, bool(draw(0, 1)));
  check(measured == Measured(wide, axes, with_products), "one table and another");
  if (measures->are_points() && with_products)
    check(std::ranges::count(measured.covariances, 0.0) == int64_t(measured.covariances.size()), "points");
  std::vector<int64_t> first(rows * axes, INT64_MAX), end(rows * axes), sum(rows * axes);
  std::vector<double> product(rows * axes * axes);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> place(axes);
    for (int64_t k = axes - 1, quotient = i; k >= 0; quotient /= shape[k--]) place[k] = quotient % shape[k];
    for (int k = 0; k < axes; ++k) {
      const int64_t at = numbers[i] * axes + k;
      first[at] = std::min(first[at], place[k]), end[at] = std::max(end[at], place[k] + 1);
      sum[at] += place[k];
      for (int l = 0; l < axes; ++l) product[at * axes + l] += double(place[k] * place[l]);
    }
  }
  size_t component = 0;
  for (int64_t row = 1; row < rows; ++row) {
    if (sizes[row] == 0) continue;
    check(component < measured.labels.size() && measured.labels[component] == row, "a label that occurs");
    check(measured.sizes[component] == sizes[row], "a size in statistics");
    const double n = double(sizes[row]);
    for (int k = 0; k < axes; ++k) {
      const int64_t at = row * axes + k, column = component * axes + k;
      check(measured.boxes[2 * column] == first[at] && measured.boxes[2 * column + 1] == end[at], "a box");
      check(measured.centroids[column] == double(sum[at]) / n, "a centroid");
      for (int l = 0; l < axes && with_products; ++l) {
        const double expected =
            product[at * axes + l] / n - double(sum[at]) * double(sum[row * axes + l]) / n / n;
        check(std::abs(measured.covariances[column * axes + l] - expected) < 1e-6, "a covariance");
      }
    }
    ++component;
  }
  check(component == measured.labels.size(), "the number of components");
  if (draw(0, 1))
    test_values<double>(shape, numbers, measured);
  else
    test_values<uint16_t>(shape, numbers, measured);
}

// Items have all axes but the first ones of a shape.
template <class Index>
void test_spans(const std::vector<int64_t>& shape, const std::vector<Index>& numbers, int64_t rows) {
  const std::vector<int64_t> item(shape.begin() + draw(0, int(shape.size()) - 1), shape.end());
  const int64_t axes = int64_t(item.size()), count = int64_t(numbers.size());
  const auto spans = std::make_unique<bool[]>(rows * axes);
  find_spans({{numbers.data(), count, 0}, item}, rows, spans.get());
  int64_t stride = 1;
  for (int64_t axis = axes - 1; axis >= 0; stride *= item[axis--]) {
    std::vector<int> faces(rows);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = i / stride % item[axis];
      faces[numbers[i]] |= int(place == 0) | int(place == item[axis] - 1) << 1;
    }
    faces[0] = 0;  // the background
    for (int64_t row = 0; row < rows; ++row)
      check(spans[row * axes + axis] == (faces[row] == 3), "a label that spans");
  }
}

template <class Index> void test_members(const std::vector<Index>& numbers, int64_t rows) {
  const int64_t count = int64_t(numbers.size()), items = draw(1, 2), length = count / items;
  if (length == 0) return;
  std::vector<int64_t> begins(rows + 1);
  MemberLists lists({numbers.data(), items * length, 0}, rows, begins.data());
  std::vector<int32_t> members(lists.count(), -1);
  lists.write(length, members.data());
  std::vector<int64_t> next = begins;
  for (int64_t i = 0; i < items * length; ++i)
    if (numbers[i] > 0) check(members[next[numbers[i]]++] == i % length, "a member");
  for (int64_t row = 0; row < rows; ++row) check(next[row] == begins[row + 1], "where members end");
}

template <class Value, class Index> void test_grid() {
  const Image image;
  const int values = draw(1, 5), percent = draw(0, 100), limit = draw(0, 2);
  const Background<Value> background{Value{}, draw(0, 3) > 0};
  std::vector<Value> data(image.size);
  std::vector<int> drawn(image.size);
  for (int64_t i = 0; i < image.size; ++i) {
    drawn[i] = draw(1, 100) <= percent ? draw(1, values) : 0;
    data[i] = value_of<Value>(drawn[i]);
  }
  const auto expected = [&](auto&& linked) {
    return flood_fill(
        image.size, [&](int64_t i) { return !background.present || drawn[i]; },
        [&](int64_t i, auto&& visit) {
          image.for_each_neighbour(i, [&](int64_t j, const Step&) {
            if ((!background.present || drawn[j]) && linked(drawn[i], drawn[j])) visit(j);
          });
        });
  };
  const Grid grid = image.grid(byte_strides<Value>(image));
  const auto equal = expected([](int a, int b) { return a == b; });
  const std::vector<Index> numbers =
      test_labels<Index>(image, data.data(), RuleWords(Equal<Value>{background}), grid, equal);
  if constexpr (std::is_integral_v<Value>) {
    const auto close = expected([&](int a, int b) { return std::abs(a - b) <= limit; });
    const RuleWords within(Within<Value>{background, {Value(limit), 0}});
    test_labels<Index>(image, data.data(), within, grid, close);
  } else {
    const double far = limit / (std::is_same_v<Value, Half> ? 1024. : 1.);
    const auto distance = [&](int a, int b) {
      const auto real = [](int v) { return std::is_same_v<Value, Half> ? v ? 1 + v / 1024. : 0. : v; };
      return std::abs(real(a) - real(b)) <= far;
    };
    const RuleWords within(Within<Value>{background, {{far}}});
    test_labels<Index>(image, data.data(), within, grid, expected(distance));
  }

  const int64_t count = *std::max_element(numbers.begin(), numbers.end());
  const int64_t rows = count + 1;
  std::vector<int64_t> sizes(rows), recount(rows);
  count_labels({numbers.data(), image.size, 0}, rows, sizes.data());
  for (Index label : numbers) recount[label] += label > 0;
  check(sizes == recount, "sizes");
  test_measures(image.shape, numbers, rows, recount);
  test_members(numbers, rows);
  test_spans(image.shape, numbers, rows);
  const auto [low, high] = extremes(numbers.data(), image.size);
  check(low == *std::min_element(numbers.begin(), numbers.end()), "the smallest label");
  check(high == count, "the largest label");
  std::vector<int64_t> counts(kBytes), wanted(kBytes);
  const std::vector<uint8_t> bytes(numbers.begin(), numbers.end());
  count_bytes(bytes.data(), int64_t(bytes.size()), counts.data());
  for (uint8_t byte : bytes) ++wanted[byte];
  check(counts == wanted, "counts of bytes");
  std::vector<int64_t> ranking(rows);
  const int64_t items = rows % 2 ? 1 : 2, rows_of_item = rows / items;
  sort_by_size(sizes.data(), rows, items, ranking.data());
  for (int64_t i = 0; i < rows; ++i) {
    check(ranking[i] / rows_of_item == i / rows_of_item, "order by item");
    if (i % rows_of_item) check(sizes[ranking[i - 1]] >= sizes[ranking[i]], "order by size");
  }
}

// Contacts along two axes at most, of lines that may close on themselves, against a look at each element.
template <class Index> void test_contacts(const std::vector<Index>& numbers, int64_t length, int64_t rows) {
  const int64_t lines = int64_t(numbers.size()) / length;
  const bool closed = draw(0, 1);
  // Axes are that of items, lines and elements of a line.
  const std::vector<ContactStep> steps = {
      {-length - 1, 6, 0, 2}, {-length, 2, 0, 0}, {-length + 1, 2, 4, 2}, {-1, 4, 0, 1}};
  const LabelContacts found = find_contacts(
      numbers.data(), Index(0), rows, ContactGrid{{1, lines, length}, closed ? 4u : 0u, steps, 3});
  std::vector<int64_t> pairs(2 * found.pairs()), counts(3 * found.pairs()), recount(3 * rows * rows);
  found.write(pairs.data(), counts.data());
  for (int64_t i = 0; i < int64_t(numbers.size()); ++i)
    for (const ContactStep& step : steps) {
      const int64_t line = i / length - (step.down >> 1 & 1);
      int64_t place = i % length + int64_t(step.up >> 2) - int64_t(step.down >> 2);
      if (closed) place = (place + length) % length;
      if (line < 0 || place < 0 || place >= length) continue;
      const auto [first, second] = std::minmax(numbers[i], numbers[line * length + place]);
      if (first > 0 && first != second) ++recount[3 * (first * rows + second) + step.kind];
    }
  for (int64_t k = 0; k < found.pairs(); ++k)
    for (int kind = 0; kind < 3; ++kind) {
      int64_t& expected = recount[3 * (pairs[2 * k] * rows + pairs[2 * k + 1]) + kind];
      check(std::exchange(expected, 0) == counts[3 * k + kind], "contacts");
    }
  check(std::all_of(recount.begin(), recount.end(), [](int64_t n) { return n == 0; }), "pairs that touch");
}

// Runs of two labels, of lines and of those that come after them.
template <class Index>
void test_paired_runs(const std::vector<Index>& numbers, int64_t length, int64_t rows) {
  const int64_t count = int64_t(numbers.size()) - length;
  const std::vector<int64_t> runs = pair_runs(numbers.data(), numbers.data() + length, count);
  std::vector<int64_t> recount(rows * rows), sums(rows * rows);
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] > 0 && numbers[i + length] > 0) ++recount[numbers[i] * rows + numbers[i + length]];
  for (size_t k = 0; k < runs.size(); k += 3) sums[runs[k] * rows + runs[k + 1]] += runs[k + 2];
  check(sums == recount, "runs of two labels");
}

// Numbers of labels, however far apart.
template <class Index> void test_distinct(std::vector<Index> numbers) {
  const int64_t count = int64_t(numbers.size());
  const Index scale = draw(0, 1) ? 1 : -1001;
  for (Index& number : numbers) number *= scale;
  std::vector<Index> expected = numbers;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  const int64_t differing = int64_t(expected.size());
  std::vector<int32_t> places(differing), translated(count);
  std::iota(places.begin(), places.end(), 0);
  using Word = std::make_unsigned_t<Index>;
  const bool is_signed = scale < 0 || draw(0, 1);
  const Word* const words = reinterpret_cast<const Word*>(numbers.data());
  const NumberedLabels numbered(words, is_signed, count, translated.data());
  const Buffer<Word> distinct = numbered.distinct<Word>();
  check(differing == numbered.count(), "the number of labels");
  for (int64_t i = 0; i < differing; ++i) check(distinct[i] == Word(expected[i]), "labels");
  numbered.translate(places.data(), translated.data());
  for (int64_t i = 0; i < count; ++i) check(expected[translated[i]] == numbers[i], "a label's number");
  std::vector<uint8_t> marks(count);
  const bool fit = count == 0 || (expected.front() >= 0 && expected.back() < count);
  const Index largest = count ? expected.back() : 0;
  const int64_t marked = mark_labels(words, is_signed, count, marks.data());
  check(marked == (fit && count ? int64_t(largest) : -1), "marks");
  if (!fit) return;
  for (int64_t label = 0; label < count; ++label)
    check(marks[label] == std::binary_search(expected.begin(), expected.end(), Index(label)), "a mark");
}

// Labels that no image needs to have: rows of several words, of few labels or one, that are far apart.
template <class Index> void test_words() {
  std::vector<int64_t> shape;
  for (int axes = draw(0, 3); axes > 0; --axes) shape.push_back(draw(1, 3));
  shape.push_back(draw(1, 300));
  const int values = draw(1, 6), often = draw(0, 100), apart = draw(0, 3) ? 1 : draw(1, 1000);
  std::vector<Index> numbers(std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()));
  for (Index& number : numbers) number = apart * (draw(1, 100) <= often ? 1 : draw(0, values));
  const int64_t rows = apart * values + 1;
  std::vector<int64_t> sizes(rows), recount(rows);
  count_labels({numbers.data(), int64_t(numbers.size()), 0}, rows, sizes.data());
  for (Index number : numbers) recount[number] += number > 0;
  check(sizes == recount, "sizes of words");
  test_measures(shape, numbers, rows, recount);
  test_members(numbers, rows);
  test_spans(shape, numbers, rows);
  if (shape.back() > 1 && rows < 100) test_contacts(numbers, shape.back(), rows);
  if (rows < 100) test_paired_runs(numbers, shape.back(), rows);
  test_distinct(numbers);
}

// Components in an array of two axes with margins, some with more neighbours than a word has colours.
template <class Index> void test_colours() {
  const bool crowded = draw(0, 7) == 0;
  const int64_t reach = crowded ? 2 : draw(0, 2), width = crowded ? 50 : draw(1, 20);
  const int64_t height = crowded ? 50 : draw(1, 20), line = width + 2 * reach;
  const int64_t rows = crowded ? 80 : draw(1, draw(0, 1) ? 5 : 300);
  std::vector<Index> components(line * (height + 2 * reach), Index(rows));
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      components[(y + reach) * line + x + reach] = Index(draw(0, int(rows)));
  const int64_t count = int64_t(components.size());
  std::vector<int64_t> steps;
  for (int64_t x = reach; x >= -reach; --x)
    for (int64_t y = -reach; y <= reach; ++y)
      if (x || y) steps.push_back(y * line + x);
  const int64_t leading = reach ? 2 * reach + 1 : 0;

  const Index background = Index(rows);
  const auto are_close = [&](int64_t i, int64_t step) {
    if (components[i] == background) return false;
    return components[i + step] != background && components[i + step] != components[i];
  };
  std::vector<int64_t> begins(rows + 1), places, order;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < count; ++i)
      if (components[i] == row &&
          std::any_of(steps.begin(), steps.end(), [&](int64_t step) { return are_close(i, step); }))
        places.push_back(i);
    begins[row + 1] = int64_t(places.size());
    if (begins[row + 1] > begins[row]) order.push_back(row);
  }
  std::shuffle(order.begin(), order.end(), generator);
  std::vector<int64_t> preferred(rows + 1), colours(rows + 1, -1);
  for (int64_t& colour : preferred) colour = draw(0, 1000);
  int64_t left = int64_t(order.size()), first = 0;
  for (; left; first += 64) {
    const int64_t waiting =
        choose_colours(components.data(), {steps, leading}, {begins.data(), places.data(), rows},
            {preferred.data(), first, first ? 64 : 12}, order.data(), left, colours.data());
    check(waiting < left, "components that wait for another word");
    left = waiting;
  }
  for (int64_t i = 0; i < count; ++i)
    for (const int64_t step : steps) {
      if (!are_close(i, step)) continue;
      check(colours[components[i]] != colours[components[i + step]], "colours of what is close");
      check(colours[components[i]] >= 0 && colours[components[i]] < first, "a colour");
    }
}

// Bonds as planes, with a byte more between them, or as bits.
template <class Index> void test_bonds() {
  const Image image(Kind::kLattice);
  const int axes = int(image.shape.size()) - image.batch_axes, percent = draw(0, 100);
  const bool packed = draw(0, 1);
  const int64_t plane = packed ? 0 : image.size + 1;
  std::vector<uint8_t> data(plane * (axes - 1) + image.size);
  const auto mask = [&](int axis) { return packed ? 1 << axis : 255; };
  for (uint8_t& bits : data)
    for (int axis = 0; axis < axes; ++axis) bits |= draw(1, 100) <= percent ? mask(axis) : 0;
  const auto expected = flood_fill(
      image.size, [](int64_t) { return true; },
      [&](int64_t i, auto&& visit) {
        image.for_each_neighbour(i, [&](int64_t j, const Step& step) {
          const int axis =
              int(std::find_if(step.begin(), step.end(), [](int8_t s) { return s; }) - step.begin());
          if (data[axis * plane + (step[axis] > 0 ? i : j)] & mask(axis)) visit(j);
        });
      });
  std::vector<int> order;
  const Grid grid = image.grid(byte_strides<uint8_t>(image), &order);
  Bonds bonds{};
  for (int k = 0; k < axes; ++k) {
    const int axis = order[order.size() - 1 - k] - image.batch_axes;
    bonds.plane[k] = axis * plane;
    bonds.mask[k] = uint8_t(mask(axis));
  }
  test_labels<Index>(image, data.data(), RuleWords(bonds), grid, expected);
}

// Bundles of a stretch are linked at once where all that touch are neighbours and values are equal.
template <class Index> void test_volume() {
  const Image image(Kind::kVolume);
  const int percent = draw(1, 100);
  std::vector<uint8_t> data(image.size);
  for (uint8_t& value : data) value = draw(1, 100) <= percent;
  const auto expected = flood_fill(
      image.size, [&](int64_t i) { return data[i]; },
      [&](int64_t i, auto&& visit) {
        image.for_each_neighbour(i, [&](int64_t j, const Step&) {
          if (data[j]) visit(j);
        });
      });
  const Grid grid = image.grid(byte_strides<uint8_t>(image));
  test_labels<Index>(image, data.data(), RuleWords(Equal<uint8_t>{{0, true}}), grid, expected);
}

// A value that compares as it likes, as one does that its owner changes between any two looks at it.
struct Fickle {
  static bool toss() { return coin() & 1; }
  friend bool operator==(Fickle, Fickle) { return toss(); }
  friend bool operator!=(Fickle, Fickle) { return toss(); }

 private:
  static uint32_t coin() {
    static thread_local std::minstd_rand tosses(7);
    return tosses() >> 12;
  }
};

// As Within links, which is not transitive.
struct FickleLinks {
  using Value = Fickle;
  static constexpr bool kTransitive = false;
  Background<Fickle> background;

  bool linked(Fickle a, Fickle b) const { return a == b; }
};

// Inputs that change while they are read: any answer will do, if the sanitizers find nothing.
template <class Index> void test_changing_image() {
  const Image image, lattice(Kind::kLattice);
  std::vector<Index> labels(std::max(image.size, lattice.size));
  std::vector<int64_t> counts(labels.size());
  const std::vector<Fickle> data(image.size);
  const Grid grid = image.grid(byte_strides<uint8_t>(image));
  const Background<Fickle> background{Fickle(), true};
  for (By by : {By::kRuns, By::kRasterScans, By::kEquivalence, By::kTiles}) {
    const Naming naming = Naming(draw(0, 1));
    label_array(
        by, data.data(), RuleWords(Equal<Fickle>{background}), grid, naming, labels.data(), counts.data());
    label_array(
        by, data.data(), RuleWords(FickleLinks{background}), grid, naming, labels.data(), counts.data());
  }

  // Masks of one image, contacts of another; bonds are read once.
  const int64_t size = labels.size();
  std::vector<uint8_t> before(size), after(size);
  const int percent = draw(0, 100);
  for (uint8_t& value : before) value = draw(1, 100) <= percent ? draw(1, 2) : 0;
  for (uint8_t& value : after) value = draw(0, 1);
  const Bundles rows(grid, false);
  Masks earlier(rows);
  const RuleWords equal(Equal<uint8_t>{{0, true}});
  const RuleWords within_one(Within<uint8_t>{{0, true}, {1, 0}});
  const auto label = [&](const Masks& masks, const LinkWords& links) {
    label_masks(masks, *contact_finder(masks, after.data(), &links), Naming(draw(0, 1)), labels.data(),
        counts.data());
  };
  earlier.read(before.data(), equal);
  label(earlier, equal);
  label(earlier, within_one);
  const Bundles sites(lattice.grid(byte_strides<uint8_t>(lattice)), false);
  Masks of_sites(sites);
  const RuleWords bonds(Bonds{{}, {1, 1, 2, 2, 2, 2}});
  read_masks(of_sites, before.data(), bonds);
  label(of_sites, bonds);
}

void test_changing_labels() {
  const int64_t count = draw(0, 2000), rows = draw(1, 50);
  std::vector<int32_t> labels(count), table(rows), replaced(count);
  for (int32_t& label : labels) label = draw(0, 3) ? draw(0, int(rows) - 1) : int32_t(generator());
  std::vector<int64_t> sizes(rows);
  const LabelArray array(labels.data(), count, draw(-1, 0));
  count_labels(array, rows, sizes.data());
  measure_labels(array, {count}, rows, draw(0, 1));
  MeasuresOf<NarrowTable<2, true>>(array, {1, count}, 1, rows, true);
  // Components are those of other labels, and values are any.
  std::vector<int64_t> components(draw(1, int(rows))), boxes(2 * components.size(), draw(0, 40));
  std::iota(components.begin(), components.end(), draw(0, 3));
  components.back() += draw(0, 100);
  const RowsOfLabels known(components.data(), int64_t(components.size()));
  const LabelledItems items{array, {count}};
  count_faces(items, known, std::vector<int64_t>(components.size()).data());
  std::vector<double> values(count);
  for (double& value : values) {
    const uint64_t bits = uint64_t(generator()) << 32 | generator();
    std::memcpy(&value, &bits, sizeof(value));
  }
  Intensities<double>(items, values.data(), known, {components.data(), boxes.data()}, draw(43, 84));
  // There is room for those of other labels.
  std::vector<int64_t> begins(rows + 1);
  std::vector<int32_t> others(labels.size());
  for (int32_t& label : others) label = draw(-1, int(rows));
  MemberLists lists(LabelArray(others.data(), count, draw(-1, 0)), rows, begins.data());
  std::vector<int32_t> members(lists.count());
  std::copy(labels.begin(), labels.end(), others.begin());
  lists.write(std::max<int64_t>(count, 1), members.data());
  std::vector<int64_t> combined(count);
  combine_labels(labels.data(), count, draw(1, 300), 0, rows, combined.data());
  replace_labels(labels.data(), count, draw(-1, 0), table.data(), rows, replaced.data());
  if (count > 0) {
    find_contacts(labels.data(), draw(-1, 0), rows, ContactGrid{{1, count}, 2, {{-1, 2, 0, 0}}, 1});
    std::vector<uint8_t> marks(count);
    const uint32_t* const words = reinterpret_cast<const uint32_t*>(labels.data());
    mark_labels(words, draw(0, 1), count, marks.data());
    const NumberedLabels numbered(words, draw(0, 1), count, replaced.data());
    const std::vector<int32_t> wanted(numbered.count());
    numbered.translate(wanted.data(), replaced.data());
  }
}

// Whatever a call does when it is given up, it ends by Interrupted, and the next one is right.
void test_interrupts() {
  using std::chrono::steady_clock;
  const std::vector<uint8_t> data(size_t(1) << 22, 1);
  std::vector<int32_t> labels(data.size());
  const Grid grid{{{int64_t(data.size()), false, 1, 1}}, 0, {{-1}}};
  int64_t count = 0;
  const auto label = [&] {
    label_runs(
        data.data(), RuleWords(Equal<uint8_t>{{0, true}}), grid, Naming::kNumbers, labels.data(), &count);
  };
  int questions = 0;
  bool interrupted = false;
  {
    const auto is_over = [&] { return ++questions == 2; };
    const WatchedCall call(is_over);
    try {
      for (const auto start = steady_clock::now(); steady_clock::now() - start < std::chrono::seconds(60);)
        label();
    } catch (const Interrupted&) {
      interrupted = true;
    }
    check(call.given_up(), "a call that was given up");
  }
  check(interrupted && questions == 2, "an interrupt");
  label();
  check(labels.front() == 1 && labels.back() == 1, "a call after an interrupt");
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = draw(1, 5);
    test_grid<uint8_t, int32_t>();
    test_grid<uint64_t, int64_t>();
    test_grid<Half, int32_t>();
    test_grid<float, int32_t>();
    test_volume<int32_t>();
    test_volume<int64_t>();
    test_words<int32_t>();
    test_words<int64_t>();
    test_colours<int32_t>();
    test_colours<int64_t>();
    test_bonds<int32_t>();
    test_bonds<int64_t>();
    test_changing_image<int32_t>();
    test_changing_image<int64_t>();
    test_changing_labels();
  }
  test_interrupts();
  std::printf("%d rounds\n", rounds);
}
