// Runs the C++ core on random inputs under a sanitizer, with several threads and parts so small that
// every seam is crossed, and compares with a serial flood fill. Built and run by test_sanitizers.py.
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

#include "core/half.h"
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
#include "cpu/generate/fill.h"
#include "cpu/generate/rmat.h"
#include "cpu/graph/afforest.h"
#include "cpu/graph/both_ends.h"
#include "cpu/graph/bridges.h"
#include "cpu/graph/condensation.h"
#include "cpu/graph/filter_kruskal.h"
#include "cpu/graph/incremental.h"
#include "cpu/graph/spanning_forest.h"
#include "cpu/graph/tarjan.h"
#include "cpu/graph/topological.h"
#include "cpu/graph/union_by_size.h"
#include "cpu/grid/runs.h"
#include "cpu/papers/bfs.h"
#include "cpu/papers/ecl.h"
#include "cpu/papers/label_equivalence.h"
#include "cpu/papers/raster_scan.h"
#include "cpu/papers/recolouring.h"
#include "cpu/papers/tiles.h"

using namespace conncomp;

namespace {

std::mt19937 generator(1);

int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(generator); }

void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// The smallest index of each element's component; -1 where `inside` is false.
template <class Inside, class ForEachNeighbour>
std::vector<int64_t> flood_fill(int64_t count, Inside&& inside, ForEachNeighbour&& for_each_neighbour) {
  std::vector<int64_t> root(count, -1), stack;
  for (int64_t seed = 0; seed < count; ++seed) {
    if (root[seed] >= 0 || !inside(seed)) continue;
    root[seed] = seed;
    for (stack.push_back(seed); !stack.empty();) {
      const int64_t i = stack.back();
      stack.pop_back();
      for_each_neighbour(i, [&](int64_t j) {
        if (root[j] >= 0) return;
        root[j] = seed;
        stack.push_back(j);
      });
    }
  }
  return root;
}

// A random array: its shape, and which of its elements are neighbours.
struct Image {
  std::vector<int64_t> shape, stride;
  std::vector<bool> periodic;
  int batch_axes;
  std::vector<Step> steps;  // in both directions, along the axes of an item
  int64_t size = 1, item_size = 1;

