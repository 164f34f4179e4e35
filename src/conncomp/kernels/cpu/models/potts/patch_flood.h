// The updates of Wolff and of few clusters: the clusters of chosen sites alone, many words at a time.
//
// What: a cluster grows from a chosen site by patches of 8 or 16 rows of 64 sites. Sites of a patch that
// active bonds have reached wait there until its turn; then they spread within the patch as far as bonds
// lead, along all rows at once and from row to row, and reach the patches beside. When all have had their
// turn, the smallest site is known, which draws what becomes of the cluster. How: along a row sites reach
// what is behind them by an addition, which carries, and what is before them by six shifts. Cost: bonds are
// drawn in patches that clusters reach, and in those before them; a patch has four turns of six rounds at the
// critical point; one thread a replica. Source: ours; U. Wolff 1989, and M. Weigel 2011, section III, for the
// updates.
#pragma once

#include "cpu/models/potts/flood.h"
#include "cpu/models/potts/patches.h"

namespace conncomp {

template <int kRows>
class PatchFlood {
 public:
  PatchFlood(const Lattice& lattice, Patches<kRows>& patches) : lattice_(lattice), patches_(patches) {}

  bool visited(const SitePlace& site) {
    return patches_[patches_.patch_with(site.word)].visited()[row_of(site)] >> site.bit & 1;
  }

  // Visits the cluster of a site that has not been visited; returns its smallest site. Its members are there
  // until the next one grows.
  int64_t grow(const SitePlace& start) {
    ++cluster_;
    members_.clear();
    Bits64 reached[kRows] = {};
    reached[row_of(start)] = Bits64(1) << start.bit;
    reach(patches_.patch_with(start.word), Sites::load(reached));
    while (!waiting_patches_.empty()) {
      poll(kRows * kWordSites);
      const int64_t patch = waiting_patches_.back();
      waiting_patches_.pop_back();
      spread(patch);
    }
    Members first{lattice_.words(), 0};
    for (const PatchMembers& some : members_)
      if (patches_[some.patch].place(some.patch).first.word <= first.word)
        for_each_row(some, [&](int64_t word, Bits64 sites) {
          if (word > first.word || sites == 0) return;
          first = {word, word < first.word ? sites : first.sites | sites};
        });
    return site_at(lattice_, first.word, std::countr_zero(first.sites));
  }
  // Calls body(word, sites) for rows that have members, and for others.
  void for_each_member(auto&& body) const {
    for (const PatchMembers& some : members_) for_each_row(some, body);
  }

 private:
  using Sites = ManyWords<kRows>;
  using Patch = typename Patches<kRows>::Patch;

  // A patch that has members of a cluster, and the sites that clusters before it have visited.
  struct PatchMembers {
    int64_t patch;
    Sites others;
  };
  template <class Body>
  void for_each_row(const PatchMembers& members, Body&& body) const {
    const Patch patch = patches_[members.patch];
    const PatchPlace place = patch.place(members.patch);
    Bits64 sites[kRows];
    Sites::load(patch.visited()).without(members.others).store(sites);
    for (int row = 0; row < place.rows; ++row) body(place.first.word + row * lattice_.columns(), sites[row]);
  }

  static constexpr int kTop = kWordSites - 1;

  int row_of(const SitePlace& site) const {
    return int(site.word / lattice_.columns() % lattice_.length[kColumnAxis] % kRows);
  }

  // Lets the sites of a patch that bonds have reached wait for its turn.
  void reach(int64_t number, const Patch& patch, const Sites& sites) {
    const Sites reached = sites.without(Sites::load(patch.visited()));
    if (!reached.any()) return;
    Sites waiting = Sites::load(patch.waiting());
    if (!waiting.any()) waiting_patches_.push_back(number);
    (waiting |= reached).store(patch.waiting());
  }

  void spread(int64_t number) {
    const Patch patch = patches_[number];
    const PatchPlace place = patch.place(number);
    Sites visited = Sites::load(patch.visited());
    if (patch.last_cluster() != cluster_) members_.push_back({number, visited});
    patch.last_cluster() = cluster_;
    const Sites sites = spread_within(patch, place).without(visited);
    (visited |= sites).store(patch.visited());
    Sites::all(0).store(patch.waiting());
    reach_columns(place, patch, sites);
    for (int axis = 0; axis < kColumnAxis; ++axis)
      if (lattice_.length[axis] > 1) reach_along(place, patch, axis, sites);
    if (lattice_.length[kColumnAxis] > 1) {
      Bits64 rows[kRows];
      sites.store(rows);
      reach_rows(place, patch, rows[0], rows[place.rows - 1]);
    }
  }

