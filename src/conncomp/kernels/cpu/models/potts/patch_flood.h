// The clusters of chosen sites alone, by patches of 8 or 16 rows of 64 sites. Reached sites of a patch wait
// until its turn; then they spread within it along all rows at once (forward by an addition, which carries,
// back by six shifts) and from row to row, and reach the patches beside. The smallest site draws what becomes
// of the cluster. Cost: bonds are drawn in patches that clusters reach, and those before; one thread a
// replica. Source: ours; U. Wolff 1989, and M. Weigel 2011, section III, for the updates.
#pragma once

#include <iterator>

#include "cpu/core/many_words.h"
#include "cpu/models/potts/flood.h"

namespace conncomp {

// The active bonds of an update: drawn when a patch is first touched, and kept. A patch has the words of 8 or
// 16 consecutive rows along the last axis but one. Memory: (4 + axes) words a row of a patch.

// Rows of a patch where rows are few, and else: those of two registers, which work at the same time.
constexpr int kFewPatchRows = 8, kMostPatchRows = std::max(8, 2 * ManyWords<8>::kOfPart);

// A patch's number, first word and rows, the first row's coordinates, and the column.
struct PatchPlace {
  int64_t patch;
  WordPlace first;
  int rows;

  WordPlace at(const Lattice& lattice, int row) const {
    WordPlace place = first;
    place.word += row * lattice.columns();
    place.at[kColumnAxis] += row;
    return place;
  }
};

template <int kRows> class Patches {
 public:
  Patches(const Lattice& lattice, const Draws& draws, Bits64 probability, const Bits64* spins, Bits64 update,
      Bits64* patches)
      : lattice_(lattice),
        draws_(draws),
        probability_(probability),
        spins_(spins),
        update_(update),
        patches_(patches),
        groups_(groups(lattice)),
        words_of_patch_(words_of_patch(lattice)) {}

  static int64_t memory(const Lattice& lattice) {
    return lattice.length[0] * lattice.length[1] * groups(lattice) * lattice.columns() *
           words_of_patch(lattice);
  }

  int64_t patch_with(int64_t word) const {
    const int64_t columns = lattice_.columns(), row = word / columns,
                  line = row / lattice_.length[kColumnAxis];
    const int64_t group = row % lattice_.length[kColumnAxis] / kRows;
    return (line * groups_ + group) * columns + word % columns;
  }
  PatchPlace place_of(int64_t patch) const {
    const int64_t columns = lattice_.columns(), groups = patch / columns, line = groups / groups_,
                  at = groups % groups_ * kRows;
    const int64_t length = lattice_.length[kColumnAxis], column = patch % columns;
    const WordPlace first{(line * length + at) * columns + column,
        {line / lattice_.length[1], line % lattice_.length[1], at}, column};
    return {patch, first, int(std::min<int64_t>(length - at, kRows))};
  }
  int64_t beside(const PatchPlace& place, int axis, bool after) const {
    const int64_t columns = lattice_.columns();
    int64_t at = place.first.column, length = columns, stride = 1;
    if (axis < kRowAxis) {
      at = axis == kColumnAxis ? place.first.at[axis] / kRows : place.first.at[axis];
      length = axis == kColumnAxis ? groups_ : lattice_.length[axis];
      stride = axis == kColumnAxis ? columns : groups_ * columns * (axis == 0 ? lattice_.length[1] : 1);
    }
    if (after) return place.patch + (at + 1 < length ? stride : -at * stride);
    return place.patch + (at > 0 ? -stride : (length - 1) * stride);
  }

  // What is known of a patch, words of rows each: visited and waiting sites, active bonds; the last cluster.
  class Patch {
   public:
    Bits64& last_cluster() const { return words_[1]; }
    PatchPlace place(int64_t patch) const {
      const auto at = [&](int k) { return int64_t(words_[k]); };
      return {patch, {at(2), {at(3), at(4), at(5)}, at(6)}, int(words_[7])};
    }
    Bits64* visited() const { return words_ + kRows; }
    Bits64* waiting() const { return words_ + 2 * kRows; }
    // Bonds between rows of a patch, once more without those that lead out of it.
    Bits64* active(int axis) const { return words_ + (4 + kRowAxis - axis) * kRows; }
    Bits64* inner() const { return words_ + 3 * kRows; }

   private:
    friend class Patches;
    explicit Patch(Bits64* words) : words_(words) {}

    Bits64* const words_;
  };
  Patch operator[](int64_t patch) {
    const Patch bits(patches_ + patch * words_of_patch_);
    if (bits.words_[0] != update_) fill(place_of(patch), bits);
    return bits;
  }

 private:
  static int64_t groups(const Lattice& lattice) { return (lattice.length[kColumnAxis] + kRows - 1) / kRows; }
  static int first_axis(const Lattice& lattice) {
    int axis = 0;
    while (axis < kRowAxis && lattice.length[axis] == 1) ++axis;
    return axis;
  }
  static int words_of_patch(const Lattice& lattice) {
    return (4 + kLatticeAxes - first_axis(lattice)) * kRows;
  }

  [[gnu::noinline]] void fill(const PatchPlace& place, const Patch& patch) const {
    std::fill_n(patch.words_, words_of_patch_, 0);
    EightBonds offered[kLatticeAxes * kRows / 8];
    int count = 0;
    for (int axis = first_axis(lattice_); axis < kLatticeAxes; ++axis) {
      if (axis < kRowAxis && lattice_.length[axis] == 1) continue;
      Bits64* const bonds = patch.active(axis);
      offer(place, axis, bonds);
      for (int row = 0; row < kRows; row += 8)
        offered[count++] = {Bits64(place.at(lattice_, row).word), lattice_.columns(), axis, bonds + row};
    }
    int k = 0;
    for (; k + 1 < count; k += 2) activate_both(draws_, offered[k], offered[k + 1], probability_);
    if (k < count) activate_eight(draws_, offered[k], probability_);
    if (lattice_.length[kColumnAxis] > 1)
      std::copy_n(patch.active(kColumnAxis), place.rows - 1, patch.inner());
    const WordPlace& first = place.first;
    const int64_t header[] = {
        int64_t(update_), 0, first.word, first.at[0], first.at[1], first.at[2], first.column, place.rows};
    std::copy_n(header, std::size(header), patch.words_);
  }

  // The satisfied bonds of rows along an axis; next sites are as far apart as rows, but along rows' own axis.
  void offer(const PatchPlace& place, int axis, Bits64* bonds) const {
    const int64_t columns = lattice_.columns();
    NextSites next = next_sites(lattice_, place.first, axis);
    for (int row = 0; row < place.rows; ++row, next.word += columns) {
      const int64_t word = place.first.word + row * columns;
      if (axis == kColumnAxis && row + 1 == place.rows)
        next = next_sites(lattice_, place.at(lattice_, row), axis);
      bonds[row] = satisfied_bonds(lattice_, spins_, word, next);
    }
  }

  const Lattice lattice_;
  const Draws draws_;
  const Bits64 probability_;
  const Bits64* const spins_;
  const Bits64 update_;
  Bits64* const patches_;
  const int64_t groups_;
  const int words_of_patch_;
};

template <int kRows> class PatchFlood {
 public:
  PatchFlood(const Lattice& lattice, Patches<kRows>& patches) : lattice_(lattice), patches_(patches) {}

  bool visited(const SitePlace& site) {
    return patches_[patches_.patch_with(site.word)].visited()[row_of(site)] >> site.bit & 1;
  }

  // Visits the cluster of an unvisited site; returns its smallest. Members stay until the next grows.
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
    return lattice_.first_site(first.word) + std::countr_zero(first.sites);
  }
  // Calls body(word, sites) for rows of patches with members, and some without.
  void for_each_member(auto&& body) const {
    for (const PatchMembers& some : members_) for_each_row(some, body);
  }

