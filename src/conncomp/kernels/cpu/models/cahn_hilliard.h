// Cahn and Hilliard on the CPU (core/cahn_hilliard.h): an Euler step in one pass over strips of layers,
// potentials of three of which are in memory. Rows have a potential more at both ends.
#pragma once

#include <vector>

#include "core/cahn_hilliard.h"
#include "cpu/core/parallel.h"
#include "cpu/models/draws.h"

namespace conncomp {

struct FieldReplicas {
  FieldShape shape;
  Bits64 seed, first;
  int64_t count;
};

struct FieldStrip {
  int64_t replica, begin, end;
};

void for_each_strip(const FieldReplicas& replicas, auto&& body) {
  const FieldShape& shape = replicas.shape;
  const Parts layers(shape.layers, kGrain / std::max<int64_t>(shape.layer(), 1));
  parallel_for(replicas.count * layers.parts, [&](int64_t i) {
    const int64_t part = i % layers.parts;
    body(FieldStrip{i / layers.parts, layers.begin(part), layers.end(part)});
  });
}

inline int64_t around(int64_t at, int64_t length) {
  return at < 0 ? at + length : at < length ? at : at - length;
}

inline void draw_row(
    const Draws& draws, Purpose purpose, const FieldShape& shape, int64_t row, int axis, Bits32* words) {
  constexpr int kStretchQuads = 64;
  Bits64 index[kStretchQuads], first[kStretchQuads], last[kStretchQuads];
  const int64_t quads = shape.quads();
  for (int64_t begin = 0; begin < quads; begin += kStretchQuads) {
    const int64_t count = std::min<int64_t>(quads - begin, kStretchQuads);
    for (int64_t q = 0; q < count; ++q) index[q] = Bits64(row * quads + begin + q);
    draw_all(draws, Purpose(purpose | Bits32(axis) << 8), index, count, first, last);
    for (int64_t q = 0; q < count; ++q) {
      Bits32* const quad = words + (begin + q) * kQuad;
      quad[0] = Bits32(first[q]);
      quad[1] = Bits32(first[q] >> 32);
      quad[2] = Bits32(last[q]);
      quad[3] = Bits32(last[q] >> 32);
    }
  }
}

template <class T, int kAxes> class FieldStep {
 public:
  FieldStep(
      const FieldShape& shape, const FieldCoefficients<T>& by, const Draws& draws, const T* field, T* next)
      : shape_(shape),
        by_(by),
        draws_(draws),
        field_(field),
        next_(next),
        width_(shape.columns + 2),
        noise_(by.flux != 0),
        potentials_(3 * shape.rows * width_) {
    if (!noise_) return;
    words_.resize(shape.quads() * kQuad);
    divergence_.resize(shape.columns);
    flux_.resize(shape.columns);
    flux_before_.resize(shape.columns);
    layer_flux_.resize(shape.layer());
  }

  void advance(const FieldStrip& strip) {
    fill_potentials(strip.begin - 1);
    fill_potentials(strip.begin);
    if (noise_) first_fluxes(around(strip.begin - 1, shape_.layers));
    for (int64_t layer = strip.begin; layer < strip.end; ++layer) {
      fill_potentials(layer + 1);
      for (int64_t row = 0; row < shape_.rows; ++row) advance_row(layer, row);
    }
  }

 private:
  const T* field_row(int64_t layer, int64_t row) const {
    return field_ + (around(layer, shape_.layers) * shape_.rows + row) * shape_.columns;
  }
  // The potential of column 0; columns -1 and shape.columns are there, too.
  T* potential_row(int64_t layer, int64_t row) {
    return potentials_.data() + ((layer + 3) % 3 * shape_.rows + row) * width_ + 1;
  }

  void fill_potentials(int64_t layer) {
    const int64_t n = shape_.columns;
    for (int64_t row = 0; row < shape_.rows; ++row) {
      poll(n);
      const int64_t front = around(row - 1, shape_.rows), back = around(row + 1, shape_.rows);
      const T *const middle = field_row(layer, row), *const before = field_row(layer - 1, row),
                     *const behind = field_row(layer + 1, row), *const ahead = field_row(layer, front),
                     *const next = field_row(layer, back);
      T* const __restrict nu = potential_row(layer, row);
      const FieldCoefficients<T> by = by_;
      const auto fill = [=](int64_t x, int64_t left, int64_t right) {
        T sum = middle[left] + middle[right];
        if constexpr (kAxes == 3) sum = sum + (ahead[x] + next[x]);
        nu[x] = scaled_potential<kAxes>(by, middle[x], sum + (before[x] + behind[x]));
      };
      fill(0, n - 1, around(1, n));
      for (int64_t x = 1; x < n - 1; ++x) fill(x, x - 1, x + 1);
      fill(n - 1, around(n - 2, n), 0);
      nu[-1] = nu[n - 1];
      nu[n] = nu[0];
    }
  }

  void advance_row(int64_t layer, int64_t row) {
    const int64_t n = shape_.columns;
    poll(n);
    if (noise_) fill_divergence(layer, row);
    const T *const middle = potential_row(layer, row), *const before = potential_row(layer - 1, row),
                   *const behind = potential_row(layer + 1, row),
                   *const ahead = potential_row(layer, around(row - 1, shape_.rows)),
                   *const next = potential_row(layer, around(row + 1, shape_.rows)),
                   *const phi = field_row(layer, row), *const divergence = divergence_.data();
    T* const __restrict out = next_ + (layer * shape_.rows + row) * n;
    const auto sum = [=](int64_t x) {
      T sum = middle[x - 1] + middle[x + 1];
      if constexpr (kAxes == 3) sum = sum + (ahead[x] + next[x]);
      return sum + (before[x] + behind[x]);
    };
    if (noise_)
      for (int64_t x = 0; x < n; ++x) out[x] = advanced<kAxes>(phi[x], middle[x], sum(x), divergence[x]);
    else
      for (int64_t x = 0; x < n; ++x) out[x] = advanced<kAxes>(phi[x], middle[x], sum(x));
  }

  void draw_fluxes(int64_t layer, int64_t row, int axis, T* flux) {
    draw_row(draws_, kFaceFlux, shape_, layer * shape_.rows + row, axis, words_.data());
    const T by = by_.flux;
    const Bits32* const words = words_.data();
    for (int64_t x = 0; x < shape_.columns; ++x) flux[x] = by * T(odd_integer(words[x]));
  }

  void first_fluxes(int64_t layer) {
    for (int64_t row = 0; row < shape_.rows; ++row) {
      poll(shape_.columns * kDrawWork);
      draw_fluxes(layer, row, kAxes - 1, layer_flux_.data() + row * shape_.columns);
    }
  }

  // What random fluxes bring to the cells of a row: ((last axis) + (the one before)) + (the first).
  void fill_divergence(int64_t layer, int64_t row) {
    const int64_t n = shape_.columns;
    poll(n * kDrawWork);
    T* const sum = divergence_.data();
    draw_fluxes(layer, row, 0, flux_.data());
    sum[0] = flux_[n - 1] - flux_[0];
    for (int64_t x = 1; x < n; ++x) sum[x] = flux_[x - 1] - flux_[x];
    if (kAxes == 3) {
      if (row == 0) draw_fluxes(layer, shape_.rows - 1, 1, flux_before_.data());
      draw_fluxes(layer, row, 1, flux_.data());
      for (int64_t x = 0; x < n; ++x) sum[x] = sum[x] + (flux_before_[x] - flux_[x]);
      std::swap(flux_before_, flux_);
    }
    T* const before = layer_flux_.data() + row * n;
    draw_fluxes(layer, row, kAxes - 1, flux_.data());
    for (int64_t x = 0; x < n; ++x) sum[x] = sum[x] + (before[x] - flux_[x]);
    std::copy_n(flux_.data(), n, before);
  }

  static constexpr int64_t kDrawWork = 4 * kAxes;  // of a cell with noise, relative to one without

  const FieldShape shape_;
  const FieldCoefficients<T> by_;
  const Draws draws_;
  const T* const field_;
  T* const next_;
  const int64_t width_;
  const bool noise_;
  std::vector<T> potentials_;
  std::vector<Bits32> words_;
  std::vector<T> divergence_, flux_, flux_before_, layer_flux_;
};

template <int kAxes, class T>
void advance_fields(
    const FieldReplicas& replicas, const FieldCoefficients<T>& by, Bits32 step, const T* field, T* next) {
  for_each_strip(replicas, [&](const FieldStrip& strip) {
    const Draws draws{replicas.seed, replicas.first + Bits64(strip.replica), step};
    const int64_t first = strip.replica * replicas.shape.cells();
    FieldStep<T, kAxes>(replicas.shape, by, draws, field + first, next + first).advance(strip);
  });
}

template <class T> void start_fields(const FieldReplicas& replicas, T mean, T scale, T* field) {
  const FieldShape& shape = replicas.shape;
  for_each_strip(replicas, [&](const FieldStrip& strip) {
    const Draws draws{replicas.seed, replicas.first + Bits64(strip.replica), 0};
    std::vector<Bits32> words(shape.quads() * kQuad);
    for (int64_t row = strip.begin * shape.rows; row < strip.end * shape.rows; ++row) {
      poll(shape.columns);
      draw_row(draws, kFieldStart, shape, row, 0, words.data());
      T* const out = field + strip.replica * shape.cells() + row * shape.columns;
      for (int64_t x = 0; x < shape.columns; ++x) out[x] = mean + scale * T(odd_integer(words[x]));
    }
  });
}

template <int kAxes, class T>
void measure_fields(
    const FieldReplicas& replicas, const FieldGauge& gauge, const T* field, int64_t* record, int64_t length) {
  const FieldShape& shape = replicas.shape;
  const int64_t n = shape.columns;
  for_each_strip(replicas, [&](const FieldStrip& strip) {
    const T* const field_of_replica = field + strip.replica * shape.cells();
    FieldTally tally{};
    for (int64_t layer = strip.begin; layer < strip.end; ++layer)
      for (int64_t row = 0; row < shape.rows; ++row) {
        poll(n);
        const T *const phi = field_of_replica + (layer * shape.rows + row) * n,
                       *const back =
                           field_of_replica + (layer * shape.rows + around(row + 1, shape.rows)) * n,
                       *const behind =
                           field_of_replica + (around(layer + 1, shape.layers) * shape.rows + row) * n;
        for (int64_t x = 0; x < n; ++x) {
          T next[kFieldAxes] = {phi[x + 1 < n ? x + 1 : 0], back[x], behind[x]};
          if (kAxes == 2) next[1] = behind[x];
          tally.template add_cell<kAxes>(phi[x], next, gauge);
        }
      }
    for (int k = 0; k < kFieldEntries; ++k)
      Concurrent::fetch_add(record + strip.replica * length + k, tally.entry[k]);
  });
}

}
