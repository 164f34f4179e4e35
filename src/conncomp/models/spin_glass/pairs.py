"""Pairs of replicas of one sample at one temperature: their overlaps, and Houdayer's moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_integer, as_sequence, shown
from conncomp._array_storage import on_host
from conncomp.generate.random import MASK, philox
from conncomp.grid import label
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.spin_glass import GROUP, GlassReplicas
from conncomp.models.protocol import Floats
from conncomp.models.spin_glass.couplings import Bonds

# The purpose of random numbers, and where an index has the replica.
HOUDAYER, REPLICA_SHIFT = 27, 40
# So many sites of pairs are compared at once, so that labels take little memory.
SITES_TOGETHER = 1 << 26


def pairs_of(betas: Floats, given: Floats, samples: int) -> NDArray[np.int32]:
    """Return pairs of replicas with one sample and temperature, (pairs, 2).

    In the order of samples, then of temperatures as in `given`; of equal replicas, the first goes
    with the second, the third with the fourth.
    """
    grid = betas.reshape(samples, -1)
    order = np.argsort(grid, axis=1, kind="stable")
    ordered = np.take_along_axis(grid, order, axis=1)
    like_next = ordered[:, :-1] == ordered[:, 1:]
    # Every second one of those that are equal begins a pair, if there is one after it.
    places = np.arange(grid.shape[1])
    begins = np.pad(~like_next, ((0, 0), (1, 0)), constant_values=True)
    of_run = places - np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    sample, first = np.nonzero(like_next & (of_run[:, :-1] % 2 == 0))
    both = np.stack([order[sample, first], order[sample, first + 1]], axis=1)
    known, places = np.unique(given, return_index=True)
    beta = ordered[sample, first]
    place = places[np.minimum(np.searchsorted(known, beta), len(known) - 1)]
    pairs = both + grid.shape[1] * sample[:, None]
    return np.asarray(pairs[np.lexsort((beta, place, sample))], np.int32)


def differences(
    engine: Any, lattice: Lattice, words: Any, pairs: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.int32], Any]]:
    """Yield some pairs at a time, and where their replicas differ, uint8 of (pairs, sites)."""
    together = max(1, SITES_TOGETHER // lattice.sites)
    for begin in range(0, len(pairs), together):
        some = np.ascontiguousarray(pairs[begin : begin + together])
        differ = engine.xp.empty((len(some), lattice.sites), "u1")
        engine.compare_pairs(words, some, differ)
        yield some, differ


@dataclass(frozen=True)
class Overlaps:
    """The overlaps of pairs of replicas, q_i = s_i s_i' at site i: `SpinGlass.overlaps` makes it.

    Attributes
    ----------
    beta : ndarray of float64, shape (pairs,)
        In the order of samples, then of temperatures as the model was given them.
    sample : ndarray of int64, shape (pairs,)
    replicas : ndarray of int32, shape (pairs, 2)
    overlap : ndarray of float64, shape (pairs,)
        The mean of q_i over the sites.
    link_overlap : ndarray of float64, shape (pairs,)
        The mean of q_i q_j over the bonds that are there; NaN where there are none.
    structure : ndarray of float64, shape (pairs, ndim)
        ``|sum of q_i exp(2 pi i x / L)|^2 / N``, x along each axis: at the smallest wave vectors.
    """

    beta: Floats
    sample: NDArray[np.int64]
    replicas: NDArray[np.int32]
    overlap: Floats
    link_overlap: Floats
    structure: Floats

    def of_sample(self, number: int) -> Overlaps:
        """Return those of one sample, a number of `sample`.

        They are for `overlap_distribution`, and for `summarise_overlaps`, whose errors are then
        over parts of the series.

        Examples
        --------
        >>> from conncomp.models import SpinGlass
        >>> SpinGlass((4, 4), beta=0.2, samples=3, copies=2).overlaps().of_sample(2).overlap.shape
        (1,)
        """
        chosen = self.sample == as_integer("number", number)
        if not chosen.any():
            known = ", ".join(map(str, np.unique(self.sample)[:8]))
            raise ValueError(f"number={shown(number)} is none of the samples: {known}")
        return Overlaps(*(getattr(self, each.name)[chosen] for each in fields(self)))


def as_overlaps(measured: Any) -> Sequence[Overlaps]:
    """Return the overlaps of one moment or more; a TypeError or ValueError says what they are."""
    moments: Sequence[Overlaps] = as_sequence("measured", measured)
    if not len(moments):
        raise ValueError("measured is empty; give the overlaps of one moment or more")
    for each in moments:
        if not isinstance(each, Overlaps):
            raise TypeError(f"measured has {shown(each)}; it must be of SpinGlass.overlaps")
    return moments


def measure_overlaps(
    engine: Any, lattice: Lattice, words: Any, pairs: Any, bonds: Bonds, per_sample: int
) -> tuple[Floats, ...]:
    """Return overlap, link overlap and structure factors of pairs."""
    xp, shape, axes = engine.xp, lattice.shape, range(lattice.ndim)
    overlaps, links, structures = [], [], []
    for some, differ in differences(engine, lattice, words, pairs):
        signs = (1 - 2 * differ.view("i1")).reshape(-1, *shape)
        samples, there = some[:, 0] // per_sample, bonds.couplings != 0
        sums, planes = xp.zeros(len(some), np.int64), []
        for axis in axes:
            of_axis = xp.asarray(there[:, axis]).reshape(-1, *shape)[xp.asarray(samples)]
            products = signs * xp.roll(signs, -1, axis=1 + axis) * of_axis
            sums += products.reshape(len(some), -1).sum(axis=1, dtype=np.int64)
            others = tuple(1 + other for other in axes if other != axis)
            planes.append(on_host(signs.sum(axis=others, dtype=np.int64)))
        overlaps.append(planes[0].sum(axis=1) / lattice.sites)
        with np.errstate(invalid="ignore"):
            links.append(on_host(sums) / bonds.numbers[samples])
        waves = [np.exp(2j * np.pi * np.arange(length) / length) for length in shape]
        both = zip(planes, waves, strict=True)
        factors = [np.abs(plane @ wave) ** 2 / lattice.sites for plane, wave in both]
        structures.append(np.stack(factors, axis=1))
    return np.concatenate(overlaps), np.concatenate(links), np.concatenate(structures)


def move_clusters(
    engine: Any, replicas: GlassReplicas, words: Any, pairs: NDArray[np.int32], number: int
) -> None:
    """Flip, in both replicas of each pair, the cluster of a chosen site where they differ.

    The energy of both together stays, and where they differ, so the move back is as probable: J.
    Houdayer, Eur. Phys. J. B 22, 479 (2001). The site is the k-th of those that differ, k drawn by
    the numbers of the update and of the pair's first replica.
    """
    xp, lattice, (seed, first_replica, _) = engine.xp, replicas.lattice, replicas.drawn
    how: Any = {"periodic": lattice.periodic, "batch_axes": 1, "numbering": "roots"}
    for some, differ in differences(engine, lattice, words, pairs):
        roots: Any = label(differ.reshape(-1, *lattice.shape), connectivity=1, **how)
        roots = roots.reshape(len(some), -1)
        ranks = xp.cumsum(differ, axis=1, dtype=np.int32)
        index = (first_replica + some[:, 0]).astype(np.uint64) << np.uint64(REPLICA_SHIFT)
        counter = index & np.uint64(MASK), index >> np.uint64(32), number, HOUDAYER
        low, high, _, _ = philox(seed, counter)
        bits = np.asarray(low, np.uint64) | np.asarray(high, np.uint64) << np.uint64(32)
        chosen = [int(b) * int(c) >> 64 for b, c in zip(bits, on_host(ranks[:, -1]), strict=True)]
        sites = (ranks <= xp.asarray(chosen, dtype=np.int32)[:, None]).sum(axis=1)
        # Replicas that are equal have no such site, and no cluster.
        sites = xp.minimum(sites, lattice.sites - 1)
        root = xp.take_along_axis(roots, sites[:, None], axis=1)
        pair_of = np.full(len(words) * GROUP, -1, np.int32)
        for column in (0, 1):
            pair_of[some[:, column]] = np.arange(len(some))
        engine.flip_pairs(words, pair_of, ((roots == root) & (differ != 0)).view("u1"))
