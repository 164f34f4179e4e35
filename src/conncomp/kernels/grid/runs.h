// Labels an array by its runs, on bits. The default on the CPU.
//
// What: rows along one axis become bit masks; a run is a maximal stretch of connected elements of a
// row, and runs, not elements, are united. Contacts between two rows are found 64 elements at a time
// by bit arithmetic, which leaves one union for each pair of runs and stretch of contact.
//
// Bundles: where elements may touch across corners along every axis and all foreground is of one
// value, neighbouring columns of 2 x 2 x ... rows always touch. Such a bundle is then treated as one row,
// the OR of its members, with a quarter of the runs in 2-D noise and a sixtieth in 3-D. (The 2 x 2 blocks
// of Grana, Borghesani and Cucchiara 2010, stretched along the row.) Otherwise a bundle is one row.
//
// How: 1. masks: which elements are foreground, where runs start; runs are counted and so numbered.
//      2. links: parts of the array, each on its own; then, with compare-and-swap, what crosses parts.
//      3. numbering: each root learns its component's smallest index; one bit is set there for each
//         component, and a component's number is the rank of its bit.
//      4. every label is written once.
//
// Cost: the input is read twice where values must be compared and once otherwise, the output written
// once. Memory: one index a run (at most one an element; half, or a quarter in bundles, if all
// foreground is of one value) and about half a byte an element for masks and ranks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/bits.h"
#include "core/neighbourhood.h"
#include "core/numbering.h"
#include "core/parallel.h"
#include "core/union_find.h"

namespace conncomp {

// A row of the input as contiguous values, gathered first where it is not.
template <class T>
class RowReader {
 public:
  RowReader(const void* data, const Axis& axis)
      : data_(static_cast<const char*>(data)), length_(axis.length), stride_(axis.byte_stride) {
    if (stride_ != sizeof(T)) gathered_.resize(length_);
  }
  const T* operator()(int64_t byte_offset) {
    const char* row = data_ + byte_offset;
    if (gathered_.empty()) return reinterpret_cast<const T*>(row);
    for (int64_t i = 0; i < length_; ++i) gathered_[i] = *reinterpret_cast<const T*>(row + i * stride_);
    return gathered_.data();
  }

 private:
  const char* data_;
  int64_t length_, stride_;
  std::vector<T> gathered_;
};

// The contacts between a row g and a neighbouring row h, in one word: positions p where the run of g
// at p meets the run of h at p (once for each such pair in a stretch), the one that starts at p + 1,
// or the one that ends at p - 1.
struct Contacts {
  uint64_t here, next, previous;
};

// The words of a mask around word w, moved by one element.
struct Moved {
  uint64_t word, left, right;  // element p, p - 1 and p + 1 at bit p

  Moved(const uint64_t* mask, int64_t w, int64_t words)
      : word(mask[w]),
        left(word << 1 | (w > 0 ? mask[w - 1] >> (kWord - 1) : 0)),
        right(word >> 1 | (w + 1 < words ? mask[w + 1] << (kWord - 1) : 0)) {}
};

template <class Index>
class Runs {
 public:
  // `axes`: none of length 1; rows run along the last. `connectivity`: along how many axes neighbours
  // may differ, from 1 to the number of axes.
  Runs(std::vector<Axis> axes, int connectivity)
      : row_(axes.back()), outer_(axes.begin(), axes.end() - 1), connectivity_(connectivity) {
    elements_ = row_.length;
    for (const Axis& axis : outer_) elements_ *= axis.length;
    words_ = (row_.length + kWord - 1) / kWord;
    rows_ = elements_ / row_.length;
    in_order_ = row_.index_stride == 1;
    int64_t expected = row_.length;
    for (size_t k = outer_.size(); k-- > 0; expected *= outer_[k].length)
      in_order_ &= outer_[k].index_stride == expected;
  }

