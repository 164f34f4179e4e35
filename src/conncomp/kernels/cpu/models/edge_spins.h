// Models on any edges on the CPU: the updates of Swendsen and Wang and of Wolff, by union-find over active
// bonds (core/edge_spins.h), and local updates (core/edge_local.h). Threads take parts of the bonds, some
// hundred of which draw at once, and unite the ends of active ones; a bit for each root says whether its
// cluster stays. Then vertices find their roots. Source: ours; R. H. Swendsen and J.-S. Wang, Phys. Rev.
// Lett. 58, 86 (1987), and U. Wolff, 62, 361 (1989).
#pragma once

#include <optional>

#include "cpu/core/buffer.h"
#include "cpu/core/numbering.h"
#include "cpu/models/draws.h"
#include "cpu/models/edge_kinds.h"
#include "cpu/models/record.h"
#include "cpu/models/rows.h"

namespace conncomp {

// How an update draws bonds, and its record; all but `spins` may be missing.
struct EdgeUpdate {
  const void* spins;
  Bits32 step;
  const GlassTemperature* temperatures;  // of each replica; null if nothing is drawn
  Logarithm logarithm;
  int64_t* record;
};

struct EdgeForest {
  Buffer<int32_t> parent, size;  // by vertex
  Buffer<Bits64> stays;          // by word: of roots whose clusters do not change

  explicit EdgeForest(const LatticeReplicas& replicas)
      : parent(replicas.count * replicas.lattice.sites()),
        size(replicas.count * replicas.lattice.sites()),
        stays(replicas.count * replicas.lattice.words()) {}
};

class EdgeEngine {
 public:
  EdgeEngine(const LatticeReplicas& replicas, const EdgeBonds& edges, std::unique_ptr<const EdgeSpins> kind)
      : replicas_(replicas), edges_(edges), kind_(std::move(kind)) {}

  // Memory that updates share, as CellEngine's.
  std::optional<EdgeForest> take_memory() { return std::exchange(memory_, std::nullopt); }
  void give_back(std::optional<EdgeForest> memory) { memory_ = std::move(memory); }

  void start(void* spins) const {
    for_each_words([&](int64_t replica, int64_t begin, int64_t end) {
      const Draws draws = replicas_.draws(replica, 0);
      for (int64_t word = begin; word < end; ++word) kind_->start(draws, replica, word, spins);
    });
  }

  void count(const EdgeUpdate& update) const {
    count_spins(update);
    if (kind_->is_counted()) {
      draw(update, kEdgeBond, [](int64_t, int64_t, int64_t, const uint8_t*) {});
      draw(update, kGhostBond, [](int64_t, int64_t, int64_t, const uint8_t*) {});
      return;
    }
    add_energy(update, false, edges_.count);
    if (edges_.field != nullptr) add_energy(update, true, vertices());
  }

  void bonds(const EdgeUpdate& update, uint8_t* active) const {
    draw(update, kEdgeBond, [&](int64_t replica, int64_t first, int64_t count, const uint8_t* is) {
      std::copy_n(is, count, active + replica * edges_.count + first);
    });
  }

  void update(std::optional<EdgeForest>& memory, const EdgeUpdate& update, void* new_spins, bool chosen,
      bool sizes) const {
    if (!memory) memory.emplace(replicas_);
    EdgeForest& forest = *memory;
    for_each_words([&](int64_t replica, int64_t begin, int64_t end) {
      const Draws draws = replicas_.draws(replica, update.step);
      for (int64_t word = begin; word < end; ++word) begin_word(forest, draws, replica, word, chosen);
    });
    if (update.record != nullptr && kind_->is_counted()) count_spins(update);
    draw(update, kEdgeBond, [&](int64_t replica, int64_t first, int64_t count, const uint8_t* is) {
      int32_t* const parent = parents(forest, replica);
      for (int64_t k = 0; k < count; ++k)
        if (is[k]) unite<Concurrent>(parent, edges_.u[first + k], edges_.v[first + k]);
    });
    if (chosen) parallel_for(replicas_.count, [&](int64_t replica) { choose(forest, update, replica); });
    draw(update, kGhostBond, [&](int64_t replica, int64_t first, int64_t count, const uint8_t* is) {
      for (int64_t k = 0; k < count; ++k) {
        if (!is[k]) continue;
        const int32_t root = find<Concurrent>(parents(forest, replica), int32_t(first + k));
        Concurrent::fetch_or(stays(forest, replica) + root / kWordSites, Bits64(1) << root % kWordSites);
      }
    });
    for_each_words([&](int64_t replica, int64_t begin, int64_t end) {
      Bits64 flips[kWords];
      for (; begin < end; begin += kWords) {
        const int64_t count = std::min(kWords, end - begin);
        for (int64_t k = 0; k < count; ++k) flips[k] = flipped(forest, replica, begin + k, sizes);
        kind_->write(
            of_replica(update, replica), {begin, count, flips, parents(forest, replica), chosen}, new_spins);
      }
    });
    if (sizes) measure(forest, update);
  }

