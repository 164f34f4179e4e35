// Runs the C++ core on random inputs under a sanitizer, with several threads and parts so small that
// every seam is crossed, and compares with a serial flood fill. Built and run by test_sanitizers.py.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "core/half.h"
#include "cpu/components/tables.h"
#include "cpu/core/extremes.h"
#include "cpu/generate/fill.h"
#include "cpu/generate/rmat.h"
#include "cpu/graph/afforest.h"
#include "cpu/grid/runs.h"

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

struct Image {
  std::vector<int64_t> shape, stride;
  std::vector<bool> periodic;
  int connectivity;
  int64_t size = 1;

  Image() {
    const int ndim = draw(1, 4), longest[] = {400, 90, 20, 8};
    for (int k = 0; k < ndim; ++k) {
      shape.push_back(draw(2, longest[ndim - 1]));
      periodic.push_back(draw(0, 1));
    }
    stride.resize(ndim);
    for (int k = ndim - 1; k >= 0; size *= shape[k--]) stride[k] = size;
    connectivity = draw(1, ndim);
  }

  template <class Body>
  void for_each_neighbour(int64_t i, Body&& body) const {
    const int ndim = int(shape.size());
    std::vector<int> step(ndim, -1);
    for (bool more = true; more;) {
      int64_t j = 0;
      int moved = 0;
      bool there = true;
      for (int k = 0; k < ndim; ++k) {
        int64_t c = i / stride[k] % shape[k] + step[k];
        moved += step[k] != 0;
        if (c < 0 || c >= shape[k]) there &= periodic[k];
        j += (c + shape[k]) % shape[k] * stride[k];
      }
      if (there && moved > 0 && moved <= connectivity) body(j);
      more = false;
      for (int k = 0; k < ndim && !more; ++k) {
        more = step[k] < 1;
        step[k] = more ? step[k] + 1 : -1;
      }
    }
  }
};

