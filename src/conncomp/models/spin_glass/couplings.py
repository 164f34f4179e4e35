"""Couplings and fields of spin glasses: drawn or given, and as the kernels take them."""

from __future__ import annotations

from math import frexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._arrays import as_numpy, check_kind, on_gpu, on_host
from conncomp.generate.random import MASK, philox
from conncomp.kernels.lattice import Lattice
from conncomp.models.spin_glass.quantiles import normal_quantile

KINDS = ("pm", "gaussian")
COUPLING, SAMPLE_SHIFT = 26, 40  # the purpose of random numbers, and where an index has the sample
FIELD_BITS = 30  # of the largest field, as an integer


class Drawn(NamedTuple):
    """How couplings are drawn: a kind of `KINDS`, and with which shares.

    Attributes
    ----------
    kind : {"pm", "gaussian"}
    positive : float
        Which share of the bonds of "pm" is positive.
    dilution : float
        Which share of the bonds is absent.
    """

    kind: str
    positive: float
    dilution: float


def draw_couplings(
    lattice: Lattice, drawn: Drawn, seed: int, samples: range
) -> NDArray[np.float64]:
    """Draw couplings, of shape (samples, axes, sites).

    Block (site | sample << 40, step 0, purpose 26 | axis << 8) has two numbers of 64 bits: the
    first one's place among all is that of the coupling among all couplings, from the lowest one on,
    and a bond is absent if the second one is below `dilution`.
    """
    couplings = np.empty((len(samples), lattice.ndim, lattice.sites))
    sites = np.arange(lattice.sites, dtype=np.uint64)
    for k, sample in enumerate(samples):
        index = sites | np.uint64(sample << SAMPLE_SHIFT)
        for axis in range(lattice.ndim):
            counter = index & np.uint64(MASK), index >> np.uint64(32), 0, COUPLING | axis << 8
            low, high, low_absent, high_absent = philox(seed, counter)
            value = _unit_interval(low, high)
            if drawn.kind == "pm":
                of_axis = np.where(value < 1 - drawn.positive, -1.0, 1.0)
            else:
                of_axis = normal_quantile(value)
            if drawn.dilution:
                of_axis[_unit_interval(low_absent, high_absent) < drawn.dilution] = 0
            couplings[k, axis] = of_axis
    return couplings


def _unit_interval(low: Any, high: Any) -> NDArray[np.float64]:
    """Return numbers above 0 and below 1: the middles of 2**52 intervals."""
    bits = np.asarray(low, np.uint64) | np.asarray(high, np.uint64) << np.uint64(32)
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def as_reals(name: str, given: Any) -> NDArray[Any]:
    """Return an array of real numbers, which may have been given on a GPU."""
    array: NDArray[Any] = on_host(given) if on_gpu(given) else as_numpy(given, name)
    check_kind(array, "biuf", given, name, "of real numbers")
    return array


def check_array(name: str, given: Any, shape: tuple[int, ...], samples: int) -> NDArray[np.float64]:
    """Return numbers of each sample, (samples, *shape), given for all or one each."""
    array = as_reals(name, given)
    shapes = shape, (samples, *shape)
    if array.shape not in shapes:
        raise ValueError(
            f"{name} has shape {array.shape}; it must have {shape}, or {shapes[1]} with one each"
        )
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(numbers))[0])
        raise ValueError(f"{name}{list(place)}={numbers[place]} must be finite")
    return np.broadcast_to(numbers, shapes[1])


class Bonds(NamedTuple):
    """Couplings and fields as they act: whole numbers of a unit, which each sample has.

    Attributes
    ----------
    couplings : ndarray of int32, shape (samples, axes, sites)
        0 where there is no bond; and where one joins a site to itself, as no flip changes that.
    fields : ndarray of int32, shape (samples, sites), or None
    exponents : ndarray of int64, shape (samples,)
        The unit of a sample is 2**-exponent, or `magnitude`.
    magnitude : float or None
        Of all couplings, if there is one, and no field: the kernels then count bonds.
    constant : ndarray of float64, shape (samples,)
        The energy of bonds that join sites to themselves.
    """

    couplings: NDArray[np.int32]
    fields: NDArray[np.int32] | None
    exponents: NDArray[np.int64]
    magnitude: float | None
    constant: NDArray[np.float64]

    @property
    def units(self) -> NDArray[np.float64]:
        """What 1 is worth, in each sample."""
        if self.magnitude is not None:
            return np.full(len(self.couplings), self.magnitude)
        return np.ldexp(1.0, -self.exponents)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many bonds each sample has."""
        return np.asarray(np.count_nonzero(self.couplings, axis=(1, 2)), np.int64)


def as_bonds(
    lattice: Lattice, couplings: NDArray[np.float64], fields: NDArray[np.float64] | None
) -> Bonds:
    """Return couplings, (samples, axes, sites), and fields, (samples, sites), as they act."""
    samples = len(couplings)
    acting = couplings.copy()
    grid = acting.reshape(samples, lattice.ndim, *lattice.shape)
    constant = np.zeros(samples)
    for axis, (length, closed) in enumerate(zip(lattice.shape, lattice.periodic, strict=True)):
        if closed and length == 1:
            constant -= grid[:, axis].reshape(samples, -1).sum(axis=1)
        if not closed or length == 1:
            np.moveaxis(grid[:, axis], 1 + axis, 0)[-1] = 0
    if fields is not None and not fields.any():
        fields = None
    magnitudes = np.unique(np.abs(acting))
    if fields is None and (magnitudes > 0).sum() <= 1:
        signs = np.sign(acting).astype(np.int32)
        return Bonds(signs, None, np.zeros(samples, np.int64), float(magnitudes[-1]), constant)
    with np.errstate(over="ignore"):
        bound = _largest_fields(grid, fields)
    exponents = np.array([FIELD_BITS - frexp(largest)[1] for largest in bound.tolist()], np.int64)
    if not np.isfinite(bound).all() or (np.abs(exponents) > 1000).any():
        raise ValueError(
            f"couplings and fields of up to {shown(float(bound.max()))} are too large, or too "
            "small; choose others, and beta"
        )
    return Bonds(
        _rounded(acting, exponents),
        None if fields is None else _rounded(fields, exponents),
        exponents,
        None,
        constant,
    )


def _largest_fields(grid: NDArray[np.float64], fields: NDArray[np.float64] | None) -> Any:
    """Return the largest field that a spin of each sample can be in."""
    total = np.zeros((len(grid), *grid.shape[2:]))
    for axis in range(grid.shape[1]):
        magnitude = np.abs(grid[:, axis])
        total += magnitude + np.roll(magnitude, 1, axis=1 + axis)
    total = total.reshape(len(grid), -1)
    return (total if fields is None else total + np.abs(fields)).max(axis=1)


def _rounded(numbers: NDArray[np.float64], exponents: NDArray[np.int64]) -> NDArray[np.int32]:
    powers = exponents.reshape(-1, *(1,) * (numbers.ndim - 1))
    return np.rint(np.ldexp(numbers, powers)).astype(np.int32)
