// Models on any edges on the CPU: what models/on_edges/cpu.py asks for.
//
// What: the update of Swendsen and Wang, and that of Wolff, by union-find over active bonds
// (core/edge_spins.h). How: threads take parts of the bonds, some hundred of which draw their numbers at
// once, and unite the ends of active ones by compare-and-swap; a bit for each vertex says whether the cluster
// that it is the root of stays. Then the spins of a word of vertices find their roots. Cost: a random read of a
// spin for each end of a bond, two of parents for those that are active; 4 bytes and two bits a vertex.
// Source: ours; R. H. Swendsen and J.-S. Wang, Phys. Rev. Lett. 58, 86 (1987), and U. Wolff, Phys. Rev. Lett.
// 62, 361 (1989), for the updates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/edge_vectors.h"
#include "core/union_find.h"
#include "cpu/core/bits.h"
#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/draws.h"
#include "cpu/models/potts/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// What an update draws bonds by, and writes them to; all but `spins` may be missing.
template <class Spin>
struct EdgeUpdate {
  const Spin* spins;
  Bits32 step;
  const GlassTemperature* temperatures;  // of each replica; null if nothing is drawn
  Logarithm logarithm;
  int64_t* record;
};

// The memory of clusters, which updates share.
struct EdgeForest {
  Buffer<int32_t> parent, size;  // by vertex
  Buffer<Bits64> stays;          // by word: of roots whose clusters do not change

  explicit EdgeForest(const Replicas& replicas)
      : parent(replicas.count * replicas.lattice.sites()),
        size(replicas.count * replicas.lattice.sites()),
        stays(replicas.count * replicas.lattice.words()) {}
};

template <class Kind>
class EdgeEngine {
 public:
  using Spin = typename Kind::Spin;
  using Update = EdgeUpdate<Spin>;

  EdgeEngine(const Replicas& replicas, const EdgeBonds& edges)
      : replicas_(replicas), edges_(edges), kind_(replicas.lattice) {}

  // Memory that updates share; as CellEngine has it.
  std::optional<EdgeForest> take_memory() { return std::exchange(memory_, std::nullopt); }
  void give_back(std::optional<EdgeForest> memory) { memory_ = std::move(memory); }

  // Adds to the records what the spins tell.
  void count(const Update& update) const {
    if constexpr (Kind::kCounted) {
      draw_edges(update, [](int64_t, int64_t, bool) {});
      draw_ghosts(update, [](int64_t, int64_t) {});
      for_each_word([&](int64_t replica, int64_t word) { count_spins(update, replica, word); });
    } else {
      count_vectors(update);
    }
  }

  // Draws the first spins of vectors.
  void start(Spin* spins) const {
    for_each_word([&](int64_t replica, int64_t word) {
      const Draws draws = replicas_.draws(replica, 0);
      for_each_vertex(word, [&](int32_t vertex) {
        spins[replica * vertices() + vertex] = kind_.vectors.start(draws, Bits64(vertex));
      });
    });
  }

  // Offers the vertices of a class, in place, what core/edge_vectors.h says.
  void offer(const Update& update, const EdgeArcs& arcs, const EdgeClass& together, Spin* spins) const {
    for_each_part(together.count, kGrain / kEdgesOfBlock, [&](int64_t replica, int64_t begin, int64_t end) {
      const Draws draws = replicas_.draws(replica, update.step);
      Spin* const own = spins + replica * vertices();
      for_each_in(begin, end, [&](int64_t k) {
        const int64_t vertex = together.vertices[k];
        poll(kEdgesOfBlock);
        own[vertex] = offered(kind_, arcs, own, vertex, draws, update.logarithm, update.temperatures[replica]);
      });
    });
  }

  // Writes which bonds are active, a byte each.
  void bonds(const Update& update, uint8_t* active) const {
    draw_edges(update, [&](int64_t replica, int64_t edge, bool is) {
      active[replica * edges_.count + edge] = uint8_t(is);
    });
  }

