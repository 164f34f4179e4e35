// Spins that are unit vectors on a GPU: their first values, their bonds, their reflections, and what they
// tell. Clusters are those of Potts' updates of two states, whose new states say which sites are reflected.
//
// How: half a warp takes a word of 64 sites, a lane the sites l, 16 + l, 32 + l and 48 + l: one block of
// Philox has the random numbers of their bonds along an axis, and votes of the warp make the word. A
// projection is computed wherever it is asked for, as that takes less than to write and read it. Cost, by
// count: some 40 instructions a site, and 60 a bond. Source: ours, see core/vector_spins.h.
#pragma once

#include "core/vector_spins.h"
#include "cuda/models/spins.cuh"

namespace conncomp {

constexpr int kLanesOfWord = 16, kSitesOfLane = kWordSites / kLanesOfWord, kWordsOfWarp = 2;

// A word of half a warp: its sites in the array of a replica, and how many of them there are.
struct HalfWarpWord {
  WordPlace place;
  int64_t row, first;
  int sites;  // 0 beyond the last word

  __device__ HalfWarpWord(const Lattice& lattice, int64_t word)
      : place(place_of(lattice, word < lattice.words() ? word : 0)) {
    const int64_t length = lattice.length[kRowAxis], behind = length - place.column * kWordSites;
    row = ((place.at[0] * lattice.length[1] + place.at[1]) * lattice.length[2] + place.at[2]) * length;
    first = row + place.column * kWordSites;
    sites = word >= lattice.words() ? 0 : behind < kWordSites ? int(behind) : kWordSites;
  }
  __device__ static int half() { return lane() / kLanesOfWord; }
  __device__ static int bit(int k) { return k * kLanesOfWord + lane() % kLanesOfWord; }
  __device__ bool has(int k) const { return bit(k) < sites; }

  // How far the next sites along an axis before the last one are from these; 0 if there are none.
  __device__ int64_t to_next_row(const Lattice& lattice, int axis) const {
    int64_t stride = lattice.length[kRowAxis];
    for (int k = kRowAxis - 1; k > axis; --k) stride *= lattice.length[k];
    if (place.at[axis] + 1 < lattice.length[axis]) return stride;
    return lattice.closes(axis) ? -place.at[axis] * stride : 0;
  }
  // Whether there are such: an axis of length 1 that closes leads from a site to itself.
  __device__ bool has_next_row(const Lattice& lattice, int axis) const {
    return sites != 0 && (place.at[axis] + 1 < lattice.length[axis] || lattice.closes(axis));
  }
  // The next site of the row after one of this word; -1 if there is none.
  __device__ int64_t next_in_row(const Lattice& lattice, int k) const {
    const int64_t x = place.column * kWordSites + bit(k) + 1;
    if (!has(k)) return -1;
    return x < lattice.length[kRowAxis] ? row + x : lattice.closes(kRowAxis) ? row : -1;
  }
};

// Calls body(word) for the words of this thread's half of a warp; all lanes of a warp call together.
template <class Body>
__device__ inline void for_each_half_warp_word(const Replicas& replicas, Body&& body) {
  const int64_t warps = blockDim.x / kWarp, part = blockIdx.x % replicas.parts,
                words = replicas.lattice.words();
  for (int64_t pair = part * warps + threadIdx.x / kWarp; pair * kWordsOfWarp < words;
       pair += replicas.parts * warps)
    body(HalfWarpWord(replicas.lattice, pair * kWordsOfWarp + HalfWarpWord::half()));
}

// The mirror of an update, which one thread of a block draws; all threads call.
template <class Kind>
__device__ inline typename Kind::Mirror mirror_of_block(const Draws& draws) {
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

// Draws the active bonds of all axes, and counts them if there is a record.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    draw_vector_bonds(Replicas replicas, const typename Kind::Spin* __restrict__ spins,
                      const BondStrength* __restrict__ strengths, int32_t negative,
                      Bits64* __restrict__ bonds, Records records) {
  const Lattice& lattice = replicas.lattice;
  const Draws draws = replicas.draws();
  const BondStrength strength = strengths[replicas.replica()];
  const auto mirror = mirror_of_block<Kind>(draws);
  const int64_t words = lattice.words();
  spins = replicas.at_replica(spins, lattice.sites());
  bonds = replicas.at_replica(bonds, words * replicas.axes);
  int64_t active = 0;
  for_each_half_warp_word(replicas, [&](const HalfWarpWord& word) {
    int32_t p[kSitesOfLane], q[kSitesOfLane];
    // Of no bond there is a projection of 0, which makes none active.
    const auto project = [&](bool exists, int64_t site) {
      return exists ? Kind::projection(mirror, spins[site]) : 0;
    };
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) p[k] = project(word.has(k), word.first + word.bit(k));
    const auto draw = [&](int axis) {
      const PhiloxBlock drawn = draws(kVectorBond, Bits64(kBondBlocks * word.place.word + word.bit(0)), axis);
      Bits64 bits = 0;
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k) {
        const bool is = is_active(p[k], q[k], strength, negative, drawn.word[k]);
        const Bits32 votes = __ballot_sync(kAllLanes, is) >> (kLanesOfWord * word.half());
        bits |= Bits64(votes & ((1u << kLanesOfWord) - 1)) << k * kLanesOfWord;
      }
      if (word.bit(0) != 0 || word.sites == 0) return;
      bonds[(axis - (kLatticeAxes - replicas.axes)) * words + word.place.word] = bits;
      active += __popcll(bits);
    };
    // Along the row the next projection is that of the next lane, but for the last site of the word and of
    // the row.
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) {
      const int next = lane() / kLanesOfWord * kLanesOfWord + (lane() + 1) % kLanesOfWord;
      q[k] = __shfl_sync(kAllLanes, p[k], next);
    }
    const bool last_lane = word.bit(0) == kLanesOfWord - 1;
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) {
      if (last_lane && k + 1 < kSitesOfLane) q[k] = q[k + 1];
      if (word.bit(k) + 1 >= word.sites) {
        const int64_t next = word.next_in_row(lattice, k);
        q[k] = project(next >= 0, next);
      }
    }
    draw(kRowAxis);
