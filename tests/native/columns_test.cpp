// What is measured of components, under a sanitizer, with several threads and parts of few elements, against
// sums over elements and flood fills; and of labels that somebody changes meanwhile. Built and run by
// test_sanitizers.py.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "cpu/components/borders.h"
#include "cpu/components/enclosed.h"
#include "cpu/components/hulls.h"
#include "cpu/components/moments.h"
#include "cpu/core/parallel.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Labels of items of a shape, one after another, and the elements of each component.
template <class Label> struct Case {
  std::vector<int64_t> shape;
  std::vector<Label> labels;
  std::vector<int64_t> components;
  std::vector<std::vector<int64_t>> elements;

  explicit Case(int axes) {
    const int64_t items = draw(1, 3);
    int64_t length = 1;
    for (int k = 0; k < axes; ++k) shape.push_back(draw(1, k + 1 < axes ? 6 : 90)), length *= shape.back();
    const int few = draw(1, 6), gap = draw(0, 1) ? 1 : 1000;
    for (int64_t i = 0; i < items * length; ++i) {
      const int64_t item = i / length;  // labels of items differ
      labels.push_back(draw(0, 2) ? Label(gap * (item * few + draw(1, few))) : 0);
    }
    const std::set<Label> present(labels.begin(), labels.end());
    for (const Label label : present)
      if (label != 0) components.push_back(label);
    elements.resize(components.size());
    for (int64_t i = 0; i < int64_t(labels.size()); ++i) {
      const auto at = std::lower_bound(components.begin(), components.end(), int64_t(labels[i]));
      if (labels[i] != 0) elements[at - components.begin()].push_back(i);
    }
  }

  LabelledItems items() const { return {{labels.data(), int64_t(labels.size()), 0}, shape}; }
  RowsOfLabels rows() const { return {components.data(), int64_t(components.size())}; }
  int axes() const { return int(shape.size()); }
  int64_t coordinate(int64_t index, int k) const {
    for (int j = axes() - 1; j > k; --j) index /= shape[j];
    return index % shape[k];
  }
  // The element a step away, or -1 outside the item.
  int64_t beside(int64_t index, const std::vector<int>& step) const {
    int64_t stride = 1, target = index;
    for (int k = axes() - 1; k >= 0; stride *= shape[k--]) {
      const int64_t place = coordinate(index, k) + step[k];
      if (place < 0 || place >= shape[k]) return -1;
      target += step[k] * stride;
    }
    return target;
  }
  std::vector<int> step(int code) const {
    std::vector<int> step(axes());
    for (int k = axes() - 1; k >= 0; --k, code /= 3) step[k] = code % 3 - 1;
    return step;
  }
};

template <class Label> std::vector<int64_t> boxes_of(const Case<Label>& given) {
  std::vector<int64_t> boxes;
  for (const auto& elements : given.elements)
    for (int k = 0; k < given.axes(); ++k) {
      int64_t first = INT64_MAX, end = 0;
      for (const int64_t i : elements)
        first = std::min(first, given.coordinate(i, k)), end = std::max(end, given.coordinate(i, k) + 1);
      boxes.insert(boxes.end(), {first, end});
    }
  return boxes;
}

template <class Label> void test_moments(const Case<Label>& given, const ComponentRuns& runs) {
  const int64_t count = moments_of(given.axes()), rows = runs.rows();
  const std::vector<int64_t> boxes = boxes_of(given);
  std::vector<double> raw(rows * count), central(rows * count), weighted(rows * count), origins;
  for (size_t i = 0; i < boxes.size(); i += 2) origins.push_back(double(boxes[i]));
  write_moments(runs, boxes.data(), {raw.data(), central.data()});
  const auto ones = [](Run run, double* values) { std::fill_n(values, run.end - run.begin, 1.0); };
  weigh_moments(runs, ones, origins.data(), weighted.data());
  check(raw == weighted, "moments of ones");
  for (int64_t row = 0; row < rows; ++row) {
    double expected = 0;
    for (const int64_t i : given.elements[row]) {
      double product = 1;
      for (int k = 0; k < given.axes(); ++k)
        product *= std::pow(given.coordinate(i, k) - origins[row * given.axes() + k], k % 2 ? 3 : 2);
      expected += product;
    }
    int64_t at = 0;
    for (int k = 0; k < given.axes(); ++k) at = kPowers * at + (k % 2 ? 3 : 2);
    check(raw[row * count + at] == expected, "a moment");
    check(central[row * count] == double(given.elements[row].size()), "a size");
    for (int k = 0; k < given.axes(); ++k)
      check(std::abs(central[row * count + moments_of(k)]) < 1e-9, "a first moment about a centroid");
  }
}

