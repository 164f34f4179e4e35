// Clusters of ids that grow by tables of pairs, at several thresholds of weights at once. Ids become numbers
// (interning.h), and pairs unite these in a forest for each threshold. While many ids are new, one thread
// numbers small blocks of rows, in its caches; later all look ids up, and one adds new ones by rows, left
// before right, so that numbers do not depend on threads. A pair is united at the highest threshold that it
// reaches, and goes on to the next lower one only if not connected there. An interruption may leave a pair
// between two forests: `mend` unites all of a forest in the lower ones. Cost: two cache misses an id and two
// a pair. Memory: that of interning, and 4 bytes an id and threshold.
#pragma once

#include "cpu/core/numbering.h"
#include "cpu/tables/interning.h"

namespace conncomp {

struct Joined {
  bool joined = false;
  void united(auto) { joined = true; }
};

class ThresholdForests {
 public:
  explicit ThresholdForests(int thresholds) : parents_(thresholds) {}

  int levels() const { return int(parents_.size()); }
  int64_t size() const { return parents_.empty() ? 0 : parents_[0].size(); }
  const int32_t* parents(int level) const { return parents_[level].data(); }
  int32_t* parents(int level) { return parents_[level].data(); }

  void grow(int64_t entries, int64_t room = 0) {
    for (GrowingArray<int32_t>& forest : parents_)
      for (int64_t more = entries - forest.size(); more > 0; more = 0) {
        forest.reserve(room);
        const int64_t first = forest.size();
        int32_t* const added = forest.extend(more);
        for_each_in(0, more, [=](int64_t i) { added[i] = int32_t(first + i); });
      }
  }

  template <class Access> void unite_below(int level, int32_t u, int32_t v) {
    for (bool joined = true; joined && level > 0;) {
      Joined unions;
      unite<Access>(parents(--level), u, v, unions);
      joined = unions.joined;
    }
  }

  void mend() {
    for (int level = levels() - 1; level > 0; --level)
      for_each_index(size(), [this, level](int64_t i) {
        unite<Concurrent>(parents(level - 1), int32_t(i), Concurrent::load(parents(level) + i));
      });
  }

 private:
  std::vector<GrowingArray<int32_t>> parents_;
};

// How many thresholds the weight of a pair reaches; all without weights.
class Levels {
 public:
  Levels(const double* weights, const std::vector<double>& thresholds)
      : weights_(weights), thresholds_(thresholds) {}

  int operator()(int64_t row) const {
    if (!weights_) return int(thresholds_.size());
    const double weight =
        std::bit_cast<double>(Concurrent::load(reinterpret_cast<const uint64_t*>(weights_) + row));
    int level = 0;
    for (const double threshold : thresholds_) level += weight >= threshold;
    return level;
  }

