// Spins that are unit vectors: first values, bonds, reflections, and observables. Clusters are those of Potts
// updates of two states, which say what is reflected.
//
// Half a warp takes a column of words, row after row along axis 2, so that the next row's projections serve
// again. A lane has the sites l, 16 + l, 32 + l and 48 + l of a word: a block of Philox has the numbers of
// their bonds along an axis, and votes make the word. Cost: some 25 instructions for each projection, one
// fewer a site than axes, and 50 a bond. Source: ours, see core/vector_spins.h.
#pragma once

#include "cuda/models/clusters.cuh"

namespace conncomp {

constexpr int kLanesOfWord = 16, kSitesOfLane = kWordSites / kLanesOfWord;

// What half a warp works on: a column of words. Sites of a replica are fewer than 2^31.
struct ColumnOfWords {
  const Lattice& lattice;
  int32_t length, rows, word, row, begin, end, x, sites;
  int32_t at[kColumnAxis];

  // That of a number, of columns of so many rows each; without rows beyond the last one.
  ColumnOfWords(const Lattice& lattice, Bits32 number, int32_t rows_of_column)
      : lattice(lattice),
        length(int32_t(lattice.length[kRowAxis])),
        rows(int32_t(lattice.length[kColumnAxis])) {
    const Bits32 columns = Bits32(lattice.columns()), pieces = pieces_of(lattice, rows_of_column);
    Bits32 piece = number / columns;
    const Bits32 column = number - piece * columns, plane = piece / pieces;
    piece -= plane * pieces;
    at[0] = int32_t(plane / Bits32(lattice.length[1]));
    at[1] = int32_t(plane - Bits32(at[0]) * Bits32(lattice.length[1]));
    begin = int32_t(piece) * rows_of_column;
    end = at[0] >= int32_t(lattice.length[0]) ? begin
          : begin + rows_of_column < rows     ? begin + rows_of_column
                                              : rows;
    x = int32_t(column) * kWordSites;
    sites = length - x < kWordSites ? length - x : kWordSites;
    const int32_t first_row = int32_t(plane) * rows;
    row = first_row * length;
    word = first_row * int32_t(columns) + int32_t(column);
  }
  static Bits32 pieces_of(const Lattice& lattice, int32_t rows_of_column) {
    return Bits32((lattice.length[kColumnAxis] + rows_of_column - 1) / rows_of_column);
  }
  static Bits32 count(const Lattice& lattice, int32_t rows_of_column) {
    return Bits32(lattice.length[0] * lattice.length[1] * lattice.columns()) *
           pieces_of(lattice, rows_of_column);
  }

  static int half() { return lane() / kLanesOfWord; }
  static int bit(int k) { return k * kLanesOfWord + lane() % kLanesOfWord; }
  bool has(int k) const { return bit(k) < sites; }
  // The first site of a row, along the column axis; the word of a row.
  int32_t site_of(int32_t y) const { return row + y * length; }
  int32_t word_of(int32_t y) const { return word + y * int32_t(lattice.columns()); }
  // The row after one along the column axis; -1 if there is none.
  int32_t row_after(int32_t y) const { return y + 1 < rows ? y + 1 : lattice.closes(kColumnAxis) ? 0 : -1; }
  // Whether there are next sites along an axis before, and how far they are.
  bool has_next(int axis) const { return at[axis] + 1 < lattice.length[axis] || lattice.closes(axis); }
  int32_t to_next(int axis) const {
    const int32_t stride = rows * length * (axis == 0 ? int32_t(lattice.length[1]) : 1);
    return at[axis] + 1 < lattice.length[axis] ? stride : -at[axis] * stride;
  }
  // Where in the row the site after one of the word is; -1 if there is none.
  int32_t next_in_row(int k) const {
    const int32_t next = x + bit(k) + 1;
    return next < length ? next : lattice.closes(kRowAxis) ? 0 : -1;
  }
  // The next sites' values: from the lane beside, or make(place) at the end of a word. All lanes call.
  template <class T>
  void take_next(const T (&own)[kSitesOfLane], T (&next)[kSitesOfLane], T nothing, auto&& make) const {
    const int beside = (lane() & ~(kLanesOfWord - 1)) | ((lane() + 1) & (kLanesOfWord - 1));
    T shifted[kSitesOfLane];
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) shifted[k] = shuffled(own[k], beside);
    const bool last_lane = bit(0) == kLanesOfWord - 1;
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) {
      next[k] = last_lane && k + 1 < kSitesOfLane ? shifted[k + 1 < kSitesOfLane ? k + 1 : k] : shifted[k];
      if (bit(k) + 1 != sites) continue;
      const int32_t place = next_in_row(k);
      next[k] = place < 0 ? nothing : make(place);
    }
  }

 private:
  template <class T> static T shuffled(const T& value, int from) {
    return T(__shfl_sync(kAllLanes, +value, from));  // of four bytes at least
  }
  template <int n> static Cartesian<n> shuffled(const Cartesian<n>& value, int from) {
    Cartesian<n> other;
    for (int k = 0; k < n; ++k) other.of[k] = __shfl_sync(kAllLanes, value.of[k], from);
    return other;
  }
};

