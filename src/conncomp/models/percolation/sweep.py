"""Sweeps, which add sites or bonds one by one: means for each number of them, and at each p."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from conncomp._arguments import as_number, check_choice, shown
from conncomp._arrays import as_numpy
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.lattice import Lattice
from conncomp.models.observables.series import EVENTS
from conncomp.models.percolation.lattices import BALANCE, SQUARE, crossing_at_threshold
from conncomp.models.protocol import Floats, Integers
from conncomp.models.statistics.estimates import Estimate

# What series have for each number of elements.
SWEEP_FIELDS = 4


class SweepEstimates(NamedTuple):
    """Means at one or several probabilities: values and errors have their shape.

    Attributes
    ----------
    p : ndarray
    clusters : Estimate
        The number of clusters a site of the lattice.
    largest_cluster : Estimate
        The share of the lattice's sites that are in the largest cluster.
    mean_size : Estimate
        The sum of squared sizes without the largest cluster, a site of the lattice.
    squared_sizes : Estimate
        The sum of all squared sizes, a site of the lattice.
    """

    p: Any
    clusters: Estimate
    largest_cluster: Estimate
    mean_size: Estimate
    squared_sizes: Estimate


@dataclass(frozen=True)
class PercolationSweep:
    """The result of `Percolation.sweep`: means for each number n of occupied sites or bonds.

    Attributes
    ----------
    series : ndarray of float64, shape (batches, len(numbers), 4)
        The sums over the runs of each batch, for each n of `numbers`: of the number of clusters,
        the largest size, its square, and the sum of squared sizes.
    numbers : range
        The n that have series: 0 ... elements, but for those that ``between`` leaves out.
    first_wraps : ndarray of int64, shape (runs, ndim + 1)
        For each run the n at which the lattice first wraps along each axis, and at which a cluster
        first does so in full rank; elements + 1 if it never does.
    lattice, kind, geometry
        As of `PercolationMeasurements`.
    """

    series: Floats
    numbers: range
    first_wraps: Integers
    lattice: Lattice | CellLattice
    kind: str
    geometry: str = SQUARE

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.first_wraps)

    @property
    def elements(self) -> int:
        """The number of sites, or of bonds."""
        return self.lattice.bonds if self.kind == "bond" else self.lattice.sites

    @property
    def clusters(self) -> Floats:
        """The mean number of clusters for each n of `numbers`."""
        return self._mean(0)

    @property
    def largest_cluster(self) -> Floats:
        """The mean number of sites of the largest cluster for each n of `numbers`."""
        return self._mean(1)

    @property
    def squared_sizes(self) -> Floats:
        """The mean of the sum of squared sizes for each n of `numbers`."""
        return self._mean(3)

    def first(self, event: str, axis: int | None = None) -> Integers:
        """Return of each run the n at which the lattice first wraps; elements + 1 if it never does.

        Parameters
        ----------
        event : {"axis", "any", "all", "cross"}
            Along `axis`; along any axis; along all of them, by one cluster or several; in full rank
            by one cluster, which in two dimensions is a cross, where "all" has helices, too.
        axis : int, optional
            For "axis" only; 0 by default.
        """
        check_choice("event", event, EVENTS)
        along = self.first_wraps[:, : self.lattice.ndim]
        self._check_axis(event, axis)
        if event == "axis":
            return np.asarray(along[:, axis or 0])
        if event == "any":
            return np.asarray(along.min(axis=1))
        return np.asarray(along.max(axis=1) if event == "all" else self.first_wraps[:, -1])

    def _check_axis(self, event: str, axis: int | None) -> None:
        if axis is not None and event != "axis":
            wrong = f'axis={shown(axis)} is for event="axis", and event={event!r}'
            raise ValueError(f"{wrong}; leave one out")
        check_choice("axis", 0 if axis is None else axis, tuple(range(self.lattice.ndim)))

    def wrapped(self, event: str, axis: int | None = None) -> Floats:
        """Return the share of runs that have wrapped, for n = 0 ... elements; see `first`."""
        first = np.bincount(self.first(event, axis), minlength=self.elements + 2)
        return np.cumsum(first[:-1]) / self.runs

    def at(self, p: ArrayLike) -> SweepEstimates:
        """Return means at one or several probabilities, by convolution with the binomial.

        Parameters
        ----------
        p : float or array_like of float
            From 0 to 1, where series were kept.

        Returns
        -------
        SweepEstimates
            Errors are from the spread of batches, NaN of fewer than two.

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> sweep = Percolation((64, 64), kind="bond", seed=1).sweep(100)
        >>> round(sweep.at(0.5).clusters.value, 3)
        0.098
        """
        probabilities, batches = _check_probabilities(p), len(self.series)
        more = np.arange(batches) < self.runs % batches
        runs = np.asarray(self.runs // batches + more, float)[:, np.newaxis]
        rows = np.empty((probabilities.size, batches, SWEEP_FIELDS))
        for row, probability in zip(rows, probabilities.flat, strict=True):
            begin, weights = binomial(self.elements, float(probability))
            if begin not in self.numbers or begin + len(weights) - 1 not in self.numbers:
                raise ValueError(
                    f"p={probability:.6g} needs series for n = {begin} to "
                    f"{begin + len(weights) - 1}, of which {self.numbers.start} to "
                    f"{self.numbers.stop - 1} were kept; give `sweep` a wider between"
                )
            first = begin - self.numbers.start
            row[...] = weights @ self.series[:, first : first + len(weights)] / runs
        number, largest, largest_squared, squares = np.moveaxis(rows / self.lattice.sites, -1, 0)

        def estimate(of_batches: Floats) -> Estimate:
            value = np.average(of_batches, axis=1, weights=runs[:, 0])
            spread = ((of_batches - value[:, np.newaxis]) ** 2).sum(axis=1)
            return _shaped(value, np.sqrt(spread / (batches * (batches - 1) or nan)), probabilities)

        means = map(estimate, (number, largest, squares - largest_squared, squares))
        return SweepEstimates(probabilities[()], *means)

    def wrapping(self, p: ArrayLike, event: str = "axis", axis: int | None = None) -> Estimate:
        """Return the probability that the lattice wraps, an `Estimate` of the shape of ``p``.

        The error is from the spread of runs, NaN of one. Other arguments are those of `first`.
        """
        probabilities, first = _check_probabilities(p), self.first(event, axis)
        pairs = [self._wrapping(first, float(probability)) for probability in probabilities.flat]
        values, errors = np.array(pairs).reshape(-1, 2).T
        return _shaped(values, errors, probabilities)

    def threshold(
        self, event: str = "axis", axis: int | None = None, crossing: float | None = None
    ) -> Estimate:
        """Estimate p_c: where the wrapping probability is what it is in the limit of many sites.

        The error is statistical. In two dimensions the estimate approaches p_c as L^(-11/4) [3]_.

        Parameters
        ----------
        event, axis
            As of `first`; or "balance", for two periodic axes of any lattice: where as many runs
            wrap along no axis as have a cross. With many sites that is p_c of every torus, as what
            is not there has a cross where nothing wraps.
        crossing : float, optional
            The wrapping probability at p_c, which some p must have. It is exactly known of two
            periodic axes of equal length of a square lattice [1]_ [2]_, and for "balance".

        References
        ----------
        .. [1] H. T. Pinson, J. Stat. Phys. 75, 1167 (1994).
        .. [2] R. M. Ziff, C. D. Lorenz, P. Kleban, Physica A 266, 17 (1999).
        .. [3] M. E. J. Newman, R. M. Ziff, Phys. Rev. Lett. 85, 4104 (2000).

        Examples
        --------
        >>> from conncomp.models import Percolation
        >>> sweep = Percolation((64, 64), kind="bond", seed=1).sweep(400)
        >>> threshold = sweep.threshold("all")
        >>> bool(abs(threshold.value - 0.5) < 4 * threshold.error)
        True
        """
        # Of each run the numbers at which it happens, whose mean counts.
        if event == BALANCE:
            self._check_axis(event, axis)
            first = np.stack([self.first("any"), self.first("cross")])
        else:
            first = self.first(event, axis)[np.newaxis]
        wanted = crossing_at_threshold(self.lattice, self.geometry, event, crossing)
        low, high = 0.0, 1.0
        if not (first <= self.elements).mean() > wanted:
            raise ValueError(
                f"crossing={wanted} is not reached, as the lattice never wraps; an axis must be "
                "periodic"
            )
        while (middle := (low + high) / 2) not in (low, high):
            if self._wrapping(first, middle)[0] < wanted:
                low = middle
            else:
                high = middle
        return Estimate(high, self._wrapping(first, high)[1] / self._slope(first, high))

    def _wrapping(self, first: Integers, p: float) -> tuple[float, float]:
        begin, weights = binomial(self.elements, p)
        # The probability of so many elements or more, for `first` from begin on.
        upper = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        each = upper[np.clip(first - begin, 0, len(weights))].reshape(-1, self.runs).mean(axis=0)
        error = each.std(ddof=1) / sqrt(self.runs) if self.runs > 1 else nan
        return float(each.mean()), float(error)

    def _slope(self, first: Integers, p: float) -> float:
        """Return by how much it rises with p: N P(n of N or more)' is N P(n - 1 of N - 1)."""
        begin, weights = binomial(self.elements - 1, p)
        padded = np.concatenate([[0.0], weights, [0.0]])
        return float(padded[np.clip(first - begin, 0, len(weights) + 1)].mean()) * self.elements

    def _mean(self, field: int) -> Floats:
        return np.asarray(self.series[..., field].sum(axis=0) / self.runs)


