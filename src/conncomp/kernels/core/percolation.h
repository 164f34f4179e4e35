// Percolation: what CPU and CUDA share. Sites are there, or bonds are, each by its own draw: words of bits as
// in core/spins.h, of Purpose kOccupied, at the step of an update.
// Run r of a sweep adds the elements, numbered in C order, bonds by axis and the site that they lead from,
// without those over open ends, in an order drawn as by Fisher and Yates: for i = 0, 1, ... the number at
// place i of 0 ... n - 1 changes places with the one at
//      i + below(half i % 2 of philox(seed, i / 2, r, kOrder), n - i)
#pragma once

#include "core/spins.h"

namespace conncomp {

constexpr int kSizeClassCount = 41;  // as there are fewer than 2^40 sites

// The fields of a record of one configuration (measurements.py); the sum of squares is two limbs of 32 bits.
enum PercolationField {
  kElements,  // sites or bonds that are there
  kNumber,    // of clusters
  kLargestSize,
  kSizeSquares,
  kWrapAxes = 5,  // a bit for each axis of the model along which a cluster wraps
  kWrapRank,
  kSizeClasses,  // clusters of 2^k ... 2^(k + 1) - 1 sites, for each k
  kPercolationFields = kSizeClasses + kSizeClassCount
};

}