// Calls body(column) for this half-warp's columns; all lanes call.
void for_each_column(const Replicas& replicas, int32_t rows_of_column, auto&& body) {
  const Bits32 warps = blockDim.x / kWarp, part = Bits32(blockIdx.x % replicas.parts),
               count = ColumnOfWords::count(replicas.lattice, rows_of_column),
               step = 2 * warps * Bits32(replicas.parts);
  for (Bits32 pair = 2 * (part * warps + threadIdx.x / kWarp); pair < count; pair += step)
    body(ColumnOfWords(replicas.lattice, pair + ColumnOfWords::half(), rows_of_column));
}

// The mirror of an update, which one thread of a block draws; all threads call.
template <class Kind> typename Kind::Mirror mirror_of_block(const Draws& draws) {
  __shared__ typename Kind::Mirror mirror;
  if (threadIdx.x == 0) mirror = Kind::mirror(draws(kMirror, 0));
  __syncthreads();
  return mirror;
}

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    start_vectors(Replicas replicas, typename Kind::Spin* __restrict__ spins) {
  const Draws draws = replicas.draws();
  spins = replicas.at_replica(spins, replicas.lattice.sites());
  replicas.for_each_site([&](int64_t site) { spins[site] = Kind::start(draws(kStart, Bits64(site))); });
}

// As many as leave enough registers, where so many fit.
constexpr int kBlocksThatDraw = resident_blocks(kSpinThreads) < 10 ? resident_blocks(kSpinThreads) : 10;