  // All sites of a patch to which bonds within it lead from those that wait.
  Sites spread_within(const Patch& patch, const PatchPlace& place) const {
    constexpr int kSteps = 6;
    // Whether a site is joined to the ones 1, 2, 4, ... behind it.
    Sites behind[kSteps];
    behind[0] = Sites::load(patch.active(kRowAxis)) & Sites::all(lattice_.sites_of(place.first.column) >> 1);
    for (int k = 1; k < kSteps; ++k) behind[k] = behind[k - 1] & behind[k - 1] >> (1 << (k - 1));
    // Whether it is joined to the one in the next row, and in the previous one.
    const Sites below = Sites::load(patch.inner()), above = below.moved_on();
    Sites reached = Sites::load(patch.waiting());
    for (Sites last = Sites::all(0); reached.without(last).any();) {
      last = reached;
      reached = reached.carried(behind[0]);
      for (int k = 0; k < kSteps; ++k) reached.add(reached >> (1 << k), behind[k]);
      const Sites on = reached.moved_on(), back = reached.moved_back();
      reached.add(on, above).add(back, below);
    }
    return reached;
  }

  // From the ends of rows to the patches beside them, along the rows.
  void reach_columns(const PatchPlace& place, const Patch& patch, const Sites& from) {
    const Sites one = Sites::all(1), bonds = Sites::load(patch.active(kRowAxis));
    const Sites last = (from & bonds) >> last_bit(place.first.column) & one, first = from & one;
    if (last.any()) reach(patches_.beside(place, kRowAxis, true), last);
    if (!first.any() || (place.first.column == 0 && !lattice_.closes(kRowAxis))) return;
    const int64_t before = patches_.beside(place, kRowAxis, false);
    const int end = last_bit(place.first.column == 0 ? lattice_.columns() - 1 : place.first.column - 1);
    reach_over(before, kRowAxis, first << end);
  }
  int last_bit(int64_t column) const {
    return column + 1 < lattice_.columns() ? kTop : int((lattice_.length[kRowAxis] - 1) % kWordSites);
  }
  void reach(int64_t number, const Sites& sites) { reach(number, patches_[number], sites); }
  // The sites of a patch that have a bond along an axis, which leads to sites that have been visited.
  void reach_over(int64_t number, int axis, const Sites& sites) {
    const Patch patch = patches_[number];
    reach(number, patch, sites & Sites::load(patch.active(axis)));
  }

  // From the last row to the patch below, and from the first row to the one above.
  void reach_rows(const PatchPlace& place, const Patch& patch, Bits64 first, Bits64 last) {
    const int64_t length = lattice_.length[kColumnAxis], at = place.first.at[kColumnAxis];
    Bits64 reached[kRows] = {last & patch.active(kColumnAxis)[place.rows - 1]};
    if (reached[0] != 0) reach(patches_.beside(place, kColumnAxis, true), Sites::load(reached));
    if (first == 0 || (at == 0 && !lattice_.closes(kColumnAxis))) return;
    reached[0] = 0;
    reached[(at == 0 ? length - 1 : at - 1) % kRows] = first;
    reach_over(patches_.beside(place, kColumnAxis, false), kColumnAxis, Sites::load(reached));
  }

  // To the patches behind and before along the other axes.
  void reach_along(const PatchPlace& place, const Patch& patch, int axis, const Sites& from) {
    const Sites reached = from & Sites::load(patch.active(axis));
    if (reached.any()) reach(patches_.beside(place, axis, true), reached);
    if (place.first.at[axis] > 0 || lattice_.closes(axis))
      reach_over(patches_.beside(place, axis, false), axis, from);
  }

  const Lattice lattice_;
  Patches<kRows>& patches_;
  std::vector<int64_t> waiting_patches_;  // those with sites that wait, each once
  std::vector<PatchMembers> members_;
  Bits64 cluster_ = 0;  // those of an update are numbered from 1
};

// Flips clusters with chosen sites of a replica, in spins that are the old ones.
template <int kRows>
void flip_chosen(const Lattice& lattice, const Draws& draws, Patches<kRows>& patches, const ChoiceRule& rule,
                 Bits64* spins) {
  PatchFlood<kRows> flood(lattice, patches);
  for_each_in(0, rule.tiles.count(lattice), [&](int64_t tile) {
    const SitePlace start(lattice, rule.tiles.chosen_site(lattice, draws, tile));
    if (flood.visited(start)) return;
    const int old_state = state_at(lattice, spins, start);
    const ClusterDraw drawn = draw_cluster(draws, flood.grow(start));
    if (!rule.flips(drawn)) return;
    const int new_state = drawn.another_state(lattice.states, old_state);
    flood.for_each_member(
        [&](int64_t word, Bits64 sites) { set_state(lattice, spins, word, sites, new_state); });
  });
}

}  // namespace conncomp
