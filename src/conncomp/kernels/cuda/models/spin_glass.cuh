// Sweeps of spin glasses (core/spin_glass.h): a launch a colour, a thread for 64 replicas of a site, whose
// neighbours it computes. Cost: some 400 instructions for 64 spins, and 8 bytes for each neighbour and bond,
// most of them cached.
#pragma once

#include "core/spin_glass.h"
#include "cuda/core/warp.cuh"

namespace conncomp {

constexpr int kGlassThreads = 128;

// The words of a group, and signs and presence of the bonds of its replicas.
struct GlassWords {
  const Bits64 *spins, *negatives, *bonds;
  int64_t sites;

  Bits64 spin(int32_t site) const { return spins[site]; }
  Bits64 negative(int axis, int32_t site) const { return __ldg(negatives + axis * sites + site); }
  Bits64 bond(int axis, int32_t site) const { return __ldg(bonds + axis * sites + site); }
};

// Of a launch. Layout: spin_glass.py.
struct GlassLaunch {
  GlassReplicas replicas;
  int32_t axes, parts;  // blocks of a group
  Bits32 step;
  int32_t colour;

  int64_t group() const { return blockIdx.x / parts; }
  GlassWords words(const Bits64* spins, const Bits64* negatives, const Bits64* bonds) const {
    const int64_t sites = replicas.lattice.sites(), first = group() * axes * sites;
    return {spins + group() * sites, negatives + first, bonds + first, sites};
  }
  void for_each(int32_t count, auto&& body) const {
    const int32_t threads = int32_t(blockDim.x), part = int32_t(blockIdx.x % parts);
    for (int64_t k = int64_t(part) * threads + int32_t(threadIdx.x); k < count; k += int64_t(parts) * threads)
      body(int32_t(k));
  }
  // Calls body(place) for the sites of the colour.
  template <int axes> void for_each_site(auto&& body) const {
    const Lattice& lattice = replicas.lattice;
    const int colours = glass_colours(lattice);
    const int32_t most = most_of_colour(lattice);
    for_each(int32_t(lattice.rows()) * most, [&](int32_t k) {
      int32_t row[kRowAxis];
      const Bits32 number = Bits32(k) / Bits32(most);
      place_row(lattice, number, row);
      const ColouredSites sites = sites_of_colour(lattice, colours, colour, row);
      const int32_t x = sites.begin + 2 * (k - int32_t(number) * most);
      if (x < sites.end) body(glass_site<axes>(lattice, row, x));
    });
  }
};

template <int = 0>
__global__ void __launch_bounds__(kGlassThreads) start_glass(GlassLaunch launch, Bits64* __restrict__ words) {
  const Draws draws = launch.replicas.draws(launch.group(), 0);
  const Bits64 bits = launch.replicas.bits(launch.group());
  const int32_t sites = int32_t(launch.replicas.lattice.sites());
  words += launch.group() * sites;
  launch.for_each(sites, [&](int32_t site) { words[site] = half(draws(kStart, Bits64(site)), 0) & bits; });
}

template <int axes, bool whole, int rule>
__global__ void __launch_bounds__(kGlassThreads)
    sweep_glass_bits(GlassLaunch launch, const Bits64* __restrict__ negatives,
        const Bits64* __restrict__ bonds, const Bits64* __restrict__ table, Bits64* words) {
  constexpr int kKinds = GlassUpdate<axes, whole, Bits64>::kKinds;
  __shared__ Bits64 digits_of_group[kGlassDigitCount * kKinds];
  Bits64* const digits = digits_of_group;
  for (int k = int(threadIdx.x); k < kGlassDigitCount * kKinds; k += int(blockDim.x))
    digits[k] = table[launch.group() * kGlassDigitCount * kKinds + k];
  __syncthreads();
  const Draws draws = launch.replicas.draws(launch.group(), launch.step);
  const Bits64 bits = launch.replicas.bits(launch.group());
  const GlassWords at = launch.words(words, negatives, bonds);
  Bits64* const spins = words + launch.group() * at.sites;
  launch.for_each_site<axes>([&](const auto& place) {
    const GlassUpdate<axes, whole, Bits64> update(place, at, GlassRule(rule));
    spins[place.site] = update.spins(decide(draws, place.site, 0, update.chances, digits, {0, bits})) & bits;
  });
}

template <int axes>
__global__ void __launch_bounds__(kGlassThreads) sweep_glass_numbers(GlassLaunch launch,
    const int32_t* __restrict__ couplings, const int32_t* __restrict__ fields,
    const GlassTemperature* __restrict__ temperatures, const Bits32* __restrict__ logarithm, Bits64* words) {
  __shared__ Bits32 table_of_block[2 * kLogarithmPlaces];
  Bits32* const table = table_of_block;
  for (int k = int(threadIdx.x); k < 2 * kLogarithmPlaces; k += int(blockDim.x)) table[k] = logarithm[k];
  __syncthreads();
  const Draws draws = launch.replicas.draws(launch.group(), launch.step);
  const GlassWords at = launch.words(words, nullptr, nullptr);
  Bits64* const spins = words + launch.group() * at.sites;
  launch.for_each_site<axes>([&](const auto& place) {
    spins[place.site] = spins_in_fields(launch.replicas, launch.group(), place, at, {couplings, fields},
        {table}, temperatures, [&](int block) { return draws(kGlassNumber, Bits64(place.site), 0, block); });
  });
}

// Writes where the two replicas of each pair differ: `parts` blocks a pair.
template <int = 0>
__global__ void __launch_bounds__(kGlassThreads) compare_glass_pairs(GlassLaunch launch,
    const int32_t* __restrict__ pairs, const Bits64* __restrict__ words, uint8_t* __restrict__ differ) {
  const int64_t sites = launch.replicas.lattice.sites(), pair = launch.group();
  const BitPlace a = launch.replicas.place(pairs[2 * pair]), b = launch.replicas.place(pairs[2 * pair + 1]);
  launch.for_each(int32_t(sites), [&](int32_t k) {
    differ[pair * sites + k] =
        uint8_t((words[a.group * sites + k] >> a.bit ^ words[b.group * sites + k] >> b.bit) & 1);
  });
}

// Flips the spins of each replica that has a pair, or -1, where the pair says so.
template <int = 0>
__global__ void __launch_bounds__(kGlassThreads) flip_glass_pairs(GlassLaunch launch,
    const int32_t* __restrict__ pair_of, const uint8_t* __restrict__ flips, Bits64* __restrict__ words) {
  const GlassReplicas& replicas = launch.replicas;
  const int64_t sites = replicas.lattice.sites(), group = launch.group();
  launch.for_each(int32_t(sites), [&](int32_t k) {
    Bits64 flipped = 0;
    for (int bit = replicas.begin(group); bit < replicas.end(group); ++bit) {
      const int64_t pair = pair_of[replicas.replica(group, bit)];
      if (pair >= 0) flipped |= Bits64(flips[pair * sites + k] != 0) << bit;
    }
    words[group * sites + k] ^= flipped;
  });
}

// Adds two counts a replica, of what body does for each site; a lane has the bits k and k + 32.
template <int axes> void count_glass(const GlassLaunch& launch, int64_t* record, auto&& body) {
  const Lattice& lattice = launch.replicas.lattice;
  const int32_t length = int32_t(lattice.length[kRowAxis]), warps = int32_t(blockDim.x) / kWarp;
  const int32_t first = int32_t(blockIdx.x % launch.parts) * warps + int32_t(threadIdx.x) / kWarp;
  int64_t counts[2][2] = {};
  for (int64_t site = first; site < lattice.sites(); site += int64_t(launch.parts) * warps) {
    int32_t row[kRowAxis];
    const Bits32 number = Bits32(site) / Bits32(length);
    place_row(lattice, number, row);
    const auto place = glass_site<axes>(lattice, row, int32_t(site) - int32_t(number) * length);
    for (int k = 0; k < 2; ++k) body(place, lane() + k * kWarp, counts[k]);
  }
  const GlassReplicas& replicas = launch.replicas;
  for (int k = 0; k < 2; ++k) {
    const int bit = lane() + k * kWarp;
    if (bit < replicas.begin(launch.group()) || bit >= replicas.end(launch.group())) continue;
    int64_t* const of_replica = record + 2 * replicas.replica(launch.group(), bit);
    for (int field = 0; field < 2; ++field) Concurrent::fetch_add(of_replica + field, counts[k][field]);
  }
}

template <int axes, bool whole>
__global__ void __launch_bounds__(kGlassThreads)
    count_glass_bits(GlassLaunch launch, const Bits64* __restrict__ negatives,
        const Bits64* __restrict__ bonds, const Bits64* __restrict__ words, int64_t* record) {
  const GlassWords at = launch.words(words, negatives, bonds);
  count_glass<axes>(launch, record, [&](const auto& place, int bit, int64_t (&counts)[2]) {
    const Bits64 spin = at.spin(place.site);
    for (int axis = 0; axis < axes; ++axis) {
      Bits64 unsatisfied = spin ^ at.spin(place.next[axis]) ^ at.negative(axis, place.site);
      if constexpr (!whole) unsatisfied &= at.bond(axis, place.site);
      counts[0] += int64_t(unsatisfied >> bit & 1);
    }
    counts[1] += int64_t(spin >> bit & 1);
  });
}

// Sums minus the energy, and counts spins that are up.
template <int axes>
__global__ void __launch_bounds__(kGlassThreads)
    count_glass_numbers(GlassLaunch launch, const int32_t* __restrict__ couplings,
        const int32_t* __restrict__ fields, const Bits64* __restrict__ words, int64_t* record) {
  const GlassWords at = launch.words(words, nullptr, nullptr);
  const GlassReplicas& replicas = launch.replicas;
  const int begin = replicas.begin(launch.group()), end = replicas.end(launch.group());
  count_glass<axes>(launch, record, [&](const auto& place, int bit, int64_t (&counts)[2]) {
    if (bit < begin || bit >= end) return;
    const int64_t replica = replicas.replica(launch.group(), bit);
    counts[0] += gain_of_site(replicas, replica, bit, place, at, {couplings, fields});
    counts[1] += int64_t(at.spin(place.site) >> bit & 1);
  });
}

}