  // Writes the new spins of all clusters, or that of one drawn vertex, and measures those before.
  void update(std::optional<EdgeForest>& memory, const Update& update, Spin* new_spins, bool chosen,
              bool sizes) const {
    if (!memory) memory.emplace(replicas_);
    EdgeForest& forest = *memory;
    for_each_word([&](int64_t replica, int64_t word) {
      begin_word(forest, update, replica, word, chosen);
      if constexpr (Kind::kCounted)
        if (update.record != nullptr) count_spins(update, replica, word);
    });
    draw_edges(update, [&](int64_t replica, int64_t edge, bool active) {
      if (active) unite<Shared>(parents(forest, replica), edges_.u[edge], edges_.v[edge]);
    });
    if (chosen) parallel_for(replicas_.count, [&](int64_t replica) { choose(forest, update, replica); });
    draw_ghosts(update, [&](int64_t replica, int64_t vertex) {
      const int32_t root = find<Shared>(parents(forest, replica), int32_t(vertex));
      Shared::fetch_or(stays(forest, replica) + root / kWordSites, Bits64(1) << root % kWordSites);
    });
    for_each_word([&](int64_t replica, int64_t word) {
      const Bits64 flips = flipped(forest, replica, word, sizes);
      write_word(forest, update, replica, word, {flips, chosen}, new_spins);
    });
    if (sizes) measure(forest, update);
  }

 private:
  static constexpr int64_t kTogether = 1 << 10;  // bonds that draw their numbers at once

  int64_t words() const { return replicas_.lattice.words(); }
  int64_t vertices() const { return replicas_.lattice.sites(); }
  int32_t* parents(EdgeForest& forest, int64_t replica) const {
    return forest.parent.data() + replica * vertices();
  }
  Bits64* stays(EdgeForest& forest, int64_t replica) const { return forest.stays.data() + replica * words(); }
  int64_t* record_of(const Update& update, int64_t replica) const {
    return update.record + replica * (kCounts + counts());
  }
  // How many fields follow those of core/spins.h: states, or components.
  int64_t counts() const {
    if constexpr (Kind::kCounted)
      return replicas_.lattice.states;
    else
      return Kind::kComponents;
  }
  template <class S>
  S* of_replica(S* spins, int64_t replica) const {
    return spins + replica * Kind::length(replicas_.lattice);
  }

  // Calls body(replica, begin, end) for parts of so many things that each replica has, in parallel.
  template <class Body>
  void for_each_part(int64_t count, int64_t grain, Body&& body) const {
    const Parts parts(count, grain);
    parallel_for(parts.parts * replicas_.count, [&](int64_t k) {
      body(k / parts.parts, parts.begin(k % parts.parts), parts.end(k % parts.parts));
    });
  }
  template <class Body>
  void for_each_word(Body&& body) const {
    for_each_part(words(), kGrain / kWordSites, [&](int64_t replica, int64_t begin, int64_t end) {
      for (int64_t word = begin; word < end; ++word) {
        poll(kWordSites);
        body(replica, word);
      }
    });
  }

  // Calls body(first, count, numbers) for pieces of [begin, end), with the number that each draws, if any do.
  template <class Body>
  static void for_each_drawn(const Draws& draws, Purpose purpose, bool drawn, int64_t begin, int64_t end,
                             Body&& body) {
    constexpr int64_t kBlocks = kTogether / kEdgesOfBlock + 1;
    Bits64 index[kBlocks], halves[2][kBlocks];
    Bits32 numbers[kTogether];
    for (int64_t first = begin; first < end; first += kTogether) {
      const int64_t count = std::min(kTogether, end - first), block = first / kEdgesOfBlock;
      poll(count);
      if (drawn) {
        const int64_t blocks = (first + count - 1) / kEdgesOfBlock + 1 - block;
        for (int64_t k = 0; k < blocks; ++k) index[k] = Bits64(block + k);
        draw_all(draws, purpose, index, blocks, halves[0], halves[1]);
        for (int64_t k = 0; k < count; ++k) {
          const int64_t number = first + k - block * kEdgesOfBlock;
          numbers[k] = Bits32(halves[number % 4 / 2][number / 4] >> number % 2 * 32);
        }
      }
      body(first, count, numbers);
    }
  }