template <class Value, class Index>
void test_grid() {
  const Image image;
  const int values = draw(1, 3), percent = draw(0, 100);
  const bool any_background = draw(0, 3) > 0;
  std::vector<Value> data(image.size);
  for (Value& value : data) {
    const int drawn = draw(1, 100) <= percent ? draw(1, values) : 0;
    if constexpr (std::is_same_v<Value, Half>)
      value.bits = uint16_t(drawn ? 0x3c00 + drawn : draw(0, 1) << 15);  // zeros of both signs
    else
      value = Value(drawn);
  }
  const std::optional<Value> background = any_background ? std::optional<Value>(Value{}) : std::nullopt;
  const auto expected = flood_fill(
      image.size, [&](int64_t i) { return !background || data[i] != *background; },
      [&](int64_t i, auto&& visit) {
        image.for_each_neighbour(i, [&](int64_t j) {
          if (data[i] == data[j]) visit(j);
        });
      });
  std::vector<int> order(image.shape.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = int(k);
  if (draw(0, 1)) std::shuffle(order.begin(), order.end(), generator);
  std::vector<Axis> axes;
  for (int k : order)
    axes.push_back(
        {image.shape[k], image.periodic[k], image.stride[k], image.stride[k] * int(sizeof(Value))});
  std::vector<Index> roots(image.size, 77), numbers(image.size, 77);
  const auto label = [&](bool consecutive, std::vector<Index>& labels) {
    return label_runs(data.data(), background, axes, image.connectivity, consecutive, labels.data());
  };
  const int64_t count = label(false, roots);
  check(label(true, numbers) == count, "number of components");
  std::vector<int64_t> number(image.size);
  int64_t next = 0;
  for (int64_t i = 0; i < image.size; ++i) {
    check(roots[i] == expected[i], "root of an element");
    if (expected[i] == i) number[i] = ++next;
    check(numbers[i] == (expected[i] < 0 ? 0 : number[expected[i]]), "number of an element");
  }
  check(next == count, "number of roots");

  const int64_t rows = count + 1;
  std::vector<int64_t> sizes(rows), recount(rows), begin(rows + 1), members(image.size);
  count_labels(numbers.data(), image.size, Index(0), rows, sizes.data());
  for (Index label : numbers) recount[label] += label > 0;
  check(sizes == recount, "sizes");
  const Moments moments = measure_labels(numbers.data(), image.size, image.shape, Index(0), rows);
  for (int64_t row = 0; row < rows; ++row) check(moments.size[row] == recount[row], "sizes in statistics");
  std::vector<double> covariance(rows * image.shape.size() * image.shape.size());
  central_moments(moments, covariance.data());
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
  find_roots(rows, symmetric, roots.data());
  find_roots_of_arcs(src.data(), dst.data(), int64_t(src.size()), vertices, others.data());
  for (int v = 0; v < vertices; ++v)
    check(roots[v] == expected[v] && others[v] == expected[v], "root of a vertex");
  label_roots(roots.data(), vertices, true);
  Index next = 0;
  for (int v = 0; v < vertices; ++v) {
    if (expected[v] == v) others[v] = next++;
    check(roots[v] == others[expected[v]], "number of a vertex");
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

// Inputs that change while they are read: any answer will do, if the sanitizers find nothing.
template <class Index>
void test_changing_image() {
  const Image image;
  const std::vector<Fickle> data(image.size);
  std::vector<Axis> axes;
  for (size_t k = 0; k < image.shape.size(); ++k)
    axes.push_back({image.shape[k], image.periodic[k], image.stride[k], image.stride[k]});
  std::vector<Index> labels(image.size);
  label_runs(data.data(), std::optional(Fickle()), axes, image.connectivity, draw(0, 1), labels.data());

  // Masks of one image, contacts of another.
  std::vector<uint8_t> before(image.size), after(image.size);
  const int percent = draw(0, 100);
  for (uint8_t& value : before) value = draw(1, 100) <= percent ? draw(1, 2) : 0;
  for (uint8_t& value : after) value = draw(0, 1);
  const Bundles rows(axes, image.connectivity, false);
  Masks earlier(rows);
  earlier.read_values(before.data(), std::optional<uint8_t>(0));
  label_masks<EqualValues<uint8_t>>(earlier, after.data(), draw(0, 1), labels.data());
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
  find_roots(Rows<Vertex, Vertex>{indptr.data(), dst.data(), vertices, arcs}, draw(0, 1), roots.data());
  label_roots(roots.data(), vertices, draw(0, 1));
  find_roots_of_arcs(src.data(), dst.data(), arcs, vertices, roots.data());
  label_roots(roots.data(), vertices, draw(0, 1));

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
  count_labels(labels.data(), count, draw(-1, 0), rows, sizes.data());
  measure_labels(labels.data(), count, {count}, draw(-1, 0), rows);
  std::vector<int64_t> combined(count);
  combine_labels(labels.data(), count, draw(1, 300), 0, rows, combined.data());
  replace_labels(labels.data(), count, draw(-1, 0), table.data(), rows, replaced.data());
}

// Whatever a call does when it is given up, it ends by Interrupted, and the next one is right.
void test_interrupts() {
  using std::chrono::steady_clock;
  const std::vector<uint8_t> data(size_t(1) << 22, 1);
  std::vector<int32_t> labels(data.size());
  const std::vector<Axis> axes{{int64_t(data.size()), false, 1, 1}};
  const auto label = [&] {
    label_runs(data.data(), std::optional<uint8_t>(0), axes, 1, true, labels.data());
  };
  int polls = 0;
  bool interrupted = false;
  {
    const WatchedCall call([&] { return ++polls == 2; });
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
    wanted_threads = draw(1, 5);
    test_grid<uint8_t, int32_t>();
    test_grid<uint64_t, int64_t>();
    test_grid<Half, int32_t>();
    test_grid<float, int32_t>();
    test_graph<int32_t>();
    test_graph<int64_t>();
    test_random();
    test_changing_image<int32_t>();
    test_changing_image<int64_t>();
    test_changing_graph<int32_t, int32_t>();
    test_changing_graph<int64_t, int32_t>();
    test_changing_graph<int64_t, int64_t>();
    test_changing_labels();
  }
  test_interrupts();
  std::printf("%d rounds\n", rounds);
}
