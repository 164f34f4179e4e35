// Moments up to the third power along each axis, maybe weighted by values: sums of x^p y^q ..., p, q = 0 ...
// 3, from the box, or, of values, from any origin. A run has sums of powers of its last coordinate, in closed
// form without values, which the powers of the others multiply. Moments of elements are integers of 64 or 128
// bits, or else floating point. Central ones come from integers: the origin moves exactly to the element next
// to the centroid, then by less than one. Cost: 4^axes products a run.
#pragma once

#include <cmath>

#include "core/moments.h"
#include "cpu/components/component_runs.h"

namespace conncomp {

using ReadValues = FunctionRef<void(Run, double*)>;
using RunValues = std::array<double, kWord>;

template <class Sum> using PowerSums = std::array<Sum, kPowers>;

template <class Sum> PowerSums<Sum> sums_before(Sum x) {
  const Sum sum = x * (x - 1) / 2;
  return {x, sum, (x - 1) * x * (2 * x - 1) / 6, sum * sum};
}

template <class Sum, class Coordinate> class MomentSums {
 public:
  explicit MomentSums(const std::vector<int64_t>& shape)
      : shape_(shape), factors_(moments_of(axes() - 1)), sums_(moments_of(axes())) {}

  int axes() const { return int(shape_.size()); }
  std::vector<Sum>& sums() { return sums_; }
  void begin(const Coordinate* origin) {
    std::fill(sums_.begin(), sums_.end(), Sum());
    origin_ = origin, line_ = -1;
  }
  Coordinate last_origin() const { return origin_[axes() - 1]; }

  void add(int64_t line, const PowerSums<Sum>& along) {
    if (line != line_) find_factors(line);
    line_ = line;
    Sum* sum = sums_.data();
    for (const Sum factor : factors_)
      for (const Sum power : along) *sum++ += factor * power;
  }

 private:
  void find_factors(int64_t line) {
    for (int k = axes() - 2; k >= 0; line /= shape_[k--]) {
      const Sum x = Sum(Coordinate(line % shape_[k]) - origin_[k]);
      powers_[k] = {1, x, x * x, x * x * x};
    }
    factors_[0] = 1;
    for (int k = 0; k < axes() - 1; ++k)
      for (int64_t i = moments_of(k) - 1; i >= 0; --i) {
        const Sum factor = factors_[i];
        for (int p = kPowers - 1; p >= 0; --p) factors_[i * kPowers + p] = factor * powers_[k][p];
      }
  }

  static constexpr int kMostAxes = 8;

  const std::vector<int64_t>& shape_;
  std::array<PowerSums<Sum>, kMostAxes> powers_;
  std::vector<Sum> factors_, sums_;
  const Coordinate* origin_ = nullptr;
  int64_t line_ = -1;
};

struct MomentColumns {
  double *raw, *central;
};

template <class Sum> class ElementMoments {
  using Signed = std::conditional_t<std::is_same_v<Sum, double>, double,
      std::conditional_t<std::is_same_v<Sum, uint64_t>, int64_t, __int128>>;

 public:
  explicit ElementMoments(const ComponentRuns& runs)
      : runs_(runs), moments_(runs.shape()), origin_(runs.axes()) {}

  void write(int64_t row, const int64_t* box, const MomentColumns& columns) {
    for (int k = 0; k < runs_.axes(); ++k) origin_[k] = box[2 * k];
    moments_.begin(origin_.data());
    const int64_t last = moments_.last_origin();
    runs_.for_each_on_lines(row, [&](Run, int64_t line, int64_t begin, int64_t end) {
      PowerSums<Sum> sums = sums_before(Sum(end - last));
      const PowerSums<Sum> before = sums_before(Sum(begin - last));
      for (int p = 0; p < kPowers; ++p) sums[p] -= before[p];
      moments_.add(line, sums);
    });
    const int64_t count = moments_of(runs_.axes());
    double* out = columns.raw + row * count;
    for (const Sum sum : moments_.sums()) *out++ = as_real(Signed(sum));
    centre_moments<Signed>(moments_.sums().data(), runs_.axes(), columns.central + row * count);
  }

 private:
  const ComponentRuns& runs_;
  MomentSums<Sum, int64_t> moments_;
  std::vector<int64_t> origin_;
};

inline void write_moments(const ComponentRuns& runs, const int64_t* boxes, const MomentColumns& columns) {
  constexpr double kNarrow = 0x1p62, kWide = 0x1p125;
  struct Scratch {
    std::optional<ElementMoments<uint64_t>> narrow;
    std::optional<ElementMoments<unsigned __int128>> wide;
    std::optional<ElementMoments<double>> real;
  };
  runs.for_each_row<Scratch>([&](int64_t row, Scratch& scratch) {
    const int64_t* const box = boxes + 2 * row * runs.axes();
    double largest = double(runs.count(row)) * kWord;
    for (int k = 0; k < runs.axes(); ++k) largest *= std::pow(double(box[2 * k + 1] - box[2 * k]), 3);
    const auto write = [&](auto& moments) {
      if (!moments) moments.emplace(runs);
      moments->write(row, box, columns);
    };
    if (largest < kNarrow)
      write(scratch.narrow);
    else if (largest < kWide)
      write(scratch.wide);
    else
      write(scratch.real);
  });
}

// Moments weighted by values, about an origin per row: `origins` has a number for each row and axis.
inline void weigh_moments(
    const ComponentRuns& runs, ReadValues read, const double* origins, double* moments) {
  struct Scratch {
    std::optional<MomentSums<double, double>> sums;
  };
  const int64_t count = moments_of(runs.axes());
  runs.for_each_row<Scratch>([&](int64_t row, Scratch& scratch) {
    if (!scratch.sums) scratch.sums.emplace(runs.shape());
    auto& sums = *scratch.sums;
    sums.begin(origins + row * runs.axes());
    RunValues values;
    runs.for_each_on_lines(row, [&](Run run, int64_t line, int64_t begin, int64_t end) {
      read(run, values.data());
      PowerSums<double> along{};
      for (int64_t i = 0; i < end - begin; ++i) {
        const double x = double(begin + i) - sums.last_origin(), first = values[i] * x, second = first * x;
        along[0] += values[i], along[1] += first, along[2] += second, along[3] += second * x;
      }
      sums.add(line, along);
    });
    std::copy_n(sums.sums().data(), count, moments + row * count);
  });
}

// How values are spread: sums of squared deviations, and quantiles as NumPy's, NaN with any NaN: of few
// values by partly sorted copies, of many by counting digits of keys from the highest on.

inline void sum_squares(const ComponentRuns& runs, ReadValues read, const double* means, double* sums) {
  struct Scratch {
    RunValues values;
  };
  runs.for_each_row<Scratch>([&](int64_t row, Scratch& scratch) {
    double sum = 0;
    runs.for_each(row, [&](Run run) {
      read(run, scratch.values.data());
      for (int64_t i = 0; i < run.end - run.begin; ++i) {
        const double deviation = scratch.values[i] - means[row];
        sum += deviation * deviation;
      }
    });
    sums[row] = sum;
  });
}

class ComponentValues {
 public:
#ifdef CONNCOMP_GRAIN
  static constexpr int64_t kMany = CONNCOMP_GRAIN;
#else
  static constexpr int64_t kMany = int64_t(1) << 20;
#endif