  // Calls body(replica, bond, whether it is active) for all bonds, and counts them.
  template <class Body>
  void draw_edges(const Update& update, Body&& body) const {
    for_each_part(edges_.count, kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
      const Spin* const spins = of_replica(update.spins, replica);
      const Draws draws = replicas_.draws(replica, update.step);
      const auto move = kind_.move(draws);
      const bool drawn = update.temperatures != nullptr;
      const GlassTemperature temperature = drawn ? update.temperatures[replica] : GlassTemperature{0, 0};
      int64_t satisfied = 0, active = 0;
      const auto draw = [&](int64_t first, int64_t count, const Bits32* numbers) {
        for (int64_t k = 0; k < count; ++k) {
          const int64_t edge = first + k;
          const int32_t weight =
              kind_.weight(move, spins, edges_.u[edge], edges_.v[edge], edges_.coupling_of(edge));
          satisfied += weight;
          const bool is =
              drawn && weight > 0 && is_active(weight, numbers[k], update.logarithm, temperature);
          active += is;
          body(replica, edge, is);
        }
      };
      for_each_drawn(draws, kEdgeBond, drawn, begin, end, draw);
      if (update.record == nullptr) return;
      if (Kind::kCounted) Shared::fetch_add(record_of(update, replica) + kSatisfied, satisfied);
      Shared::fetch_add(record_of(update, replica) + kActive, active);
    });
  }

  // Calls body(replica, vertex) for vertices whose bond to the ghost is active, and counts satisfied ones.
  template <class Body>
  void draw_ghosts(const Update& update, Body&& body) const {
    if (edges_.field == nullptr) return;
    for_each_part(vertices(), kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
      const Spin* const spins = of_replica(update.spins, replica);
      const bool drawn = update.temperatures != nullptr;
      const GlassTemperature temperature = drawn ? update.temperatures[replica] : GlassTemperature{0, 0};
      int64_t satisfied = 0;
      const auto draw = [&](int64_t first, int64_t count, const Bits32* numbers) {
        for (int64_t k = 0; k < count; ++k) {
          const int32_t weight = kind_.ghost_weight(spins, first + k, edges_.field[first + k]);
          satisfied += weight;
          if (drawn && weight > 0 && is_active(weight, numbers[k], update.logarithm, temperature))
            body(replica, first + k);
        }
      };
      for_each_drawn(replicas_.draws(replica, update.step), kGhostBond, drawn, begin, end, draw);
      if (update.record != nullptr) Shared::fetch_add(record_of(update, replica) + kSatisfied, satisfied);
    });
  }

  void count_spins(const Update& update, int64_t replica, int64_t word) const {
    const Spin* const spins = of_replica(update.spins, replica);
    for (int state = 0; state < replicas_.lattice.states; ++state) {
      const Bits64 equal = kind_.in_state(spins, word, state) & replicas_.lattice.sites_of(word);
      Shared::fetch_add(record_of(update, replica) + kCounts + state, int64_t(std::popcount(equal)));
    }
  }
  void count_vectors(const Update& update) const {
    for_each_part(edges_.count, kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
      const Spin* const spins = of_replica(update.spins, replica);
      int64_t sum = 0;
      for_each_in(begin, end, [&](int64_t edge) {
        sum += kind_.product(spins, edges_.u[edge], edges_.v[edge], edges_.coupling_of(edge));
      });
      Shared::fetch_add(record_of(update, replica) + kSatisfied, sum);
    });
    for_each_part(vertices(), kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
      const Spin* const spins = of_replica(update.spins, replica);
      int64_t sums[Kind::kComponents] = {};
      for_each_in(begin, end, [&](int64_t vertex) {
        const auto vector = kind_.vectors.components(spins[vertex]);
        for (int k = 0; k < Kind::kComponents; ++k) sums[k] += measured_component(vector.of[k]);
      });
      for (int k = 0; k < Kind::kComponents; ++k)
        Shared::fetch_add(record_of(update, replica) + kCounts + k, sums[k]);
    });
  }

  // Calls body(vertex) for those of a word.
  template <class Body>
  void for_each_vertex(int64_t word, Body&& body) const {
    const int64_t end = std::min((word + 1) * kWordSites, vertices());
    for (int64_t vertex = word * kWordSites; vertex < end; ++vertex) body(int32_t(vertex));
  }

  void begin_word(EdgeForest& forest, const Update& update, int64_t replica, int64_t word,
                  bool chosen) const {
    int32_t* const parent = parents(forest, replica);
    for_each_vertex(word, [=](int32_t vertex) { parent[vertex] = vertex; });
    stays(forest, replica)[word] =
        chosen ? ~Bits64(0) : kind_.staying(replicas_.draws(replica, update.step), word);
  }

  // Lets the cluster of one vertex change, which is drawn.
  void choose(EdgeForest& forest, const Update& update, int64_t replica) const {
    const Draws draws = replicas_.draws(replica, update.step);
    const auto vertex = int32_t(below(half(draws(kChosenSite, 0), 0), Bits64(vertices())));
    const int32_t root = find<Shared>(parents(forest, replica), vertex);
    stays(forest, replica)[root / kWordSites] &= ~(Bits64(1) << root % kWordSites);
  }

  // Which vertices of a word change; with `flatten` the paths to their roots are shorter from then on.
  Bits64 flipped(EdgeForest& forest, int64_t replica, int64_t word, bool flatten) const {
    int32_t* const parent = parents(forest, replica);
    const Bits64* const stay = stays(forest, replica);
    Bits64 flips = 0;
    for_each_vertex(word, [&](int32_t vertex) {
      const int32_t root = find<Shared>(parent, vertex);
      if (flatten) forest.size[replica * vertices() + vertex] = 0;
      flips |= Bits64(~stay[root / kWordSites] >> root % kWordSites & 1) << vertex % kWordSites;
    });
    return flips;
  }

  // What happens to the vertices of a word.
  struct Flips {
    Bits64 flips;
    bool chosen;
  };
  // Writes the new spins of a word's vertices.
  void write_word(EdgeForest& forest, const Update& update, int64_t replica, int64_t word, const Flips& which,
                  Spin* new_spins) const {
    const Spin* const spins = of_replica(update.spins, replica);
    Spin* const to = of_replica(new_spins, replica);
    const Draws draws = replicas_.draws(replica, update.step);
    if constexpr (std::is_same_v<Kind, UpDown>) {
      to[word] = spins[word] ^ which.flips;
    } else if constexpr (Kind::kCounted) {
      for (int plane = 0; plane < kind_.planes; ++plane)
        to[plane * words() + word] = spins[plane * words() + word] & ~which.flips;
      for_each_bit(which.flips, [&](int p) {
        const int64_t vertex = word * kWordSites + p,
                      root = find<Shared>(parents(forest, replica), int32_t(vertex));
        const Bits64 state = Bits64(kind_.new_state(draws, root, which.chosen, kind_.state(spins, vertex)));
        for (int plane = 0; plane < kind_.planes; ++plane)
          to[plane * words() + word] |= (state >> plane & 1) << p;
      });
    } else {
      const auto mirror = kind_.move(draws);
      for_each_vertex(word, [&](int32_t vertex) {
        const bool flips = which.flips >> vertex % kWordSites & 1;
        to[vertex] = flips ? kind_.vectors.reflected(mirror, spins[vertex]) : spins[vertex];
      });
    }
  }

  void measure(EdgeForest& forest, const Update& update) const {
    for_each_word([&](int64_t replica, int64_t word) {
      int32_t* const size = forest.size.data() + replica * vertices();
      for_each_vertex(word, [&](int32_t vertex) {
        Shared::fetch_add(size + find<Shared>(parents(forest, replica), vertex), 1);
      });
    });
    for_each_part(words(), kGrain / kWordSites, [&](int64_t replica, int64_t begin, int64_t end) {
      const int32_t* const size = forest.size.data() + replica * vertices();
      ClusterTally tally;
      for_each_in(begin * kWordSites, std::min(end * kWordSites, vertices()), [&](int64_t vertex) {
        if (size[vertex] != 0) tally.add(size[vertex]);
      });
      tally.add_to(record_of(update, replica));
    });
  }

  const Replicas replicas_;
  const EdgeBonds edges_;
  const Kind kind_;
  std::optional<EdgeForest> memory_;
};

}  // namespace conncomp