  // Writes the label of every element to `labels`, and returns the number of components. Elements equal
  // to `background` are background (for a NaN, elements that are NaN).
  template <class T>
  int64_t label(const void* data, std::optional<T> background, bool consecutive, Index* labels) {
    arrange(connectivity_ == int(outer_.size()) + 1);
    if (read_one_value<T>(data, background)) {
      number_runs();
      link(OneValue{*this});
    } else {
      arrange(false);
      read_values<T>(data, background);
      number_runs();
      link(ManyValues<T>{*this, data});
    }
    const int64_t count = number_components(consecutive);
    write(labels, consecutive ? 0 : -1);
    return count;
  }

 private:
  using Coordinates = std::vector<int64_t>;

  // ---- bundles of rows ---------------------------------------------------------------------------

  void arrange(bool bundled) {
    bundled_ = bundled;
    const int ndim = int(outer_.size());
    bundle_shape_.resize(ndim);
    std::vector<bool> fixed(ndim);
    bundles_ = 1;
    for (int k = 0; k < ndim; ++k) {
      bundle_shape_[k] = bundled ? (outer_[k].length + 1) / 2 : outer_[k].length;
      fixed[k] = bundle_shape_[k] == 1;
      bundles_ *= bundle_shape_[k];
    }
    neighbours_ = backward_offsets(ndim, std::min(connectivity_, ndim), fixed);
    foreground_.clear();
    fold_.clear();
    start_.assign(bundles_ * words_, 0);
    foreground_.assign(rows_ * words_, 0);
    if (bundled) fold_.assign(bundles_ * words_, 0);
    parts_ = Parts(bundles_, kGrain * bundles_ / elements_ + 1);
    layers_whole_ = in_order_ && parts_.align(bundles_ / layers());
  }

  // Bundles with the same coordinate along the first axis.
  int64_t layers() const { return outer_.empty() ? 1 : bundle_shape_[0]; }

  Coordinates coordinates(int64_t bundle) const {
    Coordinates at(outer_.size());
    for (size_t k = at.size(); k-- > 0; bundle /= bundle_shape_[k]) at[k] = bundle % bundle_shape_[k];
    return at;
  }

  void advance(Coordinates& at) const {
    for (size_t k = at.size(); k-- > 0; at[k] = 0)
      if (++at[k] < bundle_shape_[k]) return;
  }

  // Calls body(bundle, coordinates) for the bundles of a part.
  template <class Body>
  void for_each_bundle(int64_t part, Body&& body) const {
    Coordinates at = coordinates(parts_.begin(part));
    for (int64_t g = parts_.begin(part); g < parts_.end(part); ++g, advance(at)) body(g, at);
  }

  // The bundle one `offset` away, or -1 beyond an edge.
  int64_t neighbour(const Coordinates& at, const Offset& offset, Coordinates& there) const {
    int64_t bundle = 0;
    for (size_t k = 0; k < at.size(); ++k) {
      int64_t c = at[k] + offset.step[k];
      if (c < 0 || c >= bundle_shape_[k]) {
        if (!outer_[k].periodic) return -1;
        c = c < 0 ? bundle_shape_[k] - 1 : 0;
      }
      there[k] = c;
      bundle = bundle * bundle_shape_[k] + c;
    }
    return bundle;
  }

  // The rows of a bundle that lie on its low (-1) or high (+1) side along the axes with a step, where
  // `side` says which side a step of 1 stands for; without steps, all of them.
  void members(const Coordinates& at, const int8_t* step, int side, std::vector<int64_t>& rows) const {
    rows.assign(1, 0);
    for (size_t k = 0; k < at.size(); ++k) {
      int64_t first = at[k], last = at[k];
      if (bundled_) {
        first = 2 * at[k];
        last = std::min(first + 1, outer_[k].length - 1);
        if (step && step[k] * side < 0) last = first;
        if (step && step[k] * side > 0) first = last;
      }
      const size_t count = rows.size();
      for (size_t i = 0; i < count; ++i) {
        rows[i] = rows[i] * outer_[k].length + first;
        if (last > first) rows.push_back(rows[i] + 1);
      }
    }
  }

  template <int64_t Axis::* stride>
  int64_t position(int64_t row) const {
    int64_t sum = 0;
    for (size_t k = outer_.size(); k-- > 0; row /= outer_[k].length)
      sum += row % outer_[k].length * (outer_[k].*stride);
    return sum;
  }

