// Clusters of bonds in a box of rows, in shared memory. A site's label is the place of itself or of one
// before it in its cluster; at last it leads to the cluster's smallest place. A warp goes through a band of
// consecutive rows, a lane a site. Bonds, and where runs of sites begin, are bits. begin: a thread a word,
// its links within the band, except those that two neighbours make up for. label_band: a run takes the label
// that its first link leads to, without a search, or its own first place; what the other links join is
// united, 32 at a time. join unites likewise by bonds between bands, and over the ends of axes. flatten:
// roots of trees lead to those of clusters, and then all sites in two steps. Cost: some 100 instructions a
// site and two axes, 60 of them in the walk. Source: ours, from runs (He, Chao, Suzuki 2008).
#pragma once

#include "core/philox.h"
#include "core/union_find.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

using Place = uint16_t;
constexpr int kMostBoxAxes = 4;

// The rows of a box, along all axes but the last one. Layout: spin_sweeps.py.
struct BoxRows {
  int32_t extent[kMostBoxAxes - 1];  // how many rows there are along each axis, the last ones of these
  int32_t rows, width;               // how many in all, and the sites of one
  int32_t columns, halves;           // of a row: words of 32 sites, and of bonds, as these lie

  int words() const { return rows * columns; }
};

// Places that a thread has at once: as bits, a byte; and as they lie in memory, two in a word.
constexpr int kGroup = 8, kGroups = kWarp / kGroup;
struct PlacesOfGroup {
  Bits32 place[kGroup];

  // A bit of each place in a string of bits.
  Bits32 bits_in(const Bits32* words) const {
    Bits32 bits = 0;
#pragma unroll
    for (int j = kGroup - 1; j >= 0; --j)
      bits = bits << 1 | (words[place[j] / kWarp] >> place[j] % kWarp & 1);
    return bits;
  }
};
struct alignas(16) PairsOfPlaces {
  Bits32 pair[kGroup / 2];

  explicit PairsOfPlaces(const PlacesOfGroup& of) {
#pragma unroll
    for (int j = 0; j < kGroup; j += 2) pair[j / 2] = of.place[j] | of.place[j + 1] << 16;
  }
  operator PlacesOfGroup() const {
    PlacesOfGroup of;
#pragma unroll
    for (int j = 0; j < kGroup; ++j) of.place[j] = pair[j / 2] >> j % 2 * 16 & 0xffff;
    return of;
  }
};

// Of a string of so many words, 32 bits from one on; those beyond its end are any.
inline Bits32 bits_from(const Bits32* words, int count, int bit) {
  const int first = bit / kWarp, second = first + 1 < count ? first + 1 : first;
  return first < count ? __funnelshift_r(words[first], words[second], bit % kWarp) : 0;
}

// Two labels whose clusters are to be united: the second one in the upper half.
using LabelPair = Bits32;

// Of a word's sites: those linked to the one before, later roots of trees; and those linked to the row before
// in the band along each other axis, but for links that two neighbours make up for.
template <int axes> struct alignas(axes < 3 ? 8 : 16) WordLinks {
  Bits32 of_row, across[axes < 2 ? 1 : axes - 1];
};

