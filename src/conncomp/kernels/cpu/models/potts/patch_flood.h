// The updates of Wolff and of few clusters: the clusters of chosen sites alone, eight words at a time.
//
// What: a cluster grows from a chosen site by patches of 8 x 64 sites. Sites of a patch that active bonds
// have reached wait there until its turn; then they spread within the patch as far as bonds lead, along all
// rows at once and from row to row, and reach the patches beside. When all have had their turn, the smallest
// site is known, which draws what becomes of the cluster. Cost: bonds are drawn in patches that clusters
// reach, and in those before them; a patch has four turns of six rounds at the critical point; one thread a
// replica. Source: ours; U. Wolff 1989, and M. Weigel 2011, section III, for the updates.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/core/bits.h"
#include "cpu/core/eight_words.h"
#include "cpu/models/potts/flood.h"
#include "cpu/models/potts/patches.h"

namespace conncomp {

// Sites of the rows of a patch.
struct PatchMembers {
  int64_t word;  // of the first row
  int rows;
  Bits64 sites[kPatchRows];

  // Calls body(word, sites) for each row, that may have none.
  template <class Body>
  void for_each(int64_t columns, Body&& body) const {
    for (int row = 0; row < rows; ++row) body(word + row * columns, sites[row]);
  }
};

class PatchFlood {
 public:
  PatchFlood(const Lattice& lattice, Patches& patches) : lattice_(lattice), patches_(patches) {}

  bool visited(const SitePlace& site) {
    return patches_[patches_.patch_with(site.word)].visited()[row_of(site)] >> site.bit & 1;
  }

  // Visits the cluster of a site that has not been visited; returns its smallest site. Its members are there
  // until the next one grows.
  int64_t grow(const SitePlace& start) {
    members_.clear();
    Bits64 reached[kPatchRows] = {};
    reached[row_of(start)] = Bits64(1) << start.bit;
    reach(patches_.patch_with(start.word), EightWords::load(reached));
    while (!waiting_patches_.empty()) {
      poll(kPatchRows * kWordSites);
      const int64_t patch = waiting_patches_.back();
      waiting_patches_.pop_back();
      spread(patch);
    }
    Members first{lattice_.words(), 0};
    for (const PatchMembers& some : members_)
      if (some.word <= first.word)
        some.for_each(lattice_.columns(), [&](int64_t word, Bits64 sites) {
          if (word > first.word || sites == 0) return;
          first = {word, word < first.word ? sites : first.sites | sites};
        });
    return site_at(lattice_, first.word, std::countr_zero(first.sites));
  }
  const std::vector<PatchMembers>& members() const { return members_; }

 private:
  static constexpr int kTop = kWordSites - 1;

  int row_of(const SitePlace& site) const {
    return int(site.word / lattice_.columns() % lattice_.length[kColumnAxis] % kPatchRows);
  }

  // Lets the sites of a patch that bonds have reached wait for its turn.
  void reach(int64_t number, const Patches::Patch& patch, const EightWords& sites) {
    const EightWords reached = sites.without(EightWords::load(patch.visited()));
    if (!reached.any()) return;
    EightWords waiting = EightWords::load(patch.waiting());
    (waiting |= reached).store(patch.waiting());
    if (patch.is_waiting()) return;
    patch.is_waiting() = 1;
    waiting_patches_.push_back(number);
  }

  void spread(int64_t number) {
    const Patches::Patch patch = patches_[number];
    const PatchPlace place = patch.place(number);
    EightWords visited = EightWords::load(patch.visited());
    const EightWords sites = spread_within(patch, place).without(visited);
    (visited |= sites).store(patch.visited());
    EightWords::all(0).store(patch.waiting());
    patch.is_waiting() = 0;
    PatchMembers& members = members_.emplace_back(PatchMembers{place.first.word, place.rows, {}});
    sites.store(members.sites);
    reach_columns(place, patch, sites);
    for (int axis = 0; axis < kColumnAxis; ++axis)
      if (lattice_.length[axis] > 1) reach_along(place, patch, axis, sites);
    if (lattice_.length[kColumnAxis] > 1)
      reach_rows(place, patch, members.sites[0], members.sites[place.rows - 1]);
  }