  const uint64_t* body(int64_t bundle) const {
    return (bundled_ ? fold_ : foreground_).data() + bundle * words_;
  }

  // Where a run goes on from the element before.
  uint64_t continued(int64_t bundle, int64_t w) const {
    return w < words_ ? body(bundle)[w] & ~start_[bundle * words_ + w] : 0;
  }

  // ---- 1. masks -----------------------------------------------------------------------------------

  template <class T>
  static auto foreground_test(const T* x, std::optional<T> background) {
    const bool any = background.has_value(), nan = any && *background != *background;
    const T value = background.value_or(T());
    return [=](int p) { return nan ? x[p] == x[p] : !any || x[p] != value; };
  }

  // False as soon as two foreground elements differ.
  template <class T>
  bool read_one_value(const void* data, std::optional<T> background) {
    if (!background || *background != *background) return false;
    std::vector<std::optional<T>> found(parts_.parts);
    std::atomic<bool> one_value{true};
    parallel_for(parts_.parts, [&](int64_t part) {
      RowReader<T> read(data, row_);
      std::vector<int64_t> rows;
      std::optional<T> value;
      for_each_bundle(part, [&](int64_t g, const Coordinates& at) {
        if (!one_value.load(std::memory_order_relaxed)) return;
        members(at, nullptr, 0, rows);
        for (int64_t row : rows)
          if (!read_row(read(position<&Axis::byte_stride>(row)), *background, value,
                        &foreground_[row * words_]))
            one_value.store(false, std::memory_order_relaxed);
        if (bundled_)
          for (int64_t row : rows)
            for (int64_t w = 0; w < words_; ++w) fold_[g * words_ + w] |= foreground_[row * words_ + w];
        const uint64_t* mask = body(g);
        for (int64_t w = 0; w < words_; ++w) start_[g * words_ + w] = mask[w] & ~Moved(mask, w, words_).left;
      });
      found[part] = value;
    });
    std::optional<T> value;
    for (const std::optional<T>& other : found) {
      if (value && other && *value != *other) return false;
      if (other) value = other;
    }
    return one_value;
  }

  template <class T>
  bool read_row(const T* x, T background, std::optional<T>& value, uint64_t* foreground) const {
    for (int64_t w = 0; w < words_; ++w, x += kWord) {
      const int count = int(std::min<int64_t>(kWord, row_.length - w * kWord));
      foreground[w] = mask_where(count, [&](int p) { return x[p] != background; });
      if (!foreground[w]) continue;
      if (!value) value = x[std::countr_zero(foreground[w])];
      const T same = *value;
      if (foreground[w] != mask_where(count, [&](int p) { return x[p] == same; })) return false;
    }
    return true;
  }

  template <class T>
  void read_values(const void* data, std::optional<T> background) {
    parallel_for(parts_.parts, [&](int64_t part) {
      RowReader<T> read(data, row_);
      for_each_bundle(part, [&](int64_t row, const Coordinates&) {
        const T* x = read(position<&Axis::byte_stride>(row));
        for (int64_t w = 0; w < words_; ++w, x += kWord) {
          const int count = int(std::min<int64_t>(kWord, row_.length - w * kWord));
          const uint64_t foreground = mask_where(count, foreground_test(x, background));
          foreground_[row * words_ + w] = foreground;
          if (!foreground) continue;
          uint64_t change = w == 0 || x[0] != x[-1];
          if (count == kWord)
            change |= mask_where(kWord, [&](int p) { return x[p] != x[p - (p > 0)]; }) & ~uint64_t(1);
          else
            for (int p = 1; p < count; ++p) change |= uint64_t(x[p] != x[p - 1]) << p;
          start_[row * words_ + w] = foreground & change;
        }
      });
    });
  }

  // Numbers the runs in order.
  void number_runs() {
    const int64_t words = bundles_ * words_;
    rank_.reset(new Index[words]);
    runs_ = rank_words(start_.data(), words, rank_.get());
    // The writer reads whole vectors from any run on, and from the one before the first.
    storage_.reset(new Index[1 + runs_ + kSlack]);
    parent_ = storage_.get() + 1;
    parent_[-1] = 0;
    std::fill_n(parent_ + runs_, kSlack, Index(0));
    for_each_index(runs_, [&](int64_t i) { parent_[i] = Index(i); });
  }