  explicit Image(bool faces = false) {
    const int ndim = draw(1, 4), longest[] = {400, 90, 20, 8};
    batch_axes = draw(0, 1) ? draw(0, ndim - 1) : 0;
    for (int k = 0; k < ndim; ++k) {
      shape.push_back(draw(0, 3) ? draw(2, longest[ndim - 1]) : 2);
      periodic.push_back(k >= batch_axes && draw(0, 1));
    }
    stride.resize(ndim);
    for (int k = ndim - 1; k >= 0; size *= shape[k--]) {
      if (k >= batch_axes) item_size *= shape[k];
      stride[k] = size;
    }
    draw_steps(ndim - batch_axes, faces);
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
  template <class Body>
  void for_each_neighbour(int64_t i, Body&& body) const {
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
  void draw_steps(int ndim, bool faces) {
    const int connectivity = faces ? 1 : draw(1, ndim), percent = draw(0, 100);
    const bool any = !faces && draw(0, 1);
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

template <class... Task>
void label_array(By by, const Task&... task) {
  if (by == By::kRuns) return label_runs(task...);
  if (by == By::kRasterScans) return label_by_raster_scans(task...);
  if (by == By::kEquivalence) return label_by_equivalence(task...);
  const TileOptions options{TileLabelling(draw(0, 2)), TileMerging(draw(0, 1)), 1 << draw(1, 4)};
  label_by_tiles(task..., options);
}

By draw_algorithm() { return By(draw(0, 3)); }

// Labels by both numberings, and compares with the roots that are expected, as indices of the whole array.
template <class Index>
std::vector<Index> test_labels(const Image& image, const void* data, const LinkWords& links, const Grid& grid,
                               const std::vector<int64_t>& expected) {
  std::vector<Index> roots(image.size, 77), numbers(image.size, 77);
  std::vector<int64_t> counts(image.items(), 77), recounts(image.items(), 77);
  label_array(draw_algorithm(), data, links, grid, false, roots.data(), counts.data());
  label_array(draw_algorithm(), data, links, grid, true, numbers.data(), recounts.data());
  check(counts == recounts, "numbers of components");
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

template <class Value>
Value value_of(int drawn) {
  if constexpr (std::is_same_v<Value, Half>)
    return {uint16_t(drawn ? 0x3c00 + drawn : draw(0, 1) << 15)};  // from 1 on; zeros of both signs
  else
    return Value(drawn);
}

template <class Value>
std::vector<int64_t> byte_strides(const Image& image) {
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
template <class Value>
struct MeasuredValues {
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
    const Intensities<Value> intensities(items, values.data(), rows,
                                         {measured.sizes.data(), measured.boxes.data()}, draw(43, 84));
    check(intensities.write(rows.count(),
                            {sums.data(), means.data(), minima.data(), maxima.data(), centroids.data()}),
          "sums that fit");
  }
};

// Compares values and faces of components with sums over elements, which are exact.
template <class Value, class Index>
void test_values(const std::vector<int64_t>& shape, const std::vector<Index>& numbers,
                 const Measured& measured) {
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
  const MeasuresOf<WideTable> wide({numbers.data(), count, 0}, shape, axes, rows);
  check(measured == Measured(wide, axes, with_products), "one table and another");
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

template <class Index>
void test_members(const std::vector<Index>& numbers, int64_t rows, const std::vector<int64_t>& sizes) {
  const int64_t count = int64_t(numbers.size()), items = draw(1, 2), length = count / items;
  std::vector<int64_t> begins(rows + 1);
  for (int64_t row = 0; row < rows; ++row) begins[row + 1] = begins[row] + sizes[row];
  std::vector<int32_t> members(begins[rows], -1);
  if (length == 0) return;
  list_members({numbers.data(), items * length, 0}, length, rows, begins.data(), members.data());
  std::vector<int64_t> next = begins;
  for (int64_t i = 0; i < items * length; ++i)
    if (numbers[i] > 0) check(members[next[numbers[i]]++] == i % length, "a member");
}

template <class Value, class Index>
void test_grid() {
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
  test_members(numbers, rows, recount);
  const auto [low, high] = extremes(numbers.data(), image.size);
  check(low == *std::min_element(numbers.begin(), numbers.end()), "the smallest label");
  check(high == count, "the largest label");
  std::vector<int64_t> ranking(rows);
  const int64_t items = rows % 2 ? 1 : 2, rows_of_item = rows / items;
  sort_by_size(sizes.data(), rows, items, ranking.data());
  for (int64_t i = 0; i < rows; ++i) {
    check(ranking[i] / rows_of_item == i / rows_of_item, "order by item");
    if (i % rows_of_item) check(sizes[ranking[i - 1]] >= sizes[ranking[i]], "order by size");
  }
}

// Contacts along two axes at most, of lines that may close on themselves, against a look at each element.
template <class Index>
void test_contacts(const std::vector<Index>& numbers, int64_t length, int64_t rows) {
  const int64_t lines = int64_t(numbers.size()) / length;
  const bool closed = draw(0, 1);
  // Axes are that of items, lines and elements of a line.
  const std::vector<ContactStep> steps = {
      {-length - 1, 6, 0, 2}, {-length, 2, 0, 0}, {-length + 1, 2, 4, 2}, {-1, 4, 0, 1}};
  const LabelContacts found = find_contacts(numbers.data(), Index(0), rows,
                                            ContactGrid{{1, lines, length}, closed ? 4u : 0u, steps, 3});
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

// Numbers of labels, however far apart.
template <class Index>
void test_distinct(std::vector<Index> numbers) {
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
template <class Index>
void test_words() {
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
  test_members(numbers, rows, recount);
  if (shape.back() > 1 && rows < 100) test_contacts(numbers, shape.back(), rows);
  test_distinct(numbers);
}

// Components in an array of two axes with margins, some with more neighbours than a word has colours.
template <class Index>
void test_colours() {
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
        choose_colours(components.data(), steps, leading, begins.data(), places.data(), rows,
                       preferred.data(), first, first ? 64 : 12, order.data(), left, colours.data());
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
template <class Index>
void test_bonds() {
  const Image image(true);
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

// Calls use() when each algorithm of the papers has filled the roots of a graph, given in both forms.
template <class Pointer, class Vertex, class Index, class Use>
void run_papers(const Rows<Pointer, Vertex> rows, bool symmetric, const std::vector<Vertex>& src,
                const std::vector<Vertex>& dst, std::vector<Index>& roots, Use&& use) {
  const EclOptions options{draw(1, 3), draw(1, 4), draw(1, 3)};
  ecl_roots(rows, symmetric, options, roots.data());
  use();
  ecl_roots_of_arcs(src.data(), dst.data(), int64_t(src.size()), rows.vertices, options, roots.data());
  use();
  const BothEnds<Pointer, Vertex, Index> graph(rows, symmetric);
  bfs_roots(graph, roots.data());
  use();
  recolouring_roots(graph, roots.data());
  use();
}

// A forest with paths of any length, not flat.
template <class Index>
void test_forest() {
  const int count = draw(0, 600), reach = draw(1, 600);
  std::vector<Index> forest(count), roots(count);
  for (int v = 0; v < count; ++v) {
    forest[v] = Index(draw(0, 9) ? std::max(v - draw(0, reach), 0) : v);
    roots[v] = forest[v] == Index(v) ? Index(v) : roots[forest[v]];
  }
  std::vector<Index> numbers(count), labels = forest;
  Index components = 0;
  for (int v = 0; v < count; ++v) numbers[v] = roots[v] == Index(v) ? components++ : numbers[roots[v]];
  check(label_forest(labels.data(), count, true) == components && labels == numbers, "number of a tree");
  check(label_forest(forest.data(), count, false) == components && forest == roots, "root of a tree");
}

// Weights of few values, whose order is that of signed numbers.
template <class Bits>
std::vector<Bits> draw_weights(size_t count) {
  std::vector<Bits> weights(count);
  const int most = draw(0, 3) ? 5 : 1 << 30;
  for (Bits& weight : weights) weight = Bits(draw(-most, most));
  return weights;
}
template <class Bits>
constexpr WeightOrder<Bits> kSigned{0, 0, Bits(1) << (8 * sizeof(Bits) - 1)};

template <class Index>
std::vector<int64_t> listed(const ChosenArcs<Index>& chosen) {
  return {chosen.arcs.data(), chosen.arcs.data() + chosen.count};
}

// The forest of the lightest arcs, of which those of lower numbers go first.
template <class Bits, class Vertex>
std::vector<int64_t> forest_by_kruskal(const std::vector<Vertex>& src, const std::vector<Vertex>& dst,
                                       const std::vector<Bits>& weights, int64_t vertices) {
  std::vector<int64_t> order(src.size()), tree(vertices), forest;
  std::iota(order.begin(), order.end(), int64_t(0));
  std::iota(tree.begin(), tree.end(), int64_t(0));
  const auto weight = [&](int64_t arc) { return std::make_signed_t<Bits>(weights[arc]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return weight(a) < weight(b); });
  for (int64_t arc : order) {
    const int64_t a = tree[src[arc]], b = tree[dst[arc]];
    if (a == b) continue;
    forest.push_back(arc);
    std::replace(tree.begin(), tree.end(), b, a);
  }
  std::sort(forest.begin(), forest.end());
  return forest;
}

template <class Bits, class Index>
void test_forests(const Rows<int64_t, Index> rows, bool symmetric, const std::vector<Index>& src,
                  const std::vector<Index>& dst) {
  const int64_t vertices = rows.vertices;
  std::vector<Index> row_of(src.size());
  for (int64_t v = 0; v < vertices; ++v)
    std::fill(row_of.begin() + rows.indptr[v], row_of.begin() + rows.indptr[v + 1], Index(v));
  const std::vector<Index> targets(rows.indices, rows.indices + rows.arcs);
  std::vector<Bits> weights(src.size());
  const ListedArcs<Index> list{src.data(), dst.data(), vertices, int64_t(src.size())};
  const RowArcs<int64_t, Index> in_rows{rows};
  const auto of_list = listed(spanning_forest<Index>(list, Ends::kBoth));
  check(of_list == forest_by_kruskal(src, dst, weights, vertices), "spanning forest of a list");
  const auto of_rows =
      listed(spanning_forest<Index>(in_rows, symmetric && draw(0, 1) ? Ends::kSmaller : Ends::kBoth));
  check(of_rows == forest_by_kruskal(row_of, targets, weights, vertices), "spanning forest of rows");
  weights = draw_weights<Bits>(src.size());
  if (draw(0, 1))  // the same from both ends
    for (size_t arc = 0; arc < src.size(); ++arc)
      weights[arc] = Bits((uint64_t(row_of[arc]) + 1) * (uint64_t(targets[arc]) + 1) % 7) - 3;
  const Weights<Bits> weighed{weights.data(), kSigned<Bits>};
  check(listed(minimum_spanning_forest<Index>(list, weighed, 1)) ==
            forest_by_kruskal(src, dst, weights, vertices),
        "minimum spanning forest of a list");
  check(listed(minimum_spanning_forest<Index>(in_rows, weighed, 1)) ==
            forest_by_kruskal(row_of, targets, weights, vertices),
        "minimum spanning forest of rows");
}

template <class Index>
void test_graph() {
  const int vertices = draw(0, 600), arcs = vertices ? draw(0, 1200) : 0;
  const bool symmetric = draw(0, 1), hub = draw(0, 1);
  std::vector<Index> src, dst;
  for (int i = 0; i < arcs; ++i) {
    src.push_back(Index(hub && draw(0, 1) ? vertices / 2 : draw(0, vertices - 1)));
    dst.push_back(Index(draw(0, vertices - 1)));
    if (symmetric) {
      src.push_back(dst.back());
      dst.push_back(src[src.size() - 2]);
    }
  }
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(src.size());
  group_by_key(
      int64_t(src.size()), vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; },
      indptr.data(), indices.data(), int64_t(indices.size()));
  std::vector<std::vector<Index>> neighbours(vertices);
  for (size_t i = 0; i < src.size(); ++i) {
    neighbours[src[i]].push_back(dst[i]);
    neighbours[dst[i]].push_back(src[i]);
  }
  const auto expected = flood_fill(
      vertices, [](int64_t) { return true; },
      [&](int64_t v, auto&& visit) {
        for (Index w : neighbours[v]) visit(w);
      });
  std::vector<Index> roots(vertices), others(vertices);
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, int64_t(indices.size())};
  grow_forest(rows, symmetric, roots.data());
  label_forest(roots.data(), vertices, false);
  grow_forest_of_arcs(src.data(), dst.data(), int64_t(src.size()), vertices, others.data());
  label_forest(others.data(), vertices, false);
  for (int v = 0; v < vertices; ++v)
    check(roots[v] == expected[v] && others[v] == expected[v], "root of a vertex");
  test_forests<uint32_t>(rows, symmetric, src, dst);
  test_forests<uint64_t>(rows, symmetric, src, dst);
  run_papers(rows, symmetric, src, dst, others, [&] {
    for (int v = 0; v < vertices; ++v) check(others[v] == expected[v], "root by an algorithm of the papers");
  });
  label_forest(roots.data(), vertices, true);
  Index next = 0;
  for (int v = 0; v < vertices; ++v) {
    if (expected[v] == v) others[v] = next++;
    check(roots[v] == others[expected[v]], "number of a vertex");
  }
}

// Strong components, by which vertices reach which; few vertices, so that there are many of any size.
template <class Index>
void test_strong() {
  const int vertices = draw(0, 70), arcs = vertices ? draw(0, 2 * vertices) : 0;
  std::vector<Index> src(arcs), dst(arcs);
  std::vector<std::vector<bool>> reaches(vertices, std::vector<bool>(vertices));
  for (int v = 0; v < vertices; ++v) reaches[v][v] = true;
  for (int i = 0; i < arcs; ++i) {
    src[i] = Index(draw(0, vertices - 1)), dst[i] = Index(draw(0, vertices - 1));
    reaches[src[i]][dst[i]] = true;
  }
  for (int w = 0; w < vertices; ++w)
    for (int v = 0; v < vertices; ++v)
      for (int u = 0; reaches[v][w] && u < vertices; ++u)
        if (reaches[w][u]) reaches[v][u] = true;
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<Index> indices(arcs), roots(vertices), labels(vertices), numbers(vertices);
  group_by_key(
      arcs, vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; }, indptr.data(),
      indices.data(), arcs);
  const Rows<int64_t, Index> rows{indptr.data(), indices.data(), vertices, arcs};
  tarjan_roots(rows, roots.data());
  const int64_t components = topological_labels(rows, numbers.data());
  labels = roots;
  check(label_forest(labels.data(), vertices, true) == components, "number of strong components");
  for (int v = 0; v < vertices; ++v) {
    int root = v;
    for (int u = vertices; u-- > 0;)
      if (reaches[v][u] && reaches[u][v]) root = u;
    check(roots[v] == Index(root), "root of a strong component");
    check(uint64_t(numbers[v]) < uint64_t(components), "a topological number");
  }
  std::vector<std::vector<Index>> targets(components);
  for (int i = 0; i < arcs; ++i) {
    check(numbers[src[i]] >= numbers[dst[i]], "topological order");
    check((numbers[src[i]] == numbers[dst[i]]) == (roots[src[i]] == roots[dst[i]]), "a number a component");
    if (roots[src[i]] != roots[dst[i]]) targets[labels[src[i]]].push_back(labels[dst[i]]);
  }
  const Condensation<Index> graph = condense(rows, labels.data(), components);
  for (int64_t c = 0; c < components; ++c) {
    std::sort(targets[c].begin(), targets[c].end());
    targets[c].erase(std::unique(targets[c].begin(), targets[c].end()), targets[c].end());
    const std::vector<Index> row(graph.indices.data() + graph.indptr[c],
                                 graph.indices.data() + graph.indptr[c + 1]);
    check(row == targets[c], "a row of a condensation");
  }
}

// Bridges, by what each vertex reaches without the link to its parent.
void test_bridges() {
  const int vertices = draw(0, 40), links = vertices ? draw(0, vertices + vertices / 4) : 0;
  std::vector<int32_t> src, dst;
  for (int i = 0; i < links; ++i) {
    const int u = draw(0, vertices - 1), v = draw(0, 2) ? draw(0, vertices - 1) : (u + 1) % vertices;
    for (const int end : {u, v}) src.push_back(end), dst.push_back(u + v - end);
  }
  const int64_t arcs = int64_t(src.size());
  std::vector<int64_t> indptr(vertices + 1);
  std::vector<int32_t> indices(arcs), parents(vertices), cut(vertices);
  group_by_key(
      arcs, vertices, [&](int64_t i) { return src[i]; }, [&](int64_t i) { return dst[i]; }, indptr.data(),
      indices.data(), arcs);
  const Rows<int64_t, int32_t> rows{indptr.data(), indices.data(), vertices, arcs};
  BridgeSearch(rows, parents.data(), cut.data()).run();
  const auto size_without = [&](int a, int b) {  // how many vertices `a` reaches
    const auto labels = flood_fill(
        vertices, [](int64_t) { return true; },
        [&](int64_t v, auto&& visit) {
          rows.for_each_neighbour(v, [&](int32_t u) {
            if ((v != a || u != b) && (v != b || u != a)) visit(u);
          });
        });
    return labels[a] == labels[b] ? 0 : std::count(labels.begin(), labels.end(), labels[a]);
  };
  for (int v = 0; v < vertices; ++v) {
    const int u = parents[v];
    if (u < 0) {
      check(cut[v] == 0, "a root has no bridge to its parent");
      continue;
    }
    check(std::count(indices.begin() + indptr[v], indices.begin() + indptr[v + 1], u) > 0, "a parent");
    check(cut[v] == std::min(size_without(u, v), size_without(v, u)), "the smaller side of a bridge");
  }
}

// Trees by size, against lists of members whose first one is the root.
void test_union_by_size() {
  const int vertices = draw(1, 60), links = draw(0, 90), stays = draw(-1, vertices - 1);
  std::vector<int32_t> u(links), v(links), parent(vertices), sizes(vertices, 1);
  std::vector<std::vector<int32_t>> trees(vertices);
  std::vector<int32_t> tree_of(vertices);
  for (int32_t i = 0; i < vertices; ++i) parent[i] = tree_of[i] = i, trees[i] = {i};
  for (int k = 0; k < links; ++k) {
    u[k] = draw(0, vertices - 1), v[k] = draw(0, vertices - 1);
    int32_t a = tree_of[u[k]], b = tree_of[v[k]];
    if (a == b) continue;
    const bool second = trees[b][0] == stays || (trees[a][0] != stays && trees[a].size() < trees[b].size());
    if (second) std::swap(a, b);
    for (const int32_t i : trees[b]) tree_of[i] = a, trees[a].push_back(i);
    trees[b].clear();
  }
  unite_by_size(u.data(), v.data(), links, stays, parent.data(), sizes.data());
  for (int32_t i = 0; i < vertices; ++i) {
    int32_t root = i;
    while (parent[root] != root) root = parent[root];
    check(root == trees[tree_of[i]][0], "the root of a tree by size");
    check(sizes[root] == int32_t(trees[tree_of[i]].size()), "the size of a tree");
  }
}

// A copy of which one entry, 5, was made before its root was hooked, and another one, 7, after that.
template <class Index>
void test_copy_of_two_moments() {
  std::vector<Index> parent(8), copy(8);
  start_forest(8, parent.data());
  start_forest(8, copy.data());
  unite<Shared>(parent.data(), Index(5), Index(7));
  unite<Shared>(parent.data(), Index(2), Index(5));
  copy[7] = 2;
  follow_unions(parent.data(), 8, copy.data());
  check(copy == std::vector<Index>{0, 1, 2, 3, 4, 2, 6, 2}, "a copy that follows unions");
}

// Batches of edges of which some have no vertex at an end, from two threads, while a third one looks: what it
// sees is connected once all edges are in, and so are the edges of batches before.
template <class Vertex, class Index>
void test_growing() {
  const int vertices = draw(0, 400), reach = draw(0, 1) ? vertices : 3;
  std::vector<Index> parent(vertices), labels(vertices), expected(vertices), numbers(vertices);
  std::vector<Vertex> earlier_src, earlier_dst;
  int64_t components = vertices;
  start_forest(vertices, parent.data());
  start_forest(vertices, expected.data());
  for (int batch = 0; batch < 4; ++batch) {
    const int edges = draw(0, 300);
    std::vector<Vertex> src, dst;
    for (int i = 0; i < edges; ++i) {
      const int u = draw(-1, vertices);
      src.push_back(Vertex(u));
      dst.push_back(Vertex(draw(0, 9) ? draw(std::max(u - reach, 0), std::max(u, 0)) : int(generator())));
    }
    const std::vector<Vertex> before_src = src, before_dst = dst;
    const auto exists = [=](int64_t v) { return v >= 0 && v < vertices; };
    const int half = edges / 2;
    std::vector<Index> seen(edges);
    std::thread first(
        [&] { unite_edges(src.data(), dst.data(), half, vertices, parent.data(), &components); });
    std::thread second([&] {
      unite_edges(src.data() + half, dst.data() + half, edges - half, vertices, parent.data(), &components);
    });
    const std::unique_ptr<bool[]> connected(new bool[edges]);
    compare_roots(src.data(), dst.data(), edges, vertices, parent.data(), connected.get());
    list_roots(src.data(), edges, vertices, parent.data(), seen.data());
    const int earlier = int(earlier_src.size());
    const std::unique_ptr<bool[]> joined(new bool[earlier]);
    compare_roots(earlier_src.data(), earlier_dst.data(), earlier, vertices, parent.data(), joined.get());
    label_copy(parent.data(), vertices, true, labels.data());
    first.join();
    second.join();

    for (int i = 0; i < earlier; ++i) {
      check(joined[i], "an edge of a batch before");
      const int64_t u = earlier_src[i], v = earlier_dst[i];
      check(labels[u] == labels[v], "labels that tell apart what a batch before has connected");
    }
    for (int i = 0; i < edges; ++i) {
      const int64_t u = src[i], v = dst[i];
      if (!exists(u)) check(seen[i] == -1, "the root of what is no vertex");
      if (!exists(u) || !exists(v)) {
        check(!connected[i], "what is no vertex is connected");
        continue;
      }
      earlier_src.push_back(src[i]);
      earlier_dst.push_back(dst[i]);
      // A union the plain way: relabel.
      const Index low = std::min(expected[u], expected[v]), high = std::max(expected[u], expected[v]);
      std::replace(expected.begin(), expected.end(), high, low);
    }
    for (int i = 0; i < edges; ++i)
      if (exists(src[i])) check(expected[seen[i]] == expected[src[i]], "a root of another component");
    const int64_t count = label_copy(parent.data(), vertices, false, labels.data());
    check(labels == expected, "the root of a vertex after a batch");
    check(count == components, "the number of components after a batch");
    compare_roots(src.data(), dst.data(), edges, vertices, parent.data(), connected.get());
    for (int i = 0; i < edges; ++i)
      check(connected[i] == (exists(src[i]) && exists(dst[i])), "an edge that connects");
    Index next = 0;
    for (int v = 0; v < vertices; ++v) numbers[v] = expected[v] == v ? next++ : numbers[expected[v]];
    label_copy(parent.data(), vertices, true, labels.data());
    check(labels == numbers, "the number of a component that grows");
    check(src == before_src && dst == before_dst, "edges that were changed");
  }
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
template <class Index>
void test_changing_image() {
  const Image image, lattice(true);
  std::vector<Index> labels(std::max(image.size, lattice.size));
  std::vector<int64_t> counts(labels.size());
  const std::vector<Fickle> data(image.size);
  const Grid grid = image.grid(byte_strides<uint8_t>(image));
  const Background<Fickle> background{Fickle(), true};
  for (By by : {By::kRuns, By::kRasterScans, By::kEquivalence, By::kTiles}) {
    const bool consecutive = draw(0, 1);
    label_array(by, data.data(), RuleWords(Equal<Fickle>{background}), grid, consecutive, labels.data(),
                counts.data());
    label_array(by, data.data(), RuleWords(FickleLinks{background}), grid, consecutive, labels.data(),
                counts.data());
  }

  // Masks of one image, contacts of another.
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
    label_masks(masks, LinkedElements(masks, after.data(), links), draw(0, 1), labels.data(), counts.data());
  };
  earlier.read(before.data(), equal);
  label(earlier, equal);
  label(earlier, within_one);
  const Bundles sites(lattice.grid(byte_strides<uint8_t>(lattice)), false);
  Masks of_sites(sites);
  const RuleWords bonds(Bonds{{}, {1, 1, 2, 2, 2, 2}});
  of_sites.read(before.data(), bonds);
  label(of_sites, bonds);
}

template <class Vertex, class Index>
void test_changing_graph() {
  const int vertices = draw(0, 300), arcs = draw(0, 900);
  const auto any = [&] { return Vertex(draw(0, 3) ? draw(0, vertices) : int(generator())); };
  std::vector<Vertex> indptr(vertices + 1), src(arcs), dst(arcs);
  for (Vertex& pointer : indptr) pointer = draw(0, 2) ? Vertex(draw(0, arcs)) : any();
  for (Vertex& vertex : src) vertex = any();
  for (Vertex& vertex : dst) vertex = any();
  std::vector<Index> roots(vertices);
  const Rows<Vertex, Vertex> rows{indptr.data(), dst.data(), vertices, arcs};
  grow_forest(rows, draw(0, 1), roots.data());
  label_forest(roots.data(), vertices, draw(0, 1));
  grow_forest_of_arcs(src.data(), dst.data(), arcs, vertices, roots.data());
  label_forest(roots.data(), vertices, draw(0, 1));
  run_papers(rows, draw(0, 1), src, dst, roots, [&] { label_forest(roots.data(), vertices, draw(0, 1)); });
  tarjan_roots(rows, roots.data());
  condense(rows, roots.data(), vertices);
  topological_labels(rows, roots.data());

  const std::vector<uint32_t> weights = draw_weights<uint32_t>(arcs);
  const Weights<uint32_t> weighed{weights.data(), kSigned<uint32_t>};
  const RowArcs<Vertex, Vertex> in_rows{rows};
  const ListedArcs<Vertex> list{src.data(), dst.data(), vertices, arcs};
  spanning_forest<Index>(in_rows, draw(0, 1) ? Ends::kSmaller : Ends::kBoth);
  spanning_forest<Index>(list, Ends::kBoth);
  minimum_spanning_forest<Index>(in_rows, weighed, 1);
  minimum_spanning_forest<Index>(list, weighed, 1);

  // Keys that are others when they are asked for again.
  std::vector<int64_t> begin(vertices + 1);
  std::vector<int32_t> grouped(arcs);
  group_by_key(
      arcs, vertices, [&](int64_t) { return draw(-1, vertices + 2); }, [](int64_t i) { return i; },
      begin.data(), grouped.data(), arcs);
}

void test_changing_labels() {
  const int64_t count = draw(0, 2000), rows = draw(1, 50);
  std::vector<int32_t> labels(count), table(rows), replaced(count);
  for (int32_t& label : labels) label = draw(0, 3) ? draw(0, int(rows) - 1) : int32_t(generator());
  std::vector<int64_t> sizes(rows);
  const LabelArray array(labels.data(), count, draw(-1, 0));
  count_labels(array, rows, sizes.data());
  measure_labels(array, {count}, rows, draw(0, 1));
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
  // There is room for fewer than there are now.
  std::vector<int64_t> begins(rows + 1);
  for (int64_t row = 0; row < rows; ++row) begins[row + 1] = begins[row] + draw(0, 40);
  std::vector<int32_t> members(begins[rows]);
  list_members(array, std::max<int64_t>(count, 1), rows, begins.data(), members.data());
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
// Memory that was freed comes back, unless it is small, large, or more than twice what is asked for.
void test_spare_memory() {
  constexpr int64_t kLarge = 1 << 20;
  const auto freed = [](int64_t count) { return Buffer<char>(count).data(); };
  const char* const memory = freed(kLarge);
  const bool keeps = SpareMemory::kKept > 0;
  Buffer<char> small(kLarge / 4), same(kLarge), second(kLarge);
  check(!keeps || same.data() == memory, "memory that was freed");
  check(small.data() != memory && second.data() != memory, "memory of one array only");
  size_t bytes = SpareMemory::kKept + 1;
  check(!SpareMemory::give(nullptr, bytes), "memory that is too large to keep");
  // A great number of arrays leaves no more than is kept.
  for (int i = 0; i < 40; ++i) {
    std::vector<Buffer<char>> arrays;
    for (int k = 0; k < 20; ++k) arrays.emplace_back(kLarge * 8);
  }
  size_t kept = 0;
  for (size_t size = kLarge * 8; void* block = SpareMemory::take(size); size = kLarge * 8) {
    kept += size;
    std::free(block);
  }
  check(kept <= SpareMemory::kKept, "memory that is kept");
  check(!keeps || kept > 0, "memory that is not kept");
}

void test_interrupts() {
  using std::chrono::steady_clock;
  const std::vector<uint8_t> data(size_t(1) << 22, 1);
  std::vector<int32_t> labels(data.size());
  const Grid grid{{{int64_t(data.size()), false, 1, 1}}, 0, {{-1}}};
  int64_t count = 0;
  const auto label = [&] {
    label_runs(data.data(), RuleWords(Equal<uint8_t>{{0, true}}), grid, true, labels.data(), &count);
  };
  int polls = 0;
  bool interrupted = false;
  {
    const auto poll = [&] { return ++polls == 2; };
    const WatchedCall call(poll);
    try {
      for (const auto start = steady_clock::now(); steady_clock::now() - start < std::chrono::seconds(60);)
        label();
    } catch (const Interrupted&) {
      interrupted = true;
    }
    check(call.given_up(), "a call that was given up");
  }
  check(interrupted && polls == 2, "an interrupt");
  label();
  check(labels.front() == 1 && labels.back() == 1, "a call after an interrupt");
}

void test_random() {
  const int64_t start = draw(0, 9), count = draw(0, 900);
  std::vector<Bits32> words(count);
  fill_random<Bits32>(7, 8, start, count, words.data(), [](Bits32 bits, int64_t) { return bits; });
  std::vector<double> numbers(count);
  fill_random<Bits64>(7, 8, start, count, numbers.data(),
                      [](Bits64 bits, int64_t) { return unit_interval(bits); });
  for (int64_t k = 0; k < count; ++k) {
    const int64_t i = start + k;
    check(words[k] == philox(7, Bits64(i / 4), 0, 8).word[i % 4], "32 random bits");
    const PhiloxBlock block = philox(7, Bits64(i / 2), 0, 8);
    const Bits64 bits = block.word[i % 2 * 2] | Bits64(block.word[i % 2 * 2 + 1]) << 32;
    check(numbers[k] == double(bits >> 11) / double(Bits64(1) << 53), "a number in [0, 1)");
  }
  const int scale = draw(0, 31);
  const Bits64 all_upper_left[] = {Bits64(1) << 32, Bits64(1) << 32, Bits64(1) << 32};
  const Bits64 all_lower_right[] = {0, 0, 0};
  std::vector<int32_t> src(count), dst(count);
  rmat(7, 8, scale, all_upper_left, count, src.data(), dst.data());
  for (int64_t k = 0; k < count; ++k) check(src[k] == 0 && dst[k] == 0, "an edge at the first vertex");
  rmat(7, 8, scale, all_lower_right, count, src.data(), dst.data());
  const int32_t last = int32_t((int64_t(1) << scale) - 1);
  for (int64_t k = 0; k < count; ++k) check(src[k] == last && dst[k] == last, "an edge at the last vertex");
}

}  // namespace

int main(int, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = draw(1, 5);
    test_grid<uint8_t, int32_t>();
    test_grid<uint64_t, int64_t>();
    test_grid<Half, int32_t>();
    test_grid<float, int32_t>();
    test_words<int32_t>();
    test_words<int64_t>();
    test_colours<int32_t>();
    test_colours<int64_t>();
    test_bonds<int32_t>();
    test_bonds<int64_t>();
    test_forest<int32_t>();
    test_forest<int64_t>();
    test_graph<int32_t>();
    test_graph<int64_t>();
    test_strong<int32_t>();
    test_strong<int64_t>();
    test_bridges();
    test_union_by_size();
    test_copy_of_two_moments<int32_t>();
    test_copy_of_two_moments<int64_t>();
    test_growing<int32_t, int32_t>();
    test_growing<int64_t, int32_t>();
    test_growing<int64_t, int64_t>();
    test_random();
    test_changing_image<int32_t>();
    test_changing_image<int64_t>();
    test_changing_graph<int32_t, int32_t>();
    test_changing_graph<int64_t, int32_t>();
    test_changing_graph<int64_t, int64_t>();
    test_changing_labels();
  }
  test_interrupts();
  test_spare_memory();
  std::printf("%d rounds\n", rounds);
}