  // All sites of a patch to which bonds within it lead from those that wait.
  EightWords spread_within(const Patches::Patch& patch, const PatchPlace& place) const {
    constexpr int kSteps = 6;
    // Whether a site is joined to the ones 1, 2, 4, ... before it and behind it.
    EightWords before[kSteps], behind[kSteps];
    behind[0] = EightWords::load(patch.active(kRowAxis)) &
                EightWords::all(lattice_.sites_of(place.first.column) >> 1);
    before[0] = behind[0] << 1;
    for (int k = 1; k < kSteps; ++k) {
      before[k] = before[k - 1] & before[k - 1] << (1 << (k - 1));
      behind[k] = behind[k - 1] & behind[k - 1] >> (1 << (k - 1));
    }
    // Whether it is joined to the one in the next row, and in the previous one.
    const EightWords below = EightWords::load(patch.inner()), above = below.moved_on();
    EightWords reached = EightWords::load(patch.waiting());
    for (EightWords last = EightWords::all(0); reached.without(last).any();) {
      last = reached;
      reached |= last.moved_on() & above;
      reached |= reached.moved_back() & below;
      for (int k = 0; k < kSteps; ++k) {
        EightWords joined = reached << (1 << k) & before[k];
        joined |= reached >> (1 << k) & behind[k];
        reached |= joined;
      }
    }
    return reached;
  }

  // From the ends of rows to the patches beside them, along the rows.
  void reach_columns(const PatchPlace& place, const Patches::Patch& patch, const EightWords& from) {
    const EightWords one = EightWords::all(1), bonds = EightWords::load(patch.active(kRowAxis));
    const EightWords last = (from & bonds) >> last_bit(place.first.column) & one, first = from & one;
    if (last.any()) reach(patches_.beside(place, kRowAxis, true), last);
    if (!first.any() || (place.first.column == 0 && !lattice_.closes(kRowAxis))) return;
    const int64_t before = patches_.beside(place, kRowAxis, false);
    const int end = last_bit(place.first.column == 0 ? lattice_.columns() - 1 : place.first.column - 1);
    reach_over(before, kRowAxis, first << end);
  }
  int last_bit(int64_t column) const {
    return column + 1 < lattice_.columns() ? kTop : int((lattice_.length[kRowAxis] - 1) % kWordSites);
  }
  void reach(int64_t number, const EightWords& sites) { reach(number, patches_[number], sites); }
  // The sites of a patch that have a bond along an axis, which leads to sites that have been visited.
  void reach_over(int64_t number, int axis, const EightWords& sites) {
    const Patches::Patch patch = patches_[number];
    reach(number, patch, sites & EightWords::load(patch.active(axis)));
  }

  // From the last row to the patch below, and from the first row to the one above.
  void reach_rows(const PatchPlace& place, const Patches::Patch& patch, Bits64 first, Bits64 last) {
    const int64_t length = lattice_.length[kColumnAxis], at = place.first.at[kColumnAxis];
    Bits64 reached[kPatchRows] = {last & patch.active(kColumnAxis)[place.rows - 1]};
    if (reached[0] != 0) reach(patches_.beside(place, kColumnAxis, true), EightWords::load(reached));
    if (first == 0 || (at == 0 && !lattice_.closes(kColumnAxis))) return;
    reached[0] = 0;
    reached[(at == 0 ? length - 1 : at - 1) % kPatchRows] = first;
    reach_over(patches_.beside(place, kColumnAxis, false), kColumnAxis, EightWords::load(reached));
  }

  // To the patches behind and before along the other axes.
  void reach_along(const PatchPlace& place, const Patches::Patch& patch, int axis, const EightWords& from) {
    const EightWords reached = from & EightWords::load(patch.active(axis));
    if (reached.any()) reach(patches_.beside(place, axis, true), reached);
    if (place.first.at[axis] > 0 || lattice_.closes(axis))
      reach_over(patches_.beside(place, axis, false), axis, from);
  }

  const Lattice lattice_;
  Patches& patches_;
  std::vector<int64_t> waiting_patches_;  // those with sites that wait, each once
  std::vector<PatchMembers> members_;
};

// Flips clusters with chosen sites of a replica, in spins that are the old ones.
inline void flip_chosen(const Lattice& lattice, const Draws& draws, Patches& patches, const ChoiceRule& rule,
                        Bits64* spins) {
  PatchFlood flood(lattice, patches);
  for_each_in(0, rule.tiles.count(lattice), [&](int64_t tile) {
    const SitePlace start(lattice, rule.tiles.chosen_site(lattice, draws, tile));
    if (flood.visited(start)) return;
    const int old_state = state_at(lattice, spins, start);
    const ClusterDraw drawn = draw_cluster(draws, flood.grow(start));
    if (!rule.flips(drawn)) return;
    const int new_state = drawn.another_state(lattice.states, old_state);
    for (const PatchMembers& some : flood.members())
      some.for_each(lattice.columns(),
                    [&](int64_t word, Bits64 sites) { set_state(lattice, spins, word, sites, new_state); });
  });
}

}  // namespace conncomp
