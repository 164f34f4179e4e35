// Kinds of spins on edges, some hundred at a time, so that the engine (edge_spins.h) is compiled once.
#pragma once

#include "core/edge_vectors.h"
#include "core/union_find.h"
#include "cpu/core/bits.h"
#include "cpu/core/parallel.h"

namespace conncomp {

struct SpinsOfReplica {
  const void* spins;
  int64_t replica;
  Draws draws;
};

// Words of vertices that change: roots are found from `parent`; a single cluster may be chosen.
struct FlippedWords {
  int64_t first, count;
  const Bits64* flips;
  int32_t* parent;
  bool chosen;
};

class EdgeSpins {
 public:
  virtual ~EdgeSpins() = default;

  // Whether satisfied bonds are counted as they are drawn.
  virtual bool is_counted() const = 0;
  // How many fields of a record follow those of core/spins.h: states, or components.
  virtual int64_t counts() const = 0;
  // Fills the weights of bonds, or of those to the ghost; returns how much is satisfied, where it is counted.
  virtual int64_t weigh(const SpinsOfReplica& of, const EdgeBonds& edges, bool ghosts, int64_t first,
      int64_t count, int32_t* weights) const = 0;
  // The clusters that stay, of those whose smallest vertices a word has.
  virtual Bits64 staying(const Draws& draws, int64_t word) const = 0;
  virtual void count_word(const SpinsOfReplica& of, int64_t word, int64_t* counts) const = 0;
  // The energy without its sign, where satisfied bonds are not counted.
  virtual int64_t energy(
      const SpinsOfReplica& of, const EdgeBonds& edges, bool ghosts, int64_t first, int64_t count) const = 0;
  virtual void write(const SpinsOfReplica& of, const FlippedWords& words, void* new_spins) const = 0;
  virtual void start(const Draws& draws, int64_t replica, int64_t word, void* spins) const = 0;
  virtual void offer(const Draws& draws, int64_t replica, const LocalUpdate& update,
      const EdgeClass& together, void* spins) const = 0;
};

template <class Kind> class EdgeSpinsOf final : public EdgeSpins {
 public:
  using Spin = typename Kind::Spin;

  explicit EdgeSpinsOf(const Lattice& lattice) : lattice_(lattice), kind_(lattice) {}

  bool is_counted() const override { return Kind::kCounted; }
  int64_t counts() const override {
    if constexpr (Kind::kCounted)
      return lattice_.states;
    else
      return Kind::kComponents;
  }

  int64_t weigh(const SpinsOfReplica& of, const EdgeBonds& edges, bool ghosts, int64_t first, int64_t count,
      int32_t* weights) const override {
    const Spin* const spins = at(of);
    const auto move = kind_.move(of.draws);
    int64_t satisfied = 0;
    const auto weigh_one = [&](int64_t k, auto... bond) {  // its ends, and its coupling or field
      weights[k] = kind_.weight(move, spins, bond...);
      if constexpr (Kind::kCounted) satisfied += kind_.satisfied(weights[k], spins, bond...);
    };
    if (ghosts)
      for (int64_t k = 0; k < count; ++k) weigh_one(k, first + k, edges.field[first + k]);
    else
      for (int64_t k = 0; k < count; ++k)
        weigh_one(k, edges.u[first + k], edges.v[first + k], edges.coupling_of(first + k));
    return satisfied;
  }
  Bits64 staying(const Draws& draws, int64_t word) const override { return kind_.staying(draws, word); }

  void count_word(const SpinsOfReplica& of, int64_t word, int64_t* counts) const override {
    const Spin* const spins = at(of);
    if constexpr (Kind::kCounted) {
      for (int state = 0; state < lattice_.states; ++state)
        counts[state] += std::popcount(kind_.in_state(spins, word, state) & lattice_.sites_of(word));
    } else {
      each_vertex(word, [&](int64_t vertex) {
        const auto vector = kind_.vectors.components(spins[vertex]);
        for (int k = 0; k < Kind::kComponents; ++k) counts[k] += measured_component(vector.of[k]);
      });
    }
  }
  int64_t energy(const SpinsOfReplica& of, const EdgeBonds& edges, bool ghosts, int64_t first,
      int64_t count) const override {
    int64_t sum = 0;
    if constexpr (!Kind::kCounted) {
      const Spin* const spins = at(of);
      for (int64_t k = first; k < first + count; ++k)
        sum += ghosts ? kind_.ghost_product(spins, k, edges.field[k])
                      : kind_.product(spins, edges.u[k], edges.v[k], edges.coupling_of(k));
    }
    return sum;
  }

  void write(const SpinsOfReplica& of, const FlippedWords& words, void* new_spins) const override {
    const Spin* const spins = at(of);
    Spin* const to = at(new_spins, of.replica);
    const auto move = kind_.move(of.draws);
    for (int64_t k = 0; k < words.count; ++k) {
      const int64_t word = words.first + k;
      const Bits64 flips = words.flips[k];
      if constexpr (std::is_same_v<Kind, UpDown>) {
        to[word] = spins[word] ^ flips;
      } else if constexpr (Kind::kCounted) {
        write_states(move, of.draws, words, word, flips, spins, to);
      } else {
        each_vertex(word, [&](int64_t vertex) {
          to[vertex] =
              flips >> vertex % kWordSites & 1 ? kind_.vectors.reflected(move, spins[vertex]) : spins[vertex];
        });
      }
    }
  }

  void start(const Draws& draws, int64_t replica, int64_t word, void* spins) const override {
    if constexpr (!Kind::kCounted) {
      Spin* const own = at(spins, replica);
      each_vertex(word, [&](int64_t vertex) { own[vertex] = kind_.vectors.start(draws, Bits64(vertex)); });
    }
  }
  void offer(const Draws& draws, int64_t replica, const LocalUpdate& update, const EdgeClass& together,
      void* spins) const override {
    Spin* const own = at(spins, replica);
    for (int64_t k = 0; k < together.count; ++k)
      offer_vertex<Concurrent>(kind_, update, draws, own, together.vertices[k]);
  }

 private:
  const Spin* at(const SpinsOfReplica& of) const {
    return static_cast<const Spin*>(of.spins) + of.replica * Kind::length(lattice_);
  }
  Spin* at(void* spins, int64_t replica) const {
    return static_cast<Spin*>(spins) + replica * Kind::length(lattice_);
  }
  void each_vertex(int64_t word, auto&& body) const {
    const int64_t end = std::min((word + 1) * kWordSites, lattice_.sites());
    for (int64_t vertex = word * kWordSites; vertex < end; ++vertex) body(vertex);
  }
  void write_states(const auto& move, const Draws& draws, const FlippedWords& words, int64_t word,
      Bits64 flips, const Bits64* spins, Bits64* to) const {
    if constexpr (std::is_base_of_v<States, Kind>) {
      for (int plane = 0; plane < kind_.planes; ++plane)
        to[plane * kind_.words + word] = spins[plane * kind_.words + word] & ~flips;
      for_each_bit(flips, [&](int p) {
        const int64_t vertex = word * kWordSites + p, root = find<Concurrent>(words.parent, int32_t(vertex));
        const int old = kind_.state(spins, vertex);
        const Bits64 state = Bits64(kind_.new_state(move, draws, root, words.chosen, old));
        for (int plane = 0; plane < kind_.planes; ++plane)
          to[plane * kind_.words + word] |= (state >> plane & 1) << p;
      });
    }
  }

  const Lattice lattice_;
  const Kind kind_;
};

}
