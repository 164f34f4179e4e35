// Many updates of spins that are unit vectors in one launch, of lattices so small that launches would take
// most of the time. `parts` blocks share a replica, each with a chunk of consecutive sites, a thread a site,
// and meet after each of: labelling the chunk's clusters in shared memory and publishing each site's root;
// joining clusters by bonds that leave a chunk; reflecting sites by the coins of roots. Chains of parents
// take the time: so runs, by votes of a warp, are joined without a union, and of bonds between two runs the
// first is followed. Sizes and projections are summed at roots of chunks, then of all, and recorded with the
// next update or at the end. Cost: three microseconds for barriers, as many for dependent loads; some 250
// instructions a site and two axes. Source: ours.
#pragma once

#include "cuda/core/barrier.cuh"
#include "cuda/models/vector_spins.cuh"

namespace conncomp {

constexpr int kSweepThreads = 512, kMostUpdates = kSweepThreads;

// At most kMostUpdates of them. Layout: vector_spins.py.
struct VectorUpdates : Updates {
  int32_t chunk, negative;  // sites of a block; -1 where the coupling is
  bool one, clusters;       // whether one cluster is reflected; whether all are measured
};

// A chunk in shared memory. Bonds have a bit for each axis, and kJoined where a site and the next are of one
// run.
struct ChunkMemory {
  static constexpr int kJoined = 1 << kLatticeAxes, kAlongRow = 1 << kRowAxis;
  int64_t* sum;
  int32_t* next[kLatticeAxes];  // the next site along an axis of the model; the site itself if there is none
  int32_t *parent, *size;
  Bits32* draw;  // which Philox block has the numbers of a site's bonds, times 4, and which of its words
  uint8_t *bonds, *has;

  ChunkMemory(int64_t* memory, int32_t chunk, int axes, bool clusters) : sum(memory) {
    int32_t* free = reinterpret_cast<int32_t*>(memory + (clusters ? chunk : 0));
    const auto take = [&] { return (free += chunk) - chunk; };
#pragma unroll
    for (int k = 0; k < kLatticeAxes; ++k) next[k] = k < kLatticeAxes - axes ? nullptr : take();
    parent = take();
    draw = reinterpret_cast<Bits32*>(take());
    size = clusters ? take() : nullptr;
    bonds = reinterpret_cast<uint8_t*>(free);
    has = bonds + chunk;
  }
  // Finds where a site of the replica lies, the one of a place in the chunk.
  void place(const Lattice& lattice, int axes, int32_t site, int32_t local) const {
    Bits32 rest = Bits32(site);
    int32_t stride = 1, exist = 0, beside = 0;
#pragma unroll
    for (int k = kLatticeAxes - 1; k >= 0; --k) {
      if (k < kLatticeAxes - axes) continue;
      const int32_t length = int32_t(lattice.length[k]);
      const Bits32 lines = rest / Bits32(length);
      const int32_t at = int32_t(rest - lines * Bits32(length));
      const bool inside = at + 1 < length;
      exist |= int(inside || lattice.closes(k)) << k;
      next[k][local] = inside ? site + stride : lattice.closes(k) ? site - at * stride : site;
      if (k == kRowAxis) {
        const Bits32 word = lines * Bits32(lattice.columns()) + Bits32(at) / kWordSites;
        beside = inside && lane() + 1 < kWarp;
        draw[local] = (kBondBlocks * word + at % kBondBlocks) * 4 + at % kWordSites / kBondBlocks;
      }
      rest = lines;
      stride *= length;
    }
    has[local] = uint8_t(exist | beside << kLatticeAxes);
  }
  // The active bonds of a site but for what makes runs.
  int to_follow(int32_t site) const {
    const int all = bonds[site] & (kJoined - 1);
    return bonds[site] & kJoined ? all & ~kAlongRow : all;
  }
};

// The number of 32 bits of a bond along an axis, given ``ChunkMemory.draw``.
inline Bits32 drawn_number(const Draws& draws, int axis, Bits32 draw) {
  const PhiloxBlock block = draws(kVectorBond, Bits64(draw / 4), axis);
  const Bits32 low = draw & 1 ? block.word[1] : block.word[0],
               high = draw & 1 ? block.word[3] : block.word[2];
  return draw & 2 ? high : low;
}

// Sums over a block. Each warp adds its own to `totals`, which are 0.
struct TotalsOfBlock {
  int64_t* totals;
  Records records;

