// Stage 0, where not all equal neighbours of a connectivity are linked: makes words of bits of the links of
// any rule and neighbourhood, one for each brick and backward step. Links within a brick are found row by
// row; others element by element, less those that others make up for, as each is a union: a link e - t
// straight across, if e - e', t - t' (links within the bricks) and e' - t' exist; a diagonal link e - t', if
// e - e' and e' - t' do. Links within bricks stay, and the link relied on is earlier in its row or moves
// along fewer axes, so what is left connects the same elements. For bonds this does not pay (kDense). Cost:
// values read once, those beside bricks once for each step to them; a word written for each brick and step.
#pragma once

#include "cuda/grid/brick_tiles.cuh"

namespace conncomp {

constexpr int kLinkThreads = 128;

// The foreground of a brick and the links within it, by a rule for values or by bonds.
template <class Rule, class Tiles>
BrickLinks<Tiles::kAxes> links_within_brick(const Rule& rule, const Tiles& tiles,
    const typename Rule::Value* values, const auto& first, Bits inside) {
  const auto brick = tiles.values_at(values + first.offset, inside);
  ValuesMet<typename Rule::Value> met{};
  return brick.links(rule, brick.foreground(rule.background, met), tiles.neighbours());
}
template <class Tiles>
BrickLinks<Tiles::kAxes> links_within_brick(
    const Bonds& rule, const Tiles& tiles, const uint8_t* bonds, const auto& first, Bits inside) {
  using B = typename Tiles::B;
  BrickLinks<Tiles::kAxes> brick{inside, 0, Comparison::kValues, {}};
#pragma unroll
  for (int a = 0; a < Tiles::kAxes; ++a) {
    const int step = B::kNoStep - B::unit(a);
    if (!tiles.has_step(step)) continue;
    const Bits to_next =
        tiles.values_at(bonds + rule.plane[a] + first.offset, inside).with_bits(rule.mask[a]);
    brick.back[step] = to_next << B::stride(a) & inside & B::with_element_at(step);
  }
  return brick;
}

template <class Rule, class Tiles, class Index> struct LinksAcross {
  static constexpr int kRank = Tiles::kRank, kAxes = Tiles::kAxes;
  using B = typename Tiles::B;
  using Site = typename Rule::Site;

  const Rule& rule;
  const Tiles& tiles;
  const typename Rule::Value* values;
  const Cell<kRank, Index>& first;
  Bits inside;
  const BrickLinks<kAxes>& within;

  // The place of the value of an element, and of the one at a step from it.
  int64_t offset_of(int bit) const {
    int64_t offset = first.offset;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) offset += B::coordinate(bit, a) * tiles.axis(a).value_stride;
    return offset;
  }
  int64_t offset_at(int bit, int step) const {
    const auto along = [&](int a) { return B::coordinate(bit, a) + B::step(step, a); };
    return first.offset + tiles.distance_across(first, along, [](auto& axis) { return axis.value_stride; });
  }
  // The elements whose neighbour at a step is in another brick.
  Bits outgoing(int step) const {
    return within.foreground & ~B::stays(step, inside) & ~tiles.over_ends(first, step, true);
  }
  Bits linked_at(int step) const {
    Bits linked = 0;
    for (Bits elements = outgoing(step); elements != 0; elements &= elements - 1) {
      const int bit = lowest(elements);
      const Site site = rule.site(values, offset_of(bit)),
                 neighbour = rule.site(values, offset_at(bit, step));
      if (rule.linked(values, site, neighbour, B::highest_axis(step), false)) linked |= lowest_bit(elements);
    }
    return linked;
  }
  // Links straight across that the element before does not make up for.
  Bits needed_straight(int step, Bits linked) const {
    Bits needed = linked;
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int beside = B::kNoStep - B::unit(a);
      if (B::step(step, a) != 0) continue;
      Bits candidates = needed & B::ahead(linked, a) & within.back[beside];
      for (; candidates != 0; candidates &= candidates - 1) {
        const int bit = lowest(candidates);
        const Site neighbour = rule.site(values, offset_at(bit, step)),
                   before = rule.site(values, offset_at(bit - B::stride(a), step));
        if (rule.linked(values, neighbour, before, a, false)) needed &= ~lowest_bit(candidates);
      }
    }
    return needed;
  }
  // The diagonal links that no link within the brick makes up for, given `linked` at all steps.
  Bits needed_diagonally(int step, const Bits (&linked)[B::kNoStep]) const {
    Bits needed = linked[step];
#pragma unroll
    for (int a = 0; a < kAxes; ++a) {
      const int move = B::step(step, a), on = step - move * B::unit(a), beside = B::kNoStep - B::unit(a);
      if (move == 0 || on > B::kNoStep) continue;
      const int by = B::stride(a);
      needed &= move < 0 ? ~(within.back[beside] & linked[on] << by)
                         : ~(within.back[beside] >> by & linked[on] >> by);
    }
    return needed;
  }
};

template <class Rule, class Tiles, class Index>
__global__ void __launch_bounds__(kLinkThreads)
    link_bricks(Tiles tiles, Rule rule, const typename Rule::Value* __restrict__ values, BrickTable table) {
  follow_launch();
  using B = typename Tiles::B;
  static_assert(Tiles::kRank == Tiles::kAxes, "all neighbours are in the same brick or one beside");
  for (int64_t number = grid_thread(); number < table.bricks; number += grid_threads()) {
    const uint32_t tile = uint32_t(number >> tiles.log_parts());
    Cell<Tiles::kRank, Index> first =
        tiles.first_of(tiles.template corner_of<Index>(tile), int(number & (tiles.parts() - 1)));
    first.offset += tiles.item_of(tile) * tiles.grid.item_stride;
    const Bits inside = tiles.inside(first);
    const auto within = links_within_brick(rule, tiles, values, first, inside);
    const LinksAcross<Rule, Tiles, Index> across{rule, tiles, values, first, inside, within};
    Bits linked[B::kNoStep] = {};
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step)
      if (tiles.has_step(step)) linked[step] = across.linked_at(step);
    table.foreground[number] = within.foreground;
    Bits* words = table.links + number;
#pragma unroll
    for (int step = 0; step < B::kNoStep; ++step) {
      if (!tiles.has_step(step)) continue;
      const Bits needed = !Rule::kDense         ? linked[step]
                          : B::moves(step) == 1 ? across.needed_straight(step, linked[step])
                                                : across.needed_diagonally(step, linked);
      *words = within.back[step] | needed;
      words += table.bricks;
    }
  }
}

}