  bool take(const ComponentRuns& runs, int64_t row, ReadValues read) {
    runs_ = &runs, row_ = row, size_ = 0;
    bool numbers = true;
    runs.for_each(row, [&](Run run) { size_ += run.end - run.begin; });
    few_.resize(size_ <= kMany ? size_ : 0);
    int64_t at = 0;
    for_each(read, [&](double value) {
      numbers = numbers && value == value;
      if (!few_.empty()) few_[at++] = value;
    });
    return numbers && size_ > 0;
  }

  double quantile(double fraction, ReadValues read) {
    const double place = fraction * double(size_ - 1);
    const int64_t below = std::min(int64_t(place), size_ - 1), above = std::min(below + 1, size_ - 1);
    const double part = place - double(below), low = ranked(below, read);
    if (part == 0 || above == below) return low;
    // Those of higher ranks are behind it.
    const double high =
        few_.empty() ? ranked(above, read) : *std::min_element(few_.begin() + above, few_.end());
    if (part == 0.5) return (low + high) / 2;
    return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
  }

 private:
  void for_each(ReadValues read, auto&& visit) {
    runs_->for_each(row_, [&](Run run) {
      poll(run.end - run.begin);
      read(run, values_.data());
      for (int64_t i = 0; i < run.end - run.begin; ++i) visit(values_[i]);
    });
  }

  double ranked(int64_t rank, ReadValues read) {
    if (few_.empty()) return ranked_of_many(rank, read);
    std::nth_element(few_.begin(), few_.begin() + rank, few_.end());
    return few_[rank];
  }

  double ranked_of_many(int64_t rank, ReadValues read) {
    constexpr int kDigit = 16, kBits = 64;
    uint64_t key = 0;
    for (int shift = kBits - kDigit; shift >= 0; shift -= kDigit) {
      counts_.assign(size_t(1) << kDigit, 0);
      for_each(read, [&, known = shift + kDigit](double value) {
        const uint64_t other = Order<double>::key(value);
        if (known == kBits || (other ^ key) >> known == 0) ++counts_[other >> shift & below(kDigit)];
      });
      uint64_t digit = 0;
      // Values that change meanwhile may have been counted fewer.
      while (digit < below(kDigit) && rank >= counts_[digit]) rank -= counts_[digit++];
      key |= digit << shift;
    }
    return Order<double>::value(key);
  }

  const ComponentRuns* runs_ = nullptr;
  int64_t row_ = 0, size_ = 0;
  RunValues values_;
  std::vector<double> few_;
  std::vector<int64_t> counts_;
};

inline void find_quantiles(
    const ComponentRuns& runs, ReadValues read, const std::vector<double>& fractions, double* quantiles) {
  runs.for_each_row<ComponentValues>([&](int64_t row, ComponentValues& values) {
    const bool has_order = values.take(runs, row, read);
    for (size_t k = 0; k < fractions.size(); ++k)
      quantiles[row * int64_t(fractions.size()) + int64_t(k)] =
          has_order ? values.quantile(fractions[k], read) : std::numeric_limits<double>::quiet_NaN();
  });
}

}
