// Percolation on the CPU: all numbers of occupied elements in one run, and single configurations. Elements
// are added in random order, and clusters united as they meet: Newman, Ziff 2000. Nothing is in the order of
// memory, so blocks go through stages that prefetch for the next.
#pragma once

#include "core/percolation.h"
#include "cpu/models/draws.h"
#include "cpu/models/percolation/winding_clusters.h"
#include "cpu/models/rows.h"

namespace conncomp {

// A step from a site of a cell to a neighbour, a site of a cell that is so many cells farther.
struct LatticeStep {
  std::array<int, kLatticeAxes> along;
  int to;  // which site of that cell
};

// Elements of which each cell has one: a site with its neighbours, or a bond, from the site it leads from.
struct ElementKind {
  int site;  // of the cell
  std::vector<LatticeStep> steps;
};

constexpr int kSweepFields = 4;

struct SweepSeries {
  double* sums;
  int64_t begin, end;  // of the numbers
};

// What percolates: sites with steps both ways, or bonds; a plane of words a kind, a bit a cell.
struct PercolationLattice {
  Lattice lattice;  // of cells
  int axes;         // of the model
  bool of_bonds;
  int cell;  // how many sites a cell has
  std::vector<ElementKind> kinds;

  int first_axis() const { return kLatticeAxes - axes; }
  int planes() const { return int(kinds.size()); }
  int64_t cells() const { return lattice.sites(); }
  int64_t sites() const { return cells() * cell; }
  // The most links from a cell over the end of an axis. Each link of sites is a step from both ends.
  int links_over_end() const {
    int most = 1;
    for (int k = first_axis(); k < kLatticeAxes; ++k) {
      int links = 0;
      for (const ElementKind& kind : kinds)
        for (const LatticeStep& step : kind.steps) links += of_bonds ? step.along[k] != 0 : step.along[k] > 0;
      most = std::max(most, links);
    }
    return most;
  }
  int64_t stride(int axis) const {
    int64_t stride = 1;
    for (int k = kRowAxis; k > axis; --k) stride *= lattice.length[k];
    return stride;
  }
  int64_t offset(const ElementKind& kind, const LatticeStep& step) const {
    int64_t cells = 0;
    for (int k = 0; k < kLatticeAxes; ++k) cells += step.along[k] * stride(k);
    return cells * cell + step.to - kind.site;
  }
  // The cells of a word that have an element of a kind: bonds do not lead over open ends.
  Bits64 cells_with(const WordPlace& place, const ElementKind& kind) const {
    Bits64 cells = lattice.sites_of(place.column);
    if (!of_bonds) return cells;
    const auto& along = kind.steps[0].along;
    for (int k = 0; k < kRowAxis; ++k) {
      const int64_t at = place.at[k] + along[k];
      if ((at < 0 || at >= lattice.length[k]) && !lattice.closes(k)) return 0;
    }
    if (lattice.closes(kRowAxis) || along[kRowAxis] == 0) return cells;
    const int64_t end = along[kRowAxis] > 0 ? lattice.length[kRowAxis] - 1 : 0;
    if (end / kWordSites == place.column) cells &= ~(Bits64(1) << end % kWordSites);
    return cells;
  }
};

// The most neighbours of a site: those that bonds of any UnitCell lead to, one each way.
constexpr int kMostNeighbours = 32;

class PercolationRuns {
 public:
  explicit PercolationRuns(const PercolationLattice& lattice)
      : lattice_(lattice), periods_(lattice.lattice, lattice.links_over_end()) {
    for (const ElementKind& kind : lattice.kinds) {
      first_step_.push_back(int(steps_.size()));
      for (const LatticeStep& step : kind.steps) {
        steps_.push_back(step);
        offset_.push_back(lattice.offset(kind, step));
      }
    }
    first_step_.push_back(int(steps_.size()));
    for (int k = 0; k < kLatticeAxes; ++k) {
      length_[k] = uint32_t(lattice.lattice.length[k]);
      stride_[k] = lattice.stride(k);
    }
  }

 protected:
  static constexpr int64_t kBlock = 32, kStages = 3, kRing = 4 * kBlock;

  void begin_run(Bits64 seed, Bits32 run) {
    const int64_t cells = lattice_.cells(), most = cells * lattice_.planes();
    draws_ = {seed, 0, run};
    if (order_.data() == nullptr) order_ = Buffer<uint32_t>(most);
    uint32_t* const order = order_.data();
    if (!lattice_.of_bonds) {
      for_each_in(0, most, [order](int64_t number) { order[number] = uint32_t(number); });
      elements_ = Bits64(most);
      return;
    }
    elements_ = 0;
    for (int kind = 0; kind < lattice_.planes(); ++kind)
      for_each_in(0, cells, [&, order](int64_t cell) {
        if (has_bond(kind, cell)) order[elements_++] = uint32_t(kind * cells + cell);
      });
  }
  bool has_bond(int kind, int64_t cell) const {
    const auto& along = steps_[kind].along;
    for (int k = lattice_.first_axis(); k < kLatticeAxes; ++k) {
      if (along[k] == 0 || lattice_.lattice.closes(k)) continue;
      const int64_t at = cell / stride_[k] % length_[k] + along[k];
      if (at < 0 || at >= length_[k]) return false;
    }
    return true;
  }

