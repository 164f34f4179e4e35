// Clusters by union-find, each with its size and how it closes on itself around the lattice. The lattice is
// repeated along its periodic axes; a site knows how many periods it is from its parent (Machta et al. 1996).
// A bond within a cluster closes a path, which winds as often as periods differ. Cost: a node of 8 bytes a
// site where windings fit 32 bits, as up to 16384 x 16384; else 16 or 32.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "core/spins.h"
#include "core/wrapping/windings.h"
#include "cpu/core/buffer.h"
#include "cpu/core/interrupt.h"

namespace conncomp {

// Vectors of periods as one integer: the sum of number << shift, modulo 2^bits. So one addition adds vectors;
// a negative number borrows 1 of the number above. A path through a tree goes over an axis's end at most once
// for each link of the last layer: each axis has bits for that.
struct Periods {
  int shift[kLatticeAxes], bits[kLatticeAxes], width;  // bits is 0 of an axis that does not close

  // `links`: how many a site has over the end of an axis at most.
  Periods(const Lattice& lattice, int links) : shift{}, bits{}, width(0) {
    for (int k = 0; k < kLatticeAxes; ++k) {
      shift[k] = width;
      if (!lattice.closes(k)) continue;
      const Bits64 most = Bits64(lattice.sites() / lattice.length[k]) * Bits64(links) + 1;
      bits[k] = std::bit_width(most) + 1;
      width += bits[k];
    }
  }
  template <class Packed> Packed unit(int axis) const { return Packed(1) << shift[axis]; }
  // A packed integer of any type has no bits beyond the last axis but by its sign.
  std::array<int64_t, kLatticeAxes> unpack(unsigned __int128 packed) const {
    std::array<int64_t, kLatticeAxes> along{};
    for (int k = 0; k < kLatticeAxes; ++k) {
      if (bits[k] == 0) continue;
      const int unused = 64 - bits[k];
      along[k] = int64_t(Bits64(packed) << unused) >> unused;
      packed = (packed - static_cast<unsigned __int128>(along[k])) >> bits[k];
    }
    return along;
  }
};

struct ClusterCounts {
  int64_t clusters = 0, largest = 0;
  Bits64 squares = 0;  // the sum of sizes squared: below 2^62
};

struct Wrapping {
  int axes = 0;  // a bit for each axis along which some cluster closes on itself
  int rank = 0;  // the largest rank of a cluster's windings
};

inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");  // as GCC leaves out calls of what only prefetches
}

// What a site is, in a number of 32 bits and one of `Packed`:
//                       parent_or_size    periods_or_basis
//                     +-----------------+-------------------------------------------------------+
//   in no cluster     | kEmpty          | 0                                                     |
//   a cluster's root  | minus the size  | the number of the basis of windings, from 1; or 0     |
//   another site      | the parent      | the site's periods, as seen from the parent           |
//                     +-----------------+-------------------------------------------------------+
// A larger root has a smaller first number; sizes are added as they are.
template <class Packed> class ClusterNode {
 public:
  static ClusterNode empty() { return {kEmpty, 0}; }
  static ClusterNode single() { return {-1, 0}; }
  static ClusterNode below(int64_t parent, Packed periods) { return {int32_t(parent), periods}; }

  bool is_empty() const { return parent_or_size_ == kEmpty; }
  bool has_parent() const { return parent_or_size_ >= 0; }

  int32_t parent() const { return parent_or_size_; }
  Packed periods() const { return periods_or_basis_; }
  void skip_parent(const ClusterNode& parent) {
    *this = {parent.parent_or_size_, Packed(periods_or_basis_ + parent.periods_or_basis_)};
  }

  int64_t size() const { return -int64_t(parent_or_size_); }
  bool is_larger(const ClusterNode& root) const { return parent_or_size_ < root.parent_or_size_; }
  void swallow(const ClusterNode& root) { parent_or_size_ += root.parent_or_size_; }
  bool has_basis() const { return periods_or_basis_ != 0; }
  int64_t basis() const { return int64_t(periods_or_basis_) - 1; }
  void set_basis(int64_t number) { periods_or_basis_ = Packed(number) + 1; }

 private:
  static constexpr int32_t kEmpty = std::numeric_limits<int32_t>::min();

  ClusterNode(int32_t parent_or_size, Packed periods_or_basis)
      : parent_or_size_(parent_or_size), periods_or_basis_(periods_or_basis) {}

  int32_t parent_or_size_;
  Packed periods_or_basis_;
};