// Draws the active bonds of all axes, and counts them if there is a record.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads, kBlocksThatDraw)
    draw_vector_bonds(Replicas replicas, int32_t rows_of_column,
        const typename Kind::Spin* __restrict__ spins, const BondStrength* __restrict__ strengths,
        int32_t negative, Bits64* __restrict__ bonds, Records records) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const BondStrength strength = strengths[replicas.replica()];
  const auto mirror = mirror_of_block<Kind>(draws);
  const int axes = replicas.axes;
  const int64_t words = lattice.words();
  spins = replicas.at_replica(spins, lattice.sites());
  bonds = replicas.at_replica(bonds, words * axes);
  int64_t active = 0;
  for_each_column(replicas, rows_of_column, [&](const ColumnOfWords& column) {
    const auto draw = [&](int32_t y, int axis, const int32_t (&p)[kSitesOfLane],
                          const int32_t (&q)[kSitesOfLane]) {
      const int32_t word = column.word_of(y);
      const Bits64 index = Bits64(kBondBlocks) * Bits32(word) + Bits32(column.bit(0));
      const PhiloxBlock drawn = draws(kVectorBond, index, axis);
      Bits32 votes[kSitesOfLane];
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k)
        votes[k] = __ballot_sync(kAllLanes, is_active(p[k], q[k], strength, negative, drawn.word[k]));
      if (column.bit(0) != 0 || y >= column.end) return;
      const Bits32 half =
          column.half() == 0 ? 0x5410 : 0x7632;  // the halves of the votes that are this word's
      const Bits64 bits =
          __byte_perm(votes[0], votes[1], half) | Bits64(__byte_perm(votes[2], votes[3], half)) << 32;
      bonds[(axis - (kLatticeAxes - axes)) * words + word] = bits;
      active += __popcll(bits);
    };
    // Of no site there is a projection of 0, which makes no bond active.
    const auto project = [&](int32_t (&p)[kSitesOfLane], bool exists, int32_t first) {
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k)
        p[k] =
            exists && column.has(k) ? Kind::projection(mirror, spins[first + column.x + column.bit(k)]) : 0;
    };
    int32_t p[kSitesOfLane], q[kSitesOfLane], next[kSitesOfLane];
    project(p, column.begin < column.end, column.site_of(column.begin));
    for (int32_t k = 0; k < rows_of_column; ++k) {
      const int32_t y = column.begin + k, first = column.site_of(y), after = column.row_after(y);
      const bool exists = y < column.end;
      column.take_next(p, q, 0,
          [&](int32_t place) { return exists ? Kind::projection(mirror, spins[first + place]) : 0; });
      draw(y, kRowAxis, p, q);
      if (axes < 2) continue;
      project(next, exists && after >= 0, column.site_of(after));
      draw(y, kColumnAxis, p, next);
#pragma unroll
      for (int axis = kColumnAxis - 1; axis >= 0; --axis) {
        if (axis < kLatticeAxes - axes) continue;
        project(q, exists && column.has_next(axis), first + column.to_next(axis));
        draw(y, axis, p, q);
      }
#pragma unroll
      for (int l = 0; l < kSitesOfLane; ++l) p[l] = next[l];
    }
  });
  if (records.record != nullptr) records.add_block(replicas.replica(), kActive, active);
}

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    reflect_vectors(Replicas replicas, int32_t rows_of_column, const typename Kind::Spin* __restrict__ spins,
        const Bits64* __restrict__ reflected, typename Kind::Spin* __restrict__ new_spins) {
  const auto mirror = mirror_of_block<Kind>(replicas.draws());
  const int64_t sites = replicas.lattice.sites();
  spins = replicas.at_replica(spins, sites);
  new_spins = replicas.at_replica(new_spins, sites);
  reflected = replicas.at_replica(reflected, replicas.lattice.words());
  for_each_column(replicas, rows_of_column, [&](const ColumnOfWords& column) {
    for (int32_t y = column.begin; y < column.end; ++y) {
      const Bits64 bits = __ldg(reflected + column.word_of(y));
      const int32_t first = column.site_of(y) + column.x;
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k) {
        if (!column.has(k)) continue;
        const auto spin = spins[first + column.bit(k)];
        new_spins[first + column.bit(k)] = bits >> column.bit(k) & 1 ? Kind::reflected(mirror, spin) : spin;
      }
    }
  });
}

// What a thread has counted. Products of the four sites of a row fit into 32 bits.
template <class Kind> struct VectorCounts {
  using Vector = Cartesian<Kind::kComponents>;
  int64_t magnetisation[Kind::kComponents], along[kLatticeAxes], crossed[kLatticeAxes * Kind::kRotations],
      vortices;

  // Adds what pairs of spins along an axis tell; a missing spin is the vector 0.
  template <int n> void add_pairs(int axis, const Vector (&a)[n], const Vector (&b)[n]) {
    int32_t product = 0, cross[Kind::kRotations] = {};
#pragma unroll
    for (int k = 0; k < n; ++k) {
      product += product_of(a[k], b[k]);
#pragma unroll
      for (int r = 0; r < Kind::kRotations; ++r) cross[r] += cross_of(a[k], b[k], r);
    }
    along[axis] += product;
#pragma unroll
    for (int r = 0; r < Kind::kRotations; ++r) crossed[axis * Kind::kRotations + r] += cross[r];
  }
  void add_block(const auto& records, int64_t replica, int axes) const {
    int64_t products = 0;
    for (int c = 0; c < Kind::kComponents; ++c)
      records.add_block(replica, kMagnetisation + c, magnetisation[c]);
#pragma unroll
    for (int axis = 0; axis < kLatticeAxes; ++axis) {
      if (axis < kLatticeAxes - axes) continue;
      products += along[axis];
      records.add_block(replica, kAlong + axis, along[axis]);
#pragma unroll
      for (int r = 0; r < Kind::kRotations; ++r)
        records.add_block(replica, kCurrents + 3 * axis + r, crossed[axis * Kind::kRotations + r]);
    }
    records.add_block(replica, kSatisfied, products);
    if (Kind::kHasVortices) records.add_block(replica, kVortices, vortices);
  }
};

