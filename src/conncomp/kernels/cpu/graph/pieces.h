// Strong components of a graph whose order of vertices has cuts, which arcs cross one way only. No component
// lies on both sides, so pieces between cuts are settled one by one, shares of them by threads.
//      0 -> 1 -> 2 <-> 3 -> 4      arcs back lead from 3 to 2 only: pieces are 0 | 1 | 2 3 | 4
// One sweep against the direction in which arcs may pass keeps the lowest vertex that an arc from there on
// leads to; before a vertex not above that is a cut. Pieces of one vertex are components, those of two if the
// first leads to the second; others are searched by themselves. Windows of the order show its direction and
// whether there are cuts. Cost: arcs read once, and those in larger pieces again. Source: ours (cuts.cuh).
#pragma once

#include <optional>

#include "cpu/graph/tarjan.h"

namespace conncomp {

// The order of vertices in which arcs over cuts lead upwards: theirs, or all bits of numbers flipped.
template <class Pointer, class Vertex> class CutOrder {
 public:
  using Place = std::make_unsigned_t<Vertex>;

  CutOrder(const Rows<Pointer, Vertex> rows, bool opposite)
      : rows_(rows), flip_(opposite ? ~Place(0) : 0), first_(opposite ? -Place(rows.vertices) : 0) {}

  Place first() const { return first_; }
  Place turned(Place at) const { return at ^ flip_; }

  VertexRange range(Place begin, Place count) const {
    return {int64_t(flip_ ? turned(Place(begin + count - 1)) : begin), int64_t(count)};
  }

  // The minimum of `lowest` and the places that the arcs of v lead to.
  Place lowest_target(Place v, Place lowest) const {
    int64_t begin, end;
    rows_.guess_bounds(int64_t(v), begin, end);
    if (begin < end) {
      if (end - begin > kLongRow) [[unlikely]]
        return lowest_of_many(begin, end, lowest);
      do lowest = std::min(lowest, turned(Place(rows_.target(begin))));
      while (++begin < end);
    }
    return lowest;
  }

  bool leads(Place v, Place to) const {
    int64_t begin, end;
    rows_.guess_bounds(int64_t(v), begin, end);
    if (end - begin > kLongRow) [[unlikely]]
      return one_of_many_leads(begin, end, to);
    while (begin < end)
      if (Place(rows_.target(begin++)) == to) return true;
    return false;
  }

  // Whether windows of the order mostly have cuts in their lower half, arcs beyond them aside.
  bool promises_cuts() const {
    constexpr int64_t kWindows = 32, kLongest = 256;
    const int64_t length = std::min(kLongest, rows_.vertices / kWindows);
    int64_t cut = 0;
    for (int64_t i = 0; i < kWindows; ++i) {
      const int64_t begin = rows_.vertices / kWindows * i;
      cut += cut_below(begin, begin + length) < begin + length;
    }
    return 2 * cut > kWindows;
  }

  // The highest place in the lower half before which there is a cut, arcs from `end` on aside; or `end`.
  int64_t cut_below(int64_t begin, int64_t end) const {
    Place lowest = ~Place(0);
    for (int64_t i = end; i-- > begin && lowest >= first_ + Place(begin);) {
      const Place at = first_ + Place(i);
      lowest = lowest_target(turned(at), lowest);
      if (at <= lowest && i <= begin + (end - begin) / 2) return i;
    }
    return end;
  }

 private:
  // Arcs from which on a row polls itself, as who visits many vertices counts these only.
  static constexpr int64_t kLongRow = 256;

  [[gnu::noinline]] Place lowest_of_many(int64_t begin, int64_t end, Place lowest) const {
    for_each_in(
        begin, end, [&](int64_t arc) { lowest = std::min(lowest, turned(Place(rows_.target(arc)))); });
    return lowest;
  }

  [[gnu::noinline]] bool one_of_many_leads(int64_t begin, int64_t end, Place to) const {
    bool leads = false;
    for_each_in(begin, end, [&](int64_t arc) { leads |= Place(rows_.target(arc)) == to; });
    return leads;
  }

  const Rows<Pointer, Vertex> rows_;
  const Place flip_, first_;
};

template <class Pointer, class Vertex, class Index> class Pieces {
 public:
  Pieces(const Rows<Pointer, Vertex> rows, CutOrder<Pointer, Vertex> order, Index* state)
      : rows_(rows), order_(order), state_(state), is_far_(!has_near_targets(rows)) {}

  int64_t settle() {
    if (is_cycle()) return 1;
    settle_shares(guess_cuts());
    if (is_crossed_) settle_shares({0, rows_.vertices});
    return components_;
  }

 private:
  using Place = typename CutOrder<Pointer, Vertex>::Place;
  using State = SearchState<Index>;

  std::vector<int64_t> guess_cuts() const {
    constexpr int64_t kLongest = 1024;
    const Parts parts(num_threads() > 1 ? rows_.vertices : 0, kGrain);
    std::vector<int64_t> cuts{0};
    for (int64_t part = 1; part < parts.parts; ++part) {
      const int64_t begin = parts.begin(part), end = std::min(begin + kLongest, parts.end(part));
      if (const int64_t cut = order_.cut_below(begin, end); cut < end) cuts.push_back(cut);
    }
    cuts.push_back(rows_.vertices);
    return cuts;
  }

  // Whether arcs lead from each place to the next, and from the last to the first.
  bool is_cycle() const {
    const Place first = order_.first(), last = first + Place(rows_.vertices - 1);
    if (!order_.leads(order_.turned(last), order_.turned(first))) return false;
    std::atomic<bool> ends{false};
    for_each_index(rows_.vertices - 1, [&](int64_t i) {
      const Place at = first + Place(i);
      if (!ends.load(std::memory_order_relaxed) && !order_.leads(order_.turned(at), order_.turned(at + 1)))
        ends = true;
    });
    return !ends;
  }

  void settle_shares(const std::vector<int64_t>& cuts) {
    const int64_t shares = int64_t(cuts.size()) - 1;
    components_ = 0;
    parallel_for(shares, [&](int64_t i) {
      components_ += Share(*this, cuts[shares - i - 1], cuts[shares - i]).settle(shares > 1);
    });
  }

  class Share {
   public:
    Share(Pieces& pieces, int64_t begin, int64_t end)
        : pieces_(pieces),
          first_(pieces.order_.first() + Place(begin)),
          at_(pieces.order_.first() + Place(end)),
          behind_(at_),
          enough_(begin > 0 ? first_ - 1 : first_),
          components_(end - begin) {}

    // Returns the number of components. With `others`, gives up when an arc leads below the share.
    int64_t settle(bool others) {
      while (at_ != first_ && lowest_ > enough_) {
        if (others && pieces_.is_crossed_.load(std::memory_order_relaxed)) return 0;
        const Place count = std::min(Place(at_ - first_), Place(kStretch));
        poll(int64_t(count));
        sweep(at_ - count);
      }
      if (others && lowest_ < first_) {
        pieces_.is_crossed_ = true;
        return 0;
      }
      if (behind_ != first_) settle_last_piece();
      return components_;
    }

   private:
    // Settles pieces that begin at places from `last` to before `at_`, until an arc leads to `enough_`.
    void sweep(const Place last) {
      const CutOrder<Pointer, Vertex> order = pieces_.order_;
      Index* const state = pieces_.state_;
      Place at = at_, lowest = lowest_, behind = behind_;
      const Place enough = enough_;
      bool is_chain = is_chain_;
      int64_t merged = 0;
      while (at != last) {
        const Place v = order.turned(--at);
        lowest = order.lowest_target(v, lowest);
        if (at + 1 == behind) {
          if (at > lowest) continue;
          state[v] = State::under(int64_t(v));
          behind = at;
          continue;
        }
        is_chain = is_chain && order.leads(v, order.turned(at + 1));
        if (at > lowest) {
          if (lowest <= enough) break;
        } else if (is_chain) {
          merged += int64_t(behind - at - 1);
          const Index settled = State::under(order.range(at, behind - at).first);
          do state[order.turned(--behind)] = settled;
          while (behind != at);
        } else {
          behind_ = behind;
          search_piece(at);
          behind = at, is_chain = true;
        }
      }
      at_ = at, lowest_ = lowest, behind_ = behind, is_chain_ = is_chain, components_ -= merged;
    }

    void settle_last_piece() {
      const CutOrder<Pointer, Vertex> order = pieces_.order_;
      for (int64_t looked = 0; is_chain_ && at_ != first_; ++looked) {
        if (looked % kStretch == 0) poll(kStretch);
        --at_;
        is_chain_ = at_ + 1 == behind_ || order.leads(order.turned(at_), order.turned(at_ + 1));
      }
      if (!is_chain_) return search_piece(first_);
      const VertexRange range = order.range(first_, behind_ - first_);
      Index* const state = pieces_.state_ + range.first;
      components_ -= range.count - 1;
      if (range.count < pieces_.rows_.vertices)
        for_each_in(0, range.count, [=](int64_t v) { state[v] = State::under(range.first); });
    }

    [[gnu::noinline]] void search_piece(Place begin) {
      const VertexRange range = pieces_.order_.range(begin, behind_ - begin);
      Index* const state = pieces_.state_ + range.first;
      for_each_in(0, range.count, [=](int64_t v) { state[v] = Index(State::kUnvisited); });
      if (!memory_) memory_.emplace(int64_t(behind_ - first_), pieces_.is_far_);
      Index* const no_order = nullptr;
      components_ += search_range(pieces_.rows_, range, 0, pieces_.state_, no_order, *memory_) - range.count;
    }

    Pieces& pieces_;
    const Place first_;
    Place at_, lowest_ = ~Place(0), behind_;
    // After an arc to here or lower, out of the share or to its first place, no other matters.
    const Place enough_;
    bool is_chain_ = true;  // whether arcs lead from each place to the next one, from `at_` up to `behind_`
    int64_t components_;
    std::optional<SearchMemory<Pointer, Index>> memory_;
  };

  const Rows<Pointer, Vertex> rows_;
  const CutOrder<Pointer, Vertex> order_;
  Index* const state_;
  const bool is_far_;
  std::atomic<int64_t> components_{0};
  std::atomic<bool> is_crossed_{false};  // whether an arc leads over what was taken for a cut
};

template <class Pointer, class Vertex, class Index>
int64_t settle_pieces(const Rows<Pointer, Vertex> rows, Index* state) {
  for (const bool opposite : {false, true})
    if (const CutOrder<Pointer, Vertex> order(rows, opposite); order.promises_cuts())
      return Pieces<Pointer, Vertex, Index>(rows, order, state).settle();
  return 0;
}

}
