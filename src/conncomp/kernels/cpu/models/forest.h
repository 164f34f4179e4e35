// The clusters of a lattice as a forest of runs, maximal stretches of sites that active bonds along the row
// join, numbered in C order and united by active bonds between rows; a root begins at the smallest site. One
// bond is followed for each stretch in which neither of two runs breaks. Memory: an index a site; a bit for
// starts. Source: ours, from runs (He, Chao and Suzuki 2008) and union-find.
#pragma once

#include <optional>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/core/run_forest.h"
#include "cpu/models/rows.h"

namespace conncomp {

// The memory of a forest, which updates share. Index counts the sites of a replica.
template <class Index> struct ForestMemory {
  Buffer<Bits64> start;          // by word: where runs start
  Buffer<Index> before, parent;  // by word: the number of its first run; by run

  explicit ForestMemory(const LatticeReplicas& replicas)
      : start(replicas.count * replicas.lattice.words()),
        before(replicas.count * replicas.lattice.words()),
        parent(replicas.count * replicas.lattice.sites()) {}
};

// Memory for narrow and wide indices, allocated when first used. No two calls share it.
struct ForestMemories {
  std::optional<ForestMemory<int32_t>> narrow;
  std::optional<ForestMemory<int64_t>> wide;

  // Calls body(memory) with an Index as narrow as the sites of a replica allow.
  void use(const LatticeReplicas& replicas, auto&& body) {
    const auto use_one = [&](auto& memory) {
      if (!memory) memory.emplace(replicas);
      body(*memory);
    };
    replicas.lattice.sites() < (int64_t(1) << 31) ? use_one(narrow) : use_one(wide);
  }
};

struct RowBefore {
  int64_t row;
  const Bits64* active;
};

// The runs of a replica. Entries of parents are atomic where slabs meet.
template <class Index> class RunForest {
 public:
  RunForest(const Lattice& lattice, ForestMemory<Index>& memory, int64_t replica)
      : start_(memory.start.data() + replica * lattice.words()),
        before_(memory.before.data() + replica * lattice.words()),
        parent_(memory.parent.data() + replica * lattice.sites()),
        columns_(lattice.columns()) {}

  Index* parents() const { return parent_; }
  const Bits64* starts() const { return start_; }
  Bits64 start(int64_t word) const { return start_[word]; }
  Index before(int64_t word) const { return before_[word]; }

  // Lets runs of a row begin where no active bond leads from the site before; returns the next number.
  Index begin_row(const Lattice& lattice, int64_t row, const Bits64* active, Index first) {
    Bits64 from_before = 0;
    Index next = first;
    for_each_in(0, columns_, [&, word = row * columns_](int64_t c) mutable {
      const Bits64 start = lattice.sites_of(c) & ~(active[c] << 1 | from_before);
      from_before = active[c] >> (kWord - 1);
      start_[word] = start;
      before_[word++] = next;
      next += Index(std::popcount(start));
    });
    for_each_in(first, next, [&](int64_t run) { parent_[run] = Index(run); });
    return next;
  }

  // Calls body(run of g, run of h) once for each stretch that active bonds join and neither run breaks.
  void for_each_contact(int64_t g, int64_t h, const Bits64* active, auto&& body) const {
    Bits64 from_before = 0;
    for_each_in(0, columns_, [&, u = g * columns_, d = h * columns_](int64_t c) mutable {
      Bits64 contacts = followed(active[c], u, d, from_before);
      for (; contacts; contacts &= contacts - 1) {
        const Bits64 up_to_contact = contacts ^ (contacts - 1);
        body(run_in(u, up_to_contact), run_in(d, up_to_contact));
      }
      ++u, ++d;
    });
  }

  // Unites row h with rows before it in this thread's slab: a run's first contact gives it its parent.
  template <int rows> void adopt_row(const RowBefore* before, int64_t h) {
    Bits64 from_before[rows] = {};
    FirstContacts first_contacts;
    for_each_in(0, columns_, [&, d = h * columns_](int64_t c) mutable {
      Bits64 contacts[rows], any = 0;
      for (int k = 0; k < rows; ++k) {
        contacts[k] = followed(before[k].active[c], before[k].row * columns_ + c, d, from_before[k]);
        any |= contacts[k];
      }
      Bits64 first = first_contacts(start_[d], any);
      for (int k = 0; k < rows; ++k) {
        const int64_t u = before[k].row * columns_ + c;
        for (Bits64 left = first & contacts[k]; left; left &= left - 1) {
          const Bits64 up_to_contact = left ^ (left - 1);
          parent_[run_in(d, up_to_contact)] = parent_[run_in(u, up_to_contact)];
        }
        const Bits64 others = contacts[k] & ~first;
        first &= ~contacts[k];
        contacts[k] = others;
      }
      for (int k = 0; k < rows; ++k) {
        const int64_t u = before[k].row * columns_ + c;
        for (Bits64 left = contacts[k]; left; left &= left - 1) {
          const Bits64 up_to_contact = left ^ (left - 1);
          join(run_in(u, up_to_contact), run_in(d, up_to_contact));
        }
      }
      ++d;
    });
  }

  void join_rows(int64_t g, int64_t h, const Bits64* active) {
    for_each_contact(g, h, active, [&](Index u, Index d) { join(u, d); });
  }
  void sew_rows(int64_t g, int64_t h, const Bits64* active, auto& unions) {
    // Finds the roots of many contacts first, so that searches wait for memory together.
    constexpr size_t kTogether = 1024;
    contact_roots_.clear();
    for_each_contact(g, h, active, [&](Index u, Index d) {
      contact_roots_.emplace_back(root_apart(u), root_apart(d));
      if (contact_roots_.size() == kTogether) sew_contacts(unions);
    });
    sew_contacts(unions);
  }
  // Unites runs of any slabs, and reports lost roots: only by these paths lead to other slabs.
  void sew(Index u, Index d, auto& unions) const {
    hook<Concurrent>(parent_, root_apart(u), root_apart(d), unions);
  }
  Index first_run(int64_t row) const { return before_[row * columns_]; }
  Index last_run(int64_t row) const { return run_in((row + 1) * columns_ - 1, kAll); }
  void close_row(int64_t row) { join(first_run(row), last_run(row)); }

  // Unites two runs of this thread's; of two roots the larger goes under the smaller, without a branch.
  void join(Index u, Index d) {
    const Index a = root_of(u), b = root_of(d), root = std::min(a, b);
    parent_[std::max(a, b)] = root;
    parent_[u] = root;
    parent_[d] = root;
  }

  void shorten(Index begin, Index end) {
    for_each_in(begin, end, [&](int64_t run) { parent_[run] = parent_[parent_[run]]; });
  }

  void for_each_run(const Lattice& lattice, int64_t row, auto&& body) const {
    Index run = before_[row * columns_] - 1;
    int64_t begin = 0;
    for_each_in(0, columns_, [&](int64_t c) {
      for_each_bit(start_[row * columns_ + c], [&](int p) {
        const int64_t end = c * kWord + p;
        if (end > 0) body(run, end - begin);
        begin = end;
        ++run;
      });
    });
    body(run, lattice.length[kRowAxis] - begin);
  }

 private:
  Index run_in(int64_t word, Bits64 bits) const {
    return RunWord<Index>{start_[word], before_[word]}.run_in(bits);
  }

  Bits64 followed(Bits64 active, int64_t u, int64_t d, Bits64& from_before) const {
    const Bits64 before = active << 1 | from_before;
    from_before = active >> (kWord - 1);
    return active & (~before | start_[u] | start_[d]);
  }

  void sew_contacts(auto& unions) {
    for_each_in(0, int64_t(contact_roots_.size()),
        [&](int64_t i) { sew(contact_roots_[i].first, contact_roots_[i].second, unions); });
    contact_roots_.clear();
  }
  Index root_apart(Index run) const { return find<Concurrent, Jump::kNone>(parent_, run); }
  Index root_of(Index run) const {
    Index root = parent_[run];
    for (Index next; (next = parent_[root]) != root;) root = next;
    return root;
  }

  Bits64* start_;
  Index *before_, *parent_;
  int64_t columns_;
  std::vector<std::pair<Index, Index>> contact_roots_;  // of rows that are sewn, at most so many at once
};

}