  void offer(const EdgeUpdate& update, const EdgeArcs& arcs, GlassRule rule, const EdgeClass& together,
      void* spins) const {
    constexpr int64_t kSome = 64;
    for_each_part(together.count, kGrain / kSome, [&](int64_t replica, int64_t begin, int64_t end) {
      const LocalUpdate local{arcs, edges_.field, update.logarithm, update.temperatures[replica], rule};
      const Draws draws = replicas_.draws(replica, update.step);
      for (; begin < end; begin += kSome) {
        poll(kSome * kSome);
        kind_->offer(draws, replica, local, {together.vertices + begin, std::min(kSome, end - begin)}, spins);
      }
    });
  }

 private:
  static constexpr int64_t kTogether = 1 << 10;  // bonds that draw their numbers at once
  static constexpr int64_t kWords = 16;          // words that are written at once
  using Drawn = FunctionRef<void(int64_t replica, int64_t first, int64_t count, const uint8_t* active)>;
  using Part = FunctionRef<void(int64_t replica, int64_t begin, int64_t end)>;

  int64_t words() const { return replicas_.lattice.words(); }
  int64_t vertices() const { return replicas_.lattice.sites(); }
  int32_t* parents(EdgeForest& forest, int64_t replica) const {
    return forest.parent.data() + replica * vertices();
  }
  Bits64* stays(EdgeForest& forest, int64_t replica) const { return forest.stays.data() + replica * words(); }
  int64_t* record_of(const EdgeUpdate& update, int64_t replica) const {
    return update.record + replica * (kCounts + kind_->counts());
  }
  SpinsOfReplica of_replica(const EdgeUpdate& update, int64_t replica) const {
    return {update.spins, replica, replicas_.draws(replica, update.step)};
  }

  // Calls body(replica, begin, end) for parts of `count`; threads are at neighbouring parts.
  void for_each_part(int64_t count, int64_t grain, Part body) const {
    const Parts parts(count, grain);
    parallel_for(
        parts.parts * replicas_.count,
        [&](int64_t k) { body(k / parts.parts, parts.begin(k % parts.parts), parts.end(k % parts.parts)); },
        Dealing::kQueue);
  }
  void for_each_words(Part body) const {
    for_each_part(words(), kGrain / kWordSites, [&](int64_t replica, int64_t begin, int64_t end) {
      for (; begin < end; begin += kWords) {
        poll(kWords * kWordSites);
        body(replica, begin, std::min(begin + kWords, end));
      }
    });
  }

  static void draw_numbers(
      const Draws& draws, Purpose purpose, int64_t first, int64_t count, Bits32* numbers) {
    constexpr int64_t kBlocks = kTogether / kEdgesOfBlock + 1;
    Bits64 index[kBlocks], halves[2][kBlocks];
    const int64_t block = first / kEdgesOfBlock, blocks = (first + count - 1) / kEdgesOfBlock + 1 - block;
    for (int64_t k = 0; k < blocks; ++k) index[k] = Bits64(block + k);
    draw_all(draws, purpose, index, blocks, halves[0], halves[1]);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t number = first + k - block * kEdgesOfBlock;
      numbers[k] = Bits32(halves[number % 4 / 2][number / 4] >> number % 2 * 32);
    }
  }

