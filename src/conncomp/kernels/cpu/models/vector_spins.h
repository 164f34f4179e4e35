// The XY and the Heisenberg model by clusters of Wolff's embedding (core/vector_spins.h). Projections on the
// mirror make the active bonds of a word wherever the forests of potts/ ask for them; a last pass reflects. A
// single cluster grows from its site. Source: ours; U. Wolff, Phys. Rev. Lett. 62, 361 (1989).
#pragma once

#include "core/vector_spins.h"
#include "cpu/models/potts/flood.h"
#include "cpu/models/potts/swendsen_wang.h"

namespace conncomp {

struct VectorMemory {
  std::optional<ForestMemory<int32_t>> forest;
  std::optional<Buffer<Bits64>> reflected;  // by word: which sites are
  std::optional<CellMemory> cells;
  std::optional<Buffer<int64_t>> projected;  // by run: of the cluster whose root it is
};

// What is measured of clusters: sizes (core/spins.h), and sums of squares of projections.
struct VectorClusters {
  int64_t *sizes, *projected;
};

template <class Spin> struct VectorUpdate {
  const Spin* spins;
  Bits32 step;
  const BondStrength* strengths;
};

template <class Kind> class VectorEngine {
 public:
  using Spin = typename Kind::Spin;
  using Mirror = typename Kind::Mirror;
  using Update = VectorUpdate<Spin>;

  VectorEngine(const LatticeReplicas& replicas, int axes, bool negative)
      : replicas_(replicas),
        lattice_(replicas.lattice),
        first_axis_(kLatticeAxes - axes),
        negative_(negative ? -1 : 0) {}

  VectorMemory take_memory() { return std::exchange(memory_, VectorMemory()); }
  void give_back(VectorMemory&& memory) { memory_ = std::move(memory); }

  void start(Spin* spins) const {
    each_row([&](int64_t replica, const RowPlace& place) {
      const Draws draws = replicas_.draws(replica, 0);
      const int64_t length = lattice_.length[kRowAxis], first = place.row * length;
      Spin* const row = of_replica(spins, replica) + first;
      for_each_in(0, length, [=](int64_t x) {
        poll(kSlow);
        row[x] = Kind::start(draws(kStart, Bits64(first + x)));
      });
    });
  }

  void count(const Spin* spins, int64_t* record) const {
    Strips(replicas_).for_each([&](const Strip& strip) {
      int64_t sums[kVectorFields] = {};
      Vectors row, next;
      for (RowPlace place(lattice_, strip.begin); place.row < strip.end; place.advance(lattice_))
        count_row(of_replica(spins, strip.replica), place, row, next, sums);
      for (int axis = 0; axis < kLatticeAxes; ++axis) sums[kSatisfied] += sums[kAlong + axis];
      for (int field = 0; field < kVectorFields; ++field)
        if (sums[field] != 0)
          Concurrent::fetch_add(record + strip.replica * kVectorFields + field, sums[field]);
    });
  }

  void bonds(const Update& update, Bits64* out) const {
    const Source source(*this, update);
    const int64_t words = lattice_.words(), columns = lattice_.columns();
    each_row([&](int64_t replica, const RowPlace& place) {
      Bits64* const planes = out + replica * words * (kLatticeAxes - first_axis_);
      for (int axis = first_axis_; axis < kLatticeAxes; ++axis)
        source(replica, place.row * columns, columns, axis,
            planes + (axis - first_axis_) * words + place.row * columns);
    });
  }

  void reflect_clusters(
      VectorMemory& memory, const Update& update, Spin* new_spins, const VectorClusters& records) const {
    if (!memory.forest) memory.forest.emplace(replicas_);
    if (!memory.reflected) memory.reflected.emplace(replicas_.count * lattice_.words());
    const Source source(*this, update);
    const BondSource given(source);
    SwendsenWang<int32_t> clusters(
        replicas_, *memory.forest, nullptr, update.step, nullptr, records.sizes, false, &given);
    clusters.label();
    if (records.sizes) {
      clusters.measure();
      measure_projections(memory, update, source, records.projected);
    }
    clusters.flip(memory.reflected->data());
    reflect(update, source, memory.reflected->data(), new_spins);
  }

  void reflect_one(VectorMemory& memory, const Update& update, Spin* new_spins) const {
    const Source source(*this, update);
    const BondSource given(source);
    for_each_index(
        replicas_.count * lattice_.sites(), [&](int64_t site) { new_spins[site] = update.spins[site]; });
    CellMemory::for_each_replica(memory.cells, Cells::memory(lattice_), replicas_.count,
        [&](int64_t replica, Bits64 number, Bits64* words_of_cells) {
          Cells cells(lattice_, given, replica, number, words_of_cells);
          Flood flood(lattice_, cells);
          ChoiceTiles whole;
          std::copy_n(lattice_.length, kLatticeAxes, whole.length);
          const int64_t chosen = whole.chosen_site(lattice_, replicas_.draws(replica, update.step), 0);
          flood.grow(SitePlace(lattice_, chosen));
          Spin* const spins = of_replica(new_spins, replica);
          const Mirror mirror = source.mirror(replica);
          for (const Members& some : flood.members()) {
            Spin* const first = spins + lattice_.first_site(some.word);
            poll(kWordSites);
            for_each_bit(some.sites, [&](int p) { first[p] = Kind::reflected(mirror, first[p]); });
          }
        });
  }

 private:
  static constexpr int kSlow = 16;  // times that a site takes longer than in most loops that poll

  template <class S> S* of_replica(S* spins, int64_t replica) const {
    return spins + replica * lattice_.sites();
  }
  void each_row(auto&& body) const {
    Strips(replicas_).for_each([&](const Strip& strip) {
      for (RowPlace place(lattice_, strip.begin); place.row < strip.end; place.advance(lattice_)) {
        poll(lattice_.length[kRowAxis]);
        body(strip.replica, place);
      }
    });
  }
  int64_t row_after(const RowPlace& place, int axis) const {
    if (place.at[axis] + 1 < lattice_.length[axis]) return place.row + row_stride(lattice_, axis);
    return row_around(lattice_, place, axis);
  }

  class Source {
   public:
    Source(const VectorEngine& engine, const Update& update) : engine_(engine), update_(update) {
      for (int64_t replica = 0; replica < engine.replicas_.count; ++replica)
        mirrors_.push_back(Kind::mirror(engine.replicas_.draws(replica, update.step)(kMirror, 0)));
    }
    const Mirror& mirror(int64_t replica) const { return mirrors_[replica]; }

    void operator()(int64_t replica, int64_t word, int64_t count, int axis, Bits64* bonds) const {
      const Lattice& lattice = engine_.lattice_;
      const int64_t columns = lattice.columns(), length = lattice.length[kRowAxis];
      const RowPlace place(lattice, word / columns);
      const Spin* const spins = engine_.of_replica(update_.spins, replica);
      const Spin *const row = spins + place.row * length, *next = row;
      if (axis != kRowAxis) {
        const int64_t after = engine_.row_after(place, axis);
        if (after < 0) return void(std::fill_n(bonds, count, Bits64(0)));
        next = spins + after * length;
      }
      const Draws draws = engine_.replicas_.draws(replica, update_.step);
      for (int64_t k = 0; k < count; ++k, ++word) {
        const int64_t x = word % columns * kWordSites;
        const int sites = int(std::min<int64_t>(length - x, kWordSites));
        int32_t p[kWordSites] = {}, q[kWordSites] = {};
        project(replica, row + x, sites, p);
        if (axis != kRowAxis) {
          project(replica, next + x, sites, q);
        } else {
          std::copy_n(p + 1, sites - 1, q);
          // No bond has a projection of 0, which makes none active.
          const int64_t last = x + sites < length ? x + sites : lattice.closes(kRowAxis) ? 0 : -1;
          q[sites - 1] = last < 0 ? 0 : Kind::projection(mirrors_[replica], row[last]);
        }
        bonds[k] = active(draws, word, axis, update_.strengths[replica], p, q);
      }
    }

   private:
    void project(int64_t replica, const Spin* spins, int count, int32_t* p) const {
      const Mirror mirror = mirrors_[replica];
      for (int i = 0; i < count; ++i) p[i] = Kind::projection(mirror, spins[i]);
    }
    Bits64 active(const Draws& draws, int64_t word, int axis, const BondStrength& strength, const int32_t* p,
        const int32_t* q) const {
      Bits64 index[kBondBlocks], first[kBondBlocks], last[kBondBlocks];
      Bits32 drawn[kWordSites];
      for (int k = 0; k < kBondBlocks; ++k) index[k] = Bits64(kBondBlocks * word + k);
      draw_all(draws, Purpose(kVectorBond | Bits32(axis) << 8), index, kBondBlocks, first, last);
      for (int k = 0; k < kBondBlocks; ++k) {
        drawn[k] = Bits32(first[k]);
        drawn[kBondBlocks + k] = Bits32(first[k] >> 32);
        drawn[2 * kBondBlocks + k] = Bits32(last[k]);
        drawn[3 * kBondBlocks + k] = Bits32(last[k] >> 32);
      }
      const int32_t negative = engine_.negative_;
      const BondStrength by = strength;
      return mask_where(kWordSites, [=](int i) { return is_active(p[i], q[i], by, negative, drawn[i]); });
    }

    const VectorEngine& engine_;
    const Update update_;
    std::vector<Mirror> mirrors_;
  };

  void measure_projections(
      VectorMemory& memory, const Update& update, const Source& source, int64_t* records) const {
    const int64_t length = lattice_.length[kRowAxis], sites = lattice_.sites();
    if (!memory.projected) memory.projected.emplace(replicas_.count * sites);
    int64_t* const sums = memory.projected->data();
    for_each_index(replicas_.count * sites, [=](int64_t run) { sums[run] = 0; });
    each_row([&](int64_t replica, const RowPlace& place) {
      const Mirror mirror = source.mirror(replica);
      const Spin* spin = of_replica(update.spins, replica) + place.row * length;
      const RunForest<int32_t> forest(lattice_, *memory.forest, replica);
      forest.for_each_run(lattice_, place.row, [&](int32_t run, int64_t count) {
        int64_t sum = 0;
        for (; count > 0; --count) sum += Kind::projection(mirror, *spin++);
        Concurrent::fetch_add(of_replica(sums, replica) + forest.parents()[run], sum);
      });
    });
    Strips(replicas_).for_each([&](const Strip& strip) {
      int64_t limbs[kProjectedLimbs] = {};
      const int64_t* const of_strip = of_replica(sums, strip.replica);
      for_each_in(
          strip.begin * length, strip.end * length, [&](int64_t run) { add_square(of_strip[run], limbs); });
      for (int k = 0; k < kProjectedLimbs; ++k)
        Concurrent::fetch_add(records + strip.replica * kProjectedLimbs + k, limbs[k]);
    });
  }

  void reflect(const Update& update, const Source& source, const Bits64* reflected, Spin* new_spins) const {
    const int64_t columns = lattice_.columns(), length = lattice_.length[kRowAxis];
    each_row([&](int64_t replica, const RowPlace& place) {
      const Mirror mirror = source.mirror(replica);
      const Spin* const spins = of_replica(update.spins, replica) + place.row * length;
      Spin* const to = of_replica(new_spins, replica) + place.row * length;
      const Bits64* const words = replicas_.spins(reflected, replica) + place.row * columns;
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t begin = c * kWordSites, end = std::min(begin + kWordSites, length);
        poll(kWordSites);
        for (int64_t x = begin; x < end; ++x)
          to[x] = words[c] >> (x - begin) & 1 ? Kind::reflected(mirror, spins[x]) : spins[x];
      }
    });
  }

