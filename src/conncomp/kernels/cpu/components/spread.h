// How values are spread: sums of squared deviations from the mean, and quantiles as NumPy's, NaN for
// components that hold NaN. Quantiles of few values come from partly sorted copies; of many, digits of keys
// are counted from the highest on, so that no copy is large. Cost: the values read once, or, of many, four
// times for a quantile.
#pragma once

#include "cpu/components/moments.h"

namespace conncomp {

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

  // Takes the values of a component; returns whether there are some, and none of them NaN.
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

// Fills, for each component, the quantiles of all fractions of [0, 1].
inline void find_quantiles(const ComponentRuns& runs, ReadValues read, const std::vector<double>& fractions,
                           double* quantiles) {
  runs.for_each_row<ComponentValues>([&](int64_t row, ComponentValues& values) {
    const bool has_order = values.take(runs, row, read);
    for (size_t k = 0; k < fractions.size(); ++k)
      quantiles[row * int64_t(fractions.size()) + int64_t(k)] =
          has_order ? values.quantile(fractions[k], read) : std::numeric_limits<double>::quiet_NaN();
  });
}

}  // namespace conncomp