  void add_block(int64_t, int field, int64_t count) const {
    count = warp_sum(count);
    if (lane() == 0 && count != 0) InBlock::fetch_add(totals + field, count);
  }
  void raise(int64_t replica, int field, int64_t number) const { records.raise(replica, field, number); }
  // Adds them to a record when all threads of the block have met since, and clears them.
  void add_to_record(int64_t replica) const {
    for (int field = int(threadIdx.x); field < kVectorFields; field += int(blockDim.x)) {
      records.add(replica, field, totals[field]);
      totals[field] = 0;
    }
  }
};

// The forests of all replicas and, if clusters are measured, their sizes and sums, which are 0.
struct SweepMemory {
  int32_t *parent, *size;
  int64_t* sum;
};

template <class Kind>
__global__ void __launch_bounds__(kSweepThreads, 1)
    sweep_vectors(Replicas replicas, VectorUpdates updates, const BondStrength* strengths,
        typename Kind::Spin* spins, SweepMemory memory, Records records, uint32_t* arrived) {
  using Vector = Cartesian<Kind::kComponents>;
  using Spin = typename Kind::Spin;
  CONNCOMP_DYNAMIC_SHARED(int64_t, shared);
  __shared__ typename Kind::Mirror mirrors[kMostUpdates];
  __shared__ int64_t totals[kVectorFields];
  const Lattice& lattice = replicas.lattice;
  const int axes = replicas.axes;
  const int32_t sites = int32_t(lattice.sites()), part = int32_t(blockIdx.x) % replicas.parts,
                begin = part * updates.chunk,
                end = begin + updates.chunk < sites ? begin + updates.chunk : sites;
  const ChunkMemory chunk(shared, updates.chunk, axes, updates.clusters);
  const BondStrength strength = strengths[replicas.replica()];
  spins = replicas.at_replica(spins, sites);
  int32_t* const forest = replicas.at_replica(memory.parent, sites);
  int32_t* const size = updates.clusters ? replicas.at_replica(memory.size, sites) : nullptr;
  int64_t* const sum = updates.clusters ? replicas.at_replica(memory.sum, sites) : nullptr;
  Barrier barrier{arrived + kCounterStride * replicas.replica(), uint32_t(replicas.parts), 0};
  Draws draws = replicas.draws();
  const Bits32 first_step = draws.step;
  if (int(threadIdx.x) < updates.count) {
    draws.step = first_step + threadIdx.x;
    mirrors[threadIdx.x] = Kind::mirror(draws(kMirror, 0));
  }
  if (int(threadIdx.x) < kVectorFields) totals[threadIdx.x] = 0;
  __syncthreads();

  const auto for_each_site = [&](auto&& body) {
    for (int32_t site = begin + int32_t(threadIdx.x); site < end; site += int32_t(blockDim.x)) body(site);
  };
  // The same for a warp, whose lanes call together: body(site, whether there is one).
  const auto for_each_of_warp = [&](auto&& body) {
    for (int32_t site = begin + int32_t(threadIdx.x); site - lane() < end; site += int32_t(blockDim.x))
      body(site, site < end);
  };
  const auto measure_clusters = [&](int32_t update) {
    SizeSums sizes{};
    int64_t limbs[kProjectedLimbs] = {};
    for_each_site([&](int32_t site) {
      const int32_t count = size[site];
      if (count == 0) return;
      sizes.add(Bits64(count));
      add_square(sum[site], limbs);
      size[site] = 0, sum[site] = 0;
    });
    const TotalsOfBlock sums{totals, updates.records_of(records, update)};
    sizes.add_block(sums, replicas.replica());
    for (int k = 0; k < kProjectedLimbs; ++k) sums.add_block(replicas.replica(), kProjected + k, limbs[k]);
    __syncthreads();
    sums.add_to_record(replicas.replica());
    __syncthreads();
  };
  const auto measures = [&](int32_t update) {
    return update >= 0 && records.record != nullptr && updates.measures(update);
  };

  for_each_site([&](int32_t site) { chunk.place(lattice, axes, site, site - begin); });
  __syncthreads();
  for (int32_t update = 0; update < updates.count; ++update) {
    draws.step = first_step + Bits32(update);
    const auto mirror = mirrors[update];
    const bool measured = measures(update), of_clusters = measured && updates.clusters;
    if (updates.clusters && measures(update - 1)) measure_clusters(update - 1);
    VectorCounts<Kind> counts{};
    int64_t active = 0;
    for_each_of_warp([&](int32_t site, bool exists) {
      int bonds = 0;
      bool joined = false;
      if (exists) {
        const int32_t local = site - begin;
        const int has = chunk.has[local];
        // All that is loaded comes at once.
        Spin beside[kLatticeAxes];
        const Spin spin = spins[site];
#pragma unroll
        for (int axis = 0; axis < kLatticeAxes; ++axis)
          beside[axis] = axis < kLatticeAxes - axes ? spin : spins[chunk.next[axis][local]];
        const int32_t p = Kind::projection(mirror, spin);
        const Vector own[1] = {measured ? Kind::components(spin) : Vector{}};
#pragma unroll
        for (int axis = 0; axis < kLatticeAxes; ++axis) {
          if (axis < kLatticeAxes - axes || !(has >> axis & 1)) continue;
          const int32_t q = Kind::projection(mirror, beside[axis]);
          const Bits32 drawn = drawn_number(draws, axis, chunk.draw[local]);
          bonds |= int(is_active(p, q, strength, updates.negative, drawn)) << axis;
          if (!measured) continue;
          const Vector other[1] = {Kind::components(beside[axis])};
          counts.add_pairs(axis, own, other);
        }
        if (measured) {
          for (int c = 0; c < Kind::kComponents; ++c)
            counts.magnetisation[c] += measured_component(own[0].of[c]);
          constexpr int kBoth = ChunkMemory::kAlongRow | 1 << kColumnAxis;
          if (Kind::kHasVortices && axes == 2 && (has & kBoth) == kBoth) {
            const int32_t right = chunk.next[kRowAxis][local], down = chunk.next[kColumnAxis][local] - site;
            counts.vortices +=
                Kind::vorticity(spin, beside[kRowAxis], spins[right + down], beside[kColumnAxis]);
          }
        }
        active += __popc(bonds);
        joined = has >> kLatticeAxes & 1 && bonds & ChunkMemory::kAlongRow;
      }
      const unsigned starts = ~(__ballot_sync(kAllLanes, joined) << 1),
                     before = kAllLanes >> (kWarp - 1 - lane());
      if (!exists) return;
      const int32_t local = site - begin;
      chunk.bonds[local] = uint8_t(bonds | (joined ? ChunkMemory::kJoined : 0));
      chunk.parent[local] = local - lane() + (kWarp - 1 - __clz(int(starts & before)));
      if (of_clusters) chunk.size[local] = 0, chunk.sum[local] = 0;
    });
    const TotalsOfBlock sums{totals, updates.records_of(records, update)};
    if (measured) {
      counts.add_block(sums, replicas.replica(), axes);
      if (of_clusters) sums.add_block(replicas.replica(), kActive, active);
    }
    __syncthreads();
    if (measured) sums.add_to_record(replicas.replica());
    for_each_site([&](int32_t site) {
      const int32_t local = site - begin;
      const int bonds = chunk.to_follow(local), left = lane() == 0 ? 0 : chunk.bonds[local - 1];
      if (bonds == 0) return;
#pragma unroll
      for (int axis = 0; axis < kLatticeAxes; ++axis) {
        if (!(bonds >> axis & 1)) continue;
        const int32_t next = chunk.next[axis][local] - begin;
        if (next < 0 || next >= end - begin) continue;
        // The site before has followed such a bond if both it and the next sites are of one run.
        const bool both = axis != kRowAxis && left & ChunkMemory::kJoined && left >> axis & 1;
        if (both && next > 0 && chunk.bonds[next - 1] & ChunkMemory::kAlongRow) continue;
        unite<InBlock>(chunk.parent, local, next);
      }
    });
    __syncthreads();
    for_each_site([&](int32_t site) {
      const int32_t root = find<InBlock>(chunk.parent, site - begin);
      forest[site] = begin + root;
      if (!of_clusters) return;
      InBlock::fetch_add(chunk.size + root, 1);
      InBlock::fetch_add(chunk.sum + root, int64_t(Kind::projection(mirror, spins[site])));
    });
    barrier.wait();
    for_each_of_warp([&](int32_t site, bool exists) {
      const int bonds = exists ? chunk.to_follow(site - begin) : 0;
#pragma unroll
      for (int axis = 0; axis < kLatticeAxes; ++axis) {
        if (axis < kLatticeAxes - axes) continue;
        const int32_t next = bonds >> axis & 1 ? chunk.next[axis][site - begin] : begin;
        const bool leaves = next < begin || next >= end;
        const int32_t a = leaves ? Concurrent::load(forest + site) : -1,
                      b = leaves ? Concurrent::load(forest + next) : -1,
                      left_a = __shfl_up_sync(kAllLanes, a, 1), left_b = __shfl_up_sync(kAllLanes, b, 1);
        // What the lane before unites need not be united again.
        if (leaves && (lane() == 0 || left_a != a || left_b != b)) unite<Concurrent>(forest, a, b);
      }
    });
    barrier.wait();
    int32_t chosen = -1;
    if (updates.one) {
      const Bits64 drawn = half(draws(kChosenSite, 0), 0);
      chosen = find<Concurrent>(forest, int32_t(below(drawn, Bits64(sites))));
    }
    for_each_site([&](int32_t site) {
      const Spin spin = spins[site];
      const int32_t root = find<Concurrent>(forest, site);
      if (of_clusters && chunk.size[site - begin] != 0) {
        Concurrent::fetch_add(size + root, chunk.size[site - begin]);
        Concurrent::fetch_add(sum + root, chunk.sum[site - begin]);
      }
      if (updates.one ? root == chosen : draw_any_state(draws, root, 2) != 0)
        spins[site] = Kind::reflected(mirror, spin);
    });
    barrier.wait();
  }
  if (updates.clusters && measures(updates.count - 1)) measure_clusters(updates.count - 1);
}

}