  // The last run of a bundle that starts at or before p of word w.
  Index run_at(int64_t word, int p) const { return rank_[word] + std::popcount(start_[word] & up_to(p)) - 1; }

  // ---- 2. links -----------------------------------------------------------------------------------

  // Contacts where all foreground is of one value.
  struct OneValue {
    const Runs& runs;
    struct Reader {
      const Runs& runs;
      std::vector<int64_t> rows;
      std::vector<uint64_t> folded[2];
      const uint64_t *g, *h;

      explicit Reader(const OneValue& kind) : runs(kind.runs) {}
      const uint64_t* side(const Coordinates& at, const Offset& offset, int sign) {
        runs.members(at, offset.step.data(), sign, rows);
        const uint64_t* first = &runs.foreground_[rows[0] * runs.words_];
        if (rows.size() == 1) return first;
        std::vector<uint64_t>& mask = folded[sign > 0];
        mask.assign(first, first + runs.words_);
        for (size_t i = 1; i < rows.size(); ++i)
          for (int64_t w = 0; w < runs.words_; ++w) mask[w] |= runs.foreground_[rows[i] * runs.words_ + w];
        return mask.data();
      }
      void pair(const Coordinates& at, const Coordinates& there, const Offset& offset) {
        g = side(at, offset, 1);
        h = side(there, offset, -1);
      }
      void alone(int64_t bundle) { g = h = runs.body(bundle); }
      Contacts contacts(int64_t w, uint64_t g_on, uint64_t h_on, uint64_t g_on_right, uint64_t h_on_right,
                        bool diagonal) const {
        if (!diagonal) return {g[w] & h[w], 0, 0};
        const Moved a(g, w, runs.words_), b(h, w, runs.words_);
        const uint64_t next = a.word & b.right, previous = a.word & b.left;
        return {(a.word & b.word) | (next & h_on_right) | (previous & h_on) | (a.left & b.word & g_on) |
                    (a.right & b.word & g_on_right),
                next & ~h_on_right & ~g_on_right, previous & ~h_on & ~g_on};
      }
      bool touch(int64_t p, int64_t q) const {
        return g[p / kWord] >> p % kWord & h[q / kWord] >> q % kWord & 1;
      }
    };
  };

  // Contacts where neighbours must be of equal value.
  template <class T>
  struct ManyValues {
    const Runs& runs;
    const void* data;
    struct Reader {
      const Runs& runs;
      RowReader<T> read_g, read_h;
      const T *g, *h;
      const uint64_t *g_mask, *h_mask;

      explicit Reader(const ManyValues& kind)
          : runs(kind.runs), read_g(kind.data, runs.row_), read_h(kind.data, runs.row_) {}
      void rows(int64_t row_g, int64_t row_h) {
        g = read_g(runs.template position<&Axis::byte_stride>(row_g));
        h = read_h(runs.template position<&Axis::byte_stride>(row_h));
        g_mask = runs.body(row_g);
        h_mask = runs.body(row_h);
      }
      void pair(const Coordinates& at, const Coordinates& there, const Offset&) {
        rows(runs.row_number(at), runs.row_number(there));
      }
      void alone(int64_t row) { rows(row, row); }
      Contacts contacts(int64_t w, uint64_t g_on, uint64_t h_on, uint64_t g_on_right, uint64_t h_on_right,
                        bool diagonal) const {
        const uint64_t mask = g_mask[w];
        if (!mask) return {0, 0, 0};
        const T *x = g + w * kWord, *y = h + w * kWord;
        const int count = int(std::min<int64_t>(kWord, runs.row_.length - w * kWord));
        Contacts found{mask & mask_where(count, [&](int p) { return x[p] == y[p]; }), 0, 0};
        if (!diagonal) return found;
        const int right = int(std::min<int64_t>(kWord, runs.row_.length - 1 - w * kWord));
        found.next = mask & ~g_on_right & ~h_on_right;
        if (found.next) found.next &= mask_where(right, [&](int p) { return x[p] == y[p + 1]; });
        found.previous = mask & ~g_on & ~h_on & ~uint64_t(w == 0);
        if (found.previous > 1)
          found.previous &= mask_where(count, [&](int p) { return x[p] == y[p - 1 + (p + w == 0)]; });
        else if (found.previous)
          found.previous = x[0] == y[-1];
        return found;
      }
      bool touch(int64_t p, int64_t q) const {
        return (g_mask[p / kWord] >> p % kWord & 1) && (h_mask[q / kWord] >> q % kWord & 1) && g[p] == h[q];
      }
    };
  };

