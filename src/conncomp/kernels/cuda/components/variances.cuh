// Variances of components along their principal axes, on the GPU.
//
// What: the eigenvalues of covariances in two and three dimensions, the largest first, and those of the
// inertia tensors. How: by the formula in two; in three by Jacobi's rotations, each of which makes an entry
// off the diagonal 0 (Golub and Van Loan, "Matrix computations", 8.5). A thread has a component. Cost: some
// ten rotations in three dimensions.
#pragma once

#include "cuda/components/runs.cuh"

#ifndef __CUDACC__
#include <cmath>
#endif

namespace conncomp {

// Lets the entry of two axes of a symmetric matrix be 0; `other` is the third axis.
template <int p, int q, int other>
__device__ inline void rotate(double (&a)[3][3]) {
  const double entry = a[p][q];
  if (a[p][p] + entry == a[p][p] && a[q][q] + entry == a[q][q]) {
    a[p][q] = 0;
    return;
  }
  const double slope = (a[q][q] - a[p][p]) / (2 * entry);
  const double tangent = (slope < 0 ? -1 : 1) / (fabs(slope) + sqrt(slope * slope + 1));
  const double cosine = 1 / sqrt(tangent * tangent + 1), sine = tangent * cosine;
  a[p][p] -= tangent * entry;
  a[q][q] += tangent * entry;
  a[p][q] = 0;
  double& first = p < other ? a[p][other] : a[other][p];
  double& second = q < other ? a[q][other] : a[other][q];
  const double before = first;
  first = cosine * before - sine * second;
  second = sine * before + cosine * second;
}

__device__ inline void order(double& larger, double& smaller) {
  const double low = larger < smaller ? larger : smaller;
  larger = larger < smaller ? smaller : larger;
  smaller = low;
}

template <int axes>
__global__ void __launch_bounds__(kTableThreads)
    write_variances(const RunState* state, const double* __restrict__ covariances, double* variances,
                    double* moments_of_inertia) {
  follow_launch();
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const double* const given = covariances + row * axes * axes;
    double values[axes];
    if constexpr (axes == 2) {
      const double mean = (given[0] + given[3]) / 2, half = (given[0] - given[3]) / 2;
      const double root = sqrt(half * half + given[1] * given[1]);
      values[0] = mean + root;
      values[1] = mean - root;
    } else {
      constexpr int kMostSweeps = 12;
      double a[3][3];
#pragma unroll
      for (int i = 0; i < 9; ++i) a[i / 3][i % 3] = given[i];
      for (int sweep = 0; sweep < kMostSweeps && (a[0][1] != 0 || a[0][2] != 0 || a[1][2] != 0); ++sweep) {
        rotate<0, 1, 2>(a);
        rotate<0, 2, 1>(a);
        rotate<1, 2, 0>(a);
      }
#pragma unroll
      for (int k = 0; k < axes; ++k) values[k] = a[k][k];
      order(values[0], values[1]);
      order(values[1], values[2]);
      order(values[0], values[1]);
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < axes; ++k) {
      values[k] = values[k] < 0 ? 0 : values[k];
      variances[row * axes + k] = values[k];
      sum += values[k];
    }
#pragma unroll
    for (int k = 0; k < axes; ++k) moments_of_inertia[row * axes + k] = sum - values[axes - 1 - k];
  }
}

}  // namespace conncomp