template <class Packed>  // an unsigned integer of periods.width bits or more
class WindingClusters {
  using Node = ClusterNode<Packed>;

 public:
  ClusterCounts counts;
  Wrapping wrapping;

  WindingClusters(int64_t sites, const Periods& periods) : sites_(sites), periods_(periods), nodes_(sites) {}

  // Forgets all; then each site is a cluster, or none is.
  void clear(bool occupied) {
    const Node node = occupied ? Node::single() : Node::empty();
    for_each_in(0, sites_, [&, nodes = nodes_.data()](int64_t site) { nodes[site] = node; });
    counts = occupied ? ClusterCounts{sites_, sites_ > 0, Bits64(sites_)} : ClusterCounts{};
    wrapping = {};
    bases_.clear();
  }

  bool has(int64_t site) const { return !nodes_[site].is_empty(); }

  void prefetch(int64_t site) const { prefetch_line(nodes_.data() + site); }
  // The parent of a site that was prefetched; without one, site 0, as a branch takes longer.
  void prefetch_parent(int64_t site) const {
    prefetch_line(nodes_.data() + std::max(nodes_[site].parent(), 0));
  }

  struct Place {
    int64_t root;
    Packed periods;
  };

  Place occupy(int64_t site) {
    nodes_[site] = Node::single();
    ++counts.clusters;
    ++counts.squares;
    if (counts.largest == 0) counts.largest = 1;
    return {site, 0};
  }

  Place find(int64_t site) {
    Place place{site, 0};
    for (;;) {
      Node& node = nodes_[place.root];
      if (!node.has_parent()) return place;
      const Node& parent = nodes_[node.parent()];
      if (parent.has_parent()) node.skip_parent(parent);  // the path is halved
      place.periods += node.periods();
      place.root = node.parent();
    }
  }

  // Joins a site at `from` to another one that is `step` periods farther; returns its new place.
  Place join(const Place& from, int64_t to, Packed step) {
    Place a = from, b = find(to);
    step += a.periods - b.periods;  // of the second root, as seen from the first
    if (a.root == b.root) {
      if (step != 0) close(a.root, step);
      return from;
    }
    Node *large = &nodes_[a.root], *small = &nodes_[b.root];
    if (small->is_larger(*large)) {
      std::swap(large, small);
      std::swap(a, b);
      step = Packed(0) - step;
    }
    counts.squares += 2 * Bits64(large->size()) * Bits64(small->size());
    --counts.clusters;
    large->swallow(*small);
    if (large->size() > counts.largest) counts.largest = large->size();
    if (small->has_basis()) merge_bases(*large, *small);
    *small = Node::below(a.root, step);
    return a.root == from.root ? from : Place{a.root, Packed(from.periods + step)};
  }

  void for_each_size(auto&& body) const {
    for_each_in(0, sites_, [&, nodes = nodes_.data()](int64_t site) {
      if (!nodes[site].has_parent() && !nodes[site].is_empty()) body(nodes[site].size());
    });
  }

 private:
  [[gnu::noinline, gnu::cold]] void close(int64_t root, Packed path) {
    Node& node = nodes_[root];
    if (!node.has_basis()) {
      bases_.emplace_back();
      node.set_basis(int64_t(bases_.size()) - 1);
    }
    WindingBasis& basis = bases_[node.basis()];
    const auto winding = periods_.unpack(path);
    if (basis.has(winding)) return;
    basis.add(winding);
    note(basis);
  }
  [[gnu::noinline, gnu::cold]] void merge_bases(Node& large, const Node& small) {
    if (!large.has_basis()) {
      large.set_basis(small.basis());
      return;
    }
    WindingBasis& basis = bases_[large.basis()];
    for (const auto& row : bases_[small.basis()].row) basis.add(row);
    note(basis);
  }
  void note(const WindingBasis& basis) {
    wrapping.axes |= basis.axes();
    wrapping.rank = std::max(wrapping.rank, basis.rank());
  }

  int64_t sites_;
  Periods periods_;
  Buffer<Node> nodes_;
  std::vector<WindingBasis> bases_;
};

}
