// Cluster updates site by site, as Weigel's for a CPU. Clusters grow by breadth-first search and flip as they
// grow or, where the smallest site draws the state, afterwards. Spins are those of the other labellings bit
// for bit. Source: M. Weigel, Phys. Rev. E 84, 036709 (2011), sections II and III.
#pragma once

#include "cpu/models/potts/cells.h"

namespace conncomp {

class SerialClusters {
 public:
  SerialClusters(const Lattice& lattice, const Draws& draws, Cells& cells)
      : lattice_(lattice), draws_(draws), cells_(cells), columns_(lattice.columns()) {
    for (int axis = 0; axis < kRowAxis; ++axis) stride_[axis] = row_stride(lattice, axis) * columns_;
  }

  const ClusterTally& tally() const { return tally_; }
  int64_t active_bonds() const { return active_bonds_; }

  void flip_all(Bits64* spins) {
    for_each_unvisited([&](const Site& start, int64_t site) {
      const int state = draw_any_state(draws_, site, lattice_.states);
      grow(start, [&](const Site& member) { set_state(lattice_, spins, member.word, member.bit(), state); });
    });
  }

  void visit_others() {
    for_each_unvisited([&](const Site& start, int64_t) { grow(start, [](const Site&) {}); });
  }

  void flip_chosen(const ChoiceRule& rule, Bits64* spins) {
    const bool known = rule.certain && lattice_.states == 2;  // whatever the smallest site draws
    for_each_in(0, rule.tiles.count(lattice_), [&](int64_t tile) {
      const SitePlace place(lattice_, rule.tiles.chosen_site(lattice_, draws_, tile));
      const Site start = site_of(place);
      if (cells_[start.word].visited() & start.bit()) return;
      const int old_state = state_at(lattice_, spins, place);
      if (known)
        grow(start, [&](const Site& member) {
          set_state(lattice_, spins, member.word, member.bit(), 1 - old_state);
        });
      else
        flip_grown(rule, start, old_state, spins);
    });
  }

 private:
  struct Site {
    int64_t word, at[kLatticeAxes];

    Bits64 bit() const { return Bits64(1) << at[kRowAxis] % kWordSites; }
  };

  Site site_of(const SitePlace& place) const {
    const WordPlace word = place_of(lattice_, place.word);
    return {place.word, {word.at[0], word.at[1], word.at[2], word.column * kWordSites + place.bit}};
  }

  void for_each_unvisited(auto&& body) {
    for_each_in(0, lattice_.words(), [&](int64_t word) {
      const Bits64 sites = lattice_.sites_of(word % columns_);
      for (Bits64 left; (left = sites & ~cells_[word].visited()) != 0;) {
        const int bit = std::countr_zero(left);
        SitePlace place(lattice_, 0);
        place.word = word;
        place.bit = bit;
        body(site_of(place), lattice_.first_site(word) + bit);
      }
    });
  }

  void flip_grown(const ChoiceRule& rule, const Site& start, int old_state, Bits64* spins) {
    std::vector<int64_t> words;
    grow(start, [&](const Site& member) {
      Bits64& members = cells_[member.word].waiting();
      if (members == 0) words.push_back(member.word);
      members |= member.bit();
    });
    int64_t root = lattice_.sites();
    for (int64_t word : words)
      root = std::min(root, lattice_.first_site(word) + std::countr_zero(cells_[word].waiting()));
    const ClusterDraw drawn = draw_cluster(draws_, root);
    const int state = rule.flips(drawn) ? drawn.another_state(lattice_.states, old_state) : old_state;
    for (int64_t word : words) {
      set_state(lattice_, spins, word, cells_[word].waiting(), state);
      cells_[word].waiting() = 0;
    }
  }

  void grow(const Site& start, auto&& visit) {
    int64_t size = 0;
    const auto reach = [&](const Site& site) {
      Bits64& visited = cells_[site.word].visited();
      if (visited & site.bit()) return;
      visited |= site.bit();
      ++size;
      visit(site);
      next_frontier_.push_back(site);
    };
    next_frontier_.clear();
    reach(start);
    while (!next_frontier_.empty()) {
      std::swap(frontier_, next_frontier_);
      next_frontier_.clear();
      for_each_in(0, int64_t(frontier_.size()), [&](int64_t k) {
        const Site& site = frontier_[k];
        for (int axis = cells_.first_axis(); axis < kLatticeAxes; ++axis) {
          if (cells_[site.word].active(axis) & site.bit()) {
            ++active_bonds_;
            reach(beside(site, axis, 1));
          }
          if (site.at[axis] == 0 && !lattice_.closes(axis)) continue;
          const Site before = beside(site, axis, -1);
          if (cells_[before.word].active(axis) & before.bit()) reach(before);
        }
      });
    }
    tally_.add(size);
  }

  Site beside(Site site, int axis, int step) const {
    const int64_t length = lattice_.length[axis], from = site.at[axis];
    int64_t to = from + step;
    if (to == length) to = 0;
    if (to < 0) to = length - 1;
    site.at[axis] = to;
    site.word += axis < kRowAxis ? (to - from) * stride_[axis] : to / kWordSites - from / kWordSites;
    return site;
  }

  const Lattice lattice_;
  const Draws draws_;
  Cells& cells_;
  const int64_t columns_;
  int64_t stride_[kRowAxis];
  std::vector<Site> frontier_, next_frontier_;
  ClusterTally tally_;
  int64_t active_bonds_ = 0;
};

}