  using Vectors = std::vector<Cartesian<Kind::kComponents>>;

  void take_row(const Spin* row, Vectors& vectors) const {
    const int64_t length = lattice_.length[kRowAxis];
    vectors.resize(length);
    for (int64_t x = 0; x < length; ++x) vectors[x] = Kind::components(row[x]);
  }
  static void count_pairs(const Cartesian<Kind::kComponents>* a, const Cartesian<Kind::kComponents>* b,
      int64_t count, int axis, int64_t* sums) {
    int64_t product = 0, cross[3] = {};
    for (int64_t i = 0; i < count; ++i) {
      product += product_of(a[i], b[i]);
      for (int k = 0; k < Kind::kRotations; ++k) cross[k] += cross_of(a[i], b[i], k);
    }
    sums[kAlong + axis] += product;
    for (int k = 0; k < 3; ++k) sums[kCurrents + 3 * axis + k] += cross[k];
  }
  static void count_vortices(const Spin* row, const Spin* next, int64_t from, int64_t to, int64_t* sums) {
    sums[kVortices] += Kind::vorticity(row[from], row[to], next[to], next[from]);
  }
  void count_row(const Spin* spins, const RowPlace& place, Vectors& row, Vectors& next, int64_t* sums) const {
    const int64_t length = lattice_.length[kRowAxis], last = length - 1;
    const Spin* const own = spins + place.row * length;
    const bool closes = lattice_.closes(kRowAxis);
    poll(kSlow * length);
    take_row(own, row);
    for (int64_t x = 0; x < length; ++x)
      for (int k = 0; k < Kind::kComponents; ++k)
        sums[kMagnetisation + k] += measured_component(row[x].of[k]);
    count_pairs(row.data(), row.data() + 1, last, kRowAxis, sums);
    if (closes) count_pairs(row.data() + last, row.data(), 1, kRowAxis, sums);
    for (int axis = first_axis_; axis < kRowAxis; ++axis) {
      const int64_t after = row_after(place, axis);
      if (after < 0) continue;
      const Spin* const beside = spins + after * length;
      take_row(beside, next);
      count_pairs(row.data(), next.data(), length, axis, sums);
      if (!Kind::kHasVortices || first_axis_ != kRowAxis - 1) continue;
      for (int64_t x = 0; x < last; ++x) count_vortices(own, beside, x, x + 1, sums);
      if (closes) count_vortices(own, beside, last, 0, sums);
    }
  }

  const LatticeReplicas replicas_;
  const Lattice lattice_;
  const int first_axis_;
  const int32_t negative_;
  VectorMemory memory_;
};

}