 private:
  using Sites = ManyWords<kRows>;
  using Patch = typename Patches<kRows>::Patch;

  // A patch with members of a cluster, and the sites that clusters before it have visited.
  struct PatchMembers {
    int64_t patch;
    Sites others;
  };
  void for_each_row(const PatchMembers& members, auto&& body) const {
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

  // The sites of a patch to which bonds within it lead from those that wait.
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
  void reach_over(int64_t number, int axis, const Sites& sites) {
    const Patch patch = patches_[number];
    reach(number, patch, sites & Sites::load(patch.active(axis)));
  }

  void reach_rows(const PatchPlace& place, const Patch& patch, Bits64 first, Bits64 last) {
    const int64_t length = lattice_.length[kColumnAxis], at = place.first.at[kColumnAxis];
    Bits64 reached[kRows] = {last & patch.active(kColumnAxis)[place.rows - 1]};
    if (reached[0] != 0) reach(patches_.beside(place, kColumnAxis, true), Sites::load(reached));
    if (first == 0 || (at == 0 && !lattice_.closes(kColumnAxis))) return;
    reached[0] = 0;
    reached[(at == 0 ? length - 1 : at - 1) % kRows] = first;
    reach_over(patches_.beside(place, kColumnAxis, false), kColumnAxis, Sites::load(reached));
  }

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

}