  // Calls body(replica, first, count, active) for bonds, or those to the ghost; counts them.
  void draw(const EdgeUpdate& update, Purpose purpose, Drawn body) const {
    const bool ghosts = purpose == kGhostBond;
    if (ghosts && edges_.field == nullptr) return;
    for_each_part(
        ghosts ? vertices() : edges_.count, kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
          int64_t satisfied = 0, active = 0;
          for (; begin < end; begin += kTogether) {
            const int64_t count = std::min(kTogether, end - begin);
            poll(count);
            int32_t weights[kTogether];
            uint8_t is[kTogether];
            const SpinsOfReplica of = of_replica(update, replica);
            satisfied += kind_->weigh(of, edges_, ghosts, begin, count, weights);
            draw_piece(update, of, purpose, begin, count, weights, is);
            for (int64_t k = 0; k < count; ++k) active += is[k];
            body(replica, begin, count, is);
          }
          if (update.record == nullptr) return;
          if (kind_->is_counted()) Concurrent::fetch_add(record_of(update, replica) + kSatisfied, satisfied);
          if (!ghosts) Concurrent::fetch_add(record_of(update, replica) + kActive, active);
        });
  }
  static void draw_piece(const EdgeUpdate& update, const SpinsOfReplica& of, Purpose purpose, int64_t first,
      int64_t count, const int32_t* weights, uint8_t* is) {
    if (update.temperatures == nullptr) return void(std::fill_n(is, count, uint8_t(0)));
    Bits32 numbers[kTogether];
    draw_numbers(of.draws, purpose, first, count, numbers);
    const GlassTemperature temperature = update.temperatures[of.replica];
    for (int64_t k = 0; k < count; ++k)
      is[k] = weights[k] > 0 && is_active(weights[k], numbers[k], update.logarithm, temperature);
  }

  void add_energy(const EdgeUpdate& update, bool ghosts, int64_t count) const {
    for_each_part(count, kGrain, [&](int64_t replica, int64_t begin, int64_t end) {
      const SpinsOfReplica of = of_replica(update, replica);
      int64_t sum = 0;
      for (; begin < end; begin += kTogether) {
        poll(kTogether);
        sum += kind_->energy(of, edges_, ghosts, begin, std::min(kTogether, end - begin));
      }
      Concurrent::fetch_add(record_of(update, replica) + kSatisfied, sum);
    });
  }
  void count_spins(const EdgeUpdate& update) const {
    for_each_part(words(), kGrain / kWordSites, [&](int64_t replica, int64_t begin, int64_t end) {
      const SpinsOfReplica of = of_replica(update, replica);
      std::vector<int64_t> counts(kind_->counts(), 0);
      for (; begin < end; ++begin) {
        poll(kWordSites);
        kind_->count_word(of, begin, counts.data());
      }
      for (size_t k = 0; k < counts.size(); ++k)
        Concurrent::fetch_add(record_of(update, replica) + kCounts + k, counts[k]);
    });
  }

  void begin_word(EdgeForest& forest, const Draws& draws, int64_t replica, int64_t word, bool chosen) const {
    int32_t* const parent = parents(forest, replica);
    for_each_vertex(word, [=](int32_t vertex) { parent[vertex] = vertex; });
    stays(forest, replica)[word] = chosen ? ~Bits64(0) : kind_->staying(draws, word);
  }
  void for_each_vertex(int64_t word, auto&& body) const {
    const int64_t end = std::min((word + 1) * kWordSites, vertices());
    for (int64_t vertex = word * kWordSites; vertex < end; ++vertex) body(int32_t(vertex));
  }

  void choose(EdgeForest& forest, const EdgeUpdate& update, int64_t replica) const {
    const Draws draws = replicas_.draws(replica, update.step);
    const auto vertex = int32_t(below(half(draws(kChosenSite, 0), 0), Bits64(vertices())));
    const int32_t root = find<Concurrent>(parents(forest, replica), vertex);
    stays(forest, replica)[root / kWordSites] &= ~(Bits64(1) << root % kWordSites);
  }

  Bits64 flipped(EdgeForest& forest, int64_t replica, int64_t word, bool flatten) const {
    int32_t* const parent = parents(forest, replica);
    const Bits64* const stay = stays(forest, replica);
    Bits64 flips = 0;
    for_each_vertex(word, [&](int32_t vertex) {
      const int32_t root = find<Concurrent>(parent, vertex);
      if (flatten) forest.size[replica * vertices() + vertex] = 0;
      flips |= Bits64(~stay[root / kWordSites] >> root % kWordSites & 1) << vertex % kWordSites;
    });
    return flips;
  }

  void measure(EdgeForest& forest, const EdgeUpdate& update) const {
    for_each_words([&](int64_t replica, int64_t begin, int64_t end) {
      int32_t* const size = forest.size.data() + replica * vertices();
      for (int64_t word = begin; word < end; ++word)
        for_each_vertex(word, [&](int32_t vertex) {
          Concurrent::fetch_add(size + find<Concurrent>(parents(forest, replica), vertex), 1);
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

  const LatticeReplicas replicas_;
  const EdgeBonds edges_;
  const std::unique_ptr<const EdgeSpins> kind_;
  std::optional<EdgeForest> memory_;
};

// Classes of vertices no two of which are neighbours; returns how many. Each takes the first class without a
// neighbour before it: at most one more than the largest degree. Source: Welsh and Powell 1967.
inline int64_t classify_vertices(const EdgeArcs& arcs, int64_t vertices, int32_t* class_of) {
  std::vector<int64_t> taken;  // by class: the last vertex that has a neighbour in it
  for (int64_t vertex = 0; vertex < vertices; ++vertex) {
    poll(arcs.begin[vertex + 1] - arcs.begin[vertex] + 1);
    for (int64_t arc = arcs.begin[vertex]; arc < arcs.begin[vertex + 1]; ++arc)
      if (arcs.to[arc] < vertex) taken[class_of[arcs.to[arc]]] = vertex;
    int32_t first = 0;
    while (first < int32_t(taken.size()) && taken[first] == vertex) ++first;
    if (first == int32_t(taken.size())) taken.push_back(-1);
    class_of[vertex] = first;
  }
  return int64_t(taken.size());
}

}
