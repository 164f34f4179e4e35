// The equation of Cahn and Hilliard on a torus of cells, its measurements, and the random numbers of both.
// CPU and CUDA share it: without contracted products, and with sums in the order that stands here, a
// trajectory is a function of (seed, parameters) alone. A field of two or three axes is an array in C order;
// replicas follow each other. phi' = phi + lap(nu) + div(eta), where lap is the sum over the 2 d neighbours
// less 2 d times the cell, eta the random flux through faces, and nu (-b phi + u phi^3 - K lap(phi)/dx^2) M
// dt/dx^2, or
//      nu = phi (cubic phi^2 - linear) - gradient lap(phi),      with u, b, K/dx^2 times M dt/dx^2
// Random numbers: philox(seed, index | replica << 40, step, purpose | axis << 8), with step 0 for the first
// field, axes counted from the last one. Index is a quad of cells, row * quads + column / 4; word column % 4
// is the first value of the cell (kFieldStart), or the flux to the next along the axis (kFaceFlux). A word
// becomes one of the 2^23 odd integers between -2^23 and 2^23: even float32 has them all, of mean 0 and
// variance (2^46 - 1)/3. A logarithm's last digit would differ between devices; only the variance counts
// where dt is small.
#pragma once

#include "core/spins.h"

namespace conncomp {

constexpr int kFieldAxes = 3, kQuad = 4;

constexpr Purpose kFieldStart = Purpose(32), kFaceFlux = Purpose(33);

// Layout: kernels/field.py.
struct FieldShape {
  int64_t layers, rows, columns;  // of a layer, and of a row; two axes have a row a layer

  int64_t layer() const { return rows * columns; }
  int64_t cells() const { return layers * layer(); }
  int64_t quads() const { return (columns + kQuad - 1) / kQuad; }
};

template <class T> struct FieldCoefficients {
  T cubic, linear, gradient, flux;
};

// `neighbours`: ((last axis) + (the one before)) + (the first), a sum of two each.
template <int kAxes, class T> inline T field_laplacian(T value, T neighbours) {
  return neighbours - T(2 * kAxes) * value;
}
template <int kAxes, class T> inline T scaled_potential(const FieldCoefficients<T>& by, T phi, T neighbours) {
  return phi * (by.cubic * (phi * phi) - by.linear) - by.gradient * field_laplacian<kAxes>(phi, neighbours);
}
template <int kAxes, class T> inline T advanced(T phi, T nu, T neighbours) {
  return phi + field_laplacian<kAxes>(nu, neighbours);
}
template <int kAxes, class T> inline T advanced(T phi, T nu, T neighbours, T divergence) {
  return phi + (field_laplacian<kAxes>(nu, neighbours) + divergence);
}

inline int32_t odd_integer(Bits32 word) { return (int32_t(word) >> 8) | 1; }

// The first fields of a record: see kernels/field.py.
enum FieldEntry { kOutside, kValueWhole, kValueParts, kEnergyWhole, kEnergyParts, kFaces, kFieldEntries };
// Those that follow have a number for each phase, above the threshold first; then the classes of sizes.
constexpr int kPhases = 2;
enum DomainEntry {
  kDomains = kFieldEntries,
  kLargestDomain = kDomains + kPhases,
  kPhaseCells = kLargestDomain + kPhases,
  kDomainSquares = kPhaseCells + kPhases,
  kDomainClasses = kDomainSquares + kPhases
};

// How a field is measured; `parts` of one is the unit of fixed-point numbers, and `most` their largest.
struct FieldGauge {
  double half_linear, quarter_cubic, half_gradient, threshold, parts, most;
};

// Sums of reals in any order: integers and some parts of one; too large numbers and NaN are counted.
struct FieldTally {
  int64_t entry[kFieldEntries];

  void add(int whole, double value, const FieldGauge& gauge) {
    if (!(value < gauge.most && value > -gauge.most)) {
      ++entry[kOutside];
      return;
    }
    int64_t floor = int64_t(value);
    if (double(floor) > value) --floor;
    entry[whole] += floor;
    entry[whole + 1] += int64_t((value - double(floor)) * gauge.parts);
  }

  // Adds a cell, given the next cells along the axes, the last axis first.
  template <int kAxes, class T> void add_cell(T phi, const T* next, const FieldGauge& gauge) {
    const bool above = double(phi) > gauge.threshold;
    double steepness = 0;
    for (int k = 0; k < kAxes; ++k) {
      const double rise = double(next[k]) - double(phi);
      steepness = steepness + rise * rise;
      entry[kFaces] += above != (double(next[k]) > gauge.threshold);
    }
    const double square = double(phi) * double(phi);
    add(kValueWhole, double(phi), gauge);
    add(kEnergyWhole,
        square * (gauge.quarter_cubic * square - gauge.half_linear) + gauge.half_gradient * steepness, gauge);
  }
};

}