  int64_t row_number(const Coordinates& at) const {
    int64_t row = 0;
    for (size_t k = 0; k < at.size(); ++k) row = row * outer_[k].length + at[k];
    return row;
  }

  template <class Kind>
  void link(const Kind& kind) {
    parallel_for(parts_.parts, [&](int64_t part) { link_part<Exclusive>(kind, part, true); });
    if (parts_.parts > 1)
      parallel_for(parts_.parts, [&](int64_t part) { link_part<Shared>(kind, part, false); });
  }

  // Links the bundles of a part with their neighbours inside the same part, or outside it.
  template <class Access, class Kind>
  void link_part(const Kind& kind, int64_t part, bool inside) {
    typename Kind::Reader reader(kind);
    Coordinates there(outer_.size());
    for_each_bundle(part, [&](int64_t g, const Coordinates& at) {
      if (inside && row_.periodic) {
        reader.alone(g);
        if (reader.touch(row_.length - 1, 0)) unite_runs<Access>(g, row_.length - 1, g, 0);
      }
      for (const Offset& offset : neighbours_) {
        const int64_t h = neighbour(at, offset, there);
        if (h < 0 || h == g || inside != (h >= parts_.begin(part) && h < parts_.end(part))) continue;
        reader.pair(at, there, offset);
        link_bundles<Access>(reader, g, h, offset.moved < connectivity_);
      }
    });
  }

  template <class Access, class Reader>
  void link_bundles(const Reader& reader, int64_t g, int64_t h, bool diagonal) {
    const int64_t g_word = g * words_, h_word = h * words_;
    uint64_t g_on = continued(g, 0), h_on = continued(h, 0);
    for (int64_t w = 0; w < words_; ++w) {
      const uint64_t g_after = continued(g, w + 1), h_after = continued(h, w + 1);
      const uint64_t g_on_right = g_on >> 1 | g_after << (kWord - 1);
      const uint64_t h_on_right = h_on >> 1 | h_after << (kWord - 1);
      Contacts found = reader.contacts(w, g_on, h_on, g_on_right, h_on_right, diagonal);
      const Index g_before = rank_[g_word + w] - 1, h_before = rank_[h_word + w] - 1;
      const uint64_t g_start = start_[g_word + w], h_start = start_[h_word + w];
      const auto g_run = [&](int p) { return g_before + Index(std::popcount(g_start & up_to(p))); };
      for (const uint64_t breaks = ~(g_on & h_on); found.here;) {
        const int p = std::countr_zero(found.here);
        unite<Access>(parent_, g_run(p), h_before + Index(std::popcount(h_start & up_to(p))));
        // The pair stays the same up to the next place where either run breaks.
        const uint64_t later = breaks & ~up_to(p);
        found.here &= 0 - (later & (0 - later));
      }
      for_each_bit(found.next, [&](int p) {
        unite<Access>(parent_, g_run(p), h_before + Index(std::popcount(h_start & up_to(p))) + 1);
      });
      for_each_bit(found.previous, [&](int p) {
        unite<Access>(parent_, g_run(p), h_before + Index(std::popcount(h_start & below(p))));
      });
      g_on = g_after;
      h_on = h_after;
    }
    if (row_.periodic && diagonal) {
      const int64_t last = row_.length - 1;
      if (reader.touch(last, 0)) unite_runs<Access>(g, last, h, 0);
      if (reader.touch(0, last)) unite_runs<Access>(g, 0, h, last);
    }
  }

