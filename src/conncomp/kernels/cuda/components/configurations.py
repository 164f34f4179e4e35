"""Euler numbers, intercepts and borders of components on the GPU: drives ``configurations.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod
from typing import Any

import numpy as np

from conncomp._core import native
from conncomp.kernels.cuda.components.moments import LabelledComponents
from conncomp.kernels.cuda.components.rows import extent_of, lengths_on
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, launch

FILE = "cuda/components/configurations.cuh"
THREADS = 256
BORDER_KINDS = 3


def count_configurations(gpu: Gpu, given: LabelledComponents) -> Any:
    """Return the numbers of configurations of each component, of two or three axes.

    Parameters
    ----------
    gpu : Gpu
    given : LabelledComponents

    Returns
    -------
    array of int64, shape (n, 6) or (n, 16)
        As ``Configurations`` in ``core/configurations.h`` has them.
    """
    xp, axes = gpu.xp, len(given.shape)
    (count,) = gpu.load(FILE, _names_of_axes(given.labels.dtype, axes))
    weights = native.configuration_weights(axes)
    numbers = xp.zeros((given.runs.count, weights.size >> 2**axes), COUNT)
    if not len(numbers):
        return numbers
    corners = prod(length + 1 for length in given.shape)
    corners *= given.labels.size // prod(given.shape)
    lengths, table = lengths_on(gpu, *given.shape), xp.asarray(weights)
    (labels, places), extent = given.described(gpu), extent_of(gpu, lengths)
    grid = gpu.blocks(corners, THREADS), THREADS
    launch(count, grid, labels, extent, corners, places, table, numbers)
    return numbers


def count_borders(gpu: Gpu, given: LabelledComponents) -> Any:
    """Return how many elements of each kind the borders have, of components of two axes.

    As for `count_configurations`.

    Returns
    -------
    array of int64, shape (n, 3)
    """
    xp = gpu.xp
    (count,) = gpu.load(FILE, _names(given.labels.dtype))
    kinds = xp.zeros((given.runs.count, BORDER_KINDS), COUNT)
    if not len(kinds):
        return kinds
    lengths = lengths_on(gpu, *given.shape)
    (labels, places), extent = given.described(gpu), extent_of(gpu, lengths)
    launch(count, (gpu.blocks(given.labels.size, THREADS), THREADS), labels, extent, places, kinds)
    return kinds


@cache
def _names_of_axes(label: np.dtype[Any], axes: int) -> tuple[str, ...]:
    return (f"count_configurations<{ctype(label)}, {axes}>",)


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return (f"count_borders<{ctype(label)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
        for axes in (2, 3):
            yield FILE, _names_of_axes(label, axes)