  void draw(int64_t block) {
    const int64_t begin = block * kBlock, end = std::min<int64_t>(begin + kBlock, int64_t(elements_));
    Bits64 index[kBlock / 2], half[2][kBlock / 2];
    const int64_t draws = (end - begin + 1) / 2;
    for (int64_t k = 0; k < draws; ++k) index[k] = Bits64(begin / 2 + k);
    draw_all(draws_, kOrder, index, draws, half[0], half[1]);
    for (int64_t i = begin; i < end; ++i) {
      const Bits64 place = Bits64(i) + below(half[i % 2][(i - begin) / 2], elements_ - Bits64(i));
      places_[i % kRing] = uint32_t(place);
      prefetch_line(order_.data() + place);
    }
  }

  PercolationLattice lattice_;
  Periods periods_;
  std::vector<LatticeStep> steps_;  // of all kinds
  std::vector<int64_t> offset_;     // of the steps
  std::vector<int> first_step_;     // of each kind, and their number
  uint32_t length_[kLatticeAxes];
  int64_t stride_[kLatticeAxes];
  Draws draws_{};
  Bits64 elements_ = 0;
  Buffer<uint32_t> order_;
  uint32_t places_[kRing];
};

// An element leads to kSteps sites: a bond to one, a site to all; 0 if numbers differ or are rare.
template <class Packed, int kSteps> class Percolation : PercolationRuns {
 public:
  static constexpr bool kOfBonds = kSteps == 1;
  static constexpr int kMostSteps = kSteps == 0 ? kMostNeighbours : kSteps;

  explicit Percolation(const PercolationLattice& lattice)
      : PercolationRuns(lattice), clusters_(lattice.sites(), periods_) {}

  // Adds to `series`; writes at how many the lattice wraps along each axis, and at full rank, or one more.
  void run(Bits64 seed, Bits32 run, const SweepSeries& series, int64_t* wraps) {
    begin_run(seed, run);
    const int64_t count = int64_t(elements_), blocks = (count + kBlock - 1) / kBlock;
    std::fill_n(wraps, lattice_.axes + 1, count + 1);
    clusters_.clear(kOfBonds);
    Wrapping seen;
    const auto measure = [&](int64_t n) {
      if (n < series.begin || n >= series.end) return;
      const double largest = double(clusters_.counts.largest);
      double* const at = series.sums + kSweepFields * (n - series.begin);
      at[0] += double(clusters_.counts.clusters);
      at[1] += largest;
      at[2] += largest * largest;
      at[3] += double(clusters_.counts.squares);
    };
    measure(0);
    for (int64_t b = -kStages; b < blocks; ++b) {
      poll(kBlock);
      if (seen.rank == lattice_.axes && b * kBlock >= series.end) return;
      if (b + kStages < blocks) draw(b + kStages);
      if (b + 2 >= 0 && b + 2 < blocks) choose(b + 2);
      if (b + 1 >= 0 && b + 1 < blocks) prefetch_parents(b + 1);
      if (b < 0) continue;
      const int64_t begin = b * kBlock, end = std::min(begin + kBlock, count);
      for (int64_t n = begin; n < end; ++n) {
        add(chosen_[n % kRing]);
        measure(n + 1);
        const Wrapping& now = clusters_.wrapping;
        if (now.axes == seen.axes && now.rank == seen.rank) continue;
        for (int k = 0; k < lattice_.axes; ++k)
          if ((now.axes & ~seen.axes) >> (lattice_.first_axis() + k) & 1) wraps[k] = n + 1;
        if (now.rank == lattice_.axes && seen.rank < now.rank) wraps[lattice_.axes] = n + 1;
        seen = now;
      }
    }
  }

  void measure(const Bits64* words, int64_t* record) {
    const Lattice& lattice = lattice_.lattice;
    Element element{};
    clusters_.clear(kOfBonds);
    std::fill_n(record, int(kPercolationFields), 0);
    for (int plane = 0; plane < lattice_.planes(); ++plane) {
      const int site_of_cell = lattice_.kinds[plane].site;
      const Bits64* const plane_words = words + plane * lattice.words();
      for_each_in(0, lattice.words(), [&](int64_t word) {
        const int64_t first = lattice.first_site(word);
        record[kElements] += std::popcount(plane_words[word]);
        for_each_bit(plane_words[word], [&](int p) {
          describe(uint32_t(first + p), plane, site_of_cell, element);
          add(element);
        });
      });
    }
    record[kNumber] = clusters_.counts.clusters;
    record[kLargestSize] = clusters_.counts.largest;
    clusters_.for_each_size([&](int64_t size) {
      const Bits64 square = Bits64(size) * Bits64(size);
      record[kSizeSquares] += int64_t(square & 0xffffffff);
      record[kSizeSquares + 1] += int64_t(square >> 32);
      ++record[kSizeClasses + std::bit_width(Bits64(size)) - 1];
    });
    record[kWrapAxes] = clusters_.wrapping.axes >> lattice_.first_axis();
    record[kWrapRank] = clusters_.wrapping.rank;
  }

 private:
  struct Element {
    uint32_t site;
    uint8_t kind;
    bool inside;  // no end of the lattice is beside the cell; else the sites that it leads to are listed:
    int count;
    uint32_t to[kMostSteps];
    Packed periods[kMostSteps];  // how many farther they are
  };

  void describe(uint32_t cell, int kind, int site_of_cell, Element& element) const {
    uint32_t at[kLatticeAxes], left = cell;
    const int first_axis = lattice_.first_axis();
    bool inside = true;
    for (int k = kRowAxis; k > first_axis; --k) {
      const uint32_t lines = left / length_[k];
      at[k] = left - lines * length_[k];
      inside &= at[k] != 0 && at[k] + 1 != length_[k];
      left = lines;
    }
    at[first_axis] = left;
    inside &= left != 0 && left + 1 != length_[first_axis];
    element.site = cell * uint32_t(lattice_.cell) + uint32_t(site_of_cell);
    element.kind = uint8_t(kind);
    element.inside = inside;
    if (!inside) list_neighbours(element, at);
  }
  void list_neighbours(Element& element, const uint32_t* at) const {
    element.count = 0;
    for (int k = 0; k < steps_of(element); ++k) add_neighbour(element, at, first_step(element) + k);
  }
  int first_step(const Element& element) const {
    return kSteps == 0 ? first_step_[element.kind] : kSteps * element.kind;
  }
  int steps_of(const Element& element) const {
    return kSteps == 0 ? first_step_[element.kind + 1] - first_step_[element.kind] : kSteps;
  }
  void add_neighbour(Element& element, const uint32_t* at, int number) const {
    const LatticeStep& step = steps_[number];
    Packed periods = 0;
    int64_t to = element.site + offset_[number];
    for (int k = lattice_.first_axis(); k < kLatticeAxes; ++k) {
      const int64_t place = int64_t(at[k]) + step.along[k], length = length_[k];
      if (place >= 0 && place < length) continue;
      if (!lattice_.lattice.closes(k)) return;
      const Packed period = periods_.template unit<Packed>(k);
      periods += place < 0 ? Packed(0) - period : period;
      to += (place < 0 ? length : -length) * stride_[k] * lattice_.cell;
    }
    element.to[element.count] = uint32_t(to);
    element.periods[element.count++] = periods;
  }

  void for_each_neighbour(const Element& element, auto&& body) const {
    if (element.inside) {
      const int64_t* const offset = offset_.data() + first_step(element);
      for (int k = 0; k < steps_of(element); ++k) body(element.site + offset[k], Packed(0));
    } else {
      for (int k = 0; k < element.count; ++k) body(int64_t(element.to[k]), element.periods[k]);
    }
  }

  void add(const Element& element) {
    auto place = kOfBonds ? clusters_.find(element.site) : clusters_.occupy(element.site);
    // Those that are there first, as one branch for all is predicted better than one for each.
    std::pair<int64_t, Packed> joined[kMostSteps];
    int count = 0;
    for_each_neighbour(element, [&](int64_t to, Packed periods) {
      joined[count] = {to, periods};
      count += clusters_.has(to);
    });
    for (int k = 0; k < count; ++k) place = clusters_.join(place, joined[k].first, joined[k].second);
  }

  void choose(int64_t block) {
    const int64_t begin = block * kBlock, end = std::min<int64_t>(begin + kBlock, int64_t(elements_));
    const uint32_t cells = uint32_t(lattice_.cells()), cell = uint32_t(lattice_.cell);
    for (int64_t i = begin; i < end; ++i) {
      uint32_t* const at = order_.data() + places_[i % kRing];
      uint32_t number = *at;
      *at = order_[i];
      int kind = 0;
      if (kOfBonds) {
        for (; number >= cells; number -= cells) ++kind;
      } else if (cell > 1) {
        kind = int(number % cell);
        number /= cell;
      }
      Element& element = chosen_[i % kRing];
      describe(number, kind, kOfBonds ? lattice_.kinds[kind].site : kind, element);
      clusters_.prefetch(element.site);
      for_each_neighbour(element, [&](int64_t to, Packed) { clusters_.prefetch(to); });
    }
  }
  void prefetch_parents(int64_t block) {
    const int64_t begin = block * kBlock, end = std::min<int64_t>(begin + kBlock, int64_t(elements_));
    for (int64_t i = begin; i < end; ++i) {
      const Element& element = chosen_[i % kRing];
      if (kOfBonds) clusters_.prefetch_parent(element.site);
      for_each_neighbour(element, [&](int64_t to, Packed) { clusters_.prefetch_parent(to); });
    }
  }

  WindingClusters<Packed> clusters_;
  Element chosen_[kRing];
};

// Calls body(type_identity) with the smallest nodes for windings: 64 bits but for 3-D of 10^9 sites.
template <int kSteps> void with_periods(const PercolationLattice& lattice, auto&& body) {
  constexpr int kStepsOfWide = kSteps == 1 || kSteps == 8 ? kSteps : 0;
  const int width = Periods(lattice.lattice, lattice.links_over_end()).width;
  if (width <= 32) return body(std::type_identity<Percolation<Bits32, kSteps>>());
  if (width <= 64) return body(std::type_identity<Percolation<Bits64, kSteps>>());
  body(std::type_identity<Percolation<unsigned __int128, kStepsOfWide>>());
}
void with_percolation(const PercolationLattice& lattice, auto&& body) {
  if (lattice.of_bonds) return with_periods<1>(lattice, body);
  size_t steps = lattice.kinds[0].steps.size();
  for (const ElementKind& kind : lattice.kinds)
    if (kind.steps.size() != steps) steps = 0;
  if (steps == 4) return with_periods<4>(lattice, body);
  if (steps == 6) return with_periods<6>(lattice, body);
  if (steps == 8) return with_periods<8>(lattice, body);
  with_periods<0>(lattice, body);
}

struct Sweep {
  Bits64 seed;
  int64_t first_run, runs, batches;