 private:
  const double* const weights_;
  const std::vector<double>& thresholds_;  // ascending
};

// Turns roots into the numbers of their clusters; fills the sizes of these.
inline void number_clusters(int32_t* labels, int64_t count, int32_t* sizes) {
  const int64_t clusters = label_forest(labels, count, Naming::kNumbers);
  Buffer<int32_t> members(clusters);
  for_each_in(0, clusters, [counts = members.data()](int64_t c) { counts[c] = 0; });
  for_each_in(0, count, [labels, counts = members.data()](int64_t i) { ++counts[labels[i]]; });
  for_each_index(
      count, [labels, sizes, counts = members.data()](int64_t i) { sizes[i] = counts[labels[i]]; });
}

template <class Ids> class PairClusters {
 public:
  using Column = typename Ids::Column;

  // Thresholds ascend: one without meaning if pairs have no weights, none if ids are only numbered.
  explicit PairClusters(std::vector<double> thresholds)
      : thresholds_(std::move(thresholds)), forests_(int(thresholds_.size())) {}

  const Ids& ids() const { return interning_.ids(); }
  int64_t size() const { return interning_.size(); }
  const ThresholdForests& forests() const { return forests_; }

  void add_ids(const Column& column, int64_t rows, int32_t* numbers) {
    add_blocks(
        column, nullptr, rows, numbers, nullptr, [](int64_t, int64_t, const int32_t*, const int32_t*) {});
  }

  // Adds pairs; `weights` may be null, and so may the arrays that get the numbers of ids.
  void add_pairs(const Column& left, const Column& right, const double* weights, int64_t rows,
      int32_t* left_numbers, int32_t* right_numbers) {
    if (torn_) mend();
    torn_ = true;
    const Levels level(weights, thresholds_);
    add_blocks(left, &right, rows, left_numbers, right_numbers,
        [&](int64_t first, int64_t count, const int32_t* u, const int32_t* v) {
          unite_block(level, first, count, u, v);
        });
    torn_ = false;
  }

  int64_t label(int threshold, Naming naming, int32_t* labels) {
    if (torn_) mend();
    int32_t* const parent = forests_.parents(threshold);
    for_each_index(size(), [=](int64_t i) { labels[i] = find<Concurrent>(parent, int32_t(i)); });
    return label_forest(labels, size(), naming);
  }

  void keep_ids_only() {
    forests_ = ThresholdForests(0);
    interning_.forget_table();
  }

  // Unites entries with roots that are not larger, at a threshold, as read from a file.
  void unite_roots(int threshold, const int32_t* roots, int64_t count) {
    forests_.grow(size());
    for_each_index(std::min(count, size()), [=, this](int64_t i) {
      const int32_t root = Concurrent::load(roots + i);
      if (root >= 0 && root < size()) unite<Concurrent>(forests_.parents(threshold), int32_t(i), root);
    });
  }

 private:
  static constexpr int64_t kSmallBlock = kGrain / 16, kBlock = 2 * kGrain;
  static constexpr int64_t kRowsAThread = kGrain / 8, kRowsAhead = 64;
  // Many ids are new if more than one of so many are: a look-up in vain takes about as long as to add it.
  static constexpr int64_t kIdsToANewOne = 8;

  void mend() {
    forests_.grow(size());
    forests_.mend();
    torn_ = false;
  }

  void add_blocks(const Column& left, const Column* right, int64_t rows, int32_t* left_numbers,
      int32_t* right_numbers, auto then) {
    const int64_t largest = std::min(rows, kBlock);
    Buffer<int32_t> left_block(largest), right_block(largest);
    for (int64_t first = 0; first < rows;) {
      const int64_t count = std::min(many_new_ ? kSmallBlock : kBlock, rows - first), known = size();
      int32_t* const u = left_numbers ? left_numbers + first : left_block.data();
      int32_t* const v = right_numbers ? right_numbers + first : right_block.data();
      if (many_new_)
        number_small_block(left, right, first, count, u, v);
      else
        number_block(left, right, first, count, u, v);
      const int64_t ids = (right ? 2 : 1) * count, new_ids = size() - known;
      many_new_ = kIdsToANewOne * new_ids > ids;
      // Fewer and fewer are new, as a rule.
      interning_.expect(int64_t(double(new_ids) / double(count) * double(rows - first - count) / 2));
      forests_.grow(size(), interning_.room());
      then(first, count, u, v);
      first += count;
    }
  }

  void number_small_block(
      const Column& left, const Column* right, int64_t first, int64_t count, int32_t* u, int32_t* v) {
    const Column columns[] = {left, right ? *right : left};
    int32_t* const numbers[] = {u, v};
    const int shift = right ? 1 : 0;
    const auto row = [shift](int64_t i) { return i >> shift; };
    const auto side = [shift](int64_t i) { return i & shift; };
    interning_.intern(
        count << shift,
        [&](int64_t i) {
          // Processors do not foresee two columns in turn.
          columns[side(i)].approach(first + row(i) + kRowsAhead);
          return columns[side(i)][first + row(i)];
        },
        [&](int64_t i, int64_t number) { numbers[side(i)][row(i)] = int32_t(number); });
  }

  void number_block(
      const Column& left, const Column* right, int64_t first, int64_t count, int32_t* u, int32_t* v) {
    interning_.make_room(0);
    const Parts parts(count, kRowsAThread);
    std::vector<std::vector<int64_t>> missing_of(parts.parts);  // twice the row, and 1 more of the right
    parallel_for(parts.parts, [&](int64_t part) {
      const int64_t begin = parts.begin(part), end = parts.end(part);
      interning_.look_up(left, first + begin, first + end, u + begin);
      if (right) interning_.look_up(*right, first + begin, first + end, v + begin);
      std::vector<int64_t> missing;
      for (int64_t i = begin; i < end; ++i) {
        if (u[i] < 0) missing.push_back(2 * i);
        if (right && v[i] < 0) missing.push_back(2 * i + 1);
      }
      missing_of[part] = std::move(missing);
    });
    for (const std::vector<int64_t>& missing : missing_of) {
      const int64_t* const places = missing.data();
      interning_.intern(
          int64_t(missing.size()),
          [=, &left](int64_t k) { return (places[k] & 1 ? *right : left)[first + places[k] / 2]; },
          [=](int64_t k, int64_t number) { (places[k] & 1 ? v : u)[places[k] / 2] = int32_t(number); });
    }
  }

  void unite_block(const Levels& level, int64_t first, int64_t count, const int32_t* u, const int32_t* v) {
    const Parts parts(count, kRowsAThread);
    if (parts.parts == 1) return unite_rows<Exclusive>(level, first, 0, count, u, v);
    parallel_for(
        parts.parts,
        [&](int64_t part) { unite_rows<Concurrent>(level, first, parts.begin(part), parts.end(part), u, v); },
        Dealing::kQueue);
  }

  template <class Access>
  void unite_rows(
      const Levels& level, int64_t first, int64_t begin, int64_t end, const int32_t* u, const int32_t* v) {
    constexpr int64_t kAhead = 32;
    for_each_in(begin, end, [=, this, &level](int64_t i) {
      const int64_t later = std::min(i + 2 * kAhead, end - 1), soon = std::min(i + kAhead, end - 1);
      if (const int later_level = level(first + later); later_level > 0) {
        const int32_t* const parent = forests_.parents(later_level - 1);
        __builtin_prefetch(parent + u[later]);
        __builtin_prefetch(parent + v[later]);
      }
      if (const int soon_level = level(first + soon); soon_level > 0) {
        const int32_t* const parent = forests_.parents(soon_level - 1);
        __builtin_prefetch(parent + Access::load(parent + u[soon]));
        __builtin_prefetch(parent + Access::load(parent + v[soon]));
      }
      forests_.template unite_below<Access>(level(first + i), u[i], v[i]);
    });
  }

  const std::vector<double> thresholds_;
  Interning<Ids> interning_;
  ThresholdForests forests_;
  bool many_new_ = true;  // whether many ids of the last block were
  bool torn_ = false;     // whether pairs may be in only some of their forests
};

// Divides too large clusters by raising the threshold within: the largest clusters of single linkage of at
// most `most` members, where links of equal weight fall together, each with the weight whose links would make
// it too large. Links of a maximum spanning forest, descending, unite trees in `whole`, and those of the
// result whose tree in `whole`, with all links of that weight, is not too large. Source: Gower and Ross 1969.
// `parent` becomes their forest; divided[root] is set for divided ones.
inline void divide_clusters(const int32_t* u, const int32_t* v, const double* weights, int64_t links,
    int64_t vertices, int64_t most, int32_t* parent, double* divided) {
  Buffer<int32_t> whole(vertices), sizes(vertices);
  for_each_in(0, vertices, [w = whole.data(), s = sizes.data()](int64_t i) {
    w[i] = int32_t(i);
    s[i] = 1;
  });
  const auto root_of = [](int32_t* forest, int32_t i) { return find<Exclusive>(forest, i); };
  for (int64_t first = 0, end = 0; first < links; first = end) {
    while (end < links && weights[end] == weights[first]) ++end;
    for_each_in(first, end, [&](int64_t i) {
      const int32_t a = root_of(whole.data(), u[i]), b = root_of(whole.data(), v[i]);
      if (a == b) return;
      const int32_t size = sizes[a] + sizes[b];
      sizes[hook<Exclusive>(whole.data(), a, b)] = size;
    });
    for_each_in(first, end, [&](int64_t i) {
      const int32_t a = root_of(parent, u[i]), b = root_of(parent, v[i]);
      if (sizes[root_of(whole.data(), u[i])] <= most) {
        hook<Exclusive>(parent, a, b);
        return;
      }
      for (const int32_t root : {a, b})
        if (divided[root] != divided[root]) divided[root] = weights[i];
    });
  }
}

}
