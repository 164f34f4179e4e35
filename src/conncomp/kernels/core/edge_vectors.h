// Vectors on any edges: what Wolff's embedding does to them, for core/edge_spins.h. Angle and UnitVector are
// those of core/vector_spins.h, whose contract of integers holds here. Hours are angles of a clock, numbers
// below q. Components are n from 4 to 8 numbers in units of 2^-30, the others of 4 or 8 being 0.
// Lattice::states has q or n. The weight of a bond is J p p', of the projections of both ends on the mirror's
// normal. Mirrors of hours are numbers c below q: hour a becomes c - a, and its projection is the sine of
// half the angle 2 a - c. A field is a bond to a ghost along the first axis. Metropolis offers a vertex its
// reflection in a drawn mirror (kMirror of the vertex), with probability exp(-2 beta sum of w) or 1:
// reflections together lead from any vector to any. Components draw angles of 17 bits, and the squares of the
// radii of pairs, the distances of sorted numbers; in an odd dimension one is left out, and the others are
// made a unit vector again. Source: U. Wolff, Phys. Rev. Lett. 62, 361 (1989); L. Devroye, Non-Uniform Random
// Variate Generation (1986), V.4.
#pragma once

#include "core/edge_local.h"
#include "core/vector_spins.h"

namespace conncomp {

struct Hours {
  using Spin = uint16_t;
  struct Mirror {
    Bits32 twice;
  };
  static constexpr int kComponents = 2;
  Bits32 hours;
  Bits64 unit;  // of an hour in quarters of half a turn, as for sine_of_quarter, times 2^16

  explicit Hours(const Lattice& lattice)
      : hours(Bits32(lattice.states)), unit((Bits64(1) << 48) / Bits32(lattice.states)) {}

  static Spin first() { return 0; }
  Bits32 draw(const Draws& draws, Purpose purpose, Bits64 index) const {
    return Bits32(below(half(draws(purpose, index), 0), hours));
  }
  Spin start(const Draws& draws, Bits64 site) const { return Spin(draw(draws, kStart, site)); }
  Mirror mirror(const Draws& draws, Bits64 index) const { return {draw(draws, kMirror, index)}; }
  // sin(pi u / q), u below 2 q.
  int32_t sine_of(Bits32 u) const {
    const Bits32 within = u >= hours ? u - hours : u, back = hours - within;
    const Bits32 angle = Bits32((within < back ? within : back) * unit >> 16);
    const int32_t value = sine_of_quarter(angle, Bits32(Bits64(angle) * angle >> 31));
    return u >= hours ? -value : value;
  }
  int32_t projection(const Mirror& mirror, Spin spin) const {
    const Bits32 twice = 2 * Bits32(spin);
    return sine_of(twice >= mirror.twice ? twice - mirror.twice : twice + 2 * hours - mirror.twice);
  }
  Spin reflected(const Mirror& mirror, Spin spin) const {
    return Spin(spin <= mirror.twice ? mirror.twice - spin : mirror.twice + hours - spin);
  }
  Cartesian<2> components(Spin spin) const {
    // cos(x) is sin(x + a quarter of a turn), which is half an hour where q is odd.
    const Bits32 twice = 2 * Bits32(spin), turn = 2 * hours,
                 within = twice < turn - twice ? twice : turn - twice;
    const bool behind = 2 * within > hours;
    const Bits32 from = behind ? hours - within : within;  // at most a quarter of a turn
    return {{behind ? -cosine(from) : cosine(from), sine_of(twice)}};
  }