#pragma unroll
    for (int axis = 0; axis < kRowAxis; ++axis) {
      if (axis < kLatticeAxes - replicas.axes) continue;
      const bool exists = word.has_next_row(lattice, axis);
      const int64_t next = word.first + word.to_next_row(lattice, axis);
#pragma unroll
      for (int k = 0; k < kSitesOfLane; ++k) q[k] = project(exists && word.has(k), next + word.bit(k));
      draw(axis);
    }
  });
  if (records.record != nullptr) records.add_block(replicas.replica(), kActive, active);
}

// Writes the new spins: those of some sites are reflected.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    reflect_vectors(Replicas replicas, const typename Kind::Spin* __restrict__ spins,
                    const Bits64* __restrict__ reflected, typename Kind::Spin* __restrict__ new_spins) {
  const auto mirror = mirror_of_block<Kind>(replicas.draws());
  const int64_t sites = replicas.lattice.sites();
  spins = replicas.at_replica(spins, sites);
  new_spins = replicas.at_replica(new_spins, sites);
  reflected = replicas.at_replica(reflected, replicas.lattice.words());
  for_each_half_warp_word(replicas, [&](const HalfWarpWord& word) {
    const Bits64 bits = word.sites == 0 ? 0 : __ldg(reflected + word.place.word);
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) {
      if (!word.has(k)) continue;
      const int64_t site = word.first + word.bit(k);
      const auto spin = spins[site];
      new_spins[site] = bits >> word.bit(k) & 1 ? Kind::reflected(mirror, spin) : spin;
    }
  });
}

// Adds what the spins tell to the records.
template <class Kind>
__global__ void __launch_bounds__(kSpinThreads)
    count_vectors(Replicas replicas, const typename Kind::Spin* __restrict__ spins, Records records) {
  using Spin = typename Kind::Spin;
  const Lattice& lattice = replicas.lattice;
  const int64_t replica = replicas.replica();
  spins = replicas.at_replica(spins, lattice.sites());
  int64_t magnetisation[Kind::kComponents] = {}, along[kLatticeAxes] = {},
          crossed[kLatticeAxes * Kind::kRotations] = {}, vortices = 0;
  for_each_half_warp_word(replicas, [&](const HalfWarpWord& word) {
#pragma unroll
    for (int k = 0; k < kSitesOfLane; ++k) {
      if (!word.has(k)) continue;
      const int64_t site = word.first + word.bit(k), beside = word.next_in_row(lattice, k);
      const Spin spin = spins[site];
#pragma unroll
      for (int c = 0; c < Kind::kComponents; ++c) magnetisation[c] += Kind::component(spin, c);
#pragma unroll
      for (int axis = 0; axis < kLatticeAxes; ++axis) {
        if (axis < kLatticeAxes - replicas.axes) continue;
        const bool in_row = axis == kRowAxis;
        if (in_row ? beside < 0 : !word.has_next_row(lattice, axis)) continue;
        const int64_t step = in_row ? beside - site : word.to_next_row(lattice, axis);
        const Spin next = spins[site + step];
        along[axis] += Kind::product(spin, next);
#pragma unroll
        for (int r = 0; r < Kind::kRotations; ++r)
          crossed[axis * Kind::kRotations + r] += Kind::cross(spin, next, r);
        if (Kind::kHasVortices && replicas.axes == 2 && !in_row && beside >= 0)
          vortices += Kind::vorticity(spin, spins[beside], spins[beside + step], next);
      }
    }
  });
  int64_t products = 0;
  for (int c = 0; c < Kind::kComponents; ++c)
    records.add_block(replica, kMagnetisation + c, magnetisation[c]);
#pragma unroll
  for (int axis = 0; axis < kLatticeAxes; ++axis) {
    if (axis < kLatticeAxes - replicas.axes) continue;
    products += along[axis];
    records.add_block(replica, kAlong + axis, along[axis]);
#pragma unroll
    for (int r = 0; r < Kind::kRotations; ++r)
      records.add_block(replica, kCurrents + 3 * axis + r, crossed[axis * Kind::kRotations + r]);
  }
  records.add_block(replica, kSatisfied, products);
  if (Kind::kHasVortices) records.add_block(replica, kVortices, vortices);
}

}  // namespace conncomp