template <int axes, class Label> void test_configurations(const Case<Label>& given) {
  constexpr int kNumbers = Configurations<axes>::kNumbers, kDirections = Configurations<axes>::kDirections;
  std::vector<int64_t> numbers(given.components.size() * kNumbers), kinds(given.components.size() * 3);
  count_configurations<axes>(given.items(), given.rows(), numbers.data());
  if (axes == 2) count_borders(given.items(), given.rows(), kinds.data());
  for (size_t row = 0; row < given.components.size(); ++row) {
    for (int direction = 0; direction < kDirections; ++direction) {
      int64_t intercepts = 0;
      for (const int64_t i : given.elements[row]) {
        const int64_t j = given.beside(i, given.step(direction + kDirections + 1));
        intercepts += j < 0 || given.labels[j] != given.labels[i];
      }
      check(numbers[row * kNumbers + axes + direction] == intercepts, "intercepts");
    }
    for (int k = 0; k < axes; ++k) check(numbers[row * kNumbers + k] % (1 << axes) == 0, "an Euler number");
  }
}

// How many elements no path of others, aslant too, leads to from outside the box.
template <class Label>
int64_t enclosed_by_flood(const Case<Label>& given, int64_t row, const std::vector<int64_t>& boxes) {
  std::set<int64_t> component(given.elements[row].begin(), given.elements[row].end()), inside;
  int64_t length = 1;
  for (const int64_t along : given.shape) length *= along;
  const int64_t begin = *component.begin() / length * length;
  const auto is_in_box = [&](int64_t i) {
    for (int k = 0; k < given.axes(); ++k) {
      const int64_t* const box = &boxes[2 * (row * given.axes() + k)];
      if (given.coordinate(i, k) < box[0] || given.coordinate(i, k) >= box[1]) return false;
    }
    return true;
  };
  int steps = 1;
  for (int k = 0; k < given.axes(); ++k) steps *= 3;
  std::set<int64_t> outside;
  std::vector<int64_t> stack;
  const auto for_each_beside = [&](int64_t i, auto&& visit) {
    for (int code = 0; code < steps; ++code) visit(given.beside(i, given.step(code)));
  };
  for (int64_t i = begin; i < begin + length; ++i) {
    if (!is_in_box(i) || component.count(i)) continue;
    inside.insert(i);
    bool at_border = false;
    for_each_beside(i, [&](int64_t j) { at_border = at_border || j < 0 || !is_in_box(j); });
    if (at_border && outside.insert(i).second) stack.push_back(i);
  }
  while (!stack.empty()) {
    const int64_t i = stack.back();
    stack.pop_back();
    for_each_beside(i, [&](int64_t j) {
      if (inside.count(j) && outside.insert(j).second) stack.push_back(j);
    });
  }
  return int64_t(inside.size() - outside.size());
}