 private:
  // cos(pi u / q), u at most q / 2: the sine of what is left of a quarter of a turn.
  int32_t cosine(Bits32 u) const {
    const Bits32 angle = Bits32((hours - 2 * u) * unit >> 17);
    return sine_of_quarter(angle, Bits32(Bits64(angle) * angle >> 31));
  }
};

template <int width> struct Components {
  struct Spin {
    int32_t of[width];
  };
  using Mirror = Spin;
  static constexpr int kComponents = width;
  static constexpr int64_t kOne = int64_t(1) << kProjectionBits;
  int count;

  explicit Components(const Lattice& lattice) : count(lattice.states) {}

  static Spin first() { return {{int32_t(kOne)}}; }
  Spin start(const Draws& draws, Bits64 site) const { return draw(draws, kStart, site); }
  Mirror mirror(const Draws& draws, Bits64 index) const { return draw(draws, kMirror, index); }
  int32_t projection(const Mirror& mirror, const Spin& spin) const {
    int64_t sum = 0;
    for (int k = 0; k < width; ++k) sum += int64_t(spin.of[k]) * mirror.of[k];
    return int32_t(sum >> kProjectionBits);
  }
  Spin reflected(const Mirror& mirror, const Spin& spin) const {
    constexpr int kShift = kProjectionBits - 1, kFewer = 20;  // digits of the excess that do not count
    const int64_t p = projection(mirror, spin);
    Spin at;
    int64_t excess = -(int64_t(1) << 2 * kProjectionBits);
    for (int k = 0; k < width; ++k) {
      at.of[k] = spin.of[k] - int32_t((p * mirror.of[k] + (int64_t(1) << (kShift - 1))) >> kShift);
      excess += int64_t(at.of[k]) * at.of[k];
    }
    excess >>= kFewer;
    constexpr int kHalf = 2 * kProjectionBits + 1 - kFewer;
    for (int k = 0; k < width; ++k)
      at.of[k] -= int32_t((at.of[k] * excess + (int64_t(1) << (kHalf - 1))) >> kHalf);
    return at;
  }
  Cartesian<width> components(const Spin& spin) const {
    Cartesian<width> vector;
    for (int k = 0; k < width; ++k) vector.of[k] = spin.of[k];
    return vector;
  }

 private:
  Spin draw(const Draws& draws, Purpose purpose, Bits64 index) const {
    constexpr int kPairs = width / 2;
    constexpr Bits32 kQuarter = 1 << 15;
    const PhiloxBlock angles = draws(purpose, index), cuts = draws(purpose, index, 0, 1);
    const int pairs = (count + 1) / 2;
    int64_t cut[kPairs + 1];
    cut[0] = 0;
    for (int k = 1; k <= kPairs; ++k) cut[k] = k < pairs ? int64_t(cuts.word[k - 1] >> 2) : kOne;
    for (int end = kPairs - 1; end > 1; --end)
      for (int k = 1; k < end; ++k)
        if (cut[k] > cut[k + 1]) {
          const int64_t larger = cut[k];
          cut[k] = cut[k + 1];
          cut[k + 1] = larger;
        }
    Spin spin;
    int64_t squares = 0;
    for (int k = 0; k < kPairs; ++k) {
      const int64_t radius = square_root(Bits64(cut[k + 1] - cut[k]) << kProjectionBits);
      const Bits32 angle = angles.word[k] >> 15;
      spin.of[2 * k] = along(radius, angle + kQuarter);
      spin.of[2 * k + 1] = 2 * k + 1 < count ? along(radius, angle) : 0;
      squares += int64_t(spin.of[2 * k]) * spin.of[2 * k] + int64_t(spin.of[2 * k + 1]) * spin.of[2 * k + 1];
    }
    if (count % 2 == 0) return spin;
    const int64_t length = square_root(Bits64(squares));
    for (int k = 0; k < width; ++k)
      spin.of[k] = length == 0 ? (k == 0 ? int32_t(kOne) : 0) : int32_t(spin.of[k] * kOne / length);
    return spin;
  }
  static int32_t along(int64_t radius, Bits32 angle) {
    return int32_t((radius * sine(angle) + kOne / 2) >> kProjectionBits);
  }
};

template <class Kind> struct OfLattices : Kind {
  explicit OfLattices(const Lattice&) {}
  typename Kind::Spin start(const Draws& draws, Bits64 site) const {
    return Kind::start(draws(kStart, site));
  }
  typename Kind::Mirror mirror(const Draws& draws, Bits64 index) const {
    return Kind::mirror(draws(kMirror, index));
  }
};

template <class Vectors> struct Embedded {
  using Spin = typename Vectors::Spin;
  using Move = typename Vectors::Mirror;
  static constexpr bool kCounted = false;
  static constexpr int kComponents = Vectors::kComponents;
  const Vectors vectors;

  explicit Embedded(const Lattice& lattice) : vectors(lattice) {}
  static int64_t length(const Lattice& lattice) { return lattice.sites(); }
  Move move(const Draws& draws) const { return vectors.mirror(draws, 0); }
  int32_t weight(const Move& mirror, const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    const int64_t p = vectors.projection(mirror, spins[u]), q = vectors.projection(mirror, spins[v]);
    return int32_t((p * q >> 32) * coupling >> kMeasureBits);
  }
  int32_t weight(const Move& mirror, const Spin* spins, int64_t vertex, int32_t field) const {
    const int64_t p = vectors.projection(mirror, spins[vertex]),
                  q = vectors.projection(mirror, vectors.first());
    return int32_t((p * q >> 32) * field >> kMeasureBits);
  }
  Bits64 staying(const Draws& draws, int64_t word) const { return ~draw_coins(draws, word); }
  // The energy of a bond without its sign, in units of 2^-28 of kWhole couplings.
  int64_t product(const Spin* spins, int64_t u, int64_t v, int32_t coupling) const {
    return worth(vectors.components(spins[u]), vectors.components(spins[v]), coupling);
  }
  int64_t ghost_product(const Spin* spins, int64_t vertex, int32_t field) const {
    return worth(vectors.components(spins[vertex]), vectors.components(vectors.first()), field);
  }

 private:
  static int64_t worth(const Cartesian<kComponents>& a, const Cartesian<kComponents>& b, int32_t strength) {
    constexpr int kWholeBits = 29;
    return int64_t(product_of(a, b)) * strength >> kWholeBits;
  }
};

template <class Access, class Vectors>
inline void offer_vertex(const Embedded<Vectors>& kind, const LocalUpdate& update, const Draws& draws,
    typename Vectors::Spin* spins, int64_t vertex) {
  const auto mirror = kind.vectors.mirror(draws, Bits64(vertex));
  int64_t weight = 0;
  for (int64_t arc = update.arcs.begin[vertex]; arc < update.arcs.begin[vertex + 1]; ++arc)
    weight += kind.weight(mirror, spins, vertex, update.arcs.to[arc], update.arcs.coupling_of(arc));
  if (update.field != nullptr) weight += kind.weight(mirror, spins, vertex, update.field[vertex]);
  if (is_taken(weight, draws(kMetropolis, Bits64(vertex)).word[0], 0, update.logarithm, update.temperature))
    spins[vertex] = kind.vectors.reflected(mirror, spins[vertex]);
}

}