  int64_t begin(int64_t batch) const { return runs / batches * batch + std::min(batch, runs % batches); }
};

// The sums of a batch follow those of the one before.
inline void run_sweep(
    const PercolationLattice& lattice, const Sweep& sweep, const SweepSeries& series, int64_t* wraps) {
  with_percolation(lattice, [&]<class Runs>(std::type_identity<Runs>) {
    parallel_for(sweep.batches, [&](int64_t batch) {
      Runs percolation(lattice);
      SweepSeries batch_series = series;
      batch_series.sums += batch * kSweepFields * (series.end - series.begin);
      for (int64_t run = sweep.begin(batch); run < sweep.begin(batch + 1); ++run)
        percolation.run(
            sweep.seed, Bits32(sweep.first_run + run), batch_series, wraps + run * (lattice.axes + 1));
    });
  });
}

inline void draw_configurations(const PercolationLattice& lattice, Bits64 seed, Bits64 first_replica,
    int64_t replicas, Bits32 step, Bits64 probability, bool certain, Bits64* words) {
  const LatticeReplicas all{lattice.lattice, seed, first_replica, replicas};
  const int64_t columns = lattice.lattice.columns(),
                words_of_replica = lattice.planes() * lattice.lattice.words();
  Strips(all).for_each([&](const Strip& strip) {
    for (int plane = 0; plane < lattice.planes(); ++plane) {
      const ElementKind& kind = lattice.kinds[plane];
      for_each_chunk(lattice.lattice, strip, [&](int64_t begin, int64_t end) {
        const int axis = lattice.of_bonds ? lattice.first_axis() + plane : plane;
        Bits64* const first = words + strip.replica * words_of_replica + plane * lattice.lattice.words();
        for (int64_t word = begin * columns; word < end * columns; ++word)
          first[word] = lattice.cells_with(place_of(lattice.lattice, word), kind);
        if (!certain)
          activate(all.draws(strip.replica, step), begin * columns, axis, probability,
              (end - begin) * columns, first + begin * columns, kOccupied);
      });
    }
  });
}

inline void measure_configurations(
    const PercolationLattice& lattice, int64_t replicas, const Bits64* words, int64_t* records) {
  const int64_t words_of_replica = lattice.planes() * lattice.lattice.words();
  with_percolation(lattice, [&]<class Runs>(std::type_identity<Runs>) {
    parallel_for(replicas, [&](int64_t replica) {
      Runs(lattice).measure(words + replica * words_of_replica, records + replica * kPercolationFields);
    });
  });
}

}