template <class Label> void test_values(const Case<Label>& given, const ComponentRuns& runs) {
  std::vector<double> values(given.labels.size());
  for (double& value : values) value = draw(-50, 50) / 4.0;
  const auto read = [&](Run run, double* out) {
    std::copy(values.data() + run.begin, values.data() + run.end, out);
  };
  const std::vector<double> fractions{0, 0.25, 0.5, 0.9, 1};
  std::vector<double> quantiles(fractions.size() * runs.rows()), means(runs.rows(), 1), sums(runs.rows());
  find_quantiles(runs, read, fractions, quantiles.data());
  sum_squares(runs, read, means.data(), sums.data());
  for (int64_t row = 0; row < runs.rows(); ++row) {
    std::vector<double> sorted;
    double sum = 0;
    for (const int64_t i : given.elements[row])
      sorted.push_back(values[i]), sum += (values[i] - 1) * (values[i] - 1);
    std::sort(sorted.begin(), sorted.end());
    check(sums[row] == sum, "squares");
    for (size_t k = 0; k < fractions.size(); ++k) {
      const double place = fractions[k] * double(sorted.size() - 1), low = sorted[size_t(place)];
      const double high = sorted[std::min(size_t(place) + 1, sorted.size() - 1)];
      const double expected = low + (high - low) * (place - std::floor(place));
      check(std::abs(quantiles[row * fractions.size() + k] - expected) < 1e-12, "a quantile");
    }
  }
}

template <class Label> void test_case(int axes) {
  const Case<Label> given(axes);
  const ComponentRuns runs(given.items(), given.rows());
  for (int64_t row = 0; row < runs.rows(); ++row) {
    std::vector<int64_t> elements;
    runs.for_each(row, [&](Run run) {
      for (int64_t i = run.begin; i < run.end; ++i) elements.push_back(i);
    });
    check(elements == given.elements[row], "the elements of runs");
  }
  test_moments(given, runs);
  if (axes == 2) test_configurations<2>(given);
  if (axes == 3) test_configurations<3>(given);
  const std::vector<int64_t> boxes = boxes_of(given);
  std::vector<int64_t> enclosed(runs.rows());
  count_enclosed(runs, enclosed.data());
  for (int64_t row = 0; row < runs.rows(); ++row)
    check(enclosed[row] == enclosed_by_flood(given, row, boxes), "enclosed elements");
  if (axes == 2) {
    std::vector<int64_t> sizes(runs.rows());
    std::vector<double> largest(runs.rows()), smallest(runs.rows());
    measure_hulls(runs, {1, 1}, {sizes.data(), largest.data(), smallest.data()});
    for (int64_t row = 0; row < runs.rows(); ++row) {
      check(sizes[row] >= int64_t(given.elements[row].size()), "the elements of a hull");
      check(largest[row] >= smallest[row] && smallest[row] > 0.7, "Feret diameters");
    }
  }
  test_values(given, runs);
}

// Nothing is read or written elsewhere, whatever labels become meanwhile.
void test_changing_labels() {
  Case<int32_t> given(draw(2, 3));
  const std::vector<int64_t> boxes = boxes_of(given);
  std::vector<int32_t>& labels = given.labels;
  const int64_t rows = int64_t(given.components.size());
  std::thread other([&labels] {
    for (int turn = 0; turn < 20; ++turn)
      for (size_t i = 0; i < labels.size(); ++i)
        Concurrent::store(&labels[i], turn % 2 ? int32_t(i % 7) : int32_t(-1 - int(i)));
  });
#ifndef __SANITIZE_THREAD__  // which minds that whole lines are copied
  std::vector<int64_t> numbers(rows * 16);
  if (given.axes() == 2)
    count_configurations<2>(given.items(), given.rows(), numbers.data());
  else
    count_configurations<3>(given.items(), given.rows(), numbers.data());
  if (given.axes() == 2) count_borders(given.items(), given.rows(), numbers.data());
  const ComponentRuns runs(given.items(), given.rows());
  std::vector<double> raw(rows * 64), central(rows * 64);
  std::vector<int64_t> counts(rows);
  write_moments(runs, boxes.data(), {raw.data(), central.data()});
  count_enclosed(runs, counts.data());
  if (given.axes() == 2) measure_hulls(runs, {1, 1}, {counts.data(), raw.data(), central.data()});
#endif
  other.join();
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = draw(1, 5);
    for (int axes = 1; axes <= 3; ++axes) {
      test_case<int32_t>(axes);
      test_case<int64_t>(axes);
    }
    test_changing_labels();
  }
  std::printf("%d rounds\n", rounds);
}
