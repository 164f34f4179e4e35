"""Contacts of components on the GPU: drives ``contacts.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch

FILE = "cuda/components/contacts.cuh"
THREADS = 256
# The first table has a slot for so many elements; each one after it is so much larger.
ELEMENTS_PER_SLOT, GROWTH_BITS, FEWEST_BITS = 16, 2, 12


def find_contacts(
    gpu: Gpu,
    labels: Any,
    background: int,
    rows: int,
    shape: tuple[int, ...],
    periodic: int,
    steps: Any,
    kinds: int,
    bits: int | None = None,
) -> tuple[Any, Any]:
    """Return pairs of labels that touch, ascending, and how often, for each kind of contact.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of int32 or int64
    background : int
        Another negative number than labels, if there is none.
    rows : int
        Labels are below it, and ``rows**2 * kinds`` below 2**63.
    shape : tuple of int
        The number of items, and the lengths of axes.
    periodic : int
        Which axes of `shape` are, as bits.
    steps : ndarray of int64, shape (steps, 4)
        As `PackedStep` has it.
    kinds : int
    bits : int, optional
        Of the number of slots of the first table.

    Returns
    -------
    pairs : array of int64, shape (n, 2)
    counts : array of int64, shape (n, kinds)
    """
    xp = gpu.xp
    if bits is None:
        bits = max(FEWEST_BITS, (labels.size // ELEMENTS_PER_SLOT).bit_length())
    (count,) = gpu.load(FILE, _names(labels.dtype))
    lengths, packed = xp.asarray(np.array(shape, COUNT)), xp.asarray(steps)
    grid, empty = (gpu.blocks(labels.size, THREADS), THREADS), labels.dtype.type(background)
    problem = labels.size, labels, empty, rows, len(shape), lengths, periodic, len(steps), packed
    while True:
        keys, counts = xp.full(1 << bits, -1, COUNT), xp.zeros(1 << bits, COUNT)
        full = xp.zeros(1, COUNT)
        launch(count, grid, *problem, kinds, bits, keys, counts, full)
        if not first_entry(full):
            break
        bits += GROWTH_BITS
    present = xp.flatnonzero(keys >= 0)
    keys, counts = keys[present], counts[present]
    order = xp.argsort(keys)
    return _by_pair(xp, keys[order], counts[order], rows, kinds)


def _by_pair(xp: Any, keys: Any, counts: Any, rows: int, kinds: int) -> tuple[Any, Any]:
    """Return the pairs of sorted keys, and the counts of each pair side by side."""
    pair = keys // kinds
    begins = xp.ones(len(keys), bool)
    begins[1:] = pair[1:] != pair[:-1]
    place = xp.cumsum(begins, dtype=COUNT) - 1
    distinct = pair[xp.flatnonzero(begins)]
    pairs = xp.stack([distinct // rows, distinct % rows], axis=-1)
    by_kind = xp.zeros(len(distinct) * kinds, COUNT)
    if len(keys):
        # CuPy's assignment counts in 32 bits.
        by_kind.put(place * kinds + keys - pair * kinds, counts, mode="wrap")
    return pairs, by_kind.reshape(len(distinct), kinds)


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return (f"count_contacts<{ctype(label)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `find_contacts` can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