  template <class Access>
  void unite_runs(int64_t g, int64_t p, int64_t h, int64_t q) {
    unite<Access>(parent_, run_at(g * words_ + p / kWord, p % kWord),
                  run_at(h * words_ + q / kWord, q % kWord));
  }

  // ---- 3. numbering -------------------------------------------------------------------------------

  // Leaves in every run's entry the complemented label of its component; returns the number of components.
  int64_t number_components(bool consecutive) {
    flatten(parent_, runs_);
    if (in_order_ && !bundled_ && consecutive) return number_roots(parent_, runs_, Index(1));
    return layers_whole_ ? number_by_index<Exclusive>(consecutive) : number_by_index<Shared>(consecutive);
  }

  template <class Access>
  int64_t number_by_index(bool consecutive) {
    // A root first claims no index at all: any is smaller.
    for_each_index(runs_, [&](int64_t i) { parent_[i] = parent_[i] == Index(i) ? kNoIndex : parent_[i]; });
    parallel_for(parts_.parts, [&](int64_t part) { claim_indices<Access>(part); });
    const int64_t words = (elements_ + kWord - 1) / kWord;
    const std::unique_ptr<uint64_t[]> claimed(new uint64_t[words]());
    const std::unique_ptr<Index[]> rank(new Index[words]);
    for_each_index(runs_, [&](int64_t i) {
      const Index index = ~parent_[i];
      if (index >= 0) Shared::fetch_or(&claimed[index / kWord], uint64_t(1) << index % kWord);
    });
    const int64_t count = rank_words(claimed.get(), words, rank.get());
    if (consecutive)
      for_each_index(runs_, [&](int64_t i) {
        const Index index = ~parent_[i];
        if (index >= 0)
          parent_[i] =
              ~Index(rank[index / kWord] + std::popcount(claimed[index / kWord] & up_to(index % kWord)));
      });
    spread_labels(parent_, runs_);
    return count;
  }

  // Lets every run of a part lower the index that its root claims. Where runs are in the order of indices,
  // the root's own is the smallest; where bundles are, only runs in the root's layer can have a smaller one.
  template <class Access>
  void claim_indices(int64_t part) {
    const int64_t layer_words = bundles_ / layers() * words_;
    std::vector<int64_t> rows, origins;
    for_each_bundle(part, [&](int64_t bundle, const Coordinates& at) {
      members(at, nullptr, 0, rows);
      origins.clear();
      for (int64_t row : rows) origins.push_back(position<&Axis::index_stride>(row));
      const int64_t word = bundle * words_;
      const Index layer = in_order_ ? rank_[word / layer_words * layer_words] : 0;
      for (int64_t w = 0; w < words_; ++w) {
        Index run = rank_[word + w] - 1;
        for_each_bit(start_[word + w], [&](int bit) {
          const Index parent = Access::load(parent_ + ++run), root = parent < 0 ? run : parent;
          if (root < (in_order_ && !bundled_ ? run : layer)) return;
          int64_t smallest = elements_;
          for (size_t i = 0; i < rows.size(); ++i) {
            const int64_t p = bundled_ ? first_in_run(rows[i], bundle, w, bit) : w * kWord + bit;
            if (p >= 0) smallest = std::min(smallest, origins[i] + p * row_.index_stride);
          }
          Access::fetch_max(parent_ + root, Index(~smallest));
        });
      }
    });
  }

  // The first foreground element of `row` in the run of `bundle` that starts at `bit` of word w, or -1.
  int64_t first_in_run(int64_t row, int64_t bundle, int64_t w, int bit) const {
    const uint64_t* foreground = &foreground_[row * words_];
    uint64_t breaks = ~continued(bundle, w) & ~up_to(bit), found = foreground[w] & ~below(bit);
    while (!breaks && !found && ++w < words_) {
      breaks = ~continued(bundle, w);
      found = foreground[w];
    }
    // The lowest bit found counts unless a break comes before it.
    const uint64_t first = found & (0 - found), end = breaks & (0 - breaks);
    return found && (!breaks || first < end) ? w * kWord + std::countr_zero(found) : -1;
  }

  // ---- 4. labels ----------------------------------------------------------------------------------

