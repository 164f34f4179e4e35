// Clusters of random pairs under a sanitizer, with several threads and blocks of few rows, against a map of
// parents: ids of one word, of two words and of bytes, batches, thresholds, clusters that are read again, and
// columns that somebody changes meanwhile. Built and run by test_sanitizers.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cpu/core/parallel.h"
#include "cpu/tables/pair_clusters.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

// Ids by the names of small numbers, and the column of a side of a batch.
template <int kWords> struct WordBatch {
  using Ids = WordIds<kWords>;
  std::vector<uint64_t> words;

  void add(int64_t name) {
    for (int k = 0; k < kWords; ++k) words.push_back(uint64_t(name + k) * 0x9e3779b97f4a7c15);
  }
  WordColumn<kWords> column() const { return {words.data()}; }
  void spoil() {
    for (uint64_t& word : words) Concurrent::store(&word, uint64_t(draw(0, 3)));
  }
};
struct ByteBatch {
  using Ids = ByteIds;
  std::string bytes;
  std::vector<int64_t> ends{0};

  void add(int64_t name) {
    bytes += std::string(size_t(name % 40), char('a' + name % 3)) + std::to_string(name);
    ends.push_back(int64_t(bytes.size()));
  }
  ByteColumn column() const { return {bytes.data(), ends.data(), int64_t(bytes.size())}; }
  void spoil() {
    for (int64_t& end : ends) Concurrent::store(&end, int64_t(draw(-9, 9)));
  }
};

// The first number of each one's cluster, where names have the numbers of their first appearance.
class Reference {
 public:
  int32_t number(int64_t name) {
    const auto [at, is_new] = numbers_.try_emplace(name, int32_t(parents_.size()));
    if (is_new) parents_.push_back(at->second);
    return at->second;
  }
  void unite(int32_t u, int32_t v) {
    const int32_t a = root(u), b = root(v);
    parents_[std::max(a, b)] = std::min(a, b);
  }
  int32_t root(int32_t i) const { return parents_[i] == i ? i : root(parents_[i]); }
  int32_t size() const { return int32_t(parents_.size()); }

 private:
  std::map<int64_t, int32_t> numbers_;
  std::vector<int32_t> parents_;
};

template <class Ids>
void compare(PairClusters<Ids>& clusters, const std::vector<Reference>& references, const char* what) {
  for (int level = 0; level < int(references.size()); ++level) {
    std::vector<int32_t> roots(clusters.size());
    check(clusters.size() == references[level].size(), what);
    clusters.label(level, Naming::kRoots, roots.data());
    for (int32_t i = 0; i < int32_t(roots.size()); ++i) check(roots[i] == references[level].root(i), what);
  }
}

template <class Batch> void cluster_batches() {
  using Ids = typename Batch::Ids;
  std::vector<double> thresholds{0.0};
  while (draw(0, 1)) thresholds.push_back(thresholds.back() + double(draw(1, 4)));
  PairClusters<Ids> clusters(thresholds);
  std::vector<Reference> references(thresholds.size());
  const int64_t names = draw(1, draw(0, 3) ? 2000 : 5);
  for (int64_t batch = draw(0, 4); batch > 0; --batch) {
    const int64_t rows = draw(0, 700);
    Batch left, right;
    std::vector<double> weights;
    const bool numbered = draw(0, 1);
    std::vector<int32_t> u(numbered ? rows : 0), v(numbered ? rows : 0), expected;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t ends[] = {draw(0, names), draw(0, names)};
      left.add(ends[0]), right.add(ends[1]);
      weights.push_back(double(draw(-2, 12)));
      for (int level = 0; level < int(references.size()); ++level) {
        const int32_t a = references[level].number(ends[0]), b = references[level].number(ends[1]);
        if (level == 0) expected.push_back(a), expected.push_back(b);
        if (weights[i] >= thresholds[level]) references[level].unite(a, b);
      }
    }
    clusters.add_pairs(left.column(), right.column(), weights.data(), rows, numbered ? u.data() : nullptr,
        numbered ? v.data() : nullptr);
    for (int64_t i = 0; i < int64_t(u.size()); ++i)
      check(u[i] == expected[2 * i] && v[i] == expected[2 * i + 1], "numbers of both ends");
    compare(clusters, references, "clusters of batches");
  }
  PairClusters<Ids> again(thresholds);
  Batch nodes;
  std::vector<int32_t> numbers(clusters.size());
  for (int64_t name = 0; name < clusters.size(); ++name) nodes.add(name);
  again.add_ids(nodes.column(), clusters.size(), numbers.data());
  for (int32_t i = 0; i < int32_t(numbers.size()); ++i) check(numbers[i] == i, "numbers of nodes");
  for (int level = 0; level < int(thresholds.size()); ++level) {
    std::vector<int32_t> roots(clusters.size());
    clusters.label(level, Naming::kRoots, roots.data());
    again.unite_roots(level, roots.data(), int64_t(roots.size()));
  }
  compare(again, references, "clusters that were read");
  again.keep_ids_only();
  check(again.size() == references[0].size(), "ids that are kept");
}

// Whatever ids become meanwhile, every number is one.
template <class Batch> void cluster_what_changes() {
  PairClusters<typename Batch::Ids> clusters({0.0});
  Batch left, right;
  const int64_t rows = draw(1, 600);
  for (int64_t i = 0; i < rows; ++i) left.add(draw(0, 99)), right.add(draw(0, 99));
  std::vector<int32_t> u(rows), v(rows), roots;
  std::thread owner([&] { left.spoil(); });
  clusters.add_pairs(left.column(), right.column(), nullptr, rows, u.data(), v.data());
  owner.join();
  for (int64_t i = 0; i < rows; ++i)
    check(u[i] >= 0 && u[i] < clusters.size() && v[i] >= 0 && v[i] < clusters.size(), "changing ids");
  roots.resize(clusters.size());
  clusters.label(0, Naming::kRoots, roots.data());
}

// The sizes of clusters are at most those wanted, unless all links of a cluster weigh the same.
void divide() {
  const int64_t vertices = draw(1, 60), links = draw(0, 90), most = draw(1, 9);
  std::vector<int32_t> u, v, parent(vertices);
  std::vector<double> weights, divided(vertices, __builtin_nan(""));
  for (int64_t i = 0; i < links; ++i) {
    u.push_back(int32_t(draw(0, vertices - 1))), v.push_back(int32_t(draw(0, vertices - 1)));
    weights.push_back(double(draw(0, 20)));
  }
  std::sort(weights.rbegin(), weights.rend());
  for (int64_t i = 0; i < vertices; ++i) parent[i] = int32_t(i);
  divide_clusters(u.data(), v.data(), weights.data(), links, vertices, most, parent.data(), divided.data());
  std::map<int32_t, int64_t> sizes;
  for (int64_t i = 0; i < vertices; ++i) ++sizes[find<Exclusive>(parent.data(), int32_t(i))];
  for (const auto& [root, size] : sizes) check(size <= most, "divided clusters");
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  for (int round = 0; round < rounds; ++round) {
    process().wanted_threads = int(draw(1, 4));
    cluster_batches<WordBatch<1>>();
    cluster_batches<WordBatch<2>>();
    cluster_batches<ByteBatch>();
    cluster_what_changes<WordBatch<1>>();
    cluster_what_changes<ByteBatch>();
    divide();
  }
  std::printf("%d rounds\n", rounds);
}
