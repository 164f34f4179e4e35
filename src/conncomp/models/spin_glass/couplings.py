"""Couplings and fields of spin glasses, drawn or given, for the kernels."""

from __future__ import annotations

from math import frexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.spin_glass import GlassReplicas, bits_of_samples, digits_of_replicas
from conncomp.models._arguments import as_reals, finite
from conncomp.models._probabilities import level_probabilities, logarithm_table, temperature_factors
from conncomp.models.disorder import COUPLING, SAMPLE_SHIFT, Distribution, draw_numbers
from conncomp.models.protocol import Floats, Integers

FIELD_BITS = 30  # of the largest field, as an integer


def draw_couplings(lattice: Lattice, drawn: Distribution, seed: int, samples: range) -> Floats:
    """Draw couplings, of shape (samples, axes, sites), by (site | sample, axis)."""
    couplings = np.empty((len(samples), lattice.ndim, lattice.sites))
    sites = np.arange(lattice.sites, dtype=np.uint64)
    for k, sample in enumerate(samples):
        index = sites | np.uint64(sample << SAMPLE_SHIFT)
        for axis in range(lattice.ndim):
            couplings[k, axis] = draw_numbers(index, drawn, COUPLING | axis << 8, seed)
    return couplings


def check_array(name: str, given: Any, shape: tuple[int, ...], samples: int) -> Floats:
    """Return numbers, (samples, *shape), given for all samples or one each."""
    array = as_reals(name, given, "biuf")
    shapes = shape, (samples, *shape)
    if array.shape not in shapes:
        raise ValueError(
            f"{name} has shape {array.shape}; it must have {shape}, or {shapes[1]} with one each"
        )
    return np.broadcast_to(finite(name, array), shapes[1])


class Bonds(NamedTuple):
    """Couplings and fields as they act: whole numbers of a unit of each sample.

    `couplings`, (samples, axes, sites), are 0 without a bond, or with one from a site to itself,
    whose energy is in `constant`. A sample's unit is `magnitude` if all bonds have that without a
    field, so that kernels count bonds, else 2**-exponent.
    """

    couplings: NDArray[np.int32]
    fields: NDArray[np.int32] | None
    exponents: Integers
    magnitude: float | None
    constant: Floats

    @property
    def units(self) -> Floats:
        """The unit of each sample."""
        if self.magnitude is not None:
            return np.full(len(self.couplings), self.magnitude)
        return np.ldexp(1.0, -self.exponents)

    @property
    def numbers(self) -> Integers:
        """The number of bonds of each sample."""
        return np.asarray(np.count_nonzero(self.couplings, axis=(1, 2)), np.int64)


def as_bonds(lattice: Lattice, couplings: Floats, fields: Floats | None) -> Bonds:
    """Return couplings, (samples, axes, sites), and fields, (samples, sites), as they act."""
    samples, acting = len(couplings), couplings.copy()
    grid = acting.reshape(samples, lattice.ndim, *lattice.shape)
    constant = np.zeros(samples)
    for axis, (length, closed) in enumerate(zip(lattice.shape, lattice.periodic, strict=True)):
        if closed and length == 1:
            constant -= grid[:, axis].reshape(samples, -1).sum(axis=1)
        if not closed or length == 1:
            np.moveaxis(grid[:, axis], 1 + axis, 0)[-1] = 0
    if fields is not None and not fields.any():
        fields = None
    magnitudes = np.abs(acting)
    largest = magnitudes.max()
    if fields is None and ((magnitudes == largest) | (magnitudes == 0)).all():
        signs = np.sign(acting).astype(np.int32)
        return Bonds(signs, None, np.zeros(samples, np.int64), float(largest), constant)
    with np.errstate(over="ignore"):
        bound = _largest_fields(grid, fields)
    exponents = np.array([FIELD_BITS - frexp(largest)[1] for largest in bound.tolist()], np.int64)
    if not np.isfinite(bound).all() or (np.abs(exponents) > 1000).any():
        raise ValueError(
            f"couplings and fields of up to {shown(float(bound.max()))} are too large, or too "
            "small; choose others, and beta"
        )
    acts = None if fields is None else _rounded(fields, exponents)
    return Bonds(_rounded(acting, exponents), acts, exponents, None, constant)


def _largest_fields(grid: Floats, fields: Floats | None) -> Any:
    """Return the largest field that a spin of each sample can be in."""
    total = np.zeros((len(grid), *grid.shape[2:]))
    for axis in range(grid.shape[1]):
        magnitude = np.abs(grid[:, axis])
        total += magnitude + np.roll(magnitude, 1, axis=1 + axis)
    total = total.reshape(len(grid), -1)
    return (total if fields is None else total + np.abs(fields)).max(axis=1)


def _rounded(numbers: Floats, exponents: Integers) -> NDArray[np.int32]:
    powers = exponents.reshape(-1, *(1,) * (numbers.ndim - 1))
    return np.rint(np.ldexp(numbers, powers)).astype(np.int32)


class Acting(NamedTuple):
    """Couplings and fields as numbers; or couplings as bits, below 0 and not 0."""

    replicas: GlassReplicas
    bonds: Bonds
    arrays: tuple[NDArray[np.generic], NDArray[np.generic] | None]

    @property
    def numbers(self) -> bool:
        """Whether couplings are numbers."""
        return self.bonds.magnitude is None

    @property
    def tables(self) -> list[NDArray[np.uint32]]:
        """The tables by which random numbers are compared, besides temperatures."""
        return [logarithm_table()] if self.numbers else []

    def temperatures(self, betas: Floats, rule: str) -> NDArray[np.generic]:
        """Return inverse temperatures, one of each replica, as the kernels take them."""
        bonds, replicas = self.bonds, self.replicas
        if bonds.magnitude is None:
            return temperature_factors(betas, np.repeat(bonds.exponents, replicas.per_sample))
        axes, whole = replicas.lattice.ndim, self.arrays[1] is None
        kinds = axes + 1 if whole else 2 * axes + 1
        chances = level_probabilities(betas, bonds.magnitude, rule, kinds, whole)
        return digits_of_replicas(replicas, chances)


def as_acting(replicas: GlassReplicas, bonds: Bonds) -> Acting:
    """Return bonds and fields as arrays."""
    if bonds.magnitude is None:
        return Acting(replicas, bonds, (bonds.couplings, bonds.fields))
    there = bonds.couplings != 0
    present = None if there.all() else bits_of_samples(replicas, there)
    return Acting(replicas, bonds, (bits_of_samples(replicas, bonds.couplings < 0), present))