  void write(Index* labels, Index background) const {
    parallel_for(parts_.parts, [&](int64_t part) {
      std::vector<int64_t> rows;
      for_each_bundle(part, [&](int64_t bundle, const Coordinates& at) {
        members(at, nullptr, 0, rows);
        for (int64_t row : rows)
          write_row(row, bundle, labels + position<&Axis::index_stride>(row), background);
      });
    });
  }

  void write_row(int64_t row, int64_t bundle, Index* out, Index background) const {
    const int64_t stride = row_.index_stride;
    for (int64_t w = 0; w < words_; ++w) {
      const uint64_t foreground = foreground_[row * words_ + w], start = start_[bundle * words_ + w];
      const Index* label = parent_ + rank_[bundle * words_ + w] - 1;  // of the run before this word
      const int64_t count = std::min<int64_t>(kWord, row_.length - w * kWord);
      if (count == kWord && stride == 1) {
        expand(foreground, start, label, background, out + w * kWord);
      } else {
        Index word[kWord];
        expand(foreground, start, label, background, word);
        for (int64_t p = 0; p < count; ++p) out[(w * kWord + p) * stride] = word[p];
      }
    }
  }

  // Writes 64 labels: `label` moves on by one, and is complemented, at every start.
  static void expand(uint64_t foreground, uint64_t start, const Index* label, Index background, Index* out) {
    if (!foreground) {
      std::fill_n(out, kWord, background);
    } else if (foreground == kAll && start <= 1) {
      std::fill_n(out, kWord, Index(~label[start]));
    } else {
#ifdef __AVX2__
      if constexpr (sizeof(Index) == 4) return expand_vectors(foreground, start, label, background, out);
#endif
      for (int p = 0; p < kWord; ++p) {
        label += start >> p & 1;
        out[p] = foreground >> p & 1 ? ~*label : background;
      }
    }
  }

#ifdef __AVX2__
  // Eight labels at a time: those of the runs ahead, permuted by the number of starts up to each element.
  static void expand_vectors(uint64_t foreground, uint64_t start, const Index* label, Index background,
                             Index* out) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i complement = _mm256_set1_epi32(-1), empty = _mm256_set1_epi32(background);
    for (int p = 0; p < kWord; p += 8) {
      const int starts = start >> p & 255, set = foreground >> p & 255;
      const __m256i ahead = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(label + (starts & 1)));
      const __m256i turn = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(int64_t(kStartsBefore[starts])));
      const __m256i found = _mm256_xor_si256(_mm256_permutevar8x32_epi32(ahead, turn), complement);
      const __m256i mask = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(set), bit), bit);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + p), _mm256_blendv_epi8(empty, found, mask));
      label += std::popcount(unsigned(starts));
    }
  }

  // For each pattern of starts among eight elements: byte p counts those at 1...p.
  static constexpr std::array<uint64_t, 256> kStartsBefore = [] {
    std::array<uint64_t, 256> table{};
    for (int starts = 0; starts < 256; ++starts)
      for (int p = 1; p < 8; ++p)
        table[starts] |= uint64_t(std::popcount(unsigned(starts & up_to(p) & ~1u))) << 8 * p;
    return table;
  }();
#endif

  static constexpr int kSlack = 16;
  static constexpr Index kNoIndex = std::numeric_limits<Index>::min();

  Axis row_;
  std::vector<Axis> outer_;
  int connectivity_;
  int64_t elements_, words_, rows_;
  bool in_order_;  // rows, one after the other, are in the order of indices

  bool bundled_;
  std::vector<int64_t> bundle_shape_;
  int64_t bundles_;
  std::vector<Offset> neighbours_;
  Parts parts_{1, 1};
  bool layers_whole_;  // in_order_, and no layer belongs to two parts

  std::vector<uint64_t> foreground_;  // by row
  std::vector<uint64_t> fold_;        // by bundle, the OR of its rows; empty where a bundle is a row
  std::vector<uint64_t> start_;       // by bundle
  std::unique_ptr<Index[]> rank_;     // by bundle and word: the number of runs before
  std::unique_ptr<Index[]> storage_;
  Index* parent_;  // by run
  int64_t runs_;
};

}  // namespace conncomp