def check_interval(name: str, value: Any) -> tuple[float, float]:
    """Return two probabilities of which the first is not the larger one."""
    ends = np.array(as_numpy(value, name))
    if ends.dtype.kind not in "iuf":
        raise TypeError(f"{name}={shown(value)} must be two numbers")
    if ends.shape != (2,) or not 0 <= ends[0] <= ends[1] <= 1:
        raise ValueError(f"{name}={shown(value)} must be two numbers of 0 to 1 that do not fall")
    return float(ends[0]), float(ends[1])


def _check_probabilities(p: ArrayLike) -> Floats:
    given = np.asarray(as_number("p", p)) if np.isscalar(p) else as_numpy(p, "p")
    if given.dtype.kind not in "iuf":
        raise TypeError(f"p={shown(p)} must be a number, or an array of numbers")
    probabilities = np.asarray(given, np.float64)
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError(f"p={shown(p)} must be from 0 to 1")
    return probabilities


def _shaped(value: Any, error: Any, like: Floats) -> Estimate:
    if like.ndim == 0:
        return Estimate(float(value[0]), float(error[0]))
    return Estimate(value.reshape(like.shape), error.reshape(like.shape))


# Beyond so many standard deviations, and so many more, a binomial distribution is below 1e-30.
TAIL, LEAST_TAIL = 12, 80


def binomial(count: int, p: float) -> tuple[int, Floats]:
    """Return the first number and binomial probabilities above 1e-30, by ratios of neighbours."""
    if p in (0.0, 1.0):
        return int(count * p), np.ones(1)
    mode = min(int((count + 1) * p), count)
    reach = int(TAIL * sqrt(count * p * (1 - p))) + LEAST_TAIL
    begin, end = max(mode - reach, 0), min(mode + reach, count)
    numbers = np.arange(begin, end, dtype=np.float64)
    rises = np.log((count - numbers) / (numbers + 1)) + (np.log(p) - np.log1p(-p))
    logarithms = np.concatenate([[0.0], np.cumsum(rises)])
    weights = np.exp(logarithms - logarithms[mode - begin])
    return begin, weights / weights.sum()


def numbers_between(count: int, low: float, high: float) -> range:
    """Return the numbers of which `binomial` gives some at any p from `low` to `high`."""
    begin, _ = binomial(count, low)
    last, weights = binomial(count, high)
    # Modes and reaches are rounded, so a larger p may begin one earlier.
    return range(max(begin - 1, 0), min(last + len(weights), count) + 1)