template <class Kind>
__global__ void __launch_bounds__(kSpinThreads, 6) count_vectors(Replicas replicas, int32_t rows_of_column,
    const typename Kind::Spin* __restrict__ spins, Records records) {
  using Spin = typename Kind::Spin;
  using Vector = Cartesian<Kind::kComponents>;
  const Lattice& lattice = replicas.lattice;
  const int axes = replicas.axes;
  const bool turns = Kind::kHasVortices && axes == 2;
  spins = replicas.at_replica(spins, lattice.sites());
  VectorCounts<Kind> counts{};
  for_each_column(replicas, rows_of_column, [&](const ColumnOfWords& column) {
    const auto take = [&](Vector(&vector)[kSitesOfLane], Spin(&of)[kSitesOfLane], bool exists,
                          int32_t first) {
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k) {
        const bool there = exists && column.has(k);
        of[k] = there ? spins[first + column.x + column.bit(k)] : Spin(0);
        vector[k] = there ? Kind::components(of[k]) : Vector{};
      }
    };
    const auto take_beside = [&](const Spin(&of)[kSitesOfLane], Spin(&beside)[kSitesOfLane], bool exists,
                                 int32_t first) {
      column.take_next(
          of, beside, Spin(0), [&](int32_t place) { return exists ? spins[first + place] : Spin(0); });
    };
    Vector own[kSitesOfLane], beside[kSitesOfLane], next[kSitesOfLane];
    Spin spin[kSitesOfLane], right[kSitesOfLane], below[kSitesOfLane], corner[kSitesOfLane];
    bool exists = column.begin < column.end;
    take(own, spin, exists, column.site_of(column.begin));
    if (turns) take_beside(spin, right, exists, column.site_of(column.begin));
    for (int32_t l = 0; l < rows_of_column; ++l) {
      const int32_t y = column.begin + l, first = column.site_of(y), after = column.row_after(y);
      exists = y < column.end;
#pragma unroll
      for (int c = 0; c < Kind::kComponents; ++c)
#pragma unroll
        for (int k = 0; k < kSitesOfLane; ++k)
          if (exists) counts.magnetisation[c] += measured_component(own[k].of[c]);
      column.take_next(own, beside, Vector{},
          [&](int32_t place) { return exists ? Kind::components(spins[first + place]) : Vector{}; });
      if (exists) counts.add_pairs(kRowAxis, own, beside);
      if (axes < 2) continue;
      const bool has_after = exists && after >= 0;
      take(next, below, has_after, column.site_of(after));
      if (has_after) counts.add_pairs(kColumnAxis, own, next);
      if (turns) {
        take_beside(below, corner, has_after, column.site_of(after));
#pragma unroll
        for (int k = 0; k < kSitesOfLane; ++k)
          if (has_after && column.has(k) && column.next_in_row(k) >= 0)
            counts.vortices += Kind::vorticity(spin[k], right[k], corner[k], below[k]);
      }
#pragma unroll
      for (int axis = kColumnAxis - 1; axis >= 0; --axis) {
        if (axis < kLatticeAxes - axes) continue;
        Spin unused[kSitesOfLane];
        take(beside, unused, exists && column.has_next(axis), first + column.to_next(axis));
        counts.add_pairs(axis, own, beside);
      }
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k) own[k] = next[k], spin[k] = below[k], right[k] = corner[k];
    }
  });
  counts.add_block(records, replicas.replica(), axes);
}

template <class Kind, class Index>
__global__ void __launch_bounds__(kSpinThreads) add_projections(Replicas replicas,
    const typename Kind::Spin* __restrict__ spins, const Index* __restrict__ label, int64_t* sums) {
  const auto mirror = mirror_of_block<Kind>(replicas.draws());
  const int64_t sites = replicas.lattice.sites();
  spins = replicas.at_replica(spins, sites);
  label = replicas.at_replica(label, sites);
  sums = replicas.at_replica(sums, sites);
  for_each_site_of_warp(replicas, [&](bool exists, int64_t site) {
    const Index root = exists ? label[site] : Index(-1);
    const int64_t p = exists ? Kind::projection(mirror, spins[site]) : 0;
    const Stretch stretch = stretch_of(root);
    const int64_t sum = over_stretch(p, stretch.length, plus<int64_t>);
    if (stretch.first && root >= 0) Concurrent::fetch_add(sums + root, sum);
  });
}

}