template <int axes> struct RowLabels {
  static constexpr int kAcross = axes - 1;  // axes along which rows are neighbours
  static constexpr int kMostListed = kAcross < 2 ? 2 : kAcross + 1;
  using List = TasksOfWarp<LabelPair, kMostListed>;
  using Links = WordLinks<axes>;

  const BoxRows& box;
  Place* label;         // at a multiple of 16 bytes, as the words
  Links* words;         // of the box, row by row
  const Bits32* bonds;  // to the next row along each axis in turn, and along rows
  List& list;
  int warp, warps;

  int extent(int k) const { return box.extent[kMostBoxAxes - axes + k]; }
  int stride(int k) const {
    int rows = 1;
    for (int a = kAcross - 1; a > k; --a) rows *= extent(a);
    return rows;
  }
  int at(int k, int row) const { return row / stride(k) % extent(k); }
  int first_row(int of_warp) const { return box.rows * of_warp / warps; }
  int place_of(int row, int column) const { return (row * box.columns + column) * kWarp; }
  Bits32 bonds_along(int k, int row, int column) const {
    return bonds[(k * box.rows + row) * box.halves + column];
  }
  Bits32 links_in_row(int row, int column) const {
    const Bits32 before = column > 0 ? bonds_along(kAcross, row, column - 1) : 0;
    return __funnelshift_l(before, bonds_along(kAcross, row, column), 1);
  }

  void begin() const {
    for (int word = int(threadIdx.x); word < box.words(); word += int(blockDim.x)) {
      const int row = word / box.columns, column = word - row * box.columns;
      const int first = first_row(((row + 1) * warps - 1) / box.rows);
      Links links{};
      links.of_row = links_in_row(row, column);
#pragma unroll
      for (int k = 0; k < kAcross; ++k) {
        const int before = row - stride(k);
        if (before < first || at(k, row) == 0) continue;
        const Bits32 to_row = bonds_along(k, before, column);
        links.across[k] = to_row & ~(to_row << 1 & links.of_row & links_in_row(before, column));
      }
      words[word] = links;
    }
  }
  void unite_listed(LabelPair pair, bool exists) const {
    if (!exists) return;
    Place a = Place(pair), b = Place(pair >> 16);
    for (;;) {
      a = find<InBlock>(label, a), b = find<InBlock>(label, b);
      if (a == b) return;
      const Place low = a < b ? a : b, high = a < b ? b : a;
      if (InBlock::compare_exchange(label + high, high, low) == high) return;
    }
  }
  static LabelPair pair_of(Bits32 a, Bits32 b) { return a | b << 16; }
  int take(int count) const {
    return list.take(count, [&](LabelPair pair, bool exists) { unite_listed(pair, exists); });
  }

  // Labels the rows of this warp's band; returns how many pairs are still listed.
  int label_band() const {
    const Bits32 bit = Bits32(1) << lane(), up_to_lane = bit | (bit - 1);
    int count = 0, place = place_of(first_row(warp), 0), before[kAcross + 1];
#pragma unroll
    for (int k = 0; k < kAcross; ++k) before[k] = place_of(stride(k), 0);
    Links *of_word = words + place / kWarp, *const end = words + first_row(warp + 1) * box.columns;
    for (; of_word < end; ++of_word, place += kWarp) {
      const Links links = *of_word;
      // A run begins at the last start up to the lane, or goes on from the word before.
      const Bits32 starts = ~links.of_row & up_to_lane, later = ~links.of_row & ~up_to_lane;
      const int first = kWarp - 1 - __clz(int(starts));
      const Bits32 run = ((later & (0 - later)) - 1) & kAllLanes << (first & (kWarp - 1));
      Bits32 links_of_run = 0;
      int source = 0;  // of its label, from the first place of the word
#pragma unroll
      for (int k = 0; k < kAcross; ++k) {
        const bool is_new = links_of_run == 0;
        links_of_run = is_new ? links.across[k] & run : links_of_run;
        source = is_new ? -before[k] : source;
      }
      const bool goes_on = starts == 0, is_root = !goes_on && links_of_run == 0;
      source = goes_on ? -1 : source + __ffs(int(links_of_run)) - 1;
      Bits32 root = place + first;
      if (!is_root) root = InBlock::load(label + place + source);
      InBlock::store(label + place + lane(), Place(root));
      const Bits32 roots = __ballot_sync(kAllLanes, is_root && first == lane());
      __syncwarp();
      if (lane() == 0) of_word->of_row = roots;
#pragma unroll
      for (int k = 0; k < kAcross; ++k) {
        Bits32 other = root;
        if (links.across[k] & bit) other = InBlock::load(label + place + lane() - before[k]);
        count = list.push(count, other != root, pair_of(root, other));
      }
      if constexpr (kAcross > 0) count = take(count);
    }
    return count;
  }
  // Unites over bonds to other bands and, if the box is closed, over the ends of axes; then the listed pairs.
  void join(int count, bool is_closed) const {
    const auto join_rows = [&](int k, int row, int next) {
      for (int column = 0; column < box.columns; ++column) {
        Bits32 own = 0, other = 0;
        if (bonds_along(k, row, column) >> lane() & 1) {
          own = InBlock::load(label + place_of(row, column) + lane());
          other = InBlock::load(label + place_of(next, column) + lane());
        }
        count = take(list.push(count, own != other, pair_of(own, other)));
      }
    };
    const int begin = first_row(warp), end = first_row(warp + 1);
#pragma unroll 1
    for (int k = 0; k < kAcross; ++k) {
      const int rows = stride(k), length = extent(k);
      for (int row = end - rows > begin ? end - rows : begin; row < end; ++row)
        if (k == 0 ? row + rows < box.rows : at(k, row) + 1 < length) join_rows(k, row, row + rows);
      for (int line = warp; is_closed && line < box.rows / length; line += warps) {
        const int first = line / rows * rows * length + line % rows;
        join_rows(k, first + (length - 1) * rows, first);
      }
    }
    const int last = (box.width - 1) / kWarp, bit = (box.width - 1) % kWarp;
    for (int first = begin; is_closed && first < end; first += kWarp) {
      const int row = first + lane();
      Bits32 own = 0, other = 0;
      if (row < end && bonds_along(kAcross, row, last) >> bit & 1) {
        own = InBlock::load(label + place_of(row, last) + bit);
        other = InBlock::load(label + place_of(row, 0));
      }
      count = take(list.push(count, own != other, pair_of(own, other)));
    }
    list.finish(count, [&](LabelPair pair, bool exists) { unite_listed(pair, exists); });
  }
  // Calls body(place) for the roots of trees; a thread has those of a word.
  void for_each_tree(auto&& body) const {
    for (int word = int(threadIdx.x); word < box.words(); word += int(blockDim.x))
      for (Bits32 roots = words[word].of_row; roots != 0; roots &= roots - 1)
        body(word * kWarp + __ffs(int(roots)) - 1);
  }
  // Labels all places of the box; threads have met before, and meet at last.
  void label_box(bool is_closed) const {
    begin();
    __syncthreads();
    const int count = label_band();
    __syncthreads();
    join(count, is_closed);
    __syncthreads();
    flatten();
    __syncthreads();
  }
  // Lets roots of trees lead to those of clusters, once all is united.
  void flatten() const {
    for_each_tree([&](int place) {
      Bits32 root = InBlock::load(label + place);
      for (Bits32 above; (above = InBlock::load(label + root)) != root;) root = above;
      InBlock::store(label + place, Place(root));
    });
  }
  // Then calls body(group, roots) for groups of eight consecutive places.
  void for_each_group(auto&& body) const {
#pragma unroll 1
    for (int group = int(threadIdx.x); group < box.words() * kGroups; group += int(blockDim.x)) {
      PlacesOfGroup of_group = reinterpret_cast<const PairsOfPlaces*>(label)[group];
#pragma unroll
      for (int j = 0; j < kGroup; ++j) of_group.place[j] = label[of_group.place[j]];
      body(group, of_group);
    }
  }
};

}
